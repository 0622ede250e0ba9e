# SPDX-License-Identifier: Apache-2.0
"""Jobs from Python: futures, map, as_completed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent.futures import CancelledError, as_completed, wait
from pathlib import Path

import pytest
from shell.managed_cluster import WORDS, joined, managed, numbers
from shell.shell_cluster import ROLE, Cluster, start

from gossamer.errors import InputError
from gossamer.shell import Cluster as Client
from gossamer.shell import TaskFailed
from gossamer.shell.client import Task
from gossamer.shell.store import Store


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    cluster = Cluster(tmp_path)
    try:
        start(cluster, 2)
        with managed(cluster, 2) as manager:
            joined(manager, 2)
            yield cluster.folder / "state.sqlite"
    finally:
        cluster.end()


def task(number: int) -> Task:
    return {0: 8192, 4: 4 * WORDS}, [(8192, struct.pack(f"<{WORDS}I", *numbers(number)))]


def total(number: int) -> bytes:
    return struct.pack("<I", sum(numbers(number)) % 2**32)


def test_futures_have_the_results_of_their_tasks(state: Path) -> None:
    registers, inputs = task(77)
    with Client(state) as cluster:
        single = cluster.submit(ROLE, kernel=1, registers=registers, inputs=inputs)
        assert list(cluster.map(ROLE, map(task, range(40)), kernel=1)) == [total(number) for number in range(40)]
        futures = {
            future: number for number, future in enumerate(cluster.futures(ROLE, map(task, range(20)), kernel=1))
        }
        found = {futures[future]: future.result() for future in as_completed(futures, timeout=60)}
        assert found == {number: total(number) for number in range(20)}
        assert single.result(60) == total(77) and list(cluster.map(ROLE, [], kernel=1)) == []
        left = cluster.submit(ROLE, kernel=1, registers=registers, inputs=inputs)
    # The end of the block has waited for it.
    assert left.done() and left.result() == total(77)
    with pytest.raises(RuntimeError, match="shut down"):
        cluster.submit(ROLE)


def test_failures_and_cancellations_reach_the_future_and_the_manager(state: Path) -> None:
    store = Store(state)
    with Client(state, user="anna") as cluster:
        failed = cluster.submit(ROLE, kernel=2)
        with pytest.raises(TaskFailed, match=r"job 1, task 0: .*reported a failure") as caught:
            failed.result(60)
        assert (caught.value.job, caught.value.task) == (1, 0)
        broken = cluster.submit(b"no role", kernel=1)
        with pytest.raises(TaskFailed, match="cancelled"):
            broken.result(60)
        endless = cluster.submit(ROLE, kernel=3, timeout=600.0)
        assert not wait([endless], timeout=0.5).done
        assert endless.cancel() and wait([endless], timeout=20).done
        with pytest.raises(CancelledError):
            endless.result()
    assert [(one["owner"], one["state"]) for one in store.jobs()] == [
        ("anna", "cancelled"), ("anna", "cancelled"), ("anna", "failed"),
    ]  # fmt: skip
    with pytest.raises(ZeroDivisionError), Client(state) as cluster:
        endless = cluster.submit(ROLE, kernel=3, timeout=600.0)
        raise ZeroDivisionError
    assert endless.cancelled() and store.jobs()[0]["state"] == "cancelled"
    store.close()


def test_without_a_manager_there_is_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no manager runs; start one with"):
        Client(tmp_path / "state.sqlite")
