"""Scenes against the clock, closed forms and other engines: ``python -m benchmarks scenes``."""
