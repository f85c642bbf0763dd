"""Figures by which scenes are judged: computed for every engine from the poses of its bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from drystone.dynamics.energy import energy
from drystone.dynamics.frames import rotations
from drystone.model import Model, State
from drystone.types import Floats

G = 9.81


@dataclass
class Seen:
    """A run as the judges see it, ours or a peer's.

    settings: of the scene; track: what the case's `watch` noted, with its time; depth: greatest
    at the end, by our own collision detection [m]; deepest: at any time, where it is known.
    """

    model: Model
    start: State
    end: State
    settings: Mapping[str, Any]
    duration: float
    track: list[tuple[float, Any]] = field(default_factory=list)
    depth: float = 0.0
    deepest: float = math.nan


def _place(model: Model, name: str) -> int:
    return model.names.index(name)


def creep(seen: Seen) -> float:
    """How far the block of the slope has moved [mm]."""
    i = _place(seen.model, "block")
    return 1e3 * float(np.linalg.norm(seen.end.position[i] - seen.start.position[i]))


def slide(seen: Seen) -> float:
    """Error of the distance slid [%]."""
    mu, ratio = seen.settings["mu"], seen.settings["ratio"]
    angle = math.atan(ratio * mu)
    exact = 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * seen.duration**2
    return 100.0 * (1e-3 * creep(seen) / exact - 1.0)


def stop(seen: Seen) -> float:
    """Error of the stopping distance [%]."""
    exact = seen.settings["speed"] ** 2 / (2.0 * seen.settings["mu"] * G)
    return 100.0 * (1e-3 * creep(seen) / exact - 1.0)


def direction(seen: Seen) -> float:
    """By how much the block left the straight line [degrees]."""
    i = _place(seen.model, "block")
    way = seen.end.position[i, :2] - seen.start.position[i, :2]
    angle = math.degrees(math.atan2(way[1], way[0])) - seen.settings["direction"]
    return abs((angle + 180.0) % 360.0 - 180.0)


def rolling(seen: Seen) -> float:
    """Final over initial speed, less 5/7."""
    i = _place(seen.model, "ball")
    return float(seen.end.velocity[i, 0]) / float(seen.settings["speed"]) - 5.0 / 7.0


def moved(seen: Seen) -> float:
    """Greatest displacement of any body [mm]."""
    return 1e3 * float(np.linalg.norm(seen.end.position - seen.start.position, axis=1).max())


def depth(seen: Seen) -> float:
    """Greatest penetration at the end [mm]; infinite if the pile fell."""
    size = float(seen.settings.get("size", math.inf))
    return math.inf if moved(seen) > 500.0 * size else 1e3 * seen.depth


def kinetic(seen: Seen) -> float:
    """Change of kinetic energy [%]."""
    before, after = (_kinetic(seen.model, state) for state in (seen.start, seen.end))
    return 100.0 * (after / before - 1.0)


def _kinetic(model: Model, state: State) -> float:
    v, w = state.velocity[:, : model.dim], state.velocity[:, model.dim :]
    linear = 0.5 * float((model.mass * (v * v).sum(axis=1)).sum())
    if model.dim == 2:
        return linear + 0.5 * float((model.inertia * w[:, 0] ** 2).sum())
    local = np.einsum("bji,bj->bi", rotations(state.orientation), w)
    return linear + 0.5 * float(np.einsum("bi,bij,bj->", local, model.inertia, local))


def risen(seen: Seen) -> float:
    """How far the large grain rose above the floor of the box, in small radii."""
    box, nut = _place(seen.model, "box"), _place(seen.model, "nut")
    up = [float(s.position[nut, 1] - s.position[box, 1]) for s in (seen.start, seen.end)]
    return (up[1] - up[0]) / float(seen.settings["radius"])


def uprightness(model: Model, state: State) -> Floats:
    """Cosine of every body's tilt (nb,)."""
    out: Floats = rotations(state.orientation)[:, 2, 2]
    return out


def front(seen: Seen) -> float:
    """Speed of the wave of dominoes, between a fifth and four fifths of the row [m/s]."""
    n, spacing = int(seen.settings["n"]), float(seen.settings["spacing"])
    first, last = int(0.2 * n), int(0.8 * n) - 1
    when: list[float] = []
    for k in (first, last):
        i = _place(seen.model, f"domino{k}")
        hit = _falls(seen.track, i, math.cos(math.radians(10.0)))
        if hit is None:
            return math.nan
        when.append(hit)
    return (last - first) * spacing / (when[1] - when[0])


def _falls(track: list[tuple[float, Any]], i: int, below: float) -> float | None:
    """When entry i of what was tracked falls below a value, between two looks too [s]."""
    for (t0, up0), (t1, up1) in pairwise(track):
        if up1[i] < below <= up0[i]:
            return float(t0 + (t1 - t0) * (up0[i] - below) / (up0[i] - up1[i]))
    return None


def deepest(seen: Seen) -> float:
    """Greatest penetration at any time [mm]."""
    return 1e3 * seen.deepest


def nut_depth(seen: Seen) -> float:
    """Greatest penetration at any time, in radii of the small grains."""
    return seen.deepest / float(seen.settings["radius"])


def flips(seen: Seen) -> float:
    """How often the spinner turned over: changes of sign of the spin about its middle axis."""
    signs = np.sign([about for _, about in seen.track])
    return float((signs[1:] != signs[:-1]).sum())


def middle_spin(model: Model, state: State) -> float:
    """Spin of the first body about its own middle axis [rad/s]."""
    return float(rotations(state.orientation)[0][:, 1] @ state.velocity[0, 3:])


def joint_gap(seen: Seen) -> float:
    """Greatest distance between the two points that a joint should keep together [mm]."""
    return 1e3 * max(opening(seen.model, place) for place in (seen.end, *_kept(seen)))


def _kept(seen: Seen) -> list[State]:
    return [kept for _, kept in seen.track if isinstance(kept, State)]


def opening(model: Model, state: State) -> float:
    """The same of one state [m]."""
    joints = model.joints
    if joints is None:
        return 0.0
    R = rotations(state.orientation)
    ends = []
    for side, anchor in enumerate((joints.anchor_a, joints.anchor_b)):
        b = joints.body[:, side]
        world = state.position[b] + np.einsum("bij,bj->bi", R[b], anchor)
        ends.append(np.where((b >= 0)[:, None], world, anchor))
    return float(np.linalg.norm(ends[0] - ends[1], axis=1).max())


def swing_energy(seen: Seen) -> float:
    """Change of all energy, over what the chain can set free: its height above hanging [%]."""
    first, last = (sum(energy(seen.model, state)) for state in (seen.start, seen.end))
    mass, at = seen.model.mass, seen.start.position
    reach = np.linalg.norm(at, axis=1)  # it hangs from the origin, straight
    free = G * float((mass * (at[:, seen.model.dim - 1] + reach)).sum())
    return 100.0 * (last - first) / free


def bob_error(seen: Seen) -> float:
    """Greatest distance of the bob from where the equations of motion have it [mm]."""
    from benchmarks.scenes.chain import bob_path

    times = np.array([t for t, _ in seen.track])
    exact = bob_path(seen.model, seen.start, times)
    found = np.array([kept.position[-1] for kept in _kept(seen)])
    if not np.isfinite(found).all():
        return math.inf
    return 1e3 * float(np.linalg.norm(found - exact, axis=1).max())


def every_state(model: Model, state: State) -> State:
    """The state itself, twenty times a second or as often as there is one."""
    return state.copy()
