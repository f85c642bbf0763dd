"""What SOLVED says of velocities: the energy gap, beside the residual."""

import numpy as np
import pytest

import drystone as ds
from drystone.kernels.blocks import CONVEX, COULOMB
from drystone.kernels.contact.energy_gap import gap_of_blocks
from drystone.kernels.step import codes
from drystone.problems.residual import project_cone
from tests.library import random_bodies

G = 9.81


def test_statuses_have_the_places_that_kernels_write():
    assert tuple(ds.Status)[codes.INACCURATE] is ds.Status.INACCURATE


@pytest.mark.kernels
@pytest.mark.parametrize("law", [COULOMB, CONVEX])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_gap_is_work_over_energy(law, d):
    """The formula once more, by projections."""
    rng = np.random.default_rng(d)
    n = 7
    r, u, q = rng.normal(size=(3, n, d))
    mu, unit = rng.uniform(0, 1, n), rng.uniform(0.5, 2, n)
    mu[-1] = -1.0  # a joint's
    lifted = u[:-1].copy()
    if law == COULOMB:
        lifted[:, 0] += mu[:-1] * np.linalg.norm(u[:-1, 1:], axis=1)
    work = np.abs((r[:-1] * lifted).sum(axis=1)).sum() + abs(r[-1] @ u[-1])
    dual = mu[:-1] * np.linalg.norm(lifted[:, 1:], axis=1) - lifted[:, 0]
    work += (np.linalg.norm(r[:-1], axis=1) * np.maximum(dual, 0.0)).sum()
    outside = np.linalg.norm(r[:-1, 1:], axis=1) - mu[:-1] * r[:-1, 0]
    work += (np.linalg.norm(u[:-1], axis=1) * np.maximum(outside, 0.0)).sum()
    energy = max((r * (u - q)).sum(), (q**2 / unit[:, None] ** 2).sum())
    assert gap_of_blocks(r, u, q, mu, unit, law, None) == pytest.approx(work / energy, rel=1e-12)


def test_it_bounds_the_error_of_velocities():
    """Convex law: (r - r*).W (r - r*) <= r.u + sum |r*| (mu |u_t| - u_n)+ for r in the cones, and
    |r*| <= |r| + |r - r*|."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        problem = random_bodies(rng, 4, 8, dim=3, law="convex")
        best = ds.solve(problem, tol=1e-12).value.reshape(-1, 3)
        W, q, mu = problem.W.toarray(), problem.q.reshape(-1, 3), problem.mu
        unit = np.sqrt(np.diag(W).reshape(-1, 3).mean(axis=1))
        for size in (1e-1, 1e-3, 1e-6):
            r = project_cone(best + size * np.abs(best).max() * rng.normal(size=best.shape), mu)
            u, away = (W @ r.ravel()).reshape(-1, 3) + q, r - best
            scale = max((r * (u - q)).sum(), (q**2 / unit[:, None] ** 2).sum())
            work = gap_of_blocks(r, u, q, mu, unit, CONVEX, None) * scale
            closing = np.maximum(mu * np.linalg.norm(u[:, 1:], axis=1) - u[:, 0], 0.0)
            work += (np.linalg.norm(away, axis=1) * closing).sum()
            assert away.ravel() @ W @ away.ravel() <= work + 1e-12 * scale


def tower(count, size=1.0):
    world = ds.World()
    world.add_ground()
    for k in range(count):
        world.add_body(ds.Box(size, size, size), position=(0, 0, (k + 0.5) * size))
    return world


@pytest.mark.parametrize(("count", "size"), [(12, 1.0), (25, 0.2), (40, 1.0)])
def test_towers_rest(count, size):
    """A residual of 1e-9 let a tower of 40 gain 1.4e-6 g h a step, until it swayed."""
    sim = ds.Simulation(tower(count, size))
    start, fastest = sim.state.position.copy(), 0.0
    for _ in range(200):
        assert sim.step().ok
        fastest = max(fastest, np.abs(sim.state.velocity).max())
    assert fastest < 1e-5 * G * sim.method.dt
    assert np.abs(sim.state.position - start).max() < 1e-8


@pytest.mark.parametrize("speed", [4.0, 40.0, 400.0, 4000.0])
@pytest.mark.parametrize("solver", ["auto", "nsgs", "newton"])
def test_a_groove_that_nearly_jams_is_solved_or_it_is_said(speed, solver):
    """Coming to rest takes impulses of speed / (g h) times the momentum (Anitescu et al. 1998,
    figure 1). A ball that does not slip rolls on, about the line through its contacts."""
    sim = ds.scene("wedge-cone", speed=speed).simulation(formulation="convex", solver=solver)
    if sim.step().ok:
        ball = sim.state.velocity[2]
        assert ball[0] == pytest.approx(ball[4] * 0.01 * np.sqrt(0.5), abs=1e-6 * speed)
        assert abs(ball[0]) < 1e-5 * speed


@pytest.mark.parametrize("factor", [10.0, 30.0])
def test_heavy_on_light_is_solved_by_its_velocities(factor):
    sim = ds.scene("mass-ratio", factor=factor).simulation("time-stepping")
    for _ in range(30):
        assert sim.step().ok
        assert np.abs(sim.state.velocity).max() < 1e-6 * G * sim.method.dt
