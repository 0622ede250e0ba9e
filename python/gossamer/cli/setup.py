# SPDX-License-Identifier: Apache-2.0
"""``./gossamer setup``: implemented in the launcher; this module serves ``python -m gossamer``."""

from __future__ import annotations

import click

from gossamer_setup import run_here


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Install what later commands need.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Set up groups of dependencies."""
    return run_here("setup", list(arguments))
