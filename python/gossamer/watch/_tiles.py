# SPDX-License-Identifier: Apache-2.0
"""Maps of the tiles of boards, coloured by utilization or divided by the states of threads, and their table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gossamer.watch import _html
from gossamer.watch.snapshots import DIRECTIONS

KINDS = {
    "runs": ("#2171b5", "an instruction is in the pipeline"),
    "memory": ("#c9772b", "waits for a load or store"),
    "float": ("#7b5aa6", "waits for the FPU or a divide"),
    "receive": ("#4f9d69", "waits for a message"),
    "send": ("#b8433f", "waits to send"),
    "barrier": ("#8c8c8c", "waits for idleness"),
    "other": ("#b08f1e", "waits for something else"),
}
_TILE, _GAP = 104.0, 26.0
_LEAST_LETTER = 11.0 / 17
"""Scale below which the text of a tile is too small to read."""


@dataclass(frozen=True)
class Board:
    """A board with its tiles."""

    name: str
    x: float
    y: float
    tiles: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Machine:
    """The tiles in a file of statistics."""

    boards: Sequence[Board]
    columns: int
    rows: int
    cores: float
    """Of a tile."""
    cycles: int

    def label(self, board: Board, tile: Mapping[str, Any]) -> str:
        """The name of a tile."""
        place = "{},{}".format(*tile["tile"])
        return f"{board.name} {place}" if len(self.boards) > 1 else place

    def rate(self, tile: Mapping[str, Any]) -> float:
        """Instructions a cycle and core of a tile, from 0 to 1."""
        return float(tile.get("instructions", 0) / max(1, self.cycles) / self.cores)


def of_statistics(data: Mapping[str, Any]) -> Machine:
    """The tiles of a file of statistics."""
    tiles = data["by_tile"]
    places = data.get("board_places") or [{"name": tiles[0].get("board") or "board", "x": 0.0, "y": 0.0}]
    several = len(places) > 1
    boards = [
        Board(one["name"], one["x"], one["y"], [t for t in tiles if not several or t.get("board") == one["name"]])
        for one in places
    ]
    columns = max(tile["tile"][0] for tile in tiles) + 1
    rows = max(tile["tile"][1] for tile in tiles) + 1
    return Machine(boards, columns, rows, data["cores"] / data["tiles"], data["cycles"])


Drawn = Callable[[Machine, Board, Mapping[str, Any], bool], str]
"""Draws a tile; the last argument: whether its text is large enough to read."""


def is_readable(machine: Machine, pixels: float) -> bool:
    """Whether the text of tiles is large enough to read in a place of some pixels."""
    xs = [one.x for one in machine.boards]
    width = (max(xs) - min(xs) + 1) * (machine.columns * (_TILE + _GAP) + _GAP + 6)
    return min(1.3, pixels / width) >= _LEAST_LETTER


def picture(machine: Machine, draw: Drawn, pixels: float) -> str:
    """All boards at their positions, with their tiles, the first tile at the south-west, in a place of some pixels."""
    gap, step = _GAP, _TILE + _GAP
    several = len(machine.boards) > 1
    label = 26 if several else 0
    wide, high = machine.columns * step + gap + 6, machine.rows * step + gap + label + 6
    xs, ys = [one.x for one in machine.boards], [one.y for one in machine.boards]
    width, height = (max(xs) - min(xs) + 1) * wide, (max(ys) - min(ys) + 1) * high
    reads = is_readable(machine, pixels)
    drawn = []
    for board in machine.boards:
        left, top = (board.x - min(xs)) * wide, (max(ys) - board.y) * high
        if several:
            if reads:
                drawn.append(_html.text(left + gap, top + 20, board.name, "soft", "start"))
            drawn.append(
                f'<rect x="{left + 3:.1f}" y="{top + label:.1f}" width="{wide - 6:.1f}" '
                f'height="{high - label - 6:.1f}" class="axis" rx="6"/>'
            )
        for tile in board.tiles:
            x, y = tile["tile"]
            at = left + gap + x * step, top + label + gap + (machine.rows - 1 - y) * step
            drawn.append(f'<g transform="translate({at[0]:.1f} {at[1]:.1f})">{draw(machine, board, tile, reads)}</g>')
    return _html.svg(width, height, drawn, width * 1.3)


def busy(machine: Machine, board: Board, tile: Mapping[str, Any], reads: bool) -> str:
    """A tile coloured by instructions a cycle and core, with an arrow to each neighbour."""
    rate = machine.rate(tile)
    said = (
        f"tile {machine.label(board, tile)}: {rate:.3f} instructions a cycle and core, "
        f"{rate * machine.cores:.3f} of its {machine.cores:g} cores together"
    )
    drawn = (
        f'<rect width="{_TILE}" height="{_TILE}" rx="5" class="s{_html.step(rate)} frame">'
        f"<title>{_html.escape(said)}</title></rect>"
    )
    if reads:
        ink = f"t{_html.step(rate)}"
        drawn += _html.text(_TILE / 2, _TILE / 2 - 6, "{},{}".format(*tile["tile"]), ink)
        drawn += _html.text(_TILE / 2, _TILE / 2 + 18, f"{rate:.2f}", f"{ink} rate")
    for direction, name in enumerate(DIRECTIONS):
        flits = (tile.get("flits") or {}).get(name, 0)
        if not flits:
            continue
        share = flits / max(1, machine.cycles)
        said = f"tile {machine.label(board, tile)} to {name}: {flits:,} flits, {share:.3f} a cycle"
        drawn += (
            f'<path d="{_arrow(direction, _TILE, 26.0)}" class="s{_html.step(max(0.06, share))} frame">'
            f"<title>{_html.escape(said)}</title></path>"
        )
    return drawn


def _arrow(direction: int, size: float, gap: float) -> str:
    """An arrow from a side of the tile into the gap, next to the arrow of the opposite direction."""
    half, width = size / 2, gap * 0.42
    along = [(0.0, -width), (gap * 0.55, -width), (gap * 0.55, -width * 1.6), (gap * 0.95, 0.0)]
    along += [(gap * 0.55, width * 1.6), (gap * 0.55, width), (0.0, width)]
    shift = size * 0.17
    points = {
        0: [(half + shift + b * 0.5, -a) for a, b in along],
        1: [(half - shift + b * 0.5, size + a) for a, b in along],
        2: [(size + a, half + shift + b * 0.5) for a, b in along],
        3: [(-a, half - shift + b * 0.5) for a, b in along],
    }[direction]
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points) + " Z"


def states(machine: Machine, board: Board, tile: Mapping[str, Any], reads: bool) -> str:
    """Stacked bars of threads by state, as shares of all threads that the fullest tile has."""
    means = tile.get("states") or {}
    threads = max((sum((t.get("states") or {}).values()) for b in machine.boards for t in b.tiles), default=0) or 1.0
    drawn = f'<rect width="{_TILE}" height="{_TILE}" class="ground frame"/>'
    top = _TILE
    said = [f"tile {machine.label(board, tile)}, threads on average:"]
    for name, (shade, _) in KINDS.items():
        mean = means.get(name, 0.0)
        said.append(f"{mean:.2f} {name}")
        height = _TILE * mean / threads
        if height > 0:
            top -= height
            drawn += f'<rect y="{top:.2f}" width="{_TILE}" height="{height:.2f}" fill="{shade}"/>'
    return f"<g><title>{_html.escape(chr(10).join(said))}</title>{drawn}</g>"


def table(machine: Machine) -> str:
    """A row for each tile."""
    heads = ["tile", "instructions a cycle and core", "run", *(f"wait: {name}" for name in list(KINDS)[1:])]
    heads += ["sent", "received", *(f"flits {name}" for name in DIRECTIONS)]
    rows = []
    for board in machine.boards:
        for tile in board.tiles:
            means, flits = tile.get("states"), tile.get("flits")
            row = [machine.label(board, tile), f"{machine.rate(tile):.3f}"]
            row += [f"{means.get(name, 0):.2f}" if means else "-" for name in KINDS]
            row += [f"{tile.get(name, 0):,}" for name in ("sent", "received")]
            row += [f"{flits[name]:,}" if flits else "-" for name in DIRECTIONS]
            rows.append(row)
    return _html.table(heads, rows)


__all__ = ["KINDS", "Machine", "busy", "is_readable", "of_statistics", "picture", "states", "table"]
