"""The general answer: every pair of bounded kinds in space, by support maps."""

from __future__ import annotations

from drystone.geometry.kinds import NAMES, SPATIAL, UNBOUNDED
from drystone.geometry.narrow import PairKernel

BOUNDED = tuple(kind for kind in SPATIAL if kind not in UNBOUNDED)
COUNTERS = ("hits", "searches", "gjk", "epa", "newton", "uncertain", "bisections")

ENTRIES = {
    (a, b): PairKernel(
        "drystone.kernels.spatial.support_pairs",
        f"contact_{NAMES[a]}_{NAMES[b]}",
        points=4,
        width=13,
        counters=COUNTERS,
        exact=False,
    )
    for a in BOUNDED
    for b in BOUNDED
    if a <= b
}
