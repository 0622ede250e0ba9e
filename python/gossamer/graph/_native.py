# SPDX-License-Identifier: Apache-2.0
"""ctypes declarations of the library's graph functions (include/gossamer/graph/graph.h)."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Final

import numpy as np

from gossamer.native import check, check_mapped, lib

EDGE_LIST: Final = 1
MATRIX_MARKET: Final = 2
METIS: Final = 3
DIMACS: Final = 4

READ_UNDIRECTED: Final = 1
READ_CERTAIN: Final = 2
READ_PART: Final = 4
READ_REST: Final = 8
NOTE_HEADING: Final = 1
NOTE_COUNTS: Final = 2
NOTE_UNDIRECTED: Final = 4
SIMPLIFY_PARALLEL: Final = 1
SIMPLIFY_LOOPS: Final = 2
LABELS_NUMBER: Final = 1
LABELS_STRING: Final = 2
SYMMETRIC: Final = 1
TEXT_ROWS: Final = 1
TEXT_LOWER: Final = 2
TEXT_ARC: Final = 4

NONE: Final = 0
WEIGHT_TYPES: Final[dict[int, np.dtype[Any]]] = {
    1: np.dtype(np.int32),
    3: np.dtype(np.int64),
    5: np.dtype(np.float32),
    6: np.dtype(np.float64),
}
"""The types of weights, by their value in the C interface (enum gs_type)."""


class Shape(ctypes.Structure):
    """struct gs_graph_shape"""

    _fields_ = [
        ("vertices", c_uint64),
        ("edges", c_uint64),
        ("entries", c_uint64),
        ("label_bytes", c_uint64),
        ("announced_vertices", c_uint64),
        ("announced_edges", c_uint64),
        ("announced_line", c_uint64),
        ("first_line", c_uint64),
        ("weight_type", c_int32),
        ("label_kind", c_int32),
        ("base", c_int32),
        ("flags", c_uint32),
        ("notes", c_uint32),
    ]


class Census(ctypes.Structure):
    """struct gs_graph_census"""

    _fields_ = [
        (name, c_uint64)
        for name in (
            "loops",
            "parallel",
            "isolated",
            "sinks",
            "sources",
            "most_out",
            "most_out_vertex",
            "most_in",
            "most_in_vertex",
        )
    ]


class Text(ctypes.Structure):
    """struct gs_graph_text"""

    _fields_ = [
        ("vertices", c_uint64),
        ("offsets", c_void_p),
        ("targets", c_void_p),
        ("weights", c_void_p),
        ("numbers", c_void_p),
        ("starts", c_void_p),
        ("text", c_void_p),
        ("weight_type", c_int32),
        ("base", c_int32),
        ("flags", c_uint32),
    ]


_U64P = POINTER(c_uint64)
_SIGNATURES: Final[dict[str, list[Any]]] = {
    "parser_open": [c_char_p, c_int, c_uint, c_int, POINTER(c_void_p)],
    "parser_columns": [c_void_p, c_char_p],
    "parser_feed": [c_void_p, c_char_p, c_size_t],
    "parser_finish": [c_void_p, POINTER(Shape)],
    "parser_build": [c_void_p] * 7,
    "parser_close": [c_void_p],
    "stop_at": [POINTER(c_int)],
    "transpose": [
        c_uint64,
        c_uint64,
        c_void_p,
        c_void_p,
        c_void_p,
        c_int,
        c_int,
        c_void_p,
        c_void_p,
        c_void_p,
    ],
    "sort": [c_uint64, c_void_p, c_void_p, c_void_p, c_int, c_int],
    "simplify": [c_uint64, c_void_p, c_void_p, c_void_p, c_int, c_uint, _U64P],
    "symmetrise": [
        c_uint64,
        c_uint64,
        c_void_p,
        c_void_p,
        c_void_p,
        c_int,
        c_int,
        c_void_p,
        c_void_p,
        c_void_p,
    ],
    "count": [c_uint64, c_uint64, c_void_p, c_void_p, POINTER(Census)],
    "check_rows": [c_uint64, c_uint64, c_void_p, c_void_p, c_int],
    "check_symmetric": [c_uint64, c_void_p, c_void_p, c_void_p, c_int, c_int, _U64P, _U64P],
    "search_order": [c_uint64, c_void_p, c_void_p, c_void_p, c_int, c_void_p, c_uint32, c_void_p, c_void_p, _U64P],
    "rmat": [
        *[c_uint32, c_uint64, c_double, c_double, c_double],
        *[c_int, c_uint64, c_int, c_void_p, POINTER(c_void_p)],
    ],
    "generated": [c_void_p, c_void_p],
    "grid": [c_uint64, c_uint64, c_void_p, c_void_p],
    "geometric_layout": [c_uint64, c_uint32, c_double, c_int, c_uint64, c_int, POINTER(c_void_p)],
    "geometric_rows": [c_void_p, c_uint64, c_uint64, c_void_p, POINTER(c_void_p)],
    "geometric_free": [c_void_p],
    "grid_rows": [c_uint64, c_uint64, c_uint64, c_uint64, c_void_p, c_void_p],
    "rmat_edges": [
        *[c_uint32, c_double, c_double, c_double, c_int, c_uint64],
        *[c_uint64, c_uint64, c_void_p, c_void_p],
    ],
    "edge_weights": [
        *[c_uint64, c_uint64, c_void_p, c_void_p, c_int],
        *[c_int, c_int32, c_int32, c_uint64, c_void_p],
    ],
    "random_weights": [c_uint64, c_void_p, c_void_p, c_int, c_int32, c_int32, c_uint64, c_int, c_void_p],
    "format": [POINTER(Text), _U64P, _U64P, c_void_p, c_size_t, POINTER(c_size_t)],
}


@functools.cache
def _library() -> ctypes.CDLL:
    library = lib()
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, f"gs_graph_{name}")
        function.argtypes = arguments
        function.restype = None if name in ("parser_close", "stop_at") else c_int
    return library


def call(name: str, *arguments: object) -> None:
    """Calls gs_graph_<name>; raises InputError with the library's message if it fails."""
    code = getattr(_library(), f"gs_graph_{name}")(*arguments)
    check_mapped()
    check(code)


def close(parser: c_void_p) -> None:
    """Frees a parser and stops its threads."""
    _library().gs_graph_parser_close(parser)


@contextmanager
def stopping_at(flag: c_int) -> Iterator[None]:
    """Within it, graph functions of this thread end with KeyboardInterrupt once the flag is not 0."""
    _library().gs_graph_stop_at(ctypes.byref(flag))
    try:
        yield
    finally:
        _library().gs_graph_stop_at(None)


def pointer(array: np.ndarray[Any, Any] | None) -> int | None:
    """The address of an array's first element, NULL for none."""
    return None if array is None else array.ctypes.data


def weight_type(weights: np.ndarray[Any, Any] | None) -> int:
    """The value of a weight array's type (enum gs_type)."""
    if weights is None:
        return NONE
    return next(number for number, dtype in WEIGHT_TYPES.items() if dtype == weights.dtype)
