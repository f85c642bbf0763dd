"""Concave meshes as convex parts: tori, rings, channels, knots, hollows, of any size."""

import numpy as np
import pytest

import drystone as ds
from drystone.geometry.mass_properties import of_mesh

pytest.importorskip("manifold3d")


def tube(rings):
    """The closed surface through rings (n, m, 3), the last joined to the first."""
    n, m, _ = rings.shape
    i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    a, b = i * m + j, (i + 1) % n * m + j
    c, d = (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m
    vertices = rings.reshape(-1, 3)
    faces = np.concatenate([np.column_stack((a, b, c)), np.column_stack((a, c, d))])
    return (
        (vertices, faces) if of_mesh(vertices, faces, 1.0).mass > 0 else (vertices, faces[:, ::-1])
    )


def torus(n, m, r=0.3, R=1.0):
    u, v = np.meshgrid(*(2 * np.pi * np.arange(k) / k for k in (n, m)), indexing="ij")
    rho = R + r * np.cos(v)
    return tube(np.stack([rho * np.cos(u), rho * np.sin(u), r * np.sin(v)], axis=-1))


def washer(n, hole=0.6, height=0.3):
    u = 2 * np.pi * np.arange(n) / n
    corners = np.array([(hole, 0), (1, 0), (1, height), (hole, height)])
    around = np.stack([np.cos(u), np.sin(u)], axis=-1)
    flat = around[:, None, :] * corners[None, :, :1]
    height = np.broadcast_to(corners[None, :, 1:], (n, 4, 1))
    return tube(np.concatenate([flat, height], axis=-1))


def knot(n=48, m=6, r=0.3):
    """A trefoil."""
    t = 2 * np.pi * np.arange(n) / n
    x = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], 1)
    along = np.roll(x, -1, axis=0) - np.roll(x, 1, axis=0)
    one = np.cross(along, np.array([0.1, 0.2, 1.0]))
    one /= np.linalg.norm(one, axis=1)[:, None]
    two = np.cross(along, one)
    two /= np.linalg.norm(two, axis=1)[:, None]
    w = 2 * np.pi * np.arange(m)[:, None] / m
    return tube(x[:, None] + r * (np.cos(w) * one[:, None] + np.sin(w) * two[:, None]))


def box(lx, ly, lz, at=(0, 0, 0)):
    vertices, faces = ds.Box(lx, ly, lz).mesh()
    return vertices + at, faces


def channel(outline, height=1.0):
    """A prism over a polygon."""
    n, flat = len(outline), np.array(outline, float)
    parts = ds.decompose_polygon(flat).parts
    low = np.column_stack((flat, np.zeros(n)))
    faces = [(i, (i + 1) % n, (i + 1) % n + n) for i in range(n)]
    faces += [(i, (i + 1) % n + n, i + n) for i in range(n)]
    for part in parts:
        at = [int(np.argmin(np.abs(flat - p).sum(axis=1))) for p in part.shape.points]
        for k in range(1, len(at) - 1):
            a, b, c = at[0], at[k], at[k + 1]
            faces += [(a, c, b), (a + n, b + n, c + n)]
    return np.vstack((low, low + np.array([0, 0, height]))), np.array(faces)


def hollow():
    """A box with a box of nothing in it."""
    outer, inner = box(2, 2, 2), box(1, 1, 1, (0.1, 0.2, 0.3))
    return np.vstack((outer[0], inner[0])), np.vstack((outer[1], inner[1][:, ::-1] + 8))


L = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
U = [(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)]
MESHES = {
    **{f"torus {n} x {m}, {r}": torus(n, m, r) for n, m, r in [
        (24, 12, 0.3), (3, 3, 0.2), (5, 4, 0.4), (8, 6, 0.3), (17, 9, 0.5), (40, 8, 0.08),
        (32, 16, 0.9),
    ]},
    **{f"washer {n}": washer(n) for n in (3, 6, 25)},
    "thin washer": washer(20, 0.95, 0.02),
    "L": channel(L), "U": channel(U), "knot": knot(), "hollow": hollow(),
}  # fmt: skip
FEWEST = {"L": 2, "U": 3, "torus 24 x 12, 0.3": 24}


def volume(mesh):
    return of_mesh(*mesh, 1.0).mass


@pytest.mark.parametrize("name", MESHES)
def test_parts_hold_the_solid_and_little_more(name):
    vertices, faces = MESHES[name]
    parts = ds.decompose(vertices, faces)
    whole, made = of_mesh(vertices, faces, 1.0), parts.mass_properties(1.0)
    assert whole.mass * (1.0 - 1e-9) <= made.mass <= 1.02 * whole.mass
    assert len(parts.parts) <= FEWEST.get(name, 128)
    # near every face there is solid behind it
    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    assert parts.contains(corners.mean(axis=1) - 1e-6 * normal).all()
    if name != "knot":
        again = ds.decompose(np.asfortranarray(vertices), faces.astype(np.int32))
        assert again == parts


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_size_heading_and_place_make_no_difference(scale):
    vertices, faces = torus(12, 8)
    q = ds.Compound([(ds.Box(1, 1, 1), (0, 0, 0), (0.3, 0.4, 0.5, 0.7))]).pieces()[0].turn
    there = scale * (vertices @ q.T + (5.0, -3.0, 2.0))
    one, other = ds.decompose(vertices, faces), ds.decompose(there, faces)
    gains = [p.mass_properties(1.0).mass / volume((v, faces)) - 1 for p, v in
             ((one, vertices), (other, there))]  # fmt: skip
    assert max(gains) <= 0.02
    assert abs(len(one.parts) - len(other.parts)) <= 4


def test_exact_parts_when_none_is_allowed():
    vertices, faces = torus(24, 12)
    parts = ds.decompose(vertices, faces, tolerance=0)
    whole, made = of_mesh(vertices, faces, 1.0), parts.mass_properties(1.0)
    assert made.mass == pytest.approx(whole.mass, rel=1e-7)
    np.testing.assert_allclose(made.inertia, whole.inertia, rtol=0, atol=1e-6 * whole.mass)
    assert len(parts.parts) <= 40


def test_too_few_parts_are_refused_with_the_figure():
    mesh = torus(24, 12)
    with pytest.raises(
        ds.ShapeError, match=r"4 convex parts have [\d.]+ % more volume.*max_parts \(4\)"
    ):
        ds.decompose(*mesh, max_parts=4)
    assert len(ds.decompose(*mesh, max_parts=8, tolerance=0.2).parts) <= 8
    for wrong in ({"max_parts": 0}, {"tolerance": -1}, {"tolerance": "little"}):
        with pytest.raises(ds.OptionError, match=f"decompose: {next(iter(wrong))}"):
            ds.decompose(*mesh, **wrong)
    inside_out = mesh[0], mesh[1][:, ::-1]
    with pytest.raises(ds.ShapeError, match="counter-clockwise"):
        ds.decompose(*inside_out)


def test_a_ball_falls_through_a_ring_and_not_through_its_side():
    ring = ds.decompose(*torus(24, 12))
    heights = {}
    for x in (0.0, 0.95):
        world = ds.World()
        world.add_body(ring, fixed=True)
        world.add_body(ds.Sphere(0.6), name="ball", position=(x, 0.0, 1.0))
        sim = ds.Simulation(world)
        sim.run(0.6)
        heights[x] = sim.body("ball").position[2]
    assert heights[0.0] == pytest.approx(1.0 - 0.5 * 9.81 * 0.6**2, abs=0.03)
    assert heights[0.95] > 0.3
