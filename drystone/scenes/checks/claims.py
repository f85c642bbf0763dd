"""A claim, what a run has to say to it, and the run itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone.types import Floats

DEPTH_ALLOWED = 5e-3  # [m] by methods that leave gaps and depths to their step
EXPLAINED = 1e-4  # of the largest kinetic energy: what integrators may leave


@dataclass(frozen=True)
class Claim:
    """words: what is claimed, with its unit; found: what the run gave; low, high: what it must
    lie within."""

    words: str
    found: float
    low: float = -np.inf
    high: float = np.inf

    @property
    def ok(self) -> bool:
        return bool(self.low <= self.found <= self.high)

    def __str__(self) -> str:
        if self.low == self.high:
            wanted = f"= {self.low:.6g}"
        elif np.isinf(self.low):
            wanted = f"<= {self.high:.6g}"
        elif np.isinf(self.high):
            wanted = f">= {self.low:.6g}"
        else:
            middle, half = 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)
            near = half <= 1e-3 * abs(middle) or middle == 0
            wanted = f"{middle:.6g} ± {half:.1g}" if near else f"{self.low:.6g} to {self.high:.6g}"
        return f"{'ok   ' if self.ok else 'WRONG'} {self.words}: {self.found:.6g} ({wanted})"


@dataclass(frozen=True)
class Checked:
    """All claims of a scene, by a method."""

    scene: str
    method: str
    claims: tuple[Claim, ...]

    @property
    def ok(self) -> bool:
        return all(claim.ok for claim in self.claims)

    def __str__(self) -> str:
        right = sum(claim.ok for claim in self.claims)
        head = f"{self.scene} by {self.method}: {right} of {len(self.claims)} claims hold"
        return "\n".join([head, *(f"  {claim}" for claim in self.claims)])


@dataclass
class CheckedRun:
    """A run and what is looked at in every scene. depth [m]; gained: most that the energy stood
    above what driven bodies and loads had brought [J]; kinetic: the largest [J]."""

    sim: Any
    kinetic: float = 0.0
    depth: float = 0.0
    unexplained: float = 0.0
    gained: float = 0.0
    joints: float = 0.0
    failed: int = 0
    steps: int = 0
    events: list[Any] = field(default_factory=list)

    def claims(self) -> Iterator[Claim]:
        """That every step was solved, nothing penetrated, and the energy is accounted for."""
        method = self.sim.method
        deep = getattr(method, "touch", DEPTH_ALLOWED)
        yield Claim("steps that were not solved", self.failed, 0, 0)
        yield Claim("greatest depth [m]", self.depth, high=deep)
        part = EXPLAINED * max(self.kinetic, 1e-12)
        yield Claim("energy that nothing explains [J]", abs(self.unexplained), high=part)
        yield Claim("energy out of nothing [J]", self.gained, high=10 * part)
        if len(self.sim.world.joints):
            yield Claim("greatest opening of a joint [m or rad]", self.joints, high=1e-7)


def watched(
    scene: Any,
    method: Any,
    look: Callable[[Any], None] | None = None,
    duration: float | None = None,
) -> CheckedRun:
    """The scene's run, to its end or for `duration` [s]; look(sim) is called after each step."""
    sim = scene.simulation(method)
    out = CheckedRun(sim)
    start, brought = sum(sim.energy), 0.0

    def see(sim: Any) -> None:
        nonlocal brought
        report = sim.report
        ledger = report.energy
        brought += ledger.driving + ledger.loads
        if len(sim.model.motions) and not out.steps:
            brought += ledger.constraint  # driven bodies set others in motion as the run begins
        out.steps += 1
        out.kinetic = max(out.kinetic, ledger.kinetic)
        out.depth = max(out.depth, report.penetration)
        out.unexplained += ledger.unexplained
        out.gained = max(out.gained, ledger.total - start - brought)
        out.joints = max(out.joints, report.joint_error)
        out.failed += not report.ok
        out.events += report.events
        if look is not None:
            look(sim)

    sim.run(scene.duration if duration is None else duration, callback=see)
    out.depth = max(out.depth, sim.penetration)
    return out


def places(sim: Any, prefix: str) -> Floats:
    """(n, d) positions of the bodies whose names begin so [m]."""
    names = [name for name in sim.bodies if name.startswith(prefix)]
    return np.array([sim.body(name).position for name in names])
