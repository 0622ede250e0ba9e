# SPDX-License-Identifier: Apache-2.0
"""The structs of the timing model (``include/gossamer/model``) for ctypes, and the names of events and costs."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_double, c_int, c_uint32, c_uint64, c_void_p

import numpy as np

COLUMNS = (
    "phase",
    "vertices", "sends", "own_lists", "own_edges", "entries", "receives", "edges", "pushes", "changed", "idles",
    "waits", "host_messages",
    "instructions", "loads", "stores", "slot_loads", "slot_stores", "mailbox", "control", "fpu_long", "fpu_short",
    "fpu_divide", "divides", "plain",
    "state_loads", "state_stores", "flag_loads", "flag_stores", "queue_loads", "queue_stores", "out_loads",
    "list_loads", "other", "clock",
)  # fmt: skip
"""Columns of the interpreter's rows: ``Column`` of probe.h."""
INIT, MESSAGES, STEP, FINISH = range(4)
"""Phases."""
STATE_KINDS = 5
"""Kinds of accesses, by the handler: kStateKinds of probe.h."""
LINE_KINDS, LINES_SEEN, LINES = 11, 32, 16
"""Lines outside of the tables: kLineKinds and kOtherLinesMost of probe.h, GS_MODEL_LINES of engine.h."""
EVENTS = (
    "start", "init", "send", "own_list", "own_edge", "entry", "receive", "edge", "push", "change", "idle", "wait",
    "steps", "step", "step_push", "step_change", "ends", "finish", "host",
)  # fmt: skip
"""``gs_model_event`` of engine.h."""
LINES_OF = (*EVENTS, "after_init", "after_step", "after_finish")
"""Events with lines, by the order of ``gs_model_run.lines``."""
COSTS = (
    "issues", "loads", "stores", "slots", "mailbox", "control", "fpu_long", "fpu_short", "fpu_divide", "divides",
    "other", "state_loads", "state_stores", "flag_loads", "flag_stores", "queue_loads", "queue_stores", "out_loads",
    "list_loads",
)  # fmt: skip
"""Fields of ``gs_model_cost``."""
TIMING = (
    "issue", "load", "store", "slot", "mailbox", "control", "fpu_long", "fpu_short", "fpu_divide", "divide",
    "dram_miss", "sram_miss", "write_back", "sram_write_back", "dram_line", "sram_line", "dram_dirty", "port_line",
    "cache_request", "fpu_request", "core_issue",
    "local_message", "mesh_message", "hop", "flit", "send_busy", "barrier", "release", "words",
    "link", "link_flit", "link_frame", "link_store", "control_link", "word_link", "again",
    "board_entry", "key_early", "record_read", "begin", "begin_tile", "begin_thread", "end_thread", "end",
)  # fmt: skip
"""Fields of ``gs_model_timing``."""
COUNTERS = (
    "instructions", "idle", "hits", "misses", "writebacks", "sent", "received", "flits_out", "flits_in", "fpu",
)  # fmt: skip
"""Fields of ``gs_model_counters``, with the names of the hardware's."""


def _doubles(name: str, fields: tuple[str, ...]) -> type[ctypes.Structure]:
    return type(name, (ctypes.Structure,), {"_fields_": [(field, c_double) for field in fields]})


Cost = _doubles("Cost", COSTS)
Timing = _doubles("Timing", TIMING)
Counters = _doubles("Counters", COUNTERS)


class Lines(ctypes.Structure):
    """gs_model_lines."""

    _fields_ = [("count", c_uint32), ("line", c_uint32 * LINES), ("store", c_uint32 * LINES)]


class Image(ctypes.Structure):
    """gs_model_image."""

    _fields_ = [("memory", c_uint32), ("address", c_uint32), ("size", c_uint64), ("data", c_void_p)]


class Probe(ctypes.Structure):
    """gs_model_probe."""

    _fields_ = [
        ("code", c_void_p),
        ("words", c_uint64),
        *((name, c_uint32) for name in (
            "threads", "tile_threads", "memories", "barriers", "host_kind", "direct", "offset", "edge", "stride",
            "line", "tables",
        )),
        *(
            (name, c_void_p)
            for name in (
                "ids", "memory_of", "vertices", "states", "states_bytes", "flags", "flags_bytes", "queues",
                "queues_bytes",
                "outs", "outs_bytes", "keys", "ranges",
            )
        ),
        ("partition", c_uint32),
        ("headers", c_void_p),
        *((name, c_uint32) for name in ("header_bytes", "params", "params_bytes", "blocks", "blocks_bytes")),
        ("lines", c_void_p),
    ]  # fmt: skip


