# SPDX-License-Identifier: Apache-2.0
"""Multicast trees over the links between boards (``include/gossamer/mapper/trees.h``)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import native, routes
from gossamer.mapper.machine import Numbers

_TRIES = ((20_000, 64), (200_000, 16), (1 << 62, 2))
"""(maximum number of trees, attempts at each tree). An attempt takes some 15 microseconds on a rack of 48 boards."""


@dataclass(frozen=True)
class Trees:
    """Nodes of all trees, parents first; tree t has the nodes ``first[t]`` to ``first[t + 1] - 1``."""

    first: Numbers
    board: Numbers
    parent: Numbers
    """Index within the tree; -1 for the source, which is the first node."""
    link: Numbers
    """Link of the parent's board that leads to the node, and ``vc`` its virtual channel; -1 for the source."""
    vc: Numbers
    ends: Numbers
    """[tree, board]: the node at which the copy for a board leaves the tree; -1 if there is no copy."""
    links: int
    """Links of a board."""


class _Channels(ctypes.Structure):
    _fields_ = [
        ("boards", ctypes.c_uint32),
        ("links", ctypes.c_uint32),
        ("vcs", ctypes.c_uint32),
        ("far", ctypes.c_void_p),
        ("order", ctypes.c_void_p),
    ]


class _Made(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("first", "board", "parent", "channel", "ends")]


def multicast_trees(turns: routes.TreeTurns, sources: Numbers, wanted: NDArray[np.bool_]) -> Trees:
    """A tree with few links from each source to the boards in its row of ``wanted``. Raises InputError."""
    boards, links, vcs = turns.order.shape
    trees = len(sources)
    far, order = (np.ascontiguousarray(one, np.int32) for one in (turns.far, turns.order))
    source, boards_wanted = np.ascontiguousarray(sources, np.uint32), np.ascontiguousarray(wanted, np.uint8)
    channels = _Channels(boards, links, vcs, far.ctypes.data, order.ctypes.data)
    tries = next(tries for most, tries in _TRIES if trees <= most)
    made = ctypes.POINTER(_Made)()
    library = native.lib()
    native.check(
        library.gs_map_trees_make(
            ctypes.byref(channels),
            ctypes.c_uint64(trees),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_void_p(boards_wanted.ctypes.data),
            ctypes.c_uint32(tries),
            0,
            ctypes.byref(made),
        )
    )
    try:
        first = _copy(made.contents.first, trees + 1, np.uint64)
        count = int(first[-1])
        channel = _copy(made.contents.channel, count, np.int32)
        lane = np.where(channel < 0, -1, channel % (links * vcs))
        return Trees(
            first,
            _copy(made.contents.board, count, np.uint32),
            _copy(made.contents.parent, count, np.int32),
            np.where(channel < 0, -1, lane // vcs),
            np.where(channel < 0, -1, lane % vcs),
            _copy(made.contents.ends, trees * boards, np.int32).reshape(trees, boards),
            links,
        )
    finally:
        library.gs_map_trees_free(made)


def _copy(address: int | None, count: int, kind: type[Any]) -> Numbers:
    if not count or not address:
        return np.zeros(count, np.int64)
    size = np.dtype(kind).itemsize
    held = (ctypes.c_uint8 * (count * size)).from_address(address)
    return np.frombuffer(bytes(held), kind).astype(np.int64)


__all__ = ["Trees", "multicast_trees"]
