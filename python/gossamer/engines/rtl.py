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
import json
import os
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import watching
from gossamer.config import constants
from gossamer.engines import _rtl_build, _rtl_control, _rtl_network
from gossamer.engines._rtl_control import Event
from gossamer.engines._rtl_network import Message
from gossamer.engines._rtl_process import Kind, Record, Simulator
from gossamer.engines._rtl_words import ACCELERATOR, UNKNOWN_PC, Still, Trap, on_tiles, ranges, stills, who_waits
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

WATCHDOG = 1_000_000
"""Cycles without an instruction and without output after which a run is given up."""
LEAST_WAIT = 24
"""Cycles of the shortest wait that a trace shows."""
TRACE_BYTES = 64_000_000
"""Most bytes of a trace: what Perfetto opens at once."""
_CHUNK = 1 << 20
"""Bytes that are loaded between two reports of progress."""
_READ = 1 << 16
"""Bytes that are read with one request."""
_END = struct.Struct("<IIQQQ")
_REASONS = ("done", "max-cycles", "deadlock", "stuck", "stopped")
_PATIENCE = 10.0
"""Seconds in which a simulation must stop after Ctrl-C."""

_EACH_TILE = 0xFFFF_FFFF
"""In the place of a tile's number: each of them."""

NetworkCounters = tuple[dict[tuple[int, int], dict[str, int]], list[dict[str, int]]]
"""Counters of links by board and link, and of boards."""
Text = Callable[[int, str, bool], object]
"""Told of each line: thread, text, whether more of the line follows."""


