"""Exact impacts of one contact: velocities followed through the impact, over its normal impulse p.

During an impact positions rest and velocities change with p: u' = K (1, f) where f = r_t' is the
friction per unit of normal impulse. Compression lasts until u_n = 0; then the law of restitution
says when the impact ends:
Newton: u_n+ = -eps u_n-. Poisson: p+ = (1 + eps) p_c. Stronge: the work of the normal impulse in
restitution is -eps^2 times that of compression.

In the plane (Routh 1860) slip, stick and reversed slip are straight lines between at most three
corners: slip stops, compression ends, the impact ends. Wang and Mason (1992) give the outcome case
by case; here the path is followed.

In space (Keller 1986) u' = K (1, -mu s) with s the slip direction *of the moment*, which turns.
With u_t = rho s(phi) and dp = rho dtau the angle obeys phi' = h(phi) alone, and nothing is stiff
where slip dies out: rho falls exponentially in tau. Once at rest the contact sticks if friction can
hold it; else it slips on along the one direction in which u_t' points along u_t, a straight line.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from drystone.types import Floats

Restitution = Literal["newton", "poisson", "stronge"]
SLIP_ENDED = 1e-13  # of the velocity before the impact: slip below it has ended
ACCURACY = 1e-11  # relative, of the integration in tau


class ImpactPhase(StrEnum):
    """What a contact does in a part of an impact; in the plane slip has a sign."""

    STICK = "stick"
    SLIP = "slip"
    SLIP_FORWARD = "slip+"
    SLIP_BACKWARD = "slip-"


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


def routh(
    K: Floats, u: Floats, mu: float, eps: float, restitution: Restitution = "poisson"
) -> tuple[Floats, tuple[ImpactPhase, ...]]:
    """(impulse (2,), phases) of a contact with velocity u (2,) and u+ = u + K r.

    K (2, 2): symmetric positive definite, normal first. Contacts that do not approach (u_n > 0,
    or u_n = 0 and no jam) take no impulse; u_n = 0 with friction that pulls the sliding contact
    together is the impact without collision of Baraff 1992, 13.1.
    """
    state = Progress(restitution, eps, min(float(u[0]), 0.0), float(u[0]))
    ut, pt = float(u[1]), 0.0
    phases: list[ImpactPhase] = []
    f, phase = friction_ratio(K, ut, mu)
    if u[0] > 0.0 or (u[0] == 0.0 and K[0, 0] + K[0, 1] * f > 0.0):
        return np.zeros(2), ()
    while True:
        f, phase = friction_ratio(K, ut, mu)
        if not phases or phases[-1] != phase:
            phases.append(phase)
        slope_n, slope_t = K[0, 0] + K[0, 1] * f, K[1, 0] + K[1, 1] * f
        if phase is ImpactPhase.STICK:
            slope_t = 0.0  # to the bit: rounding must not make it slip
        stop = -ut / slope_t if ut * slope_t < 0.0 else np.inf
        left = state.left(slope_n)
        length = min(stop, left)
        if not np.isfinite(length):  # K is not positive definite: nothing opposes the approach
            return np.full(2, np.nan), tuple(phases)
        state.move(length, slope_n)
        ut, pt = ut + slope_t * length, pt + f * length
        if stop <= left:
            ut = 0.0
        elif state.compressing:
            state.turn()
        else:
            return np.array([state.p, pt]), tuple(phases)


def friction_ratio(K: Floats, ut: float, mu: float) -> tuple[float, ImpactPhase]:
    """(r_t' per unit of normal impulse, phase): against the slip; without slip what keeps it so."""
    if ut != 0.0:
        return -mu * float(np.sign(ut)), _slip(ut)
    if abs(K[1, 0]) <= mu * K[1, 1]:
        # without tangential freedom (joints) there is nothing to hold
        return (-float(K[1, 0] / K[1, 1]) if K[1, 1] > 0.0 else 0.0), ImpactPhase.STICK
    side = float(np.sign(K[1, 0]))  # the way it is pushed when friction cannot hold it
    return -mu * side, _slip(side)


def _slip(way: float) -> ImpactPhase:
    return ImpactPhase.SLIP_FORWARD if way > 0.0 else ImpactPhase.SLIP_BACKWARD


def keller(
    K: Floats, u: Floats, mu: float, eps: float, restitution: Restitution = "poisson"
) -> tuple[Floats, tuple[ImpactPhase, ...]]:
    """(impulse (3,), phases) of a contact with velocity u (3,) and u+ = u + K r; see ``routh``."""
    size, unit = float(np.linalg.norm(u)), float(K[0, 0])
    if size == 0.0 or u[0] > 0.0:
        return np.zeros(3), ()
    path = _Path(K / unit, u / size, mu, eps, restitution)
    r = path.follow() * (size / unit)
    return r, tuple(path.phases)


class _Path:
    """The path of one impact, in units in which |u| = 1 before it and K_nn = 1."""

    def __init__(
        self, K: Floats, u: Floats, mu: float, eps: float, restitution: Restitution
    ) -> None:
        self.K, self.mu, self.u = K, mu, u.copy()
        self.state = Progress(restitution, eps, min(float(u[0]), 0.0), float(u[0]))
        self.pt: Floats = np.zeros(2)
        self.phases: list[ImpactPhase] = []

    def follow(self) -> Floats:
        f, _ = self._straight()
        if self.u[0] == 0.0 and float(self.K[0] @ np.concatenate([[1.0], f])) > 0.0:
            return np.zeros(3)
        done = False
        while not done:
            sliding = bool(np.linalg.norm(self.u[1:]) > SLIP_ENDED) and self.mu > 0.0
            done = self._slide() if sliding else self._line()
            if not np.isfinite(self.u).all():
                return np.full(3, np.nan)
        return np.array([self.state.p, *self.pt])

    def _note(self, phase: ImpactPhase) -> None:
        if not self.phases or self.phases[-1] != phase:
            self.phases.append(phase)

    def _straight(self) -> tuple[Floats, ImpactPhase]:
        """Friction per unit of normal impulse where its direction does not change."""
        speed = float(np.linalg.norm(self.u[1:]))
        if speed > SLIP_ENDED or self.mu == 0.0:
            return -self.mu * self.u[1:] / max(speed, SLIP_ENDED), ImpactPhase.SLIP
        # least squares: joints may leave a contact without tangential freedom
        hold = np.asarray(np.linalg.lstsq(self.K[1:, 1:], -self.K[1:, 0], rcond=None)[0])
        if np.linalg.norm(hold) <= self.mu:
            return hold, ImpactPhase.STICK
        return -self.mu * escape_direction(self.K, self.mu), ImpactPhase.SLIP

    def _line(self) -> bool:
        """A straight piece of the path; whether the impact is over."""
        f, phase = self._straight()
        if self.mu > 0.0:
            self.u[1:] = 0.0
        self._note(phase)
        state = self.state
        slope = self.K @ np.concatenate([[1.0], f])
        length = state.left(float(slope[0]))
        self.u, self.pt = self.u + slope * length, self.pt + f * length
        if not np.isfinite(length):
            return True
        state.move(length, float(slope[0]))
        if not state.compressing:
            return True
        state.turn()
        if (
            phase is ImpactPhase.SLIP and self.mu > 0.0
        ):  # a straight line to the end: no need to integrate
            rest = state.left(float(slope[0]))
            state.move(rest, float(slope[0]))
            self.u, self.pt = self.u + slope * rest, self.pt + f * rest
            return True
        return False

    def _slide(self) -> bool:
        """Slip whose direction turns, until it stops, compression ends or the impact does."""
        self._note(ImpactPhase.SLIP)
        state = self.state
        rho, phi = float(np.linalg.norm(self.u[1:])), float(np.arctan2(self.u[2], self.u[1]))
        begin = np.array([np.log(rho), phi, state.p, state.un, state.work, *self.pt])
        events = (self._milestone(), _Event(0, float(np.log(SLIP_ENDED)), -1.0))
        path = solve_ivp(
            self._rates, (0.0, 1e6), begin, method="DOP853", events=events,
            rtol=ACCURACY, atol=ACCURACY * 1e-2,
        )  # fmt: skip
        log_rho, phi, state.p, state.un, state.work = (float(y) for y in path.y[:5, -1])
        rho, self.pt = np.exp(log_rho), path.y[5:, -1]
        stopped = path.t_events is not None and path.t_events[1].size > 0
        reached = path.t_events is not None and path.t_events[0].size > 0
        if stopped:
            rho = 0.0
        elif not reached:
            self.u[:] = np.nan
            return True
        self.u = np.array([state.un, rho * np.cos(phi), rho * np.sin(phi)])
        if stopped:
            return False
        if not state.compressing:
            return True
        state.turn()
        self.u[0] = 0.0
        return state.eps == 0.0

    def _rates(self, _: float, y: Floats) -> Floats:
        s = np.array([np.cos(y[1]), np.sin(y[1])])
        pull = self.K[1:, 0] - self.mu * (self.K[1:, 1:] @ s)
        rho = np.exp(y[0])
        rise = 1.0 - self.mu * float(self.K[0, 1:] @ s)
        turn = float(s[0] * pull[1] - s[1] * pull[0])
        drag = -self.mu * rho * s
        return np.array([float(s @ pull), turn, rho, rho * rise, rho * y[3], *drag])

    def _milestone(self) -> _Event:
        """Zero where compression ends, or the impact."""
        state = self.state
        if state.compressing:
            return _Event(3, 0.0, 1.0)
        place, goal = {
            "newton": (3, -state.eps * state.speed),
            "poisson": (2, (1.0 + state.eps) * state.p_c),
            "stronge": (4, state.target()),
        }[state.restitution]
        return _Event(place, goal, 1.0)


class _Event:
    """Ends the integration where y[place] passes the goal, upwards or downwards."""

    terminal = True

    def __init__(self, place: int, goal: float, direction: float) -> None:
        self.place, self.goal, self.direction = place, goal, direction

    def __call__(self, _: float, y: Floats) -> float:
        return float(y[self.place] - self.goal)


def escape_direction(K: Floats, mu: float) -> Floats:
    """(2,) unit s with K_tn - mu K_tt s = lambda s, lambda > 0: the way that slip resumes.

    |(lambda + mu K_tt)^-1 K_tn| falls with lambda from more than one, so there is one such s.
    """

    def slip(lam: float) -> Floats:
        return np.asarray(np.linalg.solve(lam * np.eye(2) + mu * K[1:, 1:], K[1:, 0]))

    top = float(np.linalg.norm(K[1:, 0]))
    low = 1e-14 * top  # not zero: K_tt may be singular
    lam = brentq(lambda x: np.linalg.norm(slip(x)) - 1.0, low, top, xtol=1e-15 * top, rtol=1e-14)
    s = slip(float(lam))
    return s / np.linalg.norm(s)
