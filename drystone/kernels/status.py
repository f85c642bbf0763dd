"""Integer status codes that kernels return (``drystone.types.Status`` gives them words)."""

RUNNING = 0
SOLVED = 1
RAY = 2
INFEASIBLE = 3
MAX_ITERATIONS = 4
STALLED = 6
SINGULAR = 7
