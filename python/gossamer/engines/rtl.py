# SPDX-License-Identifier: Apache-2.0
"""The ``rtl`` engine: the hardware itself, simulated cycle for cycle.

A ``Tile`` simulates one tile of a configuration, a ``Cluster`` (``rtl_cluster.py``) boards, also a single one. Programs
and data are loaded over the network, threads are started over debug buses; the simulator returns messages, text, ends
and traps. A run depends only on the loaded program and data, so it is reproducible to the cycle.
"""

from __future__ import annotations

import contextlib
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.engines import _rtl_build
from gossamer.engines._machine import Event, Kind, Message, Record
from gossamer.engines._rtl_diagnostics import (
    ACCELERATOR,
    Trap,
    UnfinishedThread,
    describe_unfinished,
    on_tiles,
    parse_unfinished,
    ranges,
)
from gossamer.engines._rtl_machine import LEAST_WAIT, TRACE_BYTES, Loaded, functions
from gossamer.engines._rtl_simulator import LineHandler, Listeners, Run, silent
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.watch import snapshots


NAME = "rtl"
WATCHDOG = 1_000_000
"""Cycles without an instruction and without output after which a run aborts."""
_END = struct.Struct("<IIQQQ")
_REASONS = ("done", "max-cycles", "deadlock", "stuck", "stopped")

NetworkCounters = tuple[dict[tuple[int, int], dict[str, int]], list[dict[str, int]]]
"""Counters of links by board and link, and of boards."""


class Tile(Loaded):
    """One simulated tile, after reset. A context manager that ends the simulator on exit.

    ``waves`` (FST) and ``trace`` (Perfetto's binary format) are files that are complete once the tile is closed after a
    run; ``least_wait`` is the shortest wait in cycles that a trace shows, ``trace_bytes`` its maximum size, to which it
    is thinned. ``program`` is the name in snapshots. ``simulator`` replaces the executable that is built for the
    configuration, ``plusargs`` are arguments of the model (``+NAME=VALUE``). Raises InputError if the simulator cannot
    be built.
    """

    def counters(self) -> dict[str, int]:
        """Sums of the tiles' counters since reset, by name; ``cycles`` is that of one tile."""
        return _sum(self._counters())

    def watched(self) -> snapshots.Snapshot | None:
        """The sampled activity of all tiles in the last run. Updates ``notes`` as well."""
        listeners = Listeners()
        self.link.call("watch")
        while (record := self.link.next()).kind != Kind.DONE:
            listeners.dispatch(record)
        self.notes = listeners.notes
        return listeners.snapshot

    def run(
        self,
        threads: int,
        *,
        max_cycles: int | None = None,
        watchdog: int = WATCHDOG,
        inputs: Mapping[int, bytes] | None = None,
        on_line: LineHandler = silent,
        on_emit: Callable[[int, int], object] = silent,
        on_trap: Callable[[Trap], object] = silent,
        on_progress: Callable[[int, int], object] = silent,
        on_message: Callable[[Message], object] = silent,
        on_event: Callable[[Event], object] = silent,
        pauses: Sequence[tuple[int, Callable[[], object]]] = (),
    ) -> Run:
        """Starts threads 0 to ``threads`` - 1 and waits until all have ended.

        ``inputs`` are bytes that threads read with uart_get. The ``on_`` callbacks are called for each event;
        ``on_progress`` a few times a second with cycle and instructions. At the cycles of ``pauses`` the run calls the
        given functions; these may send requests to the boards, whose threads continue. On Ctrl-C, raises
        KeyboardInterrupt after the simulation has stopped.
        """
        if not 1 <= threads <= self.threads:
            raise InputError(f"{threads} thread{'' if threads == 1 else 's'}: {self._label()} has {self.threads}")
        before, network = self._counters(), self._network_counters()
        for thread, data in (inputs or {}).items():
            self.link.call("add_input", thread, data, len(data))
        listeners = Listeners(on_line, on_emit, on_trap, on_progress, on_message, on_event, many=self.tiles > 1)
        begun = time.perf_counter()
        left = sorted(pauses, key=lambda pause: pause[0])
        self._pause(left)
        started = self._started(threads)
        self.link.run(started, max_cycles or 0, watchdog)
        try:
            while (end := self._listen(listeners)).kind == Kind.PAUSED:
                left.pop(0)[1]()
                self._pause(left)
                self.link.call("continue")
        except KeyboardInterrupt:
            with contextlib.suppress(RunDied):
                self.link.call("stop")
                self._listen(listeners)
                self._ran = True
            self.notes = listeners.notes
            raise
        seconds = time.perf_counter() - begun
        self._ran = True
        self.notes = listeners.notes
        reason, count, first, last, instructions = _END.unpack_from(end.payload)
        found = parse_unfinished(end.payload[_END.size :])
        assert len(found) == count
        # Threads of a stuck run may block the debug bus, and in a deadlock a cut cable may make a board unreachable:
        # then the counters are not read.
        cut = any(event.what == "link_down" for event in listeners.events)
        after = self._counters() if reason in (0, 1) or (reason == 2 and not cut) else before
        network = self._network_counters(network) if reason in (0, 1) else ({}, [])
        tiles = [{name: late[name] - early[name] for name in late} for early, late in zip(before, after, strict=True)]
        return Run(
            reason=_REASONS[reason],
            threads=sum(started),
            cycles=last - first,
            instructions=instructions,
            counters=_sum(tiles),
            codes=listeners.codes,
            ends={thread: cycle - first for thread, cycle in listeners.ends.items()},
            traps=listeners.traps,
            unfinished=found,
            messages=listeners.messages,
            seconds=seconds,
            tiles=tiles,
            snapshot=listeners.snapshot,
            events=listeners.events,
            links=network[0],
            boards=network[1],
            queues=listeners.queues,
        )

    def _started(self, threads: int) -> list[int]:
        """The number of threads that a run of ``threads`` threads starts on each board."""
        return [threads]

    def _label(self) -> str:
        """The name of the machine in messages."""
        return f"a tile of {self.config.name}"

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        """Counters of links and boards since reset, or since ``before``; empty for a single tile."""
        return {}, []

    def _pause(self, left: Sequence[tuple[int, object]]) -> None:
        """Requests the next pause of the run."""
        if left:
            self.link.call("pause", left[0][0])

    def _listen(self, listeners: Listeners) -> Record:
        """Dispatches records until the end of the run or its next pause, and returns that record."""
        while (record := self.link.next()).kind not in (Kind.END, Kind.PAUSED):
            listeners.dispatch(record)
        return record


