# SPDX-License-Identifier: Apache-2.0
"""What a compiled application is given: graph, options and parameters, as the structs of ``include/gossamer/abi.h``."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gossamer import native, symbolize
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.errors import HandlerDied, NoAnswer
from gossamer.graph import CSR, Graph, _native

_TYPES = {np.dtype(np.int32): 1, np.dtype(np.int64): 3, np.dtype(np.float32): 5, np.dtype(np.float64): 6}
_SYMMETRIC = 1


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


class Statistics(ctypes.Structure):
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
        ("vertex_looks", ctypes.c_uint64),
        ("edge_looks", ctypes.c_uint64),
        ("seconds", ctypes.c_double),
        ("threads", ctypes.c_uint32),
        ("stopped", ctypes.c_int32),
        ("aggregates", ctypes.POINTER(ctypes.c_int64)),
        ("aggregate_count", ctypes.c_uint64),
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


class _Change(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("weight_type", ctypes.c_int32),
        ("count", ctypes.c_uint64),
        ("from_", ctypes.c_void_p),
        ("to", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
    ]


def change(
    app: App,
    handle: ctypes.c_void_p,
    kind: int,
    count: int,
    ends: Sequence[np.ndarray[Any, np.dtype[np.uint32]]],
    weights: np.ndarray[Any, np.dtype[Any]] | None,
) -> None:
    """Changes the graph of a run that gs_app_start has begun; ``ends`` are none, vertices, or sources and targets."""
    given = [array.ctypes.data for array in ends] + [None, None]
    costs = None if weights is None else weights.ctypes.data
    kind_of = 0 if weights is None else _TYPES[weights.dtype]
    what = _Change(kind, kind_of, count, given[0], given[1], costs)
    native.check(app.library.gs_app_change(handle, ctypes.byref(what)))


class ResumeArgs:
    """Options of a run that goes on: nothing of the graph."""

    def __init__(self, *, engine: str, threads: int, seed: int) -> None:
        self.stop = ctypes.c_int(0)
        self.progress = (ctypes.c_uint64 * 2)(0, 0)
        self.options = _Options(
            engine.encode(),
            threads,
            seed,
            ctypes.pointer(self.stop),
            ctypes.cast(self.progress, ctypes.POINTER(ctypes.c_uint64)),
            _Complete(),
            None,
            None,
            0,
        )


class RunArgs:
    """The structs, and what they point to; to be kept while the application uses them."""

    def __init__(self, app: App, graph: Graph, parameters: Numbers, *, engine: str, threads: int, seed: int) -> None:
        low, high = graph.weight_range if app.uses_weights else (1.0, 1.0)
        self.graph = _Graph(
            graph.vertices,
            graph.edges,
            _csr(graph.out if graph.has_out or not graph.has_into else None),
            _csr(graph.into if graph.has_into or graph.symmetric else None),
            0 if graph.weight_type is None else _TYPES[graph.weight_type],
            _SYMMETRIC if graph.symmetric else 0,
            low,
            high,
        )
        self.stop = ctypes.c_int(0)
        self.progress = (ctypes.c_uint64 * 2)(0, 0)
        """Steps, and rounds of messages."""
        self.failure: list[BaseException] = []
        """What went wrong in a callback."""
        # One that has several values is named as often.
        given = [(name, one) for name, value in parameters.items() for one in _each(value)]
        numbers = (_Parameter * max(1, len(given)))()
        for slot, (name, value) in zip(numbers, given, strict=False):
            slot.name = name.encode()
            if isinstance(value, int):
                slot.integer = value  # all 64 bits of it, whatever its sign
            else:
                slot.real = value

        def complete(_context: int, wanted: ctypes._Pointer[_Graph], want_in: int) -> None:
            try:
                with _native.stopping_at(self.stop):
                    if want_in:
                        wanted.contents.into = _csr(graph.into)
                    else:
                        wanted.contents.out = _csr(graph.out)
            except BaseException as error:
                self.failure.append(error)

        self._callback = _Complete(complete)
        self.options = _Options(
            engine.encode(),
            threads,
            seed,
            ctypes.pointer(self.stop),
            ctypes.cast(self.progress, ctypes.POINTER(ctypes.c_uint64)),
            self._callback,
            None,
            numbers,
            len(given),
        )


def _each(value: float | tuple[int, ...]) -> tuple[float, ...]:
    return value if isinstance(value, tuple) else (value,)


def _csr(csr: CSR | None) -> _Csr:
    if csr is None:
        return _Csr(None, None, None)
    weights = None if csr.weights is None else csr.weights.ctypes.data
    return _Csr(csr.offsets.ctypes.data, csr.targets.ctypes.data, weights)


def columns(app: App, graph: Graph, handle: ctypes.c_void_p) -> dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]]:
    """The columns of a result, one value for each vertex."""
    found: dict[str, np.ndarray[tuple[int], np.dtype[np.generic]]] = {}
    for index, column in enumerate(app.columns):
        values = np.empty(graph.vertices, column.dtype)
        native.check(app.library.gs_app_column(handle, index, values.ctypes.data))
        found[column.name] = values
    return found


def totals(app: App, handle: ctypes.c_void_p) -> dict[str, int | float]:
    """What the last step's aggregates have come to, by name."""
    found: dict[str, int | float] = {}
    for index, about in enumerate(app.totals):
        value = np.empty(1, about.dtype)
        native.check(app.library.gs_app_total(handle, index, value.ctypes.data))
        found[about.name] = value[0].item()
    return found


