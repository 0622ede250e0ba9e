# SPDX-License-Identifier: Apache-2.0
"""The host's image of the boards' memories, which lets it write only lines that change; free space of arenas."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

_PAGE = 4096


class MemoryImage:
    """An image of the memories, and its dirty lines, which have not been written to the boards yet."""

    def __init__(self, memories: int, line: int) -> None:
        self._line = line
        self._pages: list[dict[int, bytearray]] = [{} for _ in range(memories)]
        self._dirty: list[set[int]] = [set() for _ in range(memories)]
        # Lines that were never written have undefined content, not zeros.
        self._known: list[set[int]] = [set() for _ in range(memories)]

    def load(self, memory: int, address: int, data: bytes) -> None:
        """Records the content of a memory."""
        for page, begin, part in _pages(address, data):
            self._page(memory, page)[begin : begin + len(part)] = part
        self._known[memory].update(self._lines(address, len(data)))

    def write(self, memory: int, address: int, data: bytes) -> None:
        """Changes the image; ``take_dirty`` then returns the lines that differ."""
        for page, begin, part in _pages(address, data):
            held = self._page(memory, page)
            for line in self._lines(page * _PAGE + begin, len(part)):
                low, high = max(line - page * _PAGE, begin), min(line - page * _PAGE + self._line, begin + len(part))
                if held[low:high] != part[low - begin : high - begin] or line not in self._known[memory]:
                    self._dirty[memory].add(line)
            held[begin : begin + len(part)] = part

    def mark_dirty(self, memory: int, address: int, size: int) -> None:
        """Marks lines as not yet written to the boards; ``address`` is aligned to a line."""
        self._dirty[memory].update(self._lines(address, size))

    def read(self, memory: int, address: int, size: int) -> bytes:
        """The content of the image; zeros where nothing was written."""
        found = bytearray()
        while len(found) < size:
            page, begin = divmod(address + len(found), _PAGE)
            found += self._page(memory, page)[begin : begin + size - len(found)]
        return bytes(found)

    def take_dirty(self) -> Iterator[tuple[int, int, bytes]]:
        """Memory, address and bytes of all dirty lines, adjacent lines merged; marks them as clean."""
        for memory, lines in enumerate(self._dirty):
            runs: list[list[int]] = []
            for at in sorted(lines):
                if runs and runs[-1][1] == at:
                    runs[-1][1] += self._line
                else:
                    runs.append([at, at + self._line])
            self._known[memory] |= lines
            lines.clear()
            for begin, end in runs:
                yield memory, begin, self.read(memory, begin, end - begin)

    def _lines(self, address: int, size: int) -> range:
        return range(address // self._line * self._line, address + size, self._line)

    def _page(self, memory: int, page: int) -> bytearray:
        return self._pages[memory].setdefault(page, bytearray(_PAGE))


def _pages(address: int, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Data split by page: page number, offset in the page, bytes."""
    done = 0
    while done < len(data):
        page, begin = divmod(address + done, _PAGE)
        part = data[done : done + _PAGE - begin]
        yield page, begin, part
        done += len(part)


class FreeSpace:
    """The free blocks of a thread's arena."""

    def __init__(self, begin: int, end: int) -> None:
        self._free = [(begin, end)] if begin < end else []

    def first_fit(self, at: int, size: int) -> int | None:
        """The lowest offset from ``at`` on with ``size`` free bytes; None if there is none."""
        index = max(0, bisect_left(self._free, (at + 1, 0)) - 1)
        for begin, end in self._free[index:]:
            if end - max(begin, at) >= size:
                return max(begin, at)
        return None

    def allocate(self, at: int, size: int) -> None:
        """Allocates a block that ``first_fit`` returned."""
        index = bisect_left(self._free, (at + 1, 0)) - 1
        begin, end = self._free.pop(index)
        assert begin <= at and at + size <= end
        for part in ((begin, at), (at + size, end)):
            if part[0] < part[1]:
                insort(self._free, part)

    def release(self, at: int, size: int) -> None:
        """Releases a block and merges it with adjacent free blocks."""
        end = at + size
        index = bisect_left(self._free, (at, 0))
        if index < len(self._free) and self._free[index][0] == end:
            end = self._free.pop(index)[1]
        if index and self._free[index - 1][1] == at:
            index -= 1
            at = self._free.pop(index)[0]
        insort(self._free, (at, end))


def common_offset(spaces: Sequence[tuple[FreeSpace, int]]) -> int | None:
    """The lowest offset at which each space has the given number of free bytes; None if there is none."""
    at = 0
    while True:
        before = at
        for space, size in spaces:
            found = space.first_fit(at, size)
            if found is None:
                return None
            at = found
        if at == before:
            return at


__all__ = ["FreeSpace", "MemoryImage", "common_offset"]
