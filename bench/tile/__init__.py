# SPDX-License-Identifier: Apache-2.0
"""The suite ``tile``: the blocks of a tile, in simulation and through the open ECP5 flow.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _area, _core, _load, _mailbox, _memory, _simspeed

_PARTS = (_core, _memory, _mailbox, _load, _area, _simspeed)
NAMES = tuple(name for part in _PARTS for name in part.NAMES)


def rows(context: Context) -> Iterator[Row | list[Row]]:
    """Every row asked for, each as it is measured."""
    gossamer_setup.require("core", "test", "rtl", "synth")
    for part in _PARTS:
        if any(context.wants(name) for name in part.NAMES):
            yield from part.measure(context)
