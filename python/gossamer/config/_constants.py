# SPDX-License-Identifier: Apache-2.0
"""Schema and reader of ``config/constants/*.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from gossamer.config._constant_types import Constants, Enumeration, Field, Layout, Value
from gossamer.config._source import Loc, Source, read, shown, validate
from gossamer.errors import InputError

# Reserved words of SystemVerilog, C++ and Python, which cannot name a member.
_RESERVED_WORDS = """
alias always and assert assign assume auto automatic await before begin bind bins bit bool break buf
byte case cell chandle char checker class clocking concept config const constexpr context continue
cover cross deassign def default defparam delete design disable dist do double edge elif else end
endcase enum event eventually except expect explicit export extends extern final finally first_match
float for force foreach forever fork forkjoin friend from function generate genvar global goto
highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import in incdir include
initial inline inout input inside instance int integer interconnect interface intersect is join
lambda large let liblist library local localparam logic long longint macromodule matches medium
modport module mutable namespace nand negedge nettype new nexttime nmos noexcept none nonlocal nor
not notif0 notif1 null nullptr operator or output package packed parameter pass pmos posedge
primitive priority private program property protected public pull0 pull1 pulldown pullup pure raise
rand randc randcase randsequence rcmos real realtime ref reg register reject_on release repeat
requires restrict return rnmos rpmos rtran s_always scalared sequence short shortint shortreal
showcancelled signed sizeof small soft solve specify specparam static static_assert string strong
strong0 strong1 struct super supply0 supply1 switch sync_accept_on sync_reject_on table tagged task
template this throughout throw time timeprecision timeunit tran tri tri0 tri1 triand trior trireg
true try type typedef typename union unique unique0 unsigned until untyped use using uwire var
vectored virtual void volatile wait wait_order wand weak weak0 weak1 while wildcard wire with within
wor xnor xor yield
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _EnumValue(_Table):
    value: int = Key(ge=0, description="the number")
    doc: str = Key(description="meaning")
    access: Literal["ro", "rw", "wo"] | None = Key(default=None, description="read and write access of a register")


class _Enum(_Table):
    doc: str = Key(description="meaning of its numbers")
    bits: int = Key(ge=1, le=64, description="width of a value")
    values: dict[str, _EnumValue] = Key(min_length=1, description="names and numbers")
    units: dict[str, list[str]] = Key(default={}, description="units, each with its registers")


class _Field(_Table):
    name: str = Key(description="name of the field")
    bits: int = Key(ge=1, le=1024, description="width of the field")
    doc: str = Key(description="meaning")
    enum: str | None = Key(default=None, description="enumeration of its values")


class _Layout(_Table):
    doc: str = Key(description="the packet, header or record that it describes")
    bits: int = Key(ge=1, le=4096, description="sum of the field widths, as a check")
    fields: list[_Field] = Key(min_length=1, description="fields, most significant first")


class _Const(_Table):
    value: int = Key(ge=0, description="the number")
    unit: str = Key(description="its unit, or empty")
    doc: str = Key(description="meaning")


class _File(_Table):
    enum: dict[str, _Enum] = Key(default={}, description="enumerations")
    layout: dict[str, _Layout] = Key(default={}, description="layouts")
    const: dict[str, _Const] = Key(default={}, description="plain numbers")


def read_constants(folder: Path) -> Constants:
    """Reads and checks all files of the folder, in the order of their names."""
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise InputError(f"{shown(folder)}: contains no constants; the checkout is incomplete")
    enums: dict[str, Enumeration] = {}
    layouts: dict[str, Layout] = {}
    values: dict[str, Value] = {}
    sources: list[tuple[Source, _File]] = []
    home: dict[Loc, Path] = {}
    for path in files:
        source = read(path, "constants")
        model = validate(_File, source)
        sources.append((source, model))
        for loc, message in _errors(model):
            source.fail(loc, message)
        for kind in ("enum", "layout", "const"):
            for name in getattr(model, kind):
                if (kind, name) in home:
                    source.fail((kind, name), f"also defined in {shown(home[kind, name])}; keep one")
                home[kind, name] = path
        for name, one in model.enum.items():
            enums[name] = _enumeration(name, one)
        for name, plain in model.const.items():
            values[name] = Value(name, plain.value, plain.unit, plain.doc)
    for source, model in sources:
        for name, shape in model.layout.items():
            for number, field in enumerate(shape.fields):
                at: Loc = ("layout", name, "fields", number)
                if field.enum is None:
                    continue
                if field.enum not in enums:
                    source.fail(at, f"{field.name}: enum {field.enum} does not exist")
                if enums[field.enum].bits != field.bits:
                    source.fail(
                        at,
                        f"{field.name}: {field.bits} bits wide, but enum {field.enum}: {enums[field.enum].bits} bits",
                    )
            layouts[name] = _layout(name, shape)
    return Constants(MappingProxyType(enums), MappingProxyType(layouts), MappingProxyType(values))


