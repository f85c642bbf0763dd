"""The whole public API under hostile values: every complaint is one of ours."""

import inspect
import warnings
from contextlib import chdir

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import drystone as ds
from tests.api.calls import (
    READ_ONLY,
    Made,
    callable_names,
    cases,
    lcp,
    right,
    simulation,
    trajectory,
    world,
)
from tests.api.hostile import VALUES, WORDS

CASES = cases()
NAMES = sorted(CASES)
# what has its place, but not here
OURS = [
    Made(make)
    for make in (
        world, simulation, trajectory, lcp, ds.TimeStepping, lambda: simulation().state,
        lambda: simulation().body("a"), lambda: simulation().report, lambda: world().handle("a"),
        lambda: ds.solve(lcp()), lambda: simulation().snapshot(), lambda: ds.Sphere(0.1),
        lambda: ds.scene("incline"), lambda: ds.Box, lambda: ds,
    )
]  # fmt: skip
SPOILERS = VALUES + OURS


def words_of(function, case):
    """Arguments that can be spoilt."""
    known = inspect.signature(function).parameters.values()
    by_name = [p.name for p in known if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [word for word in by_name if word not in case.keep]


@st.composite
def spoilt(draw, names):
    """(name, values to spoil by number of the argument, word to add, number to leave out)."""
    name = draw(st.sampled_from(names))
    most = 1 if CASES[name].alone else 2
    chosen = draw(
        st.lists(
            st.tuples(st.integers(0, 30), st.integers(0, len(SPOILERS) - 1)),
            min_size=0,
            max_size=most,
        )
    )
    word = draw(st.sampled_from((None, None, None, None, *WORDS)))
    return name, chosen, word


def call(folder, name, chosen, word):
    """One spoilt call; raises what is not ours."""
    case = CASES[name]
    function = case.make(folder)
    args = right(case)
    words = words_of(function, case)
    for number, value in chosen:
        if words:
            spoiler = SPOILERS[value]
            args[words[number % len(words)]] = (
                spoiler.make() if isinstance(spoiler, Made) else spoiler
            )
    if word is not None and function.__module__.startswith("drystone"):
        args[word] = 1
    with warnings.catch_warnings(), chdir(folder):  # files that come of it
        warnings.simplefilter("ignore", UserWarning)
        try:
            case.use(function(**args))
        except ds.DrystoneError as error:
            said = str(error).strip()
        else:
            return
    assert said, "an error without a word"


def run(tmp_path_factory, examples, names=NAMES):
    folder = tmp_path_factory.mktemp("fuzz")

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(spoilt(names))
    def fuzz(what):
        call(folder, *what)

    fuzz()


def test_hundreds_of_spoilt_calls(tmp_path_factory):
    run(tmp_path_factory, 400)


@pytest.mark.fuzz
def test_thousands_of_spoilt_calls(tmp_path_factory):
    run(tmp_path_factory, 12_000)


@pytest.mark.parametrize("name", NAMES)
def test_the_call_is_right_before_it_is_spoilt(name, tmp_path):
    """Otherwise nothing behind its first check is tried."""
    expected = ("nowhere" in str(CASES[name].args)) or name in REFUSED
    try:
        with chdir(tmp_path):
            CASES[name].use(CASES[name].make(tmp_path)(**right(CASES[name])))
    except ds.DrystoneError:
        assert expected


# refused at rest: there is no such thing in the world at hand
REFUSED = (
    "Ramp.solve",
    "World.remove_force",
    "ForceHandle",
    "Simulation.joint",
    "Simulation.solutions",
)


def test_every_public_name_is_tried():
    missing = [n for n in callable_names() if n not in CASES and n not in READ_ONLY]
    assert missing == [], "add a right call of each to tests/api/calls.py"
