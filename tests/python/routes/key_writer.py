# SPDX-License-Identifier: Apache-2.0
"""Multicast trees as records in the tables of multicast routers, by the layouts of ``route_*``."""

from __future__ import annotations

from gossamer import routes
from gossamer.config import constants
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


class Writer:
    """Puts trees into tables, a key for each place of a tree; long lists of records go on by indirection."""

    def __init__(self) -> None:
        self.beats: dict[int, dict[int, int]] = {}
        self.roots: list[tuple[int, int]] = []

    def add(self, board: int, *records: tuple[int, int]) -> int:
        held = self.beats.setdefault(board, {})
        if len(records) > 2:
            records = (*records[:1], record("indirect", key=self.add(board, *records[1:])))
        held[len(held)] = beat(*records)
        return key_of(len(held) - 1)

    def tree(self, topology: Topology, tables: routes.Tables, source: int, dests: list[int]) -> None:
        """Copies to tile 0,0 of each of those boards: where its copy arrives, not where others pass through it."""
        tree = routes.multicast_tree(topology, tables, source, dests)
        ends = set(tree.ends.values())

        def write(place: tuple[int, tuple[int, int, int] | None]) -> int:
            board = place[0]
            records = [
                record("router", link=link, vc=vc, key=write((ahead, (board, link, vc))))
                for link, vc, ahead in tree.branches[place]
            ]
            if place in ends:
                records.append(record("tile", tile_x=0, tile_y=0, mask_low=3, mask_high=1 << 47))
            return self.add(board, *records)

        self.roots.append((source, write((source, None))))

    def tables(self) -> KeyTables:
        return KeyTables(self.beats, tuple(self.roots), "keys.json")
