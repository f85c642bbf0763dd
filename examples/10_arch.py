"""An arch without mortar stands or falls by its thickness: 0.1075 of the radius (Milankovitch).

Fifteen voussoirs; nothing holds them but contact and friction, and nothing is tuned.
"""

import numpy as np

import drystone as ds

moved = {}
for ratio in (0.15, 0.12, 0.09):
    sim = ds.scene("arch", ratio=ratio).simulation()
    start = sim.state.position.copy()
    sim.run(2.0)
    moved[ratio] = float(np.linalg.norm(sim.state.position - start, axis=1).max())
    print(f"thickness {ratio} R: moved {moved[ratio]:.1e} R in 2 s")
    if ratio == 0.15:
        force = sim.contacts["force"]
        ground = [c for c in sim.contacts if "ground" in c["bodies"] and c["point"][0] > 0]
        thrust = sum(abs(c["force"][0]) for c in ground)
        weight = sim.world.total_mass * 9.81
        print(f"  thrust at the springing: {thrust:.0f} N, {thrust / weight:.3f} of the weight")
        assert np.isfinite(force).all()


def check():
    assert moved[0.15] < 1e-4
    assert moved[0.12] < 1e-4
    assert moved[0.09] > 0.5
    # Heyman's bounds of the thrust of a semicircular arch of this thickness, over its weight
    assert 0.1 < thrust / weight < 0.25


check()
