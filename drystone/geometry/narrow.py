"""Contact points of pairs of geoms: one batched kernel for each pair of kinds.

``kernels.pairs`` has the contract of a pair kernel: three records, of the pairs, of the geoms where
they are, and of the contacts to be written. The record of a kind names its kernels
(``geometry.kinds``); ``geometry.dispatch`` makes the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from drystone.types import Ints


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
