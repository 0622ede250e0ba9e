# SPDX-License-Identifier: Apache-2.0
"""``gossamer config``: show, check and generate hardware configurations."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.config import Cluster, Config


@click.group(
    epilog="""\b
Examples:
  ./gossamer config show
  ./gossamer config show de5
  ./gossamer config show rack48
  ./gossamer config check mine.toml
  ./gossamer config generate de5 -o build/de5"""
)
def command() -> None:
    """Hardware configurations and cluster topologies.

    They are the files in config/ and config/clusters/; a file of your own may
    contain base = "de5" and only the keys that it changes.
    """


@command.command(
    epilog="""\b
Examples:
  ./gossamer config show                  a line for each configuration, cluster and constant
  ./gossamer config show de5              every key, its value, unit, range and meaning
  ./gossamer config show mine.toml
  ./gossamer config show rack48           boards, cables and hosts of a cluster
  ./gossamer config show stream_header    a shared enumeration or packet layout
  ./gossamer config show de5 --json"""
)
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def show(name: str | None, as_json: bool) -> None:
    """Print a configuration, a cluster or a shared constant.

    Without NAME, lists all of them.
    """
    if name is None:
        _show_list(as_json)
        return
    kind, found = _find(name)
    if kind == "config":
        _show_config(found, as_json)
    elif kind == "cluster":
        _show_cluster(found, as_json)
    else:
        _show_constant(kind, name, as_json)


@command.command(
    epilog="""\b
