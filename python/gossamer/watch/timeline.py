# SPDX-License-Identifier: Apache-2.0
"""What the threads of ``cpu``, and of each rank of ``distributed``, do over time (include/gossamer/core/timeline.h).

A run with ``--trace`` or ``--stats`` records it. ``write`` writes a trace in Perfetto's format; ``of_threads`` and
``over_time`` are the parts of the statistics.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import files, native

WORK, WAIT_THREADS, WAIT_RANKS, STEP, ROUND, SEND, RECEIVE = range(7)
"""Kinds of items: enum gs_timeline_kind."""
_ITEM = np.dtype(
    [(name, np.uint64) for name in ("begin", "end", "busy", "amount", "number")]
    + [(name, np.uint32) for name in ("kind", "track", "peer", "count")]
)
"""gs_timeline_item of include/gossamer/abi.h."""
_BINS = 128
"""Bins of the statistics over time."""

Array = np.ndarray[Any, np.dtype[Any]]


class _Rank(ctypes.Structure):
    """gs_timeline_rank of include/gossamer/abi.h."""

    _fields_ = [
        ("items", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
        ("begin", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("threads", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    ]


@dataclass(frozen=True)
class Recorded:
    """What one process has recorded. Times are nanoseconds of its machine's monotonic clock."""

    items: Array
    begin: int
    end: int
    threads: int
    machine: str = ""
    """Identifies the machine whose clock it is."""

    def of(self, *kinds: int) -> Array:
        """The items of some kinds."""
        chosen: Array = self.items[np.isin(self.items["kind"], kinds)]
        return chosen


class Timeline:
    """A recorder, which a run fills."""

    def __init__(self) -> None:
        library = native.lib()
        library.gs_timeline_new.restype = ctypes.c_void_p
        library.gs_timeline_items.restype = ctypes.c_uint64
        library.gs_timeline_free.argtypes = [ctypes.c_void_p]
        library.gs_timeline_free.restype = None
        made = library.gs_timeline_new()
        if not made:
            native.check(-1)
        self.address = ctypes.c_void_p(made)
        weakref.finalize(self, library.gs_timeline_free, self.address)

    def recorded(self, threads: int) -> Recorded:
        """What a run with that many threads has recorded, once it has ended."""
        items, begin, end = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        count = native.lib().gs_timeline_items(
            self.address, ctypes.byref(items), ctypes.byref(begin), ctypes.byref(end)
        )
        data = ctypes.string_at(items, count * _ITEM.itemsize) if count else b""
        return Recorded(np.frombuffer(data, _ITEM), begin.value, end.value, threads, _machine())


def _machine() -> str:
    """Identifies this machine since its last start, when its monotonic clock began."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename


def aligned(ranks: Sequence[Recorded]) -> list[Recorded]:
    """The same with the clock of rank 0. Runs of other machines, whose clocks differ, are aligned at their begins."""
    first = ranks[0]
    found = []
    for one in ranks:
        if one.machine == first.machine:
            found.append(one)
            continue
        items, shift = one.items.copy(), np.int64(first.begin - one.begin)
        for name in ("begin", "end"):
            items[name] = (items[name].astype(np.int64) + shift).astype(np.uint64)
        found.append(Recorded(items, first.begin, int(one.end + shift), one.threads, first.machine))
    return found


def write(path: Path, name: str, ranks: Sequence[Recorded]) -> None:
    """Writes a trace: a process ``name`` for each rank, with tracks of threads, steps, rounds and messages.

    Raises InputError if the file cannot be written.
    """
    entries = (_Rank * len(ranks))()
    whole = [np.ascontiguousarray(one.items) for one in ranks]
    for entry, one, items in zip(entries, ranks, whole, strict=True):
        entry.items, entry.count = items.ctypes.data, len(items)
        entry.begin, entry.end, entry.threads = one.begin, one.end, one.threads
    partial = files.temporary_sibling(path)
    try:
        native.check(
            native.lib().gs_timeline_write(os.fsencode(partial), name.encode(), entries, ctypes.c_uint64(len(ranks)))
        )
        files.move_whole(partial, path)
    finally:
        partial.unlink(missing_ok=True)


# ---- Statistics ----


def of_threads(ranks: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Seconds that each thread worked and waited, by rank and thread."""
    found = []
    for number, one in enumerate(ranks):
        for thread in range(one.threads):
            busy, waits = _busy(one, thread)
            found.append({"rank": number, "thread": thread, "busy_seconds": busy, "wait_seconds": waits})
    return found


