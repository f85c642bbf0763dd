"""What a step does that cannot do what it was asked for."""

import numpy as np
import pytest

import drystone as ds
from tests.steppers.time_stepping.worlds import block, particle, run, tumble

WEAK = ds.NSGS(tol=1e-15, max_sweeps=1)


def pile():
    world = ds.World()
    world.add_ground()
    for k in range(4):
        world.add_body(
            ds.Box(0.3, 0.3, 0.2), name=f"b{k}", position=(0.02 * k, 0, 0.1 + 0.2 * k),
            density=1000 * 5**k,
        )  # fmt: skip
    return world


def test_report_goes_on_and_says_so():
    sim = ds.Simulation(pile(), ds.TimeStepping(solver=WEAK, on_failure="report"))
    report = sim.step()
    assert not report.ok
    assert report.status is not ds.Status.SOLVED
    assert report.residual > 1e-15
    assert np.isfinite(sim.state.velocity).all()


def test_raise_stops_with_the_problem():
    sim = ds.Simulation(pile(), ds.TimeStepping(solver=WEAK, on_failure="raise"))
    before = sim.state.copy()
    with pytest.raises(
        ds.SimulationError, match=r"at t = 0 s the friction problem of 16 contacts"
    ) as e:
        sim.step()
    assert "body 'b3'" in str(e.value)
    assert isinstance(e.value.problem, ds.FrictionProblem)
    assert e.value.problem.nc == 16
    assert e.value.report.residual > 0
    assert np.array_equal(sim.state.position, before.position), "the state is that before the step"
    assert ds.solve(e.value.problem, "auto").ok, "and can be solved by something better"


def test_retry_halves_the_step():
    """A solver that gives up above a certain impulse: half the step has half of it."""
    sim = ds.Simulation(pile(), ds.TimeStepping(solver=WEAK, on_failure="retry", retries=2))
    with pytest.raises(ds.SimulationError, match="not solved"):
        sim.step()

    class Moody(ds.NSGS):
        calls = []

        def run(self, problem, start, limits):
            self.calls.append(float(np.abs(problem.q).max()))
            answer = super().run(problem, start, limits)
            if self.calls[-1] > 0.03:
                answer.value, answer.dual = np.zeros_like(answer.value), None
            return answer

    method = ds.TimeStepping(
        solver=Moody(tol=1e-9), on_failure="retry", sleeping=ds.Sleeping(1.0, 1.0)
    )
    sim = ds.Simulation(block(), method)
    report = sim.step()
    assert report.ok
    assert report.retries == 1
    assert Moody.calls == pytest.approx([9.81 / 240, 9.81 / 480, 9.81 / 480], rel=1e-6)
    assert np.isclose(report.dt, 1 / 240)
    known = sim._stepper.snapshot()
    slow = (known["buffers"]["slow_time"] if "buffers" in known else known["sleepers"]["slow"])[1]
    assert np.isclose(slow, 1 / 240), "what failed has left no trace"
    assert np.isclose(sim.time, 1 / 240)
    assert abs(report.energy.unexplained) < 1e-9


