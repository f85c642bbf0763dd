"""Pictures: which surface each pixel shows, by a depth buffer, and its colour."""

from typing import Any, NamedTuple

import numpy as np

from drystone.kernels._jit import kernel

FLOOR_OWNER, NO_OWNER = -2, -1  # owners of pixels that no body has


class View(NamedTuple):
    """From where a picture is seen: eye (3,); axes (3, 3): right, up, forward; scale: pixels per
    metre with parallel rays, otherwise per metre at a distance of one."""

    eye: Any
    axes: Any
    scale: float
    parallel: bool


class Sheets(NamedTuple):
    """What a picture shows: near (rows, columns), greater in front, -inf where nothing is; owner:
    the body, or one of the codes above; way (rows, columns, 3): the outer normal; tone: a factor of
    the colour. A shadow needs `near` alone: its `way` and `tone` have no rows."""

    near: Any
    owner: Any
    way: Any
    tone: Any


@kernel
def fill_triangles(pixel, depth, normal, body, parallel, sheets):
    """pixel (nt, 3, 2), depth (nt, 3), normal (nt, 3, 3), body (nt,); counter-clockwise seen from
    outside, those that face away are left out."""
    near, owner, way, _ = sheets
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
def fill_balls(centre, radius, axes, body, view, sheets):
    """centre (n, 3), radius (n,), axes (n, 3, 3), body (n,) of balls."""
    eye, sight, scale, parallel = view
    near, owner, way, tone = sheets
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
def fill_plane(point, normal, view, sheets):
    """A plane without end, seen from its outer side, where nothing is before it."""
    eye, sight, scale, _ = view
    near, owner, way, _ = sheets
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
                owner[i, j] = FLOOR_OWNER
                for m in range(3):
                    way[i, j, m] = normal[m]


# ---- Light on what a picture shows: one sun with soft shadows, the sky, ink where bodies meet.


@kernel
def shade(view, sheets, palette, light, cast, middle, reach, paper, colour):
    """colour (rows, columns, 3) of every pixel, from 0 to 1.

    light: View of the sun, cast: its depth buffer; middle (3,), reach [m]: the floor fades at some
    distance from what happens; paper (3, 3): colours behind everything at the top and at the
    bottom, and of the floor in the sun.
    """
    eye, sight, scale, _ = view
    sun_eye, sun, sun_scale, _ = light
    near, owner, way, tone = sheets
    rows, columns = near.shape
    size = cast.shape[0]
    for i in range(rows):
        y = (0.5 * rows - i - 0.5) / scale
        for j in range(columns):
            x = (j + 0.5 - 0.5 * columns) / scale
            share = i / rows
            who = owner[i, j]
            back0 = paper[0, 0] + share * (paper[1, 0] - paper[0, 0])
            back1 = paper[0, 1] + share * (paper[1, 1] - paper[0, 1])
            back2 = paper[0, 2] + share * (paper[1, 2] - paper[0, 2])
            if who == NO_OWNER:
                colour[i, j, 0], colour[i, j, 1], colour[i, j, 2] = back0, back1, back2
                continue
            z = 1.0 / near[i, j]
            px = eye[0] + z * (x * sight[0, 0] + y * sight[1, 0] + sight[2, 0])
            py = eye[1] + z * (x * sight[0, 1] + y * sight[1, 1] + sight[2, 1])
            pz = eye[2] + z * (x * sight[0, 2] + y * sight[1, 2] + sight[2, 2])
            nx, ny, nz = way[i, j, 0], way[i, j, 1], way[i, j, 2]
            length = max(np.sqrt(nx * nx + ny * ny + nz * nz), 1e-30)
            nx, ny, nz = nx / length, ny / length, nz / length
            way[i, j, 0], way[i, j, 1], way[i, j, 2] = nx, ny, nz
            face = -(nx * sun[2, 0] + ny * sun[2, 1] + nz * sun[2, 2])
            lift = 2.5 / sun_scale
            ux, uy, uz = px + lift * nx - sun_eye[0], py + lift * ny - sun_eye[1], 0.0
            uz = pz + lift * nz - sun_eye[2]
            column = 0.5 * size + sun_scale * (sun[0, 0] * ux + sun[0, 1] * uy + sun[0, 2] * uz)
            row = 0.5 * size - sun_scale * (sun[1, 0] * ux + sun[1, 1] * uy + sun[1, 2] * uz)
            depth = -(sun[2, 0] * ux + sun[2, 1] * uy + sun[2, 2] * uz) + 0.5 / sun_scale
            lit = _lit(cast, size, column, row, depth) if face > 0.0 else 0.0
            if who == FLOOR_OWNER:
                away = np.sqrt((px - middle[0]) ** 2 + (py - middle[1]) ** 2) / reach
                f = min(max((2.6 - away) / 1.8, 0.0), 1.0)
                f = f * f * (3.0 - 2.0 * f)
                dark = 1.0 - 0.26 * (1.0 - lit)
                colour[i, j, 0] = back0 + f * (paper[2, 0] * dark - back0)
                colour[i, j, 1] = back1 + f * (paper[2, 1] * dark - back1)
                colour[i, j, 2] = back2 + f * (paper[2, 2] * (dark + 0.02 * (1.0 - lit)) - back2)
                continue
            shine = max(face, 0.0) * lit
            t = tone[i, j]
            colour[i, j, 0] = palette[who, 0] * t * (0.60 + 0.085 * nz + 0.455 * shine)
            colour[i, j, 1] = palette[who, 1] * t * (0.605 + 0.085 * nz + 0.43 * shine)
            colour[i, j, 2] = palette[who, 2] * t * (0.615 + 0.08 * nz + 0.39 * shine)


