"""Light on what a picture shows: one sun with soft shadows, the sky, ink where bodies meet."""

import numpy as np

from drystone.kernels._jit import kernel


@kernel
def shade(
    eye, sight, scale, near, owner, way, tone, palette, sun, sun_eye, sun_scale, cast, middle,
    reach, paper, colour,
):  # fmt: skip
    """colour (rows, columns, 3) of every pixel, from 0 to 1.

    sun (3, 3): right, up, forward of the light; cast: its depth buffer; middle (3,), reach [m]:
    the floor fades at some distance from what happens; paper (3, 3): colours behind everything
    at the top and at the bottom, and of the floor in the sun.
    """
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
            if who == -1:
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
            if who == -2:
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
def develop(owner, way, colour, fine, out):
    """out (rows, columns, 3): the mean of fine x fine pixels, with ink between bodies and along
    creases of one."""
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
