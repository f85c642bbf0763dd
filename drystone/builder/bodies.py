"""What a world knows of a body: its description, checked once, and shared where it is equal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.dynamics import check
from drystone.dynamics.frames import rotation
from drystone.dynamics.motions import BoundMotion
from drystone.errors import DrystoneError, ModelError
from drystone.geometry.mass_properties import MassProperties, check_inertia, rotated_inertia
from drystone.geometry.shapes import Compound, Shape
from drystone.problems import CircularCone, EllipticCone
from drystone.registry import misfit
from drystone.values import real, reals, switch, text

DENSITY = 1000.0  # [kg/m^3], in the plane [kg/m^2]
HEAVIEST = 1e100  # [kg], and one over it the lightest: products of masses stay numbers
LAYERS = 63  # bits of an int64 but its sign, which None sets too
Pair = tuple[float, float]


class Template:
    """A shape as bodies share it: its convex pieces, and its matter for each density asked for."""

    __slots__ = ("__weakref__", "_matter", "pieces", "reach", "shape")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.pieces = tuple(shape.pieces())
        self.reach = max(p.radius + float(np.linalg.norm(p.offset)) for p in self.pieces)
        self._matter: dict[float, MassProperties] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Template:
        return self  # as the shape itself

    def __reduce__(self) -> tuple[Any, ...]:
        return Template, (self.shape,)  # pieces may hold addresses

    def matter(self, density: float) -> MassProperties:
        """Mass properties; ModelError if the shape has none (unbounded, or a mesh)."""
        if density not in self._matter:
            self._matter[density] = _matter(self.shape, density)
        return self._matter[density]


def _matter(shape: Shape, density: float) -> MassProperties:
    """Of a shape at a density; ModelError unless a user's own are those of a solid."""
    if type(shape).mass_properties is Shape.mass_properties:
        return shape.mass_properties(density)
    owner = f"{type(shape).__name__}.mass_properties"
    wrong = misfit(type(shape), Shape, "mass_properties")
    if wrong is not None:
        raise ModelError(f"{type(shape).__name__} {wrong}")
    found: Any = shape.mass_properties(density)
    if not isinstance(found, MassProperties):
        raise ModelError(f"{owner} gave {text(found)}: expected a ds.MassProperties")
    mass, centre = real(found.mass), reals(found.centre)
    if mass is None or not 0.0 < mass < math.inf:
        raise ModelError(f"{owner} gave mass = {text(found.mass)}: expected a positive number")
    if centre is None or centre.shape != (shape.dim,) or not np.isfinite(centre).all():
        expected = f"{shape.dim} finite numbers"
        raise ModelError(f"{owner} gave centre = {text(found.centre)}: expected {expected}")
    if shape.dim == 3 and np.shape(found.inertia) != (3, 3):
        raise ModelError(f"{owner} gave inertia = {text(found.inertia)}: expected a 3 x 3 matrix")
    try:
        check_inertia(found.inertia, owner, shape.dim)
    except ModelError as error:
        raise ModelError(f"{owner}: {str(error).partition(': ')[2]}") from None
    return MassProperties(mass, centre, reals(found.inertia))


@dataclass(frozen=True, slots=True)
class Surface:
    """friction (static, dynamic); restitution (normal, tangential); ratios of friction along and
    across `axis` (dim,), zero if isotropic; layer: bits."""

    friction: Pair
    restitution: Pair
    ratios: Pair
    axis: tuple[float, ...]
    layer: int


@dataclass(frozen=True, slots=True)
class Body:
    """A checked body. Position, orientation and velocity (dof,) are those of its own frame.

    matter: None unless it is dynamic. motion: None unless it is kinematic. geom_uid: of its first
    piece, the others follow. given: what the user said of it, None and what is usual left out.
    """

    name: str
    uid: int
    geom_uid: int
    template: Template | None
    matter: MassProperties | None
    motion: BoundMotion | None
    position: tuple[float, ...]
    orientation: check.Orientation
    velocity: tuple[float, ...]
    surface: Surface
    given: dict[str, Any]

    @property
    def kind(self) -> str:
        if self.matter is not None:
            return "dynamic"
        return "fixed" if self.motion is None else "kinematic"


