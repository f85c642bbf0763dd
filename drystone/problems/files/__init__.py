"""Problem files: FCLIB ``.hdf5``, Siconos' text ``.dat``, and the project's own ``.npz``.

The format of a file is recognised by its content; the name only chooses the format when writing.
"""

from __future__ import annotations

from os import PathLike

from drystone.errors import ArrayError, ProblemError, ProblemFileError
from drystone.plain_files import open_plain
from drystone.problems import Problem
from drystone.problems.files import archive, fclib, siconos
from drystone.values import as_path, text

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
ZIP_MAGIC = b"PK\x03\x04"
WRITERS = {
    ".hdf5": fclib.write,
    ".h5": fclib.write,
    ".dat": siconos.write,
    ".npz": archive.write,
}


def read_problem(path: str | PathLike[str]) -> Problem:
    """The problem in a file: LCP, MixedLCP, FrictionProblem or GlobalFrictionProblem.

    Raises ProblemFileError, naming the file and the place, for anything else: nothing a file
    holds is executed, and no array is made that is larger than the file can fill.
    """
    place = as_path("read_problem", path, ProblemFileError)
    try:
        with open_plain(place) as file:
            magic = file.read(8)
    except OSError as error:
        shown = place if str(place).isprintable() else repr(str(place))
        raise ProblemFileError(f"{shown}: {error.strerror or error}") from None
    try:
        if magic == HDF5_MAGIC:
            return fclib.read(place)
        if magic.startswith(ZIP_MAGIC):
            return archive.read(place)
        return siconos.read(place)
    except (ArrayError, ProblemError) as error:
        raise ProblemFileError(f"{place}: {error}") from None
    except OSError as error:
        raise ProblemFileError(f"{place}: {error.strerror or error}") from None
    except MemoryError:
        raise ProblemFileError(f"{place}: the problem does not fit into memory") from None


def write_problem(problem: Problem, path: str | PathLike[str]) -> None:
    """Write a problem; the ending chooses the format: .hdf5 (FCLIB), .dat (Siconos) or .npz.

    .npz takes every problem. FCLIB takes friction problems with circular cones and the exact
    Coulomb law, Siconos' text those and LCPs; what a format cannot say raises ProblemFileError.
    """
    place = as_path("write_problem", path, ProblemFileError)
    if not isinstance(problem, Problem):
        raise ProblemFileError(f"write_problem: {text(problem)} is not a problem")
    if place.suffix not in WRITERS:
        known = ", ".join(WRITERS)
        raise ProblemFileError(
            f"{place}: cannot tell the format: expected a name ending in {known}"
        )
    try:
        WRITERS[place.suffix](problem, place)
    except OSError as error:
        raise ProblemFileError(f"{place}: {error.strerror or error}") from None


__all__ = ["read_problem", "write_problem"]
