"""One look for all pictures, and the only door to matplotlib, which is an optional extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drystone.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#22303c"  # lines and text
QUIET = "#8a97a3"  # secondary lines
STONE = "#e9e4da"  # bodies
STONE_EDGE = "#b9b0a0"
GROUND = "#d3ccbf"
BLUE, ORANGE, RED = "#1f6f9f", "#d9822b", "#b3322c"  # told apart also by colour-blind readers

SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "mathtext.fontset": "dejavusans",
}


@contextmanager
def figure(width: float, height: float, **options: Any) -> Iterator[Figure]:
    """A figure [inches] in this style, without a window and without global state."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        message = "pictures need matplotlib: python -m pip install 'drystone[plot]'"
        raise MissingExtraError(message) from None
    with rc_context(SETTINGS):
        yield Figure(figsize=(width, height), **options)


def save(fig: Figure, path: Path, dpi: int = 160) -> Path:
    """Write the figure; no date or version inside, so that equal pictures are equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=dpi, metadata={"Software": None})
    return path
