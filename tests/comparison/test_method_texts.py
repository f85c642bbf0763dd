"""Methods as texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.comparison.method_texts import OWN, default_methods, read_method, read_value
from drystone.steppers.registry import METHODS, choices


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("time-stepping", ds.TimeStepping()),
        ("time-stepping:convex", ds.TimeStepping(formulation="convex")),
        ("time-stepping:coulomb", ds.TimeStepping(formulation="coulomb")),
        ("time-stepping:dt=1/480", ds.TimeStepping(dt=1 / 480)),
        ("time-stepping:convex,dt=1e-3,cone=8", ds.TimeStepping(0.001, 8, "convex")),
        ("time-stepping:nsgs,stabilize=no", ds.TimeStepping(solver="nsgs", stabilize=False)),
        ("time-stepping: poisson , warm-start=false", ds.TimeStepping(
            restitution="poisson", warm_start=False)),
        ("time-stepping:restitution=none", ds.TimeStepping()),
        ("event-driven:dantzig", ds.EventDriven(contact_forces="dantzig")),
        ("event-driven:lemke,rk45,propagation,rtol=1e-6", ds.EventDriven(
            contact_forces="lemke", integrator="rk45", collisions="propagation", rtol=1e-6)),
        ("penalty:lsoda,stiffness=1e5", ds.Penalty(integrator="lsoda", stiffness=1e5)),
    ],
)  # fmt: skip
def test_texts_are_methods(text, method):
    assert read_method(text) == method


def test_the_scenes_own_method_is_the_base_of_its_kind():
    own = ds.TimeStepping(dt=0.05, restitution="newton")
    assert read_method(OWN, own) is own
    assert read_method("own:convex", own) == ds.TimeStepping(0.05, formulation="convex",
                                                             restitution="newton")  # fmt: skip
    assert read_method("time-stepping:dt=0.01", own).restitution == "newton"
    assert read_method("event-driven", own) == ds.EventDriven()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time-steping", "did you mean 'time-stepping'?"),
        ("time-stepping:convx", "did you mean 'convex'?"),
        ("time-stepping:dtt=1", "did you mean 'dt'?"),
        ("time-stepping:dt=", "dt has no value"),
        ("time-stepping:dt=-1", "dt = -1"),
        ("time-stepping:dt=fast", "dt = 'fast'"),
        ("time-stepping:dt=1/0", "dt = '1/0'"),
        ("time-stepping:dt=0.1,dt=0.2", "dt is said twice"),
        ("time-stepping:convex,coulomb", "formulation is said twice"),
        ("time-stepping:,", "expected METHOD:WORD"),
        ("time-stepping:", "expected METHOD:WORD"),
        ("event-driven:convex", "event-driven: unknown choice 'convex'"),
        ("penalty:dantzig", "penalty: unknown choice"),
        ("own", "no method of its own"),
        ("", "unknown method ''"),
    ],
)
def test_mistakes_name_the_text(text, words):
    with pytest.raises(ds.OptionError) as caught:
        read_method(text)
    assert words in str(caught.value)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("name", METHODS.ours)
def test_every_word_is_an_option_of_its_method(name):
    """Solvers that cannot do what a method asks may refuse, but by name."""
    words = {option: choices(METHODS[name], option) for option in METHODS[name].words}
    assert all(words.values())
    for option, known in words.items():
        for word in known:
            if word == "none":
                continue
            method = read_method(f"{name}:{word}")
            first = next(o for o, several in words.items() if word in several)
            assert getattr(method, first) == word, option


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.text(max_size=30))
def test_any_text_is_a_method_or_a_mistake(text):
    for given_text in (text, f"time-stepping:{text}", f"event-driven:dt={text}"):
        try:
            said = read_method(given_text).name
        except ds.OptionError as error:
            said = str(error)
        assert said in METHODS or len(said) > 10


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers())
def test_numbers_survive(number, whole):
    assert read_value(repr(number)) == number
    assert read_value(str(whole)) == whole


def test_defaults_differ_and_can_be_read():
    for own in (ds.TimeStepping(formulation="convex"), ds.EventDriven(), ds.Penalty()):
        texts = default_methods(own, bodies=3)
        methods = [read_method(text, own) for text in texts]
        assert len(set(map(repr, methods))) == len(methods)
        assert len(methods) >= 3
    assert "event-driven" not in default_methods(ds.TimeStepping(), bodies=500)


def test_the_finer_step_of_the_defaults_is_exact():
    assert default_methods(ds.TimeStepping(), bodies=99)[-1] == "time-stepping:dt=1/960"
    for dt in (1 / 240, 0.05, 0.1, 1 / 3, 0.0123456789):
        own = ds.TimeStepping(dt=dt, formulation="convex")
        text = default_methods(own, bodies=99)[-1]
        assert read_method(text, own) == ds.TimeStepping(dt=dt / 4)
