# SPDX-License-Identifier: Apache-2.0
"""The C interface of the shell's host library (src/shell/api.h) through ctypes."""

from __future__ import annotations

import ctypes
import functools
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_long,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

from gossamer.shell import _build


class Announcement(ctypes.Structure):
    """struct gs_shell_board."""

    _fields_ = [
        *((name, c_uint64) for name in ("mac", "mac1", "owner", "serial", "memory_bytes", "age_ms")),
        *((name, c_uint32) for name in ("board_type", "sink_rate", "image_max_kib", "boot")),
        *((name, c_uint16) for name in ("vendor", "product", "mtu", "credits", "streams")),
        ("state", c_uint8),
        ("reserved", c_uint8 * 5),
        ("role", c_uint8 * 16),
    ]


class Status(ctypes.Structure):
    """struct gs_shell_status."""

    _fields_ = [
        *((name, c_uint64) for name in ("uptime_ms", "frames_received", "frames_sent")),
        *((name, c_uint32) for name in ("bad_frames", "bad_tags", "replays", "rejected")),
        *((name, c_uint32) for name in ("role_resets", "memory_frames", "messages", "overruns")),
        ("temperature", c_uint16),
        ("power", c_uint16),
        ("state", c_uint8),
        ("reserved", c_uint8 * 3),
    ]


class RunEnd(ctypes.Structure):
    """struct gs_shell_run."""

    _fields_ = [(name, c_uint64) for name in ("cycles", "result_address", "result_bytes")]


class Traffic(ctypes.Structure):
    """struct gs_shell_traffic."""

    _fields_ = [(name, c_uint64) for name in ("sent", "received")]


class Unreadable(ctypes.Structure):
    """struct gs_shell_unreadable."""

    _fields_ = [("mac", c_uint64), ("frames", c_uint64), ("reason", c_uint32), ("version", c_uint32)]


Progress = ctypes.CFUNCTYPE(None, c_uint64, c_uint64, c_uint32)

_HOST, _MAC = c_void_p, c_uint64
_FUNCTIONS = {
    "error": (c_char_p, []),
    "open": (c_void_p, [c_char_p, c_uint64, POINTER(c_uint16)]),
    "free": (None, [_HOST]),
    "mac": (c_uint64, [_HOST]),
    "mtu": (c_uint32, [_HOST]),
    "bytes_sent": (c_uint64, [_HOST]),
    "discover": (c_int, [_HOST, c_uint32, POINTER(Announcement), c_int]),
    "pump": (c_int, [_HOST, c_uint32]),
    "session": (c_int, [_HOST, _MAC, c_char_p, c_uint32, c_int, c_uint32, POINTER(c_uint64)]),
    "age": (c_int64, [_HOST, _MAC]),
    "drop": (None, [_HOST, _MAC]),
    "close": (c_int, [_HOST, _MAC]),
    "rekey": (c_int, [_HOST, _MAC, c_char_p]),
    "root": (None, [c_char_p, c_size_t, c_char_p]),
    "configure": (
        c_int,
        [_HOST, POINTER(_MAC), c_int, c_void_p, c_size_t, c_uint32, c_uint32, c_uint64, c_uint32, c_double, Progress]
        + [POINTER(c_int), POINTER(c_double)],
    ),
    "write": (c_int, [_HOST, _MAC, c_uint64, c_void_p, c_size_t]),
    "read": (c_int, [_HOST, _MAC, c_uint64, c_void_p, c_size_t]),
    "write_registers": (c_int, [_HOST, _MAC, POINTER(c_uint32), c_size_t]),
    "read_register": (c_int, [_HOST, _MAC, c_uint32, POINTER(c_uint32)]),
    "start": (c_int, [_HOST, _MAC, c_uint32, c_uint64]),
    "start_all": (c_int, [_HOST, POINTER(_MAC), c_int, c_uint32, c_uint64, POINTER(c_int)]),
    "wait": (c_int, [_HOST, _MAC, c_uint64, c_uint32, POINTER(RunEnd)]),
    "result": (c_int, [_HOST, _MAC, c_uint64, c_uint64, c_void_p, c_size_t]),
    "finish": (c_int, [_HOST, _MAC, c_uint64]),
    "send": (c_int, [_HOST, _MAC, c_uint32, c_char_p, c_size_t, c_uint32]),
    "receive": (c_long, [_HOST, _MAC, c_uint32, c_void_p, c_size_t, c_uint32]),
    "last_status": (c_int, [_HOST, _MAC, POINTER(Status)]),
    "missing": (c_int64, [_HOST, _MAC]),
    "count_bytes": (None, [_HOST, _MAC, POINTER(Traffic)]),
    "list_unreadable": (c_int, [_HOST, POINTER(Unreadable), c_int]),
}


@functools.cache
def lib() -> ctypes.CDLL:
    """The library, built if necessary, with the types of its functions."""
    found = ctypes.CDLL(str(_build.folder() / "libshell.so"))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(found, f"gs_shell_{name}")
        function.restype, function.argtypes = result, arguments
    return found


__all__ = ["Announcement", "Progress", "RunEnd", "Status", "Traffic", "Unreadable", "lib"]
