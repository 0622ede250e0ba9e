# SPDX-License-Identifier: Apache-2.0
"""A long job on boards that appear and vanish while it runs: its time over the least that the boards permit.

SAF's example is a simulation of ten hours on four boards; after four hours four more boards are plugged in, and it ends
after seven (computed in the paper, Section VI-D). Here an hour is 16 seconds, the job is PTRANS in tasks of two, and
two events are added: a board is unplugged in a task, and plugged in again. The manager runs as in
``./gossamer cluster manager``. The ideal is the time until the boards that are plugged in, each from the start of its
process to its end, have given the job's board-seconds: discovery, configuration, starting tasks, the task that is lost
and the wait for the last task all count against the ratio. Roles are loaded on the first four boards before the start.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer.bench import Context, Reference, Row
from gossamer.errors import InputError
from gossamer.shell import _build, mac_text, ptrans, root_of
from gossamer.shell.manager import Manager
from gossamer.shell.store import Store

NAMES = ("elastic.ratio",)
MOST = 1.03
HOUR = 16.0
"""Seconds that stand for an hour of the paper."""
BOARDS, MORE = 4, 4
HOURS, PLUGGED = 10.0, 4.0
UNPLUGGED, AGAIN = 5.0, 5.5
"""Hours after which the last board is unplugged, and plugged in again."""
TASK, SHORT, SHARE = 2.0, 0.25, 0.05
"""Seconds of a task, and of those in the last share of the work, for which all boards wait at the end."""
SIDE = 64
_KEY = bytes(32)
_FIRST_MAC = 0x02_67_73_00_00_00
Interval = tuple[float, float]
"""Seconds from the start of the job: a board was plugged in from, to."""


def ideal(plugged: list[Interval], work: float) -> float:
    """The time at which the boards have given ``work`` board-seconds; an interval may have no end (infinity).

    Raises InputError if they never do.
    """
    given, last = 0.0, 0.0
    for at in sorted({one for interval in plugged for one in interval if one > 0}):
        count = sum(begin <= last and end > last for begin, end in plugged)
        if count and given + count * (at - last) >= work:
            return last + (work - given) / count
        given += count * (at - last)
        last = at
    raise InputError("the boards were not plugged in for long enough")


class _Cluster:
    """A switch and boards that are plugged in and out."""

    def __init__(self, folder: Path) -> None:
        self._programs = _build.folder()
        self.socket = str(folder / "switch")
        self._switch = subprocess.Popen(
            [self._programs / "shell_switch", self.socket], stdout=subprocess.PIPE, text=True
        )
        self._boards: dict[int, subprocess.Popen[bytes]] = {}
        assert self._switch.stdout is not None
        if self._switch.stdout.readline() != "ready\n":
            raise InputError("the simulated switch has not started")

    def plug(self, number: int) -> None:
        words = ["--port", self.socket, "--mac", mac_text(_FIRST_MAC + number), "--key", _KEY.hex()]
        self._boards[number] = subprocess.Popen([self._programs / "shell_twin", *words])

    def unplug(self, number: int) -> None:
        board = self._boards.pop(number)
        board.kill()
        board.wait()

    def end(self) -> None:
        for number in list(self._boards):
            self.unplug(number)
        self._switch.terminate()
        self._switch.wait()
        assert self._switch.stdout is not None
        self._switch.stdout.close()


@contextlib.contextmanager
def _managed(cluster: _Cluster, state: Path) -> Iterator[None]:
    """A manager in a thread, since its connection to SQLite belongs to one."""
    made: list[Manager] = []
    ready = threading.Event()
    keys = {_FIRST_MAC + number: _KEY for number in range(1, BOARDS + MORE + 1)}

    def work() -> None:
        try:
            made.append(Manager(cluster.socket, keys, state))
        finally:
            ready.set()
        made[0].run()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    if not made:
        raise InputError("the manager has not started")
    try:
        yield
    finally:
        made[0].stop()
        thread.join()


def _repeat(seconds: float) -> int:
    """Repetitions of a task that takes ``seconds``."""
    return round(seconds * ptrans.CLOCK_HZ / (SIDE * SIDE))


def _submit(store: Store, repeats: Sequence[int]) -> int:
    part = ptrans.Part(0, SIDE, SIDE)
    role = ptrans.role()
    work = []
    for number, repeat in enumerate(repeats):
        a, b = ptrans.matrices(SIDE, SIDE, seed=number)
        work.append((part.registers(repeat), part.inputs(a, b)))
    return store.submit("bench", role, root_of(role).hex(), 1, 0, 60.0, work)


def _wait(store: Store, job: int) -> float:
    """The end of a job, in seconds since its submission."""
    while True:
        found = next(one for one in store.jobs() if one["id"] == job)
        if found["state"] == "done":
            return float(found["ended"] - found["submitted"])
        if found["state"] not in ("waiting", "running"):
            raise InputError(f"the job of elastic.ratio: {found['state']}")
        time.sleep(0.1)


def rows(context: Context) -> Iterator[Row]:
    """The row: seconds of the job over the ideal."""
    whole = BOARDS * HOURS * HOUR
    repeats = [_repeat(TASK)] * round(whole * (1 - SHARE) / TASK) + [_repeat(SHORT)] * round(whole * SHARE / SHORT)
    work = sum(repeats) * SIDE * SIDE / ptrans.CLOCK_HZ
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        cluster = _Cluster(folder)
        stack.callback(cluster.end)
        for number in range(1, BOARDS + 1):
            cluster.plug(number)
        store = Store(folder / "state.sqlite")
        stack.callback(store.close)
        stack.enter_context(_managed(cluster, store.path))
        _wait(store, _submit(store, [1] * 4 * BOARDS))
        job = _submit(store, repeats)
        begun = time.monotonic()
        plugged: dict[int, list[float]] = {number: [0.0, float("inf")] for number in range(1, BOARDS + 1)}
        past: list[Interval] = []

        def at(hour: float) -> float:
            time.sleep(max(0.0, begun + hour * HOUR - time.monotonic()))
            return time.monotonic() - begun

        now = at(PLUGGED)
        for number in range(BOARDS + 1, BOARDS + MORE + 1):
            cluster.plug(number)
            plugged[number] = [now, float("inf")]
        last = BOARDS + MORE
        now = at(UNPLUGGED)
        cluster.unplug(last)
        past.append((plugged.pop(last)[0], now))
        now = at(AGAIN)
        cluster.plug(last)
        plugged[last] = [now, float("inf")]
        seconds = _wait(store, job)
        results = store.results(job)
        for number, one in enumerate(results):
            a, b = ptrans.matrices(SIDE, SIDE, seed=number)
            if ptrans.check(a, b, ptrans.Part(0, SIDE, SIDE).of_bytes(one["result"])):
                raise InputError(f"the result of task {number} is wrong")
        least = ideal([*past, *((begin, end) for begin, end in plugged.values())], work)
    reference: Reference = {"what": "at most", "value": MOST, "unit": "of the ideal"}
    ratio = seconds / least
    yield context.row(
        "elastic.ratio", ratio, "of the ideal", reference=reference, ratio=MOST / ratio, most=MOST,
        seconds=seconds, ideal_s=least, tasks=len(repeats), task_s=(TASK, SHORT),
        runs_of_tasks=sum(one["attempts"] for one in results),
        hour_s=HOUR, hours=seconds / HOUR, hours_of_the_paper=7.0,
        boards=f"{BOARDS}, {MORE} more after {PLUGGED:g} h, one away from {UNPLUGGED:g} to {AGAIN:g} h",
        role_time="modelled: cycles of the hardware at 100 MHz, waited for by the native role",
    )  # fmt: skip


__all__ = ["NAMES", "ideal", "rows"]
