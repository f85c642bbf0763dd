"""Kinds of geoms: all that others ask about one, in one record.

Shapes are made of geoms (a mesh of many, a box of one), and kernels know geoms by the code of
their kind. The record of a kind stands in the file of the shape that brings it; tables, drawing,
dispatch and messages are made from the records, which ``geometry.shapes.KINDS`` gathers. A kind
is convex unless it is hollow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np

from drystone.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class PairKernel:
    """Where a pair's kernel is (loaded when first used), and what it needs.

    points: contacts of one pair that room is made for at first; width: columns of the cache;
    counters: names of the stats it counts, at most 8, e.g. ("hits", "searches", "iterations").
    calls_of: the module whose `calls` gives the addresses of kernels that it calls, three at most.
    A kernel that serves several kinds reads them from the geoms.
    """

    module: str
    name: str
    points: int = 1
    width: int = 0
    counters: tuple[str, ...] = ()
    calls_of: str = ""

    def load(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function

    def calls(self) -> Ints:
        """Addresses (3,) of the kernels that it calls, zeros if it calls none."""
        if not self.calls_of:
            return np.zeros(3, np.int64)
        addresses: Ints = import_module(self.calls_of).calls()
        return addresses


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """A kind of geom.

    code: of ``kernels.kinds``; name: in messages; dim: 2 or 3; numbers: what its floats and ints
    mean, in its own frame, in words. fits: how many floats it has, without ints, or of floats and
    ints from a file, whether they can be read as its numbers.
    pairs: kernels by the name of the other kind. Bounded kinds in space that are not hollow need
    none: support maps answer for them.
    picture (floats, ints, segments of a full turn): the outline (k, 2) of a planar kind; vertices
    (nv, 3) and triangles (nt, 3) of a spatial one. edges: which of them are sharp.
    half_width (floats, ints): half of the least width [m], inf for what has no inside.
    local: name of the kernel of ``kernels.kinematics.features`` that gives curvature,
    feature and piece at contact points; "": planar.
    ball: known by its radius alone, its first number; stretched: a ball along its axes, whose
    numbers are its semi-axes; about_z: a turn about z does not move it; pieced: its curvature
    jumps; ends: heights of its flat round ends, in its first number, of the radius that is its
    second.
    """

    code: int
    name: str
    dim: int
    numbers: str
    fits: int | Callable[[Floats, Ints], bool]
    picture: Callable[[Floats, Ints, int], Any]
    half_width: Callable[[Floats, Ints], float]
    local: str = ""
    pairs: Mapping[str, PairKernel] = field(default_factory=dict)
    bounded: bool = True
    hollow: bool = False
    ball: bool = False
    stretched: bool = False
    about_z: bool = False
    pieced: bool = False
    edges: Literal["none", "some", "all"] = "none"
    ends: tuple[float, ...] = ()

    def holds(self, floats: Floats, ints: Ints) -> bool:
        """Whether numbers from a file can be read as those of a geom of this kind."""
        if callable(self.fits):
            return bool(self.fits(floats, ints))
        return floats.size == self.fits and not ints.size
