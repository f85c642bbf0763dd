"""The project's own ``.npz``: every statement, exactly, as plain arrays (never pickled).

Keys: ``kind`` (text), the arrays of the statement by their names, matrices either whole
(``W``) or as ``W.indptr, W.indices, W.data, W.shape``.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from drystone.errors import ProblemFileError
from drystone.problems import (
    LCP,
    BoxedLCP,
    CircularCone,
    DelassusOperator,
    EllipticCone,
    FrictionProblem,
    GlobalFrictionProblem,
    MixedLCP,
    PolyhedralCone,
    Problem,
    SoftFingerCone,
)
from drystone.problems._check import Matrix
from drystone.problems.files.shared import Members

HEADER = 4096  # longest header of a member that is read


class Archive(Members):
    """Arrays of a zip file, each checked against the bytes that it has before it is made."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        super().__init__(path, file)
        self.names = {name.removesuffix(".npy") for name in file.namelist()}

    def array(self, name: str, kinds: str = "fiu", ndim: int | None = 1) -> np.ndarray:
        if name not in self.names:
            raise self.error(name, "is missing")
        info = self.file.getinfo(f"{name}.npy")
        self.take(name, info.file_size, max(info.compress_size, 1), f"{info.file_size} bytes")
        data = io.BytesIO(self.file.read(info))
        try:
            version = npy.read_magic(data)
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            if version not in readers:
                raise ValueError(f"version {version}")
            shape, _, dtype = readers[version](data, max_header_size=HEADER)
            if dtype.kind not in kinds:
                raise self.error(name, f"holds {dtype}: expected kind {' or '.join(kinds)}")
            size = dtype.itemsize
            for extent in shape:
                size *= extent
            if min(shape, default=0) < 0 or size != info.file_size - data.tell():
                raise self.error(name, f"has shape {shape}, which its bytes do not fill")
            data.seek(0)
            values = npy.read_array(data, allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, TypeError, KeyError, OverflowError) as error:
            if isinstance(error, ProblemFileError):
                raise
            raise self.error(name, f"is not an array: {error}") from None
        if ndim is not None and values.ndim != ndim:
            raise self.error(name, f"has shape {values.shape}: expected {ndim} dimensions")
        return values

    def text(self, name: str) -> str:
        return str(self.array(name, "U", 0))

    def integer(self, name: str) -> int:
        return int(self.array(name, "iu", 0))

    def matrix(self, name: str) -> Matrix:
        if name in self.names:
            return self.array(name, ndim=2)
        indptr, indices = self.array(f"{name}.indptr", "iu"), self.array(f"{name}.indices", "iu")
        data, shape = self.array(f"{name}.data"), self.array(f"{name}.shape", "iu")
        if shape.size != 2 or shape.min() < 0 or shape[0] + 1 != indptr.size:
            raise self.error(f"{name}.shape", f"is {shape.tolist()}: {indptr.size} row pointers")
        lengths = indptr[1:].astype(np.int64) - indptr[:-1].astype(np.int64)
        rises = indptr[0] == 0 and (lengths >= 0).all()
        if not rises or not indptr[-1] == indices.size == data.size:
            raise self.error(f"{name}.indptr", f"does not rise from 0 to {data.size}")
        if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= shape[1]):
            raise self.error(f"{name}.indices", f"leave 0 to {shape[1] - 1}")
        rows = np.repeat(np.arange(shape[0]), lengths)
        coords = (rows, indices.astype(np.int64))
        return sp.csr_array(sp.coo_array((data, coords), shape=tuple(shape.tolist())))


def read(path: Path) -> Problem:
    try:
        with zipfile.ZipFile(path) as file:
            return _problem(Archive(path, file))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ProblemFileError(f"{path}: damaged archive: {error}") from None
    except KeyError as error:
        raise ProblemFileError(f"{path}: damaged archive: no member {error}") from None
    except Exception as error:
        # zlib.error and friends come without a common base
        if type(error).__module__ in ("zlib", "_lzma", "struct"):
            raise ProblemFileError(f"{path}: damaged archive: {error}") from None
        raise


