# SPDX-License-Identifier: Apache-2.0
"""Figures of the SMI paper, and what follows from them for messages of any size.

The paper gives latencies (table 3), the share of the line and the ratio to hosts in numbers, its curves as pictures
alone. So both curves are models here: the latency, and what a byte takes more.
"""

from __future__ import annotations

INJECTION = {1: 5.0, 4: 2.5, 8: 1.8, 16: 1.69}
"""Table 4: cycles, by R."""
US = {1: 0.801, 4: 2.896, 7: 5.103}
"""Table 3: SMI's latency by hops, and that of hosts."""
HOST_US = 36.61
LINE = 40.0
"""Of its links [Gbit/s]. A long message takes 0.91 of 35 of them; through hosts, a third of that."""
_LONG = 0.91 * 35.0
_HOST_LONG = _LONG / 3


def smi(payload: int, hops: int) -> float:
    """Gbit/s of SMI."""
    return 8 * payload / (US[hops] * 1e3 + 8 * payload / _LONG)


def host(payload: int) -> float:
    """Gbit/s of the path through hosts."""
    return 8 * payload / (HOST_US * 1e3 + 8 * payload / _HOST_LONG)


__all__ = ["HOST_US", "INJECTION", "LINE", "US", "host", "smi"]
