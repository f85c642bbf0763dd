"""A run with recording, in a process of its own, to be killed: killed.py FILE SCENE STEPS."""

import sys

import drystone as ds
from drystone.scenes import scene


def pile(method):
    """Disks that fall onto each other, one after the other."""
    world = ds.World(planar=True)
    world.add_ground(friction=0.5)
    for k in range(2):
        world.add_body(ds.Disk(0.1), name=f"disk{k}", position=(0.3 * k, 0.2 + 0.25 * k), mass=1.0)
    return ds.Simulation(world, method)


def simulation(name):
    if name == "event-driven":
        return scene("double-pendulum").simulation(ds.EventDriven())
    if name == "penalty":
        return pile(ds.Penalty(dt=0.01, stiffness=1e4, damping=50.0))
    settings = {"n": 40} if name == "spheres" else {}
    return scene(name, **settings).simulation()


if __name__ == "__main__":
    path, name, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if steps == 0:
        print("ready", flush=True)
        ds.resume(path)
    else:
        sim = simulation(name)
        sim.step()
        print("ready", flush=True)
        sim.run(steps * sim.method.dt, record=path)
    print("done", flush=True)
