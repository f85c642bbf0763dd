"""The rasteriser against closed forms: areas, depths and normals of what it draws."""

from __future__ import annotations

import numpy as np
import pytest

from drystone.draw.camera import Camera
from drystone.kernels import picture

pytestmark = pytest.mark.kernels
EYE, TARGET = np.array([0.0, -5.0, 0.0]), np.zeros(3)


def sheets(camera):
    columns, rows = camera.pixels
    return picture.Sheets(
        np.full((rows, columns), -np.inf, np.float32),
        np.full((rows, columns), -1, np.int32),
        np.zeros((rows, columns, 3), np.float32),
        np.ones((rows, columns), np.float32),
    )


def view_of(camera):
    return picture.View(camera.eye, camera.axes, float(camera.scale), camera.width is not None)


def rays_of(camera):
    """(rows, columns, 3): directions of the pixels, one long along the view axis."""
    columns, rows = camera.pixels
    x = (np.arange(columns) + 0.5 - 0.5 * columns) / camera.scale
    y = (0.5 * rows - np.arange(rows) - 0.5) / camera.scale
    right, up, forward = camera.axes
    return forward + x[None, :, None] * right + y[:, None, None] * up


def balls(camera, centre, radius):
    out, n = sheets(camera), len(centre)
    found = np.array(centre, float), np.array(radius, float), np.tile(np.eye(3), (n, 1, 1))
    picture.fill_balls(*found, np.arange(n), view_of(camera), out)
    return out


@pytest.mark.parametrize("width", [None, 3.0])
def test_a_ball(width):
    camera = Camera(EYE, TARGET, (60, 60), width=width)
    near, owner, way, tone = balls(camera, [(0.1, 0.0, -0.2)], [0.5])
    seen = owner == 0
    if width is not None:
        assert seen.sum() / camera.scale**2 == pytest.approx(np.pi * 0.25, rel=0.03)
    assert np.linalg.norm(way[seen], axis=1) == pytest.approx(1, abs=1e-4)
    assert (way[seen] @ camera.axes[2] < 0).all()  # towards the viewer
    spot, _ = camera.project(np.array([0.1, 0.0, -0.2]))
    x, y = spot.astype(int)
    front = near[y, x] if width else 1 / near[y, x]
    assert abs(front) == pytest.approx(4.5, abs=0.01)
    assert 0 < (tone[seen] < 1).mean() < 0.5
    assert np.isneginf(near[~seen]).all()


def test_triangles_interpolate_depth_and_normal_in_space():
    """A quad that leans away: depth of each pixel by the intersection of its ray and the plane."""
    camera = Camera(EYE, TARGET, (48, 48))
    p = np.array([(-0.8, -0.5, -0.8), (0.8, -0.5, -0.8), (0.8, 1.5, 0.8), (-0.8, 1.5, 0.8)])
    corners = p[[[0, 1, 2], [0, 2, 3]]]
    ways = np.array([(-1, -2, 1), (1, -2, 1), (1, -2, 1), (-1, -2, 1)], float)[
        [[0, 1, 2], [0, 2, 3]]
    ]
    near, owner, way, _ = drawn = sheets(camera)
    pixel, depth = camera.project(corners)
    picture.fill_triangles(pixel, depth, ways, np.array([3, 3]), False, drawn)
    seen = owner == 3
    assert seen.sum() > 200
    normal = np.cross(p[1] - p[0], p[2] - p[0])
    rays = rays_of(camera)
    asked = (rays @ normal) / ((p[0] - EYE) @ normal)
    assert near[seen] == pytest.approx(asked[seen], rel=1e-5)
    points = EYE + rays[seen] / near[seen][:, None]
    share = way[seen][:, 0] / -way[seen][:, 1] * 2  # the normal's x is linear in the place's x
    assert share == pytest.approx(points[:, 0] / 0.8, abs=1e-4)
    pixel, depth = camera.project(corners[:, ::-1])  # from behind nothing is seen
    drawn = sheets(camera)
    picture.fill_triangles(pixel, depth, ways, np.array([3, 3]), False, drawn)
    assert (drawn.owner == -1).all()


def test_what_is_in_front_hides_what_is_behind():
    camera = Camera(EYE, TARGET, (40, 40))
    for order in ([0, 1], [1, 0]):
        centre = np.array([(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)])[order]
        _, owner, _, _ = balls(camera, centre, [0.4, 0.4])
        assert owner[20, 20] == order.index(0)


def test_a_plane_is_seen_from_above_only():
    camera = Camera(np.array([0.0, -5.0, 2.0]), TARGET, (40, 40))
    up = np.array([0.0, 0.0, 1.0])
    for normal, seen in ((up, True), (-up, False)):
        near, owner, _, _ = drawn = sheets(camera)
        picture.fill_plane(TARGET, normal, view_of(camera), drawn)
        assert ((owner == picture.FLOOR_OWNER).sum() > 500) == seen
        if seen:
            point = camera.eye + rays_of(camera)[20, 20] / near[20, 20]
            assert point[2] == pytest.approx(0, abs=1e-3)


def test_a_shadow_falls_where_the_sun_is_hidden():
    """A ball above the floor: its shadow lies along the sun's rays through its centre."""
    camera = Camera(np.array([0.0, -6.0, 3.0]), TARGET, (64, 64), angle=40.0)
    way_of_sun = np.array([0.5, 0.0, -1.0]) / np.sqrt(1.25)
    sun = Camera(-4.0 * way_of_sun, TARGET, (256, 256), width=4.0)
    centre, radius = [(0.0, 0.0, 1.0)], [0.35]
    cast, drawn = balls(sun, centre, radius).near, balls(camera, centre, radius)
    picture.fill_plane(TARGET, np.array([0.0, 0.0, 1.0]), view_of(camera), drawn)
    colour = np.zeros((64, 64, 3), np.float32)
    picture.shade(
        view_of(camera), drawn, np.ones((1, 3)), view_of(sun), cast, TARGET, 10.0, np.ones((3, 3)),
        colour,
    )  # fmt: skip
    for place, dark in (((0.5, 0.0, 0.0), True), ((-0.5, 0.0, 0.0), False)):
        x, y = camera.project(np.array(place))[0].astype(int)
        assert drawn.owner[y, x] == picture.FLOOR_OWNER
        assert (colour[y, x, 0] < 0.8) == dark


def test_ink_lies_between_bodies():
    drawn = sheets(Camera(EYE, TARGET, (8, 8)))
    drawn.owner[:] = np.arange(8) // 4
    drawn.way[:, :, 2] = 1.0
    out = np.zeros((4, 4, 3))
    picture.develop(drawn, np.ones((8, 8, 3), np.float32), np.int64(2), out)
    assert out[:, [0, 3]] == pytest.approx(1.0)
    assert (out[:, 1:3] < 0.8).all()


def test_lines_cover_their_area():
    out = np.ones((40, 80, 3))
    ends = np.array([[[10.0, 20.0], [70.0, 20.0]]])
    picture.draw_lines(ends, np.array([3.0]), np.zeros((1, 3)), np.ones(3), out)
    covered = (1 - out[:, :, 0]).sum()
    assert covered == pytest.approx(60 * 6 + np.pi * 9, rel=0.03)
