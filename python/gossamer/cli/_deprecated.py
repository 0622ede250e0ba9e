# SPDX-License-Identifier: Apache-2.0
"""Options under their old names, which keep working for one release."""

from __future__ import annotations

import click


def note(old: str, new: str) -> None:
    """Reports on stderr that an option has a new name."""
    click.echo(f"note: {old} is deprecated and will be removed; use {new}", err=True)


def renamed(new: str, value: str | None, old: str, old_value: str | None) -> str | None:
    """The value of a renamed option, given under its new or its old name. Raises UsageError if both are given."""
    if old_value is None:
        return value
    note(old, new)
    if value is not None:
        raise click.UsageError(f"{old} is the old name of {new}; give {new} only")
    return old_value


__all__ = ["note", "renamed"]
