"""Sweeps on several threads: the same bits on any number of them, and the law is met."""

import numpy as np
import pytest

import drystone as ds
from drystone.errors import OptionError
from drystone.kernels import rows as kernels
from drystone.kernels import status
from drystone.kernels._jit import MODE
from drystone.kernels.contact import packed_planar, packed_spatial
from drystone.kernels.contact.parallel_order import order_contacts
from drystone.kernels.layout import BODY_2, BODY_3, CONTACT_2, CONTACT_3
from drystone.kernels.packed import Packed
from drystone.steppers.time_stepping import threads as module
from drystone.steppers.time_stepping.threads import (
    Sweeper,
    arrange,
    count_parts,
    count_threads,
    sweep_islands,
)
from tests.kernels.row_doubles import dense_J, inverse_mass_matrix, random_rows

pytestmark = pytest.mark.kernels


def heap(dim, side, seed=0):
    """Bodies on a lattice that touch their neighbours, the lowest layer fixed; falling."""
    rng = np.random.default_rng(seed)
    at = np.arange(side**dim).reshape((side,) * dim)
    pairs = [
        np.stack([np.moveaxis(at, k, 0)[1:].ravel(), np.moveaxis(at, k, 0)[:-1].ravel()], 1)
        for k in range(dim)
    ]
    body = np.concatenate(pairs)
    fixed = side ** (dim - 1)
    body = np.ascontiguousarray(body[body[:, 0] >= fixed])
    a = random_rows(rng, dim, side**dim, len(body), fixed)
    a["body"] = body
    a["position"] = np.stack(np.unravel_index(at.ravel(), at.shape), 1) + 0.05 * rng.normal(
        size=(side**dim, dim)
    )
    x, y = a["position"][body[:, 0]], a["position"][body[:, 1]]
    normal = (x - y) / np.linalg.norm(x - y, axis=1, keepdims=True)
    a["point"] = 0.5 * (x + y)
    if dim == 2:
        kernels.frames_planar(normal, a["frame"])
        fill, pack, widths = kernels.rows_planar, packed_planar.pack_planar, (CONTACT_2, BODY_2)
    else:
        args = np.zeros((len(body), 3)), np.ones((len(body), 2)), 1.0
        kernels.frames_spatial(normal, *args, a["frame"])
        fill, pack, widths = kernels.rows_spatial, packed_spatial.pack_spatial, (CONTACT_3, BODY_3)
    head = (a["inverse_mass"], a["inverse_inertia"], a["position"], body, a["point"], a["frame"])
    fill(*head, a["J"], a["P"], a["D"])
    a["contact"] = np.full((len(body), widths[0].WIDTH), np.nan)
    a["motion"] = np.full((side**dim, widths[1].WIDTH), np.nan)
    pack(body, a["frame"], a["point"], a["position"], *head[:2], a["contact"], a["motion"], a["D"])
    a["v"] = 0.3 * rng.normal(size=(side**dim, a["dof"])) * a["moves"][:, None]
    a["v"][:, 0] -= a["moves"]
    return a


def solved(
    a, sweeper, start=None, tol=1e-6, sweep_limit=400, loose_tol=None, min_sweeps=None,
    fallback_tol=None,
):  # fmt: skip
    """All results of a solve, as arrays; with `fallback_tol` slow islands are left."""
    nc, dim = a["nc"], a["dim"]
    start = np.array([0, nc]) if start is None else start
    ni = start.size - 1
    q = (dense_J(a) @ a["v"].ravel()).reshape(nc, dim)
    v, r, u = a["v"].copy(), np.zeros((nc, dim)), np.full((nc, dim), np.nan)
    ended, sweeps, residual = np.zeros(ni, np.int64), np.zeros(ni, np.int64), np.zeros((ni, 2))
    s = Packed(
        start=start, body=a["body"], bias=np.zeros((nc, dim)), mu=np.full(nc, 0.4), law=0,
        island_tol=np.full(ni, tol), loose_tol=np.full(ni, loose_tol or tol),
        fallback_tol=np.full(ni, fallback_tol or loose_tol or tol),
        min_sweeps=np.full(ni, min_sweeps or sweep_limit), sweep_limit=np.full(ni, sweep_limit),
        leave=int(fallback_tol is not None), q=q, v=v, r=r, u=u, ended=ended,
        only_sweeps=0, tol=0.0, energy_gap=np.zeros(ni),
        sweeps=sweeps, residual=residual, contact=a["contact"], motion=a["motion"],
        position=a["position"],
    )  # fmt: skip
    if sweeper is None:
        sweep_islands(s, np.arange(ni))
    else:
        sweeper.solve(s, np.arange(ni))
    return {"r": r, "v": v, "u": u, "ended": ended, "sweeps": sweeps, "residual": residual, "q": q}


