# SPDX-License-Identifier: Apache-2.0
"""How a run of vertices on boards went: whether it came to its end, and what a user is told where it did not.

Vertices are named by the labels of their graph.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.engines import _rtl_queues, rtl
from gossamer.errors import RunDied
from gossamer.mapper.outcome import DONE, GIVEN_UP, WRONG_EDGE, WRONG_PIN

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.device import Image
    from gossamer.engines.rtl import Run, Tile
    from gossamer.engines.rtl_cluster import Cluster
    from gossamer.engines.rtl_vertices import Hardware
    from gossamer.graph import Graph
    from gossamer.mapper import Outcome, Tables

VertexAt = Callable[[int, int], int]
"""The vertex at a place in a thread; -1 where there is none."""

_MOST_NAMED = 8
"""Vertices that a message names one by one."""
_LOOKS = 4
"""At a run that is broken off: while all messages are on their way, no vertex wants to send."""


@dataclass(frozen=True)
class Verdict:
    """What is known of a run: the machine, and what was loaded into it."""

    hardware: Hardware
    app: App
    graph: Graph
    tile: Tile
    image: Image
    tables: Tables
    vertex_at: VertexAt

    def check_end(self, run: Run) -> None:
        """Raises RunDied unless all threads came to an end."""
        if run.traps:
            first = run.traps[0]
            many = f" (and {len(run.traps) - 1} more)" if len(run.traps) > 1 else ""
            # The handler; that the softswitch called it is no news.
            what = first.words(
                lambda pc: str(self.image.where(pc)).partition(", inlined into")[0], self.image.instruction
            )
            at = self._pointed_vertex(first.thread)
            raise RunDied(f"{self.app.name}: thread {first.thread}{at}: {what}{many}; there is no answer")
        if run.reason != "done":
            why = {
                "max-cycles": f"did not end within {self.hardware.max_cycles or 0:,} cycles",
                "deadlock": "all threads wait and nothing is on its way",
                "stuck": "no thread has done anything for long",
                "stopped": "was stopped",
            }[run.reason]
            still = self._senders.describe_halted() if run.reason in ("max-cycles", "deadlock", "stuck") else ""
            raise RunDied(f"{self.app.name}: {why}{still}; there is no answer")

    def check_status(self, found: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Raises RunDied where threads say that their states are not an answer."""
        for thread in np.flatnonzero(np.isin(found["status"], (WRONG_PIN, WRONG_EDGE))).tolist():
            local, wrong = int(found["wrong"][thread]), int(found["wrong_pin"][thread])
            what = f"{self.app.name}: vertex {self._name(self.vertex_at(thread, local))} sends"
            if found["status"][thread] == WRONG_PIN:
                raise RunDied(f"{what} on pin {wrong}, which the graph does not have")
            count = self.tables.own_edges(thread, local)
            raise RunDied(f"{what} along its edge {wrong}, but it has {count} edge{'' if count == 1 else 's'}")
        if (found["status"] == GIVEN_UP).any():
            most = self.hardware.max_steps
            raise RunDied(
                f"{self.app.name}: did not end within {most:,} step{'s' if most > 1 else ''}"
                f"{self._senders.words()}; there is no answer"
            )
        if (found["status"] != DONE).any():
            raise RunDied(f"{self.app.name}: {int((found['status'] != DONE).sum())} threads did not come to an end")

    def describe_unfinished(self, run: Run, cluster: Cluster | None) -> list[str]:
        """Where the threads are that have not ended, and which queues hold messages, a line each."""
        config = self.hardware.machine.config

        def tiles(threads: Iterable[int]) -> str:
            if cluster is not None:
                return cluster.on_boards(threads)
            return rtl.on_tiles(threads, config.threads_per_tile, config.mesh.width)

        port = _rtl_queues.no_board if cluster is None else cluster.switch_port
        where = rtl.describe_unfinished(run.unfinished, self.image.where, tiles)
        return [*where, *_rtl_queues.words(run.queues, config, tiles, port)]

    def _name(self, vertex: int) -> str:
        return str(self.graph.label_of(vertex))

    def _pointed_vertex(self, thread: int) -> str:
        """The vertex that a thread trapped at, as words behind its number; nothing where no register tells."""
        vertices = self.tables.outcome.pointed_to(thread, self.tile.registers(thread), self.vertex_at)
        if not 1 <= len(vertices) <= 2:
            return ""
        return f", whose registers point to vertex {' or '.join(map(self._name, vertices))}"

    @property
    def _senders(self) -> Senders:
        return Senders(self.tile, self.tables.outcome, self.vertex_at, self._name)


@dataclass(frozen=True)
class Senders:
    """The vertices that would go on sending where a run has not come to its end."""

    tile: Tile
    outcome: Outcome
    vertex_at: VertexAt
    name: Callable[[int], str]
    """What a user calls a vertex, and what it is:"""
    one: str = "vertex"
    many: str = "vertices"

    def words(self) -> str:
        """They as the middle of a sentence, where all threads have ended; nothing where there are none."""
        return self._words(self._want_to_send())

    def describe_halted(self) -> str:
        """The same of threads that have not ended: they are halted first."""
        # A machine that is broken may not answer; then nothing is known, and what it ended of is told all the same.
        with contextlib.suppress(RunDied):
            for _ in range(_LOOKS):
                self.tile.halt()
                # Whoever still waits is idle, or sends before the next look.
                if found := self._want_to_send(self.tile.flush_halted()):
                    return self._words(found)
                self.tile.resume()
        return ""

    def _want_to_send(self, without: Sequence[int] = ()) -> list[int]:
        """As memory has it, but for what these threads have."""
        flags = [self.tile.read_memory(*span) for span in self.outcome.flag_spans()]
        return sorted(self.vertex_at(*place) for place in self.outcome.sending(flags) if place[0] not in without)

    def _words(self, vertices: Sequence[int]) -> str:
        if not vertices:
            return ""
        if len(vertices) == 1:
            return f": {self.one} {self.name(vertices[0])} still sends"
        named = ", ".join(map(self.name, vertices[:_MOST_NAMED])) + (", ..." if len(vertices) > _MOST_NAMED else "")
        return f": {len(vertices):,} {self.many} still send ({named})"


__all__ = ["Senders", "Verdict", "VertexAt"]
