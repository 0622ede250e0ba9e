# SPDX-License-Identifier: Apache-2.0
"""A simulated switch and boards, as processes of a test."""

from __future__ import annotations

import hashlib
import random
import subprocess
from pathlib import Path

from conftest import ROOT

from gossamer.shell import Host, _build, _firmware

KEY = bytes(range(32))
ROLE = ROOT / "tests" / "fixtures" / "shell" / "loopback.c"


def mac(number: int) -> int:
    return 0x02_00_00_00_01_00 + number


def mac_bytes(number: int) -> bytes:
    return mac(number).to_bytes(6, "big")


class Cluster:
    """A switch and boards, as processes. With ``rtl``, all boards have the shell's RTL."""

    def __init__(self, folder: Path, *, rtl: bool = False) -> None:
        self.folder, self.programs, self.rtl = folder, _build.folder(), rtl
        self.socket = str(folder / "switch")
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def start_switch(self, *options: str) -> None:
        command = [self.programs / "shell_switch", self.socket, *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.processes["switch"] = process
        assert process.stdout is not None and process.stdout.readline() == "ready\n"

    def start_board(self, number: int, *options: str) -> None:
        if self.rtl:
            self.start_rtl(number, *options)
            return
        address = mac_bytes(number).hex(":")
        words = ["--port", self.socket, "--mac", address, "--key", KEY.hex(), "--serial", str(number)]
        command = [self.programs / "shell_twin", *words, *options]
        self.processes[f"board {number}"] = subprocess.Popen(command, text=True)

    def start_rtl(self, number: int, *options: str) -> None:
        """A board whose shell is the RTL."""
        words = [
            "--port",
            self.socket,
            "--mac",
            mac_bytes(number).hex(":"),
            "--key",
            KEY.hex(),
            "--serial",
            str(number),
        ]
        command = [_build.rtl_board(), f"+firmware={_firmware.shell()}", *words, *options]
        self.processes[f"board {number}"] = subprocess.Popen(command, text=True)

    def kill_board(self, number: int) -> None:
        process = self.processes.pop(f"board {number}")
        process.kill()
        process.wait()

    def host(self, boards: int) -> Host:
        return Host(self.socket, {mac(number): KEY for number in range(1, boards + 1)})

    def end(self) -> None:
        """Ends all processes. Boards first, since a board without its switch ends with an error."""
        ended = {name: code for name, process in self.processes.items() if (code := process.poll()) is not None}
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            process.wait(timeout=10)
            if process.stdout is not None:
                process.stdout.close()
        assert not ended, f"ended on their own, with these codes: {ended}"


def start(cluster: Cluster, boards: int, *options: str) -> None:
    cluster.start_switch(*options)
    for number in range(1, boards + 1):
        cluster.start_board(number)


def role_file(padding: int = 0) -> bytes:
    """The loopback role; a shared object may have any bytes after its end."""
    return _build.role(ROLE).read_bytes() + random.Random(padding).randbytes(padding)


def root(role: bytes) -> bytes:
    """The root hash of a role file, by hashlib."""
    blocks = [hashlib.blake2s(role[at : at + 65536]).digest()[:16] for at in range(0, len(role), 65536)]
    return hashlib.blake2s(b"".join(blocks)).digest()
