# SPDX-License-Identifier: Apache-2.0
"""What is loaded into a simulated machine, and read back: programs, data, memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gossamer.config import constants
from gossamer.engines import _rtl_network
from gossamer.engines._rtl_machine import Machine, debug_packet
from gossamer.engines._rtl_process import Kind
from gossamer.engines._rtl_run import silent
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.device import Image

_CHUNK = 1 << 20
"""Bytes that are loaded between two reports of progress."""
_READ = 1 << 16
"""Bytes that are read with one request."""
_PATIENCE = 16
"""Reads of so many bytes, some 5,000 cycles each, in which threads have to park."""


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
        threads = self.config.threads_per_tile
        refused = constants.enumeration("debug_report")["refused"]
        told = self.ask_each(b"".join(debug_packet("flush", thread) for thread in range(threads)), threads)
        for tile, replies in enumerate(told):
            for thread, reply in enumerate(replies):
                if reply[0] == refused:
                    raise InputError(
                        f"thread {tile * threads + thread} still runs: what its cache holds is not in memory yet; read "
                        "memory, or load a program, when all threads have ended"
                    )

    def halt(self) -> None:
        """Has all threads stand still, but for those that wait for what does not come: ``flush`` may follow."""
        self._each_thread("halt")
        base = constants.value("dram_base")
        parked = constants.enumeration("debug_report")["parked"]
        # A thread tells when it is parked. Time passes while memory is read.
        for _ in range(_PATIENCE):
            read = _rtl_network.request("read", base, _READ, dest=self._loaders()[0])
            self._simulator.request("N", struct.pack("<I", _READ // _rtl_network.PACKET) + read.tobytes())
            told = self._simulator.until_done()
            if not any(record.kind == Kind.REPLY and record.payload[0] == parked for record in told):
                return

    def resume(self) -> None:
        """Lets threads go on that ``halt`` has parked."""
        self._each_thread("resume")

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


__all__ = ["Loaded", "functions"]
