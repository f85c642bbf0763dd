"""Events name who took part: joints by their names, and all contacts that took an impulse."""

import numpy as np
import pytest

import drystone as ds


def events(sim, steps):
    return [event for _ in range(steps) for event in sim.step().events]


@pytest.mark.parametrize("planar", [True, False])
def test_a_stop_is_an_event_of_its_joint_with_the_impulse_of_the_closed_form(planar):
    """An arm falls onto its stop: I omega about the hinge, from m g h = I omega^2 / 2."""
    mass, length, stop = 3.0, 1.0, 0.5
    inertia = mass * length**2 / 12
    world = ds.World(planar=planar)
    if planar:
        world.add_body(ds.Rectangle(length, 0.1), name="arm", mass=mass, inertia=inertia,
                       position=(0.5, 0))  # fmt: skip
        world.add_joint(ds.Pin("arm", "world", anchor=(0, 0), limits=(-stop, 2), name="elbow"))
    else:
        world.add_body(ds.Box(length, 0.1, 0.1), name="arm", mass=mass,
                       inertia=np.diag([inertia] * 3), position=(0.5, 0, 0))  # fmt: skip
        hinge = ds.Hinge("arm", "world", anchor=(0, 0, 0), axis=(0, -1, 0), limits=(-stop, 2),
                         name="elbow")  # fmt: skip
        world.add_joint(hinge)
    found = events(ds.Simulation(world, method=ds.EventDriven(dt=0.1)), 5)
    assert {(e.kind, e.names) for e in found} == {("limit", ("elbow",))}
    hits = [e for e in found if e.impulses]
    assert hits[0] is found[0], "reaching the stop and the blow are one event"
    about = inertia + mass * length**2 / 4
    omega = np.sqrt(2 * mass * 9.81 * 0.5 * np.sin(stop) / about)
    turn = {i.source: i for i in hits[0].impulses}
    assert abs(turn["limit"].angular[0 if planar else 1]) == pytest.approx(about * omega, rel=1e-6)
    assert hits[0].energy == pytest.approx(-0.5 * about * omega**2, rel=1e-6)
    assert turn["limit"].bodies == turn["joint"].bodies == ("arm", "world")
    assert np.linalg.norm(turn["joint"].linear) == pytest.approx(mass * 0.5 * omega, rel=1e-6)


def chain_and_ball():
    """Three links at rest, the first on a pin, its neighbour at a stop; a ball strikes the last."""
    world = ds.World(planar=True, gravity=(0, 0))
    for k in range(3):
        world.add_body(ds.Rectangle(1.0, 0.1), name=f"link{k}", density=50, position=(k + 0.5, 0))
    world.add_joint(ds.Pin("link0", "world", anchor=(0, 0), name="root"))
    world.add_joint(ds.Pin("link1", "link0", anchor=(1, 0), limits=(0.0, 0.1), name="knee"))
    world.add_joint(ds.Pin("link2", "link1", anchor=(2, 0), name="ankle"))
    place = (2.8, -0.05 - 0.1 - 0.03)
    world.add_body(ds.Disk(0.1), name="ball", density=500, position=place, velocity=(0.3, 1.0))
    return world


