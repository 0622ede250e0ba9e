# SPDX-License-Identifier: Apache-2.0
"""Constants that every language shares, read from ``config/constants/*.toml``.

Three kinds, each declared once there and generated into SystemVerilog and C++:

    enumeration("ethertype")["discovery"]      # a number with a name: 0x80EF
    layout("stream_header").pack(port=3, ...)  # bit fields of packets and records
    value("epoch_bits")                        # a plain number

A layout's value is one integer; the field declared first is its most
significant. Files are checked when they are first asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from gossamer.errors import InputError


@dataclass(frozen=True)
class Field:
    """Bits of a layout."""

    name: str
    bits: int
    lsb: int
    """Position of its lowest bit in the layout's value."""
    doc: str
    enum: str | None
    """The enumeration that its values are from, if any."""


@dataclass(frozen=True)
class Layout:
    """Bit fields of a packet, header or record."""

    name: str
    bits: int
    doc: str
    fields: tuple[Field, ...]

    @property
    def bytes(self) -> int:
        """Whole bytes that hold it."""
        return (self.bits + 7) // 8

    def field(self, name: str) -> Field:
        """The field of that name; KeyError if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"layout {self.name} has no field {name}")

    def pack(self, **values: int) -> int:
        """The fields as one integer. Fields not named are 0.

        ValueError if a value does not fit its field, KeyError for an unknown field.
        """
        packed = 0
        for name, value in values.items():
            field = self.field(name)
            if not 0 <= value < 1 << field.bits:
                raise ValueError(f"{self.name}.{name} is {value}, but has {field.bits} bits")
            packed |= int(value) << field.lsb
        return packed

    def unpack(self, packed: int) -> dict[str, int]:
        """The fields of a value that `pack` made; ValueError if it has more bits."""
        if not 0 <= packed < 1 << self.bits:
            raise ValueError(f"{self.name} has {self.bits} bits, given {packed:#x}")
        return {field.name: packed >> field.lsb & ((1 << field.bits) - 1) for field in self.fields}


@dataclass(frozen=True)
class Enumeration:
    """Numbers with names."""

    name: str
    bits: int
    doc: str
    values: Mapping[str, int]
    docs: Mapping[str, str]
    access: Mapping[str, str]
    """For registers: who may read or write (ro, rw, wo)."""
    units: Mapping[str, str]
    """For registers: the unit that has it (core, mailbox, cache, control)."""

    def __getitem__(self, name: str) -> int:
        return self.values[name]

    def name_of(self, value: int) -> str | None:
        """The name of a number, or None if it has none."""
        for name, number in self.values.items():
            if number == value:
                return name
        return None


@dataclass(frozen=True)
class Value:
    """A plain number."""

    name: str
    value: int
    unit: str
    doc: str


@dataclass(frozen=True)
class Constants:
    """Everything in ``config/constants``, in the order of the files."""

    enums: Mapping[str, Enumeration]
    layouts: Mapping[str, Layout]
    values: Mapping[str, Value]


@functools.lru_cache(maxsize=1)
def everything() -> Constants:
    """All shared constants, checked. InputError with file and line if they are wrong."""
    from gossamer import paths
    from gossamer.config._constants import read_constants

    return read_constants(paths.CONFIG / "constants")


def _get(kind: str, table: Mapping[str, object], name: str) -> object:
    if name not in table:
        from gossamer.config._source import near

        raise InputError(f"config/constants has no {kind} {name}{near(name, table)}")
    return table[name]


def enumeration(name: str) -> Enumeration:
    """One enumeration; InputError if there is none of that name."""
    found = _get("enum", everything().enums, name)
    assert isinstance(found, Enumeration)
    return found


def layout(name: str) -> Layout:
    """One layout; InputError if there is none of that name."""
    found = _get("layout", everything().layouts, name)
    assert isinstance(found, Layout)
    return found


def value(name: str) -> int:
    """One plain number; InputError if there is none of that name."""
    found = _get("value", everything().values, name)
    assert isinstance(found, Value)
    return found.value
