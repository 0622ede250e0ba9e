# SPDX-License-Identifier: Apache-2.0
"""Tables of the boards' multicast routers, by which one message of a vertex reaches tiles of several other boards.

A message follows a tree of boards to all boards with receivers (``trees.py``). At each node of the tree it has a key of
its own. The records of the key are: one for each neighbour's router to which the message is forwarded, with the key
there, and one for each tile of the board with receivers, with the key of the edges there. Layouts are the ``route_*``
of ``config/constants/fabric.toml``; docs/hardware/multicast.md describes how a router processes them.
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
"""Slots of 48 bits in a beat; a record to a router takes one, a record to a tile or with a new word two."""
_MOST = 48
"""Maximum number of two-slot records under one key: with the records of all links they fit into 31 beats."""
_HALF = 1 << 16
"""Keys below this fit into a record to a tile."""


class Network:
    """The topology of boards, and the routes of messages.

    ``link`` maps a board and a link of the configuration to the link's number in the board's router.
    """

    def __init__(
        self,
        topology: routes.Topology,
        tables: routes.Tables,
        link: Callable[[int, int], int] = lambda board, link: link,
    ) -> None:
        self.topology, self.tables, self.link = topology, tables, link
        self.turns = routes.tree_turns(topology, tables)
        """The turns that trees may take."""
        self.boards = len(topology.cluster.boards)


@dataclass(frozen=True)
class RemoteMessages:
    """Messages to tiles of other boards; an element of each array per tile."""

    sender: Numbers
    """Sending slot: a vertex and a pin."""
    source: Numbers
    """Board of the sender."""
    board: Numbers
    """Board of the tile, and its column and row there."""
    column: Numbers
    row: Numbers
    mask: NDArray[np.uint64]
    """Receiving threads."""
    key: Numbers
    """Key of the edges: the first word of the message as these threads receive it."""


class MulticastTables:
    """Keys of senders, and the beats of all boards. Raises InputError where they do not fit into the routers' tables.

    ``most`` is the maximum number of two-slot records under one key; further records are reached by indirection.
    """

    def __init__(self, config: Config, network: Network, remote: RemoteMessages, *, most: int = _MOST) -> None:
        self._config, self._network = config, network
        place = memory_map(config)
        self.base = place.data_base + place.data_bytes
        """Address of each board's tables, in its first DRAM."""
        first_beat = (self.base - constants.value("dram_base")) // BEAT_BYTES
        self.sender, sender = np.unique(remote.sender, return_inverse=True)
        """Sorted slots that send by key; ``key`` has the key of each."""
        nodes, last = self._nodes(remote, sender)
        self.crossings = int((nodes.parent >= 0).sum())
        """Links that messages cross when every sender sends once."""

        wide, node = _wide(remote, last)
        order = np.argsort(node, kind="stable")
        wide, node = wide[order], node[order]
        below = np.flatnonzero(nodes.parent >= 0)
        below = below[np.argsort(nodes.parent[below], kind="stable")]
        board, node, more, more_from = _split(nodes.board, node, most)
        order = np.argsort(node, kind="stable")
        wide, node = wide[order], node[order]

        # Order of records: routers first, since their copies travel furthest, then wide records, then an indirection.
        count = len(board)
        routers = np.bincount(nodes.parent[below], minlength=count)
        whole, rest = routers // _PLACES, routers % _PLACES
        shared = (_PLACES - rest) // 2  # wide records that fit into the last beat with router records
        number = _within(node, count)
        further = number - shared[node]
        wide_beat = whole[node] + np.where(further < 0, 0, 1 + further // 2)
        wide_place = np.where(further < 0, rest[node] + 2 * number, 2 * (further % 2))
        ends = np.zeros(count, np.int64)  # end of the last record, in slots
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

        # All boards' beats are one array of half-words: the count, then the slots.
        self._beats = np.zeros((int(needed.sum()), BEAT_BYTES // 2), "<u2")
        self._offset, self._needed = offset, needed
        self._put(start[node] + wide_beat, wide_place, wide[:, 0], wide[:, 1])
        parent, at = nodes.parent[below], _within(nodes.parent[below], count)
        routed = _packed("route_router", kind="router", link=nodes.link[below], vc=nodes.vc[below], key=keys[below])
        self._put(start[parent] + at // _PLACES, at % _PLACES, routed[:, 0])
        indirect = _packed("route_indirect", kind="indirect", key=keys[more])
        self._put(start[more_from] + link_at // _PLACES, link_at % _PLACES, indirect[:, 0])

    def images(self) -> list[tuple[int, bytes]]:
        """For each board the bytes of its tables, which belong at ``base``."""
        return [
            (board, self._beats[first : first + count].tobytes())
            for board, (first, count) in enumerate(zip(self._offset.tolist(), self._needed.tolist(), strict=True))
            if count
        ]

    def _check(self, needed: Numbers) -> None:
        size = self._config.router.table_bytes
        worst = int(needed.argmax())
        if needed[worst] * BEAT_BYTES > size:
            raise InputError(
                f"{self._config.name}: the multicast router's tables hold {size:,} bytes, but board "
                f"{self._network.topology.cluster.boards[worst].name} needs {needed[worst] * BEAT_BYTES:,}; use "
                "--multicast local, a larger router.table_bytes, or more boards"
            )

    def _nodes(self, remote: RemoteMessages, sender: Numbers) -> tuple[_Nodes, Numbers]:
        """The nodes of all trees; for each element of ``remote`` the node at which it leaves the tree."""
        network, boards = self._network, self._network.boards
        sources = np.zeros(len(self.sender), np.int64)
        sources[sender] = remote.source
        reached = np.zeros((len(self.sender), boards), bool)
        reached[sender, remote.board] = True
        # Senders on one board with the same receiving boards share a tree.
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
        # Routers may number their links differently from the configuration.
        numbers = np.full(network.turns.far.shape, -1, np.int64)
        for board, link in np.argwhere(network.turns.far >= 0).tolist():
            numbers[board, link] = network.link(board, link)
        came = np.where(parent < 0, 0, made.board[which[np.maximum(above, 0)]])
        out = np.where(parent < 0, -1, numbers[came, np.maximum(made.link[which], 0)])
        last = first[sender] + made.ends[kind[sender], remote.board]
        return _Nodes(made.board[which], above, out, made.vc[which], first), last

    def _put(self, beat: Numbers, place: Numbers, *halves: NDArray[np.uint64]) -> None:
        """Writes records, of one or two slots of 48 bits each, that begin at slot ``place`` of ``beat``."""
        for number, half in enumerate(halves):
            for part in range(3):
                word = half >> np.uint64(16 * part) & np.uint64(0xFFFF)
                self._beats[beat, 1 + 3 * (place + number) + part] = word
        np.add.at(self._beats[:, 0], beat, 1)


@dataclass(frozen=True)
class _Nodes:
    """The nodes of all senders' trees; ``first`` is the first node of each sender."""

    board: Numbers
    parent: Numbers
    link: Numbers
    vc: Numbers
    first: Numbers


def _wide(remote: RemoteMessages, last: Numbers) -> tuple[NDArray[np.uint64], Numbers]:
    """The records to receivers, each in two halves of 48 bits, and their nodes.

    A tile whose key fits into half a word has one record; otherwise each of its threads has one.
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
    """Records as rows of two halves of 48 bits; the kind is in the low half."""
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
    """Distributes the wide records of a node with too many of them over several keys, chained by indirections.

    ``node`` is the sorted node of each wide record. Returns the boards of all nodes, the node of each record, and the
    added nodes with their predecessors.
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
    """The index of each element within its group; groups are sorted."""
    sizes = np.bincount(group, minlength=groups)
    return np.arange(len(group)) - (np.cumsum(sizes) - sizes)[group]


__all__ = ["MulticastTables", "Network", "RemoteMessages"]
