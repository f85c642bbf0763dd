"""The gallery's table. A scene's module is imported when the scene is asked for."""

from __future__ import annotations

from typing import Any

from drystone.errors import OptionError
from drystone.scenes.base import Entry, Scene, unknown
from drystone.values import among

HART = "Hart and Anitescu 2003"
APS = "Anitescu, Potra and Stewart 1998"
BARAFF = "Baraff 1989"
THESIS = "Baraff 1992"
LAST = "Baraff 1994"

_ENTRIES = (
    Entry("ellipse-drop", "papers", "a spinning ellipse lands on a table", f"{HART}, figures 1, 2"),
    Entry("disks-21", "papers", "a pile of 21 disks collapses", f"{HART}, figures 3 to 6, 8"),
    Entry("brazil-nut", "papers", "shaken, the large grain rises", f"{HART}, figures 7, 9"),
    Entry("wedge-cone", "sliding", "a particle in a wedge that can jam", f"{APS}, figure 1"),
    Entry("incline", "sliding", "a block holds or slides on a slope", f"{BARAFF}, figure 7"),
    Entry("sliding-block", "sliding", "a block slides to rest, any way", "closed form"),
    Entry("rolling-ball", "sliding", "a sliding ball ends up rolling at 5/7", "closed form"),
    Entry("billiard-three", "collisions", "one ball hits two that touch", f"{BARAFF}, section 8"),
    Entry("newton-cradle", "collisions", "a row of balls hit by others", f"{BARAFF}, section 8"),
    Entry("mass-ratio", "stacks", "heavier and heavier cubes, stacked upwards", "engine tests"),
    Entry("pyramid", "stacks", "rows of cubes in a plane", "engine tests"),
    Entry("wall", "masonry", "dry bricks in running bond", "masonry"),
    Entry("card-house", "masonry", "leaning cards, storey on storey", "statics"),
    Entry("arch", "masonry", "voussoirs without mortar", "Milankovitch 1907, Heyman 1966"),
    Entry("dominoes", "stacks", "a row of dominoes topples", f"{BARAFF}, figure 14b"),
    Entry("spheres", "grains", "spheres dropped into a box", "engine tests"),
    Entry("hopper", "grains", "grains run out of a funnel", "granular flow"),
    Entry("tippe-top", "spinning", "a top turns upside down", "Cohen 1977"),
    Entry("rattleback", "spinning", "a stone that reverses its spin", "Kane and Levinson 1982"),
    Entry("gyroscope", "spinning", "a top precesses, or a free spinner tumbles", "closed form"),
    Entry("chain", "mechanisms", "a light chain swings a heavy bob", "engine tests"),
    Entry("chain-whip", "mechanisms", "the chain let go from horizontal", "engine tests"),
    Entry("chain-drop", "machines", "a chain falls in a heap", "engine tests"),
    Entry("double-pendulum", "mechanisms", "two rods, one below the other", "minimal coordinates"),
    Entry("four-bar", "mechanisms", "a crank rocks a rocker", "closed form"),
    Entry("slider-crank", "mechanisms", "a crank drives a slider", "closed form"),
    Entry("gripper", "machines", "two fingers lift a cube by friction", "closed form"),
    Entry("vehicle", "machines", "a sprung car crosses bumps", "closed form"),
    Entry("geneva", "machines", "a pin turns a slotted wheel by steps", "closed form"),
    Entry("ragdoll", "ragdoll", "a figure of 15 bodies falls down stairs", "engine tests"),
    Entry("bricks", "stacks", "an overbalanced stack of bricks", f"{BARAFF}, figure 14a"),
    Entry("destructive-chain", "chains", "a chain swings through bricks", f"{BARAFF}, figure 14c"),
    Entry("chain-pivot", "chains", "a chain curls round a fixed post", f"{BARAFF}, figure 14d"),
    Entry("blocks-chain", "chains", "two blocks fall into a chain", f"{BARAFF}, figure 14e"),
    Entry("many-blocks-chain", "chains", "many blocks fall into a chain", f"{BARAFF}, figure 14f"),
    Entry("heavy-ball", "blows", "a heavy ball falls on a light one", f"{BARAFF}, figure 12"),
    Entry("struck-block", "blows", "a board is struck off its supports", f"{BARAFF}, figure 13"),
    Entry("jack-stairs", "thesis", "a jack falls down stairs", f"{THESIS}, figure D.1"),
    Entry("dice-lattice", "thesis", "dice fall through a lattice", f"{THESIS}, figure D.2"),
    Entry("collapse", "thesis", "posts and beams collapse", f"{THESIS}, figure D.3"),
    Entry("ellipsoid-rock", "rocking", "an ellipsoid rocks: R(t) smooth", f"{THESIS}, figure 6.6"),
    Entry(
        "eccentric-ellipsoid-rock", "rocking", "a flat one: sharp peaks", f"{THESIS}, figure 6.7"
    ),
    Entry("superquadric-rock", "rocking", "a flat spot: R(t) diverges", f"{THESIS}, figure 6.8"),
    Entry("rod-indeterminate", "rods", "a rod with two forces", f"{THESIS}, figure 10.2"),
    Entry("rod-inconsistent", "rods", "a rod with no force", f"{THESIS}, figure 10.3"),
    Entry("subset-sum", "rods", "forces that solve a hard puzzle", f"{THESIS}, figure 11.3"),
    Entry("indeterminate-impulse", "rods", "a force or an impulse", f"{THESIS}, figure 12.4"),
    Entry("double-action-jack", "mechanisms_1994", "a lever lifts with both strokes", LAST),
    Entry("block-feeder", "mechanisms_1994", "a crank feeds blocks one by one", LAST),
)

SCENES: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def names() -> tuple[str, ...]:
    """Names of all scenes."""
    return tuple(SCENES)


def scene(name: str, **settings: Any) -> Scene:
    """A scene by name, with some of its settings changed (texts are converted: "1000" -> 1000)."""
    if not among(name, SCENES):
        raise OptionError(unknown("scene", name, SCENES))
    return SCENES[name].build(settings)
