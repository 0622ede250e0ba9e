# SPDX-License-Identifier: Apache-2.0
"""The manager of a cluster: opens sessions with boards that appear, configures them, gives them the tasks of jobs, and
runs the tasks of boards that vanish elsewhere.

One thread owns the port and does all of that; others read the store and the snapshot.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import RunDied
from gossamer.shell.host import BoardError, BoardInfo, Host, mac_text
from gossamer.shell.store import Store, Task

LEASE = 5.0
"""Seconds after which a board is free if the manager has ended."""
_SILENT = 3.0
"""Seconds without a frame after which a board has vanished; it sends a heartbeat each second."""
_DISCOVER_EVERY = _PUBLISH_EVERY = 0.5
_MOST_FAILURES = 3
QUARANTINE = 60.0
"""Seconds without work for a board that has failed three times in a row."""


@dataclass
class _Board:
    """A board with a session."""

    info: BoardInfo
    role: str = ""
    task: Task | None = None
    began: float = 0.0


class Manager:
    """Runs until ``stop`` is called. ``state`` is the SQLite file; ``port`` and ``keys`` are those of `Host`.

    Raises InputError if the port or the file cannot be used.
    """

    def __init__(self, port: str, keys: Mapping[int, bytes], state: Path) -> None:
        self._store = Store(state)
        # The address at a switch stays the same, so that boards recognize the manager after a restart.
        own = int(self._store.setting("mac", str(0x02 << 40 | secrets.randbits(40))))
        self._host = Host(port, keys, mac=own)
        self._keys = dict(keys)
        self._boards: dict[int, _Board] = {}
        self._refused: dict[int, float] = {}
        self._stop = threading.Event()
        self._discovered = self._published = 0.0
        self._found: list[BoardInfo] = []
        self._busy: set[int] = set()
        self._snapshot: dict[str, Any] = {"boards": [], "began": time.time()}
        if again := self._store.recover():
            self._store.note("warning", f"the manager has started again; {again} tasks that ran are run again")
        self._store.note("info", f"manager of {port} with {len(keys)} keys")

    def snapshot(self) -> dict[str, Any]:
        """The boards as they are now, for pages and metrics; may be called from any thread."""
        return self._snapshot

    def stop(self) -> None:
        """Ends `run` soon; may be called from any thread and from a signal handler."""
        self._stop.set()

    def run(self) -> None:
        """Manages the cluster until `stop`; then sessions are closed, and running tasks wait again."""
        try:
            while not self._stop.is_set():
                self._host.pump(0.002)
                self._discover()
                self._harvest()
                self._configure()
                self._assign()
                self._publish()
        finally:
            for mac, board in self._boards.items():
                if board.task is not None:
                    self._store.again(board.task, "the manager has ended")
                with contextlib.suppress(RunDied):
                    self._host.close(mac)
            self._host.free()
            self._store.note("info", "the manager has ended")
            self._store.close()

    # ---- Boards

    def _discover(self) -> None:
        now = time.monotonic()
        if now - self._discovered < _DISCOVER_EVERY:
            return
        self._discovered = now
        self._found = self._host.discover(0.0)
        known = self._store.boards()
        for info in self._found:
            if info.mac in self._boards or info.mac not in self._keys or info.age_ms > 2000:
                continue
            if time.time() < known.get(info.mac, {}).get("quarantined_until", 0) or now < self._refused.get(
                info.mac, 0
            ):
                continue
            self._open(info)

    def _open(self, info: BoardInfo) -> None:
        self._store.seen(info.mac)
        try:
            self._host.open(info.mac, lease=LEASE, timeout=0.3)
        except BoardError as error:
            # Another attempt soon costs time that other boards need.
            self._refused[info.mac] = time.monotonic() + 5.0
            self._store.note("warning", str(error))
            return
        self._boards[info.mac] = _Board(info, role=info.role)
        self._store.note("info", f"board {mac_text(info.mac)} has joined")

    def _vanished(self, mac: int, why: str) -> None:
        board = self._boards.pop(mac)
        self._host.drop(mac)
        self._store.note("error", f"board {mac_text(mac)}: {why}")
        if board.task is not None:
            self._store.again(board.task, f"board {mac_text(mac)}: {why}")
        self._count_failure(mac)

    def _count_failure(self, mac: int) -> None:
        if self._store.failed(mac, _MOST_FAILURES, QUARANTINE):
            self._store.note("error", f"board {mac_text(mac)} is in quarantine for {QUARANTINE:g} s: it keeps failing")

    # ---- Work

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
            try:
                cycles, count = self._host.wait(mac, task.run, timeout=0.0)
                result = self._host.result(mac, count, task.run) if count else b""
                self._host.finish(mac, task.run)
            except BoardError as error:
                if error.status == "timed_out":
                    if time.monotonic() - board.began > task.timeout:
                        # A kernel cannot be interrupted but by the end of its session.
                        self._store.note("error", f"job {task.job}, task {task.number}: exceeds {task.timeout:g} s")
                        self._vanished(mac, f"a task ran longer than {task.timeout:g} s")
                    continue
                board.task = None
                self._store.again(task, str(error), give_up=error.status == "role_failed")
                self._store.note("error", f"job {task.job}, task {task.number}: {error}")
                if error.status == "role_failed":
                    with contextlib.suppress(BoardError):
                        self._host.finish(mac, task.run)
                else:
                    self._vanished(mac, str(error))
                continue
            board.task = None
            self._store.done(task, mac, cycles, result)

    def _configure(self) -> None:
        """Loads the role of the oldest job with tasks that wait, on all idle boards of its type that have another."""
        jobs = self._store.wanted()
        if not jobs:
            return
        roots = {root for _, root, _ in jobs}
        job, root, board_type = jobs[0]
        macs = [
            mac
            for mac, board in self._boards.items()
            if board.task is None and board.info.board_type == board_type and board.role[:32] not in
            {one[:32] for one in roots}
        ]  # fmt: skip
        if not macs:
            return
        self._busy = set(macs)

        def meanwhile(_sent: int, _total: int, _done: int) -> None:
            self._harvest()
            self._assign()

        try:
            results = self._host.configure(macs, self._store.role(job), board_type, drop_after=2.0, progress=meanwhile)
        finally:
            self._busy = set()
        for mac, (status, seconds) in results.items():
            if status == "ok":
                self._boards[mac].role = root[:32]
                self._store.configured(mac)
                self._store.note("info", f"board {mac_text(mac)} has loaded role {root[:8]} in {seconds:.2f} s")
            elif status in ("config_failed", "bad_image"):
                self._store.note("error", f"board {mac_text(mac)}: role {root[:8]} of job {job}: {status}")
                self._store.cancel(job)
                return
            else:
                self._vanished(mac, f"configuration: {status}")

    def _assign(self) -> None:
        jobs = self._store.wanted()
        for mac, board in list(self._boards.items()):
            if board.task is not None or mac in self._busy or not board.role:
                continue
            for job, root, board_type in jobs:
                if root[:32] != board.role[:32] or board_type != board.info.board_type:
                    continue
                task = self._store.take(job, mac)
                if task is None:
                    continue
                board.task, board.began = task, time.monotonic()
                try:
                    for address, data in task.inputs:
                        self._host.write(mac, address, data)
                    if task.registers:
                        self._host.write_registers(mac, task.registers)
                    self._host.start(mac, task.kernel, task.run)
                except BoardError as error:
                    if error.status == "bad_address":
                        board.task = None
                        self._store.again(task, str(error), give_up=True)
                    else:
                        self._vanished(mac, str(error))
                break

    def _publish(self) -> None:
        known = self._store.boards()
        boards = []
        for info in sorted(self._found, key=lambda one: one.mac):
            board, more = self._boards.get(info.mac), known.get(info.mac, {})
            status = self._host.status(info.mac) if board else None
            quarantined = more.get("quarantined_until", 0) > time.time()
            state = "quarantine" if quarantined else info.state if board is None else (
                "running" if board.task else "ready" if board.role else "owned"
            )  # fmt: skip
            boards.append(
                {
                    "mac": mac_text(info.mac),
                    "state": state,
                    "managed": board is not None,
                    "role": (board.role if board else info.role)[:8],
                    "task": f"{board.task.job}/{board.task.number}" if board and board.task else "",
                    "tasks": more.get("tasks", 0),
                    "configured": more.get("configured", 0),
                    "failures": more.get("failures", 0),
                    "status": status,
                }
            )
        self._snapshot = {"boards": boards, "began": self._snapshot["began"]}
        if time.monotonic() - self._published >= _PUBLISH_EVERY:
            self._published = time.monotonic()
            self._store.publish(self._snapshot)


__all__ = ["LEASE", "QUARANTINE", "Manager"]
