# SPDX-License-Identifier: Apache-2.0
"""The cables of a cluster in an HTML page: a map coloured by utilization, and a table of the links."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gossamer.watch import _html

if TYPE_CHECKING:
    from gossamer.engines._rtl_plan import Plan

_DOWN = "#b8433f"
_COUNTED = {
    "tx_packets": "packets", "tx_bytes": "bytes", "resends": "resent", "damaged": "damaged", "dropped": "dropped",
    "stalls": "cycles without credit",
}  # fmt: skip
"""Columns of the table of links, by counter of a board."""
_PREDICTED = {"messages": "messages", "message_flits": "flits of messages"}
"""The same for the engine ``model``, which predicts no other counters."""
_LEAST_SCALE = 11 / 17
"""Scale below which text is too small to read."""


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
    used: float | None = None
    """Share of the rate that was used; None: from the counters."""


@dataclass(frozen=True)
class Wiring:
    """Boards and the cables between them."""

    cables: Sequence[Cable]
    boards: Sequence[str]
    places: Sequence[tuple[float, float]]
    """Positions of boards, in units of boards, y upwards."""
    cycles: int
    """Of the run."""
    timed: bool = True
    """Whether the counters are those of these cycles, so that shares of rates are known."""

    @classmethod
    def of(cls, plan: Plan, links: Mapping[tuple[int, int], Mapping[str, int]], cycles: int) -> Wiring:
        """The wiring of a cluster, with counters of its links by board and link."""
        config, names = plan.config, [board.name for board in plan.cluster.boards]
        known = [(board.x, board.y) for board in plan.cluster.boards]
        places = [(float(x), float(y or 0)) for x, y in known if x is not None]
        rate = config.links.rate_mbps / 8 / config.board.clock_mhz
        cables = []
        for board, link, far, far_link, _ in plan.wires({}):
            counters = links.get((board, link))
            if counters is not None:
                ends = plan.links_of(board)[link], far, plan.links_of(far)[far_link]
                cables.append(Cable(board, *ends, counters, rate, config.links.overhead_bytes))
        return cls(cables, names, places if len(places) == len(names) else ring(len(names)), cycles)


def of_statistics(data: Mapping[str, Any]) -> Wiring:
    """The wiring in a file of statistics."""
    places = data.get("board_places") or []
    number = {board["name"]: at for at, board in enumerate(places)}
    cables = []
    for one in data.get("by_link") or ():
        if one.get("to") in number and one["board"] in number:
            counters = {name: value for name, value in one.items() if isinstance(value, int)}
            ends = number[one["board"]], one["link"], number[one["to"]], one["to_link"]
            cables.append(Cable(*ends, counters, 1.0, used=one.get("used")))
    timed = all(cable.used is not None for cable in cables)
    spots = [(board["x"], board["y"]) for board in places]
    return Wiring(cables, list(number), spots, data.get("cycles") or 0, timed)


def ring(boards: int) -> list[tuple[float, float]]:
    """Positions on a circle, for boards without positions; two boards are side by side."""
    if boards <= 2:
        return [(float(b), 0.0) for b in range(boards)]
    radius = max(1.0, boards / 5)
    return [
        (radius * math.sin(2 * math.pi * b / boards), radius * math.cos(2 * math.pi * b / boards))
        for b in range(boards)
    ]


def share(about: Wiring, cable: Cable) -> float:
    """Share of the rate of a cable that was used."""
    if cable.used is not None:
        return cable.used
    sent = cable.counters["tx_bytes"] + cable.overhead * cable.counters["tx_frames"]
    return sent / max(1.0, about.cycles * cable.bytes_a_cycle)


def picture(about: Wiring, pixels: float = 1230.0) -> str:
    """All boards at their positions, with their cables, coloured by utilization in each direction, in a place of some
    pixels. Text that would be too small to read is omitted."""
    xs, ys = [x for x, _ in about.places], [y for _, y in about.places]
    step = max(84.0, min(260.0, 1500 / (max(xs) - min(xs) + 1)))
    spots = [((x - min(xs) + 0.5) * step, (max(ys) - y + 0.5) * step) for x, y in about.places]
    reads = pixels / (step * (max(xs) - min(xs) + 1)) >= _LEAST_SCALE
    drawn, seen_pairs = [], dict[tuple[int, int], int]()
    cables_of = Counter((cable.board, cable.to) for cable in about.cables)
    for cable in about.cables:
        number = seen_pairs[cable.board, cable.to] = seen_pairs.get((cable.board, cable.to), -1) + 1
        (ax, ay), (bx, by) = spots[cable.board], spots[cable.to]
        length = math.hypot(bx - ax, by - ay) or 1.0
        ux, uy = (bx - ax) / length, (by - ay) / length
        # Each direction on its own side; further cables of the same boards further out; wraparound cables are bowed.
        out = 6 + 13 * number
        bow = 0.16 * length if length > 1.6 * step else 0.0
        used, resent = share(about, cable), cable.counters["resends"]
        points = [ax + ux * 28 - uy * out, ay + uy * 28 + ux * out, bx - ux * 28 - uy * out, by - uy * 28 + ux * out]
        middle = (points[0] + points[2]) / 2 - uy * bow, (points[1] + points[3]) / 2 + ux * bow
        sent = f"{cable.counters['tx_packets']:,} packets, {resent:,} frames resent"
        title = f"{_end(about, cable)}: {used:.1%} of the rate, {sent}"
        up = cable.counters.get("state", 1) & 1
        curve = (points[:2], middle, points[2:])
        ends = [f"{x:.1f} {y:.1f}" for x, y in curve]
        line = f'<path d="M{ends[0]} Q{ends[1]} {ends[2]}" fill="none"'
        dashes = "" if up else ' stroke-dasharray="5 4"'
        shade = f'class="l{_html.step(max(0.06, used))}"' if up else f'stroke="{_DOWN}"'
        drawn.append(
            f'{line} class="edge" stroke-width="9"/>{line} stroke-width="7" {shade}{dashes}>'
            f"<title>{_html.escape(title)}</title></path>"
        )
        if step >= 120 and reads:
            # Figures of parallel cables are placed one after the other along them, outside all cables.
            t = 0.5 + (number + 1) // 2 * (0.24 if number % 2 else -0.24)
            parts = (1 - t) ** 2, 2 * t * (1 - t), t**2
            at = [sum(part * spot[i] for part, spot in zip(parts, curve, strict=True)) for i in range(2)]
            away = 13.0 * (cables_of[cable.board, cable.to] - number) + 4
            label = f"{used:.0%}" if up else "down"
            drawn.append(_html.text(at[0] - uy * away * 1.4, at[1] + ux * away + 4, label))
    for board, (x, y) in enumerate(spots):
        drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="27" class="board">'
            f"<title>{_html.escape(about.boards[board])}</title></circle>"
        )
        if reads:
            name = about.boards[board]
            drawn.append(_html.text(x, y + 6, name if len(name) <= 5 else f"…{name[-4:]}"))
    width, height = (max(xs) - min(xs) + 1) * step, (max(ys) - min(ys) + 1) * step
    return _html.svg(width, height, drawn, width * 1.4)


def _end(about: Wiring, cable: Cable) -> str:
    return f"{about.boards[cable.board]}:{cable.link} to {about.boards[cable.to]}:{cable.to_link}"


def table(about: Wiring) -> str:
    """A table of the links, the busiest first."""
    columns = _COUNTED if all("tx_packets" in one.counters for one in about.cables) else _PREDICTED
    most = next(iter(columns))
    rows = []
    for cable in sorted(about.cables, key=lambda one: -(share(about, one) if about.timed else one.counters[most])):
        its = cable.counters
        counts = [f"{its[name]:,}" for name in columns]
        up = "up" if its.get("state", 1) & 1 else "down"
        used = [f"{share(about, cable):.1%}"] if about.timed else []
        rows.append([_end(about, cable), up, *used, *counts])
    heads = ["link", "", *(["used"] if about.timed else [])]
    heads += columns.values()
    return _html.table(heads, rows)


def sections(about: Wiring) -> list[str]:
    """The sections about cables of a page."""
    if any("tx_packets" not in one.counters for one in about.cables):
        return ["<h2>Links</h2>", table(about)]
    if not about.timed:
        note = "The counters include packets of the host that surround the run, and idle frames of that time."
        return ["<h2>Links</h2>", f"<p>{note}</p>", table(about)]
    return [
        "<h2>Cables: utilization in each direction</h2>",
        _html.legend("share of the rate", 100, "%"),
        picture(about),
        "<h2>Links</h2>",
        table(about),
    ]


__all__ = ["Cable", "Wiring", "of_statistics", "picture", "ring", "sections", "share"]
