# SPDX-License-Identifier: Apache-2.0
"""Multicast file transfer programs as peers: Debian's ``uftp`` and ``udpcast``, each with its fastest settings here.

Rates of uftp: unlimited, 1 Gbit/s and its congestion control were tried; unlimited and 1 Gbit/s are equal within 7 %.
udpcast: half and full duplex are equal within 10 %. Receivers write to memory (/dev/shm) where the system has it.
"""

from __future__ import annotations

import contextlib
import filecmp
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import gossamer_setup
from gossamer.errors import RunDied
from gossamer.shell.namespaces import PORT, Lan

_TIMEOUT = 120.0
_BUFFER = 8_000_000


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="gossamer-peer-", dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def _transfer(
    what: str, lan: Lan, receivers: list[list[object]], sender: list[object], copies: list[Path], file: Path
) -> float:
    """Seconds of the sender. Raises RunDied if a receiver has another file."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(receivers, 1):
            started.append(
                subprocess.Popen(
                    lan.command(number, command),
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )
            )  # fmt: skip
        # They print nothing when they can receive; the sender repeats its first message anyway.
        time.sleep(0.5)
        begun = time.monotonic()
        try:
            subprocess.run(
                lan.command(0, sender), stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            raise RunDied(f"{what} did not end within {_TIMEOUT:g} s") from None
        seconds = time.monotonic() - begun
        time.sleep(0.2)
    finally:
        for one in started:
            one.terminate()
        for one in started:
            one.wait()
    if not all(copy.exists() and filecmp.cmp(file, copy, shallow=False) for copy in copies):
        raise RunDied(f"{what}: a receiver has not received the file")
    return seconds


def uftp(lan: Lan, count: int, data: bytes) -> float:
    """Seconds to send ``data`` to ``count`` receivers with uftp. Raises RunDied if it fails."""
    sender, receiver = gossamer_setup.program("uftp", "uftp"), gossamer_setup.program("uftpd", "uftp")
    with _folder() as folder:
        file = folder / "image"
        file.write_bytes(data)
        places = [folder / str(number) for number in range(1, count + 1)]
        for place in places:
            place.mkdir()
        # Each receiver has a number of its own, which the sender waits for.
        names = [hex(0x1000 + number) for number in range(1, count + 1)]
        receivers: list[list[object]] = [
            [receiver, "-d", "-I", PORT, "-B", _BUFFER, "-D", place, "-U", name]
            for place, name in zip(places, names, strict=True)
        ]
        command = [sender, "-I", PORT, "-B", _BUFFER, "-R", -1, "-b", lan.mtu - 100, "-H", ",".join(names), file]
        return _transfer("uftp", lan, receivers, command, [place / "image" for place in places], file)


def udpcast(lan: Lan, count: int, data: bytes) -> float:
    """Seconds to send ``data`` to ``count`` receivers with udpcast. Raises RunDied if it fails."""
    sender = gossamer_setup.program("udp-sender", "udpcast")
    receiver = gossamer_setup.program("udp-receiver", "udpcast")
    with _folder() as folder:
        file = folder / "image"
        file.write_bytes(data)
        copies = [folder / str(number) for number in range(1, count + 1)]
        common = ["--interface", PORT, "--nokbd", "--no-progress", "--file"]
        receivers: list[list[object]] = [[receiver, "--nosync", "--rcvbuf", _BUFFER, *common, copy] for copy in copies]
        command = [sender, "--min-receivers", count, *common, file]
        return _transfer("udpcast", lan, receivers, command, copies, file)


__all__ = ["udpcast", "uftp"]
