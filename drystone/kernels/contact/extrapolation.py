"""The step beyond the end of a sweep, from which an accelerated one starts (``contact.sweeps``)."""

from drystone.kernels._jit import stage


@stage
def step_beyond(now, before, beta, done):
    """The step beyond the last sweep: `now` goes on by beta times what it changed since `before`,
    which gets the end of the sweep; nothing is known of a change before the first."""
    for e in range(before.size):
        y = now[e]
        if done > 0:
            now[e] = y + beta * (y - before[e])
        before[e] = y
