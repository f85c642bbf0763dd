"""Places in the numbers that the stages of a step with joints share."""

# j.count
ROUND = 0  # solves of this step
MISSES = 1  # of them in a row that did not close joints much better
TREE = 2  # whether joints close no loops
LATER = 3  # whether coordinates are needed at the end of the step, too
EXCESS = 4  # rows of joints beyond their rank
HALVES = 5  # whether a step may be tried again in halves
LAWFUL = 6  # whether any block has a law: contacts, limits, motors with a greatest force
STAGE = 7  # what the stage `aim` is for
STIFF = 8  # whether any body is stiff
PATTERN = 9  # whether the pattern of W is known
LARGE = 10  # rows too many in groups so large that none are left out
BREAKS = 11  # whether any joint can break
REFINED, EXTRA = 12, 13  # refinements of this solve; of them beyond the tolerance
SLIDES = 14  # solves of this round in which contacts broke loose
UNSOLVED = 15  # islands that are left to Newton
SPENT = 16  # sweeps and steps of Newton in this solve
LOOKED = 17  # whether bodies that went far are known to meet none that is new
COUNTS = 18

# j.real
BEST = 0  # [m or rad] least opening of a round
OPENING = 1  # [m or rad] of joints at the end of the step
SOFTENING = 2  # [J] that M + S in the place of M added
BEFORE = 3  # residual before the last refinement
AHEAD = 4  # [s] of velocities, after a step that was divided
ERROR, MOVED = 5, 6  # [m or rad] of the last round; [m/s or rad/s] by this one
REALS = 7

# values of j.count[STAGE]
START, END, SETTLE = 0, 1, 2

# numbers of stages
FIRST, AIM, REFINE, LAWS, LOAD, LEAST = 4, 12, 16, 18, 21, 26
