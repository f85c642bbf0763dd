"""Of what joints are made: scalar functions of two bodies' poses, held as rows or free.

A joint has a frame on either body: axes A_0, A_1, A_2 on a and B_0, B_1, B_2 on b, and an anchor p
each. d = p_a - p_b, w = w_a - w_b, (q, v) = quaternion of B'A with q >= 0, r: anchors from the
centres of mass, e = p_a - x_b. The frames coincide at the described poses, but for joints that say
otherwise.

    d(B_i.d)/dt   = f.v_a + (r_a x f).w_a - f.v_b - (e x f).w_b, f = B_i: axes turn with b, hence
                    the arm e; d|d|/dt the same with f = d / |d|
    d(A_i.B_j)/dt = (A_i x B_j).w
    d(s u_i)/dt   = (s A_2 x B_i - s u_i / (2 (1 + c)) A_2 x B_2).w, u_i = B_i.A_2, c = B_2.A_2,
                    s = sqrt(2 / (1 + c))
    d(2 v_i)/dt   = B (q e_i + v x e_i).w

``kernels.joints`` evaluates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drystone.errors import ModelError
from drystone.kernels import joints as kernels
from drystone.values import text, whole

PLANAR = (
    kernels.POINT, kernels.LENGTH, kernels.ANGLE_A, kernels.TURN, kernels.SPIN, kernels.COUPLED,
)  # fmt: skip
LINEAR = (kernels.POINT, kernels.LENGTH)
WITHOUT_UNIT = (kernels.DOT, kernels.COUPLED)
WORDS = {  # the class method that makes each kind, and the axes it is given
    kernels.POINT: ("point", "i"),
    kernels.LENGTH: ("length",),
    kernels.SWING: ("swing", "i"),
    kernels.TURN: ("turn", "i"),
    kernels.DOT: ("cosine", "i", "j"),
    kernels.ANGLE_A: ("angle", "i", "k"),
    kernels.ANGLE_B: ("angle_on_a", "i", "k"),
    kernels.TWIST: ("twist",),
    kernels.TILT: ("tilt",),
    kernels.SPIN: ("spin", "i"),
    kernels.COUPLED: ("coupled",),
}
# no functions of the pose with a gradient where they are zero: nothing could hold them
NEVER_HELD = (kernels.SPIN, kernels.TILT)


@dataclass(frozen=True, slots=True)
class JointFunction:
    """A function of the poses of a joint's two frames: kind and axes of ``kernels.joints``.

    Made by its class methods; axes are 0, 1, 2 (in the plane 0, 1). A joint holds some at their
    described values, its rows, and names others that are left free, its coordinates.
    """

    kind: int
    i: int = 0
    j: int = 0
    k: int = 0

    @classmethod
    def point(cls, axis: int) -> JointFunction:
        """B_i.d [m]: how far a's anchor is from b's along an axis of b."""
        return cls(kernels.POINT, _axis("point", axis))

    @classmethod
    def length(cls) -> JointFunction:
        """abs(d) [m]: the distance of the anchors."""
        return cls(kernels.LENGTH)

    @classmethod
    def swing(cls, axis: int) -> JointFunction:
        """2 sin(angle / 2) [rad] of the tilt of A_2 from B_2, along B_0 or B_1: two such rows keep
        A_2 along B_2."""
        return cls(kernels.SWING, _axis("swing", axis, 2))

    @classmethod
    def turn(cls, axis: int) -> JointFunction:
        """2 v_i [rad]: the turn of a from b as a vector, 2 sin(angle / 2) long; three such rows
        hold an orientation. In the plane the turn itself, axis 0."""
        return cls(kernels.TURN, _axis("turn", axis))

    @classmethod
    def cosine(cls, axis_a: int, axis_b: int) -> JointFunction:
        """A_i.B_j: zero while the two axes are at a right angle."""
        return cls(kernels.DOT, _axis("cosine", axis_a), _axis("cosine", axis_b))

    @classmethod
    def angle(cls, axis: int = 0, towards: int = 1) -> JointFunction:
        """Angle [rad] of a's axis from b's of the same number, towards another one of b; turns are
        counted. In the plane the turn of a from b."""
        first = _axis("angle", axis)
        return cls(kernels.ANGLE_A, first, first, _axis("angle", towards))

    @classmethod
    def angle_on_a(cls, axis: int, towards: int) -> JointFunction:
        """The same of b's axis, in a plane that a carries."""
        first = _axis("angle_on_a", axis)
        return cls(kernels.ANGLE_B, first, first, _axis("angle_on_a", towards))

    @classmethod
    def twist(cls) -> JointFunction:
        """Turn [rad] about B_2, whatever the tilt: held, both shafts turn at one speed."""
        return cls(kernels.TWIST)

    @classmethod
    def tilt(cls) -> JointFunction:
        """Angle [rad] between A_2 and B_2; a coordinate only: at zero it has a kink."""
        return cls(kernels.TILT)

    @classmethod
    def spin(cls, axis: int) -> JointFunction:
        """Rate w.B_i [rad/s]; a coordinate without a value, for friction."""
        return cls(kernels.SPIN, _axis("spin", axis))

    def __str__(self) -> str:
        """As it is made: point(1), angle(0, 1)."""
        name, *axes = WORDS[self.kind]
        return f"{name}({', '.join(str(getattr(self, axis)) for axis in axes)})"

    @property
    def code(self) -> tuple[int, int, int, int]:
        """As kernels read it."""
        return self.kind, self.i, self.j, self.k

    @property
    def unit(self) -> str:
        """m, rad, or nothing."""
        if self.kind in LINEAR:
            return "m"
        return "" if self.kind in WITHOUT_UNIT else "rad"


