"""Recordings: one HDF5 file for a run, that survives a killed process and can be resumed.

``recorder`` receives what a simulation records, ``writer`` writes it in the background,
``reader`` reads; ``layout`` says what lies where in the file.
"""
