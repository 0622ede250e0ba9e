# SPDX-License-Identifier: Apache-2.0
"""The emulator as several MPI processes, possibly on several machines.

The MPI launcher mixes its own messages into the output of the processes, and kills all processes when one exits.
Therefore each process opens connections to this command for its report and for the output of its ranks. When one fails,
this command requests all processes to end; they flush their output, report, and wait until the command closes the
connections.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.hosts import mpi_launcher

_GRACE = 5.0
"""Seconds between the request to end and the kill of the processes."""
_LOOK = 0.2
"""Polling interval for the exit of the launcher, in seconds."""


def run(emulator: Path, processes: int, plan: str, arguments: Sequence[str]) -> list[dict[str, Any] | None]:
    """Runs a plan on the standard output; returns the last report of each process, None without a report.

    If a process failed, returns its report only, since its failure ended the others. RunDied or
    InputError if they do not start.
    """
    start = mpi_launcher.launcher()
    far = mpi_launcher.elsewhere()
    sys.stdout.flush()
    token = secrets.token_hex(16)
    with socket.create_server(("" if far else "127.0.0.1", 0), backlog=3 * processes) as listener:
        host, port = socket.gethostname() if far else "127.0.0.1", str(listener.getsockname()[1])
        command = [str(emulator), "--mpi", str(start.library), host, port, token, *arguments]
        with (
            tempfile.TemporaryFile() as output,
            mpi_launcher.started(start.command(processes, command), token, stdout=output, stderr=output) as child,
        ):
            server = _Server(listener, processes, token, plan, child)
            try:
                return server.run()
            except _Lost:
                output.seek(0)
                lines = output.read().decode(errors="replace").splitlines()
                raise mpi_launcher.failure(child.wait(), lines) from None
            finally:
                server.close()


class _Lost(Exception):
    """All processes ended before one connected."""


class _Server:
    """Accepts the connections of the processes and reads their reports and output."""

    def __init__(
        self, listener: socket.socket, processes: int, token: str, plan: str, child: subprocess.Popen[bytes]
    ) -> None:
        self._listener, self._token, self._child = listener, token, child
        self._plan = plan.encode()
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._open: set[socket.socket] = set()
        self._links: dict[int, socket.socket] = {}
        self._texts = dict.fromkeys(range(processes), b"")
        self._accepted = self._closed = 0
        self._failure: dict[str, Any] | None = None
        self._deadline: float | None = None

    def run(self) -> list[dict[str, Any] | None]:
        """Serves until all processes have reported and closed their streams, or the grace period has expired."""
        expected = 3 * len(self._texts)
        try:
            while self._closed < expected and not self._settled():
                for key, _ in self._selector.select(_LOOK):
                    key.data(key.fileobj)
                if self._deadline is not None:
                    if time.monotonic() > self._deadline:
                        break
                elif self._child.poll() is not None and not self._pending():
                    break
        except BaseException:
            self._request_end()
            self._settle()
            raise
        if not self._accepted:
            raise _Lost
        if self._failure is not None:
            return [self._failure]
        return [self._last(number) for number in self._texts]

    def _pending(self) -> bool:
        """Whether data or connections remain unread after the launcher has ended."""
        return bool(self._selector.select(0))

    def _settled(self) -> bool:
        """Whether all processes wait for the command: each has reported its failure and closed its streams."""
        reported = all(text.endswith(b"\n") for text in self._texts.values())
        streams = sum(one not in self._links.values() for one in self._open)
        outcomes = [self._last(number) for number in self._texts] if reported and not streams else []
        return bool(outcomes) and all(one is not None and one["outcome"] != "done" for one in outcomes)

    def _settle(self) -> None:
        """Serves during the grace period after a request to end."""
        deadline = time.monotonic() + _GRACE
        while self._open and not self._settled() and time.monotonic() < deadline:
            for key, _ in self._selector.select(_LOOK):
                key.data(key.fileobj)
            if self._child.poll() is not None and not self._pending():
                break

    def _last(self, number: int) -> dict[str, Any] | None:
        lines = self._texts[number].splitlines()
        found: dict[str, Any] | None = json.loads(lines[-1]) if lines else None
        return found

    def _accept(self, listener: socket.socket) -> None:
        link, _ = listener.accept()
        link.settimeout(_GRACE)
        hello = b""
        try:
            # Three short fields; the process sends nothing more before the reply.
            while not hello.endswith(b"\n") and len(hello) < 100:
                got = link.recv(1)
                if not got:
                    break
                hello += got
        except OSError:
            pass
        fields = hello.decode(errors="replace").split()
        if len(fields) != 3 or not secrets.compare_digest(fields[0], self._token):
            link.close()
            return
        self._accepted += 1
        number, kind = int(fields[1]), fields[2]
        self._open.add(link)
        if kind == "report":
            self._links[number] = link
            link.sendall(f"{len(self._plan)}\n".encode() + self._plan)
            self._selector.register(link, selectors.EVENT_READ, lambda one: self._report(one, number))
            if self._failure is not None:
                self._request_end()
        else:
            to = 1 if kind == "out" else 2
            self._selector.register(link, selectors.EVENT_READ, lambda one: self._forward(one, to))

    def _read(self, link: socket.socket) -> bytes:
        try:
            got = link.recv(1 << 16)
        except ConnectionError:
            got = b""
        if not got:
            self._selector.unregister(link)
            self._open.discard(link)
            link.close()
            self._closed += 1
        return got

    def _forward(self, link: socket.socket, to: int) -> None:
        data = memoryview(self._read(link))
        while data:
            data = data[os.write(to, data) :]

    def _report(self, link: socket.socket, number: int) -> None:
        got = self._read(link)
        self._texts[number] += got
        last = self._last(number) if self._texts[number].endswith(b"\n") else None
        if self._failure is None and not got and last is None:
            # The process exited without a report, so the launcher kills the others now.
            self._failure = {"outcome": "gone", "process": number}
        elif self._failure is None and got and last is not None and last["outcome"] in ("failed", "exit"):
            self._failure = last
        if self._failure is not None and self._deadline is None:
            self._deadline = time.monotonic() + _GRACE
            self._request_end()

    def _request_end(self) -> None:
        """Requests all processes to end."""
        for link in self._links.values():
            with contextlib.suppress(OSError):
                link.sendall(b"e")

    def close(self) -> None:
        """Closes all connections, which lets the processes exit."""
        for link in self._open:
            link.close()
        self._selector.close()


__all__ = ["run"]
