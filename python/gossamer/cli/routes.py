# SPDX-License-Identifier: Apache-2.0
"""``./gossamer routes``: generates the routing tables of a cluster, checks them for deadlock, prints figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.errors import AnswerNo, InputError
from gossamer.files import check_outputs, write_whole

if TYPE_CHECKING:
    from gossamer import routes as api

_FILE = click.Path(path_type=Path)


@click.command(short_help="Generate and check the routes between boards.")
@click.argument("topology")
@click.option("--vcs", metavar="N", type=int, help="Virtual channels of each virtual network on a link (2).")
@click.option("--down", metavar="NAME", multiple=True, help="A board (x0y0) or a cable (x0y0:east) to avoid.")
@click.option("--method", type=click.Choice(["auto", "dimension", "general"]), default="auto", help="Method (auto).")
@click.option("--config", metavar="NAME", help="Configuration of the boards of SMI's JSON (smi520n).")
@click.option("--tables", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option("--json", "json_path", metavar="FILE", type=_FILE, help="Write the figures to FILE.")
@click.option("--plot", metavar="FILE", type=_FILE, help="Draw boards, cables and loads: a PNG.")
@click.option("--check", "check_files", metavar="FILE", type=_FILE, multiple=True,
              help="Generate nothing; check these tables, several of them together.")  # fmt: skip
@click.option("--replaces", metavar="FILE", type=_FILE, multiple=True,
              help="Check together with these tables, which are in use.")  # fmt: skip
@click.option("--keys", metavar="FILE", type=_FILE, help="Check these multicast tables as well.")
@click.option("--expander", type=click.Choice(["channel", "port", "board"]), default="channel",
              help="Scope of a queue of a multicast router (channel).")  # fmt: skip
def command(
    topology: str,
    vcs: int | None,
    down: tuple[str, ...],
    method: str,
    config: str | None,
    tables: Path | None,
    json_path: Path | None,
    plot: Path | None,
    check_files: tuple[Path, ...],
    replaces: tuple[Path, ...],
    keys: Path | None,
    expander: str,
) -> None:
    """Generate the routes of TOPOLOGY: a name in config/clusters/, a TOML file, or SMI's JSON (a name in .json).

    Routes are shortest paths wherever these are safe. A check that shares no code with the generator then builds the
    graph of all channel dependencies, searches for a cycle, and prints the result. Exit code 1 if tables can deadlock,
    2 if the input is wrong.

    \b
    Examples:
      ./gossamer routes rack48
      ./gossamer routes torus8 --down x0y0:ch2 --tables torus8.routes --plot torus8.png
      ./gossamer routes torus8 --replaces torus8.routes --tables new.routes
      ./gossamer routes torus8 --check torus8.routes --check new.routes
    """
    from gossamer import routes
    from gossamer.routes import multicast_keys as key_tables

    found = routes.with_down(routes.read_topology(topology, config=config), down)
    if check_files and (tables or json_path or plot or replaces or down or vcs is not None or method != "auto"):
        raise InputError("--check generates nothing: omit the options of the generator")
    if plot is not None and plot.suffix.lower() != ".png":
        raise InputError(f"--plot {plot}: the picture is a PNG; use a name that ends with .png")
    # Tables may replace those that were in use: they are read before.
    outputs = [("--tables", tables), ("--json", json_path), ("--plot", plot)]
    check_outputs(outputs, [topology, *([] if keys is None else [keys])])
    older = [routes.read_tables(path, found) for path in (*check_files, *replaces)]
    loaded = key_tables.load(keys, found.cluster, found.hash) if keys is not None else None
    if check_files:
        _print_check(routes.check(found, *older, keys=loaded, shared=expander), len(older))
        return
    made = routes.generate(found, vcs=2 if vcs is None else vcs, method=method)
    report = routes.check(found, made.tables, keys=loaded, shared=expander)
    figures = routes.measure(made)
    _print_figures(made, figures)
    together = routes.check(found, made.tables, *older) if older and report.safe else None
    if json_path is not None:
        _write_json(json_path, made, figures, report, together)
    _print_check(report, 1)
    if together is not None:
        _print_check(together, 1 + len(older))
    if plot is not None:
        from gossamer.routes._plot import plot as draw

        draw(made, figures, plot)
        click.echo(f"{plot}: picture")
    # Last, so that only safe tables are written.
    if tables is not None:
        routes.write_tables(made.tables, tables)
        click.echo(f"{tables}: tables of {_count(figures.boards, 'board')}")


def _print_figures(made: api.Routes, figures: api.Figures) -> None:
    cluster = made.topology.cluster
    rows = [
        ("topology", f"{cluster.name} ({cluster.topology}): {_count(figures.boards, 'board')}, "
                     f"{_count(figures.cables, 'cable')}, {_count(len(cluster.hosts), 'host')}; "
                     f"{made.topology.hash[:12]}"),
        ("method", f"{made.tables.method}, {_count(made.tables.vcs, 'virtual channel')}"),
        ("hops", f"mean {figures.hops_mean:.3f}, max {figures.hops_max}"),
        ("shortest", _shortest(figures)),
        ("load", f"mean {figures.load_mean:.1f}, max {figures.load_max} routes over a direction of a cable "
                 f"({figures.busiest or 'none'})"),
        ("bisection", f"{_count(figures.bisection, 'cable')}, {figures.bisection_gbps:g} Gb/s in each direction"
                      f"{'' if figures.bisection_exact else ' (minimum over the cuts that were tried)'}"),
    ]  # fmt: skip
    if made.topology.down:
        rows.insert(1, ("down", ", ".join(made.topology.down)))
    for name, text in rows:
        click.echo(f"{name:<10} {text}")
    if figures.load_max != figures.load_min:
        most = max(count for _, _, count in figures.load_histogram())
        for low, high, count in figures.load_histogram():
            click.echo(
                f"{'':<10} {low:>7} .. {high:<7} {count:>6}  {'#' * max(count > 0, 40 * count // most)}".rstrip()
            )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shortest(figures: api.Figures) -> str:
    if figures.minimal == 1:
        return "all routes are shortest paths"
    longer = figures.hops_mean / figures.hops_shortest_mean - 1
    # Never rounded up to 100 %.
    share = min(figures.minimal, 0.9999)
    return (
        f"{share:.2%} of routes are shortest paths; the others are longer by at most "
        f"{_count(figures.longer_max, 'hop')}; total length exceeds shortest paths by {longer:.2%}"
    )


def _print_check(report: api.Report, tables: int) -> None:
    what = f"{tables} tables together" if tables > 1 else "checked"
    if report.fault is not None:
        if report.ring:
            click.echo(f"{'deadlock':<10} {what}: yes, a cycle of {_count(len(report.ring), 'channel')}:")
            for name in report.ring:
                click.echo(f"{'':<10} {name}")
        raise AnswerNo(f"{report.fault}; drain the fabric first" if tables > 1 else report.fault)
    keys = f", {report.keys:,} arrivals of keys" if report.keys else ""
    click.echo(
        f"{'deadlock':<10} {what}: none; {report.channels:,} channels in {_count(report.networks, 'virtual network')}, "
        f"{report.dependencies:,} dependencies{keys}, no cycle"
    )


def _write_json(
    path: Path, made: api.Routes, figures: api.Figures, report: api.Report, together: api.Report | None
) -> None:
    cluster = made.topology.cluster
    data: dict[str, Any] = {
        "topology": cluster.name,
        "hash": made.topology.hash,
        "method": made.tables.method,
        "vcs": made.tables.vcs,
        "down": list(made.topology.down),
        **figures.as_json(),
        "links": _links(made, figures),
        "check": _check_json(report),
    }
    if together is not None:
        data["check_with_replaced"] = _check_json(together)
    if made.topology.programs:
        data["ranks"] = [
            {"rank": board.index, "fpga": board.name, "program": made.topology.programs[board.index]}
            for board in cluster.boards
        ]
    write_whole(path, (json.dumps(data, indent=1) + "\n").encode())


def _check_json(report: api.Report) -> dict[str, Any]:
    return {
        "safe": report.safe,
        "fault": report.fault,
        "ring": list(report.ring),
        "channels": report.channels,
        "dependencies": report.dependencies,
        "virtual_networks": report.networks,
        "keys": report.keys,
    }


def _links(made: api.Routes, figures: api.Figures) -> list[dict[str, Any]]:
    from gossamer.routes._topology import link_name

    cluster = made.topology.cluster
    found = []
    for number, cable in enumerate(cluster.cables):
        ends = link_name(cluster, cable.a, cable.a_link), link_name(cluster, cable.b, cable.b_link)
        for direction in (0, 1):
            if (load := int(figures.load[number, direction])) >= 0:
                found.append({"from": ends[direction], "to": ends[1 - direction], "routes": load})
    return found
