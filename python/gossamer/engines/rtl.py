# SPDX-License-Identifier: Apache-2.0
"""The ``rtl`` engine: the hardware itself, simulated cycle for cycle.

A ``Tile`` is one simulated tile behind its network and its debug bus: programs and data
go in, messages, text, ends and traps come out, as with a tile on a board. Everything that happens depends on
what is loaded alone, so a run repeats to the cycle.

    with Tile(config.load("tiny")) as tile:
        tile.load_image(device.build("programs/hello.c", "tiny"))
        run = tile.run(tile.threads, on_line=print)
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from gossamer.config import constants
from gossamer.engines import _rtl_build, _rtl_network
from gossamer.engines._rtl_network import Message
from gossamer.engines._rtl_process import Kind, Record, Simulator
from gossamer.engines._rtl_words import ACCELERATOR, UNKNOWN_PC, Still, Trap, ranges, stills, who_waits
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

WATCHDOG = 1_000_000
"""Cycles without an instruction and without output after which a run is given up."""
LEAST_WAIT = 24
"""Cycles of the shortest wait that a trace shows."""
_CHUNK = 1 << 20
"""Bytes that are loaded between two reports of progress."""
_READ = 1 << 16
"""Bytes that are read with one request."""
_END = struct.Struct("<IIQQ")
_REASONS = ("done", "max-cycles", "deadlock", "stuck", "stopped")
_PATIENCE = 10.0
"""Seconds in which a simulation must stop after Ctrl-C."""

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
    """The tile's counters (debug_counter), of this run alone."""
    codes: Mapping[int, int]
    """Exit codes of the threads that ended."""
    traps: Sequence[Trap]
    still: Sequence[Still]
    """The threads that had not ended."""
    messages: Sequence[Message]
    """What was sent to the host, in the order in which it arrived."""
    seconds: float


@dataclass
class _Listeners:
    line: Text = _silent
    emit: Callable[[int, int], object] = _silent
    trap: Callable[[Trap], object] = _silent
    progress: Callable[[int, int], object] = _silent
    message: Callable[[Message], object] = _silent
    codes: dict[int, int] = field(default_factory=dict)
    traps: list[Trap] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

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
        elif record.kind == Kind.PROGRESS:
            self.progress(record.cycle, int.from_bytes(record.payload, "little"))

    def _packet(self, record: Record) -> None:
        flits = _rtl_network.flits(record.payload)
        if not _rtl_network.is_header(flits):
            self.messages.append(_rtl_network.message(flits, record.cycle))
            self.message(self.messages[-1])
        elif (told := _rtl_network.reply(flits, record.cycle)).op == constants.enumeration("load_op")["fault"]:
            self.traps.append(Trap(ACCELERATOR, record.cycle, told.tag, UNKNOWN_PC, told.address))
            self.trap(self.traps[-1])


