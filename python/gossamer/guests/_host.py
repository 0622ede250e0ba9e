# SPDX-License-Identifier: Apache-2.0
"""The host of guests: simulates their cluster, starts their commands, and carries their requests and records.

It configures the boards with a job for each guest. A guest is a process with a socket, over which it uses the machine
library (``engines/guest.py``). The host serves one request at a time; between requests it lets time pass while a guest
runs. So a guest's load, its run and its end do not depend on the others, whose threads run meanwhile.

All guests start in the same cycle, once each has loaded its program. If one cannot, none starts.
"""

from __future__ import annotations

import contextlib
import functools
import json
import mmap
import os
import selectors
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from gossamer import processes
from gossamer.config import constants
from gossamer.engines import _events, _rtl_build, guest
from gossamer.engines._machine import REPLY_OR_ANSWER, Event, Kind, Link, decode
from gossamer.engines._rtl_plan import MAX_JOBS, Job
from gossamer.engines._rtl_simulator import Simulator
from gossamer.engines.rtl_cluster import about_links
from gossamer.errors import RunDied, signal_name
from gossamer.guests import _filter, _wire
from gossamer.guests._file import Guest, Guests
from gossamer.guests._wire import Record
from gossamer.paths import command
from gossamer.watch import snapshots

_STEP = 4096
"""Cycles that pass at once while guests run."""
_CHECK = 1 << 15
"""Cycles between checks of a run for deadlock."""
_PATIENCE = 1 << 16
"""Cycles, in addition to 16 flight times, after which threads that wait are deadlocked: packets of other guests are
always in flight, so the network does not tell; this is far longer than any packet takes."""
_DRAIN = 1 << 14
"""Cycles, in addition to eight flight times, in which the last messages to the host arrive after a run."""
_HELD = 64 << 20
"""Bytes of records that a guest may leave unread."""
_TURN = 0.002
"""Seconds in which a guest that has just been served may send its next request before time passes."""
_EACH_TILE = 0xFFFF_FFFF


@dataclass
class _Run:
    """A run of a guest's threads."""

    threads: int
    most: int
    watchdog: int
    first: int
    issued: int
    """Instructions of its boards before it."""
    left: set[int]
    """Threads that have not ended."""
    last: int = 0
    """Cycle of the last end of a thread."""
    checked: int = 0
    """Cycle of the last check; with its figures, and the cycle from which they have not changed:"""
    figures: tuple[int, int] = (0, 0)
    changed: int = 0


@dataclass
class _Process:
    """A guest, its process and its connection."""

    guest: Guest
    job: int
    child: subprocess.Popen[bytes]
    socket: socket.socket
    received: bytearray = field(default_factory=bytearray)
    unsent: bytearray = field(default_factory=bytearray)
    waiting: list[tuple[str, bytes]] = field(default_factory=list)
    """Requests that have arrived."""
    inputs: list[bytes] = field(default_factory=list)
    """Input of threads for its next run."""
    start: bytes | None = None
    """A run that waits for the other guests."""
    ready: bool = False
    run: _Run | None = None
    runs: list[dict[str, Any]] = field(default_factory=list)
    code: int | None = None
    cancelled: bool = False
    """Whether the host has ended it because another guest cannot start."""
    text: dict[int, bytes] = field(default_factory=dict)
    """The begin of a line of its output, by descriptor."""
    begun: float = field(default_factory=time.monotonic)

    def outcome(self) -> Outcome:
        """What it has done, after its end."""
        code = 0 if self.cancelled else self.code or 0
        return Outcome(self.guest.name, code, tuple(self.runs), round(time.monotonic() - self.begun, 3))


@dataclass(frozen=True)
class Outcome:
    """What a guest has done."""

    name: str
    code: int
    """The exit code of its command; less than 0: a signal. 0 if it was not started because another one cannot start."""
    runs: tuple[Mapping[str, Any], ...]
    """Its runs of threads: reason, first and last cycle, instructions."""
    seconds: float


