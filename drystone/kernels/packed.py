"""Packed arrays as the package makes them: nobody can have one whose addresses are not its own.

A ``Packed`` holds addresses of the arrays that it keeps alive. A copy of it would hold addresses
of arrays that it does not keep, and one from another process addresses of nothing at all. So there
are no copies: what is to be copied is what the arrays were made from. How arrays lie is written in
``_packed``, whose source is part of every compiled kernel's name, so that this can change without
compiling anything anew.
"""

from __future__ import annotations

from typing import Any, NoReturn

from drystone.kernels import _packed


class Packed(_packed.Packed):
    """Arrays by name for kernels. ``put`` replaces some; nothing else does."""

    def __init__(self, **arrays: Any) -> None:
        own: dict[str, Any] = vars(_packed.Packed(**arrays))
        self.__dict__.update(own)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name}: put({name}=...) replaces an array that kernels see")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name}: kernels see this array for as long as there is a Packed")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            "the arrays of a running simulation hold addresses of this one's memory: copy or "
            "pickle the Simulation itself"
        )
