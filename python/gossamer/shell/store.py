# SPDX-License-Identifier: Apache-2.0
"""What a cluster's manager remembers, in SQLite: boards, jobs, tasks with their results, leases, requests, a log.

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

_STEPS = (
    """
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
""",
    """
ALTER TABLE boards ADD COLUMN quarantines INTEGER NOT NULL DEFAULT 0;
CREATE TABLE leases (id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, boards TEXT NOT NULL,
  until REAL NOT NULL);
CREATE TABLE requests (id INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, kind TEXT NOT NULL,
  boards TEXT NOT NULL, options TEXT NOT NULL, data BLOB NOT NULL, state TEXT NOT NULL,
  progress TEXT NOT NULL DEFAULT '{}', results TEXT NOT NULL DEFAULT '{}', submitted REAL NOT NULL);
CREATE TABLE runs (mac INTEGER PRIMARY KEY, time REAL NOT NULL, kernel INTEGER NOT NULL, cycles INTEGER NOT NULL,
  result BLOB, error TEXT);
""",
)
"""What brings a file from version N to N + 1; a new file has version 0."""
MOST_ATTEMPTS = 5
"""Runs of a task on boards that fail or vanish before it counts as failed."""
_KEPT_LINES = 10_000
_LONGEST_QUARANTINE = 3600.0
_FORGET_REQUESTS = 3600.0


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
            if self._version() != len(_STEPS):
                self._upgrade()
        except sqlite3.Error as error:
            raise InputError(
                f"{path}: cannot be used as the manager's state: {error}; use another --state file"
            ) from None

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _upgrade(self) -> None:
        """Brings a new or old file to this version, once, even if several processes open it."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            version = self._version()
            if version > len(_STEPS):
                raise InputError(
                    f"{self.path}: was written by a newer version of the manager; use another --state file"
                )
            for step in _STEPS[version:]:
                for statement in filter(str.strip, step.split(";")):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(_STEPS)}")

    def check(self) -> None:
        """Raises InputError if the file is damaged."""
        try:
            found = [row[0] for row in self._db.execute("PRAGMA quick_check(1)")]
        except sqlite3.Error as error:
            found = [str(error)]
        if found != ["ok"]:
            raise InputError(
                f"{self.path}: is damaged ({found[0].splitlines()[0]}); restore a copy, or use another --state file"
            )

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

    def unpublish(self) -> None:
        """Removes the snapshot: no manager runs."""
        self._db.execute("DELETE FROM settings WHERE name = 'snapshot'")

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
        names = ("failures", "quarantined_until", "configured", "tasks")
        rows = self._db.execute(f"SELECT mac, {', '.join(names)} FROM boards").fetchall()
        return {mac: dict(zip(names, rest, strict=True)) for mac, *rest in rows}

    def failed(self, mac: int, most: int, seconds: float) -> float:
        """Counts a failure of a board. After ``most`` without a task done in between it is in quarantine for
        ``seconds``, twice as long each time, at most an hour. Returns the seconds of a quarantine that begins, or 0."""
        self.seen(mac)
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("UPDATE boards SET failures = failures + 1 WHERE mac = ?", (mac,))
            count, before = self._db.execute(
                "SELECT failures, quarantines FROM boards WHERE mac = ?", (mac,)
            ).fetchone()
            if count < most:
                return 0.0
            length = float(min(seconds * 2.0 ** min(before, 30), max(seconds, _LONGEST_QUARANTINE)))
            self._db.execute(
                "UPDATE boards SET quarantined_until = ?, failures = 0, quarantines = quarantines + 1 WHERE mac = ?",
                (time.time() + length, mac),
            )
        return length

    def readmit(self, mac: int) -> bool:
        """Ends a quarantine; False if the board is in none."""
        changed = self._db.execute(
            "UPDATE boards SET quarantined_until = 0, failures = 0, quarantines = 0 "
            "WHERE mac = ? AND quarantined_until > ?",
            (mac, time.time()),
        ).rowcount
        return bool(changed)

    def configured(self, mac: int) -> None:
        """Counts a configuration of a board. It may still fail at its tasks, so its failures are not forgotten."""
        self._db.execute("UPDATE boards SET configured = configured + 1 WHERE mac = ?", (mac,))

    # ---- Leases

    def lease(self, user: str, count: int, seconds: float, boards: Sequence[int]) -> tuple[int, list[int]] | int:
        """Leases the first ``count`` of ``boards`` that have no lease; the lease's number and its boards.

        If there are fewer, nothing is leased, and their number is returned.
        """
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            taken = self.leased()
            free = [mac for mac in boards if mac not in taken][:count]
            if len(free) < count:
                return len(free)
            made = self._db.execute(
                "INSERT INTO leases (user, boards, until) VALUES (?, ?, ?)",
                (user, json.dumps(free), time.time() + seconds),
            )
        assert made.lastrowid is not None
        return made.lastrowid, free

    def leases(self) -> list[dict[str, Any]]:
        """The leases that have not ended."""
        rows = self._db.execute(
            "SELECT id, user, boards, until FROM leases WHERE until > ? ORDER BY id", (time.time(),)
        ).fetchall()
        return [
            {"id": number, "user": user, "boards": json.loads(boards), "until": until}
            for number, user, boards, until in rows
        ]

    def leased(self) -> dict[int, str]:
        """The users of leased boards, by address."""
        return {mac: one["user"] for one in self.leases() for mac in one["boards"]}

    def release(self, number: int) -> bool:
        """Ends a lease; False if no lease has this number."""
        return bool(self._db.execute("DELETE FROM leases WHERE id = ? AND until > ?", (number, time.time())).rowcount)

    def expire(self) -> list[tuple[int, str]]:
        """Removes the leases whose time is over; their numbers and users."""
        now = time.time()
        ended = self._db.execute("SELECT id, user FROM leases WHERE until <= ?", (now,)).fetchall()
        if ended:
            self._db.execute("DELETE FROM leases WHERE until <= ?", (now,))
        return [(int(number), str(user)) for number, user in ended]

    # ---- Requests of users that the manager does on boards: configure, load, exec

    def request(self, user: str, kind: str, boards: Sequence[int], options: Mapping[str, Any], data: bytes) -> int:
        """Stores a request; its number."""
        made = self._db.execute(
            "INSERT INTO requests (user, kind, boards, options, data, state, submitted) "
            "VALUES (?, ?, ?, ?, ?, 'waiting', ?)",
            (user, kind, json.dumps(list(boards)), json.dumps(dict(options)), data, time.time()),
        )
        assert made.lastrowid is not None
        return made.lastrowid

    def waiting_requests(self) -> list[dict[str, Any]]:
        """Requests that wait, oldest first, without their data."""
        rows = self._db.execute(
            "SELECT id, user, kind, boards, options FROM requests WHERE state = 'waiting' ORDER BY id"
        ).fetchall()
        return [
            {"id": number, "user": user, "kind": kind, "boards": json.loads(boards), "options": json.loads(options)}
            for number, user, kind, boards, options in rows
        ]

    def request_data(self, number: int) -> bytes:
        """The bytes of a request."""
        return bytes(self._db.execute("SELECT data FROM requests WHERE id = ?", (number,)).fetchone()[0])

    def begin_request(self, number: int) -> bool:
        """Marks a request as running; False if it no longer waits."""
        return bool(
            self._db.execute(
                "UPDATE requests SET state = 'running' WHERE id = ? AND state = 'waiting'", (number,)
            ).rowcount
        )

    def advance_request(self, number: int, progress: Mapping[str, float]) -> None:
        """Stores how far a request is, by board, from 0 to 1."""
        self._db.execute("UPDATE requests SET progress = ? WHERE id = ?", (json.dumps(dict(progress)), number))

    def end_request(self, number: int, results: Mapping[str, Any]) -> None:
        """Stores the results of a request, by board."""
        self._db.execute(
            "UPDATE requests SET state = 'done', results = ?, data = x'' WHERE id = ?",
            (json.dumps(dict(results)), number),
        )

    def request_state(self, number: int) -> tuple[str, dict[str, float], dict[str, Any]]:
        """State, progress and results of a request; the state is ``lost`` if a manager has ended in between."""
        row = self._db.execute("SELECT state, progress, results FROM requests WHERE id = ?", (number,)).fetchone()
        return (row[0], json.loads(row[1]), json.loads(row[2])) if row else ("lost", {}, {})

    def forget_request(self, number: int) -> None:
        """Removes a request."""
        self._db.execute("DELETE FROM requests WHERE id = ?", (number,))

    def forget_requests(self) -> None:
        """Removes those that a manager had begun, and old ones whose user has not fetched the results."""
        self._db.execute(
            "DELETE FROM requests WHERE state = 'running' OR submitted < ?", (time.time() - _FORGET_REQUESTS,)
        )

    def ran(self, mac: int, kernel: int, cycles: int, result: bytes | None, error: str | None) -> None:
        """Stores the outcome of a kernel that a user has run on a board; it replaces the board's last one."""
        self._db.execute(
            "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)", (mac, time.time(), kernel, cycles, result, error)
        )

    def runs(self) -> dict[int, dict[str, Any]]:
        """The last outcome on each board: time, kernel, cycles, result (None after a failure), error."""
        names = ("time", "kernel", "cycles", "result", "error")
        rows = self._db.execute(f"SELECT mac, {', '.join(names)} FROM runs").fetchall()
        return {mac: dict(zip(names, rest, strict=True)) for mac, *rest in rows}

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

    def wanted(self) -> list[tuple[int, str, int, str]]:
        """Jobs with tasks that wait, oldest first: number, root of the role, type of board, owner."""
        return self._db.execute(
            "SELECT id, root, board_type, owner FROM jobs "
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
                self._db.execute(
                    "UPDATE boards SET tasks = tasks + 1, failures = 0, quarantines = 0 WHERE mac = ?", (mac,)
                )
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

    def job_state(self, job: int) -> str:
        """The state of a job; empty if there is none."""
        row = self._db.execute("SELECT state FROM jobs WHERE id = ?", (job,)).fetchone()
        return str(row[0]) if row else ""

    def counts(self, job: int) -> dict[str, int]:
        """Numbers of a job's tasks by state."""
        return dict(
            self._db.execute("SELECT state, count(*) FROM tasks WHERE job = ? GROUP BY state", (job,)).fetchall()
        )

    def task_counts(self) -> dict[str, int]:
        """Numbers of tasks of all jobs by state."""
        return dict(self._db.execute("SELECT state, count(*) FROM tasks GROUP BY state").fetchall())

    def any_done(self, job: int) -> bool:
        """Whether a board has done a task of a job."""
        row = self._db.execute("SELECT 1 FROM tasks WHERE job = ? AND state = 'done' LIMIT 1", (job,)).fetchone()
        return row is not None

    def changes(self) -> int:
        """A number that differs after another process has changed the file."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def ended(self, job: int) -> list[int]:
        """The numbers of a job's tasks that are done, have failed, or were cancelled."""
        rows = self._db.execute(
            "SELECT number FROM tasks WHERE job = ? AND state IN ('done', 'failed', 'cancelled')", (job,)
        ).fetchall()
        return [int(number) for (number,) in rows]

    def outcome(self, job: int, number: int) -> tuple[str, str | None, bytes]:
        """State, error and result of a task."""
        state, error, result = self._db.execute(
            "SELECT state, error, result FROM tasks WHERE job = ? AND number = ?", (job, number)
        ).fetchone()
        return str(state), error, bytes(result or b"")

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
        rows = self._db.execute("SELECT id, time, level, text FROM log ORDER BY id DESC LIMIT ?", (most,)).fetchall()
        return [dict(zip(("id", "time", "level", "text"), row, strict=True)) for row in reversed(rows)]


__all__ = ["MOST_ATTEMPTS", "Store", "Task"]
