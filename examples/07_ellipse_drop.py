"""Hart and Anitescu 2003, figure 2: penetration with and without constraint stabilisation.

A spinning ellipse falls on a table and rocks there for 20 s. Without stabilisation every step
leaves a little penetration that nothing removes; with it, the depth stays within a narrow band.
The picture goes to ellipse_drop.png.
"""

from pathlib import Path

import drystone as ds
from drystone.plots.style import BLUE, RED, figure, save

ellipse = ds.scene("ellipse-drop")
runs = {}
for stabilize in (False, True):
    kept = ellipse.simulation(stabilize=stabilize).run(ellipse.duration, record=True)
    runs[stabilize] = kept.time[1:], kept.series("penetration")
    word = "stabilised" if stabilize else "unstabilised"
    print(f"{word}: greatest depth {max(runs[stabilize][1]):.3f} m, "
          f"at the end {runs[stabilize][1][-1]:.4f} m")  # fmt: skip
    print(f"  steps of {ellipse.method.dt} s, all solved: {all(r.ok for r in kept.reports)}")

try:
    with figure(6.0, 4.5, layout="constrained") as fig:
        axes = fig.subplots(2, sharex=True)
        for ax, stabilize, colour in zip(axes, (False, True), (RED, BLUE), strict=True):
            ax.plot(*runs[stabilize], color=colour, linewidth=0.9)
            ax.set_title("stabilised" if stabilize else "unstabilised", loc="left")
            ax.set_ylabel("penetration [m]")
        axes[1].set_xlabel("time [s]")
        print("picture:", save(fig, Path("ellipse_drop.png")))
except ds.MissingExtraError as error:
    print(error)


def check():
    drifts, stays = runs[False][1], runs[True][1]
    assert drifts[-1] > 100 * stays[-1]  # "more than 100 times smaller toward the end"
    late = runs[True][0] > 4
    assert stays[late].max() < 0.06


check()
