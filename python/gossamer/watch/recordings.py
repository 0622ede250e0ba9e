# SPDX-License-Identifier: Apache-2.0
"""Recordings that hosts of generated boards write (include/gossamer/smi/record.h): counters of streaming ports.

A recording has a line for its board, one for each sample, and one for its end. ``read`` reads several, one of each
board; ``statistics``, ``trace`` and ``watch.dashboard.recorded`` show them. Counts are sums since the begin of the
recording, and cycles those of the board.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gossamer import files
from gossamer.config import constants
from gossamer.errors import InputError

COUNTERS = ("packets_sent", "packets_received", "beats_sent", "beats_received", "stalled", "empty", "full")
"""The counters of a port, in the order of a sample."""
_BINS = 256
"""Intervals of quantities over time, at most."""
_REJECTED = {2: "a rank without a location, or a collective that its block does not support",
             3: "a port rejected a packet", 4: "a packet had no route or no receiver"}  # fmt: skip
"""Bits of the status register that tell of errors."""


@dataclass(frozen=True)
class Port:
    """A streaming port of a board."""

    slot: int
    port: int
    """Number of the port in the program."""
    operation: str
    type: str
    edge: int | None = None
    """Of a collective: one of the rank's edges."""

    @property
    def name(self) -> str:
        """For example ``port 3`` or ``port 5 (bcast), edge 1``."""
        kind = "" if self.operation == "channel" else f" ({self.operation})"
        return f"port {self.port}{kind}" + ("" if self.edge is None else f", edge {self.edge}")


@dataclass(frozen=True)
class Sample:
    """The counters of all ports up to a cycle."""

    cycle: int
    status: int
    ports: Sequence[Sequence[int]]
    """By port, the counters in the order of ``COUNTERS``."""
    reports: Sequence[Mapping[str, int]] = ()


@dataclass(frozen=True)
class Recording:
    """The recording of one board."""

    path: str
    board: str
    top: str
    design: int
    clock_mhz: float
    ranks: Sequence[int]
    """By slot, the rank."""
    ports: Sequence[Port]
    samples: list[Sample] = field(default_factory=list)
    ended: bool = False

    @property
    def cycle(self) -> int:
        """Cycles from the begin of the recording to its last sample."""
        return self.samples[-1].cycle if self.samples else 0

    def rank(self, port: int) -> int:
        """The rank whose port it is."""
        return self.ranks[self.ports[port].slot]

    def name(self, port: int) -> str:
        """A port's name with its rank."""
        return f"rank {self.rank(port)}, {self.ports[port].name}"


