# SPDX-License-Identifier: Apache-2.0
"""Maps the graph of a host program: ``python -m gossamer.polite.mapping SETTINGS PROBLEM TABLES HOST``.

HOST is the process number of the host, which starts this process; this process ends with it. SETTINGS is a pickle that
the command has written: the recipe of the program for threads, and the placement. PROBLEM and TABLES are binary files
that ``host/src/vertices.cc`` writes and reads:

    PROBLEM: number of vertices, of pins, bytes of a state, of an edge, of a message, columns and rows of boards, bytes
             of the parameters and of the name of the vertex type, number of marks (64 bits each); parameters, name,
             marks; for each pin offsets (64 bits, vertices + 1), targets (32 bits), edge values
    TABLES:  for each vertex its thread's address, its slot there, the piece with its state, offset in that piece
             (32 bits); number of pieces (64 bits); for each piece the tile whose memory it is for, its address
             (32 bits), size (64 bits), content; number of threads, bytes of a thread's header and of an edge (64 bits
             each); for each thread the piece with its header, offset in that piece, its address; then for states,
             headers, addresses of lists, edges of received messages, targets of sent messages: by thread the address,
             size, piece, offset in that piece (32 bits)
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import mapper
from gossamer.errors import InputError
from gossamer.hosts import hostlink
from gossamer.mapper.partition import METHODS, mapped
from gossamer.mapper.patches import GONE
from gossamer.polite import _program
from gossamer.polite.staging import PLACED, Placement

Numbers = np.ndarray[Any, Any]
_DEFAULT = "metis"
_NAMES = {"default": _DEFAULT, "": _DEFAULT}
_LAYOUT = "gossamer_polite_layout"
_BLOCKS = "gossamer_polite_blocks"


class _Reader:
    """Reads consecutive arrays from a file."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        self._at = 0

    def read(self, kind: type[np.generic], count: int) -> np.ndarray[Any, Any]:
        found = np.frombuffer(self._data, kind, count, self._at)
        self._at += found.nbytes
        return found


class HostGraph:
    """The graph of a host program."""

    def __init__(self, path: Path) -> None:
        reader = _Reader(path)
        head = reader.read(np.uint64, 10).tolist()
        vertices, pins, self.state_bytes, self.edge_bytes, self.message_bytes, *boards = head[:7]
        edge_bytes = self.edge_bytes
        params_bytes, name_bytes, mark_count = head[7:]
        self.boards: tuple[int, int] = (boards[0], boards[1])
        params = reader.read(np.uint8, params_bytes).tobytes()
        self.vertex = reader.read(np.uint8, name_bytes).tobytes().decode()
        self.marks = reader.read(np.uint8, mark_count)
        """The mark of each present vertex, if the run resumes; empty for a first run."""
        self.present = np.flatnonzero(self.marks != GONE) if mark_count else np.arange(vertices)
        """The vertices that have a thread, by the program's numbers; the problem numbers them from 0."""
        self.vertices = int(vertices)
        self.marks = self.marks[self.present] if mark_count else self.marks
        number = np.full(vertices, -1, np.int64)
        number[self.present] = np.arange(len(self.present))
        relations = []
        for pin in range(pins):
            offsets = reader.read(np.uint64, vertices + 1).astype(np.int64)
            edges = int(offsets[-1])
            targets = reader.read(np.uint32, edges).astype(np.int64)
            values = reader.read(np.uint8, edges * edge_bytes).reshape(edges, edge_bytes) if edge_bytes else None
            # Removed vertices have no edges.
            offsets = np.append(offsets[self.present], offsets[-1])
            relations.append(mapper.Relation(pin, offsets, number[targets], values))
        states = np.zeros((len(self.present), self.state_bytes), np.uint8)
        self.problem = mapper.Problem(states, params, bytes(edge_bytes), relations, names=self.present)