def collect(app: App, graph: Graph, handle: ctypes.c_void_p, begun: float) -> Result:
    """The result of a run that an application has done itself, begun at that time. Raises NoAnswer where it is none."""
    stats = _statistics(app, handle)
    if stats["stopped"]:
        raise KeyboardInterrupt
    judge(app, graph, handle)
    values = columns(app, graph, handle)
    found = totals(app, handle)
    return Result(app=app, graph=graph, columns=values, totals=found, stats=stats, seconds=time.perf_counter() - begun)


def _statistics(app: App, handle: ctypes.c_void_p) -> dict[str, Any]:
    found = Statistics()
    app.library.gs_app_statistics(handle, ctypes.byref(found))
    pointers = {"engine", "step_seconds", "step_count", "stopped", "aggregates", "aggregate_count"}
    stats: dict[str, Any] = {"engine": found.engine.decode()}
    stats |= {name: getattr(found, name) for name, *_ in found._fields_ if name not in pointers}
    stats["stopped"] = bool(found.stopped)
    count = int(found.step_count)
    until = np.ctypeslib.as_array(found.step_seconds, (count,)).astype(np.float64) if count else np.empty(0)
    stats["step_seconds"] = np.diff(until, prepend=0.0).tolist()
    return stats


def judge(app: App, graph: Graph, handle: ctypes.c_void_p) -> None:
    """Asks the application whether its values are the answer. Raises NoAnswer if they are not."""
    why, vertex = ctypes.c_char_p(), ctypes.c_uint64(_NO_VERTEX)
    verdict = app.library.gs_app_verdict(handle, ctypes.byref(why), ctypes.byref(vertex))
    if not verdict:
        return
    text = (why.value or b"").decode(errors="replace")
    if vertex.value < graph.vertices:
        text += f" (the first: vertex {graph.label_of(vertex.value)})"
    raise NoAnswer(f"{app.name}: {_VERDICTS[verdict]}: {text}")


def labelled(text: str, label: Callable[[int], str | int]) -> str:
    """What the library says of vertices, which it knows by their indices, with their labels."""
    return re.sub(r"the vertex of index (\d+)", lambda found: f"vertex {label(int(found[1]))}", text)


def explained(died: HandlerDied, app: App, graph: Graph) -> HandlerDied:
    """The same with the vertex by its label, and with the line of the user's source where that is known."""
    text = labelled(str(died), graph.label_of)
    place = symbolize.line_of(died.places, app.path)
    return HandlerDied(f"{app.name}: {text}{f', at {place}' if place else ''}; there is no answer", died.vertex)


__all__ = [
    "ResumeArgs",
    "RunArgs",
    "Statistics",
    "change",
    "collect",
    "columns",
    "explained",
    "judge",
    "labelled",
    "totals",
]
