"""What ``drystone bench scenes`` runs: scenes with settings, and the figure each is judged by.

Sizes, durations and figures follow those in use for comparing engines: creep on a slope, stopping
distance, depth under mass ratios, displacement of pyramids, motion of heavy chains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.scenes import figures as figures
from benchmarks.scenes.figures import G, Seen
from drystone.model import Model, State


@dataclass(frozen=True)
class Extra:
    """Another figure of a case, for the table; judged by nobody."""

    label: str
    unit: str
    figure: Callable[[Seen], float]


SPACE, PLANE = "3D", "2D"


@dataclass(frozen=True)
class Case:
    """One line of the benchmark.

    settle [s]: simulated before the clock starts; figure: value of `label` in `unit`, and `exact`
    what it would be without error; options: of the method; worlds: the plane and space it is for,
    the first being the usual one; watch: noted every `every` seconds, outside of the clock; deep:
    the depth of every step counts, not only that of the last; peers: whether others run it;
    touches: whether anything can touch, which some engines do not do; finest [s]: of the steps of
    ours that are tried.
    """

    name: str
    scene: str
    label: str
    unit: str
    figure: Callable[[Seen], float]
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    exact: float = 0.0
    more: tuple[Extra, ...] = ()
    duration: float | None = None
    settle: float = 0.0
    watch: Callable[[Model, State], Any] | None = None
    every: float = 0.0
    deep: bool = False
    worlds: tuple[str, ...] = (SPACE,)
    peers: bool = True
    touches: bool = True
    finest: float = 0.0

    def settings_in(self, world: str) -> dict[str, Any]:
        """Settings of the scene in a world: those of the plane say so, where there is a choice."""
        both = len(self.worlds) > 1
        return dict(self.settings) | ({"planar": world == PLANE} if both else {})

    def error(self, figure: float) -> float:
        """Distance of a figure from what it should be, in its unit."""
        return abs(figure - self.exact)


# 4 Hz and 6.4 g, as engines of the plane were measured; what that leaves open is the radius
SHAKEN = {
    "ratio": 3.0,
    "radius": 0.1,
    "width": 2.6,
    "frequency": 4.0,
    "amplitude": 6.4 * G / (2.0 * math.pi * 4.0) ** 2,
}
FINE: dict[str, Any] = {"dt": 1.0 / 240.0, "formulation": "coulomb"}
BOTH = (SPACE, PLANE)
# Link length and spin are said nowhere in the figures that others published: with these, MuJoCo's
# own come out (bob 18 mm, RK4 0.3 um, energy 0.3 %; spinner 10 % and four flips)
HANGS: dict[str, Any] = {
    "settings": {"length": 0.2},
    "more": (
        Extra("gap", "mm", figures.joint_gap),
        Extra("energy", "%", figures.swing_energy),
    ),
    "duration": 5.0,
    "watch": figures.every_state,
    "every": 0.05,
    "worlds": BOTH,
    "touches": False,
    "finest": 0.9 / 960.0,
}

COMPARED: tuple[Case, ...] = (
    Case("slope-hold", "incline", "creep", "mm", figures.creep, duration=10.0, worlds=BOTH),
    Case(
        "slope-slide", "incline", "distance", "%", figures.slide, {"ratio": 1.05}, duration=2.0,
        worlds=BOTH,
    ),
    Case("stop", "sliding-block", "distance", "%", figures.stop),
    Case("stop-45", "sliding-block", "distance", "%", figures.stop, {"direction": 45.0}),
    Case("stop-30", "sliding-block", "direction", "deg", figures.direction, {"direction": 30.0}),
    Case("roll", "rolling-ball", "v/v0 - 5/7", "", figures.rolling),
    Case(
        "mass-ratio", "mass-ratio", "depth", "mm", figures.depth, duration=5.0, worlds=BOTH,
        more=(Extra("moved", "mm", figures.moved),),
    ),
    Case("pyramid-55", "pyramid", "moved", "mm", figures.moved, {"rows": 10}, worlds=BOTH),
    Case("pyramid-210", "pyramid", "moved", "mm", figures.moved, {"rows": 20}, worlds=BOTH),
    Case(
        "spheres", "spheres", "depth", "mm", figures.depth, {"n": 1000}, duration=1.0, settle=2.0
    ),
    # the true speed of the front is not known, engines differ by half a percent: depth is judged
    Case(
        "dominoes", "dominoes", "depth", "mm", figures.deepest, {"n": 100}, deep=True,
        watch=figures.uprightness, more=(Extra("front", "m/s", figures.front),),
    ),
    Case("chain", "chain", "bob", "mm", figures.bob_error, **HANGS),
    Case("chain-whip", "chain-whip", "bob", "mm", figures.bob_error, **HANGS),
    Case(
        "three-balls", "billiard-three", "energy", "%", figures.kinetic,
        {"targets": 3, "speed": 2.0}, worlds=BOTH,
    ),
    Case(
        "spinner", "gyroscope", "energy", "%", figures.kinetic,
        {"kind": "spinner", "tumble": 5.0, "wobble": 0.01}, duration=20.0,
        watch=figures.middle_spin, more=(Extra("flips", "", figures.flips),), touches=False,
    ),
    Case("arch", "arch", "moved", "mm", figures.moved, worlds=BOTH),
    Case(
        "brazil-nut-4hz", "brazil-nut", "depth", "radii", figures.nut_depth, SHAKEN, FINE,
        duration=20.0, deep=True, worlds=(PLANE,), more=(Extra("rise", "radii", figures.risen),),
    ),
)  # fmt: skip
OWN: tuple[Case, ...] = (
    Case("card-house", "card-house", "moved", "mm", figures.moved, peers=False),
    Case("wall", "wall", "moved", "mm", figures.moved, peers=False),
    Case(
        "brazil-nut", "brazil-nut", "risen", "radii", figures.risen, worlds=(PLANE,), peers=False
    ),
    Case(
        "ellipse-drop", "ellipse-drop", "depth", "mm", figures.deepest, worlds=(PLANE,), deep=True,
        peers=False,
    ),
    Case(
        "disks-21", "disks-21", "depth", "mm", figures.deepest, worlds=(PLANE,), deep=True,
        peers=False,
    ),
    Case(
        "hopper", "hopper", "depth", "mm", figures.deepest, worlds=(PLANE,), deep=True, peers=False
    ),
)  # fmt: skip
CASES = COMPARED + OWN


def by_name(names: list[str] | None) -> list[Case]:
    """The named cases, in the order of the table; all if none is named."""
    from drystone.errors import OptionError
    from drystone.scenes.base import unknown

    known = {case.name: case for case in CASES}
    for name in names or ():
        if name not in known:
            raise OptionError(f"--only: {unknown('case', name, known)}")
    return [case for case in CASES if not names or case.name in names]
