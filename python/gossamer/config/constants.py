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

from gossamer.config._constant_types import Constants, Enumeration, Field, Layout, Value
from gossamer.errors import InputError


@functools.lru_cache(maxsize=1)
def everything() -> Constants:
    """All shared constants, checked. InputError with file and line at the first error."""
    from gossamer import paths
    from gossamer.config._constants import read_constants

    return read_constants(paths.CONFIG / "constants")


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


__all__ = ["Constants", "Enumeration", "Field", "Layout", "Value", "enumeration", "everything", "layout", "value"]
