# SPDX-License-Identifier: Apache-2.0
"""Locks that the kernel releases when their process ends, however it ends."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import time
from pathlib import Path

from gossamer.errors import InputError

_TRIES = 10


class StateLock:
    """The lock of a manager's state: one manager uses a file. Raises InputError if another one does.

    It is a separate file, because closing any file descriptor of a SQLite file would release SQLite's locks.
    """

    def __init__(self, state: Path) -> None:
        try:
            self._file = os.open(_path(state), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise InputError(
                f"{state}: cannot be used as the manager's state: {(error.strerror or '').lower()}"
            ) from None
        # `manager_runs` of another process holds the lock for a moment.
        for _ in range(_TRIES):
            with contextlib.suppress(OSError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(0.02)
        else:
            number = os.pread(self._file, 20, 0).decode(errors="replace").strip()
            os.close(self._file)
            raise InputError(
                f"{state}: another manager, process {number}, uses it; end that one, or give another --state and --port"
            ) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Releases the lock."""
        os.close(self._file)


def manager_runs(state: Path) -> bool:
    """Whether a manager uses a state file."""
    try:
        file = os.open(_path(state), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _path(state: Path) -> Path:
    return state.with_name(f"{state.name}.lock")


class InterfaceLock:
    """The lock of a network interface: hosts at one interface have one address, so boards cannot tell them apart.

    An abstract Unix socket belongs to the network namespace, as the interface does; the path of a simulated switch
    needs no lock. Raises InputError if a manager uses the interface.
    """

    def __init__(self, port: str) -> None:
        self._socket: socket.socket | None = None
        if "/" in port:
            return
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(b"\0gossamer-cluster-" + os.fsencode(port))
        except OSError as error:
            self._socket.close()
            if error.errno != errno.EADDRINUSE:
                raise
            raise InputError(
                f"{port}: a manager or another command uses this interface; leave --port out to ask the manager"
            ) from None

    def release(self) -> None:
        """Releases the lock."""
        if self._socket is not None:
            self._socket.close()


__all__ = ["InterfaceLock", "StateLock", "manager_runs"]
