# SPDX-License-Identifier: Apache-2.0
"""How a program went on the ``rtl`` engine, and what is heard of it while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gossamer.config import constants
from gossamer.engines import _rtl_control, _rtl_network
from gossamer.engines._rtl_control import Event
from gossamer.engines._rtl_network import Message
from gossamer.engines._rtl_process import Kind, Record
from gossamer.engines._rtl_queues import Held, queues
from gossamer.engines._rtl_threads import ACCELERATOR, UNKNOWN_PC, Trap, UnfinishedThread
from gossamer.watch import snapshots

LineHandler = Callable[[int, str, bool], object]
"""Told of each line: thread, text, whether more of the line follows."""


def silent(*_: object) -> None:
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
    unfinished: Sequence[UnfinishedThread]
    """The threads that had not ended."""
    messages: Sequence[Message]
    """What was sent to the host, in the order in which it arrived."""
    seconds: float
    tiles: Sequence[Mapping[str, int]] = ()
    """The counters of each tile."""
    snapshot: snapshots.Snapshot | None = None
    """What all tiles did, as far as the simulator looked."""
    events: Sequence[Event] = ()
    """What boards told by themselves."""
    links: Mapping[tuple[int, int], Mapping[str, int]] = field(default_factory=dict)
    """Of a cluster: counters of this run (link_counter) by board and link."""
    boards: Sequence[Mapping[str, int]] = ()
    """Of a cluster: counters of this run (board_counter) of each board."""
    queues: Sequence[Held] = ()
    """Of a run that came to stand still: the queues that hold something."""
    retired: int | None = None
    """Instructions that threads with vertices have finished by their own counters (``instret``); None of others."""
    ends: Mapping[int, int] = field(default_factory=dict)
    """Cycles from the start in which threads had ended or trapped, as far as they did."""


@dataclass
class Listeners:
    """Who is told of what, and what is kept of it."""

    line: LineHandler = silent
    emit: Callable[[int, int], object] = silent
    trap: Callable[[Trap], object] = silent
    progress: Callable[[int, int], object] = silent
    message: Callable[[Message], object] = silent
    event: Callable[[Event], object] = silent
    codes: dict[int, int] = field(default_factory=dict)
    traps: list[Trap] = field(default_factory=list)
    many: bool = False
    """Whether there are tiles to be told apart."""
    messages: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    snapshot: snapshots.Snapshot | None = None
    events: list[Event] = field(default_factory=list)
    queues: list[Held] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)

    def dispatch(self, record: Record) -> None:
        """Hands a record on to whom it is for."""
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
            self.queues = queues(record.payload)
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


__all__ = ["LineHandler", "Listeners", "Run", "silent"]
