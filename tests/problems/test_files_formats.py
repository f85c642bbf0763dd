"""FCLIB and npz: round trips of what each can say, refusals of what it cannot, and libfclib."""

import ctypes.util
import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

RNG = np.random.default_rng(7)
CONES = [
    (None, 3),
    (8, 3),
    (2, 2),
    (ds.EllipticCone((1.0, 0.2), angle=0.3), 3),
    (ds.SoftFingerCone(0.01), 3),
]


def spd(n):
    G = RNG.standard_normal((n, n))
    return G @ G.T + n * np.eye(n)


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def assert_same(one, other):
    assert type(one) is type(other)
    names = ("M", "W", "H", "q", "b", "mu", "lower", "upper", "dim", "bilateral", "law", "cone")
    for name in (*names, "slip"):
        if not hasattr(one, name):
            continue
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, ds.DelassusOperator):
            np.testing.assert_array_equal(dense(a.J), dense(b.J))
            np.testing.assert_array_equal(dense(a.inverse_mass), dense(b.inverse_mass))
        elif isinstance(a, np.ndarray) or sp.issparse(a):
            assert isinstance(b, np.ndarray) == isinstance(a, np.ndarray) or name != "slip"
            np.testing.assert_array_equal(dense(a), dense(b))
        else:
            assert a == b, name


def test_npz_holds_every_lcp(tmp_path):
    M, q = spd(4), RNG.standard_normal(4)
    boxes = ds.BoxedLCP(M, q, [-1, 0, -np.inf, 0], [1, np.inf, np.inf, 2])
    free = [True, False, True, False]
    for problem in (ds.LCP(M, q), ds.LCP(sp.csr_array(M), q), ds.MixedLCP(M, q, free), boxes):
        ds.write_problem(problem, tmp_path / "p.npz")
        assert_same(problem, ds.read_problem(tmp_path / "p.npz"))


@pytest.mark.parametrize(("cone", "dim"), CONES)
def test_npz_holds_every_friction_statement(tmp_path, cone, dim):
    d = 4 if isinstance(cone, ds.SoftFingerCone) else dim
    m = 2 * d + 1
    smooth = not isinstance(cone, int)
    slip = np.zeros((2, d - 1))
    slip[0, 0] = 1.0
    common = {"dim": dim, "cone": cone, "bilateral": 1}
    J = RNG.standard_normal((m, 6))
    problems = [
        ds.FrictionProblem(spd(m), RNG.standard_normal(m), [0.2, 0.5], law="convex", **common),
        ds.FrictionProblem(ds.DelassusOperator(J, np.eye(6)), np.ones(m), 0.3, **common),
        ds.GlobalFrictionProblem(np.eye(6), J.T, np.ones(6), np.ones(m), 0.3, **common),
    ]
    if smooth:
        q = RNG.standard_normal(m)
        problems.append(ds.FrictionProblem(spd(m), q, 0.1, law="static", slip=slip, **common))
    for problem in problems:
        ds.write_problem(problem, tmp_path / "p.npz")
        assert_same(problem, ds.read_problem(tmp_path / "p.npz"))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("bilateral", [0, 2])
def test_fclib_round_trip(tmp_path, dim, bilateral):
    m = 3 * dim + bilateral
    mu = [0.0, 0.4, 0.9]
    local = ds.FrictionProblem(
        sp.csr_array(spd(m)), RNG.standard_normal(m), mu, dim=dim, bilateral=bilateral
    )
    H = sp.random_array((8, m), density=0.4, rng=RNG)
    M = sp.csr_array(np.diag(RNG.uniform(1, 2, 8)))
    f, w = RNG.standard_normal(8), RNG.standard_normal(m)
    whole = ds.GlobalFrictionProblem(M, H, f, w, mu, dim=dim, bilateral=bilateral)
    for problem in (local, whole):
        ds.write_problem(problem, tmp_path / "p.hdf5")
        assert_same(problem, ds.read_problem(tmp_path / "p.hdf5"))


def test_fclib_storages_agree(tmp_path):
    W = sp.csc_array(np.array([[4.0, 1.0], [0.0, 3.0]]))
    rows = sp.csr_array(W)
    triplets = sp.coo_array(W)
    storages = {
        -1: (W.indptr, W.indices, W.data),
        -2: (rows.indptr, rows.indices, rows.data),
        3: (triplets.coords[1], triplets.coords[0], triplets.data),
    }
    for nz, (p, i, x) in storages.items():
        with h5py.File(tmp_path / "p.hdf5", "w") as file:
            file["fclib_local/spacedim"] = np.array([2], dtype=np.int32)
            values = {"m": [2], "n": [2], "nz": [nz], "nzmax": [3], "p": p, "i": i}
            for name, value in values.items():
                file[f"fclib_local/W/{name}"] = np.array(value, dtype=np.int32)
            file["fclib_local/W/x"] = x
            file["fclib_local/vectors/q"] = [-1.0, 0.5]
            file["fclib_local/vectors/mu"] = [0.5]
        np.testing.assert_array_equal(dense(ds.read_problem(tmp_path / "p.hdf5").W), W.toarray())


