# SPDX-License-Identifier: Apache-2.0
"""The part of a report about a streaming program on boards: kernels and their waits, channels, collectives, cables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gossamer.watch import _charts, _html, cables, streams
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
_MOST_PLACES = 40
"""Rows of the table of calls."""


@dataclass(frozen=True)
class _About:
    activity: Activity
    wiring: cables.Wiring


def sections(data: Mapping[str, Any], width: float, *, tables: bool) -> list[str]:
    """The sections of a file of statistics with kernels. ``width`` is that of charts, ``tables``: with all tables."""
    about = _About(streams.of_statistics(data), cables.of_statistics(data))
    activity = about.activity
    parts = [
        "<h2>Kernels: what they do, as shares of their time</h2>",
        _html.kinds({name: said for name, said in _KINDS.items() if name in {"runs", *_waits(activity)}}),
        _bars(about, width),
    ]
    if not tables:
        return [*parts, *([cables.picture(about.wiring, 590.0)] if about.wiring.cables and about.wiring.timed else [])]
    parts += ["<h2>Calls that wait longest</h2>", _places(about)]
    if activity.channels:
        parts += ["<h2>Channels</h2>", _note(_CHANNEL_NOTE), _channels(about)]
    if activity.collectives:
        parts += ["<h2>Collectives</h2>", _note(_COLLECTIVE_NOTE), _collectives(about)]
    if activity.ports:
        parts += ["<h2>Ports, as the boards count</h2>", _ports(about)]
    if about.wiring.cables:
        parts += cables.sections(about.wiring)
    return [*parts, "<h2>Table of kernels</h2>", _kernels(about)]


def _note(text: str) -> str:
    return f'<p class="soft">{_html.escape(text)}</p>'


def _name(about: _About, rank: int) -> str:
    return f"rank {rank} ({about.wiring.boards[rank]})" if rank < len(about.wiring.boards) else f"rank {rank}"


def sums(data: Mapping[str, Any]) -> dict[str, int]:
    """Sums of the program's communication, by name."""
    activity = streams.of_statistics(data)
    found = {
        "messages received": sum(one.messages_received for one in activity.channels),
        "elements received": sum(one.received for one in activity.channels),
    }
    if activity.collectives:
        barriers = [one for one in activity.collectives if one.kind == "Barrier"]
        others = [one for one in activity.collectives if one.kind != "Barrier"]
        found |= {
            "collectives opened": sum(one.opened for one in others),
            "elements pushed to collectives": sum(one.pushed for one in others),
            "elements popped of collectives": sum(one.popped for one in others),
            "barriers entered": sum(one.opened for one in barriers),
        }
    return found


def _waits(activity: Activity) -> list[str]:
    """What some kernel has waited for."""
    return [name for name in list(_KINDS)[1:] if any(one.waits[name] for one in activity.kernels)]


# ---- Kernels ----


def _label(about: _About, kernel: Kernel) -> str:
    return f"{_name(about, kernel.rank)} {kernel.name}"


def _shown(kernels: Sequence[Kernel]) -> list[Kernel]:
    """The kernels of the picture: in order, or of many those that waited longest first."""
    return [*kernels] if len(kernels) <= _charts.MOST_ROWS else sorted(kernels, key=lambda one: one.runs - one.cycles)


def _bars(about: _About, width: float) -> str:
    """A bar for each kernel, as long as its life: shares of its cycles."""
    rows = [
        (_label(about, one), {"runs": float(one.runs), **{name: float(n) for name, n in one.waits.items()}},
         float(one.begin))
        for one in _shown(about.activity.kernels)
    ]  # fmt: skip
    return _charts.bars(rows, _KINDS, _charts.Axis("cycles", float(max(1, about.wiring.cycles))), width, "kernels")


def _places(about: _About) -> str:
    found = [(place.cycles, kernel, place) for kernel in about.activity.kernels for place in kernel.places]
    found.sort(key=lambda one: -one[0])
    rows = [
        [place.call, _label(about, kernel), place.kind, f"{place.waits:,}", f"{cycles:,}",
         f"{cycles / max(1, kernel.cycles):.1%}"]
        for cycles, kernel, place in found[:_MOST_PLACES]
    ]  # fmt: skip
    heads = ["call", "kernel", "waits for", "waits", "cycles", "of the kernel's time"]
    return _html.table(heads, rows) + _charts.more(len(found), len(rows), "calls")


def _kernels(about: _About) -> str:
    kinds = _waits(about.activity)
    rows = [
        [_label(about, one), f"{one.begin:,}", f"{one.cycles:,}", f"{one.runs:,}",
         *(f"{one.waits[kind]:,}" for kind in kinds)]
        for one in about.activity.kernels
    ]  # fmt: skip
    return _html.table(["kernel", "begin", "cycles", "runs", *(f"waits: {kind}" for kind in kinds)], rows)


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


