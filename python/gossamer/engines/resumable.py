# SPDX-License-Identifier: Apache-2.0
"""Runs of the ``rtl`` engine that resume after their graph has changed.

The application in this process holds edges and states (gs_app_part); the host updates the boards' tables from it. A
part ends with the job: all threads stop, and their caches are written back. Before the next part the host compares the
rows of changed vertices with the tables, and writes the cache lines that differ. If a row no longer fits, the host
rebuilds all tables; vertices stay on their threads.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import mapper, native
from gossamer.apps import App
from gossamer.apps.results import Result
from gossamer.engines._abi import PartAbi, ProblemAbi, RunArgs, change, columns, explained, judge, report_end, totals
from gossamer.engines._base import Change, Indices, ResumableRun, Weights
from gossamer.engines._rtl_vertex_machine import Verdict, VertexMachine
from gossamer.errors import HandlerDied
from gossamer.graph import Graph
from gossamer.mapper import patches
from gossamer.mapper.partition import mapped

if TYPE_CHECKING:
    from gossamer.device import Image
    from gossamer.engines.rtl import Tile

_Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class _Pin:
    """Current rows of one relation."""

    pin: int
    begins: _Array
    ends: _Array
    targets: _Array
    values: _Array | None


class _PartView:
    """The application's data of its next part: views of its memory, valid until the next change."""

    def __init__(self, part: PartAbi, edge_bytes: int) -> None:
        opened = part.problem
        self.whole, self.there = bool(part.whole), int(part.there)
        self.count = count = int(opened.vertices)
        self.fresh = _view(part.fresh, int(part.fresh_count), np.uint32).astype(np.int64)
        self.changed = _view(part.changed, int(part.changed_count), np.uint32).astype(np.int64)
        words = _view(part.gone, -(-count // 64) if part.gone else 0, np.uint64)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:count]
        self.gone = bits.astype(bool) if part.gone else np.zeros(count, bool)
        size = int(opened.state_bytes)
        self.states = _view(opened.states, count * size, np.uint8).reshape(count, size)
        self.params = _view(opened.params, int(opened.params_bytes), np.uint8).tobytes()
        self.unit = _view(opened.unit, edge_bytes, np.uint8).tobytes()
        self.pins: list[_Pin] = []
        for index in range(opened.relation_count):
            one = opened.relations[index]
            begins = _view(one.offsets, count + 1, np.uint64).astype(np.int64)
            ends = _view(one.ends, count, np.uint64).astype(np.int64)
            extent = int(begins[-1])
            values = _view(one.values, extent * opened.edge_bytes, np.uint8).reshape(extent, -1) if one.values else None
            targets = _view(one.targets, extent, np.uint32)
            self.pins.append(_Pin(one.pin, begins[:-1], ends, targets, values if extent else None))
        self.pin_count = max([one.pin + 1 for one in self.pins], default=1)

    def row(self, vertex: int, pin: int) -> list[patches.Edge]:
        """The edges of a vertex on a pin."""
        found: list[patches.Edge] = []
        for one in self.pins:
            if one.pin != pin:
                continue
            its = slice(int(one.begins[vertex]), int(one.ends[vertex]))
            targets = one.targets[its].tolist()
            values = [self.unit] * len(targets) if one.values is None else [v.tobytes() for v in one.values[its]]
            found += zip(targets, values, strict=True)
        return found

    def problem(self, there: _Array) -> mapper.Problem:
        """The graph of the present vertices, numbered from 0."""
        number = np.full(self.count, -1, np.int64)
        number[there] = np.arange(len(there))
        relations = []
        for one in self.pins:
            sizes = one.ends[there] - one.begins[there]
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            at = np.repeat(one.begins[there] - offsets[:-1], sizes) + np.arange(int(offsets[-1]))
            values = None if one.values is None else one.values[at]
            relations.append(mapper.Relation(one.pin, offsets, number[one.targets[at].astype(np.int64)], values))
        return mapper.Problem(self.states[there].copy(), self.params, self.unit, relations, names=there)


class BoardRun(ResumableRun):
    """A run on simulated boards that pauses between parts."""

    def __init__(self, hardware: VertexMachine, app: App, arguments: RunArgs, seed: int) -> None:
        self._hardware, self._app, self._seed = hardware, app, seed
        self._handle = ctypes.c_void_p()
        native.check(
            app.library.gs_app_start(
                ctypes.byref(arguments.graph), ctypes.byref(arguments.options), ctypes.byref(self._handle)
            )
        )
        if arguments.failure:
            raise arguments.failure[0]
        weakref.finalize(self, app.library.gs_app_free, self._handle)
        self._machine = hardware.machine
        self._tile: Tile | None = None
        self._image: Image | None = None
        self._patches: mapper.Patches | None = None
        self._wide = False

    def change(self, kind: Change, count: int, ends: Sequence[Indices], weights: Weights | None = None) -> None:
        """See ResumableRun.change. The next resume() updates the tables."""
        change(self._app, self._handle, kind, count, ends, weights)

    def resume(self, graph: Graph) -> Result:
        """See ResumableRun.resume."""
        begun = time.perf_counter()
        try:
            stats = self._part(graph)
        except HandlerDied as died:  # from a function of the descriptor, which runs in this process
            raise explained(died, self._app, graph) from None
        judge(self._app, graph, self._handle)
        values, found = columns(self._app, graph, self._handle), totals(self._app, self._handle)
        seconds = time.perf_counter() - begun
        return Result(app=self._app, graph=graph, columns=values, totals=found, stats=stats, seconds=seconds)

    # ---- A part ----

    def _part(self, graph: Graph) -> dict[str, Any]:
        app, part = self._app, PartAbi()
        native.check(app.library.gs_app_part(self._handle, ctypes.byref(part)))
        seen = _PartView(part, app.edge_bytes)
        try:
            written, rebuilt = self._write(seen, bool(part.problem.listens))
            stats, words = self._run(graph, seen, part.problem)
        except BaseException:
            self._close()
            raise
        stats |= {"written_bytes": written, "tables_anew": rebuilt}
        report_end(app, self._handle, stats, words)
        return stats

    def _close(self) -> None:
        """Ends the machine and drops its tables."""
        tile, self._tile, self._patches = self._tile, None, None
        if tile is not None:
            tile.close()

    def _write(self, seen: _PartView, listens: bool) -> tuple[int, bool]:
        """Updates the tables. Returns the number of bytes written, and whether all tables were rebuilt."""
        # A vertex's table of its own edges holds addresses of lists at receivers, which move when they grow.
        if not seen.whole and self._patches is not None and not self._app.reads_edges:
            try:
                self._patch(self._patches, seen)
            except (patches.OutOfSpace, mapper.TooWide):
                pass
            else:
                assert self._tile is not None
                return _write_dirty(self._tile, self._patches), False
        return self._rebuild(seen, listens), True

    def _patch(self, tables: mapper.Patches, seen: _PartView) -> None:
        known = tables.thread
        here = np.flatnonzero(known >= 0)
        for vertex in here[seen.gone[here]].tolist():
            tables.drop(vertex)
        affected = np.concatenate([seen.fresh, seen.changed]).tolist()
        rows = {(v, pin): seen.row(v, pin) for v in affected for pin in range(seen.pin_count)}
        new = {v for v in seen.fresh.tolist() if v >= len(known) or known[v] < 0}
        near: dict[int, list[int]] = {v: [] for v in sorted(new)}
        for (vertex, _), row in rows.items():
            for target, _ in row:
                if vertex in new:
                    near[vertex].append(target)
                if target in new:
                    near[target].append(vertex)
        for vertex, neighbours in near.items():
            tables.add(vertex, neighbours)
        for (vertex, pin), row in rows.items():
            tables.change(vertex, pin, row)
        tables.begin(seen.there, seen.params, self._marks(seen))
        for vertex in affected:
            tables.set_state(vertex, seen.states[vertex].tobytes())

    def _marks(self, seen: _PartView) -> dict[int, int]:
        marks = dict.fromkeys(seen.fresh.tolist(), patches.BEGINS)
        return marks | dict.fromkeys(seen.changed.tolist(), patches.CHANGED)

    def _rebuild(self, seen: _PartView, listens: bool) -> int:
        """Builds and writes all tables. Returns the number of bytes written."""
        hardware, machine = self._hardware, self._machine
        there = np.flatnonzero(~seen.gone)
        problem = seen.problem(there)
        network = hardware.network(machine)
        sends = 2 if network is not None else int(hardware.multicast != "none")
        image, layout = hardware.program(self._app, seen.pin_count, listens, sends, False, changes=True)
        base = image.symbols["__data_end"]
        mapper.check_least(machine, layout, base, problem.vertices, problem.edges, problem.pins)
        placed = self._assign(problem, there, keep=not seen.whole)
        while True:
            image, layout = hardware.program(self._app, seen.pin_count, listens, sends, self._wide, changes=True)
            try:
                tables = mapper.Tables(
                    problem,
                    placed,
                    machine,
                    layout,
                    base=image.symbols["__data_end"],
                    multicast=sends > 0,
                    network=network,
                    spare=hardware.spare,
                )
            except mapper.TooWide:
                self._wide = True
                continue
            break
        if self._tile is None:
            self._tile = hardware.simulator(machine.config)
            weakref.finalize(self, self._tile.close)
        self._image = image
        hardware.load(self._tile, image, tables)
        made = mapper.Patches(tables, placed, there, multicast=sends > 0, pins=seen.pin_count, most=hardware.max_steps)
        # The flags in memory are uninitialized, or of other vertices.
        made.clear()
        marks = dict.fromkeys(there.tolist(), patches.BEGINS) if seen.whole else self._marks(seen)
        made.begin(seen.there, seen.params, marks)
        self._patches = made
        return int(tables.bytes.sum()) + _write_dirty(self._tile, made)

    def _assign(self, problem: mapper.Problem, there: _Array, *, keep: bool) -> mapper.Mapping:
        """A thread for each vertex: its old one if ``keep``, else by the partitioner."""
        old = self._patches
        if not keep or old is None:
            return mapper.assign(
                problem.vertices,
                *problem.ends(),
                self._machine,
                method=self._hardware.mapping,
                seed=self._seed or 1,
                progress=lambda done, total: self._hardware.on_phase("mapping", done, total),
            )
        thread = np.full(int(there[-1]) + 1, -1, np.int64)
        known = min(len(thread), len(old.thread))
        thread[:known] = old.thread[:known]
        thread = thread[there]
        load = np.bincount(thread[thread >= 0], minlength=self._machine.threads)
        for vertex in np.flatnonzero(thread < 0):
            thread[vertex] = load.argmin()
            load[thread[vertex]] += 1
        return mapped(thread, self._machine)

    def _run(self, graph: Graph, seen: _PartView, opened: ProblemAbi) -> tuple[dict[str, Any], tuple[int, ...]]:
        hardware, made, tile = self._hardware, self._patches, self._tile
        assert made is not None and tile is not None and self._image is not None

        def vertex_at(thread: int, local: int) -> int:
            its = made.vertices[thread]
            return int(its[local]) if local < len(its) else -1

        verdict = Verdict(
            self._machine.config,
            hardware.max_steps,
            hardware.max_cycles,
            self._app,
            graph,
            tile,
            self._image,
            made.tables,
            vertex_at,
        )
        run, messages = hardware.run_threads(verdict)
        read = [tile.read_memory(*span) for span in made.spans()]
        found = made.tables.outcome.results(read)
        verdict.check_status(found)
        for message in messages:
            native.check(self._app.library.gs_app_receive(self._handle, message.data[4 : 4 + opened.message_bytes]))
        made.ended(read)
        there, states = made.states(int(opened.state_bytes))
        seen.states[there] = states
        stats = hardware.statistics(seen.there, made.edges, made.layout, run, found)
        return stats, made.tables.outcome.aggregates(read)


def _write_dirty(tile: Tile, made: mapper.Patches) -> int:
    """Writes the lines that differ from the boards' memories. Returns the number of bytes written."""
    written = 0
    for memory, address, data in made.memory.take_dirty():
        tile.write_memory(memory, address, data)
        written += len(data)
    return written


def _view(address: int | None, count: int, kind: type[np.generic]) -> _Array:
    """An array in the application's memory."""
    size = count * np.dtype(kind).itemsize
    if not address or not size:
        return np.empty(0, kind)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)).view(kind)


__all__ = ["BoardRun"]
