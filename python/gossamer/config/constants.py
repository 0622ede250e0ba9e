# SPDX-License-Identifier: Apache-2.0
"""Constants that all languages share, read from ``config/constants/*.toml``.

Three kinds, each declared once there and generated into SystemVerilog and C++:

    enumeration("ethertype")["discovery"]      # a number with a name: 0x80EF
    layout("stream_header").pack(port=3, ...)  # bit fields of packets and records
    value("epoch_bits")                        # a plain number

A layout packs into one integer, the first declared field most significant. The
first access reads and checks the files.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gossamer.config._constant_types import Constants, Enumeration, Field, Layout, Value
from gossamer.errors import InputError


@functools.lru_cache(maxsize=1)
def everything() -> Constants:
    """All constants, checked. InputError with file and line at the first error, or if two packages share a name."""
    from types import MappingProxyType

    parts = [package(name) for name in packages()]
    enums: dict[str, Enumeration] = {}
    layouts: dict[str, Layout] = {}
    values: dict[str, Value] = {}
    for one in parts:
        tables: tuple[tuple[dict[str, Any], Mapping[str, Any]], ...] = (
            (enums, one.enums),
            (layouts, one.layouts),
            (values, one.values),
        )
        for known, more in tables:
            if twice := known.keys() & more.keys():
                raise InputError(f"config/constants: {min(twice)} is defined in two packages; rename one")
            known.update(more)
    return Constants(MappingProxyType(enums), MappingProxyType(layouts), MappingProxyType(values))


def packages() -> tuple[str, ...]:
    """The names of all packages of constants: "" for that of the configurations, and one for each folder."""
    from gossamer import paths

    folder = paths.CONFIG / "constants"
    return ("", *sorted(path.name for path in folder.iterdir() if path.is_dir()))


@functools.lru_cache
def package(name: str) -> Constants:
    """The constants of one package, checked: those of the folder ``config/constants/NAME``, or, for "", of the files
    in ``config/constants`` itself, which ``gossamer_pkg`` contains with the parameters of a configuration.

    A change in a folder changes its package ``gossamer_NAME_pkg`` only, so hardware that does not use it is not built
    again. InputError with file and line at the first error.
    """
    from gossamer import paths
    from gossamer.config._constants import read_constants

    return read_constants(paths.CONFIG / "constants" / name)


def _get(kind: str, table: Mapping[str, object], name: str) -> object:
    if name not in table:
        from gossamer.config._source import near

        raise InputError(f"config/constants has no {kind} {name}{near(name, table)}")
    return table[name]


def enumeration(name: str) -> Enumeration:
    """One enumeration; InputError if the name is unknown."""
    found = _get("enum", everything().enums, name)
    assert isinstance(found, Enumeration)
    return found


def layout(name: str) -> Layout:
    """One layout; InputError if the name is unknown."""
    found = _get("layout", everything().layouts, name)
    assert isinstance(found, Layout)
    return found


def value(name: str) -> int:
    """One plain number; InputError if the name is unknown."""
    found = _get("value", everything().values, name)
    assert isinstance(found, Value)
    return found.value


__all__ = [
    "Constants",
    "Enumeration",
    "Field",
    "Layout",
    "Value",
    "enumeration",
    "everything",
    "layout",
    "package",
    "packages",
    "value",
]