def _sum(tiles: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Sums of the counters of all tiles, except ``cycles``, which is equal for all."""
    names = tiles[0]
    return {name: tiles[0][name] if name == "cycles" else sum(tile[name] for tile in tiles) for name in names}


@dataclass(frozen=True)
class TileOutcome:
    """The outcome of one tile."""

    cycles: int
    """From the start of its threads to the end of the last, or of the run."""
    ended: int
    """Number of threads that have ended."""
    sum: str
    """Checksum over all records and their cycles."""


@dataclass(frozen=True)
class ManyTilesRun:
    """The outcome of a run of many tiles."""

    tiles: tuple[TileOutcome, ...]
    cycles: int
    """Cycles during which all tiles ran."""
    seconds: float
    """Processor time of those cycles."""


def run_many_tiles(
    config: Config, image: Image, tiles: int, *, stagger: int, most: int, apart: bool = False
) -> ManyTilesRun:
    """Runs all threads of ``tiles`` independent tiles on one host thread; tiles start ``stagger`` cycles apart.

    The run ends with the last thread, or ``most`` cycles after the start of the last tile. With ``apart`` each tile is
    evaluated separately, for comparison. Raises InputError if the simulator cannot be built.
    """
    simulator = _rtl_build.simulator_of_many(config)
    with tempfile.TemporaryDirectory() as folder:
        requests = Path(folder) / "requests"
        requests.write_bytes(_requests(config, image))
        command = [str(word) for word in (simulator, requests, tiles, stagger, most, int(apart))]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the simulator of many tiles ended with {done.returncode}: {done.stderr.strip()}")
    found: list[TileOutcome] = []
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "tile":
            found.append(TileOutcome(int(words[3]), int(words[5]), words[7]))
    return ManyTilesRun(tuple(found), int(words[1]), float(words[2]))


def _requests(config: Config, image: Image) -> bytes:
    """The requests that load a program into a tile and start all threads."""
    with Tile(config) as tile:
        tile.link.keep_requests()
        tile.load_image(image)
        tile.run(tile.threads, max_cycles=1)
        return tile.link.requests()


__all__ = [
    "ACCELERATOR",
    "LEAST_WAIT",
    "TRACE_BYTES",
    "WATCHDOG",
    "Event",
    "ManyTilesRun",
    "Message",
    "Run",
    "Tile",
    "TileOutcome",
    "Trap",
    "UnfinishedThread",
    "describe_unfinished",
    "functions",
    "on_tiles",
    "ranges",
    "run_many_tiles",
]
