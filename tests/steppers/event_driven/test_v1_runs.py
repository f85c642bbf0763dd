"""V1 on the force problems of runs: every method gives the same accelerations at every step.

`drystone bench forces` does the same over whole runs; here they are short, or smaller.
"""

import numpy as np
import pytest
from scipy.optimize import nnls

import drystone as ds
from drystone.cli.bench_forces_run import Comparison, RunOfForces, force_method, listen, with_loads
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
        assert tally.declined == 0, name
        assert tally.worst < (1e-7 if name == "jacobi" else 1e-8), name
        if name != "lp":
            assert tally.compared == heard.problems, name


def test_lp_guesses_that_nothing_breaks_and_is_nearly_always_right(bricks):
    """F1: V = {} on nearly all steps; only where (d) takes over is there no answer."""
    tally = bricks.heard.tallies["lp"]
    ends = [tally.lp[k] for k in "abcd"]
    assert ends[0] >= 0.95 * sum(ends)
    assert tally.compared >= bricks.heard.problems - ends[3]
    assert tally.failed <= ends[3]


def test_the_index_set_of_the_step_before_answers(bricks):
    """F6: between events L holds; the run itself evaluates nothing but L there."""
    assert bricks.heard.hit_rate > 0.95
    assert bricks.heard.stayed > 0.5
    assert bricks.evaluations > 5 * bricks.heard.heard
    statistics = force_method(bricks.sim).statistics
    assert statistics.steps == bricks.heard.heard
    assert statistics.solves < 0.2 * bricks.evaluations


def test_accelerations_are_those_of_gauss_principle():
    """Independent of all our methods: least constraint, by Lawson and Hanson's nnls."""
    seen = []

    def compare(state, acceleration):
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
    ("name", "settings", "duration", "every"),
    [("dominoes", {"n": 2}, 0.15, 4), ("collapse", {"storeys": 1}, 0.12, 3)],
)
def test_methods_agree_on_friction_where_the_law_decides(name, settings, duration, every):
    """lp and qp get the friction of contacts that stick as a load; where a contact at rest gives
    way, static conditions leave the motion open in space, and nothing is claimed."""
    methods = {"lp": "lp", "lemke": "lemke", "qp (8-10)": ds.QP(form=1, tol=1e-9)}
    heard = Comparison(methods, every=every)
    sim = ds.scene(name, **settings).simulation(method=ds.EventDriven(**ROUGH))
    force_method(sim).listener = heard
    sim.run(duration)
    assert heard.rubs > 0
    reference = heard.tallies["dantzig"]
    assert reference.failed == 0
    for tally in heard.tallies.values():
        assert tally.worst < 1e-8
        assert tally.compared + tally.open + tally.failed + tally.declined == heard.problems
    assert heard.tallies["lemke"].failed == 0
    assert heard.tallies["lp"].compared >= 0.9 * heard.problems


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
