# SPDX-License-Identifier: Apache-2.0
"""The suite ``fabric``: what joins tiles and boards.

A group of rows is a file with ``NAMES``, ``GROUPS`` and ``measure``.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _area, _board, _cluster, _link, _multicast, _noc, _routes, _simspeed, _switch

# Add a file here: NAMES are its rows, GROUPS the set-up that these need, measure(context) yields them.
_PARTS = (_board, _switch, _multicast, _cluster, _link, _noc, _area, _routes, _simspeed)
NAMES = tuple(name for part in _PARTS for name in part.NAMES)


def rows(context: Context) -> Iterator[Row | list[Row]]:
    """Every row asked for, each as it is measured."""
    for part in _PARTS:
        if any(context.wants(name) for name in part.NAMES):
            gossamer_setup.require("core", *part.GROUPS)
            yield from part.measure(context)
