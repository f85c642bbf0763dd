"""Shapes as a user's package brings them: nothing of the package is touched."""

from dataclasses import dataclass

import numpy as np

import drystone as ds


@dataclass(frozen=True)
class DoubleCone(ds.SupportShape):
    """Two cones, base to base: `height` of each along z, and `radius` [m]."""

    kind = "double-cone"
    height: float
    radius: float

    def support_function(self, x, y, z):
        return np.maximum(self.height * abs(z), self.radius * np.sqrt(x * x + y * y))

    def mass_properties(self, density):
        r, h = self.radius, self.height
        mass = density * 2.0 * np.pi * r**2 * h / 3.0
        across = mass * (3.0 * r**2 / 20.0 + h**2 / 10.0)
        return ds.MassProperties(mass, np.zeros(3), np.diag([across, across, 0.3 * mass * r**2]))


@dataclass(frozen=True)
class CappedEllipsoid(ds.SupportShape):
    """Semi-axes a, a, c [m], cut off below z = -cut: a function with a branch."""

    kind = "capped-ellipsoid"
    a: float
    c: float
    cut: float

    def support_function(self, x, y, z):
        whole = (self.a**2 * (x * x + y * y) + self.c**2 * z * z) ** 0.5
        if self.c**2 * z >= -self.cut * whole:
            return whole
        rim = self.a * (1.0 - (self.cut / self.c) ** 2) ** 0.5
        return rim * (x * x + y * y) ** 0.5 - self.cut * z


@dataclass(frozen=True)
class Egg(ds.ImplicitShape):
    """A ball of `radius` [m], drawn out by `tip` along z."""

    kind = "egg"
    radius: float
    tip: float

    def F(self, x, y, z):
        r, t = self.radius, self.tip
        return (x * x + y * y) * (1.0 + t * z / r) + z * z - r * r
