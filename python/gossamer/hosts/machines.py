# SPDX-License-Identifier: Apache-2.0
"""The machines of a job: a file that lists them, and the check that each can be reached."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from gossamer.errors import InputError

_AGENT = "GOSSAMER_RSH"
_LINE = re.compile(r"([A-Za-z0-9_.-]+)(?::([0-9]+)|\s+slots\s*=\s*([0-9]+))?")
_MOST_SLOTS = 65536
_PATIENCE = 10.0
"""Seconds in which a machine must answer."""
_AT_ONCE = 32
"""Machines that are checked at the same time."""


@dataclass(frozen=True)
class Machine:
    """A machine, and how many ranks it has."""

    name: str
    slots: int


@dataclass(frozen=True)
class Machines:
    """The machines of a job, and the program that starts a command on one of them: ``AGENT HOST COMMAND...``."""

    all: tuple[Machine, ...]
    agent: str

    @property
    def slots(self) -> int:
        """The number of ranks that the machines have."""
        return sum(machine.slots for machine in self.all)

    def check(self) -> None:
        """Raises InputError for a machine that cannot be reached, or that has no environment at this one's path."""
        away = [one.name for one in self.all if one.name not in ("localhost", socket.gethostname(), socket.getfqdn())]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for problem in pool.map(self._problem, away):
                if problem:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise InputError(f"--hosts: {problem}")

    def _problem(self, name: str) -> str:
        # ssh would ask for a password, and wait for minutes for a machine that is off.
        quick = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=5"] if Path(self.agent).name == "ssh" else []
        try:
            done = subprocess.run(
                [self.agent, *quick, name, "test", "-x", shlex.quote(sys.executable)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{name} does not answer within {_PATIENCE:g} s"
        except OSError as error:
            return f"{self.agent} cannot be started: {error.strerror}"
        if done.returncode == 0:
            return ""
        said = next((line.strip() for line in done.stderr.splitlines()[::-1] if line.strip()), "")
        if done.returncode == 1 and not said:
            return f"{name} has no {sys.executable}; all machines need this checkout under the same path"
        return f"{name} cannot be reached with {Path(self.agent).name}: {said or f'exit code {done.returncode}'}"


def read(path: str | os.PathLike[str]) -> Machines:
    """The machines in a file, one a line: ``HOST``, ``HOST:SLOTS`` or ``HOST slots=SLOTS``; ``#`` begins a comment.

    A machine has one slot if the line has no number; the slots of equal names are added. The agent is ``ssh``, or the
    program in GOSSAMER_RSH. Raises InputError with the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is not a text file"
        raise InputError(f"--hosts {os.fspath(path)}: {why}") from None
    slots: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        found = _LINE.fullmatch(line)
        count = int(found[2] or found[3] or 1) if found else 0
        if found is None or not 1 <= count <= _MOST_SLOTS:
            raise InputError(f"{os.fspath(path)}:{number}: {line!r}: give HOST, HOST:SLOTS or HOST slots=SLOTS")
        slots[found[1]] = slots.get(found[1], 0) + count
    if not slots:
        raise InputError(f"--hosts {os.fspath(path)}: has no machine; write the name of one on each line")
    return Machines(tuple(Machine(*one) for one in slots.items()), _agent())


def _agent() -> str:
    words: Sequence[str] = [os.environ.get(_AGENT) or "ssh"]
    found = shutil.which(words[0])
    if found is None:
        raise InputError(f"--hosts: {words[0]} not found; install it, or name a program in {_AGENT}")
    return found


__all__ = ["Machine", "Machines", "read"]
