# SPDX-License-Identifier: Apache-2.0
"""Reads a network of Pajek: ``*Vertices``, ``*Arcs``, ``*Edges``, ``*Arcslist``, ``*Edgeslist`` and ``*Matrix``.

A vertex is named by its label if all vertices have different labels, else by its number. A network with arcs is
directed, and its edges have both directions. The third column of an arc or edge, if it is a number, is its weight.
"""

from __future__ import annotations

import re

from gossamer.graph._graph import MOST_VERTICES, Graph
from gossamer.graph._interchange import Elements, Weight, decoded, fail, number, shown, weights_must_be

_FIELD = re.compile(r'"([^"]*)"|([^\s"]\S*)|(")')
_EDGES = {"*arcs": True, "*arcslist": True, "*edges": False, "*edgeslist": False, "*matrix": True}
"""Whether the lines of a section are directed."""


def read(data: bytes, name: str) -> Graph:
    """The graph of a Pajek file. Raises InputError("file:line: what; what to do")."""
    reader = _Reader(name)
    for line, text in enumerate(decoded(data, name).split("\n"), 1):
        stripped = text.strip()
        if stripped and not stripped.startswith("%"):
            reader.take(stripped, line)
    return reader.finish()


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.section = ""
        self.count = 0
        self.count_line = 0
        self.labels: list[str | None] = []
        self.numbered: set[int] = set()
        self.edges: list[tuple[int, int, Weight | None, int, bool]] = []
        """Source, target, weight, line, directed."""
        self.edge_sections = 0
        self.relations: set[str] = set()
        self.row = 0

    def take(self, text: str, line: int) -> None:
        """One line that is neither empty nor a comment."""
        fields: list[str] = []
        for found in _FIELD.finditer(text):
            if found[3] is not None:
                fail(self.name, line, "a quotation mark that is not closed on its line; close it, or remove it")
            fields.append(found[1] if found[1] is not None else found[2])
        if text.startswith("*"):
            self._begin(fields, line)
        elif self.section == "*vertices":
            self._vertex(fields, line)
        elif self.section in ("*arcs", "*edges"):
            self._edge(fields, line)
        elif self.section in ("*arcslist", "*edgeslist"):
            ends = [self._end(field, line) for field in fields]
            for target in ends[1:]:
                self.edges.append((ends[0], target, None, line, _EDGES[self.section]))
        elif self.section == "*matrix":
            self._matrix_row(fields, line)
        else:
            fail(self.name, line, f"{shown(fields[0])} before the line *Vertices N; a Pajek network begins with it")

    def _begin(self, fields: list[str], line: int) -> None:
        section = fields[0].lower()
        if section == "*network" and not self.section:
            return
        if section == "*vertices" and not self.count_line:
            found = number(fields[1]) if len(fields) > 1 else None
            if type(found) is not int or not 1 <= found <= MOST_VERTICES:
                fail(self.name, line, "*Vertices needs the number of vertices, at least 1")
            self.count, self.count_line = found, line
            self.section = section
            return
        if section in ("*network", "*vertices"):
            fail(self.name, line, "a second network, or a partition or vector; keep one network in the file")
        if section not in _EDGES:
            known = "*Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist, *Matrix"
            fail(self.name, line, f"the section {shown(fields[0])} is not read; the sections of a graph are {known}")
        if not self.count_line:
            fail(self.name, line, f"{shown(fields[0])} before the line *Vertices N; a Pajek network begins with it")
        self.section = section
        self.edge_sections += 1
        if len(fields) > 1 and fields[1].startswith(":"):
            self.relations.add(fields[1])

    def _end(self, text: str, line: int) -> int:
        found = number(text)
        if type(found) is not int or not 1 <= found <= self.count:
            stated = f"1 .. {self.count} that line {self.count_line} states"
            fail(self.name, line, f"vertex {shown(text)} is outside the range {stated}")
        return found - 1

    def _vertex(self, fields: list[str], line: int) -> None:
        vertex = self._end(fields[0], line)
        if vertex in self.numbered:
            fail(self.name, line, f"a second line of vertex {vertex + 1}; remove one")
        self.numbered.add(vertex)
        self._no_times(fields[2:], line)
        if not self.labels:
            self.labels = [None] * self.count
        self.labels[vertex] = fields[1] if len(fields) > 1 else None

    def _no_times(self, fields: list[str], line: int) -> None:
        if any(field.startswith("[") for field in fields):
            fail(self.name, line, "a time interval; networks that change with time are not read: extract one time")

    def _edge(self, fields: list[str], line: int) -> None:
        if len(fields) < 2:
            fail(self.name, line, "1 column, but an edge needs two: source target [weight]")
        self._no_times(fields[2:], line)
        weight: Weight | None = None
        if len(fields) > 2:
            weight = number(fields[2])
            if weight is None and (len(fields) == 3 or fields[2][0] in "0123456789+-."):
                fail(self.name, line, f"weight {shown(fields[2])} is not {weights_must_be(fields[2])}")
        ends = (self._end(fields[0], line), self._end(fields[1], line))
        self.edges.append((*ends, weight, line, _EDGES[self.section]))

    def _matrix_row(self, fields: list[str], line: int) -> None:
        if len(fields) != self.count or self.row >= self.count:
            what = f"{len(fields)} numbers" if self.row < self.count else "a row too many"
            fail(self.name, line, f"{what} in the matrix, which has {self.count} rows of {self.count} numbers")
        for column, text in enumerate(fields):
            value = number(text)
            if value is None:
                fail(self.name, line, f"{shown(text)} in the matrix is not {weights_must_be(text)}")
            if value != 0:
                self.edges.append((self.row, column, value, line, True))
        self.row += 1

    def finish(self) -> Graph:
        """The graph, after the last line."""
        if not self.count_line:
            fail(self.name, 1, "the file ends before the line *Vertices N; it is truncated")
        if not self.edge_sections:
            fail(self.name, self.count_line, "no section *Arcs or *Edges follows; the file is truncated, or no network")
        if self.section == "*matrix" and self.row < self.count:
            fail(self.name, self.count_line, f"the matrix has {self.row} rows instead of {self.count}; it is truncated")
        if self.numbered and len(self.numbered) < self.count and not any(self.labels):
            self.labels = []
        result = Elements(self.name, directed=any(directed for *_, directed in self.edges))
        ids = [str(vertex + 1) for vertex in range(self.count)]
        result.name_vertices(self.labels, ids)
        if len(self.relations) > 1:
            result.notes.append(f"{self.name}: the edges of all {len(self.relations)} relations are in one graph")
        for source, target, weight, line, directed in self.edges:
            result.add_edge(source, target, line, weight)
            if result.directed:
                result.both.append(not directed)
        return result.graph()


__all__ = ["read"]
