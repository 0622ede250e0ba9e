# SPDX-License-Identifier: Apache-2.0
"""The manager of a cluster: jobs over boards that appear, vanish and fail; a manager that is killed."""

from __future__ import annotations

import random
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Size
from shell.shell_cluster import KEY, Cluster, mac, role_file, root, start

from gossamer.shell.host import mac_text
from gossamer.shell.manager import Manager
from gossamer.shell.store import MOST_ATTEMPTS, Store

WORDS = 200


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


@contextmanager
def managed(cluster: Cluster, boards: int) -> Iterator[Manager]:
    """A manager in a thread of its own; its SQLite connection belongs to that thread."""
    made: list[Manager] = []
    ready = threading.Event()

    def work() -> None:
        made.append(
            Manager(cluster.socket, {mac(n): KEY for n in range(1, boards + 1)}, cluster.folder / "state.sqlite")
        )
        ready.set()
        made[0].run()

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(30)
    try:
        yield made[0]
    finally:
        made[0].stop()
        thread.join(30)
        assert not thread.is_alive()


def numbers(task: int) -> list[int]:
    draw = random.Random(task)
    return [draw.randrange(1 << 32) for _ in range(WORDS)]


def submit(store: Store, tasks: int, kernel: int = 1, role: bytes | None = None, **more: float) -> int:
    role = role_file() if role is None else role
    inputs = [({0: 8192, 4: 4 * WORDS}, [(8192, struct.pack(f"<{WORDS}I", *numbers(task)))]) for task in range(tasks)]
    return store.submit("tester", role, root(role).hex(), 1, kernel, more.get("timeout", 20.0), inputs)


def wait_for_end(store: Store, job: int, timeout: float = 60.0) -> str:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        state = str(next(one["state"] for one in store.jobs() if one["id"] == job))
        if state not in ("waiting", "running"):
            return state
        time.sleep(0.02)
    raise AssertionError([store.jobs(), store.log()])


def check_results(store: Store, job: int, tasks: int) -> None:
    found = store.results(job)
    assert [one["state"] for one in found] == ["done"] * tasks
    assert [one["result"] for one in found] == [struct.pack("<I", sum(numbers(task)) % 2**32) for task in range(tasks)]


def test_tasks_are_done_once_while_boards_vanish_and_appear(cluster: Cluster, size: Size) -> None:
    """With lost frames; the second board is killed, the fourth appears while the job runs."""
    tasks = size.pick(120, 400, 10_000)
    start(cluster, 3, "--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.01")
    with managed(cluster, 4):
        store = Store(cluster.folder / "state.sqlite")
        job = submit(store, tasks)
        while sum(one["state"] == "done" for one in store.results(job)) < tasks // 4:
            time.sleep(0.01)
        cluster.kill_board(2)
        cluster.start_board(4)
        jobs = [(job, tasks)]
        appeared = time.monotonic()
        while not any(one["board"] == mac(4) for number, _ in jobs for one in store.results(number)):
            assert time.monotonic() - appeared < 20, store.log()
            if wait_for_end(store, jobs[-1][0]) == "done":
                # A fast machine has ended the job before the board has joined.
                jobs.append((submit(store, 40), 40))
        for number, count in jobs:
            assert wait_for_end(store, number) == "done"
            check_results(store, number, count)
        assert {mac(1), mac(3), mac(4)} <= {one["board"] for number, _ in jobs for one in store.results(number)}
        assert sum(board["tasks"] for board in store.boards().values()) == sum(count for _, count in jobs)
        # An idle board that vanishes is noticed without a task.
        end = time.monotonic() + 10
        while not any(line["level"] == "error" and mac_text(mac(2)) in line["text"] for line in store.log()):
            assert time.monotonic() < end, store.log()
            time.sleep(0.05)
        store.close()


def test_jobs_survive_the_end_of_the_manager(cluster: Cluster) -> None:
    tasks = 60
    start(cluster, 2)
    store = Store(cluster.folder / "state.sqlite")
    job = submit(store, tasks)
    with managed(cluster, 2):
        while sum(one["state"] == "done" for one in store.results(job)) < 10:
            time.sleep(0.005)
    states = [one["state"] for one in store.results(job)]
    assert "waiting" in states and "running" not in states
    with managed(cluster, 2):
        assert wait_for_end(store, job) == "done"
    check_results(store, job, tasks)
    store.close()


def test_failing_tasks_and_roles_end_their_job_and_no_other(cluster: Cluster) -> None:
    start(cluster, 2)
    store = Store(cluster.folder / "state.sqlite")
    failing, broken, good = submit(store, 2, kernel=2), submit(store, 1, role=b"no role" * 50), submit(store, 20)
    with managed(cluster, 2):
        assert wait_for_end(store, good) == "done"
        assert wait_for_end(store, failing) == "failed" and wait_for_end(store, broken) == "cancelled"
    check_results(store, good, 20)
    assert {one["error"] is not None and "reported a failure" in one["error"] for one in store.results(failing)} == {
        True
    }
    assert all(one["attempts"] == 1 for one in store.results(failing))
    store.close()


def test_endless_task_is_given_up_after_its_attempts(cluster: Cluster) -> None:
    start(cluster, 2)
    store = Store(cluster.folder / "state.sqlite")
    job = submit(store, 1, kernel=3, timeout=0.2)
    with managed(cluster, 2) as manager:
        # Boards that fail three times in a row are in quarantine, so the attempts end there at the latest.
        end = time.monotonic() + 60
        while time.monotonic() < end:
            (task,) = store.results(job)
            quarantined = [board for board in manager.snapshot()["boards"] if board["state"] == "quarantine"]
            if task["state"] == "failed" or len(quarantined) == 2:
                break
            time.sleep(0.05)
        assert task["attempts"] >= 3 and task["attempts"] <= MOST_ATTEMPTS
        assert any("exceeds 0.2 s" in line["text"] for line in store.log())
        assert any(mac_text(mac(1)) in line["text"] for line in store.log())
    store.close()
