"""When a step becomes a frame."""

from drystone.kernels._jit import stage
from drystone.kernels.step import names as the


@stage
def due(s):
    """Whether the step that is being made is to be kept."""
    return s.count[the.EVERY] > 0 and s.count[the.TAKEN] + 1 >= s.count[the.EVERY]
