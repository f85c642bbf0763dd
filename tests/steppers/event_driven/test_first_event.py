"""Where a condition fails within a step: how many looks it takes to find it, and on which side."""

from types import SimpleNamespace

import pytest

from drystone.steppers.event_driven.events import Condition, EventSample
from drystone.steppers.event_driven.locate import INSTANT, first_event

LOST = (Condition.SET, 0)
WATCH = SimpleNamespace(tiny=lambda name: 0.0)


def located(value, end=0.0125):
    """(last legal, first illegal) probe of a contact with this value by time, and the looks."""
    looks = []

    def look(t, light):
        assert light  # forces have nothing to say about it
        looks.append(t)
        found = value(t)
        return EventSample(t, values={} if found is None else {LOST: found})

    a, b = first_event(WATCH, look, EventSample(0.0), look(end, True))
    assert b.violated()
    assert not a.violated()
    return a.t, b.t, len(looks) - 1


@pytest.mark.parametrize("bend", [-30.0, 0.0, 30.0])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("when", [1e-9, 2e-5, 0.0041, 0.0124])
def test_a_contact_that_moves_away_from_what_is_found_is_followed(when, bend, known):
    """1e-6 m are allowed, and what is nearer than that has a value or none: 27 looks by halves."""

    def value(t):
        away = 0.2 * (t - when) * (1.0 + bend * (t - when)) + 1e-6
        return 1e-6 - away if away > 1e-6 else 1e-6 - max(away, 0.0) if known else None

    early, late, looks = located(value)
    assert early <= when <= late
    assert late - early <= INSTANT
    assert looks <= 14


def test_a_contact_that_jumps_is_found_by_halves():
    """What is there or not has no value to follow, and one that jumps does not mislead for long."""
    when = 0.0041
    for jump in (1.0, 3e-4):
        early, late, looks = located(lambda t, jump=jump: -jump - t + when if t >= when else None)
        assert early <= when <= late
        assert late - early <= INSTANT
        assert looks <= 32
    early, late, looks = located(lambda t: -1.0 if t >= when else None)
    assert early <= when <= late
    assert late - early <= INSTANT
    assert looks <= 28
