# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run``: an application on a graph, a program with a host of its own, or a program for a tile."""

from __future__ import annotations

import os
import shlex
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer import files, processes
from gossamer.cli import (
    _guests,
    _host_program,
    _program_arguments,
    _program_output,
    _run_arguments,
    _run_distributed,
    _run_output,
    _tile_program,
)
from gossamer.cli._program_arguments import Request as _ProgramRequest
from gossamer.cli._run_arguments import PASSED_THROUGH, PassThroughCommand
from gossamer.errors import AnswerNo, ExitCode, GraphWarning, InputError, RunDied, signal_name
from gossamer.paths import DATA

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.apps.results import Result
    from gossamer.engines.rtl_vertices import Hardware
    from gossamer.graph import Graph
    from gossamer.watch.timeline import Recorded, Timeline


BUNDLED = DATA / "debian12.adj.gz"
_CONFIGURATION = (
    "format", "columns", "define", "config", "cluster", "routes", "frame-loss", "cut", "seed", "max-steps",
    "max-cycles", "workers", "partition",
)  # fmt: skip
"""Options that statistics and reports have."""
_WRITTEN = ("stats", "report", "trace", "waves")
"""Options that name a file to write, besides --output."""
_READ = ("hosts", "partition", "routes", "keys", "role", "config", "cluster")
"""Options whose values are or may be files that the command reads."""

_HELP = """Usage: ./gossamer run APP [GRAPH] [PARAMETERS] [OPTIONS]
       ./gossamer run PROGRAM.cpp [ARGUMENTS]
       ./gossamer run FILE.c... | FOLDER --engine rtl [OPTIONS] [-- ARGUMENTS]
       ./gossamer run GUESTS.toml [--workers N] [--stats FILE] [--report FILE]

Runs an application on a graph and prints the main part of the result.
APP is a bundled application (listed below) or the header of your own vertex. GRAPH is
a file (Matrix Market, edge list, adjacency list, METIS, DIMACS, .gsg, GML, GraphML,
Pajek, node-link JSON, SciPy .npz; plain, gzip, zstd, xz or bzip2), gen:KIND:... for a
generated graph, or - for standard input;
default: the packages of Debian 12 and their dependencies.
PROGRAM.cpp is a program with a host of its own; the command exits with its exit code.
--engine (also rtl) and other options precede it.
A FOLDER with a host that includes HostLink.h is built and run with its host, which
receives the arguments after -- (docs/hostlink.md).
FILEs (.c, .cpp, .S, .o, .elf) or a FOLDER of them with --engine rtl are a program
for threads of the simulated hardware; see ./gossamer run PROGRAM.c --help.
GUESTS.toml lists programs of all kinds that share a simulated cluster (docs/guests.md).

Options:
  -e, --engine NAME     cpu (default), shuffle, rtl: the simulated hardware, model: a
                        prediction of its cycles (docs/model.md), board: boards on
                        Ethernet (docs/cluster.md), or distributed: ranks of an MPI job
                        (docs/distributed.md)
  -t, --threads N       threads to use (default: every CPU), with distributed of each
                        rank (default: 1)
  -n, --ranks N         with --engine distributed: start this many ranks
      --hosts FILE      with --engine distributed: on these machines, HOST:SLOTS a line
      --partition NAME  with --engine distributed: ranges (default), stream, metis,
                        kahypar, or a file with the rank of each vertex
      --checkpoint DIR  with --engine distributed: write checkpoints there
      --checkpoint-every N
                        steps between two checkpoints (default 100)
      --restart DIR     with --engine distributed: continue from the last checkpoint there
  -k, --top K           number of result lines to print (default 10)
  -o, --output FILE     write the result: .npy, .npz, .csv or .json (may be repeated)
      --stats FILE      write the statistics as JSON (docs/watching.md)
      --report FILE     write an HTML page of the run; ./gossamer report compares runs
      --trace FILE      not with model: write a trace for ui.perfetto.dev
      --format NAME     the graph's format, if content and name of the file do not tell:
                        {formats}
      --columns S,T[,W] columns of source, target and weight in an edge list: numbers
                        from 1, or names in the first line
      --undirected      store every edge in both directions
      --dedupe          of parallel edges keep the one of least weight
      --no-loops        drop self-loops
      --seed N          with --engine shuffle: the order of messages (default 0)
      --shuffle SEED    run again with random message order and delays; exit
                        with 1 if the result differs
  -D, --define M=VALUE  define a macro for the application's header
  -h, --help            this help, or after APP: its parameters

Exit code: 0 done, 1 --shuffle found a difference, 2 the input is wrong, 4 the run
aborted or its result is not an answer (it did not converge, a value overflowed); no
file is written then.
"""

