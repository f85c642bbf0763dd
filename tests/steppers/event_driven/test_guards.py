"""``ds.EventGuards``: each guard beside a scene that needs it, and the errors that end a run."""

import numpy as np
import pytest

import drystone as ds
from drystone.errors import SimulationError
from drystone.scenes.stacks import dominoes

NEVER = 10**9


def run(sim, duration):
    reports = []
    while sim.time < duration - 1e-12:
        reports.append(sim.step())
    return reports


def work(reports):
    return sum(r.evaluations for r in reports), sum(len(r.events) for r in reports)


def collapse(**guards):
    method = ds.EventDriven(guards=ds.EventGuards(**guards))
    return ds.scene("collapse").simulation(method=method)


def test_what_stays_at_its_bound_ends_fewer_phases_with_a_wider_one():
    """Bricks of a pile that slide on each other: 1.7 times as many events without."""
    with_it, without = (work(run(collapse(repeats=n), 0.8)) for n in (3, NEVER))
    assert without[1] > 1.3 * with_it[1]
    assert without[0] > 1.1 * with_it[0]


def test_few_events_need_no_guard():
    """Where none acts, other numbers change no bit."""
    tight = ds.EventGuards(repeats=NEVER, max_events=NEVER)
    sims = [
        ds.Simulation(dominoes(n=3).world, method=ds.EventDriven(guards=g))
        for g in (ds.EventGuards(), tight)
    ]
    reports = [run(sim, 0.1) for sim in sims]
    assert sum(len(r.events) for r in reports[0]) <= 4
    assert np.array_equal(sims[0].state.position, sims[1].state.position)


def test_an_instant_with_too_many_impulses_ends_the_run_by_name():
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.11))
    sim = ds.Simulation(world, method=ds.EventDriven(guards=ds.EventGuards(max_impulses=1)))
    with pytest.raises(SimulationError, match=r"at t = 0\.04.* impulses follow .* ball/ground"):
        run(sim, 0.1)


def test_an_option_by_its_earlier_name_does_not_overrule_the_guards():
    with pytest.warns(DeprecationWarning, match="EventGuards"):
        assert ds.EventDriven(max_events=5).guards.max_events == 5
    with pytest.raises(ds.OptionError, match=r"guards\.max_events = 9"):
        ds.EventDriven(max_events=5, guards=ds.EventGuards(max_events=9))


def test_an_option_that_bounded_impacts_is_accepted_and_said_to_do_nothing():
    with pytest.warns(DeprecationWarning, match="max_impacts.* has no effect"):
        assert ds.EventDriven(max_impacts=5) == ds.EventDriven()
