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
# lines that are compared: eight hues of unequal lightness (Okabe and Ito), each with its own dashes
CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#22303c", "#8a6d3b")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.4)), (0, (1.2, 1.2)), (0, (6, 1.4, 1.2, 1.4)))
COLUMN, PAGE = 3.5, 7.2  # widths of a printed column and of a page [inches]

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
    "text.usetex": False,  # names are drawn, not typeset: TeX reads files
    "pdf.fonttype": 42,  # text stays text
    "svg.fonttype": "path",
    "svg.hashsalt": "drystone",
}
# for figures that are printed at column width
PRINT: Any = {
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.titlepad": 4.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.3,
    "lines.linewidth": 1.1,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.constrained_layout.h_pad": 0.03,
}
# what a format would otherwise note about the day and the program
UNSAID: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    ".svg": {"Date": None, "Creator": None},
}


@contextmanager
def figure(
    width: float, height: float, *, printed: bool = False, **options: Any
) -> Iterator[Figure]:
    """A figure [inches] in this style, without a window and without global state.

    printed: with the smaller letters and lines of figures for print.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        message = "pictures need matplotlib: python -m pip install 'drystone[plot]'"
        raise MissingExtraError(message) from None
    with rc_context(SETTINGS | PRINT if printed else SETTINGS):
        yield Figure(figsize=(width, height), **options)


def save(fig: Figure, path: Path, dpi: int = 160) -> Path:
    """Write the figure; no date or version inside, so that equal pictures are equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(path, dpi=dpi, metadata=UNSAID.get(path.suffix.lower()))
    return path


def line(k: int) -> dict[str, Any]:
    """Colour and dashes of the k-th of several lines."""
    return {"color": CYCLE[k % len(CYCLE)], "ls": DASHES[k % len(DASHES)]}
