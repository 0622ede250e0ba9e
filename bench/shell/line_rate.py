# SPDX-License-Identifier: Apache-2.0
"""Bytes a cycle that the shell's RTL accepts and sends: bursts of writes and messages without a pause, of several
lengths, and an image.

The simulation is exact to the cycle, with the firmware, a memory of 30 cycles and no stalls. A byte of the wire takes a
cycle; a frame has its preamble (8), checksum (4) and gap (12). A write in 16 is answered: the protocol allows 16
commands that are not acknowledged. A frame is accepted if the board has executed it: the host reads the
acknowledgements, and the memory that the last frames have written. A packet is accepted if the role has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from models import shell_wire

from gossamer.bench import Context, Reference, Row

LENGTHS = (0, 1, 8, 64, 256, 1024, 1436)
"""Bytes of payload; the longest is that of an MTU of 1,500."""
FRAMES = 2000
ANSWERED = 16
IMAGE, CHUNK = 400 * 1024, 1344
NAME = "shell.line-rate"
_ROWS = {length: f"{NAME}.{length}-bytes" for length in LENGTHS}
_TO_ROLE, _FROM_ROLE, _CONFIGURE = (
    f"{NAME}.{what}" for what in ("messages-to-role", "messages-from-role", "configure")
)
NAMES = (NAME, *_ROWS.values(), _TO_ROLE, _FROM_ROLE, _CONFIGURE)
_WIRE: Reference = {"what": "the wire", "value": 1.0, "unit": "bytes/cycle"}


def rows(context: Context) -> Iterator[Row]:
    """The shares of all lengths are measured for the least one."""
    measured = {}
    for length, name in _ROWS.items():
        if not (context.wants(NAME) or context.wants(name)):
            continue
        board = shell_wire.Board()
        try:
            share, run = shell_wire.burst(board, length, FRAMES, ANSWERED)
        finally:
            board.close()
        measured[length] = share
        if context.wants(name):
            yield context.row(
                name, share, "bytes/cycle", reference=_WIRE, ratio=share, payload_bytes=length, frames=FRAMES,
                answered_every=ANSWERED, lost=run.lost, pause_cycles=run.paused,
            )  # fmt: skip
    if context.wants(NAME):
        yield context.row(
            NAME, min(measured.values()), "bytes/cycle", reference=_WIRE, ratio=min(measured.values()), least=1.0,
            what="bytes of executed writes over cycles, frames with preamble, checksum and gap, no pause between them",
            payload_bytes=list(LENGTHS), frames=FRAMES, answered_every=ANSWERED,
        )  # fmt: skip
    yield from _messages(context)


def _messages(context: Context) -> Iterator[Row]:
    bursts: dict[str, tuple[Callable[..., tuple[float, shell_wire.Run]], str]] = {
        _TO_ROLE: (shell_wire.message_burst, "bytes of packets that the role got over cycles"),
        _FROM_ROLE: (shell_wire.packet_burst, "bytes of packets that the host got over cycles"),
    }
    for name, (burst, what) in bursts.items():
        if not context.wants(name):
            continue
        shares = []
        board = shell_wire.Board()
        try:
            for number, length in enumerate(LENGTHS, 1):
                shares.append(burst(board, length, FRAMES, number)[0])
        finally:
            board.close()
        yield context.row(
            name, min(shares), "bytes/cycle", reference=_WIRE, ratio=min(shares), least=1.0,
            what=f"{what}, frames with preamble, checksum and gap, no pause between them; the least of all lengths",
            payload_bytes=list(LENGTHS), frames=FRAMES, shares=shares,
        )  # fmt: skip
    if context.wants(_CONFIGURE):
        board = shell_wire.Board()
        try:
            share, run = shell_wire.image_burst(board, IMAGE, CHUNK)
        finally:
            board.close()
        yield context.row(
            _CONFIGURE, share, "bytes/cycle", reference=_WIRE, ratio=share, least=1.0,
            what="bytes of the chunks of an image that the board has taken over cycles, no pause between them",
            image_bytes=IMAGE, chunk_bytes=CHUNK, lost=run.lost, pause_cycles=run.paused,
        )  # fmt: skip


__all__ = ["NAMES", "rows"]
