"""Every pair tested: the plain answer that the others are compared with."""

from __future__ import annotations

import numpy as np

from drystone.types import Floats, Ints


class AllPairs:
    """Brute force, O(n^2) in time and memory."""

    name = "all-pairs"

    def keys(self, lower: Floats, upper: Floats) -> Ints:
        """As ``BroadPhase.keys``."""
        n = lower.shape[0]
        together = np.ones((n, n), bool)
        for k in range(lower.shape[1]):
            below = lower[:, None, k] <= upper[None, :, k]
            together &= below & below.T
        i, j = np.nonzero(np.triu(together, 1))
        return (i << 32) | j

    def stats(self) -> dict[str, int]:
        """Nothing to count."""
        return {}
