"""Values that no public call expects, and words that none has."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

NAN, INF = float("nan"), float("inf")


class Nothing:
    """An object that is good for nothing."""

    def __repr__(self):
        return "Nothing()"


VALUES = [
    10**400, -(10**400), 1e300, -1e300, 1e308, 1e-300, 5e-324, NAN, INF, -INF, -1, -1.5, 0, -0.0, 1,
    2, 7, 0.5, 1e-9, 1e9, 1e160, 2**31, 2**63, 2**64, 10**9, True, False, None, "", "abc", "1",
    "nan", "\0", "world", b"x", [], (), {}, set(), [[]], [[], []], [1, [2, 3]], [[1, 2], [3]],
    [1, 2], [0, 0], (1, 2, 3), (0, 0, 0), [0.0, 1.0], [1, 2, 3, 4], [0, 0, 0, 0], [NAN] * 3,
    [INF, 0, 0], [10**400, 0, 0], [10**400, 0, 0, 0], [1e300] * 3, [1e300, 1e300], [1e300] * 4,
    [1e-300] * 3, [1e-300] * 4, [5e-324, 0, 0], ["a", "b", "c"], [None] * 3, [True, False, True],
    [[1e300, 0, 0], [0, 1e300, 0], [0, 0, 1e300], [0, 0, 0]], [[0, 0, 0]] * 4, [[1, 1]] * 3,
    [[0, 0], [1, 0], [1, 1e300]], [[0, 0], [1e-300, 0], [0, 1e-300]], [[0, 1, 2]], [[0, 0, 0]],
    [[10**400, 0], [0, 1]], [1e300, 1e300, 1e300], [1e-300, 1.0, 1.0], [1.0, 1.0, 2.5],
    np.zeros((2, 2)), np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(0), np.array(3.0), np.array(NAN),
    np.zeros((3, 3)), np.eye(3), np.eye(2), 1e300 * np.eye(3), 1e-300 * np.eye(3), np.eye(4),
    np.array([1, 2, 3], dtype=object), np.array([None, 1, "a"], dtype=object), np.array(["x", "y"]),
    1 + 2j, np.array([1j, 2, 3]), np.float32(1.5), np.int64(2), np.uint8(3), np.float16(0.1),
    np.longdouble("1e4000"), np.bool_(True), np.array([True, False, True]), Fraction(1, 3),
    Decimal("0.5"), Nothing(), int, len, range(3), {1, 2, 3}, {"a": 1}, {"turn": "x"}, {1: 2},
    {"turn": (1, 2)}, {"x": None}, np.datetime64("2020-01-01"), np.ones((2, 3, 4)), [()], [None],
    [Nothing()], ("a",), ("a", "b"), ("turn", NAN), slice(1, 2), np.array([1.0, 2.0, 3.0])[::-1],
    np.timedelta64(1, "s"), np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
]  # fmt: skip

WORDS = (
    "size", "pos", "mu", "color", "static", "height", "dt", "until", "torque", "radius", "diameter",
    "rot", "quat", "vel", "rho", "e", "g", "timestep", "pivot", "nmae", "Name", "position_", "",
    "self", "value", "maxForce", "not a word",
)  # fmt: skip
