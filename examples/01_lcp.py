"""A linear complementarity problem by Lemke's method, and one that has no solution.

Two springs with end stops: find gaps w and forces z, each pair with one of the two at zero.
"""

import numpy as np

import drystone as ds

M = np.array([[2.0, 1.0], [1.0, 2.0]])
q = np.array([-5.0, 1.0])

solution = ds.solve(ds.LCP(M, q), "lemke")
print(solution)
print("z =", solution.value, " w =", solution.dual)

hopeless = ds.solve(ds.LCP(-np.eye(2), [-1.0, -1.0]), "lemke")
print(hopeless.status.value, hopeless.ray)


def check():
    z, w = solution.value, solution.dual
    assert solution.ok
    assert (z >= 0).all()
    assert (w >= -1e-12).all()
    assert abs(z @ w) < 1e-12
    assert np.allclose(z, [2.5, 0.0])  # by hand: only the first spring is pressed
    assert not hopeless.ok


check()
