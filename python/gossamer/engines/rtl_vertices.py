# SPDX-License-Identifier: Apache-2.0
"""Applications on the ``rtl`` engine: vertices are mapped to threads of the simulated hardware and run there.

    gossamer.run("pagerank", graph, engine=Hardware(config="quad"))

The vertex is compiled for the threads together with the softswitch (``device/include/gossamer/softswitch.h``);
``gossamer.mapper`` makes its tables. The host writes them into the boards' memories, starts the threads, waits for the
end of the job, and reads the states back. The application itself, in this process, makes initial states and result.
"""

from __future__ import annotations

import ctypes
import dataclasses
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import gossamer_setup
from gossamer import mapper, native
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.engines._abi import (
    ProblemAbi,
    RunArgs,
    columns,
    explained,
    judge,
    problem_of,
    report_end,
    totals,
)
from gossamer.engines._base import Engine, ResumableRun
from gossamer.engines._rtl_vertex_machine import CONFIG, MULTICAST, Verdict, VertexMachine
from gossamer.engines.resumable import BoardRun
from gossamer.errors import HandlerDied, InputError
from gossamer.graph import Graph

if TYPE_CHECKING:
    from gossamer.device import Image


@dataclass
class Hardware(VertexMachine, Engine):
    """Runs the vertices of an application on the threads of a board, or of a cluster's boards."""

    name = "rtl"

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run. ``threads`` 0 means all threads of the machine."""
        try:
            return self._result(app, graph, parameters, threads, seed)
        except HandlerDied as died:  # from a function of the descriptor, which runs in this process
            raise explained(died, app, graph) from None

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """See Engine.start."""
        self.check(app, threads)
        if app.writes_edges:
            raise InputError(
                f"{app.name}: its recv changes the values of edges, which boards do not return; "
                "use the engine cpu or shuffle, or recv with const Edge*"
            )
        return BoardRun(self, app, RunArgs(app, graph, parameters, engine="cpu", threads=0, seed=seed), seed)

    def check(self, app: App, threads: int) -> None:
        """Raises InputError for a thread count that the hardware does not support; installs the simulator's tools."""
        if threads not in (0, self.machine.threads):
            raise InputError(f"--threads {threads}: vertices use all {self.machine.threads} threads of the machine")
        gossamer_setup.require("rtl")

    def _result(self, app: App, graph: Graph, parameters: Numbers, threads: int, seed: int) -> Result:
        begun = time.perf_counter()
        self.check(app, threads)
        arguments = RunArgs(app, graph, parameters, engine="cpu", threads=0, seed=seed)
        handle, opened = ctypes.c_void_p(), ProblemAbi()
        native.check(
            app.library.gs_app_open(
                ctypes.byref(arguments.graph),
                ctypes.byref(arguments.options),
                ctypes.byref(handle),
                ctypes.byref(opened),
            )
        )
        if arguments.failure:
            raise arguments.failure[0]
        try:
            stats, words = self._run(app, graph, opened, seed, handle)
            report_end(app, handle, stats, words)
            judge(app, graph, handle)
            values = columns(app, graph, handle)
            found = totals(app, handle)
        finally:
            app.library.gs_app_free(handle)
        return Result(
            app=app, graph=graph, columns=values, totals=found, stats=stats, seconds=time.perf_counter() - begun
        )

    def _run(
        self, app: App, graph: Graph, opened: ProblemAbi, seed: int, handle: ctypes.c_void_p
    ) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Runs the vertices. Returns statistics and the words of the aggregates."""
        problem = problem_of(app, opened)
        machine = self.machine
        network = self.network(machine)
        # GOSSAMER_POLITE_MULTICAST of the softswitch. No message leaves a single board.
        sends = 2 if network is not None else int(self.multicast != "none")
        image, layout = self.program(app, problem.pins, bool(opened.listens), sends, False)
        base = image.symbols["__data_end"]
        mapper.check_least(machine, layout, base, problem.vertices, problem.edges, problem.pins)
        mapping = mapper.assign(
            problem.vertices,
            *problem.ends(),
            machine,
            method=self.mapping,
            seed=seed or 1,
            progress=lambda done, total: self.on_phase("mapping", done, total),
        )

        def tables_of(wide: bool) -> tuple[Image, mapper.Layout, mapper.Tables]:
            image, layout = self.program(app, problem.pins, bool(opened.listens), sends, wide)
            base = image.symbols["__data_end"]
            made = mapper.Tables(problem, mapping, machine, layout, base=base, multicast=sends > 0, network=network)
            return image, layout, made

        try:
            image, layout, tables = tables_of(wide=False)
        except mapper.TooWide:
            image, layout, tables = tables_of(wide=True)
        with self.simulator(machine.config) as tile:
            self.load(tile, image, tables)
            begins = np.cumsum(mapping.counts) - mapping.counts

            def vertex_at(thread: int, local: int) -> int:
                return int(mapping.order[begins[thread] + local])

            verdict = Verdict(
                machine.config, self.max_steps, self.max_cycles, app, graph, tile, image, tables, vertex_at
            )
            run, messages = self.run_threads(verdict)
            memories = [tile.read_memory(*span) for span in tables.outcome.spans()]
            found = tables.outcome.results(memories)
            verdict.check_status(found)
        for message in messages:
            native.check(app.library.gs_app_receive(handle, message.data[4 : 4 + opened.message_bytes]))
        states = tables.states(memories)
        ctypes.memmove(opened.states, states.ctypes.data, states.nbytes)
        stats = self.statistics(problem.vertices, problem.edges, layout, run, found)
        stats |= {
            "messages_per_round": tables.message_count,
            "balance": tables.balance,
            "memory_bytes": int(tables.bytes.max()),
        }
        parts = mapper.cut(mapping, *problem.ends(), machine)
        stats |= {f"mapped_{name}": value for name, value in dataclasses.asdict(parts).items()}
        return stats, tables.outcome.aggregates(memories)


__all__ = ["CONFIG", "MULTICAST", "Hardware"]
