"""Truncated, mislabelled and hostile files: one error, which names the file and the place."""

import io
import os
import zipfile

import h5py
import numpy as np
import pytest

import drystone as ds

FRICTION = "3 1 0 3 3 3 3 15 -1 0 -1 15 0 0 0 15 -1 2 3 0.1"
BLOCKS = "2 1 1 2 2 1 1 1 2 2 2 1 0 1 0 0 4 1 1 5 -1 0.5 0.3"
CSPARSE = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016"
COLUMNS = (
    f"2 1 2 2 2 2\n{CSPARSE}\n2-by-2, nzmax: 2 nnz: 2, 1-norm: 5\n"
    "col 0 : locations 0 to 0\n0 : 4\ncol 1 : locations 1 to 1\n1 : 3\n-1 2\n0.5\n"
)
MIXED = "1 0 1 1 0 1 2 0 1 0 2 2 2 2 1 0 0 1 -1 -2"
LCP = "2 0 2 2 2 2\n1 0\n0 1\n-1 -1\n"
TRIPLETS = (
    f"2 1 2 2 2 1\n{CSPARSE}\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n0 0 : 4\n1 1 : 3\n-1 2\n0.5\n"
)

TEXTS = {
    "empty": ("", "end of file"),
    "prose": ("Dear reader, this is no problem", "line 1, word 1.*not a problem file"),
    "rolling friction": ("5 1 0 5 5 5 5 1", "not a problem file"),
    "truncated matrix": (FRICTION[:30], "end of file"),
    "truncated vector": (FRICTION.rsplit(" ", 2)[0], "end of file.*q needs 3|mu needs 1"),
    "words in the data": (FRICTION.replace("15 0", "fifteen 0"), r"word 12.*'fifteen'"),
    "nan": (FRICTION.replace("-1 2 3", "-1 nan 3"), r"line 1, word 18: q\[1\] is 'nan'"),
    "infinite": (FRICTION.replace("-1 2 3", "-1 1e999 3"), r"q\[1\] is '1e999'"),
    "negative mu": (FRICTION.replace("0.1", "-0.1"), r"mu\[0\] = -0.1"),
    "numbers left over": (FRICTION + " 1 2 3", "words follow the data"),
    "not square": ("3 1 0 3 2 3 2 1 2 3 4 5 6 0 0 0 1", "3 x 2: not square"),
    "huge dense": ("3 1 0 99999999 99999999 1", "99999999.*expected 0 to"),
    "huge count": ("3 999999999999999999999999 0 3 3 3 3 1", "number of contacts"),
    "dense beyond the file": ("9 0 9 9 9 9 1 2 3", "M needs 81 numbers.*only 3 more"),
    "negative size": ("-2 0 -2 -2 -2 -2 1", "size is '-2'"),
    "sizes disagree": ("2 0 2 2 3 2 1 0 0 1 -1 -1", "M has 3 rows: expected 2"),
    "block pointer": (BLOCKS.replace("0 1 0 0 4", "1 0 0 0 4"), "row pointer"),
    "block column": (BLOCKS.replace("0 1 0 0 4", "0 1 7 0 4"), "column index .* is '7'"),
    "block number": (BLOCKS.replace("0 1 0 0 4", "0 1 0 3 4"), "block 0 .* is numbered '3'"),
    "block ends": (BLOCKS.replace("1 1 1 2 2 2", "1 1 1 1 2 2"), "row ends"),
    "too many blocks": (BLOCKS.replace("2 2 1 1 1", "2 2 9 1 1", 1), "expected"),
    "column header": (COLUMNS.replace("col 1", "row 1"), "expected 'col'"),
    "row out of range": (COLUMNS.replace("\n1 : 3", "\n2 : 3"), "row in .* is '2'"),
    "negative row": (COLUMNS.replace("\n1 : 3", "\n-1 : 3"), "row in .* is '-1'"),
    "entry": (COLUMNS.replace("0 : 4", "0 : x"), "'x'"),
    "locations": (COLUMNS.replace("1 to 1", "1 to 9"), "last location"),
    "nnz": (COLUMNS.replace("nnz: 2", "nnz: 200000000000"), "more than the file holds"),
    "shape": (COLUMNS.replace("2-by-2", "2-by-3"), "'2-by-2,'"),
    "triplet row": (TRIPLETS.replace("1 1 : 3", "5 1 : 3"), "row in .* is '5'"),
    "triplet header": (TRIPLETS.replace("triplet:", "matrix:"), "'triplet:'"),
    "no print-out": ("3 1 2 3 3 2 nothing", "CSparse"),
    "flags": (MIXED.replace("0 1 2 0 1", "0 1 2 1 1"), "0 rows are equalities: expected 1"),
    "bounds": (MIXED.replace("0 1 2 0 1", "0 3 2 0 1"), "block bound is '3'"),
    "no unknowns": ("1 0 0 0 0 0 0 0", "no unknowns|not a problem"),
}


