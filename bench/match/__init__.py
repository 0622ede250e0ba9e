# SPDX-License-Identifier: Apache-2.0
"""The suite ``match``: match engines of all architectures in RTL, and models of published ones on the same receives.

docs/benchmarks.md says what each row is and how it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _area, _cycles, _mpich, mpi

_PARTS = (_cycles, _mpich, mpi, _area)
NAMES = tuple(name for part in _PARTS for name in part.NAMES)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    for part in _PARTS:
        if any(context.wants(name) for name in part.NAMES):
            gossamer_setup.require("core", *part.GROUPS)
            yield from part.measure(context)
