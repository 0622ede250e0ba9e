# SPDX-License-Identifier: Apache-2.0
"""The suite ``scale``: several ranks on this machine. docs/benchmarks.md says what each row is."""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _distributed

NAMES = _distributed.NAMES


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured."""
    gossamer_setup.require("mpi")
    yield from _distributed.rows(context)