def test_impulses_of_a_blow_explain_the_velocities_after_it():
    """v+ = v- + M^-1 J' r from what the event says; it must keep the joints, stop the contact and
    lose the energy of the event."""
    sim = ds.Simulation(chain_and_ball(), method=ds.EventDriven(dt=0.1))
    model, before = sim.model, sim.state.copy()
    (hit,) = [e for e in events(sim, 1) if e.kind == "impact"]
    assert hit.names[0].startswith(("ball/link2", "link2/ball"))
    assert "knee" in hit.names
    anchors = {"root": (0, 0), "knee": (1, 0), "ankle": (2, 0)}
    centre = before.position.copy()
    centre[3] += hit.time * before.velocity[3, :2]
    point = centre[3] + (0, 0.1)
    v = before.velocity.copy()
    for impulse in hit.impulses:
        at = np.array(anchors.get(impulse.name, point))
        for sign, name in zip((1, -1), impulse.bodies, strict=True):
            if name == "world":
                continue
            k = model.names.index(name)
            arm, push = at - centre[k], sign * np.array(impulse.linear)
            turn = arm[0] * push[1] - arm[1] * push[0] + sign * impulse.angular[0]
            v[k, :2] += model.inverse_mass[k] * push
            v[k, 2] += model.inverse_inertia[k] * turn

    def speed(name, at):
        k = model.names.index(name)
        arm = np.array(at) - centre[k]
        return v[k, :2] + v[k, 2] * np.array([-arm[1], arm[0]])

    assert speed("link0", (0, 0)) == pytest.approx([0, 0], abs=1e-9)
    assert speed("link1", (1, 0)) == pytest.approx(speed("link0", (1, 0)), abs=1e-9)
    assert speed("link2", (2, 0)) == pytest.approx(speed("link1", (2, 0)), abs=1e-9)
    assert v[1, 2] == pytest.approx(v[0, 2], abs=1e-9), "the knee is at its stop"
    assert speed("ball", point)[1] == pytest.approx(speed("link2", point)[1], abs=1e-9)

    def kinetic(v):
        mass = np.stack([model.mass, model.mass, model.inertia], axis=1)
        return 0.5 * float((mass * v**2).sum())

    assert kinetic(v) - kinetic(before.velocity) == pytest.approx(hit.energy, rel=1e-9)


@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_all_contacts_that_took_an_impulse_are_named_and_counted(eps):
    """A disk strikes a row that touches: the blow goes through every contact of it."""
    world = ds.World(planar=True, gravity=(0, 0))
    for k in range(5):
        where = (0.2 * k - (0.05 if k == 0 else 0.0), 0)
        world.add_body(
            ds.Disk(0.1), name=f"d{k}", density=100, position=where, restitution=eps,
            velocity=(1.0 if k == 0 else 0.0, 0),
        )  # fmt: skip
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.06))
    report = sim.step()
    (hit,) = [e for e in report.events if e.kind == "impact"]
    pairs = [name.split(" ")[0] for name in hit.names]
    assert pairs == [f"d{k}/d{k + 1}" for k in range(4)]
    assert report.collisions == 4
    assert [i.name for i in hit.impulses] == list(hit.names)
    touch = [e for e in report.events if e.kind == "touch"]
    assert touch[0].names == hit.names[:1], "the same contact, by the same name"


def test_a_stop_that_takes_part_in_a_blow_is_named_beside_the_contacts():
    world = ds.World()
    world.add_ground()
    world.add_body(ds.Box(0.4, 0.2, 0.1), name="base", density=100, position=(0, 0, 0.2))
    world.add_body(ds.Box(0.1, 0.1, 0.1), name="load", density=100, position=(0, 0, 0.3))
    rail = ds.Slider("load", "base", axis=(0, 0, 1), limits=(0.0, 0.05), name="rail")
    world.add_joint(rail)
    sim = ds.Simulation(world, method=ds.EventDriven(dt=0.2))
    report = sim.step()
    (hit,) = [e for e in report.events if e.kind == "impact"]
    assert len(hit.names) == report.collisions == 5
    assert hit.names[-1] == "rail"
    parts = {i.name: np.array(i.linear) for i in hit.impulses}
    speed, mass = 9.81 * hit.time, sim.body("load").mass
    assert parts.pop("rail") == pytest.approx([0, 0, mass * speed], abs=1e-9)
    both = mass + sim.body("base").mass
    assert sum(parts.values()) == pytest.approx([0, 0, both * speed], abs=1e-9)


def test_events_with_their_impulses_are_recorded(tmp_path):
    sim = ds.Simulation(chain_and_ball(), method=ds.EventDriven(dt=0.1))
    recording = sim.run(0.1, record=tmp_path / "blow.h5")
    assert recording.reports(-1).events == sim.report.events
    assert any(event.impulses for event in sim.report.events)
