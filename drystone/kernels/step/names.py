"""Places in the arrays of numbers that the stages of a step share, and what stages answer."""

# s.real: settings and results that are numbers
H = 0  # [s]
TIME = 1  # [s] at the start of the step
TOL, LOOSE = 2, 3  # residuals: of all islands, and of large ones that move
REST = 4  # [m/s] speed that gravity gives in a step
SLOP = 5  # part of a body's size
ACTIVE = 6  # [m] active gap, where it is given
RADIUS = 7  # [m] of soft fingers
STORED = 8  # [J] in springs, at the start of the step
OLD_H = 9  # [s] of the step that the warm start comes from
STILL, TOUCH = 10, 11  # [m/s], [m]: what counts as a collision
FASTEST = 12  # [m] the longest way of a body in this step
REALS = 13

# s.count: settings and results that are whole numbers
ROWS = 0  # contacts that take part in this step
ISLANDS = 1
FOUND = 2  # contacts within reach
OLD = 3  # contacts of the last step
CURSOR = 5  # which of the prepared steps this is
LAW = 6
FLOW, EXPLICIT, STABILIZE, WARM, BOUNCE, REACH = 7, 8, 9, 10, 11, 12  # options
ITERATIONS, METHODS = 14, 15  # of this step; methods by bits
WAIT, PENALTY, TRIED, REFUSED = 16, 17, 18, 19  # when Newton is worth a try on large islands
ROUND = 20  # of contacts that break loose
FAILED = 21  # an island that was not solved, or -1
RECORDED, EVERY, TAKEN = 22, 23, 24  # frames kept, steps between them, steps since the last
LOGGED = 25  # islands in the log
COLLISIONS = 26
NEEDED = 27  # room that a stage lacked
BACK = 28  # the stage that AGAIN returns to
MISSED = 29  # times that contacts were added after a solve
TIGHT = 30  # steps after Newton in which islands at rest are solved as well as it goes
HUGE = 31  # contacts that are worth threads: of one island, of all together
WAS_TIGHT = 33  # whether this is such a step
WATCHED = 34  # whether frames keep their contacts
CARE = 35  # steps in which large islands were slow and did not come to rest
COUNTS = 36

# states of a contact that is noted
OPEN, STICKS, SLIPS = 0, 1, 2

# values of s.count[REACH]
BY_TRAVEL, PREDICTED, GIVEN = 0, 1, 2

SMALL = 64  # contacts of an island that is worth every method there is
MEDIUM = 1000  # contacts of an island whose sweeps Newton relieves when they stall
MANY, PLENTY = 300, 300_000  # sweeps of an island that Newton does not take or solve: MANY,
# or for smaller ones PLENTY / contacts
LONGEST = 1024  # steps between two tries of Newton on large islands
CLOSER = 0.01  # of the tolerance, for small islands and Newton: it costs little, and what holds
# must not creep: an error of a step is there again in the next one's warm start
STILLER, STILLEST = 1e-4, 1e-6  # the same for small islands at rest, and just after Newton

# answers of a stage; those of detection lie above 100
GO_ON = 0
NO_ROOM = 1  # for s.count[NEEDED] rows
COLLIDE = 2  # collisions with restitution are to be solved
NEWTON = 3  # islands with s.plan 1 or 2 are to be solved by Newton's method
STUCK = 4  # islands with s.plan > 0 are to be solved by other means
AGAIN = 5  # go on from stage s.count[BACK]: contacts broke loose, or were missed
NOT_FINITE = 6
FULL = 7  # no room to record
THREADS = 8  # sweeps on several threads are due
PYTHON = 9  # the whole step is to be done in Python
SOLVE = 10  # rows with laws are to be solved
LEAST = 11  # forces of redundant joints are to be made the least
PATTERN = 12  # of W is to be found
DETECTION = 100

# numbers of stages
DETECT, MAKE_ROWS, PREPARE = 2, 4, 6

# s.plan: what an island still needs
DONE, SMALL_NEWTON, LARGE_NEWTON, SWEEP = 0, 1, 2, 3

# s.report
(
    KINETIC, POTENTIAL, CHANGE, LOADS, DRIVING, FRICTION, IMPACT, CONSTRAINT, INTEGRATION,
    INFEASIBILITY, RESIDUAL, RESIDUAL_UNIT, LEAST_IMPULSE, LEAST_VELOCITY, COMPLEMENTARITY, CONE,
    POWER, DISSIPATION, CONTACTS, R_ISLANDS, R_ITERATIONS, R_METHODS, R_TIME, R_FAILED,
    HEIGHT, R_COLLISIONS, IMPACT_ENERGY, JOINT_ERROR, REDUNDANT, RETRIES,
    DEPTH, DEEP_A, DEEP_B, UNSOLVED_BODY,
) = range(34)  # fmt: skip
REPORT = 34

# s.total: of all steps since it was cleared; the first time [s] of a step that was not solved or
# too deep, and what was worst, with the bodies' numbers
(
    T_STEPS, T_UNSOLVED, T_HALVED, T_DEEP, T_FIRST, T_RESIDUAL, T_BODY, T_METRES, T_DEPTH,
    T_DEEP_A, T_DEEP_B, T_MAX_DEPTH,
) = range(12)  # fmt: skip
TOTALS = 12
