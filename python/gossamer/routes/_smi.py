# SPDX-License-Identifier: Apache-2.0
"""Reads SMI's topology in JSON, with line numbers for error messages.

``{"fpgas": {"node:acl0": "program", ...}, "connections": {"node:acl0:ch2": "node:acl1:ch3", ...}}``: a rank is a
board's position among the sorted names. A cable may be given from both of its ends. Other keys are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from gossamer.config import Board, Cable, Cluster, load
from gossamer.config._source import near, shown
from gossamer.errors import InputError

CONFIG = "smi520n"
"""The board of the SMI paper, which its files assume."""


@dataclass(frozen=True)
class _Item:
    """A JSON value and its line; an object is a list of pairs, so that duplicate keys are detected."""

    value: str | float | bool | list[_Item] | list[tuple[str, int, _Item]] | None
    line: int


_TOKEN = re.compile(
    r'[ \t\r\n]*(?:(?P<punct>[{}\[\],:])|(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>true|false|null))"
)
_WORDS = {"true": True, "false": False, "null": None}


class _Json:
    """A JSON reader that tracks line numbers."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text, self.at = path, text, 0

    def fail(self, line: int, message: str) -> NoReturn:
        raise InputError(f"{shown(self.path)}:{line}: {message}")

    def line(self) -> int:
        blank = re.compile(r"[ \t\r\n]*").match(self.text, self.at)
        assert blank is not None
        return self.text.count("\n", 0, blank.end()) + 1

    def token(self) -> tuple[str, str]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].split()
            self.fail(
                self.line(), f"not valid JSON at {rest[0][:20]!r}" if rest else "not valid JSON: it ends too early"
            )
        self.at = found.end()
        assert found.lastgroup is not None
        return found.lastgroup, found[found.lastgroup]

    def expect(self, wanted: str) -> str:
        line = self.line()
        _, got = self.token()
        if got not in wanted:
            self.fail(line, f"not valid JSON: {got} where {' or '.join(wanted)} is wanted")
        return got

    def peek(self, what: str) -> bool:
        before = self.at
        got = self.token()[1] == what
        if not got:
            self.at = before
        return got

    def whole(self) -> _Item:
        item = self.item(0)
        if self.text[self.at :].strip():
            self.fail(self.line(), "not valid JSON: something follows its end")
        return item

    def string(self) -> tuple[str, int]:
        import json

        line = self.line()
        group, got = self.token()
        if group != "text":
            self.fail(line, f"not valid JSON: {got} where a name in quotes is wanted")
        try:
            text = str(json.loads(got))
        except ValueError:
            self.fail(line, f"not valid JSON: {got} is no text")
        return text, line

    def item(self, depth: int) -> _Item:
        if depth > 100:
            self.fail(self.line(), "not a topology: nested too deeply")
        line, before = self.line(), self.at
        group, got = self.token()
        if group == "text":
            self.at = before
            return _Item(self.string()[0], line)
        if group == "number":
            return _Item(float(got), line)
        if group == "word":
            return _Item(_WORDS[got], line)
        if got == "{":
            pairs: list[tuple[str, int, _Item]] = []
            if not self.peek("}"):
                while True:
                    key, at = self.string()
                    self.expect(":")
                    pairs.append((key, at, self.item(depth + 1)))
                    if self.expect(",}") == "}":
                        break
            return _Item(pairs, line)
        if got != "[":
            self.fail(line, f"not valid JSON: {got} where a value is wanted")
        items: list[_Item] = []
        if not self.peek("]"):
            while True:
                items.append(self.item(depth + 1))
                if self.expect(",]") == "]":
                    break
        return _Item(items, line)


Pair = tuple[str, int, str]
"""Key, line and text."""


def read(path: Path, config: str | None = None) -> tuple[Cluster, dict[int, str]]:
    """The cluster of an SMI topology, and the program of each board.

    `config` is the configuration of all boards (default smi520n). Raises InputError with file and line.
    """
    reader = _Json(path, _text(path))
    top = reader.whole()
    sections: dict[str, list[Pair]] = {}
    if not isinstance(top.value, list) or any(not isinstance(pair, tuple) for pair in top.value):
        reader.fail(top.line, 'an SMI topology is {"fpgas": {...}, "connections": {...}}')
    for pair in top.value:
        assert isinstance(pair, tuple)
        name, line, item = pair
        if name not in ("fpgas", "connections"):
            continue
        if name in sections:
            reader.fail(line, f"{name} is given twice; keep one")
        sections[name] = _pairs(reader, name, item)
    for name in ("fpgas", "connections"):
        if name not in sections:
            reader.fail(top.line, f"{name} is missing; an SMI topology has fpgas and connections")
    return _Builder(reader, config or CONFIG).build(sections["fpgas"], sections["connections"])


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{shown(path)}: cannot read a topology: {reason}") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown(path)}: not UTF-8 text; save the topology as UTF-8") from None


