# SPDX-License-Identifier: Apache-2.0
"""Shared by programs of the command that a host program starts and waits for (``host/src/python_helper.cc``)."""

from __future__ import annotations

import sys
from collections.abc import Callable

from gossamer import processes
from gossamer.errors import ExitCode, GossamerError


def ended(host: str, work: Callable[[], None], call: str = "") -> int:
    """Does ``work`` and gives the exit code; what is wrong is one line, which begins with ``call`` where it is given.

    ``host`` is the number of the host's process, which is not outlived.
    """
    processes.end_with_parent(int(host))
    try:
        work()
    except GossamerError as error:
        told = " ".join(str(error).split())
        sys.stderr.write(f"gossamer: error: {call}: {told}\n" if call else f"gossamer: error: {told}\n")
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    return 0


__all__ = ["ended"]
