"""What stages answer, and the other codes of a step."""

# answers of a stage; those of detection lie above DETECTION
GO_ON = 0
NO_ROOM = 1  # for s.needed rows
COLLIDE = 2  # collisions with restitution are to be solved
NEWTON = 3  # islands with s.plan 1 or 2 are to be solved by Newton's method
STUCK = 4  # islands with s.plan > 0 are to be solved by other means
AGAIN = 5  # go on from stage s.next_stage: contacts broke loose, or were missed
NOT_FINITE = 6
FULL = 7  # no room to record
THREADS = 8  # sweeps on several threads are due
CLOSE = 9  # joints do not close in the usual way: other ways are to be tried
SOLVE = 10  # rows with laws are to be solved
LEAST = 11  # reactions of redundant joints are to be made the least
PATTERN = 12  # of W is to be found
LOOK = 13  # bodies went further than contacts were looked for
FORCES = 14  # of springs and callbacks are to be asked for, before the second kick
PART = 15  # of a step begins: forces and prescribed motions are to be asked for
TORN = 16  # joints are open, and no shorter step closes them
VERDICT = 17  # whether a part of a step is kept is to be decided
BORNE = 18  # what joints bore is to be looked at
END_GAPS = 19  # gaps where the drift would lead are to be judged
DETECTION = 100

# values of s.plan: what an island still needs
DONE, SMALL_NEWTON, LARGE_NEWTON, SWEEP = 0, 1, 2, 3

# values of s.search: how contacts are chosen
BY_TRAVEL, PREDICTED, GIVEN = 0, 1, 2

# values of j.goal: what a solve of joints is for
START, END, SETTLE, MASS = 0, 1, 2, 3

# values of j.scheme: what holds joints at the end of a step
EXACT, STABILIZE, PROJECT, VELOCITY = 0, 1, 2, 3

# states of a contact that is recorded
OPEN, STICKS, SLIPS = 0, 1, 2

# what a stage gets
STEP, STEP_AND_JOINTS, SCAN = 0, 1, 2

# places in ``types.Status``
INACCURATE = 9
