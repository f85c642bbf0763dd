"""A rod sliding on its tip: two contact forces obey the law, or none does (Baraff 1992, 10.1).

With the right spin, exactly f_N = 0 (the tip lifts off) and f_N = m (it keeps sliding) are
possible. Without spin no force is, and Lemke's method returns the direction of the impulse that
resolves the matter.
"""

import numpy as np

import drystone as ds
from drystone.problems import classic

mass = 2.0
both = ds.solve(classic.rod(mass), "enumerative")
for r in both.solutions:
    print(f"normal force {r[0]:.6f}, friction {r[1]:.6f}")

none = ds.solve(classic.inconsistent_rod(mass), "lemke")
print(none.status.value)
print("direction of the impulse:", none.ray)


def check():
    assert sorted(round(float(r[0]), 12) for r in both.solutions) == [0.0, mass]
    assert both.info["count"] == 2
    assert not none.ok
    ray = none.ray / none.ray[0]
    problem = classic.inconsistent_rod(mass)
    assert np.allclose(ray, [1.0, problem.mu[0]])  # friction against the slip, at its bound
    assert (problem.dense @ ray)[0] <= 0.0  # pressing harder does not help


check()
