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
"""Most bytes of a trace: what Perfetto opens at once."""
_CSRRW = 0x1073
"""The instruction ``csrrw x0, 0, x0``."""
_EACH_TILE = 0xFFFF_FFFF
"""In the place of a tile's number: each of them."""

_Self = TypeVar("_Self", bound="Machine")


class Machine:
    """What ``Tile`` is before anything is loaded: the simulator, and packets to and from it."""

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
        asked = (("waves", waves), ("trace", trace))
        self._files = {option: (path, temporary_sibling(path)) for option, path in asked if path is not None}
        self._ran = False
        self.notes: list[str] = []
        """What the user is told of the last run: that its trace was thinned."""
        command: list[str | Path] = [simulator or self._executable(config, waves is not None)]
        for option, (_, partial) in self._files.items():
            command += [f"--{option}", partial]
        command += ["--least", str(least_wait), "--trace-bytes", str(trace_bytes)]
        command += self._status(program)
        self._simulator = self._start([*command, *self._options(), *plusargs])
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

    def _start(self, command: Sequence[str | Path]) -> Simulator:
        return Simulator(command)

    def _status(self, program: str) -> list[str]:
        """Has the simulator tell others of itself (gossamer.watch.snapshots)."""
        folder = snapshots.folder()
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

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the simulator; files of a run that came to an end get their names."""
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
        for (reply,) in self.ask_each(debug_packet("ping"), 1):
            magic, _, version, threads, threads_per_core, _ = struct.unpack("<xIIBBBB", reply)
            if (magic, version, threads) != expected or threads_per_core != self.config.core.threads_per_core:
                raise RunDied(f"the simulated tile is not one of {self.config.name}: it answered {reply.hex()}")

    def exchange(self, flits: _rtl_network.Flits, replies: int) -> list[_rtl_network.Reply]:
        """Sends flits into the network and waits for so many replies of loaders."""
        self._simulator.request("N", struct.pack("<I", replies) + flits.tobytes())
        packets = [record for record in self._simulator.until_done() if record.kind == Kind.PACKET]
        replies_of = [(_rtl_network.flits(record.payload), record.cycle) for record in packets]
        return [_rtl_network.reply(*one) for one in replies_of if _rtl_control.decode(*one) is None]

    def registers(self, thread: int) -> list[int]:
        """x1 to x31 of a thread that has trapped; the simulator has left its own in x5."""
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
    """A command of the debug bus: the high half of its code says how many bytes follow."""
    code = constants.enumeration("debug_command")[name]
    widths = {0: (), 1: (1,), 2: (1, 1), 4: (4,), 5: (1, 4)}[code >> 4]
    parts = (value.to_bytes(width, "little") for value, width in zip(arguments, widths, strict=True))
    return bytes([code]) + b"".join(parts)


_CHUNK = 1 << 20
"""Bytes that are loaded between two reports of progress."""
_READ = 1 << 16
"""Bytes that are read with one request."""
_PATIENCE = 16
"""Reads of so many bytes in which threads have to park."""


class Loaded(Machine):
    """What ``Tile`` is before it runs: a machine, and what its memories hold."""

    def load(
        self,
        instructions: Sequence[int],
        segments: Iterable[tuple[int, bytes]] = (),
        symbols: Iterable[tuple[int, int, str]] = (),
        *,
        zeroes: Iterable[tuple[int, int]] = (),
        on_progress: Callable[[int, int], object] = silent,
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
        """What a trace calls parts of a program."""
        return functions(image)

    def flush(self) -> None:
        """Writes back and drops what threads have in their caches. Raises InputError if one of them still runs."""
        if runs := self.flush_halted():
            raise InputError(
                f"thread {runs[0]} still runs: what its cache holds is not in memory yet; read memory, or load a "
                "program, when all threads have ended"
            )

    def flush_halted(self) -> list[int]:
        """The same of those that stand still; the others, which run or wait, and may have written more than is read."""
        threads = self.config.threads_per_tile
        refused = constants.enumeration("debug_report")["refused"]
        told = self.ask_each(b"".join(debug_packet("flush", thread) for thread in range(threads)), threads)
        return [
            tile * threads + thread
            for tile, replies in enumerate(told)
            for thread, reply in enumerate(replies)
            if reply[0] == refused
        ]

    def halt(self) -> None:
        """Has all threads stand still, but for those that wait for what does not come: ``flush_halted`` may follow."""
        self._each_thread("halt")
        parked = constants.enumeration("debug_report")["parked"]
        for _ in range(_PATIENCE):
            # A thread tells when it is parked.
            if not any(told.kind == Kind.REPLY and told.payload[0] == parked for told in self._pass_time()):
                return

    def resume(self) -> None:
        """Lets threads go on that ``halt`` has parked, for some 10,000 cycles."""
        self._each_thread("resume")
        for _ in range(2):
            self._pass_time()

    def _pass_time(self) -> list[Record]:
        """Lets some 5,000 cycles pass, which a read of memory takes; what was told meanwhile."""
        read = _rtl_network.request("read", constants.value("dram_base"), _READ, dest=self._loaders()[0])
        self._simulator.request("N", struct.pack("<I", _READ // _rtl_network.PACKET) + read.tobytes())
        return self._simulator.until_done()

    def _each_thread(self, command: str) -> None:
        """A command of the debug bus for every thread, without an answer."""
        self.ask_each(b"".join(debug_packet(command, thread) for thread in range(self.config.threads_per_tile)), 0)

    def read(self, address: int, words: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of memory, after what threads have in their caches was written back.

        DRAM as it is and SRAM are read; InputError for any other address, and while a thread runs.
        """
        self.flush()
        line = self.config.cache.line_bytes
        begin, end = address // line * line, -(-(address + 4 * words) // line) * line
        data = self._lines(begin, end - begin)
        return np.frombuffer(data[address - begin :], np.uint32, words).copy()

    def write(self, address: int, data: bytes) -> None:
        """Writes memory, of all DRAMs and their SRAMs, past the caches: threads see it that hold no older line."""
        self._write(address, data, silent)

    def write_memory(self, memory: int, address: int, data: bytes) -> None:
        """Writes one DRAM or its SRAM, by the DRAM's number, board by board; the address is that of a line."""
        dest, line = self._memories()[memory], self.config.cache.line_bytes
        data += bytes(-len(data) % line)
        for at in range(0, len(data), _CHUNK):
            part = data[at : at + _CHUNK]
            self._accepted(_rtl_network.writes(address + at, part, dest=dest, job=self._job_at(dest)))

    def read_memory(self, memory: int, address: int, size: int) -> bytes:
        """Reads one DRAM or its SRAM; after ``flush`` what threads have written too. The address is that of a line."""
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

    def _every_tile(self) -> tuple[int, int]:
        """Where to send what all tiles get, and how many reply to it."""
        return _rtl_network.EVERY_TILE, self.tiles

    def _job_at(self, dest: int) -> int:
        """The job of what is loaded there."""
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
        # Memory has whole lines: what stands beside the data in the first and the last stays.
        head = self._lines(begin, line)[: address - begin] if address != begin else b""
        tail = self._lines(end - line, line)[address + len(data) - end :] if address + len(data) != end else b""
        whole = head + data + tail
        for at in range(0, len(whole), _CHUNK):
            part = whole[at : at + _CHUNK]
            for dest, replies in self._every_memory():
                packets = _rtl_network.writes(begin + at, part, dest=dest, job=self._job_at(dest))
                self._accepted(packets, replies)
            # Of the caller's own data, not of what stands beside.
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
        """Sends packets to the loader, the last of which asks for a reply; none may be refused."""
        got = self.exchange(flits, replies)
        for reply in got:
            if reply.refusal:
                raise InputError(f"there is no memory at {reply.address:#x}, or not all of it ({reply.refusal})")
        return got


def functions(image: Image) -> list[tuple[int, int, str]]:
    """Begin, end and name of each function, for the trace."""
    found = sorted((at, name) for name, at in image.symbols.items() if at < 4 * len(image.instructions))
    ends = [at for at, _ in found[1:]] + [4 * len(image.instructions)]
    return [(begin, end, name) for (begin, name), end in zip(found, ends, strict=True)]


__all__ = ["LEAST_WAIT", "TRACE_BYTES", "Loaded", "Machine", "debug_packet", "functions"]
