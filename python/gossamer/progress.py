# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: a bar on stderr if that is a terminal, else nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """What ``bar`` gives: tell it how many units were done since the last call."""

    def update(self, n: float) -> object: ...


class _Silent:
    def update(self, n: float) -> None:
        """Nobody watches."""


@contextmanager
def bar(total: float | None, what: str, unit: str = "") -> Iterator[Bar]:
    """A bar for ``total`` units (None if unknown) of ``what``; it vanishes at the end.

    ``unit`` is shown behind the numbers: ``"B"`` for bytes gives k, M and G prefixes, as does any other.
    Nothing is drawn in the first half second, so quick work stays quiet.
    """
    if not sys.stderr.isatty():
        yield _Silent()
        return
    # Imported here: most runs are too short, or not on a terminal, to pay for it.
    from tqdm import tqdm

    with tqdm(
        total=total, desc=what, unit=unit or "it", unit_scale=True, leave=False, delay=0.5, dynamic_ncols=True
    ) as shown:
        yield shown


__all__ = ["Bar", "bar"]
