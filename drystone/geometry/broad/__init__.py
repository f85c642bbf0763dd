"""Which boxes overlap: several methods, one answer."""

from __future__ import annotations

from collections.abc import Callable

from drystone.errors import OptionError
from drystone.geometry.broad.base import AllPairs, BroadPhase
from drystone.geometry.broad.grid import Auto, Grid
from drystone.geometry.broad.sorted_lists import SortedLists

METHODS: dict[str, Callable[[], BroadPhase]] = {
    "auto": Auto,
    "sorted-lists": SortedLists,
    "grid": Grid,
    "all-pairs": AllPairs,
}


def make_broad(name: str) -> BroadPhase:
    """A broad phase by its name: "auto", "sorted-lists", "grid" or "all-pairs"."""
    try:
        return METHODS[name]()
    except KeyError:
        known = ", ".join(repr(known) for known in METHODS)
        raise OptionError(f"broad={name!r}: expected one of {known}") from None
