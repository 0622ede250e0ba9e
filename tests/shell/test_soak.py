# SPDX-License-Identifier: Apache-2.0
"""A cluster that works for long while boards are killed and started again, over a network that loses, repeats and
reorders frames: the manager has every result once, and every result is right."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Size
from shell.shell_cluster import Cluster, mac
from shell.test_manager import check_results, managed, submit

from gossamer.shell.store import Store


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


@pytest.mark.timeout(7200)
def test_every_task_is_done_once_while_boards_are_killed(cluster: Cluster, size: Size, seed: int) -> None:
    """4 boards and 100 tasks; with ``--full`` 24 boards and 10,000 tasks."""
    soak(cluster, *size.pick((4, 100, 4), (12, 1000, 20), (24, 10_000, 100)), rtl=0, seed=seed)


@pytest.mark.tier("all", seconds=120, adds="the shell's RTL among the boards that are killed")
@pytest.mark.timeout(7200)
def test_boards_in_rtl_work_among_twins_while_boards_are_killed(cluster: Cluster, size: Size, seed: int) -> None:
    """The first two boards are the shell's RTL; with ``--full`` of 24."""
    soak(cluster, *size.pick((4, 100, 4), (4, 200, 6), (24, 10_000, 100)), rtl=2, seed=seed)


def soak(cluster: Cluster, boards: int, tasks: int, kills: int, *, rtl: int, seed: int) -> None:
    """A job on boards of which ``rtl`` are simulated in RTL, over a bad network, with boards killed at random."""
    draw = random.Random(seed)

    def begin(number: int, *options: str) -> None:
        (cluster.start_rtl if number <= rtl else cluster.start_board)(number, *options)

    faults = ("--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.02", "--damage", "0.002")
    cluster.start_switch(*faults, "--seed", str(seed))
    for number in range(1, boards + 1):
        begin(number)
    with managed(cluster, boards):
        store = Store(cluster.folder / "state.sqlite")
        job = submit(store, tasks)
        boot, killed, begun = 1, 0, time.monotonic()
        most = 60 + tasks / 2 + 60 * rtl
        while (done := sum(one["state"] == "done" for one in store.results(job))) < tasks:
            assert time.monotonic() - begun < most, (done, store.log()[-20:])
            if killed < kills and done > killed * tasks // (kills + 1):
                killed += 1
                boot += 1
                victim = draw.randrange(1, boards + 1)
                cluster.kill_board(victim)
                # A board is away for a moment, or so short a time that its silence is not noticed.
                time.sleep(draw.choice((0.0, 0.0, 0.3)))
                begin(victim, "--boot", str(boot))
            time.sleep(0.02)
        assert killed == kills or kills < 10
        check_results(store, job, tasks)
        # The counts of all boards together are those of the tasks: none is stored twice.
        assert sum(board["tasks"] for board in store.boards().values()) == tasks
        assert {one["board"] for one in store.results(job)} <= {mac(number) for number in range(1, boards + 1)}
        assert all(one["attempts"] >= 1 for one in store.results(job))
        store.close()
