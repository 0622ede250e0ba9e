# SPDX-License-Identifier: Apache-2.0
"""A run of a streaming program on boards as an HTML page: kernels and their waits, channels, collectives, cables.

The page is a self-contained file without scripts, with inline SVG. Each mark has a tooltip.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gossamer.watch import _html, cables
from gossamer.watch.streams import Activity, Channel, Collective, Kernel

_KINDS = {
    "runs": ("#2171b5", "computes, or uses a channel each cycle"),
    "push": ("#b8433f", "a push waits: the queue to the port is full"),
    "pop": ("#4f9d69", "a pop waits: no element has arrived"),
    "collective": ("#7b5aa6", "a call of a collective waits"),
    "barrier": ("#8c8c8c", "waits in a barrier"),
    "write": ("#e08e79", "a write waits: the channel of the rank is full"),
    "read": ("#a3c9a8", "a read waits: the channel of the rank is empty"),
    "memory": ("#c9772b", "waits for a DRAM bank"),
    "other": ("#d0b03f", "waits for the end of a kernel, or of the run"),
}
_MOST_ROWS, _MOST_PLACES = 64, 40
"""Rows of a time line, and of the table of calls."""
_WIDTH, _NAME, _ROW = 900, 210, 16
"""Pixels of a time line, of the names of its rows, of a row's height."""


@dataclass(frozen=True)
class Page:
    """The content of a page."""

    title: str
    command: str
    """The command that repeats the run."""
    figures: Sequence[tuple[str, str, str]]
    """Name, value, note."""
    activity: Activity
    wiring: cables.Wiring
    links: Mapping[tuple[int, int], tuple[str, float]] = field(default_factory=dict)
    """By board and link: its name, and bytes that it can send in a cycle."""
    notes: Sequence[str] = ()


def page(about: Page) -> str:
    """The page."""
    activity = about.activity
    parts = [
        f"<h1>{_html.escape(about.title)}</h1>",
        *(f'<p class="note">{_html.escape(note)}</p>' for note in about.notes),
        f"<p><code>{_html.escape(about.command)}</code></p>",
        _html.figures([*about.figures, *_sums(activity)]),
        "<h2>Kernels: what they do, as shares of their time</h2>",
        _html.kinds({name: about for name, about in _KINDS.items() if name in {"runs", *_waits(activity)}}),
        _bars(about),
        "<h2>Calls that wait longest</h2>",
        _places(about),
    ]
    for title, drawn in _times(about):
        parts += [f"<h2>{title}</h2>", drawn]
    if activity.channels:
        parts += ["<h2>Channels</h2>", _note(_CHANNEL_NOTE), _channels(about)]
    if activity.collectives:
        parts += ["<h2>Collectives</h2>", _note(_COLLECTIVE_NOTE), _collectives(about)]
    if activity.ports:
        parts += ["<h2>Ports, as the boards count</h2>", _ports(about)]
    if about.wiring.cables:
        parts += cables.sections(about.wiring)
    parts += ["<h2>Table of kernels</h2>", _kernels(about)]
    return _html.document(about.title, parts)


def _note(text: str) -> str:
    return f"<p>{_html.escape(text)}</p>"


def _name(about: Page, rank: int) -> str:
    return f"rank {rank} ({about.wiring.boards[rank]})" if rank < len(about.wiring.boards) else f"rank {rank}"


def _sums(activity: Activity) -> list[tuple[str, str, str]]:
    """Figures of the program's communication."""
    channels, collectives = activity.channels, activity.collectives
    rows = [
        ("messages received", f"{sum(one.messages_received for one in channels):,}", "over channels between ranks"),
        ("elements received", f"{sum(one.received for one in channels):,}", "of them"),
    ]
    if collectives:
        barriers = [one for one in collectives if one.kind == "Barrier"]
        others = [one for one in collectives if one.kind != "Barrier"]
        moved = f"{sum(one.pushed for one in others):,}, {sum(one.popped for one in others):,}"
        rows.append(("collectives opened", f"{sum(one.opened for one in others):,}", "by all ranks"))
        rows.append(("elements pushed, popped", moved, "of collectives"))
        rows.append(("barriers entered", f"{sum(one.opened for one in barriers):,}", "by all ranks"))
    return rows


def _waits(activity: Activity) -> list[str]:
    """What some kernel has waited for."""
    return [name for name in list(_KINDS)[1:] if any(one.waits[name] for one in activity.kernels)]


# ---- Kernels ----


def _label(about: Page, kernel: Kernel) -> str:
    return f"{_name(about, kernel.rank)} {kernel.name}"


