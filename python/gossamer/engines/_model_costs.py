# SPDX-License-Identifier: Apache-2.0
"""What the events of a program cost: counted by an interpreter of the program's instructions (``src/model/probe.cc``).

The program that the threads of ``rtl`` run is executed on a part of the problem's graph, on two tiles. Each thread and
phase is an observation: so many sends, messages and edges took so many instructions and requests. Least squares solve
for each event's cost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import mapper, native
from gossamer.config import constants
from gossamer.device._header import memory_map
from gossamer.engines import _model_abi as abi
from gossamer.errors import InputError, RunDied

if TYPE_CHECKING:
    from gossamer.device import Image

_THREAD_VERTICES = 12
"""Vertices of a thread in the part of the graph that is interpreted."""
_TILES = 2
_MOST_EDGES = 200_000
_ROWS = 400_000
_CLOCK = (0xC00, 0xC80)
"""The registers of the cycle counter."""

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Ranges = np.ndarray[Any, np.dtype[np.uint32]]
_USUAL = 0.5
"""A line that is touched at this share of an event's occurrences is touched at each."""


@dataclass(frozen=True)
class Observed:
    """What the interpreter has counted."""

    rows: Matrix
    """One for each thread and phase; ``abi.COLUMNS``."""
    ranges: Ranges
    """[kind, 2]: accessed bytes of states."""
    lines: Ranges
    """[kind, line, 3]: lines outside of the graph's tables (``gs_model_line_use``)."""


def check_clock(image: Image, name: str) -> None:
    """Raises InputError if a program reads the cycle counter, which the model does not have."""
    for pc, word in enumerate(image.instructions):
        if word & 0x7F == 0x73 and word >> 12 & 7 and word >> 20 in _CLOCK:
            raise InputError(
                f"{name}: a handler reads the clock ({image.where(4 * pc)}), and the engine model does not execute "
                "instructions one by one; use --engine rtl"
            )


def part_of(problem: mapper.Problem, most: int) -> mapper.Problem:
    """A connected part of the graph with at most ``most`` vertices, around vertices whose initial states are rare."""
    if problem.vertices <= most and problem.edges <= _MOST_EDGES:
        return problem
    _, which, counts = np.unique(problem.states, axis=0, return_inverse=True, return_counts=True)
    rare = np.argsort(counts[which.reshape(-1)], kind="stable")
    taken = np.zeros(problem.vertices, bool)
    order: list[int] = []
    edges, seeds = 0, iter(rare.tolist())
    frontier = [next(seeds)]
    taken[frontier[0]] = True
    while len(order) < most and edges < _MOST_EDGES:
        if not frontier:
            seed = next((s for s in seeds if not taken[s]), None)
            if seed is None:
                break
            taken[seed] = True
            frontier = [seed]
        vertex = frontier.pop(0)
        order.append(vertex)
        for one in problem.relations:
            row = one.targets[one.offsets[vertex] : one.offsets[vertex + 1]]
            edges += len(row)
            new = np.unique(row[~taken[row]])[: most - len(order)]
            taken[new] = True
            frontier += new.tolist()
    kept = np.array(sorted(order), np.int64)
    number = np.full(problem.vertices, -1, np.int64)
    number[kept] = np.arange(len(kept))
    relations = []
    for one in problem.relations:
        rows = [np.arange(one.offsets[v], one.offsets[v + 1]) for v in kept.tolist()]
        at = np.concatenate([np.empty(0, np.int64), *rows])
        source = np.repeat(np.arange(len(kept)), [len(row) for row in rows])
        inside = number[one.targets[at]] >= 0
        at, source = at[inside], source[inside]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=len(kept)))])
        values = None if one.values is None else one.values[at]
        relations.append(mapper.Relation(one.pin, offsets, number[one.targets[at]], values))
    return mapper.Problem(problem.states[kept], problem.params, problem.unit, relations)


def _uneven(even: mapper.Mapping, tile: mapper.Machine) -> mapper.Mapping:
    """A mapping in the same order with unequal parts: else costs of threads and of vertices could not be separated."""
    shares = np.cumsum(1 + 7 * np.arange(tile.threads) % 5)
    vertices = len(even.order)
    thread = np.empty(vertices, np.int64)
    thread[even.order] = np.searchsorted(shares, np.arange(vertices) * (shares[-1] / vertices), side="right")
    return mapper.partition.mapped(np.minimum(thread, tile.threads - 1), tile)


