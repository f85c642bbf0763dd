"""Problems of the literature whose answers are known; each says where it comes from.

Rods (Baraff 1992, chapters 10 to 12): a thin rod of length two touches a base with its lower tip,
inclined by THETA; its moment of inertia is m / 16 and mu is such that pressing the sliding tip
*pulls* it in: 1/m + (cos^2 - mu cos sin) / I = -1/m. Force level: r are forces, u accelerations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.errors import ProblemError
from drystone.problems.friction import FrictionProblem
from drystone.problems.lcp import LCP
from drystone.types import Floats

THETA = np.radians(72.0)
COS, SIN = float(np.cos(THETA)), float(np.sin(THETA))
MU = (COS**2 + 1.0 / 8.0) / (COS * SIN)  # 16 (cos^2 - mu cos sin) = -2, about 3/4
BLOCK = 100.0  # mass of the block B in units of the end rods' mass (Baraff 1992, chapter 11)


def rod(mass: float = 1.0, *, gravity: float = 9.81, spin: float | None = None) -> FrictionProblem:
    """Baraff 1992, figure 10.1: one sliding contact with exactly two forces, f_N = 0 and f_N = m.

    spin [rad/s] defaults to the one with spin^2 sin(theta) - g = 1 (10-1). In general the normal
    acceleration is -f_N / m + e with e = spin^2 sin(theta) - g: two solutions f_N = 0, m e for
    e > 0, only f_N = 0 for e = 0, none for e < 0.
    """
    if spin is None:
        spin = float(np.sqrt((1.0 + gravity) / SIN))
    J = _contact_rows((-COS, -SIN), (0.0, 1.0))
    W = _delassus(J, np.array([mass, mass, mass / 16.0]))
    q = np.array([spin**2 * SIN - gravity, spin**2 * COS])
    return FrictionProblem(W, q, MU, dim=2, slip=[[-1.0]])


def inconsistent_rod(mass: float = 1.0, gravity: float = 9.81) -> FrictionProblem:
    """Baraff 1992, figure 10.3: the rod without spin. No force for gravity > 0; f_N = 0 for none.

    The ray is f_N alone, with friction mu f_N: an impulse that stops the tip.
    """
    return rod(mass, gravity=gravity, spin=0.0)


@dataclass(frozen=True)
class _Touch:
    """A rod on the block B: mass, normal (from B to the rod), load accelerations (n, t)."""

    mass: float
    normal: tuple[float, float]
    load: tuple[float, float]


def subset_sum(values: Sequence[float], target: float) -> FrictionProblem:
    """The block of Baraff 1992, figure 11.3: consistent if some `values` sum to `target`.

    A block B slides without friction in a horizontal guide (two bilateral rows: height and
    rotation). Rods R_i of mass values[i], in the state of figure 10.1, rest on it; each presses
    with 0 or values[i] and so pushes B left with 0 or mu values[i]. A force mu target pushes B
    right. End rods E1 (left) and E2 (right), in the state of figure 10.3 without gravity, bear no
    motion of B towards them: forces exist only if B does not accelerate. Contacts: R_1 ... R_n, E1,
    E2.
    """
    masses = _positive("values", values)
    resting = (1.0, (1.0 + 9.81) / SIN * COS)  # spin^2 sin - g = 1, and spin^2 cos
    touches = [_Touch(float(mass), (0.0, 1.0), resting) for mass in masses]
    touches += [_Touch(1.0, (-1.0, 0.0), (0.0, 0.0)), _Touch(1.0, (1.0, 0.0), (0.0, 0.0))]
    return _block_and_rods(touches, push=MU * float(target))


def subset_sum_lcp(values: Sequence[float], target: float) -> LCP:
    """The block with friction and guides worked out by hand: z = (f_1, ..., f_n, f_E1, f_E2).

    w_i = 1 - f_i / a_i; with a = (mu target - mu sum f_i + f_E1 - f_E2) / M the acceleration of
    B, w_E1 = a - f_E1 / m and w_E2 = -a - f_E2 / m; m = 1, M = 100 (11-3).
    """
    masses = _positive("values", values)
    n = masses.size
    push = np.append(np.full(n, -MU), [1.0, -1.0]) / BLOCK
    M = np.zeros((n + 2, n + 2))
    M[np.arange(n), np.arange(n)] = -1.0 / masses
    M[n], M[n + 1] = push, -push
    M[n, n] -= 1.0
    M[n + 1, n + 1] -= 1.0
    load = MU * float(target) / BLOCK
    return LCP(M, np.append(np.ones(n), [load, -load]))


def impulse_or_none(mass: float = 1.0) -> FrictionProblem:
    """Baraff 1992, figure 12.4: one rod R and the end rod E1 on the block.

    f_N = 0 is the only force; f_N = m would push B towards E1, and the impulse at E1 (the ray
    that is zero at R) is an equally valid answer (12.4). Contacts: R, E1.
    """
    resting = (1.0, (1.0 + 9.81) / SIN * COS)
    return _block_and_rods(
        [_Touch(mass, (0.0, 1.0), resting), _Touch(1.0, (-1.0, 0.0), (0.0, 0.0))], push=0.0
    )


def _block_and_rods(touches: list[_Touch], push: float) -> FrictionProblem:
    """Rods on a guided block: W = J M^-1 J' from the bodies, B first, then one body a rod."""
    nc = len(touches)
    J = np.zeros((2 * nc + 2, 3 * (nc + 1)))
    inertia = np.concatenate(
        [[BLOCK, BLOCK, BLOCK]] + [[t.mass, t.mass, t.mass / 16.0] for t in touches]
    )
    q = np.zeros(2 * nc + 2)
    for i, touch in enumerate(touches):
        n = np.array(touch.normal)
        turn = np.array([[n[1], n[0]], [-n[0], n[1]]])  # takes the upward normal to n
        arm, where = turn @ (-COS, -SIN), n + 0.1 * i * np.array([n[1], -n[0]])
        rows = slice(2 * i, 2 * i + 2)
        J[rows, 3 * (i + 1) : 3 * (i + 2)] = _contact_rows(arm, touch.normal)
        J[rows, :3] = -_contact_rows(where, touch.normal)
        q[rows] = touch.load
    J[2 * nc, 1] = J[2 * nc + 1, 2] = 1.0
    force = np.zeros(3 * (nc + 1))
    force[0] = push / BLOCK
    q += J @ force
    slip = -np.ones((nc, 1))
    return FrictionProblem(_delassus(J, inertia), q, MU, dim=2, bilateral=2, slip=slip)


