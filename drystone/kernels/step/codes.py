"""What stages answer, and the other codes of a step."""

# answers of a stage; those of detection lie above DETECTION
GO_ON = 0
NO_ROW_ROOM = 1  # for s.needed rows
COLLIDE = 2  # collisions with restitution are to be solved
NEWTON = 3  # islands with s.plan 1 or 2 are to be solved by Newton's method
REST = 21  # whether islands with s.plan REST_FIRST can rest is to be found out
UNSOLVED = 4  # islands with s.plan > 0 are to be solved by other means
THROWS = 22  # islands that a prescribed motion throws are to be solved with one that gives way
AGAIN = 5  # go on from stage s.next_stage: contacts broke loose, or were missed
NOT_FINITE = 6  # velocities or poses: the run ends
NO_FRAME_ROOM = 7  # to record this step
THREADS = 8  # sweeps on several threads are due
CLOSE_JOINTS = 9  # joints do not close in the usual way: other ways are to be tried
SOLVE = 10  # rows with laws are to be solved
LEAST_REACTIONS = 11  # of redundant joints are to be found
PATTERN = 12  # of W is to be found
LOOK = 13  # bodies went further than contacts were searched for
FORCES = 14  # of springs and callbacks are to be asked for, before the second kick
BEGIN_PART = 15  # a part of a step begins: forces and prescribed motions are to be asked for
TORN_JOINTS = 16  # joints are open, and no shorter step closes them
VERDICT = 17  # whether a part of a step is kept is to be decided
BORNE = 18  # reactions of joints are to be read
END_GAPS = 19  # gaps where the drift would lead are to be judged
HOST_STAGE = 20  # this stage is a function of Python
DETECTION = 100  # added to the codes of ``detect``

# values of s.plan: what an island still needs
DONE, SMALL_NEWTON, LARGE_NEWTON, SWEEP, REST_FIRST = 0, 1, 2, 3, 4

# values of s.search: how contacts are chosen
BY_TRAVEL, PREDICTED, GIVEN = 0, 1, 2

# values of j.goal: what a solve of joints is for
START, END, SETTLE_JOINTS, MASS = 0, 1, 2, 3

# values of j.scheme: what holds joints at the end of a step
EXACT_JOINTS, STABILIZE, PROJECT, VELOCITY = 0, 1, 2, 3

# states of a contact that is recorded
NO_LOAD, STICKS, SLIPS = 0, 1, 2

# what a stage gets; HOST: it is called from Python
STEP_ALONE, STEP_AND_JOINTS, DETECTOR, HOST = 0, 1, 2, 3

# places in ``types.Status``
INACCURATE = 9
