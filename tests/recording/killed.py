"""A run with recording, in a process of its own, to be killed: killed.py FILE SCENE STEPS."""

import sys

from drystone.scenes import scene


def simulation(name):
    settings = {"n": 40} if name == "spheres" else {}
    return scene(name, **settings).simulation()


if __name__ == "__main__":
    path, name, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sim = simulation(name)
    sim.step()
    print("ready", flush=True)
    sim.run(steps * sim.method.dt, record=path)
    print("done", flush=True)
