"""Integer status codes that kernels return (``drystone.types.Status`` gives them words)."""

RUNNING = 0  # work is left
SOLVED = 1  # within the tolerance asked for
RAY = 2  # complementary pivoting ended on a ray
INFEASIBLE = 3  # there is no solution
MAX_ITERATIONS = 4  # as many as allowed
STALLED = 6  # no step brings progress
SINGULAR = 7  # a linear system has no unique solution
