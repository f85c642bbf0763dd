"""Chains of 1989 (figure 14 c to f)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from drystone.scenes.checks.claims import Claim, places, watched


def destructive_chain(scene: Any, method: Any) -> Iterator[Claim]:
    """The stack loses its upper rows."""
    rows, high = scene.settings["rows"], 0.1
    run = watched(scene, method)
    top = places(run.sim, "brick")[:, -1].max()
    yield Claim("the highest brick's centre [m]", top, 0, (rows - 1) * high)
    yield from run.claims()


def chain_pivot(scene: Any, method: Any) -> Iterator[Claim]:
    """The free end passes below the post and comes up behind it."""
    last = f"link{scene.settings['links'] - 1}"
    up = -np.inf

    def look(sim: Any) -> None:
        nonlocal up
        away = sim.body(last).position - sim.body("post").position
        if away[0] < 0:
            up = max(up, float(away[-1]))

    run = watched(scene, method, look)
    yield Claim("behind the post the chain's end rises above its axis by [m]", up, low=0.0)
    yield from run.claims()


def blocks_chain(scene: Any, method: Any) -> Iterator[Claim]:
    """Every block lies in the chain: above its lowest link, and between its ends."""
    run = watched(scene, method)
    links, blocks = places(run.sim, "link"), places(run.sim, "block")
    above = blocks[:, -1].min() - links[:, -1].min()
    yield Claim("the lowest block over the lowest link [m]", above, low=0.0)
    aside = np.abs(blocks[:, 0]).max() - np.abs(links[:, 0]).max()
    yield Claim("a block beyond the chain's ends [m]", aside, high=0.0)
    yield from run.claims()


def many_blocks_chain(scene: Any, method: Any) -> Iterator[Claim]:
    """The same with more of them."""
    yield from blocks_chain(scene, method)
