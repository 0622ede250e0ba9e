# SPDX-License-Identifier: Apache-2.0
"""The ``model`` engine: predicts what boards would do for an application, without simulating their hardware.

    gossamer.run("pagerank", graph, engine=Model(config="quad"))

Vertices are mapped as for ``rtl``, and the same tables are made. The handlers run natively, in the order of a timing
model (``src/model/engine.cc``), which charges cycles for what the program of the threads would execute.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import mapper, native
from gossamer.apps import App
from gossamer.engines import _model_abi as abi
from gossamer.engines import _model_costs, _model_machine, _model_validation
from gossamer.engines._abi import ProblemAbi, problem_of
from gossamer.engines._rtl_simulator import Run
from gossamer.engines.rtl_vertices import Hardware
from gossamer.errors import HandlerDied, InputError, RunDied
from gossamer.graph import Graph
from gossamer.mapper.outcome import GIVEN_UP, WRONG_PIN

_DEADLINE = 2
_LOOK = 0.2
"""Seconds between two looks at the progress."""
UNSUPPORTED = ("waves", "trace", "trace-size", "least-wait", "watchdog", "frame-loss", "cut", "seed", "tile")
"""Options of ``rtl`` that need its simulator."""


@dataclass
class Model(Hardware):
    """Predicts the run of an application on a board, or on the boards of a cluster."""

    name = "model"
    timing: Mapping[str, float] = field(default_factory=dict)
    """Latencies and rates that replace those of the configuration (``gs_model_timing``)."""
    workers: int = 0
    """Threads of this machine; 0: every CPU."""

    def check(self, app: App, threads: int) -> None:
        """See Hardware.check."""
        super().check(app, threads)
        if app.reads_edges:
            raise InputError(f"{app.name}: reads its own edges, which the engine model does not support; use rtl")
        if app.writes_edges:
            raise InputError(f"{app.name}: its recv changes the values of edges; use the engine cpu or shuffle")

    def start(self, app: App, *_: Any, **__: Any) -> Any:
        """Graphs that change are not modelled."""
        raise InputError(f"{app.name}: the engine model does not support graphs that change; use cpu or rtl")

    def _run(
        self, app: App, graph: Graph, opened: ProblemAbi, seed: int, handle: ctypes.c_void_p
    ) -> tuple[dict[str, Any], tuple[int, ...]]:
        network = self.network(self.machine)
        placed = self.placed(app, problem_of(app, opened, copy=False), bool(opened.listens), seed, network)
        problem, machine, image, layout, tables = (
            placed.problem, placed.machine, placed.image, placed.layout, placed.tables
        )  # fmt: skip
        about = placed.statistics()
        sends = self.multicast != "none"
        _model_costs.check_clock(image, app.name)
        words = [opened.aggregates[i] for i in range(opened.aggregate_count)] if opened.aggregate_count else []
        barriers = _barriers(words)
        self.on_phase("counting instructions", 0, 0)
        seen = _model_costs.observe(
            problem, machine, image, layout, multicast=sends, barriers=barriers, steps=self.max_steps
        )
        costs = _model_costs.solve(seen.rows)
        memories = _model_machine.Memories(tables, machine, self.max_steps)
        records = None
        if tables.multicast_tables is not None:
            records = _model_machine.Records(tables.multicast_tables, machine.config, machine.boards)
        tables.forget_edges()
        begun = time.perf_counter()
        try:
            outcome, counters, links, routers = self._simulate(
                app, opened, handle, problem, machine, layout, tables, memories, costs, seen, barriers, records,
                image.symbols["gossamer_polite_blocks"],
            )  # fmt: skip
        except HandlerDied as died:
            if died.vertex is None:
                raise
            # The library knows the position in the mapper's order.
            vertex = int(placed.mapping.order[died.vertex])
            text = str(died).replace(f"of index {died.vertex} ", f"of index {vertex} ")
            raise HandlerDied(text, vertex, died.places) from None
        seconds = time.perf_counter() - begun
        read = [memories.read(*span) for span in tables.outcome.spans()]
        found = tables.outcome.results(read)
        self._check(app, graph, found, placed.vertex_at)
        states = tables.states(read)
        ctypes.memmove(opened.states, states.ctypes.data, states.nbytes)
        tiles = [{name: round(getattr(one, name)) for name in abi.COUNTERS} for one in counters]
        cycles = round(outcome.cycles)
        total = {name: sum(tile[name] for tile in tiles) for name in abi.COUNTERS}
        run = Run(
            reason="done",
            threads=machine.threads,
            cycles=cycles,
            instructions=total["instructions"],
            counters={"cycles": cycles, **total},
            codes={},
            traps=[],
            unfinished=[],
            messages=[],
            seconds=seconds,
            tiles=tiles,
            links=links,
            engine=self.name,
        )
        stats = self.statistics(problem.vertices, problem.edges, layout, run, found)
        if records is not None:
            total = dict(zip(abi.ROUTER_COUNTERS, routers.sum(axis=0).tolist(), strict=True))
            stats["router_counters"] = {**total, "misses": total["lookups"] - total["hits"]}
        stats |= about | {"barrier_cycles": round(outcome.barrier_cycles)}
        self.notes = _model_validation.notes(stats, app.name)
        if (point := _model_validation.nearest(stats, app.name)) is not None:
            stats["nearest_validated"] = str(point)
            stats["nearest_validated_error"] = point.error
        return stats, tables.outcome.aggregates(read)

    def _simulate(
        self,
        app: App,
        opened: ProblemAbi,
        handle: ctypes.c_void_p,
        problem: mapper.Problem,
        machine: mapper.Machine,
        layout: mapper.Layout,
        tables: mapper.Tables,
        memories: _model_machine.Memories,
        costs: dict[str, dict[str, float]],
        seen: _model_costs.Observed,
        barriers: int,
        records: _model_machine.Records | None,
        blocks: int,
    ) -> tuple[abi.Outcome, Any, dict[tuple[int, int], dict[str, int]], NDArray[np.uint64]]:
        """Runs the timing model."""
        code = _model_machine.handlers(app)
        code.gs_model_vertex.restype = ctypes.c_void_p
        multicast = self.multicast != "none"
        shape, kept = _model_machine.machine_struct(
            machine, self.plan, layout, problem.pins, multicast, barriers, records
        )
        each = (abi.Cost * len(abi.EVENTS))(*(abi.Cost(**costs[event]) for event in abi.EVENTS))
        lines = _model_machine.lines_struct(_model_costs.lines_of(seen))
        timing = abi.Timing(**_model_machine.timing(machine.config, **self.timing))
        headers = tables.headers.astype(np.uint32)
        memory_of = machine.memory_of(np.arange(machine.threads)).astype(np.uint32)
        counters = (abi.Counters * (machine.boards * machine.board_tiles))()
        flits = np.zeros((machine.boards, shape.links), np.uint64)
        packets = np.zeros_like(flits)
        routers = np.zeros((machine.boards, len(abi.ROUTER_COUNTERS)), np.uint64)
        params = ctypes.create_string_buffer(problem.params, max(1, len(problem.params)))
        stop, progress, outcome = ctypes.c_int(0), ctypes.c_uint64(0), abi.Outcome()
        failed: list[BaseException] = []

        def listen(_context: int, message: int) -> None:
            try:
                native.check(app.library.gs_app_receive(handle, ctypes.string_at(message, opened.message_bytes)))
            except BaseException as error:
                failed.append(error)
                stop.value = 1

        run = abi.Run(
            machine=ctypes.pointer(shape),
            handlers=code.gs_model_vertex(),
            costs=each,
            timing=ctypes.pointer(timing),
            ranges=seen.ranges.ctypes.data,
            lines=ctypes.addressof(lines),
            blocks=blocks,
            memory=memories.structs,
            headers=headers.ctypes.data,
            memory_of=memory_of.ctypes.data,
            params=ctypes.addressof(params),
            params_bytes=len(problem.params),
            max_cycles=float(self.max_cycles or 0),
            # Messages to the host reach the application one by one.
            workers=1 if opened.listens else self.workers or len(os.sched_getaffinity(0)),
            stop=ctypes.pointer(stop),
            progress=ctypes.pointer(progress),
            counters=counters,
            link_flits=flits.ctypes.data,
            link_packets=packets.ctypes.data,
            routers=routers.ctypes.data,
            listen=abi.Listen(listen) if opened.listens else abi.Listen(),
            outcome=ctypes.pointer(outcome),
        )

        def simulate() -> None:
            # The library keeps errors by thread.
            try:
                native.check(native.lib().gs_model_simulate(ctypes.byref(run)))
            except BaseException as error:
                failed.append(error)

        self._attend(simulate, stop, progress)
        del kept
        if failed:
            raise failed[0]
        if outcome.status == 1:
            raise KeyboardInterrupt
        if outcome.status == _DEADLINE:
            raise RunDied(f"{app.name}: did not end within {self.max_cycles or 0:,} cycles; there is no answer")
        its = machine.boards > 1
        links = {
            (board, link): {"messages": int(packets[board, link]), "message_flits": int(flits[board, link])}
            for board in range(machine.boards)
            for link in range(shape.links)
            if its and packets[board, link]
        }
        return outcome, counters, links, routers

    def _attend(self, simulate: Callable[[], object], stop: ctypes.c_int, progress: ctypes.c_uint64) -> None:
        """Runs the simulation on a thread, and shows its progress. On Ctrl-C it ends before the exception is raised."""
        worker = threading.Thread(target=simulate)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(_LOOK)
                self.on_phase("cycle", progress.value, 0)
        except BaseException:
            stop.value = 1
            worker.join()
            raise

    def _check(self, app: App, graph: Graph, found: Mapping[str, Any], vertex_at: Any) -> None:
        """Raises RunDied if the status words of threads report an error."""
        for thread in np.flatnonzero(found["status"] == WRONG_PIN).tolist():
            vertex = graph.label_of(vertex_at(thread, int(found["wrong"][thread])))
            pin = int(found["wrong_pin"][thread])
            raise RunDied(f"{app.name}: vertex {vertex} sends on pin {pin}, which the graph does not have")
        if (found["status"] == GIVEN_UP).any():
            most = self.max_steps
            raise RunDied(f"{app.name}: did not end within {most:,} step{'s' if most > 1 else ''}; there is no answer")


def _barriers(words: list[int]) -> int:
    """Barriers of each step, by the reductions of its words: two words each, and exponents of real sums before."""
    real = sum(word == 4 for word in words)
    return 1 + (real + 1) // 2 + max(0, (len(words) + 1) // 2 - 1)


__all__ = ["UNSUPPORTED", "Model"]
