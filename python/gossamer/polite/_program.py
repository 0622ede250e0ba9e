# SPDX-License-Identifier: Apache-2.0
"""Entry points that a host program starts and waits for (``host/src/python_helper.cc``)."""

from __future__ import annotations

import sys
from collections.abc import Callable

from gossamer import processes
from gossamer.errors import ExitCode, GossamerError


def ended(host: str, work: Callable[[], None], call: str = "") -> int:
    """Calls ``work`` and returns the exit code; prints an error as one line, after ``call`` if that is not empty.

    ``host`` is the process number of the host; this process ends with it.
    """
    processes.end_with_parent(int(host))
    try:
        work()
    except GossamerError as error:
        text = " ".join(str(error).split())
        sys.stderr.write(f"gossamer: error: {call}: {text}\n" if call else f"gossamer: error: {text}\n")
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    return int(ExitCode.DONE)


__all__ = ["ended"]
