# SPDX-License-Identifier: Apache-2.0
"""How much memory processes have taken, for rows of suites.

The kernel's ``ru_maxrss`` of a child is of no use: it starts with what the parent had when it began the child.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

_POLL_SECONDS = 0.02


def peak_bytes(pid: str) -> int:
    """The greatest resident set that a process, or "self", has had so far; 0 if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def tree(root: int) -> Iterator[int]:
    """A process and all that come from it."""
    yield root
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{root}/task"):
            with contextlib.suppress(OSError):
                children = Path(f"/proc/{root}/task/{task}/children").read_text(encoding="ascii")
                for child in children.split():
                    yield from tree(int(child))


@contextlib.contextmanager
def watched() -> Iterator[dict[int, int]]:
    """The peak, in bytes, of each process of this one's tree while the block ran; full when it has ended."""
    peaks: dict[int, int] = {}
    ended = threading.Event()

    def look() -> None:
        # The last look is the greatest, but for a child that is not yet another program than its parent.
        for pid in tree(os.getpid()):
            peaks[pid] = peak_bytes(str(pid)) or peaks.get(pid, 0)

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()
        look()


__all__ = ["peak_bytes", "tree", "watched"]
