# SPDX-License-Identifier: Apache-2.0
"""``./gossamer mpi run``: MPI programs on this machine, or on threads of boards, simulated or on Ethernet."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import _program_output
from gossamer.cli._program_output import Progress, show_warnings, visible
from gossamer.cli._run_arguments import PASSED_THROUGH, PassThroughCommand
from gossamer.cli._tile_program import _load
from gossamer.errors import AnswerNo, InputError, RunDied
from gossamer.mpi import CONFIG

if TYPE_CHECKING:
    from gossamer.device import Image
    from gossamer.engines import board, guest
    from gossamer.engines.rtl import Run, Trap
    from gossamer.mpi._device import Places


@click.group("mpi", short_help="Run MPI programs.")
def command() -> None:
    """Run MPI programs on this machine, or on threads of simulated boards.

    \b
    Examples:
      ./gossamer mpi run examples/mpi/halo2d.c -n 16
      ./gossamer mpi run examples/mpi/sort.c -n 8 --engine rtl
    """


@command.command("run", cls=PassThroughCommand)
@click.argument("program", nargs=-1, required=True)
@click.option("-n", "ranks", type=click.IntRange(1), default=4, show_default=True, help="Number of ranks.")
@click.option("-e", "--engine", type=click.Choice(["cpu", "rtl", "fast", "board", "guest"]), default="cpu",
              show_default=True,
              help="cpu: processes of this machine; rtl: threads of a simulated board or cluster; fast: the same, "
                   "instruction by instruction, with estimated cycles; board: boards on Ethernet.")  # fmt: skip
@click.option("-c", "--config", "config", help=f"The board of engines rtl and board.  [default: {CONFIG}]")
@click.option("--cluster", help="A cluster, over whose boards the ranks are distributed, instead of one board.")
@click.option("-D", "--define", multiple=True, metavar="M=VALUE", help="Define a macro for the program.")
@click.option("-I", "--include", multiple=True, metavar="FOLDER", help="Search FOLDER for headers of the program.")
@click.option("-v", "--verbose", is_flag=True, help="Print the compiler's warnings about the program.")
@click.option("--max-cycles", type=click.IntRange(1), help="On boards, abort the run after this many cycles.")
@click.option("--workers", type=click.IntRange(1), help="Threads of this machine that simulate.")
@click.option("--label", is_flag=True, help="On boards, begin each line with the rank.")
@click.option("--cycles", is_flag=True, help="On boards, print cycles and instructions at the end.")
@click.option("--stats", metavar="FILE", type=click.Path(path_type=Path), help="On boards, write statistics as JSON.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="On boards, write an HTML page.")
@click.option("--port", metavar="PORT", help="With engine board: a network interface; else the simulated cluster.")
@click.option("--keys", metavar="FILE", help="With --port: the boards' keys.")
def run(
    program: tuple[str, ...],
    ranks: int,
    engine: str,
    config: str | None,
    cluster: str | None,
    define: tuple[str, ...],
    include: tuple[str, ...],
    verbose: bool,
    max_cycles: int | None,
    workers: int | None,
    label: bool,
    cycles: bool,
    stats: Path | None,
    report: Path | None,
    port: str | None,
    keys: str | None,
) -> None:
    """Compile an MPI PROGRAM (sources, or folders of them) and run it.

    Arguments after -- are passed to the program. All ranks write to one output; lines are never interleaved.

    \b
    Examples:
      ./gossamer mpi run examples/mpi/halo2d.c -n 16
      ./gossamer mpi run examples/mpi/sort.c -n 8 --engine rtl
      ./gossamer mpi run prog.c -n 4 -- --size 100
    """
    sources, arguments = list(program), list(click.get_current_context().meta[PASSED_THROUGH])
    if engine != "board" and (port is not None or keys is not None):
        raise InputError(f"--{'keys' if port is None else 'port'}: names boards on Ethernet; add --engine board")
    if engine != "cpu":
        from gossamer.engines import board, guest

        if engine == "board" and workers is not None:
            raise InputError("--workers: needs a simulator; boards have none; use --engine rtl")
        for name, value in (("workers", workers), ("report", report)):
            if engine == "fast" and value is not None:
                raise InputError(f"--{name}: needs the simulated hardware; use --engine rtl")
        where: board.Place | guest.Place | None = None
        if engine == guest.NAME:
            where = guest.Place.here()
        elif engine == board.NAME:
            where = board.Place(port, keys)
        _run_on_boards(
            sources, arguments, ranks, config=config, cluster=cluster, defines=define, includes=include,
            verbose=verbose, max_cycles=max_cycles, workers=workers, label=label, cycles=cycles,
            stats=stats, report=report, where=where, estimates=engine == "fast",
        )  # fmt: skip
        return
    for name, given in (
        ("config", config), ("cluster", cluster), ("max-cycles", max_cycles), ("workers", workers),
        ("label", label), ("cycles", cycles), ("stats", stats),
        ("report", report),
    ):  # fmt: skip
        if given:
            raise InputError(f"--{name}: needs engine rtl; add --engine rtl")
    from gossamer.device import _sources
    from gossamer.mpi import _host

    executable, warned = _host.build(sources, defines=define, includes=include)
    if verbose:
        show_warnings(warned)
    _host.run(sources[0], executable, ranks, arguments, {}, _sources.collect(sources), visible)


# ---- Ranks on simulated boards ----


_ENDS, _CODE = 0x4D504900, 0xFF
"""The word that a rank emits to end the run, and the bits of its exit code: GSMPI_ENDS of src/mpi/mailbox.h."""
_OWN = "mpi: "
"""Prefix of the library's messages."""
_DEADLOCK = ": deadlock: "
_AT = re.compile(rf"{_OWN}@([0-9a-f]+) ")
_STDERR = ("\x0f", "\x0e")
"""Characters after which a rank's text is for stdout, and for stderr: GSMPI_STDERR_END and _BEGIN of mailbox.h."""
_STREAMS = re.compile("([\x0e\x0f])")


