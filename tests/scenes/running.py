"""Runs of scenes for the tests: what moved, how deep, how well solved."""

from dataclasses import dataclass

import numpy as np

from drystone.scenes import scene


@dataclass
class Run:
    """sim at the end; moved: greatest distance of any centre of mass from its start [m];
    depth: greatest penetration [m]; failed: steps that were not solved."""

    sim: object
    start: object
    moved: float
    depth: float
    failed: int

    @property
    def shift(self):
        return self.sim.state.position - self.start.position


def run(name, duration=None, options=None, **settings):
    built = scene(name, **settings)
    sim = built.simulation(**(options or {}))
    start = sim.state.copy()
    out = Run(sim, start, 0.0, 0.0, 0)

    def watch(sim):
        out.failed += not sim.report.ok
        out.depth = max(out.depth, sim.report.penetration)
        away = np.linalg.norm(sim.state.position - start.position, axis=1)
        out.moved = max(out.moved, float(away.max()))

    sim.run(built.duration if duration is None else duration, callback=watch)
    out.depth = max(out.depth, sim.penetration)
    return out
