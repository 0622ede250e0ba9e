# SPDX-License-Identifier: Apache-2.0
"""The rows of messages as a page: bandwidth over size, latency over hops. A file of HTML that needs nothing else."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer.bench import Row
from gossamer.files import write_whole

from . import paper

_COLOURS = {1: "#2171b5", 4: "#c9772b", 7: "#4f9d69"}


def write(path: Path, rows: Sequence[Row]) -> None:
    """Writes the page of the rows ``latency.us`` and ``bandwidth``. Needs the group plot, which is installed if it is
    not there."""
    gossamer_setup.require("core", "plot")
    text = io.StringIO()
    figure(rows).savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    body = [f"<tr><th>{head}</th></tr>" for head in ("row</th><th>value</th><th>Gbit/s</th><th>hosts, Gbit/s",)]
    for row in rows:
        shown = [f"{row.value:.4g} {row.unit}"] if row.value is not None else [f"skipped: {row.skipped}"]
        shown += [f"{row.config[key]:.4g}" if key in row.config else "" for key in ("gbit_s", "host_gbit_s")]
        body.append(f"<tr><td>{row.name}</td>" + "".join(f"<td>{one}</td>" for one in shown) + "</tr>")
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Messages between boards</title>'
        "<style>body{font:14px sans-serif;margin:2em}td,th{padding:2px 10px;text-align:left}</style>"
        "<h1>Messages between boards</h1><p>Lines: boards of de5, cycles of RTL. Dashes: SMI's paper, dots: its path "
        "through hosts, both modelled from its latency and its bandwidth of long messages. Shares are of the line: "
        f"here 10 Gbit/s, there {paper.LINE:g}, so that a latency takes a lesser share of a short message here.</p>"
        f"{svg[svg.index('<svg') :]}<table>{''.join(body)}</table></html>\n"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page.encode())


def figure(rows: Sequence[Row]) -> Any:
    """The picture, of matplotlib."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    picture = Figure(figsize=(12, 5), layout="constrained")
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
