# SPDX-License-Identifier: Apache-2.0
"""The RTL transport of a run: simulated boards, and the roles of their ports and blocks of collectives.

Every rank is a board. Ports, types and collectives must be constant in the sources, as for generated hardware, so that
they can be bound before the run.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer import config as configs
from gossamer import routes
from gossamer.config import Cluster, Config, constants
from gossamer.engines import _rtl_build, board, guest
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError
from gossamer.smi import _boards, _buffers
from gossamer.smi import ports as port_lists
from gossamer.watch import streams

MOST_RANKS = 256
"""Ranks that the header of a stream packet encodes."""
_MORE_BLOCKS = (8, 16)
_QUIET_GUEST, _QUIET_BOARDS = 1 << 17, 1 << 14
"""Cycles without activity after which kernels that wait are deadlocked, if packets in flight are not known: among other
guests, and on boards of their own."""
_BYTES = {"double": 8, "long": 8, "int": 4, "float": 4, "short": 2, "half": 2, "char": 1}
_WIDTHS = (8, 4, 2, 1)
_CHANNELS = ("send", "receive")
_COLLECTIVES = ("bcast", "reduce", "allreduce", "scatter", "gather", "allgather")
_FLOATS = ("float", "double", "half")
_MOST_BLOCKS = 15


@dataclass(frozen=True)
class Boards:
    """The boards of a run."""

    lines: list[str]
    """Of the emulator's plan."""
    plan: Plan
    counters: Callable[[], tuple[list[streams.Link], list[streams.PortCount]]] | None = None
    """Reads in band what links and streaming ports have counted in the run; None if the emulator reads the links."""


@dataclass(frozen=True)
class Needs:
    """The hardware of a board that programs need."""

    ports: tuple[int, ...]
    """Ports of channels, in the order of the board's ports."""
    widths: Mapping[int, int]
    """Number of these ports by bytes of an element."""
    blocks: tuple[port_lists.Port, ...]
    """Ports of collectives; each has a block."""
    ordered: frozenset[int]
    """The ports of collectives that add in the order of ranks."""
    barrier: str | None
    """Location of the first barrier; None without a barrier."""
    degree: int
    """The greatest degree of a channel, or 0."""

    @property
    def block_count(self) -> int:
        """Blocks of collectives and of the barrier."""
        return len(self.blocks) + (self.barrier is not None)

    @property
    def together(self) -> str | None:
        """Location of the first collective or barrier; None without one."""
        return self.blocks[0].where if self.blocks else self.barrier


def needs(
    files: Sequence[str], defines: Sequence[str] = (), ordered: bool = False, includes: Sequence[str] = ()
) -> Needs:
    """Reads sources; with ``ordered`` every sum of floats is in the order of ranks. InputError, at the line, if a port
    is not constant, or has no RTL."""
    bytes_of: dict[int, int] = {}
    blocks: dict[int, port_lists.Port] = {}
    barrier: port_lists.Port | None = None
    degree = 0
    for program in port_lists.read(files, defines, includes):
        for port in program.ports:
            if port.operation in _COLLECTIVES:
                blocks.setdefault(port.port, port)
                continue
            if port.type is not None:
                bytes_of[port.port] = _BYTES[port.type]
                degree = max(degree, port.degree or 0)
                continue
            if barrier is not None and barrier.port != port.port:
                raise InputError(
                    f"{port.where}: barriers on port {port.port} and on port {barrier.port} ({barrier.where}); "
                    "the RTL has one barrier, so give both the same port"
                )
            barrier = barrier or port
    # A board has at least one port.
    found = sorted(bytes_of, key=lambda port: (-bytes_of[port], port))
    widths = {width: sum(1 for port in found if bytes_of[port] == width) for width in _WIDTHS}
    if not found:
        widths[1] = 1
    if len(blocks) > _MOST_BLOCKS:
        last = list(blocks.values())[_MOST_BLOCKS]
        raise InputError(f"{last.where}: {len(blocks)} ports of collectives; --engine rtl has {_MOST_BLOCKS} at most")
    return Needs(
        tuple(found),
        widths,
        tuple(blocks[port] for port in sorted(blocks)),
        frozenset(number for number, port in blocks.items() if _in_order(port, ordered)),
        barrier.where if barrier else None,
        degree,
    )


