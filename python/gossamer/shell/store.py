# SPDX-License-Identifier: Apache-2.0
"""What a cluster's manager remembers, in SQLite: boards, jobs, tasks with their results, a log.

Each change is a transaction that is on disk before the call returns, so the manager may be killed at any moment. A task
is done once: its result is stored in the transaction that marks it so, and only while it is marked as running.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import InputError

_VERSION = 1
_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE boards (mac INTEGER PRIMARY KEY, failures INTEGER NOT NULL DEFAULT 0, quarantined_until REAL NOT NULL
  DEFAULT 0, configured INTEGER NOT NULL DEFAULT 0, tasks INTEGER NOT NULL DEFAULT 0, first_seen REAL NOT NULL);
CREATE TABLE jobs (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, role BLOB NOT NULL, root TEXT NOT NULL,
  board_type INTEGER NOT NULL, kernel INTEGER NOT NULL, timeout REAL NOT NULL, state TEXT NOT NULL,
  submitted REAL NOT NULL, ended REAL);
CREATE TABLE tasks (job INTEGER NOT NULL REFERENCES jobs(id), number INTEGER NOT NULL, state TEXT NOT NULL,
  registers TEXT NOT NULL, inputs TEXT NOT NULL, board INTEGER, attempts INTEGER NOT NULL DEFAULT 0, error TEXT,
  cycles INTEGER, result BLOB, PRIMARY KEY (job, number));
CREATE INDEX waiting ON tasks (state, job, number);
CREATE TABLE log (id INTEGER PRIMARY KEY, time REAL NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL);
"""
MOST_ATTEMPTS = 5
"""Runs of a task on boards that fail or vanish before it counts as failed."""
_KEPT_LINES = 10_000


@dataclass(frozen=True)
class Task:
    """A task that is to run: registers by address, and the bytes for addresses of the memory."""

    job: int
    number: int
    attempt: int
    kernel: int
    timeout: float
    registers: Mapping[int, int]
    inputs: Sequence[tuple[int, bytes]]

    @property
    def run(self) -> int:
        """The number of this run: no other attempt has it."""
        return self.job << 40 | self.number << 8 | self.attempt & 255


