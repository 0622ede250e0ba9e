# SPDX-License-Identifier: Apache-2.0
"""The simulator as a child process: requests, records, and the outcome of a run.

Requests and records are described in ``sim/host/records.h``. The child sees neither our terminal nor Ctrl-C; it ends
when its standard input closes, and with us in any case.
"""

from __future__ import annotations

import contextlib
import enum
import os
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from gossamer.config import constants
from gossamer.engines import _rtl_control, _rtl_network
from gossamer.engines._rtl_control import Event
from gossamer.engines._rtl_diagnostics import ACCELERATOR, UNKNOWN_PC, Held, Trap, UnfinishedThread, parse_queues
from gossamer.engines._rtl_network import Message
from gossamer.errors import InputError, RunDied
from gossamer.watch import snapshots

_HEAD = struct.Struct("<BBHIIIQ")
_REQUEST = struct.Struct("<II")
_CHUNK = 1 << 16
_POLL = 0.2
"""Seconds between two checks of a child that has not connected yet."""
_MARKS = ("%Fatal", "%Error", "simulator: ")
"""Marks of the line with the reason of a failure, among further lines of Verilator and the MPI launcher."""
_END_TIMEOUT = 10.0
"""Seconds within which the child must end after its input is closed."""


class Kind(enum.IntEnum):
    """Kinds of records."""

    LINE = 1
    EMIT = 2
    STOPPED = 3
    TRAP = 4
    REPLY = 5
    DONE = 6
    END = 7
    FAILED = 8
    PROGRESS = 9
    PACKET = 10
    BYTE = 11
    WOKEN = 12
    PAUSED = 13
    NOTE = 20
    WATCH = 21
    QUEUES = 22


@dataclass(frozen=True)
class Record:
    """A record of the simulator, with its cycle."""

    kind: Kind
    thread: int
    flags: int
    cycle: int
    payload: bytes

    def words(self) -> tuple[int, ...]:
        """The payload as 32-bit words."""
        return struct.unpack(f"<{len(self.payload) // 4}I", self.payload)


