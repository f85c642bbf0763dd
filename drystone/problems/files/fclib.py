"""FCLIB ``.hdf5`` files: the exchange format of frictional contact problems.

Local:  u = W r + V l + q,  0 = V' r + R l + s    (l: bilateral multipliers; V, R, s optional)
Global: M v = f + H r + G l,  u = H' v + w,  0 = G' v + b    (G, b optional)
A matrix is a group m, n, nz, p, i, x: nz = -1 compressed columns, -2 compressed rows, otherwise
nz triplets with columns p and rows i.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drystone.errors import ProblemFileError
from drystone.problems import (
    DelassusOperator,
    FrictionProblem,
    GlobalFrictionProblem,
    Problem,
)
from drystone.problems._check import Matrix
from drystone.problems.files.shared import Members, compact, completed, refuse_unsayable


class Reader(Members):
    """Datasets of one open file, checked."""

    def has(self, place: str) -> bool:
        """Whether the path exists in this file; a link to another file is refused."""
        import h5py

        node = self.file
        for name in place.split("/"):
            if not isinstance(node, h5py.Group):
                return False
            link = node.get(name, getlink=True)
            if link is None:
                return False
            if not isinstance(link, h5py.HardLink):
                raise self.error(place, "is a link: expected the data itself")
            node = node[name]
        return True

    def array(self, place: str, kind: str, size: int | None = None) -> np.ndarray:
        """A dataset of numbers as a vector: kind "f" gives float64, "i" int64."""
        import h5py

        if not self.has(place):
            raise self.error(place, "is missing")
        data = self.file[place]
        if not isinstance(data, h5py.Dataset) or data.shape is None:
            raise self.error(place, "is not a dataset with numbers")
        if data.dtype.kind not in ("iu" if kind == "i" else "fiu"):
            word = "integers" if kind == "i" else "numbers"
            raise self.error(place, f"holds {data.dtype}: expected {word}")
        if data.ndim > 1:
            raise self.error(place, f"has shape {data.shape}: expected one dimension")
        if size is not None and data.size != size:
            raise self.error(place, f"has {data.size} entries: expected {size}")
        if data.is_virtual or data.external:
            raise self.error(place, "keeps its data in another file")
        self.take(place, data.nbytes, data.id.get_storage_size(), f"{data.size} entries")
        values = np.atleast_1d(data[()])
        if kind == "f":
            values = values.astype(np.float64)
            if not np.isfinite(values).all():
                k = int(np.argmin(np.isfinite(values)))
                raise self.error(f"{place}[{k}]", f"is {values[k]}")
            return values
        return values.astype(np.int64)

    def integer(self, place: str) -> int:
        return int(self.array(place, "i", 1)[0])

    def matrix(self, place: str, rows: int, columns: int) -> sp.csr_array:
        """A matrix whose size the vectors of the file have fixed already."""
        for name, expected in (("m", rows), ("n", columns)):
            found = self.integer(f"{place}/{name}")
            if found != expected:
                raise self.error(f"{place}/{name}", f"is {found}: expected {expected}")
        nz = self.integer(f"{place}/nz")
        x = self.array(f"{place}/x", "f")
        if nz >= 0:
            if nz > x.size:
                raise self.error(f"{place}/nz", f"is {nz}, but x has {x.size} entries")
            j = self._indices(f"{place}/p", columns)[:nz]
            i = self._indices(f"{place}/i", rows)[:nz]
            if i.size != nz or j.size != nz:
                raise self.error(place, f"p, i have {j.size}, {i.size} entries: expected {nz}")
            return sp.csr_array(sp.coo_array((x[:nz], (i, j)), shape=(rows, columns)))
        if nz not in (-1, -2):
            raise self.error(f"{place}/nz", f"is {nz}: expected -1, -2 or a count")
        major, minor = (columns, rows) if nz == -1 else (rows, columns)
        p = self.array(f"{place}/p", "i", major + 1)
        if p[0] != 0 or (np.diff(p) < 0).any() or p[-1] > x.size:
            raise self.error(f"{place}/p", f"does not rise from 0 to at most {x.size}")
        i = self._indices(f"{place}/i", minor)[: p[-1]]
        if i.size != p[-1]:
            raise self.error(f"{place}/i", f"has {i.size} entries: expected {p[-1]}")
        along = np.repeat(np.arange(major), np.diff(p))
        coords = (i, along) if nz == -1 else (along, i)
        return sp.csr_array(sp.coo_array((x[: p[-1]], coords), shape=(rows, columns)))

    def _indices(self, place: str, bound: int) -> np.ndarray:
        values = self.array(place, "i")
        bad = (values < 0) | (values >= bound)
        if bad.any():
            k = int(np.argmax(bad))
            raise self.error(f"{place}[{k}]", f"is {values[k]}: expected 0 to {bound - 1}")
        return values


def read(path: Path) -> Problem:
    import h5py

    try:
        with h5py.File(path, "r") as file:
            reader = Reader(path, file)
            for root, build in (("fclib_local", _local), ("fclib_global", _global)):
                if reader.has(root):
                    return build(reader, root)
            hint = "; it looks like a recording of a run" if "frames" in file else ""
            raise reader.error("/", f"holds neither fclib_local nor fclib_global{hint}")
    except ProblemFileError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError) as error:
        # what the HDF5 library says about a damaged file comes as any of these
        if type(error).__module__.startswith("drystone"):
            raise
        raise ProblemFileError(f"{path}: damaged HDF5 file: {error}") from None


def _shared(reader: Reader, root: str, free: str) -> tuple[int, np.ndarray, np.ndarray]:
    """dim, free velocity and mu, their sizes checked against each other."""
    dim = reader.integer(f"{root}/spacedim")
    if dim not in (2, 3):
        raise reader.error(f"{root}/spacedim", f"is {dim}: expected 2 or 3")
    mu = reader.array(f"{root}/vectors/mu", "f")
    return dim, reader.array(f"{root}/vectors/{free}", "f", dim * mu.size), mu


def _local(reader: Reader, root: str) -> Problem:
    dim, q, mu = _shared(reader, root, "q")
    W = reader.matrix(f"{root}/W", q.size, q.size)
    if not reader.has(f"{root}/V"):
        return FrictionProblem(compact(W), q, mu, dim=dim)
    s = reader.array(f"{root}/vectors/s", "f")
    V = reader.matrix(f"{root}/V", q.size, s.size)
    R = reader.matrix(f"{root}/R", s.size, s.size)
    joint = sp.csr_array(sp.block_array([[W, V], [V.T, R]]))
    return FrictionProblem(joint, np.concatenate([q, s]), mu, dim=dim, bilateral=s.size)


def _global(reader: Reader, root: str) -> Problem:
    dim, w, mu = _shared(reader, root, "w")
    f = reader.array(f"{root}/vectors/f", "f")
    M = completed(reader.matrix(f"{root}/M", f.size, f.size))
    H = reader.matrix(f"{root}/H", f.size, w.size)
    bilateral = 0
    if reader.has(f"{root}/G"):
        b = reader.array(f"{root}/vectors/b", "f")
        H = sp.csr_array(sp.hstack([H, reader.matrix(f"{root}/G", f.size, b.size)]))
        w, bilateral = np.concatenate([w, b]), b.size
    return GlobalFrictionProblem(M, H, f, w, mu, dim=dim, bilateral=bilateral)


def write(problem: Problem, path: Path) -> None:
    import h5py

    if not isinstance(problem, FrictionProblem | GlobalFrictionProblem):
        raise ProblemFileError(f"{path}: FCLIB holds friction problems only; use .npz")
    refuse_unsayable(problem, path, "FCLIB")
    parts = _global_parts(problem) if _is_global(problem) else _local_parts(problem)
    root, matrices, vectors = parts
    with h5py.File(path, "w") as file:
        group = file.create_group(root)
        group.create_dataset("spacedim", data=np.array([problem.dim], dtype=np.int32))
        for name, matrix in matrices.items():
            _write_matrix(group.create_group(name), matrix)
        for name, vector in vectors.items():
            group.create_dataset(f"vectors/{name}", data=np.asarray(vector, dtype=np.float64))
        info = group.create_group("info")
        for name, text in (
            ("title", "drystone"),
            ("description", repr(problem)),
            ("math_info", ""),
        ):
            info.create_dataset(name, data=np.bytes_(text + "\0"))


def _is_global(problem: Problem) -> bool:
    return isinstance(problem, GlobalFrictionProblem)


Parts = tuple[str, dict[str, Matrix], dict[str, np.ndarray]]


def _local_parts(problem: Any) -> Parts:
    W = problem.W.formed() if isinstance(problem.W, DelassusOperator) else problem.W
    W, m = sp.csr_array(W), problem.dim * problem.nc
    matrices, vectors = {"W": W[:m, :m]}, {"q": problem.q[:m], "mu": problem.mu}
    if problem.bilateral:
        matrices |= {"V": W[:m, m:], "R": W[m:, m:]}
        vectors["s"] = problem.q[m:]
    return "fclib_local", matrices, vectors


def _global_parts(problem: Any) -> Parts:
    H, m = problem.H, problem.dim * problem.nc
    matrices = {"M": sp.csr_array(problem.M), "H": H[:, :m]}
    vectors = {"f": problem.q, "w": problem.b[:m], "mu": problem.mu}
    if H.shape[1] > m:
        matrices["G"] = H[:, m:]
        vectors["b"] = problem.b[m:]
    return "fclib_global", matrices, vectors


def _write_matrix(group: Any, matrix: Matrix) -> None:
    """Triplets, which every reader of the format takes."""
    triplets = sp.coo_array(matrix)
    i, j = triplets.coords
    sizes = {"nzmax": i.size, "m": matrix.shape[0], "n": matrix.shape[1], "nz": i.size}
    for name, value in sizes.items():
        group.create_dataset(name, data=np.array([value], dtype=np.int32))
    group.create_dataset("p", data=j.astype(np.int32))
    group.create_dataset("i", data=i.astype(np.int32))
    group.create_dataset("x", data=triplets.data.astype(np.float64))
