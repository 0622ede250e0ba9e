# SPDX-License-Identifier: Apache-2.0
"""What tables are made from: the sizes that the compiler gave the softswitch's structs, states, and wiring."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.mapper.machine import Numbers

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """Sizes and offsets in bytes, as the compiler has laid out the softswitch's structs (gossamer_polite_layout)."""

    state: int
    """From state to state."""
    flags: int
    offset: int
    """Bytes of an offset or a length: 2 or 4."""
    edge: int
    value: int
    align: int
    """Of an edge."""
    list: int
    """Bytes before the first edge of a list."""
    header: int
    label: int
    """Of an edge's value; 0 where it has none."""
    label_align: int
    message: int
    """Of a message without its key."""
    own: int
    """Words for what a vertex reads of its own edges: own_edges.py. 0 where it reads nothing."""
    note: int
    """Bytes of its note on each."""
    SIZE = 52

    @classmethod
    def read(cls, data: bytes) -> Layout:
        """From the program's constant."""
        return cls(*struct.unpack("<13I", data))

    @property
    def names_vertices(self) -> bool:
        """Whether a message to one thread has a single edge in its key, and no list, where graphs do not change."""
        return self.edge == self.offset and not self.own

    @property
    def unit(self) -> int:
        """What lists are aligned to, so that their edges are."""
        return max(4, self.align)


@dataclass(frozen=True)
class Relation:
    """The edges of a pin by source: ``offsets`` has vertices + 1 elements, ``values`` a row of bytes for each edge."""

    pin: int
    offsets: Numbers
    targets: Numbers
    values: Bytes | None


@dataclass(frozen=True)
class Problem:
    """States and wiring. ``states`` has a row of bytes a vertex, ``unit`` is an edge's value where there is none."""

    states: Bytes
    params: bytes
    unit: bytes
    relations: Sequence[Relation]
    names: Numbers | None = None
    """What vertices call each other, where it is not their number here."""

    @property
    def vertices(self) -> int:
        """In the whole graph."""
        return len(self.states)

    @property
    def pins(self) -> int:
        """At least one."""
        return max([relation.pin + 1 for relation in self.relations], default=1)

    @property
    def edges(self) -> int:
        """Of all pins."""
        return sum(len(relation.targets) for relation in self.relations)

    def ends(self) -> tuple[Numbers, Numbers]:
        """Source and target of every edge, relation by relation."""
        sources = [np.repeat(np.arange(self.vertices), np.diff(one.offsets)) for one in self.relations]
        empty = np.empty(0, np.int64)
        return (
            np.concatenate([empty, *sources]),
            np.concatenate([empty, *(one.targets for one in self.relations)]),
        )


def up(sizes: Numbers, unit: int) -> Numbers:
    """Rounded up to whole units."""
    return -(-sizes // unit) * unit


def words(values: Numbers) -> Bytes:
    """A row of four bytes for each value."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)


def put(data: Bytes, at: Numbers, rows: Bytes) -> None:
    """Writes rows of bytes at places."""
    data[at[:, None] + np.arange(rows.shape[1])] = rows


__all__ = ["Bytes", "Layout", "Problem", "Relation", "put", "up", "words"]
