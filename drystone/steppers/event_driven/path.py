"""Y within a step: the integrator's own polynomial, made when it is first asked for."""

from __future__ import annotations

from typing import Any

from drystone.types import Floats


class StepPath:
    """Y at times within the step that a solver has just made, before its end is corrected.

    Closing contacts at the end of a step corrects its end by the integrator's error, but where
    contacts have met other features by then it moves it far: an event lies between, and up to it
    the polynomial has to be that of the equations that held.
    """

    def __init__(self, solver: Any) -> None:
        self.begin = float(solver.t_old)
        self._solver, self._end = solver, solver.y
        self._polynomial: Any = None

    def __call__(self, t: float) -> Floats:
        """Y (n,) at t, which lies within the step."""
        if self._polynomial is None:
            solver = self._solver
            corrected, solver.y = solver.y, self._end
            self._polynomial = solver.dense_output()
            solver.y = corrected
        y: Floats = self._polynomial(t)
        return y
