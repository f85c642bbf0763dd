"""Which surface each pixel shows: triangles, balls and planes into a depth buffer.

Buffers of a picture: near (rows, columns), greater in front, -inf where nothing is; owner, the
body seen, -1 nothing, -2 a floor; way (rows, columns, 3), the outer normal; tone, a factor of the
colour. A shadow needs `near` alone: give `way` and `tone` without rows.
"""

import numpy as np

from drystone.kernels._jit import kernel

FLOOR, NOTHING = -2, -1


@kernel
def fill_triangles(pixel, depth, normal, body, parallel, near, owner, way):
    """pixel (nt, 3, 2), depth (nt, 3), normal (nt, 3, 3), body (nt,); counter-clockwise seen from
    outside, those that face away are left out."""
    rows, columns = near.shape
    shown = way.shape[0] > 0
    for t in range(body.size):
        ax, ay = pixel[t, 0, 0], pixel[t, 0, 1]
        bx, by = pixel[t, 1, 0] - ax, pixel[t, 1, 1] - ay
        cx, cy = pixel[t, 2, 0] - ax, pixel[t, 2, 1] - ay
        area = bx * cy - by * cx
        if not area < 0.0:  # rows run downwards; also what is not a number
            continue
        x0 = max(0, int(np.floor(ax + min(0.0, bx, cx))))
        x1 = min(columns, int(np.ceil(ax + max(0.0, bx, cx))) + 1)
        y0 = max(0, int(np.floor(ay + min(0.0, by, cy))))
        y1 = min(rows, int(np.ceil(ay + max(0.0, by, cy))) + 1)
        d0, d1, d2 = depth[t, 0], depth[t, 1], depth[t, 2]
        for i in range(y0, y1):
            y = i + 0.5 - ay
            for j in range(x0, x1):
                x = j + 0.5 - ax
                v = (x * cy - y * cx) / area
                w = (y * bx - x * by) / area
                u = 1.0 - v - w
                if v < -1e-9 or w < -1e-9 or u < -1e-9:
                    continue
                d = u * d0 + v * d1 + w * d2
                if d <= near[i, j]:
                    continue
                near[i, j] = d
                owner[i, j] = body[t]
                if not shown:
                    continue
                if not parallel:
                    u, v, w = u * d0, v * d1, w * d2
                for k in range(3):
                    way[i, j, k] = u * normal[t, 0, k] + v * normal[t, 1, k] + w * normal[t, 2, k]


@kernel
def fill_balls(centre, radius, axes, body, eye, sight, scale, parallel, near, owner, way, tone):
    """centre (n, 3), radius (n,), axes (n, 3, 3) of balls; sight (3, 3): right, up, forward;
    scale: pixels per metre with parallel rays, otherwise per metre at a distance of one."""
    rows, columns = near.shape
    shown = way.shape[0] > 0
    p, q = np.empty(3), np.empty(3)  # of the centre; of a ray
    for b in range(body.size):
        for k in range(3):
            p[k] = 0.0
            for m in range(3):
                p[k] += sight[k, m] * (centre[b, m] - eye[m])
        r = radius[b]
        if not parallel and p[2] <= 2.0 * r:
            continue
        far = 1.0 if parallel else p[2]
        # a ball off the axis is seen as an ellipse: a little more room for it
        reach = r * scale if parallel else 1.25 * r * scale / (p[2] - r)
        mx, my = 0.5 * columns + scale * p[0] / far, 0.5 * rows - scale * p[1] / far
        for i in range(max(0, int(my - reach)), min(rows, int(my + reach) + 2)):
            y = (0.5 * rows - i - 0.5) / scale
            for j in range(max(0, int(mx - reach)), min(columns, int(mx + reach) + 2)):
                x = (j + 0.5 - 0.5 * columns) / scale
                if parallel:
                    inside = r * r - (x - p[0]) ** 2 - (y - p[1]) ** 2
                    if inside <= 0.0:
                        continue
                    depth = -p[2] + np.sqrt(inside)
                    q[0], q[1], q[2] = x, y, -depth
                else:
                    dd, dc = x * x + y * y + 1.0, x * p[0] + y * p[1] + p[2]
                    inside = dc * dc - dd * (p[0] ** 2 + p[1] ** 2 + p[2] ** 2 - r * r)
                    if inside <= 0.0:
                        continue
                    depth = dd / (dc - np.sqrt(inside))
                    q[0], q[1], q[2] = x / depth, y / depth, 1.0 / depth
                if depth <= near[i, j]:
                    continue
                near[i, j] = depth
                owner[i, j] = body[b]
                if shown:
                    _mark(i, j, p, q, r, sight, axes[b], way, tone)


@kernel
def _mark(i, j, p, q, r, sight, axes, way, tone):
    """The normal of a ball at a pixel, and its belt and cap: how it turns can be seen."""
    for m in range(3):
        way[i, j, m] = 0.0
        for k in range(3):
            way[i, j, m] += sight[k, m] * (q[k] - p[k]) / r
    cap, belt = 0.0, 0.0
    for m in range(3):
        cap += axes[m, 0] * way[i, j, m]
        belt += axes[m, 2] * way[i, j, m]
    tone[i, j] = 0.84 if cap > 0.905 or abs(belt) < 0.14 else 1.0


@kernel
def fill_plane(point, normal, eye, sight, scale, near, owner, way):
    """A plane without end, seen from its outer side, where nothing is before it."""
    rows, columns = near.shape
    height = 0.0
    for m in range(3):
        height += (point[m] - eye[m]) * normal[m]
    if height >= 0.0:
        return
    for i in range(rows):
        y = (0.5 * rows - i - 0.5) / scale
        for j in range(columns):
            x = (j + 0.5 - 0.5 * columns) / scale
            facing = 0.0
            for m in range(3):
                facing += (x * sight[0, m] + y * sight[1, m] + sight[2, m]) * normal[m]
            depth = facing / height
            if facing < 0.0 and depth > near[i, j]:
                near[i, j] = depth
                owner[i, j] = FLOOR
                for m in range(3):
                    way[i, j, m] = normal[m]
