# SPDX-License-Identifier: Apache-2.0
"""A run of the ``rtl`` engine as an HTML page: figures, maps of tiles and cables coloured by utilization, tables.

The page is a self-contained file without scripts, with inline SVG. Each mark has a tooltip.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gossamer.watch.snapshots import DIRECTIONS, Snapshot, Tile

_SCALE = ((246, 248, 250), (188, 218, 234), (106, 174, 214), (33, 113, 181), (8, 48, 107))
"""Colours from minimum to maximum; they remain distinct in greyscale."""
_KINDS = {
    "runs": ("#2171b5", "an instruction is in the pipeline"),
    "memory": ("#c9772b", "waits for a load or store"),
    "float": ("#7b5aa6", "waits for the FPU or a divide"),
    "receive": ("#4f9d69", "waits for a message"),
    "send": ("#b8433f", "waits to send"),
    "barrier": ("#8c8c8c", "waits for idleness"),
    "other": ("#d0b03f", "waits for something else"),
}
_DOWN = "#b8433f"
_TEXT_TILE = 46
"""Minimum width in pixels of a tile that shows its figures."""


@dataclass(frozen=True)
class Cable:
    """One end of a cable: what board ``board`` sent over its link ``link`` to board ``to``."""

    board: int
    link: str
    to: int
    to_link: str
    counters: Mapping[str, int]
    """Counters of this run (link_counter)."""
    bytes_a_cycle: float
    """Maximum rate of the wire."""
    overhead: int = 0
    """Bytes of a frame that the counters do not include."""


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


def page(about: Page) -> str:
    """The page."""
    snapshot = about.snapshot
    parts = [
        f"<h1>{_e(about.title)}</h1>",
        *(f'<p class="note">{_e(note)}</p>' for note in about.notes),
        _figures(about.figures),
        "<h2>Tiles: instructions a cycle, and flits to neighbours</h2>",
        _legend("instructions a cycle and core", 1.0) + _legend("flits a cycle", 1.0),
        _map(about, _busy),
        "<h2>Tiles: threads by state</h2>",
        _kinds(),
        _map(about, _shares),
    ]
    if about.cables:
        parts += ["<h2>Cables: utilization in each direction</h2>", _legend("bytes", 1.0), _cables(about)]
        parts += ["<h2>Links</h2>", _link_table(about)]
    parts += ["<h2>Table of tiles</h2>", _tile_table(about)]
    if snapshot.tiles and snapshot.tiles[0].samples < 100:
        parts.insert(1, '<p class="note">The run was short, so the shares of thread states are inaccurate.</p>')
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{_e(about.title)}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def ring(boards: int) -> list[tuple[float, float]]:
    """Positions on a circle, for boards without positions; two boards are side by side."""
    if boards <= 2:
        return [(float(b), 0.0) for b in range(boards)]
    radius = max(1.0, boards / 5)
    return [
        (radius * math.sin(2 * math.pi * b / boards), radius * math.cos(2 * math.pi * b / boards))
        for b in range(boards)
    ]


# ---- Words and colours ----

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; color: #1d2733; background: #fff; max-width: 1180px;
  margin: 24px auto; padding: 0 20px; }
h1 { font-size: 22px; margin: 0 0 12px; } h2 { font-size: 16px; margin: 30px 0 8px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th { text-align: right; font-weight: 600; color: #52606d; border-bottom: 1px solid #9fb3c8; padding: 3px 10px; }
td { text-align: right; padding: 2px 10px; border-bottom: 1px solid #e4e9ee; }
th:first-child, td:first-child, .text { text-align: left; }
td:first-child { white-space: nowrap; }
td:last-child.text { color: #52606d; } .note { color: #8a4b08; margin: 4px 0; }
.legend { display: inline-block; margin: 0 28px 6px 0; color: #52606d; font-size: 12px; }
.wide { overflow-x: auto; } svg { display: block; max-width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; }
"""


def _e(text: object) -> str:
    return html.escape(str(text))