def _observed(
    problem: mapper.Problem, tile: mapper.Machine, layout: mapper.Layout, base: int, multicast: bool
) -> tuple[mapper.Problem, mapper.Tables]:
    """The part of the problem that is interpreted, and its tables."""
    most = _THREAD_VERTICES * tile.threads
    while True:
        part = part_of(problem, most)
        mapping = _uneven(mapper.assign(part.vertices, *part.ends(), tile, method="bfs", seed=1), tile)
        try:
            return part, mapper.Tables(part, mapping, tile, layout, base=base, multicast=multicast)
        except mapper.TooWide:
            # A thread has more vertices here than on the machine for which the program's offsets are wide enough.
            if part.vertices < 2:
                raise
            most = part.vertices // 2


def observe(
    problem: mapper.Problem,
    machine: mapper.Machine,
    image: Image,
    layout: mapper.Layout,
    *,
    multicast: bool,
    barriers: int,
    steps: int,
) -> Observed:
    """Interprets the program for a part of the problem on two tiles of the machine."""
    tile = mapper.Machine(machine.config, 1, min(_TILES, machine.board_tiles))
    part, tables = _observed(problem, tile, layout, image.symbols["__data_end"], multicast)
    pieces = [(memory, address, data) for memory, address, data in tables.images(steps) if data]
    words = tables.header_words()
    pieces += [(memory, image.symbols["gossamer_polite_blocks"], data) for memory, data in tables.blocks()]
    program = [(one.address, bytes(one.data)) for one in image.segments if one.data]
    pieces = [(memory, *one) for memory in range(tile.memories) for one in program] + pieces
    code = np.array(image.instructions, "<u4")
    count = words[:, 0]
    size = {
        "states": layout.state * count,
        "flags": layout.flags * count,
        "queues": layout.offset * (count + 1),
        "outs": 4 * (count * part.pins + 1),
    }
    columns = {"states": 2, "flags": 3, "outs": 4, "queues": 5}
    threads = np.arange(tile.threads)
    arrays = {
        "ids": tile.addresses(threads),
        "memory_of": tile.memory_of(threads),
        "vertices": count,
        "keys": words[:, 8],
    }
    for name, at in columns.items():
        arrays[name] = words[:, at]
        arrays[f"{name}_bytes"] = size[name]
    held = {name: np.ascontiguousarray(values, np.uint32) for name, values in arrays.items()}
    ranges = np.zeros((abi.STATE_KINDS + 1, 2), np.uint32)
    lines = np.zeros((abi.LINE_KINDS, abi.LINES_SEEN, 3), np.uint32)
    headers = np.ascontiguousarray(tables.headers, np.uint32)
    memories = memory_map(machine.config)
    its = abi.Probe(
        code=code.ctypes.data,
        words=len(code),
        threads=tile.threads,
        tile_threads=tile.tile_threads,
        memories=tile.memories,
        barriers=barriers,
        host_kind=constants.enumeration("endpoint")["host"],
        direct=int(not multicast),
        offset=layout.offset,
        edge=layout.edge,
        stride=layout.state,
        line=machine.config.cache.line_bytes,
        tables=int(tables.headers.min()),
        ranges=ranges.ctypes.data,
        partition=memories.partition_bytes,
        headers=headers.ctypes.data,
        header_bytes=layout.header,
        params=tables.params_at,
        params_bytes=len(part.params),
        blocks=image.symbols["gossamer_polite_blocks"],
        blocks_bytes=4 * machine.config.threads,
        lines=lines.ctypes.data,
        **{name: values.ctypes.data for name, values in held.items()},
    )
    images = (abi.Image * len(pieces))()
    for slot, (memory, address, data) in zip(images, pieces, strict=True):
        slot.memory, slot.address, slot.size = memory, address, len(data)
        slot.data = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
    rows = np.zeros((_ROWS, len(abi.COLUMNS)))
    run = native.lib().gs_model_probe_run
    run.restype = ctypes.c_int64
    found = run(ctypes.byref(its), images, len(images), ctypes.c_void_p(rows.ctypes.data), ctypes.c_size_t(_ROWS))
    if found == -2:
        raise RunDied(f"{image.name}: its threads wait forever on a part of the graph; there is no prediction")
    if found < 0:
        place = "" if found == -3 else f" at {image.where(-1 - found)}"
        raise RunDied(f"{image.name}: the interpreter cannot execute the program{place}; there is no prediction")
    return Observed(rows[:found], ranges, lines)


