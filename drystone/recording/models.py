"""The arrays of a model in a file, and whether two models are the same."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from drystone.geometry.shapes import KINDS
from drystone.geometry.surface_numbers import without_addresses
from drystone.model import Geoms, Joints, Model, PairRules
from drystone.recording.earlier_formats import joint_kinds

PARTS: dict[str, type[Any]] = {"geoms": Geoms, "rules": PairRules, "joints": Joints}
READ_CHARACTERS = 10_000  # of a name that is read: arrays of names are as wide as the longest
ROUNDING = 64 * np.finfo(float).eps  # of the largest number of an array: some dozen operations
FIRST = {"dim": "it has another dimension", "names": "its bodies are others"}  # compared first
FUNCTIONS = ("motions", "forces")  # objects: they come from the world


def model_arrays(model: Model) -> dict[str, Any]:
    """Flat dictionary of arrays, texts and numbers; ``geoms.kind`` and so on for parts."""
    out = _flat("", model)
    for name, kind in PARTS.items():
        part = getattr(model, name)
        if isinstance(part, kind):
            out |= _flat(f"{name}.", part)
    out["geoms.numbers"] = without_addresses(model.geoms)
    return out


def model_from(arrays: dict[str, Any]) -> Model:
    """A model to draw, without motions and forces; raises KeyError or TypeError for odd arrays."""
    made: dict[str, Any] = {}
    for name, kind in PARTS.items():
        if any(key.startswith(f"{name}.") for key in arrays):
            made[name] = kind(**{f.name: arrays[f"{name}.{f.name}"] for f in fields(kind)})
    if "joints" in made:
        made["joints"].kind = joint_kinds(made["joints"].kind)
    own = {f.name: arrays[f.name] for f in fields(Model) if f.name in arrays}
    model = Model(**own, **made)
    _check(model)
    return model


def difference(a: Model, b: Model) -> str | None:
    """The first thing in which two models differ, in words, None if they are the same. Real
    numbers may differ by rounding: another processor rounds products of matrices otherwise."""
    mine, other = model_arrays(a), model_arrays(b)
    for name in (*FIRST, *sorted({*mine, *other} - {*FIRST})):
        if name not in mine or name not in other or not _same(mine[name], other[name]):
            return FIRST.get(name, f"{name} is different")
    return None


def _same(x: Any, y: Any) -> bool:
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
        return bool(x == y)
    if x.dtype.kind != "f" or x.shape != y.shape:
        return np.array_equal(x, y)
    size = float(np.abs(y[np.isfinite(y)]).max(initial=0.0))
    return np.allclose(x, y, rtol=0.0, atol=ROUNDING * size, equal_nan=True)


def _flat(prefix: str, part: Any) -> dict[str, Any]:
    skipped = {*PARTS, *FUNCTIONS}
    values = {f.name: getattr(part, f.name) for f in fields(part)}
    if prefix:
        return {f"{prefix}{name}": value for name, value in values.items()}
    return {name: value for name, value in values.items() if name not in skipped}


def _check(model: Model) -> None:
    """That what was read can be indexed."""
    nb, geoms = len(model.names), model.geoms
    ng = len(geoms)
    shapes = (
        (model.mass, (nb,)), (model.centre, (nb, model.dim)), (geoms.body, (ng,)),
        (geoms.offset, (ng, model.dim)), (geoms.turn, (ng, model.dim, model.dim)),
        (geoms.first, (ng + 1,)), (geoms.first_int, (ng + 1,)), (geoms.radius, (ng,)),
    )  # fmt: skip
    if model.dim not in (2, 3) or any(array.shape != shape for array, shape in shapes):
        raise TypeError("arrays of the model do not fit each other")
    if ng and not 0 <= geoms.body.min() <= geoms.body.max() < nb:
        raise TypeError("geoms of no body")
    for first, values in ((geoms.first, geoms.numbers), (geoms.first_int, geoms.ints)):
        if first[0] < 0 or (np.diff(first) < 0).any() or first[-1] > values.size:
            raise TypeError("geoms beyond their numbers")
    for g, code in enumerate(geoms.kind.tolist()):
        kind = KINDS.get(code)
        own = slice(geoms.first[g], geoms.first[g + 1])
        ints = geoms.ints[geoms.first_int[g] : geoms.first_int[g + 1]]
        if kind is None or kind.dim != model.dim or not kind.holds(geoms.numbers[own], ints):
            raise TypeError(f"numbers of geom {g} are not those of its kind")
    if any(not isinstance(name, str) or len(name) > READ_CHARACTERS for name in model.names):
        raise TypeError(f"names of more than {READ_CHARACTERS} characters")
