# SPDX-License-Identifier: Apache-2.0
"""Graphs from files of other programs (GML, GraphML, Pajek, node-link JSON): what their readers share.

A reader collects named vertices and edges; ``Elements.graph`` makes a Graph of them. Python reads these files, at some
megabytes a second; large graphs are better kept as .gsg, .mtx or edge lists.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from gossamer.errors import InputError
from gossamer.graph._graph import MOST_VERTICES, Graph, Labels
from gossamer.graph._rows import from_edges
from gossamer.wording import counted

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
Weight = int | float


def fail(name: str, line: int, what: str) -> NoReturn:
    """Raises the error of a line."""
    raise InputError(f"{name}:{line}: {what}")


def shown(value: object) -> str:
    """A value of the file for a message: at most 40 characters, printable, on one line."""
    text = ascii(value)
    return text if len(text) <= 42 else text[:40] + "..."


def decoded(data: bytes, name: str) -> str:
    """The text of a file. Raises InputError unless it is UTF-8 without NUL."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    at = data.find(b"\0")
    if at >= 0:
        fail(name, data.count(b"\n", 0, at) + 1, "a NUL byte; the file is damaged or not text")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        fail(name, data.count(b"\n", 0, error.start) + 1, "text that is not UTF-8; convert the file (iconv) first")


def number(text: str) -> Weight | None:
    """A finite number in decimal notation; None for other text."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        value: Weight = int(text)
    except ValueError:
        value = float(text)
    return checked(value)


def checked(value: object) -> Weight | None:
    """A weight that the library can hold; None for another value."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    return None


def is_whole(text: str) -> bool:
    """Whether a text is an integer in decimal notation, of any size."""
    return re.fullmatch(r"[+-]?\d+", text, re.ASCII) is not None


def weights_must_be(value: object) -> str:
    """What a value that `checked` or `number` refuses must be, for a message, as the readers in C++ say it."""
    if type(value) is int or (isinstance(value, str) and is_whole(value)):
        return "a 64-bit integer; write it as a decimal number, with .0 at its end"
    return "a finite number"


def narrowed(values: Any) -> Any:
    """Integers in 32 bits if all fit, as for edge lists."""
    array = np.asarray(values)
    if array.dtype.kind in "iu" and (not array.size or (array.min() >= -(2**31) and array.max() < 2**31)):
        return array.astype(np.int32)
    return array


@dataclass
class Elements:
    """The vertices and edges of a file."""

    file: str
    directed: bool = False
    names: list[str] = field(default_factory=list)
    """Of the vertices, in the order of the file, all different."""
    sources: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Of the edges."""
    weights: list[Any] = field(default_factory=list)
    """The attribute ``weight`` of each edge, None if it has none; other types than numbers are an error."""
    values: list[Any] = field(default_factory=list)
    """The attribute ``value``, the weight in files of some programs."""
    both: list[bool] = field(default_factory=list)
    """Whether an edge of a directed graph is undirected; empty if none is."""
    notes: list[str] = field(default_factory=list)

    def add_edge(self, source: int, target: int, line: int, weight: Any = None, value: Any = None) -> None:
        """Adds an edge between two indices."""
        self.sources.append(source)
        self.targets.append(target)
        self.lines.append(line)
        self.weights.append(weight)
        self.values.append(value)

    def name_vertices(self, labels: list[str | None], ids: list[str]) -> None:
        """Names the vertices by their labels if all have different ones, else by their ids, which are different."""
        given = [label for label in labels if label]
        if len(given) == len(ids) and len(set(given)) == len(ids):
            self.names = given
            return
        self.names = ids
        if given:
            self.notes.append(f"{self.file}: labels are missing or not unique; vertices are named by their ids")

    def _costs(self) -> list[Weight] | None:
        found = self.weights
        if all(weight is None for weight in found):
            if not self.values or any(checked(value) is None for value in self.values):
                return None
            found = self.values
            self.notes.append(f"{self.file}: the edges have no 'weight'; their 'value' is used as weight")
        result: list[Weight] = []
        missing = 0
        for weight, line in zip(found, self.lines, strict=True):
            if weight is None:
                missing += 1
                result.append(1)
                continue
            cost = checked(weight)
            if cost is None:
                fail(self.file, line, f"weight {shown(weight)} is not {weights_must_be(weight)}")
            result.append(cost)
        if missing:
            self.notes.append(f"{self.file}: {counted(missing, 'edge')} without a weight; the weight 1 is used")
        return result

    def graph(self) -> Graph:
        """The graph. Raises InputError for a name or a weight that it cannot have."""
        count = len(self.names)
        if not count:
            raise InputError(f"{self.file}: the file has no vertices; there is no graph in it")
        if count > MOST_VERTICES:
            raise InputError(f"{self.file}: {count} vertices; the maximum is {MOST_VERTICES}")
        for name in self.names:
            if any(c < " " or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in name):
                raise InputError(f"{self.file}: a vertex is named {shown(name)}; a name is text without control codes")
        labels: Labels | None = self.names
        base = 0
        starts, ends = np.array(self.sources, np.int64), np.array(self.targets, np.int64)
        if all(_WHOLE.fullmatch(name) and -(2**63) <= int(name) < 2**63 for name in self.names):
            # Vertices with numbers are in the order of the numbers, as in edge lists.
            numbers = np.array([int(name) for name in self.names], np.int64)
            order = np.argsort(numbers)
            rank = np.empty(count, np.int64)
            rank[order] = np.arange(count)
            starts, ends, numbers = rank[starts], rank[ends], numbers[order]
            dense = numbers[0] in (0, 1) and numbers[-1] - numbers[0] == count - 1
            labels, base = (None, int(numbers[0])) if dense else (numbers, 0)
        found = self._costs()
        costs = None if found is None else narrowed(found)
        mirrored = starts != ends
        if self.directed:
            mirrored &= np.array(self.both, np.bool_) if self.both else np.zeros(len(starts), np.bool_)
        rows = from_edges(
            count,
            np.concatenate([starts, ends[mirrored]]),
            np.concatenate([ends, starts[mirrored]]),
            None if costs is None else np.concatenate([costs, costs[mirrored]]),
        )
        return Graph(
            out=rows, symmetric=not self.directed, labels=labels, base=base, name=self.file, notes=tuple(self.notes)
        )


__all__ = ["Elements", "Weight", "checked", "decoded", "fail", "narrowed", "number", "shown"]
