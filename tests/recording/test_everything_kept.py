"""No stepper has a memory that a snapshot forgets: every attribute is walked through.

What differs between a stepper and another that was restored from its snapshot must be work space,
listed here by name: whoever gives a stepper a new attribute either keeps it or says that the next
step writes it before reading.
"""

from fnmatch import fnmatch

import numpy as np
import pytest

import drystone as ds
from drystone.kernels._packed import Packed
from drystone.model import Joints, Model
from drystone.scenes import scene

# what a step writes before it reads it, and what users read after a step
SCRATCH = {
    "TimeStepper": [
        "_stepped", "_looked*", "_job*", "_room*", "_contact_rows*", "_own*", "_frames", "rows*",
        "solved*", "work*", "sweeper*", "found.*", "_scan*", "stages*", "detector.*",
        "_detector.*", "search.detector.*", "profile",
        # rows of this step, its books, bodies as it began and ended
        *(f"buffers.s.{name}*" for name in (
            "velocity", "v0", "v_free", "v", "force", "load", "inertia", "inverse", "end_inertia",
            "position", "was", "was_turned", "was_moving", "orientation", "reach", "moves", "root",
            "fast", "seen", "mine", "motion", "begun", "report", "sums", "turn", "origin", "total",
            "frame_*", "frames", "since_frame", "since_contacts", "log", "noted_*", "driven_*",
            "geom_a", "geom_b", "feature", "tag_a", "tag_b", "pick", "found", "label", "place",
            "source", "chosen", "sweep_limit", "min_sweeps", "loose_tol", "island_tol",
            "fallback_tol", "ended", "sweeps", "plan", "gap", "mu", "spin",
            "keep", "forced", "verdict", "carried", "near", "loose", "slid", "bias", "zero", "r",
            "u", "q", "w", "point",
            "normal", "impulse", "pair", "body", "both", "eps", "residual", "row_axis",
            "energy_gap",
            "row_ratios", "frame", "D", "contact", "J", "P", "start", "head", "tail", "old_a",
            "old_b", "old_feature", "old_impulse", "old_spin", "old_slid", "inverse_mass",
            "keeps_awake", "island_awake", "left_out", "awake", "lam", "first", "jointed",
            "first_",
        )),
        *(f"buffers.s.{name}" for name in (  # numbers of this step
            "h", "kick", "impact_share",
            "time", "cursor", "rest_speed", "impact_speed", "impact_gap", "longest_path",
            "spring_energy", "rows", "islands", "candidates", "collisions", "iterations",
            "methods", "slip_rounds", "missed_rounds", "carries", "failed", "needed", "next_stage",
            "tight",
            "n_chosen", "leave", "careful", "solves", "unsettled",
        )),
        "buffers._*", "_table*", "solver._work*", "bouncer._work*",
    ],
    # the phase that ended with the frame, its books; a phase that goes on, and islands that wait to
    # be laid to rest, are kept in another form
    "EventStepper": [
        "detector.*", "_loop.mechanics.detector.*",
        "_loop.resolver.mechanics.detector.*",
        *(f"_loop.{name}*" for name in (
            "phase", "_lasts", "_stored", "_waiting", "_projection_work", "_timeless",
            "clusters.report",
            "log", "last", "layout", "work", "guard.impacts",
            "guard.at_bound", "guard.ended", "guard.stalled", "resolver.guard.impacts",
            "resolver.guard.at_bound", "resolver.guard.ended", "resolver.guard.stalled",
            "resolver.tolerances", "resolver.slow", "mechanics._jointed",
            "resolver.mechanics._jointed",
        )),
        "log.*", "loaded_joints*", "wrench*", "_shown*",
    ],
    "PenaltyStepper": ["last*", "now*", "springs.detector.*", "detector.*"],
}  # fmt: skip
# arrays of joints are this step's
SCRATCH["TimeStepper"] += [
    "buffers.parts*", "_held*", "_closer*", "_began*", "_over*", "_asked*",
    *(f"buffers.j.{name}*" for name in (
        "place", "at_*", "change", "push", "free", "tie", "mean", "impulse", "value",
        "last", "act_*", "S", "axes", "inverse", "bend", "arms", "gap", "stiff", "inertia",
        "J0", "P0", "right", "D0", "r0", "bias0", "soft", "unit", "joint", "x", "best",
        "closes", "order", "node", "patterned", "first_", "load", "lift", "slip",
        "first", "below", "lower", "upper", "offset", "stride", "panels", "indptr", "indices",
        "rows", "buffer", "acting", "travel", "began_", "sum",
    )),
    *(f"buffers.j.{name}" for name in (
        "round", "misses", "excess", "lawful", "goal", "is_stiff", "pattern", "refined", "extra",
        "slides", "looks", "best_opening", "opening", "softening", "error",
        "moved", "before", "parts", "wanted", "earlier", "by_host", "whole", "whole_rest",
        "whole_impact", "open_before", "behind",
    )),
]  # fmt: skip
SCRATCH["EventStepper"] += [
    f"_loop.clusters._stepper.{name}"
    for name in (*SCRATCH["TimeStepper"], "gaps.left", "gaps._rounds*")
]
# of a detector: all but its cache, which ``state`` exports by pairs
CASES = [
    ("spheres", {"n": 30}, None),
    ("arch", {}, None),
    ("newton-cradle", {}, None),
    ("four-bar", {}, None),
    ("chain-drop", {}, None),
    ("dominoes", {}, ds.TimeStepping(sleeping=ds.Sleeping())),
    ("pyramid", {}, ds.TimeStepping(order=2)),
    ("double-pendulum", {}, ds.Penalty()),
    ("billiard-three", {}, ds.EventDriven()),
    ("newton-cradle", {}, ds.EventDriven()),
    ("ellipse-drop", {}, ds.EventDriven(integrator="adams")),
    ("sliding-block", {}, ds.EventDriven(integrator="adams")),
    ("double-pendulum", {}, ds.EventDriven()),
    (
        "dominoes",
        {"n": 4},
        ds.EventDriven(guards=ds.EventGuards(max_events=1)),
    ),  # in a cluster after ten frames
]


