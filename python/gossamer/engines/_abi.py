# SPDX-License-Identifier: Apache-2.0
"""ctypes structs of the C interface of applications (``include/gossamer/abi.h``); functions that fill and read them."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import native, symbolize
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.errors import HandlerDied, NoAnswer
from gossamer.graph import CSR, Graph, _native

if TYPE_CHECKING:
    from gossamer import mapper
    from gossamer.distributed.shares import Share

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
        ("timeline", ctypes.c_void_p),
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
    """Changes the graph of a run that gs_app_start started; ``ends`` is empty, or vertices, or sources and targets."""
    pointers = [array.ctypes.data for array in ends] + [None, None]
    weight_pointer = None if weights is None else weights.ctypes.data
    weight_type = 0 if weights is None else _TYPES[weights.dtype]
    request = _Change(kind, weight_type, count, pointers[0], pointers[1], weight_pointer)
    native.check(app.library.gs_app_change(handle, ctypes.byref(request)))


class ResumeArgs:
    """Options of a run that resumes; the application has the graph already."""

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
            None,
        )


class RunArgs:
    """Graph, options and parameters of a run. Owns the memory that the structs point to, so it must outlive the run."""

    def __init__(
        self,
        app: App,
        graph: Graph,
        parameters: Numbers,
        *,
        engine: str,
        threads: int,
        seed: int,
        timeline: ctypes.c_void_p | None = None,
    ) -> None:
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
        """The exception that a callback raised, if any."""
        numbers, count = _numbers(parameters)

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
            count,
            timeline,
        )


def _numbers(parameters: Numbers) -> tuple[ctypes.Array[_Parameter], int]:
    """The parameters as structs, and their number; a parameter with several values has a struct for each."""
    entries = [(name, one) for name, value in parameters.items() for one in _each(value)]
    numbers = (_Parameter * max(1, len(entries)))()
    for slot, (name, value) in zip(numbers, entries, strict=False):
        slot.name = name.encode()
        if isinstance(value, tuple):
            slot.integer, slot.real = value
        elif isinstance(value, int):
            slot.integer = value  # all 64 bits, signed or unsigned
        else:
            slot.real = value
    return numbers, len(entries)


class SavedPart(ctypes.Structure):
    """gs_saved_part of include/gossamer/distributed/share.h."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("rows", ctypes.c_uint64),
        ("row_bytes", ctypes.c_uint64),
        ("offsets", ctypes.c_void_p),
        ("bytes", ctypes.c_void_p),
    ]


SaveFunction = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(SavedPart), ctypes.c_uint64
)
RestoreFunction = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64)


class Checkpoints(ctypes.Structure):
    """gs_checkpoints of the same header."""

    _fields_ = [
        ("interval", ctypes.c_uint64),
        ("restores", ctypes.c_int32),
        ("context", ctypes.c_void_p),
        ("save", SaveFunction),
        ("restore", RestoreFunction),
    ]


class _Share(ctypes.Structure):
    """gs_share of include/gossamer/distributed/share.h."""

    _fields_ = [
        ("ranks", ctypes.c_void_p),
        ("graph", _Graph),
        ("vertices", ctypes.c_uint64),
        ("edges", ctypes.c_uint64),
        ("cuts", ctypes.c_void_p),
        ("checkpoints", ctypes.c_void_p),
        ("indices", ctypes.c_void_p),
    ]


