"""Energy in springs of joints is potential; joints at rest do not creep."""

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.worlds import run

G = 9.81


def bouncing(damping=0.0, stiffness=100.0):
    """1 kg on a spring along z, let go at its rest length."""
    world = ds.World()
    world.add_body(ds.Box(0.1, 0.1, 0.1), name="weight", mass=1.0)
    spring = (stiffness, damping, 0.0)
    world.add_joint(ds.Slider("weight", "world", axis=(0, 0, 1), spring=spring, name="leg"))
    return world


def test_springs_of_joints_store_potential_energy():
    sim, kept = run(bouncing(), 0.5, dt=1 / 960)
    z = kept.position[:, 0, 2]
    stored = 0.5 * 100.0 * z**2 + G * z
    np.testing.assert_allclose(kept.series("potential"), stored[-len(kept.series("potential")) :])
    assert sim.energy[1] == pytest.approx(stored[-1], rel=1e-12)
    assert np.abs(kept.series("unexplained")).max() < 1e-12
    # what is left for the loads is the implicit spring's error, of order h^2 a step
    coarse = np.abs(run(bouncing(), 0.5, dt=1 / 480)[1].series("loads")).max()
    fine = np.abs(kept.series("loads")).max()
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_dampers_of_joints_take_what_the_motion_says():
    """Against the integral of c v^2 along the run."""
    _, kept = run(bouncing(damping=3.0), 0.5, dt=1 / 1920)
    v = kept.velocity[1:, 0, 2]
    lost = kept.series("loads").sum()
    assert lost == pytest.approx(-(3.0 * v**2).sum() / 1920, rel=0.02)


def test_a_torsion_spring_counts_whole_turns():
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Sphere(0.1), name="rotor", mass=1.0, angular_velocity=(0, 0, 20.0))
    hinge = ds.Hinge("rotor", "world", anchor=(0, 0, 0), axis=(0, 0, 1), spring=(1e-3, 0))
    world.add_joint(hinge)
    sim, kept = run(world, 1.0)
    inertia = 0.4 * 0.01
    turned = 20.0 * np.sin(np.sqrt(1e-3 / inertia)) / np.sqrt(1e-3 / inertia)
    assert turned > 4 * np.pi
    assert sim.energy[1] == pytest.approx(0.5e-3 * turned**2, rel=0.02)
    assert np.abs(kept.series("unexplained")).max() < 1e-12


@pytest.mark.parametrize("planar", [True, False])
def test_a_hanging_chain_at_rest_stays_where_it_is(planar):
    """10 s: warm starts and tolerances leave nothing that adds up."""
    world = ds.World(planar=planar)
    before, n = "world", 8
    for k in range(n):
        here = (0, -0.2 * k) if planar else (0, 0, -0.2 * k)
        middle = (0, -0.2 * k - 0.1) if planar else (0, 0, -0.2 * k - 0.1)
        link = ds.Rectangle(0.04, 0.16) if planar else ds.Box(0.04, 0.04, 0.16)
        world.add_body(link, name=f"link{k}", position=middle, mass=1.0 if k < n - 1 else 50.0)
        joint = ds.Pin if planar else ds.Ball
        world.add_joint(joint(f"link{k}", before, anchor=here))
        before = f"link{k}"
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 60))
    start = sim.state.copy()
    for _ in range(600):
        assert sim.step().ok
    assert np.abs(sim.state.position - start.position).max() < 1e-10
    assert np.abs(sim.state.orientation - start.orientation).max() < 1e-10
