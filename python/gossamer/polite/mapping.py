# SPDX-License-Identifier: Apache-2.0
"""Maps the graph of a host program: ``python -m gossamer.polite.mapping SETTINGS PROBLEM TABLES HOST``.

HOST is the number of the host's process, which starts this and is not outlived.
SETTINGS is what the command has pickled: the recipe of the program for threads, and the placement. PROBLEM and TABLES
are files of plain numbers that ``host/src/vertices.cc`` writes and reads:

    PROBLEM: vertices, pins, bytes of a state, of an edge, of a message, columns and rows of boards, bytes of the
             parameters and of the name of the vertex's type (64 bits each); these two;
             for each pin offsets (64 bits, vertices + 1), targets (32 bits), edge values
    TABLES:  for each vertex its thread's address; its number there; the piece with its state; where in that (32 bits);
             how many pieces (64 bits); of each the tile whose memory it is for, its address (32 bits), bytes (64 bits);
             how many threads, bytes of a thread's header and of an edge there (64 bits each); for each thread the piece
             with its header; where in that; its address; then for states, headers, addresses of lists, edges that
             messages come along, and where messages go: by thread the address, how many bytes, the piece, where in that
             (32 bits)
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
    """Arrays out of a file, one behind the other."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        self._at = 0

    def take(self, kind: type[np.generic], count: int) -> np.ndarray[Any, Any]:
        found = np.frombuffer(self._data, kind, count, self._at)
        self._at += found.nbytes
        return found


class Given:
    """The graph of a program."""

    def __init__(self, path: Path) -> None:
        reader = _Reader(path)
        head = reader.take(np.uint64, 10).tolist()
        vertices, pins, self.state_bytes, self.edge_bytes, self.message_bytes, *boards = head[:7]
        edge_bytes = self.edge_bytes
        params_bytes, name_bytes, mark_count = head[7:]
        self.boards: tuple[int, int] = (boards[0], boards[1])
        params = reader.take(np.uint8, params_bytes).tobytes()
        self.vertex = reader.take(np.uint8, name_bytes).tobytes().decode()
        self.marks = reader.take(np.uint8, mark_count)
        """What each vertex that is there begins a part with that goes on; none: all begin."""
        self.there = np.flatnonzero(self.marks != GONE) if mark_count else np.arange(vertices)
        """The vertices that have a thread, by the program's numbers; the problem numbers them from 0."""
        self.vertices = int(vertices)
        self.marks = self.marks[self.there] if mark_count else self.marks
        number = np.full(vertices, -1, np.int64)
        number[self.there] = np.arange(len(self.there))
        relations = []
        for pin in range(pins):
            offsets = reader.take(np.uint64, vertices + 1).astype(np.int64)
            edges = int(offsets[-1])
            targets = reader.take(np.uint32, edges).astype(np.int64)
            values = reader.take(np.uint8, edges * edge_bytes).reshape(edges, edge_bytes) if edge_bytes else None
            # Those that are gone have no edges.
            offsets = np.append(offsets[self.there], offsets[-1])
            relations.append(mapper.Relation(pin, offsets, number[targets], values))
        states = np.zeros((len(self.there), self.state_bytes), np.uint8)
        self.problem = mapper.Problem(states, params, bytes(edge_bytes), relations, names=self.there)


