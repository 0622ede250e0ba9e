# SPDX-License-Identifier: Apache-2.0
"""What hosts write into the boards of a cluster before kernels start: routes, locations of ranks, trees of collectives.

Register addresses and words are those of gs_stream_config; `include/gossamer/smi/board.h` generates the same in C.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer import routes
from gossamer.config import Cluster, constants
from gossamer.errors import InputError
from gossamer.smi.hardware._design import Design
from gossamer.wording import counted

BOARD, ROUTE, RANK, OWN, EDGE, TREE, WAY, BIND_EDGES = (4 * word for word in range(4, 12))
"""Addresses of registers."""
BURST = 8
_FIRST_LINK = constants.enumeration("stream_port")["link"] - 1
"""The first port of a link on the switch of a board without a port of its own."""


@dataclass(frozen=True)
class Place:
    """Location of a rank."""

    rank: int
    board: int
    """Index in the cluster."""
    design: str
    """Name of the board's design."""
    slot: int
    """Slot of the rank on its board."""


def places(design: Design, topology: routes.Topology, name: str) -> list[Place]:
    """The ranks of a cluster, board by board. SMI's JSON names the design of each board; without it, board n gets the
    design's board n, and the last one serves all further boards."""
    found: list[Place] = []
    boards = topology.cluster.boards
    if not topology.programs and len(boards) < len(design.boards):
        raise InputError(f"{name}: {counted(len(boards), 'board')}; the design has {len(design.boards)} different ones")
    for number in range(len(boards)):
        if topology.programs:
            made = design.board(topology.programs[number])
        else:
            made = design.boards[min(number, len(design.boards) - 1)]
        found += [Place(len(found) + slot, number, made.name, slot) for slot in range(len(made.slots))]
    return found


def tables(
    design: Design, topology: str | os.PathLike[str]
) -> tuple[list[Place], dict[str, list[tuple[int, int]]], dict[int, dict[int, int]]]:
    """Ranks; the register writes of each board (address, word), by its name; the neighbour of each rank and edge.

    Another cluster needs other tables, but no other design.
    """
    read = routes.read_topology(topology)
    cluster, name = read.cluster, os.fspath(topology)
    options = design.options
    if len(cluster.boards) > options.boards:
        raise InputError(f"{name}: {len(cluster.boards)} boards; the design supports {options.boards}, see --boards")
    number = _link_numbers(design, cluster, name)
    ranks = places(design, read, name)
    if len(ranks) > options.ranks:
        raise InputError(f"{name}: {len(ranks)} ranks; the design supports {options.ranks}, see --ranks")
    written: dict[str, list[tuple[int, int]]] = {board.name: [] for board in cluster.boards}
    generated = routes.generate(read, vcs=2).tables
    entry = constants.layout("switch_entry")
    for board in cluster.boards:
        words = written[board.name]
        words.append((BOARD, BURST << 17 | 1 << 12 | board.index))
        for to in cluster.boards:
            port, vc = generated.entry(board.index, to.index)
            if port >= 0:
                words.append((ROUTE, to.index << 8 | entry.pack(valid=1, vc=vc, port=_FIRST_LINK + number[port])))
        words += [(RANK, place.board << 11 | place.slot << 8 | place.rank) for place in ranks]
        words += [(OWN, place.rank << 8 | place.slot) for place in ranks if place.board == board.index]
    ends: dict[int, dict[int, int]] = {}
    if any(design.board(place.design).collectives for place in ranks):
        _check_blocks(design, ranks, name)
        ends = _collectives(design, cluster, ranks, written)
    return ranks, written, ends


def links(design: Design, topology: str | os.PathLike[str]) -> dict[str, dict[str, int]]:
    """By name of a board and of its link, the number of the design's link."""
    cluster = routes.read_topology(topology).cluster
    number = _link_numbers(design, cluster, os.fspath(topology))
    return {
        board.name: {board.config.links.names[link]: number[link] for link, _, _ in cluster.neighbours(board.index)}
        for board in cluster.boards
    }


def _link_numbers(design: Design, cluster: Cluster, name: str) -> dict[int, int]:
    """By a board's link, the design's link: the same number, or their order if the design has fewer links."""
    used = sorted({link for board in cluster.boards for link, _, _ in cluster.neighbours(board.index)})
    most = design.options.links
    if len(used) > most:
        raise InputError(f"{name}: boards use {len(used)} links; the design has {most}, see --links")
    if all(link < most for link in used):
        return {link: link for link in used}
    return {link: at for at, link in enumerate(used)}


