# SPDX-License-Identifier: Apache-2.0
"""Jobs from Python, with futures.

    from concurrent.futures import as_completed
    from gossamer.shell import Cluster

    with Cluster() as cluster:
        future = cluster.submit("sum.c", kernel=1, registers={0: 8192, 4: 16}, inputs=[(8192, data)])
        print(future.result())                               # bytes
        for result in cluster.map("sum.c", tasks, kernel=1):  # in order
            ...
        for future in as_completed(cluster.futures("sum.c", tasks)):
            ...

The manager (./gossamer cluster manager) runs them; it may be restarted meanwhile.
"""

from __future__ import annotations

import getpass
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from os import PathLike
from pathlib import Path

from gossamer.errors import InputError, RunDied
from gossamer.paths import STATE
from gossamer.shell import job
from gossamer.shell.host import root_of
from gossamer.shell.locks import manager_runs
from gossamer.shell.store import Store

Task = tuple[Mapping[int, int], Sequence[tuple[int, bytes]]]
"""Registers by address, and inputs: addresses of the board's memory with their bytes."""
_POLL = 0.02


def default_state() -> Path:
    """The state of this checkout's manager."""
    folder = STATE / "cluster"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "state.sqlite"


class TaskFailed(RunDied):
    """A task has failed on boards, or was cancelled."""

    def __init__(self, number: int, task: int, why: str) -> None:
        super().__init__(f"job {number}, task {task}: {why}")
        self.job, self.task = number, task


class Cluster:
    """The boards of a manager that runs on this machine. Safe for several threads.

    ``state`` is the manager's file, otherwise that of this checkout; ``user`` is whose leases count.
    Raises InputError if no manager runs.
    """

    def __init__(self, state: str | PathLike[str] | None = None, *, user: str | None = None) -> None:
        self._state = Path(state) if state is not None else default_state()
        if not manager_runs(self._state):
            raise InputError(f"{self._state}: no manager runs; start one with ./gossamer cluster manager")
        self._user = user or getpass.getuser()
        self._lock = threading.Lock()
        self._waiting: dict[int, dict[int, Future[bytes]]] = {}
        self._ended = threading.Event()
        self._work = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="gossamer-cluster", daemon=True)
        self._thread.start()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)

    def shutdown(self, *, cancel_futures: bool = False) -> None:
        """Waits for all futures, or cancels those that are not done; then the object is of no use."""
        with self._lock:
            left = [future for futures in self._waiting.values() for future in futures.values()]
        for future in left:
            if cancel_futures:
                future.cancel()
            else:
                # Its error is the caller's matter.
                future.exception() if not future.cancelled() else None
        self._ended.set()
        self._work.set()
        self._thread.join()

    def submit(
        self,
        role: str | PathLike[str] | bytes,
        *,
        kernel: int = 0,
        registers: Mapping[int, int] | None = None,
        inputs: Sequence[tuple[int, bytes]] = (),
        board_type: int = 1,
        timeout: float = 60.0,
    ) -> Future[bytes]:
        """A job of one task; its result. ``timeout`` is in seconds.

        `Future.cancel` works until the result is there. The future raises `TaskFailed` if the task fails.
        """
        (future,) = self.futures(
            role, [(registers or {}, inputs)], kernel=kernel, board_type=board_type, timeout=timeout
        )
        return future

    def futures(
        self,
        role: str | PathLike[str] | bytes,
        tasks: Iterable[Task],
        *,
        kernel: int = 0,
        board_type: int = 1,
        timeout: float = 60.0,
    ) -> list[Future[bytes]]:
        """A job; a future for each task. The job is cancelled when all of them are."""
        data = role if isinstance(role, bytes) else job.role_bytes(Path(role))
        listed = [(dict(registers), list(inputs)) for registers, inputs in tasks]
        if not listed:
            return []
        made: list[Future[bytes]] = [Future() for _ in listed]
        store = Store(self._state)
        try:
            # The watcher must not see the job without its futures.
            with self._lock:
                if self._ended.is_set():
                    raise RuntimeError("the cluster was shut down")
                number = store.submit(self._user, data, root_of(data).hex(), board_type, kernel, timeout, listed)
                self._waiting[number] = dict(enumerate(made))
        finally:
            store.close()
        self._work.set()
        return made

    def map(
        self,
        role: str | PathLike[str] | bytes,
        tasks: Iterable[Task],
        *,
        kernel: int = 0,
        board_type: int = 1,
        timeout: float = 60.0,
    ) -> Iterator[bytes]:
        """A job; the results of its tasks, in order."""
        made = self.futures(role, tasks, kernel=kernel, board_type=board_type, timeout=timeout)
        return (future.result() for future in made)

    # ---- The watcher

    def _watch(self) -> None:
        store = Store(self._state)
        seen = -1
        try:
            while not self._ended.is_set():
                self._work.wait()
                with self._lock:
                    numbers = list(self._waiting)
                    if not numbers:
                        self._work.clear()
                        seen = -1
                        continue
                self._cancel(store, numbers)
                if (now := store.changes()) != seen:
                    seen = now
                    for number in numbers:
                        self._settle(store, number)
                self._ended.wait(_POLL)
            self._cancel(store, list(self._waiting))
        finally:
            store.close()

    def _cancel(self, store: Store, numbers: Sequence[int]) -> None:
        """Tells those who wait for futures that were cancelled; a job all of whose futures are gone is cancelled."""
        for number in numbers:
            with self._lock:
                futures = self._waiting[number]
                gone = [task for task, future in futures.items() if future.cancelled()]
                notified = [futures.pop(task) for task in gone]
                if not futures:
                    del self._waiting[number]
            for future in notified:
                future.set_running_or_notify_cancel()
            if gone and not futures:
                store.cancel(number)

    def _settle(self, store: Store, number: int) -> None:
        """Sets the results of tasks that have ended."""
        with self._lock:
            futures = self._waiting.get(number, {})
            ended = [task for task in store.ended(number) if task in futures]
        for task in ended:
            state, error, result = store.outcome(number, task)
            with self._lock:
                future = futures.pop(task, None)
                if not futures:
                    self._waiting.pop(number, None)
            if future is None or not future.set_running_or_notify_cancel():
                continue
            if state == "done":
                future.set_result(result)
            else:
                future.set_exception(TaskFailed(number, task, error or state))


__all__ = ["Cluster", "Task", "TaskFailed", "default_state"]
