"""A block on a slope holds below the angle of friction and slides above it, by the textbook.

Ten seconds at 98 % of the limit: it must not creep. Two seconds at 105 %: g (sin - mu cos) t^2 / 2.
"""

import math

import numpy as np

import drystone as ds

mu, g = 0.5, 9.81


def distance(ratio, duration):
    sim = ds.scene("incline", mu=mu, ratio=ratio).simulation()
    start = sim.body("block").position
    sim.run(duration)
    return float(np.linalg.norm(sim.body("block").position - start))


creep = distance(0.98, 10.0)
slide = distance(1.05, 2.0)
angle = math.atan(1.05 * mu)
textbook = 0.5 * g * (math.sin(angle) - mu * math.cos(angle)) * 2.0**2
print(f"98 % of the limit: creep {creep:.1e} m in 10 s")
print(f"105 % of the limit: {slide:.4f} m in 2 s, textbook {textbook:.4f} m")


def check():
    assert creep < 1e-9
    assert abs(slide / textbook - 1) < 3e-3  # the scheme's own error at dt = 1/240 s is 0.21 %


check()
