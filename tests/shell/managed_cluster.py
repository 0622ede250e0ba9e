# SPDX-License-Identifier: Apache-2.0
"""A manager in a thread, jobs for it, and what their results must be."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shell.shell_cluster import KEY, Cluster, mac, role_file, root

from gossamer.__main__ import run
from gossamer.shell.manager import Manager
from gossamer.shell.sensors import Sensors
from gossamer.shell.store import Store

WORDS = 200


@contextmanager
def managed(
    cluster: Cluster, boards: int, *, sensors: Sensors | None = None, keys: Path | None = None
) -> Iterator[Manager]:
    """A manager in a thread of its own; its SQLite connection belongs to that thread. With ``keys``, it reads them."""
    made: list[Manager] = []
    ready = threading.Event()

    def work() -> None:
        known = keys or {mac(n): KEY for n in range(1, boards + 1)}
        made.append(Manager(cluster.socket, known, cluster.folder / "state.sqlite", sensors=sensors))
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


def cli(*words: str | Path) -> tuple[int, str, str]:
    """Runs ./gossamer cluster in this process, which saves the start of an interpreter; exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["cluster", *map(str, words)])
    return code, out.getvalue(), err.getvalue()


def numbers(task: int) -> list[int]:
    draw = random.Random(task)
    return [draw.randrange(1 << 32) for _ in range(WORDS)]


def submit(
    store: Store, tasks: int, kernel: int = 1, role: bytes | None = None, *, owner: str = "tester",
    timeout: float = 20.0, board_type: int = 1,
) -> int:  # fmt: skip
    """A job of sums."""
    role = role_file() if role is None else role
    inputs = [({0: 8192, 4: 4 * WORDS}, [(8192, struct.pack(f"<{WORDS}I", *numbers(task)))]) for task in range(tasks)]
    return store.submit(owner, role, root(role).hex(), board_type, kernel, timeout, inputs)


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


def wait_until(condition: Callable[[], Any], what: str, timeout: float = 20.0) -> Any:
    """Waits until a condition holds; its value."""
    end = time.monotonic() + timeout
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.01)
    return found


def states(manager: Manager) -> dict[str, str]:
    """The states of the manager's boards, by address."""
    return {board["mac"]: board["state"] for board in manager.snapshot()["boards"]}


def joined(manager: Manager, count: int) -> None:
    """Waits until boards have sessions."""
    wait_until(lambda: sum(one["managed"] for one in manager.snapshot()["boards"]) == count, f"{count} boards join")
