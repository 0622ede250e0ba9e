# SPDX-License-Identifier: Apache-2.0
"""Which calls of NetworkX functions this backend answered, and why it rejected the others."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass

LOGGER = logging.getLogger("gossamer.networkx")
"""DEBUG: every call that the backend answered or rejected. NetworkX's own is "networkx.utils.backends"."""


@dataclass(frozen=True)
class Call:
    """One call of a NetworkX function that reached this backend."""

    function: str
    """NetworkX's name of the function."""
    answered: bool
    """Whether this backend answered it; otherwise NetworkX has tried the next backend, or raised an error."""
    why: str = ""
    """Why the call was rejected."""
    seconds: float = 0.0
    """Time from the converted graph to NetworkX's form of the result; of a generator, to its first element."""

    def __str__(self) -> str:
        if self.answered:
            return f"{self.function}: gossamer, {self.seconds:.3g} s"
        return f"{self.function}: not gossamer: {self.why}"


class _Recorder(threading.local):
    def __init__(self) -> None:
        self.lists: list[list[Call]] = []


_recorder = _Recorder()


def note(call: Call) -> None:
    """Adds a call to all records of this thread, and to the log."""
    LOGGER.debug("%s", call)
    for calls in _recorder.lists:
        calls.append(call)


@contextlib.contextmanager
def recorded() -> Iterator[list[Call]]:
    """Records the calls of this thread that reach the backend within the block.

    with recorded() as calls:
        networkx.pagerank(graph)
    calls  # [Call(function="pagerank", answered=True, ...)]; empty if NetworkX did not ask this backend
    """
    calls: list[Call] = []
    _recorder.lists.append(calls)
    try:
        yield calls
    finally:
        _recorder.lists[:] = [one for one in _recorder.lists if one is not calls]


__all__ = ["LOGGER", "Call", "note", "recorded"]
