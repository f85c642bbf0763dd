"""Linkages of hinges at any heading, and their twins in the plane."""

from itertools import product

import numpy as np
from scipy.optimize import brentq

import drystone as ds

G = 9.81


def turned(axis, angle):
    """A rotation matrix."""
    k = np.array(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def heading(seed):
    """Any rotation matrix."""
    axis = np.random.default_rng(seed).normal(size=4)
    return turned(axis[:3], 3.0 * axis[3])


def quaternion(R):
    """The eigenvector of Bar-Itzhack's matrix."""
    K = np.zeros((4, 4))
    K[0, 0] = R[0, 0] + R[1, 1] + R[2, 2]
    K[0, 1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = np.triu(R + R.T - np.diag(np.diag(R + R.T)))
    for k in range(3):
        K[k + 1, k + 1] = 2 * R[k, k] - K[0, 0]
    return tuple(np.linalg.eigh(K, UPLO="U")[1][:, -1])


def bars(corners, turn=None, motor=None, ball=None):
    """Bars between corners in a plane, hinged to each other and at both ends to the world; turn:
    the heading of that plane in space, None: a planar world of pins; ball: a joint that is one."""
    corners, thick = np.array(corners, float), 0.04
    planar = turn is None
    down = (0, -G) if planar else tuple(turn @ (0, 0, -G))
    world = ds.World(planar=planar, gravity=down)
    n = len(corners) - 1

    def place(p):
        return tuple(p) if planar else tuple(turn @ (p[0], 0, p[1]))

    for k in range(n):
        along = corners[k + 1] - corners[k]
        length, angle = np.hypot(*along), np.arctan2(along[1], along[0])
        middle = place(0.5 * (corners[k] + corners[k + 1]))
        given = {"name": f"bar{k}", "mass": length, "position": middle, "layer": ()}
        if planar:
            world.add_body(ds.Rectangle(length, thick), orientation=angle, **given)
        else:
            R = turn @ turned((0, -1, 0), angle)
            world.add_body(ds.Box(length, thick, thick), orientation=quaternion(R), **given)
    ends = ["world", *(f"bar{k}" for k in range(n)), "world"]
    for k in range(n + 1):
        given = {"anchor": place(corners[k]), "motor": motor if k == 0 else None}
        pair = ends[k + 1], ends[k]
        if planar:
            world.add_joint(ds.Pin(*pair, **given))
        elif ball == k:
            world.add_joint(ds.Ball(*pair, anchor=place(corners[k])))
        else:
            world.add_joint(ds.Hinge(*pair, axis=tuple(turn @ (0, -1, 0)), **given))
    return world


def four_bar(angle, lengths=(0.4, 1.0, 0.8), base=1.0):
    """Corners of a four-bar whose crank is at an angle."""
    a, b, c = lengths
    B, D = a * np.array([np.cos(angle), np.sin(angle)]), np.array([base, 0.0])
    r = np.linalg.norm(D - B)
    x, e = (b * b - c * c + r * r) / (2 * r), (D - B) / r
    return [(0, 0), B, B + x * e + np.sqrt(b * b - x * x) * np.array([-e[1], e[0]]), D]


def chain(points, axes, turn, motor=None):
    """A closed chain with hinges at points about axes; between the last and the first is the
    world."""
    points, axes = [turn @ p for p in points], [turn @ a for a in axes]
    world, n = ds.World(gravity=tuple(turn @ (0, 0, -G))), len(points)
    for k in range(n - 1):
        along = points[k + 1] - points[k]
        length = np.linalg.norm(along)
        e = along / length
        f = np.cross(e, turn @ (0.3, 0.5, 0.8))
        f /= np.linalg.norm(f)
        world.add_body(
            ds.Box(length, 0.05, 0.05), name=f"bar{k}", mass=length, layer=(),
            position=tuple(0.5 * (points[k] + points[k + 1])),
            orientation=quaternion(np.stack([e, f, np.cross(e, f)], 1)),
        )  # fmt: skip
    ends = ["world", *(f"bar{k}" for k in range(n - 1)), "world"]
    for k in range(n):
        given = {"anchor": tuple(points[k]), "axis": tuple(axes[k])}
        world.add_joint(ds.Hinge(ends[k + 1], ends[k], motor=motor if k == 0 else None, **given))
    return world


def _denavit_hartenberg(length, twist, angle):
    """Points and axes of a loop, and how far it is from closed."""
    T, points, axes = np.eye(4), [], []
    for a, t, q in zip(length, twist, angle, strict=True):
        points.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
        c, s, ct, st = np.cos(q), np.sin(q), np.cos(t), np.sin(t)
        T = T @ [
            [c, -s * ct, s * st, a * c],
            [s, c * ct, -c * st, a * s],
            [0, st, ct, 0],
            [0, 0, 0, 1],
        ]
    return np.abs(T - np.eye(4)).max(), points, axes


def bennett(a=1.0, b=0.6, twist=0.7, angle=1.2):
    """Four hinges that are not parallel, and move: sin(twist) / a is the same of all bars."""
    other = np.arcsin(b * np.sin(twist) / a)
    k = np.sin(0.5 * (twist + other)) / np.sin(0.5 * (other - twist))
    turn = 2 * np.arctan(k / np.tan(0.5 * angle))
    found = [
        _denavit_hartenberg([a, b] * 2, [twist, other] * 2, [angle, t, s * angle, z * t])
        for t in (turn, -turn, np.pi - turn, np.pi + turn)
        for s, z in product((1, -1), repeat=2)
    ]
    error, points, axes = min(found, key=lambda one: one[0])
    assert error < 1e-12
    return points, axes


def bricard(angle=0.6):
    """Six hinges, each at right angles to the next, with the symmetry of a triangle."""

    def wrong(t):
        return np.cos(angle) + np.cos(t) + np.cos(angle) * np.cos(t)

    t = brentq(wrong, 0.5 * np.pi, np.pi, xtol=1e-15)
    both = [
        _denavit_hartenberg([0.5] * 6, [np.pi / 2, -np.pi / 2] * 3, [angle, s * t] * 3)
        for s in (1, -1)
    ]
    error, points, axes = min(both, key=lambda one: one[0])
    assert error < 1e-12
    return points, axes


def sarrus(angle=0.8, length=0.5):
    """A plate on two folding legs at right angles: it moves straight up and down."""
    top, knee = 2 * length * np.sin(angle), length * np.cos(angle)
    points = [(0.5, 0, 0), (0.5 + knee, 0, top / 2), (0.5, 0, top)]
    points += [(0, 0.5, top), (0, 0.5 + knee, top / 2), (0, 0.5, 0)]
    return [np.array(p, float) for p in points], [(0, 1, 0)] * 3 + [(1, 0, 0)] * 3


def moving_sarrus(angle, rate, turn, length=0.5, **options):
    """A simulation of one whose legs turn at a rate [rad/s]."""
    sim = ds.Simulation(chain(*sarrus(angle, length), turn), ds.TimeStepping(**options))
    c, s = 0.5 * length * rate * np.cos(angle), 0.5 * length * rate * np.sin(angle)
    v = [(-s, 0, c), (-s, 0, 3 * c), (0, 0, 4 * c), (0, -s, 3 * c), (0, -s, c)]
    w = [(0, -rate, 0), (0, rate, 0), (0, 0, 0), (-rate, 0, 0), (rate, 0, 0)]
    sim.state.velocity[:] = np.hstack([np.array(v) @ turn.T, np.array(w) @ turn.T])
    return sim


def random_loop(n, seed, turn, motor=None):
    """A closed chain of n hinges about any axes: n - 6 ways to move."""
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n) / n
    ring = 0.6 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    axes = rng.normal(size=(n, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return chain(list(ring + 0.15 * rng.normal(size=(n, 3))), list(axes), turn, motor)


def steps(world, n, turn=None, **options):
    """Positions (n, nb, dim) in the linkage's own heading, and reports."""
    sim = ds.Simulation(world, ds.TimeStepping(**options))
    back = np.eye(sim.state.position.shape[1]) if turn is None else turn
    places, reports, energies = [], [], [sum(sim.energy)]
    for _ in range(n):
        reports.append(sim.step())
        places.append(sim.state.position @ back)
        energies.append(sum(sim.energy))
    return np.array(places), reports, np.array(energies)


def in_time(sim):
    """Energy with the velocities of the time of the positions: steps leave them half a step late,
    or half of its last part, and gravity gives them the rest."""
    lead = 0.0 if sim.model.joints is None else sim._stepper.buffers.j.lead
    late = 0.0 if sim.method.order == 2 else 0.5 * sim.method.dt - lead
    fall = sim.state.velocity[:, : sim.model.dim] @ sim.model.gravity
    return sum(sim.energy) + late * float(sim.model.mass @ fall)