def _mapping(given: Given, machine: mapper.Machine, shape: tuple[int, int], method: str | None) -> mapper.Mapping:
    """The thread of each vertex, on the boards that the program wants."""
    method = method or os.environ.get("POLITE_PLACER", "")
    method = _NAMES.get(method, method)
    if method not in METHODS:
        raise InputError(f"POLITE_PLACER={method}: there is no such placer; there are: {', '.join(METHODS)}")
    columns, rows = (wanted or there for wanted, there in zip(given.boards, shape, strict=True))
    if columns > shape[0] or rows > shape[1]:
        raise InputError(
            f"the program asks for {columns} x {rows} boards (POLITE_BOARDS_X, POLITE_BOARDS_Y), "
            f"but there are {shape[0]} x {shape[1]}; take a larger --cluster"
        )
    boards = np.array([row * shape[0] + column for row in range(rows) for column in range(columns)])
    hops = None if machine.hops is None else machine.hops[np.ix_(boards, boards)]
    part = mapper.Machine(machine.config, columns * rows, hops=hops)
    found = mapper.assign(given.problem.vertices, *given.problem.ends(), part, method=method)
    if part.boards == machine.boards:
        return found
    each = machine.config.threads
    return mapped(boards[found.thread // each] * each + found.thread % each, machine)


def _constant(image: Any, name: str, size: int) -> bytes:
    """The bytes of the one constant with a name in it, which a template may have made."""
    named = [address for symbol, address in image.symbols.items() if name in symbol]
    if len(set(named)) != 1:
        many = "no" if not named else "more than one kind of"
        raise InputError(f"{image.name}: has {many} PThread; a program for threads runs one kind of device")
    for segment in image.segments:
        if segment.address <= named[0] < segment.address + len(segment.data):
            return bytes(segment.data[named[0] - segment.address :][:size])
    raise InputError(f"{image.name}: has no {name}")


def _tables(
    given: Given,
    mapping: mapper.Mapping,
    machine: mapper.Machine,
    recipe: hostlink.Recipe,
    network: mapper.Network | None,
    wide: bool,
) -> tuple[Any, mapper.Tables]:
    image = recipe.image(wide=wide)
    layout = mapper.Layout.read(_constant(image, _LAYOUT, mapper.Layout.SIZE))
    widths = (
        ("state of a device", given.state_bytes, layout.state, 2),
        ("label of an edge", given.edge_bytes, layout.label, 0),
        ("message", given.message_bytes, layout.message, 0),
    )
    for what, here, there, least in widths:
        if there != max(least, here):
            raise InputError(
                f"{image.name}: the {what} has {here} bytes on the host and {there} on the threads; "
                "take types that are as wide everywhere (uint32_t, not long, size_t or a pointer)"
            )
    tables = mapper.Tables(
        given.problem,
        mapping,
        machine,
        layout,
        base=image.symbols["__data_end"],
        multicast=recipe.sends > 0,
        network=network,
        # Programs for graphs that change have an end for each list. Nothing is to grow: each part has its own tables.
        spare=mapper.Spare(least=0, arena=0) if len(given.marks) else None,
    )
    return image, tables


def run(settings: Path, problem: Path, result: Path) -> None:
    """Reads a graph and writes its tables."""
    recipe: hostlink.Recipe
    placement: Placement
    recipe, placement = pickle.loads(settings.read_bytes())
    given = Given(problem)
    if given.vertex:
        recipe = recipe.of_vertex(given.vertex, given.problem.pins, len(given.marks) > 0)
        settings.write_bytes(pickle.dumps((recipe, placement)))
    shape = recipe.boards
    plan = placement.plan
    machine = mapper.Machine(recipe.config, shape[0] * shape[1], hops=None if plan is None else plan.hops)
    mapping = _mapping(given, machine, shape, placement.method)
    network = None
    if recipe.sends == 2 and plan is not None:
        network = mapper.Network(plan.topology, plan.tables, plan.link)
    try:
        image, tables = _tables(given, mapping, machine, recipe, network, wide=False)
    except mapper.TooWide:
        image, tables = _tables(given, mapping, machine, recipe, network, wide=True)
        recipe.write_hex(problem.parent, image)
        (problem.parent / hostlink.WIDE).touch()
    else:
        if given.vertex:
            recipe.write_hex(problem.parent, image)
            (problem.parent / hostlink.WIDE).unlink(missing_ok=True)  # of a part before
    pieces = [*tables.images(placement.most_steps)]
    pieces += [(memory, image.symbols[_BLOCKS], words) for memory, words in tables.blocks()]
    if len(given.marks):
        pieces += tables.flags(given.marks)
    _write(result, given, mapping, machine, tables, pieces)
    ends = np.cumsum(mapping.counts)
    order = given.there[mapping.order]
    vertices = [order[end - count : end].tolist() for end, count in zip(ends, mapping.counts, strict=True)]
    (problem.parent / PLACED).write_bytes(pickle.dumps((tables.outcome, vertices)))


def _write(
    result: Path,
    given: Given,
    mapping: mapper.Mapping,
    machine: mapper.Machine,
    tables: mapper.Tables,
    pieces: list[tuple[int, int, bytes]],
) -> None:
    at = tables.states_at[mapping.thread] + tables.layout.state * mapping.local
    memory = machine.memory_of(mapping.thread)
    nowhere = 0xFFFF_FFFF
    by_vertex = np.full((4, given.vertices), nowhere, "<u4")
    by_vertex[:, given.there] = (machine.addresses(mapping.thread), mapping.local, *_found(pieces, memory, at))
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
    """For each address in a memory the piece that has it, and where in that."""
    piece, where = np.zeros(len(at), np.uint32), np.zeros(len(at), np.uint32)
    for number, (of, address, data) in enumerate(pieces):
        here = (memory == of) & (at >= address) & (at < address + len(data))
        piece[here], where[here] = number, (at - address)[here]
    return piece, where


def main(words: list[str]) -> int:
    """Runs and gives the exit code; what is wrong with the graph is one line.

    Words are three files, see ``run``, and the number of the host's process.
    """
    *files, host = words
    return _program.ended(host, lambda: run(*map(Path, files)), "PGraph::map")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
