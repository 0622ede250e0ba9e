# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run``: an application on a graph, a program with a host of its own, or one for a tile."""

from __future__ import annotations

import os
import shlex
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer import files, processes
from gossamer.cli import _host_program, _program_arguments, _run_arguments, _run_output, _tile_program, _vertex_hardware
from gossamer.errors import AnswerNo, ExitCode, GraphWarning, InputError, RunDied, signal_name
from gossamer.paths import DATA

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.apps.results import Result
    from gossamer.graph import Graph

BUNDLED = DATA / "debian12.adj.gz"

_HELP = """Usage: ./gossamer run APP [GRAPH] [PARAMETERS] [OPTIONS]
       ./gossamer run PROGRAM.cpp [ARGUMENTS]
       ./gossamer run FILE.c... | FOLDER --engine rtl [OPTIONS] [-- ARGUMENTS]

Runs an application on a graph and shows the most telling part of the result.
APP is one of ours ({apps}) or
the header of your own vertex. GRAPH is a file (Matrix Market, edge list, adjacency
list, METIS, DIMACS, .gsg; plain, gzip, zstd, xz or bzip2), gen:KIND:... for a made
one, or - for standard input; without it: the packages of Debian 12 and their
dependencies.
PROGRAM.cpp is a program with a host of its own; its exit code is ours. --engine
(rtl too) and other options stand before it.
A FOLDER with a host that includes HostLink.h is built and run with its host, whose
arguments stand behind -- (docs/hostlink.md).
FILEs (.c, .cpp, .S, .o, .elf) or a FOLDER of them with --engine rtl are a program
for threads of the simulated hardware; ./gossamer run PROGRAM.c --help says how.

Options:
  -e, --engine NAME     cpu (default), shuffle, or rtl: the simulated hardware
  -t, --threads N       threads to use (default: every CPU)
  -k, --top K           how many lines of the result to show (default 10)
  -o, --output FILE     write the result: .npy, .npz or .csv (may be repeated)
      --stats FILE      write the statistics as JSON
      --format NAME     {formats}, where content and
                        name of the file do not say it
      --undirected      edges go both ways, whatever the file says
      --dedupe          of edges with the same ends keep the one of least weight
      --no-loops        drop self-loops
      --shuffle SEED    run again with random message order and delays; exit
                        with 1 if the result differs
  -D, --define M=VALUE  a macro for the application's header
  -h, --help            this, or after APP: its parameters

Exit code: 0 done, 1 --shuffle found a difference, 2 the input is wrong, 4 the run died
or what it came to is no answer (it did not converge, a value overflowed): no file is
written then.
"""

_EXAMPLES = """
Examples:
  ./gossamer run pagerank
  ./gossamer run pagerank web.mtx.gz --iterations 20 -o ranks.npy
  ./gossamer run sssp roads.gr --source 17 --top 5
  ./gossamer run hashmin gen:rmat:scale=16,seed=1 --threads 1
  ./gossamer run mine/vertex.h graph.mtx --shuffle 7
  ./gossamer run examples/paths/host.cpp
  ./gossamer run hashmin gen:grid:width=40,height=40 --engine rtl --config tiny
  ./gossamer run --engine rtl --config tiny examples/paths/host.cpp
  ./gossamer run programs/hello.c --engine rtl --config tiny
"""


class Words(click.Command):
    """Keeps apart what stands behind --, which click would only leave out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["behind"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=Words,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Run an application on a graph.

    The words are parsed here and not by click: which of them are parameters,
    and which of those take a value, is for the application to say.
    """
    if _tile_program.is_one(words):
        if (at := _program_arguments.host_at(words)) is not None:
            behind = words[at + 1 :] + ctx.meta["behind"]
            sys.exit(_host_program.run(_program_arguments.Request.of(words[: at + 1]), behind))
        _tile_program.run(words, ctx.meta["behind"])
        return
    words += ctx.meta["behind"]
    at = _run_arguments.first_plain(words, _run_arguments.VALUES)
    if at is not None and words[at].endswith(_run_arguments.PROGRAMS):
        sys.exit(_run_program(words[:at], words[at], words[at + 1 :]))
    _run_app(words)


def _show_help(app: App | None, typed: str) -> None:
    from gossamer import apps

    if app is None:
        from gossamer.graph._formats import NAMES

        general = _HELP.format(apps=", ".join(apps.names()), formats=NAMES)
        click.echo(general + "\n" + _vertex_hardware.HELP + _EXAMPLES.rstrip())
        return
    click.echo(f"{app.name}: {app.summary}")
    click.echo(f"\nUsage: ./gossamer run {typed} [GRAPH] [PARAMETERS] [OPTIONS]\n\nParameters:")
    for p in app.parameters:
        number = f"{p.default}" if p.kind == "integer" else f"{p.default:g}"
        several = "; more than once for several" if p.kind == "vertices" else ""
        usual = {"vertex": "first vertex", "vertices": "first vertex", "flag": "yes" if p.default else "no"}.get(
            p.kind, number
        )
        kind = (
            ""
            if p.kind == "flag"
            else {"real": " X", "integer": " N", "vertex": " LABEL", "vertices": " LABEL"}[p.kind]
        )
        click.echo(f"  --{p.name + kind:<20} {p.help} (default: {usual}{several})")
    if not app.parameters:
        click.echo("  none")
    click.echo("\nResult, one value a vertex:")
    for c in app.columns:
        click.echo(f"  {c.name:<22} {c.help} ({'a vertex' if c.vertex else c.dtype})")
    click.echo(f"\nA vertex: {app.state_bytes} bytes of state, {app.message_bytes} of message.")
    click.echo(f"\nExample:\n  ./gossamer run {typed} gen:rmat:scale=10,seed=1 --top 20")
    click.echo("Options: ./gossamer run --help")


