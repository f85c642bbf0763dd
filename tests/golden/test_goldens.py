"""Runs are what they were: every scene once in every run of the tests, all options by request.

``python -m tests.golden --update PATTERN`` rewrites goldens on purpose, and says what changed.
"""

from dataclasses import fields, replace

import numpy as np
import pytest

from drystone.errors import DrystoneError
from drystone.scenes.registry import SCENES
from drystone.steppers.time_stepping.options import TimeStepping
from tests.golden.__main__ import MACHINE, update
from tests.golden.cases import DEFAULT, STEPS, cases, groups
from tests.golden.measure import hashed, measured, started
from tests.golden.store import DATA, differences, machine, read


def case_of(group, name):
    return next(case for case in cases(group) if case.name == name)


def otherwise(case, bits=False):
    """What a case does otherwise than its golden, as texts."""
    kept = read(case.group).get(case.name)
    if kept is None:
        return [f"{case}: has no golden"]
    return [f"{case}: {difference}" for difference in differences(kept, measured(case), bits)]


def check(found, pattern):
    said = "\n".join(found)
    assert not found, f"{said}\nif that is wanted: python -m tests.golden --update '{pattern}'"


@pytest.mark.parametrize("name", SCENES)
def test_scenes_do_what_they_did(name):
    check(otherwise(case_of(name, DEFAULT)), name)


def test_every_case_has_a_golden_and_every_golden_a_case():
    assert {path.stem for path in DATA.glob("*.json")} == set(groups())
    for group in groups():
        assert set(read(group)) == {case.name for case in cases(group)}, group


@pytest.mark.goldens
@pytest.mark.parametrize("group", groups())
def test_every_option_does_what_it_did(group, request):
    bits = request.config.getoption("--bits")
    if bits:
        written = (DATA / MACHINE).read_text(encoding="utf-8").strip()
        assert machine() == written, "bits of another machine: see python -m tests.golden --help"
    check([said for case in cases(group) for said in otherwise(case, bits)], group)


@pytest.mark.goldens
@pytest.mark.parametrize("group", groups())
def test_every_way_of_stepping_gives_the_same_bits(group):
    """In one run with frames, in one without, step by step, and by stages with a clock."""
    wrong = []
    for case in cases(group):
        brief = replace(case, steps=case.steps[:1])
        first = measured(brief)
        wanted = first.error or first.looks[0].bits
        wrong += [f"{case}: {way}" for way in WAYS if result(brief, way) != wanted]
    assert not wrong, "\n".join(wrong)


WAYS = ("run", "step", "profile")


def result(case, way):
    """Bits of the state after the first steps of a case, or the name of an error."""
    try:
        sim = started(case)
        count, sim.profile = case.steps[0], way == "profile"
        if way == "run":
            sim.run(count * sim.method.dt, on_failure="ignore" if reports(sim) else None)
        for _ in range(0 if way == "run" else count):
            sim.step()
    except DrystoneError as error:
        return type(error).__name__
    return hashed(sim)


def reports(sim):
    return getattr(sim.method, "on_failure", "") != "raise"


def test_a_golden_notices_what_is_otherwise():
    """Positions, facts, costs and errors; not what is within the tolerance."""
    case = case_of("slide-2d", DEFAULT)
    kept, run = read("slide-2d")[DEFAULT], measured(case)
    assert not differences(kept, run)
    look = run.looks[0]
    look.numbers["position"] += 0.5 * kept["step 4"]["tolerance"]["position"]
    assert not differences(kept, run)
    look.numbers["position"] += 2 * kept["step 4"]["tolerance"]["position"]
    look.facts["status"] = "STALLED"
    look.costs["iterations"] = 1000
    look.numbers["pairs"] = {}
    run.error = "SimulationError"
    said = "\n".join(str(found) for found in differences(kept, run))
    for word in (
        "position off by",
        "status: STALLED",
        "iterations: 1000",
        "pairs off",
        "ends with",
    ):
        assert word in said


def test_an_update_leaves_what_did_not_change_and_says_what_did():
    case = replace(case_of("slide-2d", DEFAULT), steps=STEPS["time-stepping"][:2])
    fresh, said = update(case, None)
    assert said == ["new"]
    assert update(case, fresh) == (fresh, [])

    def slower(**options):
        sim = case.make(**options)
        sim.state.velocity[:] *= 0.5
        return sim

    changed, said = update(replace(case, make=slower), fresh)
    assert changed != fresh
    assert any("velocity off by" in line for line in said)


def test_tolerances_are_tight_where_a_run_is_well_conditioned():
    """A sliding ball is followed to eight digits; the tolerance of a golden is no excuse."""
    kept = read("slide-2d")[DEFAULT]["step 96"]
    assert kept["tolerance"]["position"] < 1e-7 * np.abs(kept["position"]).max()


def test_the_options_of_time_stepping_are_all_there():
    """A new option needs a case; those that only guard against wrong input need none."""
    from tests.golden import cases as listed

    told = {**listed.STEPPING, **listed.TOUCHING, **listed.JOINTED, **listed.SOLVED_BY}
    used = {option for given in told.values() for option in given()}
    guards = {"retries", "overlap", "max_depth"}
    assert {field.name for field in fields(TimeStepping)} == used | guards
