"""Runs: where they end, what they count, and what they say of steps that failed."""

import copy
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from drystone.kernels import layout
from drystone.kernels.packed import Packed, as_row
from drystone.kernels.step.loop import tally
from drystone.steppers.totals import Totals

INF = float("inf")


def ram(planar=True, speed=0.5, max_force=INF, dt=1 / 60, block=True, **options):
    """A ram on a slider drives a block against a fixed wall; no force stops its motor."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)

    def place(x, z):
        return (x, z) if planar else (x, 0, z)

    def box(a, b):
        return ds.Rectangle(a, b) if planar else ds.Box(a, b, b)

    world.add_body(box(0.2, 1.0), name="wall", fixed=True, position=place(0.75, 0.5))
    if block:
        world.add_body(box(0.3, 0.3), name="block", density=500, position=place(0.5, 0.15))
    world.add_body(box(0.3, 0.2), name="ram", density=1000, position=place(0.18, 0.2))
    motor = (
        ds.Motor(speed=speed) if max_force == INF else ds.Motor(speed=speed, max_force=max_force)
    )
    world.add_joint(ds.Slider("ram", "world", axis=place(1, 0), motor=motor, name="rail"))
    return ds.Simulation(world, ds.TimeStepping(dt=dt, **options))


def stepped(sim, duration):
    """The same steps one by one, counted here; the depth at their end is that of one step more."""
    reports = [sim.step() for _ in range(round(duration / sim.method.dt))]
    depths = [*reports, copy.deepcopy(sim).step()]
    limit = sim.method.max_depth
    bad = [r for r in reports if not r.ok or r.relative_depth > limit]
    return {
        "steps": len(reports),
        "unsolved": sum(not r.ok for r in reports),
        "deep": sum(r.relative_depth > limit for r in reports),
        "halved": sum(r.retries > 0 for r in reports),
        "first": bad[0].time if bad else None,
        "residual": max(r.residual for r in reports),
        "depth": max(r.penetration for r in depths),
        "relative_depth": max(r.relative_depth for r in depths),
    }


@pytest.mark.parametrize("kind", ["ram", "limited", "free ram"])
def test_the_compiled_loop_counts_what_steps_one_by_one_do(kind):
    def make():
        if kind == "free ram":
            return ram(block=False, speed=4.0)
        return ram(max_force=1e4, speed=0.5) if kind == "limited" else ram(speed=2.0)

    one, many = make(), make()
    counted = stepped(one, 0.15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.StepWarning)
        many.run(0.15)
    found = many.summary
    assert {name: getattr(found, name) for name in counted} == counted
    assert one.summary == found
    assert found.ok == (kind == "limited")
    assert (one.state.position == many.state.position).all()


def test_a_run_with_failed_steps_warns_once_and_names_what_is_wrong():
    sim = ram(speed=2.0)
    with pytest.warns(ds.StepWarning) as told:
        replay = sim.run(0.15, record=True)
    assert len([w for w in told if w.category is ds.StepWarning]) == 1
    (text,) = [str(w.message) for w in told if w.category is ds.StepWarning]
    assert told[0].filename == __file__, "the line that called run"
    s = sim.summary
    assert s.unsolved == s.jammed > 0 == s.deep
    for part in (f"{s.unsolved} not solved", f"{s.first:.6g} s", f"of {s.steps} steps",
                 f"{s.residual:.1e}", "jammed: 'rail'", *map(repr, s.deepest)):  # fmt: skip
        assert part in text
    assert str(s).startswith(f"{s.steps} steps to t = ")
    assert replay.summary == s
    assert set(s.deepest) <= {"ram", "wall", "block", "ground"}


def test_a_run_that_is_solved_says_nothing():
    sim = ram(max_force=1e4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.5)
    assert sim.summary.ok
    assert "all solved" in str(sim.summary)


@pytest.mark.parametrize("by", ["run", "method"])
def test_on_failure_raise_stops_at_the_first(by):
    one = ram(speed=2.0)
    first = stepped(one, 0.15)["first"]
    sim = ram(speed=2.0, **({"on_failure": "raise"} if by == "method" else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ds.StepWarning)
        with pytest.raises(ds.SimulationError) as error:
            sim.run(0.15, **({"on_failure": "raise"} if by == "run" else {}))
    assert error.value.report is not None
    step = sim.method.dt
    assert sim.time == pytest.approx(first if by == "run" else first - step, abs=1e-9)


def test_the_limit_of_depth_is_an_option_and_raises_too():
    """Bodies that are solved, but deep: the velocity scheme does not push them apart."""
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.13), velocity=(0, -5))
    options = {"stabilize": False, "active_gap": 1e-9, "dt": 0.01}

    def sim(**more):
        return ds.Simulation(world, ds.TimeStepping(**options, **more))

    with pytest.warns(ds.StepWarning, match="'ball' in 'ground'|'ground' in 'ball'"):
        sim().run(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim(max_depth=0.9).run(0.1)
    with pytest.raises(ds.SimulationError, match="penetration is above 1 %"):
        sim().run(0.1, on_failure="raise")
    quiet = sim()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet.run(0.1, on_failure="ignore")
    s = quiet.summary
    assert s.unsolved == 0 < s.deep
    assert s.relative_depth == pytest.approx(s.depth / 0.1)
    with pytest.raises(ds.OptionError, match="max_depth"):
        ds.TimeStepping(max_depth=0.0)
    with pytest.raises(ds.OptionError, match="on_failure"):
        quiet.run(0.1, on_failure="cry")


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_what_the_last_step_leaves_counts_too(planar, tmp_path):
    """A ball that ends its last step inside the ground, which no further step looks at."""
    world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))
    world.add_ground()
    shape, up = (ds.Disk(0.1), (0, 1)) if planar else (ds.Sphere(0.1), (0, 0, 1))
    world.add_body(
        shape, name="ball", position=np.multiply(up, 0.13), velocity=np.multiply(up, -5.0)
    )
    method = ds.TimeStepping(stabilize=False, active_gap=1e-9, dt=0.01)
    sim = ds.Simulation(world, method)
    with pytest.warns(ds.StepWarning, match=r"1 step: a penetration above .* end of the last"):
        kept = sim.run(0.01, record=True)
    assert sim.summary.depth == pytest.approx(0.02)
    assert sim.summary.relative_depth == pytest.approx(0.2)
    assert set(sim.summary.deepest) == {"ball", "ground"}
    assert not sim.summary.ok
    assert kept.summary == sim.summary
    assert (sim.summary.deep, sim.summary.first) == (0, None), "counts of steps are as they were"
    one = ds.Simulation(world, method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.StepWarning)
        one.run(0.01, record=tmp_path / "one.h5")
        resumed = ds.resume(tmp_path / "one.h5", until=0.03)
        sim.run(0.02)
    assert resumed.summary == sim.summary
    assert ds.read_recording(tmp_path / "one.h5").summary == sim.summary
    stepped = ds.Simulation(world, method)
    stepped.step()
    assert stepped.summary == kept.summary


def test_a_recording_holds_the_totals_and_a_resumed_run_goes_on_with_them(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.StepWarning)
        whole = ram(speed=2.0)
        whole.run(0.15, record=tmp_path / "whole.h5")
        half = ram(speed=2.0)
        half.run(0.1, record=tmp_path / "half.h5")
        sim = ds.resume(tmp_path / "half.h5", until=0.15)
    assert ds.read_recording(tmp_path / "whole.h5").summary == whole.summary
    assert sim.summary == whole.summary
    assert ds.read_recording(tmp_path / "half.h5").summary == whole.summary


def ball(method, start=1.0):
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", density=1000, position=(0, 0.1 + start))
    return ds.Simulation(world, method)


STEPPED = [
    (0.1, 0.3, 3), (0.1, 0.25, 2), (0.05, 0.12, 2), (1 / 240, 1.0, 240), (0.1, 0.0, 0),
    (0.05, 0.025, 0), (1 / 3, 1.0, 3), (0.1, 0.9999990, 9), (0.1, 0.99999999, 10),
]  # fmt: skip


@pytest.mark.parametrize(("dt", "duration", "steps"), STEPPED)
def test_time_stepping_ends_at_the_last_whole_step(dt, duration, steps):
    sim = ball(ds.TimeStepping(dt=dt))
    sim.run(duration)
    assert sim.summary.steps == steps
    assert sim.time == steps * dt


@pytest.mark.parametrize("parts", [(0.025, 0.025), (0.12, 0.13), (0.07,) * 7, (1 / 60,) * 13])
def test_runs_in_parts_end_where_the_whole_does(parts):
    split, whole = ball(ds.TimeStepping(dt=0.05)), ball(ds.TimeStepping(dt=0.05))
    for part in parts:
        split.run(part)
    whole.run(math.fsum(parts))
    assert split.time == whole.time
    assert (split.state.position == whole.state.position).all()
    again = ball(ds.TimeStepping(dt=0.05))
    again.run(until=math.fsum(parts))
    assert again.time == whole.time


@pytest.mark.parametrize("method", [ds.EventDriven(dt=0.05), ds.Penalty(dt=0.05)])
@pytest.mark.parametrize("parts", [(0.12,), (0.025,), (0.12, 0.13, 0.001), (0.05, 0.05), (0.3,)])
def test_event_driven_and_penalty_runs_end_at_the_time_asked_for(method, parts):
    sim = ball(method)
    for part in parts:
        sim.run(part)
    end = math.fsum(parts)
    assert sim.time == pytest.approx(end, rel=1e-14)
    fallen = 0.1 + 1.0 - 0.5 * 9.81 * end**2
    assert sim.body("ball").position[1] == pytest.approx(fallen, abs=1e-7)
    replay = ball(method).run(end, record=True)
    assert replay.time[-1] == pytest.approx(end, rel=1e-14)
    assert np.diff(replay.time).max() <= 0.05 * (1 + 1e-9)
    sim.run(until=end + 0.07)
    assert sim.time == end + 0.07
    sim.step()
    assert sim.time == pytest.approx(end + 0.12, rel=1e-14)


@pytest.mark.parametrize("method", [ds.TimeStepping(dt=0.05), ds.EventDriven(dt=0.05)])
def test_what_is_carried_over_is_in_snapshots(method):
    one, other = ball(method), ball(method)
    one.run(0.12)
    other.restore(one.snapshot())
    for sim in (one, other):
        sim.run(0.03)
        sim.run(0.11)
    assert one.time == other.time == pytest.approx(0.25 if method.name == "time-stepping" else 0.26)
    assert (one.state.position == other.state.position).all()
    assert one.summary == other.summary


@pytest.mark.parametrize("method", ["event-driven", "time-stepping"])
def test_a_recorded_run_with_a_short_end_resumes_to_the_same_bits(tmp_path, method):
    method = ds.EventDriven(dt=0.05) if method == "event-driven" else ds.TimeStepping(dt=0.05)

    def stop(sim):
        return sim.time < 0.19

    whole = ball(method).run(0.52, record=tmp_path / "whole.h5", every=1)
    part = ball(method)
    part.run(0.52, record=tmp_path / "part.h5", every=1, callback=stop)
    assert part.time == pytest.approx(0.2)
    end = ds.resume(tmp_path / "part.h5")
    assert end.time == whole.time[-1]
    known = ds.read_recording(tmp_path / "part.h5")
    assert (known.time == whole.time).all()
    assert (known.position == whole.position).all()
    further = ds.resume(tmp_path / "part.h5", until=0.6)
    assert further.time == pytest.approx(0.6)
    assert len(ds.read_recording(tmp_path / "part.h5")) == len(known) + 2


BAD = [-1, -1e-3, float("nan"), INF, -INF, 1e300, 1e308, 10**400, 1e13, "1", None, True, [1.0], 1j]


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("word", ["duration", "until"])
def test_times_that_are_none_are_refused_by_name(value, word):
    sim = ball(ds.TimeStepping())
    with pytest.raises(ds.OptionError, match=f"{word}|until"):
        sim.run(**{word: value})
    assert sim.time == 0.0


def test_a_run_has_one_end():
    sim = ball(ds.TimeStepping())
    with pytest.raises(ds.OptionError, match="one of them"):
        sim.run(1.0, until=2.0)
    with pytest.raises(ds.OptionError, match="one of them"):
        sim.run()
    sim.run(0.5)
    with pytest.raises(ds.OptionError, match="before the present time"):
        sim.run(until=0.25)
    sim.run(until=0.5)
    assert sim.time == 0.5


@pytest.mark.parametrize("method", [ds.EventDriven(dt=0.05), ds.Penalty(dt=0.05)])
def test_times_too_short_for_a_step_add_up(method):
    sim = ball(method)
    for _ in range(100):
        sim.run(2e-11)
    sim.run(0.01)
    assert sim.time == pytest.approx(0.01 + 2e-9, abs=1e-15)


def test_a_sweep_that_cannot_end_is_refused_before_it_begins():
    with pytest.raises(ds.OptionError, match=r"sweep: duration = 1e\+300: that is .* steps"):
        ds.sweep("incline", {"mu": "0.3"}, duration=1e300, jobs=1)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_a_warning_that_is_an_error_hides_no_other(kind):
    def interrupt(sim):
        if not sim.summary.ok:
            raise kind("by the user")

    sim = ram(speed=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ds.StepWarning)
        with pytest.raises(kind, match="by the user") as caught:
            sim.run(1.0, callback=interrupt)
    assert "not solved" in caught.value.__notes__[0]


def test_a_warning_that_is_an_error_leaves_the_file_complete(tmp_path):
    sim = ram(speed=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ds.StepWarning)
        with pytest.raises(ds.StepWarning, match="not solved"):
            sim.run(0.2, record=tmp_path / "a.h5")
    with ds.read_recording(tmp_path / "a.h5") as known:
        assert known.complete
        assert known.summary == sim.summary


def test_words_of_one_step():
    sim = ball(ds.TimeStepping(dt=0.05))
    sim.step()
    assert str(sim.summary).startswith("1 step to t = 0.05 s, all solved")


def test_a_moment_within_a_run_carries_nothing_over():
    sim, seen = ball(ds.TimeStepping(dt=0.1)), []
    sim.run(0.15)
    sim.run(0.3, callback=lambda sim: seen.append(sim.snapshot()))
    sim.restore(seen[0])
    sim.run(0.09)
    assert sim.time == 0.2


def test_a_callback_that_stops_carries_nothing_over():
    sim = ball(ds.TimeStepping(dt=0.05))
    sim.run(0.99, callback=lambda s: s.time < 0.1)
    time = sim.time
    sim.run(0.05)
    assert sim.time == pytest.approx(time + 0.05)


def test_events_of_a_run_and_of_a_step():
    sim = ball(ds.EventDriven(dt=0.05), start=0.1)
    sim.run(0.5)
    assert {"touch", "impact"} <= {e.kind for e in sim.events}
    assert sim.events[0].time == pytest.approx(math.sqrt(0.2 / 9.81), abs=1e-9)
    sim.step()
    assert sim.events == sim.report.events == ()
    assert ball(ds.TimeStepping()).events == ()


def test_comparisons_and_sweeps_count_and_tell():
    world = ram(speed=2.0).world
    method = ds.TimeStepping(dt=1 / 60)
    with pytest.warns(ds.StepWarning, match=r"failed by .*not solved") as told:
        found = ds.compare(world, [method], duration=0.1)
    assert len([w for w in told if w.category is ds.StepWarning]) == 1
    (run,), (row,) = found.runs.values(), found.rows
    assert row.unsolved == run.summary.unsolved > 0
    assert row.deep == run.summary.deep
    with pytest.warns(ds.StepWarning, match="1 of 1 points"):
        swept = ds.sweep("ellipse-drop", {"mu": "0.3"}, duration=1.5, jobs=1)
    assert "penetration above" in swept.trouble[0]


@pytest.mark.kernels
def test_the_kernel_and_python_add_up_steps_alike():
    """Reports of every kind, also with residuals that are no numbers."""
    world = ds.World(planar=True)
    world.add_ground()
    world.add_body(ds.Disk(0.1), name="ball", position=(0, 0.1))
    sim = ds.Simulation(world)
    one, rng = sim.step(), np.random.default_rng(0)
    total, row = Packed(**layout.cleared_totals(0.01)), Packed(**layout.make(layout.REPORT))
    counted, names = Totals(ds.RunSummary(max_depth=0.01)), ("a", "b")
    for k in range(200):
        report = replace(
            one, time=0.1 * k, retries=int(rng.integers(0, 2)), deepest=(0, 1),
            residual=float(rng.choice([np.nan, rng.random()])), unsolved_body=int(rng.integers(2)),
            status=rng.choice([ds.Status.SOLVED, ds.Status.STALLED]),
            penetration=float(rng.random()), relative_depth=float(rng.exponential(0.005)),
        )  # fmt: skip
        if report.ok:
            report = replace(report, unsolved_body=-1)
        row.put(
            time=report.time, residual=report.residual, retries=report.retries, deep_a=0, deep_b=1,
            infeasibility=report.penetration, depth=report.relative_depth,
            unsolved_body=report.unsolved_body, failed=-1 if report.ok else 0,
        )  # fmt: skip
        tally(row, total)
        counted.add(report, names)
    looped = Totals(ds.RunSummary(max_depth=0.01))
    looped.add_loop(as_row(total), report.time, names)
    assert looped.summary == counted.summary
    assert 0 < counted.unsolved < 200
    assert 0 < counted.deep < 200
