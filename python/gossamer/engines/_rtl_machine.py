# SPDX-License-Identifier: Apache-2.0
"""A simulated machine: its process, debug buses and host port, and the programs and data in its memories."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gossamer.engines import _rtl_build, _rtl_plan
from gossamer.engines._machine import Link, Reply
from gossamer.engines._rtl_simulator import Simulator, silent
from gossamer.errors import GossamerError, InputError
from gossamer.files import move_whole, temporary_sibling
from gossamer.watch import snapshots

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image


LEAST_WAIT = 24
"""Cycles of the shortest wait that a trace shows."""
TRACE_BYTES = 64_000_000
"""Maximum bytes of a trace: the size that Perfetto opens without a helper."""
_TRACE_CUT = "the trace could not be written completely"
"""What a simulator says whose disk is full (sim/host/simulation.h)."""

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
        self._link: Link | None = None
        try:
            self._link = Link(self._simulator.ends(), self._facts(), self._exit_error)
            self._open(self._link)
            self._link.call("configure")
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

    def _facts(self) -> str:
        """The plan of the machine (src/machine/plan.h)."""
        return _rtl_plan.tile_facts(self.config)

    def _open(self, link: Link) -> None:
        """Opens the boards; a simulator has none that must be opened."""

    def _exit_error(self) -> GossamerError:
        """The error for a simulator that has ended."""
        error = self._simulator.exit_error()
        if _TRACE_CUT in str(error) and "trace" in self._files:
            return InputError(
                f"{self._files['trace'][0]}: not all of it could be written; free space, or choose another place"
            )
        return error

    @property
    def link(self) -> Link:
        """The machine in the library."""
        assert self._link is not None
        return self._link

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
        if self._link is not None:
            self._link.close()
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
        return self.link.ask(commands, replies, tile)

    def exchange(self, flits: NDArray[np.uint32], replies: int) -> list[Reply]:
        """Sends flits, six words each, into the network and waits for ``replies`` replies of loaders."""
        return self.link.exchange(flits.tobytes(), replies)

    def registers(self, thread: int) -> list[int]:
        """x1 to x31 of a thread that has trapped; x5 has been overwritten by the simulator."""
        return self.link.registers(thread)

    def _counters(self) -> list[dict[str, int]]:
        return self.link.tile_counters(self.tiles)


_CHUNK = 1 << 20
"""Bytes loaded between two progress reports."""


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

        self.link.call("write_code", self._loading, words.tobytes(), words.nbytes)
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
            self.link.call("symbols", table, len(table))

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
        return self.link.flush(self.threads)

    def halt(self) -> None:
        """Halts all threads, except those that wait for an event that does not occur; ``flush_halted`` may follow."""
        self.link.call("halt")

    def resume(self) -> None:
        """Resumes threads that ``halt`` has parked, for some 10,000 cycles."""
        self.link.call("resume")

    def read(self, address: int, words: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        """Words of memory, after writing back the threads' caches.

        Reads physical addresses of DRAM and SRAM. Raises InputError for any other address, and while a thread runs.
        """
        self.flush()
        return np.frombuffer(self.link.read(self._first_tile(), address, 4 * words), np.uint32)

    def write(self, address: int, data: bytes) -> None:
        """Writes all DRAMs and their SRAMs, bypassing caches: threads with an older cached line do not see the data."""
        self._write(address, data, silent)

    def write_memory(self, memory: int, address: int, data: bytes) -> None:
        """Writes one DRAM or its SRAM; DRAMs are numbered board by board. ``address`` must be aligned to a line."""
        tile = memory * self._tiles_of_memory
        data += bytes(-len(data) % self.config.cache.line_bytes)
        for at in range(0, len(data), _CHUNK):
            part = data[at : at + _CHUNK]
            self.link.call("write", tile, address + at, part, len(part))

    def read_memory(self, memory: int, address: int, size: int) -> bytes:
        """Reads one DRAM or its SRAM; includes the writes of threads after ``flush``."""
        return self.link.read(memory * self._tiles_of_memory, address, size)

    _tiles_of_memory = 1
    """Tiles at one DRAM."""
    _loading = 0
    """The job whose program is being loaded, or was loaded last."""

    def _first_tile(self) -> int:
        """The tile whose memory ``read`` reads."""
        return 0

    def _write(self, address: int, data: bytes, done: Callable[[int], object]) -> None:
        for at, size in self._pieces(address, len(data)):
            part = data[at : at + size]
            self.link.call("write_all", self._loading, address + at, part, size)
            done(size)

    def _zero(self, address: int, size: int, done: Callable[[int], object]) -> None:
        for at, part in self._pieces(address, size):
            self.link.call("fill_all", self._loading, address + at, part)
            done(part)

    def _pieces(self, address: int, size: int) -> Iterator[tuple[int, int]]:
        """Offsets and sizes of the pieces between progress reports; all but the first begin with a line."""
        at, line = 0, self.config.cache.line_bytes
        while at < size:
            part = min(_CHUNK - (address + at) % line, size - at)
            yield at, part
            at += part


def functions(image: Image) -> list[tuple[int, int, str]]:
    """Begin, end and name of each function, for the trace."""
    found = sorted((at, name) for name, at in image.symbols.items() if at < 4 * len(image.instructions))
    ends = [at for at, _ in found[1:]] + [4 * len(image.instructions)]
    return [(begin, end, name) for (begin, name), end in zip(found, ends, strict=True)]


__all__ = ["LEAST_WAIT", "TRACE_BYTES", "Loaded", "Machine", "functions"]