def _shown(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The kernels of the picture: in order, or of many those that waited longest."""
    if len(kernels) <= _MOST_ROWS:
        return [*kernels]
    return sorted(kernels, key=lambda one: one.runs - one.cycles)[:_MOST_ROWS]


def _bars(about: Page) -> str:
    """A bar for each kernel, as long as its life: shares of its cycles."""
    shown = _shown(about.activity.kernels)
    end = max(1, about.wiring.cycles)
    drawn = []
    for number, kernel in enumerate(shown):
        top = number * (_ROW + 4)
        drawn.append(_row_name(_label(about, kernel), top))
        left = float(_NAME) + _WIDTH * kernel.begin / end
        parts = {"runs": kernel.runs, **kernel.waits}
        for kind, (shade, _) in _KINDS.items():
            width = _WIDTH * parts[kind] / end
            if width <= 0:
                continue
            share = parts[kind] / max(1, kernel.cycles)
            title = f"{_label(about, kernel)}: {kind} {parts[kind]:,} of {kernel.cycles:,} cycles, {share:.1%}"
            drawn.append(_rectangle(left, top, width, shade, title))
            left += width
    return _svg(len(shown) * (_ROW + 4), drawn) + _more(len(about.activity.kernels), len(shown), "kernels")


def _places(about: Page) -> str:
    found = [(place.cycles, kernel, place) for kernel in about.activity.kernels for place in kernel.places]
    found.sort(key=lambda one: -one[0])
    rows = [
        [place.call, _label(about, kernel), place.kind, f"{place.waits:,}", f"{cycles:,}",
         f"{cycles / max(1, kernel.cycles):.1%}"]
        for cycles, kernel, place in found[:_MOST_PLACES]
    ]  # fmt: skip
    heads = ["call", "kernel", "waits for", "waits", "cycles", "of the kernel's time"]
    return _html.table(heads, rows) + _more(len(found), len(rows), "calls")


def _kernels(about: Page) -> str:
    kinds = _waits(about.activity)
    rows = [
        [_label(about, one), f"{one.begin:,}", f"{one.cycles:,}", f"{one.runs:,}",
         *(f"{one.waits[kind]:,}" for kind in kinds)]
        for one in about.activity.kernels
    ]  # fmt: skip
    return _html.table(["kernel", "begin", "cycles", "runs", *(f"waits: {kind}" for kind in kinds)], rows)


# ---- Time ----

_Row = tuple[str, Sequence[int], float]
"""Name, sums by bin, and the greatest sum of a cycle."""


def _times(about: Page) -> Iterator[tuple[str, str]]:
    """Titles and pictures of what happens over time."""
    activity = about.activity
    if not activity.bin:
        return
    kernels: list[_Row] = [(_label(about, one), one.series, 1.0) for one in _shown(activity.kernels)]
    yield "Kernels over time: share of cycles in which they wait", _timeline(about, kernels, "share that waits", _share)
    # A channel moves one element a cycle. A collective pushes one and pops one.
    moving: list[_Row] = [(_channel_name(one), one.series, 1.0) for one in activity.channels]
    moving += [(_collective_name(about, one), one.series, 2.0) for one in activity.collectives if sum(one.series)]
    moving.sort(key=lambda one: -sum(one[1]))
    if moving:
        title = "Channels and collectives over time: elements a cycle at the receiver, or pushed and popped"
        yield title, _timeline(about, moving, "elements a cycle, of the most", _rate)
    links: list[_Row] = []
    for link in activity.links:
        if (named := about.links.get((link.board, link.link))) is not None:
            links.append((named[0], link.series, named[1]))
    if any(sum(one[1]) for one in links):
        yield "Links over time: share of the line", _timeline(about, links, "share of the line", _share)


def _share(value: float, _: float) -> str:
    return f"{value:.1%}"


def _rate(value: float, most: float) -> str:
    return f"{value * most:.3f} elements a cycle"


def _timeline(about: Page, rows: Sequence[_Row], legend: str, text: Callable[[float, float], str]) -> str:
    """A strip for each row, coloured by share; neighbours of the same colour are one mark."""
    length, end = about.activity.bin, max(1, about.wiring.cycles)
    drawn = []
    for number, (name, series, most) in enumerate(rows[:_MOST_ROWS]):
        top = number * (_ROW + 1)
        drawn.append(_row_name(name, top))
        drawn.append(
            f'<rect x="{_NAME}" y="{top}" width="{_WIDTH}" height="{_ROW}" fill="{_html.colour(0)}" stroke="#e4e9ee"/>'
        )
        marks: list[tuple[int, int, int, str]] = []
        for number_of_bin, value in enumerate(series):
            begin, until = number_of_bin * length, min(end, (number_of_bin + 1) * length)
            if not value or begin >= until:
                continue
            shade = _html.colour(value / (until - begin) / most)
            if marks and marks[-1][1] == begin and marks[-1][3] == shade:
                marks[-1] = marks[-1][0], until, marks[-1][2] + value, shade
            else:
                marks.append((begin, until, value, shade))
        for begin, until, value, shade in marks:
            share = value / (until - begin) / most
            title = f"{name}, cycles {begin:,} to {until:,}: {text(share, most)}"
            left = _NAME + _WIDTH * begin / end
            drawn.append(_rectangle(left, top, _WIDTH * (until - begin) / end, shade, title))
    height = min(len(rows), _MOST_ROWS) * (_ROW + 1)
    for part in range(5):
        x = _NAME + _WIDTH * part / 4
        drawn.append(_html.text(x, height + 14, f"{end * part // 4:,}", "#52606d"))
    return _html.legend(legend, 1.0) + _svg(height + 20, drawn) + _more(len(rows), _MOST_ROWS, "rows")


def _row_name(name: str, top: float) -> str:
    return f'<text x="{_NAME - 8}" y="{top + 12:.0f}" text-anchor="end" fill="#1d2733">{_html.escape(name)}</text>'


def _rectangle(left: float, top: float, width: float, shade: str, title: str) -> str:
    return (
        f'<rect x="{left:.2f}" y="{top:.0f}" width="{width:.2f}" height="{_ROW}" fill="{shade}">'
        f"<title>{_html.escape(title)}</title></rect>"
    )


def _svg(height: float, drawn: Sequence[str]) -> str:
    width = _NAME + _WIDTH + 40
    return (
        f'<div class="wide"><svg width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}">'
        f"{''.join(drawn)}</svg></div>"
    )


def _more(count: int, shown: int, what: str) -> str:
    return f"<p>({count - shown:,} more {what})</p>" if count > shown else ""


# ---- Channels and collectives ----

_CHANNEL_NOTE = (
    "Stalled: cycles in which an element waited for the sender's port, for credits of the receiver or for free space. "
    "Empty: cycles in which the receiver's port had no element of an open message. Full: cycles in which the queue "
    "from the port to the receiving kernel was full. Opening: cycles in which the sender's, and the receiver's port "
    "did not accept a message."
)
_COLLECTIVE_NOTE = (
    "Stalled: cycles in which an element waited for the board's block. Empty: cycles in which the block had no element "
    "for the kernel. Full: cycles in which the queue to the kernel was full."
)


def _channel_name(one: Channel) -> str:
    return f"port {one.port}, rank {one.source} to {one.destination}"


def _collective_name(about: Page, one: Collective) -> str:
    return f"{one.kind} port {one.port}, {_name(about, one.rank)}"


def _channels(about: Page) -> str:
    heads = ["channel", "type", "messages", "elements", "elements a cycle", "stalled", "empty", "full", "opening"]
    rows = [
        [_channel_name(one), one.type, f"{one.messages_received:,}", _of(one.received, one.sent),
         f"{one.received / max(1, about.wiring.cycles):.3f}", f"{one.stalled:,}", f"{one.empty:,}", f"{one.full:,}",
         f"{one.send_opening:,}, {one.receive_opening:,}"]
        for one in about.activity.channels
    ]  # fmt: skip
    return _html.table(heads, rows)


def _ports(about: Page) -> str:
    rows = [
        [f"port {one.port}, {_name(about, one.rank)}", f"{one.sent:,}", f"{one.received:,}", f"{one.dropped:,}"]
        for one in about.activity.ports
    ]
    return _html.table(["port", "elements sent", "elements received", "packets dropped"], rows)


def _of(received: int, sent: int) -> str:
    return f"{received:,}" if received == sent else f"{received:,} of {sent:,} sent"


def _collectives(about: Page) -> str:
    heads = ["collective", "type", "opened", "cycles open", "pushed", "popped", "stalled", "empty", "full", "opening"]
    rows = [
        [_collective_name(about, one), "" if one.kind == "Barrier" else one.type,
         *(f"{count:,}" for count in (one.opened, one.cycles, one.pushed, one.popped, one.stalled, one.empty, one.full,
                                      one.opening))]
        for one in about.activity.collectives
    ]  # fmt: skip
    return _html.table(heads, rows)


__all__ = ["Page", "page"]
