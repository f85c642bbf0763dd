"""Two models of a collision of many bodies, both right about energy and momentum.

Balls that touch all at once share the blow (Baraff 1989, section 8): -1/3, 2/3, 2/3. Balls with
the smallest gap between them pass it on: as many leave as came in.
"""

import numpy as np

import drystone as ds

touching = ds.scene("billiard-three").simulation()
touching.run(0.5)
apart = ds.scene("billiard-three", gap=1e-4).simulation()
apart.run(0.5)
print("three balls that touch:     ", touching.state.velocity[1:, 0].round(6))
print("three balls, 0.1 mm apart:  ", apart.state.velocity[1:, 0].round(6))

out = {}
for incoming in (1, 2, 3):
    sim = ds.scene("newton-cradle", n=5, incoming=incoming).simulation()
    sim.run(0.5)
    out[incoming] = sim.state.velocity[1:, 0]
    print(f"cradle of five, {incoming} coming in: ", out[incoming].round(6))


def check():
    assert np.allclose(touching.state.velocity[1:, 0], [-1 / 3, 2 / 3, 2 / 3], atol=1e-6)
    assert np.allclose(apart.state.velocity[1:, 0], [0, 0, 1], atol=1e-6)
    for incoming, v in out.items():
        assert np.allclose(v, [0.0] * (5 - incoming) + [1.0] * incoming, atol=1e-6)


check()
