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


def slabs(count, mu=0.3):
    """Slabs that slide and turn on each other."""
    world = ds.World()
    world.add_ground(friction=mu)
    for i in range(count):
        world.add_body(
            ds.Box(1.0, 0.8, 0.2), name=f"slab{i}", density=100, friction=mu,
            position=(0.03 * i, 0.02 * i, 0.1 + 0.2 * i), angular_velocity=(0, 0, 0.3 * i),
            velocity=((1 + 0.3 * i) * (-1) ** i, 0.2 * i, 0),
        )  # fmt: skip
    return world


def test_what_stays_at_its_bound_ends_fewer_phases_with_a_wider_one():
    """Three times as many events without, and clusters of them."""
    sims = [
        ds.Simulation(slabs(3), method=ds.EventDriven(guards=ds.EventGuards(repeats=n)))
        for n in (ds.EventGuards().repeats, NEVER)
    ]
    with_it, without = (run(sim, 0.3) for sim in sims)
    (evaluations, events), (more, many) = work(with_it), work(without)
    assert many > 2 * events
    assert more > 1.3 * evaluations
    assert any("held within 3e-4" in line for r in with_it for line in r.log)
    assert not any("cluster" in line for r in with_it for line in r.log)
    assert any("cluster" in line for r in without for line in r.log)


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


def test_what_sinks_more_slowly_than_it_rests_is_stopped():
    """It parts at last, but left alone it would be ten times deeper than ``touch`` before, event by
    event."""
    world = ds.World(planar=True, gravity=(0, 1e-7))
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.1), velocity=(0, -5e-8))
    method = ds.EventDriven(rest_speed=1e-3)
    sim = ds.Simulation(world, method)
    reports = run(sim, 0.5)
    assert sim.body("ball").position[1] >= 0.1 - method.touch
    assert work(reports)[1] <= 1


def test_an_option_by_its_earlier_name_does_not_overrule_the_guards():
    with pytest.warns(DeprecationWarning, match="EventGuards"):
        assert ds.EventDriven(max_events=5).guards.max_events == 5
    with pytest.raises(ds.OptionError, match=r"guards\.max_events = 9"):
        ds.EventDriven(max_events=5, guards=ds.EventGuards(max_events=9))


def test_an_option_that_bounded_impacts_is_accepted_and_said_to_do_nothing():
    with pytest.warns(DeprecationWarning, match="max_impacts.* has no effect"):
        assert ds.EventDriven(max_impacts=5) == ds.EventDriven()