def _contact_rows(arm: Any, normal: Any) -> Floats:
    """(2, 3) rows of (v_x, v_y, omega) for the normal and tangential speed of a body's point."""
    (x, y), (nx, ny) = arm, normal
    tx, ty = ny, -nx
    return np.array([[nx, ny, x * ny - y * nx], [tx, ty, x * ty - y * tx]])


def _delassus(J: Floats, inertia: Floats) -> Floats:
    return np.asarray((J / inertia) @ J.T)


def _positive(name: str, values: Sequence[float]) -> Floats:
    out = np.asarray(values, dtype=np.float64)
    if out.ndim != 1 or not (np.isfinite(out).all() and (out > 0).all()):
        raise ProblemError(f"{name} = {values!r}: expected positive numbers")
    return out


def wedge(velocity: Sequence[float] = (1.0, 0.0, -1.0), mu: float = 1.0) -> FrictionProblem:
    """Anitescu et al. 1998, figure 1: a particle of unit mass in a right-angled groove along x, mu
    on both faces.

    Normals (0, -1, 1) / sqrt 2 and (0, 1, 1) / sqrt 2; tangents x and normal cross x. For mu = 1
    the sum of the two circular cones is not closed. `velocity`: free velocity of the particle.
    """
    J = []
    for side in (-1.0, 1.0):
        n, x = np.array([0.0, side, 1.0]) / np.sqrt(2.0), np.array([1.0, 0.0, 0.0])
        J += [n, x, np.cross(n, x)]
    rows = np.array(J)
    return FrictionProblem(rows @ rows.T, rows @ np.asarray(velocity, dtype=np.float64), mu)