def lines_of(seen: Observed) -> dict[str, list[tuple[int, bool]]]:
    """For each event the lines outside of the graph's tables that it usually touches, and whether it stores to them."""
    at = {name: index for index, name in enumerate(abi.COLUMNS)}

    def total(phase: int, column: str) -> float:
        return float(seen.rows[seen.rows[:, 0] == phase, at[column]].sum())

    def usual(kind: int, many: float, but: Container[int] = ()) -> list[tuple[int, bool]]:
        """The lines that were touched at most of ``many`` events of a kind."""
        rows = seen.lines[kind].tolist()
        some = [(line, stored) for line, touched, stored in rows if touched and touched >= _USUAL * many]
        return [(line, stored >= _USUAL * many) for line, stored in some if line not in but][: abi.LINES]

    found: dict[str, list[tuple[int, bool]]] = {event: [] for event in abi.LINES_OF}
    found["send"] = usual(1, total(abi.MESSAGES, "sends"))
    found["edge"] = found["own_edge"] = usual(2, total(abi.MESSAGES, "receives"))
    phases = (abi.INIT, "init", "start", 0), (abi.STEP, "step", "steps", 3), (abi.FINISH, "finish", "ends", 4)
    for number, (phase, each, before, kind) in enumerate(phases):
        counts = seen.rows[seen.rows[:, 0] == phase, at["vertices"]]
        found[before] = usual(abi.STATE_KINDS + number, len(counts))
        found[each] = usual(kind, float(np.maximum(counts - 1, 0).sum()))
        last, known = abi.STATE_KINDS + len(phases) + number, {line for line, _ in found[each]}
        found[f"after_{each}"] = usual(last, float((counts > 0).sum()), known)
    return found


_TARGETS = {
    "issues": ("instructions",),
    "slots": ("slot_loads", "slot_stores"),
    **{name: (name,) for name in abi.COSTS if name not in ("issues", "slots")},
}
"""Columns whose sum is each cost."""
_PHASES: dict[int, dict[str, str | None]] = {
    abi.INIT: {"start": None, "init": "vertices"},
    abi.MESSAGES: {
        "send": "sends", "own_list": "own_lists", "own_edge": "own_edges", "entry": "entries", "receive": "receives",
        "edge": "edges", "push": "pushes", "change": "changed", "idle": "idles", "wait": "waits",
    },
    abi.STEP: {"steps": None, "step": "vertices", "step_push": "pushes", "step_change": "changed"},
    abi.FINISH: {"ends": None, "finish": "vertices", "host": "host_messages"},
}  # fmt: skip
"""For each phase its events, and the column that counts them; None: once."""


def solve(rows: Matrix) -> dict[str, dict[str, float]]:
    """The cost of each event, by names of events and costs."""
    at = {name: index for index, name in enumerate(abi.COLUMNS)}
    costs = {event: dict.fromkeys(abi.COSTS, 0.0) for event in abi.EVENTS}
    for phase, events in _PHASES.items():
        its = rows[rows[:, 0] == phase]
        if not len(its):
            continue
        seen = [np.ones(len(its)) if column is None else its[:, at[column]] for column in events.values()]
        given = np.stack(seen, axis=1)
        for cost, columns in _TARGETS.items():
            wanted = its[:, [at[column] for column in columns]].sum(axis=1)
            for event, value in zip(events, _positive(given, wanted), strict=True):
                costs[event][cost] = float(value)
    return costs


def _positive(given: Matrix, wanted: Matrix) -> Matrix:
    """Least squares without negative values: drops the most negative column until none is left."""
    found = np.zeros(given.shape[1])
    # Of equal columns the first: every vertex of a step may change its state.
    _, first = np.unique(given, axis=1, return_index=True)
    used = [index for index in sorted(first.tolist()) if given[:, index].any()]
    while used:
        values = np.linalg.lstsq(given[:, used], wanted, rcond=1e-9)[0]
        if values.min() >= -1e-6:
            found[used] = np.maximum(values, 0)
            break
        del used[int(values.argmin())]
    return found


__all__ = ["Observed", "check_clock", "lines_of", "observe", "part_of", "solve"]
