# SPDX-License-Identifier: Apache-2.0
"""The manager is killed with SIGKILL again and again: no task is lost, no result is stored twice."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest
from conftest import ROOT, Size
from shell.managed_cluster import check_results, submit, wait_for_end
from shell.shell_cluster import KEY, Cluster, mac, start

from gossamer.shell import keys
from gossamer.shell.store import Store

TASKS = 40
"""Of a job; a new one is submitted when the last one has less than half of them left."""


@pytest.mark.timeout(5400)  # 200 kills on a busy machine
def test_manager_that_is_killed_loses_nothing_and_stores_nothing_twice(tmp_path: Path, size: Size, seed: int) -> None:
    """SQLite's own triggers note each result that becomes one, in the transaction that stores it."""
    kills = size.pick(5, 40, 200)
    draw = random.Random(seed)
    cluster = Cluster(tmp_path)
    state = tmp_path / "state.sqlite"
    keys.write(tmp_path / "keys.json", {mac(number): KEY for number in (1, 2, 3)})
    command = [
        ROOT / "gossamer", "cluster", "manager", "--port", cluster.socket, "--keys", tmp_path / "keys.json",
        "--state", state, "--http", "off",
    ]  # fmt: skip

    def begin() -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    manager = None
    try:
        start(cluster, 3, "--loss", "0.01")
        store = Store(state)
        with closing(sqlite3.connect(state)) as judge:
            judge.execute("CREATE TABLE judged (job INTEGER, number INTEGER, result BLOB)")
            judge.execute(
                "CREATE TRIGGER judge AFTER UPDATE ON tasks WHEN new.state = 'done' OR new.result IS NOT old.result "
                "BEGIN INSERT INTO judged VALUES (new.job, new.number, new.result); END"
            )
            judge.commit()
        jobs = [submit(store, TASKS)]
        killed_at_work = 0
        for number in range(kills):
            manager = begin()
            # Every other kill hits the work, the others any moment from the start of the process on.
            at_work = number % 2 == 0
            before = store.task_counts().get("done", 0)
            end = time.monotonic() + 30
            while at_work and store.task_counts().get("done", 0) == before:
                assert time.monotonic() < end and manager.poll() is None, store.log()
            time.sleep(draw.uniform(0.0, 0.2) if at_work else draw.uniform(0.0, 1.5))
            # A task lasts milliseconds: the moment is awaited.
            while at_work and not store.task_counts().get("running", 0):
                assert time.monotonic() < end and manager.poll() is None, store.log()
                if not store.task_counts().get("waiting", 0):
                    jobs.append(submit(store, TASKS))
            killed_at_work += at_work or store.task_counts().get("running", 0) > 0
            manager.send_signal(signal.SIGKILL)
            manager.wait()
            if store.counts(jobs[-1]).get("waiting", 0) < TASKS // 2:
                jobs.append(submit(store, TASKS))
        manager = begin()
        for job in jobs:
            assert wait_for_end(store, job, 120.0) == "done"
            check_results(store, job, TASKS)
        manager.terminate()
        assert manager.wait(20) == 130
        with closing(sqlite3.connect(state)) as judge:
            assert judge.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            stored = judge.execute("SELECT job, number FROM judged ORDER BY job, number").fetchall()
        assert stored == [(job, number) for job in jobs for number in range(TASKS)]
        assert sum(board["tasks"] for board in store.boards().values()) == len(stored)
        print(f"{kills} kills, {killed_at_work} of them while tasks ran, {len(jobs)} jobs")
        assert killed_at_work >= kills // 5
        store.close()
    finally:
        if manager is not None and manager.poll() is None:
            manager.kill()
            manager.wait()
        cluster.end()
