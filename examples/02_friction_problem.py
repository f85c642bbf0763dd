"""A block on an incline: it sticks below the angle of friction and slides above it.

One step of length dt at rest: contact frame (normal, down-hill, sideways), impulses in N s.
"""

import numpy as np

import drystone as ds

mass, g, dt, mu = 2.0, 9.81, 0.01, 0.5  # the angle of friction is atan(0.5) = 26.6 degrees


def block(degrees):
    a = np.deg2rad(degrees)
    free = g * dt * np.array([-np.cos(a), np.sin(a), 0.0])
    return ds.FrictionProblem(np.eye(3) / mass, free, mu)


steep, gentle = ds.solve(block(35.0)), ds.solve(block(20.0))
for name, solution in (("35 degrees", steep), ("20 degrees", gentle)):
    print(f"{name}: impulse {solution.value.round(4)}, velocity {solution.dual.round(4)}")
    print("  ", solution)


def check():
    assert gentle.ok
    assert np.allclose(gentle.dual, 0.0, atol=1e-8)  # it stays
    assert steep.ok
    a = np.deg2rad(35.0)
    down_hill = g * dt * (np.sin(a) - mu * np.cos(a))  # textbook
    assert np.allclose(steep.dual, [0.0, down_hill, 0.0], atol=1e-8)


check()
