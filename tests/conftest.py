"""Property tests repeat: their examples depend on the test alone.

Hypothesis also draws numbers that it finds in the source of whatever modules happen to be loaded,
which depends on the order of tests and on the worker; with derandomize=True that is not wanted.
"""

from hypothesis.internal.conjecture import providers

if hasattr(providers, "is_local_module_file"):  # pinned in pyproject.toml; without it: as before
    providers.is_local_module_file = lambda path: False
