# SPDX-License-Identifier: Apache-2.0
"""``gossamer graph``: inspects and converts graph files, generates graphs from a seed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gossamer.files import check_writable
from gossamer.graph._formats import FORMATS, WRITTEN
from gossamer.wording import counted

if TYPE_CHECKING:
    from gossamer.graph import Graph

_Function = TypeVar("_Function", bound=Callable[..., Any])

RULE = (
    "Every edge of the file is kept, also parallel edges and self-loops (--dedupe and --no-loops remove\n"
    "them). Symmetric Matrix Market and METIS edges, and with --undirected all edges, are stored in both\n"
    "directions, a self-loop once. Labels are those of the file."
)
"""The rule by which edges are read from files, as ``graph info`` prints it."""


_FILES = "\n".join(f"  {form.title:<15} {form.about}" for form in FORMATS.values())


@click.group(
    epilog=f"""\b
Files (detected by their content; plain, gzip, zstd, xz or bzip2; "-" is standard input):
{_FILES}
  gen:KIND:...    a generated graph instead of a file, such as gen:rmat:scale=18,seed=1

\b
Examples:
  ./gossamer graph info web.mtx.gz
  ./gossamer graph convert roads.gr.gz roads.gsg
  ./gossamer graph generate rmat --scale 18 -o rmat18.gsg"""
)
def command() -> None:
    """Inspect, convert and generate graphs."""


def _reading(function: _Function) -> _Function:
    """Adds the options of commands that read a graph."""
    from_file = click.option(
        "--format",
        type=click.Choice(list(FORMATS)),
        help="Format of the input, if content and name do not tell.",
    )
    columns = click.option(
        "--columns",
        metavar="S,T[,W]",
        help="Columns of source, target and weight in an edge list: numbers from 1, or names in the first line.",
    )
    undirected = click.option("--undirected", is_flag=True, help="Store every edge in both directions.")
    dedupe = click.option("--dedupe", is_flag=True, help="Of parallel edges keep the one of least weight.")
    loops = click.option("--no-loops", is_flag=True, help="Drop self-loops.")
    threads = click.option("--threads", type=click.IntRange(1, 1024), help="Default: one per core.")
    return from_file(columns(undirected(dedupe(loops(threads(function))))))


def _read(path: str, options: dict[str, Any]) -> Graph:
    from gossamer.graph import read_graph

    options["drop_loops"] = options.pop("no_loops")
    return read_graph(path, **options)


@command.command(
    epilog="""\b
Examples:
  ./gossamer graph info web.mtx.gz
  ./gossamer graph info gen:geo:vertices=1000,fanout=10,radius=0.1
  zcat edges.txt.gz | ./gossamer graph info - --undirected --dedupe
  ./gossamer graph info flights.csv --columns from,to,miles
  ./gossamer graph info web.mtx.gz --json"""
)
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
@_reading
def info(file: str, as_json: bool, **options: Any) -> None:
    """Read FILE and print its properties.

    Prints counts, degrees, weights and labels, and the rule by which edges are read.
    """
    begin = time.perf_counter()
    graph = _read(file, options)
    seconds = time.perf_counter() - begin
    facts = _facts(graph)
    facts["read_seconds"] = round(seconds, 4)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    wide = max(map(len, facts))
    for key, value in facts.items():
        if key != "notes":
            click.echo(f"{key.replace('_', ' '):<{wide}}  {_shown(value)}")
    for note in graph.notes:
        click.echo(f"note: {note}")
    click.echo(f"\n{RULE}")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return f"{value['degree']:,} (vertex {value['vertex']})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _facts(graph: Graph) -> dict[str, Any]:
    import numpy as np

    census = graph.census()
    rows = graph.out
    kind = "none"
    if rows.weights is not None:
        kind = rows.weights.dtype.name
        if graph.edges:
            kind += f", {rows.weights.min()} .. {rows.weights.max()}"
    labels = f"{graph.base} .. {graph.vertices - 1 + graph.base}"
    if graph.labels is not None:
        ends = f"{graph.label_of(0)} .. {graph.label_of(graph.vertices - 1)}"
        labels = f"numbers {ends}, with gaps" if isinstance(graph.labels, np.ndarray) else f"words, {ends}"
    parts = (rows.offsets, rows.targets, rows.weights)
    return {
        "graph": graph.name,
        "vertices": graph.vertices,
        "edges": graph.edges,
        "symmetric": graph.symmetric,
        "weights": kind,
        "labels": labels,
        "self_loops": census["loops"],
        "parallel_edges": census["parallel"],
        "without_edges": census["isolated"],
        "without_out_edges": census["sinks"],
        "without_in_edges": census["sources"],
        "most_out_edges": {
            "degree": census["most_out"],
            "vertex": graph.label_of(census["most_out_vertex"]),
        },
        "most_in_edges": {"degree": census["most_in"], "vertex": graph.label_of(census["most_in_vertex"])},
        "memory_bytes": sum(part.nbytes for part in parts if part is not None),
        "notes": list(graph.notes),
    }


@command.command(
    epilog=f"""\b
The ending of OUTPUT selects the format: {" ".join(WRITTEN)};
text formats may be followed by .gz .zst .xz .bz2.