def _in_order(port: port_lists.Port, ordered: bool) -> bool:
    """Whether a reduction adds in the order of ranks: as `ordered` requires for floats, or as the program states."""
    return port.reduction == "add_ordered" or (ordered and port.reduction == "add" and port.type in _FLOATS)


def plan(
    files: Sequence[str],
    defines: Sequence[str],
    ranks: int,
    topology: str | os.PathLike[str] | None,
    slack: int,
    ordered: bool,
    includes: Sequence[str] = (),
    *,
    config: str | None = None,
    frame_loss: float = 0.0,
    seed: int = 0,
) -> Boards:
    """The boards of a run; builds the simulator if necessary.

    ``slack`` is the degree of channels that state none; with ``ordered`` floats are added in the order of ranks.
    ``config`` replaces the configuration of the cluster's boards. ``frame_loss`` is the share of frames that links
    lose, and the share that they damage; ``seed`` selects them.
    """  # fmt: skip
    cluster = cluster_of(topology, ranks, config, "rtl")
    wanted = needs(files, defines, ordered, includes)
    if config is None:
        cluster = _with_blocks(cluster, wanted.block_count)
    loss = round(frame_loss * (1 << 20))
    return _on_boards(cluster, ranks, wanted, slack, os.fspath(topology or ""), loss, seed)


def cluster_of(topology: str | os.PathLike[str] | None, ranks: int, config: str | None, engine: str) -> Cluster:
    """The cluster of a topology, whose boards are of one configuration; ``config`` replaces it."""
    if topology is None:
        raise InputError(f"--engine {engine} needs the boards' wiring; give --cluster, for example --cluster torus8")
    if ranks > MOST_RANKS:
        raise InputError(f"{ranks} ranks with --engine {engine}; give {MOST_RANKS} or fewer: the header has 8 bits")
    read = routes.read_topology(topology)
    cluster = read.cluster if config is None else read.cluster.with_config(configs.load(config))
    # Boards without a rank forward traffic, so the simulation includes all boards.
    if len(cluster.boards) > MOST_RANKS:
        raise InputError(
            f"{os.fspath(topology)}: {len(cluster.boards)} boards with --engine {engine}; at most {MOST_RANKS}"
        )
    for one in cluster.boards:
        if one.config != cluster.boards[0].config:
            raise InputError(
                f"{os.fspath(topology)}: {one.name} is {one.config.name}, {cluster.boards[0].name} is "
                f"{cluster.boards[0].config.name}; --engine {engine} needs the same configuration on all boards"
            )
    return cluster


def _with_blocks(cluster: Cluster, count: int) -> Cluster:
    """The cluster with boards that have that many blocks of collectives, if there is such a configuration: one whose
    name is that of the boards with ``-b8`` or ``-b16``."""
    own = cluster.boards[0].config
    known = configs.names()
    for blocks in _MORE_BLOCKS if count > own.stream.blocks else ():
        name = f"{own.name}-b{blocks}"
        if count <= blocks and name in known:
            return cluster.with_config(configs.load(name))
    return cluster


def _on_boards(cluster: Cluster, ranks: int, wanted: Needs, slack: int, where: str, loss: int, seed: int) -> Boards:
    """The boards of a run on those of the cluster's configuration (gs_board)."""
    plan = Plan(cluster)
    blocks, barrier = _blocks(plan, wanted, max(slack, wanted.degree), where)
    script = _boards.script(plan, ranks, blocks, wanted.together or "", barrier, loss, seed)
    library = _rtl_build.board_kernels(plan.config, plan.links)
    return Boards(_lines(library, plan.config, wanted, script), plan)


