"""Value, gradient and Hessian of F, or points and derivatives of S, and the curvature of both."""

import numpy as np

from drystone.kernels._calls import ask
from drystone.kernels._jit import kernel
from drystone.kernels.surfaces.layout import (
    COLUMNS,
    D1,
    D2,
    D3,
    D11,
    D12,
    D13,
    D22,
    D23,
    D33,
    DERIVED,
    FORM,
    LENGTH,
    NJ,
    RESULT,
    SIGN,
    TABLE,
    TABLE_ROWS,
)
from drystone.kernels.surfaces.tape import run_tape

POLE = 1e-5  # area of S_u x S_v, relative to the largest of its factors squared, that is no chart
NUDGE = 1e-3  # parameters away from a pole at which its curvature is looked up


@kernel
def jets(numbers, f0, point, W, out):
    """out (3, NJ): jets of F in row 0 (implicit), or of x, y, z at point = (u, v, 0)."""
    length = int(numbers[f0 + LENGTH])
    if length == 0:
        ask(np.int64(numbers[f0 + RESULT]), np.int64(numbers[f0 + RESULT + 1]), point, out)
        return
    run_tape(numbers, f0 + TABLE + COLUMNS * int(numbers[f0 + TABLE_ROWS]), length, point, W)
    if numbers[f0 + FORM] == DERIVED:
        for k in range(NJ):
            out[0, k] = W[int(numbers[f0 + RESULT + k]), 0]
        return
    for r in range(3):
        at = int(numbers[f0 + RESULT + r])
        for k in range(NJ):
            out[r, k] = W[at, k]


@kernel
def implicit_curvature(J, T, D):
    """D (3,) = curvature (xx, xy, yy) along T (2, 3) from the jet J (NJ,) of F."""
    length = np.sqrt(J[D1] * J[D1] + J[D2] * J[D2] + J[D3] * J[D3])
    for m in range(3):
        a, b = T[m // 2], T[(m + 1) // 2]
        total = J[D11] * a[0] * b[0] + J[D22] * a[1] * b[1] + J[D33] * a[2] * b[2]
        total += J[D12] * (a[0] * b[1] + a[1] * b[0]) + J[D13] * (a[0] * b[2] + a[2] * b[0])
        total += J[D23] * (a[1] * b[2] + a[2] * b[1])
        D[m] = total / length


@kernel
def chart_curvature(J, sign, T, D):
    """The same from the jets J (3, NJ) of a chart; sign: of S_u x S_v outwards. -> regularity.

    The second fundamental form -m.(S_uu, S_uv, S_vv) is that of the parameters; the tangents
    T.S_u, T.S_v take it to the tangent plane.
    """
    a, b, c, d, uu, vv = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        a, b = a + T[0, k] * J[k, D1], b + T[0, k] * J[k, D2]
        c, d = c + T[1, k] * J[k, D1], d + T[1, k] * J[k, D2]
        uu, vv = uu + J[k, D1] * J[k, D1], vv + J[k, D2] * J[k, D2]
    n0 = J[1, D1] * J[2, D2] - J[2, D1] * J[1, D2]
    n1 = J[2, D1] * J[0, D2] - J[0, D1] * J[2, D2]
    n2 = J[0, D1] * J[1, D2] - J[1, D1] * J[0, D2]
    area = sign * np.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    e = -(n0 * J[0, D11] + n1 * J[1, D11] + n2 * J[2, D11]) / area
    f = -(n0 * J[0, D12] + n1 * J[1, D12] + n2 * J[2, D12]) / area
    g = -(n0 * J[0, D22] + n1 * J[1, D22] + n2 * J[2, D22]) / area
    det = a * d - b * c
    # B^-1 = [d -b; -c a] / det; D = B^-T II B^-1
    D[0] = (d * (d * e - c * f) - c * (d * f - c * g)) / (det * det)
    D[1] = (a * (d * f - c * g) - b * (d * e - c * f)) / (det * det)
    D[2] = (b * (b * e - a * f) - a * (b * f - a * g)) / (det * det)
    return abs(area) / max(uu, vv)


@kernel
def parametric_curvature(numbers, f0, uv, T, W, J, D):
    """Curvature D (3,) at parameters uv (3,); -> whether the chart was regular there.

    At a pole the curvature is the mean of that at two points across from each other.
    """
    sign, work = numbers[f0 + SIGN], np.empty(3)
    jets(numbers, f0, uv, W, J)
    if chart_curvature(J, sign, T, D) > POLE:
        return True
    total = np.zeros(3)
    for k in range(2):
        work[0], work[1], work[2] = uv[0], uv[1] + (2 * k - 1) * NUDGE, 0.0
        jets(numbers, f0, work, W, J)
        chart_curvature(J, sign, T, D)
        for m in range(3):
            total[m] += 0.5 * D[m]
    for m in range(3):
        D[m] = total[m]
    return False
