"""Stabilised and unstabilised steps: depth, its order, and what energy does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.steppers.time_stepping.worlds import run


def rocking_ellipse(spin=3.0):
    world = ds.World(planar=True)
    world.add_ground(friction=0.3)
    world.add_body(
        ds.Ellipse(0.8, 0.4), name="e", position=(0, 0.8), angular_velocity=spin, friction=0.3
    )
    return world


def depths(h, stabilize, duration=4.0):
    _, kept = run(rocking_ellipse(), duration, h, stabilize=stabilize)
    assert all(report.ok for report in kept.reports)
    return kept.series("penetration")


def test_stabilised_depth_is_of_second_order():
    """O(h^2 |v|^2): four times less with half the step (two halvings, so 16 times; 10 at least)."""
    coarse, fine = depths(0.01, True).max(), depths(0.0025, True).max()
    assert coarse < 5 * 0.01**2 * 3**2, "h^2 v^2 / R with R of the order of 1 m"
    assert fine < coarse / 10


def test_unstabilised_depth_drifts_and_stabilised_does_not():
    free, held = depths(0.01, False), depths(0.01, True)
    assert free[-1] > 100 * max(held[-1], 1e-9)
    half = free.size // 2
    assert free[half:].min() > 0, "what went in never comes out"
    assert free[-1] >= 0.9 * free[:half].max()


def test_linear_gaps_are_closed_exactly():
    """A box that falls flat on a plane: its gap is linear, so one step closes it to rounding."""
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.4, 0.4, 0.2), name="b", position=(0, 0, 0.3))
    _, kept = run(world, 0.5)
    assert kept.series("penetration").max() < 1e-9
    assert abs(kept.position[-1, 1, 2] - 0.1) < 1e-9


def missiles(seed, planar, n=3):
    """Bodies in free space that fly at each other."""
    rng = np.random.default_rng(seed)
    dim = 2 if planar else 3
    world = ds.World([0.0] * dim, planar=planar)
    for k in range(n):
        place = np.zeros(dim)
        place[0], place[1] = 1.2 * np.cos(2 * np.pi * k / n), 1.2 * np.sin(2 * np.pi * k / n)
        spin = 4 * rng.normal(size=1 if planar else 3)
        side = rng.uniform(0.3, 0.7, 3)
        boxes = ds.Rectangle(*side[:2]) if planar else ds.Box(*side)
        world.add_body(
            boxes if k % 2 else (ds.Disk(0.3) if planar else ds.Sphere(0.3)), name=f"m{k}",
            position=place, velocity=-rng.uniform(1, 3) * place + 0.3 * rng.normal(size=dim),
            angular_velocity=float(spin[0]) if planar else spin, friction=rng.uniform(0, 1),
        )  # fmt: skip
    return world


def momenta(model, state):
    """Linear and angular momentum about the origin."""
    dim = model.dim
    p = model.mass[:, None] * state.velocity[:, :dim]
    if dim == 2:
        x, v = state.position, p
        turning = (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]).sum()
        return p.sum(axis=0), turning + (model.inertia * state.velocity[:, 2]).sum()
    from scipy.spatial.transform import Rotation

    R = Rotation.from_quat(state.orientation, scalar_first=True).as_matrix()
    spin = np.einsum("iab,ibc,idc,id->ia", R, model.inertia, R, state.velocity[:, 3:])
    return p.sum(axis=0), np.cross(state.position, p).sum(axis=0) + spin.sum(axis=0)


@pytest.mark.parametrize("planar", [True, False])
@settings(deadline=None, derandomize=True, max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_kinetic_energy_does_not_grow_and_momentum_is_kept(planar, seed):
    """No external work, so T never grows. Impulses are opposite at one point: linear
    and angular momentum stay, to the rounding and the fourth-order rotation of the drift."""
    sim = ds.Simulation(missiles(seed, planar), ds.TimeStepping(dt=0.01, stabilize=False))
    energy = sim.energy[0]
    before = momenta(sim.model, sim.state)
    met = 0
    for _ in range(100):
        report = sim.step()
        assert report.ok
        met += report.contacts
        assert report.energy.kinetic <= energy * (1 + 1e-8)
        energy = report.energy.kinetic
    after = momenta(sim.model, sim.state)
    scale = 2 * np.sqrt(energy * sim.model.mass.sum())
    assert met > 0, "they met"
    assert np.allclose(after[0], before[0], atol=1e-9 * scale)
    # the drift moves contact points by O(h) between impulse and position: x x p with x' = x + h v'
    assert np.allclose(after[1], before[1], atol=1e-8 * scale)


@pytest.mark.parametrize("planar", [True, False])
def test_gap_correction_keeps_momentum_too(planar):
    sim = ds.Simulation(missiles(5, planar), ds.TimeStepping(dt=0.01))
    before = momenta(sim.model, sim.state)
    sim.run(1.0)
    after = momenta(sim.model, sim.state)
    assert np.allclose(after[0], before[0], atol=1e-7)
    assert np.allclose(after[1], before[1], atol=1e-6)


def test_velocities_stay_bounded():
    """1000 steps of a body that is thrown into a corner: no velocity above what it came with."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.8)
    world.add_ground(normal=(-1, 0), height=-1.0, name="wall", friction=0.8)
    world.add_body(
        ds.Rectangle(0.5, 0.2), name="b", position=(0, 0.5), velocity=(6, 0), angular_velocity=9,
        friction=0.8,
    )  # fmt: skip
    _, kept = run(world, 4.0)
    speed = np.abs(kept.velocity[:, 2, :2]).max()
    assert speed <= np.hypot(6, 0) + 9.81 * 0.5 + 9 * 0.27
    assert np.abs(kept.velocity[-1]).max() < 1e-9, "and it ends at rest"
