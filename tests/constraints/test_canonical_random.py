"""Canonical forces of random small structures: the law, the motion, and the least norm against an
interior-point solver that shares nothing with them."""

from itertools import pairwise

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

import drystone as ds

G = 9.81
SOLID = {"density": 1000.0, "friction": 0.5}


def block(world, width, height, place, **given):
    """A box in the plane or in space; place: of its middle."""
    if world.planar:
        world.add_body(ds.Rectangle(width, height), position=(place[0], place[-1]), **given)
    else:
        world.add_body(ds.Box(width, 0.3, height), position=place, **given)


def ground(rng, planar):
    load = (rng.uniform(-0.8, 0.8), rng.uniform(-0.3, 0.3), -G)
    world = ds.World(planar=planar, gravity=(load[0], -G) if planar else load)
    world.add_ground(friction=0.5)
    return world


def stack(rng, planar):
    world, top, x = ground(rng, planar), 0.0, 0.0
    for _ in range(rng.integers(2, 5)):
        height, x = rng.uniform(0.1, 0.2), x + rng.uniform(-0.04, 0.04)
        y = 0.0 if planar else rng.uniform(-0.03, 0.03)
        block(world, rng.uniform(0.35, 0.5), height, (x, y, top + height / 2), **SOLID)
        top += height
    return world


def lintel(rng, planar):
    """A beam on three piers, and a block on it."""
    world, height = ground(rng, planar), rng.uniform(0.1, 0.3)
    for k in range(3):
        x = 0.5 * k - 0.5 + rng.uniform(-0.05, 0.05)
        block(world, rng.uniform(0.25, 0.35), height, (x, 0, height / 2), **SOLID)
    block(world, 1.4, 0.1, (0, 0, height + 0.05), **SOLID)
    block(world, 0.4, 0.2, (rng.uniform(-0.4, 0.4), 0, height + 0.2), **SOLID)
    return world


def wall(rng, planar):
    """Three rows of stones of random widths, which touch."""
    world = ground(rng, planar)
    for row in range(3):
        cuts = np.concatenate([[0.0], np.cumsum(rng.uniform(0.2, 0.4, 3))])
        cuts *= 1.0 / cuts[-1]
        for left, right in pairwise(cuts):
            block(world, right - left, 0.15, ((left + right) / 2, 0, 0.15 * row + 0.075), **SOLID)
    return world


def sliders(rng, planar):
    """A stack of which each body slides on the one below."""
    world = ground(rng, planar)
    for k in range(3):
        way = (1.0 + k + rng.uniform(0, 0.5), rng.uniform(-0.5, 0.5), 0.0)
        block(
            world, 0.4, 0.1, (rng.uniform(-0.03, 0.03), 0, 0.1 * k + 0.05),
            velocity=(way[0], 0.0) if planar else way, **SOLID,
        )  # fmt: skip
    return world


def balance(sim, table):
    """(rows, dim n): force and moment about the origin on bodies that move, by all forces."""
    dim, names = sim.model.dim, [str(name) for name in sim.model.names]
    moves = [name for name, m in zip(names, sim.model.inverse_mass, strict=True) if m > 0]
    width, n = 3 * (dim - 1), len(table)
    A = np.zeros((len(moves), width, n, dim))
    for i, row in enumerate(table):
        p = row["point"]
        if dim == 2:
            arm = np.array([[-p[1], p[0]]])
        else:
            arm = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
        for body, sign in zip(row["bodies"].tolist(), (1.0, -1.0), strict=True):
            if body in moves:
                A[moves.index(body), :, i] = sign * np.concatenate([np.eye(dim), arm])
    return A.reshape(len(moves) * width, n * dim)


