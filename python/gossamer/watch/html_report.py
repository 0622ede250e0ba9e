# SPDX-License-Identifier: Apache-2.0
"""A run of the ``rtl`` engine as an HTML page: figures, maps of tiles and cables coloured by utilization, tables.

The page is a self-contained file without scripts, with inline SVG. Each mark has a tooltip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gossamer.watch import _html
from gossamer.watch import cables as cable_parts
from gossamer.watch._html import colour
from gossamer.watch.cables import Cable, Wiring, ring
from gossamer.watch.snapshots import DIRECTIONS, Snapshot, Tile

_KINDS = {
    "runs": ("#2171b5", "an instruction is in the pipeline"),
    "memory": ("#c9772b", "waits for a load or store"),
    "float": ("#7b5aa6", "waits for the FPU or a divide"),
    "receive": ("#4f9d69", "waits for a message"),
    "send": ("#b8433f", "waits to send"),
    "barrier": ("#8c8c8c", "waits for idleness"),
    "other": ("#d0b03f", "waits for something else"),
}
_TEXT_TILE = 46
"""Minimum width in pixels of a tile that shows its figures."""


@dataclass(frozen=True)
class Page:
    """The content of a page."""

    title: str
    figures: Sequence[tuple[str, str, str]]
    """Name, value, note."""
    snapshot: Snapshot
    counters: Sequence[Mapping[str, int]]
    """The counters of each tile."""
    cables: Sequence[Cable] = ()
    boards: Sequence[str] = ("board",)
    places: Sequence[tuple[float, float]] = ((0.0, 0.0),)
    """Positions of boards, in units of boards, y upwards."""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def wiring(self) -> Wiring:
        """The cables."""
        return Wiring(self.cables, self.boards, self.places, self.snapshot.cycle)


def page(about: Page) -> str:
    """The page."""
    snapshot = about.snapshot
    parts = [
        f"<h1>{_html.escape(about.title)}</h1>",
        *(f'<p class="note">{_html.escape(note)}</p>' for note in about.notes),
        _html.figures(about.figures),
        "<h2>Tiles: instructions a cycle, and flits to neighbours</h2>",
        _html.legend("instructions a cycle and core", 1.0) + _html.legend("flits a cycle", 1.0),
        _map(about, _busy),
        "<h2>Tiles: threads by state</h2>",
        _html.kinds(_KINDS),
        _map(about, _shares),
    ]
    if about.cables:
        parts += cable_parts.sections(about.wiring)
    parts += ["<h2>Table of tiles</h2>", _tile_table(about)]
    if snapshot.tiles and snapshot.tiles[0].samples < 100:
        parts.insert(1, '<p class="note">The run was short, so the shares of thread states are inaccurate.</p>')
    return _html.document(about.title, parts)


# ---- Maps of tiles ----

Drawn = Callable[[Page, int, float], str]
"""Draws a tile: page, number of the tile, width."""


def _map(about: Page, draw: Drawn) -> str:
    """All boards at their positions, with their tiles, the first tile at the south-west."""
    snapshot = about.snapshot
    columns, rows = snapshot.width, snapshot.board_tiles // snapshot.width
    xs, ys = [x for x, _ in about.places], [y for _, y in about.places]
    across = (max(xs) - min(xs) + 1) * columns
    tile = max(18.0, min(96.0, 1080 / across - 14))
    gap = max(6.0, tile / 4) if any(one.flits for one in snapshot.tiles) else 4.0
    step = tile + gap
    label = 16 if snapshot.boards > 1 else 0
    wide, high = columns * step + gap + 4, rows * step + gap + label + 4
    drawn = []
    for board, (x, y) in enumerate(about.places):
        left, top = (x - min(xs)) * wide, (max(ys) - y) * high
        if snapshot.boards > 1:
            label_at = f'x="{left + gap:.1f}" y="{top + 12:.1f}" fill="#52606d"'
            drawn.append(f"<text {label_at}>{_html.escape(about.boards[board])}</text>")
            drawn.append(
                f'<rect x="{left + 2:.1f}" y="{top + label:.1f}" width="{wide - 4:.1f}" '
                f'height="{high - label - 4:.1f}" fill="none" stroke="#d5dde5" rx="4"/>'
            )
        for here in range(snapshot.board_tiles):
            place = left + gap + here % columns * step, top + label + gap + (rows - 1 - here // columns) * step
            drawn.append(
                f'<g transform="translate({place[0]:.1f} {place[1]:.1f})">'
                f"{draw(about, board * snapshot.board_tiles + here, tile)}</g>"
            )
    width, height = (max(xs) - min(xs) + 1) * wide, (max(ys) - min(ys) + 1) * high
    return (
        f'<div class="wide"><svg width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">{"".join(drawn)}</svg></div>'
    )


def _name(about: Page, number: int) -> str:
    board, x, y = about.snapshot.place(number)
    return f"{about.boards[board]} {x},{y}" if about.snapshot.boards > 1 else f"{x},{y}"


def _rate(about: Page, tile: Tile) -> float:
    """Instructions per cycle and core."""
    return tile.instructions / max(1, about.snapshot.cycle) / about.snapshot.cores


def _busy(about: Page, number: int, size: float) -> str:
    tile = about.snapshot.tiles[number]
    rate = _rate(about, tile)
    title = f"tile {_name(about, number)}: {rate * about.snapshot.cores:.3f} instructions a cycle"
    drawn = (
        f'<rect width="{size:.1f}" height="{size:.1f}" rx="3" fill="{_html.colour(rate)}" stroke="#9fb3c8">'
        f"<title>{_html.escape(title)}</title></rect>"
    )
    if size >= _TEXT_TILE:
        drawn += _html.text(size / 2, size / 2 - 2, _name(about, number).split(" ")[-1], _html.ink(rate))
        drawn += _html.text(size / 2, size / 2 + 12, f"{rate * about.snapshot.cores:.2f}", _html.ink(rate))
    gap = max(6.0, size / 4)
    for direction, flits in enumerate(tile.flits):
        share = flits / max(1, about.snapshot.cycle)
        if not flits:
            continue
        drawn += (
            f'<path d="{_arrow(direction, size, gap)}" fill="{_html.colour(max(0.06, share))}" stroke="#52606d" '
            f'stroke-width="0.5"><title>tile {_html.escape(_name(about, number))} to {DIRECTIONS[direction]}: '
            f"{flits:,} flits, {share:.3f} a cycle</title></path>"
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


def _shares(about: Page, number: int, size: float) -> str:
    """Stacked bars of threads by state, as shares of all threads of the tile."""
    tile, threads = about.snapshot.tiles[number], about.snapshot.threads
    drawn = f'<rect width="{size:.1f}" height="{size:.1f}" fill="#f6f8fa" stroke="#9fb3c8"/>'
    top = size
    lines = [f"tile {_name(about, number)}, of {threads} threads on average:"]
    for name, (shade, _) in _KINDS.items():
        mean = tile.threads(name)
        lines.append(f"{mean:.2f} {name}")
        height = size * mean / threads
        if height <= 0:
            continue
        top -= height
        drawn += f'<rect y="{top:.2f}" width="{size:.1f}" height="{height:.2f}" fill="{shade}"/>'
    return f"<g><title>{_html.escape(chr(10).join(lines))}</title>{drawn}</g>"


# ---- Tables ----


def _tile_table(about: Page) -> str:
    heads = ["tile", "instructions a cycle", "run", *(f"wait: {name}" for name in list(_KINDS)[1:])]
    heads += ["sent", "received", *(f"flits {name}" for name in DIRECTIONS)]
    rows = []
    for number, tile in enumerate(about.snapshot.tiles):
        counters = about.counters[number] if number < len(about.counters) else {}
        row = [_name(about, number), f"{_rate(about, tile) * about.snapshot.cores:.3f}"]
        row += [f"{tile.threads(name):.2f}" for name in _KINDS]
        row += [f"{counters.get(name, 0):,}" for name in ("sent", "received")]
        row += [f"{tile.flits[d]:,}" if tile.flits else "-" for d in range(len(DIRECTIONS))]
        rows.append(row)
    return _html.table(heads, rows)


__all__ = ["Cable", "Page", "colour", "page", "ring"]
