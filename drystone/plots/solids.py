"""The old home of ``drystone.drawing``."""

from drystone.drawing import *  # noqa: F403