def _mapping(graph: HostGraph, machine: mapper.Machine, shape: tuple[int, int], method: str | None) -> mapper.Mapping:
    """The thread of each vertex, on the boards that the program requests."""
    method = method or os.environ.get("POLITE_PLACER", "")
    method = _NAMES.get(method, method)
    if method not in METHODS:
        raise InputError(f"POLITE_PLACER={method}: no such placer; choose one of {', '.join(METHODS)}")
    columns, rows = (wanted or available for wanted, available in zip(graph.boards, shape, strict=True))
    if columns > shape[0] or rows > shape[1]:
        raise InputError(
            f"the program requests {columns} x {rows} boards (POLITE_BOARDS_X, POLITE_BOARDS_Y), "
            f"but there are {shape[0]} x {shape[1]}; use a larger --cluster"
        )
    boards = np.array([row * shape[0] + column for row in range(rows) for column in range(columns)])
    hops = None if machine.hops is None else machine.hops[np.ix_(boards, boards)]
    part = mapper.Machine(machine.config, columns * rows, hops=hops)
    found = mapper.assign(graph.problem.vertices, *graph.problem.ends(), part, method=method)
    if part.boards == machine.boards:
        return found
    each = machine.config.threads
    return mapped(boards[found.thread // each] * each + found.thread % each, machine)


def _constant(image: Any, name: str, size: int) -> bytes:
    """The bytes of the only constant whose symbol contains ``name``, possibly from a template."""
    named = [address for symbol, address in image.symbols.items() if name in symbol]
    if len(set(named)) != 1:
        many = "no" if not named else "more than one kind of"
        raise InputError(f"{image.name}: has {many} PThread; a program for threads runs one kind of device")
    for segment in image.segments:
        if segment.address <= named[0] < segment.address + len(segment.data):
            return bytes(segment.data[named[0] - segment.address :][:size])
    raise InputError(f"{image.name}: has no {name}")


def _tables(
    graph: HostGraph,
    mapping: mapper.Mapping,
    machine: mapper.Machine,
    recipe: hostlink.Recipe,
    network: mapper.Network | None,
    wide: bool,
) -> tuple[Any, mapper.Tables]:
    image = recipe.image(wide=wide)
    layout = mapper.Layout.read(_constant(image, _LAYOUT, mapper.Layout.SIZE))
    layout.check(image.name, state=graph.state_bytes, label=graph.edge_bytes, message=graph.message_bytes)
    tables = mapper.Tables(
        graph.problem,
        mapping,
        machine,
        layout,
        base=image.symbols["__data_end"],
        multicast=recipe.sends > 0,
        network=network,
        # Programs for graphs that change store an end for each list. Each part has new tables, so no space is spare.
        spare=mapper.Spare(least=0, arena=0) if len(graph.marks) else None,
    )
    return image, tables


def run(settings: Path, problem: Path, result: Path) -> None:
    """Reads a graph, maps it, and writes its tables."""
    recipe: hostlink.Recipe
    placement: Placement
    recipe, placement = pickle.loads(settings.read_bytes())
    graph = HostGraph(problem)
    if graph.vertex:
        recipe = recipe.of_vertex(graph.vertex, graph.problem.pins, len(graph.marks) > 0)
        settings.write_bytes(pickle.dumps((recipe, placement)))
    shape = recipe.boards
    plan = placement.plan
    machine = mapper.Machine(recipe.config, shape[0] * shape[1], hops=None if plan is None else plan.hops)
    first = recipe.image(wide=False)
    layout = mapper.Layout.read(_constant(first, _LAYOUT, mapper.Layout.SIZE))
    one = graph.problem
    mapper.check_least(machine, layout, first.symbols["__data_end"], one.vertices, one.edges, one.pins)
    mapping = _mapping(graph, machine, shape, placement.method)
    network = None
    if recipe.sends == 2 and plan is not None:
        network = mapper.Network(plan.topology, plan.tables, plan.link)
    try:
        image, tables = _tables(graph, mapping, machine, recipe, network, wide=False)
    except mapper.TooWide:
        image, tables = _tables(graph, mapping, machine, recipe, network, wide=True)
        recipe.write_hex(problem.parent, image)
        (problem.parent / hostlink.WIDE).touch()
    else:
        if graph.vertex:
            recipe.write_hex(problem.parent, image)
            (problem.parent / hostlink.WIDE).unlink(missing_ok=True)  # from an earlier part
    pieces = [*tables.images(placement.most_steps)]
    pieces += [(memory, image.symbols[_BLOCKS], words) for memory, words in tables.blocks()]
    if len(graph.marks):
        pieces += tables.flags(graph.marks)
    _write(result, graph, mapping, machine, tables, pieces)
    ends = np.cumsum(mapping.counts)
    order = graph.present[mapping.order]
    vertices = [order[end - count : end].tolist() for end, count in zip(ends, mapping.counts, strict=True)]
    (problem.parent / PLACED).write_bytes(pickle.dumps((tables.outcome, vertices)))


def _write(
    result: Path,
    graph: HostGraph,
    mapping: mapper.Mapping,
    machine: mapper.Machine,
    tables: mapper.Tables,
    pieces: list[tuple[int, int, bytes]],
) -> None:
    at = tables.states_at[mapping.thread] + tables.layout.state * mapping.local
    memory = machine.memory_of(mapping.thread)
    nowhere = 0xFFFF_FFFF
    by_vertex = np.full((4, graph.vertices), nowhere, "<u4")
    by_vertex[:, graph.present] = (machine.addresses(mapping.thread), mapping.local, *_found(pieces, memory, at))
    drams = machine.memories // machine.boards
    each = -(-machine.board_tiles // drams)
    with result.open("wb") as file:
        file.write(by_vertex.tobytes())
        file.write(np.uint64(len(pieces)).tobytes())
        for of, address, data in pieces:
            tile = of // drams * machine.board_tiles + of % drams * each
            file.write(np.array([tile, address], np.uint32).tobytes() + np.uint64(len(data)).tobytes() + data)
        layout = tables.layout
        file.write(np.array([machine.threads, layout.header, layout.edge], np.uint64).tobytes())
        memory = machine.memory_of(np.arange(machine.threads))
        for numbers in _found(pieces, memory, tables.headers):
            file.write(numbers.tobytes())
        file.write(machine.addresses(np.arange(machine.threads)).astype("<u4").tobytes())
        for starts, sizes in tables.regions():
            for numbers in (starts, sizes, *_found(pieces, memory, starts)):
                file.write(numbers.astype("<u4").tobytes())


def _found(pieces: list[tuple[int, int, bytes]], memory: Numbers, at: Numbers) -> tuple[Numbers, Numbers]:
    """For each address in a memory the piece that contains it, and the offset in that piece."""
    piece, where = np.zeros(len(at), np.uint32), np.zeros(len(at), np.uint32)
    for number, (of, address, data) in enumerate(pieces):
        here = (memory == of) & (at >= address) & (at < address + len(data))
        piece[here], where[here] = number, (at - address)[here]
    return piece, where


def main(arguments: list[str]) -> int:
    """Runs the mapper. Returns the exit code; errors are printed as one line.

    ``arguments`` are the three files of ``run``, and the process number of the host.
    """
    *files, host = arguments
    return _program.ended(host, lambda: run(*map(Path, files)), "PGraph::map")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
