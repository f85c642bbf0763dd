"""Fifth stage: velocities with the first guess of the impulses, and what islands may cost."""

from drystone.kernels import contact_frames as frames
from drystone.kernels._jit import stage
from drystone.kernels.step import names as the
from drystone.kernels.step.copies import copy_all

SOME, MORE = 16, 64  # of a large island at rest, in each step, and where it is not yet calm:
CALM = 0.05  # of the loose tolerance; what is let pass keeps a high heap moving, and forces jump
FEW = 4  # before Newton, where it has just been needed
SLOW, CLOSE = 8.0, 0.01  # of REST, of the loose tolerance: a high column that is left at the loose
# tolerance trembles at several times REST for ever, solved a hundred times better it comes to rest
CAREFUL, PATIENCE = 480, 7680  # steps that solve islands so which do not rest, of each so many
SWEEPS, CHEAP = 60, 5000  # before Newton: SWEEPS + CHEAP / contacts, if they promise to arrive


@stage
def prepare_planar(s, scan):
    n = s.count[the.ROWS]
    frames.velocities_planar(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_planar(s, scan)
    return _islands(s)


@stage
def prepare_spatial(s, scan):
    n = s.count[the.ROWS]
    frames.velocities_spatial(n, s.body, s.frame, s.point, s.position, s.bias, s.v_free, s.q)
    push_spatial(s, scan)
    return _islands(s)


@stage
def push_planar(s, scan):
    """v = v_free + M^-1 J' r."""
    n = s.count[the.ROWS]
    copy_all(s.v_free, s.v)
    frames.push_planar(n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v)
    return the.GO_ON


@stage
def push_spatial(s, scan):
    n = s.count[the.ROWS]
    copy_all(s.v_free, s.v)
    frames.push_spatial(
        n, s.body, s.frame, s.point, s.position, s.inverse_mass, s.inverse, s.r, s.v
    )
    return the.GO_ON


@stage
def _islands(s):
    """All islands are chosen, each with its tolerance and its number of sweeps."""
    ni, tol = s.count[the.ISLANDS], s.real[the.TOL]
    s.count[the.FAILED] = -1
    s.chosen_count[0] = ni
    s.leave[0] = True
    if ni > 0:
        s.count[the.METHODS] |= 1
    tight = s.count[the.TIGHT] > 0
    if tight and s.count[the.ROUND] == 0:
        s.count[the.TIGHT] -= 1
    s.count[the.WAS_TIGHT] = tight
    restless = rests = False
    warm = s.count[the.WARM] != 0  # else no later step carries on: each must arrive by itself
    for k in range(ni):
        size = s.start[k + 1] - s.start[k]
        s.chosen[k] = k
        s.limit[k], s.most[k] = tol, SWEEPS + CHEAP // size
        if size <= the.SMALL:
            s.limit[k] = tol * the.CLOSER
            if at_rest(s, k):
                # an error that is let pass is a velocity that the next step must stop, by impulses
                # that the one after it must unlearn: only two good solves in a row settle it
                s.limit[k] = tol * (the.STILLEST if tight else the.STILLER)
                s.most[k] = FEW if tight else s.most[k]
        elif warm and s.real[the.LOOSE] > tol:
            s.most[k] = max(the.MANY, the.PLENTY // size)
            if not settled(s, k, 1.0):
                s.limit[k] = s.real[the.LOOSE]
        s.enough[k] = s.resort[k] = s.limit[k]
        s.least[k] = s.most[k]
        if warm and size > the.SMALL and s.limit[k] < s.real[the.LOOSE]:
            # the warm start carries on: what is left of the tolerance is swept in later steps. If
            # Newton's turn comes next, it is not to begin where sweeps have done the easy part
            s.enough[k], s.least[k], s.most[k] = max(tol, CALM * s.real[the.LOOSE]), SOME, MORE
            if s.count[the.WAIT] == 0:
                s.enough[k], s.most[k] = tol, SOME
            else:
                s.resort[k] = s.real[the.LOOSE]
            rests = True
            if s.enough[k] > tol and slow(s, k):
                _carefully(s, k, size)
        elif warm and size > the.SMALL and slow(s, k):
            restless = True
            if s.count[the.CARE] < CAREFUL:
                _carefully(s, k, size)
        s.residual[k, 0] = s.residual[k, 1] = 0.0
    if restless and s.count[the.ROUND] == 0:
        s.count[the.CARE] = (s.count[the.CARE] + 1) % PATIENCE
    elif rests:
        s.count[the.CARE] = 0
    return the.GO_ON


@stage
def _carefully(s, k, size):
    """Sweeps that also end errors which change slowly along a column, see ``plan``."""
    s.limit[k] = s.enough[k] = s.resort[k] = CLOSE * s.real[the.LOOSE]
    s.least[k] = s.most[k] = max(the.MANY, the.PLENTY // size)


@stage
def slow(s, k):
    """Whether island k is worth care: no larger than MEDIUM, nothing drives it, and its bodies are
    not much faster than errors of sweeps can make them."""
    if s.start[k + 1] - s.start[k] > the.MEDIUM or CLOSE * s.real[the.LOOSE] <= s.real[the.TOL]:
        return False
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if not s.moves[b]:
                for a in range(s.v.shape[1]):
                    if s.v[b, a] != 0.0:
                        return False
    return settled(s, k, SLOW)


@stage
def at_rest(s, k):
    """Whether nothing in island k is faster than REST."""
    dim, most = s.point.shape[1], 0.0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                for a in range(dim):
                    most = max(most, abs(s.v[b, a]))
    return most <= s.real[the.REST]


@stage
def settled(s, k, times):
    """Whether bodies in island k are as slow as REST, or so many times as fast, in the mean square
    over contacts: in a heap of thousands there is always one that still moves. What is let go falls
    at REST at first."""
    dim, total, count = s.point.shape[1], 0.0, 0
    for i in range(s.start[k], s.start[k + 1]):
        for side in range(2):
            b = s.body[i, side]
            if s.moves[b]:
                count += 1
                for a in range(dim):
                    total += s.v[b, a] ** 2
    return total <= (1.0 + 1e-9) * count * (times * s.real[the.REST]) ** 2