class Simulator:
    """The child process. A context manager; the child has ended on exit."""

    def __init__(self, command: Sequence[str | Path] | Callable[[Path], Sequence[str | Path]]) -> None:
        """If ``command`` is a function of a path, the child communicates over a socket at that path, not over pipes."""
        # Output of the model goes to a file, which needs no reader while the model runs.
        self._output = tempfile.TemporaryFile()  # noqa: SIM115
        self._end: socket.socket | None = None
        if callable(command):
            self._child, self._end = self._start_with_socket(command)
            self._to = self._from = self._end.fileno()
        else:
            self._child = subprocess.Popen(
                [os.fspath(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._output,
                bufsize=0,
            )
            assert self._child.stdin is not None and self._child.stdout is not None
            self._to, self._from = self._child.stdin.fileno(), self._child.stdout.fileno()
        self._buffer = bytearray()
        self.sent: list[tuple[str, bytes]] | None = None
        """If set to a list, all further requests are appended, for replay to another simulator."""

    def _start_with_socket(
        self, command: Callable[[Path], Sequence[str | Path]]
    ) -> tuple[subprocess.Popen[bytes], socket.socket]:
        with tempfile.TemporaryDirectory(prefix="gossamer-") as folder, socket.socket(socket.AF_UNIX) as listener:
            path = Path(folder) / "socket"
            try:
                listener.bind(str(path))
            except OSError as error:
                why = "the path is too long" if error.errno is None else error.strerror
                raise InputError(f"{path}: cannot make a socket there: {why}; set TMPDIR to a shorter folder") from None
            listener.listen(1)
            listener.settimeout(_POLL)
            # A new session: on Ctrl-C only this process must react, but the launcher would end the ranks.
            self._child = subprocess.Popen(
                [os.fspath(word) for word in command(path)],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                start_new_session=True,
            )
            try:
                while True:
                    with contextlib.suppress(TimeoutError):
                        end, _ = listener.accept()
                        return self._child, end
                    if self._child.poll() is not None:
                        raise self._exit_error()
            except BaseException:
                self._child.kill()
                self._child.wait()
                raise

    def __enter__(self) -> Simulator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ends(self) -> tuple[int, int]:
        """Descriptors of requests and of records, for another process that takes over the communication."""
        return self._to, self._from

    def request(self, kind: str, payload: bytes = b"") -> None:
        """Sends a request. Raises RunDied if the child has ended."""
        if self.sent is not None:
            self.sent.append((kind, payload))
        data = memoryview(_REQUEST.pack(ord(kind), len(payload)) + payload)
        try:
            while data:
                data = data[os.write(self._to, data) :]
        except (BrokenPipeError, ConnectionResetError):
            raise self._exit_error() from None

    def records(self) -> Iterator[Record]:
        """Yields records as they arrive. Raises RunDied when the child ends."""
        while True:
            while (record := self._cut()) is not None:
                yield record
            try:
                data = os.read(self._from, _CHUNK)
            except ConnectionResetError:
                data = b""
            if not data:
                raise self._exit_error()
            self._buffer += data

    def until_done(self) -> list[Record]:
        """The records up to Done. Raises RunDied if the simulator reports a failure."""
        found = []
        for record in self.records():
            if record.kind == Kind.DONE:
                break
            if record.kind == Kind.FAILED:
                raise RunDied(record.payload.decode())
            found.append(record)
        return found

    def stop(self) -> None:
        """Requests the end of a run; the record End follows."""
        with contextlib.suppress(RunDied):
            self.request("X")

    def close(self) -> None:
        """Closes the child's input; kills the child if it does not end."""
        child = self._child
        for end in (child.stdin, self._end, child.stdout):
            # Close its output as well, so that the child does not block on a write.
            with contextlib.suppress(OSError):
                if end is not None:
                    end.close()
        try:
            child.wait(_END_TIMEOUT)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()
        finally:
            self._output.close()

    def _cut(self) -> Record | None:
        """Removes the next record from the buffer; None if it is incomplete."""
        if len(self._buffer) < _HEAD.size:
            return None
        kind, flags, _, thread, length, _, cycle = _HEAD.unpack_from(self._buffer)
        end = _HEAD.size + length
        if len(self._buffer) < end:
            return None
        record = Record(Kind(kind), thread, flags, cycle, bytes(self._buffer[_HEAD.size : end]))
        del self._buffer[:end]
        return record

    def exit_message(self) -> str:
        """The child's exit code and error message."""
        return str(self._exit_error())

    def _exit_error(self) -> RunDied:
        code = self._child.wait()
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").strip().splitlines()
        reason = next((line for line in lines if any(mark in line for mark in _MARKS)), lines[-1] if lines else "")
        what = f"signal {-code}" if code < 0 else f"code {code}"
        return RunDied(f"the simulator ended with {what}" + (f": {reason}" if reason else ""))


LineHandler = Callable[[int, str, bool], object]
"""Callback for each line: thread, text, whether more of the line follows."""


def silent(*_: object) -> None:
    """A callback that does nothing."""


@dataclass(frozen=True)
class Run:
    """The outcome of a run."""

    reason: str
    """done, max-cycles, deadlock, stuck (watchdog expired) or stopped (by Ctrl-C)."""
    threads: int
    """Number of started threads."""
    cycles: int
    """From the start of the threads to the end of the last."""
    instructions: int
    counters: Mapping[str, int]
    """Sums of the tiles' counters (debug_counter) in this run; ``cycles`` is that of one tile."""
    codes: Mapping[int, int]
    """Exit codes of the threads that ended."""
    traps: Sequence[Trap]
    unfinished: Sequence[UnfinishedThread]
    """The threads that had not ended."""
    messages: Sequence[Message]
    """Messages to the host in the order of arrival."""
    seconds: float
    tiles: Sequence[Mapping[str, int]] = ()
    """The counters of each tile."""
    snapshot: snapshots.Snapshot | None = None
    """Sampled activity of all tiles."""
    events: Sequence[Event] = ()
    """Events that boards reported."""
    links: Mapping[tuple[int, int], Mapping[str, int]] = field(default_factory=dict)
    """For a cluster: counters of this run (link_counter) by board and link."""
    boards: Sequence[Mapping[str, int]] = ()
    """For a cluster: counters of this run (board_counter) of each board."""
    queues: Sequence[Held] = ()
    """Non-empty queues, if the run was blocked."""
    retired: int | None = None
    """Instructions retired by threads with vertices (``instret``); None for other programs."""
    engine: str = "rtl"
    """The engine that has run the threads."""
    ends: Mapping[int, int] = field(default_factory=dict)
    """Cycle, from the start, in which each thread that is not unfinished ended or trapped."""


@dataclass
class Listeners:
    """Callbacks for records of a run, and the data collected from them."""

    line: LineHandler = silent
    emit: Callable[[int, int], object] = silent
    trap: Callable[[Trap], object] = silent
    progress: Callable[[int, int], object] = silent
    message: Callable[[Message], object] = silent
    event: Callable[[Event], object] = silent
    codes: dict[int, int] = field(default_factory=dict)
    traps: list[Trap] = field(default_factory=list)
    many: bool = False
    """Whether several tiles are simulated."""
    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    snapshot: snapshots.Snapshot | None = None
    events: list[Event] = field(default_factory=list)
    queues: list[Held] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)

    def dispatch(self, record: Record) -> None:
        """Stores the data of a record and calls its callback."""
        if record.kind == Kind.LINE:
            self.line(record.thread, record.payload.decode(errors="backslashreplace"), bool(record.flags & 1))
        elif record.kind == Kind.EMIT:
            self.emit(record.thread, record.words()[0])
        elif record.kind == Kind.STOPPED:
            self.codes[record.thread] = record.words()[0]
            self.ends[record.thread] = record.cycle
        elif record.kind == Kind.TRAP:
            cause, pc, value = record.words()
            self.traps.append(Trap(record.thread, record.cycle, cause, pc, value))
            self.ends[record.thread] = record.cycle
            self.trap(self.traps[-1])
        elif record.kind == Kind.PACKET:
            self._packet(record)
        elif record.kind == Kind.NOTE:
            self.notes.append(record.payload.decode())
        elif record.kind == Kind.WATCH:
            self.snapshot = snapshots.parse(record.payload)
        elif record.kind == Kind.QUEUES:
            self.queues = parse_queues(record.payload)
        elif record.kind == Kind.PROGRESS:
            self.progress(record.cycle, int.from_bytes(record.payload, "little"))

    def _packet(self, record: Record) -> None:
        flits = _rtl_network.flits(record.payload)
        if not _rtl_network.is_header(flits):
            self.messages.append(_rtl_network.message(flits, record.cycle))
            self.message(self.messages[-1])
        elif (control := _rtl_control.decode(flits, record.cycle)) is not None:
            if isinstance(control, Event):
                self.events.append(control)
                self.event(control)
        elif (fault := _rtl_network.reply(flits, record.cycle)).op == constants.enumeration("load_op")["fault"]:
            place = ",".join(map(str, _rtl_network.place(fault.sender))) if self.many else ""
            self.traps.append(Trap(ACCELERATOR, record.cycle, fault.tag, UNKNOWN_PC, fault.address, place))
            self.trap(self.traps[-1])


__all__ = ["Kind", "LineHandler", "Listeners", "Record", "Run", "Simulator", "silent"]