def _collective_name(about: _About, one: Collective) -> str:
    return f"{one.kind} port {one.port}, {_name(about, one.rank)}"


def _channels(about: _About) -> str:
    heads = ["channel", "type", "messages", "elements", "elements a cycle", "stalled", "empty", "full", "opening"]
    rows = [
        [_channel_name(one), one.type, f"{one.messages_received:,}", _of(one.received, one.sent),
         f"{one.received / max(1, about.wiring.cycles):.3f}", f"{one.stalled:,}", f"{one.empty:,}", f"{one.full:,}",
         f"{one.send_opening:,}, {one.receive_opening:,}"]
        for one in about.activity.channels
    ]  # fmt: skip
    return _html.table(heads, rows)


def _ports(about: _About) -> str:
    rows = [
        [f"port {one.port}, {_name(about, one.rank)}", f"{one.sent:,}", f"{one.received:,}", f"{one.dropped:,}"]
        for one in about.activity.ports
    ]
    return _html.table(["port", "elements sent", "elements received", "packets dropped"], rows)


# ---- Ports of generated boards ----

_PORT_KINDS = {
    "sends": ("#2171b5", "a beat passes from the kernel to the port"),
    "stalled": ("#b8433f", "a beat waits for the port: for credits of the receiver, space, or an open channel"),
    "idle": ("#d9d9d9", "the kernel offers no beat"),
}
_RECEIVE_KINDS = {
    "receives": ("#2171b5", "a beat passes from the port to the kernel"),
    "full": ("#b8433f", "a beat waits for the kernel"),
    "empty": ("#4f9d69", "the kernel waits for a beat"),
    "idle": ("#d9d9d9", "neither"),
}


def ports(data: Mapping[str, Any], width: float, *, tables: bool) -> list[str]:
    """The sections of statistics with ``by_port``: what passes and what waits at each half of each port."""
    found = data["by_port"]
    axis = _charts.Axis("cycles", float(max(1, data["cycles"])))
    parts = []
    for title, kinds, beats, waits in (
        ("sending", _PORT_KINDS, "beats_sent", ("stalled",)),
        ("receiving", _RECEIVE_KINDS, "beats_received", ("full", "empty")),
    ):
        rows = []
        for one in found:
            if not (one[beats] or any(one[wait] for wait in waits if wait != "empty")):
                continue
            shown = {next(iter(kinds)): float(one[beats]), **{wait: float(one[wait]) for wait in waits}}
            shown["idle"] = max(0.0, one["cycles"] - sum(shown.values()))
            rows.append((_port_name(one), shown, 0.0))
        rows = rows if len(rows) <= _charts.MOST_ROWS else sorted(rows, key=lambda row: row[1]["idle"])
        if rows:
            parts += [f"<h2>Ports, {title}: shares of the cycles</h2>", _html.kinds(kinds)]
            parts.append(_charts.bars(rows, kinds, axis, width, "ports"))
    if not tables:
        return parts
    heads = ["port", "board", "type", "packets sent", "packets received", "beats sent", "beats received", "stalled",
             "empty", "full"]  # fmt: skip
    counts = ("packets_sent", "packets_received", "beats_sent", "beats_received", "stalled", "empty", "full")
    rows_of_table = [
        [_port_name(one), one["board"], one["type"], *(f"{one[name]:,}" for name in counts)] for one in found
    ]
    return [*parts, "<h2>Table of ports</h2>", _note(_PORT_NOTE), _html.table(heads, rows_of_table)]


_PORT_NOTE = (
    "Packets are those with elements. Stalled: cycles in which the kernel offered a beat that the port did not accept. "
    "Empty: cycles in which the kernel accepted a beat and the port had none. Full: cycles in which the port had a "
    "beat that the kernel did not accept. Of a collective the kernel is its block."
)


def _port_name(one: Mapping[str, Any]) -> str:
    kind = "" if one["operation"] == "channel" else f" ({one['operation']})"
    return f"rank {one['rank']}, port {one['port']}{kind}" + (f", edge {one['edge']}" if "edge" in one else "")


def _of(received: int, sent: int) -> str:
    return f"{received:,}" if received == sent else f"{received:,} of {sent:,} sent"


def _collectives(about: _About) -> str:
    heads = ["collective", "type", "opened", "cycles open", "pushed", "popped", "stalled", "empty", "full", "opening"]
    rows = [
        [_collective_name(about, one), "" if one.kind == "Barrier" else one.type,
         *(f"{count:,}" for count in (one.opened, one.cycles, one.pushed, one.popped, one.stalled, one.empty, one.full,
                                      one.opening))]
        for one in about.activity.collectives
    ]  # fmt: skip
    return _html.table(heads, rows)


__all__ = ["ports", "sections", "sums"]
