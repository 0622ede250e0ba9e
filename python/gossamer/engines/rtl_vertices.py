# SPDX-License-Identifier: Apache-2.0
"""Applications on the ``rtl`` engine: vertices are mapped to threads of the simulated hardware and run there.

    gossamer.run("pagerank", graph, engine=Hardware(config="quad"))

The vertex is compiled for the threads together with the softswitch (``device/include/gossamer/softswitch.h``);
``gossamer.mapper`` makes its tables. The host writes them into the boards' memories, starts the threads, waits for the
end of the job, and reads the states back. The application itself, in this process, makes initial states and result.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from typing import Any

import gossamer_setup
from gossamer import native
from gossamer.apps import App, Numbers
from gossamer.apps.app import for_boards
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


@dataclass
class Hardware(VertexMachine, Engine):
    """Runs the vertices of an application on the threads of a board, or of a cluster's boards."""

    name = "rtl"

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run. ``threads`` 0 means all threads of the machine."""
        app = for_boards(app)
        try:
            return self._result(app, graph, parameters, threads, seed)
        except HandlerDied as died:  # from a function of the descriptor, which runs in this process
            raise explained(died, app, graph) from None

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """See Engine.start."""
        app = for_boards(app)
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
        machine = self.machine
        placed = self.placed(app, problem_of(app, opened), bool(opened.listens), seed, self.network(machine))
        problem, tables, image = placed.problem, placed.tables, placed.image
        with self.simulator(machine.config) as tile:
            self.load(tile, image, tables)
            verdict = Verdict(
                machine.config, self.max_steps, self.max_cycles, app, graph, tile, image, tables, placed.vertex_at
            )
            run, messages = self.run_threads(verdict)
            memories = [tile.read_memory(*span) for span in tables.outcome.spans()]
            found = tables.outcome.results(memories)
            verdict.check_status(found)
        for message in messages:
            native.check(app.library.gs_app_receive(handle, message.data[4 : 4 + opened.message_bytes]))
        states = tables.states(memories)
        ctypes.memmove(opened.states, states.ctypes.data, states.nbytes)
        stats = self.statistics(problem.vertices, problem.edges, placed.layout, run, found)
        return stats | placed.statistics(), tables.outcome.aggregates(memories)


__all__ = ["CONFIG", "MULTICAST", "Hardware"]
