# SPDX-License-Identifier: Apache-2.0
"""What threads send each other: lists of edges at the receivers, and the messages that lead to them."""

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
    """The lists of edges: one for each slot and thread with receivers, sorted by both.

    A slot is a sender, a vertex and a pin; slots are numbered thread by thread in the order in which vertices stand
    there, which is the one in which they mostly send. By edge: ``target``, and ``order``, its number in the problem.
    By list: ``heads``, its first edge; ``sizes``, edges; ``slot``; ``sender``, the thread of the slot; ``to``, the
    thread; ``own``, whether both are the same. By thread: ``edges_of``, how many edges end there.
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
        """What these lists take at their receivers, aligned."""
        return up(layout.list + layout.edge * self.sizes[which], layout.unit)


@dataclass(frozen=True)
class Sends:
    """Messages between threads."""

    slot: Numbers
    """Sender of each."""
    dest: Numbers
    """Address of the thread, or of the tile."""
    list: Numbers
    """For each list that is reached from elsewhere, its message."""
    named: NDArray[np.bool_]
    """Of these lists: the key is their one vertex, and the list is not written."""
    place: Numbers
    """Where each finds its lists: in the tables by key, or among the receiver's lists."""
    keys_of: Numbers
    """Bytes of each thread's table by key."""
    edges_of: Numbers
    """Bytes of each thread's lists by address."""
    mask: NDArray[np.uint64]
    sender: Numbers
    """Of each message to a tile its thread;"""
    tile: Numbers
    """and the tile, numbered through all boards."""


def to_threads(lists: EdgeLists, machine: Machine, layout: Layout, *, changing: bool = False) -> Sends:
    """A message for each list; graphs that are ``changing`` keep lists of one edge."""
    away = np.flatnonzero(~lists.own)
    slot, to = lists.slot[away], lists.to[away]
    named = (lists.sizes[away] == 1) & (layout.names_vertices and not changing)
    sizes = np.where(named, 0, lists.bytes(layout, away))
    edges_of = np.bincount(to, weights=sizes, minlength=machine.threads).astype(np.int64)
    place = np.cumsum(sizes) - sizes - (np.cumsum(edges_of) - edges_of)[to]
    none = np.zeros(machine.threads, np.int64)
    return Sends(
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


def to_tiles(lists: EdgeLists, machine: Machine, layout: Layout) -> Sends:
    """A message for each tile, with a place that is free in the tables of all its receivers."""
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
    # Keys are those of a tile; messages are sorted by tile, and their lists with them.
    place = np.empty(len(heads), np.int64)
    tiles, lists_at = tile[heads], np.append(starts, len(order))
    bounds = np.searchsorted(tiles, np.arange(machine.boards * machine.board_tiles + 1))
    for begin, end in itertools.pairwise(bounds):
        its = order[lists_at[begin] : lists_at[end]]
        place[begin:end] = layout.unit * pack.places(
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
    return Sends(slot[heads], dest, message, named, place, keys_of, none, mask, sender, tiles)


__all__ = ["EdgeLists", "Sends", "to_threads", "to_tiles"]
