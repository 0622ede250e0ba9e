# SPDX-License-Identifier: Apache-2.0
"""The multicast paper's studies on simulated boards (its Fig. 5): time and traffic over the neighbourhood's radius,
and DPD over its size, by messages to threads, to tiles, and by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.apps import runner
from gossamer.bench import Context, Row, page
from gossamer.bench.runs import FLIT_BYTES, Measured, run
from gossamer.engines.rtl_cluster import Plan
from gossamer.graph import read_graph
from gossamer.paths import BUILD

CLUSTER, VERTICES = "quad4", 2_000
WAYS = ("none", "local", "full")
APPS: dict[str, dict[str, Any]] = {
    "pagerank": {"iterations": 3},
    "asp": {"sources": 64},
    "izhikevich": {"steps": 20},
}
RADII = {25: (0.1, 0.3, 1.5), 100: (0.15, 0.3, 1.5)}
"""By fan-out; a circle of the least one has room for the neighbours, and 1.5 is the whole square: no locality."""
STUDIES = {
    f"study.{app}.f{fan_out}.r{radius:g}": (app, fan_out, radius)
    for app in APPS
    for fan_out, radii in RADII.items()
    for radius in radii
}
SIDES = (4, 6, 8)
DPD = {f"study.{app}.n{side**3}": (app, side) for app in ("dpd", "dpd-gals") for side in SIDES}
NAMES = (*STUDIES, *DPD)
PAGE = BUILD / "bench" / "multicast.html"
"""Where the figures are drawn."""
_COLOURS = {"none": "#c9772b", "local": "#4f9d69", "full": "#2171b5"}
_SAID = {"none": "to threads", "local": "to tiles", "full": "by keys"}


def rows(context: Context, *, cluster: str = CLUSTER, vertices: int = VERTICES, page: Path = PAGE) -> Iterator[Row]:
    """Those asked for. Raises RunDied where results are not those of the engine ``cpu``."""
    plan = Plan(configs.load_cluster(cluster))
    shown: list[Row] = []
    for name, (app, fan_out, radius) in STUDIES.items():
        if context.wants(name):
            text = f"gen:geometric:vertices={vertices},fanout={fan_out},radius={radius:g},seed=1"
            about = {"fan_out": fan_out, "radius": radius}
            yield _add(shown, _row(context, name, app, text, plan, APPS[app], **about))
    for name, (app, side) in DPD.items():
        if context.wants(name):
            text = f"gen:cube:width={side},height={side},depth={side},neighbours=26,around=yes"
            how = {"steps": 2, "density": 1.2}
            yield _add(shown, _row(context, name, app, text, plan, how, cells=side**3))
    if shown:
        draw(page, shown)


def _add(shown: list[Row], row: Row) -> Row:
    shown.append(row)
    return row


def _row(context: Context, name: str, app: str, text: str, plan: Plan, how: dict[str, Any], **about: Any) -> Row:
    graph = read_graph(text)
    want = runner.run(app, graph, **how)
    found: dict[str, Measured] = {way: run(app, graph, plan, want=want, multicast=way, **how) for way in WAYS}
    return context.row(
        name, found["none"].cycles / found["full"].cycles, "times as fast", app=app, graph=text,
        cluster=plan.cluster.name,
        cycles={way: one.cycles for way, one in found.items()},
        mesh_bytes={way: one.mesh_flits * FLIT_BYTES for way, one in found.items()},
        link_bytes={way: one.link_bytes for way, one in found.items()},
        **about,
    )  # fmt: skip


def draw(path: Path, rows: list[Row]) -> None:
    """Writes the page of the rows."""
    page.prepare()
    table = [
        ["row", "cycles to threads", "to tiles", "by keys", "bytes between boards to threads", "to tiles", "by keys"]
    ]
    for row in rows:
        table.append([row.name, *(f"{row.config[key][way]:,}" for key in ("cycles", "link_bytes") for way in WAYS)])
    words = (
        f"Boards of {rows[0].config['cluster']}, simulated as RTL. Times and bytes are relative to messages to single "
        "threads: above 1 is better. The multicast paper (its Fig. 5, 48 boards, a million vertices) approaches ten "
        "times at fan-out 25 and a hundred at fan-out 100 without locality; here a fan-out of 100 over four boards "
        "could save 25 times the bytes between boards at most. Messages to tiles cross between boards once a tile."
    )
    page.write(path, "Multicast: time and traffic", words, figure(rows), table)


def figure(rows: list[Row]) -> Any:
    """The picture, of matplotlib: a line of charts for time, for bytes on chip, for bytes between boards; DPD."""

    studied = [row for row in rows if "radius" in row.config]
    apps = list(dict.fromkeys(row.config["app"] for row in studied))
    picture = page.figure(12, 9)
    charts = picture.subplots(3, max(len(apps), 1) + 1, squeeze=False)
    measures = {"cycles": "times as fast", "mesh_bytes": "bytes on chip, times fewer",
                "link_bytes": "bytes between boards, times fewer"}  # fmt: skip
    for line, (key, label) in zip(charts, measures.items(), strict=True):
        for axes, app in zip(line, apps, strict=False):
            for fan_out, style in ((25, "o--"), (100, "s-")):
                of = [row for row in studied if (row.config["app"], row.config["fan_out"]) == (app, fan_out)]
                for way in WAYS[1:]:
                    gains = [row.config[key]["none"] / max(row.config[key][way], 1) for row in of]
                    axes.plot([row.config["radius"] for row in of], gains, style, color=_COLOURS[way],
                              label=f"{_SAID[way]}, fan-out {fan_out}")  # fmt: skip
            axes.set(xscale="log", xlabel="radius", ylabel=label, title=app)
            radii = sorted({row.config["radius"] for row in studied})
            axes.set_xticks(radii, [f"{radius:g}" for radius in radii])
            axes.minorticks_off()
            axes.axhline(1, color="#999999", linewidth=0.8)
            axes.grid(alpha=0.3)
        axes = line[-1]
        for app, style in (("dpd", "o-"), ("dpd-gals", "s--")):
            of = [row for row in rows if row.config["app"] == app]
            for way in WAYS:
                axes.plot([row.config["cells"] for row in of], [row.config[key][way] for row in of], style,
                          color=_COLOURS[way], label=f"{app}, {_SAID[way]}")  # fmt: skip
        axes.set(xlabel="cells", ylabel=label.split(",")[0] if key != "cycles" else "cycles", title="DPD")
        axes.grid(alpha=0.3)
    for axes in (charts[0][0], charts[0][-1]):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=6)
    return picture


__all__ = ["NAMES", "draw", "figure", "rows"]
