# SPDX-License-Identifier: Apache-2.0
"""``./gossamer polite``: runs existing POLite programs for Tinsel, which have a host, on an engine."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from gossamer.cli._program_arguments import Request
from gossamer.cli._program_output import show_warnings
from gossamer.cli._run_arguments import PASSED_THROUGH, PassThroughCommand
from gossamer.errors import ExitCode, InputError

_ENGINES = ("cpu", "rtl", "board")
_RTL_OPTIONS: tuple[str, ...] = (
    "cluster",
    "routes",
    "frame-loss",
    "cut",
    "seed",
    "waves",
    "trace",
    "trace-size",
    "report",
    "least-wait",
)
_RTL_OPTIONS += (
    "port",
    "keys",
    "role",
    "max-cycles",
    "max-steps",
    "watchdog",
    "workers",
    "ranks",
    "tile",
    "input",
    "mapping",
    "multicast",
)

_HELP = """Usage: ./gossamer polite run FOLDER [OPTIONS] [-- ARGUMENTS]

Builds and runs an unmodified program for POLite of Tinsel 0.8.3: a header with the
devices, a source with PThread, a host with HostLink and PGraph. The host receives the
arguments after --. The command exits with the host's exit code; 2 if the program does
not build or the arguments are wrong; 4 if the run aborted.

Options:
  -e, --engine NAME     cpu (default): the devices on this machine's processors;
                        rtl: on simulated boards; board: on boards on Ethernet
  -c, --config NAME     configuration of the boards: a name or a file (default tiny)
  -t, --threads N       with cpu: threads of this machine (default: every CPU)
      --timeout N       with cpu: abort after N seconds; with rtl: after N seconds in
                        which the host makes no call
      --placer NAME     metis (default), kahypar, bfs, random or direct (POLITE_PLACER)
      --multicast NAME  with rtl: local (default): one message to all threads of a tile
                        that have receivers; none: one to each thread; full: as local,
                        and one for all other boards, copied by their routers
      --max-steps N     with rtl: abort after N steps
  -D, --define M=VALUE  define a macro for the program
  -I, --include FOLDER  search FOLDER for headers of the program

With rtl also --cluster, --stats, --report, --trace, --max-cycles and the other options
of ./gossamer run prog.c --help for programs on simulated hardware.

Examples:
  ./gossamer polite run tests/fixtures/polite/pagerank -- web.txt
  ./gossamer polite run mine/ --engine rtl --config quad --stats -- web.txt
  ./gossamer polite run mine/ --engine rtl --cluster pair -- web.txt
"""


@click.group(short_help="Run existing POLite programs, here or on simulated boards.")
def command() -> None:
    """Programs for POLite of Tinsel 0.8.3, unmodified.

    \b
    Example:
      ./gossamer polite run mine/ --engine rtl -- web.txt
    """


@command.command(
    cls=PassThroughCommand,
    add_help_option=False,
    short_help="Build a program and run it.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": True},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def run(ctx: click.Context, words: tuple[str, ...]) -> int:
    """Build a program and run it."""
    return _run(words, ctx.meta[PASSED_THROUGH])


def _run(words: Sequence[str], arguments: Sequence[str]) -> int:
    words, placer = _placer(words)
    request = Request.of(words)
    if request.help:
        click.echo(_HELP.rstrip())
        return ExitCode.DONE
    if not request.programs:
        raise InputError("name a program, for instance: ./gossamer polite run mine/ (see ./gossamer polite run --help)")
    engine = request.one("engine") or "cpu"
    if engine not in _ENGINES:
        raise InputError(f"--engine {engine}: POLite programs run on {', '.join(_ENGINES[:-1])} and {_ENGINES[-1]}")
    for one in request.programs:
        if not os.path.exists(one):
            raise InputError(f"{one}: no such folder")
    if not request.has_host():
        raise InputError(f"{request.program}: has no host, a source that includes HostLink.h")
    if placer is not None:
        os.environ["POLITE_PLACER"] = placer
    if engine != "cpu":
        from gossamer.cli import _host_program

        return _host_program.run(request, arguments)
    for name in _RTL_OPTIONS:
        if name in request.options:
            raise InputError(f"--{name}: needs the simulated hardware; add --engine rtl")
    if request.stats or request.one_tile:
        raise InputError("--stats and --one-tile: need the simulated hardware; add --engine rtl")
    from gossamer.polite import native

    config, _ = request.hardware()
    threads, timeout = request.number("threads", 1), request.number("timeout", 1)
    program = native.build(
        request.programs, config, request.options.get("define", []), includes=request.options.get("include", [])
    )
    show_warnings(program.warnings)
    return native.run(program, arguments, threads=threads or 0, timeout=timeout)


def _placer(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The arguments without --placer, and its value."""
    rest: list[str] = []
    found: str | None = None
    queue = iter(words)
    for word in queue:
        name, equals, value = word.partition("=")
        if name != "--placer":
            rest.append(word)
            continue
        found = value if equals else next(queue, None)
        if found is None:
            raise InputError("--placer: needs a value; see ./gossamer polite run --help")
    return rest, found


__all__ = ["command"]
