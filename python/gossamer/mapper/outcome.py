# SPDX-License-Identifier: Apache-2.0
"""The words and states that threads with vertices write: their addresses, and their meaning after a run."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.mapper.machine import Numbers

INPUT_WORDS = 9
"""Words of a thread's header that the host writes (PoliteHeader of the softswitch)."""
_RESULTS = ("status", "steps", "sends", "delivered", "host_messages", "wrong_pin", "wrong", "retired")
"""The following words, which the thread writes."""
HEADER_BYTES = 4 * (INPUT_WORDS + len(_RESULTS))
"""Bytes of a thread's header without the words of aggregates that follow."""
_NO_PIN = 0
"""Flag of a vertex that does not want to send."""
DONE, GIVEN_UP, WRONG_PIN, WRONG_EDGE = range(1, 5)
"""A thread's ``status`` (PoliteStatus of the softswitch); 0 while it runs."""


@dataclass(frozen=True)
class Outcome:
    """Addresses of the data that threads write, by thread, and the DRAM of each thread."""

    memory_of: Numbers
    headers: Numbers
    states_at: Numbers
    flags_at: Numbers
    slots: Numbers
    """Vertex slots of each thread."""
    header_bytes: int
    state_bytes: int
    flag_bytes: int

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Spans of headers, then of states, in all DRAMs: memory, address, bytes."""
        yield from self.header_spans()
        yield from self._spans(self.states_at, self.state_bytes * self.slots)

    def header_spans(self) -> Iterator[tuple[int, int, int]]:
        """The spans that results() decodes."""
        return self._spans(self.headers, np.full_like(self.slots, self.header_bytes))

    def flag_spans(self) -> Iterator[tuple[int, int, int]]:
        """The spans that sending() decodes."""
        return self._spans(self.flags_at, self.flag_bytes * self.slots)

    def _spans(self, starts: Numbers, sizes: Numbers) -> Iterator[tuple[int, int, int]]:
        for memory in range(int(self.memory_of.max()) + 1):
            one, other = np.flatnonzero(self.memory_of == memory)[[0, -1]]
            yield memory, int(starts[one]), int(starts[other] + sizes[other] - starts[one])

    def results(self, read: Sequence[bytes]) -> dict[str, Numbers]:
        """The result words in the threads' headers: by name, one value per thread."""
        found = {name: np.zeros(len(self.headers), np.int64) for name in _RESULTS}
        begins = [begin for _, begin, _ in self.header_spans()]
        for thread, memory in enumerate(self.memory_of.tolist()):
            at = int(self.headers[thread]) - begins[memory] + 4 * INPUT_WORDS
            for name, word in zip(_RESULTS, struct.unpack_from(f"<{len(_RESULTS)}I", read[memory], at), strict=True):
                found[name][thread] = word
        return found

    def aggregates(self, read: Sequence[bytes]) -> tuple[int, ...]:
        """The words of the last step's aggregates, equal for all threads; from header_spans()."""
        words = read[0][HEADER_BYTES : self.header_bytes]
        return struct.unpack(f"<{len(words) // 8}q", words)

    def sending(self, read: Sequence[bytes]) -> list[tuple[int, int]]:
        """Thread and slot of each vertex that wants to send."""
        begins = [begin for _, begin, _ in self.flag_spans()]
        found = []
        for thread, memory in enumerate(self.memory_of.tolist()):
            at = int(self.flags_at[thread]) - begins[memory]
            pins = read[memory][at : at + self.flag_bytes * int(self.slots[thread]) : self.flag_bytes]
            found += [(thread, local) for local, pin in enumerate(pins) if pin != _NO_PIN]
        return found

    def pointed_to(self, thread: int, words: Sequence[int], vertex_at: Callable[[int, int], int]) -> list[int]:
        """The vertices of a thread whose state or flags one of ``words`` points to.

        ``vertex_at`` maps thread and slot to a vertex, or to -1 for an empty slot.
        """
        count, found = int(self.slots[thread]), []
        for starts, size in ((self.states_at, self.state_bytes), (self.flags_at, self.flag_bytes)):
            begin = int(starts[thread])
            slots = {(word - begin) // size for word in words if begin <= word < begin + size * count}
            slots = {slot for slot in slots if vertex_at(thread, slot) >= 0}
            # The loop over vertices keeps the address of slot 0 in a register.
            if len(slots) > 1 and begin in words:
                slots.discard(0)
            found.append(slots)
        return sorted(vertex_at(thread, slot) for slot in found[0] & found[1] or found[0] or found[1])


__all__ = ["DONE", "GIVEN_UP", "HEADER_BYTES", "INPUT_WORDS", "WRONG_EDGE", "WRONG_PIN", "Outcome"]
