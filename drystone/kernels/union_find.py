"""Sets that are joined step by step; each is known by its smallest member.

root (n,): what each member points to; a member that points to itself is the root of its set.
"""

from drystone.kernels._jit import stage


@stage
def root_of(a, root):
    """The smallest member of the set of a; ways to it are halved as they are walked."""
    while root[a] != a:
        root[a] = root[root[a]]
        a = root[a]
    return a


@stage
def unite(a, b, root):
    """Join the sets of a and b."""
    a, b = root_of(a, root), root_of(b, root)
    if a < b:
        root[b] = a
    else:
        root[a] = b
