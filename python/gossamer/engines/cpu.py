# SPDX-License-Identifier: Apache-2.0
"""The engines that run in this process: ``cpu`` and ``shuffle``."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from gossamer import native
from gossamer.apps import App
from gossamer.engines import Engine
from gossamer.errors import NoAnswer, RunDied
from gossamer.graph import CSR, Graph
from gossamer.runs import Result

_TYPES = {np.dtype(np.int32): 1, np.dtype(np.int64): 3, np.dtype(np.float32): 5, np.dtype(np.float64): 6}
_SYMMETRIC = 1
_PATIENCE = 5.0
"""Seconds that a run has to stop in after Ctrl-C."""


class _Csr(ctypes.Structure):
    _fields_ = [("offsets", ctypes.c_void_p), ("targets", ctypes.c_void_p), ("weights", ctypes.c_void_p)]


class _Graph(ctypes.Structure):
    _fields_ = [
        ("vertices", ctypes.c_uint64),
        ("edges", ctypes.c_uint64),
        ("out", _Csr),
        ("into", _Csr),
        ("weight_type", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
        ("weight_low", ctypes.c_double),
        ("weight_high", ctypes.c_double),
    ]


class _Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("real", ctypes.c_double), ("integer", ctypes.c_int64)]


class _Statistics(ctypes.Structure):
    _fields_ = [
        ("engine", ctypes.c_char_p),
        ("step_seconds", ctypes.POINTER(ctypes.c_float)),
        ("step_count", ctypes.c_uint64),
        ("vertices", ctypes.c_uint64),
        ("edges", ctypes.c_uint64),
        ("sends", ctypes.c_uint64),
        ("deliveries", ctypes.c_uint64),
        ("steps", ctypes.c_uint64),
        ("step_calls", ctypes.c_uint64),
        ("host_messages", ctypes.c_uint64),
        ("pull_rounds", ctypes.c_uint64),
        ("push_rounds", ctypes.c_uint64),
        ("small_rounds", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
        ("threads", ctypes.c_uint32),
        ("stopped", ctypes.c_int32),
    ]


_VERDICTS = {1: "did not converge", 2: "overflow"}
_NO_VERTEX = 2**64 - 1

_Complete = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_Graph), ctypes.c_int)


class _Options(ctypes.Structure):
    _fields_ = [
        ("engine", ctypes.c_char_p),
        ("threads", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("stop", ctypes.POINTER(ctypes.c_int)),
        ("progress", ctypes.POINTER(ctypes.c_uint64)),
        ("complete", _Complete),
        ("context", ctypes.c_void_p),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("parameter_count", ctypes.c_size_t),
    ]


def _csr(csr: CSR | None) -> _Csr:
    if csr is None:
        return _Csr(None, None, None)
    weights = None if csr.weights is None else csr.weights.ctypes.data
    return _Csr(csr.offsets.ctypes.data, csr.targets.ctypes.data, weights)


class InProcess(Engine):
    """Runs the compiled application on threads of this process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, app: App, graph: Graph, parameters: Mapping[str, int | float], *, threads: int, seed: int) -> Result:
        """See Engine.run."""
        low, high = graph.weight_range if app.uses_weights else (1.0, 1.0)
        given = _Graph(
            graph.vertices,
            graph.edges,
            _csr(graph.out if graph.has_out or not graph.has_into else None),
            _csr(graph.into if graph.has_into or graph.symmetric else None),
            0 if graph.weight_type is None else _TYPES[graph.weight_type],
            _SYMMETRIC if graph.symmetric else 0,
            low,
            high,
        )
        stop = ctypes.c_int(0)
        progress = (ctypes.c_uint64 * 2)(0, 0)
        failure: list[BaseException] = []

        def complete(_context: int, wanted: ctypes._Pointer[_Graph], want_in: int) -> None:
            try:
                if want_in:
                    wanted.contents.into = _csr(graph.into)
                else:
                    wanted.contents.out = _csr(graph.out)
            except BaseException as error:
                failure.append(error)

        numbers = (_Parameter * max(1, len(parameters)))()
        for slot, (name, value) in zip(numbers, parameters.items(), strict=False):
            slot.name = name.encode()
            if isinstance(value, int):
                slot.integer = value  # all 64 bits of it, whatever its sign
            else:
                slot.real = value
        callback = _Complete(complete)
        options = _Options(
            self.name.encode(),
            threads,
            seed,
            ctypes.pointer(stop),
            ctypes.cast(progress, ctypes.POINTER(ctypes.c_uint64)),
            callback,
            None,
            numbers,
            len(parameters),
        )
        handle = ctypes.c_void_p()
        outcome: list[Result] = []

        def work() -> None:
            try:
                begun = time.perf_counter()
                native.check(app.library.gs_app_run(ctypes.byref(given), ctypes.byref(options), ctypes.byref(handle)))
                try:
                    outcome.append(_collect(app, graph, handle, begun))
                finally:
                    app.library.gs_app_free(handle)
            except BaseException as error:
                failure.append(error)

        _run_interruptibly(work, stop, progress, app.name)
        if failure:
            raise failure[0]
        return outcome[0]


def _collect(app: App, graph: Graph, handle: ctypes.c_void_p, begun: float) -> Result:
    stats = _statistics(app, handle)
    if stats["stopped"]:
        raise KeyboardInterrupt
    _judge(app, graph, handle)
    columns: dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]] = {}
    for index, column in enumerate(app.columns):
        values = np.empty(graph.vertices, column.dtype)
        native.check(app.library.gs_app_column(handle, index, values.ctypes.data))
        columns[column.name] = values
    seconds = time.perf_counter() - begun
    return Result(app=app, graph=graph, columns=columns, stats=stats, seconds=seconds)


def _statistics(app: App, handle: ctypes.c_void_p) -> dict[str, Any]:
    found = _Statistics()
    app.library.gs_app_statistics(handle, ctypes.byref(found))
    pointers = {"engine", "step_seconds", "step_count", "stopped"}
    stats: dict[str, Any] = {"engine": found.engine.decode()}
    stats |= {name: getattr(found, name) for name, *_ in found._fields_ if name not in pointers}
    stats["stopped"] = bool(found.stopped)
    count = int(found.step_count)
    until = np.ctypeslib.as_array(found.step_seconds, (count,)).astype(np.float64) if count else np.empty(0)
    stats["step_seconds"] = np.diff(until, prepend=0.0).tolist()
    return stats


def _judge(app: App, graph: Graph, handle: ctypes.c_void_p) -> None:
    """Asks the application whether its values are the answer. Raises NoAnswer if they are not."""
    why, vertex = ctypes.c_char_p(), ctypes.c_uint64(_NO_VERTEX)
    verdict = app.library.gs_app_verdict(handle, ctypes.byref(why), ctypes.byref(vertex))
    if not verdict:
        return
    text = (why.value or b"").decode(errors="replace")
    if vertex.value < graph.vertices:
        text += f" (the first: vertex {graph.label_of(vertex.value)})"
    raise NoAnswer(f"{app.name}: {_VERDICTS[verdict]}: {text}")


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
