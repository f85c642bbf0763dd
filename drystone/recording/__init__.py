"""Recordings: one HDF5 file for a run, that survives being killed and can be gone on with.

``recorder`` is told by a simulation what to write, ``writer`` writes it in the background,
``reader`` reads; ``layout`` says what lies where in the file.
"""
