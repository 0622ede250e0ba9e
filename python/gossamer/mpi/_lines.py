# SPDX-License-Identifier: Apache-2.0
"""Source lines of addresses in a program of this machine, from its line table (DWARF 4, section ``.debug_line``).

The core installation has no reader of debug information, and a program may run where no compiler is installed.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer import step_cache
from gossamer.diagnostics import relative

_VERSION = 4
_Row = tuple[int, str, int]
"""Address, file and line; the line of the end of a sequence is 0."""


class Lines:
    """The line table of an executable. Without debug information it has no rows."""

    def __init__(self, executable: Path, sources: Sequence[Path]) -> None:
        """Files of ``sources`` are named as given there."""
        self._names = {os.path.realpath(source): str(source) for source in sources}
        rows: list[_Row] = []
        with contextlib.suppress(OSError, IndexError, ValueError, struct.error):
            rows = sorted(
                _rows(_section(executable.read_bytes(), b".debug_line")), key=lambda row: (row[0], row[2] > 0)
            )
        self._rows = rows
        self._starts = [row[0] for row in rows]

    def place(self, address: int) -> tuple[str, int] | None:
        """File and line of an address; None if they are unknown."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or not self._rows[at][2]:
            return None
        _, file, line = self._rows[at]
        real = os.path.realpath(step_cache.real_path(file))
        return self._names.get(real) or relative(Path(real)), line


def _section(image: bytes, name: bytes) -> bytes:
    """A section of a 64-bit little-endian ELF file; empty if it has none."""
    if image[:6] != b"\x7fELF\x02\x01":
        return b""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * size) for i in range(count)]
    text = headers[names][4]
    for header in headers:
        start = text + header[0]
        if image[start : image.index(b"\0", start)] == name:
            return image[header[4] : header[4] + header[5]]
    return b""


class _Reader:
    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self.at = data, at

    def number(self, code: str) -> int:
        (value,) = struct.unpack_from("<" + code, self._data, self.at)
        self.at += struct.calcsize(code)
        return int(value)

    def unsigned(self) -> int:
        """A number in LEB128."""
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def signed(self) -> int:
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if byte & 0x40 else value

    def text(self) -> str:
        end = self._data.index(b"\0", self.at)
        found = self._data[self.at : end].decode(errors="replace")
        self.at = end + 1
        return found


def _rows(data: bytes) -> Iterator[_Row]:
    at = 0
    while at < len(data):
        unit = _Reader(data, at)
        at += 4 + unit.number("I")
        if unit.number("H") == _VERSION:
            yield from _unit(unit, at)


def _unit(unit: _Reader, end: int) -> Iterator[_Row]:
    """The rows of a compilation unit's program."""
    length = unit.number("I")
    begin = unit.at + length
    step = unit.number("B")
    unit.number("B")  # operations of an instruction: 1
    unit.number("B")  # whether rows are statements at first
    line_base, line_range, first_special = unit.number("b"), unit.number("B"), unit.number("B")
    operands = [unit.number("B") for _ in range(first_special - 1)]
    folders, files = [""], [""]
    while folder := unit.text():
        folders.append(folder)
    while name := unit.text():
        files.append(os.path.join(folders[unit.unsigned()], name))
        unit.unsigned(), unit.unsigned()
    unit.at = begin
    address, file, line = 0, 1, 1
    while unit.at < end:
        code = unit.number("B")
        if code >= first_special:
            code -= first_special
            address += code // line_range * step
            line += line_base + code % line_range
            yield address, files[file], line
        elif code == 0:
            size = unit.unsigned()
            after = unit.at + size
            extended = unit.number("B")
            if extended == 1:
                yield address, files[file], 0
                address, file, line = 0, 1, 1
            elif extended == 2:
                address = unit.number("Q")
            unit.at = after
        elif code == 1:
            yield address, files[file], line
        elif code == 2:
            address += unit.unsigned() * step
        elif code == 3:
            line += unit.signed()
        elif code == 4:
            file = unit.unsigned()
        elif code == 8:
            address += (255 - first_special) // line_range * step
        elif code == 9:
            address += unit.number("H")
        else:
            for _ in range(operands[code - 1]):
                unit.unsigned()


__all__ = ["Lines"]
