# SPDX-License-Identifier: Apache-2.0
"""Keys of multicast messages (``include/gossamer/mapper/pack.h``)."""

from __future__ import annotations

import ctypes

import numpy as np

from gossamer import native
from gossamer.mapper.machine import Numbers


def offsets(first: Numbers, sender: Numbers, thread: Numbers, units: Numbers) -> Numbers:
    """The lowest offset of each message to a tile that is free at all its receivers.

    Message i has the lists ``first[i]`` to ``first[i + 1]``, each at a thread of the tile and of a length in units.
    """
    firsts, senders, threads, lengths = (
        np.ascontiguousarray(values, kind)
        for values, kind in ((first, np.uint64), (sender, np.uint32), (thread, np.uint8), (units, np.uint32))
    )
    found = np.empty(len(senders), np.uint32)
    native.lib().gs_pack_keys(
        ctypes.c_uint64(len(senders)),
        *(ctypes.c_void_p(array.ctypes.data) for array in (firsts, senders, threads, lengths, found)),
    )
    return found.astype(np.int64)


__all__ = ["offsets"]
