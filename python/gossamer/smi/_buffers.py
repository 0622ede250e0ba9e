# SPDX-License-Identifier: Apache-2.0
"""Buffer sizes of a port, in flits, such that a sender may be as far ahead as the degree of its channel states.

A kernel that is that far ahead must be able to proceed: to the next message, if it has supplied all of one, or to other
work. So its elements must fit into the receiver's buffer, if the receiver has opened its channel. Otherwise a complete
message moves to the virtual output queue of its rank, and an incomplete one stays in the send buffer.
"""

from __future__ import annotations

FLIT_BYTES = 16
MOST = 1 << 15
"""Largest receive buffer."""
MAX_VOQ_DEPTH = 1 << 12
"""Largest virtual output queue of a rank."""
_MIN_VOQ_DEPTH = 16
"""Virtual output queue for channels that state no degree."""
_MAX_VOQ_DEPTH = 1 << 16
"""Virtual output queues of all ranks together."""
_LEAST_SEND, _MOST_SEND = 64, 1 << 10
"""At least two packets; at most what is affordable, since this buffer is built from LUTs."""


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least this number."""
    return 1 << max(least - 1, 0).bit_length()


def flits(degree: int, size: int) -> int:
    """Flits of this many elements of this many bytes."""
    return -(-degree * size // FLIT_BYTES)


def receive(degree: int, size: int, least: int) -> int:
    """Receive buffer: one more flit than the elements fill, since they may begin within one."""
    return min(max(least, power_of_two(flits(degree, size) + 1)), MOST)


def send(degree: int, size: int) -> int:
    """Send buffer."""
    return min(max(_LEAST_SEND, power_of_two(flits(degree, size))), _MOST_SEND)


def voq_depth(degree: int, ranks: int) -> int:
    """Virtual output queue of each rank. One flit per element: a one-element message may occupy a whole flit."""
    return min(max(_MIN_VOQ_DEPTH, power_of_two(degree)), MAX_VOQ_DEPTH, _MAX_VOQ_DEPTH // ranks)
