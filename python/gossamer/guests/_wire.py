# SPDX-License-Identifier: Apache-2.0
"""Requests to a simulator and its records, as bytes (sim/host/records.h, session.h, wait.h)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gossamer.errors import GossamerError

_REQUEST = struct.Struct("<B3xI")
_RECORD = struct.Struct("<BBxxIIxxxxQ")
_WAIT = struct.Struct("<IIQQQQQQ")
_ACTIVE = struct.Struct("<QQII")
_THREAD = struct.Struct("<IBBHIII")
_END = struct.Struct("<IIQQQ")

LINE, EMIT, STOPPED, TRAP, REPLY, DONE, END, FAILED, PROGRESS, PACKET, WOKEN, ACTIVE = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14,
)  # fmt: skip
ALL_ENDED, MOST_CYCLES, DEADLOCK, STUCK, WAS_STOPPED = range(5)
"""Why a run ends."""


class Record(NamedTuple):
    """A record of a simulator."""

    kind: int
    flags: int
    thread: int
    cycle: int
    payload: bytes

    def bytes(self) -> bytes:
        """The record as the simulator writes it."""
        return _RECORD.pack(self.kind, self.flags, self.thread, len(self.payload), self.cycle) + self.payload


def request(kind: str, payload: bytes = b"") -> bytes:
    """A request."""
    return _REQUEST.pack(ord(kind), len(payload)) + payload


def wait_request(cycles: int) -> bytes:
    """The request that lets time pass."""
    return request("W", _WAIT.pack(0, 0, 0, 0, 0, cycles, 0, 0))


def requests(buffer: bytearray) -> Iterator[tuple[str, bytes]]:
    """The complete requests at the begin of a buffer, which are removed from it."""
    while len(buffer) >= _REQUEST.size:
        kind, size = _REQUEST.unpack_from(buffer)
        end = _REQUEST.size + size
        if len(buffer) < end:
            return
        payload = bytes(buffer[_REQUEST.size : end])
        del buffer[:end]
        yield chr(kind), payload


@dataclass(frozen=True)
class Active:
    """Threads of some boards that have not ended."""

    issued: int
    progress: int
    waiting: bool
    threads: tuple[bytes, ...]

    @classmethod
    def of(cls, payload: bytes) -> Active:
        """The payload of a record ``Active``."""
        issued, progress, count, waiting = _ACTIVE.unpack_from(payload)
        size = _THREAD.size
        parts = (payload[_ACTIVE.size + at * size :][:size] for at in range(count))
        return cls(issued, progress, bool(waiting), tuple(parts))


def end_of_run(
    reason: int, first: int, last: int, instructions: int, threads: tuple[bytes, ...], own: Callable[[int], int]
) -> bytes:
    """The payload of a record ``End``; ``own`` is a guest's number of a thread."""
    named = []
    for thread in threads:
        number, *rest = _THREAD.unpack(thread)
        named.append(_THREAD.pack(own(number), *rest))
    return _END.pack(reason, len(threads), first, last, instructions) + b"".join(named)


class Pipe:
    """A simulator's descriptors, written and read in whole requests and records."""

    def __init__(self, ends: tuple[int, int], gone: Callable[[], GossamerError]) -> None:
        self._to, self._from = ends
        self._gone = gone
        self._read = bytearray()

    def send(self, data: bytes) -> None:
        """Writes a request; raises the error of an ended simulator."""
        at = 0
        try:
            while at < len(data):
                at += os.write(self._to, data[at : at + (1 << 16)])
        except BrokenPipeError:
            raise self._gone() from None

    def record(self) -> Record:
        """Waits for the next record."""
        while True:
            if len(self._read) >= _RECORD.size:
                kind, flags, thread, size, cycle = _RECORD.unpack_from(self._read)
                end = _RECORD.size + size
                if len(self._read) >= end:
                    payload = bytes(self._read[_RECORD.size : end])
                    del self._read[:end]
                    return Record(kind, flags, thread, cycle, payload)
            part = os.read(self._from, 1 << 16)
            if not part:
                raise self._gone()
            self._read += part


__all__ = [
    "ACTIVE",
    "ALL_ENDED",
    "DEADLOCK",
    "DONE",
    "EMIT",
    "END",
    "FAILED",
    "LINE",
    "MOST_CYCLES",
    "PACKET",
    "PROGRESS",
    "REPLY",
    "STOPPED",
    "STUCK",
    "TRAP",
    "WAS_STOPPED",
    "WOKEN",
    "Active",
    "Pipe",
    "Record",
    "end_of_run",
    "request",
    "requests",
    "wait_request",
]
