# SPDX-License-Identifier: Apache-2.0
"""A simulated machine: its process, debug buses and host port, and the programs and data in its memories."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gossamer.config import constants
from gossamer.engines import _rtl_build, _rtl_control, _rtl_network
from gossamer.engines._rtl_simulator import Kind, Record, Simulator, silent
from gossamer.errors import InputError, RunDied
from gossamer.files import move_whole, temporary_sibling
from gossamer.watch import snapshots

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image


LEAST_WAIT = 24
"""Cycles of the shortest wait that a trace shows."""
TRACE_BYTES = 64_000_000
"""Maximum bytes of a trace: the size that Perfetto opens without a helper."""
_CSRRW = 0x1073
"""The instruction ``csrrw x0, 0, x0``."""
_EACH_TILE = 0xFFFF_FFFF
"""Tile number that means every tile."""

_Self = TypeVar("_Self", bound="Machine")


class Machine:
    """A simulated machine without a program: the simulator process, and packets to and from it."""

    tiles = 1
    """Number of simulated tiles. Threads are numbered tile by tile."""

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
        asked = (("waves", waves), ("trace", trace))
        self._files = {option: (path, temporary_sibling(path)) for option, path in asked if path is not None}
        self._ran = False
        self.notes: list[str] = []
        """Notes for the user about the last run, for example that its trace was thinned."""
        command: list[str | Path] = [simulator or self._executable(config, waves is not None)]
        for option, (_, partial) in self._files.items():
            command += [f"--{option}", partial]
        command += ["--least", str(least_wait), "--trace-bytes", str(trace_bytes)]
        command += self._status(program)
        self._simulator = self._start([*command, *self._options(), *plusargs])
        try:
            # A board sends no reports before its host is configured.
            self._configure()
            self._check_identity()
        except BaseException:
            self.close()
            raise

    def _executable(self, config: Config, waves: bool) -> Path:
        return _rtl_build.simulator(config, waves=waves)

    def _options(self) -> list[str]:
        return []

    def _start(self, command: Sequence[str | Path]) -> Simulator:
        return Simulator(command)

    def _status(self, program: str) -> list[str]:
        """Options that make the simulator write snapshots (gossamer.watch.snapshots)."""
        folder = snapshots.folder()
        if folder is None:
            return []
        about = {"program": program, "begun": time.time(), **self._about()}
        return ["--status", str(folder), "--about", json.dumps(about)[1:-1]]

    def _about(self) -> dict[str, Any]:
        """The description of the machine in snapshots."""
        return {"config": self.config.name, "clock_mhz": self.config.board.clock_mhz}

    def _configure(self) -> None:
        """Configures the hardware after reset; a single tile needs no configuration."""

    @property
    def threads(self) -> int:
        """Number of simulated threads."""
        return self.tiles * self.config.threads_per_tile

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the simulator. Moves waves and trace of a finished run to their final names."""
        self._simulator.close()
        for path, partial in self._files.values():
            if self._ran:
                with contextlib.suppress(FileNotFoundError):
                    move_whole(partial, path)
            partial.unlink(missing_ok=True)
            partial.with_name(partial.name + ".hier").unlink(missing_ok=True)
        self._files = {}

    # ---- The debug bus ----

    def ask(self, commands: bytes, replies: int, *, tile: int = 0) -> list[bytes]:
        """Sends debug packets to a tile and waits for ``replies`` reports; the first byte of a report is its code."""
        self._simulator.request("Q", struct.pack("<II", replies, tile) + commands)
        return [record.payload for record in self._simulator.until_done() if record.kind == Kind.REPLY]

    def ask_each(self, commands: bytes, replies: int) -> list[list[bytes]]:
        """The same for all tiles at once. Returns the replies of each tile."""
        self._simulator.request("Q", struct.pack("<II", replies, _EACH_TILE) + commands)
        found: list[list[bytes]] = [[] for _ in range(self.tiles)]
        for record in self._simulator.until_done():
            if record.kind == Kind.REPLY:
                found[record.thread // self.config.threads_per_tile].append(record.payload)
        return found

    def _check_identity(self) -> None:
        expected = (constants.value("debug_magic"), constants.value("debug_version"), self.config.threads_per_tile)
        for (reply,) in self.ask_each(debug_packet("ping"), 1):
            magic, _, version, threads, threads_per_core, _ = struct.unpack("<xIIBBBB", reply)
            if (magic, version, threads) != expected or threads_per_core != self.config.core.threads_per_core:
                raise RunDied(
                    f"the simulated tile is not of configuration {self.config.name}: it replied {reply.hex()}"
                )

    def exchange(self, flits: _rtl_network.Flits, replies: int) -> list[_rtl_network.Reply]:
        """Sends flits into the network and waits for ``replies`` replies of loaders."""
        self._simulator.request("N", struct.pack("<I", replies) + flits.tobytes())
        packets = [record for record in self._simulator.until_done() if record.kind == Kind.PACKET]
        replies_of = [(_rtl_network.flits(record.payload), record.cycle) for record in packets]
        return [_rtl_network.reply(*one) for one in replies_of if _rtl_control.decode(*one) is None]

    def registers(self, thread: int) -> list[int]:
        """x1 to x31 of a thread that has trapped; x5 has been overwritten by the simulator."""
        tile, local = divmod(thread, self.config.threads_per_tile)
        write = constants.enumeration("csr")["debug_value"] << 20 | _CSRRW
        found = []
        for number in range(1, 32):
            (reply,) = self.ask(debug_packet("inject", local, write | number << 15), 1, tile=tile)
            found.append(int.from_bytes(reply[2:], "little"))
        return found

    def _counters(self) -> list[dict[str, int]]:
        names = constants.enumeration("debug_counter").values
        packets = b"".join(debug_packet("read_counter", index) for index in names.values())
        found = []
        for replies in self.ask_each(packets, len(names)):
            values = (int.from_bytes(reply[2:], "little") for reply in replies)
            found.append(dict(zip(names, values, strict=True)))
        return found


def debug_packet(name: str, *arguments: int) -> bytes:
    """A command of the debug bus: the high half of its code is the number of bytes that follow."""
    code = constants.enumeration("debug_command")[name]
    widths = {0: (), 1: (1,), 2: (1, 1), 4: (4,), 5: (1, 4)}[code >> 4]
    parts = (value.to_bytes(width, "little") for value, width in zip(arguments, widths, strict=True))
    return bytes([code]) + b"".join(parts)


_CHUNK = 1 << 20
"""Bytes loaded between two progress reports."""
_READ = 1 << 16
"""Bytes of one read request."""
_PARK_READS = 16
"""Number of such reads within which threads must park."""


class Loaded(Machine):
    """A machine with a program and data in its memories."""

    def load(
        self,
        instructions: Sequence[int],
        segments: Iterable[tuple[int, bytes]] = (),
        symbols: Iterable[tuple[int, int, str]] = (),
        *,
        zeroes: Iterable[tuple[int, int]] = (),
        on_progress: Callable[[int, int], object] = silent,
    ) -> None:
        """Loads instructions at address 0, and data at physical addresses of DRAM or SRAM.

        ``zeroes`` are addresses and sizes of zero-filled memory, for which no data is sent. ``symbols`` are functions
        for the trace: begin, end, name. ``on_progress`` receives the bytes loaded so far and in total. Raises
        InputError if the program exceeds the instruction memory, or if there is no memory at an address.
        """
        words = np.asarray(instructions, dtype="<u4")
        capacity = self.config.instr_words
        if len(words) > capacity:
            raise InputError(f"the program has {len(words)} instructions, {len(words) - capacity} more than fit")
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
            dest, tiles = self._every_tile()
            job = self._job_at(dest)
            packets = _rtl_network.writes(0, code, op="write_instr", group=groups, dest=dest, job=job)
            self._accepted(packets, tiles)
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

    def load_image(self, image: Image, *, on_progress: Callable[[int, int], object] = silent) -> None:
        """Loads a program that ``gossamer.device`` has built for this configuration."""
        self.load(
            image.instructions,
            [(part.address, part.data) for part in image.segments],
            self._names_of(image),
            zeroes=[(part.address + len(part.data), part.size - len(part.data)) for part in image.segments],
            on_progress=on_progress,
        )

    def _names_of(self, image: Image) -> list[tuple[int, int, str]]:
        """The functions of a program, for the trace."""
        return functions(image)

    def flush(self) -> None:
        """Writes back and invalidates the caches of all threads. Raises InputError if a thread still runs."""
        if runs := self.flush_halted():
            raise InputError(
                f"thread {runs[0]} still runs: its cache has not been written back; read memory, or load a program, "
                "after all threads have ended"
            )

    def flush_halted(self) -> list[int]:
        """The same for halted threads. Returns the threads that run or wait, whose writes may not be in memory."""
        threads = self.config.threads_per_tile
        rejected = constants.enumeration("debug_report")["rejected"]
        reports = self.ask_each(b"".join(debug_packet("flush", thread) for thread in range(threads)), threads)
        return [
            tile * threads + thread
            for tile, replies in enumerate(reports)
            for thread, reply in enumerate(replies)
            if reply[0] == rejected
        ]

    def halt(self) -> None:
        """Halts all threads, except those that wait for an event that does not occur; ``flush_halted`` may follow."""
        self._each_thread("halt")
        parked = constants.enumeration("debug_report")["parked"]
        for _ in range(_PARK_READS):
            # A thread reports when it is parked.
            if not any(one.kind == Kind.REPLY and one.payload[0] == parked for one in self._pass_time()):
                return

    def resume(self) -> None:
        """Resumes threads that ``halt`` has parked, for some 10,000 cycles."""
        self._each_thread("resume")
        for _ in range(2):
            self._pass_time()

    def _pass_time(self) -> list[Record]:
        """Advances time by some 5,000 cycles, the duration of a memory read. Returns the records received meanwhile."""
        read = _rtl_network.request("read", constants.value("dram_base"), _READ, dest=self._loaders()[0])
        self._simulator.request("N", struct.pack("<I", _READ // _rtl_network.PACKET) + read.tobytes())
        return self._simulator.until_done()

    def _each_thread(self, command: str) -> None:
        """Sends a command of the debug bus to every thread, without waiting for replies."""
        self.ask_each(b"".join(debug_packet(command, thread) for thread in range(self.config.threads_per_tile)), 0)

    def read(self, address: int, words: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of memory, after writing back the threads' caches.

        Reads physical addresses of DRAM and SRAM. Raises InputError for any other address, and while a thread runs.
        """
        self.flush()
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + 4 * words) // line) * line
        data = self._lines(begin, end - begin)
        return np.frombuffer(data[address - begin :], np.uint32, words).copy()

    def write(self, address: int, data: bytes) -> None:
        """Writes all DRAMs and their SRAMs, bypassing caches: threads with an older cached line do not see the data."""
        self._write(address, data, silent)

    def write_memory(self, memory: int, address: int, data: bytes) -> None:
        """Writes one DRAM or its SRAM; DRAMs are numbered board by board. ``address`` must be aligned to a line."""
        dest, line = self._memories()[memory], self.config.cache.line_bytes
        data += bytes(-len(data) % line)
        for at in range(0, len(data), _CHUNK):
            part = data[at : at + _CHUNK]
            self._accepted(_rtl_network.writes(address + at, part, dest=dest, job=self._job_at(dest)))

    def read_memory(self, memory: int, address: int, size: int) -> bytes:
        """Reads one DRAM or its SRAM; includes the writes of threads after ``flush``. ``address`` must be aligned."""
        line = self.config.cache.line_bytes
        return self._lines(address, -(-size // line) * line, self._memories()[memory])[:size]

    def _memories(self) -> list[int]:
        """The address of one tile at each DRAM of every board."""
        return self._loaders()

    def _loaders(self) -> list[int]:
        """The address of one tile at each DRAM, whose loader accesses that DRAM and its SRAM."""
        return [_rtl_network.TILE]

    def _every_memory(self) -> list[tuple[int, int]]:
        """Destinations that reach all memories, and the number of replies from each."""
        return [(dest, 1) for dest in self._loaders()]

    def _every_tile(self) -> tuple[int, int]:
        """The destination that reaches all tiles, and the number of replies."""
        return _rtl_network.EVERY_TILE, self.tiles

    def _job_at(self, dest: int) -> int:
        """The job of packets to a destination."""
        return 0

    def _lines(self, address: int, size: int, dest: int | None = None) -> bytes:
        parts = []
        dest = self._loaders()[0] if dest is None else dest
        job = self._job_at(dest)
        for at in range(0, size, _READ):
            length = min(_READ, size - at)
            packets = -(-length // _rtl_network.PACKET)
            request = _rtl_network.request("read", address + at, length, dest=dest, job=job)
            replies = self._accepted(request, packets)
            parts += [reply.data for reply in replies]
        return b"".join(parts)

    def _write(self, address: int, data: bytes, done: Callable[[int], object]) -> None:
        if not data:
            return
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + len(data)) // line) * line
        # Writes are whole lines, so the rest of the first and the last line is read first.
        head = self._lines(begin, line)[: address - begin] if address != begin else b""
        tail = self._lines(end - line, line)[address + len(data) - end :] if address + len(data) != end else b""
        whole = head + data + tail
        for at in range(0, len(whole), _CHUNK):
            part = whole[at : at + _CHUNK]
            for dest, replies in self._every_memory():
                packets = _rtl_network.writes(begin + at, part, dest=dest, job=self._job_at(dest))
                self._accepted(packets, replies)
            # Count only the caller's data, not the rest of the lines.
            done(min(begin + at + len(part), address + len(data)) - max(begin + at, address))

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
                request = _rtl_network.request("fill", at, part, dest=dest, job=self._job_at(dest))
                self._accepted(request, replies)
            done(part)
        self._write(end, bytes(address + size - end), done)

    def _accepted(self, flits: _rtl_network.Flits, replies: int = 1) -> list[_rtl_network.Reply]:
        """Sends packets to a loader; the last one requests a reply. Raises InputError if the loader rejects one."""
        got = self.exchange(flits, replies)
        for reply in got:
            if reply.rejection:
                raise InputError(f"there is no memory at {reply.address:#x}, or not all of it ({reply.rejection})")
        return got


def functions(image: Image) -> list[tuple[int, int, str]]:
    """Begin, end and name of each function, for the trace."""
    found = sorted((at, name) for name, at in image.symbols.items() if at < 4 * len(image.instructions))
    ends = [at for at, _ in found[1:]] + [4 * len(image.instructions)]
    return [(begin, end, name) for (begin, name), end in zip(found, ends, strict=True)]


__all__ = ["LEAST_WAIT", "TRACE_BYTES", "Loaded", "Machine", "debug_packet", "functions"]
