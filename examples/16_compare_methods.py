"""One motion by two methods: what a step costs in accuracy, measured against the exact events.

A ball set sliding on the ground slides until it rolls. Time stepping is of first order: a step
half as long leaves half the error. The finest run, from event to event, is what they are held
against, and itself against the closed form of a sliding ball: v = 5/7 v0 when it rolls.
"""

from itertools import pairwise

import drystone as ds

STEPS = (60, 120, 240, 480)

methods = [f"time-stepping:dt=1/{n}" for n in STEPS]
found = ds.compare("rolling-ball", [*methods, "event-driven"], duration=1.5)
for row in found.rows:
    error = "reference" if row.reference else f"{row.error:.2e} m off"
    print(f"{row.method:24} {row.steps:4} steps in {1e3 * row.wall:6.1f} ms, {error}")
found.plot("comparison.png")

errors = [row.error for row in found.rows if not row.reference]
orders = [a / b for a, b in pairwise(errors)]
print("halving the step divides the error by", ", ".join(f"{r:.2f}" for r in orders))

rolling = found.runs["event-driven"]
ball = rolling.names.index("ball")
start, end = rolling.velocity[0, ball, 0], rolling.velocity[-1, ball, 0]
ds.plot(rolling, ["energy", "phase"], path="rolling.png", bodies=["ball"], coordinate="x")


def check():
    assert found.reference == "event-driven"
    assert all(1.8 < r < 2.2 for r in orders)
    assert abs(end / start - 5 / 7) < 1e-6


check()