class Store:
    """The file of a manager; InputError if it is not one, or is in use by another version.

    A connection belongs to one thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=10)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                self._db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise InputError(f"{path}: was written by another version of the manager; use another --state file")
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be used as the manager's state: {error}") from None

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def setting(self, name: str, default: str) -> str:
        """A remembered value; ``default`` is stored at the first call."""
        self._db.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, default))
        return str(self._db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()[0])

    def publish(self, snapshot: Any) -> None:
        """Stores what other processes show: the boards as they are now."""
        value = json.dumps({"time": time.time(), **snapshot})
        self._db.execute("INSERT OR REPLACE INTO settings VALUES ('snapshot', ?)", (value,))

    def published(self) -> dict[str, Any] | None:
        """The last snapshot, with the ``time`` of it; None before the first."""
        row = self._db.execute("SELECT value FROM settings WHERE name = 'snapshot'").fetchone()
        return json.loads(row[0]) if row else None

    # ---- Boards

    def seen(self, mac: int) -> None:
        """Remembers a board."""
        self._db.execute("INSERT OR IGNORE INTO boards (mac, first_seen) VALUES (?, ?)", (mac, time.time()))

    def boards(self) -> dict[int, dict[str, Any]]:
        """What is known about each board, by address."""
        rows = self._db.execute("SELECT mac, failures, quarantined_until, configured, tasks FROM boards").fetchall()
        names = ("failures", "quarantined_until", "configured", "tasks")
        return {mac: dict(zip(names, rest, strict=True)) for mac, *rest in rows}

    def failed(self, mac: int, most: int, seconds: float) -> bool:
        """Counts a failure of a board; after ``most`` in a row it is in quarantine for ``seconds``: then True."""
        self.seen(mac)
        self._db.execute("UPDATE boards SET failures = failures + 1 WHERE mac = ?", (mac,))
        count = self._db.execute("SELECT failures FROM boards WHERE mac = ?", (mac,)).fetchone()[0]
        if count < most:
            return False
        until = time.time() + seconds
        self._db.execute("UPDATE boards SET quarantined_until = ?, failures = 0 WHERE mac = ?", (until, mac))
        return True

    def configured(self, mac: int) -> None:
        """Counts a configuration of a board."""
        self._db.execute("UPDATE boards SET configured = configured + 1, failures = 0 WHERE mac = ?", (mac,))

    # ---- Jobs

    def submit(
        self,
        owner: str,
        role: bytes,
        root: str,
        board_type: int,
        kernel: int,
        timeout: float,
        tasks: Sequence[tuple[Mapping[int, int], Sequence[tuple[int, bytes]]]],
    ) -> int:
        """Stores a job, whole or not at all; its number."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            made = self._db.execute(
                "INSERT INTO jobs (owner, role, root, board_type, kernel, timeout, state, submitted) "
                "VALUES (?, ?, ?, ?, ?, ?, 'waiting', ?)",
                (owner, role, root, board_type, kernel, timeout, time.time()),
            )
            job = made.lastrowid
            assert job is not None
            self._db.executemany(
                "INSERT INTO tasks (job, number, state, registers, inputs) VALUES (?, ?, 'waiting', ?, ?)",
                (
                    (job, number, json.dumps(dict(registers)), json.dumps([(at, data.hex()) for at, data in inputs]))
                    for number, (registers, inputs) in enumerate(tasks)
                ),
            )
        return job

    def wanted(self) -> list[tuple[int, str, int]]:
        """Jobs with tasks that wait, oldest first: number, root of the role, type of board."""
        return self._db.execute(
            "SELECT id, root, board_type FROM jobs "
            "WHERE id IN (SELECT job FROM tasks WHERE state = 'waiting') ORDER BY id"
        ).fetchall()

    def role(self, job: int) -> bytes:
        """The role file of a job."""
        return bytes(self._db.execute("SELECT role FROM jobs WHERE id = ?", (job,)).fetchone()[0])

    def take(self, job: int, mac: int) -> Task | None:
        """The next task of a job, marked as running on a board; None if none waits."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            row = self._db.execute(
                "SELECT number, registers, inputs, attempts FROM tasks WHERE job = ? AND state = 'waiting' "
                "ORDER BY number LIMIT 1",
                (job,),
            ).fetchone()
            if row is None:
                return None
            number, registers, inputs, attempts = row
            self._db.execute(
                "UPDATE tasks SET state = 'running', board = ?, attempts = attempts + 1 WHERE job = ? AND number = ?",
                (mac, job, number),
            )
            self._db.execute("UPDATE jobs SET state = 'running' WHERE id = ?", (job,))
            kernel, timeout = self._db.execute("SELECT kernel, timeout FROM jobs WHERE id = ?", (job,)).fetchone()
        return Task(
            job, number, attempts + 1, kernel, timeout,
            {int(at): value for at, value in json.loads(registers).items()},
            [(at, bytes.fromhex(data)) for at, data in json.loads(inputs)],
        )  # fmt: skip

    def done(self, task: Task, mac: int, cycles: int, result: bytes) -> bool:
        """Stores the result of a run; False if the task no longer runs there, and the result is dropped."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            changed = self._db.execute(
                "UPDATE tasks SET state = 'done', cycles = ?, result = ?, error = NULL "
                "WHERE job = ? AND number = ? AND state = 'running' AND board = ? AND attempts = ?",
                (cycles, result, task.job, task.number, mac, task.attempt),
            ).rowcount
            if changed:
                self._db.execute("UPDATE boards SET tasks = tasks + 1, failures = 0 WHERE mac = ?", (mac,))
                self._end_if_complete(task.job)
        return bool(changed)

    def again(self, task: Task, why: str, *, give_up: bool = False) -> None:
        """A run has failed: the task waits again, or has failed after `MOST_ATTEMPTS` runs or with ``give_up``."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            over = give_up or task.attempt >= MOST_ATTEMPTS
            self._db.execute(
                "UPDATE tasks SET state = ?, error = ?, board = NULL "
                "WHERE job = ? AND number = ? AND state = 'running' AND attempts = ?",
                ("failed" if over else "waiting", why, task.job, task.number, task.attempt),
            )
            self._end_if_complete(task.job)

    def _end_if_complete(self, job: int) -> None:
        left = self._db.execute(
            "SELECT count(*) FROM tasks WHERE job = ? AND state IN ('waiting', 'running')", (job,)
        ).fetchone()[0]
        if left == 0:
            failed = self._db.execute(
                "SELECT count(*) FROM tasks WHERE job = ? AND state = 'failed'", (job,)
            ).fetchone()[0]
            self._db.execute(
                "UPDATE jobs SET state = ?, ended = ? WHERE id = ?", ("failed" if failed else "done", time.time(), job)
            )

    def recover(self) -> int:
        """Tasks that ran when the manager ended wait again; their number."""
        return self._db.execute("UPDATE tasks SET state = 'waiting', board = NULL WHERE state = 'running'").rowcount

    def cancel(self, job: int) -> bool:
        """Ends a job: tasks that wait or run are cancelled. False if there is no such job, or if it has ended."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            changed = self._db.execute(
                "UPDATE jobs SET state = 'cancelled', ended = ? WHERE id = ? AND state IN ('waiting', 'running')",
                (time.time(), job),
            ).rowcount
            if changed:
                self._db.execute(
                    "UPDATE tasks SET state = 'cancelled' WHERE job = ? AND state IN ('waiting', 'running')", (job,)
                )
        return bool(changed)

    def jobs(self) -> list[dict[str, Any]]:
        """All jobs with the numbers of their tasks by state, newest first."""
        names = ("id", "owner", "root", "state", "submitted", "ended")
        rows = self._db.execute(f"SELECT {', '.join(names)} FROM jobs ORDER BY id DESC").fetchall()
        counts: dict[int, dict[str, int]] = {}
        for job, state, count in self._db.execute("SELECT job, state, count(*) FROM tasks GROUP BY job, state"):
            counts.setdefault(job, {})[state] = count
        return [dict(zip(names, row, strict=True)) | {"tasks": counts.get(row[0], {})} for row in rows]

    def results(self, job: int) -> list[dict[str, Any]]:
        """The tasks of a job, in order, with results as bytes."""
        names = ("number", "state", "board", "attempts", "error", "cycles", "result")
        rows = self._db.execute(
            f"SELECT {', '.join(names)} FROM tasks WHERE job = ? ORDER BY number", (job,)
        ).fetchall()
        return [dict(zip(names, row, strict=True)) for row in rows]

    # ---- Log

    def note(self, level: str, text: str) -> None:
        """Adds a line to the log, which keeps the last 10,000."""
        added = self._db.execute("INSERT INTO log (time, level, text) VALUES (?, ?, ?)", (time.time(), level, text))
        if added.lastrowid is not None and added.lastrowid % 100 == 0:
            self._db.execute("DELETE FROM log WHERE id <= ?", (added.lastrowid - _KEPT_LINES,))

    def log(self, most: int = 100) -> list[dict[str, Any]]:
        """The last lines of the log, oldest first."""
        rows = self._db.execute("SELECT time, level, text FROM log ORDER BY id DESC LIMIT ?", (most,)).fetchall()
        return [dict(zip(("time", "level", "text"), row, strict=True)) for row in reversed(rows)]


__all__ = ["MOST_ATTEMPTS", "Store", "Task"]
