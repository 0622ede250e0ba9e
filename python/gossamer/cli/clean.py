# SPDX-License-Identifier: Apache-2.0
"""``./gossamer clean``: implemented in the launcher; this module serves ``python -m gossamer``."""

from __future__ import annotations

import click

from gossamer_setup import run_here


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Remove build products.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Remove build products."""
    return run_here("clean", list(arguments))
