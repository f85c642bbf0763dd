"""Enumeration where rows depend on each other: nothing false is listed, no piece is left out.

Judged here, by the conditions of Coulomb's law in the plane and by linear programs of each
combination of contact states. `pytest -m fuzz` takes hundreds of problems.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import drystone as ds
from drystone.problems import FrictionProblem
from drystone.solvers.reuse import contact_states

STATES = ("open", "stick", "up", "down")


def corner(rng):
    """A planar block in a corner: up to four contacts on three degrees of freedom."""
    nc = int(rng.integers(2, 4))
    a, b = rng.uniform(0.2, 1.0, 2)
    turn = rng.uniform(0, 0.6) * (rng.random() < 0.7)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    places = (((-a, -b), (0, 1)), ((a, -b), (0, 1)), ((-a, -b), (1, 0)), ((-a, b), (1, 0)))
    rows = []
    for k in rng.permutation(4)[:nc]:
        p, n = R @ np.array(places[k][0]), R @ np.array(places[k][1], float)
        for v in (n, np.array([n[1], -n[0]])):
            rows.append([v[0], v[1], p[0] * v[1] - p[1] * v[0]])
    J = np.array(rows)
    inverse = np.diag(1.0 / np.array([1.0, 1.0, rng.uniform(0.1, 2.0)]))
    h = np.array([rng.uniform(-1, 1), -1.0, rng.uniform(-0.3, 0.3) * (rng.random() < 0.5)])
    return J @ inverse @ J.T, J @ h, np.round(rng.uniform(0.1, 1.2, nc), 1)


def low_rank(rng):
    nc = int(rng.integers(1, 4))
    rank = int(rng.integers(1, 2 * nc + 1))
    whole = rng.random() < 0.5
    J = rng.integers(-2, 3, (2 * nc, rank)) * 1.0 if whole else rng.normal(size=(2 * nc, rank))
    h = rng.integers(-2, 2, rank) * 1.0 if rng.random() < 0.5 else rng.normal(size=rank)
    return J @ J.T, J @ h, np.round(rng.uniform(0.0, 1.2, nc), 1)


def error(W, q, mu, r):
    """The worst violation of Coulomb's law in the plane, forces and velocities by their size."""
    u = W @ r + q
    force = max(np.abs(r).max(), 1e-300)
    speed = max(np.abs(q).max(), 1e-300)
    out = 0.0
    for i, m in enumerate(mu):
        rn, rt, un, ut = *(r[2 * i : 2 * i + 2] / force), *(u[2 * i : 2 * i + 2] / speed)
        out = max(out, -rn, -un, min(rn, un), abs(rt) - m * rn, min(m * rn - abs(rt), abs(ut)))
        if abs(ut) > 1e-7:
            out = max(out, min(rt * np.sign(ut), 1.0))
    return out


def piece(W, q, mu, states):
    """(A_eq, b_eq, A_ub, b_ub) in r of one combination of contact states."""
    n = q.size
    equal, above, eye = [], [], np.eye(n)
    zero = np.zeros(n)
    for i, state in enumerate(states):
        a, t = 2 * i, 2 * i + 1
        if state == "open":
            equal += [(eye[a], 0.0), (eye[t], 0.0)]
            above.append((W[a], q[a]))
            continue
        equal.append((W[a], q[a]))
        above.append((eye[a], 0.0))
        if state == "stick":
            equal.append((W[t], q[t]))
            above += [(mu[i] * eye[a] - eye[t], 0.0), (mu[i] * eye[a] + eye[t], 0.0)]
        else:
            side = 1.0 if state == "up" else -1.0
            equal.append((eye[t] - side * mu[i] * eye[a], 0.0))
            above.append((-side * W[t], -side * q[t]))
    above.append((zero, 0.0))
    stack = [np.array([row for row, _ in part]) for part in (equal, above)]
    rest = [np.array([c for _, c in part]) for part in (equal, above)]
    return stack[0], rest[0], stack[1], rest[1]


