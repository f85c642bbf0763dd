"""How far an impact has come, measured by the normal impulse p (Routh, Keller, Stronge).

During an impact positions rest and velocities change with p: u' = K (1, f) where f = r_t' is the
friction per unit of normal impulse. Compression lasts until u_n = 0; then the law of restitution
says when the impact ends:
Newton: u_n+ = -eps u_n-. Poisson: p+ = (1 + eps) p_c. Stronge: the work of the normal impulse in
restitution is -eps^2 times that of compression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Restitution = Literal["newton", "poisson", "stronge"]


@dataclass(slots=True)
class Progress:
    """p [N s], u_n [m/s], work of the normal impulse [J]; `open` until compression has ended."""

    restitution: Restitution
    eps: float
    speed: float  # u_n before the impact, <= 0
    un: float
    p: float = 0.0
    work: float = 0.0
    p_c: float = np.inf
    work_c: float = 0.0

    @property
    def compressing(self) -> bool:
        return bool(np.isinf(self.p_c))

    def left(self, slope: float) -> float:
        """Normal impulse until compression ends, or the impact, while u_n' = slope."""
        if self.compressing:
            return -self.un / slope if slope > 0.0 else np.inf
        if self.restitution == "poisson":
            return max(0.0, (1.0 + self.eps) * self.p_c - self.p)
        if self.restitution == "newton":
            return max(0.0, (-self.eps * self.speed - self.un) / slope) if slope > 0.0 else np.inf
        # un x + slope x^2 / 2 = rest, in the form that does not cancel
        rest = max(0.0, self.target() - self.work)
        root = np.sqrt(max(0.0, self.un**2 + 2.0 * slope * rest))
        return 2.0 * rest / (self.un + root) if self.un + root > 0.0 else 0.0

    def target(self) -> float:
        """Work at which Stronge's law ends the impact: (1 - eps^2) of compression's."""
        return (1.0 - self.eps**2) * self.work_c

    def move(self, length: float, slope: float) -> None:
        self.work += length * (self.un + 0.5 * slope * length)
        self.un += slope * length
        self.p += length

    def turn(self) -> None:
        """Compression is over."""
        self.un, self.p_c, self.work_c = 0.0, self.p, self.work
