"""Grids of settings of a scene, run in parallel and tabled."""
