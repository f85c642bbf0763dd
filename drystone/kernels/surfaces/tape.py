"""A formula as a list of operations, evaluated with its first and second derivatives.

A tape is rows (operation, a, b) of floats: row k computes register k from registers a and b (or
from the constant a). Each register holds a jet of NJ = 10 numbers: value, gradient (3) and Hessian
(xx, xy, xz, yy, yz, zz) with respect to up to three variables. Forward propagation is exact to
rounding: no step length has to be chosen.
"""

import numpy as np

from drystone.kernels._jit import kernel
from drystone.kernels.surfaces.layout import (
    ABS,
    ADD,
    ARCTAN,
    COS,
    COSH,
    EXP,
    INVERSE,
    LARGER,
    LOG,
    MULTIPLY,
    NJ,
    POWER,
    SIN,
    SINH,
    SMALLER,
    SQRT,
    SUBTRACT,
    TAN,
    TANH,
    VARIABLE,
)


@kernel
def _chain(x, f, f1, f2, out):
    """out = jet of f(x), from f, f', f'' at the value of x."""
    out[0] = f
    k = 4
    for i in range(3):
        out[1 + i] = f1 * x[1 + i]
        for j in range(i, 3):
            square = x[1 + i] * x[1 + j]
            # w^(4/3) of w = x^4 + ... at 0: its second derivative is infinite, and not asked for
            out[k] = f1 * x[k] + (f2 * square if square != 0.0 else 0.0)
            k += 1


@kernel
def _product(x, y, out):
    """out = jet of x y."""
    out[0] = x[0] * y[0]
    k = 4
    for i in range(3):
        out[1 + i] = x[0] * y[1 + i] + y[0] * x[1 + i]
        for j in range(i, 3):
            out[k] = x[0] * y[k] + y[0] * x[k] + x[1 + i] * y[1 + j] + y[1 + i] * x[1 + j]
            k += 1


@kernel
def _unary(operation, x, p, out):
    """out = jet of an elementary function of x; p: the exponent of POWER."""
    v = x[0]
    f, f1, f2 = np.nan, np.nan, np.nan
    if operation == POWER:
        if v != 0.0:
            f, f1, f2 = v**p, p * v ** (p - 1.0), p * (p - 1.0) * v ** (p - 2.0)
        elif p >= 1.0:
            f, f1 = 0.0, (1.0 if p == 1.0 else 0.0)
            f2 = 2.0 if p == 2.0 else (0.0 if p > 2.0 or p == 1.0 else np.inf)
    elif operation == SQRT:
        f = np.sqrt(v)
        f1, f2 = 0.5 / f, -0.25 / (f * v)
    elif operation == EXP:
        f = np.exp(v)
        f1, f2 = f, f
    elif operation == LOG:
        f, f1, f2 = np.log(v), 1.0 / v, -1.0 / (v * v)
    elif operation == SIN:
        f, f1 = np.sin(v), np.cos(v)
        f2 = -f
    elif operation == COS:
        f, f1 = np.cos(v), -np.sin(v)
        f2 = -f
    elif operation == TAN:
        f = np.tan(v)
        f1 = 1.0 + f * f
        f2 = 2.0 * f * f1
    elif operation == ARCTAN:
        f, f1 = np.arctan(v), 1.0 / (1.0 + v * v)
        f2 = -2.0 * v * f1 * f1
    elif operation == SINH:
        f, f1 = np.sinh(v), np.cosh(v)
        f2 = f
    elif operation == COSH:
        f, f1 = np.cosh(v), np.sinh(v)
        f2 = f
    elif operation == TANH:
        f = np.tanh(v)
        f1 = 1.0 - f * f
        f2 = -2.0 * f * f1
    elif operation == ABS:
        f, f1, f2 = abs(v), np.copysign(1.0, v), 0.0
    _chain(x, f, f1, f2, out)


@kernel
def run_tape(numbers, start, length, point, W):
    """Jets W (length, NJ) of the tape at numbers[start:start + 3 length], at a point (3,)."""
    for k in range(length):
        at, out = start + 3 * k, W[k]
        operation, a, b = int(numbers[at]), numbers[at + 1], numbers[at + 2]
        if operation <= VARIABLE:
            for i in range(NJ):
                out[i] = 0.0
            out[0] = a
            if operation == VARIABLE:
                out[0] = point[int(a)]
                out[1 + int(a)] = 1.0
        elif operation <= SUBTRACT:
            sign = 1.0 if operation == ADD else -1.0
            for i in range(NJ):
                out[i] = W[int(a), i] + sign * W[int(b), i]
        elif operation == MULTIPLY:
            _product(W[int(a)], W[int(b)], out)
        elif operation == INVERSE:
            v = W[int(a), 0]
            _chain(W[int(a)], 1.0 / v, -1.0 / (v * v), 2.0 / (v * v * v), out)
        elif operation in (LARGER, SMALLER):
            first = (W[int(a), 0] >= W[int(b), 0]) == (operation == LARGER)
            chosen = int(a) if first else int(b)
            for i in range(NJ):
                out[i] = W[chosen, i]
        else:
            _unary(operation, W[int(a)], b, out)
