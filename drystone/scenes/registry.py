"""The gallery's table. A scene's module is imported when the scene is asked for."""

from __future__ import annotations

from typing import Any

from drystone.errors import OptionError
from drystone.scenes.base import Scene, SceneEntry, unknown
from drystone.values import among

HART = "Hart and Anitescu 2003"
APS = "Anitescu, Potra and Stewart 1998"
BARAFF = "Baraff 1989"
THESIS = "Baraff 1992, figure"
LAST = "Baraff 1994"

_ROWS = (  # name, module, what it shows, where it comes from
    ("ellipse-drop", "papers", "a spinning ellipse lands on a table", f"{HART}, figures 1, 2"),
    ("disks-21", "papers", "a pile of 21 disks collapses", f"{HART}, figures 3 to 6, 8"),
    ("brazil-nut", "papers", "in a shaken box the large grain rises", f"{HART}, figures 7, 9"),
    ("wedge-cone", "sliding", "a particle in a wedge that can jam", f"{APS}, figure 1"),
    ("incline", "sliding", "a block holds or slides on a slope", f"{BARAFF}, figure 7"),
    ("sliding-block", "sliding", "a block slides to rest, in any direction", "closed form"),
    ("rolling-ball", "sliding", "a sliding ball rolls in the end, at 5/7 speed", "closed form"),
    ("billiard-three", "collisions", "one ball hits two that touch", f"{BARAFF}, section 8"),
    ("newton-cradle", "collisions", "a row of balls hit by others", f"{BARAFF}, section 8"),
    ("mass-ratio", "stacks", "cubes, each ten times as heavy as the one below", "test of engines"),
    ("pyramid", "stacks", "rows of cubes in a plane", "test of engines"),
    ("wall", "masonry", "dry bricks in running bond", "masonry"),
    ("card-house", "masonry", "leaning cards, storey on storey", "statics"),
    ("arch", "masonry", "voussoirs without mortar", "Milankovitch 1907, Heyman 1966"),
    ("dominoes", "stacks", "a row of dominoes topples", f"{BARAFF}, figure 14b"),
    ("spheres", "grains", "spheres dropped into a box", "test of engines"),
    ("hopper", "grains", "grains run out of a funnel", "granular flow"),
    ("tippe-top", "spinning", "a top turns upside down", "Cohen 1977"),
    ("rattleback", "spinning", "a stone that reverses its spin", "Kane and Levinson 1982"),
    ("gyroscope", "spinning", "a top precesses, or a free spinner tumbles", "closed form"),
    ("chain", "mechanisms", "a light chain swings a heavy bob", "test of engines"),
    ("chain-whip", "mechanisms", "a chain released from horizontal", "test of engines"),
    ("chain-drop", "machines", "a chain falls in a heap", "test of engines"),
    ("double-pendulum", "mechanisms", "two rods, one below the other", "minimal coordinates"),
    ("four-bar", "mechanisms", "a crank rocks a rocker", "closed form"),
    ("slider-crank", "mechanisms", "a crank drives a slider", "closed form"),
    ("gripper", "machines", "two fingers lift a cube by friction", "closed form"),
    ("vehicle", "machines", "a sprung car crosses bumps", "closed form"),
    ("geneva", "machines", "a pin turns a slotted wheel by steps", "closed form"),
    ("ragdoll", "ragdoll", "a figure of 15 bodies falls down stairs", "test of engines"),
    ("bricks", "stacks", "an overbalanced stack of bricks", f"{BARAFF}, figure 14a"),
    ("destructive-chain", "chains", "a chain swings through bricks", f"{BARAFF}, figure 14c"),
    ("chain-pivot", "chains", "a chain curls round a fixed post", f"{BARAFF}, figure 14d"),
    ("blocks-chain", "chains", "two blocks fall into a chain", f"{BARAFF}, figure 14e"),
    ("many-blocks-chain", "chains", "many blocks fall into a chain", f"{BARAFF}, figure 14f"),
    ("heavy-ball", "blows", "a heavy ball falls on a light one", f"{BARAFF}, figure 12"),
    ("struck-block", "blows", "a board is knocked off its supports", f"{BARAFF}, figure 13"),
    ("jack-stairs", "thesis", "a jack falls down stairs", f"{THESIS} D.1"),
    ("dice-lattice", "thesis", "dice fall through a lattice", f"{THESIS} D.2"),
    ("collapse", "thesis", "posts and beams collapse", f"{THESIS} D.3"),
    ("ellipsoid-rock", "rocking", "an ellipsoid rocks: smooth reaction R(t)", f"{THESIS} 6.6"),
    ("eccentric-ellipsoid-rock", "rocking", "a flat ellipsoid rocks: R(t) peaks", f"{THESIS} 6.7"),
    ("superquadric-rock", "rocking", "a body rocks on a flat spot: R(t) diverges", f"{THESIS} 6.8"),
    ("rod-indeterminate", "rods", "a sliding rod with two valid contact forces", f"{THESIS} 10.2"),
    ("rod-inconsistent", "rods", "a sliding rod without a valid contact force", f"{THESIS} 10.3"),
    ("subset-sum", "rods", "contact forces that solve subset sum", f"{THESIS} 11.3"),
    ("indeterminate-impulse", "rods", "a force or an impulse, both valid", f"{THESIS} 12.4"),
    ("double-action-jack", "mechanisms_1994", "a lever lifts with both strokes", LAST),
    ("block-feeder", "mechanisms_1994", "a crank feeds blocks one by one", LAST),
)

SCENES: dict[str, SceneEntry] = {row[0]: SceneEntry(*row) for row in _ROWS}


def names() -> tuple[str, ...]:
    """Names of all scenes."""
    return tuple(SCENES)


def scene(name: str, **settings: Any) -> Scene:
    """A scene by name, with some of its settings changed (texts are converted: "1000" -> 1000)."""
    if not among(name, SCENES):
        raise OptionError(unknown("scene", name, SCENES))
    return SCENES[name].build(settings)
