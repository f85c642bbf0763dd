"""Pairs of polyhedra (boxes too), and polyhedra with half-spaces."""

from __future__ import annotations

from drystone.geometry.kinds import HALF_SPACE, POLYHEDRON
from drystone.geometry.narrow import PairKernel

ENTRIES: dict[tuple[int, int], PairKernel] = {
    (POLYHEDRON, POLYHEDRON): PairKernel(
        "drystone.kernels.spatial.polyhedra",
        "contact_polyhedron_polyhedron",
        points=4,
        width=11,
        counters=("hits", "neighbours", "searches", "distances"),
    ),
    (POLYHEDRON, HALF_SPACE): PairKernel(
        "drystone.kernels.spatial.polyhedra_halfspace",
        "contact_polyhedron_half_space",
        points=4,
        width=1,
        counters=("hits", "climbs"),
    ),
}
