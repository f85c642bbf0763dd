"""A world built again: in another frame, in other units, its bodies in another order."""

from dataclasses import fields, replace

import numpy as np

import drystone as ds
from drystone.dynamics.frames import product, rotation
from drystone.geometry.shapes.compound import Part


class CannotBeRebuilt(Exception):
    """The world holds something whose frame or units only its author knows: a function."""


class Frame:
    """x' = length (R x + shift), t' = time t, m' = mass m; turn: an angle, or a quaternion."""

    def __init__(self, dim, turn=None, shift=None, length=1.0, time=1.0, mass=1.0):
        self.dim = dim
        self.turn = turn if turn is not None else (0.0 if dim == 2 else (1.0, 0.0, 0.0, 0.0))
        self.R = rotation(np.array(self.turn))
        self.shift = np.zeros(dim) if shift is None else np.array(shift)
        self.length, self.time, self.mass = length, time, mass

    def point(self, x):
        return tuple((self.length * (self.R @ np.array(x, float) + self.shift)).tolist())

    def vector(self, v, unit=1.0):
        return tuple((unit * (self.R @ np.array(v, float))).tolist())

    def orientation(self, q):
        if self.dim == 2:
            return float(q) + float(self.turn)
        return tuple(product(np.array(self.turn), np.array(q, float)).tolist())

    @property
    def density(self):
        return self.mass / self.length**self.dim


def rebuilt(world, frame, reverse=False):
    """The same world seen from `frame`; reverse: bodies are added in the opposite order."""
    out = ds.World(frame.vector(world.gravity, frame.length / frame.time**2), planar=world.planar)
    parts = world.parts()
    plain = frame.length == frame.time == frame.mass == 1.0
    if not plain and (parts.joints or parts.forces):
        raise CannotBeRebuilt("units of joints and forces")
    names = {body.uid: body.name for body in parts.bodies}
    for body in reversed(parts.bodies) if reverse else parts.bodies:
        shape = None if body.template is None else scaled(body.template.shape, frame.length)
        out.add_body(shape, **described(body, frame, plain))
    for entry in parts.joints:
        out.add_joint(turned_joint(entry.joint, frame))
    for force in parts.forces:
        out.add_force(turned_force(force, frame))
    for (a, b), (static, dynamic, normal, tangential) in parts.pairs.items():
        rules = {}
        if not np.isnan(static):
            rules["friction"] = (static, dynamic)
        if not np.isnan(normal):
            rules["restitution"] = (normal, tangential)
        out.set_pair(names[a], names[b], **rules)
    for a, b in parts.ignored:
        out.ignore(names[a], names[b])
    return out


def described(body, frame, plain):
    """What ``add_body`` is told."""
    given = dict(body.given)
    prescribed = getattr(given.get("motion"), "prescribes", ())
    if "position" not in prescribed:
        given["position"] = frame.point(body.position)
    if "orientation" not in prescribed:
        given["orientation"] = frame.orientation(body.orientation)
    if "velocity" in given:
        given["velocity"] = frame.vector(given["velocity"], frame.length / frame.time)
    if "angular_velocity" in given:
        spin = given["angular_velocity"]
        given["angular_velocity"] = (
            spin / frame.time if frame.dim == 2 else frame.vector(spin, 1.0 / frame.time)
        )
    if body.matter is not None and "mass" not in given:
        given["density"] = given.get("density", 1000.0) * frame.density
    if "mass" in given:
        given["mass"] = given["mass"] * frame.mass
    if "inertia" in given:
        given["inertia"] = (
            np.array(given["inertia"], float) * frame.mass * frame.length**2
        ).tolist()
    if "centre_of_mass" in given:
        given["centre_of_mass"] = (np.array(given["centre_of_mass"]) * frame.length).tolist()
    if "motion" in given:
        if not plain:
            raise CannotBeRebuilt("units of motions")
        given["motion"] = turned_motion(given["motion"], frame)
    return given