def pieces_without_a_point(W, q, mu, points):
    """Combinations that a linear program finds feasible, and of which nothing is listed."""
    out = []
    for states in product(STATES, repeat=mu.size):
        A, a, B, b = piece(W, q, mu, states)
        found = linprog(
            np.zeros(q.size), A_eq=A, b_eq=-a, A_ub=-B, b_ub=b, bounds=(None, None),
            options={"primal_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        if found.status != 0:
            continue
        for r in points:
            size = 1e-6 * (np.abs(q).max() + np.abs(W).max() * np.abs(r).max() + 1e-300)
            if (np.abs(A @ r + a) <= size).all() and (B @ r + b >= -size).all():
                break
        else:
            out.append(states)
    return out


def check(kind, seeds):
    several = 0
    for seed in seeds:
        W, q, mu = kind(np.random.default_rng(seed))
        found = ds.solve(FrictionProblem(W, q, mu, dim=2), "enumerative")
        points = found.solutions
        several += len(points) > 1
        assert max((error(W, q, mu, r) for r in points), default=0.0) <= 1e-7, seed
        if found.info["complete"]:
            assert pieces_without_a_point(W, q, mu, points) == [], seed
        if not found.info["doubtful"]:
            assert found.info["complete"]
    assert several > 0.1 * len(seeds)


@pytest.mark.parametrize("kind", [corner, low_rank])
def test_what_is_listed_solves_and_nothing_is_missing(kind):
    check(kind, range(10))


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", [corner, low_rank])
def test_the_same_for_hundreds(kind):
    check(kind, range(100, 700))


def test_low_rank_lcps_list_only_solutions():
    """By the definition; every index set with a feasible point (linear program) is represented."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        G = rng.normal(size=(int(rng.integers(1, n)), n))
        G[:, -1] = G[:, 0]  # equal columns: a family of solutions
        M = G.T @ G
        q = -M @ np.maximum(rng.normal(size=n), 0.0)
        found = ds.solve(ds.LCP(M, q), "enumerative")
        assert found.ok
        assert found.info["complete"]
        for z in found.solutions:
            w = M @ z + q
            assert z.min() >= 0.0
            assert np.abs(np.minimum(z, w)).max() <= 1e-9 * np.abs(q).max(initial=1e-300)


def test_a_rank_that_rounding_decides_proves_nothing():
    """Masses that span 10^12. Every such step has a solution (Stewart and Trinkle 1996): where the
    rank of W hides it, the answer is not a proof that there is none."""
    rng, doubtful = np.random.default_rng(0), 0
    for _ in range(300):
        nc = int(rng.integers(1, 4))
        ndof = int(rng.integers(2, 2 * nc + 1))
        J = rng.normal(size=(2 * nc, ndof)) * 10.0 ** rng.integers(-3, 4, ndof)
        mu = rng.choice([0.3, 1.0, 10.0], nc)
        problem = ds.FrictionProblem(J @ J.T, J @ rng.normal(size=ndof), mu, dim=2)
        solution = ds.solve(problem, "enumerative")
        assert solution.status is not ds.Status.INFEASIBLE
        assert solution.ok or not solution.info["complete"]
        doubtful += not solution.ok
    assert doubtful < 15


@pytest.mark.parametrize("law", ["coulomb", "convex"])
@pytest.mark.parametrize("mu", [1e-300, 1e-30, 1e-16, 1e8, 1e16, 1e50, 1e300])
def test_no_friction_coefficient_makes_a_step_infeasible(law, mu):
    """Steps of bodies have a solution. With hardly any friction, half of them were said to have
    none, as friction was taken for zero; with much of it, what presses is lost by rounding, and
    nothing is proved."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        nc = int(rng.integers(1, 4))
        J = rng.normal(size=(2 * nc, 3))
        J = np.round(J) if seed % 2 else J
        problem = FrictionProblem(J @ J.T, J @ rng.normal(size=3), mu, dim=2, law=law)
        solution = ds.solve(problem, "enumerative")
        assert solution.status is not ds.Status.INFEASIBLE, seed
        assert solution.ok or mu > 1.0, seed
        assert mu < 1.0 or not solution.info["complete"]


def test_a_contact_that_hardly_presses_and_holds_is_not_open():
    """mu = 1e12: friction of 1 with a normal force of 1e-12."""
    problem = FrictionProblem(np.eye(4), [-1e-12, -1.0, -1.0, 0.0], 1e12, dim=2)
    states = contact_states(problem, np.array([1e-12, 0.9, 1.0, 0.0]))
    assert states["open"].size == 0
    assert states["stick"].tolist() == [0, 1]
