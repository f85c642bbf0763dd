"""Figures 12 and 13 of 1989: collisions that meet contacts, against their closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from drystone.scenes.checks.claims import Claim, watched
from drystone.types import GRAVITY


def heavy_ball(scene: Any, method: Any) -> Iterator[Claim]:
    """Both end at rest, and the impact takes all there was."""
    s = scene.settings
    run = watched(scene, method)
    for name in ("light", "heavy"):
        speed = float(np.abs(run.sim.body(name).velocity).max())
        yield Claim(f"speed of the {name} ball [m/s]", speed, high=1e-5)
    had = 0.5 * s["ratio"] * s["speed"] ** 2
    lost = -sum(event.energy for event in run.events if event.kind == "impact")
    if run.events:
        yield Claim("energy lost in impacts [J]", lost, had * (1 - 1e-6), had * (1 + 1e-6))
    yield from run.claims()


def struck_block(scene: Any, method: Any) -> Iterator[Claim]:
    """A and C part as free bodies: the supports give no impulse."""
    s = scene.settings
    seen: list[float] = []
    last = {"time": 0.0}

    def look(sim: Any) -> None:
        up = float(sim.body("A").velocity[-1])
        if up > 1e-3 and not seen:
            hits = [e.time for e in sim.report.events if e.kind == "impact"]
            seen.append(up + GRAVITY * (sim.time - (hits[0] if hits else last["time"])))
        last["time"] = sim.time

    run = watched(scene, method, look)
    wanted = (1 + s["restitution"]) * s["speed"] / (1 + s["mass"])
    exact = hasattr(method, "touch")
    slack = 1e-7 if exact else GRAVITY * 2 * method.dt + 0.01 * wanted
    found = seen[0] if seen else np.nan
    yield Claim("speed at which the board leaves [m/s]", found, wanted - slack, wanted + slack)
    if exact:
        hits = [e for e in run.events if e.kind == "impact" and e.time < scene.duration / 2]
        held = sum("B-" in name for name in hits[0].names) if hits else 1
        yield Claim("supports in the board's impact", held, 0, 0)
    yield from run.claims()
