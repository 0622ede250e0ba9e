# SPDX-License-Identifier: Apache-2.0
"""What the ``rtl`` engine says about threads: where they are, what they wait for, why they trapped."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gossamer.config import constants

UNKNOWN_PC = 0xFFFF_FFFF
ACCELERATOR = -1
"""In a trap's place of a thread: the tile's accelerator, whose load or store failed."""
_STILL = struct.Struct("<BBBBIII")

Where = Callable[[int], object]
"""A program counter's place, which as a string is ``function at file:line``."""

# As the cores number them (docs/engine-rtl.md); the driver passes them on as they are.
_NOTHING, _RUNS, _REQUEST, _FLOAT, _DIVIDE, _PARKED = range(6)
_LOAD, _STORE, _CSR, _TRAP = range(4)

# What the trap's value is: a word before the number, or nothing where it says nothing.
_VALUES = {
    "illegal_instruction": "instruction",
    "bad_length": "length",
    "bad_destination": "destination",
    "bad_key": "key",
    "breakpoint": "",
    "environment_call": "",
    "send_not_ready": "",
    "nothing_to_receive": "",
}
_WAITS = (
    "waits for nothing (tinselWaitUntil of no event)",
    "waits until it can send (tinselWaitUntil)",
    "waits for a message (tinselWaitUntil)",
    "waits for a message or until it can send (tinselWaitUntil)",
)
_MOST = 16
"""Lines of threads that wait; a tile has 64 threads, and they mostly wait for the same."""


@dataclass(frozen=True)
class Still:
    """A thread that had not ended when the run did."""

    thread: int
    doing: int
    asked: int
    pc: int
    address: int
    data: int

    @property
    def waits_for_message(self) -> bool:
        """Whether it sleeps until a message is there, or may be sent."""
        csr = constants.enumeration("csr")
        return (self.doing, self.asked) == (_REQUEST, _CSR) and self.address in (csr["wait"], csr["idle"])

    def words(self) -> str:
        """What it does, as the end of a sentence that begins with the thread."""
        if self.doing == _REQUEST:
            return self._request()
        return {
            _NOTHING: "has no state: it was started and never ran",
            _RUNS: "runs",
            _FLOAT: "waits for the FPU",
            _DIVIDE: "waits for the divider",
            _PARKED: "stands still: it was halted",
        }.get(self.doing, "does something unknown")

    def _request(self) -> str:
        csr = constants.enumeration("csr")
        if self.asked in (_LOAD, _STORE):
            what = "a load from" if self.asked == _LOAD else "a store to"
            return f"waits for {what} {self.address:#010x}"
        if self.asked == _TRAP:
            return "has trapped and waits to report it"
        if self.address == csr["wait"]:
            return _WAITS[self.data & 3]
        if self.address == csr["idle"]:
            return "waits for idleness (tinselIdle)"
        name = next((name for name, number in csr.values.items() if number == self.address), f"{self.address:#x}")
        return f"waits for the register {name}"


def stills(payload: bytes) -> list[Still]:
    """The threads in the payload of a record End, behind its head."""
    found = []
    for thread, doing, asked, _, pc, address, data in _STILL.iter_unpack(payload):
        found.append(Still(thread, doing, asked, pc, address, data))
    return found


def who_waits(threads: Iterable[Still], where: Where) -> list[str]:
    """A line for each group of threads that do the same in the same place."""
    groups: dict[str, list[int]] = {}
    for one in threads:
        place = "" if one.doing == _NOTHING else f" in {where(one.pc)}"
        groups.setdefault(one.words() + place, []).append(one.thread)
    lines = []
    for what, who in list(groups.items())[:_MOST]:
        if len(who) > 1:
            what = _plural(what)
        lines.append(f"{'threads' if len(who) > 1 else 'thread'} {ranges(who)} {what}")
    if len(groups) > _MOST:
        rest = sum(len(who) for who in list(groups.values())[_MOST:])
        lines.append(f"and {rest} more threads that have not ended")
    return lines


def _plural(what: str) -> str:
    first, _, rest = what.partition(" ")
    verbs = {"waits": "wait", "runs": "run", "has": "have", "stands": "stand", "does": "do"}
    return f"{verbs[first]} {rest}".replace("it can", "they can").replace("it was", "they were")


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as people write them: ``0-3, 5, 7-9``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] + 1 == number:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


@dataclass(frozen=True)
class Trap:
    """Why a thread stopped before its end, or what the accelerator could not load or store."""

    thread: int
    """The thread, or ACCELERATOR, which goes on."""
    cycle: int
    cause: int
    pc: int
    value: int

    @property
    def who(self) -> str:
        """The number of the thread, or ``accelerator``."""
        return "accelerator" if self.thread == ACCELERATOR else str(self.thread)

    @property
    def name(self) -> str:
        """The cause as ``config/`` calls it."""
        values = constants.enumeration("trap").values
        return next((name for name, number in values.items() if number == self.cause), f"cause {self.cause}")

    def words(self, where: Where) -> str:
        """Cause, value and place, as one line."""
        doc = constants.enumeration("trap").docs.get(self.name, "of a kind that is not known")
        text = f"{self.name}: {doc}"
        if label := _VALUES.get(self.name, "address"):
            text += f"; {label} {self.value:#010x}"
        if self.thread == ACCELERATOR:
            return text
        if self.pc == UNKNOWN_PC:
            return f"{text}, place not known"
        return f"{text}, in {where(self.pc)} (pc {self.pc:#x})"


__all__ = ["ACCELERATOR", "Still", "Trap", "Where", "ranges", "stills", "who_waits"]