def murty(n: int) -> LCP:
    """Murty (1978; 1988, 6.3): Lemke with covering vector e takes 2^n pivots.

    M has ones on the diagonal and twos below it (a P-matrix: one solution), q_i =
    -(2^n + 2^(n-1) + ... + 2^(n-i)). Solution (2^n, 0, ..., 0).
    """
    M = np.eye(n) + 2.0 * np.tril(np.ones((n, n)), -1)
    return LCP(M, -np.cumsum(2.0 ** (n - np.arange(n))))


def murty_transposed(n: int) -> LCP:
    """Cottle, Pang, Stone (1992, 6.6): least-index principal pivoting takes 2^n - 1 steps.

    M upper triangular, ones and twos, q = -e. Solution (0, ..., 0, 1).
    """
    return LCP(np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1), -np.ones(n))


def kostreva() -> LCP:
    """Murty (1988, 4.2), Kostreva (1979): block principal pivoting goes round in a circle.

    A P-matrix; the only solution is (1/3, 1/3, 1/3).
    """
    return LCP([[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]], [-1.0, -1.0, -1.0])


CYCLING = ("beale", "chvatal", "kuhn")


def cycling(name: str) -> LCP:
    """Linear programs on which the simplex method cycles, as LCPs of their optimality conditions.

    min c'x, A x <= b, x >= 0 has the LCP M = [0 A'; -A 0], q = (c, b), z = (x, multipliers).
    Optimal values: "beale" -1/20, "chvatal" -1, "kuhn" -2. Every basis at the origin is
    degenerate; without a rule for ties pivoting need not end.
    """
    if name not in CYCLING:
        raise ProblemError(f"unknown cycling example {name!r}: expected {', '.join(CYCLING)}")
    c, A, b = {
        "beale": (
            [-0.75, 150.0, -0.02, 6.0],
            [[0.25, -60.0, -0.04, 9.0], [0.5, -90.0, -0.02, 3.0], [0.0, 0.0, 1.0, 0.0]],
            [0.0, 0.0, 1.0],
        ),
        "chvatal": (
            [-10.0, 57.0, 9.0, 24.0],
            [[0.5, -5.5, -2.5, 9.0], [0.5, -1.5, -0.5, 1.0], [1.0, 0.0, 0.0, 0.0]],
            [0.0, 0.0, 1.0],
        ),
        "kuhn": (
            [-2.0, -3.0, 1.0, 12.0],
            [[-2.0, -9.0, 1.0, 9.0], [1 / 3, 1.0, -1 / 3, -2.0], [2.0, 3.0, -1.0, -12.0]],
            [0.0, 0.0, 2.0],
        ),
    }[name]
    rows = np.array(A)
    M = np.block([[np.zeros((4, 4)), rows.T], [-rows, np.zeros((3, 3))]])
    return LCP(M, np.array(c + b))


def segment() -> LCP:
    """Cottle, Pang, Stone (1992): solutions are the segment from (1, 0) to (0, 1)."""
    return LCP([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0])


def bimatrix_game() -> LCP:
    """Cottle, Pang, Stone (1992): costs [10 20; 30 15] for both players, three equilibria.

    From z = 0 Lemke's method ends on a ray at once with every covering vector.
    """
    costs = np.array([[10.0, 20.0], [30.0, 15.0]])
    M = np.block([[np.zeros((2, 2)), costs], [costs, np.zeros((2, 2))]])
    return LCP(M, -np.ones(4))


def infeasible() -> LCP:
    """A skew, so positive semidefinite, matrix with no feasible point: -z_2 - 1 >= 0."""
    return LCP([[0.0, -1.0], [1.0, 0.0]], [-1.0, 1.0])
