"""Every bad input raises its error, and the message names the entry."""

import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

NAN, INF = float("nan"), float("inf")
EYE2, EYE3 = np.eye(2), np.eye(3)
ZERO3 = np.zeros(3)


def bad(entry, value, matrix=EYE3):
    out = np.array(matrix, dtype=float)
    out[entry] = value
    return out


CASES = {
    # linear complementarity
    "nan in M": (lambda: ds.LCP(bad((0, 1), NAN), ZERO3), ds.ArrayError, r"M\[0, 1\] is nan"),
    "inf in M": (lambda: ds.LCP(bad((2, 0), -INF), ZERO3), ds.ArrayError, r"M\[2, 0\] is -inf"),
    "nan in sparse M": (
        lambda: ds.LCP(sp.csr_array(bad((1, 1), NAN)), ZERO3),
        ds.ArrayError,
        r"M\[1, 1\] is nan",
    ),
    "nan in q": (lambda: ds.LCP(EYE2, [0, NAN]), ds.ArrayError, r"q\[1\] is nan"),
    "inf in q": (lambda: ds.LCP(EYE2, [INF, 0]), ds.ArrayError, r"q\[0\] is inf"),
    "M not square": (lambda: ds.LCP(np.ones((2, 3)), [0, 0]), ds.ArrayError, "M is 2 x 3"),
    "M a vector": (lambda: ds.LCP([1.0, 2.0], [0, 0]), ds.ArrayError, r"M has shape \(2,\)"),
    "M a number": (lambda: ds.LCP(1.0, [0]), ds.ArrayError, r"M has shape \(\)"),
    "M ragged": (lambda: ds.LCP([[1, 2], [3]], [0, 0]), ds.ArrayError, "M is not an array"),
    "M text": (lambda: ds.LCP([["a"]], [0]), ds.ArrayError, "M is not an array of numbers"),
    "M digits as text": (lambda: ds.LCP([["1"]], [0]), ds.ArrayError, "M is not an array"),
    "M complex": (lambda: ds.LCP([[1j]], [0]), ds.ArrayError, "complex128"),
    "sparse M complex": (lambda: ds.LCP(sp.csr_array([[1j]]), [0]), ds.ArrayError, "complex128"),
    "M None": (lambda: ds.LCP(None, [0]), ds.ArrayError, "M "),
    "q too long": (lambda: ds.LCP(EYE2, [0, 0, 0]), ds.ArrayError, "q has 3 entries: expected 2"),
    "q a matrix": (lambda: ds.LCP(EYE2, EYE2), ds.ArrayError, r"q has shape \(2, 2\)"),
    "q of objects": (lambda: ds.LCP(EYE2, [0, {}]), ds.ArrayError, "q is not an array of numbers"),
    "free too large": (lambda: ds.MixedLCP(EYE2, [0, 0], 3), ds.ArrayError, "free = 3"),
    "free negative": (lambda: ds.MixedLCP(EYE2, [0, 0], -1), ds.ArrayError, "free = -1"),
    "free a fraction": (lambda: ds.MixedLCP(EYE2, [0, 0], 0.5), ds.ArrayError, "free = 0.5"),
    "free a word": (lambda: ds.MixedLCP(EYE2, [0, 0], "x"), ds.ArrayError, "free = 'x'"),
    "free too long": (
        lambda: ds.MixedLCP(EYE2, [0, 0], [True] * 3),
        ds.ArrayError,
        r"free is \(3,\) of bool: expected 2 booleans",
    ),
    "free of integers": (
        lambda: ds.MixedLCP(EYE2, [0, 0], [0, 1]),
        ds.ArrayError,
        "free is .* of int64: expected 2 booleans",
    ),
    "crossed bounds": (
        lambda: ds.BoxedLCP(EYE2, [0, 0], [0, 2], [1, 1]),
        ds.ProblemError,
        r"lower\[1\] = 2.0 and upper\[1\] = 1.0",
    ),
    "lower is +inf": (
        lambda: ds.BoxedLCP(EYE2, [0, 0], [INF, 0], INF),
        ds.ProblemError,
        r"lower\[0\] = inf",
    ),
    "nan bound": (lambda: ds.BoxedLCP(EYE2, [0, 0], 0, [1, NAN]), ds.ArrayError, r"upper\[1\] is"),
    "short bound": (
        lambda: ds.BoxedLCP(EYE2, [0, 0], [0, 0, 0], 1),
        ds.ArrayError,
        "lower has 3 entries: expected 2",
    ),
    # friction, local
    "nan in W": (
        lambda: ds.FrictionProblem(bad((2, 1), NAN), ZERO3, 0.5),
        ds.ArrayError,
        r"W\[2, 1\] is nan",
    ),
    "negative mu": (
        lambda: ds.FrictionProblem(np.eye(6), np.zeros(6), [0.5, -0.1]),
        ds.ProblemError,
        r"mu\[1\] = -0.1",
    ),
    "nan mu": (lambda: ds.FrictionProblem(EYE3, ZERO3, NAN), ds.ArrayError, r"mu\[0\] is nan"),
    "inf mu": (lambda: ds.FrictionProblem(EYE3, ZERO3, [INF]), ds.ArrayError, r"mu\[0\] is inf"),
    "mu too long": (lambda: ds.FrictionProblem(EYE3, ZERO3, [1, 1]), ds.ArrayError, "mu has 2"),
    "mu a word": (lambda: ds.FrictionProblem(EYE3, ZERO3, "rough"), ds.ArrayError, "mu is not"),
    "dim 4": (lambda: ds.FrictionProblem(EYE3, ZERO3, 1, dim=4), ds.ProblemError, "dim = 4"),
    "rows left over": (
        lambda: ds.FrictionProblem(np.eye(5), np.zeros(5), 1),
        ds.ArrayError,
        "q has 5 entries and bilateral = 0: the rest must be 3",
    ),
    "bilateral too many": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, bilateral=4),
        ds.ArrayError,
        "bilateral = 4",
    ),
    "bilateral negative": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, bilateral=-3),
        ds.ArrayError,
        "bilateral = -3",
    ),
    "bilateral a fraction": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, bilateral=1.5),
        ds.ArrayError,
        "bilateral = 1.5: expected a whole number",
    ),
    "unknown law": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, law="newton"),
        ds.ProblemError,
        "unknown law 'newton': expected one of coulomb, convex, static",
    ),
    "negative diagonal": (
        lambda: ds.FrictionProblem(bad((1, 1), -2.0), ZERO3, 1),
        ds.ProblemError,
        r"W\[1, 1\] = -2",
    ),
    "convex law, asymmetric": (
        lambda: ds.FrictionProblem(bad((0, 2), 0.5), ZERO3, 1, law="convex"),
        ds.ProblemError,
        r"W must be symmetric: W\[0, 2\] = 0.5 but W\[2, 0\] = 0",
    ),
    "convex law, indefinite": (
        lambda: ds.FrictionProblem([[1, 2, 0], [2, 1, 0], [0, 0, 1]], ZERO3, 1, law="convex"),
        ds.ProblemError,
        "W must be positive semidefinite, but has the eigenvalue -1",
    ),
    "slip shape": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, slip=[[1.0]]),
        ds.ArrayError,
        r"slip has shape \(1, 1\): expected \(1, 2\)",
    ),
    "slip nan": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, slip=[[0, NAN]]),
        ds.ArrayError,
        r"slip\[0, 1\] is nan",
    ),
    "slip text": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, slip=[["x", "y"]]),
        ds.ArrayError,
        "slip is not an array",
    ),
    # cones
    "odd k": (lambda: ds.FrictionProblem(EYE3, ZERO3, 1, cone=7), ds.ProblemError, "k=7"),
    "k zero": (lambda: ds.PolyhedralCone(0), ds.ProblemError, "k=0"),
    "k a fraction": (lambda: ds.PolyhedralCone(4.0), ds.ProblemError, r"k=4\.0"),
    "k 4 in the plane": (
        lambda: ds.FrictionProblem(EYE2, [0, 0], 1, dim=2, cone=4),
        ds.ProblemError,
        "k = 2 in the plane",
    ),
    "k 2 in space": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, cone=2),
        ds.ProblemError,
        "k >= 4 in space",
    ),
    "unknown cone": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, cone="square"),
        ds.ProblemError,
        "unknown cone 'square'",
    ),
    "an array as cone": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, cone=np.ones(2)),
        ds.ProblemError,
        "unknown cone",
    ),
    "static polyhedral": (
        lambda: ds.FrictionProblem(EYE3, ZERO3, 1, cone=4, law="static"),
        ds.ProblemError,
        "law 'static' needs a smooth cone",
    ),
    "elliptic in the plane": (
        lambda: ds.FrictionProblem(EYE2, [0, 0], 1, dim=2, cone=ds.EllipticCone()),
        ds.ProblemError,
        "EllipticCone needs two tangents",
    ),
    "soft finger in the plane": (
        lambda: ds.FrictionProblem(EYE2, [0, 0], 1, dim=2, cone=ds.SoftFingerCone(1.0)),
        ds.ProblemError,
        "SoftFingerCone needs dim=3",
    ),
    "ratio zero": (lambda: ds.EllipticCone((1, 0)), ds.ProblemError, "ratios holds 0"),
    "ratio nan": (lambda: ds.EllipticCone((NAN, 1)), ds.ProblemError, "ratios holds nan"),
    "one ratio": (lambda: ds.EllipticCone((1.0,)), ds.ProblemError, "expected two numbers"),
    "angle inf": (lambda: ds.EllipticCone(angle=INF), ds.ProblemError, "angle = inf"),
    "radius negative": (lambda: ds.SoftFingerCone(-1), ds.ProblemError, "radius holds -1"),
    "radius a word": (lambda: ds.SoftFingerCone("r"), ds.ProblemError, "radius holds 'r'"),
    # operator
    "J nan": (
        lambda: ds.DelassusOperator(bad((0, 0), NAN), EYE3),
        ds.ArrayError,
        r"J\[0, 0\] is nan",
    ),
    "inverse mass shape": (
        lambda: ds.DelassusOperator(EYE3, EYE2),
        ds.ArrayError,
        "inverse_mass has 2 rows: expected 3",
    ),
    "inverse mass asymmetric": (
        lambda: ds.DelassusOperator(EYE3, bad((0, 1), 0.25)),
        ds.ProblemError,
        r"inverse_mass must be symmetric: inverse_mass\[0, 1\] = 0.25",
    ),
    "inverse mass indefinite": (
        lambda: ds.DelassusOperator(EYE2, [[1, 2], [2, 1]]),
        ds.ProblemError,
        r"rows \[0, 1\] have the eigenvalue -1",
    ),
    # friction, global
    "M asymmetric": (
        lambda: ds.GlobalFrictionProblem(bad((1, 0), 0.5), EYE3, ZERO3, ZERO3, 1),
        ds.ProblemError,
        r"M must be symmetric: M\[0, 1\] = 0 but M\[1, 0\] = 0.5",
    ),
    "M indefinite": (
        lambda: ds.GlobalFrictionProblem([[1, 2], [2, 1]], EYE2, [0, 0], [0, 0], 1, dim=2),
        ds.ProblemError,
        r"M must be positive definite: rows \[0, 1\] have the eigenvalue -1",
    ),
    "M singular": (
        lambda: ds.GlobalFrictionProblem(np.ones((2, 2)), EYE2, [0, 0], [0, 0], 1, dim=2),
        ds.ProblemError,
        "M must be positive definite",
    ),
    "M with a massless row": (
        lambda: ds.GlobalFrictionProblem(np.diag([1, 0, 1]), EYE3, ZERO3, ZERO3, 1),
        ds.ProblemError,
        r"M must be positive definite, but M\[1, 1\] = 0",
    ),
    "H rows": (
        lambda: ds.GlobalFrictionProblem(EYE3, np.eye(2, 3), ZERO3, ZERO3, 1),
        ds.ArrayError,
        "H has 2 rows: expected 3",
    ),
    "b size": (
        lambda: ds.GlobalFrictionProblem(EYE3, EYE3, ZERO3, [0, 0], 1),
        ds.ArrayError,
        "b has 2 entries: expected 3",
    ),
    "b left over": (
        lambda: ds.GlobalFrictionProblem(EYE2, EYE2, [0, 0], [0, 0], 1),
        ds.ArrayError,
        "b has 2 entries and bilateral = 0: the rest must be 3",
    ),
    "global law": (
        lambda: ds.GlobalFrictionProblem(EYE3, EYE3, ZERO3, ZERO3, 1, law="x"),
        ds.ProblemError,
        "unknown law 'x'",
    ),
    "global mu": (
        lambda: ds.GlobalFrictionProblem(EYE3, EYE3, ZERO3, ZERO3, -1),
        ds.ProblemError,
        r"mu\[0\] = -1",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_raises_and_names_the_entry(case):
    build, error, message = CASES[case]
    with pytest.raises(error, match=message) as caught:
        build()
    assert isinstance(caught.value, ds.DrystoneError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("n", [20, 40])
def test_coupled_mass_matrix_that_is_not_definite(n):
    """Beyond body-sized blocks the factorisation itself is the check."""
    chain = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr()
    H, zeros = np.eye(n, 3), np.zeros(n)
    ds.GlobalFrictionProblem(chain, H, zeros, ZERO3, 1)  # definite: taken
    shift = 2.0 - 2.0 * np.cos(np.pi / (n + 1))  # its smallest eigenvalue
    indefinite = chain - 1.01 * shift * sp.eye_array(n)
    free_chain = sp.csr_array(chain - sp.diags_array(np.eye(n)[0] + np.eye(n)[-1]))  # singular
    for M in (indefinite, free_chain):
        with pytest.raises(ds.ProblemError, match="M must be positive definite"):
            ds.GlobalFrictionProblem(M, H, zeros, ZERO3, 1)


def test_guess_is_checked():
    problem = ds.LCP(EYE2, [1, 1])
    with pytest.raises(ds.ArrayError, match="guess has 3 entries: expected 2"):
        problem.residual([0, 0, 0])
    with pytest.raises(ds.ArrayError, match=r"guess\[1\] is nan"):
        problem.residual([0, NAN])


def test_integers_booleans_and_lists_are_numbers():
    assert ds.LCP([[2, 0], [0, True]], [1, 2]).M.dtype == np.float64
    assert ds.FrictionProblem(np.eye(3, dtype=np.float32), [0, 0, 1], 1).q.dtype == np.float64


def test_empty_problems_are_allowed():
    assert ds.LCP(np.zeros((0, 0)), []).residual([]) == 0.0
    assert ds.FrictionProblem(np.zeros((0, 0)), [], []).residual([]) == 0.0
    free = ds.GlobalFrictionProblem(np.eye(2), np.zeros((2, 0)), [1, 2], [], [])
    assert free.residual([]) == 0.0
    assert free.velocity(np.zeros(0)).tolist() == [1.0, 2.0]