def test_impulses_survive_a_problem_file(tmp_path):
    """save_problem, read_problem, solve: the same velocities (impulses need not be unique)."""
    sim, _ = run(pile(), 0.05)
    for name in ("step.hdf5", "step.npz", "step.dat"):
        sim.save_problem(tmp_path / name)
        problem = ds.read_problem(tmp_path / name)
        answer = ds.solve(problem, tol=1e-10)
        assert answer.ok
        assert problem.nc == sim.report.contacts
        u = answer.dual.reshape(-1, 3)
        assert np.allclose(u, sim._stepper.solved.u, atol=1e-6)
        force = (sim._stepper.rows.frame[:, 0] * answer.value.reshape(-1, 3)[:, :1]).sum(axis=0)
        expected = (sim._stepper.rows.frame[:, 0] * sim._stepper.solved.r[:, :1]).sum(axis=0)
        assert np.allclose(force, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


def test_unique_impulses_are_the_same(tmp_path):
    sim, _ = run(particle(planar=False, velocity=(1.0, 0.5, -1)), 0.05)
    sim.save_problem(tmp_path / "p.npz")
    answer = ds.solve(ds.read_problem(tmp_path / "p.npz"), tol=1e-12)
    assert np.allclose(answer.value.reshape(1, 3), sim._stepper.solved.r, atol=1e-9)


def test_nothing_to_save():
    world = ds.World()
    world.add_body(ds.Sphere(1.0), name="s")
    sim = ds.Simulation(world)
    sim.step()
    assert sim.problem() is None
    with pytest.raises(ds.SimulationError, match="no contacts"):
        sim.save_problem("never.npz")


def test_a_callback_without_a_number_is_named():
    def wind(model, state):
        return {"b": (np.nan if state.time > 0.1 else 1.0, 0, 0, 0, 0, 0)}

    world = block()
    world.add_force(ds.Callback(wind))
    sim = ds.Simulation(world)
    with pytest.raises(ds.SimulationError, match=r"'wind' at t = 0\.104.* body 'b'"):
        sim.run(1.0)
    assert np.isfinite(sim.state.velocity).all(), "the last good state is kept"


@pytest.mark.parametrize("planar", [True, False])
def test_an_absurd_spring_ends_with_body_time_and_reason(planar):
    world = block(planar=planar)
    place = (0.3, 0.2) if planar else (0.3, 0, 0.2)
    world.add_force(ds.Spring("b", anchor_b=place, stiffness=1e13, rest_length=0.1))
    sim = ds.Simulation(world)
    with pytest.raises(ds.SimulationError, match=r"(?s)body 'b' diverged at t = .*smaller dt"):
        sim.run(1.0, record=True)
    assert np.isfinite(sim.state.position).all()


def test_overlap_at_the_start_is_refused():
    world = ds.World()
    world.add_body(ds.Sphere(0.5), name="left")
    world.add_body(ds.Sphere(0.5), name="right", position=(0.9, 0, 0))
    with pytest.raises(ds.ModelError, match=r"'left' and 'right' overlap by 0\.1 m"):
        ds.Simulation(world)
    sim = ds.Simulation(world, ds.TimeStepping(overlap="allow"))
    assert sim.penetration < 1e-9, "moved apart before the first step"
    assert not sim.state.velocity.any()
    sim.run(0.1)
    assert sim.penetration < 1e-9


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"dt": 0}, "dt = 0"),
        ({"dt": -1}, "dt = -1"),
        ({"dt": float("nan")}, "dt = nan"),
        ({"dt": "fast"}, "dt = 'fast'"),
        ({"dt": True}, "dt = True"),
        ({"tol": 0}, "tol = 0"),
        ({"cone": 5}, "k=5"),
        ({"cone": "square"}, "cone = 'square': expected circular"),
        ({"formulation": "linear"}, "formulation = 'linear'"),
        ({"restitution": "moreau"}, "restitution = 'moreau'"),
        ({"active_gap": -0.1}, "active_gap = -0.1"),
        ({"solver": "magic"}, "magic"),
        ({"solver": 3}, "solver = 3"),
        ({"on_failure": "ignore"}, "on_failure = 'ignore'"),
        ({"mass": "middle"}, "mass = 'middle'"),
        ({"rotation": "euler"}, "rotation = 'euler'"),
        ({"sleeping": True}, "sleeping = True"),
        ({"stabilize": 1}, "stabilize = 1"),
        ({"warm_start": None}, "warm_start = None"),
        ({"retries": -1}, "retries = -1"),
        ({"slop": 1.0}, "slop = 1.0"),
        ({"overlap": "maybe"}, "overlap = 'maybe'"),
    ],
    ids=str,
)
def test_wrong_options_are_named(option, message):
    with pytest.raises(ds.OptionError, match=message):
        ds.TimeStepping(**option)


def test_wrong_sleeping_is_named():
    for field in ("speed", "duration"):
        with pytest.raises(ds.OptionError, match=f"Sleeping.{field} = -1"):
            ds.Sleeping(**{field: -1})


def test_cones_that_the_world_cannot_have():
    with pytest.raises(ds.ProblemError, match="EllipticCone needs two tangents"):
        ds.Simulation(ds.World(planar=True), ds.TimeStepping(cone=ds.EllipticCone((1, 2))))
    with pytest.raises(ds.ProblemError, match="k >= 4 in space"):
        ds.Simulation(ds.World(), ds.TimeStepping(cone=2))
    planar = run(tumble(0, planar=True), 0.1, cone=8)[0]
    assert planar.report.ok, "in the plane all even numbers of directions are two"
