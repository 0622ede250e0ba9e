# SPDX-License-Identifier: Apache-2.0
"""Inspects the boards after a host has ended: which vertices still want to send, at which vertex a thread trapped."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.errors import RunDied
from gossamer.mapper.outcome import GIVEN_UP, Outcome

if TYPE_CHECKING:
    from gossamer.engines.rtl_cluster import Cluster


@dataclass(frozen=True)
class PostMortem:
    """The state of the last mapped graph on the boards, after the host has ended."""

    machine: Cluster
    outcome: Outcome
    vertices: list[list[int]]
    """The vertices of each thread, by slot."""
    singular: str = "vertex"
    plural: str = "vertices"

    def gave_up(self) -> bool:
        """Whether threads have reached the step limit, if all have ended."""
        self.machine.flush()
        read = [self.machine.read_memory(*span) for span in self.outcome.header_spans()]
        return bool((self.outcome.results(read)["status"] == GIVEN_UP).any())

    def describe_senders(self, *, ended: bool) -> str:
        """The vertices that want to send, as the middle of a sentence. Halts threads unless all have ``ended``."""
        from gossamer.engines._rtl_vertex_machine import Senders

        senders = Senders(self.machine, self.outcome, self._vertex_at, str, self.singular, self.plural)
        return senders.describe() if ended else senders.describe_halted()

    def pointed_vertex(self, thread: int) -> str:
        """Words that name the vertex at which a thread trapped; empty if no register points to one."""
        found: list[int] = []
        with contextlib.suppress(RunDied):
            found = self.outcome.pointed_to(thread, self.machine.registers(thread), self._vertex_at)
        if not 1 <= len(found) <= 2:
            return ""
        return f", whose registers point to {self.singular} {' or '.join(map(str, found))}"

    def _vertex_at(self, thread: int, local: int) -> int:
        its = self.vertices[thread]
        return its[local] if local < len(its) else -1


__all__ = ["PostMortem"]
