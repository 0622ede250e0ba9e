#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a part of a trace as a PNG: the picture of docs/pictures/trace.png, for pages that cannot show Perfetto.

./gossamer setup plot test
./gossamer run programs/heat.c --engine rtl --config tiny --trace heat.trace
.gossamer/env/bin/python tools/draw_trace.py heat.trace 100000 102500 trace.png
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import matplotlib
import traces

matplotlib.use("agg")
from matplotlib import pyplot

COLOURS = {
    "runs": "#2171b5", "load": "#c8782a", "store": "#e3b07f", "float": "#7b5aa6", "divide": "#b39cd0",
    "waits for a message": "#4a9d5f",
}  # fmt: skip
OTHER = "#8c8c8c"


def main(source: str, begin: int, end: int, target: str) -> None:
    trace = traces.read(Path(source))
    spans = [span for span in trace.spans if span.thread >= 0 and span.begin < end and span.end > begin]
    rows = {track: row for row, track in enumerate(sorted({span.track for span in spans}, key=_number))}
    figure, axes = pyplot.subplots(figsize=(11, 0.2 * len(rows) + 1.2), layout="constrained")
    names: dict[str, str] = {}
    for span in spans:
        cause = next((name for name in COLOURS if name == span.name), "other")
        names[cause] = COLOURS.get(cause, OTHER)
        axes.barh(rows[span.track], span.end - span.begin, left=span.begin, height=0.8, color=names[cause], linewidth=0)
    for sent, received in trace.arrows():
        if begin <= sent.begin and received.begin <= end and sent.track in rows and received.track in rows:
            ends = (received.begin, rows[received.track]), (sent.begin, rows[sent.track])
            axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 0.7})
    for name, colour in names.items():
        axes.barh(0, 0, color=colour, label=name)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(names), frameon=False)
    axes.set_yticks(range(len(rows)), [f"thread {_number(track)}" for track in rows], fontsize=7)
    axes.set(xlim=(begin, end), ylim=(len(rows) - 0.4, -0.6), xlabel="cycle")
    figure.savefig(target, dpi=100, metadata={"Software": None})


def _number(track: str) -> int:
    return int(track.rsplit("/", 1)[-1].split()[1])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