class RankFigures(ctypes.Structure):
    """gs_rank_figures of the same header."""

    _fields_ = [
        ("pairs", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("messages", ctypes.c_uint64),
        ("rounds", ctypes.c_uint64),
        ("wait", ctypes.c_double),
    ]


class ShareArgs:
    """A rank's share of a graph, options and parameters of a run. Owns the memory that the structs point to."""

    def __init__(
        self,
        app: App,
        ranks: ctypes.c_void_p,
        share: Share,
        parameters: Numbers,
        *,
        threads: int,
        checkpoints: Checkpoints | None = None,
        timeline: ctypes.c_void_p | None = None,
    ) -> None:
        whole = share.whole
        low, high = whole.weight_range if app.uses_weights else (1.0, 1.0)
        degrees = share.out.offsets
        into = _csr(share.into)
        out = into if share.out is share.into else _csr(share.out)
        if not len(share.out.targets) and int(degrees[-1]):
            out.targets = None
        graph = _Graph(
            len(degrees) - 1,
            int(degrees[-1]),
            out,
            into,
            0 if whole.weight_type is None else _TYPES[whole.weight_type],
            _SYMMETRIC if whole.symmetric else 0,
            low,
            high,
        )
        self._checkpoints = checkpoints
        where = None if checkpoints is None else ctypes.addressof(checkpoints)
        indices = None if share.indices is None else share.indices.ctypes.data
        self.share = _Share(ranks, graph, whole.vertices, whole.edges, share.cuts.ctypes.data, where, indices)
        self._numbers, count = _numbers(parameters)
        self._arrays = share
        self.options = _Options(
            b"distributed", threads, 0, None, None, _Complete(), None, self._numbers, count, timeline
        )
        self.figures = RankFigures()


def _each(value: float | tuple[int | tuple[int, float], ...]) -> tuple[float | tuple[int, float], ...]:
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
    """The aggregates of the last step, by name."""
    found: dict[str, int | float] = {}
    for index, about in enumerate(app.totals):
        value = np.empty(1, about.dtype)
        native.check(app.library.gs_app_total(handle, index, value.ctypes.data))
        found[about.name] = value[0].item()
    return found


def collect(app: App, graph: Graph, handle: ctypes.c_void_p, begun: float) -> Result:
    """The result of a run inside the application, which started at time ``begun``. Raises NoAnswer if it is invalid."""
    stats = statistics(app, handle)
    if stats["stopped"]:
        raise KeyboardInterrupt
    judge(app, graph, handle)
    values = columns(app, graph, handle)
    found = totals(app, handle)
    return Result(app=app, graph=graph, columns=values, totals=found, stats=stats, seconds=time.perf_counter() - begun)


def statistics(app: App, handle: ctypes.c_void_p) -> dict[str, Any]:
    """The statistics of a run, by their names in the C interface."""
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


def report_end(app: App, handle: ctypes.c_void_p, stats: dict[str, Any], aggregates: Sequence[int]) -> None:
    """Reports to the application the end of a run on other threads than its own: statistics and aggregate words."""
    numbers = stats.keys() - {"engine"}
    ended = Statistics(**{name: stats[name] for name, *_ in Statistics._fields_ if name in numbers})
    ended.aggregates = (ctypes.c_int64 * max(1, len(aggregates)))(*aggregates)
    ended.aggregate_count = len(aggregates)
    ended.engine = stats["engine"].encode()
    native.check(app.library.gs_app_ended(handle, ctypes.byref(ended)))


def judge(app: App, graph: Graph, handle: ctypes.c_void_p) -> None:
    """Asks the application whether its values are an answer. Raises NoAnswer if they are not."""
    why, vertex = ctypes.c_char_p(), ctypes.c_uint64(_NO_VERTEX)
    verdict = app.library.gs_app_verdict(handle, ctypes.byref(why), ctypes.byref(vertex))
    if not verdict:
        return
    text = (why.value or b"").decode(errors="replace")
    if vertex.value < graph.vertices:
        text += f" (the first: vertex {graph.label_of(vertex.value)})"
    raise NoAnswer(f"{app.name}: {_VERDICTS[verdict]}: {text}")


def labelled(text: str, label: Callable[[int], str | int]) -> str:
    """A message of the library with vertices by their labels; the library has only their indices."""
    return re.sub(r"the vertex of index (\d+)", lambda found: f"vertex {label(int(found[1]))}", text)


def explained(died: HandlerDied, app: App, graph: Graph) -> HandlerDied:
    """The same error with the label of the vertex, and with the line of the user's source if it is known."""
    text = labelled(str(died), graph.label_of)
    line = symbolize.line_of(died.places, app.path)
    return HandlerDied(f"{app.name}: {text}{f', at {line}' if line else ''}; there is no answer", died.vertex)


class RelationAbi(ctypes.Structure):
    """gs_relation of the C interface."""

    _fields_ = [
        ("pin", ctypes.c_uint32),
        ("offsets", ctypes.c_void_p),
        ("ends", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
    ]


class ProblemAbi(ctypes.Structure):
    """gs_problem of the C interface: a problem that an application has opened for an engine that runs elsewhere."""

    _fields_ = [
        ("vertices", ctypes.c_uint64),
        ("states", ctypes.c_void_p),
        ("params", ctypes.c_void_p),
        ("unit", ctypes.c_void_p),
        ("relations", ctypes.POINTER(RelationAbi)),
        ("state_bytes", ctypes.c_uint64),
        ("params_bytes", ctypes.c_uint64),
        ("edge_bytes", ctypes.c_uint64),
        ("message_bytes", ctypes.c_uint64),
        ("relation_count", ctypes.c_uint32),
        ("listens", ctypes.c_uint32),
        ("aggregates", ctypes.POINTER(ctypes.c_uint8)),
        ("aggregate_count", ctypes.c_uint64),
    ]


class PartAbi(ctypes.Structure):
    """gs_part of the C interface: the next part of a run that resumes."""

    _fields_ = [
        ("problem", ProblemAbi),
        ("fresh", ctypes.c_void_p),
        ("changed", ctypes.c_void_p),
        ("gone", ctypes.c_void_p),
        ("fresh_count", ctypes.c_uint64),
        ("changed_count", ctypes.c_uint64),
        ("there", ctypes.c_uint64),
        ("whole", ctypes.c_uint32),
    ]


def problem_of(app: App, opened: ProblemAbi, *, copy: bool = True) -> mapper.Problem:
    """The mapper's problem from an opened problem; states are copied.

    Edges are copied too, unless ``copy`` is False: then they are those of the application, and live as long as it.
    """
    from gossamer import mapper

    count = int(opened.vertices)

    def array(address: int | None, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        if not address or not size:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    relations = []
    for index in range(opened.relation_count):
        one = opened.relations[index]
        # Rows of a graph that does not change are contiguous.
        offsets = array(one.offsets, 8 * (count + 1)).view(np.uint64).astype(np.int64)
        edges = int(offsets[-1])
        values = array(one.values, edges * opened.edge_bytes).reshape(edges, -1) if one.values and edges else None
        targets: Any = array(one.targets, 4 * edges).view(np.uint32)
        targets = targets.astype(np.int64) if copy else targets
        relations.append(mapper.Relation(one.pin, offsets, targets, values))
    return mapper.Problem(
        states=array(opened.states, count * opened.state_bytes).reshape(count, -1).copy(),
        params=array(opened.params, opened.params_bytes).tobytes(),
        unit=array(opened.unit, app.edge_bytes).tobytes(),  # an empty C++ type has one byte, which carries no value
        relations=relations,
    )


__all__ = [
    "Checkpoints",
    "PartAbi",
    "ProblemAbi",
    "RankFigures",
    "RelationAbi",
    "RestoreFunction",
    "ResumeArgs",
    "RunArgs",
    "SaveFunction",
    "SavedPart",
    "ShareArgs",
    "Statistics",
    "change",
    "collect",
    "columns",
    "explained",
    "judge",
    "labelled",
    "problem_of",
    "report_end",
    "statistics",
    "totals",
]
