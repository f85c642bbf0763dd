"""Stacks, walls, arches, cards: what statics says stands, stands; and the rest falls."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.scenes.running import run


@pytest.mark.parametrize("planar", [False, True])
def test_heavy_on_light_stands(planar):
    done = run("mass-ratio", 5.0, planar=planar)
    assert done.depth < 1e-6
    assert done.moved < 1e-6
    assert done.failed == 0


def test_the_other_way_round_too():
    assert run("mass-ratio", 1.0, factor=0.1).moved < 1e-6


@pytest.mark.parametrize("planar", [False, True])
def test_a_pyramid_of_55_stands(planar):
    done = run("pyramid", 5.0, rows=10, planar=planar)
    assert done.moved < 1e-5
    assert done.depth < 1e-6
    assert done.failed == 0


def test_a_planar_pyramid_of_210_stands():
    done = run("pyramid", 1.0, rows=20, planar=True)
    assert done.moved < 1e-5
    assert done.depth < 1e-6


@pytest.mark.slow
def test_a_pyramid_of_210_stands():
    done = run("pyramid", 5.0, rows=20)
    assert done.moved < 1e-5
    assert done.depth < 1e-6
    assert done.failed == 0


def test_a_pyramid_carries_its_weight_to_the_ground():
    """Independent of how it is shared: 55 kg times g, and no net thrust."""
    sim = run("pyramid", 0.1).sim
    down = [c for c in sim.contacts if "ground" in c["bodies"]]
    total = sum(c["force"] if c["bodies"][1] == "ground" else -c["force"] for c in down)
    assert total == pytest.approx([0, 0, 55 * 9.81], abs=1e-4)


def thrust_exists(n, ratio, mu):
    """Whether n rigid voussoirs can be in equilibrium without tension and within friction cones.

    Lower bound theorem: forces (normal at both ends of every joint, one shear) on each block, as a
    linear programme; geometry of straight-edged voussoirs, areas and centroids by triangles.
    """
    half = 0.5 * math.pi / n
    inner, outer = 1 - ratio / 2, 1 + ratio / 2
    angles = np.pi - 2 * half * np.arange(n + 1)  # joints from left to right, measured from +x
    radial = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = np.stack([np.sin(angles), -np.cos(angles)], axis=1)  # clockwise, out of block k
    A = np.zeros((3 * n, 3 * (n + 1)))
    b = np.zeros(3 * n)
    for k in range(n):
        corners = [
            inner * radial[k],
            outer * radial[k],
            outer * radial[k + 1],
            inner * radial[k + 1],
        ]
        area, centroid = polygon(np.array(corners))
        b[3 * k + 1] = area
        for joint, sign in ((k, 1.0), (k + 1, -1.0)):
            for e, (force, arm) in enumerate(
                (
                    (along[joint], inner * radial[joint]),
                    (along[joint], outer * radial[joint]),
                    (radial[joint], radial[joint]),
                )
            ):
                column = 3 * joint + e
                A[3 * k : 3 * k + 2, column] += sign * force
                lever = arm - centroid
                A[3 * k + 2, column] += sign * (lever[0] * force[1] - lever[1] * force[0])
    cones = np.zeros((2 * (n + 1), 3 * (n + 1)))
    for j in range(n + 1):
        for row, sign in ((2 * j, 1.0), (2 * j + 1, -1.0)):
            cones[row, 3 * j : 3 * j + 3] = -mu, -mu, sign
    bounds = [(0, None), (0, None), (None, None)] * (n + 1)
    free = np.zeros(3 * (n + 1))
    return linprog(free, cones, np.zeros(len(cones)), A, b, bounds).status == 0


def polygon(p):
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
    centroid = ((p + q) * cross[:, None]).sum(axis=0) / (3 * cross.sum())
    return abs(cross.sum()) / 2, centroid


@pytest.mark.parametrize("planar", [False, True])
def test_an_arch_thick_enough_stands(planar):
    assert thrust_exists(15, 0.15, 0.7)
    done = run("arch", 5.0, ratio=0.15, mu=0.7, planar=planar)
    assert done.moved < 1e-4
    assert done.depth < 1e-6
    assert done.failed == 0


@pytest.mark.parametrize("planar", [False, True])
def test_an_arch_too_thin_falls(planar):
    assert not thrust_exists(15, 0.09, 0.7)
    done = run("arch", 1.5, ratio=0.09, mu=0.7, planar=planar)
    assert done.moved > 0.5
    assert done.depth < 1e-2


@pytest.mark.parametrize(
    ("ratio", "mu"), [(0.1, 0.7), (0.106, 0.7), (0.11, 0.7), (0.15, 0.2), (0.15, 0.4)]
)
def test_an_arch_stands_where_limit_analysis_says(ratio, mu):
    """Milankovitch's 0.1075 and the friction limit, found again by the engine in the plane."""
    done = run("arch", 1.0, ratio=ratio, mu=mu, planar=True)
    assert (done.moved < 1e-4) == thrust_exists(15, ratio, mu)


def test_a_card_house_stands():
    done = run("card-house", 5.0)
    assert done.moved < 1e-6
    assert done.failed == 0


def test_a_card_house_on_slippery_ground_falls():
    """A single pair holds from mu = (tan(tilt) - t / L) / 2 = 0.117 on: at the top edges meet, and
    their normal is the mean of the cards' own (Baraff 1989, 4.1), horizontal by symmetry."""
    assert run("card-house", 0.5, storeys=1, mu=0.11).moved > 1e-3
    assert run("card-house", 0.5, storeys=1, mu=0.12).moved < 1e-6
    assert run("card-house", 0.5, mu=0.10).moved > 1e-2


def test_a_dry_wall_stands():
    done = run("wall", 0.25, courses=5, columns=3)
    assert done.moved < 1e-6
    assert done.failed == 0


def test_dominoes_fall_one_after_the_other():
    sim = run("dominoes", 2.0, n=12).sim
    _, x, y, _ = sim.state.orientation[1:].T
    lean = np.degrees(np.arccos(1 - 2 * (x * x + y * y)))
    assert (lean > 30).all()
    still = run("dominoes", 0.5, n=3, push=0.0)
    assert still.moved < 1e-9
