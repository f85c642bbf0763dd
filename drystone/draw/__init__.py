"""Drawing: bodies as meshes, a camera, one rasteriser and its light.

``meshes`` is the one place where shapes become triangles and outlines. ``raster`` draws triangles,
balls and planes with a compiled depth buffer, shadows and ink. Figures for print (``plots``), the
viewer, pages, films and glTF (``view``) stand on top of them.
"""
