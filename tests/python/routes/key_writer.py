# SPDX-License-Identifier: Apache-2.0
"""Multicast trees as records in the tables of multicast routers, by the layouts of ``route_*``."""

from __future__ import annotations

import numpy as np

from gossamer import routes
from gossamer.config import constants
from gossamer.mapper.trees import Trees, multicast_trees
from gossamer.routes import KeyTables, Topology

WIDE = ("thread_word", "tile", "tile_half")


def record(kind: str, **fields: int) -> tuple[int, int]:
    """(value, bits) of a record."""
    names = {"thread_half": "route_thread", "tile_half": "route_tile"}
    layout = constants.layout(names.get(kind, f"route_{kind}"))
    value = constants.enumeration("route_record").values[kind] << layout.field("kind").lsb
    for name, number in fields.items():
        assert number >> layout.field(name).bits == 0
        value |= number << layout.field(name).lsb
    return value, layout.bits


def beat(*records: tuple[int, int]) -> int:
    """A beat: the first record in the low bits, the half with the kind first."""
    places = []
    for value, bits in records:
        places += [value] if bits == 48 else [value & (1 << 48) - 1, value >> 48]
    assert len(places) <= 5
    value = sum(place << 48 * number for number, place in enumerate(places))
    layout = constants.layout("route_beat")
    return value << layout.field("records").lsb | len(records) << layout.field("count").lsb


def key_of(first: int, beats: int = 1) -> int:
    layout = constants.layout("route_key")
    return first << layout.field("beat").lsb | beats << layout.field("beats").lsb


def tree_of(turns: routes.TreeTurns, source: int, dests: list[int]) -> Trees:
    """One tree, built by the mapper."""
    wanted = np.zeros((1, len(turns.far)), bool)
    wanted[0, dests] = True
    return multicast_trees(turns, np.array([source]), wanted)


class Writer:
    """Writes trees into tables, with a key for each node of a tree; long lists of records use indirection."""

    def __init__(self) -> None:
        self.beats: dict[int, dict[int, int]] = {}
        self.roots: list[tuple[int, int]] = []
        self.turns: routes.TreeTurns | None = None

    def add(self, board: int, *records: tuple[int, int]) -> int:
        held = self.beats.setdefault(board, {})
        if len(records) > 2:
            records = (*records[:1], record("indirect", key=self.add(board, *records[1:])))
        held[len(held)] = beat(*records)
        return key_of(len(held) - 1)

    def tree(self, topology: Topology, tables: routes.Tables, source: int, dests: list[int]) -> None:
        """Adds a tree with copies to tile 0,0 of each destination, at the node where its copy arrives."""
        if self.turns is None:
            self.turns = routes.tree_turns(topology, tables)
        tree = tree_of(self.turns, source, dests)
        ends = {int(tree.ends[0, dest]) for dest in dests}
        keys: dict[int, int] = {}
        # Parents precede their children, but need the children's keys, so the order is reversed.
        for place in reversed(range(len(tree.board))):
            records = [
                record("router", link=int(tree.link[below]), vc=int(tree.vc[below]), key=keys[below])
                for below in np.flatnonzero(tree.parent == place).tolist()
            ]
            if place in ends:
                records.append(record("tile", tile_x=0, tile_y=0, mask_low=3, mask_high=1 << 47))
            keys[place] = self.add(int(tree.board[place]), *records)
        self.roots.append((source, keys[0]))

    def tables(self) -> KeyTables:
        turns = self.turns.pairs() if self.turns else ()
        return KeyTables(self.beats, tuple(self.roots), "keys.json", turns)
