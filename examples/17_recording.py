"""A run that is stopped half-way and resumed: bitwise identical to an uninterrupted one.

The recording is one HDF5 file, written in the background; a killed process leaves it readable.
"""

import numpy as np

import drystone as ds


def dominoes():
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(12):
        push = -4.0 if k == 0 else 0.0
        world.add_body(
            ds.Rectangle(0.02, 0.2), name=f"domino{k}", position=(0.08 * k, 0.1),
            angular_velocity=push, velocity=(0.4 if k == 0 else 0.0, 0), friction=0.4,
        )  # fmt: skip
    return ds.Simulation(world, ds.TimeStepping(dt=1 / 480))


whole = dominoes()
whole.run(1.0)

dominoes().run(0.45, record="dominoes.h5")  # this process could have been killed
again = ds.resume("dominoes.h5", until=1.0)

rec = ds.read_recording("dominoes.h5")
angles = rec.orientation[:, 1:]  # the ground is body 0
fell = rec.time[(np.abs(angles) > 0.5).argmax(axis=0)]
most = max(range(len(rec)), key=lambda k: len(rec.contacts(k)))
print(f"{len(rec)} frames in {rec.path.stat().st_size / 1e3:.0f} kB")
print("domino 1 to 12 fell at", np.round(fell, 3), "s")
print(f"{len(rec.contacts(most))} contacts at {rec.time[most]:.3f} s")


def check():
    assert np.array_equal(whole.state.position, again.state.position)
    assert np.array_equal(whole.state.velocity, again.state.velocity)
    assert rec.complete
    assert np.all(np.diff(fell) > 0)


check()
