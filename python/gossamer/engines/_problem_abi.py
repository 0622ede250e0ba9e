# SPDX-License-Identifier: Apache-2.0
"""A problem that an application has opened for an engine that runs elsewhere: gs_problem of the C interface."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gossamer import mapper
from gossamer.apps import App


class Wiring(ctypes.Structure):
    """gs_relation of the C interface."""

    _fields_ = [
        ("pin", ctypes.c_uint32),
        ("offsets", ctypes.c_void_p),
        ("ends", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
    ]


class ProblemAbi(ctypes.Structure):
    """gs_problem of the C interface."""

    _fields_ = [
        ("vertices", ctypes.c_uint64),
        ("states", ctypes.c_void_p),
        ("params", ctypes.c_void_p),
        ("unit", ctypes.c_void_p),
        ("relations", ctypes.POINTER(Wiring)),
        ("state_bytes", ctypes.c_uint64),
        ("params_bytes", ctypes.c_uint64),
        ("edge_bytes", ctypes.c_uint64),
        ("message_bytes", ctypes.c_uint64),
        ("relation_count", ctypes.c_uint32),
        ("listens", ctypes.c_uint32),
        ("aggregates", ctypes.POINTER(ctypes.c_uint8)),
        ("aggregate_count", ctypes.c_uint64),
    ]


def problem_of(app: App, opened: ProblemAbi) -> mapper.Problem:
    """The arrays that an application has opened; those of the states and edges are copies."""
    count = int(opened.vertices)

    def array(address: int | None, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        if not address or not size:
            return np.empty(0, np.uint8)
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    relations = []
    for index in range(opened.relation_count):
        one = opened.relations[index]
        # Rows stand one behind the other where the graph does not change.
        offsets = array(one.offsets, 8 * (count + 1)).view(np.uint64).astype(np.int64)
        edges = int(offsets[-1])
        values = array(one.values, edges * opened.edge_bytes).reshape(edges, -1) if one.values and edges else None
        targets = array(one.targets, 4 * edges).view(np.uint32).astype(np.int64)
        relations.append(mapper.Relation(one.pin, offsets, targets, values))
    return mapper.Problem(
        states=array(opened.states, count * opened.state_bytes).reshape(count, -1).copy(),
        params=array(opened.params, opened.params_bytes).tobytes(),
        unit=array(opened.unit, app.edge_bytes).tobytes(),  # an empty type has no bytes that count
        relations=relations,
    )


__all__ = ["ProblemAbi", "Wiring", "problem_of"]
