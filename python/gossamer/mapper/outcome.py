# SPDX-License-Identifier: Apache-2.0
"""What threads with vertices have written when they have ended, or were broken off: where it is, and what it says."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.mapper.machine import Numbers

GIVEN = 9
"""Words of a thread's header that are written for it (PoliteHeader of the softswitch)."""
_RESULTS = ("status", "steps", "sends", "delivered", "host_messages", "wrong_pin", "wrong", "retired")
"""Those behind them, which it writes."""
HEADER_BYTES = 4 * (GIVEN + len(_RESULTS))
"""Of a thread's header, but for the words of aggregates behind it."""
_NO_PIN = 0
"""In a vertex's flags: it does not want to send."""
DONE, GIVEN_UP, WRONG_PIN, WRONG_EDGE = range(1, 5)
"""A thread's ``status`` (PoliteStatus of the softswitch); 0 while it runs."""


@dataclass(frozen=True)
class Outcome:
    """Addresses of what threads write, by thread, and the DRAM that each uses."""

    memory_of: Numbers
    headers: Numbers
    states_at: Numbers
    flags_at: Numbers
    places: Numbers
    """For vertices."""
    header_bytes: int
    state_bytes: int
    flag_bytes: int

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Headers, then states, of all DRAMs: memory, address, bytes."""
        yield from self.header_spans()
        yield from self._spans(self.states_at, self.state_bytes * self.places)

    def header_spans(self) -> Iterator[tuple[int, int, int]]:
        """What results() is made of."""
        return self._spans(self.headers, np.full_like(self.places, self.header_bytes))

    def flag_spans(self) -> Iterator[tuple[int, int, int]]:
        """What sending() is made of."""
        return self._spans(self.flags_at, self.flag_bytes * self.places)

    def _spans(self, starts: Numbers, sizes: Numbers) -> Iterator[tuple[int, int, int]]:
        for memory in range(int(self.memory_of.max()) + 1):
            one, other = np.flatnonzero(self.memory_of == memory)[[0, -1]]
            yield memory, int(starts[one]), int(starts[other] + sizes[other] - starts[one])

    def results(self, read: Sequence[bytes]) -> dict[str, Numbers]:
        """What the threads have written into their headers, by name, one for each thread."""
        found = {name: np.zeros(len(self.headers), np.int64) for name in _RESULTS}
        begins = [begin for _, begin, _ in self.header_spans()]
        for thread, memory in enumerate(self.memory_of.tolist()):
            at = int(self.headers[thread]) - begins[memory] + 4 * GIVEN
            for name, word in zip(_RESULTS, struct.unpack_from(f"<{len(_RESULTS)}I", read[memory], at), strict=True):
                found[name][thread] = word
        return found

    def aggregates(self, read: Sequence[bytes]) -> tuple[int, ...]:
        """The words that the last step's aggregates have come to, the same for all threads; from header_spans()."""
        words = read[0][HEADER_BYTES : self.header_bytes]
        return struct.unpack(f"<{len(words) // 8}q", words)

    def sending(self, read: Sequence[bytes]) -> list[tuple[int, int]]:
        """The vertices that want to send, by thread and place in it."""
        begins = [begin for _, begin, _ in self.flag_spans()]
        found = []
        for thread, memory in enumerate(self.memory_of.tolist()):
            at = int(self.flags_at[thread]) - begins[memory]
            pins = read[memory][at : at + self.flag_bytes * int(self.places[thread]) : self.flag_bytes]
            found += [(thread, local) for local, pin in enumerate(pins) if pin != _NO_PIN]
        return found

    def pointed_to(self, thread: int, words: Sequence[int], vertex_at: Callable[[int, int], int]) -> list[int]:
        """Which of a thread's vertices these words point to: to the state, or the flags, of each.

        ``vertex_at`` is told thread and place, and gives -1 where there is no vertex.
        """
        count, found = int(self.places[thread]), []
        for starts, size in ((self.states_at, self.state_bytes), (self.flags_at, self.flag_bytes)):
            begin = int(starts[thread])
            places = {(word - begin) // size for word in words if begin <= word < begin + size * count}
            places = {place for place in places if vertex_at(thread, place) >= 0}
            # The loop keeps where all of them begin.
            if len(places) > 1 and begin in words:
                places.discard(0)
            found.append(places)
        return sorted(vertex_at(thread, place) for place in found[0] & found[1] or found[0] or found[1])


__all__ = ["DONE", "GIVEN", "GIVEN_UP", "HEADER_BYTES", "WRONG_EDGE", "WRONG_PIN", "Outcome"]