def _pairs(reader: _Json, section: str, item: _Item) -> list[Pair]:
    """The pairs of a section, whose values must be names."""
    if not isinstance(item.value, list) or any(not isinstance(pair, tuple) for pair in item.value):
        reader.fail(item.line, f"{section} must be an object in braces")
    found = []
    for pair in item.value:
        assert isinstance(pair, tuple)
        key, line, value = pair
        if not isinstance(value.value, str):
            reader.fail(value.line, f"{section}: {key}: must be a name in quotes")
        found.append((key, line, value.value))
    return found


class _Builder:
    """Builds boards and cables; every error names the line that caused it."""

    def __init__(self, reader: _Json, config: str) -> None:
        self.reader = reader
        self.config = load(config)
        self.index: dict[str, int] = {}
        self.taken: dict[tuple[int, int], tuple[tuple[int, int], str]] = {}
        """The other end of each used link, and the text that declared it."""

    def build(self, fpgas: list[Pair], connections: list[Pair]) -> tuple[Cluster, dict[int, str]]:
        lines: dict[str, int] = {}
        for name, line, _ in fpgas:
            if name in lines:
                self.reader.fail(line, f"fpgas: the rank {name} is given twice (first in line {lines[name]})")
            if not re.fullmatch(r"[^\s:]+:[^\s:]+", name):
                self.reader.fail(line, f'fpgas: "{name}" is no rank; it must be node:fpga')
            lines[name] = line
        if not fpgas:
            self.reader.fail(1, "fpgas: is empty; name at least one board")
        if len(fpgas) > 4096:
            self.reader.fail(1, f"fpgas: {len(fpgas)} boards are more than the 4096 that an address can name")
        self.index = {name: rank for rank, name in enumerate(sorted(lines))}
        cables = []
        for left, line, right in connections:
            cable = self.cable(left, right, line)
            cables += [cable] if cable else []
        boards = tuple(Board(rank, name, self.config) for name, rank in self.index.items())
        self.connected(cables, lines)
        path = self.reader.path
        cluster = Cluster(path.stem, f"SMI topology {path.name}", "custom", boards, tuple(cables), ())
        return cluster, {self.index[name]: program for name, _, program in fpgas}

    def end(self, text: str, line: int) -> tuple[int, int]:
        name, _, link = text.rpartition(":")
        if name not in self.index:
            self.reader.fail(line, f'connections: "{text}" names no rank in fpgas{near(name, self.index)}')
        names = self.config.links.names
        if link not in names:
            have = ", ".join(names)
            self.reader.fail(
                line, f'connections: "{text}": {self.config.name} has no link {link}, it has {have}{near(link, names)}'
            )
        return self.index[name], names.index(link)

    def cable(self, left: str, right: str, line: int) -> Cable | None:
        """A cable; None if its other end has declared it already."""
        ends = self.end(left, line), self.end(right, line)
        what = f"{left} - {right}"
        if ends[0][0] == ends[1][0]:
            self.reader.fail(line, f"connections: {what} connects a board with itself")
        if self.taken.get(ends[0], (None, ""))[0] == ends[1]:
            first = self.taken[ends[0]][1]
            if first == f"{right} - {left}":
                return None
            self.reader.fail(line, f"connections: {what} is given twice")
        for end, name in zip(ends, (left, right), strict=True):
            if end in self.taken:
                self.reader.fail(line, f"connections: {name} is used twice: {what} and {self.taken[end][1]}")
        self.taken[ends[0]] = ends[1], what
        self.taken[ends[1]] = ends[0], what
        return Cable(*ends[0], *ends[1])

    def connected(self, cables: list[Cable], lines: dict[str, int]) -> None:
        neighbours: dict[int, list[int]] = {rank: [] for rank in self.index.values()}
        for cable in cables:
            neighbours[cable.a].append(cable.b)
            neighbours[cable.b].append(cable.a)
        seen, queue = {0}, [0]
        while queue:
            for other in neighbours[queue.pop()]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        names = list(self.index)
        for rank, name in enumerate(names):
            if rank not in seen:
                self.reader.fail(lines[name], f"fpgas: {name}: no cable leads from {names[0]} to this board")
