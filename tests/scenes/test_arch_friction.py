"""The least friction of an arch: where simulations begin to stand, limit analysis begins to have
forces that balance the weights. The linear program knows nothing of the engine."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import drystone as ds

STONES, RATIO = 15, 0.15


def balanced(mu):
    """Whether any forces within friction mu, at both ends of each joint, balance the stones."""
    inner, outer = 1 - RATIO / 2, 1 + RATIO / 2
    angles = math.pi * np.arange(STONES + 1) / STONES
    along = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    onward = np.stack([-along[:, 1], along[:, 0]], axis=1)  # across a joint, to the next stone
    A = np.zeros((3 * STONES, 4 * (STONES + 1)))
    b = np.zeros(3 * STONES)
    for k in range(STONES):
        corners = np.array([f * along[j] for f, j in
                            ((inner, k), (outer, k), (outer, k + 1), (inner, k + 1))])  # fmt: skip
        x, y = corners.T
        cross = x * np.roll(y, -1) - np.roll(x, -1) * y
        area = cross.sum() / 2
        centre = np.array([((v + np.roll(v, -1)) * cross).sum() for v in (x, y)]) / (6 * area)
        b[3 * k + 1] = area
        for j, sign in ((k, 1.0), (k + 1, -1.0)):
            for end, radius in enumerate((inner, outer)):
                arm = radius * along[j] - centre
                for part, way in enumerate((onward[j], along[j])):
                    column = 4 * j + 2 * end + part
                    A[3 * k : 3 * k + 2, column] = sign * way
                    A[3 * k + 2, column] = sign * (arm[0] * way[1] - arm[1] * way[0])
    cones = np.zeros((4 * (STONES + 1), A.shape[1]))
    for i in range(2 * (STONES + 1)):
        for row, sign in ((2 * i, 1.0), (2 * i + 1, -1.0)):
            cones[row, 2 * i], cones[row, 2 * i + 1] = -mu, sign
    bounds = [(0, None), (None, None)] * (2 * (STONES + 1))
    found = linprog(
        np.zeros(A.shape[1]), cones, np.zeros(len(cones)), A, b / b.max(), bounds, method="highs"
    )
    return found.status == 0


def moved(mu):
    sim = ds.scene("arch", planar=True, n=STONES, ratio=RATIO, mu=mu).simulation()
    start = sim.state.position.copy()
    sim.run(1.0)
    return np.abs(sim.state.position - start).max()


def test_an_arch_stands_from_the_friction_of_limit_analysis_on():
    low, high = 0.2, 0.7
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if balanced(middle) else (middle, high)
    assert high == pytest.approx(0.34838, abs=2e-5)  # what the tutorial says
    assert moved(1.002 * high) < 1e-9
    assert moved(0.998 * low) > 0.01  # a little below, it falls slowly