CHANGING = ("friction", "restitution", "motion")  # what may be said anew of a body
USUAL: dict[str, Any] = {"friction": 0.5, "restitution": 0.0, "fixed": False}


def describe_body(
    name: str,
    uids: tuple[int, int],
    dim: int,
    said: Mapping[str, Any],
    known: MutableMapping[Shape, Template],
) -> Body:
    """A body from the arguments of ``World.add_body``, its uid and that of its first piece."""
    owner, motion = f"body {name!r}", said["motion"]
    fixed = switch(owner, "fixed", said["fixed"], ModelError)
    template = None
    if said["shape"] is not None:
        template = find_template(owner, said["shape"], dim, known)
    contact = ("friction", "restitution", "cone", "cone_axis", "layer")
    surface = surface_of(owner, dim, *(said[field] for field in contact))
    matter = bound = None
    if fixed and motion is not None:
        raise ModelError(f"{owner}: both fixed and motion = {motion!r}: give one")
    if fixed or motion is not None:
        check_given(owner, density=said["density"], mass=said["mass"])
    else:
        about = ("density", "mass", "inertia", "inertia_frame", "centre_of_mass")
        matter = matter_of(name, template, dim, *(said[field] for field in about))
    pose, speeds = (
        (said["position"], said["orientation"]),
        (said["velocity"], said["angular_velocity"]),
    )
    if motion is not None:
        bound = bound_motion(owner, motion, dim, *pose, speeds)
    place, turn = pose_of(owner, dim, *pose)
    rates = velocity_of(owner, dim, *speeds)
    if fixed and any(rates):
        raise ModelError(f"{owner}: is fixed, but has the velocity {rates}")
    given = remembered(said)
    return Body(name, *uids, template, matter, bound, place, turn, rates, surface, given)


def changed(
    body: Body, dim: int, anew: Mapping[str, Any], known: MutableMapping[Shape, Template]
) -> Body:
    """The same body, of which some things are said anew."""
    for field in anew:
        if field not in CHANGING:
            raise ModelError(
                f"body {body.name!r}: {field} cannot be changed: expected {', '.join(CHANGING)}"
            )
    if "motion" in anew and body.motion is None:
        raise ModelError(f"body {body.name!r}: motion cannot be changed: it has none")
    said = defaultdict[str, Any](lambda: None, USUAL | dict(body.given) | dict(anew))
    said["shape"] = None if body.template is None else body.template.shape
    return describe_body(body.name, (body.uid, body.geom_uid), dim, said, known)


def remembered(said: Mapping[str, Any]) -> dict[str, Any]:
    """What differs from the usual, in a form that nobody else can change. The shape is left out:
    a template holds it."""
    out = {}
    for field, value in said.items():
        if field == "shape" or value is None:
            continue
        if isinstance(value, np.ndarray):
            value = value.tolist()
        elif isinstance(value, list | set):
            value = tuple(value)
        if field in USUAL and not isinstance(value, list | tuple) and value == USUAL[field]:
            continue
        out[field] = value
    return out


def find_template(
    owner: str, shape: Any, dim: int, known: MutableMapping[Shape, Template]
) -> Template:
    """The template of a shape, or of a list of shapes, from those `known` if one is equal."""
    if isinstance(shape, list | tuple):
        try:
            shape = Compound(shape)
        except ModelError as error:
            raise ModelError(f"{owner}: {error}") from None
    if not isinstance(shape, Shape):
        made = f"ds.{getattr(shape, '__name__', 'Box')}(...)"
        raise ModelError(f"{owner}: {shape!r} is not a shape: expected one such as {made}")
    if shape.dim != dim:
        words = {2: "planar", 3: "spatial"}
        kind = type(shape).__name__
        raise ModelError(
            f"{owner}: {kind} is a {words[shape.dim]} shape, the world is {words[dim]}"
        )
    template = known.get(shape)
    if template is None:
        template = known[shape] = Template(shape)
    return template


