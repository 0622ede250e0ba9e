# SPDX-License-Identifier: Apache-2.0
"""Boards that run vertices: program, tables and start of the threads, and the verdict on a run that has ended.

Messages name vertices by the labels of their graph.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import device, mapper, native
from gossamer.engines import _rtl_diagnostics, rtl
from gossamer.engines.rtl import WATCHDOG
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.errors import InputError, RunDied
from gossamer.mapper.outcome import DONE, GIVEN_UP, WRONG_EDGE, WRONG_PIN

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.config import Config
    from gossamer.device import Image
    from gossamer.engines.rtl import Message, Run, Tile
    from gossamer.graph import Graph
    from gossamer.mapper import Outcome, Tables

CONFIG = "quad"
"""Default configuration."""
MULTICAST = ("local", "none", "full")
"""How a message reaches several threads: one message per tile with a mask; one per thread; as local, and one message
with a key for all tiles of other boards."""
_SOURCE = """\
// Generated: the program of a vertex for the threads of the hardware.
#include "{header}"
#include <gossamer/softswitch.h>
GOSSAMER_SOFTSWITCH(GossamerVertex)
"""
_MAX_NAMED = 8
"""Vertices that a message names one by one."""
_SAMPLES = 4
"""Times that an aborted run is halted to find sending vertices: none wants to send while all messages are in flight."""

VertexAt = Callable[[int, int], int]
"""The vertex at a slot of a thread; -1 for an empty slot."""


@dataclass(frozen=True)
class Placed:
    """A problem on the threads of a machine."""

    problem: mapper.Problem
    machine: mapper.Machine
    mapping: mapper.Mapping
    image: Image
    layout: mapper.Layout
    tables: mapper.Tables

    def vertex_at(self, thread: int, local: int) -> int:
        """The vertex at a slot of a thread."""
        return int(self.mapping.order[int(self.mapping.counts[:thread].sum()) + local])

    def statistics(self) -> dict[str, Any]:
        """Figures of the mapping and of the tables."""
        cut = dataclasses.asdict(mapper.cut_of(self.problem, self.mapping, self.machine))
        return {
            "messages_per_round": self.tables.message_count,
            "balance": self.tables.balance,
            "memory_bytes": int(self.tables.bytes.max()),
            **{f"mapped_{name}": value for name, value in cut.items()},
        }


@dataclass
class VertexMachine:
    """A board, or the boards of a cluster, and how vertices are mapped to their threads."""

    name = "rtl"
    config: str | Config = CONFIG
    """The board's configuration, if ``plan`` is None."""
    plan: Plan | None = None
    """A cluster with its routes; it names the configuration of its boards."""
    mapping: str = mapper.METHODS[0]
    """How vertices are mapped to threads: one of ``mapper.METHODS``."""
    multicast: str = MULTICAST[0]
    """local: one message to all threads of a tile that have receivers; none: one to each thread; full: as local, and
    one for all tiles of other boards, which the boards' multicast routers copy."""
    spare: mapper.Spare = field(default_factory=mapper.Spare)
    """Free space in the tables of a graph that changes."""
    max_steps: int = 0
    """Steps after which the run aborts; 0: no limit."""
    max_cycles: int | None = None
    watchdog: int | None = None
    """Cycles without an instruction after which the run aborts; None: the default of all programs."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the simulated board or cluster: workers, frame_loss, trace, ..."""
    on_phase: Callable[[str, int, int], object] = lambda what, done, total: None
    """Progress callback: name of the phase, units done, units in total."""
    done: Run | None = field(default=None, init=False)
    """The last run, as the simulator reported it."""
    simulated: Cluster | None = field(default=None, init=False)
    """The boards of the last run."""
    notes: list[str] = field(default_factory=list, init=False)
    """Notes for the user about the last run, for example that its trace was thinned."""

    @property
    def machine(self) -> mapper.Machine:
        """The machine that vertices are mapped to."""
        from gossamer import config as configs

        if self.plan is not None:
            return mapper.Machine(self.plan.config, self.plan.boards, hops=self.plan.hops, numbers=self.plan.numbers)
        return mapper.Machine(configs.load(self.config) if isinstance(self.config, str) else self.config)

    def network(self, machine: mapper.Machine) -> mapper.Network | None:
        """The network that carries messages by key; None if no message has a key."""
        if self.multicast == "full" and self.plan is not None and machine.boards > 1:
            return mapper.Network(self.plan.topology, self.plan.tables, self.plan.link)
        return None

    def program(self, app: App, pins: int, listens: bool, sends: int, wide: bool, *, changes: bool = False) -> Any:
        """The program of the threads, and the layout of its tables."""
        shape = device.ALONE if self.plan is None else self.plan.shape
        image = _program(app, self.machine.config, shape, pins, listens, sends, wide, changes)
        layout = mapper.Layout.read(_constant(image, "gossamer_polite_layout", mapper.Layout.SIZE))
        layout.check(app.name, state=app.state_bytes, label=app.edge_bytes, message=app.message_bytes)
        return image, layout

    def placed(
        self, app: App, problem: mapper.Problem, listens: bool, seed: int, network: mapper.Network | None
    ) -> Placed:
        """Maps a problem that does not change, and makes its tables. Raises InputError if it does not fit."""
        machine = self.machine
        # GOSSAMER_POLITE_MULTICAST of the softswitch. No message leaves a single board.
        sends = 2 if network is not None else int(self.multicast != "none")
        image, layout = self.program(app, problem.pins, listens, sends, False)
        mapper.check_least(machine, layout, image.symbols["__data_end"], problem.vertices, problem.edges, problem.pins)
        mapping = mapper.place(
            problem,
            machine,
            method=self.mapping,
            seed=seed or 1,
            progress=lambda done, total: self.on_phase("mapping", done, total),
        )

        def made(wide: bool) -> Placed:
            image, layout = self.program(app, problem.pins, listens, sends, wide)
            tables = mapper.Tables(
                problem,
                mapping,
                machine,
                layout,
                base=image.symbols["__data_end"],
                multicast=sends > 0,
                network=network,
                progress=lambda done, total: self.on_phase("tables", done, total),
            )
            return Placed(problem, machine, mapping, image, layout, tables)

        try:
            return made(wide=False)
        except mapper.TooWide:
            return made(wide=True)

    def run_threads(self, verdict: Verdict) -> tuple[Run, list[Message]]:
        """Runs all threads until they have ended. Raises RunDied if they do not end."""
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
        if not run.traps and run.reason != "done" and self.simulated is not None:
            self.notes = [*self.notes, *verdict.describe_unfinished(run, self.simulated)]
        verdict.check_end(run)
        tile.flush()
        return run, messages

    def simulator(self, config: Config) -> Tile:
        """The simulated machine after reset."""
        self.done, self.simulated = None, None
        self.simulated = Cluster(config if self.plan is None else self.plan, **self.settings)
        return self.simulated

    def load(self, tile: Tile, image: Image, tables: mapper.Tables) -> None:
        """Writes the program and all tables into the machine's memories."""
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
        if tables.multicast_tables is not None and self.simulated is not None:
            self.simulated.flush_record_caches()

    def statistics(
        self,
        vertices: int,
        edges: int,
        layout: mapper.Layout,
        run: Run,
        found: Mapping[str, np.ndarray[Any, Any]],
    ) -> dict[str, Any]:
        """The statistics that every engine reports, and those of the hardware."""
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
    source = folder / f"{app.path.stem}-{hashlib.sha256(os.fsencode(text)).hexdigest()[:8]}.cc"
    if not source.is_file() or source.read_bytes() != os.fsencode(text):
        source.write_bytes(os.fsencode(text))
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