def same(one, other):
    return all((one[name] == other[name]).all() for name in one)


@pytest.fixture
def small(monkeypatch):
    """Islands of a few contacts count as large."""
    monkeypatch.setattr(module, "LARGE_ISLANDS", 20)
    monkeypatch.setattr(module, "SHARED_TOTAL", 2)


@pytest.mark.parametrize("sweeper", [None, Sweeper(1)])
@pytest.mark.parametrize(("dim", "side"), [(2, 6), (3, 4)])
def test_the_loose_tolerance_ends_a_solve_after_the_fewest_sweeps(small, dim, side, sweeper):
    a = heap(dim, side)
    exact = solved(a, sweeper)
    for least in (1, 12):
        done = solved(a, sweeper, loose_tol=1e-2, min_sweeps=least)
        assert done["ended"][0] == status.RUNNING
        assert done["residual"].max() <= 1e-2
        assert least <= done["sweeps"][0] < exact["sweeps"][0]
    soon = solved(a, sweeper, tol=1e-2, loose_tol=1e-1, min_sweeps=12)
    assert soon["ended"][0] == status.SOLVED
    assert soon["sweeps"][0] <= 12


@pytest.mark.parametrize("sweeper", [None, Sweeper(1)])
@pytest.mark.parametrize(("dim", "side"), [(2, 6), (3, 4)])
def test_an_island_that_converges_slowly_gets_its_fallback_tolerance(small, dim, side, sweeper):
    a = heap(dim, side)
    ask = {"tol": 1e-15, "loose_tol": 1e-14, "min_sweeps": 30, "sweep_limit": 60}
    left = solved(a, sweeper, fallback_tol=1e-14, **ask)
    assert left["ended"][0] == status.RUNNING
    assert left["sweeps"][0] < 60, "it is left"
    wanted = 0.3 * left["residual"].max()
    done = solved(a, sweeper, fallback_tol=wanted, **ask)
    assert done["ended"][0] == status.RUNNING, "what was asked for is not reached"
    assert done["residual"].max() <= wanted
    assert left["sweeps"][0] < done["sweeps"][0] <= 60


@pytest.mark.parametrize(("dim", "side"), [(2, 6), (3, 4)])
def test_an_island_in_parts_meets_the_law(small, dim, side):
    a = heap(dim, side)
    assert count_parts(a["nc"]) > 1
    done = solved(a, Sweeper(1))
    J, inverse = dense_J(a), inverse_mass_matrix(a)
    problem = ds.FrictionProblem(
        J @ inverse @ J.T, done["q"].ravel(), np.full(a["nc"], 0.4), dim=dim
    )
    judged = problem.residuals(done["r"].ravel())
    assert max(judged) <= 1.001e-6
    np.testing.assert_allclose(done["residual"][0], judged, rtol=1e-6)
    assert done["ended"][0] == status.SOLVED
    change = (inverse @ J.T @ done["r"].ravel()).reshape(done["v"].shape)
    np.testing.assert_allclose(done["v"], a["v"] + change, atol=1e-12)
    np.testing.assert_allclose(done["u"].ravel(), J @ done["v"].ravel(), atol=1e-12)
    plain = solved(a, None)
    assert done["sweeps"][0] <= 2 * plain["sweeps"][0], "parts cost few sweeps"


