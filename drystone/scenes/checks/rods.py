"""Sliding rods of the thesis: which forces and impulses there are (10, 11.3, 12)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.problems.classic import COS, MU, SIN
from drystone.scenes.checks.claims import Claim, watched

SLOWS = MU * (1 + 16 * SIN**2) - 16 * SIN * COS  # slip that a unit normal impulse takes, m = 1


def ways(scene: Any, method: Any) -> tuple[list[Any], list[Any]]:
    """(forces, impulses) that are solutions at the start."""
    if method.name != "event-driven":
        raise OptionError(f"scene {scene.name!r}: its check is of forces: method event-driven only")
    found = scene.simulation(method).solutions()
    return (
        [way for way in found if way.kind == "forces"],
        [way for way in found if way.kind == "impulse"],
    )


def near(words: str, found: float, wanted: float, slack: float = 1e-9) -> Claim:
    slack *= max(1.0, abs(wanted))
    return Claim(words, found, wanted - slack, wanted + slack)


def rod_indeterminate(scene: Any, method: Any) -> Iterator[Claim]:
    """f_N is 0 or mass times excess, or an impulse stops the tip; the log says which was taken."""
    s = scene.settings
    forces, impulses = ways(scene, method)
    yield Claim("solutions by forces", len(forces), 2, 2)
    for way, wanted in zip(forces, (0.0, s["mass"] * s["excess"]), strict=False):
        yield near("normal force [N]", way.f[0, 0], wanted)
    yield Claim("solutions by an impulse", len(impulses), 1, 1)
    for way in impulses:
        yield near("its normal impulse [N s]", way.f[0, 0], s["mass"] * s["speed"] / SLOWS)
    sim = scene.simulation(method)
    logged = sum("several solutions" in line for line in sim.step().log)
    yield Claim("lines of the log about the choice", logged, low=1)


def rod_inconsistent(scene: Any, method: Any) -> Iterator[Claim]:
    """No force, one impulse: it stops the tip, keeps the momentum about it, and the run goes on."""
    s = scene.settings
    forces, impulses = ways(scene, method)
    if s["gravity"] == 0:
        yield Claim("solutions by forces", len(forces), low=1)
        return
    yield Claim("solutions by forces", len(forces), 0, 0)
    yield Claim("solutions by an impulse", len(impulses), 1, 1)
    run = watched(scene, method)
    jams = [event for event in run.events if event.kind == "jam"]
    yield Claim("impulses without collision", len(jams), 1, 1)
    if jams:
        spin = s["speed"] * SIN / (1 + 1 / 16)
        lost = 0.5 * s["mass"] * (s["speed"] ** 2 - (1 + 1 / 16) * spin**2)
        yield near("energy that it takes [J]", -jams[0].energy, lost, 1e-8)
    rod = run.sim.body("rod")
    turn = rod.angular_velocity * np.array([np.sin(rod.orientation), -np.cos(rod.orientation)])
    slip = float(np.abs(rod.velocity + turn).max())
    yield Claim("speed of the tip afterwards [m/s]", slip, high=1e-6)
    yield from run.claims()


def subset_sum(scene: Any, method: Any) -> Iterator[Claim]:
    """Forces exist exactly for those of a, b, c that sum to the target, each all or nothing."""
    s = scene.settings
    masses = np.array([s["a"], s["b"], s["c"]])
    sums = [m for m in product((0, 1), repeat=3) if np.isclose(masses @ m, s["target"])]
    forces, _ = ways(scene, method)
    yield Claim("solutions by forces", len(forces), len(sums), len(sums))
    for way in forces:
        bears = way.f[:3, 0] / masses
        yield Claim("a rod bears part of its mass", np.abs(bears - bears.round()).max(), high=1e-8)
        yield near("sum of the masses borne [kg]", float(way.f[:3, 0].sum()), s["target"], 1e-8)
    run = watched(scene, method, duration=method.dt)
    jams = sum(event.kind == "jam" for event in run.events)
    if not sums:
        yield Claim("impulses without collision", jams, low=1)
    yield Claim("steps that were not solved", run.failed, 0, 0)


def indeterminate_impulse(scene: Any, method: Any) -> Iterator[Claim]:
    """No force at all, or an impulse at the rod on the block's end (12.4)."""
    forces, impulses = ways(scene, method)
    yield Claim("solutions by forces", len(forces), 1, 1)
    for way in forces:
        yield near("largest force [N]", float(np.abs(way.f).max()), 0.0)
    alone = sum(way.f[1, 0] > 0 and way.f[0, 0] == 0 for way in impulses)
    yield Claim("impulses at the end rod alone", int(alone), 1, 1)
