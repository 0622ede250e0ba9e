# SPDX-License-Identifier: Apache-2.0
"""``./gossamer bench``: runs a suite of benchmarks and prints each row when it is measured."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import click

from gossamer.bench import Context, Row, machine_info, write_rows
from gossamer.errors import AnswerNo, InputError
from gossamer.files import check_writable
from gossamer.paths import ROOT

SUITES = ROOT / "bench"


def suites() -> list[str]:
    """The names of all suites."""
    return sorted(path.parent.name for path in SUITES.glob("*/__init__.py"))


def _load(suite: str) -> ModuleType:
    if suite not in suites():
        raise InputError(f"no such suite: {suite!r}; choose one of {', '.join(suites()) or 'none'}")
    if (shared := str(ROOT / "tests")) not in sys.path:
        sys.path.append(shared)  # models that suites share with tests
    name = f"gossamer_bench_{suite}"
    folder = SUITES / suite
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _about(path: Path) -> str:
    """What a suite measures: the first sentence of its module, without its own name."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = re.split(r"\.(?:\s|$)", " ".join(text.split()), maxsplit=1)[0]
    return re.sub(r"^The suite ``\w+``: ", "", first)


def _page() -> list[tuple[re.Pattern[str], str]]:
    """The rows that docs/benchmarks.md describes: a pattern of names, and the description."""
    found = []
    for line in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) < 4 or "`" not in cells[1]:
            continue
        for name in re.findall(r"`([^`]+)`", cells[1]):
            # Capitals in a name vary: PEER, tN.
            pattern = "".join(".+" if part.isupper() else re.escape(part) for part in re.split(r"([A-Z]+)", name))
            found.append((re.compile(pattern), cells[2].replace("`", "").strip()))
    return found


def _of_page(page: list[tuple[re.Pattern[str], str]], name: str) -> str:
    """The description of a row."""
    return next((text for pattern, text in page if pattern.fullmatch(name)), "")


def _names(module: ModuleType, context: Context) -> list[str]:
    expand = getattr(module, "expand", None)
    if context.scale is not None:
        expand = module.studies.expand
    return [name for name in (expand(context) if expand else module.NAMES) if context.wants(name)]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.0f}"


def _line(row: Row, width: int) -> str:
    if row.skipped is not None:
        return f"{row.name:<{width}}  skipped: {row.skipped}"
    text = f"{row.name:<{width}}  {_number(row.value):>10} {row.unit:<6}"
    if row.reference is not None:
        reference = row.reference
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else "-"
        text += f"  ratio {ratio:>6}   {reference['what']} {_number(reference['value'])} {reference['unit']}"
    return text.rstrip()


def _print_missed(rows: list[Row], width: int) -> int:
    """Prints the rows that miss their bounds again, at the end. Returns their number."""
    missed = [(row, why) for row in rows if (why := row.missed) is not None]
    if missed:
        click.echo("\nmissed:")
    for row, why in missed:
        click.echo(f"{_line(row, width)}   {why}")
    return len(missed)


def _peers(pairs: Iterable[str]) -> dict[str, Path]:
    peers = {}
    for pair in pairs:
        name, equals, folder = pair.partition("=")
        if not (name and equals and folder):
            raise InputError(f"--peer {pair}: write it as NAME=DIR, for example --peer gapbs=/opt/gapbs")
        if not Path(folder).is_dir():
            raise InputError(f"--peer {pair}: there is no folder {folder}; name the folder of {name}")
        peers[name] = Path(folder).resolve()
    return peers


