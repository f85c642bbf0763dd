"""Goldens on disk: one JSON file a group, one line a quantity, so that a diff can be read."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import binding

from tests.golden.measure import Run, apart

DATA = Path(__file__).parent / "data"
MANY = 6  # pairs of bodies and joints that are kept
DIGITS = 4  # of numbers that have no tolerance
ROUND = 1  # digits beyond that of the tolerance
MORE = 1.5, 10  # of a cost: how much more of it is allowed, by a factor and in counts
SMALL = {"residual": 1e-8, "depth": 1e-8, "joint_error": 1e-9}  # of costs that are no counts


@dataclass(frozen=True)
class Difference:
    """What a run does otherwise than its golden; size: over the tolerance, inf where there is
    none."""

    where: str
    what: str
    size: float

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def machine() -> str:
    """Where bits come from: they may differ between kinds of processor and versions."""
    cpu = binding.get_host_cpu_name()
    return f"{platform.machine()} {cpu}, numba {numba.__version__}, numpy {np.__version__}"


def record(run: Run, tolerances: list[dict[str, float]], loose: list[set[str]]) -> dict[str, Any]:
    """What is written of a run."""
    if run.error and not run.looks:
        return {"error": run.error}
    out: dict[str, Any] = {"error": run.error} if run.error else {}
    out["bodies"] = list(run.bodies)
    for here, tolerance, doubted in zip(run.looks, tolerances, loose, strict=True):
        entry: dict[str, Any] = {"bits": here.bits, "facts": here.facts}
        entry["costs"] = plain(here.costs)
        if doubted:
            entry["loose"] = sorted(doubted)
        entry["tolerance"] = {n: upwards(t) for n, t in tolerance.items() if math.isfinite(t)}
        for name, values in here.numbers.items():
            if math.isfinite(tolerance[name]):
                entry[name] = plain(some(values, tolerance[name]), entry["tolerance"][name])
        out[f"step {here.step}"] = entry
    return out


def some(values: Any, tolerance: float) -> Any:
    """Of tables by name the first few that are not nothing."""
    if not isinstance(values, dict):
        return values
    kept = [name for name, row in values.items() if np.abs(row).max(initial=0.0) > tolerance]
    return {name: values[name] for name in kept[:MANY]}


def plain(values: Any, tolerance: float = 0.0) -> Any:
    """Numbers with as many digits as their tolerance is worth."""
    if isinstance(values, dict):
        return {name: plain(row, tolerance) for name, row in values.items()}
    if isinstance(values, np.ndarray | list | tuple):
        return [plain(v, tolerance) for v in values]
    if not isinstance(values, float):
        return values
    if tolerance > 0.0:
        return round(float(values), ROUND - math.floor(math.log10(tolerance))) + 0.0
    return float(f"{values:.{DIGITS}g}")


def upwards(x: float) -> float:
    """With one digit, not less."""
    if not x > 0.0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(x))
    return float(f"{math.ceil(x / unit) * unit:.1g}")


def differences(old: dict[str, Any], run: Run, bits: bool = False) -> list[Difference]:
    """In what a run is not its golden; bits: to the bit, otherwise within the tolerances."""
    steps = {name: entry for name, entry in old.items() if name.startswith("step ")}
    found = {f"step {look.step}": look for look in run.looks}
    out = []
    if old.get("error", "") != run.error:
        out.append(Difference("run", f"ends with {run.error or 'no error'}, "
                              f"was {old.get('error') or 'no error'}", math.inf))  # fmt: skip
    if old.get("bodies", list(run.bodies)) != list(run.bodies):
        out.append(Difference("run", f"bodies {run.bodies}, were {old.get('bodies')}", math.inf))
        return out
    for where, entry in steps.items():
        look = found.get(where)
        if look is None:
            out.append(Difference(where, "is not reached", math.inf))
            continue
        if bits and look.bits != entry["bits"]:
            out.append(
                Difference(where, f"other bits: {look.bits}, were {entry['bits']}", math.inf)
            )
        for name, tolerance in entry["tolerance"].items():
            away = apart(entry[name], look.numbers.get(name, np.zeros(0)), name)
            allowed = tolerance * (1.0 + 10.0**-ROUND)  # for they are rounded
            if not away <= allowed:
                size = away / allowed if allowed else math.inf
                said = f"{name} off by {away:.2g}, {size:.2g} times its tolerance {tolerance:.0e}"
                out.append(Difference(where, said, size))
        out += words(where, entry, look.facts, bits)
        out += costs(where, entry["costs"], look.costs)
    return out


def words(where: str, entry: dict[str, Any], facts: dict[str, Any], bits: bool) -> list[Difference]:
    doubted = () if bits else entry.get("loose", ())
    out = []
    for name in entry["facts"] | facts:
        old, new = entry["facts"].get(name), facts.get(name)
        if name not in doubted and old != new:
            out.append(Difference(where, f"{name}: {new}, was {old}", math.inf))
    return out


def costs(where: str, old: dict[str, float], new: dict[str, float]) -> list[Difference]:
    out = []
    for name, value in new.items():
        factor, more = (10.0, SMALL[name]) if name in SMALL else MORE
        most = factor * old.get(name, 0.0) + more
        if not value <= most:
            said = f"{name}: {value:.4g}, was {old.get(name, 0.0):.4g}"
            out.append(Difference(where, said, value / most))
    return out


def read(group: str, folder: Path = DATA) -> dict[str, Any]:
    """{case: golden} of a group; empty if there is no file."""
    path = folder / f"{group}.json"
    if not path.exists():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(group: str, goldens: dict[str, Any], folder: Path = DATA) -> None:
    """One line a quantity."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines(goldens, 0)) + "\n"
    (folder / f"{group}.json").write_text(text, encoding="utf-8")


def lines(value: Any, depth: int, deepest: int = 3) -> list[str]:
    if not isinstance(value, dict) or depth == deepest or not value:
        return [json.dumps(value, ensure_ascii=False, separators=(",", ":"))]
    out, pad = ["{"], " " * (depth + 1)
    last = len(value) - 1
    for k, (name, inner) in enumerate(value.items()):
        first, *rest = lines(inner, depth + 1, deepest)
        out.append(f"{pad}{json.dumps(name, ensure_ascii=False)}: {first}")
        out += rest
        if k < last:
            out[-1] += ","
    return [*out, " " * depth + "}"]