def _run_app(words: tuple[str, ...]) -> None:
    request = _run_arguments.Request.of_app(words)
    app = request.compiled
    if "help" in request.flags:
        _show_help(app, shlex.quote(request.app))
        return
    if app is None:
        raise InputError("which application? for instance: ./gossamer run pagerank (see ./gossamer run --help)")

    from gossamer import engines
    from gossamer.apps import runner
    from gossamer.graph import read_graph

    # What can be refused without the graph is refused before it is read.
    threads = request.number("threads", 0, 1, runner.MOST_THREADS)
    top = request.number("top", 10, 0)
    request.number("shuffle", 0, 0)
    engine: str | engines.Engine = request.one("engine", "cpu") or "cpu"
    hardware = {name: request.options[name] for name in _run_arguments.HARDWARE if name in request.options}
    asked = None
    if engine == "rtl":
        asked = _vertex_hardware.Asked(app.name, hardware)
        engine = asked.engine
    elif hardware:
        raise InputError(f"--{next(iter(hardware))}: is for the simulated hardware; add --engine rtl")
    else:
        engines.get(str(engine))
    given: dict[str, Any] = dict(request.parameters)
    for name, value in given.items():
        if app.parameter(name).kind not in ("vertex", "vertices"):
            runner.check_number(app, app.parameter(name), value)
    outputs = [_run_output.writer(Path(name)) for name in request.options.get("output", [])]
    stats = request.one("stats")
    if stats is not None:
        files.check_writable(Path(stats))

    begun = time.perf_counter()
    graph = read_graph(
        request.graph or BUNDLED,
        format=request.one("format"),
        undirected="undirected" in request.flags,
        dedupe="dedupe" in request.flags,
        drop_loops="no-loops" in request.flags,
    )
    read_seconds = time.perf_counter() - begun
    for note in (*graph.notes, *runner.weight_notes(app, graph)):
        click.echo(f"note: {note}", err=True)
    warnings.simplefilter("ignore", GraphWarning)
    try:
        result = runner.run(app, graph, engine=engine, threads=threads or None, **given)
    finally:
        if asked is not None:
            asked.show()
    for write in outputs:
        write(result)
    if stats is not None:
        _run_output.write_stats(Path(stats), result, request.parameters, read_seconds)
    _run_output.show(result, top)
    if request.one("shuffle") is not None:
        _shuffle(request, app, graph, result)


def _shuffle(request: _run_arguments.Request, app: App, graph: Graph, result: Result) -> None:
    from gossamer.apps import runner

    seed = request.number("shuffle", 0, 0)
    given: dict[str, Any] = dict(request.parameters)
    other = runner.run(app, graph, engine="shuffle", seed=seed, **given)
    wrong = runner.difference(result, other)
    if wrong is None:
        click.echo(f"shuffled with seed {seed}: the same, after {other.stats['deliveries']:,} messages")
        return
    raise AnswerNo(
        f"{app.name}: depends on the order of its messages: with seed {seed}, {wrong.column} of vertex "
        f"{graph.label_of(wrong.vertex)} is {_run_output.text_of(other, wrong.column, wrong.vertex)} instead of "
        f"{_run_output.text_of(result, wrong.column, wrong.vertex)} ({wrong.count} of {graph.vertices} values differ)"
    )


# ---- Programs with a host of their own -------------------------------------------


def _run_program(before: tuple[str, ...], source: str, arguments: tuple[str, ...]) -> int:
    """Compiles a program and runs it; gives its exit code."""
    from gossamer import engines
    from gossamer.hosts import pgraph

    request = _run_arguments.Request.of_program(before)
    if "help" in request.flags:
        _show_help(None, "")
        return ExitCode.DONE
    engine = request.one("engine", "cpu") or "cpu"
    environment = dict(os.environ)
    shuffle = request.one("shuffle")
    if shuffle is not None:
        engine, environment["GOSSAMER_SEED"] = "shuffle", str(request.number("shuffle", 0, 0))
    engines.get(engine)
    environment["GOSSAMER_ENGINE"] = engine
    environment["GOSSAMER_THREADS"] = str(request.number("threads", 0, 1))
    environment["GOSSAMER_SOURCE"] = source
    binary = pgraph.compile_program(Path(source), request.options.get("define", []))
    code = processes.run_attended([binary, *arguments], env=environment)
    if code < 0:
        raise RunDied(f"{source}: the program died of {signal_name(-code)}")
    return code
