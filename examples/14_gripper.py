"""How hard must a gripper grip? Friction alone holds the cube: 2 mu F > m (g + a).

The hand rises smoothly; a is its greatest acceleration. Searched by bisection, the force at which
the cube just comes along is that of the formula.
"""

import math

import drystone as ds

HEIGHT, LIFT, G = 0.1, 0.5, 9.81


def comes_along(grip):
    """Whether the cube ends where the hand took it; grip over m g / (2 mu)."""
    scene = ds.scene("gripper", grip=grip, height=HEIGHT, lift=LIFT)
    sim = scene.simulation()
    sim.run(0.5 + LIFT)
    return abs(sim.body("cube").position[2] - 0.05 - HEIGHT) < 1e-8


low, high = 1.0, 2.0
for _ in range(6):
    middle = 0.5 * (low + high)
    low, high = (low, middle) if comes_along(middle) else (middle, high)
needed = 1 + 10 / math.sqrt(3) * HEIGHT / LIFT**2 / G
print(f"it holds from {high:.3f} and slips at {low:.3f} of m g / (2 mu); the formula: {needed:.3f}")


def check():
    assert low - 0.01 < needed < high + 0.01


check()
