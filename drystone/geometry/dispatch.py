"""The pair table: which kernel answers for two kinds of geoms."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from drystone.geometry.narrow import PairKernel

MODULES = ("planar", "smooth", "polyhedra", "fallback", "surfaces", "bowl")


@cache
def pair_table() -> dict[tuple[int, int], PairKernel]:
    """Entry of every pair of kinds, the lower code first; kernels are not loaded yet.

    An exact entry wins over the general fallback, and the earlier module over the later one.
    """
    table: dict[tuple[int, int], PairKernel] = {}
    for name in MODULES:
        module = import_module(f"drystone.geometry.narrow.{name}")
        for pair, entry in module.ENTRIES.items():
            held = table.get(pair)
            if held is None or (entry.exact and not held.exact):
                table[pair] = entry
    return table


def find(kind_a: int, kind_b: int) -> PairKernel | None:
    """Entry of two kinds, kind_a <= kind_b, or None if nobody answers for them."""
    return pair_table().get((kind_a, kind_b))
