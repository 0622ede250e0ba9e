# SPDX-License-Identifier: Apache-2.0
"""``./gossamer report``: a page about a run, or about several side by side, from their statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gossamer import files
from gossamer.errors import InputError


@click.command(short_help="Write a page about a run, or compare runs.")
@click.argument("stats", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--output", "-o", metavar="FILE", type=click.Path(path_type=Path),
              help="The page (default: the first file's name with .html).")  # fmt: skip
def command(stats: tuple[Path, ...], output: Path | None) -> None:
    """Write a self-contained HTML page from files that `--stats FILE` wrote.

    With several files the page compares their runs with the first: all numbers with differences and percent, charts
    side by side with the same scales. They must be runs of one program.

    \b
    Example:
      ./gossamer run pagerank web.mtx -t 1 --stats one.json
      ./gossamer run pagerank web.mtx -t 8 --stats eight.json
      ./gossamer report one.json eight.json -o threads.html
    """
    from gossamer.watch import report, statistics

    files.check_outputs([("--output", output)], stats)
    runs = [statistics.read(path) for path in stats]
    target = output or stats[0].with_suffix(".html")
    files.check_outputs([("the page", target)], stats)
    names = [str(path) for path in stats]
    report.check_comparable(runs, names)
    stems = [path.stem for path in stats]
    labels = stems if len(set(stems)) == len(stems) else [f"{at + 1}: {stem}" for at, stem in enumerate(stems)]
    try:
        page = report.page(runs, labels if len(runs) > 1 else ())
    except _DAMAGED:
        for run, name in zip(runs, names, strict=True):
            _check_shown(run, name)
        raise
    files.write_whole(target, page.encode("utf-8", "replace"))
    click.echo(f"wrote {target}")


_DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What values that no run has may raise, such as no cores: the schema does not state how values depend on others."""


def _check_shown(run: dict[str, Any], name: str) -> None:
    """Raises InputError if a run cannot be shown alone."""
    from gossamer.watch import report

    try:
        report.page([run])
    except _DAMAGED:
        raise InputError(f"{name}: is damaged: its numbers contradict each other; repeat the run") from None


__all__ = ["command"]
