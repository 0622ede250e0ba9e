# SPDX-License-Identifier: Apache-2.0
"""``./gossamer mpi run``: MPI programs on this machine, or on threads of simulated boards."""

from __future__ import annotations

import click

from gossamer.cli._program_console import show_warnings
from gossamer.errors import InputError
from gossamer.mpi import CONFIG


@click.group("mpi", short_help="Run MPI programs.")
def command() -> None:
    """Run MPI programs: on this machine, or on threads of simulated boards.

    \b
    Examples:
      ./gossamer mpi run examples/mpi/halo2d.c -n 16
      ./gossamer mpi run examples/mpi/sort.c -n 8 --engine rtl
    """


_BEHIND = "gossamer.mpi.arguments"


class _Run(click.Command):
    """Keeps what stands behind -- for the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_BEHIND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


@command.command("run", cls=_Run)
@click.argument("program", nargs=-1, required=True)
@click.option("-n", "ranks", type=click.IntRange(1), default=4, show_default=True, help="How many ranks.")
@click.option("-e", "--engine", type=click.Choice(["cpu", "rtl"]), default="cpu", show_default=True,
              help="cpu: processes of this machine; rtl: threads of a simulated board or cluster.")  # fmt: skip
@click.option("-c", "--config", "config", help=f"The board of engine rtl.  [default: {CONFIG}]")
@click.option("--cluster", help="A cluster of boards instead, over which the ranks are spread.")
@click.option("-D", "--define", multiple=True, metavar="M=VALUE", help="A macro for the program.")
@click.option("-I", "--include", multiple=True, metavar="FOLDER", help="A folder with headers of the program.")
@click.option("--max-cycles", type=click.IntRange(1), help="End a run on engine rtl after so many cycles.")
@click.option("--workers", type=click.IntRange(1), help="Threads of this machine that simulate.")
@click.option("--label", is_flag=True, help="On engine rtl, write the rank in front of each line.")
@click.option("--cycles", is_flag=True, help="On engine rtl, tell cycles and instructions at the end.")
def run(
    program: tuple[str, ...],
    ranks: int,
    engine: str,
    config: str | None,
    cluster: str | None,
    define: tuple[str, ...],
    include: tuple[str, ...],
    max_cycles: int | None,
    workers: int | None,
    label: bool,
    cycles: bool,
) -> None:
    """Compile an MPI PROGRAM (sources, or folders of them) and run it.

    Arguments of the program stand behind --. All ranks write to one output; lines do not mix.

    \b
    Examples:
      ./gossamer mpi run examples/mpi/halo2d.c -n 16
      ./gossamer mpi run examples/mpi/sort.c -n 8 --engine rtl
      ./gossamer mpi run prog.c -n 4 -- --size 100
    """
    sources, arguments = list(program), list(click.get_current_context().meta.get(_BEHIND, []))
    if engine == "rtl":
        from gossamer.cli import _mpi_rtl

        _mpi_rtl.run(
            sources, arguments, ranks, config=config, cluster=cluster, defines=define, includes=include,
            max_cycles=max_cycles, workers=workers, label=label, cycles=cycles,
        )  # fmt: skip
        return
    for name, given in (
        ("config", config), ("cluster", cluster), ("max-cycles", max_cycles), ("workers", workers),
        ("label", label), ("cycles", cycles),
    ):  # fmt: skip
        if given:
            raise InputError(f"--{name}: is for engine rtl; add --engine rtl")
    from gossamer.mpi import _host

    executable, warned = _host.build(sources, defines=define, includes=include)
    show_warnings(warned)
    _host.run(sources[0], executable, ranks, arguments, {})


__all__ = ["command"]
