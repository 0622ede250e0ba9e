# SPDX-License-Identifier: Apache-2.0
"""What the host knows of the boards' memories, so that it writes only lines that change."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

_PAGE = 4096


class Copy:
    """A copy of what stands in the memories, and the lines of it that the boards do not have yet."""

    def __init__(self, memories: int, line: int) -> None:
        self._line = line
        self._pages: list[dict[int, bytearray]] = [{} for _ in range(memories)]
        self._late: list[set[int]] = [set() for _ in range(memories)]
        # Nobody knows what stands in lines that were never written: not zeros.
        self._known: list[set[int]] = [set() for _ in range(memories)]

    def put(self, memory: int, address: int, data: bytes) -> None:
        """Takes in what the memory has."""
        for page, begin, part in _pages(address, data):
            self._page(memory, page)[begin : begin + len(part)] = part
        self._known[memory].update(self._lines(address, len(data)))

    def poke(self, memory: int, address: int, data: bytes) -> None:
        """Changes it here; ``late`` then gives the lines that differ."""
        for page, begin, part in _pages(address, data):
            held = self._page(memory, page)
            for line in self._lines(page * _PAGE + begin, len(part)):
                low, high = max(line - page * _PAGE, begin), min(line - page * _PAGE + self._line, begin + len(part))
                if held[low:high] != part[low - begin : high - begin] or line not in self._known[memory]:
                    self._late[memory].add(line)
            held[begin : begin + len(part)] = part

    def miss(self, memory: int, address: int, size: int) -> None:
        """Says that the boards do not have what stands here; the address is that of a line."""
        self._late[memory].update(self._lines(address, size))

    def get(self, memory: int, address: int, size: int) -> bytes:
        """What stands there, zeros where nobody has written."""
        found = bytearray()
        while len(found) < size:
            page, begin = divmod(address + len(found), _PAGE)
            found += self._page(memory, page)[begin : begin + size - len(found)]
        return bytes(found)

    def late(self) -> Iterator[tuple[int, int, bytes]]:
        """Memory, address and bytes of all lines that the boards do not have yet, neighbours in one; then they have."""
        for memory, lines in enumerate(self._late):
            runs: list[list[int]] = []
            for at in sorted(lines):
                if runs and runs[-1][1] == at:
                    runs[-1][1] += self._line
                else:
                    runs.append([at, at + self._line])
            self._known[memory] |= lines
            lines.clear()
            for begin, end in runs:
                yield memory, begin, self.get(memory, begin, end - begin)

    def _lines(self, address: int, size: int) -> range:
        return range(address // self._line * self._line, address + size, self._line)

    def _page(self, memory: int, page: int) -> bytearray:
        return self._pages[memory].setdefault(page, bytearray(_PAGE))


def _pages(address: int, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Parts of data by page: its number, where the part begins in it, the part."""
    done = 0
    while done < len(data):
        page, begin = divmod(address + done, _PAGE)
        part = data[done : done + _PAGE - begin]
        yield page, begin, part
        done += len(part)


class Room:
    """What is free of a thread's arena."""

    def __init__(self, begin: int, end: int) -> None:
        self._free = [(begin, end)] if begin < end else []

    def first(self, at: int, size: int) -> int | None:
        """The first place from ``at`` on with so much room; None: there is none."""
        index = max(0, bisect_left(self._free, (at + 1, 0)) - 1)
        for begin, end in self._free[index:]:
            if end - max(begin, at) >= size:
                return max(begin, at)
        return None

    def take(self, at: int, size: int) -> None:
        """Takes a place that ``first`` has given."""
        index = bisect_left(self._free, (at + 1, 0)) - 1
        begin, end = self._free.pop(index)
        assert begin <= at and at + size <= end
        for part in ((begin, at), (at + size, end)):
            if part[0] < part[1]:
                insort(self._free, part)

    def give(self, at: int, size: int) -> None:
        """Gives a place back."""
        end = at + size
        index = bisect_left(self._free, (at, 0))
        if index < len(self._free) and self._free[index][0] == end:
            end = self._free.pop(index)[1]
        if index and self._free[index - 1][1] == at:
            index -= 1
            at = self._free.pop(index)[0]
        insort(self._free, (at, end))


def common(rooms: Sequence[tuple[Room, int]]) -> int | None:
    """The first place where each room has its so many bytes free; None: there is none."""
    at = 0
    while True:
        before = at
        for room, size in rooms:
            found = room.first(at, size)
            if found is None:
                return None
            at = found
        if at == before:
            return at


__all__ = ["Copy", "Room", "common"]