def _busy(one: Recorded, thread: int) -> tuple[float, float]:
    length = (one.end - one.begin) * 1e-9
    spans = one.items[one.items["track"] == thread]
    if thread:
        busy = float(spans["busy"][spans["kind"] == WORK].sum()) * 1e-9
        return min(busy, length), max(0.0, length - busy)
    waits = float(spans["busy"][np.isin(spans["kind"], (WAIT_THREADS, WAIT_RANKS))].sum()) * 1e-9
    return max(0.0, length - waits), min(waits, length)


def over_time(ranks: Sequence[Recorded]) -> dict[str, Any]:
    """Series over time: the share of time in which each thread works, messages delivered, bytes between ranks."""
    begin = min(one.begin for one in ranks)
    end = max(one.end for one in ranks)
    edges = np.linspace(0, max(1, end - begin), _BINS + 1)
    width = edges[1] * 1e-9
    series = []
    for number, one in enumerate(ranks):
        for thread in range(one.threads):
            wanted = (WORK,) if thread else (WAIT_THREADS, WAIT_RANKS)
            items = one.items[(one.items["track"] == thread) & np.isin(one.items["kind"], wanted)]
            share = _spread(items, items["busy"], begin, edges) / edges[1]
            alive = _spread_one(one.begin - begin, one.end - begin, edges) / edges[1]
            share = share if thread else alive - share
            named = f"rank {number}, thread {thread}" if len(ranks) > 1 else f"thread {thread}"
            series.append(_series("threads at work", "share of the time", named, 1.0, np.clip(share, 0, 1)))
    for number, one in enumerate(ranks):
        rounds = one.of(ROUND)
        named = f"rank {number}" if len(ranks) > 1 else ""
        if len(rounds):
            rate = _spread(rounds, rounds["amount"], begin, edges) / width
            series.append(_series("messages delivered", "1/s", named, None, rate))
    for number, one in enumerate(ranks):
        sends = one.of(SEND)
        if len(sends):
            rate = _spread(sends, sends["amount"], begin, edges) / width
            series.append(_series("bytes sent to other ranks", "B/s", f"rank {number}", None, rate))
    return {"unit": "s", "edges": [float(f"{edge * 1e-9:.6g}") for edge in edges], "series": series}


def _series(name: str, unit: str, of: str, most: float | None, values: Array) -> dict[str, Any]:
    return {"name": name, "unit": unit, "of": of, "most": most, "values": [float(f"{v:.5g}") for v in values.tolist()]}


def _spread_one(begin: float, end: float, edges: Array) -> Array:
    overlap: Array = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin), 0, None)
    return overlap


def _spread(items: Array, amounts: Array, zero: int, edges: Array) -> Array:
    """The amounts of items, spread evenly over their times, by bin. Sums are preserved."""
    # The sum up to a time is linear within an item, so bins are differences of the interpolated sums.
    begins = (items["begin"].astype(np.int64) - zero).astype(np.float64)[:, None]
    ends = (items["end"].astype(np.int64) - zero).astype(np.float64)[:, None]
    # A mark has no length: it belongs to the bin that it is in, the last one if it is at the end.
    ends = np.maximum(ends, begins + 1)
    reached = np.clip((edges - begins) / (ends - begins), 0, 1)
    reached[:, -1] = 1
    sums = amounts.astype(np.float64) @ reached
    found: Array = np.diff(sums)
    return found


__all__ = [
    "RECEIVE", "ROUND", "SEND", "STEP", "WAIT_RANKS", "WAIT_THREADS", "WORK",
    "Recorded", "Timeline", "aligned", "of_threads", "over_time", "write",
]  # fmt: skip
