# SPDX-License-Identifier: Apache-2.0
"""The RTL transport for a run: the model of a board with the ports that the programs use, and what its cluster is like.

Every rank is a board. A port is as wide as its elements, which is why ports and types have to be constants of the
sources, as for hardware that is generated.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer import routes
from gossamer.config import Cluster, Config, constants
from gossamer.errors import InputError
from gossamer.smi import ports as port_lists
from gossamer.smi._compile import SOURCE

MOST_RANKS = 256
"""Ranks that the header of a stream packet can tell apart."""
_MOST_EDGES = 8
_MAC_BITS = 64_000
"""Bits that the links' words carry in 1,000 cycles."""
_FIRST_LINK = 2
"""Ports of a board's switch before those of links."""
_BYTES = {"double": 8, "long": 8, "int": 4, "float": 4, "short": 2, "half": 2, "char": 1}
_WIDTHS = {8: "Eights", 4: "Fours", 2: "Twos", 1: "Ones"}
_KINDS = ("send", "receive", "barrier")


@dataclass(frozen=True)
class Needs:
    """What programs need of a board."""

    ports: tuple[int, ...]
    """Ports of channels, in the order of the board's."""
    widths: Mapping[int, int]
    """How many of them have elements of so many bytes."""
    barrier: str | None
    """Where the first barrier is; None if there is none."""


def needs(files: Sequence[str], defines: Sequence[str] = ()) -> Needs:
    """Reads sources. InputError, at the line, where a port is no constant, or has no RTL."""
    bytes_of: dict[int, int] = {}
    barrier: port_lists.Port | None = None
    for program in port_lists.read(files, defines):
        for port in program.ports:
            if port.operation not in _KINDS:
                raise InputError(
                    f"{port.where}: {port.operation} on port {port.port}: there is no RTL for it yet, only for "
                    "channels and a barrier of all ranks; leave out --engine rtl"
                )
            if port.type is not None:
                bytes_of[port.port] = _BYTES[port.type]
                continue
            if barrier is not None and barrier.port != port.port:
                raise InputError(
                    f"{port.where}: a barrier on port {port.port}, and one on port {barrier.port} ({barrier.where}): "
                    "the RTL has one barrier; give both the same port"
                )
            barrier = barrier or port
    # A board has a port at least.
    found = sorted(bytes_of, key=lambda port: (-bytes_of[port], port))
    widths = {width: sum(1 for port in found if bytes_of[port] == width) for width in _WIDTHS}
    if not found:
        widths[1] = 1
    return Needs(tuple(found), widths, barrier.where if barrier else None)


def plan(
    files: Sequence[str], defines: Sequence[str], ranks: int, topology: str | os.PathLike[str] | None
) -> list[str]:
    """Lines of the emulator's plan; the model is built where it is not there yet."""
    if topology is None:
        raise InputError("--engine rtl needs the boards' wiring; give --topology, for example --topology torus8")
    if ranks > MOST_RANKS:
        raise InputError(f"{ranks} ranks with --engine rtl; give {MOST_RANKS} or fewer: a header has 8 bits for them")
    read = routes.read_topology(topology)
    cluster = read.cluster
    # Traffic passes boards that have no rank: all are there.
    if len(cluster.boards) > MOST_RANKS:
        raise InputError(f"{os.fspath(topology)}: {len(cluster.boards)} boards with --engine rtl; at most {MOST_RANKS}")
    for board in cluster.boards:
        if board.config != cluster.boards[0].config:
            raise InputError(
                f"{os.fspath(topology)}: {board.name} is {board.config.name}, {cluster.boards[0].name} is "
                f"{cluster.boards[0].config.name}; --engine rtl simulates boards that are alike"
            )
    wanted = needs(files, defines)
    used = sorted({link for board in cluster.boards for link, _, _ in cluster.neighbours(board.index)})
    number = {link: at for at, link in enumerate(used)}
    lines = [f"boards {len(cluster.boards)}"]
    for board in cluster.boards:
        for link, far, far_link in cluster.neighbours(board.index):
            lines.append(f"wire {board.index} {number[link]} {far} {number[far_link]}")
    tables = routes.generate(read, vcs=2).tables
    entry = constants.layout("switch_entry")
    for board in cluster.boards:
        for to in cluster.boards:
            port, vc = tables.entry(board.index, to.index)
            if port >= 0:
                word = entry.pack(valid=1, vc=vc, port=_FIRST_LINK + number[port])
                lines.append(f"route {board.index} {to.index} {word}")
    if wanted.barrier is not None:
        lines += _tree(cluster, ranks, number, wanted.barrier)
    library = _library(cluster.boards[0].config, wanted, max(len(used), 1), len(cluster.boards))
    return [f"boards {library}", *(f"port {port}" for port in wanted.ports), *(f"fabric {line}" for line in lines)]


def _tree(cluster: Cluster, ranks: int, number: Mapping[int, int], where: str) -> list[str]:
    """The barrier's tree over the ranks, breadth first from rank 0: each rank's place in it."""
    parent: dict[int, int | None] = {0: None}
    children: dict[int, int] = dict.fromkeys(range(ranks), 0)
    queue = [0]
    for rank in queue:
        for link, far, far_link in cluster.neighbours(rank):
            if far < ranks and far not in parent and number[link] < _MOST_EDGES and number[far_link] < _MOST_EDGES:
                parent[far] = number[far_link]
                children[rank] |= 1 << number[link]
                queue.append(far)
    for rank in range(ranks):
        if rank not in parent:
            raise InputError(
                f"{where}: a barrier, but no cables over boards of ranks lead from rank {rank} to rank 0; the RTL's "
                "barrier needs them, so give each board a rank"
            )
    return [
        f"tree {rank} {(up is None) << 11 | (up or 0) << _MOST_EDGES | children[rank]}" for rank, up in parent.items()
    ]


def _library(config: Config, wanted: Needs, links: int, boards: int) -> Path:
    """The boards as a library (src/smi/rtl/fabric.h)."""
    from gossamer.hdl import sources, verilate

    count = sum(wanted.widths.values())
    parameters = {name: wanted.widths[width] for width, name in _WIDTHS.items()}
    parameters |= {
        "Barrier": int(wanted.barrier is not None),
        "Links": links,
        "Ranks": max(16, 1 << (boards - 1).bit_length()),
        "LineRate": min(config.link_bits_per_kilocycle, _MAC_BITS),
        "Flight": config.links.flight_cycles,
    }
    return verilate.model(
        "gs_sim_stream",
        sources.blocks("sim/stream/sim_stream.f", config=config),
        [SOURCE / "rtl" / "fabric.cc"],
        parameters=parameters,
        cxx=[f"-DPORTS={count}", f"-DLINKS={links}"],
        assertions=False,
        optimise="-O1",
        shared=True,
    )
