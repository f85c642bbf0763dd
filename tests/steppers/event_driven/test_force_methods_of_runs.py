"""The force problems of runs: every method gives the same accelerations at every step.

`python -m benchmarks forces` does the same over whole runs; here they are short, or smaller.
"""

import numpy as np
import pytest
from scipy.optimize import nnls

import drystone as ds
from benchmarks.forces.comparison import (
    Comparison,
    Law,
    RunOfForces,
    Tally,
    Turned,
    aligned,
    force_method,
    listen,
    with_loads,
)
from drystone.steppers.event_driven.forces import ContactForces, Kind
from tests.steppers.event_driven.instants import dense_rows, particle_on_incline

ROUGH = {"integrator": "rk45", "rtol": 1e-5, "atol": 1e-7}


@pytest.fixture(scope="module")
def bricks() -> RunOfForces:
    return listen(ds.scene("bricks", planar=True), 0.3, every=3)


def test_all_methods_agree_on_the_falling_bricks(bricks):
    heard = bricks.heard
    assert heard.problems > 20
    assert heard.rubs == 0
    for name, tally in heard.tallies.items():
        assert tally.declined == tally.loads == 0, name
        assert tally.agree == tally.solved, name
        assert tally.residual < 1e-9, name
        if name not in ("lp", *heard.rare):
            assert tally.agree == heard.problems, name


def test_lp_guesses_that_nothing_breaks_and_is_nearly_always_right(bricks):
    """V = {} on nearly all steps; only where (d) takes over is there no answer."""
    tally = bricks.heard.tallies["lp"]
    ends = [tally.lp[k] for k in "abcd"]
    assert ends[0] >= 0.95 * sum(ends)
    assert tally.agree >= bricks.heard.problems - ends[3]
    assert tally.failed <= ends[3]


def test_the_index_set_of_the_step_before_answers(bricks):
    """Between events L holds; the run itself evaluates nothing but L there."""
    assert bricks.heard.hit_rate > 0.95
    assert bricks.heard.stayed > 0.5
    assert bricks.evaluations > 5 * bricks.heard.heard
    statistics = force_method(bricks.sim).statistics
    assert statistics.steps == bricks.heard.heard
    assert statistics.solves < 0.2 * bricks.evaluations


def test_accelerations_are_those_of_gauss_principle():
    """Independent of all our methods: least constraint, by Lawson and Hanson's nnls."""
    seen = []

    def compare(told):
        state, acceleration = told.state, told.acceleration
        if state.nc == 0 or len(seen) >= 12:
            return
        rows, _, inverse = dense_rows(state)
        normal = rows[:: state.d]
        # 1/2 f'Wf + q'f is least: W = G'G with G = M^-1/2 J' (M is diagonal), q = G'y for some y
        G = np.sqrt(inverse) @ normal.T
        q = normal @ state.acceleration.ravel() + state.bias[:, 0]
        y = np.linalg.lstsq(G.T, q, rcond=None)[0]
        f, _ = nnls(G, -y, maxiter=1000)
        a = state.acceleration.ravel() + inverse @ normal.T @ f
        size = np.abs(acceleration).max()
        seen.append(np.abs(a - acceleration.ravel()).max() / size)

    sim = ds.scene("bricks", planar=True).simulation(method=ds.EventDriven())
    force_method(sim).listener = compare
    while len(seen) < 12:
        sim.step()
    assert max(seen) < 1e-8


@pytest.mark.parametrize(
    ("name", "settings", "duration"),
    [("dominoes", {"n": 2}, 0.15), ("collapse", {"storeys": 1}, 0.12)],
)
def test_methods_agree_on_friction_or_obey_the_law(name, settings, duration):
    """lp and qp get as a load what friction they do not take; where the law has several answers
    each obeys it, and with friction given all find the same."""
    methods = {"lp": "lp", "lemke": "lemke", "qp (8-10)": ds.QP(form=1, tol=1e-9)}
    heard = Comparison(methods)
    sim = ds.scene(name, **settings).simulation(method=ds.EventDriven(**ROUGH))
    force_method(sim).listener = heard
    sim.run(duration)
    assert heard.rubs > 0
    for method, tally in heard.tallies.items():
        assert tally.failed == tally.declined == tally.apart == 0, method
        assert tally.agree + tally.other == heard.problems, method
        assert tally.residual < 1e-8, method
        if method != "index set":
            assert tally.given == tally.other, method


def test_other_answers_are_told_from_wrong_ones():
    """A tally counts by distance and by residual: the same, another answer, against the law."""
    tally = Tally()
    for away, residual in ((1e-12, 1e-15), (0.3, 1e-12), (0.3, 1e-3)):
        tally.judge(away, residual)
    assert (tally.solved, tally.agree, tally.other, tally.apart) == (3, 1, 1, 1)
    assert tally.residual == 1e-12
    assert tally.farthest == 0.3


def test_the_residual_of_the_law_sees_a_wrong_force():
    state = particle_on_incline(0.3, 0.5)
    found = ContactForces("dantzig").solve(state)
    assert Law(state).residual(found.f, found.joint) < 1e-14
    assert Law(state).residual(1.01 * found.f, found.joint) > 1e-3


def test_turning_tangents_turns_forces_and_nothing_else():
    """The first tangent of a block's contacts along their friction: same motion, forces turned."""
    seen = []
    sim = ds.scene("collapse", storeys=1).simulation(method=ds.EventDriven(**ROUGH))
    force_method(sim).listener = seen.append
    sim.step()
    told = next(item for item in seen if item.state.nc)
    rough = (told.state.kind == Kind.STICKING) & (told.state.mu[:, 0] > 0)
    assert rough.any()
    turn = aligned(told.state, told.f, rough)
    own = ContactForces("dantzig").solve(turn.state)
    assert Law(told.state).residual(turn.back(own.f), own.joint) < 1e-9
    zeros = np.zeros(told.state.nc)
    along = Turned(turn.state, turn.cos, -turn.sin).back(told.f)  # into the turned frames
    assert along[rough, 2] == pytest.approx(zeros[rough], abs=1e-12 * np.abs(told.f).max())
    assert (along[rough, 1] >= 0.0).all()


def test_what_parts_slowly_bears_no_force_and_an_ended_phase_is_not_told():
    """bricks in space: with contacts that part below the speed of rest and have not come back yet,
    and edges that slid over each other, the run and Dantzig's method had different questions."""
    run = listen_to_the_run("bricks", 0.42)
    assert run.problems > 100
    assert run.tallies["index set"].agree == run.problems


def listen_to_the_run(name, duration):
    heard = Comparison({})
    sim = ds.scene(name).simulation(method=ds.EventDriven())
    force_method(sim).listener = heard
    while sim.time < duration:
        sim.step()
    return heard


def test_friction_as_a_load_leaves_a_frictionless_problem():
    """A block at rest on an incline: with its friction given, the normal force is the same."""
    state = particle_on_incline(0.3, 0.5)
    forces = ContactForces("dantzig")
    found = forces.solve(state)
    loaded = with_loads(state, found.f, state.kind == Kind.STICKING)
    assert not loaded.mu.any()
    again = ContactForces("lp").solve(loaded)
    assert again.f[0, 0] == pytest.approx(9.81 * np.cos(0.3), rel=1e-12)
    assert again.acceleration == pytest.approx(found.acceleration, abs=1e-12)
    assert again.f[0, 1] == 0.0
