"""How far can bricks reach over the edge of a table? Half a length times 1 + 1/2 + ... + 1/n.

The greatest reach is found by bisection, from stacks that stand and stacks that fall; the tutorial
`docs/tutorials/stack.md` builds one of them step by step.
"""

import drystone as ds

LENGTH, HEIGHT = 0.2, 0.06


def stands(n, share):
    """Whether n bricks stay where they are, laid to a share of the harmonic reach."""
    world = ds.World(planar=True)
    world.add_body(ds.Rectangle(0.4, 0.3), name="table", fixed=True, position=(-0.2, -0.15))
    x = -LENGTH / 2
    for k in range(n):
        x += share * LENGTH / (2 * (n - k))
        brick = ds.Rectangle(LENGTH, HEIGHT)
        world.add_body(brick, name=f"brick{k}", position=(x, (k + 0.5) * HEIGHT))
    sim = ds.Simulation(world)
    before = sim.state.position.copy()
    sim.run(0.5)
    return abs(sim.state.position - before).max() < 1e-9


found = {}
for n in (2, 4, 6, 8, 10):
    low, high = 0.5, 1.5
    while high - low > 1e-6:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if stands(n, middle) else (low, middle)
    reach = 0.5 * sum(1 / k for k in range(1, n + 1))
    found[n] = 0.5 * (low + high)
    print(f"{n:2} bricks: {found[n] * reach:.6f} lengths; the harmonic series: {reach:.6f}")


def check():
    assert all(abs(share - 1) < 1e-5 for share in found.values())


check()