def _enumeration(name: str, one: _Enum) -> Enumeration:
    numbers = {key: entry.value for key, entry in one.values.items()}
    docs = {key: entry.doc for key, entry in one.values.items()}
    access = {key: entry.access for key, entry in one.values.items() if entry.access is not None}
    unit_of = {key: unit for unit, keys in one.units.items() for key in keys}
    units = {key: unit_of[key] for key in one.values if key in unit_of}
    return Enumeration(
        name,
        one.bits,
        one.doc,
        MappingProxyType(numbers),
        MappingProxyType(docs),
        MappingProxyType(access),
        MappingProxyType(units),
    )


def _layout(name: str, shape: _Layout) -> Layout:
    fields = []
    lsb = shape.bits
    for field in shape.fields:
        lsb -= field.bits
        fields.append(Field(field.name, field.bits, lsb, field.doc, field.enum))
    return Layout(name, shape.bits, shape.doc, tuple(fields))


def _name_error(name: str) -> str | None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        return f"{name} is not a valid name; use lower-case letters, digits and _, a letter first"
    if name in _RESERVED:
        return f"{name} is a reserved word of SystemVerilog, C++ or Python; rename it"
    return None


def _errors(model: _File) -> Iterator[tuple[Loc, str]]:
    """Errors within one file that the schema cannot express."""
    tables: Mapping[str, Mapping[str, object]] = {
        "enum": model.enum,
        "layout": model.layout,
        "const": model.const,
    }
    for kind, table in tables.items():
        for name in table:
            if error := _name_error(name):
                yield (kind, name), error
    for name, one in model.enum.items():
        for unit, keys in one.units.items():
            for key in keys:
                if key not in one.values:
                    yield ("enum", name, "units", unit), f"register {key} does not exist"
        taken: dict[int, str] = {}
        for key, entry in one.values.items():
            at: Loc = ("enum", name, "values", key)
            # The generators capitalize enumerators and add a prefix, so reserved words are valid here.
            if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
                yield at, f"{key} is not a valid name; use lower-case letters, digits and _, a letter first"
            if entry.value in taken:
                yield at, f"is {entry.value:#x}, the value of {taken[entry.value]}"
            if entry.value >> one.bits:
                yield at, f"is {entry.value:#x}, which does not fit in {one.bits} bits"
            taken[entry.value] = key
            # The two upper bits of a CSR number mark it as read-only (RISC-V privileged specification).
            if entry.access is not None and (entry.value >> 10 == 3) != (entry.access == "ro"):
                yield (
                    at,
                    f"CSR {entry.value:#x} is {entry.access}, but CSRs from 0xC00 on are read-only, and only those",
                )
            units = [unit for unit, keys in one.units.items() if key in keys]
            if len(units) != (0 if entry.access is None else 1):
                yield at, f"is in {len(units)} lists of units; a register must be in one list, another number in none"
    for name, shape in model.layout.items():
        total = sum(field.bits for field in shape.fields)
        if total != shape.bits:
            yield ("layout", name, "bits"), f"is {shape.bits}, but its fields add up to {total} bits"
        seen: set[str] = set()
        for number, field in enumerate(shape.fields):
            here: Loc = ("layout", name, "fields", number)
            if error := _name_error(field.name):
                yield here, error
            if field.name in seen:
                yield here, f"{field.name} is listed twice"
            seen.add(field.name)
