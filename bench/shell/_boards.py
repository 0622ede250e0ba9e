# SPDX-License-Identifier: Apache-2.0
"""Simulated boards of a measurement: twins as processes, on a bridge of namespaces or on a switch's socket."""

from __future__ import annotations

import contextlib
import functools
import random
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer import builds, diagnostics
from gossamer.config import constants
from gossamer.errors import InputError, RunDied
from gossamer.paths import INCLUDE, ROOT
from gossamer.shell import Host, _build, mac_text, namespaces
from gossamer.shell.namespaces import PORT, Lan

KEY = bytes(range(32))
_PATIENCE = 30.0
_PORT = ("port", "frame", "blake2s", "blake2s_block", "blake2s_core")
"""Sources of the port that the raw broadcast shares with boards and hosts."""


@functools.cache
def raw() -> Path:
    """The program of the raw broadcast, built if necessary."""
    flags = ["-std=c++20", "-O3", "-march=native", f"-I{_build.constants()}", f"-I{INCLUDE}", f"-I{ROOT / 'src'}"]
    sources = [Path(__file__).with_name("raw.cc"), *(_build.SOURCES / f"{name}.cc" for name in _PORT)]

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the raw broadcast failed: {diagnostics.first_error(said, ROOT)} (all in {log})")

    def steps(plan: builds.Plan) -> None:
        plan.link("raw", [plan.compile(source, flags) for source in sources])

    return builds.kept(f"shell-raw-{builds.tag(*flags)}", steps, failed) / "raw"


def image(count: int, seed: int) -> bytes:
    """A role file of ``count`` bytes: a role that sums words, and random bytes after its end."""
    role = _build.role(ROOT / "tests" / "fixtures" / "shell" / "loopback.c").read_bytes()
    return role + random.Random(seed).randbytes(count - len(role))


class Boards:
    """Twins at a port, numbered from 1."""

    def __init__(self, count: int) -> None:
        self.macs = [namespaces.mac(number) for number in range(1, count + 1)]
        self.processes: list[subprocess.Popen[bytes]] = []

    def host(self) -> Host:
        """A host with the keys of all boards."""
        raise NotImplementedError

    def opened(self) -> Host:
        """A host with sessions of all boards. Raises RunDied if a board does not announce itself."""
        host = self.host()
        end = time.monotonic() + _PATIENCE
        while not {board.mac for board in host.discover(0.02)} >= set(self.macs):
            if time.monotonic() > end:
                raise RunDied("simulated boards have not announced themselves in time")
        for mac in self.macs:
            host.open(mac, lease=30.0)
        return host

    def end(self) -> None:
        """Ends the twins."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()
        self.processes.clear()


def _twin(mac: int, port: str) -> list[str]:
    return [str(_build.folder() / "shell_twin"), "--port", port, "--mac", mac_text(mac), "--key", KEY.hex()]


class _OnLan(Boards):
    def __init__(self, lan: Lan, count: int, reserve: int) -> None:
        super().__init__(count)
        self._lan = lan
        memory = ["--reserve", str(reserve)] if reserve else []
        for number, mac in enumerate(self.macs, 1):
            self.processes.append(subprocess.Popen(lan.command(number, [*_twin(mac, PORT), *memory])))

    def host(self) -> Host:
        with self._lan.inside(0):
            return Host(PORT, dict.fromkeys(self.macs, KEY))


class _OnSwitch(Boards):
    def __init__(self, socket: str, count: int) -> None:
        super().__init__(count)
        self._socket = socket
        for mac in self.macs:
            self.processes.append(subprocess.Popen(_twin(mac, socket)))

    def host(self) -> Host:
        return Host(self._socket, dict.fromkeys(self.macs, KEY))


@contextlib.contextmanager
def on_lan(lan: Lan, count: int, reserve: int = 0) -> Iterator[Boards]:
    """Twins at the stations 1 to ``count`` of a network of namespaces.

    ``reserve``: bytes of memory for images that exist from the start, as on a board.
    """
    boards = _OnLan(lan, count, reserve)
    try:
        yield boards
    finally:
        boards.end()


@contextlib.contextmanager
def on_switch(count: int, *options: str) -> Iterator[Boards]:
    """Twins on a switch with its options; needs no root."""
    with tempfile.TemporaryDirectory(prefix="gossamer-shell-") as name:
        socket = str(Path(name) / "switch")
        command = [str(_build.folder() / "shell_switch"), socket, *options]
        switch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert switch.stdout is not None
            if switch.stdout.readline() != "ready\n":
                raise RunDied("the simulated switch did not start")
            boards = _OnSwitch(socket, count)
            try:
                yield boards
            finally:
                boards.end()
        finally:
            switch.terminate()
            switch.communicate()


@contextlib.contextmanager
def slowed(process: subprocess.Popen[bytes], share: float, period: float = 0.05) -> Iterator[None]:
    """A process that runs only a share of the time."""
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            process.send_signal(signal.SIGSTOP)
            done.wait(period * (1 - share))
            process.send_signal(signal.SIGCONT)
            done.wait(period * share)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        process.send_signal(signal.SIGCONT)


def raw_seconds(lan: Lan, count: int, size: int) -> tuple[float, float]:
    """Seconds of a raw broadcast to ``count`` receivers, and the least share of its frames that one has received."""
    arguments = ["-", size, lan.mtu]
    receivers: list[subprocess.Popen[str]] = []
    try:
        for number in range(1, count + 1):
            command = lan.command(number, [raw(), "receive", PORT, *arguments])
            receivers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        for one in receivers:
            _line(one)
        command = lan.command(0, [raw(), "send", PORT, *arguments])
        sender = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            begun = float(_line(sender)[0])
            found = [_line(one) for one in receivers]
        finally:
            sender.communicate("")
    finally:
        for one in receivers:
            one.kill()
            one.communicate()
    chunk = constants.value(f"shell_chunk_bytes_{9000 if lan.mtu >= 9000 else 1500}")
    frames = -(-size // chunk)
    return max(float(line[1]) for line in found) - begun, min(int(line[0]) for line in found) / frames


def _line(process: subprocess.Popen[str]) -> Sequence[str]:
    assert process.stdout is not None
    line = process.stdout.readline().split()
    if not line:
        raise RunDied("the raw broadcast failed")
    return line


__all__ = ["KEY", "Boards", "image", "on_lan", "on_switch", "raw", "raw_seconds", "slowed"]
