"""Readings of a running simulation: of the present whatever was edited, copies, and cheap."""

import copy
import pickle
import sys
from dataclasses import fields, replace

import numpy as np
import pytest

import drystone as ds
from drystone.dynamics.frames import frame_position, frame_velocity
from drystone.steppers.tables import ContactRows, bodies_kind
from tests.tables_by_rows import contacts_by_rows

METHODS = [ds.TimeStepping(dt=0.01), ds.TimeStepping(dt=0.01, order=2), ds.EventDriven(dt=0.01)]
NAMES = ("position", "velocity", "orientation", "angular_velocity", "centre_of_mass", "mass")


def tumbling(planar=False):
    """Bodies whose centres of mass are not the origins of their frames, and one whose is."""
    world = ds.World(planar=planar)
    world.add_ground()
    if planar:
        parts = [(ds.Disk(0.1), (0, 0), 0.0), (ds.Rectangle(0.3, 0.1), (0.2, 0.1), 0.3)]
        spin, up = 3.0, [(0.5 * k, 1.0 + 0.1 * k) for k in range(3)]
        plain = ds.Disk(0.1)
    else:
        parts = [(ds.Sphere(0.1), (0, 0, 0)), (ds.Box(0.3, 0.1, 0.1), (0.2, 0.1, 0.05))]
        spin, up = (1.0, -2.0, 3.0), [(0.5 * k, 0.2, 1.0 + 0.1 * k) for k in range(3)]
        plain = ds.Sphere(0.1)
    for k, name in enumerate("abc"):
        shape = plain if name == "b" else parts
        world.add_body(
            shape, name=name, position=up[k], velocity=(0.5,) + (0.0,) * (world.dim - 1),
            angular_velocity=spin,
        )  # fmt: skip
    return world


def values(view):
    return {name: getattr(view, name) for name in NAMES}


def expected(sim, name):
    """The same from the arrays of the state, by matrices."""
    i, dim = sim.bodies.index(name), sim.model.dim
    speed = frame_velocity(sim.model, sim.state)[i]
    turn, spin = sim.state.orientation[i], speed[dim:]
    return {
        "position": frame_position(sim.model, sim.state)[i], "velocity": speed[:dim],
        "orientation": turn, "angular_velocity": spin[0] if dim == 2 else spin,
        "centre_of_mass": sim.state.position[i], "mass": sim.model.mass[i],
    }  # fmt: skip


def check(sim, views):
    for view in views:
        now, wanted = values(view), expected(sim, view.name)
        for name in NAMES:
            assert np.allclose(now[name], wanted[name], rtol=0, atol=1e-14), (view.name, name)


@pytest.mark.parametrize("planar", [False, True])
@pytest.mark.parametrize("method", METHODS[:1] + METHODS[2:])
def test_a_view_reads_the_present(method, planar):
    world = tumbling(planar)
    sim = ds.Simulation(world, method)
    views = [sim.body(name) for name in "cab"]
    start = [values(view) for view in views]
    check(sim, views)
    sim.run(0.05)
    check(sim, views)
    moment = sim.snapshot()
    for k in range(3):
        sim.step()
        check(sim, views)
        views[k].position = place = np.arange(world.dim) + 5.0 * (k + 1)  # teleported
        views[k].velocity = (0.25,) * world.dim
        assert np.allclose(views[k].position, place, atol=1e-14)
        check(sim, views)
    world.remove_body("a")  # what comes after it has another number now
    with pytest.raises(ds.ModelError, match="no body 'a'"):
        _ = views[1].position
    check(sim, [views[0], views[2]])
    sim.step()
    check(sim, [views[0], views[2]])
    other = ds.Disk(0.05) if planar else ds.Sphere(0.05)
    world.add_body(other, name="a", position=(9.0,) * world.dim)  # another body of that name
    assert np.array_equal(views[1].position, (9.0,) * world.dim)
    check(sim, views)
    with pytest.raises(ds.OptionError, match="restore"):
        sim.restore(moment)
    again = ds.Simulation(tumbling(planar), method)
    views = [again.body(name) for name in "cab"]
    again.step()
    again.restore(moment)
    check(again, views)
    assert np.array_equal(again.state.position, moment._moment["position"])
    again.reset()
    for view, was in zip(views, start, strict=True):
        assert all(np.array_equal(values(view)[name], was[name]) for name in NAMES)
    for twin in (copy.deepcopy(views[0]), pickle.loads(pickle.dumps(views[0]))):
        again.step()
        assert np.array_equal(twin.position, start[0]["position"])
        twin._simulation.step()
        assert np.array_equal(twin.position, views[0].position)
        again.reset()


