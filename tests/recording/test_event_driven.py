"""Event-driven runs that are interrupted before every frame are the runs that are not: every
frame is made by a new simulation, from the bytes that the one before it left."""

import numpy as np
import pytest

import drystone as ds
from drystone.recording.packing import pack, unpack
from drystone.scenes import scene

SKIPPED = ("seconds", "island_residuals", "island_sizes")


def from_scene(name, **options):
    return lambda: scene(name).simulation(ds.EventDriven(**options))


def boxes(**options):
    """Bricks that slide, hit a stack, and all come to rest: islands fall asleep and wake."""

    def made():
        world = ds.World(planar=True)
        world.add_ground(friction=0.4)
        for k in range(2):
            world.add_body(ds.Rectangle(0.2, 0.1), name=f"brick{k}", position=(0.6, 0.05 + 0.1 * k))
        for k, speed in enumerate((2.4, 0.3)):
            at, name = (-1.0 * k, 0.05), f"thrown{k}"
            world.add_body(ds.Rectangle(0.1, 0.1), name=name, position=at, velocity=(speed, 0.0))
        return ds.Simulation(world, ds.EventDriven(**options))

    return made


def tumbling(**options):
    """A box thrown in space, with friction and restitution."""

    def made():
        world = ds.World()
        world.add_ground(friction=0.5, restitution=0.3)
        world.add_body(
            ds.Box(0.3, 0.2, 0.1), name="box", position=(0, 0, 0.25), velocity=(1, 0.3, -1),
            angular_velocity=(0.5, 3, 1),
        )  # fmt: skip
        return ds.Simulation(world, ds.EventDriven(**options))

    return made


def spinning(**options):
    """A rotor that turns several times against a spiral spring and dry friction in its hinge."""

    def made():
        world = ds.World()
        world.add_body(ds.Box(0.4, 0.1, 0.1), name="rotor", angular_velocity=(0, 0, 30.0))
        world.add_joint(
            ds.Hinge("rotor", axis=(0, 0, 1), anchor=(0, 0, 0), spring=(0.2, 0), friction=0.1)
        )
        return ds.Simulation(world, ds.EventDriven(**options))

    return made


# name: how it is made, frames, what has to be kept on the way
CASES = {
    "planar": (from_scene("billiard-three"), 40, {"asleep", "waiting", "sets"}),
    "friction": (boxes(), 60, {"asleep", "waiting", "sets"}),
    "spatial": (tumbling(), 45, {"sets"}),
    "rolling": (from_scene("rattleback"), 25, {"sets"}),
    "joints": (from_scene("double-pendulum"), 15, {"turns", "sets"}),
    "turns": (spinning(), 30, {"turns", "sets"}),
    "sleeping": (from_scene("newton-cradle"), 20, {"asleep", "waiting", "sets"}),
    "adams": (from_scene("ellipse-drop", integrator="adams"), 30, {"history"}),
    "adams-friction": (boxes(integrator="adams"), 60, {"history", "asleep", "sets"}),
    "adams-spatial": (tumbling(integrator="adams"), 30, {"history"}),
    "adams-joints": (from_scene("double-pendulum", integrator="adams"), 15, {"history", "turns"}),
    "lemke": (boxes(contact_forces="lemke"), 30, {"sets"}),
    "qp-signs": (tumbling(contact_forces="qp-signs", integrator="rk45"), 20, {"sets"}),
    "every-instant": (boxes(contact_forces=("dantzig", {"reuse": False})), 30, {"sets"}),
}


def kept(known):
    """What a snapshot holds."""
    has = {
        "asleep": known["loop.sleeping.numbers"].size > 0,
        "waiting": known["loop.waiting.numbers"].size > 0,
        "history": "loop.history.t" in known,
        "sets": known["forces.memory.count"] > 0,
        "turns": "loop.own.turns" in known,
    }
    return {name for name, there in has.items() if there}


def differing(a, b):
    return [
        name for name in type(a).__dataclass_fields__
        if name not in SKIPPED and getattr(a, name) != getattr(b, name)
    ]  # fmt: skip


def frame_by_frame(made, frames, change=lambda known: None):
    """(first frame that differs or None, what was kept on the way)."""
    whole, part, seen = made(), made(), set()
    for k in range(frames):
        known = unpack(pack(part.checkpoint()))
        seen |= kept(known["stepper"])
        change(known["stepper"])
        part = made()
        part.restore(known)
        same = not differing(part.step(), whole.step())
        for name in ("position", "orientation", "velocity"):
            same &= np.array_equal(getattr(part.state, name), getattr(whole.state, name))
        same &= part.contacts.dtype == whole.contacts.dtype
        if not (same and np.array_equal(part.contacts, whole.contacts)):
            return k, seen
        if not np.array_equal(part.joints, whole.joints):
            return k, seen
    return None, seen


@pytest.mark.parametrize("case", CASES)
def test_interrupted_before_every_frame(case):
    made, frames, wanted = CASES[case]
    broke, seen = frame_by_frame(made, frames)
    assert broke is None
    assert wanted <= seen


def without(start):
    def change(known):
        for name in [name for name in known if name.startswith(start)]:
            del known[name]

    return change


def awake(known):
    empty = ds.Simulation(boxes()().world, ds.EventDriven()).checkpoint()["stepper"]
    known.update({k: v for k, v in empty.items() if k.startswith("loop.waiting.")})


def no_sets(known):
    known["forces.memory.count"] = 0


@pytest.mark.parametrize(
    ("case", "change"),
    [
        ("planar", without("loop.own.hint")),
        ("friction", no_sets),
        ("friction", awake),
        ("turns", without("loop.own.turns")),
        ("adams", without("loop.history.")),
    ],
)
def test_every_part_is_needed(case, change):
    made, frames, _ = CASES[case]
    assert frame_by_frame(made, frames, change)[0] is not None


@pytest.mark.parametrize("integrator", ["dop853", "adams"])
def test_resumed_from_the_last_checkpoint(tmp_path, integrator):
    path, whole = tmp_path / "a.h5", boxes(integrator=integrator)()
    boxes(integrator=integrator)().run(0.5, record=path, every=1)
    whole.run(1.0)
    made = []
    sim = ds.resume(path, until=1.0, callback=lambda sim: made.append(sim.time))
    assert np.array_equal(sim.state.velocity, whole.state.velocity)
    assert np.array_equal(sim.state.position, whole.state.position)
    assert np.array_equal(sim.contacts, whole.contacts)
    assert len(made) == 30  # and not the frames that were there


def test_files_without_checkpoints_of_the_method_are_refused(tmp_path, monkeypatch):
    path, sim = tmp_path / "a.h5", boxes()()
    checkpoint = sim.checkpoint
    monkeypatch.setattr(sim, "checkpoint", lambda *args: checkpoint(*args) | {"stepper": None})
    sim.run(0.1, record=path)
    with pytest.raises(ds.RecordingError, match="run it again"):
        ds.resume(path, until=0.2)