def caught(path):
    with pytest.raises(ds.ProblemFileError) as error:
        ds.read_problem(path)
    assert str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", TEXTS)
def test_bad_text_names_the_place(tmp_path, name):
    text, words = TEXTS[name]
    path = tmp_path / "bad.dat"
    path.write_text(text)
    with pytest.raises(ds.ProblemFileError, match=words) as error:
        ds.read_problem(path)
    assert str(path) in str(error.value)


def test_the_line_is_counted(tmp_path):
    path = tmp_path / "bad.dat"
    path.write_text(LCP.replace("0 1\n-1", "0 ?\n-1"))
    assert "line 3, word 10: M[3] is '?'" in caught(path)


@pytest.mark.posix("named pipes")
def test_things_that_are_not_files(tmp_path):
    assert "No such file" in caught(tmp_path / "missing.dat")
    assert "is a folder" in caught(tmp_path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "is a named pipe" in caught(pipe)
    with pytest.raises(ds.ProblemFileError):
        ds.read_problem("nul\0byte")


def test_binary_junk_and_wrong_endings(tmp_path):
    rng = np.random.default_rng(3)
    for name, content in {
        "junk.dat": rng.bytes(5000),
        "magic.hdf5": b"\x89HDF\r\n\x1a\n" + rng.bytes(3000),
        "magic.npz": b"PK\x03\x04" + rng.bytes(3000),
        "control.dat": b"\x1b[31m\x00 1 2 3",
    }.items():
        (tmp_path / name).write_bytes(content)
        assert "\x1b" not in caught(tmp_path / name)
    # the content counts, not the ending
    (tmp_path / "text.hdf5").write_text(LCP)
    assert ds.read_problem(tmp_path / "text.hdf5").size == 2


def fclib(path, **changes):
    """A sound local file with entries replaced; None leaves one out."""
    data = {
        "spacedim": np.array([2], np.int32),
        "W/m": np.array([2], np.int32),
        "W/n": np.array([2], np.int32),
        "W/nz": np.array([-1], np.int32),
        "W/p": np.array([0, 1, 2], np.int32),
        "W/i": np.array([0, 1], np.int32),
        "W/x": np.array([1.0, 2.0]),
        "vectors/q": np.array([-1.0, 0.5]),
        "vectors/mu": np.array([0.5]),
    }
    data |= {name.replace("__", "/"): value for name, value in changes.items()}
    with h5py.File(path, "w") as file:
        for name, value in data.items():
            if value is not None:
                file[f"fclib_local/{name}"] = value


HDF5 = {
    "missing": ({"vectors__q": None}, "vectors/q: is missing"),
    "no matrix": ({"W__x": None}, "W/x: is missing"),
    "dim": ({"spacedim": np.array([4])}, "spacedim: is 4"),
    "text": ({"vectors__q": np.array([b"a", b"b"])}, "vectors/q: holds"),
    "scalar text": ({"spacedim": "two"}, "spacedim: holds"),
    "floats as indices": ({"W__i": np.array([0.0, 1.0])}, "W/i: holds float64"),
    "compound": ({"vectors__mu": np.zeros(1, dtype=[("a", float)])}, "vectors/mu: holds"),
    "two dimensions": ({"vectors__q": np.ones((2, 1))}, "expected one dimension"),
    "short q": ({"vectors__q": np.ones(3)}, "vectors/q: has 3 entries: expected 2"),
    "nan": ({"W__x": np.array([1.0, np.nan])}, r"W/x\[1\]: is nan"),
    "rows": ({"W__m": np.array([2**31 - 1])}, "W/m: is 2147483647: expected 2"),
    "index": ({"W__i": np.array([0, 2])}, r"W/i\[1\]: is 2: expected 0 to 1"),
    "negative index": ({"W__i": np.array([0, -1])}, r"W/i\[1\]: is -1"),
    "pointer": ({"W__p": np.array([0, 2, 1])}, "W/p: does not rise"),
    "long pointer": ({"W__p": np.array([0, 1, 2000])}, "W/p: does not rise"),
    "pointer size": ({"W__p": np.array([0, 1, 2, 2])}, "W/p: has 4 entries: expected 3"),
    "storage": ({"W__nz": np.array([-3])}, "W/nz: is -3"),
    "triplets": ({"W__nz": np.array([9])}, "W/nz: is 9, but x has 2"),
    "negative mu": ({"vectors__mu": np.array([-1.0])}, r"mu\[0\] = -1.0"),
    "negative diagonal": ({"W__x": np.array([1.0, -2.0])}, "semidefinite"),
    "a matrix that is an array": ({"W": np.eye(2)} | {f"W__{k}": None for k in "mnpix"} |
                                  {"W__nz": None}, "W/m: is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", HDF5)
def test_bad_fclib_names_the_dataset(tmp_path, name):
    changes, words = HDF5[name]
    path = tmp_path / "bad.hdf5"
    fclib(path)
    assert ds.read_problem(path).nc == 1  # sound before it is changed
    fclib(path, **changes)
    with pytest.raises(ds.ProblemFileError, match=words) as error:
        ds.read_problem(path)
    assert str(path) in str(error.value)


def test_fclib_that_declares_what_it_does_not_hold(tmp_path):
    path = tmp_path / "huge.hdf5"
    fclib(path, vectors__q=None)
    with h5py.File(path, "a") as file:
        file.create_dataset("fclib_local/vectors/q", shape=(10**13,), dtype=float, chunks=(1000,))
    assert "vectors/q" in caught(path)
    fclib(path, vectors__q=None, vectors__mu=None)
    with h5py.File(path, "a") as file:
        for name, size in (("mu", 10**12), ("q", 2 * 10**12)):
            shape = {"shape": (size,), "dtype": float, "chunks": (1000,)}
            file.create_dataset(f"fclib_local/vectors/{name}", **shape)
    assert "stores fewer" in caught(path)


def test_fclib_links_are_not_followed(tmp_path):
    fclib(tmp_path / "other.hdf5")
    path = tmp_path / "linked.hdf5"
    for link in (
        h5py.ExternalLink("other.hdf5", "/fclib_local/vectors/q"),
        h5py.SoftLink("/fclib_local"),
        h5py.SoftLink("/nowhere"),
    ):
        fclib(path, vectors__q=None)
        with h5py.File(path, "a") as file:
            file["fclib_local/vectors/q"] = link
        assert "is a link" in caught(path)
    fclib(path, vectors__q=None)
    with h5py.File(path, "a") as file:
        outside = [("/etc/passwd", 0, 16)]
        group = file["fclib_local/vectors"]
        group.create_dataset("q", shape=(2,), dtype=float, external=outside)
    assert "another file" in caught(path)
    with h5py.File(path, "w") as file:
        file["something"] = 1
    assert "neither fclib_local nor fclib_global" in caught(path)


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)


def npy(array):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=True)
    return out.getvalue()