def least(A, table, slides, ways):
    """min |f|^2 with A f as the table has it, f in its cone, along a given way where it slides."""
    n, dim = table["normal"].shape
    scale = np.abs(table["force"]).max()
    rows, cones = [A], [clarabel.ZeroConeT(A.shape[0])]
    right = [A @ (table["force"].ravel() / scale)]
    for i, row in enumerate(table):
        normal = row["normal"]
        if slides[i]:
            across = np.linalg.svd(ways[i][None])[2][1:]
            cones += [clarabel.ZeroConeT(dim - 1), clarabel.NonnegativeConeT(1)]
            part = np.concatenate([across, -ways[i][None]])
        elif dim == 2:  # |f t| <= mu f n
            across = np.array([-normal[1], normal[0]])
            part = -(row["friction"] * normal + np.array([[1.0], [-1.0]]) * across)
            cones.append(clarabel.NonnegativeConeT(2))
        else:  # |f - (f n) n| <= mu f n
            part = -np.vstack([row["friction"] * normal, np.eye(3) - np.outer(normal, normal)])
            cones.append(clarabel.SecondOrderConeT(4))
        whole = np.zeros((part.shape[0], n * dim))
        whole[:, dim * i : dim * i + dim] = part
        rows.append(whole)
        right.append(np.zeros(part.shape[0]))
    A_all, right_all = sp.csc_matrix(np.concatenate(rows)), np.concatenate(right)
    found = []
    for scaled in (True, False):  # which leaves fewer digits differs
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.equilibrate_enable = False, scaled
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
        settings.iterative_refinement_reltol = settings.iterative_refinement_abstol = 1e-16
        settings.iterative_refinement_max_iter = 50
        run = clarabel.DefaultSolver(
            sp.identity(n * dim, format="csc"), np.zeros(n * dim), A_all, right_all, cones, settings
        ).solve()
        gap = abs(run.obj_val - run.obj_val_dual) + np.abs(A @ run.x - right[0]).max()
        found.append((gap, np.array(run.x)))
    _, x = min(found, key=lambda one: one[0])
    return scale * x.reshape(n, dim)


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
@pytest.mark.parametrize("kind", [stack, lintel, wall, sliders])
@pytest.mark.parametrize("seed", range(6))
def test_random_structures_have_the_least_forces(kind, planar, seed):
    sim = ds.Simulation(kind(np.random.default_rng(seed), planar), forces="canonical")
    sim.run(1 / 240 if kind is sliders else 0.05)
    assert sim.report.ok
    before, after = sim.stepper.contact_table(), sim.contacts
    assert sim.canonical_forces.all()
    scale = np.abs(before["force"]).max()
    A = balance(sim, after)
    old, new = before["force"], after["force"]
    # the motion
    assert np.abs(A @ (new - old).ravel()).max() <= 1e-10 * scale
    # the law
    n, mu = after["normal"], after["friction"]
    pressed = (new * n).sum(axis=1)
    rubbed = np.linalg.norm(new - pressed[:, None] * n, axis=1)
    assert pressed.min() >= -1e-10 * scale
    assert (rubbed - mu * pressed).max() <= 1e-10 * scale
    slides = (before["state"] == "slip") & (np.linalg.norm(old, axis=1) > 1e-9 * scale)
    if kind is sliders:
        assert slides.any()
    else:
        assert np.abs(sim.state.velocity).max() < 1e-8
    ways = old / np.maximum(np.linalg.norm(old, axis=1), 1e-300)[:, None]
    across = new - (new * ways).sum(axis=1)[:, None] * ways
    assert np.abs(across[slides]).max(initial=0.0) <= 1e-10 * scale
    # the least norm
    best = least(A, before, slides, ways)
    assert (new**2).sum() == pytest.approx((best**2).sum(), rel=1e-8)
    assert np.abs(new - best).max() <= 1e-7 * scale


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
@pytest.mark.parametrize("seed", range(3))
def test_mirrored_walls_have_mirrored_forces(seed, planar):
    rng = np.random.default_rng(seed)
    world = ds.World(planar=planar)
    world.add_ground(friction=0.5)
    for row in range(4):
        half = np.sort(rng.uniform(0.1, 0.5, 1 + row % 2))
        cuts = np.concatenate([[-0.6], -half[::-1], half, [0.6]])
        for left, right in pairwise(cuts):
            block(world, right - left, 0.15, ((left + right) / 2, 0, 0.15 * row + 0.075), **SOLID)
    sim = ds.Simulation(world)
    sim.run(0.05)
    table, mirror = sim.contacts, np.array([-1.0] + [1.0] * (sim.model.dim - 1))
    assert sim.canonical_forces.all()
    names, at = np.array(sim.model.names), sim.state.position
    away = np.abs(at[:, None] * mirror - at[None]).max(axis=2)
    other = dict(zip(names, names[away.argmin(axis=1)], strict=True))
    scale, found = np.abs(table["force"]).max(), 0
    for row in table:
        near = np.abs(table["point"] - mirror * row["point"]).max(axis=1) < 1e-9
        pair = [other[name] for name in row["bodies"].tolist()]
        for order, sign in ((pair, 1.0), (pair[::-1], -1.0)):
            for twin in table[near & (table["bodies"] == order).all(axis=1)]:
                found += 1
                want = sign * mirror * twin["force"]
                assert np.abs(row["force"] - want).max() <= 1e-9 * scale
    assert found >= len(table)


@pytest.mark.parametrize("planar", [True, False], ids=["planar", "spatial"])
def test_forces_are_continuous_where_the_load_is(planar):
    """A wall under a push that grows slowly: from step to step forces change by no more than it."""
    world, push = wall(np.random.default_rng(1), planar), 2.0

    def load(model, state):
        out = np.zeros((model.nb, model.dof))
        out[-1, 0] = push * state.time
        return out

    world.add_force(ds.Callback(load))
    sim = ds.Simulation(world)
    sim.step()
    last = sim.contacts["force"]
    for _ in range(120):
        sim.step()
        now = sim.contacts["force"]
        assert sim.canonical_forces.all()
        assert np.abs(now - last).max() <= push * sim.method.dt
        last = now