def _problem(archive: Archive) -> Problem:
    kind = archive.text("kind")
    if kind == LCP.kind:
        return LCP(archive.matrix("M"), archive.array("q"))
    if kind == MixedLCP.kind:
        return MixedLCP(archive.matrix("M"), archive.array("q"), archive.array("free", "b"))
    if kind == BoxedLCP.kind:
        bounds = archive.array("lower"), archive.array("upper")
        return BoxedLCP(archive.matrix("M"), archive.array("q"), *bounds)
    if kind not in (FrictionProblem.kind, GlobalFrictionProblem.kind):
        raise archive.error("kind", f"is {kind[:40]!r}: not a problem of this package")
    statement: dict[str, Any] = {
        "dim": archive.integer("dim"),
        "bilateral": archive.integer("bilateral"),
        "law": archive.text("law"),
        "cone": _cone(archive),
        "slip": archive.array("slip", ndim=2) if "slip" in archive.names else None,
    }
    q, mu = archive.array("q"), archive.array("mu")
    if kind == FrictionProblem.kind:
        if "J" in archive.names or "J.data" in archive.names:
            W: Any = DelassusOperator(archive.matrix("J"), archive.matrix("inverse_mass"))
        else:
            W = archive.matrix("W")
        return FrictionProblem(W, q, mu, **statement)
    M, H = archive.matrix("M"), archive.matrix("H")
    return GlobalFrictionProblem(M, H, q, archive.array("b"), mu, **statement)


def _cone(archive: Archive) -> Any:
    name, numbers = archive.text("cone"), archive.array("cone_numbers").tolist()
    try:
        if name == "circular":
            return CircularCone()
        if name == "elliptic":
            return EllipticCone((numbers[0], numbers[1]), numbers[2])
        if name == "soft-finger":
            return SoftFingerCone(numbers[0])
        if name == "polyhedral":
            return PolyhedralCone(int(numbers[0]))
    except IndexError:
        raise archive.error("cone_numbers", f"has too few entries for {name!r}") from None
    raise archive.error("cone", f"is {name[:40]!r}: not a cone of this package")


def write(problem: Problem, path: Path) -> None:
    arrays: dict[str, Any] = {"kind": np.array(problem.kind), "q": problem.q}
    if isinstance(problem, BoxedLCP):
        _put(arrays, "M", problem.M)
        if type(problem) is MixedLCP:
            arrays["free"] = problem.free
        elif type(problem) is BoxedLCP:
            arrays |= {"lower": problem.lower, "upper": problem.upper}
    else:
        _put_friction(arrays, problem)
    np.savez_compressed(path, allow_pickle=False, **arrays)


def _put_friction(arrays: dict[str, Any], problem: Any) -> None:
    if isinstance(problem, GlobalFrictionProblem):
        arrays["b"] = problem.b
        _put(arrays, "M", problem.M)
        _put(arrays, "H", problem.H)
    elif isinstance(problem.W, DelassusOperator):
        _put(arrays, "J", problem.W.J)
        _put(arrays, "inverse_mass", problem.W.inverse_mass)
    else:
        _put(arrays, "W", problem.W)
    name, numbers = _cone_words(problem.cone)
    arrays |= {"mu": problem.mu, "dim": np.array(problem.dim), "law": np.array(problem.law)}
    arrays |= {"bilateral": np.array(problem.bilateral), "cone": np.array(name)}
    arrays["cone_numbers"] = np.array(numbers, dtype=np.float64)
    if problem.slip is not None:
        arrays["slip"] = problem.slip


def _cone_words(cone: Any) -> tuple[str, list[float]]:
    if isinstance(cone, EllipticCone):
        return "elliptic", [*cone.ratios, cone.angle]
    if isinstance(cone, SoftFingerCone):
        return "soft-finger", [cone.radius]
    if isinstance(cone, PolyhedralCone):
        return "polyhedral", [cone.k]
    return "circular", []


def _put(arrays: dict[str, Any], name: str, matrix: Matrix) -> None:
    if isinstance(matrix, np.ndarray):
        arrays[name] = matrix
        return
    arrays |= {f"{name}.indptr": matrix.indptr, f"{name}.indices": matrix.indices}
    arrays |= {f"{name}.data": matrix.data, f"{name}.shape": np.array(matrix.shape)}