def header(text):
    raw = (text + " " * (117 - len(text)) + "\n").encode()
    return b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw


def test_bad_npz_names_the_array(tmp_path):
    path = tmp_path / "bad.npz"
    sound = {"kind": npy(np.array("lcp")), "M": npy(np.eye(2)), "q": npy(np.array([-1.0, -1]))}
    npz(path, **sound)
    assert ds.read_problem(path).size == 2
    huge = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }")
    zeros = npy(np.zeros(3)) + bytes(10_000_000)
    cases = [
        ({"kind": npy(np.array("quadratic"))}, "kind: is 'quadratic'"),
        ({"kind": npy(np.array(3))}, "kind: holds int64"),
        ({"q": npy(np.array([object()], dtype=object))}, "q: holds object"),
        ({"q": huge}, "q: has shape.*bytes do not fill"),
        ({"q": zeros}, "q: has shape"),
        ({"q": b"not an array"}, "q: is not an array"),
        ({"q": header("{'descr': __import__('os').system('true')}")}, "q: is not an array"),
        ({"q": npy(np.ones((2, 2)))}, "q: has shape"),
        ({"q": npy(np.array([np.nan, 1.0]))}, r"q\[0\] is nan"),
        ({"q": npy(np.ones(5))}, "q has 5 entries"),
    ]
    for change, words in cases:
        npz(path, **(sound | change))
        with pytest.raises(ds.ProblemFileError, match=words):
            ds.read_problem(path)
    for name in sound:
        npz(path, **{k: v for k, v in sound.items() if k != name})
        assert f"{name}" in caught(path)


