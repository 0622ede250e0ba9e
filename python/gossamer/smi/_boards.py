# SPDX-License-Identifier: Apache-2.0
"""The boards of a run (sim/board/kernels.cc): their wires, their plan, and registers: bindings and tables.

A block of collectives is one of the board's, with a streaming port for each edge. Edge *n* of a board leads over link
*n* of the simulation, or, in the path of ranks in rank order, edge 0 to the previous rank and edge 1 to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gossamer.config import Config, constants
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError

_JOB = 0
"""The job of all streaming ports of a run."""
_ROOTS = ("bcast", "reduce")
"""Roles with a tree for each root; others have one tree, of root 0."""
_SEGMENTS = ("scatter", "gather", "allgather")
Edges = Mapping[int, tuple[int, int]]
"""Edges of a rank: the neighbour, and the number of the edge there."""


@dataclass(frozen=True)
class Block:
    """A block of collectives, in the order of the board's blocks."""

    role: str
    """Its kind in ``smi_collective``."""
    path: bool = False
    """Whether its tree is the path of ranks."""


def script(
    plan: Plan,
    ranks: int,
    blocks: Sequence[Block],
    where: str,
    barrier: int | None = None,
    loss: int = 0,
    seed: int = 1,
) -> list[str]:
    """Lines for the boards. All their streaming ports get one job, and the first blocks their roles.

    ``barrier`` is the number of the block with that role. ``loss`` is the number of frames of 2^20 that wires lose, and
    the number that they damage. ``where`` is the location of the first collective, for errors.
    """
    lines = [f"boards {plan.boards}"]
    lines += [f"wire {board} {link} {far} {far_link}" for board, link, far, far_link, _ in plan.wires({})]
    lines += [f"loss {loss} {seed}"] if loss else []
    lines += [f"barrier {barrier}"] if barrier is not None else []
    lines += [f"host {plan.hosts[0]}"]
    facts = plan.facts(streams={_JOB: (0, lanes(plan.config))})
    lines += [f"plan {fact}" for fact in facts.splitlines()]
    return [*lines, *(f"register {' '.join(map(str, one))}" for one in registers(plan, ranks, blocks, where, _JOB))]


def lanes(config: Config) -> int:
    """Streaming ports of a board: those of kernels, then one for each edge of each block."""
    return config.stream.ports + config.stream.blocks * config.stream.block_edges


Write = tuple[int, int, int, int]
"""A write of a register: board, job, address (``register_address``), value."""


def registers(plan: Plan, ranks: int, blocks: Sequence[Block], where: str, job: int) -> list[Write]:
    """Writes that give the first blocks of all boards their roles, by packets of a job that has all ports."""
    return [
        (board, job, address, value)
        for number, block in enumerate(blocks)
        for board, address, value in _block(plan, ranks, number, block, where)
    ]


_Own = tuple[int, int, int]
"""Board, address and value of a write."""


def _block(plan: Plan, ranks: int, number: int, block: Block, where: str) -> Iterator[_Own]:
    """Writes that set a block of all ranks."""
    stream = plan.config.stream
    all_edges = [_path_edges(rank, ranks) if block.path else _link_edges(plan, rank, ranks) for rank in range(ranks)]
    role = constants.enumeration("smi_collective")[block.role]
    for rank, edges in enumerate(all_edges):
        yield _write(rank, "collective", number, "role", role)
        for edge, (far, far_edge) in edges.items():
            dest = _port(plan.config, far, number, far_edge)
            neighbour = constants.layout("collective_neighbour").pack(edge_number=edge, rank=far, dest=dest)
            yield _write(rank, "collective", number, "neighbour", neighbour)
            port = stream.ports + number * stream.block_edges + edge
            send = constants.layout("stream_send_bind").pack(eager=1, dest=dest, flits=stream.depth_flits)
            receive = constants.layout("stream_recv_bind").pack(eager=1, source=far, reply=dest)
            yield _write(rank, "stream", port, "send_bind", send)
            yield _write(rank, "stream", port, "recv_bind", receive)
    if block.role in _SEGMENTS:
        yield from _rank_edges(all_edges, number, where)
        return
    for root in range(ranks if block.role in _ROOTS else 1):
        parents = _path_parents(ranks) if block.path else _parents(all_edges, root, where)
        for rank in range(ranks):
            children = sum(1 << edge for edge, (far, its) in all_edges[rank].items() if parents.get(far) == its)
            entry = constants.layout("collective_tree").pack(
                root=root, is_root=int(rank not in parents), parent=parents.get(rank, 0), children=children
            )
            yield _write(rank, "collective", number, "tree", entry)


def _write(board: int, block: str, unit: int, register: str, value: int) -> _Own:
    number = constants.enumeration(f"{block}_register")[register]
    address = constants.layout("register_address").pack(
        block=constants.enumeration("register_block")[block], unit=unit, number=number
    )
    return board, address, value


def _port(config: Config, board: int, number: int, edge: int) -> int:
    """The address of the streaming port of an edge of a block."""
    port = config.stream.ports + number * config.stream.block_edges + edge
    kind = constants.enumeration("endpoint")["stream"]
    return constants.layout("address_stream").pack(kind=kind, board=board, port=port)


def _link_edges(plan: Plan, rank: int, ranks: int) -> Edges:
    found = plan.cluster.neighbours(rank)
    return {
        plan.link(rank, link): (far, plan.link(far, far_link)) for link, far, far_link in found if far < ranks
    }  # fmt: skip


def _path_edges(rank: int, ranks: int) -> Edges:
    before = {0: (rank - 1, 1)} if rank else {}
    return before | ({1: (rank + 1, 0)} if rank < ranks - 1 else {})


def _path_parents(ranks: int) -> dict[int, int]:
    """Edges to the parents: each rank adds its element to the sum of the ranks before it."""
    return dict.fromkeys(range(ranks - 1), 1)


def _parents(all_edges: Sequence[Edges], root: int, where: str) -> dict[int, int]:
    """Edges to the parents in a breadth-first tree, which has every rank. Raises InputError if none has."""
    found: dict[int, int] = {}
    queue = [root]
    for rank in queue:
        for far, far_edge in (all_edges[rank][edge] for edge in sorted(all_edges[rank])):
            if far != root and far not in found:
                found[far] = far_edge
                queue.append(far)
    if len(found) < len(all_edges) - 1:
        missing = next(rank for rank in range(len(all_edges)) if rank != root and rank not in found)
        raise InputError(
            f"{where}: a collective needs a path of cables from rank {missing} to rank {root} over boards with ranks; "
            "give each board a rank"
        )
    return found


def _rank_edges(all_edges: Sequence[Edges], number: int, where: str) -> Iterator[_Own]:
    """The edge that leads to each rank, in the tree of rank 0."""
    parents = _parents(all_edges, 0, where)
    tree: list[list[tuple[int, int]]] = [[] for _ in all_edges]
    for rank, up in parents.items():
        parent, down = all_edges[rank][up]
        tree[parent].append((rank, up))
        tree[rank].append((parent, down))
    for to in range(len(all_edges)):
        hops = {to: 0}
        queue = [to]
        for rank in queue:
            for far, edge in tree[rank]:
                if far not in hops:
                    hops[far] = edge
                    queue.append(far)
        for rank, edge in hops.items():
            towards = constants.layout("collective_rank_edge").pack(rank=to, member=1, via=edge)
            yield _write(rank, "collective", number, "rank_edge", towards)


__all__ = ["Block", "lanes", "registers", "script"]