def _check_blocks(design: Design, ranks: Sequence[Place], name: str) -> None:
    """A tree includes all ranks, so each rank must have a block for each collective."""
    blocks = {
        place.rank: {one.port: one for one in design.board(place.design).slots[place.slot].endpoints if one.collective}
        for place in ranks
    }
    for place in ranks:
        for port, one in blocks[place.rank].items():
            without = next((other for other in ranks if port not in blocks[other.rank]), None)
            if without is not None:
                raise InputError(
                    f"{name}: {one.where}: {one.operation} on port {port}, which rank {without.rank} "
                    f"({without.design}) does not have; the tables' tree includes all ranks, so use it there too"
                )


def _collectives(
    design: Design, cluster: Cluster, ranks: Sequence[Place], written: dict[str, list[tuple[int, int]]]
) -> dict[int, dict[int, int]]:
    """Words for trees. One unrooted tree serves all roots: the parent for a root is the edge towards it. Sums in the
    order of ranks need the path of all ranks, with the last rank as the root of allreduce's tree."""
    ordered = any(one.ordered for board in design.boards for slot in board.slots for one in slot.endpoints)
    ends = _path(design, len(ranks)) if ordered else _tree(design, cluster, ranks)
    last = len(ranks) - 1 if ordered else 0
    towards = {rank: {rank: 0} for rank in ends}
    for rank, edges in ends.items():
        for edge, first in edges.items():
            queue = [(first, rank)]
            for at, before in queue:
                towards[rank][at] = edge
                queue += [(far, at) for far in ends[at].values() if far != before]
    for place in ranks:
        words = written[cluster.boards[place.board].name]
        for edge, far in ends[place.rank].items():
            back = next(number for number, to in ends[far].items() if to == place.rank)
            there = ranks[far]
            word = back << 29 | far << 21 | there.board << 9 | there.slot << 6 | edge << 3 | place.slot
            words.append((EDGE, word))
        # Allreduce and barrier use the last tree written: rank 0's, or, in a path, the last rank's.
        for root in sorted(range(len(ranks)), key=lambda root: (root == last, -root)):
            up = towards[place.rank][root]
            children = sum(1 << edge for edge in ends[place.rank] if root == place.rank or edge != up)
            tree = (int(root == place.rank) << 3 | up) << 8 | children
            words.append((TREE, tree << 11 | root << 3 | place.slot))
        words += [(WAY, (8 | edge) << 11 | to << 3 | place.slot) for to, edge in towards[place.rank].items()]
    for board in cluster.boards:
        mask = sum(1 << place.slot for place in ranks if place.board == board.index)
        written[board.name].append((BIND_EDGES, mask))
    return ends


def _path(design: Design, ranks: int) -> dict[int, dict[int, int]]:
    """Like _tree, for ranks in their order; routes connect each rank with the next."""
    if ranks > 2 and design.options.edges < 2:
        raise InputError(f"sums in the order of {ranks} ranks need 2 edges per rank; generate it with --edges 2")
    ends: dict[int, dict[int, int]] = {rank: {} for rank in range(ranks)}
    for rank in range(ranks - 1):
        ends[rank][len(ends[rank])] = rank + 1
        ends[rank + 1][len(ends[rank + 1])] = rank
    return ends


def _tree(design: Design, cluster: Cluster, ranks: Sequence[Place]) -> dict[int, dict[int, int]]:
    """By rank and edge, the rank at its far end: breadth first from rank 0, over the ranks of a board and its cables. A
    rank that no cable connects with a reached board is joined to any rank that has a free edge."""
    most = design.options.edges
    ends: dict[int, dict[int, int]] = {0: {}}
    here = {board.index: [place.rank for place in ranks if place.board == board.index] for board in cluster.boards}

    def join(one: int, other: int) -> None:
        ends.setdefault(other, {})
        ends[one][len(ends[one])] = other
        ends[other][len(ends[other])] = one

    queue = [0]
    while True:
        for rank in queue:
            board = ranks[rank].board
            near = [board, *(far for _, far, _ in cluster.neighbours(board))]
            for other in (one for there in near for one in here[there]):
                if other not in ends and len(ends[rank]) < most:
                    join(rank, other)
                    queue.append(other)
        alone = [place.rank for place in ranks if place.rank not in ends]
        if not alone:
            return ends
        free = next((rank for rank in ends if len(ends[rank]) < most), None)
        if free is None:
            raise InputError(f"{len(ranks)} ranks with {most} edge each form no tree; generate it with --edges 2")
        join(free, alone[0])
        queue = [alone[0]]
