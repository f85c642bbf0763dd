"""Where does the thrust of an arch run? Resultants of its joints, and how far they are open.

An arch between two abutments is hyperstatic: many forces are in equilibrium with the same rest.
`sim.interfaces` shows the resultants of the canonical ones, `sim.force_range` what a force may be.
"""

import drystone as ds

scene = ds.scene("arch")
sim = ds.Simulation(scene.world, scene.method)
sim.run(0.1)
joints = sim.interfaces
for row in joints[:8]:
    print(
        f"{row['bodies'][0]:>10} on {row['bodies'][1]:<10}: N {row['N']:7.1f} N, "
        f"eccentricity {1e3 * row['eccentricity']:5.1f} mm, mobilisation {row['mobilisation']:.2f}"
    )
corner = sim.force_range(0)
print(f"contact 0 may press with {corner.normal[0]:.0f} to {corner.normal[1]:.0f} N")


def check():
    springings = joints[(joints["bodies"] == "ground").any(axis=1)]
    weight = 9.81 * sim.model.mass.sum()
    thrust = springings["force"][:, 0]
    assert abs(springings["N"].sum() - weight) < 1e-6 * weight
    assert abs(thrust.sum()) < 1e-6 * weight  # both abutments are pushed alike
    assert abs(springings["eccentricity"][0] - springings["eccentricity"][1]) < 1e-6
    assert joints["mobilisation"].max() < 1
    assert corner.normal[0] < sim.contacts["force"][0] @ sim.contacts["normal"][0]
    assert sim.contacts["force"][0] @ sim.contacts["normal"][0] < corner.normal[1]


check()
