# SPDX-License-Identifier: Apache-2.0
"""Allocation of regions for tables in the memories of a machine."""

from __future__ import annotations

import numpy as np

from gossamer import config as configs
from gossamer.errors import InputError
from gossamer.mapper.layout import Layout, up
from gossamer.mapper.machine import Machine, Numbers

_MOST_BOARDS = 1024
"""Boards of the largest cluster that an error message suggests."""


class TooLarge(InputError):
    """A graph does not fit into the memories of the boards."""


class MemoryRegions:
    """Allocates addresses in all DRAMs and their SRAMs, region by region."""

    def __init__(self, machine: Machine, base: int) -> None:
        self._machine = machine
        self._line = machine.config.cache.line_bytes
        self._base = -(-base // self._line) * self._line
        self._next = np.full(machine.memories, self._base, np.int64)
        sram, self._sram_end = machine.sram
        self._sram = np.full(machine.memories, sram, np.int64)
        self._memory = machine.memory_of(np.arange(machine.threads))
        self._sizes: dict[str, Numbers] = {}

    def region(self, name: str, sizes: Numbers, *, fast: bool = False) -> Numbers:
        """The address of each thread's part, aligned to a line. Fast regions are in SRAM if they fit."""
        sizes = up(sizes, self._line)
        if fast:
            starts, grown = self._starts(self._sram, sizes)
            if grown.max() <= self._sram_end:
                self._sram = grown
                return starts
        starts, grown = self._starts(self._next, sizes)
        self._grow(name, grown)
        return starts

    def _starts(self, begins: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Consecutive parts of threads from the begin of each memory, and the end of the last part in each memory."""
        starts, grown = np.empty(len(sizes), np.int64), begins.copy()
        for memory in range(self._machine.memories):
            here = np.flatnonzero(self._memory == memory)
            starts[here] = begins[memory] + np.cumsum(sizes[here]) - sizes[here]
            grown[memory] += int(sizes[here].sum())
        return starts, grown

    def arenas(self, name: str, needed: Numbers, most: int) -> tuple[Numbers, int]:
        """The address of each thread's arena, and the size that all arenas have."""
        users = int(np.bincount(self._memory).max())
        space = (self._machine.memory_end - int(self._next.max())) // users // self._line * self._line
        least = -(-int(needed.max()) // self._line) * self._line
        size = max(least, min(space, most // self._line * self._line))
        return self.region(name, np.full(len(needed), size)), size

    def shared(self, name: str, size: int) -> int:
        """The address of a part that all threads read; equal in every DRAM."""
        start = int(self._next.max())
        self._grow(name, np.full_like(self._next, start + -(-size // self._line) * self._line))
        return start

    def _grow(self, name: str, grown: Numbers) -> None:
        self._sizes[name] = grown - self._next
        self._next = grown

    def check(self) -> None:
        """Raises TooLarge, with machines that are large enough, if the regions exceed their memory."""
        config = self._machine.config
        space, most = self._machine.memory_end - self._base, int(self.used().max())
        if most <= space:
            return
        end, over = 0, ""
        for name, size in self._sizes.items():
            end += int(size.max())
            if end > space and not over:
                over = name
        sizes = ", ".join(f"{region} {int(size.max()):,}" for region, size in self._sizes.items())
        raise TooLarge(
            f"{config.name}: a DRAM holds {space:,} bytes of the graph, but the {over} end at {end:,} of its "
            f"{most:,} ({sizes}); {self.suggestion(most)}"
        )

    def suggestion(self, most: int) -> str:
        """A sentence that names machines which hold ``most`` bytes of each of the present DRAMs."""
        total = most * self._machine.memories
        boards, least = {}, self._machine.config.name
        for name in dict.fromkeys([least, *configs.names()]):
            machine = Machine(configs.load(name))
            boards[name] = -(-total // max(1, (machine.memory_end - self._base) * machine.memories))
        found = [f"{count} boards of {least}"] if (count := boards.pop(least)) <= _MOST_BOARDS else []
        if alone := [name for name, count in boards.items() if count == 1]:
            found.insert(0, f"a board of {', '.join(alone)}")
        elif boards and (best := min(boards, key=lambda name: boards[name])) and boards[best] <= _MOST_BOARDS:
            found.append(f"{boards[best]} of {best}")
        return f"it fits on {', or on '.join(found)}" if found else "it fits on no cluster"

    def used(self) -> Numbers:
        """Bytes used of each DRAM."""
        return self._next - self._base


def least_bytes(layout: Layout, vertices: int, edges: int, pins: int) -> int:
    """Bytes that a graph occupies at least, however it is mapped.

    Per vertex a state, flags, a place in a queue, and for each pin a list and its address; per edge an entry at the
    receiver, or of 8 bytes at the sender. Alignment, and an uneven distribution, need more.
    """
    each = layout.state + layout.flags + layout.offset + pins * (4 + layout.list)
    return vertices * each + edges * min(layout.edge, 8)


def check_least(machine: Machine, layout: Layout, base: int, vertices: int, edges: int, pins: int) -> None:
    """Raises TooLarge if no mapping fits: before the partitioner works for minutes on a graph that is too large."""
    least = least_bytes(layout, vertices, edges, pins)
    sram, sram_end = machine.sram
    space = machine.memories * (machine.memory_end - base + sram_end - sram)
    if least > space:
        advice = MemoryRegions(machine, base).suggestion(-(-least // machine.memories))
        raise TooLarge(
            f"{machine.config.name}: a graph of {vertices:,} vertices and {edges:,} edges needs at least {least:,} "
            f"bytes, and the memories hold {space:,}; {advice}"
        )


__all__ = ["MemoryRegions", "TooLarge", "check_least", "least_bytes"]
