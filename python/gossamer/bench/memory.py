# SPDX-License-Identifier: Apache-2.0
"""Peak memory of processes, for rows of suites.

The kernel's ``ru_maxrss`` of a child is not usable: it starts at the parent's resident set when the child was forked.
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
    """The peak resident set of a process, or of "self"; 0 if the process has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def tree(root: int) -> Iterator[int]:
    """A process and its descendants."""
    yield root
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{root}/task"):
            with contextlib.suppress(OSError):
                children = Path(f"/proc/{root}/task/{task}/children").read_text(encoding="ascii")
                for child in children.split():
                    yield from tree(int(child))


@contextlib.contextmanager
def watched() -> Iterator[dict[int, int]]:
    """The peak, in bytes, of each process in this process's tree during the block; complete after the block."""
    peaks: dict[int, int] = {}
    ended = threading.Event()

    def sample() -> None:
        # The last sample is the peak, except for a child before its exec, which has the parent's memory.
        for pid in tree(os.getpid()):
            peaks[pid] = peak_bytes(str(pid)) or peaks.get(pid, 0)

    def watch() -> None:
        while not ended.wait(_POLL_SECONDS):
            sample()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        ended.set()
        watcher.join()
        sample()


__all__ = ["peak_bytes", "tree", "watched"]