class _Ended(Exception):
    """A rank has ended the run."""

    def __init__(self, rank: int) -> None:
        self.rank = rank


class _Console:
    """Prints lines of ranks on stdout, messages of the library and traps on stderr."""

    def __init__(self, name: str, image: Image, place: Places, threads_per_board: int, label: bool) -> None:
        self._image, self._place, self._threads, self._label = image, place, threads_per_board, label
        self._progress = Progress(name)
        self._parts: dict[int, list[str]] = {}
        self._stream: dict[int, int] = {}
        self._blank: set[int] = set()
        """Threads with an empty line, unless it is the last: then the thread has ended after text for stderr."""
        self.deadlock = False
        """Whether ranks have reported a deadlock."""
        self.progress, self.clear = self._progress.show, self._progress.clear

    def rank(self, thread: int) -> int:
        return self._place.rank(thread, self._threads)

    def line(self, thread: int, text: str, more: bool) -> None:
        """Prints a line of a thread on the stream that its end belongs to; a part for the other one waits for its
        end."""
        if thread in self._blank:
            self._blank.discard(thread)
            self._print(thread, 0, "")
        parts = self._parts.setdefault(thread, ["", ""])
        for piece in _STREAMS.split(text):
            if piece in _STDERR:
                self._stream[thread] = _STDERR.index(piece)
            else:
                parts[self._stream.get(thread, 0)] += piece
        if text == _STDERR[0] and not parts[0]:
            self._blank.add(thread)
            return
        self._print(thread, self._stream.get(thread, 0), "\\" if more else "")

    def end(self) -> None:
        """Prints the parts of lines that have no end."""
        for thread, parts in self._parts.items():
            for stream, part in enumerate(parts):
                if part:
                    self._print(thread, stream, "")

    def _print(self, thread: int, stream: int, end: str) -> None:
        text = self._parts[thread][stream]
        self._parts[thread][stream] = ""
        own = stream == 1 and text.startswith(_OWN)
        self.clear()
        if own:
            text = self._with_place(text)
            self.deadlock = self.deadlock or _DEADLOCK in text
        label = f"[{self.rank(thread)}] " if self._label and not own else ""
        click.echo(label + visible(text) + end, err=stream == 1)

    def _with_place(self, text: str) -> str:
        """A message of the library with file and line of the call in place of the address to which it returns."""
        found = _AT.match(text)
        if found is None:
            return text
        rest = _OWN + text[found.end() :]
        pc = int(found[1], 16)
        for place in self._image.where(pc - 4).chain() if pc else ():
            if place.file and place.line:
                return f"{_OWN}{place.file}:{place.line}: {rest[len(_OWN) :]}"
        return rest

    def emit(self, thread: int, word: int) -> None:
        if word & ~_CODE == _ENDS:
            raise _Ended(self.rank(thread))
        self.clear()
        click.echo(f"[{self.rank(thread)}] emit {word:#010x}")

    def trap(self, trap: Trap) -> None:
        from gossamer.engines.rtl import ACCELERATOR

        self.clear()
        who = trap.who if trap.thread == ACCELERATOR else f"rank {self.rank(trap.thread)}"
        click.echo(f"{who}: trap: {visible(trap.words(self._image.where, self._image.instruction))}", err=True)


