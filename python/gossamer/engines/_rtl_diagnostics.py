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
"""Thread number of a trap of the tile's accelerator, whose load or store failed."""
_STILL = struct.Struct("<IBBHIII")

Tiles = Callable[[Iterable[int]], str]
"""Names the tiles of threads, as text after their numbers; empty if there is a single tile."""
Where = Callable[[int], object]
"""The source location of a program counter, which prints as ``function at file:line``."""
Fetch = Callable[[int], "int | None"]
"""The instruction at an address; None if it is unknown."""
_SYSTEM = 0x73
"""Opcode of instructions that access registers (CSRs)."""

# Codes of the cores (docs/engine-rtl.md), which the driver passes on unchanged.
_NOTHING, _RUNS, _REQUEST, _FLOAT, _DIVIDE, _PARKED = range(6)
_LOAD, _STORE, _CSR, _TRAP = range(4)
_UNKNOWN = 0xFF
"""State of a thread on a real board, which has no signals to look into."""

# Names of a trap's value; empty if the value has no meaning.
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
    "waits for no event (tinselWaitUntil without events)",
    "waits until it can send (tinselWaitUntil)",
    "waits for a message (tinselWaitUntil)",
    "waits for a message or until it can send (tinselWaitUntil)",
)
_MOST = 16
"""Maximum number of lines with waiting threads; the threads of a tile mostly wait for the same event."""
_MOST_TILES = 4
"""Maximum number of tiles that are named one by one."""


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
        """Whether the thread sleeps until it can receive or send a message, or until idleness."""
        csr = constants.enumeration("csr")
        return (self.doing, self.asked) == (_REQUEST, _CSR) and self.address in (csr["wait"], csr["idle"])

    def words(self) -> str:
        """The state of the thread, as the end of a sentence that begins with the thread."""
        if self.doing == _REQUEST:
            return self._request()
        return {
            _NOTHING: "has no state: it was started and never ran",
            _RUNS: "runs",
            _FLOAT: "waits for the FPU",
            _DIVIDE: "waits for the divider",
            _PARKED: "is halted",
            _UNKNOWN: "has not ended",
        }.get(self.doing, "is in an unknown state")

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
    """The unfinished threads in the payload of a record End, without its head."""
    found = []
    for thread, doing, asked, _, pc, address, data in _STILL.iter_unpack(payload):
        found.append(UnfinishedThread(thread, doing, asked, pc, address, data))
    return found


def describe_unfinished(
    threads: Iterable[UnfinishedThread], where: Where, tiles: Tiles = lambda threads: ""
) -> list[str]:
    """A line for each group of threads in the same state at the same location; ``tiles`` names their tiles."""
    groups: dict[str, list[int]] = {}
    for one in threads:
        place = "" if one.doing in (_NOTHING, _UNKNOWN) else f" in {where(one.pc)}"
        groups.setdefault(one.words() + place, []).append(one.thread)
    # The largest groups first, so that only small groups are abbreviated.
    known = sorted(groups.items(), key=lambda group: (-len(group[1]), group[1][0]))
    lines = [_sentence(who, what, tiles(who)) for what, who in known[:_MOST]]
    if len(known) > _MOST:
        rest: dict[str, list[int]] = {}
        for what, who in known[_MOST:]:
            rest.setdefault(what.split(" in ")[0], []).extend(who)
        lines += [_sentence(who, what, tiles(who)) + ", at other locations" for what, who in rest.items()]
    return lines


def _sentence(who: list[int], what: str, tiles: str) -> str:
    if len(who) > 1:
        return f"threads {ranges(who)}{tiles} {_plural(what)}"
    return f"thread {who[0]}{tiles} {what}"


