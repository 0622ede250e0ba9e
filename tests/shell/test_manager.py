# SPDX-License-Identifier: Apache-2.0
"""The manager of a cluster: jobs over boards that appear, vanish and fail; a manager that is killed."""

from __future__ import annotations

import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Size
from shell.managed_cluster import (
    check_results,
    joined,
    managed,
    states,
    submit,
    wait_for_end,
    wait_until,
)
from shell.shell_cluster import KEY, Cluster, mac, role_file, start

from gossamer.errors import InputError
from gossamer.shell import Host, keys
from gossamer.shell._requests import Direct, Managed
from gossamer.shell.host import mac_text
from gossamer.shell.manager import LEASE, Manager
from gossamer.shell.store import MOST_ATTEMPTS, Store


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


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
    failing, broken, good = submit(store, 8, kernel=2), submit(store, 1, role=b"no role" * 50), submit(store, 20)
    with managed(cluster, 2):
        assert wait_for_end(store, good) == "done"
        assert wait_for_end(store, failing) == "failed" and wait_for_end(store, broken) == "cancelled"
    check_results(store, good, 20)
    assert {one["error"] is not None and "reported a failure" in one["error"] for one in store.results(failing)} == {
        True
    }
    assert all(one["attempts"] == 1 for one in store.results(failing))
    # A board whose kernel has failed does the next task in the same session.
    assert sum("has joined" in line["text"] for line in store.log(1000)) == 2
    store.close()


def test_endless_task_is_given_up_after_its_attempts_and_no_board_is_blamed(cluster: Cluster) -> None:
    start(cluster, 2)
    store = Store(cluster.folder / "state.sqlite")
    job = submit(store, 1, kernel=3, timeout=0.2)
    with managed(cluster, 2) as manager:
        assert wait_for_end(store, job) == "failed"
        (task,) = store.results(job)
        assert task["attempts"] == MOST_ATTEMPTS
        assert any("exceeds 0.2 s" in line["text"] for line in store.log())
        assert "quarantine" not in states(manager).values()
    store.close()


def test_idle_boards_stay_with_the_manager_longer_than_their_lease(cluster: Cluster) -> None:
    start(cluster, 2)
    with managed(cluster, 2) as manager:
        joined(manager, 2)
        time.sleep(LEASE + 2.0)
        store = Store(cluster.folder / "state.sqlite")
        assert [line["text"] for line in store.log() if line["level"] != "info"] == []
        assert sum("has joined" in line["text"] for line in store.log()) == 2
        store.close()


def test_configuration_may_last_longer_than_the_lease_of_its_sessions(cluster: Cluster) -> None:
    """What goes to all boards is untagged, so it keeps no session."""
    start(cluster, 2)
    with cluster.host(2) as host:
        host.discover()
        for number in (1, 2):
            host.open(mac(number), lease=1.2)
        role = role_file(400_000)
        begun = time.monotonic()
        found = host.configure([mac(1), mac(2)], role, bytes_per_s=150_000)
        assert time.monotonic() - begun > 2.4
        assert {status for status, _ in found.values()} == {"ok"}


def test_board_that_appears_works_within_two_seconds_while_the_job_goes_on(cluster: Cluster) -> None:
    """From the start of its process, with the role's transfer and the first result."""
    start(cluster, 2)
    with managed(cluster, 3) as manager:
        store = Store(cluster.folder / "state.sqlite")
        joined(manager, 2)
        job = submit(store, 4000)
        wait_until(lambda: store.counts(job).get("done", 0) > 10, "the job begins")
        cluster.start_board(3)
        appeared = time.monotonic()
        wait_until(lambda: store.boards().get(mac(3), {}).get("tasks", 0) > 0, "the new board does a task")
        took = time.monotonic() - appeared
        assert store.job_state(job) == "running"
        assert took < 2.0, took
        store.cancel(job)
        store.close()


def test_board_that_keeps_failing_is_quarantined_until_it_is_readmitted(cluster: Cluster) -> None:
    """It vanishes with a task three times; that it loads the role in between does not count as a success."""
    start(cluster, 1)
    with managed(cluster, 2) as manager:
        store = Store(cluster.folder / "state.sqlite")
        job = submit(store, 50, kernel=3, timeout=100.0)
        for number in range(3):
            cluster.start_board(2, "--boot", str(number))
            wait_until(lambda: states(manager).get(mac_text(mac(2))) == "running", "the board works")
            cluster.kill_board(2)
            wait_until(lambda: states(manager).get(mac_text(mac(2))) != "running", "the board vanishes")
        assert store.boards()[mac(2)]["configured"] == 3
        cluster.start_board(2)
        wait_until(lambda: states(manager).get(mac_text(mac(2))) == "quarantine", "the quarantine is shown")
        (line,) = [line["text"] for line in store.log() if "is in quarantine for 60 s" in line["text"]]
        assert f"./gossamer cluster readmit {mac_text(mac(2))} ends that" in line
        time.sleep(1.0)
        assert not next(one for one in manager.snapshot()["boards"] if one["mac"] == mac_text(mac(2)))["managed"]
        assert store.readmit(mac(2)) and not store.readmit(mac(2))
        wait_until(lambda: states(manager).get(mac_text(mac(2))) == "running", "the board works again")
        store.cancel(job)
        store.close()


