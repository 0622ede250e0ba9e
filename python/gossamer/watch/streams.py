# SPDX-License-Identifier: Apache-2.0
"""What kernels, channels, collectives and links of a streaming program on boards do (src/smi/activity.h).

The emulator reports it at the end of a run, and writes it into snapshots while it runs. Cycles are those of the boards,
from the start of the kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

WAITS = ("push", "pop", "collective", "barrier", "write", "read", "memory", "other")
"""What kernels wait for: to push, an element to pop, a collective, a barrier, to write or read a channel of the rank, a
DRAM bank, something else (the end of a kernel)."""
TIMELINE = ("series",)
"""Fields that ``as_json`` omits: sums over time."""


@dataclass(frozen=True)
class Place:
    """A call at which a kernel waited."""

    call: str
    """FILE:LINE"""
    kind: str
    """One of WAITS."""
    waits: int
    cycles: int


@dataclass(frozen=True)
class Kernel:
    """A kernel of a rank: its main, or one that main has started."""

    rank: int
    name: str
    daemon: bool
    """Whether the run does not wait for it."""
    begin: int
    end: int
    """Cycle of its end; of a kernel that has not ended, the present one."""
    doing: str
    """``runs``, one of WAITS, or ``ended``."""
    waits: Mapping[str, int]
    """Cycles by WAITS."""
    places: tuple[Place, ...] = ()
    series: tuple[int, ...] = ()
    """Cycles of waits, by bin."""

    @property
    def cycles(self) -> int:
        """Cycles from its start to its end."""
        return self.end - self.begin

    @property
    def runs(self) -> int:
        """Cycles in which it did not wait."""
        return self.cycles - sum(self.waits.values())


@dataclass(frozen=True)
class Channel:
    """All messages from one rank to one port of another.

    At each end every cycle of a message in progress is one in which an element passes, the kernel is late, or one of
    the counted stalls.
    """

    port: int
    source: int
    destination: int
    type: str
    messages_sent: int
    sent: int
    """Elements that the sender's port has accepted."""
    send_opening: int
    """Cycles in which it did not accept the open of a message."""
    stalled: int
    """Cycles in which an element waited for the sender's port: for credits of the receiver, or for free space."""
    messages_received: int
    received: int
    """Elements that the receiver's port has delivered."""
    receive_opening: int
    empty: int
    """Cycles in which the receiver's port had no element for an open message."""
    full: int
    """Cycles in which the queue between the receiver's port and its kernel was full."""
    series: tuple[int, ...] = ()
    """Elements received, by bin."""


@dataclass(frozen=True)
class Collective:
    """The collectives, or barriers, of one rank on a port."""

    port: int
    rank: int
    kind: str
    type: str
    opened: int
    cycles: int
    """Cycles in which one was open."""
    pushed: int
    """Elements that the board's block has accepted from the kernel."""
    popped: int
    opening: int
    stalled: int
    empty: int
    full: int
    """As of a channel."""
    series: tuple[int, ...] = ()
    """Elements pushed and popped, by bin."""


@dataclass(frozen=True)
class Link:
    """One end of a cable: counters of this run (link_counter)."""

    board: int
    link: int
    up: bool
    counters: Mapping[str, int]
    series: tuple[int, ...] = ()
    """Bytes sent, with the overhead of frames, by bin."""


@dataclass(frozen=True)
class PortCount:
    """What a streaming port has counted itself (stream_register): elements of all channels of its kernel, and packets
    that it dropped."""

    port: int
    rank: int
    sent: int
    received: int
    dropped: int


@dataclass(frozen=True)
class Activity:
    """The activity of a run up to a cycle, or between two snapshots."""

    kernels: tuple[Kernel, ...]
    channels: tuple[Channel, ...]
    collectives: tuple[Collective, ...]
    links: tuple[Link, ...] = ()
    bin: int = 0
    """Cycles of a bin of a series; 0 without series."""
    ports: tuple[PortCount, ...] = ()
    """With the engine ``board``, which reads them at the end."""

    def as_json(self) -> dict[str, Any]:
        """Sums, without series, for JSON."""
        found: dict[str, Any] = {}
        for name in ("kernels", "channels", "collectives", "links", "ports"):
            found[name] = [_without_series(one) for one in getattr(self, name)]
        return found


def _without_series(one: Any) -> dict[str, Any]:
    about = {name: value for name, value in asdict(one).items() if name not in TIMELINE}
    counters = about.pop("counters", {})
    return {**about, **counters}


_One = TypeVar("_One", Channel, Collective)