def on_tiles(threads: Iterable[int], per_tile: int, width: int) -> str:
    """The tiles of threads on a board, as column and row: `` (tile 1,0)``; many tiles only as their number."""
    found = sorted({thread // per_tile for thread in threads})
    if len(found) > _MOST_TILES:
        return f" ({len(found)} tiles)"
    named = ", ".join(f"{tile % width},{tile // width}" for tile in found)
    return f" (tile{'s' if len(found) > 1 else ''} {named})" if found else ""


def _register(number: int) -> str:
    """A register by name and number; by number if it has no name."""
    values = constants.enumeration("csr").values
    name = next((name for name, value in values.items() if value == number), "")
    return f"{name} ({number:#05x})" if name else f"{number:#05x}"


def _about_register(number: int, instruction: int | None) -> str:
    """Describes an illegal access to a register; ``instruction`` is None if unknown."""
    csr = constants.enumeration("csr")
    if number not in csr.values.values():
        return f"this core has no register {number:#05x}"
    if instruction is None:
        return f"register {_register(number)} cannot be read or written like that"
    operation, source = instruction >> 12 & 7, instruction >> 15 & 31
    # CSRRW and CSRRWI always write; the other four write only if the source is not 0.
    writes = operation & 3 == 1 or source != 0
    return f"register {_register(number)} cannot be {'written' if writes else 'read'} here"


def _plural(what: str) -> str:
    first, _, rest = what.partition(" ")
    verbs = {"waits": "wait", "runs": "run", "has": "have", "is": "are"}
    return f"{verbs[first]} {rest}".replace("it can", "they can").replace("it was", "they were")


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as ranges: ``0-3, 5, 7-9``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][1] + 1 == number:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


@dataclass(frozen=True)
class Trap:
    """A trap of a thread, or a failed load or store of an accelerator."""

    thread: int
    """The thread, or ACCELERATOR, which does not stop."""
    cycle: int
    cause: int
    pc: int
    value: int
    place: str = ""
    """For an accelerator on a board, its tile as ``column,row``."""

    @property
    def who(self) -> str:
        """The number of the thread, or ``accelerator``, with its tile on a board."""
        if self.thread != ACCELERATOR:
            return str(self.thread)
        return f"accelerator {self.place}".rstrip()

    @property
    def name(self) -> str:
        """The name of the cause in ``config/``."""
        values = constants.enumeration("trap").values
        return next((name for name, number in values.items() if number == self.cause), f"cause {self.cause}")

    def words(self, where: Where, fetch: Fetch = lambda pc: None) -> str:
        """Cause, value and location, as one line. ``fetch`` is used to recognize accesses to registers."""
        doc = constants.enumeration("trap").docs.get(self.name, "of unknown kind")
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
            return f"{text}, location unknown"
        return f"{text}, in {where(self.pc)} (pc {self.pc:#x})"


def _reaches_register(instruction: int | None) -> bool:
    return instruction is not None and instruction & 0x7F == _SYSTEM and instruction >> 12 & 3 != 0


_HELD = struct.Struct("<4I")
# Codes of sim/host/records.h.
_THREAD, _SLOTS, _ROUTER, _SWITCH, _SENDER, _RECEIVER = range(1, 7)

SwitchPort = Callable[[int, int], tuple[str, str]]
"""Maps a board and a port of its switch to the board's name and the port's neighbour."""


@dataclass(frozen=True)
class Held:
    """A non-empty queue."""

    place: int
    """Number of its tile or board."""
    what: int
    index: int
    """Thread of the tile, input of the router, port of the switch, link."""
    channels: int
    """A bit for each virtual network or channel that is not empty."""


def parse_queues(payload: bytes) -> list[Held]:
    """The queues in the payload of a record Queues."""
    return [Held(*words) for words in _HELD.iter_unpack(payload)]


def no_board(board: int, port: int) -> tuple[str, str]:
    """SwitchPort of a machine whose boards have no switch."""
    raise AssertionError(f"a queue at port {port} of the switch of board {board}, which has none")


def describe_queues(held: Sequence[Held], config: Config, tiles: Tiles, port: SwitchPort) -> list[str]:
    """Lines that name full queues, then queues blocked by them. ``tiles`` names the tiles of threads."""
    each, exits = config.threads_per_tile, config.router.mesh_ports
    lines = []
    if full := [one.place * each + one.index for one in held if one.what == _THREAD]:
        many = len(full) > 1
        lines.append(
            f"full: the queue{'s' if many else ''} of thread{'s' if many else ''} {ranges(full)}{tiles(full)}: "
            f"{config.mailbox.queue_depth} messages {'each ' if many else ''}wait to be received, and the next one "
            "blocks all messages for its tile"
        )
    if full := [one.place * each for one in held if one.what == _SLOTS]:
        lines.append(f"full: all message slots{tiles(full)}: messages for these threads wait until a slot is freed")
    blocked = []
    if routers := [one.place * each for one in held if one.what == _ROUTER]:
        blocked.append(f"at routers{tiles(routers)}")
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
    blocked += [
        f"in the switch of board {board} from {', '.join(dict.fromkeys(ports))}" for board, ports in switches.items()
    ]
    blocked += links
    if blocked:
        lines.append(f"{'blocked by them, ' if lines else ''}messages wait {'; '.join(blocked)}")
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
