# SPDX-License-Identifier: Apache-2.0
"""Records of the boards' multicast routers: one message of a vertex reaches tiles of other boards by keys.

A message follows a tree of boards to all that have receivers (``trees.py``). At each place of the tree
it has a key of its own, whose records are: one to each neighbour's router that it goes on to, with the key there, and
one to each tile of the board that has receivers, with the key of the edges there. Layouts are the ``route_*`` of
``config/constants/fabric.toml``; docs/hardware/multicast.md says what a router does with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer import routes
from gossamer.config import Config, constants
from gossamer.device._header import memory_map
from gossamer.errors import InputError
from gossamer.mapper.machine import Numbers
from gossamer.mapper.trees import multicast_trees

BEAT_BYTES = 32
_PLACES = 5
"""Of 48 bits in a beat; records to routers take one, those to tiles and with a new word two."""
_MOST = 48
"""Records of two places under one key: with all links' records before them they fit into 31 beats."""
_HALF = 1 << 16
"""A record to a tile gives keys below this."""


class Network:
    """How boards are joined, and the routes that messages take.

    ``link`` gives the number that a board's router has for a link of the configuration.
    """

    def __init__(
        self,
        topology: routes.Topology,
        tables: routes.Tables,
        link: Callable[[int, int], int] = lambda board, link: link,
    ) -> None:
        self.topology, self.tables, self.link = topology, tables, link
        self.turns = routes.tree_turns(topology, tables)
        """What trees may do on their way."""
        self.boards = len(topology.cluster.boards)


@dataclass(frozen=True)
class Remote:
    """Messages to tiles of other boards than the sender's: an element of each array for each tile."""

    sender: Numbers
    """What sends: a vertex and a pin."""
    source: Numbers
    """The board that it is on."""
    board: Numbers
    """Of the tile, and its place there:"""
    column: Numbers
    row: Numbers
    mask: NDArray[np.uint64]
    """Receiving threads."""
    key: Numbers
    """Of the edges: the first word of the message as these threads receive it."""


