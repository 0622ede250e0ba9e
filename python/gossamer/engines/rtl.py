# SPDX-License-Identifier: Apache-2.0
"""The ``rtl`` engine: the hardware itself, simulated cycle for cycle.

A ``Board`` is all tiles of a configuration with their mesh, memories and a host at its rim; a ``Tile`` is one tile
alone. Programs and data go in over the network, threads are started over debug buses; messages, text, ends and traps
come out. Everything that happens depends on what is loaded alone, so a run repeats to the cycle.

    with Board(config.load("tiny")) as board:
        board.load_image(device.build("programs/hello.c", "tiny"))
        run = board.run(board.threads, on_line=print)
"""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.engines import _rtl_build, _rtl_network
from gossamer.engines._rtl_control import Event
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
from gossamer.engines._rtl_network import Message
from gossamer.engines._rtl_simulator import Kind, LineHandler, Listeners, Record, Run, silent
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.watch import snapshots


WATCHDOG = 1_000_000
"""Cycles without an instruction and without output after which a run is given up."""
_END = struct.Struct("<IIQQQ")
_REASONS = ("done", "max-cycles", "deadlock", "stuck", "stopped")

RecordHandler = Callable[[Record], object]
"""Is handed what a simulator tells while it is asked for something else."""
NetworkCounters = tuple[dict[tuple[int, int], dict[str, int]], list[dict[str, int]]]
"""Counters of links by board and link, and of boards."""