class Tile:
    """One simulated tile, from reset. A context manager: on leaving it the simulator has gone.

    ``waves`` (FST) and ``trace`` (trace events, for Perfetto) are files that appear, whole,
    when the tile is closed after a run; ``least_wait`` is the shortest wait in cycles that a
    trace shows. ``simulator`` is another executable than the one that is built for the
    configuration, ``plusargs`` are arguments for the model (``+NAME=VALUE``). Raises InputError
    where the simulator cannot be built.
    """

    def __init__(
        self,
        config: Config,
        *,
        waves: Path | None = None,
        trace: Path | None = None,
        least_wait: int = LEAST_WAIT,
        simulator: Path | None = None,
        plusargs: Sequence[str] = (),
    ) -> None:
        self.config = config
        self._files = {option: path for option, path in (("waves", waves), ("trace", trace)) if path is not None}
        self._ran = False
        command: list[str | Path] = [simulator or _rtl_build.simulator(config, waves=waves is not None)]
        for option in self._files:
            command += [f"--{option}", self._partial(option)]
        self._simulator = Simulator([*command, "--least", str(least_wait), *plusargs])
        try:
            self._check_identity()
        except BaseException:
            self.close()
            raise

    @property
    def threads(self) -> int:
        """Threads of the tile."""
        return self.config.threads_per_tile

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

    def ask(self, commands: bytes, replies: int) -> list[bytes]:
        """Sends packets and waits for so many replies; each is a report, its code first."""
        self._simulator.request("Q", struct.pack("<I", replies) + commands)
        return [record.payload for record in self._simulator.until_done() if record.kind == Kind.REPLY]

    def _check_identity(self) -> None:
        (reply,) = self.ask(_packet("ping"), 1)
        magic, _, version, threads, threads_per_core, _ = struct.unpack("<xIIBBBB", reply)
        expected = (constants.value("debug_magic"), constants.value("debug_version"), self.threads)
        if (magic, version, threads) != expected or threads_per_core != self.config.core.threads_per_core:
            raise RunDied(f"the simulated tile is not one of {self.config.name}: it answered {reply.hex()}")

    def exchange(self, flits: _rtl_network.Flits, replies: int) -> list[_rtl_network.Reply]:
        """Sends flits into the network and waits for so many replies of the tile's loader."""
        self._simulator.request("N", struct.pack("<I", replies) + flits.tobytes())
        packets = [record for record in self._simulator.until_done() if record.kind == Kind.PACKET]
        return [_rtl_network.reply(_rtl_network.flits(record.payload), record.cycle) for record in packets]

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
            self._accepted(_rtl_network.writes(0, code, op="write_instr", group=_rtl_network.ALL_GROUPS))
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
        functions = sorted((at, name) for name, at in image.symbols.items() if at < 4 * len(image.instructions))
        ends = [at for at, _ in functions[1:]] + [4 * len(image.instructions)]
        self.load(
            image.instructions,
            [(part.address, part.data) for part in image.segments],
            [(begin, end, name) for (begin, name), end in zip(functions, ends, strict=True)],
            zeroes=[(part.address + len(part.data), part.size - len(part.data)) for part in image.segments],
            on_progress=on_progress,
        )

    def flush(self) -> None:
        """Writes back and drops what threads have in their caches; all must stand still."""
        self.ask(b"".join(_packet("flush", thread) for thread in range(self.threads)), self.threads)

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
        """Writes memory, past the caches: threads see it that hold no older line."""
        self._write(address, data, _silent)

    def _lines(self, address: int, size: int) -> bytes:
        parts = []
        for at in range(0, size, _READ):
            length = min(_READ, size - at)
            packets = -(-length // _rtl_network.PACKET)
            replies = self._accepted(_rtl_network.request("read", address + at, length), packets)
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
            self._accepted(_rtl_network.writes(begin + at, part))
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
            self._accepted(_rtl_network.request("fill", at, part))
            done(part)
        self._write(end, bytes(address + size - end), done)

    def _accepted(self, flits: _rtl_network.Flits, replies: int = 1) -> list[_rtl_network.Reply]:
        """Sends packets to the loader, the last of which asks for a reply; none may be refused."""
        got = self.exchange(flits, replies)
        if got and got[0].refusal:
            raise InputError(f"there is no memory at {got[0].address:#x}, or not all of it ({got[0].refusal})")
        return got

    def counters(self) -> dict[str, int]:
        """The tile's counters since reset, by name."""
        names = constants.enumeration("debug_counter").values
        replies = self.ask(b"".join(_packet("read_counter", index) for index in names.values()), len(names))
        return {name: int.from_bytes(reply[2:], "little") for name, reply in zip(names, replies, strict=True)}

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
    ) -> Run:
        """Starts threads 0 to ``threads`` - 1 and waits for the end of all.

        ``inputs`` are bytes for threads to read with uart_get. ``on_line`` and the like are
        told of what happens as it does; ``on_progress`` of cycle and instructions, a few times
        a second. Raises KeyboardInterrupt on Ctrl-C, when the simulation has stopped.
        """
        if not 1 <= threads <= self.threads:
            raise InputError(f"{threads} threads: a tile of {self.config.name} has {self.threads}")
        before = self.counters()
        for thread, data in (inputs or {}).items():
            self._simulator.request("I", struct.pack("<I", thread) + data)
        listeners = _Listeners(on_line, on_emit, on_trap, on_progress, on_message)
        begun = time.perf_counter()
        self._simulator.request("R", struct.pack("<IIQQ", threads, 0, max_cycles or 0, watchdog))
        try:
            end = self._listen(listeners)
        except KeyboardInterrupt:
            self._simulator.stop()
            with contextlib.suppress(RunDied):
                self._listen(listeners)
                self._ran = True
            raise
        seconds = time.perf_counter() - begun
        self._ran = True
        reason, count, first, instructions = _END.unpack_from(end.payload)
        found = stills(end.payload[_END.size :])
        assert len(found) == count
        # Its threads may hold the bus up; then only what the simulator saw is known.
        after = self.counters() if reason in (0, 1, 2) else before
        return Run(
            reason=_REASONS[reason],
            threads=threads,
            cycles=end.cycle - first,
            instructions=instructions,
            counters={name: after[name] - before[name] for name in after},
            codes=listeners.codes,
            traps=listeners.traps,
            still=found,
            messages=listeners.messages,
            seconds=seconds,
        )

    def _listen(self, listeners: _Listeners) -> Record:
        """Hands records on until the run's end, which it gives."""
        for record in self._simulator.records():
            if record.kind == Kind.END:
                return record
            listeners.hear(record)
        raise AssertionError("records end with an error only")


def _packet(name: str, *arguments: int) -> bytes:
    """A command of the debug bus: the high half of its code says how many bytes follow."""
    code = constants.enumeration("debug_command")[name]
    widths = {0: (), 1: (1,), 2: (1, 1), 4: (4,), 5: (1, 4)}[code >> 4]
    parts = (value.to_bytes(width, "little") for value, width in zip(arguments, widths, strict=True))
    return bytes([code]) + b"".join(parts)


__all__ = ["ACCELERATOR", "LEAST_WAIT", "WATCHDOG", "Message", "Run", "Still", "Tile", "Trap", "ranges", "who_waits"]
