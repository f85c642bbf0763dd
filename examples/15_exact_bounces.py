"""A superball that bounces, spins and comes back: every instant of impact, exactly.

Event-driven simulation finds the instants of impact themselves, so nothing depends on a step. The
ball is thrown with backspin; friction at each impact reverses it by the exact law of impact.
"""

import math

import drystone as ds

EPS, G, HEIGHT = 0.9, 9.81, 1.0

world = ds.World(planar=True)
world.add_ground(friction=0.5)
world.add_body(
    ds.Disk(0.05), name="ball", density=1000, position=(0, 0.05 + HEIGHT), velocity=(1.0, 0.0),
    angular_velocity=80.0, friction=0.5, restitution=EPS,
)  # fmt: skip
sim = ds.Simulation(world, method=ds.EventDriven(dt=0.1, collisions="routh"))

hits, places = [], []
while sim.time < 5.0:
    report = sim.step()
    hits += [event.time for event in report.events if event.kind == "impact"]
    places.append(sim.body("ball").position[0])

wanted, speed = [math.sqrt(2 * HEIGHT / G)], math.sqrt(2 * HEIGHT * G)
for _ in hits[1:]:
    speed *= EPS
    wanted.append(wanted[-1] + 2 * speed / G)
worst = max(abs(a - b) for a, b in zip(hits, wanted, strict=True))
print(f"{len(hits)} impacts, instants off by at most {worst:.1e} s")
print(f"thrown forward, it turns back at x = {max(places):.3f} m and ends at {places[-1]:.3f} m")


def check():
    assert len(hits) >= 8
    assert worst < 1e-10
    assert places[-1] < max(places)


check()
