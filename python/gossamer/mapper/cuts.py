# SPDX-License-Identifier: Apache-2.0
"""Cuts of mappings of large graphs: edges are counted by the library, without a list of them in memory."""

from __future__ import annotations

import ctypes

import numpy as np

from gossamer import native
from gossamer.mapper.layout import Problem
from gossamer.mapper.lists import Mapped
from gossamer.mapper.machine import Machine, Numbers
from gossamer.mapper.partition import OWN, Cut, Mapping, cut_with


def cut_of(problem: Problem, mapping: Mapping, machine: Machine) -> Cut:
    """The cut of a mapping, counted without a list of all edges."""
    between, tiles, threads, ends = _count_edges(problem, mapping, machine)
    near = int(between.sum())
    hops = near if machine.hops is None else int((between * machine.hops).sum())
    work = ends + OWN * mapping.counts
    within = problem.edges - near - tiles - threads
    return cut_with(machine, near, tiles, threads, within, hops, work)


def _count_edges(problem: Problem, mapping: Mapping, machine: Machine) -> tuple[Numbers, int, int, Numbers]:
    """Edges from each board to each, between tiles of a board, between threads of a tile; ends of edges by thread."""
    mapped = Mapped(problem, mapping, machine)
    between = np.zeros((machine.boards, machine.boards), np.uint64)
    work = np.zeros(machine.threads, np.uint64)
    tiles, others = ctypes.c_uint64(), ctypes.c_uint64()
    native.check(
        native.lib().gs_map_cut(
            ctypes.byref(mapped.struct),
            ctypes.c_uint32(machine.boards),
            0,
            ctypes.c_void_p(between.ctypes.data),
            ctypes.byref(tiles),
            ctypes.byref(others),
            ctypes.c_void_p(work.ctypes.data),
        )
    )
    return between.astype(np.int64), int(tiles.value), int(others.value), work.astype(np.int64)


__all__ = ["cut_of"]
