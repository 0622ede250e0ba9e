# SPDX-License-Identifier: Apache-2.0
"""Reads GML: nested lists of keys and values.

A vertex is named by its label if all vertices have different labels, else by its id. ``directed 1`` makes the graph
directed. The attribute ``weight`` of an edge, or else ``value``, is its weight.
"""

from __future__ import annotations

import html
import re
from typing import Any

from gossamer.graph._graph import Graph
from gossamer.graph._interchange import Elements, decoded, fail, is_whole, number, shown, weights_must_be

_TOKEN = re.compile(r'\s+|#[^\n]*|"([^"]*)"|([\[\]])|([A-Za-z_][^\s\[\]"]*)|([^\s\[\]"]+)|(")')
_STRING, _BRACKET, _KEY, _OTHER, _OPEN_QUOTE = range(1, 6)
_IDS = ("id", "source", "target", "label", "weight", "directed")
_SPECIAL = ("NAN", "INF", "+INF", "-INF")


def read(data: bytes, name: str) -> Graph:
    """The graph of a GML file. Raises InputError("file:line: what; what to do")."""
    text = decoded(data, name)
    reader = _Reader(name)
    line = 1
    for token in _TOKEN.finditer(text):
        if token.lastindex is not None:
            reader.take(token.lastindex, token[token.lastindex], line)
        line += text.count("\n", token.start(), token.end())
    return reader.finish(line)


class _List:
    """A list whose ``]`` has not been read."""

    def __init__(self, kind: str, line: int) -> None:
        self.kind = kind
        self.line = line
        self.values: dict[str, Any] = {}


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.lists = [_List("file", 1)]
        self.key: str | None = None
        self.graph: _List | None = None
        self.nodes: list[_List] = []
        self.edges: list[_List] = []

    def take(self, kind: int, text: str, line: int) -> None:
        """One token."""
        if kind == _OPEN_QUOTE:
            fail(self.name, line, "a quotation mark that is not closed; the file is truncated or damaged")
        if self.key is None:
            if kind == _KEY:
                self.key = text.lower()
            elif text == "]" and len(self.lists) > 1:
                self._close()
            else:
                fail(self.name, line, f"{shown(text)} instead of a key; GML is a sequence of keys and values")
            return
        key, self.key = self.key, None
        if kind == _BRACKET and text == "[":
            self._open(key, line)
            return
        value: Any = html.unescape(text) if kind == _STRING else number(text)
        if kind == _KEY and text.upper() in _SPECIAL:
            value = float(text)
        if value is None and text.upper() in _SPECIAL:
            value = float(text)
        if value is None and is_whole(text):
            fail(self.name, line, f"{key} {shown(text)} is not {weights_must_be(text)}")
        if value is None or kind == _BRACKET:
            fail(
                self.name, line, f"{shown(text)} instead of the value of '{key}': a number, a text in quotes or a list"
            )
        values = self.lists[-1].values
        if key in values and key in _IDS:
            fail(self.name, line, f"a second '{key}' in the list of line {self.lists[-1].line}; remove one")
        values[key] = value

    def _open(self, key: str, line: int) -> None:
        outer = self.lists[-1].kind
        kind = key if (outer, key) in (("file", "graph"), ("graph", "node"), ("graph", "edge")) else "other"
        opened = _List(kind, line)
        if kind == "graph":
            if self.graph is not None:
                fail(self.name, line, f"a second graph; the first is in line {self.graph.line}; split the file")
            self.graph = opened
        self.lists.append(opened)

    def _close(self) -> None:
        closed = self.lists.pop()
        if closed.kind == "node":
            self.nodes.append(closed)
        elif closed.kind == "edge":
            self.edges.append(closed)

    def _id(self, place: _List, key: str) -> int:
        found = place.values.get(key)
        if type(found) is not int:
            what = f"has no '{key}'" if found is None else f"has the {key} {shown(found)}"
            fail(self.name, place.line, f"{place.kind} {what}; it must be an integer")
        return found

    def finish(self, line: int) -> Graph:
        """The graph, after the last token."""
        if len(self.lists) > 1 or self.key is not None:
            opened = f"the list of line {self.lists[-1].line}" if len(self.lists) > 1 else f"'{self.key}'"
            fail(self.name, line, f"the file ends within {opened}; it is truncated")
        if self.graph is None:
            fail(self.name, 1, "no 'graph [' in the file; it is not GML, or it is truncated")
        directed = self.graph.values.get("directed", 0)
        if directed not in (0, 1):
            fail(self.name, self.graph.line, f"directed is {shown(directed)}; it must be 0 or 1")
        result = Elements(self.name, directed=directed == 1)
        index: dict[int, int] = {}
        for node in self.nodes:
            number_of = self._id(node, "id")
            if number_of in index:
                fail(self.name, node.line, f"a second node with the id {number_of}; ids must be different")
            index[number_of] = len(index)
        labels = [node.values.get("label") for node in self.nodes]
        result.name_vertices(
            [None if label is None else str(label) for label in labels], [str(number_of) for number_of in index]
        )
        for edge in self.edges:
            ends = []
            for key in ("source", "target"):
                end = self._id(edge, key)
                if end not in index:
                    fail(self.name, edge.line, f"an edge with the {key} {end}, which no node has as its id")
                ends.append(index[end])
            result.add_edge(ends[0], ends[1], edge.line, edge.values.get("weight"), edge.values.get("value"))
        return result.graph()


__all__ = ["read"]