\b
Examples:
  ./gossamer graph convert web.mtx.gz web.gsg
  ./gossamer graph convert soc-LiveJournal1.txt.gz lj.gsg --undirected --dedupe
  ./gossamer graph convert roads.gsg roads.gr.gz"""
)
@click.argument("input", metavar="INPUT")
@click.argument("output", metavar="OUTPUT")
@click.option(
    "--both/--out-only",
    default=True,
    help="Whether a .gsg contains the edges by destination as well (default), or only by source.",
)
@click.option("--drop-isolated", is_flag=True, help="Allow an edge list to lose vertices without edges.")
@_reading
def convert(input: str, output: str, both: bool, drop_isolated: bool, **options: Any) -> None:
    """Convert INPUT to OUTPUT, which is written completely or not at all."""
    from gossamer.graph._write import format_of

    # Before the long work.
    format_of(output)
    check_writable(Path(output))
    _write(_read(input, options), output, both=both, drop_isolated=drop_isolated)


def _write(graph: Graph, output: str, **options: Any) -> None:
    from gossamer.graph import write_graph

    notes = (*graph.notes, *write_graph(graph, output, **options))
    kind = "symmetric, " if graph.symmetric else ""
    vertices = counted(graph.vertices, "vertex", "vertices", grouped=True)
    click.echo(f"{output}: {vertices}, {kind}{counted(graph.edges, 'edge', grouped=True)}")
    for note in notes:
        click.echo(f"note: {note}", err=True)


@command.group(
    epilog="""\b
Examples:
  ./gossamer graph generate rmat --scale 18 -o rmat18.gsg
  ./gossamer graph generate geometric --vertices 200000 --fanout 100 --radius 0.02 -o geo.mtx.gz
  ./gossamer graph generate grid --width 640 --height 625 --weights 1:100 -o grid.gr

\b
Without a file, wherever a command expects a graph:
  ./gossamer graph info gen:rmat:scale=18,seed=1"""
)
def generate() -> None:
    """Generate a graph from a seed; the result is the same on every machine and for every number of threads."""


def _generating(function: _Function) -> _Function:
    """Adds the options of all generators."""
    output = click.option("-o", "--output", required=True, metavar="FILE", help="File with an ending as in convert.")
    weights = click.option("--weights", metavar="LOW:HIGH", help="Random integer weights, both limits included.")
    seed = click.option("--seed", type=int, default=1, show_default=True)
    threads = click.option("--threads", type=click.IntRange(1, 1024), default=None, help="Default: one per core.")
    return output(weights(seed(threads(function))))


def _generate(kind: str, output: str, weights: str | None, threads: int | None, **options: Any) -> None:
    from gossamer.graph import generate as generators
    from gossamer.graph._write import format_of

    format_of(output)
    check_writable(Path(output))
    limits = None if weights is None else generators.weight_range(weights)
    graph = generators.KINDS[kind](weights=limits, threads=threads or 0, **options)
    _write(graph, output, drop_isolated=True)


@generate.command(
    epilog="""\b
Example:
  ./gossamer graph generate geometric --vertices 200000 --fanout 100 --radius 0.02 -o geo.gsg"""
)
@click.option("--vertices", type=int, required=True)
@click.option("--fanout", type=int, default=100, show_default=True, help="Out-edges of each vertex.")
@click.option(
    "--radius",
    type=float,
    default=0.02,
    show_default=True,
    help="Radius of the neighbourhood; the side of the square is 1.",
)
@click.option(
    "--order",
    type=click.Choice(["space", "random"]),
    default="space",
    show_default=True,
    help="Whether near vertices have near numbers.",
)
@_generating
def geometric(**options: Any) -> None:
    """Vertices in a square, connected at random to near vertices."""
    _generate("geometric", **options)


@generate.command(
    epilog="""\b
Example:
  ./gossamer graph generate rmat --scale 18 --symmetric --simple -o rmat18.gsg"""
)
@click.option("--scale", type=int, required=True, help="2^SCALE vertices.")
@click.option("--edge-factor", type=int, default=16, show_default=True, help="Edges per vertex.")
@click.option("--a", type=float, default=0.57, show_default=True)
@click.option("--b", type=float, default=0.19, show_default=True)
@click.option("--c", type=float, default=0.19, show_default=True)
@click.option("--symmetric", is_flag=True, help="Add the reverse of every edge.")
@click.option("--simple", is_flag=True, help="Without parallel edges and self-loops.")
@click.option("--permute/--no-permute", default=True, help="Shuffle the vertices' numbers (default).")
@_generating
def rmat(**options: Any) -> None:
    """Recursive matrix: few vertices with very many edges, as in social networks."""
    _generate("rmat", **options)


@generate.command(
    epilog="""\b
Example:
  ./gossamer graph generate grid --width 640 --height 625 --weights 1:100 -o grid.gr"""
)
@click.option("--width", type=int, required=True)
@click.option("--height", type=int, required=True)
@_generating
def grid(**options: Any) -> None:
    """Each vertex connected to its four neighbours, in both directions."""
    _generate("grid", **options)


@generate.command(
    epilog="""\b
Example:
  ./gossamer graph generate cube --width 20 --height 20 --depth 20 --neighbours 26 --around -o cells.gsg"""
)
@click.option("--width", type=int, required=True)
@click.option("--height", type=int, required=True)
@click.option("--depth", type=int, required=True)
@click.option(
    "--neighbours",
    type=int,
    default=6,
    show_default=True,
    help="6, or 26 including neighbours across edges and corners.",
)
@click.option("--around", is_flag=True, help="Connect opposite faces.")
@_generating
def cube(**options: Any) -> None:
    """Each vertex connected to its neighbours in three dimensions, in both directions."""
    _generate("cube", **options)


@generate.command(
    epilog="""\b
Example:
  ./gossamer graph generate ring --vertices 1000 -o ring.mtx"""
)
@click.option("--vertices", type=int, required=True)
@_generating
def ring(**options: Any) -> None:
    """An edge from each vertex to the next, and from the last to the first."""
    _generate("ring", **options)
