# SPDX-License-Identifier: Apache-2.0
"""The suite ``scale``: calls from Python and NetworkX.

docs/benchmarks.md says what each row is.
"""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.bench import Context, Row

from . import _python

NAMES = (*_python.NAMES,)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, each as it is measured."""
    yield from _python.rows(context)
