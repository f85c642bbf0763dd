"""Meshes that a scene file names: read from its own folder, and from nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import MissingExtraError, SceneFileError, ShapeError
from drystone.geometry.decomposition import decompose
from drystone.geometry.shapes import ConvexPolyhedron, Shape, TriangleMesh
from drystone.plain_files import open_plain

ENDINGS = (".obj", ".stl", ".ply", ".off")
MAX_BYTES = 64 * 2**20  # of a file, checked before it is read
MAX_TRIANGLES = 500_000  # each becomes a geom; more would take minutes to build


def mesh_shape(entry: Any, folder: Path | None) -> Shape:
    """The shape of a mesh-file entry."""
    path = inside(entry.file, folder)
    vertices, faces = read_mesh(path)
    if entry.scale is not None:
        vertices = vertices * entry.scale
    if entry.use == "surface":
        return TriangleMesh(vertices, faces, entry.thickness)
    if entry.use == "hull":
        return ConvexPolyhedron.hull(np.unique(vertices, axis=0))
    if entry.use == "convex":
        try:
            return ConvexPolyhedron(np.unique(vertices, axis=0))
        except ShapeError as error:
            why = str(error).partition(";")[0]
            raise SceneFileError(
                f"file = {entry.file!r}: {why}; 'use: hull' takes its convex hull, 'use: parts' "
                "several convex parts"
            ) from None
    return decompose(vertices, faces)


def inside(name: str, folder: Path | None) -> Path:
    """The file of that name in the scene's folder; SceneFileError if it lies elsewhere, also by
    way of a link."""
    if folder is None:
        raise SceneFileError(f"file = {name!r}: the scene has no folder to look in")
    given = Path(name)
    if "\0" in name or given.is_absolute() or ".." in given.parts or "\\" in name or ":" in name:
        raise SceneFileError(f"file = {name!r}: expected a path inside the scene's folder")
    if given.suffix.lower() not in ENDINGS:
        raise SceneFileError(f"file = {name!r}: expected a name ending in {', '.join(ENDINGS)}")
    try:
        home, path = folder.resolve(), (folder / given).resolve()
        if not path.is_relative_to(home):
            raise SceneFileError(f"file = {name!r}: leads out of the scene's folder")
        if not path.is_file():
            raise SceneFileError(f"file = {name!r}: no such file in the scene's folder")
        if path.stat().st_size > MAX_BYTES:
            raise SceneFileError(f"file = {name!r}: more than {MAX_BYTES // 2**20} MB")
    except (OSError, RuntimeError) as error:
        raise SceneFileError(f"file = {name!r}: {error}") from None
    return path


def read_mesh(path: Path) -> tuple[Any, Any]:
    """Vertices (nv, 3) and triangles (nt, 3) of a file; nothing that it points to is read."""
    try:
        import trimesh
    except ImportError:
        raise MissingExtraError(
            "meshes in scenes need trimesh: pip install drystone[mesh]"
        ) from None
    try:
        with open_plain(path) as file:
            kind = path.suffix.lower()[1:]
            options = {"skip_materials": True} if kind == "obj" else {}
            mesh: Any = trimesh.load_mesh(file, file_type=kind, process=False, **options)
        vertices, faces = np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # of whatever kind a reader of four formats may raise
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise SceneFileError(f"file = {path.name!r}: cannot be read: {why}") from None
    if not 0 < len(faces) <= MAX_TRIANGLES or vertices.ndim != 2:
        raise SceneFileError(
            f"file = {path.name!r}: {len(faces)} triangles: expected 1 to {MAX_TRIANGLES}"
        )
    return vertices, faces
