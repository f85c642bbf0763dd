"""Keep a pole upright on a cart by looking ahead: a snapshot, a dozen futures, the best of them.

Every few steps random pushes are tried on a copy of the simulation, which goes back to the same
moment before each; the pushes of the best future are then made. Nothing of the tries is left: the
same seed gives the same run to the last bit.
"""

import copy

import numpy as np

import drystone as ds

STEPS, HOLD, TRIES = 24, 4, 12  # steps that are looked ahead, steps of one push, futures


class Push:
    """A force on the cart that somebody sets [N]."""

    def __init__(self):
        self.now = 0.0

    def __call__(self, model, state):
        return {"cart": (self.now, 0, 0)}

    def state(self):
        return {"now": self.now}

    def restore(self, state):
        self.now = state["now"]


def cart():
    """A pole of 1 m on a cart, a little out of balance."""
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(0.4, 0.2), name="cart", mass=1.0)
    lean = 0.05
    top = (-0.5 * np.sin(lean), 0.5 * np.cos(lean))
    world.add_body(ds.Rectangle(0.05, 1.0), name="pole", mass=0.2, position=top, orientation=lean)
    world.add_joint(ds.Slider("cart", "world", axis=(1, 0)))
    world.add_joint(ds.Pin("pole", "cart", anchor=(0, 0)))
    world.ignore("pole", "cart")
    world.add_force(ds.Callback(Push()))
    return ds.Simulation(world, ds.TimeStepping(dt=1 / 60))


def push_of(sim):
    return sim.world.forces[0].function


def cost(sim):
    place, lean, spin = sim.state.position[0, 0], sim.state.orientation[1], sim.state.velocity[1, 2]
    return 10.0 * lean**2 + 0.3 * spin**2 + 0.5 * place**2


def follow(sim, pushes):
    """Make the pushes in turn; the sum of what each step costs."""
    total = 0.0
    for push in pushes:
        push_of(sim).now = push
        for _ in range(HOLD):
            sim.step()
            total += cost(sim)
    return total


def run(seconds, seed):
    sim = cart()
    ahead = copy.deepcopy(sim)  # a simulation of its own, to try things with
    rng, best = np.random.default_rng(seed), np.zeros(STEPS // HOLD)
    while sim.time < seconds:
        moment = sim.snapshot()
        tries = best + rng.normal(0.0, 4.0, (TRIES, best.size))
        tries[0] = best
        costs = []
        for pushes in tries:
            ahead.restore(moment)
            costs.append(follow(ahead, pushes))
        best = tries[int(np.argmin(costs))]
        follow(sim, best[:1])
        best = np.append(best[1:], 0.0)
    return sim


held, free = run(2.0, seed=1), cart()
free.run(2.0)
again = run(2.0, seed=1)
for title, sim in (("looking ahead", held), ("let go", free)):
    lean = np.degrees(sim.state.orientation[1])
    print(f"{title:13}: after {sim.time:.1f} s the pole leans {lean:8.2f} degrees")


def check():
    assert abs(np.degrees(held.state.orientation[1])) < 15
    assert abs(np.degrees(free.state.orientation[1])) > 60
    assert np.array_equal(held.state.position, again.state.position)


check()
