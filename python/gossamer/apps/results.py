# SPDX-License-Identifier: Apache-2.0
"""The result of a run of an application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import optional
from gossamer.apps import App, Column
from gossamer.arguments import LABEL, TEXT, accepts, or_none
from gossamer.errors import InputError
from gossamer.graph import Graph

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas

_PREDECESSORS = frozenset({"parent", "previous"})
"""Names of columns with the predecessor of each vertex on a path."""

Values = np.ndarray[tuple[int], np.dtype[np.generic]]


@dataclass(frozen=True)
class Result:
    """The result of a run; arrays are in index order."""

    app: App
    """The application that ran."""
    graph: Graph
    """The graph that it ran on."""
    columns: dict[str, Values]
    """One array for each of the application's columns."""
    totals: dict[str, int | float]
    """The aggregates of the last step, by the application's names; vertices as indices."""
    stats: dict[str, Any]
    """Sends, deliveries, steps and other statistics; the same names for every engine."""
    seconds: float
    """Time from the graph in memory to the values."""

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {values.dtype}" for name, values in self.columns.items())
        totals = "".join(f", {name} {value}" for name, value in self.totals.items())
        return f"<Result of {self.app.name} on {self.graph!r}: {columns}{totals}; {self.seconds:.3g} s>"

    @property
    def values(self) -> Values:
        """The first column."""
        return next(iter(self.columns.values()))

    @accepts(column=TEXT)
    def named(self, column: str) -> Any:
        """A column with vertices replaced by their labels; other columns are unchanged.

        Labels are an array of int64 or of text; "no vertex" is a number below all labels (-1 if none is negative) or
        the empty text.
        """
        about = self._about(column)
        values: np.ndarray[Any, Any] = self.columns[column]
        if not about.vertex:
            return values
        there = about.present(values)
        wrong = there & ~((values >= 0) & (values < self.graph.vertices))
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            where = f"{self.app.name}: {column} of vertex {self.graph.label_of(at)}"
            raise InputError(f"{where} is {values[at]}, which is not the index of a vertex; correct the application")
        return self.graph.labels_at(values, there)

    @accepts(vertex=LABEL, column=or_none(TEXT))
    def at(self, vertex: str | int, column: str | None = None) -> Any:
        """The value of a column (by default the first) for the vertex with that label.

        In a column of vertices the label, or None for no vertex. Raises InputError if the graph has no such vertex or
        the application no such column.
        """
        name = self.app.columns[0].name if column is None else column
        about = self._about(name)
        value = self.columns[name][self.graph.index_of(vertex)]
        if not about.vertex:
            return value.item()
        return self.graph.label_of(int(value)) if about.present(np.atleast_1d(value))[0] else None

    def _about(self, column: str) -> Column:
        about = next((c for c in self.app.columns if c.name == column), None)
        if about is None:
            raise InputError(f"{self.app.name} has no column {column!r}; it has: {', '.join(self.columns)}")
        return about

    @accepts(to=LABEL)
    def path(self, to: str | int) -> list[str | int]:
        """The labels of the vertices on the path to a vertex, the first vertex of the path first.

        For applications with a column of predecessors (``bfs``, ``sssp-paths``: ``parent`` or ``previous``). Raises
        InputError if no path leads to the vertex.
        """
        before = next((c for c in self.app.columns if c.vertex and c.name in _PREDECESSORS), None)
        if before is None:
            raise InputError(f"{self.app.name} has no paths; use bfs or sssp-paths")
        at = self.graph.index_of(to)
        if not self.app.columns[0].present(self.values)[at]:
            raise InputError(f"{self.app.name}: no path leads to vertex {self.graph.label_of(at)}")
        there = before.present(self.columns[before.name])
        path = [at]
        while there[path[-1]]:
            if len(path) > self.graph.vertices:
                raise InputError(f"{self.app.name}: {before.name} contains a cycle; correct the application")
            path.append(int(self.columns[before.name][path[-1]]))
        return [self.graph.label_of(v) for v in reversed(path)]

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame: a row for each vertex, its label as index, columns as of ``named``.

        Values that mean "no value" (an unreached vertex, no predecessor) are missing. Raises InputError if pandas is
        not installed.
        """
        frames = optional.load("pandas", "Result.to_pandas")
        columns: dict[str, Any] = {}
        for about in self.app.columns:
            values, there = self.named(about.name), about.present(self.columns[about.name])
            if there.all():
                columns[about.name] = values
            elif values.dtype.kind == "f":
                columns[about.name] = np.where(there, values, np.nan)
            else:
                # Integers and text that may be missing have types of their own in pandas.
                kind = "string" if values.dtype.kind in "US" else f"{'U' if values.dtype.kind == 'u' else ''}Int64"
                array = frames.array(np.where(there, values, values[there][:1] if there.any() else 0), dtype=kind)
                array[~there] = frames.NA
                columns[about.name] = array
        index = frames.Index(self.graph.labels_at(np.arange(self.graph.vertices)), name="vertex")
        return frames.DataFrame(columns, index=index)

    @accepts(column=or_none(TEXT))
    def plot(self, column: str | None = None, *, ax: Any = None) -> matplotlib.axes.Axes:
        """Draws how the values of a column (by default the first) are distributed, and returns matplotlib's Axes.

        A histogram; of a column that groups vertices (components, communities) the sizes of the groups, largest first.
        ``ax`` draws into an existing plot. Raises InputError if matplotlib is not installed or the application has no
        such column.
        """
        name = self.app.columns[0].name if column is None else column
        about = self._about(name)
        pyplot = optional.load("matplotlib.pyplot", "Result.plot")
        if ax is not None and not isinstance(ax, optional.load("matplotlib.axes", "Result.plot").Axes):
            raise InputError(f"Result.plot: ax: a {type(ax).__name__} is not supported; give matplotlib's Axes")
        axes: matplotlib.axes.Axes = pyplot.subplots()[1] if ax is None else ax
        values: np.ndarray[Any, Any] = self.columns[name]
        values = values[about.present(values)]
        if about.vertex or about.order == "groups":
            counts = np.sort(np.unique(values, return_counts=True)[1])[::-1]
            axes.loglog(np.arange(1, len(counts) + 1), counts, ".")
            axes.set_xlabel(f"{name}s, largest first")
        else:
            finite = values[np.isfinite(values.astype(np.float64))]
            distinct = np.unique(finite)
            if finite.dtype.kind in "iu" and len(distinct) > 0 and int(distinct[-1]) - int(distinct[0]) < 60:
                bins: Any = np.arange(int(distinct[0]), int(distinct[-1]) + 2) - 0.5
            else:
                bins = 60
            axes.hist(finite.astype(np.float64), bins=bins, log=True)
            axes.set_xlabel(name)
        axes.set_ylabel("vertices")
        missing = self.graph.vertices - len(values)
        axes.set_title(f"{self.app.name}" + (f" ({missing:,} vertices without {name})" if missing else ""))
        return axes

    @property
    def labels(self) -> Any:
        """The labels of the vertices, in index order; None: the label is index + ``graph.base``."""
        return self.graph.labels


__all__ = ["Result"]
