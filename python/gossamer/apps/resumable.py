# SPDX-License-Identifier: Apache-2.0
"""Resumable runs: vertices and edges are added and removed between their parts, and vertices keep their states."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer import engines, native
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.apps.runner import Values, accepts_a_run, check, checked
from gossamer.arguments import NUMBERS, SOME_LABELS, Kind, accepts, or_none
from gossamer.engines import Change, Indices, Weights
from gossamer.engines._abi import labelled
from gossamer.errors import InputError
from gossamer.graph import CSR, Graph
from gossamer.graph._rows import from_edges, refuse_masked

_MOST_VERTICES = 2**32 - 2
_NEW = Kind((int, np.integer, Sequence, np.ndarray), "the number of new vertices, or a list of their labels")


@dataclass(frozen=True)
class _Step:
    """One change of the graph, as indices."""

    kind: Change
    count: int
    ends: tuple[Indices, ...]
    weights: Weights | None


class _ChangedGraph(Graph):
    """A graph and its changes; rows are built on first use."""

    __slots__ = ("_fold", "_rows")

    def __init__(self, like: Graph, vertices: int, fold: Callable[[], CSR], labels: Any) -> None:
        self._rows: CSR | None = None
        self._fold = fold
        self._into = None
        self._index = None
        self._weight_range = None
        self.vertices, self.labels = vertices, labels
        self.symmetric, self.base, self.name, self.notes = like.symmetric, like.base, like.name, like.notes

    @property
    def _out(self) -> CSR:  # type: ignore[override]
        if self._rows is None:
            self._rows = self._fold()
        return self._rows

    @property
    def edges(self) -> int:  # type: ignore[override]
        """See Graph.edges."""
        return len(self._out.targets)

    def __reduce__(self) -> tuple[Any, ...]:
        return _plain, (self._out, self.symmetric, self.labels, self.base, self.name, self.notes)


def _array(values: Any) -> np.ndarray[Any, Any]:
    """One value or several as an array. Of rows of different lengths an array of two dimensions, as of other rows."""
    try:
        return np.atleast_1d(np.asarray(values))
    except ValueError:
        return np.empty((0, 0))


def _plain(out: CSR, symmetric: bool, labels: Any, base: int, name: str, notes: tuple[str, ...]) -> Graph:
    return Graph(out=out, symmetric=symmetric, labels=labels, base=base, name=name, notes=notes)


class Run:
    """An application on a graph that changes; ``gossamer.start`` makes one.

    ``go`` runs it to its end. The graph may change between two calls; the next ``go`` continues from the vertices'
    states. Vertices are named by their labels. A method that raises InputError has changed nothing.
    """

    def __init__(
        self, app: App, graph: Graph, engine: engines.Engine, numbers: Numbers, threads: int, seed: int
    ) -> None:
        self.app = app
        self._base = graph
        self._first = graph
        self._steps: list[_Step] = []
        self._vertices = graph.vertices
        self._labels = graph.labels
        self._new: dict[str, int] = {}
        self._gone = np.zeros(graph.vertices, np.bool_)
        self._lock = threading.Lock()
        self._engine_run = engine.start(app, graph, numbers, threads=threads, seed=seed)

    def __repr__(self) -> str:
        return f"<Run of {self.app.name} on {self._vertices} vertices>"

    def go(self) -> Result:
        """Runs to the end: the first call from the initial states, later calls from the current states.

        The run begins with these handlers: ``resume`` on every old vertex, ``changed`` on vertices whose edges have
        changed or that were woken, ``init`` on new and reset vertices. Raises the errors of ``gossamer.run``.
        """
        with self._exclusive("go"):
            return self._engine_run.resume(self._graph())

    @accepts(sources=SOME_LABELS, targets=SOME_LABELS, weights=or_none(NUMBERS))
    def add_edges(self, sources: Any, targets: Any, weights: Any = None) -> None:
        """Adds edges; parallel edges are kept. ``weights`` are required if the graph has weights.

        In a symmetric graph each edge is added in both directions.
        """
        with self._exclusive("add_edges"):
            ends = self._pairs("add_edges", sources, targets)
            self._change("add_edges", Change.ADD_EDGES, ends, self._weights(weights, len(ends[0])))

    @accepts(sources=SOME_LABELS, targets=SOME_LABELS)
    def remove_edges(self, sources: Any, targets: Any) -> None:
        """Removes all edges from each source to its target, at least one; in a symmetric graph in both directions."""
        with self._exclusive("remove_edges"):
            ends = self._pairs("remove_edges", sources, targets)
            self._change("remove_edges", Change.REMOVE_EDGES, ends)

    @accepts(new=_NEW)
    def add_vertices(self, new: int | Sequence[str] | Sequence[int]) -> list[str | int]:
        """Appends vertices without edges. Returns their labels.

        ``new`` is their number, or their labels if the graph has labels.
        """
        with self._exclusive("add_vertices"):
            labels, count = self._new_labels(new)
            if self._vertices + count > _MOST_VERTICES:
                raise InputError(f"add_vertices: a graph has at most {_MOST_VERTICES} vertices")
            before = self._vertices
            self._change("add_vertices", Change.ADD_VERTICES, (), count=count)
            self._vertices += count
            self._gone = np.append(self._gone, np.zeros(count, np.bool_))
            if labels is None:
                return [before + i + self._base.base for i in range(count)]
            if isinstance(self._labels, np.ndarray):
                self._labels = np.append(self._labels, np.array(labels, np.int64))
            else:
                assert self._labels is not None
                self._labels = [*self._labels, *(str(label) for label in labels)]
                self._new |= {str(label): before + i for i, label in enumerate(labels)}
            return labels

    @accepts(vertices=SOME_LABELS)
    def remove_vertices(self, vertices: Any) -> None:
        """Removes vertices and all their edges. Their handlers are not called any more.

        Result arrays keep an element for them, with the application's initial state (``there`` is false).
        """
        with self._exclusive("remove_vertices"):
            gone = self._indices("remove_vertices", vertices)
            self._change("remove_vertices", Change.REMOVE_VERTICES, (gone,))
            self._gone[gone] = True

    @accepts(vertices=SOME_LABELS)
    def wake(self, vertices: Any) -> None:
        """Makes the next ``go`` call the handler ``changed`` of vertices, as if their edges had changed."""
        with self._exclusive("wake"):
            self._change("wake", Change.WAKE, (self._indices("wake", vertices),))

    @accepts(vertices=SOME_LABELS)
    def reset(self, vertices: Any) -> None:
        """Resets vertices to their initial states, and wakes vertices with an edge to them: for outdated answers."""
        with self._exclusive("reset"):
            self._change("reset", Change.RESET, (self._indices("reset", vertices),))

    def restart(self) -> None:
        """Resets all vertices: the next ``go`` is a complete run on the current graph."""
        with self._exclusive("restart"):
            self._change("restart", Change.RESTART, ())

    @property
    def graph(self) -> Graph:
        """The current graph; removed vertices have no edges."""
        with self._exclusive("graph"):
            return self._graph()

    @property
    def there(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each vertex, in index order: false if it was removed."""
        return ~self._gone

    # Internals ----------------------------------------------------------------

    @contextmanager
    def _exclusive(self, what: str) -> Iterator[None]:
        """Excludes concurrent calls. Raises InputError during a call of go()."""
        if not self._lock.acquire(blocking=False):
            raise InputError(f"{what}: the run is in progress; wait until go() has returned")
        try:
            yield
        finally:
            self._lock.release()

    def _change(
        self,
        what: str,
        kind: Change,
        ends: tuple[Indices, ...],
        weights: Weights | None = None,
        count: int | None = None,
    ) -> None:
        number = count if count is not None else len(ends[0]) if ends else 0
        try:
            self._engine_run.change(kind, number, ends, weights)
        except InputError as error:
            text = labelled(str(error), self._label)
            raise InputError(text if text.startswith(f"{self.app.name}:") else f"{what}: {text}") from None
        if kind in {Change.WAKE, Change.RESET, Change.RESTART}:
            return
        self._steps.append(_Step(kind, number, ends, weights))

    def _label(self, index: int) -> str | int:
        if self._labels is None:
            return index + self._base.base
        label = self._labels[index]
        return label if isinstance(label, str) else int(label)

    def _indices(self, what: str, labels: Any, argument: str = "vertices") -> Indices:
        """The indices of vertices, given as a label, or a list or array of labels."""
        refuse_masked(f"{what}: {argument}", labels)
        given = _array(labels)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iuUO"):
            raise InputError(f"{what}: {argument}: vertices are named by integers or by text, one or a list of them")
        if not given.size:
            return np.empty(0, np.uint32)
        if self._labels is None and given.dtype.kind in "iu":
            wrong = (given < self._base.base) | (given >= self._vertices + self._base.base)
            if wrong.any():
                last = self._vertices + self._base.base - 1
                missing = given[int(np.flatnonzero(wrong)[0])]
                raise InputError(
                    f"{what}: there is no vertex {missing}; vertices are the numbers {self._base.base} .. {last}"
                )
            return np.ascontiguousarray(given - self._base.base, np.uint32)
        return np.array([self._index(what, label) for label in given.tolist()], np.uint32)

    def _index(self, what: str, label: str | int) -> int:
        if str(label) in self._new:
            return self._new[str(label)]
        if isinstance(self._labels, np.ndarray):
            try:
                at = int(np.searchsorted(self._labels, int(label)))
            except (TypeError, ValueError, OverflowError):
                raise InputError(f"{what}: there is no vertex {label!r}; vertices are numbers") from None
            if at == self._vertices or int(self._labels[at]) != int(label):
                raise InputError(f"{what}: there is no vertex {label}")
            return at
        try:
            # The graph looks up its initial text labels; a number as text may name any vertex.
            if self._labels is not None:
                return self._first.index_of(label)
            return int(self._indices(what, np.int64(int(label)))[0])
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{what}: there is no vertex {label!r}; vertices are numbers") from None
        except InputError as error:
            raise InputError(str(error) if str(error).startswith(f"{what}:") else f"{what}: {error}") from None

    def _pairs(self, what: str, sources: Any, targets: Any) -> tuple[Indices, Indices]:
        ends = self._indices(what, sources, "sources"), self._indices(what, targets, "targets")
        if len(ends[0]) != len(ends[1]):
            raise InputError(
                f"{what}: numbers of sources and targets differ ({len(ends[0])} and {len(ends[1])}); give one of each "
                "per edge"
            )
        return ends

    def _weights(self, weights: Any, count: int) -> Weights | None:
        """Weights in the graph's type. Raises InputError for weights that the type cannot represent."""
        dtype = self._first.weight_type
        if dtype is None and weights is None:
            return None
        if dtype is None:
            raise InputError("add_edges: the graph has no weights, so new edges cannot have weights")
        if weights is None:
            raise InputError("add_edges: the graph has weights; give one for each edge")
        refuse_masked("add_edges: weights", weights)
        given = _array(weights)
        if given.ndim != 1 or len(given) != count or given.dtype.kind not in "iuf":
            raise InputError("add_edges: weights must be numbers, one for each edge")
        with np.errstate(over="ignore"):
            exact = given if dtype.kind != "f" else np.ascontiguousarray(given, dtype)
        if exact.dtype.kind == "f" and not np.isfinite(exact).all():
            raise InputError(f"add_edges: a weight is not a finite number of the graph's type, {dtype}")
        if dtype.kind == "f":
            return exact
        limits = np.iinfo(dtype)
        for weight in given.tolist():
            if weight != int(weight) or not limits.min <= weight <= limits.max:
                raise InputError(
                    f"add_edges: the weight {weight} does not fit the type of the graph's weights, {dtype}"
                )
        return np.array([int(weight) for weight in given.tolist()], dtype)

    def _new_labels(self, new: Any) -> tuple[list[str | int] | None, int]:
        refuse_masked("add_vertices", new)
        if isinstance(new, (int, np.integer)) and not isinstance(new, bool):
            if self._labels is not None:
                raise InputError("add_vertices: the graph's vertices have labels; give one for each new vertex")
            if new < 0:
                raise InputError(f"add_vertices: {new} vertices cannot be added")
            return None, int(new)
        if self._labels is None or isinstance(new, (str, bytes)) or not isinstance(new, (Sequence, np.ndarray)):
            wanted = "the number of new vertices" if self._labels is None else "a list of their labels"
            raise InputError(f"add_vertices: new: give {wanted}")
        labels: list[str | int] = list(np.asarray(new).tolist()) if isinstance(new, np.ndarray) else list(new)
        if isinstance(self._labels, np.ndarray):
            greatest = int(self._labels[-1])
            for label in labels:
                if not isinstance(label, (int, np.integer)) or not greatest < label < 2**63:
                    raise InputError(f"add_vertices: the label {label!r} is not above the last one, {greatest}")
                greatest = int(label)
            return [int(label) for label in labels], len(labels)
        seen: set[str] = set()
        for label in labels:
            if not isinstance(label, str):
                raise InputError(f"add_vertices: the label {label!r} is not text, as the graph's labels are")
            if label in seen or label in self._new or self._first._find(label) is not None:
                raise InputError(f"add_vertices: the vertex {label!r} already exists")
            seen.add(label)
        return labels, len(labels)

    def _graph(self) -> Graph:
        """The current graph, built on first use."""
        if not self._steps:
            return self._base
        steps = tuple(self._steps)
        base, vertices, labels = self._base, self._vertices, self._labels
        graph = _ChangedGraph(base, vertices, lambda: _fold(base, vertices, steps), labels)
        # Changes that outgrow the graph are folded into it, so that the total cost of all changes stays linear.
        if sum(step.count for step in steps) > base.edges + base.vertices:
            self._base, self._steps = _plain(*graph.__reduce__()[1]), []
            return self._base
        return graph


