# SPDX-License-Identifier: Apache-2.0
"""The emulator as several processes that MPI starts, maybe on other machines.

What starts them mixes their output with words of its own, and kills all of them when one is gone. So each connects to
an address of ours: for its report, and for what its ranks write. When one has failed, all are asked to end; they write
what is left, report, and wait until we let them go.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.errors import RunDied
from gossamer.hosts import mpi_launcher
from gossamer.paths import ROOT
from gossamer_setup._signals import SIGNALS

_SOURCES = ROOT / "src" / "smi" / "mpi"
_GRACE = 5.0
"""Seconds that processes have to end once they are asked to, before they are killed."""
_LOOK = 0.2
"""Seconds between two looks at whether what starts them still runs."""


def run(emulator: Path, processes: int, plan: str, arguments: Sequence[str]) -> list[dict[str, Any] | None]:
    """Runs a plan with our standard output; the last report of each process, or None where it gave none.

    The report of a process that failed comes alone: the others were ended because of it. RunDied if they do not start.
    """
    start, library = mpi_launcher.launcher(_SOURCES)
    far = mpi_launcher.elsewhere()
    sys.stdout.flush()
    token = secrets.token_hex(16)
    with socket.create_server(("" if far else "127.0.0.1", 0), backlog=3 * processes) as listener:
        host, port = socket.gethostname() if far else "127.0.0.1", str(listener.getsockname()[1])
        words = [str(emulator), "--mpi", str(library), host, port, token, *arguments]
        with tempfile.TemporaryFile() as said, _started([*start, "-n", str(processes), *words], said) as child:
            attendant = _Attendant(listener, processes, token, plan, child)
            try:
                return attendant.run()
            except _Lost:
                said.seek(0)
                lines = said.read().decode(errors="replace").splitlines()
                first = next((line for line in lines if line.strip(" =")), "and nothing was said")
                raise RunDied(f"the processes did not start: {first}") from None
            finally:
                attendant.close()


class _Lost(Exception):
    """All processes are gone before one has come to us."""


@contextlib.contextmanager
def _started(command: Sequence[str], said: Any) -> Any:
    """What starts the processes, which is gone in the end, and they with it."""
    with SIGNALS.held():
        # Ctrl-C is for us, and what starts ranks would end them before they have written everything.
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True, cwd=os.getcwd()
        )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            if child.poll() is None:
                child.terminate()
        try:
            child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


class _Attendant:
    """Takes the processes' connections, and what comes over them."""

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
        self._came = self._gone = 0
        self._over: dict[str, Any] | None = None
        self._until: float | None = None

    def run(self) -> list[dict[str, Any] | None]:
        """Until all have reported and closed their streams, or one has said that it is over and time is up."""
        wanted = 3 * len(self._texts)
        try:
            while self._gone < wanted and not self._settled():
                for key, _ in self._selector.select(_LOOK):
                    key.data(key.fileobj)
                if self._until is not None:
                    if time.monotonic() > self._until:
                        break
                elif self._child.poll() is not None and not self._pending():
                    break
        except BaseException:
            self._ask()
            self._settle()
            raise
        if not self._came:
            raise _Lost
        if self._over is not None:
            return [self._over]
        return [self._last(number) for number in self._texts]

    def _pending(self) -> bool:
        """Whether there is more to read of what starts them left behind when it ended."""
        return bool(self._selector.select(0))

    def _settled(self) -> bool:
        """Whether all have reported why they wait for us: their streams are closed by then."""
        reported = all(text.endswith(b"\n") for text in self._texts.values())
        streams = sum(one not in self._links.values() for one in self._open)
        outcomes = [self._last(number) for number in self._texts] if reported and not streams else []
        return bool(outcomes) and all(one is not None and one["outcome"] != "done" for one in outcomes)

    def _settle(self) -> None:
        """Gives processes that were asked to end the time for it."""
        until = time.monotonic() + _GRACE
        while self._open and not self._settled() and time.monotonic() < until:
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
            # Three short words, and nothing behind them until we have answered.
            while not hello.endswith(b"\n") and len(hello) < 100:
                got = link.recv(1)
                if not got:
                    break
                hello += got
        except OSError:
            pass
        words = hello.decode(errors="replace").split()
        if len(words) != 3 or not secrets.compare_digest(words[0], self._token):
            link.close()
            return
        self._came += 1
        number, kind = int(words[1]), words[2]
        self._open.add(link)
        if kind == "report":
            self._links[number] = link
            link.sendall(f"{len(self._plan)}\n".encode() + self._plan)
            self._selector.register(link, selectors.EVENT_READ, lambda one: self._report(one, number))
            if self._over is not None:
                self._ask()
        else:
            to = 1 if kind == "out" else 2
            self._selector.register(link, selectors.EVENT_READ, lambda one: self._pass_on(one, to))

    def _read(self, link: socket.socket) -> bytes:
        try:
            got = link.recv(1 << 16)
        except ConnectionError:
            got = b""
        if not got:
            self._selector.unregister(link)
            self._open.discard(link)
            link.close()
            self._gone += 1
        return got

    def _pass_on(self, link: socket.socket, to: int) -> None:
        data = memoryview(self._read(link))
        while data:
            data = data[os.write(to, data) :]

    def _report(self, link: socket.socket, number: int) -> None:
        got = self._read(link)
        self._texts[number] += got
        last = self._last(number) if self._texts[number].endswith(b"\n") else None
        if self._over is None and not got and last is None:
            # It is gone without a word: what starts processes kills the others now.
            self._over = {"outcome": "gone", "process": number}
        elif self._over is None and got and last is not None and last["outcome"] in ("failed", "exit"):
            self._over = last
        if self._over is not None and self._until is None:
            self._until = time.monotonic() + _GRACE
            self._ask()

    def _ask(self) -> None:
        """Asks all processes to end."""
        for link in self._links.values():
            with contextlib.suppress(OSError):
                link.sendall(b"e")

    def close(self) -> None:
        """Lets the processes go."""
        for link in self._open:
            link.close()
        self._selector.close()


__all__ = ["run"]
