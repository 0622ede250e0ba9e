# SPDX-License-Identifier: Apache-2.0
"""Tables of vertices' own edges, and the destinations of messages along them: see thread_edges.h of the softswitch.

Each vertex has a row: the targets of its edges on pin 0, in ascending order; for each edge a thread and a key; and the
edges' values. A key names the same edge in the receiver's tables that messages on pin 0 use, so messages along an edge
need no further table at the receiver.
"""

from __future__ import annotations

import numpy as np

from gossamer.errors import InputError
from gossamer.mapper.layout import Bytes, Layout, Problem, up, words
from gossamer.mapper.lists import put
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.messages import EdgeLists
from gossamer.mapper.partition import Mapping
from gossamer.mapper.regions import MemoryRegions

_EACH = 12
"""Bytes per edge of a row, without the value: vertex, thread, key."""


class OwnEdges:
    """The rows of all threads, in the order of their vertices."""

    def __init__(self, problem: Problem, mapping: Mapping, layout: Layout, regions: MemoryRegions) -> None:
        pins = [index for index, one in enumerate(problem.relations) if one.pin == 0]
        if len(pins) > 1:
            raise InputError("pin 0 has edges of two kinds, but a vertex reads one; use the wiring `simple`")
        self._problem, self._mapping, self._layout = problem, mapping, layout
        self._pin = pins[0] if pins else None
        degree = np.zeros(problem.vertices, np.int64)
        if self._pin is not None:
            degree = np.diff(problem.relations[self._pin].offsets)
        self._degree = degree[mapping.order]
        sizes = up(up(_EACH * self._degree, layout.label_align) + layout.label * self._degree, 8)
        ends = np.cumsum(mapping.counts)
        thread = np.repeat(np.arange(len(ends)), mapping.counts)

        def of_threads(each: Numbers) -> tuple[Numbers, Numbers]:
            """Bytes of each thread, and the offset of each vertex's bytes within its thread's."""
            before = np.cumsum(each) - each
            sums = np.bincount(thread, each, minlength=len(ends)).astype(np.int64)
            return sums, before - (np.cumsum(sums) - sums)[thread]

        self.bytes, row = of_threads(sizes)
        """Bytes of each thread's rows."""
        self.at = regions.region("own edges", self.bytes)
        notes, note = of_threads(layout.note * self._degree)
        notes_at = regions.region("notes on edges", notes)
        self._row = np.cumsum(sizes) - sizes
        columns = [self.at[thread] + row, self._degree, notes_at[thread] + note]
        self.records = np.stack(columns[: layout.own], axis=1).astype("<u4")
        """For each vertex, in the mapping's order, the words after its lists."""
        self.data: Bytes = np.zeros(int(sizes.sum()), np.uint8)
        """All rows, thread by thread."""

    def fill(self, lists: EdgeLists, list_at: Numbers, key_base: Numbers, machine: Machine) -> None:
        """Writes the rows. ``list_at`` is the address of each list of edges; ``key_base`` the base of each receiving
        thread's keys."""
        problem, layout = self._problem, self._layout
        if self._pin is None:
            return
        first = sum(len(one.targets) for one in problem.relations[: self._pin])
        relation = problem.relations[self._pin]
        count = len(relation.targets)
        # For each edge of the problem its address, and the thread and key that lead to it.
        within = np.arange(len(lists.target)) - np.repeat(lists.heads, lists.sizes)
        address = np.repeat(list_at, lists.sizes) + layout.list + layout.edge * within
        base = np.where(lists.own, 0, key_base[lists.to])
        key, thread = np.empty_like(address), np.empty_like(address)
        key[lists.order] = address - np.repeat(base, lists.sizes) + 1
        thread[lists.order] = np.repeat(machine.addresses(lists.to), lists.sizes)
        its = slice(first, first + count)

        source = np.repeat(np.arange(problem.vertices), np.diff(relation.offsets))
        names = relation.targets if problem.names is None else problem.names[relation.targets]
        order = np.lexsort((names, source))
        position = np.empty(problem.vertices, np.int64)
        position[self._mapping.order] = np.arange(problem.vertices)
        row, degree = self._row[position[source]], self._degree[position[source]]
        number = np.arange(count) - relation.offsets[source]
        put(self.data, row + 4 * number, words(names[order]))
        along = np.concatenate([words(thread[its][order]), words(key[its][order])], axis=1)
        put(self.data, row + 4 * degree + 8 * number, along)
        if layout.label:
            unit = np.frombuffer(problem.unit, np.uint8)[: layout.label]
            values = np.broadcast_to(unit, (count, layout.label)) if relation.values is None else relation.values
            at = row + up(_EACH * degree, layout.label_align) + layout.label * number
            put(self.data, at, values[order, : layout.label])


__all__ = ["OwnEdges"]
