# SPDX-License-Identifier: Apache-2.0
"""Inputs of tables: the compiler's layout of the softswitch's structs, states of vertices, and edges."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InputError
from gossamer.mapper.machine import Numbers

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Layout:
    """Sizes and offsets in bytes, in the compiler's layout of the softswitch's structs (gossamer_polite_layout)."""

    state: int
    """Stride of states."""
    flags: int
    offset: int
    """Width of an offset or a length: 2 or 4."""
    edge: int
    value: int
    align: int
    """Alignment of an edge."""
    list: int
    """Bytes before the first edge of a list."""
    header: int
    label: int
    """Bytes of an edge's value; 0 if edges have none."""
    label_align: int
    message: int
    """Bytes of a message without its key."""
    own: int
    """Words of a vertex's record of its own edges (own_edges.py); 0 if vertices do not read their edges."""
    note: int
    """Bytes of a vertex's note on each of its edges."""
    SIZE = 52

    @classmethod
    def read(cls, data: bytes) -> Layout:
        """Decodes the program's constant."""
        return cls(*struct.unpack("<13I", data))

    def check(self, name: str, *, state: int, label: int, message: int) -> None:
        """Raises InputError if the host's types of the program ``name`` have other sizes than these of the threads."""
        widths = (("state", state, self.state, 2), ("label of an edge", label, self.label, 0),
                  ("message", message, self.message, 1))  # fmt: skip
        for what, here, there, least in widths:
            if there != max(least, here):
                raise InputError(
                    f"{name}: the {what} has {here} bytes on the host and {there} on the threads; use types of fixed "
                    "width (uint32_t, not long, size_t or a pointer), and the same members on both"
                )

    @property
    def names_vertices(self) -> bool:
        """Whether, in a fixed graph, the key of a message to one thread can name its single edge without a list."""
        return self.edge == self.offset and not self.own

    @property
    def unit(self) -> int:
        """Alignment of lists, which aligns their edges."""
        return max(4, self.align)


@dataclass(frozen=True)
class Relation:
    """The edges of a pin by source: ``offsets`` has vertices + 1 elements, ``values`` a row of bytes per edge."""

    pin: int
    offsets: Numbers
    targets: Numbers
    values: Bytes | None


@dataclass(frozen=True)
class Problem:
    """States and edges. ``states`` has a row of bytes per vertex, ``unit`` is the default value of an edge."""

    states: Bytes
    params: bytes
    unit: bytes
    relations: Sequence[Relation]
    names: Numbers | None = None
    """The numbers by which vertices name each other, if these differ from their indices here."""

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return len(self.states)

    @property
    def pins(self) -> int:
        """Number of pins, at least one."""
        return max([relation.pin + 1 for relation in self.relations], default=1)

    @property
    def edges(self) -> int:
        """Number of edges of all pins."""
        return sum(len(relation.targets) for relation in self.relations)

    def ends(self) -> tuple[Numbers, Numbers]:
        """Source and target of every edge, relation by relation, in the relations' types."""
        kinds = [np.asarray(one.targets).dtype for one in self.relations]
        sources = [
            np.repeat(np.arange(self.vertices, dtype=kind), np.diff(one.offsets))
            for kind, one in zip(kinds, self.relations, strict=True)
        ]
        empty = np.empty(0, np.result_type(*kinds) if kinds else np.int64)
        return (
            np.concatenate([empty, *sources]),
            np.concatenate([empty, *(one.targets for one in self.relations)]),
        )


def up(sizes: Numbers, unit: int) -> Numbers:
    """Sizes rounded up to multiples of ``unit``."""
    return -(-sizes // unit) * unit


def words(values: Numbers) -> Bytes:
    """A row of four bytes per value, little-endian."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)


__all__ = ["Bytes", "Layout", "Problem", "Relation", "up", "words"]
