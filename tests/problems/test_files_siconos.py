"""Siconos' text files: every storage by hand, and the third-party files against their table."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds
from drystone.problems.files import siconos

BLOCK_W = """2 2
1 4 4
3 2 2
2 4
2 4
3 3
0 2 3
0 1 1
0
 4 1 2 5
1
 .5 0 0 .25
2
 3 0 1 6
-1 0.5 -2 0
0.3 0.4
1
"""

CSPARSE = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016"
COMPRESSED_W = f"""2
1
2
2
2
2
{CSPARSE}
2-by-2, nzmax: 3 nnz: 3, 1-norm: 5
    col 0 : locations 0 to 1
      0 : 4
      1 : -1e-1
    col 1 : locations 2 to 2
      1 : 3
 -1 2
 0.5
"""

GLOBAL = f"""2
1
2
3
3
1
{CSPARSE}
triplet: 3-by-3, nzmax: 4 nnz: 4
    0 0 : 2
    1 1 : 2
    2 2 : 0.5
    0 1 : 0.25
2
3
2
1
{CSPARSE}
triplet: 3-by-2, nzmax: 3 nnz: 3
    0 0 : 1
    1 1 : 1
    2 1 : -0.5
 0 -9.81 0
 0.5 -0.5
 0.7
0
"""


def problem_folder():
    for parent in Path(__file__).resolve().parents:
        if (parent / "shared" / "problems").is_dir():
            return parent / "shared" / "problems"
    return None


FOLDER = problem_folder()
needs_folder = pytest.mark.skipif(FOLDER is None, reason="no shared/problems beside the project")
FILES = [] if FOLDER is None else sorted(p for p in FOLDER.iterdir() if p.suffix != ".md")


def written(tmp_path, text):
    path = tmp_path / "problem.dat"
    path.write_text(text)
    return path


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def test_block_storage_is_column_major_and_a_trailing_flag_is_left_alone(tmp_path):
    problem = ds.read_problem(written(tmp_path, BLOCK_W))
    W = [[4, 2, 0.5, 0], [1, 5, 0, 0.25], [0, 0, 3, 1], [0, 0, 0, 6]]
    np.testing.assert_array_equal(dense(problem.W), W)
    np.testing.assert_array_equal(problem.q, [-1, 0.5, -2, 0])
    np.testing.assert_array_equal(problem.mu, [0.3, 0.4])
    assert (problem.dim, problem.nc) == (2, 2)


def test_blocks_of_different_sizes(tmp_path):
    # one LCP of 3 unknowns in blocks of 1 and 2; the last block row is empty
    text = "3 1 3 3 2 2 2  1 3  1 3  2 2  0 2  0 1  0 7  1 8 9  -1 -2 -3"
    problem = ds.read_problem(written(tmp_path, text))
    np.testing.assert_array_equal(dense(problem.M), [[7, 8, 9], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(problem.q, [-1, -2, -3])


def test_compressed_columns(tmp_path):
    problem = ds.read_problem(written(tmp_path, COMPRESSED_W))
    np.testing.assert_array_equal(dense(problem.W), [[4, 0], [-0.1, 3]])
    np.testing.assert_array_equal(problem.q, [-1, 2])


def test_global_triplets_with_one_triangle_of_the_mass_matrix(tmp_path):
    problem = ds.read_problem(written(tmp_path, GLOBAL))
    assert isinstance(problem, ds.GlobalFrictionProblem)
    np.testing.assert_array_equal(dense(problem.M), [[2, 0.25, 0], [0.25, 2, 0], [0, 0, 0.5]])
    np.testing.assert_array_equal(dense(problem.H), [[1, 0], [0, 1], [0, -0.5]])
    np.testing.assert_array_equal(problem.q, [0, -9.81, 0])
    np.testing.assert_array_equal(problem.b, [0.5, -0.5])


def test_dense_lcp_is_column_major_and_remarks_are_left_alone(tmp_path):
    text = "2 0 2 2 2 2\n1 2\n3 4\n-1 -1\n\nRemark 4.1.14, solution 1 2 3\n"
    problem = ds.read_problem(written(tmp_path, text))
    assert type(problem) is ds.LCP
    np.testing.assert_array_equal(problem.M, [[1, 3], [2, 4]])


def test_mixed_lcp_with_its_equalities_in_the_middle(tmp_path):
    text = "1 0 1 2  0 1 2 3  1 0 1  0 3 3 3 3  1 2 3 4 5 6 7 8 9  -1 -2 -3  5.0 6.0"
    problem = ds.read_problem(written(tmp_path, text))
    assert type(problem) is ds.MixedLCP
    np.testing.assert_array_equal(problem.free, [False, True, False])
    np.testing.assert_array_equal(problem.M, [[1, 4, 7], [2, 5, 8], [3, 6, 9]])


def test_mixed_lcp_given_by_its_four_blocks(tmp_path):
    text = "0 1 1 2  1  2 3 4 5  6 7  8 9  -1 -2 -3"
    problem = ds.read_problem(written(tmp_path, text))
    np.testing.assert_array_equal(problem.M, [[1, 6, 7], [8, 2, 3], [9, 4, 5]])
    np.testing.assert_array_equal(problem.free, [True, False, False])
    np.testing.assert_array_equal(problem.q, [-1, -2, -3])


def test_a_local_problem_whose_q_looks_like_the_head_of_a_matrix(tmp_path):
    text = "3 1 0 3 3 3 3 1 0 0 0 1 0 0 0 1  0 3 3 0.5 1"
    problem = ds.read_problem(written(tmp_path, text))
    assert isinstance(problem, ds.FrictionProblem)
    np.testing.assert_array_equal(problem.q, [0, 3, 3])


def test_completed_keeps_whole_and_diagonal_matrices():
    whole = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert siconos.completed(whole) is whole
    diagonal = sp.csr_array(np.diag([1.0, 2.0]))
    assert siconos.completed(diagonal) is diagonal
    lower = np.array([[2.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(siconos.completed(lower), whole)


@needs_folder
@pytest.mark.problems
def test_third_party_files_have_the_kind_and_size_of_their_table():
    row = re.compile(r"\| (\S+) \| (lcp|mlcp|g?fc[23]d) \| (\d+) \|")
    table = {m[1]: (m[2], int(m[3])) for m in row.finditer((FOLDER / "README.md").read_text())}
    kinds = {"lcp": "lcp", "mixed-lcp": "mlcp"}
    seen = 0
    for path in FILES:
        problem = ds.read_problem(path)
        name = re.sub(r"(\.hdf5|\.dat)+$", "", path.name)
        is_global = problem.kind == "global-friction"
        kind = kinds.get(problem.kind) or f"{'gfc' if is_global else 'fc'}{problem.dim}d"
        size = problem.size if problem.kind in kinds else problem.nc
        if name in table:
            assert (kind, size) == table[name], name
            seen += 1
        if is_global:
            assert (kind[1:], size) == table[f"{name}@reduced"], name
    assert seen >= len(FILES) - 1


@needs_folder
@pytest.mark.problems
def test_third_party_mixed_lcps_agree_with_the_copy_of_their_blocks():
    # independent of the matrix reader: the blocks A, B, C, D, a, b follow row by row
    for path in [p for p in FILES if p.name.endswith("_mlcp.dat")]:
        problem, words = ds.read_problem(path), path.read_text().split()
        n, m = int(words[2]), int(words[3])
        head = 4 + 3 + 2 + 5  # sizes, bounds of two blocks, their flags, head of the matrix
        begin = head + (n + m) * (n + m) + n + m
        numbers = np.array(words[begin:], dtype=float)
        sizes = [(n, n), (m, m), (n, m), (m, n)]
        A, B, C, D = (
            part[: r * c].reshape(r, c)
            for part, (r, c) in zip(
                np.split(numbers, np.cumsum([r * c for r, c in sizes])), sizes, strict=False
            )
        )
        np.testing.assert_array_equal(problem.dense, np.block([[A, C], [D, B]]), err_msg=path.name)
        rest = numbers[sum(r * c for r, c in sizes) :]
        np.testing.assert_array_equal(problem.q, rest[: n + m], err_msg=path.name)


@needs_folder
@pytest.mark.problems
def test_large_text_files_read_in_well_under_a_second():
    for name in ("KaplasTower-i1061-4.hdf5.dat", "deltasigma_mlcp.dat"):
        begin = time.process_time()
        ds.read_problem(FOLDER / name)
        assert time.process_time() - begin < 1.0, name


@needs_folder
@pytest.mark.problems
@pytest.mark.parametrize("suffix", [".dat", ".npz", ".hdf5"])
def test_every_third_party_problem_survives_being_written(tmp_path, suffix):
    for path in FILES:
        problem = ds.read_problem(path)
        if suffix == ".hdf5" and "friction" not in problem.kind:
            continue
        if suffix != ".hdf5" and path.stat().st_size > 700_000:
            continue  # the same code as the others, for seconds
        copy = tmp_path / f"copy{suffix}"
        ds.write_problem(problem, copy)
        again = ds.read_problem(copy)
        assert type(again) is type(problem)
        for name in ("M", "W", "H", "q", "b", "mu", "free", "dim"):
            if hasattr(problem, name):
                same = np.array_equal(dense(getattr(problem, name)), dense(getattr(again, name)))
                assert same, (path.name, name)
