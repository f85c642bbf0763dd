"""Hart and Anitescu 2003, figures 3 to 6 and 8: a pile of 21 disks runs apart on a table."""

import numpy as np

import drystone as ds

disks = ds.scene("disks-21")
sim = disks.simulation()
for _ in range(4):
    sim.run(disks.duration / 4)
    height = sim.state.position[3:, 1]
    lying = int((height < 3.001).sum())
    print(f"t = {sim.time:4.1f} s: {lying:2d} of 21 on the table, top {height.max() + 3:5.2f} m, "
          f"{sim.report.contacts} contacts, depth {sim.penetration:.1e} m")  # fmt: skip


def check():
    centres = sim.state.position[3:]
    assert np.abs(centres[:, 1] - 3.0).max() < 1e-6  # all on the table
    away = np.linalg.norm(centres[:, None] - centres[None], axis=2)[np.triu_indices(21, 1)]
    assert away.min() >= 6.0  # and separate
    assert sim.penetration < 1e-8  # the table's constraint is linear: exact


check()