@pytest.mark.parametrize("planar", [False, True])
def test_what_is_set_is_what_is_read(planar):
    sim = ds.Simulation(tumbling(planar))
    sim.run(0.1)
    for name in "abc":
        view = sim.body(name)
        turn = 0.7 if planar else (0.5, 0.5, -0.5, 0.5)
        place, speed = np.arange(1.0, 1.0 + sim.model.dim), np.arange(sim.model.dim) - 0.5
        spin = -1.5 if planar else (0.3, 0.2, 0.1)
        view.position, view.orientation = place, turn
        view.velocity, view.angular_velocity = speed, spin
        assert np.allclose(view.position, place, atol=1e-15)
        assert np.allclose(view.velocity, speed, atol=1e-15)
        assert np.allclose(view.orientation, turn, atol=1e-15)
        assert np.allclose(view.angular_velocity, spin, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_readings_are_copies(method):
    """Of bodies, contacts, joints and reports: later steps do not change them, and they change
    nothing."""
    world = tumbling()
    world.add_joint(ds.Ball("a", "c", anchor=(0.5, 0.2, 2.0)))
    sims = [ds.Simulation(world, method) for _ in range(2)]
    for sim in sims:
        sim.run(0.6)
    sim, plain = sims
    report = sim.step()
    read = values(sim.body("a")), sim.contacts, sim.joints, sim.state, sim.energy
    kept = copy.deepcopy(read)
    numbers = values(sim.body("b"))
    for number in numbers.values():
        if isinstance(number, np.ndarray):
            number[:] = 7.0
    for table in (sim.contacts, sim.joints):
        table["force"] = 7.0
    plain.step()
    shown = copy.deepcopy(plain.report)  # every field of it, now
    for one in sims:
        for _ in range(5):
            one.step()
    assert np.array_equal(sim.state.position, plain.state.position)
    for name, value in read[0].items():
        assert np.array_equal(value, kept[0][name])
    for now, was in zip(read[1:3], kept[1:3], strict=True):
        assert np.array_equal(now, was)
    for name in ("position", "orientation", "velocity"):
        assert np.array_equal(getattr(read[3], name), getattr(kept[3], name))
    same(report, shown)


def same(a, b):
    """Whether two reports are equal, field by field."""
    for field in fields(ds.StepReport):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if field.name == "seconds":
            continue
        if isinstance(one, np.ndarray):
            assert np.array_equal(one, other), field.name
            assert one.dtype == other.dtype
        else:
            assert one == other, field.name


def test_reports_that_are_read_late_are_reports():
    """They are made of numbers when somebody asks: each way of asking gives the same."""
    sim = ds.Simulation(tumbling(), ds.TimeStepping(dt=0.01))
    early, late = [], []
    for _ in range(60):
        report = sim.step()
        late.append(report)
        early.append(copy.deepcopy(report))
    sim.run(0.1)
    for one, other in zip(late, early, strict=True):
        same(one, other)
    report = sim.step()
    assert isinstance(report, ds.StepReport)
    assert type(pickle.loads(pickle.dumps(report))) is ds.StepReport
    same(pickle.loads(pickle.dumps(report)), report)
    other = replace(report, time=3.0)
    assert other.time == 3.0
    same(replace(other, time=report.time), report)
    assert repr(sim.step()).partition("(")[2] == repr(copy.copy(sim.report)).partition("(")[2]
    assert str(sim.step()) == str(copy.copy(sim.report))
    with pytest.raises(AttributeError, match="did you mean 'residual'"):
        _ = sim.step().residul
    with pytest.raises(AttributeError):
        sim.step().time = 3.0
    assert sim.step().ok


@pytest.mark.parametrize("on_failure", ["report", "raise", "retry"])
def test_reports_end_when_their_steps_do(on_failure):
    """Times are multiples of dt, not sums, also where the stepper read the report itself."""
    sim = ds.Simulation(tumbling(), ds.TimeStepping(dt=0.01, on_failure=on_failure))
    for k in range(60):
        report = sim.step()
        assert report.time == sim.time == (k + 1) * 0.01
        assert report.outcome[0] == report.time
        assert pickle.loads(pickle.dumps(report)).time == report.time


def test_frames_of_a_run_have_the_reports_of_its_steps():
    one, many = (ds.Simulation(tumbling(), ds.TimeStepping(dt=0.01)) for _ in range(2))
    reports = [one.step() for _ in range(80)]
    for step, frame in zip(reports, many.run(0.8, record=True).reports, strict=True):
        same(step, frame)


@pytest.mark.parametrize(
    ("planar", "many", "name"),
    [(True, 1, "b"), (False, 2, "été"), (False, 300, "三"), (True, 300, "a longer name")],
)
def test_tables_of_contacts_are_those_of_the_rows(planar, many, name):
    """Names of any length and letters, numbers of bodies in one byte and in two, joints among the
    rows: as they are read, and as frames keep them, against the rows that the step solved."""
    world = ds.World(planar=planar)
    world.add_ground(friction=0.3)
    size, shape = world.dim, ds.Disk(0.1) if planar else ds.Sphere(0.1)
    for k in range(many):
        place = (0.25 * k,) + (0.0,) * (size - 2) + (0.1,)
        speed = (0.3 * (k % 2),) + (0.0,) * (size - 1)
        world.add_body(shape, name=f"{name}{k}", position=place, velocity=speed)
    if many > 1:
        ball = ds.Pin if planar else ds.Ball
        world.add_joint(ball(f"{name}0", f"{name}1", anchor=(0.125,) + (0.1,) * (size - 1)))
    sim = ds.Simulation(world, forces="raw")
    for _ in range(3):
        frame = sim.run(sim.method.dt, record=True, contacts=True).contacts(-1, forces="raw")
        live, slow = sim.contacts, contacts_by_rows(sim.stepper)
        assert len(live) == many
        for field in live.dtype.names:
            assert np.array_equal(live[field], frame[field]), field
            if live[field].dtype.kind == "f":
                assert np.allclose(live[field], slow[field], rtol=0, atol=1e-14), field
            else:
                assert np.array_equal(live[field], slow[field]), field


def test_tables_refuse_bodies_and_states_that_there_are_not():
    rows = ContactRows(("ground", "b"), 2)
    numbers, laws, features = np.ones((2, 9)), np.ones((2, 2)), np.zeros(2, np.int64)
    bodies = np.zeros(2, bodies_kind(2))
    bodies["bodies"], bodies["state"] = [[1, 0], [0, 1]], [2, 1]
    table = rows.table(numbers, bodies, laws, features, 0.5)
    assert table["bodies"].tolist() == [["b", "ground"], ["ground", "b"]]
    assert table["state"].tolist() == ["slip", "stick"]
    assert (table["force"] == 2.0).all()
    for field, value in (("bodies", [[1, 2], [0, 1]]), ("state", [0, 3])):
        wrong = bodies.copy()
        wrong[field] = value
        with pytest.raises(IndexError):
            rows.table(numbers, wrong, laws, features, 0.5)
    with pytest.raises(IndexError):
        rows.table(numbers, bodies, laws[:1], features, 0.5)
    with pytest.raises(IndexError):
        rows.table(numbers[:, :5], bodies, laws, features, 0.5)


def calls(what, times=20):
    """Calls of functions that one call of `what` takes, in Python and out of it: they cost the
    same time each, and their number depends on no clock."""
    what()
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        for _ in range(times):
            what()
    finally:
        sys.setprofile(None)
    return count / times


def test_steps_and_readings_take_few_calls():
    """What control loops in Python feel. Counts with the margin of a few calls; each was four to
    ten times as many when everything was made whether it was asked for or not."""
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.2, 0.2, 0.2), name="b", position=(0, 0, 0.1), velocity=(0.3, 0, 0))
    sim = ds.Simulation(world)
    sim.run(0.1)
    view = sim.body("b")
    taken = {"step": calls(sim.step)}
    for name in NAMES:
        taken[name] = calls(lambda name=name: getattr(view, name))
    taken["contacts"] = calls(lambda: sim.contacts)
    most = {"step": 45, "contacts": 16} | dict.fromkeys(NAMES, 7)
    assert {name: count for name, count in taken.items() if count > most[name]} == {}, taken


@pytest.mark.parametrize("method", [ds.TimeStepping(), ds.EventDriven(), ds.Penalty()])
def test_contacts_of_kept_runs_are_read_by_every_method(method):
    """Rows of a table are padded to whole words, whatever the lengths of names."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    world.add_body(ds.Disk(0.1), name="disk", position=(0, 0.1), velocity=(1, 0))
    run = ds.Simulation(world, method).run(0.05, record=True, contacts=True)
    last = run.contacts(len(run) - 1)
    assert last["bodies"].tolist() == [["disk", "ground"]]
    assert last["force"][0, 1] > 0
    assert len(run.contacts(0)) == 0