def _run_on_boards(
    sources: Sequence[str],
    arguments: Sequence[str],
    ranks: int,
    *,
    config: str | None,
    cluster: str | None,
    defines: Sequence[str],
    includes: Sequence[str],
    verbose: bool,
    max_cycles: int | None,
    workers: int | None,
    label: bool,
    cycles: bool,
    stats: Path | None,
    report: Path | None,
    where: board.Place | guest.Place | None,
    estimates: bool,
) -> None:
    """Compiles, loads and runs, on the boards ``where`` or in a simulator; the engine ``fast`` ``estimates`` cycles.

    Raises AnswerNo if a rank returns a code other than 0, RunDied if one fails.
    """
    if config is not None and cluster is not None:
        raise InputError(f"--config: cluster {cluster} names the configuration of its boards; omit --config")
    from gossamer import config as configs
    from gossamer import files
    from gossamer.engines import fast, guest, rtl_cluster
    from gossamer.mpi import _device

    files.check_outputs([("--stats", stats), ("--report", report)], sources)

    if isinstance(where, guest.Place):
        plan: rtl_cluster.Plan = where.plan
    else:
        named = configs.load_cluster(cluster) if cluster is not None else configs.load(config or CONFIG)
        plan = rtl_cluster.Plan(named)
    hardware = plan.config
    place = _device.places(ranks, hardware, plan.boards)
    image = _device.build(
        sources, hardware, place, arguments, defines=defines, includes=includes,
        shape=plan.shape,
    )  # fmt: skip
    if verbose:
        show_warnings(image.warnings)
    console = _Console(sources[0], image, place, hardware.threads, label)
    machine: rtl_cluster.Cluster
    if where is not None:
        machine = where.open(plan)
    elif estimates:
        machine = fast.Fast(plan)
    else:
        machine = rtl_cluster.Cluster(plan, workers=workers, program=sources[0])
    with machine as board:
        _load(board, image)
        try:
            done = board.run(
                place.threads,
                max_cycles=max_cycles,
                on_line=console.line,
                on_emit=console.emit,
                on_trap=console.trap,
                on_progress=console.progress,
            )
        except _Ended as end:
            raise RunDied(f"{sources[0]}: rank {end.rank} ended the run; all ranks are ended") from None
        finally:
            console.end()
            console.clear()
    if cycles:
        cycles_noun, instructions_noun = ("" if n == 1 else "s" for n in (done.cycles, done.instructions))
        click.echo(f"{done.cycles} cycle{cycles_noun}, {done.instructions} instruction{instructions_noun}", err=True)
    if stats is not None or report is not None:
        from gossamer.cli import _statistics
        from gossamer.watch import report as page

        network = plan if cluster is not None or isinstance(where, guest.Place) else None
        # Ranks are on threads that are spread over the tiles, and the run counts up to the last of them.
        run = dataclasses.replace(done, threads=ranks)
        about = _statistics.program(sources[0], hardware, run, network, options={"ranks": ranks})
        page.write(about, stats, report)
    _judge(sources[0], image, done, console)


def _judge(program: str, image: Image, run: Run, console: _Console) -> None:
    """Raises RunDied or AnswerNo unless all ranks have returned 0."""
    if console.deadlock:
        raise RunDied(f"{program}: deadlock: all ranks wait, and no message is in flight")
    if run.reason != "done" or run.traps:
        _program_output.judge_run(program, image, run)
    codes = {console.rank(thread): code for thread, code in sorted(run.codes.items()) if code}
    if codes:
        listed = ", ".join(f"rank {rank} with {code}" for rank, code in list(codes.items())[:4])
        more = f", and {len(codes) - 4} more" if len(codes) > 4 else ""
        raise AnswerNo(f"{program}: ended with a code other than 0: {listed}{more}")


__all__ = ["command"]
