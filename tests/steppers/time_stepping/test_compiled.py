"""The compiled loop: many steps at once are the same steps; what needs Python gets it."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.rows import select
from drystone.kernels.step import codes
from drystone.steppers.time_stepping.stepper import TimeStepper
from tests.steppers.time_stepping.plain_step import plain_step

SCENES = {
    "incline": {},
    "disks-21": {},
    "newton-cradle": {},
    "billiard-three": {},
    "gyroscope": {},
    "arch": {},
    "spheres": {"n": 60},
    "dominoes": {"n": 6},
    "brazil-nut": {"grains": 40},
}


def same(a: ds.Simulation, b: ds.Simulation) -> None:
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(a.state, name), getattr(b.state, name)), name
    assert a.time == b.time


def springs() -> ds.World:
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="a", density=500, position=(0, 0, 0.5))
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="b", density=500, position=(0.5, 0, 0.3))
    world.add_force(ds.Spring("a", "b", stiffness=200.0, damping=1.0, rest_length=0.4))
    return world


@pytest.mark.parametrize("name", SCENES)
def test_steps_at_once_are_the_same_steps(name: str) -> None:
    """To the bit, in states and reports, whatever the loop had to ask Python for."""
    known = ds.scene(name).settings
    settings = {k: v for k, v in SCENES[name].items() if k in known}
    one, many = (ds.scene(name, **settings).simulation() for _ in range(2))
    assert isinstance(one._stepper, TimeStepper)
    steps = 40
    reports = [one.step() for _ in range(steps)]
    kept = many.run(steps * many.method.dt, record=True)
    same(one, many)
    assert len(kept) == steps + 1
    for mine, other in zip(reports, kept.reports, strict=True):
        assert mine.energy == other.energy
        assert mine.conditions == other.conditions
        assert (mine.time, mine.residual, mine.iterations) == (
            other.time, other.residual, other.iterations,
        )  # fmt: skip
        assert mine.methods == other.methods
        assert np.array_equal(mine.island_sizes, other.island_sizes)


def test_springs_and_frames_of_some_steps() -> None:
    one, many = (ds.Simulation(springs()) for _ in range(2))
    for _ in range(90):
        one.step()
    kept = many.run(90 / 240, record=True, every=7)
    same(one, many)
    assert len(kept) == 1 + 90 // 7
    assert np.allclose(np.diff(kept.time), 7 / 240)
    assert np.abs(kept.series("unexplained")).max() < 1e-12
    assert np.allclose(kept.series("total")[-1], kept.reports[-1].energy.total)


EXACT = {"tol": 1e-11, "sweep_tol": 1e-11, "slop": 0.0, "rotation": "explicit"}


def agrees_with_plain_steps(sim: ds.Simulation, steps: int, atol: float) -> float:
    """Each step from where the simulation is, against the scheme written down plainly, with the
    pairs that take part in it; returns the work of friction [J]."""
    done = 0.0
    for _ in range(steps):
        before = sim.state.copy()
        found = sim.stepper.overlaps(before)
        report = sim.step()
        rows = sim.stepper.rows.contacts
        known = {*zip(rows.geom_a.tolist(), rows.geom_b.tolist(), strict=True)}
        pairs = zip(found.geom_a.tolist(), found.geom_b.tolist(), strict=True)
        found = select(found, np.array([pair in known for pair in pairs], bool))
        expected = plain_step(sim, before, sim.method.dt, found)
        for name in ("position", "orientation", "velocity"):
            ours, theirs = getattr(sim.state, name), getattr(expected.state, name)
            assert np.allclose(ours, theirs, rtol=0, atol=atol), name
        assert report.ok
        assert report.energy.friction == pytest.approx(expected.friction, abs=atol)
        done += expected.friction
    return done


@pytest.mark.parametrize("options", [{}, {"formulation": "convex"}], ids=str)
@pytest.mark.parametrize("name", ["disks-21", "spheres"])
def test_steps_are_those_of_the_scheme_written_down_plainly(name, options) -> None:
    scene = ds.scene(name, **({} if name == "disks-21" else {"n": 27}))
    sim = scene.simulation(ds.TimeStepping(**EXACT, **options))
    sim.run(0.3)
    assert sim.report.contacts > 5
    agrees_with_plain_steps(sim, 8, 1e-8)


OPTIONS = {
    "convex": {"formulation": "convex"},
    "soft finger": {"cone": ds.SoftFingerCone(0.02)},
    "convex soft finger": {"formulation": "convex", "cone": ds.SoftFingerCone(0.02)},
    "polyhedral": {"cone": 8},
    "nsgs": {"solver": "nsgs"},
    "interior point": {"solver": "interior-point", "formulation": "convex"},
    "mass": {"mass": "end"},
    "mass, convex": {"mass": "end", "formulation": "convex"},
    "sleeping, soft finger": {"sleeping": ds.Sleeping(), "cone": ds.SoftFingerCone(0.02)},
}


def tumbling() -> ds.World:
    """A box that slides and turns into another on the ground."""
    world = ds.World()
    world.add_ground(friction=(0.6, 0.4))
    box = ds.Box(0.3, 0.2, 0.2)
    world.add_body(
        box,
        name="a",
        density=500,
        position=(0, 0, 0.1),
        velocity=(2, 0.3, 0),
        angular_velocity=(0, 0, 4),
    )
    world.add_body(box, name="b", density=200, position=(0.5, 0.05, 0.1))
    return world


def rolling(friction: float | tuple[float, float] = (0.3, 0.2)) -> ds.World:
    """A stone of one contact, whose impulses are unique whatever the law."""
    world = ds.World()
    world.add_ground(friction=friction)
    stone = ds.Ellipsoid(0.3, 0.2, 0.1)
    world.add_body(
        stone,
        name="a",
        density=500,
        friction=friction,
        position=(0, 0, 0.1),
        velocity=(1, 0.3, 0),
        angular_velocity=(3, -2, 4),
    )
    return world


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_stages_of_the_same_list(name: str) -> None:
    """Many steps at once are the same steps, to the bit."""
    method = ds.TimeStepping(**OPTIONS[name])
    made = rolling if name in ("nsgs", "mass", "polyhedral") else tumbling
    one, many = (ds.Simulation(made(), method) for _ in range(2))
    for _ in range(30):
        one.step()
    many.run(30 * method.dt)
    same(one, many)
    assert one.report.ok
    assert one.report.energy.closes


@pytest.mark.parametrize("name", ["circular", "convex", "polyhedral", "nsgs", "interior point"])
def test_cones_laws_and_solvers_give_the_steps_written_down_plainly(name: str) -> None:
    sim = ds.Simulation(rolling(0.3), ds.TimeStepping(**EXACT | OPTIONS.get(name, {})))
    assert agrees_with_plain_steps(sim, 30, 1e-8) < -1e-3


def test_in_the_plane_polyhedral_cones_are_the_cone_itself() -> None:
    sims = [ds.scene("disks-21").simulation(ds.TimeStepping(cone=k)) for k in (4, "circular")]
    assert sims[0].model.dim == 2
    for sim in sims:
        sim.run(0.2)
    same(*sims)


def test_gauss_seidel_by_name_is_not_accelerated_and_never_newton() -> None:
    sims = [ds.Simulation(tumbling(), ds.TimeStepping(solver=name)) for name in ("nsgs", "auto")]
    for sim in sims:
        sim.run(0.1)
    assert sims[0].report.methods == ("nsgs",)
    assert np.allclose(sims[0].state.position, sims[1].state.position, atol=1e-7)


def test_a_run_that_fails_keeps_what_it_reached() -> None:
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(ds.Sphere(0.1), name="comet", mass=1.0, velocity=(0, 0, 1))

    def burst(model, state):
        return {"comet": (0, 0, np.inf if state.time > 0.05 else 0.0, 0, 0, 0)}

    world.add_force(ds.Callback(burst))
    sim = ds.Simulation(world)
    with pytest.raises(ds.SimulationError, match="comet"):
        sim.run(1.0)
    assert 0.05 <= sim.time <= 0.06
    assert np.isfinite(sim.state.position).all()


def test_edits_between_runs_keep_what_stays() -> None:
    world = ds.World()
    world.add_ground(friction=0.5)
    world.add_body(ds.Box(1, 1, 1), name="low", density=1, position=(0, 0, 0.5))
    sim = ds.Simulation(world)
    sim.run(0.2)
    world.add_body(ds.Box(1, 1, 1), name="high", density=1, position=(0, 0, 1.5))
    sim.run(0.2)
    assert abs(sim.body("high").position[2] - 1.5) < 1e-9
    force = sim.contacts["force"][:, 2]
    assert np.isclose(np.abs(force).sum(), 3 * 9.81, rtol=1e-6)
    world.add_body(ds.Sphere(0.2), name="hung", mass=1.0, position=(5, 0, 2))
    world.add_joint(ds.Ball("hung", "world", anchor=(5, 0, 3)))
    sim.run(0.1)
    assert sim._stepper.jointed
    assert abs(sim.body("high").position[2] - 1.5) < 1e-9


def test_a_body_squeezed_out_does_not_pass_through_what_was_out_of_reach() -> None:
    """A disk between two wedging ones shoots out faster than anything was, at a post."""
    world = ds.World(gravity=(0, 0), planar=True)
    world.add_body(ds.Disk(0.05), name="post", fixed=True, position=(-0.12, 0), friction=0.0)
    for side, name in ((1, "top"), (-1, "bottom")):
        world.add_body(
            ds.Disk(0.5), name=name, mass=1000.0, position=(0.35, 0.55 * side),
            velocity=(0, -4.0 * side), friction=0.0,
        )  # fmt: skip
    world.add_body(ds.Disk(0.1), name="pip", mass=1e-3, position=(0.1, 0.0), friction=0.0)
    sim = ds.Simulation(world, ds.TimeStepping(dt=1 / 60, overlap="allow"))
    fastest = 0.0
    for _ in range(20):
        sim.step()
        fastest = max(fastest, abs(sim.body("pip").velocity[0]))
        assert sim.body("pip").position[0] > 0.03 - 1e-5  # its radius away from the post
    assert fastest > 4.1


def test_threads_do_not_change_the_bits(monkeypatch) -> None:
    """Islands shared out, and one island cut into parts: the same on one thread and on two."""
    from drystone.steppers.time_stepping import threads

    monkeypatch.setattr(threads, "LARGE_ISLANDS", 150)
    monkeypatch.setattr(threads, "SHARED_TOTAL", 60)
    ends = []
    for count in ("1", "2"):
        monkeypatch.setenv("DRYSTONE_THREADS", count)
        sim = ds.scene("spheres", n=150).simulation(dt=1 / 60)
        sim.run(1.0)
        assert sim.report.contacts > 150
        ends.append(sim)
    same(*ends)


def test_a_stage_may_be_a_function_of_python() -> None:
    plain, own = (ds.scene("pyramid", rows=2).simulation() for _ in range(2))
    times = []

    def watch(s, scan, j):
        times.append(float(s.time))
        return codes.GO_ON

    own.stepper.stages.insert(-1, ("report", watch))
    for sim in (plain, own):
        sim.run(4 * sim.method.dt)
        sim.step()
    np.testing.assert_allclose(times, np.arange(5) * plain.method.dt, atol=1e-15)
    same(plain, own)


def test_a_step_without_joints_stores_no_rows() -> None:
    """J and P are a third of all memory of a large heap; only who asks for rows pays for them."""
    simulation = ds.scene("spheres", n=27).simulation()
    for _ in range(3):
        simulation.step()
    stepper = simulation.stepper
    assert isinstance(stepper, TimeStepper)
    assert stepper.buffers.s.J.shape[0] == 1
    rows = stepper.rows
    assert rows is not None
    assert rows.J.shape[0] == rows.nc
