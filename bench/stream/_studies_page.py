# SPDX-License-Identifier: Apache-2.0
"""The page of the SMI paper's studies as they are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Row, page

_COLOURS = {1: "#2171b5", 4: "#c9772b", 7: "#4f9d69"}
_RANKS = {4: "#2171b5", 8: "#c9772b", 64: "#4f9d69"}


def draw(path: Path, rows: Sequence[Row], scale: str) -> None:
    """Writes the page."""
    page.prepare()
    table = [["row", "value", "reference", "validated error", "warning"]]
    for row in rows:
        reference = f"{row.reference['value']:.4g} {row.reference['unit']}" if row.reference else ""
        error = f"{row.config['error']:.1%}" if "error" in row.config else ""
        table.append([row.name, f"{row.value:.4g} {row.unit}", reference, error, row.config.get("warning", "")])
    words = (
        f"Predicted from constants of the RTL, at {scale} of the SMI paper's lengths. Solid: boards of de5 at 250 MHz, "
        "links of 10 Gbit/s; pipelines on smi520n with links of 40 Gbit/s. Dashed: SMI's paper. Its curves of "
        "bandwidth are modelled from its latencies and its share of the line. Those of its collectives and of its weak "
        "scaling are pictures without numbers. "
        "Crosses: runs of the RTL."
    )
    page.write(path, "The SMI paper's studies", words, figure(rows), table)


def figure(rows: Sequence[Row]) -> Any:
    """The picture, of matplotlib."""

    from . import _law, paper

    picture = page.figure(14, 8)
    charts = picture.subplots(2, 3)
    latency, bandwidth, bcast = charts[0]
    reduce, strong, weak = charts[1]

    def named(start: str) -> list[Row]:
        return [row for row in rows if row.name.startswith(f"study.{start}")]

    of = named("latency.")
    latency.plot([row.config["hops"] for row in of], [row.value for row in of], "-", color=_COLOURS[1], label="ours")
    latency.plot(list(paper.US), list(paper.US.values()), "s--", color=_COLOURS[4], label="paper")
    runs = [one for one in _law.points() if one.kind == "message" and one.elements == 1]
    latency.plot([one.hops for one in runs], [one.cycles / 250 for one in runs], "kx", label="RTL")
    latency.set(xlabel="hops", ylabel="µs", title="latency of one element", ylim=(0, None))

    for hops, colour in _COLOURS.items():
        of = named(f"bandwidth.h{hops}.")
        sizes = [row.config["payload"] for row in of]
        bandwidth.plot(sizes, [row.value for row in of], "-", color=colour, label=f"{hops} hops")
        theirs = [row.reference["value"] for row in of if row.reference]
        bandwidth.plot(sizes, theirs, "--", color=colour, alpha=0.6, label=f"paper, {hops}")
        runs = [one for one in _law.points() if one.kind == "message" and one.hops == hops]
        shares = [4 * one.elements / one.cycles / 5 for one in runs]
        bandwidth.plot([4 * one.elements for one in runs], shares, "x", color=colour)
    bandwidth.set(xscale="log", ylim=(0, 1), xlabel="bytes", ylabel="share of the line rate", title="bandwidth")

    for axes, kind in ((bcast, "bcast"), (reduce, "reduce")):
        for wiring, style in (("torus", "-"), ("bus", ":")):
            for ranks, colour in _RANKS.items():
                of = named(f"{kind}.{wiring}.r{ranks}.")
                if of:
                    axes.plot([row.config["elements"] for row in of], [row.value for row in of], style, color=colour,
                              label=f"{wiring}, {ranks} ranks")  # fmt: skip
        runs = [one for one in _law.points() if one.kind == kind and not one.where.endswith(" 2 ranks")]
        axes.plot([one.elements for one in runs], [one.cycles / 250 for one in runs], "kx", label="RTL")
        axes.set(xscale="log", yscale="log", xlabel="elements", ylabel="µs", title=kind)

    of = named("stencil.strong.")
    ideal = [row.config["ideal"] for row in of]
    strong.plot(ideal, [row.value for row in of], "o-", color=_COLOURS[1], label="ours")
    known = [row for row in of if row.reference]
    speedups = [row.reference["value"] for row in known if row.reference]
    strong.plot([row.config["ideal"] for row in known], speedups, "s--", color=_COLOURS[4], label="paper")
    strong.set(xscale="log", yscale="log", xlabel="banks", ylabel="times as fast as one bank",
               title="stencil, 4096 x 4096")  # fmt: skip

    for boards, colour in ((4, _COLOURS[1]), (8, _COLOURS[4])):
        of = named(f"stencil.weak.b{boards}.")
        weak.plot([row.config["points"][0] for row in of], [row.value for row in of], "o-", color=colour,
                  label=f"{boards} boards")  # fmt: skip
    weak.set(xscale="log", yscale="log", xlabel="points to a side", ylabel="ns a point", title="stencil over its size")
    sides = sorted({row.config["points"][0] for row in named("stencil.weak.")})
    weak.set_xticks(sides, list(map(str, sides)))
    weak.minorticks_off()
    for axes in charts.flat:
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=6)
    return picture


__all__ = ["draw", "figure"]
