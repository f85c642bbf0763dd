"""Stacks, dominoes, and the three simulations of the thesis' appendix D."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from drystone.scenes.checks.claims import Claim, places, watched
from drystone.types import Floats

STANDS = 1e-5  # [m] that what stands may move


def bricks(scene: Any, method: Any) -> Iterator[Claim]:
    """It falls exactly if n shift > length; the ground pushes straight up."""
    s = scene.settings
    run = watched(scene, method)
    at = places(run.sim, "brick")
    sunk = (s["n"] - 0.5) * s["height"] - at[-1, -1]
    if s["n"] * s["shift"] > s["length"]:
        yield Claim("the top brick comes down by [m]", sunk, low=s["height"])
    else:
        yield Claim("the top brick comes down by [m]", sunk, -STANDS, STANDS)
    if s["mu"] == 0:
        aside = abs(at[:, 0].mean() - 0.5 * (s["n"] - 1) * s["shift"])
        yield Claim("the common centre of mass moves sideways by [m]", aside, high=1e-8)
    yield from run.claims()


def tilts(sim: Any) -> Floats:
    """(n,) angles of dominoes from upright [degrees]."""
    names = [name for name in sim.bodies if name.startswith("domino")]
    q = np.array([sim.body(name).orientation for name in names])
    upright = 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)
    return np.degrees(np.arccos(np.clip(upright, -1, 1)))


def dominoes(scene: Any, method: Any) -> Iterator[Claim]:
    """Each strikes the next, in order; what nobody pushes stands."""
    n = scene.settings["n"]
    began = np.full(n, np.inf)

    def look(sim: Any) -> None:
        now = tilts(sim) > 10
        began[now & np.isinf(began)] = sim.time

    run = watched(scene, method, look)
    end = tilts(run.sim)
    if scene.settings["push"] == 0:
        yield Claim("greatest tilt [degrees]", end.max(), high=1e-6)
    else:
        yield Claim("dominoes that fell", int((end > 45).sum()), n, n)
        late = int((np.diff(began) <= 0).sum()) if np.isfinite(began).all() else n
        yield Claim("dominoes that tilted before their neighbours", late, 0, 0)
    yield from run.claims()


def jack_stairs(scene: Any, method: Any) -> Iterator[Claim]:
    """Past the last step, and on the floor."""
    s = scene.settings
    run = watched(scene, method)
    x, _, z = run.sim.body("jack").position
    past = (s["steps"]) * s["tread"]
    yield Claim("it ends past the last step, at x [m]", x, low=past)
    yield Claim("its centre is within its own size of the floor [m]", z, 0, s["size"])
    yield from run.claims()


def dice_lattice(scene: Any, method: Any) -> Iterator[Claim]:
    """All of them below the bars in the end."""
    s = scene.settings
    run = watched(scene, method)
    high = places(run.sim, "die")[:, 2].max()
    yield Claim("the highest die's centre [m]", high, 0, s["height"] - s["size"])
    yield from run.claims()


def collapse(scene: Any, method: Any) -> Iterator[Claim]:
    """Posts stand while the pull is well below width over height (and mu), and fall well above."""
    s = scene.settings
    run = watched(scene, method)
    top = s["storeys"] * (s["height"] + 0.15) - 0.075  # of the uppermost beam
    sunk = top - places(run.sim, "beam")[-1, 2]
    limit = s["width"] / s["height"]
    if s["lean"] < 0.8 * min(limit, s["mu"]):
        yield Claim("the highest beam comes down by [m]", sunk, -STANDS, STANDS)
    elif s["lean"] > 1.3 * limit:
        yield Claim("the highest beam comes down by [m]", sunk, low=0.5 * s["height"])
    yield from run.claims()
