# SPDX-License-Identifier: Apache-2.0
"""Reads GraphML, with Expat from the standard library.

A vertex is named by its id. The data of an edge whose key is named ``weight``, or else ``value``, is its weight. Edges
may differ from ``edgedefault``: if any is directed, the graph is directed, and its undirected edges have both
directions.
"""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

from gossamer.graph._graph import Graph
from gossamer.graph._interchange import Elements, fail, number, shown


def read(data: bytes, name: str) -> Graph:
    """The graph of a GraphML file. Raises InputError("file:line: what; what to do")."""
    reader = _Reader(name)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.errors.messages.get(error.code, "an error")
        fail(name, error.lineno, f"{what} in XML; the file is truncated or damaged")
    except (LookupError, ValueError) as error:
        fail(
            name, 1, f"text that cannot be decoded ({' '.join(str(error).split())}); convert the file (iconv) to UTF-8"
        )
    return reader.finish()


class _Reader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self.open: list[str] = []
        self.text: list[str] | None = None
        self.weight_keys: dict[str, str] = {}
        """The name, weight or value, of a key."""
        self.defaults: dict[str, str] = {}
        self.key = ""
        self.graphs = 0
        self.undirected = True
        self.index: dict[str, int] = {}
        self.edges: list[tuple[str, str, int, bool]] = []
        """Source, target, line, directed."""
        self.data: list[dict[str, str]] = []

    def _fail(self, what: str) -> Any:
        fail(self.name, self.parser.CurrentLineNumber, what)

    def _entity(self, *_: object) -> None:
        self._fail("a declaration of an XML entity; GraphML needs none, remove it")

    def _attribute(self, element: str, given: dict[str, str], key: str) -> str:
        if key not in given:
            self._fail(f'<{element}> without {key}="..."; add it')
        return given[key]

    def _start(self, tag: str, given: dict[str, str]) -> None:
        element = tag.rsplit(" ", 1)[-1]
        outer = self.open[-1] if self.open else ""
        if not self.open and element != "graphml":
            self._fail(f"XML with the root <{element}>; GraphML has <graphml>")
        self.open.append(element)
        if element == "key" and outer == "graphml":
            self.key = self._attribute(element, given, "id")
            named = given.get("attr.name", "").lower()
            if given.get("for", "all") in ("edge", "all") and named in ("weight", "value"):
                self.weight_keys[self.key] = named
        elif element == "graph":
            if "graph" in self.open[:-1]:
                self._fail("a graph within a vertex or an edge; write nested graphs as separate files")
            self.graphs += 1
            if self.graphs > 1:
                self._fail("a second <graph>; split the file")
            default = self._attribute(element, given, "edgedefault")
            if default not in ("directed", "undirected"):
                self._fail(f"edgedefault is {shown(default)}; it must be 'directed' or 'undirected'")
            self.undirected = default == "undirected"
        elif element == "node" and outer == "graph":
            name = self._attribute(element, given, "id")
            if name in self.index:
                self._fail(f"a second node with the id {shown(name)}; ids must be different")
            self.index[name] = len(self.index)
        elif element == "edge" and outer == "graph":
            ends = (self._attribute(element, given, "source"), self._attribute(element, given, "target"))
            directed = given.get("directed", "false" if self.undirected else "true")
            if directed not in ("true", "false"):
                self._fail(f"directed is {shown(directed)}; it must be 'true' or 'false'")
            self.edges.append((*ends, self.parser.CurrentLineNumber, directed == "true"))
            self.data.append({})
        elif element == "hyperedge":
            self._fail("a hyperedge; an edge connects two vertices, so write it as edges")
        elif element == "data" and outer == "edge":
            self.key = self._attribute(element, given, "key")
            self.text = []
        elif element == "default" and outer == "key":
            self.text = []

    def _text(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def _end(self, _tag: str) -> None:
        element = self.open.pop()
        if self.text is None or element not in ("data", "default"):
            return
        text = "".join(self.text).strip()
        self.text = None
        if element == "default":
            self.defaults[self.key] = text
        elif self.key in self.weight_keys:
            self.data[-1][self.weight_keys[self.key]] = text

    def finish(self) -> Graph:
        """The graph, after the last element."""
        if not self.graphs:
            fail(self.name, 1, "no <graph> in the file; there is no graph in it")
        result = Elements(self.name, directed=any(directed for *_, directed in self.edges))
        if not self.edges:
            result.directed = not self.undirected
        result.names = list(self.index)
        defaults = {self.weight_keys[key]: text for key, text in self.defaults.items() if key in self.weight_keys}
        for (source, target, line, directed), data in zip(self.edges, self.data, strict=True):
            for end in (source, target):
                if end not in self.index:
                    fail(self.name, line, f"an edge of {shown(end)}, which is not the id of a node")
            found = {**defaults, **data}
            costs = [found.get(key) for key in ("weight", "value")]
            # Text that is no number stays text, which graph() reports.
            numbers = [text if text is None or number(text) is None else number(text) for text in costs]
            result.add_edge(self.index[source], self.index[target], line, *numbers)
            if result.directed:
                result.both.append(not directed)
        return result.graph()


__all__ = ["read"]
