"""Recordings as tables: columns for pandas and for CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import MissingExtraError, OptionError
from drystone.escaping import for_cell
from drystone.recording.base import Replay, checked_replay
from drystone.recording.reports import COLUMNS
from drystone.values import among, text, whole, writing

WHAT = ("bodies", "contacts", "joints", "reports")
AXES = ("x", "y", "z")
Columns = dict[str, Any]


def columns(rec: Any, what: str, k: int) -> Columns:
    """One frame's rows of a table, column by column."""
    if not among(what, WHAT):
        raise OptionError(f"table {text(what)}: expected {', '.join(WHAT)}")
    if what == "bodies":
        return _bodies(rec, k)
    if what == "reports":
        report = rec.reports(k) if k else None
        return {} if report is None else _report(rec, k, report)
    table = rec.contacts(k) if what == "contacts" else rec.joints(k)
    return {"frame": np.full(len(table), k), "time": np.full(len(table), rec.time[k])} | _fields(
        table, rec.model.dim
    )


def chosen(rec: Replay, frame: Any) -> range:
    """Numbers of the frames that `frame` means: one, a slice, or None for all."""
    every = range(len(rec))
    if frame is None:
        return every
    if isinstance(frame, slice):
        with suppress(TypeError, ValueError):  # slices of texts, or with a step of zero
            return every[frame]
    number = whole(frame)
    if number is not None and -len(every) <= number < len(every):
        return range(every[number], every[number] + 1)
    raise OptionError(f"frame = {text(frame)}: expected a number below {len(every)}, or a slice")


def to_pandas(rec: Any, what: str, frame: Any = None) -> Any:
    """A pandas.DataFrame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("tables need pandas: pip install pandas") from None
    parts = [part for k in chosen(rec, frame) if _count(part := columns(rec, what, k))]
    if not parts:
        return pandas.DataFrame(columns=list(columns(rec, what, 0)))
    return pandas.DataFrame(
        {name: np.concatenate([np.atleast_1d(p[name]) for p in parts]) for name in parts[0]}
    )


def write_csv(rec: Any, path: Path, what: str, frame: Any = None) -> int:
    """Write a table as CSV, numbers to the last bit; returns the number of rows. Texts that a
    spreadsheet would take for formulas have an apostrophe before them."""
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        head = False
        for k in chosen(rec, frame):
            part = columns(rec, what, k)
            if _count(part) and not head:
                out.writerow(part)
                head = True
            for row in _rows(part):
                out.writerow([for_cell(value) for value in row])
                count += 1
    return count


def write_table(
    rec: Any,
    path: str | Path,
    *,
    table: str = "bodies",
    start: float | None = None,
    end: float | None = None,
) -> Path:
    """Write a table of a replay as CSV, from one time to another [s], numbers to the last bit.

    table: "bodies", "contacts", "joints" or "reports", of which recordings have the last two.
    """
    if not among(table, WHAT):
        raise OptionError(f"table = {text(table)}: expected {', '.join(WHAT)}")
    if table in ("joints", "reports") and not callable(getattr(rec, table, None)):
        raise OptionError(f"table = {table!r}: only recordings have it, run(..., record=FILE)")
    place = Path(path)
    frames = _between(checked_replay(rec).time, start, end)
    with writing(place):
        write_csv(rec, place, table, frames)
    return place


def _between(time: Any, start: float | None, end: float | None) -> slice:
    """Frames from one time to another [s]."""
    near = 1e-9 * max(1.0, abs(float(time[-1])))
    first = 0 if start is None else int(np.searchsorted(time, start - near))
    last = len(time) if end is None else int(np.searchsorted(time, end + near, side="right"))
    if first >= last:
        asked = ", ".join(
            f"{k} = {v:g}" for k, v in (("start", start), ("end", end)) if v is not None
        )
        raise OptionError(f"{asked}: no frame: they go from {time[0]:g} s to {time[-1]:g} s")
    return slice(first, last)


def _count(part: Columns) -> int:
    """Rows; of no joints or contacts nothing is known, not even how many axes they have."""
    return len(part["frame"]) if part else 0


def _rows(part: Columns) -> Iterator[tuple[Any, ...]]:
    lists = [np.atleast_1d(column).tolist() for column in part.values()]
    return zip(*lists, strict=True)


def _bodies(rec: Any, k: int) -> Columns:
    state, dim, nb = rec.state(k), rec.model.dim, len(rec.model.names)
    out: Columns = {
        "frame": np.full(nb, k),
        "time": np.full(nb, state.time),
        "body": np.array(rec.model.names, np.str_),
    }
    out |= {AXES[a]: state.position[:, a] for a in range(dim)}
    spins: tuple[str, ...] = ("spin",)
    if dim == 2:
        out["angle"] = state.orientation
    else:
        out |= {f"q{c}": state.orientation[:, a] for a, c in enumerate("wxyz")}
        spins = ("wx", "wy", "wz")
    names = tuple(f"v{AXES[a]}" for a in range(dim)) + spins
    return out | {name: state.velocity[:, a] for a, name in enumerate(names)}


def _report(rec: Any, k: int, report: Any) -> Columns:
    values = rec.frame_numbers(k)
    out: Columns = {"frame": np.array([k])}
    out |= {name: np.array([value]) for name, value in zip(COLUMNS, values, strict=True)}
    return out | {
        "total": np.array([report.energy.total]),
        "status": np.array([report.status.value]),
        "methods": np.array([" ".join(report.methods)]),
    }


def _fields(table: np.ndarray, dim: int) -> Columns:
    """Columns of a structured array, its vectors by axis."""
    out: Columns = {}
    for name in table.dtype.names or ():
        column = table[name]
        if name == "bodies":
            out |= {"body_a": column[:, 0], "body_b": column[:, 1]}
        elif column.ndim == 1:
            out[name] = column
        elif column.shape[1] == 1:
            out[name] = column[:, 0]
        else:
            out |= {f"{name}_{AXES[a]}": column[:, a] for a in range(column.shape[1])}
    return out