_EXAMPLES = """
Examples:
  ./gossamer run pagerank
  ./gossamer run pagerank web.mtx.gz --iterations 20 -o ranks.npy
  ./gossamer run sssp roads.gr --source 17 --top 5
  ./gossamer run hashmin gen:rmat:scale=16,seed=1 --threads 1
  ./gossamer run mine/vertex.h graph.mtx --shuffle 7
  ./gossamer run examples/paths/host.cpp
  ./gossamer run pagerank web.mtx --engine distributed -n 4
  ./gossamer run hashmin gen:grid:width=40,height=40 --engine rtl --config tiny
  ./gossamer run --engine rtl --config tiny examples/paths/host.cpp
  ./gossamer run programs/hello.c --engine rtl --config tiny
"""


@click.command(
    cls=PassThroughCommand,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Run an application on a graph.

    click does not parse the arguments: the application defines its parameters and which of them take a value.
    """
    if _guests.is_one(words):
        _guests.run(words)
        return
    if _tile_program.is_one(words):
        if (at := _program_arguments.host_at(words)) is not None:
            arguments = words[at + 1 :] + ctx.meta[PASSED_THROUGH]
            sys.exit(_host_program.run(_program_arguments.Request.of(words[: at + 1]), arguments))
        _tile_program.run(words, ctx.meta[PASSED_THROUGH])
        return
    words += ctx.meta[PASSED_THROUGH]
    at = _run_arguments.first_plain(words, _run_arguments.VALUES)
    if at is not None and words[at].endswith(_run_arguments.PROGRAMS):
        sys.exit(_run_program(words[:at], words[at], words[at + 1 :]))
    if code := _run_app(words):
        sys.exit(code)


def _show_help(app: App | None, typed: str) -> None:
    from gossamer import apps

    if app is None:
        from gossamer.graph._formats import NAMES

        formats = NAMES.replace(", dimacs", ",\n" + " " * 24 + "dimacs")
        general = _HELP.format(formats=formats)
        click.echo("\n".join([general, _applications(), "", _HARDWARE_HELP + _EXAMPLES.rstrip()]))
        return
    click.echo(f"{app.name}: {app.summary}")
    click.echo(f"\nUsage: ./gossamer run {typed} [GRAPH] [PARAMETERS] [OPTIONS]\n\nParameters:")
    for p in app.parameters:
        number = f"{p.default}" if p.kind == "integer" else f"{p.default:g}"
        several = "; may be repeated" if p.kind in ("vertices", "shares") else ""
        usual = number
        if p.kind == "flag":
            usual = "yes" if p.default else "no"
        elif p.kind in ("vertex", "vertices", "shares"):
            usual = "none" if p.default < 0 else "first vertex"
        kind = _KINDS[p.kind]
        click.echo(f"  --{p.name + kind:<20} {p.help} (default: {usual}{several})")
    if not app.parameters:
        click.echo("  none")
    click.echo("\nResult, one value per vertex:")
    for c in app.columns:
        click.echo(f"  {c.name:<22} {c.help} ({'a vertex' if c.vertex else c.dtype})")
    click.echo(f"\nBytes of a state: {app.state_bytes}, of a message: {app.message_bytes}")
    click.echo(f"\nExample:\n  ./gossamer run {typed} {apps.example(app.path)} --top 20")
    click.echo("Options: ./gossamer run --help")


_KINDS = {
    "flag": "",
    "real": " X",
    "integer": " N",
    "vertex": " LABEL",
    "vertices": " LABEL",
    "shares": " LABEL[=X]",
}
"""The value of a parameter in the help, by the parameter's kind."""


def _applications() -> str:
    """The bundled applications, a few words on each."""
    import textwrap

    from gossamer import apps

    names = apps.names()
    width = max(map(len, names)) + 4
    lines = [
        textwrap.fill(apps.about(name), 88, initial_indent=f"  {name:<{width - 2}}", subsequent_indent=" " * width)
        for name in names
    ]
    return "\n".join(["Applications:", *lines])


def _run_app(words: tuple[str, ...]) -> int:
    request = _run_arguments.Request.of_app(words)
    app = request.compiled
    if "help" in request.flags:
        _show_help(app, shlex.quote(request.app))
        return ExitCode.DONE
    if app is None:
        raise InputError("name an application, for instance: ./gossamer run pagerank (see ./gossamer run --help)")

    from gossamer import engines
    from gossamer.apps import runner
    from gossamer.graph import read_graph

    # Check all arguments that do not depend on the graph before reading it.
    threads = request.number("threads", 0, 1, runner.MOST_THREADS)
    top = request.number("top", 10, 0)
    request.number("shuffle", 0, 0)
    engine: str | engines.Engine = request.one("engine", "cpu") or "cpu"
    hardware = {name: request.options[name] for name in _run_arguments.HARDWARE if name in request.options}
    asked = None
    trace, report = (hardware.get(name, [""])[-1] or None for name in ("trace", "report"))
    for name in _run_arguments.DISTRIBUTED:
        if engine != "distributed" and name in request.options:
            raise InputError(f"--{name}: is for --engine distributed")
    if engine == "fast":
        raise InputError(
            f"--engine fast: {app.name} is an application, and this engine runs programs for threads; use rtl, or "
            "model for an estimate"
        )
    if engine in _run_arguments.ON_HARDWARE:
        asked = _HardwareOptions(app.name, hardware, str(engine))
        engine = asked.engine
        trace = None
    elif "seed" in hardware and engine != "shuffle":
        raise InputError(
            "--seed: is for the order of messages (--engine shuffle) and for lost frames between boards "
            "(--engine rtl --cluster NAME); name one of these engines"
        )
    elif other := [name for name in hardware if name not in ("seed", "report", "trace")]:
        hardware_engine = "board" if other[0] in ("port", "keys", "role") else "rtl"
        raise InputError(f"--{other[0]}: needs the hardware; add --engine {hardware_engine}")
    elif engine != "distributed":
        engines.get(str(engine))
    given: dict[str, Any] = dict(request.parameters)
    for name, value in given.items():
        if app.parameter(name).kind not in ("vertex", "vertices", "shares"):
            runner.check_number(app, app.parameter(name), value)
    outputs = [_run_output.writer(Path(name)) for name in request.options.get("output", [])]
    stats = request.one("stats")
    named = [("--output", Path(one)) for one in request.options.get("output", [])]
    named += [(f"--{name}", Path(one)) for name in _WRITTEN if (one := request.one(name)) is not None]
    read_too = [one for name in _READ for one in request.options.get(name, [])]
    files.check_outputs(named, [app.path, request.graph or BUNDLED, *read_too])

    def read() -> Graph:
        return read_graph(
            request.graph or BUNDLED,
            format=request.one("format"),
            columns=request.one("columns"),
            undirected="undirected" in request.flags,
            dedupe="dedupe" in request.flags,
            drop_loops="no-loops" in request.flags,
        )

    def finish(result: Result, read_seconds: float, recorded: Sequence[Recorded] = ()) -> None:
        for write in outputs:
            write(result)
        if stats is not None or report is not None:
            from gossamer.cli import _statistics
            from gossamer.watch import report as page

            options = {name: " ".join(values) for name, values in request.options.items() if name in _CONFIGURATION}
            its = None if asked is None else asked.hardware()
            about = _statistics.application(
                result, request.parameters, options, read_seconds, ranks=recorded, hardware=its
            )
            page.write(about, Path(stats) if stats else None, Path(report) if report else None)
        if trace is not None:
            from gossamer.watch import timeline

            timeline.write(Path(trace), f"{app.name} of {result.graph.name or 'the graph'}", recorded)
        _run_output.show(result, top)

    watched = any(file is not None for file in (stats, report, trace))
    if engine == "distributed":
        return _run_distributed.run(request, app, words, read, finish, watched=watched)
    seed = request.number("seed", 0, 0) if engine == "shuffle" else 0
    recorder: Timeline | None = None
    if watched and isinstance(engine, str):
        from gossamer.engines.cpu import InProcess
        from gossamer.watch.timeline import Timeline

        recorder = Timeline()
        engine = InProcess(engine, recorder)
    begun = time.perf_counter()
    graph = read()
    read_seconds = time.perf_counter() - begun
    for note in (*graph.notes, *runner.weight_notes(app, graph)):
        click.echo(f"note: {note}", err=True)
    warnings.simplefilter("ignore", GraphWarning)
    given = _with_shares(app, graph, given)
    try:
        result = runner.run(app, graph, engine=engine, threads=threads or None, seed=seed, **given)
    except BaseException:
        if asked is not None:
            asked.show(aborted=True)
        raise
    if asked is not None:
        asked.show(aborted=False)
    finish(result, read_seconds, [recorder.recorded(result.stats["threads"])] if recorder is not None else ())
    if request.one("shuffle") is not None:
        _shuffle(request, app, graph, result)
    return ExitCode.DONE


def _with_shares(app: App, graph: Graph, given: dict[str, Any]) -> dict[str, Any]:
    """The parameters, with the arguments LABEL=WEIGHT taken apart."""
    from gossamer.apps import runner

    return {
        name: runner.shares_of(graph, value) if app.parameter(name).kind == "shares" else value
        for name, value in given.items()
    }


def _shuffle(request: _run_arguments.Request, app: App, graph: Graph, result: Result) -> None:
    from gossamer.apps import runner

    seed = request.number("shuffle", 0, 0)
    given = _with_shares(app, graph, dict(request.parameters))
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
    """Compiles and runs a program. Returns its exit code."""
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
    if request.one("seed") is not None:
        if engine != "shuffle" or shuffle is not None:
            raise InputError("--seed: is for --engine shuffle; with --shuffle SEED it is given already")
        environment["GOSSAMER_SEED"] = str(request.number("seed", 0, 0))
    engines.get(engine)
    environment["GOSSAMER_ENGINE"] = engine
    environment["GOSSAMER_THREADS"] = str(request.number("threads", 0, 1))
    environment["GOSSAMER_SOURCE"] = source
    binary = pgraph.compile_program(Path(source), request.options.get("define", []))
    code = processes.run_attended([binary, *arguments], env=environment)
    if code < 0:
        raise RunDied(f"{source}: the program was killed by {signal_name(-code)}")
    return code


# ---- Applications on simulated hardware ----


_HARDWARE_HELP = """Options of --engine rtl, and of board and model except those for simulators:
  -c, --config NAME     configuration of the board: a name or a file (default quad)
      --cluster NAME    all boards of a cluster: a name (pair, quad4, ...) or a file
      --mapping NAME    how vertices are mapped to threads: metis (default), kahypar,
                        bfs, random, direct
      --multicast NAME  local (default): one message to all threads of a tile that
                        have receivers; none: one message to each thread; full: as
                        local, and one for all other boards, copied by their routers
      --max-steps N     abort after N steps
      --port PORT       with --engine board: the interface at which boards are; without it
                        those that ./gossamer cluster sim up has started
      --keys FILE       with --port: the boards' keys
      --role FILE       with board: the role file; else one for simulated boards
      --max-cycles N    abort after N cycles
      --watchdog N      abort after N cycles without an instruction
      --workers N       threads of this machine that simulate
      --trace-size MB, --least-wait N, --waves FILE, --tile X,Y,
      --routes FILE, --frame-loss RATE, --cut LINK@CYCLE, --seed N: as for programs
                        (./gossamer run prog.c --help)
"""


class _HardwareOptions:
    """The hardware that the options select. Raises InputError for wrong options."""

    def __init__(self, app: str, options: Mapping[str, Sequence[str]], engine: str) -> None:
        from gossamer import mapper
        from gossamer.engines import board, guest, model, rtl, rtl_cluster, rtl_vertices

        self._request = request = _ProgramRequest(
            programs=[app], options={name: list(got) for name, got in options.items()}
        )
        request.config = rtl_vertices.CONFIG
        if engine == model.Model.name:
            for name in model.UNSUPPORTED:
                if name in options:
                    raise InputError(f"--{name}: needs the simulator; use --engine rtl, or omit it")
        place = request.place(engine)
        waves, trace, self._page = request.outputs()
        if waves is not None and waves.suffix != ".fst":
            raise InputError(f"{waves}: waves are written as FST; use a name that ends with .fst")
        config, cluster = request.hardware(place)
        for name in ("routes", "frame-loss", "cut", "seed"):
            if name in request.options and cluster is None:
                raise InputError(f"--{name}: needs a cluster; name one with --cluster")
        settings = request.views(waves, trace)
        settings |= {"workers": request.number("workers", 1), "tile": request.tile(config, cluster)}
        plan: rtl_cluster.Plan | None = None
        if isinstance(place, guest.Place):
            plan = place.plan
        elif cluster is not None:
            tables = request.one("routes")
            plan = rtl_cluster.Plan(cluster, rtl_cluster.read_tables(cluster, tables) if tables else None)
            cut, seed = request.options.get("cut", []), request.number("seed", 0)
            rtl_cluster.cuts(plan, cut)
            settings |= {"frame_loss": request.share("frame-loss"), "cut": cut, "seed": 1 if seed is None else seed}
        watchdog = request.number("watchdog", 0)
        self._progress = _Progress(app)
        how: dict[str, Any] = {
            "config": config,
            "plan": plan,
            "mapping": request.one_of("mapping", mapper.METHODS),
            "multicast": request.one_of("multicast", rtl_vertices.MULTICAST),
            "max_steps": request.number("max-steps", 1) or 0,
            "max_cycles": request.number("max-cycles", 1),
            "watchdog": rtl.WATCHDOG if watchdog is None else watchdog,
            "on_phase": self._progress.show,
        }
        self.engine: Hardware
        if engine == model.Model.name:
            how["workers"] = request.number("workers", 1) or 0
            self.engine = model.Model(**how)
        elif place is None:
            self.engine = rtl_vertices.Hardware(settings=settings, **how)
        elif isinstance(place, guest.Place):
            if how["multicast"] == "full":
                raise InputError(
                    "--multicast full: writes the routers' tables, which all guests use; use local or none"
                )
            self.engine = guest.GuestHardware(place=place, **how)
        else:
            self.engine = board.BoardHardware(place=place, **how)

    def hardware(self) -> dict[str, Any] | None:
        """The statistics of the hardware; None if it has not run."""
        from gossamer.cli import _statistics

        if self.engine.done is None:
            return None
        return _statistics.of_hardware(self.engine.machine.config, self.engine.done, self.engine.plan)

    def show(self, *, aborted: bool) -> None:
        """Prints notes. Writes the page of a run that aborted, which has no result."""
        self._progress.clear()
        for note in self.engine.notes:
            click.echo(note, err=True)
        if aborted and self._page is not None and self.engine.done is not None:
            _program_output.write_figures(
                self._request,
                self.engine.machine.config,
                self.engine.done,
                self.engine.simulated if self.engine.plan is not None else None,
                self._page,
            )


class _Progress:
    """A progress line on a terminal: the phase, and how much of it is done."""

    def __init__(self, app: str) -> None:
        self._app = app
        self._shown = False
        self._last = 0.0

    def show(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._last < 0.1:
            return
        self._last, self._shown = now, True
        how_far = f"{done:,} of {total:,}" if total else f"{done:,}"
        sys.stderr.write(f"\r{self._app}: {what} {how_far} \x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Erases the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False


__all__ = ["command"]
