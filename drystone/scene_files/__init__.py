"""Scenes as files: YAML or JSON, one schema, nothing in them executed.

``document(world, ...)`` says in JSON's types what a world is, ``load`` builds it again to the bit;
``write`` and ``read`` do the same with files.
"""

from drystone.scene_files.describe import document
from drystone.scene_files.files import SceneFile, load, read, schema, write
from drystone.scene_files.methods import method_document, method_from

__all__ = [
    "SceneFile",
    "document",
    "load",
    "method_document",
    "method_from",
    "read",
    "schema",
    "write",
]
