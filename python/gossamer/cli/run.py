# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run``: an application on a graph, a program with a host of its own, or one for a tile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gossamer.cli import _files, _tile_program, _vertex_hardware
from gossamer.errors import AnswerNo, ExitCode, InputError, RunDied
from gossamer.paths import DATA

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.graph import Graph
    from gossamer.runs import Result

BUNDLED = DATA / "debian12.adj.gz"

_HELP = """Usage: ./gossamer run APP [GRAPH] [PARAMETERS] [OPTIONS]
       ./gossamer run PROGRAM.cpp [ARGUMENTS]
       ./gossamer run FILE.c... | FOLDER --engine rtl [OPTIONS] [-- ARGUMENTS]

Runs an application on a graph and shows the most telling part of the result.
APP is one of ours ({apps}) or
the header of your own vertex. GRAPH is a file (Matrix Market, edge list, METIS,
DIMACS, .gsg; plain, gzip, zstd or xz), gen:KIND:... for a made one, or - for
standard input; without it: the packages of Debian 12 and their dependencies.
PROGRAM.cpp is a program with a host of its own; its exit code is ours.
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
      --undirected      edges go both ways, whatever the file says
      --shuffle SEED    run again with random message order and delays; exit
                        with 1 if the result differs
  -D, --define M=VALUE  a macro for the application's header
  -h, --help            this, or after APP: its parameters
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
  ./gossamer run programs/hello.c --engine rtl --config tiny
"""

_OPTIONS = {
    "--engine": "engine",
    "-e": "engine",
    "--threads": "threads",
    "-t": "threads",
    "--top": "top",
    "-k": "top",
    "--output": "output",
    "-o": "output",
    "--stats": "stats",
    "--shuffle": "shuffle",
    "--define": "define",
    "-D": "define",
}


class _Words(click.Command):
    """Keeps apart what stands behind --, which click would only leave out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta["behind"] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=_Words,
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
        _tile_program.run(words, ctx.meta["behind"])
        return
    words += ctx.meta["behind"]
    program = next((i for i, word in enumerate(words) if word.endswith((".cpp", ".cc", ".cxx"))), None)
    if program is not None:
        sys.exit(_run_program(words[:program], words[program], words[program + 1 :]))
    _run_app(words)


class _Request:
    """What the words ask for."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.options: dict[str, list[str]] = {}
        self.hardware: dict[str, list[str]] = {}
        self.parameters: dict[str, str] = {}
        self.undirected = False
        self.help = False
        self.app = ""
        self.graph: str | None = None
        self.compiled: App | None = None
        on_hardware = _engine(words) == "rtl"
        queue = _split(words)
        # Macros come first: compiling the application needs them.
        rest = []
        for word, value in queue:
            name = _OPTIONS.get(word)
            simulated = _vertex_hardware.OPTIONS.get(word) if on_hardware else None
            if name or simulated:
                taken = value if value is not None else next(queue, (None, None))[0]
                if taken is None:
                    raise InputError(f"{word}: needs a value; see ./gossamer run --help")
                if name:
                    self.options.setdefault(name, []).append(taken)
                else:
                    self.hardware.setdefault(simulated or "", []).append(taken)
            elif word in {"-h", "--help"}:
                self.help = True
            elif word == "--undirected":
                self.undirected = True
            else:
                rest.append((word, value))
        at = next((i for i, (word, _) in enumerate(rest) if not word.startswith("--")), None)
        if at is None:
            return
        self.app = rest.pop(at)[0]
        from gossamer import apps

        self.compiled = apps.load(self.app, self.options.get("define", []))
        self._parameters(self.compiled, rest)

    def _parameters(self, app: App, rest: list[tuple[str, str | None]]) -> None:
        words = iter(rest)
        for word, value in words:
            if word.startswith("--"):
                parameter = app.parameter(word[2:])
                if value is None and parameter.kind == "flag":
                    value = "1"
                if value is None:
                    value = next(words, (None, None))[0]
                if value is None:
                    raise InputError(f"{word}: needs a value; see ./gossamer run {app.name} --help")
                self.parameters[parameter.name] = value
            elif self.graph is None:
                self.graph = word
            else:
                raise InputError(f"{word!r}: there is a graph already, {self.graph!r}")

    def one(self, name: str, default: str | None = None) -> str | None:
        """The last value given for an option."""
        values = self.options.get(name)
        return values[-1] if values else default

    def number(self, name: str, default: int, low: int) -> int:
        """An option that is a whole number from ``low`` up."""
        text = self.one(name)
        if text is None:
            return default
        if not text.isdecimal() or int(text) < low or int(text) >= 2**63:
            raise InputError(f"--{name}: {text!r} is no whole number from {low} up")
        return int(text)


