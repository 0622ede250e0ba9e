# SPDX-License-Identifier: Apache-2.0
"""What users ask of boards: configure them, load input, execute a kernel. A command does it at the port itself, or asks
the manager that has the sessions, through its store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gossamer.errors import InputError, RunDied
from gossamer.shell.host import BROADCAST, BoardError, Host, mac_text, parse_mac, status_text
from gossamer.shell.store import Store

RUN_BITS = 40
LOAD_BYTES = 1 << 20
"""Bytes that are written to a board before others have their turn."""
_UNCONFIRMED = 0.99
Shares = Callable[[Mapping[int, float]], object]
"""Gets the share that is done, 0 to 1, by board."""


@dataclass(frozen=True)
class Outcome:
    """The end of a kernel on a board."""

    cycles: int = 0
    result: bytes | None = None
    error: str | None = None


class Boards(Protocol):
    """Boards that a user works with."""

    @property
    def macs(self) -> Sequence[int]: ...

    def configure(
        self,
        role: bytes,
        board_type: int,
        *,
        unicast: bool,
        drop_after: float,
        progress: Shares,
        group: int = BROADCAST,
    ) -> dict[int, tuple[str, float]]:
        """Loads a role on all boards at once; status (a name of shell_status) and seconds by board.

        ``group`` is the destination of the role's frames: `BROADCAST` or an Ethernet address of a group.
        """
        ...

    def load(self, address: int, data: bytes, progress: Shares) -> dict[int, str]:
        """Stores bytes in the memory of each board; an empty text or the error by board."""
        ...

    def execute(
        self, kernel: int, registers: Mapping[int, int], timeout: float, progress: Shares
    ) -> dict[int, Outcome]:
        """Runs a kernel on all boards, started by one frame."""
        ...


def shares(host: Host, macs: Sequence[int], sent: int, total: int) -> dict[int, float]:
    """How far the configuration of each board is, in the callback of `Host.configure`.

    Before a board has reported what it misses, it is taken to have received nearly all that was sent.
    """
    found = {}
    for mac in macs:
        missing = host.missing(mac)
        found[mac] = min(sent / max(total, 1), _UNCONFIRMED) if missing is None else 1 - missing / max(total, 1)
    return found


class Direct:
    """Boards at a port of this machine, in sessions of this process. ``open`` raises InputError if one is not free."""

    def __init__(self, host: Host, macs: Sequence[int]) -> None:
        self._host, self.macs = host, tuple(macs)

    def open(self, *, take_over: bool) -> None:
        """Opens the sessions."""
        for mac in self.macs:
            try:
                self._host.open(mac, take_over=take_over)
            except BoardError as error:
                self.close()
                raise InputError(str(error)) from None

    def close(self) -> None:
        """Ends the sessions."""
        for mac in self.macs:
            with contextlib.suppress(RunDied):
                self._host.close(mac)

    def configure(
        self,
        role: bytes,
        board_type: int,
        *,
        unicast: bool,
        drop_after: float,
        progress: Shares,
        group: int = BROADCAST,
    ) -> dict[int, tuple[str, float]]:
        def update(sent: int, total: int, _done: int) -> None:
            progress(shares(self._host, self.macs, sent, total))

        return self._host.configure(
            self.macs, role, board_type, unicast=unicast, group=group, drop_after=drop_after, progress=update
        )

    def load(self, address: int, data: bytes, progress: Shares) -> dict[int, str]:
        found: dict[int, str] = {}
        for at in range(0, max(len(data), 1), LOAD_BYTES):
            for mac in self.macs:
                if mac in found:
                    continue
                try:
                    self._host.write(mac, address + at, data[at : at + LOAD_BYTES])
                except BoardError as error:
                    found[mac] = str(error)
            progress(dict.fromkeys(self.macs, min(1.0, (at + LOAD_BYTES) / max(len(data), 1))))
        return {mac: found.get(mac, "") for mac in self.macs}

    def execute(
        self, kernel: int, registers: Mapping[int, int], timeout: float, progress: Shares
    ) -> dict[int, Outcome]:
        run = time.time_ns() & (1 << RUN_BITS) - 1 | 1
        ended: dict[int, Outcome] = {}
        running = start(self._host, self.macs, kernel, registers, run, ended)
        until = time.monotonic() + timeout
        while running:
            self._host.pump(0.005)
            for mac in list(running):
                outcome = collect(self._host, mac, run)
                if outcome is None and time.monotonic() > until:
                    outcome = Outcome(error=f"board {mac_text(mac)}: the kernel runs longer than {timeout:g} s")
                if outcome is not None:
                    ended[mac] = outcome
                    running.remove(mac)
            progress(dict.fromkeys(ended, 1.0))
        return ended


def start(
    host: Host, macs: Sequence[int], kernel: int, registers: Mapping[int, int], run: int, failed: dict[int, Outcome]
) -> list[int]:
    """Starts a kernel on boards with one frame; those that run. The others are added to ``failed``."""
    able = []
    for mac in macs:
        try:
            if registers:
                host.write_registers(mac, registers)
            able.append(mac)
        except BoardError as error:
            failed[mac] = Outcome(error=str(error))
    running = []
    for mac, status in (host.start_each(able, kernel, run) if able else {}).items():
        if status == "ok":
            running.append(mac)
        else:
            failed[mac] = Outcome(error=f"board {mac_text(mac)}: start: {status_text(status)}")
    return running


def collect(host: Host, mac: int, run: int) -> Outcome | None:
    """The end of a run with its result; None while it runs."""
    try:
        cycles, count = host.wait(mac, run, timeout=0.0)
        result = host.result(mac, count, run) if count else b""
        host.finish(mac, run)
        return Outcome(cycles, result)
    except BoardError as error:
        if error.status == "timed_out" and (age := host.age(mac)) is not None and age < 3:
            return None
        return Outcome(error=str(error))


class Managed:
    """Boards of the manager that runs; requests wait in its store until the boards' tasks have ended."""

    def __init__(self, store: Store, macs: Sequence[int], user: str, runs: Callable[[], bool]) -> None:
        self._store, self.macs, self._user, self._runs = store, tuple(macs), user, runs

    def _ask(self, kind: str, options: Mapping[str, Any], data: bytes, progress: Shares) -> dict[int, Any]:
        number = self._store.request(self._user, kind, self.macs, options, data)
        try:
            while True:
                alive = self._runs()
                state, done, results = self._store.request_state(number)
                if state == "done":
                    return {parse_mac(mac): value for mac, value in results.items()}
                if state == "lost" or not alive:
                    raise RunDied("the manager has ended; start it with ./gossamer cluster manager, then try again")
                progress({parse_mac(mac): share for mac, share in done.items()})
                time.sleep(0.05)
        finally:
            self._store.forget_request(number)

    def configure(
        self,
        role: bytes,
        board_type: int,
        *,
        unicast: bool,
        drop_after: float,
        progress: Shares,
        group: int = BROADCAST,
    ) -> dict[int, tuple[str, float]]:
        options = {"board_type": board_type, "unicast": unicast, "group": group, "drop_after": drop_after}
        found = self._ask("configure", options, role, progress)
        return {mac: (str(status), float(seconds)) for mac, (status, seconds) in found.items()}

    def load(self, address: int, data: bytes, progress: Shares) -> dict[int, str]:
        return {mac: str(text) for mac, text in self._ask("load", {"address": address}, data, progress).items()}

    def execute(
        self, kernel: int, registers: Mapping[int, int], timeout: float, progress: Shares
    ) -> dict[int, Outcome]:
        options = {"kernel": kernel, "registers": {str(at): value for at, value in registers.items()},
                   "timeout": timeout}  # fmt: skip
        errors = self._ask("exec", options, b"", progress)
        runs = self._store.runs()
        return {
            mac: Outcome(error=str(error)) if error else Outcome(runs[mac]["cycles"], runs[mac]["result"])
            for mac, error in errors.items()
        }


__all__ = ["LOAD_BYTES", "RUN_BITS", "Boards", "Direct", "Managed", "Outcome", "collect", "shares", "start"]
