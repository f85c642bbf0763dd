"""Geoms of formulas outside the process that made them.

Their numbers hold addresses of functions. What leaves the process, in a file or a pickle, has
zeros in their place, and such geoms are refused wherever a kernel would call them.
"""

from __future__ import annotations

import copyreg
from dataclasses import fields
from typing import Any

import numpy as np

from drystone.kernels import kinds
from drystone.kernels.surfaces.layout import ADDRESS, LENGTH, RESULT
from drystone.model import Geoms
from drystone.types import Floats, Ints


def without_addresses(geoms: Geoms) -> Floats:
    """The numbers of geoms, with zeros for addresses, which are this process's alone."""
    at = _surfaces(geoms)
    if not at.size:
        return geoms.numbers
    numbers = geoms.numbers.copy()
    numbers[at + ADDRESS] = 0.0
    called = at[numbers[at + LENGTH] == 0.0]  # functions; the points of the table tell them apart
    numbers[called + RESULT] = numbers[called + RESULT + 1] = 0.0
    return numbers


def unbound(geoms: Geoms) -> Ints:
    """Geoms of formulas that came without their addresses."""
    which = np.flatnonzero(geoms.kind == kinds.SURFACE)
    return which[geoms.numbers[geoms.first[which] + ADDRESS] == 0.0]


def _surfaces(geoms: Geoms) -> Ints:
    """Where the numbers of each surface of a formula begin."""
    return geoms.first[:-1][geoms.kind == kinds.SURFACE]


def _reduced(geoms: Geoms) -> tuple[Any, tuple[Any, ...]]:
    own = {field.name: getattr(geoms, field.name) for field in fields(geoms)}
    return _geoms, ({**own, "numbers": without_addresses(geoms)},)


def _geoms(own: dict[str, Any]) -> Geoms:
    return Geoms(**own)


copyreg.pickle(Geoms, _reduced)  # also what deepcopy asks
