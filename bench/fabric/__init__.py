# SPDX-License-Identifier: Apache-2.0
"""The suite ``fabric``: what joins tiles and boards.

A group of rows is a file with ``NAMES``, ``GROUPS`` and ``measure``.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _area, _board, _cluster, _gigabit, _link, _multicast, _noc, _routes, _simspeed, _switch

# Add a file here: NAMES are its rows, GROUPS the set-up that these need, measure(context) yields them.
_PARTS = (_board, _switch, _multicast, _cluster, _link, _gigabit, _noc, _area, _routes, _simspeed)
NAMES = tuple(name for part in _PARTS for name in part.NAMES)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    for part in _PARTS:
        if any(context.wants(name) for name in part.NAMES):
            gossamer_setup.require("core", *part.GROUPS)
            for found in part.measure(context):
                yield beside_its_goal(found)


def beside_its_goal(row: Row) -> Row:
    """A row that stands beside nothing else stands beside what it must reach, if it must reach something."""
    goals = [(key, row.config[key]) for key in ("most", "least") if key in row.config]
    if row.reference is None and row.value and goals:
        (key, goal) = goals[0]
        row.reference = {"what": f"at {key}", "value": float(goal), "unit": row.unit}
        row.ratio = goal / row.value if key == "most" else row.value / goal
    return row
