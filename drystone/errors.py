"""Errors a caller can act on. Wrong input raises; a solver that does not converge reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drystone.escaping import for_lines

if TYPE_CHECKING:
    from drystone.types import Solution


class DrystoneError(Exception):
    """Base of every error this package raises on purpose. Control characters of the names and paths
    that its message quotes are written as escapes: it may be printed on a terminal."""

    def __str__(self) -> str:
        return for_lines(super().__str__())


class IgnoredWarning(UserWarning):
    """A method leaves out what a world says; the message says what, and which option would not."""


class StepWarning(UserWarning):
    """Steps of a run were not solved, or found bodies deep in each other; the message says how
    many, when first, and how badly. One for each run, at its end."""


class UnitWarning(UserWarning):
    """A value is allowed, but looks as if it were in another unit: degrees, millimetres, g/cm^3.

    ``warnings.simplefilter("ignore", ds.UnitWarning)`` silences it.
    """


class ArgumentError(DrystoneError, TypeError):
    """A call does not fit: an unknown word, one too few or too many; the message says the right
    word."""


class ArrayError(DrystoneError, ValueError):
    """An array has the wrong shape or a forbidden entry; the message names it."""


class ProblemError(DrystoneError, ValueError):
    """A statement contradicts itself (asymmetric, indefinite, unknown cone or law)."""


class OptionError(DrystoneError, ValueError):
    """A solver option or name is out of its range."""


class UnsupportedProblemError(DrystoneError, TypeError):
    """A method was asked for a problem that it does not solve; the message says why."""


class ProblemFileError(DrystoneError, ValueError):
    """A problem file is truncated, mislabelled or not one; names the file and the place."""


class ModelError(DrystoneError, ValueError):
    """A world contradicts itself: the message names the body and the value."""


class ShapeError(ModelError):
    """An invalid or degenerate shape: a negative radius, a polygon that intersects itself."""


class DescriptionError(ModelError):
    """A world cannot be described in a file: it holds a Python function; the message names it."""


class SceneFileError(DrystoneError, ValueError):
    """A scene file is wrong; the message says where, which key, which value, and what was meant.

    problems: one line for each thing that is wrong with it.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class RecordingError(DrystoneError, ValueError):
    """A recording is truncated, foreign, in use or of another world; names file and place."""


class WriteError(RecordingError):
    """A recording cannot be written further, as on a full disk; says what was kept."""


class RecordingWarning(UserWarning):
    """A recording is made without something that guards it; the message says without what."""


class FrameError(DrystoneError, IndexError):
    """A run has no frame of that number."""


class QuantityError(DrystoneError, AttributeError):
    """A step's report has no number of that name."""


class UnsupportedPairError(DrystoneError, TypeError):
    """Two kinds of shapes have no contact kernel; the message names both bodies."""


class CollidingContactsError(DrystoneError, ValueError):
    """Forces were asked for at an instant at which contacts collide; the message names them.

    contacts: {name: speed of approach [m/s]}.
    """

    def __init__(self, message: str, contacts: dict[str, float] | None = None) -> None:
        super().__init__(message)
        self.contacts = contacts or {}


class SimulationError(DrystoneError, RuntimeError):
    """A run cannot continue; the message says which body, when, and why.

    problem: the friction problem of the step, where its solve is the reason; report: the step's.
    """

    def __init__(self, message: str, problem: Any = None, report: Any = None) -> None:
        super().__init__(message)
        self.problem = problem
        self.report = report


class MissingExtraError(DrystoneError, ImportError):
    """An optional dependency is not installed; the message holds the command that installs it."""


class SolverError(DrystoneError, RuntimeError):
    """A solve failed and the caller asked for an exception (``on_failure="raise"``)."""

    def __init__(self, message: str, solution: Solution) -> None:
        super().__init__(message)
        self.solution = solution