def matter_of(
    name: str,
    template: Template | None,
    dim: int,
    density: Any,
    mass: Any,
    inertia: Any,
    inertia_frame: Any,
    centre: Any,
) -> MassProperties:
    """Mass, centre and inertia of a dynamic body from what was said about it."""
    owner = f"body {name!r}"
    for field, value in (("inertia_frame", inertia_frame), ("centre_of_mass", centre)):
        if value is not None and inertia is None:
            raise ModelError(f"{owner}: {field} needs inertia, which is about the centre of mass")
    if mass is not None and density is not None:
        raise ModelError(f"{owner}: both density = {density!r} and mass = {mass!r}: give one")
    if mass is None:
        if inertia is not None:
            raise ModelError(f"{owner}: inertia needs mass")
        if template is None:
            raise ModelError(f"{owner}: has no shape: give mass and inertia, or fixed=True")
        rho = DENSITY if density is None else check.positive(owner, "density", density)
        matter = _shape_matter(owner, template, rho)
        if not 1.0 / HEAVIEST <= matter.mass <= HEAVIEST:
            expected = f"expected {1 / HEAVIEST:g} to {HEAVIEST:g} kg"
            raise ModelError(f"{owner}: density = {rho:g} gives {matter.mass:g} kg: {expected}")
        return matter
    total = check.positive(owner, "mass", mass)
    if not 1.0 / HEAVIEST <= total <= HEAVIEST:
        raise ModelError(f"{owner}: mass = {mass!r}: expected {1 / HEAVIEST:g} to {HEAVIEST:g} kg")
    of_shape = None if template is None else _shape_matter(owner, template, 1.0)
    if inertia is None:
        if of_shape is None:
            raise ModelError(f"{owner}: has no shape: mass needs inertia")
        return of_shape.scaled_to(total)
    if centre is not None:
        place = np.array(check.vector(owner, "centre_of_mass", centre, dim))
    else:
        place = np.zeros(dim) if of_shape is None else of_shape.centre
    moments = check_inertia(inertia, name, dim)
    if inertia_frame is not None:
        if dim == 2:
            raise ModelError(
                f"{owner}: inertia_frame = {inertia_frame!r}: a planar inertia has none"
            )
        turn = check.orientation(owner, "inertia_frame", inertia_frame, dim)
        moments = rotated_inertia(moments, rotation(np.array(turn)))
    return MassProperties(total, place, moments)


def _shape_matter(owner: str, template: Template, density: float) -> MassProperties:
    try:
        return template.matter(density)
    except ModelError as error:
        raise ModelError(f"{owner}: {error}") from None
    except DrystoneError:
        raise
    except Exception as error:
        error.add_note(f"{owner}: in {type(template.shape).__name__}.mass_properties")
        raise


def check_given(owner: str, **numbers: Any) -> None:
    """Numbers that a body does not need are still checked if they are given."""
    for field, value in numbers.items():
        if value is not None:
            check.positive(owner, field, value)


def surface_of(
    owner: str, dim: int, friction: Any, restitution: Any, cone: Any, cone_axis: Any, layer: Any
) -> Surface:
    """What contacts need to know of a body."""
    ratios, axis = _anisotropy(owner, dim, cone, cone_axis)
    mu, eps = friction_of(owner, friction), restitution_of(owner, restitution)
    return Surface(mu, eps, ratios, axis, layer_bits(owner, layer))


def friction_of(owner: str, value: Any) -> Pair:
    """(static, dynamic) of a number or a pair."""
    if isinstance(value, tuple | list | np.ndarray):
        static, dynamic = check.vector(owner, "friction", value, 2)
    else:
        static = dynamic = check.number(owner, "friction", value)
    if min(static, dynamic) < 0:
        raise ModelError(f"{owner}: friction = {value}: expected 0 or more")
    if static < dynamic:
        raise ModelError(
            f"{owner}: static friction {static:g} is less than dynamic friction {dynamic:g}"
        )
    return static, dynamic


