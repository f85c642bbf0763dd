"""When a step becomes a frame."""

from drystone.kernels._jit import stage


@stage
def due(s):
    """Whether the step that is being made is to be kept."""
    return s.frame_interval > 0 and s.since_frame + 1 >= s.frame_interval
