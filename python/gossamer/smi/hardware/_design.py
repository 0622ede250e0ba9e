# SPDX-License-Identifier: Apache-2.0
"""The endpoints of each board, from the ports that its programs use, and their numbering.

All ranks use the same numbers for ports, whatever programs they run: a channel's port has one number, a
collective has one for each edge. So a sender only needs to know a receiver's location (board and slot).
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
"""Reserved prefixes: modules and packages below a board."""


@dataclass(frozen=True)
class Options:
    """Options of a design that its sources do not contain."""

    links: int = 4
    """Links of a board, 1 to 16."""
    edges: int = 4
    """Edges of a rank in trees of collectives, 1 to 8."""
    ranks: int = 16
    """Largest number of ranks in a cluster, a power of two from 2 to 256."""
    boards: int = 64
    """Largest number of boards in a cluster, a power of two from 2 to 1,024."""
    depth: int = 256
    """Flits that a port can receive ahead, a power of two from 4; more if a degree requires more."""
    voq_depth: int | None = None
    """Flits of a sending port's virtual output queue for each rank, for messages that wait for their receiver: 0, or a
    power of two from 4; None derives it from the degree of the port's channels."""
    lanes: Mapping[int, int] | None = None
    """Elements that a port transfers per cycle, if more than one: a power of two, at most 16 bytes."""
    counters: bool = False
    """Count packets, beats and waiting cycles of each streaming port, for recordings of hosts."""


@dataclass(frozen=True)
class Endpoint:
    """A port of a program on a board: a channel's, or a collective's with all its edges."""

    port: int
    """Number of the port in the program."""
    operation: str
    """``channel``, or the collective."""
    type: str
    """Type of the elements; a barrier's is ``char``."""
    reduction: str | None
    sends: bool
    receives: bool
    bytes: int
    """Bytes of a beat."""
    depth: int
    """Flits of the receive buffer."""
    send_depth: int
    """Flits of the send buffer."""
    voq_depth: int
    """Flits of the virtual output queue of each rank; 0 for a collective, which never asks for credits."""
    index: int
    """Number of its first streaming port among those of its rank."""
    where: str = field(repr=False)
    """``file:line``; not part of the design."""

    @property
    def name(self) -> str:
        """Prefix of its signals."""
        return f"port{self.port}"

    @property
    def collective(self) -> bool:
        """Whether it is a collective, which has a support block."""
        return self.operation in BLOCKS

    @property
    def ordered(self) -> bool:
        """Whether it adds in the order of ranks."""
        return self.reduction == "add_ordered"


@dataclass(frozen=True)
class Slot:
    """A rank of a board: the endpoints of its program, by number."""

    program: str
    endpoints: tuple[Endpoint, ...]


@dataclass(frozen=True)
class Board:
    """A design for an FPGA."""

    name: str
    slots: tuple[Slot, ...]

    @property
    def collectives(self) -> bool:
        """Whether it has any collectives."""
        return any(one.collective for slot in self.slots for one in slot.endpoints)


@dataclass(frozen=True)
class Design:
    """All boards of a set of programs; ranks on any of them can communicate."""

    boards: tuple[Board, ...]
    options: Options
    stride: int
    """Streaming port numbers per rank."""

    @property
    def number(self) -> int:
        """Identifies the design: a host compares it before it writes tables."""
        return int.from_bytes(hashlib.sha256(repr(self).encode()).digest()[:4], "big")

    def board(self, name: str) -> Board:
        """The board of that name. Raises InputError if it is unknown."""
        for one in self.boards:
            if one.name == name:
                return one
        raise InputError(f"{name}: unknown board; the design has {', '.join(one.name for one in self.boards)}")


def design(
    files: Sequence[str],
    boards: Sequence[str] = (),
    defines: Sequence[str] = (),
    options: Options | None = None,
    includes: Sequence[str] = (),
) -> Design:
    """The boards of programs: one per program, or those given as lists of programs (``"gemv,gemv"``: two ranks).
    ``includes`` are folders of headers.

    InputError, with the user's line, if a port is not constant, its uses disagree, or no RTL implements it.
    """
    options = options or Options()
    # The number of a design depends on its options: normalize equivalent ones.
    options = replace(options, lanes=dict(sorted((options.lanes or {}).items())))
    _check(options)
    programs = {one.program: one for one in port_lists.read(files, defines, includes)}
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
                raise InputError(f"--board {words}: unknown program {name}; the programs are {', '.join(programs)}")
            slots.append(Slot(name, _of_program(programs[name], union)))
        title = "_".join(names)
        _check_title(title)
        for other in made:
            if other == title:
                raise InputError(f"--board {words}: a second board named {title}; remove it")
            # Their headers' constants, and files on some systems, would be the same.
            if other.lower() == title.lower():
                raise InputError(f"{title}: differs from {other} only in letter case; rename one of the sources")
        board = Board(title, tuple(slots))
        if len(slots) > SLOTS:
            raise InputError(f"--board {words}: {len(slots)} ranks; a board has at most {SLOTS}")
        if not any(slot.endpoints for slot in slots):
            raise InputError(f"{title}: no program of this board uses a port; there is no hardware for it")
        if len(slots) * stride > NUMBERS:
            raise InputError(
                f"{title}: {len(slots)} ranks with {stride} streaming ports each (one per channel, {options.edges} per "
                f"collective) are more than {NUMBERS}; use fewer ports, or fewer --edges"
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
    if options.voq_depth:
        power("voq-depth", options.voq_depth, 4, _buffers.MAX_VOQ_DEPTH)


def _check_title(title: str) -> None:
    if not _NAME.fullmatch(title):
        raise InputError(f"{title}: not a valid module name; rename the source, using letters, digits and underscores")
    if title in KEYWORDS:
        raise InputError(f"{title}: is a SystemVerilog keyword, not a valid module name; rename the source")
    if title.startswith(_OURS):
        raise InputError(f"{title}: Gossamer's modules use these prefixes ({', '.join(_OURS)}); rename the source")


def _numbers(endpoint: Endpoint, options: Options) -> int:
    return options.edges if endpoint.collective else 1


def _union(uses: Sequence[port_lists.Port], options: Options) -> dict[int, Endpoint]:
    """By port, the endpoint with all operations that any program performs on it."""
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
            raise InputError(f"{what}: a degree that needs {flits} flits; a port has at most {_buffers.MOST}")
        channel = operation == "channel"
        found[number] = Endpoint(
            number, operation, kind, first.reduction,
            any(one.operation == "send" for one in here), any(one.operation == "receive" for one in here),
            lanes * BYTES[kind], _buffers.receive(degree, BYTES[kind], options.depth),
            _buffers.send(degree if channel else 0, BYTES[kind]), _voq_depth(degree, options) if channel else 0, index,
            first.where,
        )  # fmt: skip
        index += _numbers(found[number], options)
    return found


def _voq_depth(degree: int, options: Options) -> int:
    return _buffers.voq_depth(degree, options.ranks) if options.voq_depth is None else options.voq_depth


def _of_program(program: port_lists.Ports, union: Mapping[int, Endpoint]) -> tuple[Endpoint, ...]:
    """The program's endpoints, with only the halves that it uses itself."""
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
                whole.voq_depth,
                whole.index,
                whole.where,
            )
        )
    return tuple(mine)
