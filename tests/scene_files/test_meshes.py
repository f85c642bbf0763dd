"""Meshes of scene files: from the scene's folder, and from nowhere else."""

import os

import pytest

import drystone as ds
from drystone import scene_files

pytest.importorskip("trimesh")

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def folder(tmp_path):
    inner = tmp_path / "scene"
    (inner / "meshes").mkdir(parents=True)
    (inner / "meshes" / "t.obj").write_text("mtllib ../secret.mtl\n" + TETRAHEDRON)
    (tmp_path / "outside.obj").write_text(TETRAHEDRON)
    return inner


def load(folder, file, body=None, **more):
    shape = {"kind": "mesh-file", "file": file} | more
    return scene_files.load(
        {"bodies": [{"shape": shape} | (body or {"fixed": True})]}, folder
    ).world


def test_uses(folder):
    surface = load(folder, "meshes/t.obj", scale=2.0, thickness=0.1).parts().bodies[0]
    assert isinstance(surface.template.shape, ds.TriangleMesh)
    assert surface.template.shape.vertices.max() == 2.0
    for use in ("hull", "convex"):
        body = load(folder, "meshes/t.obj", {"density": 6}, use=use).parts().bodies[0]
        assert body.matter.mass == pytest.approx(1.0)


def test_stl_of_a_closed_mesh(folder):
    import trimesh

    trimesh.creation.box((1, 2, 3)).export(folder / "box.stl")
    body = load(folder, "box.stl", {"density": 1}, use="hull").parts().bodies[0]
    assert body.matter.mass == pytest.approx(6.0)
    # written down again, it needs no file
    world = load(folder, "box.stl")
    again = scene_files.load(scene_files.document(world)).world
    assert len(again.build()[0].geoms) == len(world.build()[0].geoms) == 12


@pytest.mark.parametrize(
    "file",
    [
        "../outside.obj", "/etc/passwd.obj", "meshes/../../outside.obj", "C:\\x.obj", "link.obj",
        "deep/outside.obj", "meshes/t.obj\0.stl", "http://example.org/x.obj", "a:b.obj",
    ],
)  # fmt: skip
def test_nothing_outside_is_read(folder, file):
    os.symlink(folder.parent / "outside.obj", folder / "link.obj")
    os.symlink(folder.parent, folder / "deep")
    with pytest.raises(ds.SceneFileError, match=r"folder"):
        load(folder, file)


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("none.obj", None, "no such file"),
        ("x.txt", "", "ending"),
        ("x.obj", "", "triangles|read"),
        ("x.stl", "solid nothing", "triangles|read"),
        ("x.stl", "\1" * 300, "triangles|read"),
        ("x.ply", "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n", "read|triang"),
        ("x.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n", "read|names a vertex"),
        ("x.obj", "v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "finite"),
    ],
)
def test_files_that_are_no_meshes(folder, file, text, words):
    if text is not None:
        (folder / file).write_text(text)
    with pytest.raises(ds.SceneFileError, match=words):
        load(folder, file)
    with pytest.raises(ds.SceneFileError, match="folder"):
        load(None, file)