def read(path: Path) -> Recording:
    """A recording, without a last line that is incomplete. Raises InputError if it is damaged or no recording."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give a file that a host has recorded") from None
    # The host may be writing the last line.
    lines = text[: text.rfind(b"\n") + 1].splitlines()
    made: Recording | None = None
    ended = False
    for number, line in enumerate(lines, 1):
        try:
            data = files.parse_json(line)
            if made is None:
                made = _begin(path, data)
            elif "end" in data:
                ended = True
            else:
                made.samples.append(_sample(data, made))
        except (ValueError, KeyError, TypeError, IndexError):
            if made is None:
                raise InputError(
                    f"{path}: is no recording of a generated board; give a file that gossamer/smi/record.h has written"
                ) from None
            raise InputError(f"{path}:{number}: is damaged; record it again") from None
    if made is None:
        raise InputError(f"{path}: is no recording of a generated board; it has no complete line")
    return Recording(**{**vars(made), "ended": ended})


def _begin(path: Path, data: Any) -> Recording:
    if data["recording"] != "gossamer-smi":
        raise ValueError
    if data["version"] != 1:
        raise InputError(
            f"{path}: has version {data['version']!r} of recordings, and this command reads version 1; build the host "
            "with the header of this checkout"
        )
    ports = [Port(**one) for one in data["ports"]]
    ranks = [int(rank) for rank in data["ranks"]]
    if not ports or any(not 0 <= one.slot < len(ranks) for one in ports):
        raise ValueError
    return Recording(
        str(path), str(data["board"]), str(data["top"]), int(data["design"]), float(data["clock_mhz"]), ranks, ports
    )


def _sample(data: Any, of: Recording) -> Sample:
    ports = [[int(count) for count in counts] for counts in data["ports"]]
    if len(ports) != len(of.ports) or any(len(counts) != len(COUNTERS) for counts in ports):
        raise ValueError
    cycle = int(data["cycle"])
    if of.samples and (
        cycle < of.cycle
        or any(new < old for row, last in zip(ports, of.samples[-1].ports, strict=True)
               for new, old in zip(row, last, strict=True))
    ):  # fmt: skip
        raise ValueError
    reports = [{name: int(value) for name, value in one.items()} for one in data["reports"]]
    if any(set(one) != set(_REPORT) for one in reports):
        raise ValueError
    return Sample(cycle, int(data["status"]), ports, reports)


_REPORT = ("rank", "port", "peer", "fault", "my_type", "their_type", "my_count", "their_count", "my_tag", "their_tag")


def check(recordings: Sequence[Recording]) -> None:
    """Raises InputError if the recordings are not of different boards of one design, or have no sample."""
    boards: dict[str, Recording] = {}
    for one in recordings:
        first = recordings[0]
        if one.design != first.design:
            raise InputError(
                f"{one.path}: is of design 0x{one.design:08x}, and {first.path} of 0x{first.design:08x}; give "
                "recordings of one run"
            )
        if not one.samples:
            raise InputError(f"{one.path}: has no sample; call gossamer_smi_record_sample, or wait for the first")
        if one.board in boards:
            raise InputError(f"{one.path}: is of board {one.board}, as {boards[one.board].path}; give one of each")
        boards[one.board] = one


def report_text(one: Recording, report: Mapping[str, int]) -> str:
    """A fault report in words."""

    def of(kind: str, value: int) -> str:
        return next(
            (name for name, number in constants.enumeration(kind).values.items() if number == value), str(value)
        )

    fault = of("stream_fault", report["fault"])
    ends = (
        f"it has {report['my_count']:,} of {of('smi_type', report['my_type'])}, the other end "
        f"{report['their_count']:,} of {of('smi_type', report['their_type'])}"
    )
    if fault == "peer":
        ends = f"0x{report['my_count']:x} was opened, 0x{report['their_count']:x} is bound"
    return (
        f"{one.board}: streaming port {report['port']} of rank {report['rank']} has stopped: {fault} differs from "
        f"rank {report['peer']}: {ends}"
    )


def events(one: Recording) -> list[tuple[int, str]]:
    """Reports, and errors of the status register, with the cycle of the sample that has them first."""
    found: list[tuple[int, str]] = []
    before = 0
    for sample in one.samples:
        found += [(sample.cycle, report_text(one, report)) for report in sample.reports]
        for bit, words in _REJECTED.items():
            if sample.status >> bit & 1 and not before >> bit & 1:
                found.append((sample.cycle, f"{one.board}: {words}"))
        before = sample.status
    return found


# ---- Statistics ----


def values(recordings: Sequence[Recording]) -> dict[str, Any]:
    """The values of statistics of kind ``boards``."""
    check(recordings)
    told = [text for one in recordings for _, text in sorted(events(one))]
    ended = all(one.ended for one in recordings)
    faults = any(sample.reports for one in recordings for sample in one.samples)
    return {
        "program": " and ".join(dict.fromkeys(one.top for one in recordings)),
        "boards": len(recordings),
        "ranks": len({rank for one in recordings for rank in one.ranks}),
        "clock_mhz": recordings[0].clock_mhz,
        "cycles": max(one.cycle for one in recordings),
        "end": "fault" if faults else "done" if ended else "recording not ended",
        "by_port": [
            {
                "board": one.board, "rank": one.rank(at), "port": port.port, "operation": port.operation,
                "type": port.type, **({} if port.edge is None else {"edge": port.edge}), "cycles": one.cycle,
                **dict(zip(COUNTERS, one.samples[-1].ports[at], strict=True)),
            }
            for one in recordings
            for at, port in enumerate(one.ports)
        ],
        "timeline": over_time(recordings),
        "events": told or None,
    }  # fmt: skip


def over_time(recordings: Sequence[Recording]) -> dict[str, Any] | None:
    """Packets and waits of each port over time, as the statistics' ``timeline``. Between samples counts are linear."""
    import numpy as np

    end = max(one.cycle for one in recordings)
    count = min(_BINS, max(len(one.samples) for one in recordings))
    if not end or count < 2:
        return None
    edges = np.linspace(0, end, count + 1)
    wide = edges[1]
    found: list[dict[str, Any]] = []
    quantities = (
        ("packets a cycle", "1/cycle", (0, 1), None),
        ("stalled: a beat waits for the port", "share of the time", (4,), 1.0),
        ("full: a beat waits for the kernel", "share of the time", (6,), 1.0),
    )
    for name, unit, which, most in quantities:
        for one in recordings:
            cycles = [0, *(sample.cycle for sample in one.samples)]
            for at in range(len(one.ports)):
                sums = [0, *(sum(sample.ports[at][c] for c in which) for sample in one.samples)]
                rates = np.diff(np.interp(edges, cycles, sums)) / wide
                if sums[-1]:
                    shown = [round(rate, 5) for rate in rates.tolist()]
                    found.append({"name": name, "unit": unit, "of": one.name(at), "most": most, "values": shown})
    return {"unit": "cycles", "edges": [round(edge, 1) for edge in edges.tolist()], "series": found} if found else None


