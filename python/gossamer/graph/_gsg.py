# SPDX-License-Identifier: Apache-2.0
"""The binary form (.gsg): a header, a table of sections, and the arrays as they are in memory.

Opening maps the file, compares every checksum and looks at every row, on all cores: a damaged
file is refused before anybody computes with it. Numbers are little-endian, sections start at multiples of 64
bytes. The layout:

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
48     8     bytes of the whole file
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
_ALIGN = 64
_SYMMETRIC, _BASE_1 = 1, 2
_OUT, _INTO, _NUMBERS, _STARTS, _TEXT, _NAME = 1, 4, 7, 8, 9, 10
"""Kinds of sections; out and in have three each: offsets, targets, weights."""
_NAMES = {
    1: "out offsets", 2: "out targets", 3: "out weights", 4: "in offsets", 5: "in targets", 6: "in weights",
    7: "number labels", 8: "label starts", 9: "label text", 10: "name",
}  # fmt: skip


def _crc(header: bytes, table: bytes) -> int:
    return zlib.crc32(table, zlib.crc32(header[:44] + bytes(4) + header[48:]))


def write(graph: Graph, path: str | os.PathLike[str], *, both: bool = True) -> None:
    """Writes the file, whole or not at all. ``both``: with the edges by destination, too."""
    if sys.byteorder != "little":
        raise InputError("a .gsg is written on little-endian machines alone; write .mtx")
    sections: list[tuple[int, np.ndarray[Any, Any] | bytes | bytearray]] = []
    for first, rows in ((_OUT, graph.out), (_INTO, graph.into if both and not graph.symmetric else None)):
        if rows is not None:
            sections += [(first, rows.offsets), (first + 1, rows.targets)]
            sections += [(first + 2, rows.weights)] if rows.weights is not None else []
    if isinstance(graph.labels, np.ndarray):
        sections.append((_NUMBERS, graph.labels))
    elif graph.labels is not None:
        starts, text = label_block(graph.labels)
        sections += [(_STARTS, starts), (_TEXT, text)]
    sections.append((_NAME, os.fsencode(graph.name)))
    table = b""
    end = _HEADER.size + _SECTION.size * len(sections)
    places = []
    for kind, data in sections:
        view = memoryview(np.frombuffer(data, np.uint8).data if len(data) else b"")
        place = -(-end // _ALIGN) * _ALIGN
        places.append((place, view))
        table += _SECTION.pack(kind, zlib.crc32(view), place, len(view))
        end = place + len(view)
    flags = (_SYMMETRIC if graph.symmetric else 0) | (_BASE_1 if graph.base else 0)
    kind = _native.weight_type(graph.out.weights)
    fields = (MAGIC, _VERSION, _ORDER, graph.vertices, graph.edges, flags, kind, len(sections))
    header = _HEADER.pack(*fields, 0, end)
    header = _HEADER.pack(*fields, _crc(header, table), end)
    with whole_file(path) as file:
        native.check_mapped()
        file.write(header + table)
        for place, view in places:
            file.write(bytes(place - file.tell()))
            for start in range(0, len(view), 1 << 24):  # pieces, so that Ctrl-C is heard
                # A copy: of a file that is mapped and was cut short, the system could not write what is gone.
                file.write(bytes(view[start : start + (1 << 24)]))
        native.check_mapped()


def label_block(labels: Sequence[str]) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], bytes | bytearray]:
    """Text labels as one block: a newline, then each label and a newline; and where each starts."""
    if isinstance(labels, LabelTable):
        return labels._offsets, labels._block
    words = [label.encode() for label in labels]
    if any(b"\n" in word for word in words):
        raise InputError("a vertex label has a line feed in it; rename the vertex")
    starts = np.empty(len(words) + 1, np.uint64)
    starts[0] = 1
    np.cumsum([len(word) + 1 for word in words], out=starts[1:])
    starts[1:] += np.uint64(1)
    return starts, b"\n" + b"".join(word + b"\n" for word in words)


def read(path: str) -> Graph:
    """Maps a file. Raises InputError where anything in it is damaged or cannot be a graph."""

    def bad(what: str) -> InputError:
        return InputError(f"{path}: {what}; make the file again with: ./gossamer graph convert")

    if sys.byteorder != "little":
        raise InputError(f"{path}: a .gsg can be mapped on little-endian machines alone; convert it to .mtx on one")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _HEADER.size:
                raise bad(f"{size} bytes are too few for a .gsg")
            area = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be mapped: {error}; a .gsg must be an ordinary file") from None
    forget = native.watch_mapping(area, path)
    try:
        return _mapped(path, area, bad)
    except BaseException:
        # An error may live long, and keeps what it was raised over: nobody uses this mapping any more.
        forget()
        raise


def _mapped(path: str, area: mmap.mmap, bad: Callable[[str], InputError]) -> Graph:
    """The graph of a mapped file; ``bad`` makes an error of what is wrong."""
    size = len(area)
    header = area[: _HEADER.size]
    magic, version, order, n, m, flags, weight_type, count, crc, length = _HEADER.unpack(header)
    if magic != MAGIC:
        raise bad("no .gsg file (it starts otherwise)")
    if order != _ORDER:
        raise bad("written in another byte order")
    if version != _VERSION:
        raise bad(f"version {version} of the form; this program reads version {_VERSION}")
    if count > 64 or _HEADER.size + count * _SECTION.size > size:
        raise bad("the table of sections is damaged")
    table = area[_HEADER.size : _HEADER.size + count * _SECTION.size]
    if _crc(header, table) != crc:
        raise bad("the header is damaged (its checksum is wrong)")
    if length != size:
        raise bad(f"{size} bytes where the header says {length}: the file is cut short or has something after it")
    if not 0 < n <= MOST_VERTICES or (weight_type and weight_type not in _native.WEIGHT_TYPES):
        raise bad("the header has values that cannot be")
    places = {kind: (at, at + size_of) for kind, _, at, size_of in _SECTION.iter_unpack(table)}
    if len(places) != count or not _NAMES.keys() >= places.keys():
        raise bad("the table of sections has a kind twice, or one that this program does not know")
    for kind, (_, end) in places.items():
        if end > size:
            raise bad(f"the section of {_NAMES[kind]} goes beyond the end of the file")
    for kind in _damaged(area, table):
        raise bad(f"the section of {_NAMES[kind]} is damaged (its checksum is wrong)")

    def array(kind: int, dtype: Any, elements: int) -> np.ndarray[Any, Any]:
        begin, end = places.get(kind, (0, 0))
        wanted = elements * np.dtype(dtype).itemsize
        if kind not in places or end - begin != wanted or end > size or begin % _ALIGN:
            raise bad(f"the section of {_NAMES[kind]} is missing or has a wrong size")
        return np.frombuffer(area, dtype, elements, begin)

    def rows(first: int) -> CSR:
        offsets = array(first, np.uint64, n + 1)
        targets = array(first + 1, np.uint32, m)
        try:
            _native.call("check_rows", n, m, *map(_native.pointer, (offsets, targets)), 0)
        except InputError as error:
            raise bad(f"{_NAMES[first]}: {error}") from None
        return CSR(offsets, targets, array(first + 2, _native.WEIGHT_TYPES[weight_type], m) if weight_type else None)

    labels: Labels | None = None
    if _NUMBERS in places:
        numbers = array(_NUMBERS, np.int64, n)
        if (numbers[1:] <= numbers[:-1]).any():
            raise bad(f"the {_NAMES[_NUMBERS]} do not ascend")
        labels = numbers
    elif _STARTS in places and _TEXT in places:
        begin, end = places[_TEXT]
        labels = _labels(area[begin:end], array(_STARTS, np.uint64, n + 1))
        if labels is None:
            raise bad(f"the section of {_NAMES[_TEXT]} is no list of labels")
    elif _STARTS in places or _TEXT in places:
        raise bad("one half of the labels is missing")
    begin, end = places.get(_NAME, (0, 0))
    out, into = rows(_OUT), rows(_INTO) if _INTO in places else None
    native.check_mapped()
    # The pages that the checks have touched stay in the system's cache, and are ours when somebody looks at them.
    area.madvise(mmap.MADV_DONTNEED)
    return Graph(
        out=out,
        into=into,
        symmetric=bool(flags & _SYMMETRIC),
        labels=labels,
        base=1 if flags & _BASE_1 else 0,
        name=os.fsdecode(area[begin:end]) or path,
    )


_PIECE = 1 << 24
"""Bytes that are read for a checksum at a time, so that Ctrl-C is heard."""


def _damaged(area: mmap.mmap, table: bytes) -> list[int]:
    """The kinds of sections whose checksum is wrong; all cores read, a section each."""

    def sound(section: tuple[int, int, int, int]) -> bool:
        _, wanted, at, size = section
        found = 0
        with memoryview(area) as view:
            for start in range(at, at + size, _PIECE):
                found = crc32(view[start : min(start + _PIECE, at + size)], found)
        return bool(found == wanted)

    crc32 = zlib_module().crc32
    # The largest first: the others fit beside it.
    sections = sorted(_SECTION.iter_unpack(table), key=lambda section: -section[3])
    verdicts: Iterator[bool] = map(sound, sections)
    with contextlib.ExitStack() as stack:
        if sum(section[3] for section in sections) >= _PIECE:
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor())
            with contextlib.suppress(RuntimeError):  # no threads to be had: this one reads all
                verdicts = pool.map(sound, sections)
        return [section[0] for section, good in zip(sections, verdicts, strict=True) if not good]


def _labels(block: bytes, starts: np.ndarray[Any, np.dtype[np.uint64]]) -> LabelTable | None:
    """The table, or None where text and places do not make one: a line feed around each label, none in it."""
    text = np.frombuffer(block, np.uint8)
    feeds = np.flatnonzero(text == ord("\n")).astype(np.uint64)
    # Each feed ends a label, and the next starts behind it.
    if len(feeds) != len(starts) or not np.array_equal(feeds + np.uint64(1), starts) or int(starts[-1]) != len(block):
        return None
    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    return LabelTable(block, starts)


__all__ = ["MAGIC", "label_block", "read", "write"]
