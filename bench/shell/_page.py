# SPDX-License-Identifier: Apache-2.0
"""SAF's Figure 6 and our configurations, as a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Row, page

_CURVES = {
    "pcie_tree": ("paper: PCIe device tree", "#c9772b", "s--"),
    "pcie_hosts": ("paper: PCIe, hosts of two boards", "#4f9d69", "^--"),
    "saf": ("paper: SAF", "#555555", "d--"),
}


def write(path: Path, rows: Sequence[Row], paper: Callable[[int], dict[str, float]], boards: int) -> None:
    """Writes the page of the rows ``configure.figure6``; ``paper`` gives the paper's seconds by number of boards."""
    page.prepare()
    table = [["boards", "ours, s", *(label for label, _, _ in _CURVES.values()), "SAF over the better PCIe"]]
    for row in rows:
        theirs = paper(row.config["boards"])
        better = row.config["paper_saf_over_pcie"]
        table.append(
            [str(row.config["boards"]), f"{row.value:.3g}", *(f"{theirs[key]:.2f}" for key in _CURVES), f"{better:.2f}"]
        )
    words = (
        "Seconds until all boards have loaded a role of 97.4 MB. The paper measured Arria 10 boards at 10 Gbit/s; ours "
        "are software twins behind a Linux bridge, so the form of the curves is comparable, not their height. At one "
        f"board SAF loses to PCIe: it is {paper(1)['pcie_tree'] / paper(1)['saf']:.2f} times as fast."
    )
    page.write(path, "Configuration of boards (SAF, Figure 6)", words, figure(rows, paper, boards), table)


def figure(rows: Sequence[Row], paper: Callable[[int], dict[str, float]], boards: int) -> Any:
    """The picture, of matplotlib."""

    picture = page.figure(8, 5)
    axes = picture.subplots()
    counts = range(1, boards + 1)
    for key, (label, colour, form) in _CURVES.items():
        axes.plot(counts, [paper(count)[key] for count in counts], form, color=colour, label=label, markersize=4)
    axes.plot(
        [row.config["boards"] for row in rows], [row.value or 0.0 for row in rows], "o-", color="#2171b5", label="ours"
    )
    axes.set(yscale="log", xlabel="boards", ylabel="seconds to configure all, 97.4 MB", xticks=[1, 5, 10, 15, 20])
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
    return picture


__all__ = ["figure", "write"]