def test_what_a_format_cannot_say_is_refused(tmp_path):
    lcp = ds.LCP(np.eye(2), [-1.0, -1.0])
    boxed = ds.BoxedLCP(np.eye(2), [-1.0, -1.0], -1.0, 1.0)
    convex = ds.FrictionProblem(np.eye(3), [-1.0, 0, 0], 0.5, law="convex")
    polyhedral = ds.FrictionProblem(np.eye(3), [-1.0, 0, 0], 0.5, cone=4)
    bilateral = ds.FrictionProblem(np.eye(4), [-1.0, 0, 0, 1], 0.5, bilateral=1)
    slipping = ds.FrictionProblem(np.eye(3), [-1.0, 0, 0], 0.5, slip=[[1.0, 0.0]])
    cases = [
        (lcp, ".hdf5", "friction problems only"),
        (boxed, ".dat", "no boxes"),
        (convex, ".hdf5", "convex"),
        (polyhedral, ".dat", "circular cones only"),
        (bilateral, ".dat", "bilateral"),
        (slipping, ".hdf5", "slip"),
        (lcp, ".txt", "cannot tell the format"),
    ]
    for problem, suffix, words in cases:
        with pytest.raises(ds.ProblemFileError, match=words) as caught:
            ds.write_problem(problem, tmp_path / f"p{suffix}")
        assert f"p{suffix}" in str(caught.value)
    with pytest.raises(ds.ProblemFileError, match="No such file"):
        ds.write_problem(lcp, tmp_path / "no" / "folder" / "p.npz")


LIBFCLIB = r"""
import ctypes, json, sys
class Matrix(ctypes.Structure):
    _fields_ = [("nzmax", ctypes.c_int), ("m", ctypes.c_int), ("n", ctypes.c_int),
                ("p", ctypes.POINTER(ctypes.c_int)), ("i", ctypes.POINTER(ctypes.c_int)),
                ("x", ctypes.POINTER(ctypes.c_double)), ("nz", ctypes.c_int)]
M, D = ctypes.POINTER(Matrix), ctypes.POINTER(ctypes.c_double)
class Local(ctypes.Structure):
    _fields_ = [("W", M), ("V", M), ("R", M), ("mu", D), ("q", D), ("s", D),
                ("spacedim", ctypes.c_int)]
class Global(ctypes.Structure):
    _fields_ = [("M", M), ("H", M), ("G", M), ("mu", D), ("f", D), ("b", D), ("w", D),
                ("spacedim", ctypes.c_int)]
def matrix(a):
    if not a: return None
    a = a[0]
    return [a.m, a.n, a.i[:a.nz], a.p[:a.nz], a.x[:a.nz]]
library = ctypes.CDLL(sys.argv[1])
kind = Local if sys.argv[2] == "local" else Global
read = getattr(library, "fclib_read_" + sys.argv[2])
read.restype, read.argtypes = ctypes.POINTER(kind), [ctypes.c_char_p]
found = read(sys.argv[3].encode())[0]
nc, ndof, d = int(sys.argv[4]), int(sys.argv[5]), found.spacedim
out = {"mu": found.mu[:nc], "dim": d}
if kind is Local:
    out |= {"W": matrix(found.W), "V": matrix(found.V), "R": matrix(found.R), "q": found.q[:d * nc]}
else:
    out |= {"M": matrix(found.M), "H": matrix(found.H), "G": matrix(found.G)}
    out |= {"f": found.f[:ndof], "w": found.w[:d * nc]}
print("\n" + json.dumps(out))
"""


def by_libfclib(path, form, nc, ndof):
    """What Siconos' own FCLIB library reads, in a process without another HDF5."""
    library = ctypes.util.find_library("fclib")
    if library is None:
        pytest.skip("libfclib, with which Siconos reads FCLIB files, is not installed (libfclib0)")
    command = [sys.executable, "-c", LIBFCLIB, library, form, str(path), str(nc), str(ndof)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def whole(parts):
    rows, columns, i, j, x = parts
    return sp.coo_array((x, (i, j)), shape=(rows, columns)).toarray()


@pytest.mark.peers
def test_libfclib_reads_what_we_write(tmp_path):
    W = sp.csr_array(spd(6))
    local = ds.FrictionProblem(W, RNG.standard_normal(6), [0.2, 0.5])
    ds.write_problem(local, tmp_path / "local.hdf5")
    read = by_libfclib(tmp_path / "local.hdf5", "local", 2, 0)
    np.testing.assert_array_equal(whole(read["W"]), W.toarray())
    np.testing.assert_array_equal(read["q"], local.q)
    np.testing.assert_array_equal(read["mu"], local.mu)
    assert read["dim"] == 3
    assert read["V"] is None

    H = sp.random_array((5, 4), density=0.6, rng=RNG)
    M = np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    f, w = RNG.standard_normal(5), RNG.standard_normal(4)
    ds.write_problem(ds.GlobalFrictionProblem(M, H, f, w, 0.4, dim=2), tmp_path / "global.hdf5")
    read = by_libfclib(tmp_path / "global.hdf5", "global", 2, 5)
    np.testing.assert_array_equal(whole(read["M"]), M)
    np.testing.assert_array_equal(whole(read["H"]), H.toarray())
    np.testing.assert_array_equal(read["f"], f)
    np.testing.assert_array_equal(read["w"], w)