class Records:
    """Keys of senders, and the beats of all boards. Raises InputError where they do not fit into the routers' tables.

    ``most`` is how many records of two places stand under one key; more are reached by indirection.
    """

    def __init__(self, config: Config, network: Network, remote: Remote, *, most: int = _MOST) -> None:
        self._config, self._network = config, network
        place = memory_map(config)
        self.base = place.data_base + place.data_bytes
        """Address of each board's tables, in its first DRAM."""
        first_beat = (self.base - constants.value("dram_base")) // BEAT_BYTES
        self.sender, sender = np.unique(remote.sender, return_inverse=True)
        """Those that send by key, sorted; ``key`` is that of each."""
        nodes, last = self._nodes(remote, sender)
        self.crossings = int((nodes.parent >= 0).sum())
        """Links that the messages of all senders cross, when each sends once."""

        wide, node = _wide(remote, last)
        order = np.argsort(node, kind="stable")
        wide, node = wide[order], node[order]
        below = np.flatnonzero(nodes.parent >= 0)
        below = below[np.argsort(nodes.parent[below], kind="stable")]
        board, node, more, more_from = _split(nodes.board, node, most)
        order = np.argsort(node, kind="stable")
        wide, node = wide[order], node[order]

        # Where each record stands: routers first, since they have furthest to go, then wide ones, then an indirection.
        count = len(board)
        routers = np.bincount(nodes.parent[below], minlength=count)
        whole, rest = routers // _PLACES, routers % _PLACES
        beside = (_PLACES - rest) // 2  # wide records in the beat that routers have begun
        number = _within(node, count)
        behind = number - beside[node]
        wide_beat = whole[node] + np.where(behind < 0, 0, 1 + behind // 2)
        wide_place = np.where(behind < 0, rest[node] + 2 * number, 2 * (behind % 2))
        ends = np.zeros(count, np.int64)  # places behind the last record
        np.maximum.at(ends, nodes.parent[below], _within(nodes.parent[below], count) + 1)
        np.maximum.at(ends, node, _PLACES * wide_beat + wide_place + 2)
        link_at = ends[more_from]
        ends[more_from] += 1
        beats = -(-ends // _PLACES)
        assert beats.max(initial=0) < 1 << constants.layout("route_key").field("beats").bits

        by_board = np.argsort(board, kind="stable")
        needed = np.bincount(board, weights=beats, minlength=network.boards).astype(np.int64)
        self._check(needed)
        start = np.empty(count, np.int64)
        start[by_board] = np.cumsum(beats[by_board]) - beats[by_board]
        offset = np.cumsum(needed) - needed
        layout = constants.layout("route_key")
        keys = (start - offset[board] + first_beat) << layout.field("beat").lsb | beats << layout.field("beats").lsb
        self.key = keys[nodes.first]

        # All boards' beats are one array of half-words: the count, then the places.
        self._beats = np.zeros((int(needed.sum()), BEAT_BYTES // 2), "<u2")
        self._offset, self._needed = offset, needed
        self._put(start[node] + wide_beat, wide_place, wide[:, 0], wide[:, 1])
        parent, at = nodes.parent[below], _within(nodes.parent[below], count)
        routed = _packed("route_router", kind="router", link=nodes.link[below], vc=nodes.vc[below], key=keys[below])
        self._put(start[parent] + at // _PLACES, at % _PLACES, routed[:, 0])
        indirect = _packed("route_indirect", kind="indirect", key=keys[more])
        self._put(start[more_from] + link_at // _PLACES, link_at % _PLACES, indirect[:, 0])

    def images(self) -> list[tuple[int, bytes]]:
        """For each board the bytes of its tables, to be written at ``base``."""
        return [
            (board, self._beats[first : first + count].tobytes())
            for board, (first, count) in enumerate(zip(self._offset.tolist(), self._needed.tolist(), strict=True))
            if count
        ]

    def _check(self, needed: Numbers) -> None:
        room = self._config.router.table_bytes
        worst = int(needed.argmax())
        if needed[worst] * BEAT_BYTES > room:
            raise InputError(
                f"{self._config.name}: the multicast router's tables have room for {room:,} bytes, but board "
                f"{self._network.topology.cluster.boards[worst].name} needs {needed[worst] * BEAT_BYTES:,}; take "
                "--multicast local, a larger router.table_bytes, or more boards"
            )

    def _nodes(self, remote: Remote, sender: Numbers) -> tuple[_Nodes, Numbers]:
        """The places of all trees; for each element of ``remote`` the place where it leaves the tree."""
        network, boards = self._network, self._network.boards
        sources = np.zeros(len(self.sender), np.int64)
        sources[sender] = remote.source
        reached = np.zeros((len(self.sender), boards), bool)
        reached[sender, remote.board] = True
        # Senders of one board to the same boards have the same tree.
        begins = sources.astype("<u4").view(np.uint8).reshape(-1, 4)
        rows = np.concatenate([begins, np.packbits(reached, axis=1)], axis=1)
        _, shown, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        kind = kind.reshape(-1)
        made = multicast_trees(network.turns, sources[shown], reached[shown])
        sizes = np.diff(made.first)
        size = sizes[kind]
        first = np.cumsum(size) - size
        which = np.repeat(made.first[:-1][kind] - first, size) + np.arange(int(size.sum()))
        parent = made.parent[which]
        above = np.where(parent < 0, -1, parent + np.repeat(first, size))
        # Routers may have other numbers for their links than the configuration.
        numbers = np.full(network.turns.far.shape, -1, np.int64)
        for board, link in np.argwhere(network.turns.far >= 0).tolist():
            numbers[board, link] = network.link(board, link)
        came = np.where(parent < 0, 0, made.board[which[np.maximum(above, 0)]])
        out = np.where(parent < 0, -1, numbers[came, np.maximum(made.link[which], 0)])
        last = first[sender] + made.ends[kind[sender], remote.board]
        return _Nodes(made.board[which], above, out, made.vc[which], first), last

    def _put(self, beat: Numbers, place: Numbers, *halves: NDArray[np.uint64]) -> None:
        """Writes records that begin at places of beats: one of 48 bits, or two of them."""
        for number, half in enumerate(halves):
            for part in range(3):
                word = half >> np.uint64(16 * part) & np.uint64(0xFFFF)
                self._beats[beat, 1 + 3 * (place + number) + part] = word
        np.add.at(self._beats[:, 0], beat, 1)


@dataclass(frozen=True)
class _Nodes:
    """The places of all senders' trees; ``first`` is where each sender's begin."""

    board: Numbers
    parent: Numbers
    link: Numbers
    vc: Numbers
    first: Numbers


def _wide(remote: Remote, last: Numbers) -> tuple[NDArray[np.uint64], Numbers]:
    """The records to receivers, each in two halves of 48 bits, and the places that have them.

    A tile whose key fits into half a word takes one record, and else each of its threads one.
    """
    tiles = np.flatnonzero(remote.key < _HALF)
    mask = remote.mask[tiles]
    to_tiles = _packed(
        "route_tile",
        kind="tile_half",
        tile_x=remote.column[tiles],
        tile_y=remote.row[tiles],
        mask_low=mask & np.uint64(0xFFFF),
        mask_high=mask >> np.uint64(16),
        word=remote.key[tiles],
    )
    far = np.flatnonzero(remote.key >= _HALF)
    one, thread = np.nonzero(remote.mask[far][:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1))
    threads = far[one]
    to_threads = _packed(
        "route_thread_word",
        kind="thread_word",
        tile_x=remote.column[threads],
        tile_y=remote.row[threads],
        thread=thread,
        word=remote.key[threads],
    )
    return np.concatenate([to_tiles, to_threads]), np.concatenate([last[tiles], last[threads]])


def _packed(layout: str, *, kind: str, **values: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Records, a row each of halves of 48 bits: the low one has the kind."""
    fields = constants.layout(layout)
    count = len(next(iter(values.values())))
    found = np.zeros((count, 2), np.uint64)
    given = {**values, "kind": np.full(count, constants.enumeration("route_record")[kind])}
    for name, value in given.items():
        one = fields.field(name)
        assert int(value.max(initial=0)) >> one.bits == 0
        half, lsb = divmod(one.lsb, 48)
        assert lsb + one.bits <= 48
        found[:, half] |= value.astype(np.uint64) << np.uint64(lsb)
    return found


def _split(board: Numbers, node: Numbers, most: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Spreads what has too many wide records for one key over several, each of which leads to the next.

    ``node`` is the place of each wide record, sorted. Gives the boards of all places, the place of each record, and
    the places that were added with those that lead to them.
    """
    count = len(board)
    number = _within(node, count)
    added = np.maximum(-(-np.bincount(node, minlength=count) // most) - 1, 0)
    first = count + np.cumsum(added) - added
    spread = np.where(number < most, node, first[node] + number // most - 1)
    origin = np.repeat(np.arange(count), added)
    more = count + np.arange(len(origin))
    more_from = np.where(more == first[origin], origin, more - 1)
    return np.append(board, board[origin]), spread, more, more_from


def _within(group: Numbers, groups: int) -> Numbers:
    """The number of each element among those of its group; groups are sorted."""
    sizes = np.bincount(group, minlength=groups)
    return np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]


__all__ = ["Network", "Records", "Remote"]
