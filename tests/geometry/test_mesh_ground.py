"""A triangle mesh as ground, through world, detector and stepper: its inner edges are not felt."""

import numpy as np
import pytest

import drystone as ds


def grid(bump=0.0, n=8, size=2.0):
    """Vertices and faces of a square of 2 n^2 triangles."""
    x, y = np.meshgrid(*2 * [np.linspace(-size, size, n + 1)], indexing="ij")
    z = bump * np.sin(2 * x) * np.cos(2 * y)
    at = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1), faces


def slide(ground):
    """A box thrown over the ground and a ball that rolls, 0.7 s."""
    world = ds.World()
    if ground == "plane":
        world.add_ground(friction=0.3)
    else:
        world.add_body(ds.TriangleMesh(*grid()), fixed=True, friction=0.3, name="ground")
    box = ds.Box(0.3, 0.3, 0.2)
    world.add_body(box, name="box", position=(-1, 0.03, 0.1), velocity=(2, 0, 0), friction=0.3)
    ball = ds.Sphere(0.15)
    world.add_body(ball, name="ball", position=(-1, 0.83, 0.15), velocity=(1, 0, 0), friction=0.3)
    sim = ds.Simulation(world)
    sim.run(0.7)
    return sim


def test_a_flat_mesh_is_a_plane():
    plane, mesh = slide("plane"), slide("mesh")
    np.testing.assert_allclose(
        mesh.body("box").position, plane.body("box").position, rtol=0, atol=1e-9
    )
    # where a ball crosses an edge both triangles hold it for a moment, a hair from its foot
    np.testing.assert_allclose(
        mesh.body("ball").velocity, plane.body("ball").velocity, rtol=0, atol=1e-4
    )


def test_bodies_come_to_rest_in_the_hollows_of_a_mesh():
    world = ds.World()
    world.add_body(ds.TriangleMesh(*grid(bump=0.15)), fixed=True, friction=0.9, name="ground")
    for k, shape in enumerate((ds.Box(0.2, 0.2, 0.2), ds.Sphere(0.1), ds.Capsule(0.2, 0.08))):
        world.add_body(shape, name=f"body{k}", position=(0.5 * k - 0.6, 0.2, 0.5), friction=0.9)
    sim = ds.Simulation(world)
    depth = []
    sim.run(1.5, callback=lambda s: depth.append(s.report.penetration))
    assert max(depth) < 1e-3
    assert sim.state.position[1:, 2].min() > -0.2
    assert sim.report.ok


def test_a_mesh_cannot_be_dynamic():
    with pytest.raises(ds.ModelError, match="stone"):
        ds.World().add_body(ds.TriangleMesh(*grid()), name="stone", density=1000)
