"""What goldens are kept of: every scene by every method, small worlds with every option.

A case is one run. Cases of one scene, or of one world in the plane or in space, are one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import drystone as ds
from drystone.scenes.registry import SCENES
from drystone.solvers.registry import SOLVERS
from drystone.steppers.registry import METHODS
from tests.golden.kinds import KINDS
from tests.golden.worlds import WORLDS, lattice

DEFAULT = "default"

# Scenes that are large, or settle late, smaller; the same physics.
SETTINGS: dict[str, dict[str, Any]] = {
    "spheres": {"n": 27},
    "hopper": {"n": 24, "width": 14.0},
    "brazil-nut": {"n": 30},
    "dominoes": {"n": 10},
    "pyramid": {"rows": 5},
    "wall": {"courses": 4, "columns": 3},
    "chain-drop": {"links": 8, "height": 0.02},
    "chain": {"links": 12},
    "chain-whip": {"links": 12},
}
# Steps after which a run is looked at; by default, and where something happens later.
STEPS = {"time-stepping": (4, 24, 96), "event-driven": (2, 6, 12), "penalty": (1, 3)}
SCENE_STEPS: dict[str, tuple[int, ...]] = {
    "jack-stairs": (6, 20, 30),
    "dice-lattice": (6, 20, 30),
    "many-blocks-chain": (24, 240, 300),
    "ragdoll": (24, 96, 144),
    "geneva": (24, 96, 240),
    "subset-sum": (1, 6, 12),
    "ellipse-drop": (4, 24, 48),
    "disks-21": (4, 12, 24),
    "brazil-nut": (1, 6, 12),
}
# methods that crawl through a scene
FEW_STEPS = {
    ("disks-21", "event-driven"): (1, 2),
    ("brazil-nut", "event-driven"): (1, 3),
    ("arch", "event-driven"): (1, 3),
    ("gyroscope", "event-driven"): (1, 2),
    ("slider-crank", "penalty"): (1,),
}
SOFT = {"stiffness": 1e4, "damping": 10.0, "rtol": 1e-4, "atol": 1e-6}  # an explicit one keeps pace
OTHERS: dict[str, dict[str, Any]] = {
    "time-stepping": {},
    "event-driven": {},
    "penalty": {"dt": 2e-3, **SOFT},
}


@dataclass(frozen=True)
class Case:
    """A run: what it is of, by which method, and after which steps it is looked at.

    group: the name of its file; name: in it. make() -> a simulation at its start, with other
    options of the method where some are given. threads: DRYSTONE_THREADS, 0 for as it is.
    """

    group: str
    name: str
    make: Callable[..., ds.Simulation]
    steps: tuple[int, ...]
    threads: int = 0

    def __str__(self) -> str:
        return f"{self.group}/{self.name}"


def of_scene(name: str, settings: dict[str, Any], method: str | None, more: dict[str, Any]) -> Any:
    """The maker of a simulation of a scene."""

    def make(**options: Any) -> ds.Simulation:
        scene = ds.scene(name, **settings)
        own = getattr(scene.method, "name", "")
        if method is None or method == own:
            return scene.simulation(**options)
        chosen: Any = METHODS[method]
        return scene.simulation(chosen(**{**more, **options}))

    return make


def of_world(made: Callable[[bool], ds.World], planar: bool, kind: Any, given: Any) -> Any:
    """The maker of a simulation of a small world; given(): options, made when they are used, for
    some of them are refused."""

    def make(**options: Any) -> ds.Simulation:
        return ds.Simulation(made(planar), kind(**{**given(), **options}))

    return make


def scene_cases(name: str) -> Iterator[Case]:
    """By its own method, and by the two others; in the plane as well as in space."""
    settings = {k: v for k, v in SETTINGS.get(name, {}).items() if k in SCENES[name].settings}
    own = SCENES[name].build(settings).method.name
    steps = SCENE_STEPS.get(name, STEPS[own])
    yield Case(name, DEFAULT, of_scene(name, settings, None, {}), steps)
    flat = SCENES[name].settings.get("planar")
    if flat is not None:
        other = {**settings, "planar": not flat.default}
        where = "in space" if flat.default else "in the plane"
        yield Case(name, where, of_scene(name, other, None, {}), steps)
    for method in METHODS:
        if method != own:
            make = of_scene(name, settings, method, OTHERS[method])
            yield Case(name, method, make, FEW_STEPS.get((name, method), STEPS[method]))


CONES = {
    "cone 4": lambda: {"cone": 4},
    "cone 8": lambda: {"cone": 8},
    "elliptic cone": lambda: {"cone": ds.EllipticCone((1.0, 0.3), 0.4)},
    "soft finger": lambda: {"cone": ds.SoftFingerCone(0.02)},
}
SLEEP = {"sleeping": ds.Sleeping(speed=1e-2, duration=0.04)}


def named(**options: Any) -> Callable[[], dict[str, Any]]:
    return lambda: options


# Options of time stepping that every world meets.
STEPPING = {
    DEFAULT: named(),
    "order 2": named(order=2),
    "mass end": named(mass="end"),
    **CONES,
    "convex": named(formulation="convex"),
    "sleeping": named(**SLEEP),
    "cold": named(warm_start=False),
    "explicit rotation": named(rotation="explicit"),
    "one sixtieth": named(dt=1 / 60),
    "order 2, convex": named(order=2, formulation="convex"),
    "order 2, sleeping": named(order=2, **SLEEP),
    "sleeping, convex": named(formulation="convex", **SLEEP),
}
# of contacts
TOUCHING = {
    "no stabilization": named(stabilize=False),
    "no slop": named(slop=0.0),
    "active gap": named(active_gap=0.01),
    "predicted": named(active_gap="predicted"),
    "newton": named(restitution="newton"),
    "poisson": named(restitution="poisson"),
    "poisson-shortcut": named(restitution="poisson-shortcut"),
    "raise": named(on_failure="raise"),
    "retry": named(on_failure="retry", solver=ds.NSGS(max_sweeps=3), tol=1e-9),
    "loose": named(tol=1e-4),
    "sweeps to 1e-8": named(sweep_tol=1e-8),
    "few sweeps before Newton": named(policy=ds.IslandPolicy(first_sweeps=1, first_visits=1)),
    "convex, cone 4": named(formulation="convex", cone=4),
    "mass end, cone 4": named(mass="end", cone=4),
    "order 2, cone 4": named(order=2, cone=4),
    "order 2, newton": named(order=2, restitution="newton"),
    "sleeping, nsgs": named(solver="nsgs", **SLEEP),
    "order 2, soft finger": lambda: {"order": 2, "cone": ds.SoftFingerCone(0.02)},
    "convex, soft finger": lambda: {"formulation": "convex", "cone": ds.SoftFingerCone(0.02)},
}
# of joints
JOINTED = {
    "stabilize": named(joints="stabilize"),
    "project": named(joints="project"),
    "velocity": named(joints="velocity"),
    "no halvings": named(halvings=0),
    "three halvings": named(halvings=3, dt=1 / 30),
    "order 2, stabilize": named(order=2, joints="stabilize"),
    "order 2, project": named(order=2, joints="project"),
    "order 2, velocity": named(order=2, joints="velocity"),
    "velocity, halvings": named(joints="velocity", halvings=2, dt=1 / 60),
    "convex, velocity": named(formulation="convex", joints="velocity"),
}
SOLVED_BY = {f"solver {name}": named(solver=name) for name in SOLVERS if name != "auto"}
# methods of the plane, in space
FACETED = {
    f"cone 4, solver {name}": named(solver=name, cone=4)
    for name in ("lemke", "dantzig", "enumerative", "pgs", "jacobi", "sor", "nsgs", "newton")
}

FORCES = (
    "lemke", "lp", "qp", "lotstedt", "ramp", "qp-signs", "jacobi", "nsgs", "newton", "enumerative",
)  # fmt: skip
EVENTS = {
    DEFAULT: named(),
    "rk45": named(integrator="rk45"),
    "adams": named(integrator="adams"),
    "loose": named(rtol=1e-5, atol=1e-7, integrator="rk45"),
    "propagation": named(collisions="propagation"),
    "frictionless": named(collisions="frictionless"),
    "routh": named(collisions="routh"),
    "keller": named(collisions="keller"),
    "stronge": lambda: {"collisions": ds.CollisionLaw(law="keller", restitution="stronge")},
    "collisions by lemke": lambda: {"collisions": ds.CollisionLaw(solver="lemke")},
    "steps with impulses": named(guards=ds.EventGuards(max_events=1)),  # closed gaps
    "rests early": named(rest_speed=1e-2, slip_speed=1e-3, turning_speed=1e-3),
    "wide touch": named(touch=1e-6),
    "no reuse": named(contact_forces=("dantzig", {"reuse": False})),
    "explain always": named(contact_forces=("dantzig", {"explain": "always"})),
    "prefer forces": named(contact_forces=("dantzig", {"prefer": "force"})),
    "round cone": named(contact_forces=("lemke", {"round_cone": True, "directions": 6})),
    **{f"forces by {name}": named(contact_forces=name) for name in FORCES},
}
SPRINGS = {
    DEFAULT: named(**SOFT),
    "dop853": named(integrator="dop853", **SOFT),
    "lsoda": named(integrator="lsoda", **SOFT),
    "radau": named(integrator="radau", **SOFT),
    "bdf": named(integrator="bdf", **SOFT),
    "stiff": named(**{**SOFT, "stiffness": 1e5, "damping": 100.0}),
    "no damping": named(**{**SOFT, "damping": 0.0}),
    "slip speed": named(slip_speed=1e-2, **SOFT),
    "joints stiffer": named(joint_stiffness=3e4, joint_damping=30.0, **SOFT),
}

WITH_CONTACTS = ("slope", "pile", "chain", "tower", "bounce")
WITH_JOINTS = ("pendulum", "four-bar", "stops", "chain")
JOINTS_TOO = ("car", "breaking", "joint-kinds")
# where named solvers meet contacts alone, joints alone, and both
BY_SOLVERS = ("slope", "smooth", "four-bar", "chain")
BY_FACETS = ("slide", "slope", "chain")
BY_EVENTS = ("slope", "smooth", "chain", "bounce")
WITHOUT_CONTACTS = ("default", "rk45", "adams", "steps with impulses")
JOINTS_BY_EVENTS = ("pendulum", "four-bar", "stops")
BY_SPRINGS = ("slope", "chain", "bounce")
BRIEF, SHORTER = (4, 24), {"car-3d": (2, 6), "pile-3d": (4, 12)}
SOLVER_STEPS = (2, 16)
SPRING_DT = dict.fromkeys(WITH_JOINTS + JOINTS_TOO, 2e-3)  # springs for joints are stiff


def world_cases(name: str, planar: bool) -> Iterator[Case]:
    """A small world with every option that it meets."""
    made = {**WORLDS, **KINDS}[name]
    group = f"{name}-{'2d' if planar else '3d'}"

    def case(kind: Any, title: str, given: Any, steps: tuple[int, ...]) -> Case:
        return Case(group, title, of_world(made, planar, kind, given), steps)

    brief = SHORTER.get(group, BRIEF)
    options = dict(STEPPING)
    options |= TOUCHING if name in WITH_CONTACTS else {}
    options |= JOINTED if name in WITH_JOINTS else {}
    if name in JOINTS_TOO:
        options |= {title: JOINTED[title] for title in ("stabilize", "project", "velocity")}
    for title, given in options.items():
        steps = STEPS["time-stepping"] if title == DEFAULT else brief
        yield case(ds.TimeStepping, title, given, steps)
    for title, given in (SOLVED_BY if name in BY_SOLVERS else {}).items():
        yield case(ds.TimeStepping, title, given, SOLVER_STEPS)
    for title, given in ({} if planar or name not in BY_FACETS else FACETED).items():
        yield case(ds.TimeStepping, title, given, SOLVER_STEPS)
    events = EVENTS if name in BY_EVENTS else {DEFAULT: named()}
    if name in JOINTS_BY_EVENTS:
        events = {title: EVENTS[title] for title in WITHOUT_CONTACTS}
    for title, given in events.items():
        steps = (1, 2) if title == "forces by ramp" else (2, 6)  # it creeps
        yield case(ds.EventDriven, f"events, {title}", given, steps)
    springs = SPRINGS if name in BY_SPRINGS else {DEFAULT: SPRINGS[DEFAULT]}
    if name in WITH_JOINTS:  # whose springs are stiff enough
        springs = {title: given for title, given in springs.items() if title != "stiff"}
    kind = partial(ds.Penalty, dt=SPRING_DT[name]) if name in SPRING_DT else ds.Penalty
    for title, given in springs.items():
        yield case(kind, f"penalty, {title}", given, (1, 3))


def thread_cases() -> Iterator[Case]:
    """Enough contacts for several threads: one island in parts, and very many islands."""
    for planar in (True, False):
        for threads in (1, 2):
            make = of_world(lattice, planar, ds.TimeStepping, named())
            name = f"{threads} thread{'s' * (threads > 1)}"
            yield Case(f"lattice-{'2d' if planar else '3d'}", name, make, (1, 4), threads)


@cache
def groups() -> dict[str, Callable[[], list[Case]]]:
    """{group: its cases, when asked for}."""
    out: dict[str, Any] = {name: partial(scene_cases, name) for name in SCENES}
    for name in (*WORLDS, *KINDS):
        for planar in (True, False):
            out[f"{name}-{'2d' if planar else '3d'}"] = partial(world_cases, name, planar)
    for group in ("lattice-2d", "lattice-3d"):
        out[group] = lambda group=group: (c for c in thread_cases() if c.group == group)
    return {group: lambda made=made: list(made()) for group, made in out.items()}


def cases(group: str) -> list[Case]:
    return groups()[group]()
