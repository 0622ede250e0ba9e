# SPDX-License-Identifier: Apache-2.0
"""Options that have a new name. The old one works for one more release."""

from __future__ import annotations

import click


def note(old: str, new: str) -> None:
    """Reports the new name of an option on standard error, where no tool reads results."""
    click.echo(f"note: {old} is now {new}; the next release will not accept {old}", err=True)
