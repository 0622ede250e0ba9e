# SPDX-License-Identifier: Apache-2.0
"""The page of the studies: strong scaling, steps against no steps, and counters, beside the Tinsel paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Row, page

_COUNTERS = {
    "hit_rate": "hit rate of the caches",
    "processors": "cycles in which cores issue",
    "memory_gbs": "off-chip memory, GB/s a board",
    "mesh_gbs": "between tiles, GB/s a board",
    "links_gbs": "between boards, GB/s a board",
}
_PAPER_BOARDS = 12
_WORDS = (
    "Boards of quad, simulated as RTL; cycles of whole runs, with their start and end. Dashes: as many times as fast "
    "as there are boards, which is about what the Tinsel paper reports up to twelve (its Fig. 11, two million "
    "vertices; here there are 12,000, so that barriers and borders weigh more). Its PageRank without barriers took 1.2 "
    "times as long as with them (Fig. 12); counters beside it are those of that figure, by board."
)


def draw(path: Path, rows: Sequence[Row], paper: Mapping[str, Mapping[str, float]]) -> None:
    """Writes the page of the rows."""
    page.prepare()
    table = [["row", "value", "cycles"]]
    for row in rows:
        cycles = row.config.get("cycles", {})
        said = ", ".join(f"{name}: {count:,}" for name, count in cycles.items())
        table.append([row.name, f"{row.value:,.4g} {row.unit}", said])
    page.write(path, "Vertices on several boards", _WORDS, figure(rows, paper), table)


def figure(rows: Sequence[Row], paper: Mapping[str, Mapping[str, float]]) -> Any:
    """The picture, of matplotlib: three charts."""

    picture = page.figure(13, 4.2)
    scaling, gals, counters = picture.subplots(1, 3)
    _scaling(scaling, [row for row in rows if row.name.startswith("scaling.")])
    _gals(gals, [row for row in rows if row.name.startswith("gals.")])
    _counted(counters, [row for row in rows if row.name.startswith("counters.")], paper)
    return picture


def _scaling(axes: Any, rows: Sequence[Row]) -> None:
    axes.plot([1, 4], [1, 4], "--", color="#888888", label="linear")
    for app in dict.fromkeys(row.config["app"] for row in rows):
        points = [(row.reference["value"], row.value) for row in rows if row.config["app"] == app and row.reference]
        axes.plot([1, *(x for x, _ in points)], [1, *(y for _, y in points)], "o-", label=app)
    axes.set(title="Strong scaling", xlabel="boards", ylabel="times as fast", xticks=[1, 2, 4])
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def _gals(axes: Any, rows: Sequence[Row]) -> None:
    axes.bar([row.name.removeprefix("gals.") for row in rows], [row.value for row in rows], color="#2171b5")
    axes.axhline(1, color="#888888", linestyle="--")
    axes.axhline(0.49 / 0.59, color="#c9772b", linestyle=":", label="the paper's PageRank")
    axes.set(title="Without barriers", ylabel="times as fast as with them")
    axes.set_ylim(0, 1.25 * max([1.0, *(row.value for row in rows if row.value is not None)]))
    axes.legend(fontsize=8)


def _counted(axes: Any, rows: Sequence[Row], paper: Mapping[str, Mapping[str, float]]) -> None:
    def shown(values: Mapping[str, float], boards: int) -> list[float]:
        return [values[key] / (boards if key.endswith("_gbs") else 1) for key in _COUNTERS]

    bars = [(row.name.removeprefix("counters."), shown(row.config, row.config["boards"])) for row in rows]
    bars += [(f"{row.name.removeprefix('counters.')}, paper", shown(paper[row.name], _PAPER_BOARDS)) for row in rows]
    width = 0.8 / max(1, len(bars))
    for number, (label, values) in enumerate(bars):
        places = [at + (number - (len(bars) - 1) / 2) * width for at in range(len(values))]
        drawn = axes.barh(places, values, width, label=label)
        axes.bar_label(drawn, fmt="%.2g", fontsize=7)
    axes.set(title="PageRank: counters", xscale="log", yticks=range(len(_COUNTERS)))
    axes.set_yticklabels(_COUNTERS.values(), fontsize=8)
    axes.invert_yaxis()
    if bars:
        axes.legend(fontsize=7)


def draw_studies(path: Path, rows: Sequence[Row], scale: str) -> None:
    """Writes the page of the studies that the timing model predicts."""
    page.prepare()
    table = [["row", "value", "the paper's", "cycles", "validated error", "seconds"]]
    for row in rows:
        its = row.config
        table.append([
            row.name, f"{row.value:,.4g} {row.unit}",
            f"{row.reference['value']:g} {row.reference['unit']}" if row.reference else "",
            f"{its['cycles']:,.0f}" if "cycles" in its else "", f"{its['error']:.1%}" if "error" in its else "",
            f"{its['seconds']:.4g}" if "seconds" in its else "",
        ])  # fmt: skip
    words = (
        f"Boards of de5, predicted by the timing model with {scale} of the Tinsel paper's two million vertices, each "
        "with 100 edges. Each row has the error of the validated case that is most like it. Dashes: linear speedup, "
        "which the paper reports up to twelve boards (its Fig. 11). Rows of 1,000 boards are extrapolated from the "
        "network alone."
    )
    page.write(path, "The Tinsel paper's case study", words, _studies_figure(rows), table)


def _studies_figure(rows: Sequence[Row]) -> Any:

    picture = page.figure(12, 4.4)
    strong, counters = picture.subplots(1, 2)
    strong.plot([1, 12], [1, 12], "--", color="#888888", label="linear, as the paper reports")
    scaled = [row for row in rows if row.name.startswith("study.strong.")]
    for app in dict.fromkeys(row.config["app"] for row in scaled):
        of = [row for row in scaled if row.config["app"] == app]
        strong.plot([row.config["boards"] for row in of], [row.value for row in of], "o-", label=app)
    strong.set(title="Strong scaling", xlabel="boards", ylabel="times as fast as one board", xticks=[1, 2, 4, 8, 12])
    strong.legend(fontsize=8)
    strong.grid(alpha=0.3)
    names = [name for name in _COUNTERS if any(row.name.endswith(f".{name}") for row in rows)]
    width, places = 0.2, range(len(names))
    for number, (label, kind, theirs) in enumerate(
        (label, kind, theirs) for kind in ("sync", "gals") for label, theirs in (("predicted", False), ("paper", True))
    ):
        values = []
        for name in names:
            row = next((row for row in rows if row.name.endswith(f".{name}") and _counted_kind(row) == kind), None)
            shown = None if row is None else row.reference["value"] if theirs and row.reference else row.value
            boards = _PAPER_BOARDS if name.endswith("_gbs") else 1
            values.append(0.0 if shown is None else shown / boards)
        drawn = counters.barh([at + (number - 1.5) * width for at in places], values, width, label=f"{kind}, {label}")
        counters.bar_label(drawn, fmt="%.2g", fontsize=7)
    counters.set(title="PageRank on 12 boards: counters", yticks=list(places))
    counters.set_yticklabels([_COUNTERS[name] for name in names], fontsize=8)
    counters.invert_yaxis()
    counters.legend(fontsize=7)
    return picture


def _counted_kind(row: Row) -> str:
    return "gals" if row.config.get("app") == "pagerank-gals" else "sync"


__all__ = ["draw", "draw_studies", "figure"]
