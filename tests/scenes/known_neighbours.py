"""Neighbours of the gallery that fall short, with the reason: each must still do so.

{scene: {number: {invariant: reason}}}. One that has been mended is taken off.
"""

KNOWN: dict[str, dict[int, dict[str, str]]] = {}