def colour(share: float) -> str:
    """The colour of a share from 0 to 1."""
    # Most of a map has low values, so the lower half of the scale has more colours.
    position = min(1.0, max(0.0, share)) ** 0.6 * (len(_SCALE) - 1)
    at = min(int(position), len(_SCALE) - 2)
    part = position - at
    mixed = (round(a + (b - a) * part) for a, b in zip(_SCALE[at], _SCALE[at + 1], strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _ink(share: float) -> str:
    return "#ffffff" if share > 0.4 else "#1d2733"


def _legend(what: str, most: float) -> str:
    steps = 24
    boxes = "".join(
        f'<rect x="{i * 6}" width="6" height="10" fill="{colour((i + 0.5) / steps)}"/>' for i in range(steps)
    )
    return (
        f'<span class="legend">{_e(what)}: 0 <svg width="{steps * 6}" height="10" style="display:inline">{boxes}</svg>'
        f" {most:g}</span>"
    )


def _kinds() -> str:
    return "".join(
        f'<span class="legend"><svg width="10" height="10" style="display:inline"><rect width="10" height="10" '
        f'fill="{shade}"/></svg> {_e(name)}: {_e(doc)}</span>'
        for name, (shade, doc) in _KINDS.items()
    )


def _figures(rows: Sequence[tuple[str, str, str]]) -> str:
    cells = "".join(
        f'<tr><td>{_e(name)}</td><td>{_e(value)}</td><td class="text">{_e(note)}</td></tr>'
        for name, value, note in rows
    )
    return f"<table>{cells}</table>"


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
            drawn.append(
                f'<text x="{left + gap:.1f}" y="{top + 12:.1f}" fill="#52606d">{_e(about.boards[board])}</text>'
            )
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
        f'<rect width="{size:.1f}" height="{size:.1f}" rx="3" fill="{colour(rate)}" stroke="#9fb3c8">'
        f"<title>{_e(title)}</title></rect>"
    )
    if size >= _TEXT_TILE:
        drawn += _text(size / 2, size / 2 - 2, _name(about, number).split(" ")[-1], _ink(rate))
        drawn += _text(size / 2, size / 2 + 12, f"{rate * about.snapshot.cores:.2f}", _ink(rate))
    gap = max(6.0, size / 4)
    for direction, flits in enumerate(tile.flits):
        share = flits / max(1, about.snapshot.cycle)
        if not flits:
            continue
        drawn += (
            f'<path d="{_arrow(direction, size, gap)}" fill="{colour(max(0.06, share))}" stroke="#52606d" '
            f'stroke-width="0.5"><title>tile {_e(_name(about, number))} to {DIRECTIONS[direction]}: '
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
    return f"<g><title>{_e(chr(10).join(lines))}</title>{drawn}</g>"


def _text(x: float, y: float, text: str, fill: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{fill}" pointer-events="none">{_e(text)}</text>'


# ---- Cables ----


def _share(about: Page, cable: Cable) -> float:
    sent = cable.counters["tx_bytes"] + cable.overhead * cable.counters["tx_frames"]
    return sent / max(1.0, about.snapshot.cycle * cable.bytes_a_cycle)


def _cables(about: Page) -> str:
    xs, ys = [x for x, _ in about.places], [y for _, y in about.places]
    step = max(70.0, min(210.0, 1000 / (max(xs) - min(xs) + 1)))
    spots = [((x - min(xs) + 0.5) * step, (max(ys) - y + 0.5) * step) for x, y in about.places]
    drawn, seen_pairs = [], dict[tuple[int, int], int]()
    cables_of = Counter((cable.board, cable.to) for cable in about.cables)
    for cable in about.cables:
        number = seen_pairs[cable.board, cable.to] = seen_pairs.get((cable.board, cable.to), -1) + 1
        (ax, ay), (bx, by) = spots[cable.board], spots[cable.to]
        length = math.hypot(bx - ax, by - ay) or 1.0
        ux, uy = (bx - ax) / length, (by - ay) / length
        # Each direction on its own side; further cables of the same boards further out; wraparound cables are bowed.
        out = 5 + 11 * number
        bow = 0.16 * length if length > 1.6 * step else 0.0
        share, resent = _share(about, cable), cable.counters["resends"]
        points = [ax + ux * 22 - uy * out, ay + uy * 22 + ux * out, bx - ux * 22 - uy * out, by - uy * 22 + ux * out]
        middle = (points[0] + points[2]) / 2 - uy * bow, (points[1] + points[3]) / 2 + ux * bow
        sent = f"{cable.counters['tx_packets']:,} packets, {resent:,} frames resent"
        title = f"{_end(about, cable)}: {share:.1%} of the rate, {sent}"
        up = cable.counters.get("state", 1) & 1
        curve = (points[:2], middle, points[2:])
        ends = [f"{x:.1f} {y:.1f}" for x, y in curve]
        line = f'<path d="M{ends[0]} Q{ends[1]} {ends[2]}" fill="none"'
        dashes = "" if up else ' stroke-dasharray="5 4"'
        drawn.append(
            f'{line} stroke="#52606d" stroke-width="7"/>{line} stroke-width="6" '
            f'stroke="{colour(max(0.06, share)) if up else _DOWN}"{dashes}><title>{_e(title)}</title></path>'
        )
        if step >= 120:
            # Figures of parallel cables are placed one after the other along them, outside all cables.
            t = 0.5 + (number + 1) // 2 * (0.24 if number % 2 else -0.24)
            parts = (1 - t) ** 2, 2 * t * (1 - t), t**2
            at = [sum(part * spot[i] for part, spot in zip(parts, curve, strict=True)) for i in range(2)]
            away = 11.0 * (cables_of[cable.board, cable.to] - number) + 4
            label = f"{share:.0%}" if up else "down"
            drawn.append(_text(at[0] - uy * away * 1.4, at[1] + ux * away + 4, label, "#1d2733"))
    for board, (x, y) in enumerate(spots):
        drawn.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="21" fill="#fff" stroke="#52606d"/>')
        drawn.append(_text(x, y + 4, about.boards[board], "#1d2733"))
    width, height = (max(xs) - min(xs) + 1) * step, (max(ys) - min(ys) + 1) * step
    return (
        f'<div class="wide"><svg width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}">{"".join(drawn)}</svg></div>'
    )


def _end(about: Page, cable: Cable) -> str:
    return f"{about.boards[cable.board]}:{cable.link} to {about.boards[cable.to]}:{cable.to_link}"


# ---- Tables ----


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{_e(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{_e(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _link_table(about: Page) -> str:
    rows = []
    for cable in sorted(about.cables, key=lambda one: -_share(about, one)):
        its = cable.counters
        counts = [f"{its[name]:,}" for name in ("tx_packets", "tx_bytes", "resends", "damaged", "dropped", "stalls")]
        up = "up" if its.get("state", 1) & 1 else "down"
        rows.append([_end(about, cable), up, f"{_share(about, cable):.1%}", *counts])
    return _table(
        ["link", "", "used", "packets", "bytes", "resent", "damaged", "dropped", "cycles without credit"], rows
    )


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
    return _table(heads, rows)


__all__ = ["Cable", "Page", "colour", "page", "ring"]
