# SPDX-License-Identifier: Apache-2.0
"""``./gossamer smi``: programs that exchange streaming messages, in an emulator or on simulated boards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from gossamer.cli import _deprecated, _smi_output
from gossamer.cli._run_arguments import PASSED_THROUGH, PassThroughCommand
from gossamer.wording import counted


@click.group(short_help="Run kernels that send each other streaming messages.")
def command() -> None:
    """Streaming messages (SMI): channels between ranks, opened at run time, that carry one element at a time.

    \b
    Examples:
      ./gossamer smi run examples/streams/pipeline.c --ranks 8
      ./gossamer smi run rank0.c rank1.c -- 1000
      ./gossamer smi run stencil.cpp --cluster torus8.json
    """


@command.command(cls=PassThroughCommand, short_help="Run programs, one on each rank.")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--ranks", metavar="N", type=int, help="How many ranks (one for each program, or each board).")
@click.option("--cluster", metavar="NAME", help="A cluster: a name in config/clusters/, a TOML file, or SMI's JSON.")
@click.option("--topology", "old_cluster", hidden=True)
@click.option(
    "--engine",
    "-e",
    metavar="NAME",
    default="emulator",
    help="emulator; rtl: boards in RTL; or board: boards on Ethernet.",
)
@click.option("--config", metavar="NAME", help="With boards: the configuration of all of them (that of the cluster).")
@click.option(
    "--frame-loss", metavar="SHARE", type=float, default=0.0, help="With rtl: share of frames that links lose."
)
@click.option("--define", "-D", metavar="NAME[=VALUE]", multiple=True, help="Define a macro for the programs.")
@click.option("--include", "-I", metavar="FOLDER", multiple=True, help="Search FOLDER for headers of the programs.")
@click.option("--slack", metavar="K", type=int, default=16, help="Degree of channels that state none (16).")
@click.option("--seed", metavar="N", type=int, default=0, help="Schedule kernels at random; 0: round-robin (0).")
@click.option("--ordered", is_flag=True, help="Reduce in the order of ranks: bit-identical sums with any root.")
@click.option("--operations", metavar="N", type=int, default=0, help="Abort the run after N operations.")
@click.option("--timeout", metavar="SECONDS", type=float, default=0.0, help="Abort the run after SECONDS.")
@click.option("--stack", metavar="MB", type=int, default=8, help="Stack of each kernel (8).")
@click.option("--port", metavar="PORT", help="With board: a network interface; else the simulated cluster.")
@click.option("--keys", metavar="FILE", help="With --port: the boards' keys.")
@click.option("--mpi", metavar="N", type=int, default=1, help="Distribute the ranks over N MPI processes (1).")
@click.option("--stats", metavar="FILE", type=click.Path(path_type=Path), help="Write statistics of the run as JSON.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write an HTML page of the run.")
@click.option(
    "--trace", metavar="FILE", type=click.Path(path_type=Path), help="With boards: write a trace (ui.perfetto.dev)."
)
@click.option("--trace-size", metavar="MB", type=int, help="Greatest size of the trace (64); a larger one is thinned.")
@click.option("--least-wait", metavar="N", type=int, help="Cycles of the shortest wait in the trace (24).")
def run(
    files: tuple[str, ...],
    ranks: int | None,
    cluster: str | None,
    old_cluster: str | None,
    engine: str,
    config: str | None,
    frame_loss: float,
    define: tuple[str, ...],
    include: tuple[str, ...],
    slack: int,
    seed: int,
    ordered: bool,
    operations: int,
    timeout: float,
    stack: int,
    port: str | None,
    keys: str | None,
    mpi: int,
    stats: Path | None,
    report: Path | None,
    trace: Path | None,
    trace_size: int | None,
    least_wait: int | None,
) -> int:
    """Build programs in C, C++ and OpenCL and run them on ranks that exchange streaming messages.

    A FILE with a main is a program, named after the file; the other FILEs in C and C++ are linked into all programs. An
    OpenCL file belongs to the main of its name, or to those that use its functions; else it is a program that runs all
    its kernels. Each rank runs its program's main with the arguments after --, and has its own variables. Kernels
    without a main get arguments by name: N=10 x=in.bin y=10:out.bin; arguments with the value @BUF share the buffer
    @BUF=VALUE. SMI's JSON topology assigns programs to ranks; otherwise the first program runs on rank 0, the second
    on rank 1, and the last on all others. On a deadlock the command prints which rank waits for which, at which line.

    With --engine rtl or board, --report, --trace and --stats tell where cycles go, also in a deadlock, and ./gossamer
    top shows it while the programs run.

    Exit code: the code of the first main that fails; 2 for wrong use of channels, 4 for a deadlock.

    \b
    Examples:
      ./gossamer smi run examples/streams/pipeline.c --ranks 8
      ./gossamer smi run rank0.c rank1.c -- 1000
      ./gossamer smi run stencil.cpp --cluster torus8.json --slack 0
      ./gossamer smi run two.c --ranks 2 --cluster torus8 --engine rtl --report two.html --trace two.pftrace
      ./gossamer smi run gesummv.cl -- N=64 alpha=1.5 beta=0.5 A=a.bin B=b.bin x=x.bin y=64:y.bin
    """
    from gossamer import smi
    from gossamer.engines import _names
    from gossamer.errors import InputError

    cluster = _deprecated.renamed("--cluster", cluster, "--topology", old_cluster)
    if engine == _names.GUEST:
        if cluster is not None or config is not None:
            raise InputError("--cluster, --config: are not for guests, which share their cluster; omit them")
        from gossamer.engines import guest

        cluster = guest.Place.here().cluster
    for name, value in (("trace-size", trace_size), ("least-wait", least_wait)):
        if value is not None and trace is None:
            raise InputError(f"--{name}: give --trace with it")
    options = smi.Options(
        slack, seed, operations, timeout, stack, ordered, mpi, engine, config, frame_loss, port, keys, trace,
        smi.LEAST_WAIT if least_wait is None else least_wait,
        smi.TRACE_BYTES if trace_size is None else trace_size * 1_000_000,
    )  # fmt: skip
    _smi_output.check_files({"stats": stats, "report": report, "trace": trace}, files)
    result = smi.run(
        files,
        ranks=ranks,
        topology=cluster,
        arguments=click.get_current_context().meta[PASSED_THROUGH],
        defines=define,
        includes=include,
        options=options,
        note=lambda line: click.echo(line, err=True),
        on_end=lambda result: _smi_output.write(result, options, files, stats, report),
    )
    if result.cycles is not None:
        click.echo(f"{result.cycles:,} cycles", err=True)
    return result.code


@command.command(short_help="List the ports that programs use.")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--define", "-D", metavar="NAME[=VALUE]", multiple=True, help="Define a macro for the programs.")
@click.option("--include", "-I", metavar="FOLDER", multiple=True, help="Search FOLDER for headers of the programs.")
@click.option("--json", "json_path", metavar="FILE", type=click.Path(path_type=Path), help="Write them here, as JSON.")
def ports(files: tuple[str, ...], define: tuple[str, ...], include: tuple[str, ...], json_path: Path | None) -> None:
    """List the ports of programs, with operation, type and degree, from which hardware is generated.

    Port, type, operation and degree must be constants. Conflicting uses of a port, in a program or between programs,
    are an error that names both lines (exit code 2).

    \b
    Examples:
      ./gossamer smi ports examples/streams/pipeline.c
      ./gossamer smi ports gemv.cl axpy.cl --json ports.json
    """
    from gossamer.files import check_writable, write_whole
    from gossamer.smi import ports as api

    if json_path is not None:
        check_writable(json_path)
    found = api.read(files, define, include)
    if json_path is not None:
        text = json.dumps(api.as_json(found), indent=1) + "\n"
        write_whole(json_path, text.encode())
    for one in found:
        click.echo(f"{one.program}: {len(one.ports)} port{'' if len(one.ports) == 1 else 's'}")
        for port in one.ports:
            degree = "" if port.degree is None else f", degree {port.degree}"
            words = " ".join(text for text in (port.operation, port.reduction, port.type) if text)
            click.echo(f"  {port.port:>3}  {words}{degree}  ({port.where})")


@command.command(short_help="Make boards with exactly the ports that programs use.")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--outdir", "-o", metavar="DIR", type=click.Path(path_type=Path), required=True, help="Write them here.")
@click.option(
    "--board", "-b", metavar="PROGRAM[,...]", multiple=True, help="A board with these ranks (a program each)."
)
@click.option("--define", "-D", metavar="NAME[=VALUE]", multiple=True, help="Define a macro for the programs.")
@click.option("--include", "-I", metavar="FOLDER", multiple=True, help="Search FOLDER for headers of the programs.")
@click.option("--links", metavar="N", type=int, default=4, help="Links of a board (4).")
@click.option("--edges", metavar="N", type=int, default=4, help="Edges of a rank in trees of collectives (4).")
@click.option("--ranks", metavar="N", type=int, default=16, help="Ranks of the largest cluster (16).")
@click.option("--boards", metavar="N", type=int, default=64, help="Boards of the largest cluster (64).")
@click.option("--depth", metavar="FLITS", type=int, default=256, help="Flits that a port can receive ahead (256).")
@click.option(
    "--voq-depth", metavar="FLITS", type=int, help="Virtual output queue of a port for each rank (by degree)."
)
@click.option("--aside", metavar="FLITS", type=int, hidden=True)
@click.option("--lanes", metavar="PORT=N", multiple=True, help="Elements that a port transfers per cycle (1).")
@click.option("--counters", is_flag=True, help="Count packets, beats and waits of each port, for recordings.")
@click.option("--cluster", metavar="NAME", help="Write the tables of this cluster's boards, for a host: tables.json.")
@click.option("--topology", "old_cluster", hidden=True)
def generate(
    files: tuple[str, ...],
    outdir: Path,
    board: tuple[str, ...],
    define: tuple[str, ...],
    include: tuple[str, ...],
    links: int,
    edges: int,
    ranks: int,
    boards: int,
    depth: int,
    voq_depth: int | None,
    aside: int | None,
    lanes: tuple[str, ...],
    counters: bool,
    cluster: str | None,
    old_cluster: str | None,
) -> None:
    """Write a SystemVerilog top for each board: the endpoints and support blocks that its programs use, with links.

    Kernels attach by AXI4-Stream, a host by AXI4-Lite. DIR gets all RTL, a header for hosts in C, and files for
    FuseSoC, Vivado and Quartus. Without --board each program has a board of its own. Tables are written at run time, so
    a change of routes changes no design; --cluster writes those of a cluster.

    \b
    Examples:
      ./gossamer smi generate gemv.cl axpy.cl -o build/gesummv
      ./gossamer smi generate stencil.cpp -o build/stencil --links 4 --cluster torus8
      ./gossamer smi generate stencil.cpp -o build/two --board stencil,stencil
    """
    from gossamer.smi import hardware

    if aside is not None:
        _deprecated.note("--aside", "--voq-depth")
        voq_depth = aside if voq_depth is None else voq_depth
    options = hardware.Options(links, edges, ranks, boards, depth, voq_depth, _lanes(lanes), counters)
    made = hardware.design(files, board, define, options, include)
    cluster = _deprecated.renamed("--cluster", cluster, "--topology", old_cluster)
    if cluster is not None:
        hardware.tables(made, cluster)  # raises InputError before a file is written
    written = hardware.write(made, outdir)
    if cluster is not None:
        written.append(hardware.write_tables(made, cluster, outdir))
    for one in made.boards:
        click.echo(f"{one.name}: {', '.join(slot.program for slot in one.slots)}")
    click.echo(f"{counted(len(written), 'file')} in {outdir}")


@command.command(short_help="Statistics, a report and a trace of generated boards that hosts have recorded.")
@click.argument("files", nargs=-1, required=True, metavar="RECORDING...", type=click.Path(path_type=Path))
@click.option("--stats", metavar="FILE", type=click.Path(path_type=Path), help="Write statistics as JSON.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write an HTML page.")
@click.option("--trace", metavar="FILE", type=click.Path(path_type=Path), help="Write a trace (ui.perfetto.dev).")
def recorded(files: tuple[Path, ...], stats: Path | None, report: Path | None, trace: Path | None) -> None:
    """Show what the streaming ports of generated boards have counted: packets, beats, and cycles of waits.

    A RECORDING is a file that the host of a board has written with gossamer/smi/record.h; the board must be generated
    with --counters. Give one of each board. ./gossamer top RECORDING... shows them while the boards run.

    \b
    Examples:
      ./gossamer smi recorded b0.jsonl b1.jsonl --report run.html --trace run.pftrace
      ./gossamer smi recorded b0.jsonl --stats b0.json
    """
    from gossamer.cli._screen import size
    from gossamer.files import write_whole
    from gossamer.watch import dashboard, recordings, statistics
    from gossamer.watch import report as page

    _smi_output.check_files({"stats": stats, "report": report, "trace": trace}, files)
    found = [recordings.read(path) for path in files]
    values = recordings.values(found)
    about = statistics.document(
        "boards", "generated", values["program"], values, command=statistics.command(),
        configuration={
            "engine": "generated", "design": f"0x{found[0].design:08x}", "boards": values["boards"],
            "ranks": values["ranks"], "clock_mhz": values["clock_mhz"],
        },
    )  # fmt: skip
    if stats is not None:
        statistics.write(stats, about)
    if report is not None:
        write_whole(report, page.page([about]).encode())
    if trace is not None:
        recordings.write_trace(trace, found)
    if stats is None and report is None and trace is None:
        click.echo("\n".join(dashboard.recorded(found, {}, dashboard.Size(size()[0]))))


def _lanes(words: tuple[str, ...]) -> dict[int, int]:
    from gossamer.errors import InputError

    found = {}
    for word in words:
        port, sign, count = word.partition("=")
        if not (sign and re.fullmatch("[0-9]{1,9}", port) and re.fullmatch("[0-9]{1,9}", count)):
            raise InputError(f"--lanes {word}: must be PORT=N, for example --lanes 3=4")
        if int(port) in found:
            raise InputError(f"--lanes {word}: port {int(port)} is given twice; write it once")
        found[int(port)] = int(count)
    return dict(sorted(found.items()))
