# SPDX-License-Identifier: Apache-2.0
"""The suite ``shell``: boards on Ethernet.

A part is a module with ``NAMES``, the names of its rows, and ``rows(context)``, which yields them.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import configure, elastic, hardware, line_rate, ptrans, studies

# Add a module here.
_PARTS = (configure, ptrans, elastic, studies, hardware, line_rate)
NAMES = tuple(name for part in _PARTS for name in part.NAMES)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    gossamer_setup.require("core")
    for part in _PARTS:
        if any(context.wants(name) for name in part.NAMES):
            yield from part.rows(context)


__all__ = ["NAMES", "rows"]
