# SPDX-License-Identifier: Apache-2.0
"""A picture of routes: the boards with their cables coloured by load, and histograms of load and hops."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gossamer_setup
from gossamer.files import write_whole
from gossamer.routes._generate import Routes
from gossamer.routes._measure import Figures
from gossamer.routes._topology import up_cables

_NAMED_INSIDE = 16
"""Boards whose names the picture has inside their symbols."""


_FEW = 6
"""Bars of a histogram that has space for more."""


def plot(routes: Routes, figures: Figures, path: Path) -> None:
    """Writes a PNG. Installs the group plot if it is missing."""
    gossamer_setup.require("core", "plot")
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplot_mosaic(
        [["map", "load"], ["map", "hops"]], figsize=(13, 7.5), width_ratios=[1.7, 1], layout="constrained"
    )
    _map(figure, axes["map"], routes, figures)
    _bars(axes["load"], axes["hops"], figures)
    buffer = io.BytesIO()
    # Omit the library's version, so that equal routes produce equal files.
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    write_whole(path, buffer.getvalue())


def _drawable(name: str) -> str:
    """A name that fonts can draw: a file's name may have bytes that are no text."""
    return name.encode("utf-8", "replace").decode()


def _map(figure: Any, axes: Any, routes: Routes, figures: Figures) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    cluster = routes.topology.cluster
    places = _places(routes)
    up = up_cables(routes.topology)
    ends = [(cluster.cables[number].a, cluster.cables[number].b) for number in up]
    # All distances of the picture are relative to the shortest cable.
    unit = min((float(np.hypot(*(places[b] - places[a]))) for a, b in ends), default=1.0) or 1.0
    offsets = [unit * offset for offset in _offsets(ends)]
    lines = []
    for (a, b), offset in zip(ends, offsets, strict=True):
        along = places[b] - places[a]
        length = float(np.hypot(*along)) or 1.0
        across = np.array([-along[1], along[0]]) / length
        # Wraparound cables are bowed, so that they do not hide the boards that they pass.
        bow = 0.12 * length if length > 1.6 * unit and cluster.boards[a].x is not None else 0.0
        steps = np.linspace(0, 1, 12 if bow else 2)[:, None]
        middle = across[None, :] * (4 * bow * steps * (1 - steps) + offset)
        lines.append(places[a] + along[None, :] * steps + middle)
    busy = figures.load[up].max(axis=1) if up else np.zeros(0)
    drawn = LineCollection(lines, array=busy, cmap="viridis_r", linewidths=max(0.6, 3 - len(ends) / 60), zorder=1)
    drawn.set_clim(0, max(1, figures.load_max))
    axes.add_collection(drawn)
    down = sorted(routes.topology.down_boards)
    alive = [board.index for board in cluster.boards if board.index not in routes.topology.down_boards]
    # Few boards have space for their names; many have it only around them.
    inside = len(places) <= _NAMED_INSIDE
    size = 1500.0 if inside else max(6.0, min(200.0, 9000 / max(1, len(places))))
    axes.scatter(*places[alive].T, s=size, color="white", edgecolors="#333333", zorder=2)
    if down:
        axes.scatter(*places[down].T, s=size, color="#cc3333", marker="X", zorder=2, label="down")
        axes.legend(loc="upper right")
    if len(places) <= 64:
        for board in cluster.boards:
            # A white edge around the letters, over the cables that they cross.
            axes.annotate(
                board.name, places[board.index], (0, 0) if inside else (0.4 * np.sqrt(size), -0.4 * np.sqrt(size)),
                textcoords="offset points", ha="center" if inside else "left",
                va="center" if inside else "top", fontsize=9 if inside else 7,
                path_effects=[withStroke(linewidth=3, foreground="white")], zorder=3,
            )  # fmt: skip
    axes.set_title(
        f"{_drawable(cluster.name)}: {figures.boards} boards, {figures.cables} cables; {routes.tables.method}, "
        f"{routes.tables.vcs} virtual channels", fontsize=11,
    )  # fmt: skip
    axes.set_aspect("equal", adjustable="box")
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    half = max(unit, *(places.max(axis=0) - places.min(axis=0)) / 2 + 0.5 * unit)
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.axis("off")
    figure.colorbar(drawn, ax=axes, orientation="horizontal", shrink=0.6, label="routes over the busier direction")