@pytest.mark.skipif(MODE == "off", reason="one thread without a compiler")
@pytest.mark.parametrize(("dim", "side"), [(2, 9), (3, 5)])
def test_bits_do_not_depend_on_the_number_of_threads(small, dim, side):
    a = heap(dim, side, 1)
    assert count_parts(a["nc"]) >= 4
    alone = solved(a, Sweeper(1))
    for threads in (2, 3, 4):
        sweeper = Sweeper(threads)
        for _ in range(15):
            assert same(alone, solved(a, sweeper)), threads


@pytest.mark.parametrize("threads", [1] if MODE == "off" else [1, 2, 3])
def test_islands_are_shared_out(monkeypatch, threads):
    """Pairs of bodies, and heaps of another size: the same bits as one after the other."""
    monkeypatch.setattr(module, "SHARED_TOTAL", 2)
    a = random_rows(np.random.default_rng(4), 3, 21, 10, 1)
    a["body"][:] = np.arange(1, 21).reshape(10, 2)
    a["contact"] = np.full((10, CONTACT_3.WIDTH), np.nan)
    a["motion"] = np.full((21, BODY_3.WIDTH), np.nan)
    packed_spatial.pack_spatial(
        a["body"], a["frame"], a["point"], a["position"], a["inverse_mass"],
        a["inverse_inertia"], a["contact"], a["motion"], a["D"],
    )  # fmt: skip
    a["J"][:], a["v"] = 0.0, np.random.default_rng(5).normal(size=(21, 6))
    start = np.arange(11)
    assert same(solved(a, None, start), solved(a, Sweeper(threads), start))


@pytest.mark.parametrize("dim", [2, 3])
def test_parts_share_no_moving_body(dim):
    a = heap(dim, 5, 2)
    work = np.empty((5, a["nb"]), np.int64)
    number, order, first_body = arrange(0, a["nc"], a["body"], a["moves"], a["position"], 4, work)
    touched = np.unique(a["body"])
    moving = int(a["moves"][touched].sum())
    assert sorted(order) == list(touched)
    assert list(number[order]) == list(range(order.size))
    assert a["moves"][order[:moving]].all()
    assert np.ptp(np.diff(first_body)) <= 2, "parts are of about the same size"
    rows, first = np.empty(a["nc"], np.int64), np.empty(6, np.int64)
    assert order_contacts(0, a["nc"], a["body"], number, first_body, rows, first) == 0
    assert sorted(rows) == list(range(a["nc"]))
    assert first[0] == 0
    assert first[-1] == a["nc"]
    part = np.searchsorted(first_body, number, side="right") - 1  # those that do not move: 4
    for p in range(4):
        of = part[a["body"][rows[first[p] : first[p + 1]]]]
        assert ((of == p) | (of == 4)).all()
    between = part[a["body"][rows[first[4] :]]]
    assert (between[:, 0] != between[:, 1]).all()
    assert (between < 4).all()
    assert len(between) < 0.4 * a["nc"]


def test_the_number_of_parts_is_one_of_the_size_alone():
    assert [count_parts(n) for n in (1, 8191, 8192, 16384, 32768, 10**6)] == [1, 1, 2, 4, 8, 8]


def test_threads_by_environment(monkeypatch):
    monkeypatch.setenv("DRYSTONE_THREADS", "3")
    assert count_threads() == (1 if MODE == "off" else 3)
    monkeypatch.delenv("DRYSTONE_THREADS")
    assert count_threads() in (1, 2)
    if MODE != "off":
        for text in ("0", "-1", "two"):
            monkeypatch.setenv("DRYSTONE_THREADS", text)
            with pytest.raises(OptionError, match=f"DRYSTONE_THREADS='{text}'"):
                count_threads()