@dataclass(frozen=True)
class Verdict:
    """Judges a run from its machine, its program and tables, and its limits of steps and cycles."""

    config: Config
    max_steps: int
    max_cycles: int | None
    app: App
    graph: Graph
    tile: Tile
    image: Image
    tables: Tables
    vertex_at: VertexAt

    def check_end(self, run: Run) -> None:
        """Raises RunDied unless all threads have ended."""
        if run.traps:
            first = run.traps[0]
            many = f" (and {len(run.traps) - 1} more)" if len(run.traps) > 1 else ""
            # Names the handler only, without the softswitch that it is inlined into.
            what = first.words(
                lambda pc: str(self.image.where(pc)).partition(", inlined into")[0], self.image.instruction
            )
            at = self._pointed_vertex(first.thread)
            raise RunDied(f"{self.app.name}: thread {first.thread}{at}: {what}{many}; there is no answer")
        if run.reason != "done":
            why = {
                "max-cycles": f"did not end within {self.max_cycles or 0:,} cycles",
                "deadlock": "all threads wait and no message is in flight",
                "stuck": "no thread has made progress for a long time",
                "stopped": "was stopped",
            }[run.reason]
            senders = self._senders.describe_halted() if run.reason in ("max-cycles", "deadlock", "stuck") else ""
            raise RunDied(f"{self.app.name}: {why}{senders}; there is no answer")

    def check_status(self, found: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Raises RunDied if the status words of threads report an error."""
        for thread in np.flatnonzero(np.isin(found["status"], (WRONG_PIN, WRONG_EDGE))).tolist():
            local, wrong = int(found["wrong"][thread]), int(found["wrong_pin"][thread])
            what = f"{self.app.name}: vertex {self._name(self.vertex_at(thread, local))} sends"
            if found["status"][thread] == WRONG_PIN:
                raise RunDied(f"{what} on pin {wrong}, which the graph does not have")
            count = self.tables.own_edges(thread, local)
            raise RunDied(f"{what} along its edge {wrong}, but it has {count} edge{'' if count == 1 else 's'}")
        if (found["status"] == GIVEN_UP).any():
            most = self.max_steps
            raise RunDied(
                f"{self.app.name}: did not end within {most:,} step{'s' if most > 1 else ''}"
                f"{self._senders.describe()}; there is no answer"
            )
        if (found["status"] != DONE).any():
            unfinished = int((found["status"] != DONE).sum())
            raise RunDied(f"{self.app.name}: {unfinished} thread{'' if unfinished == 1 else 's'} did not end")

    def describe_unfinished(self, run: Run, cluster: Cluster) -> list[str]:
        """Lines that name unfinished threads, what they wait for, and the queues that hold messages."""
        where = rtl.describe_unfinished(run.unfinished, self.image.where, cluster.on_boards)
        held = _rtl_diagnostics.describe_queues(run.queues, self.config, cluster.on_boards, cluster.switch_port)
        return [*where, *held]

    def _name(self, vertex: int) -> str:
        return str(self.graph.label_of(vertex))

    def _pointed_vertex(self, thread: int) -> str:
        """Words that name the vertex at which a thread trapped; empty if no register points to one."""
        vertices = self.tables.outcome.pointed_to(thread, self.tile.registers(thread), self.vertex_at)
        if not 1 <= len(vertices) <= 2:
            return ""
        return f", whose registers point to vertex {' or '.join(map(self._name, vertices))}"

    @property
    def _senders(self) -> Senders:
        return Senders(self.tile, self.tables.outcome, self.vertex_at, self._name)


@dataclass(frozen=True)
class Senders:
    """The vertices that still want to send in a run that did not end."""

    tile: Tile
    outcome: Outcome
    vertex_at: VertexAt
    name: Callable[[int], str]
    """The user's name of a vertex."""
    singular: str = "vertex"
    plural: str = "vertices"

    def describe(self) -> str:
        """The senders as the middle of a sentence, if all threads have ended; empty if there are none."""
        return self._describe(self._want_to_send())

    def describe_halted(self) -> str:
        """The same for threads that have not ended: halts them first."""
        # A broken machine may not answer. Then the senders are unknown, but the caller still reports why the run ended.
        with contextlib.suppress(RunDied):
            for _ in range(_SAMPLES):
                self.tile.halt()
                # A thread that still waits is idle, or sends before the next sample.
                if found := self._want_to_send(self.tile.flush_halted()):
                    return self._describe(found)
                self.tile.resume()
        return ""

    def _want_to_send(self, without: Sequence[int] = ()) -> list[int]:
        """The vertices whose flags in memory want to send, except those of the threads ``without``."""
        flags = [self.tile.read_memory(*span) for span in self.outcome.flag_spans()]
        return sorted(self.vertex_at(*place) for place in self.outcome.sending(flags) if place[0] not in without)

    def _describe(self, vertices: Sequence[int]) -> str:
        if not vertices:
            return ""
        if len(vertices) == 1:
            return f": {self.singular} {self.name(vertices[0])} still sends"
        named = ", ".join(map(self.name, vertices[:_MAX_NAMED])) + (", ..." if len(vertices) > _MAX_NAMED else "")
        return f": {len(vertices):,} {self.plural} still send ({named})"


__all__ = ["CONFIG", "MULTICAST", "Placed", "Senders", "Verdict", "VertexAt", "VertexMachine"]
