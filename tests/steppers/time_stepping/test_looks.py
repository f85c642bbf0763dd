"""Bodies that a step makes faster than any was before: contacts are looked for where they go."""

import numpy as np
import pytest

import drystone as ds

STEP = 1 / 60


def kit(planar):
    world = ds.World(planar=planar, gravity=(0, 0) if planar else (0, 0, 0))

    def at(x, z):
        return (x, z) if planar else (x, 0, z)

    def box(name, x, z, a=0.2, b=0.2, **more):
        shape = ds.Rectangle(a, b) if planar else ds.Box(a, b, b)
        more = more if "fixed" in more else {"density": 1000} | more
        world.add_body(shape, name=name, position=at(x, z), **more)

    return world, at, box


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
@pytest.mark.parametrize("gap", [0.003, 0.013, 0.03])
@pytest.mark.parametrize("options", [{}, {"order": 2}], ids=str)
def test_a_motor_that_starts_from_rest_passes_no_gap(planar, gap, options):
    """2 m/s for 1/60 s are 33 mm; what moves is at rest before, and nothing near is fast."""
    world, at, box = kit(planar)
    box("ram", 0.0, 0.0)
    box("wall", 0.2 + gap, 0.0, fixed=True)
    world.add_joint(ds.Slider("ram", "world", axis=at(1, 0), motor=ds.Motor(speed=2.0), name="m"))
    sim = ds.Simulation(world, ds.TimeStepping(dt=STEP, **options))
    assert sim.step().jammed == ("m",)
    assert sim.body("ram").position[0] == pytest.approx(gap, abs=1e-6)
    assert sim.penetration < 1e-6
    many = ds.Simulation(world, ds.TimeStepping(dt=STEP, **options))
    many.run(3 * STEP, on_failure="ignore")
    sim.step()
    sim.step()
    assert (sim.state.position == many.state.position).all()


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_nor_does_what_it_moves_at_the_other_end_of_a_linkage(planar):
    """A short crank swings a long rod: its head is seven times as fast as any joint's motor."""
    world, at, box = kit(planar)
    box("crank", 0.1, 0.0, 0.2, 0.05)
    box("rod", 0.7, 0.0, 1.0, 0.05)
    box("head", 1.25, 0.0, 0.1, 0.1)
    box("wall", 1.25, 0.32, 0.1, 0.5, fixed=True)  # 20 mm above the head
    turn = {"motor": ds.Motor(speed=20.0), "name": "m"}
    if planar:
        world.add_joint(ds.Pin("crank", "world", anchor=at(0, 0), **turn))
    else:
        world.add_joint(ds.Hinge("crank", "world", anchor=at(0, 0), axis=(0, -1, 0), **turn))
    world.add_joint(ds.Fixed("crank", "rod", anchor=at(0.2, 0)))
    world.add_joint(ds.Fixed("rod", "head", anchor=at(1.2, 0)))
    sim = ds.Simulation(world, ds.TimeStepping(dt=STEP))
    assert sim.step().jammed == ("m",)
    assert sim.penetration < 2e-3, "of order (20 / 60)^2 at most: the head turns in this step"
    assert sim.body("head").position[-1] < 0.022
    sim.run(0.2, on_failure="ignore")
    assert sim.penetration < 1e-6
    assert np.abs(sim.state.velocity).max() < 1e-5


def test_nor_does_what_is_struck():
    """A fast ball strikes a light one on a rail, before a wall that neither could reach before."""
    world = ds.World(planar=True, gravity=(0, 0))
    world.add_body(ds.Disk(0.1), name="fast", position=(-0.21, 0), velocity=(3, 0), mass=100)
    world.add_body(ds.Disk(0.1), name="light", position=(0.0, 0), mass=0.1)
    world.add_body(ds.Rectangle(0.2, 0.4), name="wall", position=(0.22, 0), fixed=True)
    world.add_joint(ds.Slider("light", "world", axis=(1, 0)))
    sim = ds.Simulation(world, ds.TimeStepping(dt=STEP))
    sim.step()
    assert sim.penetration < 1e-6
    assert sim.body("light").position[0] <= 0.02 + 1e-6


def test_the_ordinary_step_looks_once(monkeypatch):
    """A crank that turns as its motor says was as fast in the step before."""
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(0.4, 0.05), name="crank", position=(0.2, 0), density=1000)
    world.add_body(ds.Disk(0.1), name="beside", position=(2.0, 0), fixed=True)
    world.add_joint(ds.Pin("crank", "world", anchor=(0, 0), motor=ds.Motor(speed=20.0)))
    sim = ds.Simulation(world, ds.TimeStepping(dt=STEP))
    sim.step()
    monkeypatch.setattr(type(sim.stepper.search), "misses", None)
    sim.run(0.5)
    assert sim.summary.ok
