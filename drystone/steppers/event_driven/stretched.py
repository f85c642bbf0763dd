"""Integrating through surfaces without curvature: the path of the contact point instead of time.

Where a body turns over a flat spot at t0 its contact point runs like (t - t0)^(1/3), the force
like (t - t0)^(-2/3) (Baraff 1992, 6.7): no step in time gets across. Both are smooth along the path
of the point. So Y and t become functions of s with dt/ds = 1/g, g^2 = 1 + sum (p'/V)^2, p' the
speeds of the contact points and V fixed speeds: time where all is well, length over V where it is
not. Forces diverge and dY/ds = Y'/g does not: impulses stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from drystone.constraints.kinematics import rolling
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.types import Bools, Floats, Ints

FLAT = 10.0  # contact points that run this many times faster than bodies of their size turn

Rate = Callable[[float, Floats], Floats]
Running = tuple[Floats, Ints]  # velocities of contact points over both surfaces, which contacts


class Paths:
    """Contact points of a phase, and how fast they run.

    flat (nr,): of pressing contacts that turn, those whose relative curvature is that of a
    surface FLAT times larger than the body.
    """

    def __init__(self, mode: Mode, start: Evaluation) -> None:
        rows = start.rows
        geoms, own = mode.held.scene.model.geoms, rows.contacts
        size = np.minimum(geoms.radius[own.geom_a], geoms.radius[own.geom_b])
        self._closed: Bools = mode.closed[: rows.nr] & ~rows.lost
        self._size: Floats = np.where(np.isfinite(size), size, 1.0)
        turning, _ = rolling(rows.kin, start.state.velocity)
        self._speed: Floats = FLAT * self._size * turning
        self.names = mode.held.names

    def flat(self, now: Evaluation) -> Bools:
        turning, run = rolling(now.rows.kin, now.state.velocity)
        fast: Bools = run > FLAT * self._size * turning
        return self._closed & fast

    def pace(self, slide: Floats, which: Ints) -> float:
        """g of velocities (n, 2, d) of the points of contacts `which` (n,) over both surfaces; the
        slower one counts, which has no slip in it."""
        part = (slide**2).sum(axis=2).min(axis=1) / self._speed[which] ** 2
        return float(np.sqrt(1.0 + part[self._closed[which]].sum()))


class Stretched:
    """Steps like SciPy's solvers, in time, and integrates over s.

    make: the class of the integrator within; fun: dY/dt at (t, Y); pace: g of the state that fun
    was called with last. t_bound is met exactly; h_abs: length of the last step [s].
    """

    def __init__(
        self,
        make: Any,
        fun: Rate,
        pace: Callable[[], float],
        t0: float,
        y0: Floats,
        t_bound: float,
        *,
        rtol: float,
        atol: Floats,
        first_step: float | None = None,
    ) -> None:
        self._fun, self._pace = fun, pace
        self.t, self.t_old, self.t_bound, self.h_abs = t0, t0, t_bound, t_bound - t0
        self.status = "running"
        self._path: Any = None
        self._within = make(
            self._rate, 0.0, np.append(y0, t0), np.inf, rtol=rtol,
            atol=np.append(atol, rtol), first_step=first_step,
        )  # fmt: skip

    @property
    def n_stages(self) -> int:
        """Evaluations of one trial."""
        return int(self._within.n_stages)

    @property
    def y(self) -> Floats:
        y: Floats = self._within.y[:-1]
        return y

    @y.setter
    def y(self, value: Floats) -> None:
        self._within.y = np.append(value, self.t)

    @property
    def f(self) -> Floats:
        f: Floats = self._within.f
        return f

    @f.setter
    def f(self, value: Floats) -> None:
        """dY/dt at the present state, the last that fun was called with."""
        self._within.f = np.append(value, 1.0) / self._pace()

    def _rate(self, _: float, z: Floats) -> Floats:
        rate = self._fun(float(z[-1]), z[:-1])
        out: Floats = np.append(rate, 1.0) / self._pace()
        return out

    def step(self) -> str | None:
        """One step; returns why it failed, if it did."""
        within, self.t_old = self._within, self.t
        self._path = None
        why: str | None = within.step()
        if within.status == "failed":
            self.status = "failed"
            return why
        self.t = float(within.y[-1])
        if self.t >= self.t_bound:
            self._path = within.dense_output()  # before its end is cut off
            end = self.dense_output()(self.t_bound)
            self.t, self.status = self.t_bound, "finished"
            self.y = end
        self.h_abs = self.t - self.t_old
        return None

    def dense_output(self) -> Callable[[float], Floats]:
        """Y at times within the last step."""
        path = self._within.dense_output() if self._path is None else self._path
        s0, s1 = path.t_old, path.t

        def at(t: float) -> Floats:
            early, late = path(s0)[-1] - t, path(s1)[-1] - t
            if early >= 0.0 or late <= 0.0:
                s = s0 if early >= 0.0 else s1
            else:
                s = brentq(lambda s: path(s)[-1] - t, s0, s1, xtol=1e-300, rtol=1e-15)
            y: Floats = path(s)[:-1]
            return y

        return at
