"""Joints beside contacts: bilateral rows keep their velocity at zero, with forces of any sign.

Two unit masses in the plane, linked by a rigid horizontal rod. The left one rests on a rough
floor and is pushed to the right; the right one rests on ice. Rows: contact of the left mass
(normal, tangent), contact of the right mass, and the rod.
"""

import numpy as np

import drystone as ds

dt, g, push, mu = 0.01, 9.81, 0.2, 0.3
J = np.array(
    [
        [0.0, 1.0, 0.0, 0.0],  # left mass, up
        [1.0, 0.0, 0.0, 0.0],  # left mass, to the right
        [0.0, 0.0, 0.0, 1.0],  # right mass, up
        [0.0, 0.0, 1.0, 0.0],  # right mass, to the right
        [-1.0, 0.0, 1.0, 0.0],  # the rod: length does not change
    ]
)
free = np.array([push, -g * dt, 0.0, -g * dt])  # velocities without contacts and rod
problem = ds.FrictionProblem(J @ J.T, J @ free, [mu, 0.0], dim=2, bilateral=1)

solution = ds.solve(problem)
left, right, rod = solution.value[:2], solution.value[2:4], solution.value[4]
velocity = free + J.T @ solution.value
print(solution)
print(f"left contact {left.round(4)}, right contact {right.round(4)}, rod {rod:.4f} N s")
print(f"velocities {velocity.round(4)}")


def check():
    weight = g * dt
    together = (push - mu * weight) / 2  # both move with the push less friction, shared by two
    assert solution.ok
    assert np.allclose(velocity, [together, 0.0, together, 0.0], atol=1e-8)
    assert np.isclose(rod, together, atol=1e-8)  # the rod pulls the right mass along


check()
