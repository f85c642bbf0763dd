"""Property tests repeat: their examples depend on the test alone.

Hypothesis also draws numbers that it finds in the source of whatever modules happen to be loaded,
which depends on the order of tests and on the worker; with derandomize=True that is not wanted.
"""

from hypothesis.internal.conjecture import providers

if hasattr(providers, "is_local_module_file"):  # pinned in pyproject.toml; without it: as before
    providers.is_local_module_file = lambda path: False

LONG = ("fuzz", "kills", "judges")  # minutes: run by who asks for them, `pytest -m fuzz`


def pytest_collection_modifyitems(config, items):
    asked = config.getoption("markexpr") or ""
    left = [name for name in LONG if name not in asked]
    out = [item for item in items if any(item.get_closest_marker(name) for name in left)]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]
