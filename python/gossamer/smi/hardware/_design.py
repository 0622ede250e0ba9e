# SPDX-License-Identifier: Apache-2.0
"""Which endpoints boards have, from the ports that their programs use, and how these are numbered.

All ranks number their ports alike, whatever programs they run: a channel's port takes a number, a collective's one for
each edge. So a rank's place (board, and which of its ranks) is all that a sender needs to know of a receiver.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gossamer.errors import InputError
from gossamer.smi import _buffers
from gossamer.smi import ports as port_lists
from gossamer.smi.hardware._keywords import KEYWORDS

BYTES = {"double": 8, "long": 8, "int": 4, "float": 4, "short": 2, "half": 2, "char": 1}
BLOCKS = ("bcast", "reduce", "allreduce", "scatter", "gather", "allgather", "barrier")
NUMBERS, SLOTS, MOST_EDGES, MOST_LINKS = 256, 8, 8, 16
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OURS = ("gs_", "gossamer_")
"""How names of modules and packages below a board begin."""


@dataclass(frozen=True)
class Options:
    """What sources do not say."""

    links: int = 4
    """Links of a board, 1 to 16."""
    edges: int = 4
    """Edges of a rank in trees of collectives, 1 to 8."""
    ranks: int = 16
    """Ranks of the largest cluster, a power of two from 2 to 256."""
    boards: int = 64
    """Boards of the largest cluster, a power of two from 2 to 1,024."""
    depth: int = 256
    """Flits that a port can receive ahead, a power of two from 4; more where a degree asks for more."""
    aside: int | None = None
    """Flits of messages to each rank that a port sets aside while they wait for their receiver: 0, or a power of two
    from 4; if None, as many as the degree of the port's channels asks for."""
    lanes: Mapping[int, int] | None = None
    """Elements that a port takes or gives in a cycle, where more than one: a power of two, at most 16 bytes."""


@dataclass(frozen=True)
class Endpoint:
    """A port of a program on a board: a channel's, or a collective's with its edges."""

    port: int
    """As the program has it."""
    operation: str
    """``channel``, or the collective."""
    type: str
    """Of the elements; a barrier's is ``char``."""
    reduction: str | None
    sends: bool
    receives: bool
    bytes: int
    """Of a beat."""
    depth: int
    """Flits of the buffer to receive."""
    send_depth: int
    """Flits of the buffer to send."""
    aside: int
    """Flits of messages to each rank that it sets aside; 0 of a collective, which never asks."""
    index: int
    """Number of its first streaming port among those of its rank."""
    where: str = field(repr=False)
    """``file:line``; not part of the design."""

    @property
    def name(self) -> str:
        """What its signals begin with."""
        return f"port{self.port}"

    @property
    def collective(self) -> bool:
        """Whether it has a support block."""
        return self.operation in BLOCKS

    @property
    def ordered(self) -> bool:
        """Whether it adds in the order of ranks."""
        return self.reduction == "add_ordered"


@dataclass(frozen=True)
class Slot:
    """A rank of a board: its program's endpoints, by number."""

    program: str
    endpoints: tuple[Endpoint, ...]


@dataclass(frozen=True)
class Board:
    """A design for an FPGA."""

    name: str
    slots: tuple[Slot, ...]

    @property
    def collectives(self) -> bool:
        """Whether it has any."""
        return any(one.collective for slot in self.slots for one in slot.endpoints)


@dataclass(frozen=True)
class Design:
    """All boards of some programs; ranks on any of them can talk to each other."""

    boards: tuple[Board, ...]
    options: Options
    stride: int
    """Numbers of streaming ports that a rank takes."""

    @property
    def number(self) -> int:
        """Tells designs apart: a host compares it before it writes tables."""
        return int.from_bytes(hashlib.sha256(repr(self).encode()).digest()[:4], "big")

    def board(self, name: str) -> Board:
        """InputError if there is none of that name."""
        for one in self.boards:
            if one.name == name:
                return one
        raise InputError(f"{name}: there is no such board; there are {', '.join(one.name for one in self.boards)}")


