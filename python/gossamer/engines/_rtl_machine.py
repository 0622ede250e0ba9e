# SPDX-License-Identifier: Apache-2.0
"""A simulated machine as a process: its start and end, its debug buses, the network's host port."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from gossamer.config import constants
from gossamer.engines import _rtl_build, _rtl_control, _rtl_network
from gossamer.engines._rtl_process import Kind, Simulator
from gossamer.errors import RunDied
from gossamer.files import move_whole, temporary_sibling
from gossamer.watch import snapshots

if TYPE_CHECKING:
    from gossamer.config import Config

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


__all__ = ["LEAST_WAIT", "TRACE_BYTES", "Machine", "debug_packet"]