def test_keys_that_change_are_read_again(cluster: Cluster) -> None:
    """A board whose key is added joins, also if it was refused with a wrong one; one whose key is removed leaves, and
    its task runs elsewhere. A damaged file changes nothing."""
    start(cluster, 3)
    file = cluster.folder / "keys.json"
    keys.write(file, {mac(1): KEY, mac(2): bytes(32)})
    with managed(cluster, 3, keys=file) as manager:
        store = Store(cluster.folder / "state.sqlite")
        joined(manager, 1)
        wait_until(lambda: any(mac_text(mac(2)) in line["text"] for line in store.log()), "a wrong key is noted")
        keys.write(file, {mac(1): KEY, mac(2): KEY, mac(3): KEY})
        joined(manager, 3)
        file.write_text("{", encoding="utf-8")
        wait_until(lambda: any("stay in use" in line["text"] for line in store.log()), "a damaged file is noted")
        assert sum(one["managed"] for one in manager.snapshot()["boards"]) == 3
        job = submit(store, 300)
        wait_until(lambda: any(one["board"] == mac(2) for one in store.results(job)), "the board works")
        keys.write(file, {mac(1): KEY, mac(3): KEY})
        wait_until(lambda: any("has no key in" in line["text"] for line in store.log()), "the board leaves")
        done = sum(one["board"] == mac(2) for one in store.results(job))
        assert wait_for_end(store, job) == "done"
        check_results(store, job, 300)
        assert sum(one["board"] == mac(2) for one in store.results(job) if one["state"] == "done") <= done
        assert store.boards()[mac(2)].get("quarantined_until", 0) == 0
        # The session of the board that left has been closed, not left to its lease.
        with cluster.host(3) as host:
            assert next(board.owner for board in host.discover(0.5) if board.mac == mac(2)) is None
        store.close()


