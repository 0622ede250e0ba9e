# SPDX-License-Identifier: Apache-2.0
"""``./gossamer wheel``: builds the wheel and the source archive."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer import apps, prebuilt, wheel
from gossamer.errors import ExitCode, InputError
from gossamer.paths import BUILD


@click.command(short_help="Build the wheel and the source archive.")
@click.option("--output", "-o", metavar="FOLDER", default=str(BUILD / "dist"), help="Default: build/dist.")
@click.option("--levels", metavar="LEVELS", help=f"Processors to compile for; default: {','.join(prebuilt.LEVELS)}.")
@click.option("--apps", "names", metavar="NAMES", help="Applications to compile; default: all.")
def command(output: str, levels: str | None, names: str | None) -> int:
    """Build a wheel that runs the bundled applications without a compiler, and the source archive.

    Each application is compiled for each level of processors, which takes minutes at first. LEVELS and NAMES are
    separated by commas; an application that the wheel has not compiled is compiled on its first use.

    \b
    Examples:
      ./gossamer wheel
      ./gossamer wheel --levels x86-64-v3 --apps bfs,pagerank -o /tmp/wheels
    """
    made = wheel.build(
        Path(output),
        _chosen("--levels", levels, list(prebuilt.LEVELS)),
        _chosen("--apps", names, apps.names()),
    )
    for path in made:
        click.echo(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    return int(ExitCode.DONE)


def _chosen(option: str, given: str | None, known: list[str]) -> list[str]:
    """The known words that an option names, in their order; all of them without it."""
    if given is None:
        return known
    words = [word.strip() for word in given.split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise InputError(f"{option}: {word!r} is none of {', '.join(known)}")
    if not words:
        raise InputError(f"{option}: name one or more of {', '.join(known)}")
    return [word for word in known if word in words]
