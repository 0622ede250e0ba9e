# SPDX-License-Identifier: Apache-2.0
"""``./gossamer diff``: compares two results by label."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer import progress
from gossamer.errors import ExitCode, InputError
from gossamer.wording import counted

if TYPE_CHECKING:
    from gossamer.apps.comparison import Comparison


def _tolerance(_context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not 0 <= value < math.inf:
        raise InputError(f"--{parameter.name} {value}: must be a finite number of at least 0")
    return value


@click.command(short_help="Compare two results.")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option(
    "--absolute",
    "-a",
    metavar="X",
    type=float,
    default=0.0,
    callback=_tolerance,
    help="Accept differences of at most X (default 0).",
)
@click.option(
    "--relative",
    "-r",
    metavar="X",
    type=float,
    default=0.0,
    callback=_tolerance,
    help="Accept differences of at most X times the larger value (default 0).",
)
@click.option(
    "--column", "-c", "columns", metavar="NAME", multiple=True, help="Compare only this column (may be repeated)."
)
@click.option("--top", "-k", metavar="K", type=click.IntRange(min=0), default=10,
              help="Number of differences to print (default 10).")  # fmt: skip
def command(
    first: Path, second: Path, absolute: float, relative: float, columns: tuple[str, ...], top: int
) -> None:  # fmt: skip
    """Compare two results by label: files that `./gossamer run --output` wrote.

    Numbers agree if their difference is within one of both tolerances. NaN agrees with NaN, an infinity with the same
    infinity; text (labels in columns of vertices) must be equal. A vertex that only one file has is a difference. The
    worst differences are printed first. Vertices of a .npy file are indices, and its values have no name: they are
    compared with the other file's only column, or with that of --column.

    Exit code: 0 the results agree, 1 they differ, 2 a file cannot be read or has other columns.

    \b
    Examples:
      ./gossamer diff ranks.csv other.csv --relative 1e-6
      ./gossamer diff a.npz b.npz --column distance --top 3
    """
    from gossamer.apps import comparison

    with progress.bar(None, "comparing"):
        tables = [comparison.read_table(path) for path in (first, second)]
        found = comparison.compare(*tables, absolute=absolute, relative=relative, columns=columns)
    what = f"{counted(found.vertices, 'vertex', 'vertices')}, {', '.join(found.columns)}"
    if found:
        click.echo(f"{first} and {second} agree: {what}; the greatest difference is {found.greatest:g}")
        return
    click.echo(f"{first} and {second} differ: {_summary(found, str(first), str(second))}")
    for difference in found.differences[:top]:
        click.echo(f"  {difference.text(str(first), str(second))}")
    if top and len(found.differences) > top:
        click.echo(f"  and {len(found.differences) - top:,} more")
    sys.exit(ExitCode.NO)


def _summary(found: Comparison, first: str, second: str) -> str:
    """The number of differences of each kind."""
    parts = []
    for column in found.columns:
        count = sum(one.column == column for one in found.differences)
        if count:
            parts.append(f"{column} of {count:,} of {counted(found.vertices, 'vertex', 'vertices')}")
    missing = [one for one in found.differences if not one.column]
    for name, count in ((first, sum(one.second is None for one in missing)),
                        (second, sum(one.first is None for one in missing))):  # fmt: skip
        if count:
            parts.append(f"{counted(count, 'vertex is', 'vertices are')} only in {name}")
    return "; ".join(parts)


__all__ = ["command"]
