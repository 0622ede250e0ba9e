# SPDX-License-Identifier: Apache-2.0
"""One set-up at a time in a checkout."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator

from gossamer_setup._env import STATE, SetupError


@contextlib.contextmanager
def lock() -> Iterator[int]:
    """Holds the checkout's set-up lock; waits for the present holder, and reports it.

    Yields the descriptor: a child that inherits it keeps the lock if this process is killed,
    so that no other installer runs at the same time.
    """
    try:
        os.makedirs(STATE, exist_ok=True)
        descriptor = os.open(os.path.join(STATE, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise SetupError(f"cannot write to {STATE}: {error.strerror}; make the checkout writable") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip() or "another process"
            sys.stderr.write(f"gossamer: waiting for another set-up of this checkout: {holder}\n")
            sys.stderr.flush()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # The name remains in the file after the release; it is read only while the lock is held.
        os.ftruncate(descriptor, 0)
        started = time.strftime("%Y-%m-%d %H:%M:%S")
        os.pwrite(descriptor, f"process {os.getpid()}, since {started}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)