def parse(data: Mapping[str, Any], call: Mapping[tuple[int, int], str] | None = None) -> Activity:
    """The activity in a report or in a snapshot. ``call`` has the line of each call site of the report.

    Raises KeyError or TypeError for anything else.
    """
    names = data["waits"]
    kernels = [
        Kernel(
            one["rank"], one["name"], one["daemon"], one["begin"], one["end"], one["now"],
            dict(zip(names, one["waits"], strict=True)),
            tuple(
                Place((call or {}).get(tuple(place["site"]), "?"), place["kind"], place["waits"], place["cycles"])
                for place in one.get("places", ())
            ),
            tuple(one.get("series", ())),
        )
        for one in data["kernels"]
    ]  # fmt: skip
    channels = [Channel(**_renamed(one)) for one in data["channels"]]
    collectives = [Collective(**_renamed(one)) for one in data["collectives"]]
    links = []
    if "bin" in data:
        for one in data["links"]:
            counters = {name: one[name] for name in one if name not in ("board", "link", "up", "series")}
            links.append(Link(one["board"], one["link"], one["up"], counters, tuple(one["series"])))
    return Activity(tuple(kernels), tuple(channels), tuple(collectives), tuple(links), data.get("bin", 0))


def _renamed(one: Mapping[str, Any]) -> dict[str, Any]:
    fields = {"from": "source", "to": "destination"}
    return {fields.get(name, name): tuple(value) if name == "series" else value for name, value in one.items()}


def between(early: Activity, late: Activity) -> Activity:
    """The difference of two snapshots of a run."""
    kernels = []
    for old, one in zip(early.kernels, late.kernels, strict=False):
        waits = {name: cycles - old.waits[name] for name, cycles in one.waits.items()}
        kernels.append(replace(one, begin=old.end, waits=waits))
    # Kernels are listed in the order of their starts.
    kernels += late.kernels[len(kernels) :]
    channels = {(one.port, one.source, one.destination): one for one in early.channels}
    collectives = {(one.port, one.rank): one for one in early.collectives}
    return Activity(
        tuple(kernels),
        tuple(_difference(channels.get((one.port, one.source, one.destination)), one) for one in late.channels),
        tuple(_difference(collectives.get((one.port, one.rank)), one) for one in late.collectives),
    )


_KEYS = ("port", "source", "destination", "rank")


def _difference(early: _One | None, late: _One) -> _One:
    if early is None:
        return late
    numbers = [field.name for field in fields(late) if field.name not in _KEYS and field.type == "int"]
    return replace(late, **{name: getattr(late, name) - getattr(early, name) for name in numbers})


def over_time(
    activity: Activity, cycles: int, boards: Sequence[str], links: Mapping[tuple[int, int], tuple[str, float]]
) -> dict[str, Any] | None:
    """The series, as the statistics' ``timeline``; None without series.

    ``links`` has by board and link the name, and the bytes that it can send in a cycle.
    """
    edges = [float(at) for at in range(0, cycles, activity.bin)] if activity.bin else []
    if not edges:
        return None
    edges.append(float(cycles))
    found: list[dict[str, Any]] = []

    def add(name: str, unit: str, of: str, most: float | None, series: Sequence[int], scale: float = 1.0) -> None:
        widths = [end - begin for begin, end in itertools.pairwise(edges)]
        sums = [*series, *[0] * len(widths)][: len(widths)]
        values = [round(value / width / scale, 5) for value, width in zip(sums, widths, strict=True)]
        found.append({"name": name, "unit": unit, "of": of, "most": most, "values": values})

    def rank(number: int) -> str:
        return f"rank {number} ({boards[number]})" if number < len(boards) else f"rank {number}"

    for kernel in activity.kernels:
        of = f"{rank(kernel.rank)} {kernel.name}"
        add("kernels that wait", "share of the time", of, 1.0, kernel.series)
    # A channel moves one element a cycle. A collective pushes one and pops one.
    for channel in activity.channels:
        of = f"port {channel.port}, rank {channel.source} to {channel.destination}"
        add("elements a cycle", "1/cycle", of, 1.0, channel.series)
    for collective in activity.collectives:
        if sum(collective.series):
            of = f"{collective.kind} port {collective.port}, {rank(collective.rank)}"
            add("elements a cycle of collectives", "1/cycle", of, 2.0, collective.series)
    for link in activity.links:
        if sum(link.series) and (named := links.get((link.board, link.link))) is not None:
            # All bytes of a frame are counted in one cycle, so a short interval may have more than the rate.
            add("links", "share of the rate", named[0], None, link.series, named[1])
    return {"unit": "cycles", "edges": edges, "series": found}


def of_statistics(data: Mapping[str, Any]) -> Activity:
    """The activity in a file of statistics, without series and links."""
    kernels = [
        Kernel(**{**one, "places": tuple(Place(**place) for place in one["places"]), "series": ()})
        for one in data.get("by_kernel", ())
    ]
    return Activity(
        tuple(kernels),
        tuple(Channel(**one) for one in data.get("channels", ())),
        tuple(Collective(**one) for one in data.get("collectives", ())),
        ports=tuple(PortCount(**one) for one in data.get("ports", ())),
    )


def total(kernels: Sequence[Kernel], kind: str) -> int:
    """Cycles that kernels waited for something."""
    return sum(one.waits[kind] for one in kernels)


__all__ = [
    "WAITS",
    "Activity",
    "Channel",
    "Collective",
    "Kernel",
    "Link",
    "Place",
    "PortCount",
    "between",
    "of_statistics",
    "over_time",
    "parse",
    "total",
]
