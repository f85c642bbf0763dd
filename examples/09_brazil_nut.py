"""Hart and Anitescu 2003, figures 7 and 9: shaken, the large grain rises through the small ones.

Their convex relaxation with steps of 0.1 s: each step is one convex problem of hundreds of
contacts. Here half of the paper's 75 s, and a box of 120 grains, to be done in seconds.
"""

from time import perf_counter

import numpy as np

import drystone as ds

shaken = ds.scene("brazil-nut", n=120, width=30.0)
sim = shaken.simulation()
nut = sim.index("nut")
rank, contacts = [], []


def watch(sim):
    height = sim.state.position[:, 1]
    rank.append(float(np.mean(height[nut + 1 :] < height[nut])))
    contacts.append(sim.report.contacts)


begin = perf_counter()
for _ in range(5):
    sim.run(8.0, callback=watch)
    print(f"t = {sim.time:4.1f} s: {np.mean(rank[-80:]):4.0%} of the grains are below the nut, "
          f"{np.mean(contacts[-80:]):.0f} contacts")  # fmt: skip
print(f"{perf_counter() - begin:.1f} s of computing for {sim.time:.0f} s")


def check():
    assert np.mean(rank[-80:]) > np.mean(rank[:80]) + 0.2


check()
