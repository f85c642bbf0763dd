"""Simulation: a world, a method, and what happened."""