class Memory(ctypes.Structure):
    """gs_model_memory."""

    _fields_ = [
        ("dram_at", c_uint32),
        ("sram_at", c_uint32),
        ("dram", c_void_p),
        ("sram", c_void_p),
        ("dram_bytes", c_uint64),
        ("sram_bytes", c_uint64),
    ]


class Machine(ctypes.Structure):
    """gs_model_machine."""

    _fields_ = [
        *(
            (name, c_uint32)
            for name in (
                "boards", "tiles", "width", "memories", "threads", "cores", "cores_per_cache", "cores_per_fpu", "ways",
                "sets", "line_bytes", "flit_bytes", "queue_depth", "buffer_flits", "inflight", "slots",
                "flag_bytes", "offset_bytes", "edge_bytes",
                "value_at", "list_bytes", "unit", "pins", "multicast", "barriers", "thread_bits", "x_bits", "y_bits",
                "host_kind",
            )
        ),
        ("board_of", c_void_p),
        ("numbers", c_uint32),
        ("next_board", c_void_p),
        ("next_link", c_void_p),
        ("links", c_uint32),
        ("depth", c_void_p),
        ("start_links", c_void_p),
        *((name, c_void_p) for name in ("records", "beats", "board_beats")),
        ("first_beat", c_uint32),
        *((name, c_void_p) for name in ("next_vc", "far_board", "far_link")),
        ("vcs", c_uint32),
        ("exits", c_uint32),
    ]  # fmt: skip


RECORD = np.dtype([("mask", "<u8"), ("kind", "<u4"), ("tile", "<u4"), ("channel", "<u4"), ("key", "<u4")])
"""gs_model_record."""
RECORD_KINDS = ("thread", "tile", "router", "indirect")
"""Its kinds: GS_MODEL_RECORD_THREAD and so on."""
ROUTER_COUNTERS = ("messages", "copies", "lookups", "hits")
"""Fields of ``gs_model_router_counters``."""


class Outcome(ctypes.Structure):
    """gs_model_outcome."""

    _fields_ = [
        ("cycles", c_double),
        *((name, c_uint64) for name in ("steps", "status")),
        ("barrier_cycles", c_double),
        ("retired", c_double),
    ]


Listen = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


class Run(ctypes.Structure):
    """gs_model_run."""

    _fields_ = [
        ("machine", POINTER(Machine)),
        ("handlers", c_void_p),
        ("costs", POINTER(Cost)),
        ("timing", POINTER(Timing)),
        ("ranges", c_void_p),
        ("lines", c_void_p),
        ("blocks", c_uint32),
        ("memory", POINTER(Memory)),
        ("headers", c_void_p),
        ("memory_of", c_void_p),
        ("params", c_void_p),
        ("params_bytes", c_uint32),
        ("max_cycles", c_double),
        ("workers", c_uint32),
        ("stop", POINTER(c_int)),
        ("progress", POINTER(c_uint64)),
        ("counters", POINTER(Counters)),
        ("link_flits", c_void_p),
        ("link_packets", c_void_p),
        ("routers", c_void_p),
        ("listen", Listen),
        ("context", c_void_p),
        ("outcome", POINTER(Outcome)),
    ]


__all__ = [
    "COLUMNS",
    "COSTS",
    "COUNTERS",
    "EVENTS",
    "FINISH",
    "INIT",
    "LINES_OF",
    "LINES_SEEN",
    "LINE_KINDS",
    "MESSAGES",
    "RECORD",
    "RECORD_KINDS",
    "ROUTER_COUNTERS",
    "STATE_KINDS",
    "STEP",
    "TIMING",
    "Cost",
    "Counters",
    "Image",
    "Lines",
    "Listen",
    "Machine",
    "Memory",
    "Outcome",
    "Probe",
    "Run",
    "Timing",
]
