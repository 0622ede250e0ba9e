# SPDX-License-Identifier: Apache-2.0
"""How many flits the buffers of a port have, so that a sender may be as far ahead as the degree of its channel says.

A kernel that is so far ahead must come on: to the next message, if it has given all of one, or to something else. So
what it has given finds room at the receiver, if that has opened its channel. If not, a message that is complete is set
aside, in a queue of its rank, and one that is not stays in the buffer to send.
"""

from __future__ import annotations

FLIT_BYTES = 16
MOST = 1 << 15
"""Of the buffer to receive."""
MAX_VOQ_DEPTH = 1 << 12
"""Set aside for a rank."""
_MIN_VOQ_DEPTH = 16
"""For the degree of channels that state none."""
_MAX_VOQ_DEPTH = 1 << 16
"""For all ranks."""
_LEAST_SEND, _MOST_SEND = 64, 1 << 10
"""Two packets; what is affordable: this buffer is made of LUTs."""


def power_of_two(least: int) -> int:
    """The next one from a number on."""
    return 1 << max(least - 1, 0).bit_length()


def flits(degree: int, size: int) -> int:
    """Of so many elements of so many bytes."""
    return -(-degree * size // FLIT_BYTES)


def receive(degree: int, size: int, least: int) -> int:
    """Of the buffer to receive: a flit more than the elements have, since they may begin within one."""
    return min(max(least, power_of_two(flits(degree, size) + 1)), MOST)


def send(degree: int, size: int) -> int:
    """Of the buffer to send."""
    return min(max(_LEAST_SEND, power_of_two(flits(degree, size))), _MOST_SEND)


def aside(degree: int, ranks: int) -> int:
    """Of what is set aside for each rank. One for each element: a message of one may take as much."""
    return min(max(_MIN_VOQ_DEPTH, power_of_two(degree)), MAX_VOQ_DEPTH, _MAX_VOQ_DEPTH // ranks)
