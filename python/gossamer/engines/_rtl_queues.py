# SPDX-License-Identifier: Apache-2.0
"""Which queues hold messages when a simulated program has come to stand still, in words."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.engines._rtl_threads import Tiles, ranges

if TYPE_CHECKING:
    from gossamer.config import Config

_HELD = struct.Struct("<4I")
# As sim/host/records.h numbers them.
_THREAD, _SLOTS, _ROUTER, _SWITCH, _SENDER, _RECEIVER = range(1, 7)

SwitchPort = Callable[[int, int], tuple[str, str]]
"""A board's name, and what is at a port of its switch."""


@dataclass(frozen=True)
class Held:
    """A queue with something in it."""

    place: int
    """The tile or the board that it is on, among all."""
    what: int
    index: int
    """Thread of the tile, input of the router, port of the switch, link."""
    channels: int
    """A bit for each virtual network or channel that has something."""


def queues(payload: bytes) -> list[Held]:
    """Those in the payload of a record Queues."""
    return [Held(*words) for words in _HELD.iter_unpack(payload)]


def no_board(board: int, port: int) -> tuple[str, str]:
    """For a machine whose boards have no switch."""
    raise AssertionError(f"a queue at port {port} of the switch of board {board}, which has none")


def words(held: Sequence[Held], config: Config, tiles: Tiles, port: SwitchPort) -> list[str]:
    """The full queues first, then where messages wait behind them; a line each. ``tiles``: where threads are."""
    each, exits = config.threads_per_tile, config.router.mesh_ports
    lines = []
    if full := [one.place * each + one.index for one in held if one.what == _THREAD]:
        many = len(full) > 1
        lines.append(
            f"full: the queue{'s' if many else ''} of thread{'s' if many else ''} {ranges(full)}{tiles(full)}: "
            f"{config.mailbox.queue_depth} messages {'each ' if many else ''}wait to be received, and the next one "
            "holds up all messages for its tile"
        )
    if full := [one.place * each for one in held if one.what == _SLOTS]:
        lines.append(f"full: all message slots{tiles(full)}: messages for these threads wait until one is freed")
    behind = []
    if routers := [one.place * each for one in held if one.what == _ROUTER]:
        behind.append(f"at routers{tiles(routers)}")
    switches: dict[str, list[str]] = {}
    links = []
    for one in held:
        if one.what == _SWITCH:
            board, what = port(one.place, one.index)
            switches.setdefault(board, []).append(what)
        elif one.what in (_SENDER, _RECEIVER):
            board, what = port(one.place, exits + one.index)
            links.append(
                f"to leave board {board} over {what}" if one.what == _SENDER else f"at board {board} off {what}"
            )
    behind += [
        f"in the switch of board {board} from {', '.join(dict.fromkeys(ports))}" for board, ports in switches.items()
    ]
    behind += links
    if behind:
        lines.append(f"{'behind them ' if lines else ''}messages wait {'; '.join(behind)}")
    return lines


__all__ = ["Held", "SwitchPort", "no_board", "queues", "words"]