@click.command(short_help="Run benchmarks against references.")
@click.argument("suite", required=False)
@click.option("--only", metavar="REGEX", help="Only rows whose name contains a match of REGEX.")
@click.option("--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write the rows to FILE.")
@click.option("--data", metavar="DIR", type=click.Path(path_type=Path), help="Folder with data that cannot be shipped.")
@click.option("--peer", "peers", metavar="NAME=DIR", multiple=True, help="Folder of a peer that cannot be installed.")
@click.option("--repeat", metavar="N", type=click.IntRange(min=1), help="Measure each row N times, use the median.")
@click.option("--full", is_flag=True, help="Also measure rows that take a quarter of an hour each.")
@click.option(
    "--scale",
    metavar="SHARE",
    help="The papers' studies instead, predicted with SHARE of their vertices: paper, small, or such as 1/20.",
)
@click.option("--list", "list_only", is_flag=True, help="Print the names of the rows (or of the suites) and stop.")
def command(
    suite: str | None,
    only: str | None,
    json_path: Path | None,
    data: Path | None,
    peers: tuple[str, ...],
    repeat: int | None,
    full: bool,
    scale: str | None,
    list_only: bool,
) -> None:
    """Measure SUITE. A ratio above 1 is better than the reference of the row.

    A row whose data or peer is missing is printed as skipped, with the reason. Rows that miss their bounds are printed
    again at the end, and the exit code is 1. After Ctrl-C, the file of --json contains the rows measured so far.
    Points of --scale are kept in build/bench/studies, so a study that was interrupted continues where it ended.

    \b
    Examples:
      ./gossamer bench --list
      ./gossamer bench graph --only 'pagerank.*t2' --json rows.json
      ./gossamer bench graph --data ~/graphs --peer gapbs=~/gapbs
      ./gossamer bench polite --scale 1/50 --json studies.json
    """
    if suite is None:
        if not list_only:
            raise InputError(f"name a suite; choose one of {', '.join(suites()) or 'none'}")
        width = max(map(len, suites()), default=0)
        click.echo("\n".join(f"{name:<{width}}  {_about(SUITES / name / '__init__.py')}" for name in suites()))
        click.echo("./gossamer bench SUITE --list lists the rows of a suite; docs/benchmarks.md describes them")
        return
    try:
        re.compile(only or "")
    except re.error as error:
        raise InputError(f"--only {only}: not a regular expression: {error}") from None
    if data is not None and not data.is_dir():
        raise InputError(f"--data {data}: no such folder; name the folder of the data")
    if json_path is not None:
        check_writable(json_path)
    share = None
    if scale is not None:
        from gossamer.bench import predicted  # needs packages that --list does not

        share = predicted.scale_of(scale)
    context = Context(suite, only, data.resolve() if data else None, _peers(peers), repeat, full=full, scale=share)
    module = _load(suite)
    if scale is not None and not hasattr(module, "studies"):
        some = ", ".join(name for name in suites() if (SUITES / name / "studies.py").is_file())
        raise InputError(f"--scale {scale}: suite {suite} has no studies; these have: {some}")
    if list_only:
        names = _names(module, context)
        width = max(map(len, names), default=0)
        about = _page()
        lines = [f"{name:<{width}}  {_of_page(about, name)}".rstrip() for name in names]
        if lines:
            click.echo("\n".join(lines))
        return
    context.machine = machine_info()
    names = _names(module, context)
    if not names:
        raise InputError(f"no row of suite {suite} matches {only!r}; ./gossamer bench {suite} --list shows them")
    rows: list[Row] = []
    click.echo("   ".join(f"{key}: {value}" for key, value in context.machine.items()))
    try:
        width = max(map(len, names))
        for got in (module if share is None else module.studies).rows(context):
            for row in [got] if isinstance(got, Row) else got:
                if context.wants(row.name):
                    rows.append(row)
                    click.echo(_line(row, width))
    finally:
        # Also after Ctrl-C and after a failure, so that no measured row is lost.
        if json_path is not None:
            write_rows(json_path, rows)
    missed = _print_missed(rows, width)
    lacking = sorted(set(names) - {row.name for row in rows})
    if lacking:
        raise AnswerNo(f"suite {suite} has measured no row for {', '.join(lacking)}")
    if missed:
        raise AnswerNo(f"{missed} of {len(rows)} row{'' if len(rows) == 1 else 's'} missed a bound")
