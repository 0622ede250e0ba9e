# SPDX-License-Identifier: Apache-2.0
"""Simulated boards on a simulated switch, as processes that outlive the command that started them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from gossamer.errors import InputError
from gossamer.paths import ROOT
from gossamer.shell import _build, _firmware, keys
from gossamer.shell.host import Host

_FIRST_MAC = 0x02_67_73_00_00_00
_PATIENCE = 10.0
_RUNS = "a simulated cluster runs already; end it with ./gossamer cluster sim down"


def folder() -> Path:
    """Where the running simulation of this checkout is described. A socket's path is limited to 107 bytes, so it is not
    in the checkout."""
    name = f"gossamer-{os.getuid()}-{hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]}"
    return Path(tempfile.gettempdir()) / name


@dataclass(frozen=True)
class Running:
    """A simulation that runs: its switch's socket, its key file, and its processes."""

    socket: str
    keys: str
    boards: int
    processes: tuple[tuple[int, int], ...]
    """Each process's number, and the time of its start in clock ticks, which a later process of that number has not."""


def _started(pid: int) -> int | None:
    """The start of a process in clock ticks since boot; None if it has ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] == "Z" else int(fields[19])
    return None


def running() -> Running | None:
    """The simulation of this checkout; None if its switch does not run."""
    try:
        found = json.loads((folder() / "running.json").read_text(encoding="utf-8"))
        processes = tuple((int(pid), int(start)) for pid, start in found["processes"])
        one = Running(str(found["socket"]), str(found["keys"]), int(found["boards"]), processes)
        pid, start = one.processes[0]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return one if _started(pid) == start else None


def up(boards: int, switch_options: Sequence[str] = (), board_options: Sequence[str] = (), *, rtl: int = 0) -> Running:
    """Starts a switch and boards, of which the first ``rtl`` are simulations of the shell's RTL, the others software.

    Raises InputError if a simulation runs already, or if a process does not start.
    """
    if running() is not None:
        raise InputError(_RUNS)
    programs = _build.folder()
    hardware = (_build.rtl_board(), f"+firmware={_firmware.shell()}") if rtl else ()
    where = folder()
    with contextlib.suppress(FileExistsError):
        where.mkdir(mode=0o700)
    if where.stat().st_uid != os.getuid() or where.is_symlink():
        raise InputError(f"{where}: belongs to another user; remove it or set TMPDIR")
    with open(where / "lock", "w", encoding="utf-8") as lock:
        # Of two commands at once the later one finds the cluster of the other.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if running() is not None:
            raise InputError(_RUNS)
        return _up(where, boards, switch_options, board_options, programs, hardware, rtl)


def _up(
    where: Path,
    boards: int,
    switch_options: Sequence[str],
    board_options: Sequence[str],
    programs: Path,
    hardware: Sequence[str | Path],
    rtl: int,
) -> Running:
    """Starts the processes of `up`: the first ``rtl`` boards with the command ``hardware``."""
    socket = where / "switch"
    socket.unlink(missing_ok=True)
    macs = [_FIRST_MAC + number for number in range(1, boards + 1)]
    made = keys.make(macs)
    keys.write(where / "keys.json", made)
    started: list[subprocess.Popen[str]] = []
    log = (where / "log").open("w", encoding="utf-8")

    def start(command: Sequence[str | Path], wait: bool) -> None:
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if wait else log,
            stderr=log,
            start_new_session=True,
            text=True,
        )
        started.append(process)
        if wait:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise InputError(f"the switch did not start: {_last(where / 'log')}")

    try:
        start([programs / "shell_switch", socket, *switch_options], True)
        # A setting that a host rejects would end the boards, which nothing waits for.
        Host(str(socket)).free()
        for number, mac in enumerate(macs, 1):
            words = ["--port", socket, "--mac", keys.mac_text(mac), "--key", made[mac].hex(), "--serial", number]
            stored = where / f"key-{number}"
            stored.unlink(missing_ok=True)
            words += ["--key-file", stored]
            program = hardware if number <= rtl else (programs / "shell_twin",)
            start([*program, *map(str, words), *board_options], False)
        processes = tuple((one.pid, _started(one.pid) or 0) for one in started)
        found = Running(str(socket), str(where / "keys.json"), boards, processes)
        (where / "running.json").write_text(json.dumps(asdict(found)), encoding="utf-8")
    except BaseException:
        for one in started:
            one.kill()
            one.wait()
            if one.stdout is not None:
                one.stdout.close()
        raise
    finally:
        log.close()
    return found


def _last(path: Path) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it printed nothing"


def down() -> int:
    """Ends the simulation; the number of its boards. Raises InputError if none runs."""
    found = running()
    if found is None:
        raise InputError("no simulated cluster runs in this checkout; start one with ./gossamer cluster sim up 4")
    alive = [pid for pid, start in found.processes if _started(pid) == start]
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        end = time.monotonic() + _PATIENCE
        while alive and time.monotonic() < end:
            alive = [pid for pid, start in found.processes if _started(pid) == start]
            time.sleep(0.01)
    stored = [f"key-{number}" for number in range(1, found.boards + 1)]
    for name in ("running.json", "switch", "keys.json", "log", *stored):
        (folder() / name).unlink(missing_ok=True)
    return found.boards


__all__ = ["Running", "down", "folder", "running", "up"]
