# SPDX-License-Identifier: Apache-2.0
"""The manager of a cluster: opens sessions with boards that appear, configures them, gives them the tasks of jobs, and
runs the tasks of boards that vanish elsewhere.

One thread owns the port and does all of that; others read the store and the snapshot.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gossamer.errors import InputError, RunDied
from gossamer.shell import _requests, signature
from gossamer.shell.host import BROADCAST, BoardError, BoardInfo, Host, mac_text, root_of, status_text
from gossamer.shell.keys import read as read_keys
from gossamer.shell.locks import InterfaceLock, StateLock
from gossamer.shell.sensors import FirstOf, HeartbeatSensors, Sensors
from gossamer.shell.store import Store, Task

LEASE = 5.0
"""Seconds after which a board is free if the manager has ended."""
_SILENT = 3.0
"""Seconds without a frame after which a board has vanished; it sends a heartbeat each second."""
_OWNED = LEASE + 1.5
"""Seconds after which an owner of a board is no manager that was killed: its session would have ended."""
_ANSWER = 1.5
"""Seconds in which boards answer, also on a busy machine."""
_DOUBTFUL = 1.6
"""Seconds without a frame after which a board gets no new task: one that has just vanished would hold up the others."""
_DISCOVER_EVERY = 0.5
_PUBLISH_EVERY = 0.25
_SMOOTH = 2.0
"""Seconds over which the traffic of a link is averaged."""
_MOST_FAILURES = 3
QUARANTINE = 60.0
"""Seconds without work for a board that has failed three times; twice as long each time until it has done a task."""
FRESH = 5.0
"""Seconds for which a published snapshot shows a manager that runs."""


@dataclass
class _Link:
    """Traffic between the manager and a board: byte counts at a time, and bytes a second."""

    time: float
    sent: int
    received: int
    sent_rate: float = 0.0
    received_rate: float = 0.0


@dataclass
class _Board:
    """A board with a session."""

    info: BoardInfo
    role: str = ""
    task: Task | None = None
    request: int = 0
    """The request whose kernel the board runs, or 0."""
    began: float = 0.0
    used: int = 0
    """The end of the memory that the manager has written since the role was loaded."""


@dataclass
class _Request:
    """A request that has begun: its boards get no tasks."""

    number: int
    user: str
    kind: str
    options: Mapping[str, Any]
    macs: Sequence[int]
    started: bool = False
    data: bytes = b""
    at: int = 0
    """Bytes of ``data`` that are written."""
    results: dict[int, Any] = field(default_factory=dict)


def _stamp(file: Path | None) -> tuple[int, int, int] | None:
    """Differs when a file has changed; None without a file."""
    try:
        found = file.stat() if file is not None else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_ino, found.st_size) if found is not None else None


class Manager:
    """Runs until ``stop`` is called. ``state`` is the SQLite file; ``port`` is that of `Host`.

    ``keys`` are the boards' keys by address, or the file that has them. A file that changes is read again: boards with
    a new key join, and a board without one leaves. Sessions that are open keep the key that they were opened with.

    With ``trust``, a file of public keys, only roles that one of them has signed are loaded. ``sensors`` is a driver
    that is asked before the heartbeats. ``take_over`` ends the sessions of other hosts.
    Raises InputError if the port or the file cannot be used, or if another manager uses one of them.
    """

    def __init__(
        self,
        port: str,
        keys: Mapping[int, bytes] | Path,
        state: Path,
        trust: Path | None = None,
        *,
        sensors: Sensors | None = None,
        take_over: bool = False,
    ) -> None:
        if trust is not None:
            signature.read_trust(trust)
        self._trust = trust
        self._key_file = keys if isinstance(keys, Path) else None
        self._key_stamp = _stamp(self._key_file)
        known = read_keys(keys) if isinstance(keys, Path) else dict(keys)
        self._accepted: set[int] = set()
        self._lock = StateLock(state)
        try:
            self._interface = InterfaceLock(port)
        except InputError:
            self._lock.release()
            raise
        try:
            self._store = Store(state)
            self._store.check()
            # The address at a switch stays the same, so that boards recognize the manager after a restart.
            own = int(self._store.setting("mac", str(0x02 << 40 | secrets.randbits(40))))
            self._host = Host(port, known, mac=own)
        except InputError:
            self._interface.release()
            self._lock.release()
            raise
        heartbeats = HeartbeatSensors(self._host.status)
        self._sensors: Sensors = FirstOf(sensors, heartbeats) if sensors else heartbeats
        self._port, self._keys, self._take_over = port, known, take_over
        self._boards: dict[int, _Board] = {}
        self._refused: dict[int, float] = {}
        self._owned: dict[int, float] = {}
        self._unreadable: dict[int, str] = {}
        self._links: dict[int, _Link] = {}
        self._requests: list[_Request] = []
        self._stop = threading.Event()
        self._checked = take_over
        self._discovered = self._published = self._advanced = 0.0
        self._found: list[BoardInfo] = []
        self._busy: set[int] = set()
        self._leased: dict[int, str] = {}
        self._snapshot: dict[str, Any] = {"boards": [], "leases": [], "port": port, "began": time.time()}

    def snapshot(self) -> dict[str, Any]:
        """The boards as they are now, for pages and metrics; may be called from any thread."""
        return self._snapshot

    def stop(self) -> None:
        """Ends `run` soon; may be called from any thread and from a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Manages the cluster until `stop`; then sessions are closed, and running tasks wait again.

        Raises InputError if another manager has a session with one of the boards.
        """
        try:
            self.check_owners()
            if again := self._store.recover():
                self._store.note("warning", f"the manager has started again; {again} tasks that ran are run again")
            self._store.forget_requests()
            self._store.note("info", f"manager of {self._port} with {len(self._keys)} keys")
            while not self._stop.is_set():
                self._host.pump(0.002)
                self._discover()
                self._harvest()
                self._serve()
                self._configure()
                self._assign()
                self._publish()
            self._store.note("info", "the manager has ended")
        finally:
            for mac, board in self._boards.items():
                if board.task is not None and not board.request:
                    self._store.again(board.task, "the manager has ended")
                with contextlib.suppress(RunDied):
                    self._host.close(mac)
            self._store.unpublish()
            self.free()

    def free(self) -> None:
        """Closes port, store and locks of a manager that does not `run`."""
        self._host.free()
        self._store.close()
        self._interface.release()
        self._lock.release()

    def check_owners(self) -> None:
        """Waits until no other host has a session: one whose manager has been killed ends with its lease.

        Raises InputError if one does not end.
        """
        began = time.monotonic()
        until = began + _OWNED
        while not self._checked and not self._stop.is_set():
            found = self._host.discover(0.3)
            if not found and time.monotonic() < began + _ANSWER:
                continue
            owned = [
                board
                for board in found
                if board.mac in self._keys and board.owner not in (None, self._host.mac) and board.age_ms < 2000
            ]
            if not owned:
                self._checked = True
                return
            if time.monotonic() > until:
                raise self._owned_by_another(owned[0].mac, owned[0].owner)

    def _owned_by_another(self, mac: int, owner: int | None) -> InputError:
        by = f", {mac_text(owner)}" if owner else ""
        return InputError(
            f"board {mac_text(mac)} has a session with another manager{by}; "
            "end that one, or take the boards over with --take-over"
        )

    # ---- Boards

    def _discover(self) -> None:
        now = time.monotonic()
        if now - self._discovered < _DISCOVER_EVERY:
            return
        self._discovered = now
        self._read_keys()
        self._found = self._host.discover(0.0)
        known = self._store.boards()
        for mac, why in self._host.unreadable(least=3).items():
            if self._unreadable.get(mac) != why:
                self._store.note("error", f"board {mac_text(mac)} {why}")
            self._unreadable[mac] = why
        for info in self._found:
            self._unreadable.pop(info.mac, None)
            if info.mac in self._boards or info.mac not in self._keys or info.age_ms > 2000:
                continue
            if time.time() < known.get(info.mac, {}).get("quarantined_until", 0) or now < self._refused.get(
                info.mac, 0
            ):
                continue
            self._open(info)

    def _read_keys(self) -> None:
        """Reads the file of keys again if it has changed; while boards are configured, later."""
        stamp = _stamp(self._key_file)
        if self._key_file is None or stamp == self._key_stamp or self._busy:
            return
        self._key_stamp = stamp
        try:
            keys = read_keys(self._key_file)
        except InputError as error:
            self._store.note("error", f"{error}; the keys that were read before stay in use")
            return
        for mac in self._boards.keys() - keys.keys():
            self._host.close(mac)
            self._vanished(mac, f"has no key in {self._key_file} any more", blame=False)
        for mac in keys.keys() & self._refused.keys():
            if keys[mac] != self._keys.get(mac):
                del self._refused[mac]
        self._keys = keys
        self._host.keys = dict(keys)
        self._store.note("info", f"read {len(keys)} keys from {self._key_file}")

    def _open(self, info: BoardInfo) -> None:
        self._store.seen(info.mac)
        try:
            self._host.open(info.mac, lease=LEASE, timeout=0.3, take_over=self._take_over)
        except BoardError as error:
            # Another attempt soon costs time that other boards need.
            now = time.monotonic()
            self._refused[info.mac] = now + 5.0
            self._store.note("warning", str(error))
            owned = error.status == "not_owner" and now - self._owned.setdefault(info.mac, now) > _OWNED
            # With boards of its own, a manager is of use; without any, it is the second one of this network.
            if owned and not self._boards:
                raise self._owned_by_another(info.mac, info.owner) from None
            return
        self._owned.clear()
        self._boards[info.mac] = _Board(info, role=info.role)
        self._store.note("info", f"board {mac_text(info.mac)} has joined")

    def _vanished(self, mac: int, why: str, *, blame: bool = True) -> None:
        board = self._boards.pop(mac)
        self._host.drop(mac)
        self._store.note("error", f"board {mac_text(mac)}: {why}")
        if board.task is not None:
            self._failed(mac, board, f"board {mac_text(mac)}: {why}")
        if blame and (seconds := self._store.failed(mac, _MOST_FAILURES, QUARANTINE)):
            self._store.note(
                "error",
                f"board {mac_text(mac)} is in quarantine for {seconds:g} s, because it keeps failing; "
                f"./gossamer cluster readmit {mac_text(mac)} ends that",
            )

    # ---- Work

    def _failed(self, mac: int, board: _Board, why: str, *, give_up: bool = False) -> None:
        """The run of a board has failed."""
        task, board.task = board.task, None
        assert task is not None
        if board.request:
            self._ended(mac, board, task.kernel, _requests.Outcome(error=why))
        else:
            self._store.again(task, why, give_up=give_up)

    def _ended(self, mac: int, board: _Board, kernel: int, outcome: _requests.Outcome) -> None:
        """The kernel of a request has ended on a board."""
        self._store.ran(mac, kernel, outcome.cycles, outcome.result, outcome.error)
        for one in self._requests:
            if one.number == board.request:
                one.results[mac] = outcome.error or ""
        board.request = 0

    def _harvest(self) -> None:
        """Collects what has ended, and finds boards that have vanished."""
        for mac, board in list(self._boards.items()):
            if mac in self._busy:
                continue
            age = self._host.age(mac)
            if age is None or age > _SILENT:
                self._vanished(mac, "no longer answers" if age is not None else "was reset or taken over")
                continue
            task = board.task
            if task is None:
                continue
            what = f"request {board.request}" if board.request else f"job {task.job}, task {task.number}"
            try:
                cycles, count = self._host.wait(mac, task.run, timeout=0.0)
                result = self._host.result(mac, count, task.run) if count else b""
                self._host.finish(mac, task.run)
            except BoardError as error:
                if error.status == "timed_out":
                    if time.monotonic() - board.began > task.timeout:
                        # A kernel cannot be interrupted but by the end of its session. The board is to blame only if
                        # the job's kernel has ended elsewhere.
                        self._store.note("error", f"{what}: exceeds {task.timeout:g} s")
                        blame = not board.request and self._store.any_done(task.job)
                        self._vanished(mac, f"a task ran longer than {task.timeout:g} s", blame=blame)
                    continue
                self._store.note("error", f"{what}: {error}")
                if error.status == "role_failed":
                    self._failed(mac, board, str(error), give_up=True)
                    with contextlib.suppress(BoardError):
                        self._host.finish(mac, task.run)
                else:
                    self._vanished(mac, str(error))
                continue
            board.task = None
            if board.request:
                self._ended(mac, board, task.kernel, _requests.Outcome(cycles, result))
            else:
                self._store.done(task, mac, cycles, result)

    def _wanted(self) -> list[tuple[int, str, int, str]]:
        """The jobs of the store that have tasks and an accepted role; those whose role is rejected are cancelled."""
        self._read_leases()
        kept = []
        for job, root, board_type, owner in self._store.wanted():
            if job not in self._accepted:
                try:
                    body, package = signature.accepted(f"job {job}", self._store.role(job), self._trust)
                    if root_of(body).hex() != root or (package is not None and package.board_type != board_type):
                        raise InputError(f"job {job}: names another role or type of board than its role package")
                except InputError as error:
                    self._store.note("error", f"{error}; the job is cancelled")
                    self._store.cancel(job)
                    continue
                self._accepted.add(job)
            kept.append((job, root, board_type, owner))
        return kept

    def _reserved(self) -> set[int]:
        return {mac for one in self._requests for mac in one.macs}

    def _read_leases(self) -> None:
        """Reads the leases, so that a request or task is judged by those of its time, and notes which have ended."""
        self._leased = self._store.leased()
        # After the reading: a lease that it no longer holds has been noted before a task starts for that reason.
        for number, user in self._store.expire():
            self._store.note("info", f"lease {number} of {user} has ended")

    def _may(self, owner: str, mac: int) -> bool:
        """Whether a user's tasks run on a board: it is leased to the user, or not leased."""
        return self._leased.get(mac, owner) == owner

    def _load_role(
        self, macs: Sequence[int], role: bytes, board_type: int, root: str, *, unicast: bool = False,
        group: int = BROADCAST, drop_after: float = 2.0, progress: Callable[[int, int], object] | None = None,
    ) -> dict[int, tuple[str, float]]:  # fmt: skip
        """Configures boards while the others work; those that fail have vanished, unless the role is to blame."""
        self._busy = set(macs)

        def meanwhile(sent: int, total: int, _done: int) -> None:
            self._harvest()
            self._assign()
            self._publish()
            if progress:
                progress(sent, total)

        try:
            results = self._host.configure(
                macs, role, board_type, unicast=unicast, group=group, drop_after=drop_after, progress=meanwhile
            )
        finally:
            self._busy = set()
        for mac, (status, seconds) in results.items():
            if status == "ok":
                self._boards[mac].role, self._boards[mac].used = root[:32], 0
                self._store.configured(mac)
                self._store.note("info", f"board {mac_text(mac)} has loaded role {root[:8]} in {seconds:.2f} s")
            elif status not in ("config_failed", "bad_image"):
                self._vanished(mac, f"configuration: {status_text(status)}")
        return results

    def _configure(self) -> None:
        """Loads the role of the oldest job that boards wait for: idle ones of its type, with a role of no such job."""
        jobs = self._wanted()
        idle = [
            (mac, board)
            for mac, board in self._boards.items()
            if board.task is None and mac not in self._reserved()
            and not any(
                one[1][:32] == board.role[:32] and one[2] == board.info.board_type and self._may(one[3], mac)
                for one in jobs
            )
        ]  # fmt: skip
        for job, root, board_type, owner in jobs if idle else ():
            macs = [mac for mac, board in idle if board.info.board_type == board_type and self._may(owner, mac)]
            if not macs:
                continue
            role, _ = signature.accepted(f"job {job}", self._store.role(job), self._trust)
            for mac, (status, _) in self._load_role(macs, role, board_type, root).items():
                if status in ("config_failed", "bad_image"):
                    self._store.note(
                        "error", f"board {mac_text(mac)}: role {root[:8]} of job {job}: {status_text(status)}"
                    )
                    self._store.cancel(job)
                    return
            return

    def _assign(self) -> None:
        jobs = self._wanted()
        reserved = self._reserved()
        for mac, board in list(self._boards.items()):
            if board.task is not None or mac in self._busy or mac in reserved or not board.role:
                continue
            if (self._host.age(mac) or 0) > _DOUBTFUL:
                continue
            for job, root, board_type, owner in jobs:
                if root[:32] != board.role[:32] or board_type != board.info.board_type or not self._may(owner, mac):
                    continue
                task = self._store.take(job, mac)
                if task is None:
                    continue
                board.task, board.began = task, time.monotonic()
                try:
                    for address, data in task.inputs:
                        self._host.write(mac, address, data)
                        board.used = max(board.used, address + len(data))
                    if task.registers:
                        self._host.write_registers(mac, task.registers)
                    self._host.start(mac, task.kernel, task.run)
                except BoardError as error:
                    if error.status == "bad_address":
                        self._failed(mac, board, str(error), give_up=True)
                    else:
                        self._vanished(mac, str(error))
                break

    # ---- Requests

    def _serve(self) -> None:
        """Begins requests whose boards have no other one, and continues those that have begun."""
        for row in self._store.waiting_requests():
            if self._reserved() & set(row["boards"]):
                continue
            if not self._store.begin_request(row["id"]):
                continue
            # A lease that ended before this request was made must not reject it.
            self._read_leases()
            one = _Request(row["id"], row["user"], row["kind"], row["options"], row["boards"])
            for mac in one.macs:
                if mac not in self._boards:
                    one.results[mac] = f"board {mac_text(mac)} has no session with the manager"
                elif not self._may(one.user, mac):
                    one.results[mac] = f"board {mac_text(mac)} is leased to {self._leased[mac]}"
            if one.results:
                # All or none: a request for several boards is one step of its user's.
                why = next(iter(one.results.values()))
                one.results = {mac: one.results.get(mac, f"not done, because {why}") for mac in one.macs}
                self._finish(one)
            else:
                self._requests.append(one)
        for one in list(self._requests):
            for mac in one.macs:
                if mac not in self._boards and mac not in one.results:
                    one.results[mac] = f"board {mac_text(mac)} has vanished"
            if not one.started and all(self._boards[mac].task is None for mac in one.macs if mac in self._boards):
                one.started = True
                self._start(one)
            elif one.started and one.kind == "load":
                self._load(one)
            if one.started and len(one.results) == len(one.macs):
                self._requests.remove(one)
                self._finish(one)

    def _start(self, one: _Request) -> None:
        macs = [mac for mac in one.macs if mac in self._boards]
        if one.kind == "configure":
            role = self._store.request_data(one.number)
            options = one.options

            def progress(sent: int, total: int) -> None:
                if time.monotonic() - self._advanced > _PUBLISH_EVERY:
                    self._advanced = time.monotonic()
                    done = _requests.shares(self._host, macs, sent, total)
                    self._store.advance_request(one.number, {mac_text(mac): share for mac, share in done.items()})

            one.results |= self._load_role(
                macs, role, options["board_type"], root_of(role).hex(), unicast=options["unicast"],
                group=options["group"], drop_after=options["drop_after"], progress=progress,
            )  # fmt: skip
        elif one.kind == "load":
            one.data = self._store.request_data(one.number)
        else:
            registers = {int(at): value for at, value in one.options["registers"].items()}
            kernel, timeout = int(one.options["kernel"]), float(one.options["timeout"])
            task = Task(0, one.number, 1, kernel, timeout, registers, ())
            failed: dict[int, _requests.Outcome] = {}
            for mac in _requests.start(self._host, macs, kernel, registers, task.run, failed):
                board = self._boards[mac]
                board.task, board.request, board.began = task, one.number, time.monotonic()
            for mac, outcome in failed.items():
                self._store.ran(mac, kernel, 0, None, outcome.error)
                one.results[mac] = outcome.error

    def _load(self, one: _Request) -> None:
        """Writes the next part of a request's bytes to each of its boards."""
        part = one.data[one.at : one.at + _requests.LOAD_BYTES]
        address = int(one.options["address"]) + one.at
        for mac in one.macs:
            if mac in one.results:
                continue
            try:
                self._host.write(mac, address, part)
                self._boards[mac].used = max(self._boards[mac].used, address + len(part))
            except BoardError as error:
                one.results[mac] = str(error)
                if error.status == "timed_out":
                    self._vanished(mac, str(error))
        one.at += len(part)
        if one.at >= len(one.data):
            one.results = {mac: one.results.get(mac, "") for mac in one.macs}
        else:
            share = one.at / len(one.data)
            self._store.advance_request(one.number, {mac_text(mac): share for mac in one.macs})

    def _finish(self, one: _Request) -> None:
        if one.kind == "configure":
            # What has not begun has a text for all kinds; the statuses of a configuration have seconds too.
            one.results = {
                mac: value if isinstance(value, tuple) else (value, 0.0) for mac, value in one.results.items()
            }
        self._store.end_request(one.number, {mac_text(mac): value for mac, value in one.results.items()})
        self._store.note("info", f"request {one.number} of {one.user} ({one.kind}) has ended")

    # ---- What others see

    def _link(self, mac: int) -> _Link:
        """The traffic of a board's link: its own frames and those to all."""
        now = time.monotonic()
        (own, received), (to_all, _) = self._host.traffic(mac), self._host.traffic(BROADCAST)
        before = self._links.get(mac)
        link = self._links[mac] = _Link(now, own + to_all, received)
        if before is not None and now > before.time:
            passed = now - before.time
            keep = math.exp(-passed / _SMOOTH)
            link.sent_rate = before.sent_rate * keep + (link.sent - before.sent) / passed * (1 - keep)
            link.received_rate = before.received_rate * keep + (received - before.received) / passed * (1 - keep)
        return link

    def _publish(self) -> None:
        if time.monotonic() - self._published < _PUBLISH_EVERY:
            return
        self._published = time.monotonic()
        known, now = self._store.boards(), time.time()
        boards = []
        reserved = self._reserved()
        for info in sorted(self._found, key=lambda one: one.mac):
            board, more = self._boards.get(info.mac), known.get(info.mac, {})
            quarantine = max(0.0, more.get("quarantined_until", 0) - now)
            if info.age_ms > 60_000 and board is None and not quarantine:
                continue
            if quarantine:
                state = "quarantine"
            elif board is None:
                state = info.state if info.age_ms < 1000 * _SILENT else "silent"
            elif info.mac in self._busy:
                state = "configuring"
            elif board.task:
                state = "running"
            else:
                state = "reserved" if info.mac in reserved else "ready" if board.role else "owned"
            task = board.task if board else None
            link, reading = self._link(info.mac), self._sensors.read(info.mac)
            # The link is full-duplex: the busier direction is what limits.
            rate = max(link.sent_rate, link.received_rate)
            boards.append(
                {
                    "mac": mac_text(info.mac),
                    "serial": info.serial,
                    "type": info.board_type,
                    "image_max": info.image_max,
                    "state": state,
                    "managed": board is not None,
                    "role": (board.role if board else info.role)[:8],
                    "task": "" if task is None else f"{task.job}/{task.number}" if task.job else f"exec {task.kernel}",
                    "tasks": more.get("tasks", 0),
                    "configured": more.get("configured", 0),
                    "failures": more.get("failures", 0),
                    "quarantine": round(quarantine, 1),
                    "lease": self._leased.get(info.mac, ""),
                    "link": min(1.0, rate / (1000.0 * info.sink_rate)) if info.sink_rate else 0.0,
                    "link_rate": 1000 * info.sink_rate,
                    "sent": link.sent,
                    "received": link.received,
                    "sent_rate": link.sent_rate,
                    "received_rate": link.received_rate,
                    "memory": board.used / info.memory_bytes if board and info.memory_bytes else 0.0,
                    "memory_used": board.used if board else 0,
                    "memory_bytes": info.memory_bytes,
                    "temperature": reading.temperature,
                    "power": reading.power,
                    "fan": reading.fan,
                    "status": self._host.status(info.mac) if board else None,
                }
            )
        self._snapshot = {
            "boards": boards,
            "unreadable": {mac_text(mac): why for mac, why in sorted(self._unreadable.items())},
            "leases": [one | {"boards": [mac_text(mac) for mac in one["boards"]]} for one in self._store.leases()],
            "port": self._port,
            "began": self._snapshot["began"],
        }
        self._store.publish(self._snapshot)


__all__ = ["FRESH", "LEASE", "QUARANTINE", "Manager"]