class Host:
    """Simulates the cluster and serves the guests of a file. A context manager."""

    def __init__(
        self,
        guests: Guests,
        *,
        workers: int | None = None,
        show: Callable[[str, bytes, bool], object],
        note: Callable[[str], object],
    ) -> None:
        """``show`` receives complete lines of guests: name, line, whether it is an error; ``note`` lines of the host.

        Raises InputError if the cluster cannot be simulated.
        """
        self._guests, self.plan, self._show, self._note = guests, guests.plan, show, note
        config = self.plan.config
        self._tiles, self._tile_threads, self._threads = config.tiles, config.threads_per_tile, config.threads
        self._flight = int(config.links.flight_cycles)
        self._owner = {board: job for job, one in enumerate(guests.guests) for board in one.boards}
        self._processes: list[_Process] = []
        self._asking: _Process | None = None
        self._selector = selectors.DefaultSelector()
        self._cycle, self._begun = 0, False
        self._first, self._before = 0, dict[str, int]()
        self.events: list[Event] = []
        self.link_bytes: dict[str, int] = {}
        """Bytes that links have sent since the guests' start; and the cycles from there to the end of the last:"""
        self.cycles = 0
        self._repeated: dict[str, int] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="gossamer-guests-")
        self._kernels: mmap.mmap | None = None
        self._simulator: Simulator | None = None
        try:
            self._open(workers)
        except BaseException:
            self.close()
            raise

    def _open(self, workers: int | None) -> None:
        guests, plan = self._guests, self.plan
        # Few guests use the simulator of four, so that fewer are built.
        slots = next(size for size in (4, 8, MAX_JOBS) if size >= len(guests.guests))
        program = _rtl_build.cluster(plan.config, plan.links, jobs=slots)
        loss = str(round(guests.frame_loss * (1 << 20)))
        options = ["--boards", str(plan.boards), "--loss", loss, "--damage", loss, "--seed", str(guests.seed)]
        options += ["--flight", str(self._flight), "--host", str(plan.hosts[0])]
        for wire in plan.wires({}):
            options += ["--wire", ",".join(map(str, wire))]
        self._file = Path(self._folder.name) / "kernels"
        self._file.touch()
        if any(one.streams[1] for one in guests.guests):
            options += ["--kernels", str(self._file)]
        options += ["--workers", str(workers or min(len(os.sched_getaffinity(0)), plan.boards))]
        if (folder := snapshots.folder()) is not None:
            about = {"program": str(guests.path), "begun": time.time(), "config": plan.config.name}
            about |= {"clock_mhz": plan.config.board.clock_mhz, **about_links(plan)}
            options += ["--status", str(folder), "--about", json.dumps(about)[1:-1]]
        self._simulator = simulator = Simulator([program, *options])
        jobs = [Job(one.name, one.boards) for one in guests.guests]
        spans = {job: one.streams for job, one in enumerate(guests.guests) if one.streams[1]}
        self._facts = plan.facts(jobs, streams=spans)
        with self._link() as link:
            link.call("configure")
        self._pipe = _wire.Pipe(simulator.ends(), simulator.exit_error)
        self._ask("V", b"\x01")
        if self._file.stat().st_size:
            with self._file.open("r+b") as shared:
                self._kernels = mmap.mmap(shared.fileno(), 0)

    @contextlib.contextmanager
    def _link(self) -> Iterator[Link]:
        """The machine library, while no guest runs: it drops records of guests."""
        assert self._simulator is not None
        link = Link(self._simulator.ends(), self._facts, self._simulator.exit_error)
        try:
            yield link
        finally:
            link.close()

    def _sent(self) -> dict[str, int]:
        """Bytes that each end of a cable has sent, by the name of the link."""
        names = {
            f"{self.plan.cluster.boards[board].name}:{name}": (board, number)
            for board in range(self.plan.boards)
            for number, name in self.plan.links_of(board).items()
        }
        counter = constants.enumeration("link_counter")["tx_bytes"]
        with self._link() as link:
            values = link.counters([(board, number, counter) for board, number in names.values()])
        return dict(zip(names, values, strict=True))

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all guests and the simulator."""
        for one in self._processes:
            processes.end(one.child)
            one.socket.close()
        self._selector.close()
        if self._kernels is not None:
            self._kernels.close()
        if self._simulator is not None:
            self._simulator.close()
        self._folder.cleanup()

    # ---- Guests ----

    def run(self, until: str | None = None) -> list[Outcome]:
        """Starts all guests and serves them until they have ended. The end of guest ``until`` ends the others."""
        for job, one in enumerate(self._guests.guests):
            self._start(job, one)
        while any(one.code is None for one in self._processes):
            self._look(0.0 if self._time_passes() or self._requested() else 0.05)
            self._watch_ports()
            self._begin()
            self._serve()
            if self._time_passes():
                self._advance()
            if until is not None and any(one.code is not None and one.guest.name == until for one in self._processes):
                self._cancel()
        if self._begun:
            before, self._before = self._before, self._sent()
            self.link_bytes = {name: (sent - before[name]) % 2**32 for name, sent in self._before.items()}
            self.cycles = self._cycle - self._first
        return [
            Outcome(
                one.guest.name,
                0 if one.cancelled else one.code or 0,
                tuple(one.runs),
                round(time.monotonic() - one.begun, 3),
            )
            for one in self._processes
        ]

    def _start(self, job: int, one: Guest) -> None:
        ours, theirs = socket.socketpair()
        place = guest.Place(
            one.name, self._guests.cluster, self._guests.config, job, one.boards, one.streams, theirs.fileno(),
            str(self._file),
        )  # fmt: skip
        parent = os.getpid()
        child = subprocess.Popen(
            self._command(one),
            env={**os.environ, **place.environment()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            preexec_fn=functools.partial(processes.end_with_parent, parent),
        )
        theirs.close()
        ours.setblocking(False)
        made = _Process(one, job, child, ours)
        self._processes.append(made)
        self._selector.register(ours, selectors.EVENT_READ, (made, None))
        for stream in (child.stdout, child.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, (made, stream))

    def _command(self, one: Guest) -> list[str]:
        words = list(one.words)
        at = 1 if words[0] == "run" else 2
        words[at:at] = ["--engine", guest.NAME]
        return [*command(), *words]

    def _look(self, seconds: float) -> None:
        """Receives requests and output of guests, sends them their records, and notes their ends."""
        for key, events in self._selector.select(seconds):
            one, stream = key.data
            if stream is not None:
                self._read_output(one, stream)
            elif events & selectors.EVENT_WRITE:
                self._flush(one)
            else:
                self._read_requests(one)
        for one in self._processes:
            if one.code is None and _has_ended(one.child):
                # What it has started may hold its output open. Its group's number is not reused until the wait.
                _kill(one.child)
                one.child.wait()
                self._ended(one)

    def _read_output(self, one: _Process, stream: IO[bytes]) -> None:
        part = b""
        with contextlib.suppress(BlockingIOError):
            part = os.read(stream.fileno(), 1 << 16)
            if not part:
                self._selector.unregister(stream)
        is_error = stream is one.child.stderr
        *lines, rest = (one.text.pop(is_error, b"") + part).split(b"\n")
        if not part and rest:
            lines.append(rest)
        elif rest:
            one.text[is_error] = rest
        for line in lines:
            self._show(one.guest.name, line, is_error)

    def _read_requests(self, one: _Process) -> None:
        part = b""
        with contextlib.suppress(BlockingIOError, ConnectionResetError):
            part = one.socket.recv(1 << 20)
            if not part:
                self._selector.unregister(one.socket)
        one.received += part
        one.waiting += _wire.requests(one.received)

    def _flush(self, one: _Process) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            while one.unsent:
                del one.unsent[: one.socket.send(one.unsent[: 1 << 16])]
        with contextlib.suppress(KeyError):
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if one.unsent else 0)
            self._selector.modify(one.socket, wanted, (one, None))
        if len(one.unsent) > _HELD:
            self._note(f"guest {one.guest.name}: does not receive what its boards send, and is ended")
            one.unsent.clear()
            _kill(one.child)

    def _ended(self, one: _Process) -> None:
        """A guest's process has ended: halts its threads, and parks its ports."""
        one.code = one.child.returncode
        for stream in (one.child.stdout, one.child.stderr):
            while stream is not None and stream in [key.fileobj for key in self._selector.get_map().values()]:
                self._read_output(one, stream)
        one.waiting.clear()
        if self._kernels is not None and one.guest.streams[1]:
            self._kernels[0:4] = struct.pack("<I", 0)
        if one.run is not None or any(run["reason"] not in ("done",) for run in one.runs):
            one.run = None
            halts = b"".join(
                bytes((constants.enumeration("debug_command")["halt"], thread)) for thread in range(self._tile_threads)
            )
            for tile in self._tiles_of(one):
                self._ask("Q", struct.pack("<II", 0, tile) + halts)
        if not one.ready and one.code and not one.cancelled and self._cancel():
            self._note(f"guest {one.guest.name} cannot start, so no guest is started")

    def _cancel(self) -> bool:
        """Ends all guests that have not ended; whether there are any."""
        left = [one for one in self._processes if one.code is None and not one.cancelled]
        for one in left:
            one.cancelled = True
            _kill(one.child)
        return bool(left)

    # ---- Time ----

    def _requested(self) -> bool:
        return any(one.waiting for one in self._processes)

    def _state(self) -> tuple[bool, bool, bool]:
        """Whether kernels want cycles, have been attached, and are parked."""
        if self._kernels is None:
            return False, False, False
        wants, attached, parked = struct.unpack_from("<III", self._kernels)
        return bool(wants), bool(attached), bool(parked)

    def _watch_ports(self) -> None:
        wants, _, _ = self._state()
        for one in self._processes:
            if one.guest.streams[1] and wants:
                one.ready = True

    def _begin(self) -> None:
        """Starts all guests, once all are ready."""
        if not self._begun:
            if not all(one.ready or one.code is not None for one in self._processes):
                return
            self._begun = True
            self._before, self._first = self._sent(), self._cycle
        wants, attached, _ = self._state()
        if wants and not attached:
            assert self._kernels is not None
            self._kernels[4:8] = struct.pack("<I", 1)
        waiting = [one for one in self._processes if one.start is not None]
        if waiting:
            self._start_runs(waiting)

    def _time_passes(self) -> bool:
        wants, attached, parked = self._state()
        return any(one.run is not None for one in self._processes) or (attached and wants and not parked)

    def _advance(self) -> None:
        self._pipe.send(_wire.wait_request(_STEP))
        self._until(_wire.WOKEN)
        for one in self._processes:
            if one.run is not None:
                self._check(one, one.run)

    # ---- Runs ----

    def _start_runs(self, waiting: list[_Process]) -> None:
        """Starts runs in the same cycle, as far as packets to several boards can."""
        places = b""
        for one in waiting:
            assert one.start is not None
            _, _, most, watchdog = struct.unpack_from("<IIQQ", one.start)
            counts = struct.unpack_from(f"<{len(one.guest.boards)}I", one.start, 24)
            left: set[int] = set()
            for board, count in zip(one.guest.boards, counts, strict=True):
                places += struct.pack("<II", board, count)
                left |= set(range(board * self._threads, board * self._threads + count))
            active = self._active(one)
            one.run = _Run(sum(counts), most, watchdog, self._cycle, active.issued, left)
            one.run.figures, one.run.changed = (active.issued, active.progress), self._cycle
            one.start = None
        self._ask("G", places)
        for one in waiting:
            assert one.run is not None
            one.run.first = one.run.checked = one.run.changed = self._cycle
            for payload in one.inputs:
                self._pipe.send(_wire.request("U", payload))
            one.inputs.clear()

    def _check(self, one: _Process, run: _Run) -> None:
        """Ends a run whose threads have ended, or that cannot continue."""
        if not run.left:
            if self._cycle - run.last >= _DRAIN + 8 * self._flight:
                self._end_run(one, run, _wire.ALL_ENDED, run.last)
            return
        if run.most and self._cycle - run.first >= run.most:
            self._end_run(one, run, _wire.MOST_CYCLES, self._cycle)
        elif self._cycle - run.checked >= _CHECK:
            active = self._active(one)
            run.checked = self._cycle
            figures = active.issued, active.progress
            if figures != run.figures:
                run.figures, run.changed = figures, self._cycle
            done = struct.pack("<Q", active.issued - run.issued)
            self._give(one, Record(_wire.PROGRESS, 0, 0, self._cycle, done))
            quiet = self._cycle - run.changed
            if active.waiting and quiet >= _PATIENCE + 16 * self._flight:
                self._end_run(one, run, _wire.DEADLOCK, self._cycle)
            elif run.watchdog and quiet >= run.watchdog:
                self._end_run(one, run, _wire.STUCK, self._cycle)

    def _end_run(self, one: _Process, run: _Run, reason: int, last: int) -> None:
        active = self._active(one)
        instructions = active.issued - run.issued
        names = ("done", "max-cycles", "deadlock", "stuck", "stopped")
        one.runs.append({"reason": names[reason], "first": run.first, "last": last, "instructions": instructions})
        one.run = None
        payload = _wire.end_of_run(
            reason, run.first, last, instructions, active.threads, lambda thread: self._own(one, thread)
        )
        self._give(one, Record(_wire.END, 0, 0, self._cycle, payload))

    def _active(self, one: _Process) -> _wire.Active:
        boards = struct.pack(f"<{len(one.guest.boards)}I", *one.guest.boards)
        found: list[Record] = []
        self._pipe.send(_wire.request("A", boards))
        self._until(_wire.DONE, found.append, _wire.ACTIVE)
        return _wire.Active.of(found[0].payload)

    # ---- Requests ----

    def _serve(self) -> None:
        """Handles requests; a guest that sends one after the other is served without others' time in between."""
        for one in self._processes:
            while one.waiting:
                self._handle(one, *one.waiting.pop(0))
                if not one.waiting and one.start is None and one.run is None and one.code is None:
                    self._look(0.0)
                    if not one.waiting:
                        self._look(_TURN)

    def _handle(self, one: _Process, kind: str, payload: bytes) -> None:
        self._asking = one
        try:
            if kind in ("N", "M") and not self._may_send(one, payload[4 if kind == "N" else 0 :]):
                return
            if kind in ("S", "Q", "I") and not self._may_ask(one, kind, payload):
                return
            if kind == "N" or kind == "S":
                done = self._ask(kind, payload if kind == "N" else self._to_tile(one, payload, 0))
                self._give(one, done)
            elif kind == "Q":
                (tile,) = struct.unpack_from("<I", payload, 4)
                if tile == _EACH_TILE:
                    for tile in self._tiles_of(one):
                        done = self._ask("Q", payload[:4] + struct.pack("<I", tile) + payload[8:])
                else:
                    done = self._ask("Q", self._to_tile(one, payload, 4))
                self._give(one, Record(_wire.DONE, 0, 0, self._cycle, b""))
            elif kind == "M":
                self._pipe.send(_wire.request("M", payload))
            elif kind == "I":
                (thread,) = struct.unpack_from("<I", payload)
                one.inputs.append(struct.pack("<I", self._global(one, thread)) + payload[4:])
            elif kind == "R":
                one.start, one.ready = payload, True
            elif kind == "X":
                if one.run is not None:
                    self._end_run(one, one.run, _wire.WAS_STOPPED, self._cycle)
                elif one.start is not None:
                    one.start = None
                    end = _wire.end_of_run(_wire.WAS_STOPPED, self._cycle, self._cycle, 0, (), int)
                    self._give(one, Record(_wire.END, 0, 0, self._cycle, end))
            elif kind == "T":
                self._give(one, Record(_wire.DONE, 0, 0, self._cycle, b""))
            elif kind != "Y":
                said = f"a request ({kind}) that is not for guests".encode()
                self._give(one, Record(_wire.FAILED, 0, 0, self._cycle, said))
        finally:
            self._asking = None

    def _may_send(self, one: _Process, flits: bytes) -> bool:
        """Whether a guest may send flits; else reports why not, to the guest as well."""
        why = _filter.fault(flits, one.job, one.guest.boards, self.plan.hosts[0])
        if why:
            line = f"guest {one.guest.name}: its host sends {why}; nothing of it is sent"
            self._note(line)
            self._give(one, Record(_wire.FAILED, 0, 0, self._cycle, line.encode()))
        return not why

    def _may_ask(self, one: _Process, kind: str, payload: bytes) -> bool:
        """Whether a request names a tile or a thread of the guest; else reports why not, to the guest as well."""
        at, of_board = (4, self._tiles) if kind == "Q" else (0, self._threads if kind == "I" else self._tiles)
        what = "thread" if kind == "I" else "tile"
        most = len(one.guest.boards) * of_board
        number = int.from_bytes(payload[at : at + 4], "little")
        if len(payload) < at + 4:
            why = f"an incomplete request to a {what}"
        elif number >= most and not (kind == "Q" and number == _EACH_TILE):
            why = f"a request to {what} {number}; it has {what}s 0 to {most - 1}"
        else:
            return True
        line = f"guest {one.guest.name}: its host sends {why}; nothing of it is sent"
        self._note(line)
        self._give(one, Record(_wire.FAILED, 0, 0, self._cycle, line.encode()))
        return False

    def _to_tile(self, one: _Process, payload: bytes, at: int) -> bytes:
        """A request to a tile, given by the guest's number at a place of the payload."""
        (tile,) = struct.unpack_from("<I", payload, at)
        board, its = divmod(tile, self._tiles)
        number = one.guest.boards[board] * self._tiles + its
        return payload[:at] + struct.pack("<I", number) + payload[at + 4 :]

    def _tiles_of(self, one: _Process) -> Iterator[int]:
        for board in one.guest.boards:
            yield from range(board * self._tiles, (board + 1) * self._tiles)

    def _own(self, one: _Process, thread: int) -> int:
        """A guest's number of a thread."""
        board, its = divmod(thread, self._threads)
        return one.guest.boards.index(board) * self._threads + its

    def _global(self, one: _Process, thread: int) -> int:
        board, its = divmod(thread, self._threads)
        return one.guest.boards[board] * self._threads + its

    # ---- Records ----

    def _ask(self, kind: str, payload: bytes) -> Record:
        """Sends a request and handles records until it is done."""
        self._pipe.send(_wire.request(kind, payload))
        return self._until(_wire.DONE)

    def _until(self, kind: int, wanted: Callable[[Record], object] | None = None, of: int = 0) -> Record:
        while True:
            record = self._pipe.record()
            self._cycle = max(self._cycle, record.cycle)
            if record.kind == kind:
                return record
            if wanted is not None and record.kind == of:
                wanted(record)
            else:
                self._dispatch(record)

    def _dispatch(self, record: Record) -> None:
        """Gives a record to the guest that it concerns."""
        if record.kind == _wire.FAILED:
            raise RunDied(record.payload.decode(errors="replace"))
        if record.kind == _wire.PACKET:
            self._dispatch_packet(record)
        elif record.kind in (_wire.LINE, _wire.EMIT, _wire.STOPPED, _wire.TRAP, _wire.REPLY):
            job = self._owner.get(record.thread // self._threads)
            if job is None or job >= len(self._processes):
                return
            one = self._processes[job]
            if one.run is not None and record.kind in (_wire.STOPPED, _wire.TRAP):
                one.run.left.discard(record.thread)
                one.run.last = max(one.run.last, record.cycle)
            self._give(one, record._replace(thread=self._own(one, record.thread)))

    def _dispatch_packet(self, record: Record) -> None:
        packet = decode(record.payload)
        if packet.kind == REPLY_OR_ANSWER:
            if self._asking is not None:
                self._give(self._asking, record)
        elif packet.kind == Kind.MESSAGE:
            if packet.what < len(self._processes):
                self._give(self._processes[packet.what], record)
        elif packet.kind == Kind.FAULT:
            board = constants.layout("address_accelerator").unpack(packet.thread)["board"]
            if (job := self._owner.get(board)) is not None:
                self._give(self._processes[job], record)
        elif packet.kind == Kind.EVENT:
            event = Event.of(packet.thread, packet.what, packet.unit, packet.value, record.cycle)
            self.events.append(event)
            self._say(event)

    def _say(self, event: Event) -> None:
        """Shows an event, with the guest that has caused it; only the first ones of a kind and guest."""
        job = _events.job_of(event)
        who = self._processes[job].guest.name if job is not None and job < len(self._processes) else ""
        line = _events.describe(self.plan, event)
        count = self._repeated[f"{event.what} {who}"] = self._repeated.get(f"{event.what} {who}", 0) + 1
        if count <= _SHOWN:
            self._note(line + (f" (guest {who})" if who else ""))
        elif count == _SHOWN + 1:
            self._note(f"more events {event.what}" + (f" of guest {who}" if who else "") + " are not shown")

    def _give(self, one: _Process, record: Record) -> None:
        if one.code is not None:
            return
        one.unsent += record.bytes()
        self._flush(one)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether a child has ended, without waiting for it."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kills a guest's process, which has not been waited for, and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


_SHOWN = 10
"""Events of a kind and guest that are shown."""


def describe_failures(outcomes: list[Outcome]) -> tuple[int, str]:
    """The exit code of the whole, and why; the code is 0 if no guest has failed."""
    parts, codes = [], []
    for one in outcomes:
        if not one.code:
            continue
        codes.append(one.code if one.code > 0 else 4)
        how = f"was killed by {signal_name(-one.code)}" if one.code < 0 else f"ended with {one.code}"
        parts.append(f"guest {one.name} {how}")
    order = (4, 2, 1)
    code = next((code for code in order if code in codes), codes[0] if codes else 0)
    return code, "; ".join(parts)


__all__ = ["Host", "Outcome", "describe_failures"]
