# SPDX-License-Identifier: Apache-2.0
"""Guests: several programs of different kinds that use one simulated cluster at the same time (docs/guests.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gossamer.guests._file import Guest, Guests, read

__all__ = ["Guest", "Guests", "is_file", "read"]


def is_file(path: str) -> bool:
    """Whether the name of a file is that of a file of guests."""
    return path.endswith(".toml")


def __getattr__(name: str) -> object:
    """The others, imported on first access: every ``./gossamer run`` asks `is_file`, and few run guests."""
    if name in __all__:
        from gossamer.guests import _file

        return getattr(_file, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