def leaves(value, path=""):
    """(path, number, text or array) of everything an object holds."""
    if isinstance(value, Model | Joints) or callable(value):
        return
    if isinstance(value, np.ndarray | np.generic | int | float | str | bool | None):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(len(value)))
        for key, item in zip(names, value, strict=True):
            yield from leaves(item, f"{path}.{key}")
    elif isinstance(value, Packed):
        for key in value._numba_type_.places:
            yield from leaves(getattr(value, key), f"{path}.{key}")
    elif type(value).__module__.startswith("drystone"):
        slots = [s for kind in type(value).__mro__ for s in getattr(kind, "__slots__", ())]
        own = {name: getattr(value, name) for name in slots if hasattr(value, name)}
        for key, item in (own | getattr(value, "__dict__", {})).items():
            yield from leaves(item, f"{path}.{key}")


def different(a, b):
    here, there = (dict(leaves(x)) for x in (a, b))
    out = []
    for path in sorted({*here, *there}):
        x, y = here.get(path, "absent"), there.get(path, "absent")
        same = np.array_equal(x, y, equal_nan=np.asarray(x).dtype.kind == "f") if (
            type(x) is type(y)
        ) else False  # fmt: skip
        if not same:
            out.append(path.lstrip("."))
    return out


def forgotten(stepper, other):
    known = SCRATCH[type(stepper).__name__]
    paths = different(stepper, other)
    return [path for path in paths if not any(fnmatch(path, name) for name in known)]


def halves(name, settings, method, steps=12):
    first, second = (scene(name, **settings).simulation(method) for _ in range(2))
    for _ in range(steps):
        first.step()
    second.restore(first.snapshot())
    return first, second


@pytest.mark.parametrize(("name", "settings", "method"), CASES)
def test_nothing_is_forgotten(name, settings, method):
    first, second = halves(name, settings, method)
    assert not forgotten(first.stepper, second.stepper)
    a, b = first.stepper.detector.state(), second.stepper.detector.state()
    assert all(np.array_equal(a[key], b[key]) for key in a)


def test_what_is_forgotten_is_found(monkeypatch):
    first, second = halves("four-bar", {}, None)
    second.stepper.turns = second.stepper.turns + 1.0
    second.stepper.solver.wait = 5
    assert forgotten(first.stepper, second.stepper) == ["buffers.j.turns", "solver.wait"]
    first.stepper.memory = 3.0
    assert "memory" in forgotten(first.stepper, second.stepper)


@pytest.mark.parametrize("method", [ds.TimeStepping(dt=0.01), ds.EventDriven(dt=0.01)])
def test_a_broken_joint_stays_broken(method):
    def made():
        world = ds.World(planar=True)
        world.add_body(ds.Disk(0.1), name="bob", position=(1, 0))
        world.add_joint(ds.Pin("bob", "world", anchor=(0, 0), breaks_at=60.0, name="pin"))
        return ds.Simulation(world, method)

    whole, first, second = made(), made(), made()
    steps = 0
    while not first.step().broken:
        steps += 1
        assert steps < 100
    second.restore(first.snapshot())
    for _ in range(steps + 11):
        whole.step()
    for _ in range(10):
        second.step()
    assert np.array_equal(whole.state.velocity, second.state.velocity)
    assert not len(second.joints)


def test_numbers_of_checkpoints_without_names_are_understood():
    """Checkpoints once kept these numbers by their places in two arrays."""
    first, second = (scene("pyramid").simulation() for _ in range(2))
    for _ in range(12):
        first.step()
    known = first.stepper.snapshot()
    named = known["buffers"]
    count, real = np.zeros(36, np.int64), np.zeros(13)
    places = {
        3: "old_rows", 16: "newton_wait", 17: "newton_interval", 18: "newton_tried",
        19: "newton_refused", 30: "tight_steps", 35: "restless_steps",
    }  # fmt: skip
    for place, name in places.items():
        count[place] = named.pop(name)
    real[9] = named.pop("old_h")
    second.state = first.state.copy()
    second.stepper.restore(
        known | {"buffers": named | {"count": count, "real": real}}, second.model
    )
    first.step()
    second.step()
    assert np.array_equal(first.state.position, second.state.position)
    assert first.report.iterations == second.report.iterations


def test_the_smallest_island_without_room_for_newton_is_forgotten_slowly():
    """It grows by a part of itself at each step, and must stay a number after thousands."""
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), position=(0, 0.1))
    sim = ds.Simulation(world)
    sim.run(until=2100 * sim.method.dt)
    assert 0 < sim.stepper.buffers.s.newton_refused <= 1 << 40
