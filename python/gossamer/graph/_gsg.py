# SPDX-License-Identifier: Apache-2.0
"""The binary format (.gsg): a header, a table of sections, and the arrays in their memory layout.

Opening maps the file, and checks every checksum and every row on all cores, so a corrupt file is
rejected before any computation. Numbers are little-endian, sections start at multiples of 64 bytes.
The layout:

====== ===== ==================================================================
offset bytes
====== ===== ==================================================================
0      8     "GOSSGRPH"
8      4     version, 1
12     4     0x01020304 (byte order)
16     8     vertices
24     8     edges
32     4     flags: 1 symmetric, 2 labels start at 1
36     4     type of weights (gs_type of include/gossamer/abi.h), 0 for none
40     4     number of sections
44     4     CRC-32 of header and table, computed with this field 0
48     8     size of the file in bytes
56     8     0
64     32 n  table: kind (4), CRC-32 of the section (4), offset (8), bytes (8), 0 (8)
====== ===== ==================================================================
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import mmap
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gossamer import native
from gossamer.errors import InputError
from gossamer.files import whole_file
from gossamer.graph import _native
from gossamer.graph._adjlist import LabelTable
from gossamer.graph._graph import MOST_VERTICES, Graph, Labels
from gossamer.graph._rows import CSR
from gossamer.graph._stream import zlib_module

MAGIC: Final = b"GOSSGRPH"
_VERSION = 1
_ORDER = 0x01020304
_HEADER = struct.Struct("<8sIIQQIIIIQ8x")
_SECTION = struct.Struct("<IIQQ8x")
_MOST_SECTIONS = 64
HEADER_BYTES: Final = _HEADER.size + _MOST_SECTIONS * _SECTION.size
"""The header and the largest table of sections."""
_ALIGN = 64
_SYMMETRIC, _BASE_1 = 1, 2
OUT, INTO, NUMBERS, STARTS, TEXT, NAME = 1, 4, 7, 8, 9, 10
"""Kinds of sections; out and in have three each: offsets, targets, weights."""
_NAMES = {
    1: "out offsets", 2: "out targets", 3: "out weights", 4: "in offsets", 5: "in targets", 6: "in weights",
    7: "number labels", 8: "label starts", 9: "label text", 10: "name",
}  # fmt: skip


def _crc(header: bytes, table: bytes) -> int:
    return zlib.crc32(table, zlib.crc32(header[:44] + bytes(4) + header[48:]))


def write(graph: Graph, path: str | os.PathLike[str], *, both: bool = True) -> None:
    """Writes the file atomically. ``both``: also with the edges by destination."""
    if sys.byteorder != "little":
        raise InputError("a .gsg can only be written on little-endian machines; write .mtx")
    sections: list[tuple[int, np.ndarray[Any, Any] | bytes | bytearray]] = []
    for first, rows in ((OUT, graph.out), (INTO, graph.into if both and not graph.symmetric else None)):
        if rows is not None:
            sections += [(first, rows.offsets), (first + 1, rows.targets)]
            sections += [(first + 2, rows.weights)] if rows.weights is not None else []
    if isinstance(graph.labels, np.ndarray):
        sections.append((NUMBERS, graph.labels))
    elif graph.labels is not None:
        starts, text = label_block(graph.labels)
        sections += [(STARTS, starts), (TEXT, text)]
    sections.append((NAME, os.fsencode(graph.name)))
    table = b""
    end = _HEADER.size + _SECTION.size * len(sections)
    positions = []
    for kind, data in sections:
        view = memoryview(np.frombuffer(data, np.uint8).data if len(data) else b"")
        position = -(-end // _ALIGN) * _ALIGN
        positions.append((position, view))
        table += _SECTION.pack(kind, zlib.crc32(view), position, len(view))
        end = position + len(view)
    flags = (_SYMMETRIC if graph.symmetric else 0) | (_BASE_1 if graph.base else 0)
    kind = _native.weight_type(graph.out.weights)
    fields = (MAGIC, _VERSION, _ORDER, graph.vertices, graph.edges, flags, kind, len(sections))
    header = _HEADER.pack(*fields, 0, end)
    header = _HEADER.pack(*fields, _crc(header, table), end)
    with whole_file(path) as file:
        native.check_mapped()
        file.write(header + table)
        for position, view in positions:
            file.write(bytes(position - file.tell()))
            for start in range(0, len(view), 1 << 24):  # in pieces, so that Ctrl-C takes effect
                # A copy, because writing directly from a mapped file that was truncated would fail in the kernel.
                file.write(bytes(view[start : start + (1 << 24)]))
        native.check_mapped()


def label_block(labels: Sequence[str]) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], bytes | bytearray]:
    """Text labels as one block, a newline, then each label and a newline; and the start of each label."""
    if isinstance(labels, LabelTable):
        return labels._offsets, labels._block
    encoded = [label.encode() for label in labels]
    if any(b"\n" in label for label in encoded):
        raise InputError("a vertex label contains a line feed; rename the vertex")
    starts = np.empty(len(encoded) + 1, np.uint64)
    starts[0] = 1
    np.cumsum([len(label) + 1 for label in encoded], out=starts[1:])
    starts[1:] += np.uint64(1)
    return starts, b"\n" + b"".join(label + b"\n" for label in encoded)


def read(path: str) -> Graph:
    """Maps a file. Raises InputError if it is corrupt or not a valid graph."""

    def bad(what: str) -> InputError:
        return InputError(f"{path}: {what}; make the file again with: ./gossamer graph convert")

    if sys.byteorder != "little":
        raise InputError(f"{path}: a .gsg can only be mapped on little-endian machines; convert it to .mtx on one")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _HEADER.size:
                raise bad(f"a .gsg cannot have {size} bytes only")
            area = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be mapped: {error}; a .gsg must be a regular file") from None
    forget = native.watch_mapping(area, path)
    try:
        return _mapped(path, area, bad)
    except BaseException:
        # The exception may keep the mapping alive for long, but nothing uses it any more.
        forget()
        raise


@dataclass(frozen=True)
class Layout:
    """The header of a file."""

    vertices: int
    edges: int
    symmetric: bool
    base: int
    weight_type: int
    sections: tuple[tuple[int, int, int, int], ...]
    """Kind, CRC-32, first byte and end of each section."""
    positions: dict[int, tuple[int, int]]
    """First byte and end by kind."""


def layout(head: bytes, size: int, bad: Callable[[str], InputError]) -> Layout:
    """The layout of a file of ``size`` bytes, from its first HEADER_BYTES; ``bad`` makes the error from a message."""
    if size < _HEADER.size:
        raise bad(f"a .gsg cannot have {size} bytes only")
    header = head[: _HEADER.size]
    magic, version, order, n, m, flags, weight_type, count, crc, length = _HEADER.unpack(header)
    if magic != MAGIC:
        raise bad("not a .gsg file (wrong signature)")
    if order != _ORDER:
        raise bad("has another byte order")
    if version != _VERSION:
        raise bad(f"has version {version} of the format; this program reads version {_VERSION}")
    if count > _MOST_SECTIONS or _HEADER.size + count * _SECTION.size > size:
        raise bad("the table of sections is corrupt")
    table = head[_HEADER.size : _HEADER.size + count * _SECTION.size]
    if _crc(header, table) != crc:
        raise bad("the header is corrupt (its checksum is wrong)")
    if length != size:
        raise bad(f"has {size} bytes, but its header says {length}: the file is truncated, or has trailing data")
    if not 0 < n <= MOST_VERTICES or (weight_type and weight_type not in _native.WEIGHT_TYPES):
        raise bad("the header has invalid values")
    sections = tuple((kind, expected, at, at + bytes_) for kind, expected, at, bytes_ in _SECTION.iter_unpack(table))
    positions = {kind: (at, end) for kind, _, at, end in sections}
    if len(positions) != count or not _NAMES.keys() >= positions.keys():
        raise bad("the table of sections has a duplicate kind, or an unknown one")
    for kind, (_, end) in positions.items():
        if end > size:
            raise bad(f"the section of {_NAMES[kind]} extends beyond the end of the file")
    return Layout(n, m, bool(flags & _SYMMETRIC), 1 if flags & _BASE_1 else 0, weight_type, sections, positions)


def _mapped(path: str, area: mmap.mmap, bad: Callable[[str], InputError]) -> Graph:
    """The graph of a mapped file; ``bad`` makes the error from a message."""
    size = len(area)
    found = layout(area[:HEADER_BYTES], size, bad)
    n, m, weight_type, positions = found.vertices, found.edges, found.weight_type, found.positions
    for kind in _corrupt(area, found.sections):
        raise bad(f"the section of {_NAMES[kind]} is corrupt (its checksum is wrong)")

    def array(kind: int, dtype: Any, elements: int) -> np.ndarray[Any, Any]:
        begin, end = positions.get(kind, (0, 0))
        expected = elements * np.dtype(dtype).itemsize
        if kind not in positions or end - begin != expected or end > size or begin % _ALIGN:
            raise bad(f"the section of {_NAMES[kind]} is missing, or has a wrong size")
        return np.frombuffer(area, dtype, elements, begin)

    def rows(first: int) -> CSR:
        offsets = array(first, np.int64, n + 1)
        targets = array(first + 1, np.uint32, m)
        try:
            _native.call("check_rows", n, m, *map(_native.pointer, (offsets, targets)), 0)
        except InputError as error:
            raise bad(f"{_NAMES[first]}: {error}") from None
        return CSR(offsets, targets, array(first + 2, _native.WEIGHT_TYPES[weight_type], m) if weight_type else None)

    labels: Labels | None = None
    if NUMBERS in positions:
        numbers = array(NUMBERS, np.int64, n)
        if (numbers[1:] <= numbers[:-1]).any():
            raise bad(f"the {_NAMES[NUMBERS]} do not ascend")
        labels = numbers
    elif STARTS in positions and TEXT in positions:
        begin, end = positions[TEXT]
        labels = _labels(area[begin:end], array(STARTS, np.uint64, n + 1))
        if labels is None:
            raise bad(f"the section of {_NAMES[TEXT]} is not a list of labels")
    elif STARTS in positions or TEXT in positions:
        raise bad("one of the two sections of labels is missing")
    begin, end = positions.get(NAME, (0, 0))
    out, into = rows(OUT), rows(INTO) if INTO in positions else None
    native.check_mapped()
    # The pages touched by the checks stay in the page cache, and count as this process's memory only on access.
    area.madvise(mmap.MADV_DONTNEED)
    return Graph(
        out=out,
        into=into,
        symmetric=found.symmetric,
        labels=labels,
        base=found.base,
        name=os.fsdecode(area[begin:end]) or path,
    )


_PIECE = 1 << 24
"""Bytes of a checksum call, so that Ctrl-C takes effect between calls."""


def _corrupt(area: mmap.mmap, sections: Sequence[tuple[int, int, int, int]]) -> list[int]:
    """The kinds of sections with a wrong checksum; sections are checked in parallel."""

    def valid(section: tuple[int, int, int, int]) -> bool:
        _, expected, at, end = section
        found = 0
        with memoryview(area) as view:
            for start in range(at, end, _PIECE):
                found = crc32(view[start : min(start + _PIECE, end)], found)
        return bool(found == expected)

    crc32 = zlib_module().crc32
    # The largest first, so that the others run in parallel with it.
    sections = sorted(sections, key=lambda section: section[2] - section[3])
    verdicts: Iterator[bool] = map(valid, sections)
    with contextlib.ExitStack() as stack:
        if sum(section[3] - section[2] for section in sections) >= _PIECE:
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor())
            with contextlib.suppress(RuntimeError):  # no threads available: this thread checks all
                verdicts = pool.map(valid, sections)
        return [section[0] for section, good in zip(sections, verdicts, strict=True) if not good]


def _labels(block: bytes, starts: np.ndarray[Any, np.dtype[np.uint64]]) -> LabelTable | None:
    """The table; None if text and starts are inconsistent: line feeds must surround each label, and be in none."""
    text = np.frombuffer(block, np.uint8)
    feeds = np.flatnonzero(text == ord("\n")).astype(np.uint64)
    # Each line feed ends a label, and the next label starts after it.
    if len(feeds) != len(starts) or not np.array_equal(feeds + np.uint64(1), starts) or int(starts[-1]) != len(block):
        return None
    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    return LabelTable(block, starts)


__all__ = [
    "HEADER_BYTES",
    "INTO",
    "MAGIC",
    "NAME",
    "NUMBERS",
    "OUT",
    "STARTS",
    "TEXT",
    "Layout",
    "label_block",
    "layout",
    "read",
    "write",
]
