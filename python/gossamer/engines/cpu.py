# SPDX-License-Identifier: Apache-2.0
"""The engines that run in this process: ``cpu`` and ``shuffle``."""

from __future__ import annotations

import _thread
import ctypes
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TypeVar

from gossamer import native
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.engines._abi import ResumeArgs, RunArgs, change, collect, explained, labelled
from gossamer.engines._base import Change, Engine, Indices, ResumableRun, Weights
from gossamer.errors import HandlerDied, InputError, RunDied
from gossamer.graph import Graph
from gossamer.progress import Line
from gossamer.watch.timeline import Timeline

_T = TypeVar("_T")

_PATIENCE = 5.0
"""Seconds after Ctrl-C within which a run must stop."""


class InProcess(Engine):
    """Runs the compiled application on threads of this process."""

    def __init__(self, name: str, timeline: Timeline | None = None) -> None:
        """``timeline``: records what the threads of each run do over time."""
        self.name = name
        self._timeline = timeline

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run."""
        recorder = None if self._timeline is None else self._timeline.address
        arguments = RunArgs(app, graph, parameters, engine=self.name, threads=threads, seed=seed, timeline=recorder)
        handle = ctypes.c_void_p()

        def work() -> Result:
            begun = time.perf_counter()
            code = app.library.gs_app_run(
                ctypes.byref(arguments.graph), ctypes.byref(arguments.options), ctypes.byref(handle)
            )
            native.check(code)
            try:
                return collect(app, graph, handle, begun)
            finally:
                app.library.gs_app_free(handle)

        return _run_interruptibly(work, arguments, app, graph)

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """See Engine.start."""
        arguments = RunArgs(app, graph, parameters, engine=self.name, threads=threads, seed=seed)
        handle = ctypes.c_void_p()

        def work() -> ctypes.c_void_p:
            code = app.library.gs_app_start(
                ctypes.byref(arguments.graph), ctypes.byref(arguments.options), ctypes.byref(handle)
            )
            native.check(code)
            return handle

        return _InProcessRun(self.name, app, _run_interruptibly(work, arguments, app, graph), threads, seed)


class _InProcessRun(ResumableRun):
    """A run in the compiled application that pauses between parts."""

    def __init__(self, engine: str, app: App, handle: ctypes.c_void_p, threads: int, seed: int) -> None:
        self._engine, self._app, self._handle, self._threads, self._seed = engine, app, handle, threads, seed
        weakref.finalize(self, app.library.gs_app_free, handle)

    def change(self, kind: Change, count: int, ends: Sequence[Indices], weights: Weights | None = None) -> None:
        """See ResumableRun.change."""
        change(self._app, self._handle, kind, count, ends, weights)

    def resume(self, graph: Graph) -> Result:
        """See ResumableRun.resume."""
        arguments = ResumeArgs(engine=self._engine, threads=self._threads, seed=self._seed)

        def work() -> Result:
            begun = time.perf_counter()
            native.check(self._app.library.gs_app_go(self._handle, ctypes.byref(arguments.options)))
            return collect(self._app, graph, self._handle, begun)

        return _run_interruptibly(work, arguments, self._app, graph)


def _run_interruptibly(work: Callable[[], _T], arguments: RunArgs | ResumeArgs, app: App, graph: Graph) -> _T:
    """Runs ``work`` on another thread and returns its result; this thread handles Ctrl-C and shows progress."""
    outcome: list[_T] = []
    failure: list[BaseException] = arguments.failure if isinstance(arguments, RunArgs) else []

    def store_outcome() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            failure.append(error)

    _attend(store_outcome, arguments.stop, arguments.progress, app.name)
    if failure and isinstance(failure[0], HandlerDied):
        raise explained(failure[0], app, graph) from None
    if failure and isinstance(failure[0], InputError):
        raise InputError(labelled(str(failure[0]), graph.label_of)) from None
    if failure:
        raise failure[0]
    return outcome[0]


def _attend(work: Callable[[], None], stop: ctypes.c_int, progress: ctypes.Array[ctypes.c_uint64], what: str) -> None:
    # Not join(): up to Python 3.12, Ctrl-C during join() marks a running thread as ended (bpo-45274). A short run takes
    # less time than a Thread object, whose start() waits until the thread runs: a thread and a lock of the system do.
    running = threading.Lock()
    running.acquire()

    def work_and_signal() -> None:
        try:
            work()
        finally:
            running.release()

    def ended(seconds: float) -> bool:
        """Waits for the end of the work; Ctrl-C interrupts the wait."""
        if not running.acquire(timeout=seconds):
            return False
        running.release()
        return True

    try:
        _thread.start_new_thread(work_and_signal, ())
    except RuntimeError:
        raise RunDied(
            f"{what}: the system cannot start a thread; end other programs, or raise the limit (ulimit -u)"
        ) from None
    line: Line | None = None
    try:
        finished = ended(1.0)
        while not finished:
            line = line or Line()
            line.show(f"{what}: step {progress[0]}, {progress[1]} rounds of messages")
            finished = ended(0.25)
    except (KeyboardInterrupt, SystemExit):  # SystemExit: the command has received SIGTERM
        stop.value = 1
        if ended(_PATIENCE):
            raise
        native.lib().gs_interrupt()
        if not ended(_PATIENCE):
            raise RunDied(f"{what}: did not stop: a handler does not return") from None
    finally:
        if line is not None:
            line.clear()
