# SPDX-License-Identifier: Apache-2.0
"""Depths in flits of a port's buffers. They let a sender run ahead by the asynchronicity degree of its channel.

A kernel within that degree must not block: it proceeds to its next message, or to other work. The receive buffer holds
its elements if the receiver has opened the channel. Otherwise a complete message waits in the virtual output queue
(VOQ) of its rank, and an incomplete message waits in the send buffer.
"""

from __future__ import annotations

FLIT_BYTES = 16
MOST = 1 << 15
"""Maximum depth of a receive buffer."""
MAX_VOQ_DEPTH = 1 << 12
"""Maximum depth of the VOQ of a rank."""
_MIN_VOQ_DEPTH = 16
"""Minimum depth, for channels that state no degree."""
_MAX_VOQ_DEPTH = 1 << 16
"""Maximum depth of the VOQs of all ranks together."""
_LEAST_SEND, _MOST_SEND = 64, 1 << 10
"""Depth of a send buffer: at least two packets; the maximum bounds its cost, because it is made of LUTs."""


def power_of_two(least: int) -> int:
    """The least power of two that is `least` or more."""
    return 1 << max(least - 1, 0).bit_length()


def flits(degree: int, size: int) -> int:
    """Flits of `degree` elements of `size` bytes."""
    return -(-degree * size // FLIT_BYTES)


def receive(degree: int, size: int, least: int) -> int:
    """Depth of the receive buffer: one flit more than the elements fill, because the first may start within a flit."""
    return min(max(least, power_of_two(flits(degree, size) + 1)), MOST)


def send(degree: int, size: int) -> int:
    """Depth of the send buffer."""
    return min(max(_LEAST_SEND, power_of_two(flits(degree, size))), _MOST_SEND)


def voq_depth(degree: int, ranks: int) -> int:
    """Depth of the VOQ of each rank: one flit for each element, because a message of one element occupies a flit."""
    return min(max(_MIN_VOQ_DEPTH, power_of_two(degree)), MAX_VOQ_DEPTH, _MAX_VOQ_DEPTH // ranks)
