# SPDX-License-Identifier: Apache-2.0
"""How fast a tile's memory is written through its network port: packets of the loader, one after the other.

The last packet asks for a reply, which comes when memory has all lines; so the figure is of what has been written.
`quad` has the memory port of `de5`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from models import fabric_packets as network

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.engines.rtl import Tile
from gossamer.errors import RunDied

RATE = "load.bytes-per-cycle"
NAMES = (RATE,)
CONFIG = "quad"
BYTES = 1 << 18
DRAM = 0x4000_0000
LINK_BYTES = 16.0
"""A flit a cycle."""


def measure(context: Context) -> Iterator[Row]:
    """One row; it does not depend on the machine."""
    if context.wants(RATE):
        value = rate(CONFIG)
        yield context.row(
            RATE,
            value,
            "bytes/cycle",
            reference={"what": "a flit a cycle", "value": LINK_BYTES, "unit": "bytes/cycle"},
            ratio=value / LINK_BYTES,
            configuration=CONFIG,
            bytes=BYTES,
            fill=rate(CONFIG, fill=True),
            least=10.0,
        )


def rate(configuration: str, *, fill: bool = False) -> float:
    """Bytes a cycle, of data that is sent or of zeroes; what was written is read and compared."""
    data = bytes(BYTES) if fill else np.random.default_rng(1).integers(0, 256, BYTES, dtype=np.uint8).tobytes()
    with Tile(configs.load(configuration)) as tile:
        # Time stands still between two requests: the first reply tells when the second is sent.
        (before,) = tile.exchange(network.request("read", DRAM, tile.config.cache.line_bytes), 1)
        flits = network.request("fill", DRAM, BYTES) if fill else network.writes(DRAM, data)
        (after,) = tile.exchange(flits, 1)
        if after.rejection or tile.read(DRAM, BYTES // 4).tobytes() != data:
            raise RunDied(f"{configuration}: memory does not hold what was written through the network's port")
    return BYTES / (after.cycle - before.cycle)


__all__ = ["NAMES", "measure", "rate"]
