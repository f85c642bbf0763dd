"""Neighbours of the gallery: each scene at random settings from stated ranges, and what must hold.

A setting that is not named in RANGES is drawn by its type: numbers from half to twice the default,
counts from half to twice it, switches and choices from all. The same seed gives the same settings.
"""

import math
import random
from dataclasses import dataclass, field, replace
from typing import Literal, get_args, get_origin

import numpy as np

import drystone as ds
from drystone.scenes.registry import SCENES
from tests.scenes.rebuilt import CannotBeRebuilt, Frame, rebuilt

COUNT = 20  # settings of each scene
TRIES = 60  # draws for one that the scene takes
STEPS, FRAMES = 40, 5  # of time stepping, and of methods that integrate
FEW = 12  # steps of runs that are compared: heaps are chaotic

# (low, high) of numbers and counts, both included; tuples of more are choices. "dt": of the step.
RANGES = {
    "pyramid": {"rows": (1, 24), "mu": (0.2, 1.5), "gap": (0.0, 0.3), "size": (0.01, 10.0)},
    "mass-ratio": {"n": (1, 7), "factor": (0.01, 30.0), "mu": (0.0, 1.5), "size": (0.01, 10.0)},
    "wall": {"courses": (1, 12), "columns": (1, 10), "mu": (0.1, 1.5), "joint": (0.0, 0.01)},
    "card-house": {"storeys": (1, 4), "tilt": (8.0, 22.0), "mu": (0.4, 1.2)},
    "arch": {"n": (3, 40), "ratio": (0.12, 0.4), "mu": (0.5, 1.5), "radius": (0.1, 10.0)},
    "bricks": {"n": (1, 8), "shift": (0.0, 0.08), "mu": (0.0, 1.0)},
    "dominoes": {"n": (2, 12), "push": (0.0, 2.0), "mu": (0.1, 1.0)},
    "spheres": {"n": (1, 60), "mu": (0.0, 1.0), "spacing": (2.15, 3.0), "across": (0, 3),
                "seed": (0, 1000)},
    "hopper": {"n": (1, 40), "mu": (0.0, 1.0), "seed": (0, 1000), "slope": (20.0, 70.0),
               "outlet": (3.0, 9.0)},
    "brazil-nut": {"n": (5, 40), "ratio": (1.5, 5.0), "duration": (1.0, 2.0)},
    "disks-21": {"rows": (1, 7), "gap": (0.0, 0.05), "shift": (0.0, 0.01), "slope": (20.0, 70.0)},
    "ellipse-drop": {"angle": (-1.5, 1.5), "mu": (0.0, 1.0), "gravity": (1.0, 20.0)},
    "incline": {"ratio": (0.5, 1.5), "size": (0.01, 10.0)},
    "sliding-block": {"direction": (0.0, 6.2), "size": (0.01, 10.0)},
    "wedge-cone": {"push": (0.0, 1.0), "degrees": (40.0, 140.0), "mu": (0.0, 1.5)},
    "billiard-three": {"gap": (0.0, 0.001), "targets": (1, 5), "restitution": (0.0, 1.0)},
    "newton-cradle": {"n": (2, 7), "incoming": (1, 2), "restitution": (0.0, 1.0)},
    "chain": {"links": (1, 40), "bob": (0.0, 1000.0), "angle": (-170.0, 170.0)},
    "chain-whip": {"links": (1, 30), "bob": (0.0, 1000.0), "angle": (60.0, 120.0)},
    "chain-drop": {"links": (1, 20), "angle": (10.0, 80.0), "mu": (0.0, 1.0)},
    "double-pendulum": {"first": (-180.0, 180.0), "second": (-180.0, 180.0)},
    "four-bar": {"angle": (0.0, 360.0), "speed": (-10.0, 10.0), "crank": (0.1, 0.25),
                 "coupler": (0.4, 0.6), "rocker": (0.35, 0.5), "base": (0.4, 0.6)},
    "slider-crank": {"angle": (0.0, 360.0), "speed": (-20.0, 20.0)},
    "gripper": {"grip": (1.1, 3.0), "mu": (0.3, 1.0), "height": (0.0, 0.3)},
    "vehicle": {"bumps": (0, 4), "torque": (0.0, 10.0), "damping": (0.1, 1.0)},
    "geneva": {"slots": (3, 8), "clearance": (0.001, 0.004), "mu": (0.0, 0.3)},
    "ragdoll": {"steps": (1, 8), "lean": (-30.0, 30.0), "mu": (0.0, 1.0)},
    "destructive-chain": {"links": (2, 10), "rows": (1, 6), "mu": (0.0, 0.5)},
    "chain-pivot": {"links": (4, 16), "mu": (0.0, 0.5)},
    "blocks-chain": {"links": (4, 12), "mu": (0.0, 0.5)},
    "many-blocks-chain": {"n": (1, 8), "links": (4, 16), "mu": (0.0, 0.5)},
    "struck-block": {"restitution": (0.0, 1.0)},
    "jack-stairs": {"steps": (1, 6), "mu": (0.0, 1.0), "restitution": (0.0, 0.6)},
    "dice-lattice": {"n": (1, 8), "bars": (1, 5), "mu": (0.0, 1.0), "restitution": (0.0, 0.6)},
    "collapse": {"storeys": (1, 3), "lean": (0.0, 0.6), "mu": (0.1, 1.0)},
    "rod-indeterminate": {"depth": (0.0, 0.0)},
    "tippe-top": {"tilt": (0.0, 20.0), "offset": (0.05, 0.6)},
    "rattleback": {"product": (-4e-5, 4e-5), "spin": (-10.0, 10.0)},
    "gyroscope": {"tilt": (5.0, 35.0), "mu": (0.0, 1.0), "wobble": (0.0, 0.01)},
    "ellipsoid-rock": {"tilt": (-60.0, 60.0)},
    "eccentric-ellipsoid-rock": {"tilt": (-60.0, 60.0)},
    "superquadric-rock": {"tilt": (-60.0, 60.0)},
    "double-action-jack": {"swing": (5.0, 25.0), "teeth": (1, 16), "mu": (0.0, 0.4)},
    "block-feeder": {"n": (1, 8), "mu": (0.0, 0.6)},
}  # fmt: skip
DT = (1 / 60, 1 / 120, 1 / 240, 1 / 480)