LENGTHS = {
    "Sphere": "radius", "Box": "lx ly lz", "Capsule": "length radius", "Cylinder": "length radius",
    "Cone": "height radius", "Ellipsoid": "a b c", "Superquadric": "a b c", "Disk": "radius",
    "Rectangle": "width height", "RegularPolygon": "radius", "Ellipse": "a b",
    "Capsule2D": "length radius", "HalfSpace": "offset", "HalfPlane": "offset", "Bowl": "a b c rim",
    "Polygon": "points", "ConvexPolyhedron": "points", "TriangleMesh": "vertices thickness",
}  # fmt: skip


def scaled(shape, factor):
    if factor == 1.0:
        return shape
    kind = type(shape).__name__
    if kind == "Compound":
        parts = [
            Part(scaled(p.shape, factor), tuple(factor * x for x in p.position), p.orientation)
            for p in shape.parts
        ]
        return ds.Compound([tuple(part) for part in parts])
    if kind not in LENGTHS:
        raise CannotBeRebuilt(f"units of a {kind}")
    values = {name: getattr(shape, name) for name in LENGTHS[kind].split()}
    return replace(shape, **{k: None if v is None else factor * v for k, v in values.items()})


WORLD_POINTS = {"anchor"}
WORLD_VECTORS = {"axis", "second_axis", "axle", "axis_of_b"}


def turned_joint(joint, frame):
    """A joint that is placed in the world, seen from the frame; in bodies nothing changes."""
    out = {}
    for item in fields(joint):
        name, value = item.name, getattr(joint, item.name)
        if value is None:
            continue
        side = name[-1] if name[-2:] in ("_a", "_b") else ""
        of_world = side and getattr(joint, side) == "world"
        if name in WORLD_POINTS or (of_world and name.startswith("anchor")):
            out[name] = frame.point(value)
        elif name in WORLD_VECTORS or (of_world and name.startswith("axis")):
            out[name] = frame.vector(value)
        elif name == "orientation" and joint.b == "world":
            out[name] = frame.orientation(value)
    if joint.b == "world" and "anchor_a" in {f.name for f in fields(joint)}:
        ends = joint.anchor_a is not None and joint.anchor_b is None and joint.anchor is None
        if ends:
            out["anchor_b"] = frame.point((0.0,) * frame.dim)
    return replace(joint, **out)


def turned_force(force, frame):
    kind = type(force).__name__
    if kind == "ConstantForce":
        changed = {}
        if not force.follows and force.force is not None:
            changed["force"] = frame.vector(force.force)
        if not force.follows and force.torque is not None and frame.dim == 3:
            changed["torque"] = frame.vector(force.torque)
        return replace(force, **changed)
    if kind == "Spring":
        if force.b != "world":
            return force
        end = (0.0,) * frame.dim if force.anchor_b is None else force.anchor_b
        return replace(force, anchor_b=frame.point(end))
    if kind in ("Damper",) or (kind == "TorsionSpring" and force.axis is None):
        return force
    raise CannotBeRebuilt(f"the frame of a {kind}")


def turned_motion(motion, frame):
    kind = type(motion).__name__
    if kind == "Oscillation":
        return replace(motion, direction=frame.vector(motion.direction))
    if kind == "Rocking":
        return motion if motion.axis is None else replace(motion, axis=frame.vector(motion.axis))
    if kind == "ConstantVelocity":
        changed = {}
        if motion.velocity is not None:
            changed["velocity"] = frame.vector(motion.velocity)
        if motion.angular_velocity is not None and frame.dim == 3:
            changed["angular_velocity"] = frame.vector(motion.angular_velocity)
        return replace(motion, **changed)
    if kind == "Waypoints":
        changed = {}
        if motion.positions is not None:
            changed["positions"] = [frame.point(p) for p in motion.positions]
        if motion.orientations is not None:
            changed["orientations"] = [frame.orientation(q) for q in motion.orientations]
        return replace(motion, **changed)
    raise CannotBeRebuilt(f"the frame of a {kind}")
