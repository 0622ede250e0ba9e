# SPDX-License-Identifier: Apache-2.0
"""The suite ``scale``: several ranks, also against CombBLAS; calls from Python, NetworkX, the wheel.

docs/benchmarks.md says what each row is.
"""

from __future__ import annotations

from collections.abc import Iterator

import gossamer_setup
from gossamer.bench import Context, Row

from . import _combblas, _distributed, _python, _wheel

NAMES = (*_distributed.NAMES, *_combblas.NAMES, *_python.NAMES, *_wheel.NAMES)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    gossamer_setup.require("mpi")
    yield from _distributed.rows(context)
    yield from _combblas.rows(context)
    yield from _python.rows(context)
    yield from _wheel.rows(context)
