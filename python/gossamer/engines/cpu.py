# SPDX-License-Identifier: Apache-2.0
"""The engines that run in this process: ``cpu`` and ``shuffle``."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

from gossamer import native
from gossamer.apps import App, Numbers
from gossamer.engines import Engine
from gossamer.engines._given import Given, collect, explained
from gossamer.errors import HandlerDied, RunDied
from gossamer.graph import Graph
from gossamer.run_app import Result

_PATIENCE = 5.0
"""Seconds that a run has to stop in after Ctrl-C."""


class InProcess(Engine):
    """Runs the compiled application on threads of this process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run."""
        given = Given(app, graph, parameters, engine=self.name, threads=threads, seed=seed)
        handle = ctypes.c_void_p()
        outcome: list[Result] = []
        failure = given.failure

        def work() -> None:
            try:
                begun = time.perf_counter()
                code = app.library.gs_app_run(
                    ctypes.byref(given.graph), ctypes.byref(given.options), ctypes.byref(handle)
                )
                native.check(code)
                try:
                    outcome.append(collect(app, graph, handle, begun))
                finally:
                    app.library.gs_app_free(handle)
            except BaseException as error:
                failure.append(error)

        _run_interruptibly(work, given.stop, given.progress, app.name)
        if failure and isinstance(failure[0], HandlerDied):
            raise explained(failure[0], app, graph) from None
        if failure:
            raise failure[0]
        return outcome[0]


def _run_interruptibly(
    work: Callable[[], None], stop: ctypes.c_int, progress: ctypes.Array[ctypes.c_uint64], what: str
) -> None:
    """Runs ``work`` on a thread while this one listens for Ctrl-C and shows progress."""
    # Not join(): up to Python 3.12, Ctrl-C in it makes a thread that runs look ended (bpo-45274).
    done = threading.Event()

    def all_of_it() -> None:
        try:
            work()
        finally:
            done.set()

    threading.Thread(target=all_of_it, daemon=True).start()
    shown = False
    try:
        done.wait(1.0)
        while not done.is_set():
            if sys.stderr.isatty():
                print(f"\r{what}: step {progress[0]}, {progress[1]} rounds of messages", end="", file=sys.stderr)
                shown = True
            done.wait(0.25)
    except (KeyboardInterrupt, SystemExit):  # SystemExit: SIGTERM has come to the command
        stop.value = 1
        if done.wait(_PATIENCE):
            raise
        native.lib().gs_interrupt()
        if not done.wait(_PATIENCE):
            raise RunDied(f"{what}: did not stop: a handler does not return") from None
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr)