def _axis(what: str, value: int, most: int = 3) -> int:
    number = whole(value)
    if number is None or not 0 <= number < most:
        known = ", ".join(map(str, range(most)))
        raise ModelError(f"JointFunction.{what}: axis {text(value)}: expected one of {known}")
    return number


Rows = Mapping[int, tuple[JointFunction, ...]]  # by dimension: what a joint holds
Free = Mapping[int, Mapping[str, JointFunction]]  # by dimension: what it leaves, with names

X, Y, Z = (JointFunction.point(i) for i in range(3))
LENGTH = JointFunction.length()
TURNS = tuple(JointFunction.turn(i) for i in range(3))
UPRIGHT = (JointFunction.swing(0), JointFunction.swing(1))  # A_2 along B_2
CROSS = JointFunction.cosine(0, 2)  # A_0 across B_2
ABOUT_Z = JointFunction.angle(0, 1)
ABOUT_X = JointFunction.angle_on_a(2, 1)
COUPLED = JointFunction(kernels.COUPLED)  # a sum of two coordinates


def check_functions(owner: str, rows: Rows, free: Free) -> None:
    """ModelError if a joint's tables hold what no kernel computes."""
    if not isinstance(rows, Mapping) or not rows or not set(rows) <= {2, 3}:
        raise ModelError(f"{owner}: rows = {text(rows)}: expected {{2: (...), 3: (...)}} or one")
    if not isinstance(free, Mapping) or set(free) != set(rows):
        raise ModelError(f"{owner}: free = {text(free)}: expected the dimensions of rows")
    for dim, held in rows.items():
        if not isinstance(held, tuple | list) or not isinstance(free[dim], Mapping):
            raise ModelError(f"{owner}: expected rows {{{dim}: (...)}}, free {{{dim}: {{...}}}}")
        if not held and not free[dim]:
            raise ModelError(
                f"{owner}: rows = {{{dim}: ()}} and free = {{{dim}: {{}}}}: a joint that holds "
                "nothing and has no coordinate"
            )
        for name, function in free[dim].items():
            if not isinstance(name, str) or not name.isidentifier():
                raise ModelError(f"{owner}: coordinate {text(name)}: expected a name")
            _check(f"{owner}: coordinate {name!r}", function, dim)
            if function.kind in WITHOUT_UNIT:
                raise ModelError(f"{owner}: coordinate {name!r}: a cosine can only be held")
        for function in held:
            _check(f"{owner}: rows", function, dim)
            if function.kind in NEVER_HELD:
                raise ModelError(f"{owner}: rows: a spin or a tilt can only be free")
            if list(held).count(function) > 1:
                raise ModelError(f"{owner}: rows: {function} is there twice")


def _check(owner: str, function: JointFunction, dim: int) -> None:
    if not isinstance(function, JointFunction):
        raise ModelError(f"{owner}: {text(function)}: expected a JointFunction")
    axes = (function.i, function.j) if function.kind == kernels.POINT else ()
    if dim == 2 and (function.kind not in PLANAR or max(axes, default=0) > 1):
        raise ModelError(f"{owner}: {function}: the plane has no such function")
    turning = function.kind in (kernels.ANGLE_A, kernels.ANGLE_B)
    if turning and function.j == function.k:
        raise ModelError(f"{owner}: an angle is measured from one axis towards another one")