def plan_of_guest(
    place: guest.Place,
    files: Sequence[str],
    defines: Sequence[str],
    ranks: int,
    slack: int,
    ordered: bool,
    includes: Sequence[str] = (),
) -> Boards:
    """The boards of a guest of a cluster: its kernels use streaming ports of boards that another
    process simulates. Sets the bindings and tables of the ports."""
    whole, name = place.whole, f"guest {place.name}"
    wanted = needs(files, defines, ordered, includes)
    if place.streams != (0, _boards.lanes(whole.config)) or not place.streams[1]:
        raise InputError(f"{name}: SMI programs need all streaming ports of the boards; give it streams = true")
    blocks, barrier = _blocks(whole, wanted, max(slack, wanted.degree), name)
    writes = _boards.registers(whole, ranks, blocks, wanted.together or "", place.job)
    link = place.link(None)
    try:
        link.write_registers(writes)
    finally:
        link.close()
    script = [f"attach {place.kernels}", f"boards {whole.boards}", f"quiet {_QUIET_GUEST}"]
    script += [f"barrier {barrier}"] if barrier is not None else []
    return Boards(_lines(_rtl_build.guest_kernels(), whole.config, wanted, script), whole)


@contextlib.contextmanager
def on_boards(
    place: board.Place,
    files: Sequence[str],
    defines: Sequence[str],
    ranks: int,
    topology: str | os.PathLike[str] | None,
    slack: int,
    ordered: bool,
    includes: Sequence[str] = (),
    *,
    config: str | None = None,
) -> Iterator[Boards]:
    """The boards, with Ethernet shells, of a run within the context.

    The kernels share memory with the boards, which must be simulated on this machine.
    """
    cluster = cluster_of(topology, ranks, config, board.NAME)
    wanted = needs(files, defines, ordered, includes)
    if config is None:
        cluster = _with_blocks(cluster, wanted.block_count)
    plan = Plan(cluster)
    blocks, barrier = _blocks(plan, wanted, max(slack, wanted.degree), os.fspath(topology or ""))
    writes = _boards.registers(plan, ranks, blocks, wanted.together or "", 0)
    identity = secrets.randbits(64) | 1
    memory = Path(f"/dev/shm/gossamer-kernels-{identity:016x}")
    try:
        memory.touch(mode=0o600)
    except OSError as error:
        raise InputError(f"{memory}: no memory for kernels can be made there: {error.strerror}") from None
    try:
        with board.Boards(plan, place, streams=_boards.lanes(plan.config), kernels=identity) as boards:
            boards.link.write_registers(writes)
            _attach(memory, plan.boards)
            script = [f"attach {memory}", f"boards {plan.boards}", f"quiet {_QUIET_BOARDS}"]
            script += [f"barrier {barrier}"] if barrier is not None else []
            before = boards.network_counters()
            lines = _lines(_rtl_build.guest_kernels(), plan.config, wanted, script)

            def counters() -> tuple[list[streams.Link], list[streams.PortCount]]:
                links = boards.network_counters(before)[0].items()
                found = [streams.Link(*place, bool(its["state"] & 1), its) for place, its in links]
                return found, [_port_count(boards, rank, *port) for rank in range(ranks) for port in used]

            used = list(enumerate(wanted.ports))
            yield Boards(lines, plan, counters)
    finally:
        memory.unlink()


def _port_count(boards: board.Boards, rank: int, index: int, number: int) -> streams.PortCount:
    """What the port of a board with this index, the number ``number`` of the program, has counted."""
    registers = constants.enumeration("stream_register")
    values = (
        boards.link.read_register(rank, "stream", index, registers[name], job=0)
        for name in ("sent", "received", "dropped")
    )
    return streams.PortCount(number, rank, *values)


_ATTACHED, _MAPPED = 4, 24
"""Offsets in the shared memory (sim/board/shared_kernels.h)."""


