# SPDX-License-Identifier: Apache-2.0
"""Adjacency lists with labels: each line has a vertex, then the targets of its edges.

``read_adjlist`` returns the rows as arrays and the labels as a LabelTable, which decodes
a label on access. data/README.md specifies the format.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from gossamer import progress
from gossamer.native import check, lib

if TYPE_CHECKING:
    import mmap

FIRST_LINE = b"# gossamer adjacency list"
"""The start of the first line of such a file, by which a reader recognizes the format."""

_SLICE = 8 << 20
"""Bytes that one library call reads, about 40 ms: the latency of Ctrl-C and of the progress bar."""


class LabelTable(Sequence[str]):
    """The labels of a graph's vertices, in index order, in one block of UTF-8.

    Behaves as an immutable list of ``str``. ``find`` searches the block (0.1 ms for
    64,000 labels), so for many labels make a dictionary from ``enumerate``.
    """

    __slots__ = ("_block", "_offsets")

    def __init__(self, block: bytes | bytearray, offsets: np.ndarray[Any, np.dtype[np.uint64]]) -> None:
        """``block``: a line feed, then each label and a line feed. ``offsets``: vertices + 1, the start of each
        label, and the block's size."""
        self._block = block
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"vertex {index} of {len(self)}")
        return self._block[int(self._offsets[at]) : int(self._offsets[at + 1]) - 1].decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self.find(label) is not None

    def __repr__(self) -> str:
        return f"LabelTable({len(self)} labels)"

    def tolist(self) -> list[str]:
        """All labels as ``str``, at once (about 5 ms for 64,000)."""
        return self._block[1:-1].decode().split("\n") if len(self) else []

    def find(self, label: str) -> int | None:
        """The vertex of this label, or None."""
        try:
            wanted = label.encode()
        except UnicodeEncodeError:  # lone surrogates, as from an argument that is not UTF-8
            return None
        if b"\n" in wanted:
            return None
        at = self._block.find(b"\n" + wanted + b"\n")
        return None if at < 0 else int(np.searchsorted(self._offsets, np.uint64(at + 1)))

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        """As ``list.index``: ValueError if no vertex has the label."""
        found = self.find(value)
        if found is None or found not in range(len(self))[start:stop]:
            raise ValueError(f"no vertex has the label {value!r}")
        return found


class Adjacency(NamedTuple):
    """The contents of an adjacency list; vertices are numbered in the order of their lines."""

    offsets: np.ndarray[Any, np.dtype[np.uint64]]
    """vertices + 1: row v is ``targets[offsets[v] : offsets[v + 1]]``."""
    targets: np.ndarray[Any, np.dtype[np.uint32]]
    """One for each edge, ascending within a row."""
    labels: LabelTable


def _library() -> ctypes.CDLL:
    """The library with its adjacency list functions declared."""
    library = lib()
    handle, count, array = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p
    done = ctypes.POINTER(ctypes.c_uint64)
    library.gs_graph_adjlist_open.restype = handle
    library.gs_graph_adjlist_open.argtypes = [array, count, ctypes.c_char_p]
    library.gs_graph_adjlist_scan.restype = ctypes.c_int
    library.gs_graph_adjlist_scan.argtypes = [handle, count, done]
    library.gs_graph_adjlist_counts.restype = None
    library.gs_graph_adjlist_counts.argtypes = [handle, done, done, done]
    library.gs_graph_adjlist_fill.restype = ctypes.c_int
    library.gs_graph_adjlist_fill.argtypes = [handle, count, done, array, array, array, array]
    library.gs_graph_adjlist_close.restype = None
    library.gs_graph_adjlist_close.argtypes = [handle]
    return library


def read_adjlist(
    data: bytes | bytearray | memoryview | mmap.mmap | np.ndarray[Any, np.dtype[np.uint8]], path: str
) -> Adjacency:
    """Reads the decompressed text of an adjacency list.

    ``data`` is used in place and must not change during the call.
    ``path`` is the file's name in messages. Duplicate edges and self-loops are kept. Raises
    InputError("path:line: what; what to do") for invalid text: a vertex with two lines, a target
    without a line, control bytes, labels that are not UTF-8, no vertices, or counts
    that differ from those in the header.
    """
    library = _library()
    text = np.frombuffer(data, dtype=np.uint8)
    size = text.nbytes
    name = path.encode(errors="surrogateescape").replace(b"\0", b"?")
    handle = library.gs_graph_adjlist_open(text.ctypes.data, size, name)
    if not handle:
        check(-1)
    done = ctypes.c_uint64(0)
    try:
        with progress.bar(2 * size, "reading the graph", "B") as bar:
            before = 0
            while True:
                check(library.gs_graph_adjlist_scan(handle, _SLICE, ctypes.byref(done)))
                bar.update(done.value - before)
                before = done.value
                if before == size:
                    break
            vertices, edges, label_bytes = (ctypes.c_uint64() for _ in range(3))
            library.gs_graph_adjlist_counts(
                handle, ctypes.byref(vertices), ctypes.byref(edges), ctypes.byref(label_bytes)
            )
            offsets = np.empty(vertices.value + 1, dtype=np.uint64)
            targets = np.empty(edges.value, dtype=np.uint32)
            label_offsets = np.empty(vertices.value + 1, dtype=np.uint64)
            block = bytearray(label_bytes.value)
            arrays = (offsets, targets, label_offsets, np.frombuffer(block, dtype=np.uint8))
            pointers = [array.ctypes.data for array in arrays]
            before = 0
            while before < size:
                check(library.gs_graph_adjlist_fill(handle, _SLICE, ctypes.byref(done), *pointers))
                bar.update(done.value - before)
                before = done.value
    finally:
        library.gs_graph_adjlist_close(handle)
    return Adjacency(offsets, targets, LabelTable(block, label_offsets))


__all__ = ["FIRST_LINE", "Adjacency", "LabelTable", "read_adjlist"]