# Settings at which every body must stay where it is.
RESTING = {
    "pyramid": lambda s: s["gap"] <= 0.4 * s["size"],
    "mass-ratio": lambda s: True,
    "wall": lambda s: True,
    "card-house": lambda s: s["mu"] >= 0.6,
    "arch": lambda s: s["ratio"] >= 0.13 and s["mu"] >= 0.6,
    "bricks": lambda s: balanced(s),
    "incline": lambda s: s["ratio"] < 0.999,
}


def balanced(s):
    """Whether no top part of a stack of bricks, each shifted by as much, overhangs what is below:
    the middle of k bricks lies (k + 1) / 2 shifts from the brick below them."""
    return all(0.5 * (k + 1) * s["shift"] < 0.499 * s["length"] for k in range(1, s["n"]))


def draw(rng, entry):
    """Settings of a scene, not yet tried."""
    out, ranges = {}, RANGES.get(entry.name, {})
    for setting in entry.settings.values():
        name, kind, default = setting.name, setting.kind, setting.default
        if get_origin(kind) is Literal:
            out[name] = rng.choice(get_args(kind))
        elif kind is bool:
            out[name] = rng.random() < 0.5
        elif kind is int:
            low, high = ranges.get(name, (max(1, default // 2), 2 * default))
            out[name] = rng.randint(low, high)
        else:
            low, high = ranges.get(name, (0.5 * default, 2.0 * default))
            wide = low > 0 and high / low >= 4
            out[name] = (
                math.exp(rng.uniform(math.log(low), math.log(high)))
                if wide
                else rng.uniform(min(low, high), max(low, high))
            )
    return out


@dataclass(frozen=True)
class Neighbour:
    """A scene at a setting. method: "own", or one by name with its step [s]."""

    name: str
    number: int
    settings: dict
    method: str
    dt: float

    def __str__(self):
        return f"{self.name}-{self.number}"

    def scene(self):
        return ds.scene(self.name, **self.settings)

    def chosen(self, own):
        """The method object."""
        if self.method == "time-stepping":
            base = own if own.name == "time-stepping" else ds.TimeStepping()
            return replace(base, dt=self.dt)
        if self.method == "event-driven" and own.name != "event-driven":
            return ds.EventDriven()
        return own


def neighbours(name, count=COUNT):
    """The first `count` neighbours of a scene; the same ones every time."""
    entry, rng = SCENES[name], random.Random(f"neighbours of {name}")
    out = []
    for number in range(count):
        for _ in range(TRIES):
            settings = draw(rng, entry)
            method, dt = rng.choice(("own", "own", "time-stepping")), rng.choice(DT)
            try:
                entry.build(settings)
            except ds.DrystoneError:
                continue  # lengths that do not meet, spins that are too slow
            out.append(Neighbour(name, number, settings, method, dt))
            break
        else:
            raise AssertionError(f"{name}: {TRIES} draws, none of them a scene")
    return out


@dataclass
class Found:
    """What a run did: worst over its steps."""

    unsolved: int = 0
    ledger: float = 0.0  # unexplained, of the energy that is about [1]
    depth: float = 0.0  # of the smallest body's size [1]
    travel: float = 0.0  # greatest, in a step, of the smallest body's size [1]
    joints: float = 0.0  # opening, of the smallest body's size [1] or [rad]
    moved: float = 0.0  # of the smallest body's size [1]
    error: str = ""
    start: np.ndarray | None = None
    end: np.ndarray | None = None
    names: tuple = ()
    size: float = 1.0
    log: list = field(default_factory=list)


def size_of(world):
    """Radius of the smallest body that moves [m]."""
    reach = [
        b.template.reach
        for b in world.parts().bodies
        if b.matter is not None and b.template is not None and b.template.reach < math.inf
    ]
    return min(reach, default=1.0)


def run(world, method, steps, time=1.0):
    """Some steps; time: of one of our seconds in that world."""
    out = Found(size=size_of(world))
    try:
        sim = ds.Simulation(world, method)
        out.start, out.names = sim.state.position.copy(), sim.model.names
        kinetic = sim.energy[0]
        lively = (
            float(np.abs(sim.model.mass).sum())
            * out.size
            * max(float(np.linalg.norm(world.gravity)), 1e-3 * out.size / time**2)
        )
        for _ in range(steps):
            report = sim.step()
            lively = max(lively, report.energy.kinetic, kinetic)
            out.unsolved += not report.ok
            out.ledger = max(out.ledger, abs(report.energy.unexplained) / lively)
            out.depth = max(out.depth, report.penetration / out.size)
            v, dim = np.abs(sim.state.velocity), world.dim
            fast = v[:, :dim].max(initial=0.0) + out.size * v[:, dim:].max(initial=0.0)
            out.travel = max(out.travel, float(fast) * method.dt / out.size)
            out.joints = max(out.joints, report.joint_error / min(out.size, 1.0))
        out.depth = max(out.depth, sim.penetration / out.size)
        out.end = sim.state.position.copy()
        out.moved = float(np.abs(out.end - out.start).max(initial=0.0)) / out.size
    except ds.DrystoneError as error:
        out.error = f"{type(error).__name__}: {error}"
    return out


LEDGER = 1e-9
DEPTH = 0.05
JOINTS = 1e-6
REST = 1e-6
SAME = 1e-4
SYMMETRIC = 1e-6


def mirror(positions):
    """Partner of each body in a mirror across x, or None if there is a body without one."""
    middle = 0.5 * (positions[:, 0].min() + positions[:, 0].max())
    seen = positions.copy()
    seen[:, 0] = 2 * middle - seen[:, 0]
    scale = max(float(np.abs(positions).max()), 1e-12)
    partner = []
    for place in seen:
        away = np.abs(positions - place).max(axis=1)
        k = int(np.argmin(away))
        if away[k] > 1e-9 * scale:
            return None, middle
        partner.append(k)
    return partner, middle


def compared(found, other, frame):
    """Greatest distance between bodies of the same name, in sizes."""
    if other.error:
        return math.inf
    place = {name: k for k, name in enumerate(other.names)}
    there = np.array([other.end[place[name]] for name in found.names])
    here = np.array([frame.point(x) for x in found.end])
    return float(np.abs(there - here).max(initial=0.0)) / (found.size * frame.length)


def shortfalls(neighbour):
    """{invariant: what was found} of all that does not hold."""
    scene = neighbour.scene()
    method = neighbour.chosen(scene.method)
    found = run(scene.world, method, STEPS if method.name == "time-stepping" else FRAMES)
    if found.error:
        return {"runs": found.error}
    out = {}
    checks = {
        "solved": (found.unsolved, 0),
        "ledger": (found.ledger, LEDGER),
        "depth": (found.depth, max(DEPTH, 0.5 * found.travel)),
        "joints": (found.joints, JOINTS),
    }
    rests = RESTING.get(neighbour.name)
    if rests is not None and rests(neighbour.settings):
        checks["rest"] = (found.moved, REST)
    exact, steps = method, FRAMES
    if method.name == "time-stepping":  # solved alike, whatever the order of sweeps
        exact, steps = replace(method, sweep_tol=method.tol), FEW
    found = run(scene.world, exact, steps)
    partner, middle = mirror(found.start)
    if partner is not None and symmetric_start(scene.world):
        seen = found.end.copy()
        seen[:, 0] = 2 * middle - seen[:, 0]
        away = float(np.abs(found.end[partner] - seen).max(initial=0.0)) / found.size
        checks["symmetry"] = (away, SYMMETRIC)
    for name, frame, reverse in others(scene.world, found):
        if frame.length != 1.0 and method.name != "time-stepping":
            continue  # tolerances in metres and seconds
        try:
            world = rebuilt(scene.world, frame, reverse)
        except CannotBeRebuilt:
            continue
        there = in_units(exact, frame)
        checks[name] = (compared(found, run(world, there, steps, frame.time), frame), SAME)
    for name, (value, most) in checks.items():
        if not value <= most:
            out[name] = f"{value:.3g}"
    return out


def in_units(method, frame):
    """The same method where its options have units."""
    gap = getattr(method, "active_gap", None)
    scaled = {"active_gap": gap * frame.length} if isinstance(gap, float) else {}
    return replace(method, dt=method.dt * frame.time, **scaled)


def symmetric_start(world):
    """Whether all bodies are free, stand upright and at rest, and gravity has no part along x."""
    upright, parts = (0.0, (1.0, 0.0, 0.0, 0.0)), world.parts()
    free = not parts.joints and not parts.forces
    return (
        world.gravity[0] == 0.0
        and free
        and all(
            b.orientation in upright and not any(b.velocity) and b.motion is None
            for b in parts.bodies
        )
    )


def others(world, found):
    """The same world in other units, another frame, another order of bodies."""
    dim = world.dim
    turn = 0.3 if dim == 2 else tuple(np.array([0.9, 0.1, -0.3, 0.2]) / np.sqrt(0.95))
    shift = np.array([0.7, -0.4, 0.3][:dim]) * 10 * found.size
    yield "frame", Frame(dim, turn, shift), False
    yield "order", Frame(dim), True
    yield "units", Frame(dim, length=1024.0, mass=1024.0), False