def _attach(memory: Path, boards: int) -> None:
    """Lets the boards wait for kernels, once all of them have found the memory."""
    if not memory.stat().st_size:
        raise InputError(
            "--engine board: the kernels of SMI programs run next to simulated boards of this machine; "
            "start some with ./gossamer cluster sim up"
        )
    with memory.open("r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
        found = int.from_bytes(shared[_MAPPED : _MAPPED + 4], "little")
        if found < boards:
            raise InputError(f"--engine board: {boards - found} of {boards} boards are not on this machine")
        shared[_ATTACHED : _ATTACHED + 4] = (1).to_bytes(4, "little")


def _blocks(plan: Plan, wanted: Needs, degree: int, where: str) -> tuple[list[_boards.Block], int | None]:
    """The roles of the boards' blocks, and the block of the barrier. Raises InputError if programs do not fit."""
    _check(plan.config, wanted, degree, plan.boards, where)
    edges = plan.config.stream.block_edges
    if wanted.together is not None and plan.links > edges:
        raise InputError(
            f"{wanted.together}: boards with {plan.links} links; a collective on {plan.config.name} supports "
            f"{edges} (stream.block_edges)"
        )
    blocks = [
        _boards.Block("allreduce" if port.port in wanted.ordered else port.operation, port.port in wanted.ordered)
        for port in wanted.blocks
    ]
    if wanted.barrier is None:
        return blocks, None
    return [*blocks, _boards.Block("barrier")], len(blocks)


def _lines(library: Path, config: Config, wanted: Needs, script: Sequence[str]) -> list[str]:
    found = [f"boards {library}", *(f"port {port}" for port in wanted.ports)]
    found += [f"block {block.port}" for block in wanted.blocks]
    return [*found, _dram(config), *(f"fabric {line}" for line in script)]


def _check(config: Config, wanted: Needs, degree: int, boards: int, where: str) -> None:
    """Checks that a program fits the streaming ports of a configuration. Raises InputError."""
    stream = config.stream
    if not stream.ports or not stream.element_beats or stream.width_bytes < max(_WIDTHS):
        raise InputError(
            f"{where}: boards of {config.name} have no streaming ports for SMI programs (stream.ports, "
            "stream.element_beats, stream.width_bytes); give another cluster, for example torus8"
        )
    if len(wanted.ports) > stream.ports:
        raise InputError(
            f"the programs use {len(wanted.ports)} ports of channels; boards of {config.name} have {stream.ports} "
            "(stream.ports)"
        )
    if wanted.block_count > stream.blocks:
        raise InputError(
            f"{wanted.together}: the programs use {wanted.block_count} collectives and barriers; boards of "
            f"{config.name} have {stream.blocks} blocks (stream.blocks)"
        )
    if boards > stream.ranks:
        raise InputError(f"{where}: {boards} boards; streaming ports of {config.name} serve {stream.ranks} "
                         "(stream.ranks)")  # fmt: skip
    size = max((width for width, ports in wanted.widths.items() if ports), default=1)
    for key, least in (
        ("depth_flits", _buffers.receive(degree, size, 0)),
        ("send_flits", _buffers.send(degree, size)),
        ("voq_flits", _buffers.voq_depth(degree, stream.ranks)),
    ):
        if getattr(stream, key) < least:
            raise InputError(
                f"channels of {degree} elements ahead (degree, or --slack) need stream.{key} of {least}; "
                f"{config.name} has {getattr(stream, key)}"
            )


def _dram(config: Config) -> str:
    """A board's DRAM banks (src/smi/banks.h), as sim/memory/gs_sim_memory.sv describes them to the same model."""
    dram = config.memory.dram
    double = dram.kind != "sdr"
    names = ("bytes", "burst_length", "banks", "row_bytes", "cl", "cwl", "rcd", "rp", "ras", "rrd", "faw", "wr", "wtr",
             "rtp", "rfc", "refi", "port_bytes", "controller_latency")  # fmt: skip
    settings = {name: getattr(dram, name) for name in names}
    settings |= {
        "count": dram.count,
        "double_rate": int(double),
        "bus_bytes": dram.bus_bits // 8,
        "dram_khz": dram.rate_mts * (500 if double else 1000),
        "core_khz": round(config.board.clock_mhz * 1000),
        "line_bytes": config.cache.line_bytes,
        "bank_bytes": min(1024, dram.row_bytes),
    }
    return f"dram {' '.join(f'{name}={value}' for name, value in settings.items())}"
