# SPDX-License-Identifier: Apache-2.0
"""A walk over the tables that threads and multicast routers read: what crosses links, and how many threads are reached.

It reads entries of vertices and beats of records as bytes, by the layouts of the softswitch and of rtl/multicast, and
shares no code with the mapper that made them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer import mapper, routes
from gossamer.errors import RunDied

Numbers = NDArray[np.int64]
_DRAM = 0x4000_0000
_TILE_HALF, _ROUTER = 4, 5


@dataclass
class Walked:
    """What one message of every vertex comes to."""

    sent: int = 0
    """Messages that threads send."""
    crossings: int = 0
    """Links between boards that messages and their copies cross."""
    reached: int = 0
    """Threads that messages from other threads reach."""


def hops(topology: routes.Topology, made: routes.Tables) -> Numbers:
    """Links of the route from each board to each other one."""
    far = _far(topology)
    boards = len(topology.cluster.boards)
    found = np.zeros((boards, boards), np.int64)
    for source in range(boards):
        for destination in range(boards):
            here = source
            while here != destination:
                here = far[here, int(made.port[here, destination])]
                found[source, destination] += 1
    return found


def walk(
    tables: mapper.Tables, topology: routes.Topology, made: routes.Tables, layout: mapper.Layout, *, by_mask: bool
) -> Walked:
    """Follows every entry of every vertex, of graphs with one pin. Raises RunDied where records mean nothing."""
    machine = tables.machine
    config, boards = machine.config, machine.boards
    drams = machine.memories // boards
    memory: list[list[tuple[int, bytes]]] = [[] for _ in range(machine.memories)]
    for number, address, data in tables.images():
        memory[number].append((address, data))
    distance = hops(topology, made)
    board_lsb = config.log2_threads_per_tile + config.log2_mesh_width + config.log2_mesh_height
    found = Walked()
    board: list[int] = []
    key: list[int] = []

    def words(number: int, address: int, count: int) -> Numbers:
        for begin, data in memory[number]:
            if begin <= address and address + 4 * count <= begin + len(data):
                return np.frombuffer(data, "<u4", count, address - begin).astype(np.int64)
        raise RunDied(f"nothing was written to {address:#x} of memory {number}")

    for number, blocks in tables.blocks():
        source = number // drams
        for header in np.frombuffer(blocks, "<u4"):
            if not header:
                continue
            count, _, _, _, outs = words(number, int(header), 5).tolist()
            bounds = words(number, outs, count + 1).tolist()
            for at, end in itertools.pairwise(bounds):
                entries = at + layout.list + int(words(number, at, 1)[0]) % (1 << 8 * layout.offset)
                entries += -entries % layout.unit
                if entries == end:
                    continue
                rows = words(number, entries, (end - entries) // 4).reshape(-1, 4 if by_mask else 2)
                found.sent += len(rows)
                if by_mask:
                    keyed = rows[rows[:, 0] == 0, 2].tolist()
                    board += [source] * len(keyed)
                    key += keyed
                    rows = rows[rows[:, 0] != 0]
                    found.reached += int(np.bitwise_count(rows[:, 2:]).sum())
                else:
                    found.reached += len(rows)
                found.crossings += int(distance[source, rows[:, 0] >> board_lsb & 0xFFF].sum())
    _follow(found, [dict(memory[one * drams]) for one in range(boards)], _far(topology), np.array(board), np.array(key))
    return found


def _follow(
    found: Walked, memory: list[dict[int, bytes]], far: Mapping[tuple[int, int], int], board: Numbers, key: Numbers
) -> None:
    """All keys at once, a link further in each round."""
    over = np.full((len(memory), 16), -1, np.int64)
    for (here, link), there in far.items():
        over[here, link] = there
    rounds = 0
    while len(board):
        rounds += 1
        if rounds > len(memory):
            raise RunDied("the records of the multicast routers do not come to an end")
        next_board, next_key = [], []
        for one in range(len(memory)):
            keys = key[board == one]
            if not len(keys):
                continue
            first = int((keys >> 5).min())
            base, data = max((at, data) for at, data in memory[one].items() if at <= _DRAM + 32 * first)
            beats = np.frombuffer(data, "<u2").reshape(-1, 16)
            count = keys & 31
            number = np.repeat((keys >> 5) - (base - _DRAM) // 32 - (np.cumsum(count) - count), count)
            its = beats[number + np.arange(len(number))].astype(np.int64)
            left, place = its[:, 0].copy(), np.zeros(len(its), np.int64)
            while left.any():
                rows = np.flatnonzero(left)
                at = 1 + 3 * place[rows]
                low, middle, high = (its[rows, at + part] for part in range(3))
                kind = high >> 13
                if not np.isin(kind, (_TILE_HALF, _ROUTER)).all():
                    raise RunDied("a record of another kind than those of this graph")
                to_tile, on = rows[kind == _TILE_HALF], kind == _ROUTER
                masks = its[to_tile[:, None], (at[kind == _TILE_HALF][:, None] + np.array([1, 3, 4, 5]))]
                found.reached += int(np.bitwise_count(masks).sum())
                there = over[one, high[on] >> 9 & 15]
                if (there < 0).any():
                    raise RunDied("a record to a link that has no cable")
                found.crossings += len(there)
                next_board.append(there)
                next_key.append(middle[on] << 16 | low[on])
                place[rows] += np.where(on, 1, 2)
                left[rows] -= 1
        empty = np.empty(0, np.int64)
        board, key = np.concatenate([empty, *next_board]), np.concatenate([empty, *next_key])


def _far(topology: routes.Topology) -> dict[tuple[int, int], int]:
    return {(c.a, c.a_link): c.b for c in topology.cluster.cables} | {
        (c.b, c.b_link): c.a for c in topology.cluster.cables
    }


__all__ = ["Walked", "hops", "walk"]
