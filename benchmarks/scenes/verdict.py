"""Who is ahead, scene by scene: faster and more accurate, or slower to the same accuracy."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

from benchmarks.scenes.run import OURS, Row

FLOOR = 1e-9  # in the unit of the figure: below it errors are rounding, and equal
COARSER, FINER = 5, 4  # doublings of our step, and halvings, that are tried
EVEN = 1.1  # errors within this factor are equal: the integrator's, the same in every engine


@dataclass(frozen=True)
class Verdict:
    """Ours beside the others on one case in one world.

    ours: at the default step; ahead: peers both faster and more accurate than it; best: the peer
    of the least error, the faster of equals, None if nobody finished; reached: our fastest row
    with an error like the best peer's or smaller, None if no step reached it.
    """

    case: str
    world: str
    ours: Row
    peers: tuple[Row, ...]
    ahead: tuple[Row, ...]
    best: Row | None
    reached: Row | None

    @property
    def default_holds(self) -> bool:
        """Nobody is both faster and more accurate than our default."""
        return self.ours.wall is not None and not self.ahead

    @property
    def free_holds(self) -> bool:
        """With our step chosen freely, we are there before the best peer."""
        if self.best is None:
            return True
        return self.reached is not None and wall(self.reached) < wall(self.best)


def wall(row: Row) -> float:
    return math.inf if row.wall is None else row.wall


def error(row: Row) -> float:
    """At least the floor; infinite for what fell, failed or was stopped."""
    if row.wall is None or not math.isfinite(row.error):
        return math.inf
    return max(row.error, FLOOR)


def reaches(row: Row, other: Row) -> bool:
    """Whether a row is as accurate as another."""
    return error(row) <= EVEN * error(other) and math.isfinite(error(row))


def judge(rows: list[Row]) -> list[Verdict]:
    """One verdict for each case and world that has ours and somebody else's."""
    out = []
    for case, world in dict.fromkeys((row.case, row.world) for row in rows):
        here = [row for row in rows if (row.case, row.world) == (case, world)]
        mine = [row for row in here if row.engine == OURS]
        others = tuple(row for row in here if row.engine != OURS)
        if mine and any(row.wall is not None for row in others):
            out.append(_verdict(case, world, mine, others))
    return out


def _verdict(case: str, world: str, mine: list[Row], others: tuple[Row, ...]) -> Verdict:
    ours = mine[0]  # measured first, at the default step
    ahead = tuple(
        row for row in others if wall(row) < wall(ours) and EVEN * error(row) < error(ours)
    )
    finished = [row for row in others if math.isfinite(error(row))]
    best = None
    if finished:
        least = min(error(row) for row in finished)
        best = min((row for row in finished if error(row) <= EVEN * least), key=wall)
    there = [row for row in mine if best is not None and reaches(row, best)]
    reached = min(there, key=wall) if there else None
    return Verdict(case, world, ours, others, ahead, best, reached)


def words(verdicts: list[Verdict]) -> list[str]:
    """A paragraph of lines for each question; scenes where the answer is bad are named."""
    lines = []
    bad = [v for v in verdicts if not v.default_holds]
    if not bad:
        lines.append("No peer is both faster and more accurate than our default on any scene.")
    for v in bad:
        if v.ours.wall is None:
            lines.append(f"{title(v)}: ours failed: {v.ours.note}.")
            continue
        names = ", ".join(f"{r.engine} ({_short(r)})" for r in v.ahead)
        lines.append(f"{title(v)}: faster and more accurate than ours ({_short(v.ours)}): {names}.")
    slow = [v for v in verdicts if not v.free_holds]
    if not slow:
        lines.append(
            "With our step chosen freely, we reach the best peer's error first everywhere."
        )
    for v in slow:
        assert v.best is not None
        theirs = f"{v.best.engine} ({_short(v.best)})"
        if v.reached is None:
            lines.append(f"{title(v)}: no step of ours reached the error of {theirs}.")
            continue
        ratio = wall(v.reached) / wall(v.best)
        lines.append(
            f"{title(v)}: ours takes {ratio:.1f} times as long as {theirs} to the same error: "
            f"dt 1/{1 / v.reached.dt:.0f}, {_short(v.reached)}; {profile_line(v.reached)}."
        )
    return lines


def title(v: Verdict) -> str:
    return f"{v.case} ({v.world})"


def _short(row: Row) -> str:
    return f"{wall(row):.2g} s, {row.error:.2g} {row.unit}".rstrip()


def profile_line(row: Row) -> str:
    """solve 60 %, rows 20 %, ... of 300 us a step."""
    total = sum(row.stages.values())
    if total <= 0:
        return "no profile"
    parts = sorted(row.stages.items(), key=lambda item: -item[1])[:4]
    shares = ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in parts)
    return f"a step of {1e6 * wall(row) * row.dt:.0f} us: {shares}"


def other_steps(default: Row, peers: list[Row], finest: float = 0.0) -> Generator[float, Row, None]:
    """Other steps for ours [s]; sent the row of each, it gives the next.

    Coarser ones for as long as they reach the best peer's error; if the default does not, finer
    ones until one does, or the finest [s].
    """
    finished = [row for row in peers if math.isfinite(error(row))]
    if not finished or default.wall is None:
        return
    best = min(finished, key=error)
    coarser = reaches(default, best)
    for k in range(1, (COARSER if coarser else FINER) + 1):
        dt = default.dt * 2.0 ** (k if coarser else -k)
        if dt < finest:
            return
        row = yield dt
        if reaches(row, best) != coarser:
            return
