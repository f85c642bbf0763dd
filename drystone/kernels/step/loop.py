"""The loop: stages by their addresses, step after step, until one of them needs Python."""

from drystone.kernels._calls import call
from drystone.kernels._jit import stage
from drystone.kernels.step import codes
from drystone.kernels.step.contacts import becomes_frame, note_contacts
from drystone.kernels.step.copies import copy_all


@stage
def loop(job, at, steps, alone):
    """Run `steps` steps, the first of them from stage `at` on, until a stage needs Python; returns
    the code that stopped it. alone: run one stage only, whatever it answers.

    job: program (n,): addresses of stages; s, scan and j: what they get; gets (n,): STEP_AND_JOINTS
    if also the arrays j of joints, DETECTOR if it is detection, HOST if it is a function of Python;
    where (2,): out, steps that were finished and the stage that answered.
    """
    program, gets, where, s, scan, j = job.program, job.gets, job.where, job.s, job.scan, job.j
    done = 0
    while done < steps:
        while at < program.size:
            if gets[at] == codes.DETECTOR:
                code = call(program[at], (scan, scan.x, scan.R, scan.margin))
                if code != codes.GO_ON:
                    code += codes.DETECTION
            elif gets[at] == codes.STEP_AND_JOINTS:
                code = call(program[at], (s, scan, j))
            elif gets[at] == codes.HOST:
                code = codes.HOST_STAGE
            else:
                code = call(program[at], (s, scan))
            if alone or not (code == codes.GO_ON or code == codes.AGAIN):
                ends = code == codes.GO_ON and at + 1 == program.size
                where[0], where[1] = done + ends, at
                return code
            at = s.next_stage if code == codes.AGAIN else at + 1
        at = 0
        done += 1
    where[0], where[1] = done, 0
    return codes.GO_ON


@stage
def tally(report, total):
    """Add a step to the totals of a run."""
    failed = report.failed >= 0.0
    deep = report.depth > total.max_depth
    total.steps += 1.0
    total.unsolved += 1.0 if failed else 0.0
    total.deep += 1.0 if deep else 0.0
    total.halved += 1.0 if report.retries > 0.0 else 0.0
    if failed or deep:
        total.first = min(total.first, report.time)
    if failed and total.body < 0.0:
        total.body = report.unsolved_body
    if report.residual > total.residual:  # what is no number is no worst
        total.residual = report.residual
    if report.infeasibility > total.penetration:
        total.penetration = report.infeasibility
    if report.depth > total.depth:
        total.depth = report.depth
        total.deep_a, total.deep_b = report.deep_a, report.deep_b


@stage
def record(s, scan):
    """The last stage: the clock, and every so many steps a frame, if there is room for it."""
    kept = becomes_frame(s)
    k, islands, logged = s.frames, s.islands, s.logged
    due = s.since_contacts + 1 >= s.contact_interval
    noted, touching = s.noted_ends[0], s.rows if due and s.records_contacts else 0
    if kept and (k >= s.frame_time.size or logged + islands > s.log.shape[0]):
        return codes.NO_FRAME_ROOM
    if kept and noted + touching > s.noted_numbers.shape[0]:
        return codes.NO_FRAME_ROOM
    s.cursor += 1
    s.time = s.origin[0] + (s.origin[1] + s.cursor) * s.h
    s.report.time = s.time
    tally(s.report, s.total)
    s.since_frame += 1
    if not kept:
        return codes.GO_ON
    s.since_frame = 0
    s.since_contacts = 0 if due else s.since_contacts + 1
    for j in range(islands):
        s.log[logged + j, 0] = max(s.residual[j, 0], s.residual[j, 1])
        s.log[logged + j, 1] = s.start[j + 1] - s.start[j]
    s.logged = s.frame_log[k] = logged + islands
    if touching > 0:
        numbers, bodies, laws = s.noted_numbers, s.noted_bodies, s.noted_laws
        note_contacts(s, numbers, bodies, laws, s.noted_features, s.noted_ends)
    for a in range(3):
        s.frame_noted[k, a] = s.noted_ends[a]
    s.frame_time[k], s.frame_kick[k] = s.time, s.kick
    copy_all(s.position, s.frame_position[k])
    copy_all(s.velocity, s.frame_velocity[k])
    copy_all(s.orientation, s.frame_orientation[k])
    copy_all(s.report_row, s.frame_report[k])
    copy_all(s.wrench, s.frame_wrench[k])
    s.frames = k + 1
    return codes.GO_ON
