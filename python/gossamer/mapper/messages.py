# SPDX-License-Identifier: Apache-2.0
"""Messages between threads: lists of edges at the receivers, and the messages that refer to them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.mapper import pack
from gossamer.mapper.layout import Layout, Problem, up
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.partition import Mapping


class EdgeLists:
    """The lists of edges: one for each sending slot and receiving thread, sorted by thread and slot.

    A slot is a vertex and a pin; slots are numbered thread by thread in the order of vertices, which is mostly the
    order in which they send. Per edge: ``target``, and ``order``, its number in the problem. Per list: ``heads``, its
    first edge; ``sizes``, its number of edges; ``slot``; ``sender``, the thread of the slot; ``to``, the receiving
    thread; ``own``, whether both threads are the same. Per thread: ``edges_of``, the number of edges that end there.
    """

    def __init__(self, problem: Problem, mapping: Mapping, machine: Machine) -> None:
        pins = problem.pins
        source, target = problem.ends()
        pin = np.concatenate(
            [np.empty(0, np.int64), *(np.full(len(one.targets), one.pin) for one in problem.relations)]
        )
        position = np.empty(problem.vertices, np.int64)
        position[mapping.order] = np.arange(problem.vertices)
        to, slot = mapping.thread[target], position[source] * pins + pin
        self.order = np.lexsort((mapping.local[target], slot, to))
        to, slot = to[self.order], slot[self.order]
        self.target = target[self.order]
        first = np.ones(len(to), bool)
        first[1:] = (to[1:] != to[:-1]) | (slot[1:] != slot[:-1])
        self.heads = np.flatnonzero(first)
        self.slot, self.to = slot[self.heads], to[self.heads]
        self.sizes = np.diff(np.append(self.heads, len(to)))
        self.sender = mapping.thread[mapping.order[self.slot // pins]]
        self.own = self.sender == self.to
        self.edges_of = np.bincount(to, minlength=machine.threads)

    def bytes(self, layout: Layout, which: Numbers) -> Numbers:
        """Aligned sizes of these lists at their receivers."""
        return up(layout.list + layout.edge * self.sizes[which], layout.unit)


@dataclass(frozen=True)
class Messages:
    """Messages between threads."""

    slot: Numbers
    """Sending slot of each message."""
    dest: Numbers
    """Address of the thread, or of the tile."""
    list: Numbers
    """For each list with a sender on another thread, its message."""
    named: NDArray[np.bool_]
    """For each of these lists: the key names its only vertex, and the list is not written."""
    place: Numbers
    """Offset of each message's lists: in the tables by key, or among the receiver's lists."""
    keys_of: Numbers
    """Bytes of each thread's table by key."""
    edges_of: Numbers
    """Bytes of each thread's lists by address."""
    mask: NDArray[np.uint64]
    sender: Numbers
    """For each message to a tile, the sending thread."""
    tile: Numbers
    """For each message to a tile, the tile, numbered board by board."""


def to_threads(lists: EdgeLists, machine: Machine, layout: Layout, *, changing: bool = False) -> Messages:
    """A message for each list; graphs that are ``changing`` store lists of one edge as well."""
    away = np.flatnonzero(~lists.own)
    slot, to = lists.slot[away], lists.to[away]
    named = (lists.sizes[away] == 1) & (layout.names_vertices and not changing)
    sizes = np.where(named, 0, lists.bytes(layout, away))
    edges_of = np.bincount(to, weights=sizes, minlength=machine.threads).astype(np.int64)
    place = np.cumsum(sizes) - sizes - (np.cumsum(edges_of) - edges_of)[to]
    none = np.zeros(machine.threads, np.int64)
    return Messages(
        slot,
        machine.addresses(to),
        np.arange(len(away)),
        named,
        place,
        none,
        edges_of,
        np.empty(0, np.uint64),
        none[:0],
        none[:0],
    )


def to_tiles(lists: EdgeLists, machine: Machine, layout: Layout) -> Messages:
    """A message for each tile, with an offset that is free in the tables of all its receivers."""
    away = np.flatnonzero(~lists.own)
    slot, to = lists.slot[away], lists.to[away]
    tile, thread = to // machine.tile_threads, to % machine.tile_threads
    sizes = lists.bytes(layout, away)
    order = np.lexsort((slot, tile))
    first = np.ones(len(order), bool)
    first[1:] = (tile[order][1:] != tile[order][:-1]) | (slot[order][1:] != slot[order][:-1])
    message = np.empty(len(order), np.int64)
    message[order] = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    heads = order[starts]
    mask = np.zeros(len(heads), np.uint64)
    np.bitwise_or.at(mask, message, np.uint64(1) << thread.astype(np.uint64))
    # Offsets are allocated tile by tile; messages, and their lists with them, are sorted by tile.
    place = np.empty(len(heads), np.int64)
    tiles, lists_at = tile[heads], np.append(starts, len(order))
    bounds = np.searchsorted(tiles, np.arange(machine.boards * machine.board_tiles + 1))
    for begin, end in itertools.pairwise(bounds):
        its = order[lists_at[begin] : lists_at[end]]
        place[begin:end] = layout.unit * pack.offsets(
            lists_at[begin : end + 1] - lists_at[begin],
            lists.sender[away[heads[begin:end]]],
            thread[its],
            sizes[its] // layout.unit,
        )
    keys_of = np.zeros(machine.threads, np.int64)
    np.maximum.at(keys_of, to, place[message] + sizes)
    sender = lists.sender[away[heads]]
    dest, none = machine.tile_addresses(tiles), np.zeros_like(keys_of)
    named = np.zeros(len(away), bool)
    return Messages(slot[heads], dest, message, named, place, keys_of, none, mask, sender, tiles)


__all__ = ["EdgeLists", "Messages", "to_threads", "to_tiles"]
