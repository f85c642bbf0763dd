"""Runs with recording in processes of their own, to be killed.

``start`` forks them from a server that has loaded the kernels of every scene, so that a run begins
at once; where the system cannot fork, each is a new interpreter.
"""

import multiprocessing
import time

import drystone as ds
from drystone.scenes import scene

SCENES = ("spheres", "brazil-nut", "four-bar", "event-driven", "penalty")


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


def record(say, path, name, steps):
    """Record a run of so many steps after the first; says when that one is made."""
    sim = simulation(name)
    sim.step()
    say("ready")
    sim.run(steps * sim.method.dt, record=path)


def resume(say, path):
    say("ready")
    ds.resume(path)


def look(say, path):
    """Read a recording until it has frames beside the first, and say what is in it."""
    frames = 0
    while frames < 2:
        time.sleep(0.05)
        if path.exists():
            with ds.read_recording(path) as rec:
                frames = len(rec)
                found = (rec.live, rec.complete, rec.position.shape)
    say(found)


def start(task, *args):
    """A process that does one of these tasks, and the first thing that it says."""
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    if forks:
        context.set_forkserver_preload(["tests.recording.killed_warm"])
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=_work, args=(theirs, task, *args), daemon=True)
    worker.start()
    theirs.close()
    with ours:
        return worker, ours.recv()  # EOFError: it failed before


def _work(pipe, task, *args):
    task(pipe.send, *args)
