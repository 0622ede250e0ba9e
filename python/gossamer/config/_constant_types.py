# SPDX-License-Identifier: Apache-2.0
"""The kinds of constants: layouts of bit fields, enumerations, plain numbers. Imports only fast modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """A bit field of a layout."""

    name: str
    bits: int
    lsb: int
    """Position of its lowest bit in the layout's value."""
    doc: str
    enum: str | None
    """The enumeration of its values, if any."""


@dataclass(frozen=True)
class Layout:
    """Bit fields of a packet, header or record."""

    name: str
    bits: int
    doc: str
    fields: tuple[Field, ...]

    @property
    def bytes(self) -> int:
        """Size in whole bytes."""
        return (self.bits + 7) // 8

    def field(self, name: str) -> Field:
        """The field of that name; KeyError if the name is unknown."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"layout {self.name} has no field {name}")

    def pack(self, **values: int) -> int:
        """The fields as one integer. Fields without a value are 0.

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
        """The fields of an integer from `pack`; ValueError if it has more bits than the layout."""
        if not 0 <= packed < 1 << self.bits:
            raise ValueError(f"{self.name} has {self.bits} bits, given {packed:#x}")
        return {field.name: packed >> field.lsb & ((1 << field.bits) - 1) for field in self.fields}


@dataclass(frozen=True)
class Enumeration:
    """Named numbers."""

    name: str
    bits: int
    doc: str
    values: Mapping[str, int]
    docs: Mapping[str, str]
    access: Mapping[str, str]
    """For registers: read and write access (ro, rw, wo)."""
    units: Mapping[str, str]
    """For registers: the unit that contains the register (core, mailbox, cache, control)."""

    def __getitem__(self, name: str) -> int:
        return self.values[name]

    def name_of(self, value: int) -> str | None:
        """The name of a number; None for an unnamed number."""
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
    """All constants of ``config/constants``, in the order of the files."""

    enums: Mapping[str, Enumeration]
    layouts: Mapping[str, Layout]
    values: Mapping[str, Value]
