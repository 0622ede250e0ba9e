# SPDX-License-Identifier: Apache-2.0
"""The rows of messages as a page: bandwidth over size, latency over hops. A file of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Row, page

from . import paper

_COLOURS = {1: "#2171b5", 4: "#c9772b", 7: "#4f9d69"}


def write(path: Path, rows: Sequence[Row]) -> None:
    """Writes the page of the rows ``latency.us`` and ``bandwidth``."""
    page.prepare()
    table = [["row", "value", "Gbit/s", "hosts, Gbit/s"]]
    for row in rows:
        shown = [f"{row.value:.4g} {row.unit}"] if row.value is not None else [f"skipped: {row.skipped}"]
        shown += [f"{row.config[key]:.4g}" if key in row.config else "" for key in ("gbit_s", "host_gbit_s")]
        table.append([row.name, *shown])
    words = (
        "Lines: boards of de5, cycles of RTL. Dashes: SMI's paper, dots: its path through hosts, both modelled from "
        "its latency and its bandwidth of long messages. Shares are of the line: here 10 Gbit/s, there "
        f"{paper.LINE:g}, so that a latency takes a lesser share of a short message here."
    )
    page.write(path, "Messages between boards", words, figure(rows), table)


def figure(rows: Sequence[Row]) -> Any:
    """The picture, of matplotlib."""

    picture = page.figure(12, 5)
    over_size, over_hops = picture.subplots(1, 2, width_ratios=[1.7, 1])
    found = [row for row in rows if row.value is not None]
    sizes = [1 << power for power in range(2, 23)]
    for hops, colour in _COLOURS.items():
        of = [row for row in found if row.name.startswith("bandwidth.") and row.config["hops"] == hops]
        over_size.plot([row.config["payload"] for row in of], [row.value for row in of], "o-", color=colour,
                       label=f"{hops} hop{'s' * (hops > 1)}")  # fmt: skip
        theirs = [paper.smi(size, hops) / paper.LINE for size in sizes]
        over_size.plot(sizes, theirs, "--", color=colour, alpha=0.6, label=f"paper's SMI, {hops}")
    hosts = [paper.host(size) / paper.LINE for size in sizes]
    over_size.plot(sizes, hosts, ":", color="#555555", label="through hosts")
    over_size.set(xscale="log", ylim=(0, 1), xlabel="bytes of a message", ylabel="payload, share of the line rate")
    over_size.set_xscale("log", base=2)
    over_size.legend(fontsize=8)
    latencies = [row for row in found if row.name.startswith("latency.us.")]
    over_hops.plot([row.config["hops"] for row in latencies], [row.value for row in latencies], "o-",
                   color=_COLOURS[1], label="ours")  # fmt: skip
    over_hops.plot(list(paper.US), list(paper.US.values()), "s--", color=_COLOURS[4],
                   label="paper's SMI")  # fmt: skip
    over_hops.axhline(paper.HOST_US, linestyle=":", color="#555555", label="through hosts")
    over_hops.set(yscale="log", xlabel="hops", ylabel="latency of one element, µs", xticks=list(paper.US))
    over_hops.legend(fontsize=8)
    for axes in (over_size, over_hops):
        axes.grid(alpha=0.3)
    return picture


__all__ = ["figure", "write"]
