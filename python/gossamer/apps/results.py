# SPDX-License-Identifier: Apache-2.0
"""What a run of an application gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer.apps import App, Column
from gossamer.errors import InputError
from gossamer.graph import Graph

_BEFORE = frozenset({"parent", "previous"})
"""Columns that name the vertex before, on a way."""

Values = np.ndarray[tuple[int], np.dtype[np.generic]]


@dataclass(frozen=True)
class Result:
    """What a run gives back; arrays are in index order."""

    app: App
    graph: Graph
    columns: dict[str, Values]
    """One array for each of the application's columns."""
    totals: dict[str, int | float]
    """What the aggregates of the last step have come to, as the application names them; vertices as indices."""
    stats: dict[str, Any]
    """Sends, deliveries, steps and the like; the same for every engine."""
    seconds: float
    """From the graph in memory to the values."""

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {values.dtype}" for name, values in self.columns.items())
        totals = "".join(f", {name} {value}" for name, value in self.totals.items())
        return f"<Result of {self.app.name} on {self.graph!r}: {columns}{totals}; {self.seconds:.3g} s>"

    @property
    def values(self) -> Values:
        """The first column."""
        return next(iter(self.columns.values()))

    def named(self, column: str) -> Any:
        """A column as a person reads it: vertices by their labels, all else as it is.

        Labels are an array of int64 or of text; where there is no vertex, a number below all
        labels (-1, if none is negative) or the empty text.
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
            raise InputError(f"{where} is {values[at]}, which is no index of a vertex; correct the application")
        return self.graph.labels_at(values, there)

    def at(self, vertex: str | int, column: str | None = None) -> Any:
        """What a column (the first, if none is named) holds for the vertex of that label.

        Of a column of vertices the label, or None where there is no vertex. Raises InputError where the graph has no
        such vertex or the application no such column.
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

    def path(self, to: str | int) -> list[str | int]:
        """The labels of the vertices on the way to one, its start first.

        For applications that tell the vertex before each (``bfs``, ``sssp-paths``: a column ``parent`` or
        ``previous``). Raises InputError where no way leads there.
        """
        before = next((c for c in self.app.columns if c.vertex and c.name in _BEFORE), None)
        if before is None:
            raise InputError(f"{self.app.name} tells no paths; bfs and sssp-paths do")
        at = self.graph.index_of(to)
        if not self.app.columns[0].present(self.values)[at]:
            raise InputError(f"{self.app.name}: no way leads to vertex {self.graph.label_of(at)}")
        there = before.present(self.columns[before.name])
        way = [at]
        while there[way[-1]]:
            if len(way) > self.graph.vertices:
                raise InputError(f"{self.app.name}: {before.name} goes round in a circle; correct the application")
            way.append(int(self.columns[before.name][way[-1]]))
        return [self.graph.label_of(v) for v in reversed(way)]

    @property
    def labels(self) -> Any:
        """The vertices' own labels, beside the values; None: index + ``graph.base``."""
        return self.graph.labels


__all__ = ["Result"]