def test_quarantines_double_until_a_task_is_done(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.sqlite")
    job = submit(store, 1)
    assert [store.failed(7, 3, 60.0) for _ in range(6)] == [0, 0, 60.0, 0, 0, 120.0]
    assert [store.failed(7, 1, 60.0) for _ in range(6)][-1] == 3600.0
    task = store.take(job, 7)
    assert task is not None and store.done(task, 7, 1, b"") and not store.done(task, 7, 1, b"")
    assert store.failed(7, 1, 60.0) == 60.0
    store.close()


def test_jobs_of_other_users_start_nothing_on_leased_boards(cluster: Cluster) -> None:
    start(cluster, 2)
    with managed(cluster, 2) as manager:
        store = Store(cluster.folder / "state.sqlite")
        joined(manager, 2)
        assert store.lease("anna", 3, 60.0, [mac(1), mac(2)]) == 2
        number, boards = store.lease("anna", 1, 60.0, [mac(1), mac(2)])  # type: ignore[misc]
        assert boards == [mac(1)] and store.lease("bert", 2, 60.0, [mac(1), mac(2)]) == 1
        wait_until(lambda: manager.snapshot()["boards"][0]["lease"] == "anna", "the lease holds")
        other, own = submit(store, 30, owner="bert"), submit(store, 30, owner="anna")
        assert wait_for_end(store, other) == wait_for_end(store, own) == "done"
        assert {one["board"] for one in store.results(other)} == {mac(2)}
        assert mac(1) in {one["board"] for one in store.results(own)}
        check_results(store, other, 30)
        check_results(store, own, 30)
        # A job for which there is no other board waits until the lease is over.
        assert store.release(number) and not store.release(number)
        second, _ = store.lease("anna", 2, 2.0, [mac(1), mac(2)])  # type: ignore[misc]
        wait_until(lambda: {one["lease"] for one in manager.snapshot()["boards"]} == {"anna"}, "the lease holds")
        late = submit(store, 4, owner="bert")
        time.sleep(0.5)
        assert store.counts(late) == {"waiting": 4}
        assert wait_for_end(store, late) == "done"
        assert any(f"lease {second} of anna has ended" in line["text"] for line in store.log())
        store.close()


def test_job_for_absent_boards_holds_up_no_other_job(cluster: Cluster) -> None:
    start(cluster, 1)
    with managed(cluster, 1):
        store = Store(cluster.folder / "state.sqlite")
        absent, present = submit(store, 1, board_type=9), submit(store, 5)
        assert wait_for_end(store, present) == "done" and store.job_state(absent) == "waiting"
        store.close()


def test_second_manager_is_refused_by_lock_and_by_the_boards(cluster: Cluster) -> None:
    start(cluster, 1)
    keys = {mac(1): KEY}
    with managed(cluster, 1) as manager:
        joined(manager, 1)
        with pytest.raises(InputError, match=r"state.sqlite: another manager, process \d+, uses it"):
            Manager(cluster.socket, keys, cluster.folder / "state.sqlite")
        second = Manager(cluster.socket, keys, cluster.folder / "other.sqlite")
        begun = time.monotonic()
        with pytest.raises(InputError, match=f"board {mac_text(mac(1))} has a session with another manager"):
            second.run()
        assert LEASE < time.monotonic() - begun < LEASE + 15
        assert states(manager) == {mac_text(mac(1)): "owned"}
    # What held the locks has ended, and so have they.
    Manager(cluster.socket, keys, cluster.folder / "state.sqlite").free()


def test_manager_waits_for_the_lease_of_a_killed_host(cluster: Cluster) -> None:
    start(cluster, 1)
    killed = Host(cluster.socket, {mac(1): KEY})
    killed.discover()
    killed.open(mac(1), lease=2.0)
    with managed(cluster, 1) as manager:
        joined(manager, 1)
    killed.free()


def test_progress_of_each_board_is_what_it_has_reported(cluster: Cluster) -> None:
    """Each board loses other frames, so their shares differ until both have the whole role."""
    start(cluster, 2, "--loss", "0.4")
    with cluster.host(2) as host:
        host.discover(2.0)
        boards = Direct(host, [mac(1), mac(2)])
        boards.open(take_over=False)
        seen: list[Mapping[int, float]] = []
        found = boards.configure(role_file(600_000), 1, unicast=False, drop_after=20.0, progress=seen.append)
        assert {status for status, _ in found.values()} == {"ok"}
        sending = [one for one in seen if one[mac(1)] == one[mac(2)] < 0.99]
        assert sending and min(one[mac(1)] for one in sending) < 0.5
        reported = [one for one in seen if one[mac(1)] != one[mac(2)]]
        assert len({one[mac(1)] for one in reported}) >= 3
        # Of what was sent at first, a board has received six tenths; repairs bring the others.
        assert 0.45 < min(reported[0].values()) < 1
        boards.close()


def test_requests_are_done_between_the_tasks_of_a_job(cluster: Cluster) -> None:
    """All boards at once, although each always has a task; afterwards the job goes on."""
    start(cluster, 2)
    with managed(cluster, 2) as manager:
        store = Store(cluster.folder / "state.sqlite")
        joined(manager, 2)
        job = submit(store, 4000)
        wait_until(lambda: store.counts(job).get("done", 0) > 10, "the job begins")
        boards = Managed(store, [mac(1), mac(2)], "tester", lambda: True)
        data = struct.pack("<3I", 5, 6, 7)
        assert boards.load(20000, data, lambda _: None) == {mac(1): "", mac(2): ""}
        found = boards.execute(1, {0: 20000, 4: 12}, 20.0, lambda _: None)
        assert {one.result for one in found.values()} == {struct.pack("<I", 18)} and len(found) == 2
        before = store.counts(job)["done"]
        assert store.job_state(job) == "running"
        wait_until(lambda: store.counts(job)["done"] > before + 10, "the job goes on")
        assert {one["error"] for one in store.results(job)} == {None}
        store.cancel(job)
        store.close()


def test_state_of_the_first_version_is_upgraded_with_its_jobs(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as made:
        made.executescript("""
            CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
            CREATE TABLE boards (mac INTEGER PRIMARY KEY, failures INTEGER NOT NULL DEFAULT 0, quarantined_until REAL
              NOT NULL DEFAULT 0, configured INTEGER NOT NULL DEFAULT 0, tasks INTEGER NOT NULL DEFAULT 0,
              first_seen REAL NOT NULL);
            CREATE TABLE jobs (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, role BLOB NOT NULL, root TEXT NOT NULL,
              board_type INTEGER NOT NULL, kernel INTEGER NOT NULL, timeout REAL NOT NULL, state TEXT NOT NULL,
              submitted REAL NOT NULL, ended REAL);
            CREATE TABLE tasks (job INTEGER NOT NULL REFERENCES jobs(id), number INTEGER NOT NULL, state TEXT NOT NULL,
              registers TEXT NOT NULL, inputs TEXT NOT NULL, board INTEGER, attempts INTEGER NOT NULL DEFAULT 0,
              error TEXT, cycles INTEGER, result BLOB, PRIMARY KEY (job, number));
            CREATE INDEX waiting ON tasks (state, job, number);
            CREATE TABLE log (id INTEGER PRIMARY KEY, time REAL NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL);
            INSERT INTO jobs VALUES (1, 'me', x'01', 'aa', 1, 0, 5.0, 'waiting', 1.0, NULL);
            INSERT INTO tasks (job, number, state, registers, inputs) VALUES (1, 0, 'waiting', '{"4": 5}', '[]');
            PRAGMA user_version = 1;
        """)
    for _ in range(2):
        store = Store(tmp_path / "state.sqlite")
        assert store.counts(1) == {"waiting": 1} and store.leases() == [] and store.runs() == {}
        store.close()
    store = Store(tmp_path / "state.sqlite")
    task = store.take(1, 7)
    assert task is not None and task.registers == {4: 5}
    assert store.failed(7, 1, 60.0) == 60.0
    store.close()