# ---- Trace: Perfetto's public schema, in the encoding of protocol buffers ----


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _real(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _packets(recordings: Sequence[Recording]) -> Iterator[bytes]:
    """Encoded TracePackets, one nanosecond a cycle: a process for each board, curves of each port, marks of events."""
    sequence, first = _number(10, 1), True
    ids = itertools.count(1)

    def track(about: bytes) -> bytes:
        nonlocal first
        # Flags of the sequence: its state is cleared in the first packet, and needed by the others.
        packet = _bytes(60, about) + _number(13, 1 if first else 2) + sequence
        first = False
        return packet

    def event(kind: int, track: int, cycle: int, rest: bytes) -> bytes:
        body = _number(9, kind) + _number(11, track) + rest
        return _number(8, cycle) + _bytes(11, body) + _number(13, 2) + sequence

    curves = (
        ("packets sent a cycle", "1/cycle", 0), ("packets received a cycle", "1/cycle", 1), ("stalled", "%", 4),
        ("empty", "%", 5), ("full", "%", 6),
    )  # fmt: skip
    for number, one in enumerate(recordings, 1):
        board = next(ids)
        process = _number(1, number) + _bytes(6, f"{one.board} ({one.top})".encode())
        yield track(_number(1, board) + _bytes(3, process) + _number(11, 3) + _number(12, number))
        marks = next(ids)
        yield track(_number(1, marks) + _bytes(2, b"events") + _number(5, board) + _number(11, 3) + _number(12, 0))
        for cycle, words in events(one):
            yield event(3, marks, cycle, _bytes(23, words.encode()))
        for at in range(len(one.ports)):
            group = next(ids)
            place = _number(5, board) + _number(11, 3) + _number(12, at + 1)
            yield track(_number(1, group) + _bytes(2, one.name(at).encode()) + place)
            for rank, (name, unit, counter) in enumerate(curves):
                if not one.samples[-1].ports[at][counter]:
                    continue
                curve = next(ids)
                about = _number(1, curve) + _bytes(2, name.encode()) + _number(5, group) + _number(11, 3)
                yield track(about + _number(12, rank) + _bytes(8, _bytes(6, unit.encode())))
                before, count = 0, 0
                for sample in one.samples:
                    if sample.cycle == before:
                        continue
                    rate = (sample.ports[at][counter] - count) / (sample.cycle - before)
                    yield event(4, curve, before, _real(44, rate * 100 if unit == "%" else rate))
                    before, count = sample.cycle, sample.ports[at][counter]
                yield event(4, curve, before, _real(44, 0.0))


def write_trace(path: Path, recordings: Sequence[Recording]) -> None:
    """Writes a trace for ui.perfetto.dev. Raises InputError if it cannot be written."""
    check(recordings)
    files.write_whole(path, b"".join(_bytes(1, packet) for packet in _packets(recordings)))


__all__ = [
    "COUNTERS",
    "Port",
    "Recording",
    "Sample",
    "check",
    "events",
    "over_time",
    "read",
    "report_text",
    "values",
    "write_trace",
]
