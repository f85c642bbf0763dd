"""The mechanisms of 1994: against a ratchet without inertia, and a crank's closed form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from drystone.errors import OptionError
from drystone.scenes.checks.claims import Claim, watched
from drystone.scenes.mechanisms_1994 import ARM, TIP
from drystone.types import Floats


def ratchet(times: list[float], swing: float, period: float, pitch: float) -> Floats:
    """(n,) rise of the jack's bar without inertia [m]: each pawl holds the tooth above its tip, and
    the bar lies on the one that is higher."""
    reach = np.hypot(ARM - TIP[0], TIP[1])
    held, out = [0, 0], []
    for t in times:
        turn = np.radians(swing) * np.sin(2 * np.pi * t / period)
        tips = [
            side * ARM * np.sin(turn) + np.sqrt(reach**2 - (ARM * np.cos(turn) - TIP[0]) ** 2)
            for side in (1, -1)
        ]
        rise = max(tips[i] - TIP[1] + held[i] * pitch for i in (0, 1))
        for i in (0, 1):
            while rise - held[i] * pitch - pitch >= tips[i] - TIP[1]:
                held[i] += 1
        out.append(rise)
    return np.array(out)


def double_action_jack(scene: Any, method: Any) -> Iterator[Claim]:
    """The bar follows the ratchet, but for what a pawl takes to fall under its tooth."""
    s = scene.settings
    if s["hand"]:
        raise OptionError("scene 'double-action-jack': with hand=True nothing drives it to check")
    times, bar = [0.0], [0.0]

    def look(sim: Any) -> None:
        times.append(sim.time)
        bar.append(float(sim.body("bar").position[1]))

    start = float(scene.simulation(method).body("bar").position[1])
    run = watched(scene, method, look)
    rise = np.array([start, *bar[1:]]) - start
    wanted = ratchet(times, s["swing"], s["period"], s["pitch"])
    yield Claim("the bar rises in all by [m]", rise[-1], low=s["pitch"])
    away = float(np.abs(rise - wanted).max())
    yield Claim("away from the ratchet without inertia [m]", away, high=0.3 * s["pitch"])
    yield from run.claims()


def block_feeder(scene: Any, method: Any) -> Iterator[Claim]:
    """The pusher follows the crank, and each turn moves one more block out."""
    s = scene.settings
    crank, rod = 0.65 * s["length"], 2 * s["length"]
    start = float(scene.simulation(method).body("pusher").position[0])
    away, out, wrong = 0.0, 0, 0

    def look(sim: Any) -> None:
        nonlocal away, out, wrong
        phi = np.pi + s["speed"] * sim.time
        slide = crank * np.cos(phi) + np.sqrt(rod**2 - (crank * np.sin(phi)) ** 2)
        moved = float(sim.body("pusher").position[0]) - start
        away = max(away, abs(moved - (slide - rod + crank)))
        turns = int(s["speed"] * sim.time / (2 * np.pi))
        if turns > out and turns <= s["n"]:
            out = turns
            x = [sim.body(f"block{k}").position[0] for k in range(s["n"])]
            wrong += sum(v > 0.9 * s["length"] for v in x) != turns

    run = watched(scene, method, look)
    yield Claim("pusher away from the crank's closed form [m]", away, high=1e-7)
    yield Claim("turns", out, s["n"], s["n"])
    yield Claim("turns that did not push out one more block", wrong, 0, 0)
    yield from run.claims()
