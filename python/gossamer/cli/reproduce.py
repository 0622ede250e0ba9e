# SPDX-License-Identifier: Apache-2.0
"""``./gossamer reproduce``: writes the page with every table and figure of the five papers, and ours next to them."""

from __future__ import annotations

import time
from pathlib import Path

import click

from gossamer.errors import InputError

_FILE = click.Path(path_type=Path)
_PAGE = Path("reproduction.html")


@click.command(short_help="Compare this project with the five papers: one page.")
@click.option("-o", "--output", metavar="FILE", type=_FILE, default=_PAGE, help=f"The page ({_PAGE}).")
@click.option("--rows", "folders", metavar="DIR", type=_FILE, multiple=True,
              help="Add the rows of all files of ./gossamer bench --json in DIR (or one file).")  # fmt: skip
@click.option("--measure", is_flag=True, help="Measure the quick rows first: minutes.")
@click.option("--list", "list_only", is_flag=True, help="List tables and figures with their state, and write no page.")
@click.option("--update", is_flag=True, help="Also keep the added rows as the project's shipped measurement.")
def command(output: Path, folders: tuple[Path, ...], measure: bool, list_only: bool, update: bool) -> None:
    """Write a page with every table and figure of the five papers, and this project's figures next to them.

    The page is one file that needs no network. Without options, its figures are those of the shipped measurement, and
    it is written within seconds. --measure repeats those that take little time; --rows adds longer measurements. A row
    that is measured or added replaces the shipped one.

    \b
    Examples:
      ./gossamer reproduce
      ./gossamer reproduce --measure -o today.html
      ./gossamer bench polite --json rows/polite.json && ./gossamer reproduce --rows rows
    """
    from gossamer.files import check_writable, write_whole
    from gossamer.reproduce import compare, facts, page, row_files

    if update and not (folders or measure):
        raise InputError("--update keeps added rows: add some with --rows DIR or --measure")
    if not list_only:
        check_writable(output)
    rows = row_files.shipped()
    given = [row for folder in folders for row in row_files.read_folder(folder)]
    rows.add(given)
    now: list[row_files.Row] = []
    if measure:
        from gossamer.reproduce import measuring

        now = measuring.quick()
        rows.add(now)
    papers = facts.papers()
    if update:
        kept = [row for row in rows if row.source != row_files.WRITTEN_DOWN and row.data.get("value") is not None]
        row_files.write(row_files.MEASURED, kept)
        click.echo(f"{row_files.MEASURED}: {len(kept)} rows")
    if list_only:
        _print_list(papers, rows)
        return
    text = page.page(papers, rows, page.Sources(time.strftime("%Y-%m-%d")))
    write_whole(output, text.encode())
    items = [item for paper in papers for item in paper.items]
    states = [compare.state(item, rows) for item in items]
    counts = ", ".join(f"{states.count(key)} {name}" for key, (name, _) in compare.STATES.items())
    click.echo(f"{output}: {len(items)} tables and figures: {counts}")


def _print_list(papers: tuple[object, ...], rows: object) -> None:
    from gossamer.reproduce import compare, facts, row_files

    assert isinstance(rows, row_files.Rows)
    for paper in papers:
        assert isinstance(paper, facts.Paper)
        click.echo(f"{paper.title} ({paper.venue})")
        for item in paper.items:
            state = compare.STATES[compare.state(item, rows)][0]
            click.echo(f"  {item.number:<16} {state:<20} {item.title}")


__all__ = ["command"]
