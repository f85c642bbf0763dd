"""Surfaces given by formulas: with bounded kinds by support maps, and on a half-space."""

from __future__ import annotations

from drystone.geometry.kinds import HALF_SPACE, NAMES, SURFACE
from drystone.geometry.narrow import PairKernel
from drystone.geometry.narrow.fallback import BOUNDED, COUNTERS

_AT = "drystone.kernels.surfaces."

ENTRIES: dict[tuple[int, int], PairKernel] = {
    (SURFACE, kind): PairKernel(
        _AT + "pairs",
        f"contact_surface_{NAMES[kind]}",
        points=4,
        width=13,
        counters=COUNTERS,
        exact=False,
    )
    for kind in (SURFACE, *BOUNDED)
}
ENTRIES[SURFACE, HALF_SPACE] = PairKernel(_AT + "halfspace", "contact_surface_halfspace")