Examples:
  ./gossamer config check mine.toml
  ./gossamer config check config/*.toml config/clusters/*.toml"""
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def check(files: tuple[str, ...]) -> None:
    """Check configuration and cluster files.

    Prints the first error, with file, line and key, and exits with 2.
    """
    for file in files:
        kind, found = _find(file)
        if kind not in ("config", "cluster"):
            raise InputError(f"{file}: is a constant, not a configuration or cluster")
        click.echo(f"{file}: a valid {'configuration' if kind == 'config' else 'cluster'} ({_summary(found)})")


@command.command(
    epilog="""\b
Examples:
  ./gossamer config generate de5 -o build/de5
  ./gossamer config generate mine.toml -o build/mine --lang cpp
  ./gossamer config generate shell -o ip --lang sv          # constants of the Ethernet shell"""
)
@click.argument("name")
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder for the files; created if it is missing.")
@click.option(
    "--lang",
    type=click.Choice(["sv", "cpp", "all"]),
    default="all",
    show_default=True,
    help="sv: gossamer_pkg.sv; cpp: gossamer/config.h.",
)
def generate(name: str, output: str, lang: str) -> None:
    """Write the SystemVerilog package and the C++ header of a configuration, or of a folder of constants."""
    from gossamer import config
    from gossamer.config import constants

    if name in constants.packages() and name:
        paths = config.generate_constants(name, Path(output), lang)
    else:
        paths = config.generate(config.load(name), Path(output), lang)
    for path in paths:
        click.echo(path)


# ------------------------------------------------------------------ lookup


def _find(name: str) -> tuple[str, Any]:
    """The kind and object of a name or file; kinds are "config", "cluster", "enum", "layout" and "value"."""
    from gossamer import config
    from gossamer.config import constants
    from gossamer.config._source import near, read

    if "/" in name or name.endswith(".toml"):
        # Only a cluster has the key topology.
        if "topology" in read(Path(name), "a configuration or cluster").data:
            return "cluster", config.load_cluster(name)
        return "config", config.load(name)
    if name in config.names():
        return "config", config.load(name)
    if name in config.cluster_names():
        return "cluster", config.load_cluster(name)
    shared = constants.everything()
    tables: list[tuple[str, Iterable[str]]] = [
        ("enum", shared.enums),
        ("layout", shared.layouts),
        ("value", shared.values),
    ]
    for kind, table in tables:
        if name in table:
            return kind, None
    known = [*config.names(), *config.cluster_names(), *shared.enums, *shared.layouts, *shared.values]
    raise InputError(
        f"{name}: no configuration, cluster or constant has that name{near(name, known)}; "
        "`gossamer config show` lists them"
    )


def _summary(found: Config | Cluster) -> str:
    from gossamer.config import Cluster

    if isinstance(found, Cluster):
        return _count(
            (len(found.boards), "board"),
            (found.threads, "thread"),
            (len(found.cables), "cable"),
            (len(found.hosts), "host"),
        )
    return _count((found.tiles, "tile"), (found.cores, "core"), (found.threads, "thread"))


def _count(*things: tuple[int, str]) -> str:
    return ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in things)


# ---------------------------------------------------------------- printing


def _print_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2))


def _width() -> int:
    import shutil

    return max(60, min(140, shutil.get_terminal_size((110, 24)).columns))


def _table(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Prints a table with minimum column widths; the last column is wrapped to the terminal."""
    if not rows:
        return
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        left = indent + "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        width = max(20, _width() - len(left))
        lines = textwrap.wrap(row[-1], width) or [""]
        click.echo((left + lines[0]).rstrip())
        for line in lines[1:]:
            click.echo(" " * len(left) + line)


def _text(value: Any) -> str:
    """A value as text: integers with thousands separators, lists with commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return str(value) or "-"


def _show_list(as_json: bool) -> None:
    from gossamer import config
    from gossamer.config import constants

    configs = {name: config.load(name) for name in config.names()}
    clusters = {name: config.load_cluster(name) for name in config.cluster_names()}
    shared = constants.everything()
    if as_json:
        _print_json(
            {
                "configurations": {name: one.description for name, one in configs.items()},
                "clusters": {name: one.description for name, one in clusters.items()},
                "enums": {name: one.doc for name, one in shared.enums.items()},
                "layouts": {name: one.doc for name, one in shared.layouts.items()},
                "values": {name: one.doc for name, one in shared.values.items()},
            }
        )
        return
    groups: list[tuple[str, list[tuple[str, str]]]] = [
        ("Configurations", [(name, one.description) for name, one in configs.items()]),
        ("Clusters", [(name, one.description) for name, one in clusters.items()]),
        ("Enumerations", [(name, one.doc) for name, one in shared.enums.items()]),
        ("Layouts", [(name, f"{one.doc} ({one.bits} bits)") for name, one in shared.layouts.items()]),
        ("Values", [(name, one.doc) for name, one in shared.values.items()]),
    ]
    for number, (title, rows) in enumerate(groups):
        click.echo(("\n" if number else "") + title)
        _table(rows, "  ")


def _show_config(config: Config, as_json: bool) -> None:
    from gossamer.config._schema import derived_docs, knobs, section_docs
    from gossamer.config._source import range_text

    derived = derived_docs()
    if as_json:
        _print_json(
            {
                "name": config.name,
                "description": config.description,
                "base": config.base,
                "keys": {
                    knob.key: {
                        "value": list(knob.value) if isinstance(knob.value, tuple) else knob.value,
                        "unit": knob.unit,
                        "range": range_text(knob.field),
                        "meaning": knob.doc,
                    }
                    for knob in knobs(config)
                },
                "derived": {
                    name: {"value": getattr(config, name), "unit": unit, "meaning": doc}
                    for name, (doc, unit) in derived.items()
                },
            }
        )
        return
    click.echo(f"{config.name}: {config.description}")
    if config.base:
        click.echo(f"base: {config.base}")
    sections = section_docs(config)
    rows: dict[tuple[str, ...], list[tuple[str, str, str, str]]] = {}
    for knob in knobs(config):
        may_be = range_text(knob.field)
        meaning = f"{knob.doc} [{may_be}]" if may_be else knob.doc
        rows.setdefault(knob.path[:-1], []).append((knob.path[-1], _text(knob.value), knob.unit, meaning))
    for path, table in rows.items():
        click.echo(f"\n[{'.'.join(path)}]  {sections[path]}")
        _table(table, "  ")
    click.echo("\nDerived values")
    _table([(name, _text(getattr(config, name)), unit, doc) for name, (doc, unit) in derived.items()], "  ")


def _show_cluster(cluster: Cluster, as_json: bool) -> None:
    def end(board: int, link: int) -> str:
        one = cluster.boards[board]
        return f"{one.name}:{one.config.links.names[link]}"

    cables = [(end(cable.a, cable.a_link), end(cable.b, cable.b_link)) for cable in cluster.cables]
    hosts = [(host.name, end(host.board, host.link)) for host in cluster.hosts]
    if as_json:
        _print_json(
            {
                "name": cluster.name,
                "description": cluster.description,
                "topology": cluster.topology,
                "boards": {
                    board.name: {
                        "index": board.index,
                        "config": board.config.name,
                        "x": board.x,
                        "y": board.y,
                    }
                    for board in cluster.boards
                },
                "cables": cables,
                "hosts": dict(hosts),
                "threads": cluster.threads,
            }
        )
        return
    click.echo(f"{cluster.name}: {cluster.description}")
    click.echo(f"topology: {cluster.topology}; {_summary(cluster)}")
    click.echo("\nBoards")
    _table([(str(board.index), board.name, board.config.name) for board in cluster.boards], "  ")
    click.echo("\nCables")
    _table([(a, f"- {b}") for a, b in cables], "  ")
    if hosts:
        click.echo("\nHosts")
        _table([(name, f"- {place}") for name, place in hosts], "  ")


def _show_constant(kind: str, name: str, as_json: bool) -> None:
    from gossamer.config import constants

    if kind == "value":
        plain = constants.everything().values[name]
        if as_json:
            _print_json({"name": name, "value": plain.value, "unit": plain.unit, "meaning": plain.doc})
        else:
            click.echo(f"{name} = {plain.value} {plain.unit}".rstrip() + f": {plain.doc}")
    elif kind == "enum":
        one = constants.enumeration(name)
        if as_json:
            values = {
                key: {"value": value, "meaning": one.docs[key]}
                | ({"access": one.access[key]} if key in one.access else {})
                for key, value in one.values.items()
            }
            _print_json({"name": name, "bits": one.bits, "meaning": one.doc, "values": values})
            return
        click.echo(f"{name}: {one.doc} ({one.bits} bits)\n")
        digits = (one.bits + 3) // 4
        rows = [
            (key, str(value), f"0x{value:0{digits}X}", one.access.get(key, ""), one.docs[key])
            for key, value in one.values.items()
        ]
        _table(rows, "  ")
    else:
        layout = constants.layout(name)
        if as_json:
            fields = [
                {
                    "name": field.name,
                    "bits": field.bits,
                    "lsb": field.lsb,
                    "enum": field.enum,
                    "meaning": field.doc,
                }
                for field in layout.fields
            ]
            _print_json({"name": name, "bits": layout.bits, "meaning": layout.doc, "fields": fields})
            return
        click.echo(f"{name}: {layout.doc} ({layout.bits} bits)\n")
        table = []
        for field in layout.fields:
            top = field.lsb + field.bits - 1
            place = f"[{top}:{field.lsb}]" if field.bits > 1 else f"[{top}]"
            table.append((place, field.name, field.enum or "", field.doc))
        _table(table, "  ")