def _silent(*_: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Run:
    """How a program went."""

    reason: str
    """done, max-cycles, deadlock, stuck (no instruction for long) or stopped (by Ctrl-C)."""
    threads: int
    """Threads that were started."""
    cycles: int
    """From the start of the threads to the end of the last."""
    instructions: int
    counters: Mapping[str, int]
    """The tiles' counters (debug_counter), of this run alone, added up; ``cycles`` are those of one."""
    codes: Mapping[int, int]
    """Exit codes of the threads that ended."""
    traps: Sequence[Trap]
    still: Sequence[Still]
    """The threads that had not ended."""
    messages: Sequence[Message]
    """What was sent to the host, in the order in which it arrived."""
    seconds: float
    tiles: Sequence[Mapping[str, int]] = ()
    """The counters of each tile."""
    seen: watching.Seen | None = None
    """What all tiles did, as far as the simulator looked."""
    events: Sequence[Event] = ()
    """What boards told by themselves."""
    links: Mapping[tuple[int, int], Mapping[str, int]] = field(default_factory=dict)
    """Of a cluster: counters of this run (link_counter) by board and link."""
    boards: Sequence[Mapping[str, int]] = ()
    """Of a cluster: counters of this run (board_counter) of each board."""


@dataclass
class _Listeners:
    line: Text = _silent
    emit: Callable[[int, int], object] = _silent
    trap: Callable[[Trap], object] = _silent
    progress: Callable[[int, int], object] = _silent
    message: Callable[[Message], object] = _silent
    event: Callable[[Event], object] = _silent
    codes: dict[int, int] = field(default_factory=dict)
    traps: list[Trap] = field(default_factory=list)
    many: bool = False
    """Whether there are tiles to be told apart."""
    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: watching.Seen | None = None
    events: list[Event] = field(default_factory=list)

    def hear(self, record: Record) -> None:
        """Hands a record on to whom it is for."""
        if record.kind == Kind.LINE:
            self.line(record.thread, record.payload.decode(errors="backslashreplace"), bool(record.flags & 1))
        elif record.kind == Kind.EMIT:
            self.emit(record.thread, record.words()[0])
        elif record.kind == Kind.STOPPED:
            self.codes[record.thread] = record.words()[0]
        elif record.kind == Kind.TRAP:
            cause, pc, value = record.words()
            self.traps.append(Trap(record.thread, record.cycle, cause, pc, value))
            self.trap(self.traps[-1])
        elif record.kind == Kind.PACKET:
            self._packet(record)
        elif record.kind == Kind.NOTE:
            self.notes.append(record.payload.decode())
        elif record.kind == Kind.WATCH:
            self.seen = watching.parse(record.payload)
        elif record.kind == Kind.PROGRESS:
            self.progress(record.cycle, int.from_bytes(record.payload, "little"))

    def _packet(self, record: Record) -> None:
        flits = _rtl_network.flits(record.payload)
        if not _rtl_network.is_header(flits):
            self.messages.append(_rtl_network.message(flits, record.cycle))
            self.message(self.messages[-1])
        elif (said := _rtl_control.decode(flits, record.cycle)) is not None:
            if isinstance(said, Event):
                self.events.append(said)
                self.event(said)
        elif (told := _rtl_network.reply(flits, record.cycle)).op == constants.enumeration("load_op")["fault"]:
            place = ",".join(map(str, _rtl_network.place(told.sender))) if self.many else ""
            self.traps.append(Trap(ACCELERATOR, record.cycle, told.tag, UNKNOWN_PC, told.address, place))
            self.trap(self.traps[-1])


class Tile:
    """One simulated tile, from reset. A context manager: on leaving it the simulator has gone.

    ``waves`` (FST) and ``trace`` (Perfetto's binary form) are files that appear, whole,
    when the tile is closed after a run; ``least_wait`` is the shortest wait in cycles that a
    trace shows, ``trace_bytes`` the most that it may have: it is thinned to that. ``program`` is
    what others are shown who watch. ``simulator`` is another executable than the one that is
    built for the configuration, ``plusargs`` are arguments for the model (``+NAME=VALUE``).
    Raises InputError where the simulator cannot be built.
    """

    tiles = 1
    """Tiles that are simulated. Threads are numbered tile by tile."""

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
    ) -> None:
        self.config = config
        self._files = {option: path for option, path in (("waves", waves), ("trace", trace)) if path is not None}
        self._ran = False
        self.notes: list[str] = []
        """What the user is told of the last run: that its trace was thinned."""
        command: list[str | Path] = [simulator or self._executable(config, waves is not None)]
        for option in self._files:
            command += [f"--{option}", self._partial(option)]
        command += ["--least", str(least_wait), "--trace-bytes", str(trace_bytes)]
        command += self._status(program)
        self._simulator = Simulator([*command, *self._options(), *plusargs])
        try:
            self._check_identity()
            self._configure()
        except BaseException:
            self.close()
            raise

    def _executable(self, config: Config, waves: bool) -> Path:
        return _rtl_build.simulator(config, waves=waves)

    def _options(self) -> list[str]:
        return []

    def _status(self, program: str) -> list[str]:
        """Has the simulator tell others of itself (gossamer.watching)."""
        folder = watching.folder()
        if folder is None:
            return []
        about = {"program": program, "begun": time.time(), **self._about()}
        return ["--status", str(folder), "--about", json.dumps(about)[1:-1]]

    def _about(self) -> dict[str, Any]:
        """What is told of it to those who watch."""
        return {"config": self.config.name, "clock_mhz": self.config.board.clock_mhz}

    def _configure(self) -> None:
        """What must be told to the hardware before it is of use: nothing, on one board."""

    @property
    def threads(self) -> int:
        """Threads that are simulated."""
        return self.tiles * self.config.threads_per_tile

    def __enter__(self) -> Tile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the simulator; files of a run that came to an end get their names."""
        self._simulator.close()
        for option, path in self._files.items():
            partial = self._partial(option)
            if self._ran:
                with contextlib.suppress(FileNotFoundError):
                    os.replace(partial, path)
            partial.unlink(missing_ok=True)
            partial.with_name(partial.name + ".hier").unlink(missing_ok=True)
        self._files = {}

    def _partial(self, option: str) -> Path:
        path = self._files[option]
        return path.with_name(f".{path.name}.{os.getpid()}.part")

    # ---- The debug bus ----

    def ask(self, commands: bytes, replies: int, *, tile: int = 0) -> list[bytes]:
        """Sends packets to a tile and waits for so many replies; each is a report, its code first."""
        self._simulator.request("Q", struct.pack("<II", replies, tile) + commands)
        return [record.payload for record in self._simulator.until_done() if record.kind == Kind.REPLY]

    def ask_each(self, commands: bytes, replies: int) -> list[list[bytes]]:
        """The same to each tile at once; the replies of each."""
        self._simulator.request("Q", struct.pack("<II", replies, _EACH_TILE) + commands)
        found: list[list[bytes]] = [[] for _ in range(self.tiles)]
        for record in self._simulator.until_done():
            if record.kind == Kind.REPLY:
                found[record.thread // self.config.threads_per_tile].append(record.payload)
        return found

    def _check_identity(self) -> None:
        expected = (constants.value("debug_magic"), constants.value("debug_version"), self.config.threads_per_tile)
        for (reply,) in self.ask_each(_packet("ping"), 1):
            magic, _, version, threads, threads_per_core, _ = struct.unpack("<xIIBBBB", reply)
            if (magic, version, threads) != expected or threads_per_core != self.config.core.threads_per_core:
                raise RunDied(f"the simulated tile is not one of {self.config.name}: it answered {reply.hex()}")

    def exchange(self, flits: _rtl_network.Flits, replies: int) -> list[_rtl_network.Reply]:
        """Sends flits into the network and waits for so many replies of loaders."""
        self._simulator.request("N", struct.pack("<I", replies) + flits.tobytes())
        packets = [record for record in self._simulator.until_done() if record.kind == Kind.PACKET]
        replies_of = [(_rtl_network.flits(record.payload), record.cycle) for record in packets]
        return [_rtl_network.reply(*one) for one in replies_of if _rtl_control.decode(*one) is None]

    def load(
        self,
        instructions: Sequence[int],
        segments: Iterable[tuple[int, bytes]] = (),
        symbols: Iterable[tuple[int, int, str]] = (),
        *,
        zeroes: Iterable[tuple[int, int]] = (),
        on_progress: Callable[[int, int], object] = _silent,
    ) -> None:
        """Loads instructions from address 0, and data at addresses of DRAM as it is or of SRAM.

        ``zeroes`` are addresses and sizes of what is filled with zeroes, which are not sent.
        ``symbols`` are functions for the trace: begin, end, name. ``on_progress`` is told of
        bytes that are loaded, of how many. Raises InputError if the program is larger than the
        instruction memory, or if there is no memory at an address.
        """
        words = np.asarray(instructions, dtype="<u4")
        room = self.config.instr_words
        if len(words) > room:
            raise InputError(f"the program has {len(words)} instructions, {len(words) - room} more than fit")
        if self._ran:
            self.flush()
        segments, zeroes = list(segments), list(zeroes)
        total = words.nbytes + sum(len(data) for _, data in segments) + sum(size for _, size in zeroes)
        done = 0

        def more(count: int) -> None:
            nonlocal done
            done += count
            on_progress(done, total)

        code = words.tobytes()
        if code:
            code += bytes(-len(code) % _rtl_network.PAYLOAD)
            groups = _rtl_network.ALL_GROUPS
            packets = _rtl_network.writes(0, code, op="write_instr", group=groups, dest=self._every_tile())
            self._accepted(packets, self.tiles)
            more(words.nbytes)
        for address, data in segments:
            self._write(address, data, more)
        for address, size in zeroes:
            self._zero(address, size, more)
        if "trace" in self._files:
            table = b"".join(
                struct.pack("<III", begin, end, len(name.encode())) + name.encode()
                for begin, end, name in sorted(symbols)
            )
            self._simulator.request("Y", table)

    def load_image(self, image: Image, *, on_progress: Callable[[int, int], object] = _silent) -> None:
        """Loads a program that ``gossamer.device`` has built for this configuration."""
        self.load(
            image.instructions,
            [(part.address, part.data) for part in image.segments],
            functions(image),
            zeroes=[(part.address + len(part.data), part.size - len(part.data)) for part in image.segments],
            on_progress=on_progress,
        )

    def watched(self) -> watching.Seen | None:
        """What all tiles did in the last run, as far as the simulator looked; the run's notes come with it."""
        listeners = _Listeners()
        self._simulator.request("T")
        for record in self._simulator.until_done():
            listeners.hear(record)
        self.notes = listeners.notes
        return listeners.seen

    def flush(self) -> None:
        """Writes back and drops what threads have in their caches; all must stand still."""
        threads = self.config.threads_per_tile
        self.ask_each(b"".join(_packet("flush", thread) for thread in range(threads)), threads)

    def read(self, address: int, words: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of memory, after what threads have in their caches was written back.

        DRAM as it is and SRAM are read; InputError for any other address.
        """
        self.flush()
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + 4 * words) // line) * line
        data = self._lines(begin, end - begin)
        return np.frombuffer(data[address - begin :], np.uint32, words).copy()

    def write(self, address: int, data: bytes) -> None:
        """Writes memory, of all DRAMs and their SRAMs, past the caches: threads see it that hold no older line."""
        self._write(address, data, _silent)

    def write_memory(self, memory: int, address: int, data: bytes) -> None:
        """Writes one DRAM or its SRAM, by the DRAM's number, board by board; the address is that of a line."""
        dest, line = self._memories()[memory], self.config.cache.line_bytes
        data += bytes(-len(data) % line)
        for at in range(0, len(data), _CHUNK):
            self._accepted(_rtl_network.writes(address + at, data[at : at + _CHUNK], dest=dest))

    def read_memory(self, memory: int, address: int, size: int) -> bytes:
        """Reads one DRAM or its SRAM, after ``flush`` what threads have written; the address is that of a line."""
        line = self.config.cache.line_bytes
        return self._lines(address, -(-size // line) * line, self._memories()[memory])[:size]

    def _memories(self) -> list[int]:
        """Addresses of a tile at each DRAM of every board."""
        return self._loaders()

    def _loaders(self) -> list[int]:
        """Addresses of a tile at each DRAM, through whose loader that memory and its SRAM are reached."""
        return [_rtl_network.TILE]

    def _every_memory(self) -> list[tuple[int, int]]:
        """Where to send what all memories get, and how many reply to it."""
        return [(dest, 1) for dest in self._loaders()]

    def _every_tile(self) -> int:
        """Where to send what all tiles get."""
        return _rtl_network.EVERY_TILE

    def _lines(self, address: int, size: int, dest: int | None = None) -> bytes:
        parts = []
        dest = self._loaders()[0] if dest is None else dest
        for at in range(0, size, _READ):
            length = min(_READ, size - at)
            packets = -(-length // _rtl_network.PACKET)
            replies = self._accepted(_rtl_network.request("read", address + at, length, dest=dest), packets)
            parts += [reply.data for reply in replies]
        return b"".join(parts)

    def _write(self, address: int, data: bytes, done: Callable[[int], object]) -> None:
        if not data:
            return
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + len(data)) // line) * line
        # Memory has whole lines: what stands beside the data in the first and the last stays.
        head = self._lines(begin, line)[: address - begin] if address != begin else b""
        tail = self._lines(end - line, line)[address + len(data) - end :] if address + len(data) != end else b""
        whole = head + data + tail
        for at in range(0, len(whole), _CHUNK):
            part = whole[at : at + _CHUNK]
            for dest, replies in self._every_memory():
                self._accepted(_rtl_network.writes(begin + at, part, dest=dest), replies)
            done(min(len(part), len(data)))

    def _zero(self, address: int, size: int, done: Callable[[int], object]) -> None:
        line = self.config.cache.line_bytes
        begin, end = -(-address // line) * line, (address + size) // line * line
        if begin >= end:
            self._write(address, bytes(size), done)
            return
        self._write(address, bytes(begin - address), done)
        for at in range(begin, end, _CHUNK):
            part = min(_CHUNK, end - at)
            for dest, replies in self._every_memory():
                self._accepted(_rtl_network.request("fill", at, part, dest=dest), replies)
            done(part)
        self._write(end, bytes(address + size - end), done)

    def _accepted(self, flits: _rtl_network.Flits, replies: int = 1) -> list[_rtl_network.Reply]:
        """Sends packets to the loader, the last of which asks for a reply; none may be refused."""
        got = self.exchange(flits, replies)
        for reply in got:
            if reply.refusal:
                raise InputError(f"there is no memory at {reply.address:#x}, or not all of it ({reply.refusal})")
        return got

    def counters(self) -> dict[str, int]:
        """The tiles' counters since reset, by name, added up; ``cycles`` are those of one."""
        return _sum(self._counters())

    def _counters(self) -> list[dict[str, int]]:
        names = constants.enumeration("debug_counter").values
        packets = b"".join(_packet("read_counter", index) for index in names.values())
        found = []
        for replies in self.ask_each(packets, len(names)):
            values = (int.from_bytes(reply[2:], "little") for reply in replies)
            found.append(dict(zip(names, values, strict=True)))
        return found

    # ---- Running ----

    def run(
        self,
        threads: int,
        *,
        max_cycles: int | None = None,
        watchdog: int = WATCHDOG,
        inputs: Mapping[int, bytes] | None = None,
        on_line: Text = _silent,
        on_emit: Callable[[int, int], object] = _silent,
        on_trap: Callable[[Trap], object] = _silent,
        on_progress: Callable[[int, int], object] = _silent,
        on_message: Callable[[Message], object] = _silent,
        on_event: Callable[[Event], object] = _silent,
    ) -> Run:
        """Starts threads 0 to ``threads`` - 1 and waits for the end of all.

        ``inputs`` are bytes for threads to read with uart_get. ``on_line`` and the like are
        told of what happens as it does; ``on_progress`` of cycle and instructions, a few times
        a second. Raises KeyboardInterrupt on Ctrl-C, when the simulation has stopped.
        """
        if not 1 <= threads <= self.threads:
            raise InputError(f"{threads} threads: {self._what()} has {self.threads}")
        before, network = self._counters(), self._network_counters()
        for thread, data in (inputs or {}).items():
            self._simulator.request("I", struct.pack("<I", thread) + data)
        listeners = _Listeners(on_line, on_emit, on_trap, on_progress, on_message, on_event, many=self.tiles > 1)
        begun = time.perf_counter()
        self._simulator.request("R", struct.pack("<IIQQ", threads, 0, max_cycles or 0, watchdog))
        try:
            end = self._listen(listeners)
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
        found = stills(end.payload[_END.size :])
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
            traps=listeners.traps,
            still=found,
            messages=listeners.messages,
            seconds=seconds,
            tiles=tiles,
            seen=listeners.seen,
            events=listeners.events,
            links=network[0],
            boards=network[1],
        )

    def _what(self) -> str:
        """What is simulated, as messages call it."""
        return f"{'a board' if self.tiles > 1 else 'a tile'} of {self.config.name}"

    def _network_counters(self, before: NetworkCounters | None = None) -> NetworkCounters:
        """Counters of links and boards since reset, or since those ``before``: none, on one board."""
        return {}, []

    def _listen(self, listeners: _Listeners) -> Record:
        """Hands records on until the run's end, which it gives."""
        for record in self._simulator.records():
            if record.kind == Kind.END:
                return record
            listeners.hear(record)
        raise AssertionError("records end with an error only")


def functions(image: Image) -> list[tuple[int, int, str]]:
    """Begin, end and name of each function, for the trace."""
    found = sorted((at, name) for name, at in image.symbols.items() if at < 4 * len(image.instructions))
    ends = [at for at, _ in found[1:]] + [4 * len(image.instructions)]
    return [(begin, end, name) for (begin, name), end in zip(found, ends, strict=True)]


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


def _packet(name: str, *arguments: int) -> bytes:
    """A command of the debug bus: the high half of its code says how many bytes follow."""
    code = constants.enumeration("debug_command")[name]
    widths = {0: (), 1: (1,), 2: (1, 1), 4: (4,), 5: (1, 4)}[code >> 4]
    parts = (value.to_bytes(width, "little") for value, width in zip(arguments, widths, strict=True))
    return bytes([code]) + b"".join(parts)


__all__ = [
    "ACCELERATOR", "LEAST_WAIT", "TRACE_BYTES", "WATCHDOG", "Board", "Event", "Message", "Run", "Still", "Tile", "Trap",
    "functions", "on_tiles", "ranges", "who_waits",
]  # fmt: skip
