"""A four-bar linkage built by hand: a motor turns the crank, the rocker rocks.

Joints are closed at every step, so the rocker is where the closed form puts it; the torque of the
motor is read from the joint and compared with the power that the bars take up.
"""

import numpy as np

import drystone as ds

CRANK, COUPLER, ROCKER, BASE, SPEED = 0.2, 0.5, 0.4, 0.5, 5.0

a, d = np.zeros(2), np.array([BASE, 0.0])
b = np.array([CRANK, 0.0])  # the crank starts along x
# the coupler meets the rocker above the base: lengths of a triangle
x = 0.5 * ((BASE - CRANK) + (COUPLER**2 - ROCKER**2) / (BASE - CRANK))
c = b + np.array([x, np.sqrt(COUPLER**2 - x * x)])

world = ds.World(planar=True)
for name, p, q in (("crank", a, b), ("coupler", b, c), ("rocker", d, c)):
    way = q - p
    world.add_body(
        ds.Rectangle(np.hypot(*way), 0.03),
        name=name,
        density=60,
        position=0.5 * (p + q),
        orientation=np.arctan2(way[1], way[0]),
        layer=(),  # bars pass each other
    )
world.add_joint(ds.Pin("crank", anchor=a, motor=ds.Motor(speed=SPEED), name="drive"))
world.add_joint(ds.Pin("coupler", "crank", anchor=b))
world.add_joint(ds.Pin("rocker", "coupler", anchor=c))
world.add_joint(ds.Pin("rocker", anchor=d, name="pivot"))


def rocker_angle(crank):
    """Of the closed form: B, C and D make a triangle with known sides."""
    b = CRANK * np.array([np.cos(crank), np.sin(crank)])
    far = np.hypot(*(b - d))
    inner = np.arccos((far**2 + ROCKER**2 - COUPLER**2) / (2 * far * ROCKER))
    return np.arctan2(*(b - d)[::-1]) - inner


sim = ds.Simulation(world)
work = moved = apart = 0.0
turns = []
sim.step()  # the motor starts with a jerk
before = sum(sim.energy)
while sim.time < 2 * np.pi / SPEED:
    sim.step()
    angle, turn = sim.body("crank").orientation, sim.body("rocker").orientation
    apart = max(apart, abs(np.angle(np.exp(1j * (turn - rocker_angle(angle))))))
    part = sim.joints["torque"][0, 0] * SPEED * sim.method.dt
    work, moved = work + part, moved + abs(part)
    turns.append(turn)
gained = sum(sim.energy) - before
print(f"the rocker swings by {np.degrees(np.ptp(turns)):.2f} degrees, within {apart:.0e} rad of")
print(f"the closed form; the motor turns over {moved:.3f} J and gives {work:+.4f} J of them, the")
print(f"bars take up {gained:+.4f} J")


def check():
    assert apart < 1e-9
    # at its ends crank and coupler are in line: c^2 = a^2 + b^2 - 2 a b cos
    far = [
        (BASE**2 + ROCKER**2 - (COUPLER + s * CRANK) ** 2) / (2 * BASE * ROCKER) for s in (-1, 1)
    ]
    assert abs(np.ptp(turns) - np.ptp(np.arccos(far))) < 1e-3
    assert abs(work - gained) < 1e-3 * moved


check()
