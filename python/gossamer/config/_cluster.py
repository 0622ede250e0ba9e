# SPDX-License-Identifier: Apache-2.0
"""Cluster topologies: boards, the cables between them, and the hosts.

A file names a generator (``mesh 6x8``, ``torus 4x2 twist 2``, ``ring 8``,
``bus 8``) or lists every board and cable (``custom``). A generator's file may
list additional cables. Both forms produce the same list of cables.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from gossamer import paths
from gossamer.config import constants
from gossamer.config._load import find, load_config
from gossamer.config._names import cluster_names
from gossamer.config._schema import Config
from gossamer.config._source import Source, near, read, validate
from gossamer.errors import InputError
from gossamer.wording import counted

_KINDS = "mesh WxH, torus WxH, torus WxH twist N, ring N, bus N, or custom"
_DIRECTIONS = ("north", "south", "east", "west")
ALONE = "single board"
"""The topology of a board without a cluster's file."""


class ClusterFile(BaseModel):
    """The schema of a file in ``config/clusters/``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    description: str = Key(description="one line about the cluster")
    topology: str = Key(description=_KINDS)
    config: str | None = Key(default=None, description="configuration of all boards of a generator")
    ports: list[str] | None = Key(
        default=None,
        description="the links for north, south, east, west; for next and previous on rings and buses",
    )
    boards: dict[str, str] | None = Key(
        default=None, description="for custom: the boards, each with its name and configuration"
    )
    cables: list[str] = Key(default=[], description='cables, each as "board:link - board:link"')
    hosts: list[str] = Key(default=[], description='hosts, each as "name - board:link"')


@dataclass(frozen=True)
class Board:
    """A board of a cluster."""

    index: int
    """Its board number in addresses: along a row, then row by row."""
    name: str
    config: Config
    x: int | None = None
    """Coordinates in a mesh or torus, or along a ring or bus; None in custom topologies."""
    y: int | None = None


@dataclass(frozen=True)
class Cable:
    """A cable between two links, each given by board index and link index."""

    a: int
    a_link: int
    b: int
    b_link: int


@dataclass(frozen=True)
class Host:
    """A host connected to a link of a board."""

    name: str
    board: int
    link: int


@dataclass(frozen=True)
class Cluster:
    """Boards, cables and hosts, checked."""

    name: str
    description: str
    topology: str
    boards: tuple[Board, ...]
    cables: tuple[Cable, ...]
    hosts: tuple[Host, ...]

    @classmethod
    def alone(cls, config: Config) -> Cluster:
        """The cluster of a single board, which has the name of its configuration."""
        return cls(config.name, config.description, ALONE, (Board(0, config.name, config, 0, 0),), (), ())

    @property
    def is_alone(self) -> bool:
        """Whether the cluster was made from the configuration of a single board, not from a file."""
        return self.topology == ALONE

    @property
    def threads(self) -> int:
        """Threads of all boards."""
        return sum(board.config.threads for board in self.boards)

    @property
    def width(self) -> int | None:
        """Boards in a row, or None for custom topologies."""
        columns = [board.x for board in self.boards if board.x is not None]
        return max(columns) + 1 if columns else None

    @property
    def height(self) -> int | None:
        """Rows of boards, or None for custom topologies."""
        rows = [board.y for board in self.boards if board.y is not None]
        return max(rows) + 1 if rows else None

    @functools.cached_property
    def _by_name(self) -> dict[str, Board]:
        return {board.name: board for board in self.boards}

    def board(self, name: str) -> Board:
        """The board of that name; raises InputError, with the closest name, if it is unknown."""
        if name not in self._by_name:
            raise InputError(f"cluster {self.name} has no board {name}{near(name, self._by_name)}")
        return self._by_name[name]

    def with_config(self, config: Config) -> Cluster:
        """The same wiring of boards of another configuration. Raises InputError if that has too few links."""
        links = 1 + max((link for cable in self.cables for link in (cable.a_link, cable.b_link)), default=-1)
        if links > len(config.links.names):
            raise InputError(
                f"cluster {self.name} uses {links} links of a board; {config.name} has {len(config.links.names)}"
            )
        return replace(self, boards=tuple(replace(board, config=config) for board in self.boards))

    def neighbours(self, board: int) -> list[tuple[int, int, int]]:
        """(own link, neighbour, neighbour's link) for every cable of a board, sorted by own link."""
        found = [(cable.a_link, cable.b, cable.b_link) for cable in self.cables if cable.a == board]
        found += [(cable.b_link, cable.a, cable.a_link) for cable in self.cables if cable.b == board]
        return sorted(found)


def load_cluster_file(name_or_path: str | os.PathLike[str]) -> Cluster:
    """See `gossamer.config.load_cluster`."""
    path = find(name_or_path, paths.CONFIG / "clusters", cluster_names(), "cluster")
    source = read(path, "a cluster")
    return _Builder(source, validate(ClusterFile, source)).build()


class _Builder:
    """Makes boards and cables from a file; every error has the line that caused it."""

    def __init__(self, source: Source, file: ClusterFile) -> None:
        self.source = source
        self.file = file
        self.boards: list[Board] = []
        self.cables: list[Cable] = []
        self.hosts: list[Host] = []
        self.configs: dict[str, Config] = {}
        """Configurations by name; boards share them."""
        self.taken: dict[tuple[int, int], str] = {}
        """The cable or host connected to (board, link)."""

    def build(self) -> Cluster:
        for pattern, make in (
            (r"(mesh|torus) (\d+)x(\d+)(?: twist (\d+))?", self._grid),
            (r"(ring|bus) (\d+)", self._row),
            (r"custom", self._custom),
        ):
            match = re.fullmatch(pattern, self.file.topology)
            if match:
                make(match)
                break
        else:
            word = self.file.topology.split(" ")[0]
            guess = near(word, ("mesh", "torus", "ring", "bus", "custom"))
            self.source.fail(("topology",), f'is "{self.file.topology}", must be {_KINDS}{guess}')
        self._check_boards()
        self._own_cables()
        self._own_hosts()
        self._check_connected()
        return Cluster(
            name=self.source.path.stem,
            description=self.file.description,
            topology=self.file.topology,
            boards=tuple(self.boards),
            cables=tuple(self.cables),
            hosts=tuple(self.hosts),
        )

    # ----------------------------------------------------------- generators

    def _config(self) -> Config:
        if self.file.config is None:
            self.source.fail(("config",), f"missing; {self.file.topology} needs the configuration of its boards")
        if self.file.boards is not None:
            self.source.fail(("boards",), f"{self.file.topology} makes its own boards; delete this key")
        return self._load(self.file.config, ("config",))

    def _load(self, name: str, key: tuple[str | int, ...]) -> Config:
        """A board's configuration; a file name is relative to the folder of the cluster's file."""
        if name in self.configs:
            return self.configs[name]
        try:
            is_file = "/" in name or name.endswith(".toml")
            config = load_config(self.source.path.parent / name if is_file else name)
            self.configs[name] = config
            return config
        except InputError as error:
            if str(error).startswith("no configuration"):
                self.source.fail(key, str(error))
            raise

    def _ports(self, config: Config, wanted: Sequence[str]) -> list[int]:
        """Link numbers for the wanted directions, from `ports` or by their own names."""
        names = config.links.names
        given = self.file.ports
        if given is None:
            for name in wanted:
                if name not in names:
                    have = ", ".join(names) or "none"
                    self.source.fail(
                        ("ports",),
                        f"missing; {config.name} has links {have}: list those for {', '.join(wanted)}",
                    )
            return [names.index(name) for name in wanted]
        if len(given) != len(wanted):
            self.source.fail(
                ("ports",), f"has {counted(len(given), 'link')}, must have {len(wanted)} ({', '.join(wanted)})"
            )
        for number, name in enumerate(given):
            if name not in names:
                self.source.fail(("ports", number), self._no_link(name, config))
            if name in given[:number]:
                self.source.fail(("ports", number), f"{name} is listed twice")
        return [names.index(name) for name in given]

    def _check_count(self, *sizes: int) -> None:
        """Rejects clusters with no boards, or with more boards than an address encodes."""
        total = 1
        for size in sizes:
            total *= size
        most = 1 << constants.layout("address_thread").field("board").bits
        if not 1 <= total <= most:
            self.source.fail(("topology",), f"has {counted(total, 'board')}, must have 1 to {most}")

    def _grid(self, match: re.Match[str]) -> None:
        kind, width, height, twist = match[1], int(match[2]), int(match[3]), int(match[4] or 0)
        if match[4] and kind == "mesh":
            self.source.fail(("topology",), "a mesh has no twist; only a torus wraps around")
        config = self._config()
        self._check_count(width, height)
        if twist and twist >= width:
            self.source.fail(("topology",), f"twist is {twist}, must be less than the width, {width}")
        north, south, east, west = self._ports(config, _DIRECTIONS)
        for y in range(height):
            for x in range(width):
                self.boards.append(Board(y * width + x, f"x{x}y{y}", config, x, y))
        around = kind == "torus"
        for y in range(height):
            for x in range(width):
                here = y * width + x
                if x + 1 < width or (around and width > 1):
                    self._plug(here, east, y * width + (x + 1) % width, west, ("topology",))
                if y + 1 < height:
                    self._plug(here, north, here + width, south, ("topology",))
                elif around and height > 1:
                    self._plug(here, north, (x + twist) % width, south, ("topology",))

    def _row(self, match: re.Match[str]) -> None:
        kind, length = match[1], int(match[2])
        config = self._config()
        self._check_count(length)
        next_link, previous_link = self._ports(config, ("east", "west"))
        for x in range(length):
            self.boards.append(Board(x, f"b{x}", config, x, 0))
        for x in range(length):
            if x + 1 < length or (kind == "ring" and length > 1):
                self._plug(x, next_link, (x + 1) % length, previous_link, ("topology",))

    def _custom(self, _: re.Match[str]) -> None:
        if not self.file.boards:
            self.source.fail(("boards",), 'missing; custom needs its boards, as in boards = { a = "quad", b = "quad" }')
        for key, unused in (("config", self.file.config), ("ports", self.file.ports)):
            if unused is not None:
                self.source.fail((key,), "applies to generators only; custom sets it for each board and cable")
        self._check_count(len(self.file.boards))
        for name, config in self.file.boards.items():
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name):
                self.source.fail(("boards", name), "is not a valid name; use letters, digits, _ and ., a letter first")
            self.boards.append(Board(len(self.boards), name, self._load(config, ("boards", name))))

    # --------------------------------------------------------------- cables

    def _no_link(self, name: str, config: Config) -> str:
        have = config.links.names
        if not have:
            return f"{config.name} has no links"
        return f"{config.name} has no link {name}, it has {', '.join(have)}{near(name, have)}"

    def _end(self, text: str, key: tuple[str | int, ...]) -> tuple[int, int]:
        """``board:link`` as board index and link index."""
        name, _, link = text.rpartition(":")
        board = self._names.get(name)
        if board is None:
            self.source.fail(key, f"no board is named {name}{near(name, self._names)}")
        if link not in board.config.links.names:
            self.source.fail(key, self._no_link(link, board.config))
        return board.index, board.config.links.names.index(link)

    def _link_name(self, board: int, link: int) -> str:
        one = self.boards[board]
        return f"{one.name}:{one.config.links.names[link]}"

    def _take(self, board: int, link: int, what: str, key: tuple[str | int, ...]) -> None:
        if (board, link) in self.taken:
            self.source.fail(
                key, f"{self._link_name(board, link)} has two connections: {what} and {self.taken[board, link]}"
            )
        self.taken[board, link] = what

    def _plug(self, a: int, a_link: int, b: int, b_link: int, key: tuple[str | int, ...]) -> None:
        what = f"{self._link_name(a, a_link)} - {self._link_name(b, b_link)}"
        self._take(a, a_link, what, key)
        self._take(b, b_link, what, key)
        self.cables.append(Cable(a, a_link, b, b_link))

    def _own_cables(self) -> None:
        self._names: Mapping[str, Board] = {board.name: board for board in self.boards}
        for number, text in enumerate(self.file.cables):
            key = ("cables", number)
            ends = re.fullmatch(r"\s*(\S+:\w+)\s+-\s+(\S+:\w+)\s*", text)
            if not ends:
                self.source.fail(key, f'is "{text}", must be "board:link - board:link"')
            a, a_link = self._end(ends[1], key)
            b, b_link = self._end(ends[2], key)
            if a == b:
                self.source.fail(key, f"connects {self.boards[a].name} with itself")
            rates = [self.boards[board].config.links.rate_mbps for board in (a, b)]
            if rates[0] != rates[1]:
                self.source.fail(key, f"connects a link of {rates[0]} Mb/s to a link of {rates[1]} Mb/s")
            self._plug(a, a_link, b, b_link, key)

    def _own_hosts(self) -> None:
        most = 1 << constants.layout("address_host").field("host").bits
        if len(self.file.hosts) > most:
            self.source.fail(("hosts", most), f"is one host too many; an address encodes at most {most} hosts")
        for number, text in enumerate(self.file.hosts):
            key = ("hosts", number)
            ends = re.fullmatch(r"\s*(\w+)\s+-\s+(\S+:\w+)\s*", text)
            if not ends:
                self.source.fail(key, f'is "{text}", must be "name - board:link"')
            if ends[1] in [host.name for host in self.hosts]:
                self.source.fail(key, f"{ends[1]} is listed twice")
            board, link = self._end(ends[2], key)
            self._take(board, link, f"host {ends[1]}", key)
            self.hosts.append(Host(ends[1], board, link))

    # --------------------------------------------------------------- checks

    def _check_boards(self) -> None:
        """Boards that share a fabric must agree on the longest message."""
        first = self.boards[0]
        for board in self.boards:
            flits, expected = board.config.mailbox.max_flits, first.config.mailbox.max_flits
            if flits != expected:
                self.source.fail(
                    ("boards", board.name),
                    f"{board.config.name} has mailbox.max_flits = {flits}, but {first.name} "
                    f"({first.config.name}) has {expected}; boards of one cluster must agree",
                )

    def _reached(self) -> Iterator[int]:
        """Boards reachable from the first board, itself included."""
        neighbours: dict[int, list[int]] = {board.index: [] for board in self.boards}
        for cable in self.cables:
            neighbours[cable.a].append(cable.b)
            neighbours[cable.b].append(cable.a)
        seen, todo = {0}, [0]
        while todo:
            board = todo.pop()
            yield board
            for other in neighbours[board]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)

    def _check_connected(self) -> None:
        reached = set(self._reached())
        for board in self.boards:
            if board.index not in reached:
                self.source.fail(
                    ("boards", board.name),
                    f"no path of cables connects {self.boards[0].name} to this board",
                )
