# SPDX-License-Identifier: Apache-2.0
"""The simulator as a child process, and the outcome of a run.

The machine library communicates with it (``_machine.py``). The child sees neither our terminal nor Ctrl-C; it ends when
its standard input closes, and with us in any case.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from gossamer.config import constants
from gossamer.engines._machine import Event, Kind, Message, Record
from gossamer.engines._rtl_diagnostics import ACCELERATOR, UNKNOWN_PC, Held, Trap, UnfinishedThread, parse_queues
from gossamer.errors import InputError, RunDied
from gossamer.hosts import mpi_launcher
from gossamer.watch import snapshots

_POLL = 0.2
"""Seconds between two checks of a child that has not connected yet."""
_MARKS = ("%Fatal", "%Error", "simulator: ")
"""Marks of the line with the reason of a failure, among further lines of Verilator and the MPI launcher."""
_END_TIMEOUT = 10.0
"""Seconds within which the child must end after its input is closed."""


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
                        if (problem := mpi_launcher.reported(self._said())) is not None:
                            raise InputError(problem)
                        raise self.exit_error()
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

    def _said(self) -> list[str]:
        """Lines of the child and of its launcher."""
        self._output.seek(0)
        return self._output.read().decode(errors="replace").strip().splitlines()

    def exit_error(self) -> RunDied:
        """The error for a child that has ended: its exit code and error message."""
        code = self._child.wait()
        lines = self._said()
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
        elif record.kind == Kind.MESSAGE:
            message = Message(record.cycle, record.thread, record.what, record.unit, record.payload)
            self.messages.append(message)
            self.message(message)
        elif record.kind == Kind.EVENT:
            self.events.append(Event.of(record.thread, record.what, record.unit, record.value, record.cycle))
            self.event(self.events[-1])
        elif record.kind == Kind.FAULT:
            fields = constants.layout("address_accelerator").unpack(record.thread)
            place = f"{fields['tile_x']},{fields['tile_y']}" if self.many else ""
            self.traps.append(Trap(ACCELERATOR, record.cycle, record.what, UNKNOWN_PC, record.value, place))
            self.trap(self.traps[-1])
        elif record.kind == Kind.NOTE:
            self.notes.append(record.payload.decode())
        elif record.kind == Kind.WATCH:
            self.snapshot = snapshots.parse(record.payload)
        elif record.kind == Kind.QUEUES:
            self.queues = parse_queues(record.payload)
        elif record.kind == Kind.PROGRESS:
            self.progress(record.cycle, int.from_bytes(record.payload, "little"))


__all__ = ["LineHandler", "Listeners", "Run", "Simulator", "silent"]
