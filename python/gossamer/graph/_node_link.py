# SPDX-License-Identifier: Apache-2.0
"""Reads node-link JSON, as NetworkX's node_link_data and D3 write it: an object with ``nodes`` and ``links``.

The edges may also be named ``edges``. A vertex is named by its ``id``. Without ids, edges have the positions of
vertices in ``nodes``, and a vertex is named by its ``name`` if all have different ones. ``"directed": true`` makes the
graph directed. ``weight``, or else ``value``, is the weight of an edge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from gossamer.graph._graph import Graph
from gossamer.graph._interchange import Elements, checked, decoded, fail, shown

_BLANKS = re.compile(r"[ \t\r\n]*")
_WRITE = "write the graph as node-link JSON, for instance with networkx.node_link_data"
_OTHERS = {
    "adjacency": "NetworkX's adjacency JSON",
    "elements": "Cytoscape's JSON",
    "graph": "JSON Graph Format",
    "graphs": "JSON Graph Format",
    "children": "a tree in JSON",
    "cells": "a notebook",
    "type": "GeoJSON or another typed JSON",
    "@context": "JSON-LD",
    "error": "the error message of a server",
    "message": "the error message of a server",
}


def read(data: bytes, name: str) -> Graph:
    """The graph of a JSON file. Raises InputError("file:line: what; what to do")."""
    text = decoded(data, name)
    walker = _Walker(text)
    try:
        members = walker.members()
    except json.JSONDecodeError as error:
        fail(name, error.lineno, f"not JSON: {error.msg}; the file is truncated, damaged, or has another format")
    except RecursionError:
        fail(name, 1, f"JSON that is nested too deeply; {_WRITE}")
    except ValueError:
        fail(name, 1, "JSON with a number of too many digits; shorten it")
    return _Reader(text, name, members).graph()


class _Walker:
    """Decodes an object, with the position of each member, and of each element of nodes, links and edges."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.decoder = json.JSONDecoder()

    def members(self) -> dict[str, tuple[int, Any]]:
        """The members of the object, each with its position; lists as pairs of position and element."""
        members: dict[str, tuple[int, Any]] = {}
        if self._next() != "{":
            self._value()
            self._end()
            return members
        for _ in self._items("}"):
            key = self._value()
            if not isinstance(key, str) or self._next() != ":":
                raise json.JSONDecodeError("a key and a colon are expected", self.text, self.at)
            self.at += 1
            is_list = self._next() == "[" and key in ("nodes", "links", "edges")
            begin = self.at
            members[key] = (begin, [(at, self._value()) for at in self._items("]")] if is_list else self._value())
        self._end()
        return members

    def _next(self) -> str:
        """The next character that is not blank, at `at`; empty at the end."""
        blanks = _BLANKS.match(self.text, self.at)
        assert blanks is not None
        self.at = blanks.end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> Any:
        self._next()
        value, self.at = self.decoder.raw_decode(self.text, self.at)
        return value

    def _items(self, close: str) -> Iterator[int]:
        """The positions of the items of the object or list at `at`; the caller reads each item."""
        self.at += 1
        if self._next() == close:
            self.at += 1
            return
        while True:
            self._next()
            yield self.at
            found = self._next()
            if found not in (close, ","):
                raise json.JSONDecodeError(f"',' or '{close}' is expected", self.text, self.at)
            self.at += 1
            if found == close:
                return

    def _end(self) -> None:
        if self._next():
            raise json.JSONDecodeError("text after the end", self.text, self.at)


class _Reader:
    def __init__(self, text: str, name: str, members: dict[str, tuple[int, Any]]) -> None:
        self.text = text
        self.name = name
        self.members = members

    def _fail(self, at: int, what: str) -> NoReturn:
        fail(self.name, self.text.count("\n", 0, at) + 1, what)

    def graph(self) -> Graph:
        """The graph of the object."""
        nodes, edges = self._list("nodes"), None
        keys = [key for key in ("links", "edges") if key in self.members]
        if len(keys) == 1:
            edges = self._list(keys[0])
        if nodes is None or edges is None:
            other = next((title for key, title in _OTHERS.items() if key in self.members), "JSON of another kind")
            self._fail(0, f"{other}: it has no 'nodes' and 'links' of a graph; {_WRITE}")
        at, directed = self.members.get("directed", (0, False))
        if not isinstance(directed, bool):
            self._fail(at, f"directed is {shown(directed)}; it must be true or false")
        result = Elements(self.name, directed=directed)
        ids = self._ids(nodes)
        by_id: dict[Any, int] = {}
        if ids:
            for (place, _), value in zip(nodes, ids, strict=True):
                # 1 and "1" would be one name.
                if _text(value) in by_id:
                    self._fail(place, f"a second node with the id {shown(value)}; ids must be different")
                by_id[_text(value)] = len(by_id)
            result.names = list(by_id)
        else:
            names = [node.get("name") for _, node in nodes]
            texts = [name if isinstance(name, str) else None for name in names]
            result.name_vertices(texts, [str(i) for i in range(len(nodes))])
        for place, edge in edges:
            if not isinstance(edge, dict):
                self._fail(place, f"{shown(edge)} instead of an edge; it must be an object with 'source' and 'target'")
            ends = []
            for key in ("source", "target"):
                if key not in edge:
                    self._fail(place, f"an edge without '{key}'; {_WRITE}")
                end = edge[key]
                if isinstance(end, dict) and "id" in end:
                    end = end["id"]
                index = by_id.get(_text(end)) if ids else end
                if type(index) is not int or not 0 <= index < len(nodes):
                    what = "the id of a node" if ids else f"a position in 'nodes', 0 .. {len(nodes) - 1}"
                    self._fail(place, f"an edge with the {key} {shown(end)}, which is not {what}")
                ends.append(index)
            line = self.text.count("\n", 0, place) + 1 if _odd(edge.get("weight")) else 0
            result.add_edge(ends[0], ends[1], line, edge.get("weight"), edge.get("value"))
        if "directed" not in self.members:
            result.notes.append(f"{self.name}: the file does not say whether it is directed; it is read as undirected")
        return result.graph()

    def _list(self, key: str) -> list[tuple[int, Any]] | None:
        _, value = self.members.get(key, (0, None))
        return value if isinstance(value, list) else None

    def _ids(self, nodes: list[tuple[int, Any]]) -> list[Any]:
        """The ids of the nodes; none if no node has one."""
        for place, node in nodes:
            if not isinstance(node, dict):
                self._fail(place, f"{shown(node)} instead of a node; it must be an object with an 'id'")
        found = [node["id"] for _, node in nodes if "id" in node]
        if found and len(found) < len(nodes):
            place = next(place for place, node in nodes if "id" not in node)
            self._fail(place, "a node without an 'id', which other nodes have; add it")
        if not found and any("key" in node for _, node in nodes):
            self._fail(0, f"Graphology's JSON: its nodes have a 'key' instead of an 'id'; {_WRITE}")
        return found


def _odd(weight: Any) -> bool:
    return weight is not None and checked(weight) is None


def _text(value: Any) -> str:
    """A vertex's name: the text of an id, or its JSON."""
    return value if isinstance(value, str) else json.dumps(value)


__all__ = ["read"]