def test_bad_sparse_npz(tmp_path):
    path = tmp_path / "bad.npz"
    sound = {
        "kind": npy(np.array("lcp")),
        "q": npy(np.array([-1.0, -1.0])),
        "M.indptr": npy(np.array([0, 1, 2])),
        "M.indices": npy(np.array([0, 1])),
        "M.data": npy(np.array([1.0, 2.0])),
        "M.shape": npy(np.array([2, 2])),
    }
    npz(path, **sound)
    assert ds.read_problem(path).sparse
    for name, value in {
        "M.indptr": np.array([0, 2, 1]),
        "M.indices": np.array([0, 5]),
        "M.shape": np.array([2, 10**12]),
        "M.data": np.array([1.0]),
    }.items():
        npz(path, **(sound | {name: npy(value)}))
        caught(path)
    npz(path, **(sound | {"M.shape": npy(np.array([10**12, 2]))}))
    assert "M.shape" in caught(path)


def seeds(tmp_path):
    """Small sound files of every format."""
    texts = {"fc": FRICTION, "blocks": BLOCKS, "columns": COLUMNS, "triplets": TRIPLETS}
    for name, text in (texts | {"mixed": MIXED, "lcp": LCP}).items():
        (tmp_path / f"{name}.dat").write_text(text)
        ds.read_problem(tmp_path / f"{name}.dat")
    fclib(tmp_path / "fclib.hdf5")
    problem = ds.read_problem(tmp_path / "blocks.dat")
    ds.write_problem(problem, tmp_path / "own.npz")
    M, H = np.diag([1.0, 2.0, 3.0]), np.eye(3)[:, :2]
    whole = ds.GlobalFrictionProblem(M, H, np.ones(3), [0.0, 1.0], 0.5, dim=2)
    for suffix in (".dat", ".hdf5", ".npz"):
        ds.write_problem(whole, tmp_path / f"global{suffix}")
    return sorted(tmp_path.iterdir())


def mutated(content, rng):
    """One to four damages: bytes changed, cut, doubled, or numbers replaced by extreme ones."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, max(len(data), 1)))
        choice = rng.integers(0, 5)
        if choice == 0:
            data[at : at + 1] = rng.bytes(1)
        elif choice == 1:
            del data[at:]
        elif choice == 2:
            del data[at : at + int(rng.integers(1, 30))]
        elif choice == 3:
            data[at:at] = data[at : at + int(rng.integers(1, 30))]
        else:
            extremes = (b" -1 ", b" 999999999 ", b" nan ", b" 1e308 ", b" 0 ", b" 2 ", b"\xff" * 8)
            data[at : at + 2] = extremes[int(rng.integers(0, len(extremes)))]
    return bytes(data)


def test_damaged_files_give_a_problem_or_one_error(tmp_path):
    (tmp_path / "sound").mkdir()
    rng = np.random.default_rng(20240607)
    errors, count = 0, 0
    for path in seeds(tmp_path / "sound"):
        content = path.read_bytes()
        target = tmp_path / f"damaged{path.suffix}"
        for _ in range(80):
            target.write_bytes(mutated(content, rng))
            count += 1
            try:
                problem = ds.read_problem(target)
            except ds.ProblemFileError as error:
                assert str(target) in str(error)  # noqa: PT017
                errors += 1
            else:
                assert np.isfinite(problem.q).all()
    assert count >= 800
    assert errors > count // 3  # most damage is noticed; the rest is still a problem
