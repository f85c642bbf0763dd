"""Anderson acceleration of a fixed-point iteration v -> T(v), with a safeguard.

The next point is the combination of the last images whose residuals T(v) - v combine to the
least; if that point's residual is larger than the last one's, the plain image is taken instead
and the memory starts anew. Where T is nonexpansive the plain step never raises the residual.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from drystone.types import Floats

REGULAR = 1e-10  # of the least-squares problem, relative to its trace


class Anderson:
    """memory: steps to look back on (0: plain iteration); size: entries of v."""

    def __init__(self, memory: int, size: int) -> None:
        self.memory, self.rejected = memory, 0
        self._df, self._dg = np.zeros((2, memory, size))
        self._gram = np.zeros((memory, memory))
        self._f, self._g = np.empty((2, size))
        self.forget()

    def forget(self) -> None:
        """Start anew: the map has changed, or the last combination was a bad one."""
        self._count, self._stored, self._norm = 0, False, np.inf

    def next(self, v: Floats, image: Floats) -> Floats:
        """The point to try next, given T(v)."""
        if self.memory == 0:
            return image.copy()
        f = image - v
        norm = float(np.sqrt(f @ f))
        if self._stored and norm > self._norm:
            self.rejected += 1
            self.forget()
            return self._g.copy()
        self._norm = norm
        if self._stored:
            slot = self._count % self.memory
            np.subtract(f, self._f, out=self._df[slot])
            np.subtract(image, self._g, out=self._dg[slot])
            self._count += 1
            rows = min(self._count, self.memory)
            self._gram[slot, :rows] = self._df[:rows] @ self._df[slot]
            self._gram[:rows, slot] = self._gram[slot, :rows]
        self._f[:], self._g[:] = f, image
        self._stored = True
        rows = min(self._count, self.memory)
        if rows == 0:
            return image.copy()
        gram = self._gram[:rows, :rows].copy()
        gram.flat[:: rows + 1] += REGULAR * np.trace(gram)
        _, weights, failed = lapack.dposv(gram, self._df[:rows] @ f)
        if failed:
            self.forget()
            return image.copy()
        return np.asarray(image - weights @ self._dg[:rows])
