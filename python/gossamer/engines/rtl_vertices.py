# SPDX-License-Identifier: Apache-2.0
"""Applications on the ``rtl`` engine: vertices are mapped to threads of the simulated hardware and run there.

    gossamer.run("pagerank", graph, engine=Hardware(config="quad"))

The vertex is compiled for the threads together with the softswitch (``device/include/gossamer/softswitch.h``);
``gossamer.mapper`` makes its tables. They are written into the boards' memories, the threads run to the end of the job,
and the states are read back. The application itself, in this process, makes the initial states and the result.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import time
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Named
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import gossamer_setup
from gossamer import device, mapper, native
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.engines._abi import RunArgs, Statistics, columns, explained, judge, totals
from gossamer.engines._base import Engine, ResumableRun
from gossamer.engines._problem_abi import ProblemAbi, problem_of
from gossamer.engines._rtl_verdict import Verdict
from gossamer.engines.resumable import BoardRun
from gossamer.engines.rtl import WATCHDOG, Board
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.errors import HandlerDied, InputError
from gossamer.graph import Graph

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.engines.rtl import Message, Run, Tile

CONFIG = "quad"
"""The configuration, where none is named."""
MULTICAST = ("local", "none", "full")
"""How a message reaches several threads: a tile's by a mask, each by itself, those of other boards by a key."""
_SOURCE = """\
// Generated: the program of a vertex for the threads of the hardware.
#include "{header}"
#include <gossamer/softswitch.h>
GOSSAMER_SOFTSWITCH(GossamerVertex)
"""