def restitution_of(owner: str, value: Any) -> Pair:
    """(normal, tangential) of a number, which is the normal one, or a pair."""
    if isinstance(value, tuple | list | np.ndarray):
        normal, tangential = check.vector(owner, "restitution", value, 2)
    else:
        normal, tangential = check.number(owner, "restitution", value), 0.0
    if not (0 <= normal <= 1 and 0 <= tangential <= 1):
        raise ModelError(f"{owner}: restitution = {value}: expected numbers from 0 to 1")
    return normal, tangential


def _anisotropy(owner: str, dim: int, cone: Any, axis: Any) -> tuple[Pair, tuple[float, ...]]:
    none = (0.0,) * dim
    if cone is None or isinstance(cone, CircularCone):
        if axis is not None:
            raise ModelError(f"{owner}: cone_axis = {axis} without cone=EllipticCone(...)")
        return (1.0, 1.0), none
    if not isinstance(cone, EllipticCone):
        raise ModelError(
            f"{owner}: cone = {cone!r}: expected EllipticCone or CircularCone (polyhedral and "
            "soft-finger cones are options of the method)"
        )
    if dim == 2:
        raise ModelError(f"{owner}: an elliptic cone needs two tangents: the world is planar")
    if cone.angle != 0:
        raise ModelError(
            f"{owner}: cone.angle = {cone.angle:g}: a body says the direction by cone_axis"
        )
    way = (1.0, 0.0, 0.0) if axis is None else check.direction(owner, "cone_axis", axis, dim)
    return (float(cone.ratios[0]), float(cone.ratios[1])), way


def layer_bits(owner: str, layer: Any) -> int:
    """Bits of a layer, several, or all (None)."""
    if layer is None:
        return -1
    bits = 0
    for number in layer if isinstance(layer, tuple | list | set | frozenset) else (layer,):
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not 0 <= number < LAYERS:
            raise ModelError(
                f"{owner}: layer = {number!r}: expected whole numbers from 0 to {LAYERS - 1}"
            )
        bits |= 1 << int(number)
    return bits


def bound_motion(
    owner: str, motion: Any, dim: int, position: Any, orientation: Any, speeds: tuple[Any, Any]
) -> BoundMotion:
    """The motion of a kinematic body that starts from a pose as given (None: not given)."""
    if isinstance(motion, type) or not hasattr(motion, "bind"):
        raise ModelError(f"{owner}: motion = {motion!r}: expected a motion, e.g. Oscillation(...)")
    given = {"velocity": speeds[0], "angular_velocity": speeds[1]}
    given |= {"position": position, "orientation": orientation}
    prescribes = ("velocity", "angular_velocity", *getattr(motion, "prescribes", ()))
    for field, value in given.items():
        if value is not None and field in prescribes:
            raise ModelError(f"{owner}: {field} = {value!r}: its motion says that")
    bound: BoundMotion = motion.bind(owner, dim, pose_of(owner, dim, position, orientation))
    return bound


def pose_of(
    owner: str, dim: int, position: Any, orientation: Any
) -> tuple[tuple[float, ...], check.Orientation]:
    """Checked position and orientation; the origin and no turn if not given."""
    place = (0.0,) * dim
    if position is not None:
        place = check.vector(owner, "position", position, dim)
    turn: check.Orientation = 0.0 if dim == 2 else (1.0, 0.0, 0.0, 0.0)
    if orientation is not None:
        turn = check.orientation(owner, "orientation", orientation, dim)
    return place, turn


def velocity_of(owner: str, dim: int, velocity: Any, spin: Any) -> tuple[float, ...]:
    """(dof,) velocity of the body's frame; zero if not given."""
    linear, angular = (0.0,) * dim, (0.0,) * (2 * dim - 3)
    if velocity is not None:
        linear = check.vector(owner, "velocity", velocity, dim)
    if spin is not None:
        angular = check.spin(owner, "angular_velocity", spin, dim)
    return linear + angular
