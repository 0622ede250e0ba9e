# SPDX-License-Identifier: Apache-2.0
"""The engines that run in this process: ``cpu`` and ``shuffle``."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Mapping

from gossamer import native
from gossamer.apps import App
from gossamer.engines import Engine
from gossamer.engines._given import Given, collect
from gossamer.errors import RunDied
from gossamer.graph import Graph
from gossamer.runs import Result

_PATIENCE = 5.0
"""Seconds that a run has to stop in after Ctrl-C."""


class InProcess(Engine):
    """Runs the compiled application on threads of this process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, app: App, graph: Graph, parameters: Mapping[str, int | float], *, threads: int, seed: int) -> Result:
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
        if failure:
            raise failure[0]
        return outcome[0]


def _run_interruptibly(work: object, stop: ctypes.c_int, progress: ctypes.Array[ctypes.c_uint64], what: str) -> None:
    """Runs ``work`` on a thread while this one listens for Ctrl-C and shows progress."""
    assert callable(work)
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    shown = False
    try:
        thread.join(1.0)
        while thread.is_alive():
            if sys.stderr.isatty():
                print(f"\r{what}: step {progress[0]}, {progress[1]} rounds of messages", end="", file=sys.stderr)
                shown = True
            thread.join(0.25)
    except KeyboardInterrupt:
        stop.value = 1
        thread.join(_PATIENCE)
        if thread.is_alive():
            raise RunDied(f"{what}: did not stop: a handler does not return") from None
        raise
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr)
