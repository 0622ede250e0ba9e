# SPDX-License-Identifier: Apache-2.0
"""``./gossamer doctor``: implemented in the launcher; this module serves ``python -m gossamer``."""

from __future__ import annotations

import click

from gossamer_setup import run_here


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Check this installation.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Check this machine."""
    return run_here("doctor", list(arguments))
