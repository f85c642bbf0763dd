"""Slips that a type checker must find: each line whose comment begins with wrong is one.

``test_typed.py`` compares the marked lines with those that mypy --strict complains of.
"""

import drystone as ds

ds.Wrold()  # wrong: no such name
world = ds.World(planar="yes")  # wrong
world.add_body("box")  # wrong: a shape
world.add_body(ds.Sphere("1"))  # wrong: a number
world.add_body(ds.Sphere(1), position="here")  # wrong
world.add_body(ds.Sphere(1), position=1.0)  # wrong: three numbers
world.add_body(ds.Sphere(1), positon=(0, 0, 1))  # wrong: position
world.add_body(ds.Sphere(1), friction=None)  # wrong
world.add_body(ds.Sphere(1), motion=ds.Spring("a"))  # wrong: no motion
world.add_joint(ds.Hinge("a", "b", anchor="corner"))  # wrong
world.add_joint(ds.Hinge("a", 3, anchor=(0, 0, 0)))  # wrong: a body
world.add_joint(ds.Hinge("a", "b", motor=2.0))  # wrong: ds.Motor
world.add_joint(ds.Hinge("a", "b", limits=1.0))  # wrong: two numbers
world.add_joint(ds.Box(1, 1, 1))  # wrong: no joint
world.add_force(ds.ConstantForce("a", force=9.81))  # wrong: a vector
ds.Polygon("square")  # wrong
ds.ConvexPolyhedron((1, 2, 3))  # wrong: points
ds.TriangleMesh("stone.obj", [(0, 1, 2)])  # wrong: vertices
ds.HalfSpace(normal=1)  # wrong
ds.Compound(ds.Sphere(1))  # wrong: a list
ds.Oscillation(1, amplitude=1, frequency=1)  # wrong: a direction
ds.Simulation("arch")  # wrong: a world
ds.Simulation(world, method=ds.Box(1, 1, 1))  # wrong: a method
ds.TimeStepping(restitution="bouncy")  # wrong: one of four
ds.TimeStepping(cone=0.5)  # wrong
sim = ds.Simulation(world)
sim.step(0.1)  # wrong: takes nothing
sim.run("1 s")  # wrong: seconds
sim.run(1.0, record=3)  # wrong: a file
sim.run(1.0).time  # wrong: nothing was recorded
sim.body(3)  # wrong: a name
sim.positions  # wrong: no such attribute
sim.body("a").postion  # wrong
sim.body("a").position = "up"  # wrong
sim.report.residual  # wrong: None before the first step
sim.summary.failures_all  # wrong
ds.solve("problem.hdf5")  # wrong: a problem
ds.solve(ds.LCP([[1.0]], [1.0]), solver=3)  # wrong
ds.LCP("M", [1.0])  # wrong
ds.LCP([[1.0]], "q")  # wrong
ds.FrictionProblem([[1.0]], [1.0], mu="rough")  # wrong
ds.FrictionProblem([[1.0]], [1.0], 0.5, law="static2")  # wrong
ds.Lemke(max_pivot=3)  # wrong: max_pivots
ds.plot(world)  # wrong: a run
ds.export(sim, "page.html")  # wrong: a replay
ds.compare(3)  # wrong
ds.sweep("arch", {"ratio": 0.1})  # wrong: several values
ds.read_recording("a.h5").positoin  # wrong
ds.scene("arch").simulation().run(1.0, on_failure=False)  # wrong