class Tile(Loaded):
    """One simulated tile, from reset. A context manager: on leaving it the simulator has gone.

    ``waves`` (FST) and ``trace`` (Perfetto's binary form) are files that appear, whole,
    when the tile is closed after a run; ``least_wait`` is the shortest wait in cycles that a
    trace shows, ``trace_bytes`` the most that it may have: it is thinned to that. ``program`` is
    what others are shown who watch. ``simulator`` is another executable than the one that is
    built for the configuration, ``plusargs`` are arguments for the model (``+NAME=VALUE``).
    Raises InputError where the simulator cannot be built.
    """

    def counters(self) -> dict[str, int]:
        """The tiles' counters since reset, by name, added up; ``cycles`` are those of one."""
        return _sum(self._counters())

    def watched(self) -> snapshots.Snapshot | None:
        """What all tiles did in the last run, as far as the simulator looked; the run's notes come with it."""
        listeners = Listeners()
        self._simulator.request("T")
        for record in self._simulator.until_done():
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
        pauses: Sequence[tuple[int, Callable[[RecordHandler], object]]] = (),
    ) -> Run:
        """Starts threads 0 to ``threads`` - 1 and waits for the end of all.

        ``inputs`` are bytes for threads to read with uart_get. ``on_line`` and the like are
        told of what happens as it does; ``on_progress`` of cycle and instructions, a few times
        a second. The run pauses at cycles of ``pauses``, for what is called then: that may ask the
        boards, while their threads go on, and hands on what it hears meanwhile. Raises
        KeyboardInterrupt on Ctrl-C, when the simulation has stopped.
        """
        if not 1 <= threads <= self.threads:
            raise InputError(f"{threads} threads: {self._what()} has {self.threads}")
        before, network = self._counters(), self._network_counters()
        for thread, data in (inputs or {}).items():
            self._simulator.request("I", struct.pack("<I", thread) + data)
        listeners = Listeners(on_line, on_emit, on_trap, on_progress, on_message, on_event, many=self.tiles > 1)
        begun = time.perf_counter()
        left = sorted(pauses, key=lambda pause: pause[0])
        self._pause(left)
        started = self._started()
        if started is not None:
            threads = sum(started)
        request = struct.pack("<IIQQ", threads, 0, max_cycles or 0, watchdog)
        self._simulator.request("R", request + struct.pack(f"<{len(started or ())}I", *(started or ())))
        try:
            while (end := self._listen(listeners)).kind == Kind.PAUSED:
                left.pop(0)[1](listeners.dispatch)
                self._pause(left)
                self._simulator.request("C")
        except KeyboardInterrupt:
            self._simulator.stop()
            with contextlib.suppress(RunDied):
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
        # Its threads may hold the bus up; then only what the simulator saw is known.
        after = self._counters() if reason in (0, 1, 2) else before
        network = self._network_counters(network) if reason in (0, 1) else ({}, [])
        tiles = [{name: late[name] - early[name] for name in late} for early, late in zip(before, after, strict=True)]
        return Run(
            reason=_REASONS[reason],
            threads=threads,
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

    def _started(self) -> list[int] | None:
        """How many threads of each board a run starts, whatever it was asked for; None if it is asked."""
        return None

    def _what(self) -> str:
        """What is simulated, as messages call it."""
        return f"{'a board' if self.tiles > 1 else 'a tile'} of {self.config.name}"

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        """Counters of links and boards since reset, or since those ``before``: none, on one board."""
        return {}, []

    def _pause(self, left: Sequence[tuple[int, object]]) -> None:
        """Where the run that begins or goes on next is to pause."""
        if left:
            self._simulator.request("P", struct.pack("<Q", left[0][0]))

    def _listen(self, listeners: Listeners) -> Record:
        """Hands records on until the run's end or its next pause, which it gives."""
        for record in self._simulator.records():
            if record.kind in (Kind.END, Kind.PAUSED):
                return record
            listeners.dispatch(record)
        raise AssertionError("records end with an error only")


def _sum(tiles: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Counters of all tiles, which have seen the same cycles."""
    names = tiles[0]
    return {name: tiles[0][name] if name == "cycles" else sum(tile[name] for tile in tiles) for name in names}


class Board(Tile):
    """All tiles of a configuration, with their mesh, their memories and a host at the rim; used as a ``Tile`` is.

    Waves are those of one ``tile``. ``workers`` are threads of this machine that simulate together, by default as
    many as it has for them: cycles and output are the same with any number. ``flat``: the board is one model.
    """

    def __init__(
        self,
        config: Config,
        *,
        waves: Path | None = None,
        trace: Path | None = None,
        least_wait: int = LEAST_WAIT,
        trace_bytes: int = TRACE_BYTES,
        program: str = "",
        simulator: Path | None = None,
        plusargs: Sequence[str] = (),
        workers: int | None = None,
        tile: int = 0,
        flat: bool = False,
        tiles: int | None = None,
    ) -> None:
        self.tiles = config.tiles if tiles is None else tiles
        self._flat = flat
        self._shown = tile
        self._workers = workers or min(len(os.sched_getaffinity(0)), self.tiles)
        super().__init__(
            config, waves=waves, trace=trace, least_wait=least_wait, trace_bytes=trace_bytes, program=program,
            simulator=simulator, plusargs=plusargs,
        )  # fmt: skip

    def _executable(self, config: Config, waves: bool) -> Path:
        return _rtl_build.board(config, waves=waves, flat=self._flat)

    def _options(self) -> list[str]:
        return ["--workers", str(self._workers), "--tile", str(self._shown)]

    def _loaders(self) -> list[int]:
        width, each = self.config.mesh.width, self.tiles // self.config.memory.dram.count
        return [_rtl_network.tile(tile % width, tile // width) for tile in range(0, self.tiles, each)]


_REQUEST_HEAD = struct.Struct("<II")


@dataclass(frozen=True)
class TileOutcome:
    """What one of the tiles did."""

    cycles: int
    """From the start of its threads to the end of the last, or of the run."""
    ended: int
    """Threads that have."""
    sum: str
    """Over all that it told, and when."""


@dataclass(frozen=True)
class ManyTilesRun:
    """A run of many tiles."""

    tiles: tuple[TileOutcome, ...]
    cycles: int
    """Cycles in which all of them ran."""
    seconds: float
    """The processor's time for those."""


def run_many_tiles(
    config: Config, image: Image, tiles: int, *, stagger: int, most: int, apart: bool = False
) -> ManyTilesRun:
    """Runs all threads of ``tiles`` tiles, each started ``stagger`` cycles behind the one before it.

    It ends with the last thread, or ``most`` cycles after the last tile's start. With ``apart`` each tile is evaluated
    by itself, for comparison. Raises InputError where the simulator cannot be built.
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
    """What one tile is asked for to load a program and start all threads."""
    with Tile(config) as tile:
        sent: list[tuple[str, bytes]] = []
        tile._simulator.sent = sent
        tile.load_image(image)
        tile.run(tile.threads, max_cycles=1)
    return b"".join(_REQUEST_HEAD.pack(ord(kind), len(payload)) + payload for kind, payload in sent)


__all__ = [
    "ACCELERATOR",
    "LEAST_WAIT",
    "TRACE_BYTES",
    "WATCHDOG",
    "Board",
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
