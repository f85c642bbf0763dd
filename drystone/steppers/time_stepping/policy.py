"""``ds.IslandPolicy``: how much work an island of contacts is worth, and which methods it gets."""

from __future__ import annotations

from dataclasses import dataclass, fields

from drystone.values import check_options, check_positive


@dataclass(frozen=True)
class IslandPolicy:
    """What ``solver="auto"`` tries on an island, in which order, and until when.

    It is evaluated in one place, ``kernels/step/policy.py``.

    Tolerances are parts of ``TimeStepping.tol``, or of ``sweep_tol`` where that is said. Nothing
    here reads the clock: a run is bitwise reproducible on any machine.

    small: contacts of an island that gets every method there is.
    medium: contacts of an island for which Newton's method is tried when sweeps stall.
    first_sweeps, first_visits: sweeps before Newton's method: first_sweeps + first_visits /
        contacts, if their rate of convergence is fast enough.
    jointed_sweeps: the same for islands with joints, and where Newton's method was just needed.
    sweeps, visits: sweeps of an island that Newton's method does not take or solve: at least
        `sweeps`, and for large islands visits / contacts.
    newton_steps, large_newton_steps: steps of Newton's method, on small and on large islands.
    newton_batch, newton_gain: steps on a large island at a time, and the part of its residual to
        which they must bring it to be followed by more.
    newton_room: blocks in the factors of W; islands that need more are swept only.
    newton_interval: most steps between two tries on large islands: if a try did not help the next
        step, the wait before the next one is multiplied by four.
    polish, polish_steps: part of the tolerance that Newton's method goes on to, and the steps that
        it may take for that.
    closer: tolerance of small islands and of Newton's method: it costs little, and what is let
        pass is there again in the next step's warm start.
    closer_at_rest, closest: the same for small islands at rest, and in the two steps after one
        that needed Newton's method.
    quiet: part of the speed that gravity gives in a step: what is slower rests.
    still: the same of what goes on to rest: an island that rested and becomes faster is asked first
        whether it can rest.
    rest_room: blocks in the factors of the matrix of bodies that decides it; larger islands are
        swept only.
    rest_sweeps, rest_sweeps_most, rest_tol: sweeps of a large island at rest in each step, their
        number where it is not within `rest_tol` (of sweep_tol), and that tolerance.
    slow_speed: times the speed that gravity gives in a step; slower islands of up to `medium`
        contacts that nothing drives are solved to `slow_tol` (of sweep_tol).
    slow_steps, slow_period: steps in which that is done without bringing rest, of every so many.
    """

    small: int = 64
    medium: int = 1000
    first_sweeps: int = 60
    first_visits: int = 5000
    jointed_sweeps: int = 4
    sweeps: int = 300
    visits: int = 300_000
    newton_steps: int = 100
    large_newton_steps: int = 20
    newton_batch: int = 4
    newton_gain: float = 0.1
    newton_room: int = 100_000
    newton_interval: int = 1024
    polish: float = 1e-4
    polish_steps: int = 3
    closer: float = 0.01
    closer_at_rest: float = 1e-4
    closest: float = 1e-6
    quiet: float = 1e-6
    still: float = 1e-8
    rest_room: int = 3_000_000
    rest_sweeps: int = 16
    rest_sweeps_most: int = 64
    rest_tol: float = 0.05
    slow_speed: float = 8.0
    slow_tol: float = 0.01
    slow_steps: int = 480
    slow_period: int = 7680

    def __post_init__(self) -> None:
        check_options(self, "IslandPolicy", ".", floats=True)
        check_positive(self, "IslandPolicy", *(field.name for field in fields(self)))


USUAL = IslandPolicy()
