"""Integrators that step like SciPy's: Adams' methods, and steps along the path of contact points.

Adams' methods of variable order and step (after Shampine and Gordon): y advances by the integral of
the polynomial through past rates of change: predicted with k of them, evaluated, corrected with the
new one (PECE). History is made of rates alone, so states may be corrected between steps
(projection) and a phase may continue an earlier one's history, which multistep codes that keep
derivatives of y do not allow. Weights are integrals of Lagrange's polynomials over nodes wherever
they lie, by Gauss' rule, exactly.

Arc length: where a body turns over a flat spot at t0 its contact point runs like (t - t0)^(1/3),
the force like (t - t0)^(-2/3) (Baraff 1992, 6.7): no step in time gets across. Both are smooth
along the path of the point. So Y and t become functions of s with dt/ds = 1/g, g^2 = 1 + sum
(p'/V)^2, p' the speeds of the contact points and V fixed speeds: time where all is well, length
over V where it is not. Forces diverge and dY/ds = Y'/g does not: impulses stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import DOP853, RK45, DenseOutput, OdeSolver
from scipy.optimize import brentq

from drystone.constraints.kinematics import rolling
from drystone.steppers.event_driven.mode import Evaluation, Mode
from drystone.steppers.snapshot import Snapshot
from drystone.types import Bools, Floats, Ints

Rate = Callable[[float, Floats], Floats]
Running = tuple[Floats, Ints]  # velocities of contact points over both surfaces, which contacts
Past = list[tuple[float, Floats]]

MAX_ORDER = 12  # of Adams' methods in use: higher ones are hardly stable
SAFETY, SHRINK, GROW = 0.8, 0.3, 2.0  # of the step that the error allows; least, greatest change
POINTS = [np.polynomial.legendre.leggauss(n) for n in range(1, 9)]
QUARTER = 0.9 / 0.75  # SciPy's safety factor over what is left of a step
RACING = 10.0  # contact points that run this many times faster than bodies of their size turn


def weights(nodes: Floats, end: float) -> Floats:
    """(n,) integrals from 0 to `end` of Lagrange's polynomials over the nodes (n,)."""
    n = nodes.size
    x, w = POINTS[n // 2]
    at = 0.5 * end * (x + 1.0)
    away = nodes[:, None] - nodes
    np.fill_diagonal(away, 1.0)
    part = (at[:, None, None] - nodes) / away  # (point, i, j): factor j of polynomial i
    part[:, np.arange(n), np.arange(n)] = 1.0
    return np.asarray(0.5 * end * (w @ part.prod(axis=2)))


@dataclass(frozen=True, slots=True)
class History:
    """Where a phase ended with a frame, to go on in the next one: its signature (keys of contacts,
    then bytes), time, y, and what ``Adams`` starts from."""

    signature: tuple[Any, ...]
    t: float
    y: Floats
    past: Past
    order: int

    def snapshot(self) -> Snapshot:
        keys, *marks = self.signature
        out: Snapshot = {f"mark{k}": np.frombuffer(m, np.uint8) for k, m in enumerate(marks)}
        return out | {
            "keys": np.array(keys, np.int64).reshape(-1, 3), "t": self.t, "y": self.y,
            "times": np.array([t for t, _ in self.past]), "order": self.order,
            "rates": np.array([f for _, f in self.past]).reshape(len(self.past), -1),
        }  # fmt: skip

    @classmethod
    def restored(cls, known: Snapshot) -> History:
        """What ``snapshot`` was taken of."""
        marks = sorted(name for name in known if name.startswith("mark"))
        keys = tuple(tuple(key) for key in known["keys"].tolist())
        past = list(zip(known["times"].tolist(), known["rates"], strict=True))
        signature = (keys, *(known[name].tobytes() for name in marks))
        return cls(signature, float(known["t"]), known["y"], past, int(known["order"]))


class Adams(OdeSolver):
    """Steps like SciPy's solvers; f: rate at (t, y), to be set anew where y is corrected.

    past: earlier times and rates, the latest last; order: to begin with.
    """

    n_stages = 2  # evaluations of one trial
    t: float
    y: Floats

    def __init__(
        self,
        fun: Callable[[float, Floats], Floats],
        t0: float,
        y0: Floats,
        t_bound: float,
        *,
        rtol: float,
        atol: Floats,
        first_step: float | None = None,
        past: Past | None = None,
        order: int = 1,
    ) -> None:
        super().__init__(fun, t0, y0, t_bound, vectorized=False)
        self.rtol, self.atol = rtol, atol
        self.f: Floats | None = self.fun(t0, y0)
        self.past: Past = list(past or ())
        self.order = min(order, len(self.past) + 1)
        self.h_abs = self._first() if first_step is None or not self.past else first_step
        self._used: tuple[float, Floats, Floats] | None = None

    def _first(self) -> float:
        """A step whose error by Euler's method is about the tolerance, if y'' is y' / 0.01 s."""
        scale = self.atol + self.rtol * np.abs(self.y)
        rate = 0.0 if self.f is None else _norm(self.f / scale)
        return float(min(np.sqrt(0.02 / rate) if rate > 0 else 1e-3, self.t_bound - self.t))

    def _step_impl(self) -> tuple[bool, str | None]:
        if self.f is None:
            self.f = self.fun(self.t, self.y)
        self.past = [*self.past[-MAX_ORDER:], (self.t, self.f)]
        least = 10.0 * np.spacing(abs(self.t))
        h = max(self.h_abs, least)
        while True:
            if h < least:
                return False, self.TOO_SMALL_STEP
            end = min(self.t + h, self.t_bound)
            h = end - self.t
            order = self.order
            y, rates, nodes, errors = self._attempt(h, end)
            if errors[order] <= 1.0:
                break
            self.order = order - 1 if errors.get(order - 1, np.inf) < errors[order] else order
            h *= max(SHRINK, SAFETY * errors[order] ** (-1.0 / (order + 1)))
        self._choose(h, errors)
        self._used = (h, rates, nodes)
        self.y_old, self.t, self.y, self.f = self.y, end, y, None
        return True, None

    def _attempt(self, h: float, end: float) -> tuple[Floats, Floats, Floats, dict[int, float]]:
        """Corrected y, the rates and nodes it is made of, and errors by order, 1 tolerable."""
        k = self.order
        have = len(self.past)
        times = np.array([(t - self.t) / h for t, _ in self.past])
        rates = np.array([f for _, f in self.past])
        predicted = self.y + h * (weights(times[have - k :], 1.0) @ rates[have - k :])
        new = self.fun(end, predicted)
        times, rates = np.append(times, 1.0), np.vstack([rates, new])
        sums: dict[int, Floats] = {}
        for n in range(max(1, k - 1), min(k + 2, have + 1) + 1):  # by n nodes, the new one last
            sums[n] = h * (weights(times[-n:], 1.0) @ rates[-n:])
        y: Floats = self.y + sums[k + 1]
        scale = self.atol + self.rtol * np.maximum(np.abs(self.y), np.abs(y))
        errors = {n: _norm((sums[n + 1] - sums[n]) / scale) for n in sums if n + 1 in sums}
        return y, rates[-(k + 1) :], times[-(k + 1) :], errors

    def _choose(self, h: float, errors: dict[int, float]) -> None:
        """Order and step to go on with: those that go farthest."""
        best = 0.0
        for n, error in errors.items():
            if n > min(MAX_ORDER, len(self.past) + 1):
                continue
            factor = SAFETY * max(error, 1e-12) ** (-1.0 / (n + 1))
            if factor > best:
                best, order = factor, n
        self.order = order
        self.h_abs = h * min(GROW, max(SHRINK, best))

    def _dense_output_impl(self) -> DenseOutput:
        if self._used is None:
            raise ValueError("no step yet")
        return _Dense(self.t_old, self.t, self.y_old, self._used)


class _Dense(DenseOutput):
    """The polynomial of the last step."""

    def __init__(self, t_old: float, t: float, y_old: Floats, used: Any) -> None:
        super().__init__(t_old, t)
        self.y_old = y_old
        self.h, self.rates, self.nodes = used

    def _call_impl(self, t: Any) -> Floats:
        s = (float(t) - self.t_old) / self.h
        return np.asarray(self.y_old + self.h * (weights(self.nodes, s) @ self.rates))


def _norm(x: Floats) -> float:
    return float(np.sqrt((x * x).mean()))


class Paths:
    """Contact points of a phase, and how fast they run.

    flat (nr,): of pressing contacts that turn, those whose relative curvature is that of a
    surface RACING times larger than the body.
    """

    def __init__(self, mode: Mode, start: Evaluation) -> None:
        rows = start.rows
        geoms, own = mode.contact_set.mechanics.model.geoms, rows.contacts
        size = np.minimum(geoms.radius[own.geom_a], geoms.radius[own.geom_b])
        self._closed: Bools = mode.closed[: rows.nr] & ~rows.lost
        self._size: Floats = np.where(np.isfinite(size), size, 1.0)
        turning, _ = rolling(rows.kin, start.state.velocity)
        self._speed: Floats = RACING * self._size * turning
        self.names = mode.contact_set.names

    def flat(self, now: Evaluation) -> Bools:
        turning, run = rolling(now.rows.kin, now.state.velocity)
        fast: Bools = run > RACING * self._size * turning
        return self._closed & fast

    def pace(self, slide: Floats, which: Ints) -> float:
        """g of velocities (n, 2, d) of the points of contacts `which` (n,) over both surfaces; the
        slower one counts, which has no slip in it."""
        part = (slide**2).sum(axis=2).min(axis=1) / self._speed[which] ** 2
        return float(np.sqrt(1.0 + part[self._closed[which]].sum()))


class ArcLengthIntegrator:
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


class StepPath:
    """Y at times within the step that a solver has just made, before its end is corrected.

    Closing contacts at the end of a step corrects its end by the integrator's error, but where
    contacts have met other features by then it moves it far: an event lies between, and up to it
    the polynomial has to be that of the equations that held.
    """

    def __init__(self, solver: Any) -> None:
        self.begin, self.end = float(solver.t_old), float(solver.t)
        self._solver, self._end = solver, solver.y
        self._polynomial: Any = None

    def __call__(self, t: float) -> Floats:
        """Y (n,) at t, which lies within the step."""
        if self._polynomial is None:
            solver = self._solver
            corrected, solver.y = solver.y, self._end
            self._polynomial = solver.dense_output()
            solver.y = corrected
        y: Floats = self._polynomial(t)
        return y


class _Patient:
    """A method of Runge and Kutta that shortens the next `patience` trials of a step by a quarter,
    not by what their errors say: near a dead point an error is that of one trial state that lay on
    it, and a step that is a little shorter has none there."""

    patience = 0
    error_exponent: float

    def _estimate_error_norm(self, K: Floats, h: float, scale: Floats) -> float:
        error = float(super()._estimate_error_norm(K, h, scale))  # type: ignore[misc]
        if error < 1.0 or self.patience == 0:
            return error
        self.patience -= 1
        return min(error, float(QUARTER ** (-1.0 / self.error_exponent)))


class DormandPrince8(_Patient, DOP853):
    """Of order 8."""


class DormandPrince5(_Patient, RK45):
    """Of order 5."""


INTEGRATORS: dict[str, Any] = {"dop853": DormandPrince8, "rk45": DormandPrince5, "adams": Adams}