def _bars(load: Any, hops: Any, figures: Figures) -> None:
    from matplotlib.ticker import MaxNLocator

    histogram = figures.load_histogram(20)
    starts = [a for a, _, _ in histogram]
    width = histogram[0][1] - histogram[0][0] + 1 if histogram else 1
    load.bar(starts, [count for _, _, count in histogram], width=0.9 * width, align="edge", color="#3b6ea5")
    if len(starts) < _FEW:  # bars, not one block
        load.set_xlim(starts[0] - width * (_FEW - len(starts)) / 2, starts[-1] + width * (1 + (_FEW - len(starts)) / 2))
    load.axvline(figures.load_mean, color="#cc3333", linewidth=1, label=f"mean {figures.load_mean:.1f}")
    load.set_title(f"load of a link: mean {figures.load_mean:.1f}, max {figures.load_max}", fontsize=10)
    load.set_xlabel("routes over a direction of a cable")
    load.set_ylabel("directions")
    load.legend()
    shortest = "all" if figures.minimal == 1 else f"{min(figures.minimal, 0.9999):.2%} of"
    hops.bar(range(len(figures.hops_histogram)), figures.hops_histogram, color="#5a9367")
    hops.set_xlim(-0.6, max(_FEW, len(figures.hops_histogram)) - 0.4)
    hops.set_title(
        f"hops: mean {figures.hops_mean:.2f}, max {figures.hops_max}; {shortest} routes are shortest",
        fontsize=10,
    )
    for axes in (load, hops):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    hops.set_xlabel("hops")
    hops.set_ylabel("routes")


def _offsets(ends: list[tuple[int, int]]) -> list[float]:
    """The sideways offset of each cable, which keeps parallel cables apart."""
    total: dict[frozenset[int], int] = {}
    for pair in ends:
        total[frozenset(pair)] = total.get(frozenset(pair), 0) + 1
    seen: dict[frozenset[int], int] = {}
    found = []
    for pair in ends:
        key = frozenset(pair)
        number = seen.get(key, 0)
        seen[key] = number + 1
        side = 1.0 if pair[0] < pair[1] else -1.0
        found.append(side * 0.09 * (number - (total[key] - 1) / 2))
    return found


def _places(routes: Routes) -> NDArray[np.float64]:
    """[board, 2]: positions; grids as declared, rings on a circle, other wirings by classical scaling of distances."""
    cluster = routes.topology.cluster
    count = len(cluster.boards)
    if cluster.topology.startswith("ring"):
        angle = 2 * np.pi * np.arange(count) / max(1, count)
        return np.stack([np.sin(angle), np.cos(angle)], axis=1) * max(1.0, count / 6)
    spots = [(board.x, board.y) for board in cluster.boards]
    if all(x is not None and y is not None for x, y in spots):
        return np.array(spots, dtype=np.float64)
    near = np.maximum(routes.shortest, 0).astype(np.float64) ** 2
    centred = -0.5 * (near - near.mean(axis=0)[None, :] - near.mean(axis=1)[:, None] + near.mean())
    values, vectors = np.linalg.eigh(centred)
    places: NDArray[np.float64] = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))[None, :]
    # Boards at the same position (in symmetrical wirings) are separated by a small deterministic offset.
    spread = 2.399963 * np.arange(count)
    span = float(np.abs(places).max(initial=0.0)) or 1.0
    apart: NDArray[np.float64] = 0.06 * span * np.stack([np.cos(spread), np.sin(spread)], axis=1)
    return places + apart