def _engine(words: tuple[str, ...]) -> str:
    """The engine that is named last; what other words mean depends on it."""
    given = [word.partition("=") for word in words]
    named = [
        value if equals else (words[at + 1] if at + 1 < len(words) else "")
        for at, (word, equals, value) in enumerate(given)
        if word in ("--engine", "-e")
    ]
    return named[-1] if named else "cpu"


def _split(words: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Words, with ``--name=value`` and ``-t2`` taken apart."""
    for word in words:
        if word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            yield name, value
        elif len(word) > 2 and word[:2] in _OPTIONS:
            yield word[:2], word[2:]
        elif len(word) > 1 and word[0] == "-" and word[1] != "-" and word not in {*_OPTIONS, "-h", "-c"}:
            raise InputError(f"there is no option {word}; see ./gossamer run --help")
        else:
            yield word, None


def _show_help(app: App | None) -> None:
    from gossamer import apps

    if app is None:
        click.echo(_HELP.format(apps=", ".join(apps.names())) + "\n" + _vertex_hardware.HELP + _EXAMPLES.rstrip())
        return
    click.echo(f"{app.name}: {app.summary}")
    click.echo(f"\nUsage: ./gossamer run {app.name} [GRAPH] [PARAMETERS] [OPTIONS]\n\nParameters:")
    for p in app.parameters:
        usual = {"vertex": "first vertex", "flag": "yes" if p.default else "no"}.get(p.kind, f"{p.default:g}")
        kind = "" if p.kind == "flag" else {"real": " X", "integer": " N", "vertex": " LABEL"}[p.kind]
        click.echo(f"  --{p.name + kind:<20} {p.help} (default: {usual})")
    if not app.parameters:
        click.echo("  none")
    click.echo("\nResult, one value a vertex:")
    for c in app.columns:
        click.echo(f"  {c.name:<22} {c.help} ({c.dtype})")
    click.echo(f"\nA vertex: {app.state_bytes} bytes of state, {app.message_bytes} of message.")
    click.echo(f"\nExample:\n  ./gossamer run {app.name} graph.mtx.gz --top 20\nOptions: ./gossamer run --help")


def _run_app(words: tuple[str, ...]) -> None:
    request = _Request(words)
    if request.help:
        _show_help(request.compiled)
        return
    app = request.compiled
    if app is None:
        raise InputError("which application? for instance: ./gossamer run pagerank (see ./gossamer run --help)")
    threads = request.number("threads", 0, 1)
    top = request.number("top", 10, 0)
    outputs = [_writer(Path(name)) for name in request.options.get("output", [])]
    stats = request.one("stats")
    if stats is not None:
        _files.check_writable(Path(stats))

    engine = request.one("engine", "cpu") or "cpu"
    asked = _vertex_hardware.Asked(app.name, request.hardware) if engine == "rtl" else None

    from gossamer.graph import read_graph

    begun = time.perf_counter()
    graph = read_graph(request.graph or BUNDLED)
    if request.undirected and not graph.symmetric:
        graph = graph.symmetrised()
    read_seconds = time.perf_counter() - begun
    result = _run_on(request, asked, app, graph, threads)
    for write in outputs:
        write(result)
    if stats is not None:
        _write_stats(Path(stats), request, result, read_seconds)
    _show(result, top)
    if request.one("shuffle") is not None:
        _shuffle(request, app, graph, result)


def _run_on(request: _Request, asked: _vertex_hardware.Asked | None, app: App, graph: Graph, threads: int) -> Result:
    from gossamer import runs as runner

    if asked is None:
        engine = request.one("engine", "cpu") or "cpu"
        return runner.run(app, graph, engine=engine, threads=threads or None, **_as_given(request))
    try:
        return runner.run(app, graph, engine=asked.engine, threads=threads or None, **_as_given(request))
    finally:
        asked.show()


def _as_given(request: _Request) -> dict[str, Any]:
    return dict(request.parameters)


def _shuffle(request: _Request, app: App, graph: Graph, result: Result) -> None:
    from gossamer import runs as runner

    seed = request.number("shuffle", 0, 0)
    other = runner.run(app, graph, engine="shuffle", seed=seed, **_as_given(request))
    wrong = runner.difference(result, other)
    if wrong is None:
        click.echo(f"shuffled with seed {seed}: the same, after {other.stats['deliveries']:,} messages")
        return
    raise AnswerNo(
        f"{app.name}: depends on the order of its messages: with seed {seed}, {wrong.column} of vertex "
        f"{graph.label_of(wrong.vertex)} is {wrong.second:.9g} instead of {wrong.first:.9g} "
        f"({wrong.count} of {graph.vertices} values differ)"
    )


# ---- What is shown -------------------------------------------------------------


def _show(result: Result, top: int) -> None:
    app, graph, stats = result.app, result.graph, result.stats
    click.echo(f"{app.name} of {graph.name or 'the graph'}: {graph.vertices:,} vertices, {graph.edges:,} edges")
    for note in graph.notes:
        click.echo(f"note: {note}", err=True)
    if top:
        rows = _groups(result, top) if app.columns[0].order == "groups" else _extremes(result, top)
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            click.echo(f"  {first}  " + "  ".join(rest))
    threads = f"{stats['threads']:,} thread" + ("s" if stats["threads"] != 1 else "")
    how_long = f"in {result.seconds:.3f} s"
    if "cycles" in stats:
        clock = stats["cycles"] / stats["seconds"] / 1e6
        how_long = f"in {stats['cycles']:,} cycles ({stats['seconds'] * 1e6:,.1f} us at {clock:g} MHz)"
    click.echo(
        f"{stats['engine']} engine, {threads}: {stats['steps']:,} steps, {stats['deliveries']:,} messages {how_long}"
    )


def _extremes(result: Result, top: int) -> list[list[str]]:
    """The vertices with the largest (or smallest) values of the first column."""
    import numpy as np

    column = result.app.columns[0]
    values = result.values
    there = np.arange(len(values))
    if column.absent is not None:
        there = np.flatnonzero(values != column.absent)
        if len(there) < len(values):
            click.echo(f"{len(values) - len(there):,} vertices without {column.name}")
    keys = values[there].astype(np.float64)
    if column.order == "largest":
        keys = -keys
    if top < len(keys):
        near = np.argpartition(keys, top)[: top + 1]
        # Ties at the edge go to the lowest index, as in a full sort.
        near = np.flatnonzero(keys <= keys[near].max())
        there, keys = there[near], keys[near]
    order = there[np.argsort(keys, kind="stable")][:top]
    rows = [["vertex", *(c.name for c in result.app.columns)]]
    for v in order:
        rows.append(
            [
                str(result.graph.label_of(int(v))),
                *(_text(result.columns[c.name][v]) for c in result.app.columns),
            ]
        )
    return rows


def _groups(result: Result, top: int) -> list[list[str]]:
    """How many vertices share each value of the first column, which is an index."""
    import numpy as np

    column = result.app.columns[0]
    names, counts = np.unique(result.values, return_counts=True)
    click.echo(f"{len(names):,} {column.name}s")
    order = np.argsort(-counts, kind="stable")[:top]
    rows = [["vertices", f"{column.name} of"]]
    rows += [[f"{counts[i]:,}", str(result.graph.label_of(int(names[i])))] for i in order]
    return rows


def _text(value: Any) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)


# ---- What is written -----------------------------------------------------------


def _writer(path: Path) -> Callable[[Result], None]:
    formats: dict[str, Callable[[Result, BinaryIO], None]] = {".npy": _npy, ".npz": _npz, ".csv": _csv}
    form = formats.get(path.suffix)
    if form is None:
        raise InputError(f"{path}: ends in none of {', '.join(formats)}; the ending says what is written")
    _files.check_writable(path)
    return lambda result: _files.whole(path, lambda file: form(result, file))


def _npy(result: Result, file: BinaryIO) -> None:
    """One column as it is, several as the fields of a record."""
    import numpy as np

    if len(result.columns) == 1:
        np.save(file, result.values)
        return
    table = np.empty(result.graph.vertices, [(name, values.dtype) for name, values in result.columns.items()])
    for name, values in result.columns.items():
        table[name] = values
    np.save(file, table)


def _npz(result: Result, file: BinaryIO) -> None:
    import numpy as np

    labels = np.array([result.graph.label_of(v) for v in range(result.graph.vertices)])
    arrays: dict[str, Any] = {"vertex": labels, **result.columns}
    np.savez(file, **arrays)


def _csv(result: Result, file: BinaryIO) -> None:
    """Vertex labels beside the values, with digits enough to read them back."""
    digits = {4: "%.9g", 8: "%.17g"}
    forms = [digits[v.dtype.itemsize] if v.dtype.kind == "f" else "%d" for v in result.columns.values()]
    file.write((",".join(["vertex", *result.columns]) + "\n").encode())
    line = "%s," + ",".join(forms) + "\n"
    label = result.graph.label_of
    block = 65536
    for begin in range(0, result.graph.vertices, block):
        part = [values[begin : begin + block].tolist() for values in result.columns.values()]
        rows = zip(*part, strict=True)
        text = "".join(line % (_quoted(label(begin + i)), *row) for i, row in enumerate(rows))
        file.write(text.encode())


def _quoted(label: str | int) -> str:
    text = str(label)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _write_stats(path: Path, request: _Request, result: Result, read_seconds: float) -> None:
    about = {
        "app": result.app.name,
        "graph": result.graph.name,
        "parameters": request.parameters,
        **result.stats,
        "read_seconds": read_seconds,
        "run_seconds": result.seconds,
    }
    text = (json.dumps(about, indent=1) + "\n").encode()

    def write(file: BinaryIO) -> None:
        file.write(text)

    _files.whole(path, write)


# ---- Programs with a host of their own -------------------------------------------


def _run_program(before: tuple[str, ...], source: str, arguments: tuple[str, ...]) -> int:
    """Compiles a program and runs it; gives its exit code."""
    from gossamer import engines, programs

    request = _Request(before)
    engine = request.one("engine", "cpu") or "cpu"
    environment = dict(os.environ)
    shuffle = request.one("shuffle")
    if shuffle is not None:
        engine, environment["GOSSAMER_SEED"] = "shuffle", str(request.number("shuffle", 0, 0))
    engines.get(engine)
    environment["GOSSAMER_ENGINE"] = engine
    environment["GOSSAMER_THREADS"] = str(request.number("threads", 0, 1))
    binary = programs.compile_program(Path(source), request.options.get("define", []))
    # Ctrl-C reaches the program too: it is for it to end, and then for us.
    with subprocess.Popen([str(binary), *arguments], env=environment) as child:
        previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            code = child.wait()
        finally:
            signal.signal(signal.SIGINT, previous)
    if code == -signal.SIGINT:
        return ExitCode.INTERRUPTED
    if code < 0:
        raise RunDied(f"{source}: the program died of {signal.Signals(-code).name}")
    return code