@kernel
def _lit(cast, size, column, row, depth):
    """From 0 in shadow to 1 in the sun: the mean of nine places of the shadow map."""
    out = 0.0
    for a in range(-1, 2):
        for b in range(-1, 2):
            c, r = int(column + 1.2 * a), int(row + 1.2 * b)
            if c < 0 or r < 0 or c >= size or r >= size or cast[r, c] <= depth:
                out += 1.0
    return out / 9.0


@kernel
def develop(sheets, colour, fine, out):
    """out (rows, columns, 3): the mean of fine x fine pixels, with ink between bodies and along
    creases of one."""
    owner, way = sheets.owner, sheets.way
    rows, columns = owner.shape
    part = 1.0 / (fine * fine)
    for i in range(rows):
        for j in range(columns):
            mine, ink = owner[i, j], 0.0
            for k in range(4):
                a = min(max(i + (1 if k == 0 else -1 if k == 1 else 0), 0), rows - 1)
                b = min(max(j + (1 if k == 2 else -1 if k == 3 else 0), 0), columns - 1)
                other = owner[a, b]
                if other != mine:
                    if mine >= 0 or other >= 0:
                        ink = max(ink, 0.48)
                elif mine >= 0:
                    turn = 0.0
                    for m in range(3):
                        turn += way[i, j, m] * way[a, b, m]
                    if turn < 0.86:
                        ink = max(ink, 0.34)
            for m in range(3):
                out[i // fine, j // fine, m] += part * (1.0 - ink) * colour[i, j, m]


@kernel
def draw_lines(ends, half, tint, rim, out):
    """Lines with round ends over a picture: ends (n, 2, 2) [pixels], half width (n,), tint
    (n, 3); rim: colour of their outline, left out for thin ones."""
    rows, columns = out.shape[0], out.shape[1]
    for n in range(half.size):
        ax, ay = ends[n, 0, 0], ends[n, 0, 1]
        bx, by = ends[n, 1, 0] - ax, ends[n, 1, 1] - ay
        whole, h = bx * bx + by * by, half[n]
        if not whole < 1e12:
            continue
        room, edge = h + 2.0, min(max(h - 0.3, 0.0), 1.0)
        for i in range(
            max(0, int(ay + min(0.0, by) - room)), min(rows, int(ay + max(0.0, by) + room) + 2)
        ):
            y = i + 0.5 - ay
            for j in range(
                max(0, int(ax + min(0.0, bx) - room)),
                min(columns, int(ax + max(0.0, bx) + room) + 2),
            ):
                x = j + 0.5 - ax
                t = min(max((x * bx + y * by) / whole, 0.0), 1.0) if whole > 0.0 else 0.0
                d = np.sqrt((x - t * bx) ** 2 + (y - t * by) ** 2)
                body = min(max(h + 0.5 - d, 0.0), 1.0)
                around = 0.75 * edge * min(max(h + 1.4 - d, 0.0), 1.0)
                cover = max(body, around)
                if cover <= 0.0:
                    continue
                for m in range(3):
                    own = body * tint[n, m] + (1.0 - body) * rim[m]
                    out[i, j, m] += cover * (own - out[i, j, m])