def design(
    files: Sequence[str],
    boards: Sequence[str] = (),
    defines: Sequence[str] = (),
    options: Options | None = None,
) -> Design:
    """The boards of programs: one for each, or those that are named by their programs (``"gemv,gemv"``: two ranks).

    InputError, with the user's line, where a port is no constant, uses of it do not agree, or there is no RTL for it.
    """
    options = options or Options()
    # The number of a design goes by its options: those that mean the same are the same.
    options = replace(options, lanes=dict(sorted((options.lanes or {}).items())))
    _check(options)
    programs = {one.program: one for one in port_lists.read(files, defines)}
    union = _union([port for one in programs.values() for port in one.ports], options)
    for number in options.lanes or {}:
        if number not in union:
            raise InputError(f"--lanes {number}=...: no program uses port {number}")
    stride = sum(_numbers(one, options) for one in union.values())
    made: dict[str, Board] = {}
    for words in boards or list(programs):
        names = words.split(",")
        slots = []
        for name in names:
            if name not in programs:
                raise InputError(f"--board {words}: there is no program {name}; there are {', '.join(programs)}")
            slots.append(Slot(name, _of_program(programs[name], union)))
        title = "_".join(names)
        _check_title(title)
        for other in made:
            if other == title:
                raise InputError(f"--board {words}: is the second board of the name {title}; leave it out")
            # Constants of their headers, and files on some systems.
            if other.lower() == title.lower():
                raise InputError(f"{title}: differs from {other} in capitals alone; rename one of the sources")
        board = Board(title, tuple(slots))
        if len(slots) > SLOTS:
            raise InputError(f"--board {words}: {len(slots)} ranks; a board has {SLOTS} at most")
        if not any(slot.endpoints for slot in slots):
            raise InputError(f"{title}: no program of this board uses a port; there is no hardware for it")
        if len(slots) * stride > NUMBERS:
            raise InputError(
                f"{title}: {len(slots)} ranks with {stride} streaming ports each (a channel one, a collective "
                f"{options.edges}) are more than {NUMBERS}; use fewer ports, or fewer --edges"
            )
        made[title] = board
    return Design(tuple(made.values()), options, stride)


def _check(options: Options) -> None:
    def power(name: str, value: int, low: int, high: int) -> None:
        if not low <= value <= high or value & value - 1:
            raise InputError(f"--{name} {value}: must be a power of two from {low} to {high}")

    for name, value, high in (("links", options.links, MOST_LINKS), ("edges", options.edges, MOST_EDGES)):
        if not 1 <= value <= high:
            raise InputError(f"--{name} {value}: must be from 1 to {high}")
    power("ranks", options.ranks, 2, 256)
    power("boards", options.boards, 2, 1024)
    power("depth", options.depth, 4, 32768)
    if options.aside:
        power("aside", options.aside, 4, _buffers.MAX_VOQ_DEPTH)


def _check_title(title: str) -> None:
    if not _NAME.fullmatch(title):
        raise InputError(f"{title}: is no name for a module; rename the source to letters, digits and underscores")
    if title in KEYWORDS:
        raise InputError(f"{title}: is a word of SystemVerilog, and no name for a module; rename the source")
    if title.startswith(_OURS):
        raise InputError(f"{title}: modules of Gossamer have such names ({', '.join(_OURS)}); rename the source")


def _numbers(endpoint: Endpoint, options: Options) -> int:
    return options.edges if endpoint.collective else 1


def _union(uses: Sequence[port_lists.Port], options: Options) -> dict[int, Endpoint]:
    """By port, the endpoint with all that any program does with it."""
    found: dict[int, Endpoint] = {}
    index = 0
    for number in sorted({one.port for one in uses}):
        here = [one for one in uses if one.port == number]
        first = here[0]
        kind = first.type or "char"
        operation = first.operation if first.operation in BLOCKS else "channel"
        what = f"{first.where}: {first.operation} on port {number}"
        lanes = (options.lanes or {}).get(number, 1)
        if lanes < 1 or lanes & lanes - 1 or lanes * BYTES[kind] > _buffers.FLIT_BYTES:
            raise InputError(
                f"--lanes {number}={lanes}: must be a power of two up to {_buffers.FLIT_BYTES // BYTES[kind]}: "
                f"elements of {kind} in {_buffers.FLIT_BYTES} bytes"
            )
        if first.operation == "barrier" and lanes > 1:
            raise InputError(f"--lanes {number}={lanes}: port {number} is a barrier, which has no elements")
        degree = max(one.degree or 0 for one in here)
        flits = _buffers.flits(degree, BYTES[kind])
        if flits > _buffers.MOST:
            raise InputError(f"{what}: a degree that takes {flits} flits; a port has {_buffers.MOST} at most")
        channel = operation == "channel"
        found[number] = Endpoint(
            number, operation, kind, first.reduction,
            any(one.operation == "send" for one in here), any(one.operation == "receive" for one in here),
            lanes * BYTES[kind], _buffers.receive(degree, BYTES[kind], options.depth),
            _buffers.send(degree if channel else 0, BYTES[kind]), _aside(degree, options) if channel else 0, index,
            first.where,
        )  # fmt: skip
        index += _numbers(found[number], options)
    return found


def _aside(degree: int, options: Options) -> int:
    return _buffers.voq(degree, options.ranks) if options.aside is None else options.aside


def _of_program(program: port_lists.Ports, union: Mapping[int, Endpoint]) -> tuple[Endpoint, ...]:
    """Its endpoints, with the halves that it uses itself."""
    mine = []
    for number in sorted({one.port for one in program.ports}):
        whole = union[number]
        does = {one.operation for one in program.ports if one.port == number}
        mine.append(
            Endpoint(
                number,
                whole.operation,
                whole.type,
                whole.reduction,
                "send" in does,
                "receive" in does,
                whole.bytes,
                whole.depth,
                whole.send_depth,
                whole.aside,
                whole.index,
                whole.where,
            )
        )
    return tuple(mine)