@dataclass
class Hardware(Engine):
    """Runs the vertices of an application on the threads of a board, or of a cluster's boards."""

    name = "rtl"
    config: str | Config = CONFIG
    """The board's configuration, where there is no plan."""
    plan: Plan | None = None
    """A cluster with its routes; it has the configuration of its boards."""
    mapping: str = mapper.METHODS[0]
    """How vertices are mapped to threads: one of ``mapper.METHODS``."""
    multicast: str = MULTICAST[0]
    """local: one message to all threads of a tile that have receivers; none: one to each thread; full: as local, and
    one for all tiles of other boards, which the boards' multicast routers copy."""
    spare: mapper.Spare = field(default_factory=mapper.Spare)
    """Room in the tables of a graph that changes."""
    max_steps: int = 0
    """Steps after which the run is given up; 0: none."""
    max_cycles: int | None = None
    watchdog: int | None = None
    """Cycles without an instruction after which the run is given up; None: those of every program."""
    settings: Named[str, Any] = field(default_factory=dict)
    """For the simulated board or cluster: workers, frame_loss, trace, ..."""
    on_phase: Callable[[str, int, int], object] = lambda what, done, total: None
    """Told of what is being done, and how much of how much."""
    done: Run | None = field(default=None, init=False)
    """The last run, as the simulator has seen it."""
    simulated: Cluster | None = field(default=None, init=False)
    """The cluster that it was on."""
    notes: list[str] = field(default_factory=list, init=False)
    """What a user is told of it: that its trace was thinned."""

    @property
    def machine(self) -> mapper.Machine:
        """What there is to map to."""
        from gossamer import config as configs

        if self.plan is not None:
            return mapper.Machine(self.plan.config, self.plan.boards, hops=self.plan.hops)
        return mapper.Machine(configs.load(self.config) if isinstance(self.config, str) else self.config)

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run. ``threads`` 0 means all of the machine."""
        try:
            return self._result(app, graph, parameters, threads, seed)
        except HandlerDied as died:  # a function of the descriptor, which runs here
            raise explained(died, app, graph) from None

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """See Engine.start."""
        self.check(app, threads)
        if app.writes_edges:
            raise InputError(
                f"{app.name}: its recv changes the values of edges, which boards do not give back; "
                "take cpu or shuffle, or recv with const Edge*"
            )
        return BoardRun(self, app, RunArgs(app, graph, parameters, engine="cpu", threads=0, seed=seed), seed)

    def check(self, app: App, threads: int) -> None:
        """Raises InputError for what the hardware does not do; installs what simulation needs."""
        if threads not in (0, self.machine.threads):
            raise InputError(f"--threads {threads}: vertices use all {self.machine.threads} threads of the machine")
        gossamer_setup.require("rtl")

    def network(self, machine: mapper.Machine) -> mapper.Network | None:
        """What messages by key travel on; None where there are none."""
        if self.multicast == "full" and self.plan is not None and machine.boards > 1:
            return mapper.Network(self.plan.topology, self.plan.tables, self.plan.link)
        return None

    def _result(self, app: App, graph: Graph, parameters: Numbers, threads: int, seed: int) -> Result:
        begun = time.perf_counter()
        self.check(app, threads)
        given = RunArgs(app, graph, parameters, engine="cpu", threads=0, seed=seed)
        handle, opened = ctypes.c_void_p(), ProblemAbi()
        native.check(
            app.library.gs_app_open(
                ctypes.byref(given.graph), ctypes.byref(given.options), ctypes.byref(handle), ctypes.byref(opened)
            )
        )
        if given.failure:
            raise given.failure[0]
        try:
            stats, words = self._run(app, graph, opened, seed, handle)
            numbers = stats.keys() - {"engine"}
            ended = Statistics(**{name: stats[name] for name, *_ in Statistics._fields_ if name in numbers})
            ended.aggregates = (ctypes.c_int64 * max(1, len(words)))(*words)
            ended.aggregate_count = len(words)
            ended.engine = self.name.encode()
            native.check(app.library.gs_app_ended(handle, ctypes.byref(ended)))
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
        """Statistics, and the words of the aggregates."""
        problem = problem_of(app, opened)
        machine = self.machine
        mapping = mapper.assign(
            problem.vertices,
            *problem.ends(),
            machine,
            method=self.mapping,
            seed=seed or 1,
            progress=lambda done, total: self.on_phase("mapping", done, total),
        )

        network = self.network(machine)
        # As GOSSAMER_POLITE_MULTICAST of the softswitch. No message leaves a lone board.
        sends = 2 if network is not None else int(self.multicast != "none")

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

            verdict = Verdict(self, app, graph, tile, image, tables, vertex_at)
            run, messages = self.go(verdict)
            memories = [tile.read_memory(*span) for span in tables.outcome.spans()]
            found = tables.outcome.results(memories)
            verdict.check_status(found)
        for message in messages:
            native.check(app.library.gs_app_hear(handle, message.data[4 : 4 + opened.message_bytes]))
        states = tables.states(memories)
        ctypes.memmove(opened.states, states.ctypes.data, states.nbytes)
        stats = self.statistics(problem.vertices, problem.edges, layout, run, found)
        stats |= {
            "messages_per_round": tables.messages,
            "balance": tables.balance,
            "memory_bytes": int(tables.bytes.max()),
        }
        parts = mapper.cut(mapping, *problem.ends(), machine)
        stats |= {f"mapped_{name}": value for name, value in dataclasses.asdict(parts).items()}
        return stats, tables.outcome.aggregates(memories)

    # ---- The machine ----

    def program(self, app: App, pins: int, listens: bool, sends: int, wide: bool, *, changes: bool = False) -> Any:
        """The program of the threads, and how it lays out its tables."""
        shape = device.ALONE if self.plan is None else self.plan.shape
        image = _program(app, self.machine.config, shape, pins, listens, sends, wide, changes)
        return image, mapper.Layout.read(_constant(image, "gossamer_polite_layout", mapper.Layout.SIZE))

    def go(self, verdict: Verdict) -> tuple[Run, list[Message]]:
        """Lets all threads run to their end. Raises RunDied where they do not come to one."""
        messages: list[Message] = []
        tile = verdict.tile
        try:
            run = self.done = tile.run(
                self.machine.threads,
                max_cycles=self.max_cycles,
                watchdog=WATCHDOG if self.watchdog is None else self.watchdog,
                on_message=messages.append,
                on_progress=lambda cycle, _: self.on_phase("cycle", cycle, 0),
            )
        finally:
            self.notes = tile.notes
        if not run.traps and run.reason != "done":
            self.notes = [*self.notes, *verdict.describe_unfinished(run, self.simulated)]
        verdict.check_end(run)
        tile.flush()
        return run, messages

    def simulator(self, config: Config) -> Tile:
        """The machine, from reset."""
        self.done, self.simulated = None, None
        if self.plan is None:
            return Board(config, **self.settings)
        self.simulated = Cluster(self.plan, **self.settings)
        return self.simulated

    def load(self, tile: Tile, image: Image, tables: mapper.Tables) -> None:
        """Writes the program and all tables."""
        tile.load_image(image)
        total = int(tables.bytes.sum())
        done = 0
        for memory, address, data in tables.images(self.max_steps):
            if data:
                tile.write_memory(memory, address, data)
            done += len(data)
            self.on_phase("loading", done, total)
        for memory, words in tables.blocks():
            tile.write_memory(memory, image.symbols["gossamer_polite_blocks"], words)
        if tables.records is not None and self.simulated is not None:
            self.simulated.flush_record_caches()

    # ---- How it went ----

    def statistics(
        self,
        vertices: int,
        edges: int,
        layout: mapper.Layout,
        run: Run,
        found: Named[str, np.ndarray[Any, Any]],
    ) -> dict[str, Any]:
        """What every engine tells of a run, and what the hardware has."""
        machine = self.machine
        steps, retired = int(found["steps"].max(initial=0)), int(found["retired"].sum())
        self.done = dataclasses.replace(run, retired=retired)
        return {
            "engine": self.name,
            "threads": machine.threads,
            "vertices": vertices,
            "edges": edges,
            "sends": int(found["sends"].sum()),
            "deliveries": int((found["delivered"] // layout.edge).sum()),
            "steps": steps,
            "step_calls": steps * vertices,
            "host_messages": int(found["host_messages"].sum()),
            "stopped": False,
            "seconds": run.cycles / (machine.config.board.clock_mhz * 1e6),
            "config": machine.config.name,
            "boards": machine.boards,
            "mapping": self.mapping,
            "multicast": self.multicast,
            "cycles": run.cycles,
            "instructions": run.instructions,
            "retired": retired,
            "simulation_seconds": run.seconds,
            "counters": dict(run.counters),
        }


def _program(
    app: App,
    config: Config,
    shape: tuple[int, int],
    pins: int,
    listens: bool,
    multicast: int,
    wide: bool,
    changes: bool,
) -> Image:
    """The vertex and its softswitch, compiled for the threads."""
    text = _SOURCE.format(header=app.path)
    folder = native.build_dir() / "device" / "vertices"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{app.path.stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.cc"
    if not source.is_file() or source.read_text() != text:
        source.write_text(text)
    defines: Sequence[str] = (
        *app.defines,
        f"GOSSAMER_POLITE_PINS={pins}",
        f"GOSSAMER_POLITE_LISTENS={int(listens)}",
        f"GOSSAMER_POLITE_MULTICAST={multicast}",
        f"GOSSAMER_POLITE_WIDE={int(wide)}",
    )
    if changes:
        defines = (*defines, "GOSSAMER_POLITE_CHANGES=1")
    return device.build(source, config, defines, boards=shape, freestanding=True)


def _constant(image: Image, symbol: str, size: int) -> bytes:
    """The bytes of a constant in the program's data."""
    address = image.symbols[symbol]
    for segment in image.segments:
        if segment.address <= address < segment.address + len(segment.data):
            return segment.data[address - segment.address :][:size]
    raise InputError(f"{image.name}: has no {symbol}")


__all__ = ["CONFIG", "MULTICAST", "Hardware"]
