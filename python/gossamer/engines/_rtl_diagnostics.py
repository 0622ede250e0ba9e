# SPDX-License-Identifier: Apache-2.0
"""Descriptions of threads and queues: what unfinished threads wait for, why threads trapped, which queues are full."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.config import constants

if TYPE_CHECKING:
    from gossamer.config import Config


UNKNOWN_PC = 0xFFFF_FFFF
ACCELERATOR = -1
"""In a trap's place of a thread: the tile's accelerator, whose load or store failed."""
_STILL = struct.Struct("<IBBHIII")

Tiles = Callable[[Iterable[int]], str]
"""The tiles that threads are on, as words that follow their numbers; empty where there is but one."""
Where = Callable[[int], object]
"""A program counter's place, which as a string is ``function at file:line``."""
Fetch = Callable[[int], "int | None"]
"""The instruction at an address, where it is known."""
_SYSTEM = 0x73
"""Opcode of the instructions that access registers (CSRs)."""

# As the cores number them (docs/engine-rtl.md); the driver passes them on as they are.
_NOTHING, _RUNS, _REQUEST, _FLOAT, _DIVIDE, _PARKED = range(6)
_LOAD, _STORE, _CSR, _TRAP = range(4)

# What the trap's value is: a word before the number, or nothing where it says nothing.
_VALUES = {
    "illegal_instruction": "instruction",
    "bad_length": "length",
    "bad_destination": "destination",
    "bad_key": "key",
    "bad_thread": "thread",
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
_MOST_TILES = 4
"""Tiles that are named one by one."""


@dataclass(frozen=True)
class UnfinishedThread:
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
        return f"waits for the register {_register(self.address)}"


def parse_unfinished(payload: bytes) -> list[UnfinishedThread]:
    """The threads in the payload of a record End, behind its head."""
    found = []
    for thread, doing, asked, _, pc, address, data in _STILL.iter_unpack(payload):
        found.append(UnfinishedThread(thread, doing, asked, pc, address, data))
    return found


def describe_unfinished(
    threads: Iterable[UnfinishedThread], where: Where, tiles: Tiles = lambda threads: ""
) -> list[str]:
    """A line for each group of threads that do the same in the same place; ``tiles`` says which tiles they are on."""
    groups: dict[str, list[int]] = {}
    for one in threads:
        place = "" if one.doing == _NOTHING else f" in {where(one.pc)}"
        groups.setdefault(one.words() + place, []).append(one.thread)
    # The largest groups first, so that what is cut short are threads on their own.
    known = sorted(groups.items(), key=lambda group: (-len(group[1]), group[1][0]))
    lines = [_sentence(who, what, tiles(who)) for what, who in known[:_MOST]]
    if len(known) > _MOST:
        rest: dict[str, list[int]] = {}
        for what, who in known[_MOST:]:
            rest.setdefault(what.split(" in ")[0], []).extend(who)
        lines += [_sentence(who, what, tiles(who)) + ", in other places" for what, who in rest.items()]
    return lines


def _sentence(who: list[int], what: str, tiles: str) -> str:
    if len(who) > 1:
        return f"threads {ranges(who)}{tiles} {_plural(what)}"
    return f"thread {who[0]}{tiles} {what}"


def on_tiles(threads: Iterable[int], per_tile: int, width: int) -> str:
    """The tiles of a board that threads are on: `` (tile 1,0)``, column and row; many tiles by their number."""
    found = sorted({thread // per_tile for thread in threads})
    if len(found) > _MOST_TILES:
        return f" ({len(found)} tiles)"
    named = ", ".join(f"{tile % width},{tile // width}" for tile in found)
    return f" (tile{'s' if len(found) > 1 else ''} {named})" if found else ""


def _register(number: int) -> str:
    """A register by its name and number, or the number alone."""
    values = constants.enumeration("csr").values
    name = next((name for name, value in values.items() if value == number), "")
    return f"{name} ({number:#05x})" if name else f"{number:#05x}"


def _about_register(number: int, instruction: int | None) -> str:
    """What is wrong with an access to a register; ``instruction`` where it is known."""
    csr = constants.enumeration("csr")
    if number not in csr.values.values():
        return f"this core has no register {number:#05x}"
    if instruction is None:
        return f"register {_register(number)} cannot be read or written like that"
    operation, source = instruction >> 12 & 7, instruction >> 15 & 31
    # Of the six forms two write in any case; the others only where they have bits to change.
    writes = operation & 3 == 1 or source != 0
    return f"register {_register(number)} cannot be {'written' if writes else 'read'} here"


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
    place: str = ""
    """Of an accelerator on a board: its tile, as ``column,row``."""

    @property
    def who(self) -> str:
        """The number of the thread, or ``accelerator``, with its tile on a board."""
        if self.thread != ACCELERATOR:
            return str(self.thread)
        return f"accelerator {self.place}".rstrip()

    @property
    def name(self) -> str:
        """The cause as ``config/`` calls it."""
        values = constants.enumeration("trap").values
        return next((name for name, number in values.items() if number == self.cause), f"cause {self.cause}")

    def words(self, where: Where, fetch: Fetch = lambda pc: None) -> str:
        """Cause, value and place, as one line. ``fetch`` tells an access to a register from other instructions."""
        doc = constants.enumeration("trap").docs.get(self.name, "of a kind that is not known")
        text = f"{self.name}: {doc}"
        instruction = None if self.pc == UNKNOWN_PC else fetch(self.pc)
        if self.name == "bad_register":
            text = f"{self.name}: {_about_register(self.value & 0xFFF, instruction)}"
        elif self.name == "illegal_instruction" and _reaches_register(instruction):
            assert instruction is not None
            text = f"{self.name}: {_about_register(instruction >> 20, instruction)}"
        elif label := _VALUES.get(self.name, "address"):
            text += f"; {label} {self.value:#010x}"
        if self.thread == ACCELERATOR:
            return text
        if self.pc == UNKNOWN_PC:
            return f"{text}, place not known"
        return f"{text}, in {where(self.pc)} (pc {self.pc:#x})"


def _reaches_register(instruction: int | None) -> bool:
    return instruction is not None and instruction & 0x7F == _SYSTEM and instruction >> 12 & 3 != 0


_HELD = struct.Struct("<4I")
# As sim/host/records.h numbers them.
_THREAD, _SLOTS, _ROUTER, _SWITCH, _SENDER, _RECEIVER = range(1, 7)

SwitchPort = Callable[[int, int], tuple[str, str]]
"""A board's name, and what is at a port of its switch."""


@dataclass(frozen=True)
class Held:
    """A queue with something in it."""

    place: int
    """The tile or the board that it is on, among all."""
    what: int
    index: int
    """Thread of the tile, input of the router, port of the switch, link."""
    channels: int
    """A bit for each virtual network or channel that has something."""


def parse_queues(payload: bytes) -> list[Held]:
    """Those in the payload of a record Queues."""
    return [Held(*words) for words in _HELD.iter_unpack(payload)]


def no_board(board: int, port: int) -> tuple[str, str]:
    """For a machine whose boards have no switch."""
    raise AssertionError(f"a queue at port {port} of the switch of board {board}, which has none")


def describe_queues(held: Sequence[Held], config: Config, tiles: Tiles, port: SwitchPort) -> list[str]:
    """The full queues first, then where messages wait behind them; a line each. ``tiles``: where threads are."""
    each, exits = config.threads_per_tile, config.router.mesh_ports
    lines = []
    if full := [one.place * each + one.index for one in held if one.what == _THREAD]:
        many = len(full) > 1
        lines.append(
            f"full: the queue{'s' if many else ''} of thread{'s' if many else ''} {ranges(full)}{tiles(full)}: "
            f"{config.mailbox.queue_depth} messages {'each ' if many else ''}wait to be received, and the next one "
            "holds up all messages for its tile"
        )
    if full := [one.place * each for one in held if one.what == _SLOTS]:
        lines.append(f"full: all message slots{tiles(full)}: messages for these threads wait until one is freed")
    behind = []
    if routers := [one.place * each for one in held if one.what == _ROUTER]:
        behind.append(f"at routers{tiles(routers)}")
    switches: dict[str, list[str]] = {}
    links = []
    for one in held:
        if one.what == _SWITCH:
            board, what = port(one.place, one.index)
            switches.setdefault(board, []).append(what)
        elif one.what in (_SENDER, _RECEIVER):
            board, what = port(one.place, exits + one.index)
            links.append(
                f"to leave board {board} over {what}" if one.what == _SENDER else f"at board {board} off {what}"
            )
    behind += [
        f"in the switch of board {board} from {', '.join(dict.fromkeys(ports))}" for board, ports in switches.items()
    ]
    behind += links
    if behind:
        lines.append(f"{'behind them ' if lines else ''}messages wait {'; '.join(behind)}")
    return lines


__all__ = [
    "ACCELERATOR",
    "Held",
    "SwitchPort",
    "Tiles",
    "Trap",
    "UnfinishedThread",
    "Where",
    "describe_queues",
    "describe_unfinished",
    "no_board",
    "on_tiles",
    "parse_queues",
    "parse_unfinished",
    "ranges",
]
