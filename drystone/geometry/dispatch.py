"""The pair table: which kernel answers for two kinds of geoms."""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

from drystone.geometry.kinds import PairKernel
from drystone.geometry.shapes import KINDS

# support maps answer for any two kinds that are convex and bounded
GENERAL = PairKernel(
    "drystone.kernels.spatial.support_pairs",
    "contact_support_support",
    points=4,
    width=13,
    counters=("hits", "searches", "gjk", "evaluations", "newton", "uncertain", "fallbacks"),
    calls_of="drystone.kernels.spatial.support_pairs",
)


@cache
def pair_table() -> dict[tuple[int, int], PairKernel]:
    """Entry of every pair of kinds, the lower code first; kernels are not loaded yet. A kernel
    that the record of a kind names wins over the general one."""
    named = {kind.name: kind for kind in KINDS.values()}
    table: dict[tuple[int, int], PairKernel] = {}
    for kind in KINDS.values():
        for name, entry in kind.pairs.items():
            a, b = sorted((kind.code, named[name].code))
            assert (a, b) not in table, f"{kind.name} and {name}: two kernels"
            table[a, b] = entry
    convex = [k.code for k in KINDS.values() if k.dim == 3 and k.bounded and not k.hollow]
    for a, b in combinations_with_replacement(sorted(convex), 2):
        table.setdefault((a, b), GENERAL)
    return table


def find(kind_a: int, kind_b: int) -> PairKernel | None:
    """Entry of two kinds, kind_a <= kind_b, or None if nobody answers for them."""
    return pair_table().get((kind_a, kind_b))
