# SPDX-License-Identifier: Apache-2.0
"""Keys of multicast messages (``include/gossamer/mapper/pack.h``)."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from gossamer import native


def keys(masks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A key for each message to a tile, by its mask of threads: no thread gets two messages with one key."""
    given = np.ascontiguousarray(masks)
    found = np.empty(len(given), np.uint32)
    native.lib().gs_pack_keys(
        ctypes.c_void_p(given.ctypes.data), ctypes.c_uint64(len(given)), ctypes.c_void_p(found.ctypes.data)
    )
    return found.astype(np.int64)


__all__ = ["keys"]