def _fold(base: Graph, vertices: int, steps: Sequence[_Step]) -> CSR:
    """The rows of a graph after changes."""
    out = base.out
    sources = np.repeat(np.arange(base.vertices, dtype=np.int64), out.degrees().astype(np.int64))
    targets = out.targets.astype(np.int64)
    weights = out.weights
    for step in steps:
        if step.kind == Change.ADD_EDGES:
            start, end = (one.astype(np.int64) for one in step.ends)
            costs = step.weights
            if base.symmetric:
                other = start != end
                start, end = np.append(start, end[other]), np.append(end, step.ends[0].astype(np.int64)[other])
                costs = None if costs is None else np.append(costs, costs[other])
            sources, targets = np.append(sources, start), np.append(targets, end)
            weights = None if weights is None else np.append(weights, costs)  # type: ignore[arg-type]
            continue
        if step.kind == Change.REMOVE_EDGES:
            start, end = (one.astype(np.int64) for one in step.ends)
            keys = start * vertices + end
            if base.symmetric:
                keys = np.append(keys, end * vertices + start)
            kept = ~np.isin(sources * vertices + targets, keys)
        elif step.kind == Change.REMOVE_VERTICES:
            kept = ~(np.isin(sources, step.ends[0]) | np.isin(targets, step.ends[0]))
        else:
            continue
        sources, targets = sources[kept], targets[kept]
        weights = None if weights is None else weights[kept]
    return from_edges(vertices, sources, targets, weights)


@accepts_a_run
def start(
    app: str | os.PathLike[str] | App,
    graph: Graph,
    *,
    engine: str | engines.Engine = "cpu",
    threads: int | None = None,
    seed: int = 0,
    **parameters: Values,
) -> Run:
    """A run that can resume after its graph has changed; arguments as of ``gossamer.run``.

    The vertices need a handler ``changed`` or ``resume``. ``graph`` itself is not modified: the run has its own edges.
    """
    compiled = checked(app, graph, threads)
    if not compiled.goes_on:
        raise InputError(
            f"{compiled.name}: its vertices have no handler changed() or resume(), so its runs cannot resume after "
            "the graph has changed; use gossamer.run on each graph"
        )
    numbers = check(compiled, graph, parameters)
    chosen = engines.get(engine) if isinstance(engine, str) else engine
    native.check_mapped()
    return Run(compiled, graph, chosen, numbers, threads or 0, seed)


__all__ = ["Run", "start"]
