# SPDX-License-Identifier: Apache-2.0
"""The ports that programs use, extracted from the sources with libclang. Hardware is generated from them.

found = ports.read(["rank0.cl", "rank1.cl"])
found[0].ports[0].operation     # "send"
ports.as_json(found)            # the format of docs/streams-reference.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import diagnostics
from gossamer.errors import InputError
from gossamer.smi import _calls, _programs
from gossamer.smi._parse import constant, parse

TYPES = {1: "int", 2: "float", 3: "double", 4: "char", 5: "short", 6: "long", 7: "half"}
OPERATIONS = {0: "add", 1: "max", 2: "min", 3: "add_ordered"}
PORTS = 256
_OPEN = re.compile(r"SMI_Open_(send|recv|receive|bcast|reduce|scatter|gather|allreduce|allgather)_channel(_ad)?$")
# Argument positions in a call: type, port, operation.
_POSITIONS = {
    "send": (1, 3, None), "receive": (1, 3, None), "bcast": (1, 2, None), "reduce": (1, 3, 2), "scatter": (2, 3, None),
    "gather": (2, 3, None), "allreduce": (1, 3, 2), "allgather": (1, 2, None),
}  # fmt: skip
# Channels of smi.hpp, and the types of their elements.
_CPP = {"sender": "send", "receiver": "receive"}
_CPP_TYPES = {
    "int": "int", "float": "float", "double": "double", "char": "char", "signed char": "char", "short": "short",
    "long": "long", "long long": "long", "smi::half": "half",
}  # fmt: skip


@dataclass(frozen=True)
class Port:
    """One use of a port by a program; a port that sends and receives has two uses."""

    port: int
    operation: str
    """``send``, ``receive``, ``barrier``, or the lower-case name of a collective."""
    type: str | None
    """``int``, ...; None for a barrier."""
    reduction: str | None
    degree: int | None
    """The greatest degree of its openings; None if none states a degree."""
    where: str
    """``file:line`` of the first opening."""


@dataclass(frozen=True)
class Ports:
    """The hardware that a program needs."""

    program: str
    ports: tuple[Port, ...]
    channels: tuple[dict[str, Any], ...]
    kernels: tuple[dict[str, Any], ...]


def read(files: Sequence[str], defines: Sequence[str] = (), includes: Sequence[str] = ()) -> list[Ports]:
    """The ports of each program in the files (see `smi.build`). ``includes`` are folders of headers.

    InputError, with lines, if a port, type or operation is not constant, or if two uses of a port conflict, in a
    program or between programs.
    """
    groups = _programs.grouped(_programs.check(files), defines, includes)
    found = [_program(group.head.stem, [group.head, *group.others], defines, includes) for group in groups]
    for number, one in enumerate(found):
        for other in found[number + 1 :]:
            _agree(one, other)
    return found


def as_json(found: Sequence[Ports]) -> dict[str, Any]:
    """The ports as data for JSON."""
    return {
        "programs": [
            {
                "program": one.program,
                "ports": [
                    {
                        "port": port.port,
                        "operation": port.operation,
                        "type": port.type,
                        "reduction": port.reduction,
                        "degree": port.degree,
                        "where": port.where,
                    }
                    for port in one.ports
                ],
                "channels": list(one.channels),
                "kernels": list(one.kernels),
            }
            for one in found
        ]
    }


def _program(name: str, files: Sequence[Path], defines: Sequence[str], includes: Sequence[str]) -> Ports:
    ports: dict[tuple[int, str], Port] = {}
    channels: list[dict[str, Any]] = []
    kernels: list[dict[str, Any]] = []
    for path in files:
        parsed = parse(path, defines, includes)
        if path.suffix == _programs.OPENCL:
            from gossamer.smi import opencl

            source = opencl.read(path, defines, includes)
            channels += [
                {"name": one.name, "type": one.type, "sizes": list(one.sizes), "depth": one.depth_value}
                for one in source.channels
            ]
            kernels += [
                {
                    "name": one.name,
                    "arguments": [list(pair) for pair in one.arguments],
                    "autorun": one.autorun,
                    "endless": one.endless,
                }
                for one in source.kernels
            ]
        for made in _openings(_calls.read(parsed)):
            _add(ports, made, name)
    return Ports(name, tuple(ports[key] for key in sorted(ports)), tuple(channels), tuple(kernels))


def _openings(calls: _calls.Calls) -> Iterator[Port]:
    """The ports that calls open. A template has the ports of its instantiations; without one, those of its text if they
    are constant there."""
    lines = set()
    callees = set()
    for one in calls.found:
        if one.cursor.kind.name == "CALL_EXPR":
            callees |= {ref.location.offset for ref in _named(one.cursor)}
            made = _port(one.cursor, _where(one.at))
            if made is not None:
                lines.add((one.at.file.name, one.at.line))
                yield made
    for one in calls.found:
        name = one.cursor.spelling
        opens = one.cursor.kind.name == "DECL_REF_EXPR" and (name == "SMI_Barrier" or _OPEN.match(name))
        if opens and one.cursor.location.offset not in callees:
            raise InputError(
                f"{_where(one.at)}: {name} is not called here; hardware depends on its arguments, so call it directly"
            )
    for template in calls.templates:
        for opening in template.walk_preorder():
            if _opens(opening) and (opening.location.file.name, opening.location.line) not in lines:
                made = _port(opening, _where(opening.location)) if opening.kind.name == "CALL_EXPR" else None
                if made is None:
                    raise InputError(
                        f"{_where(opening.location)}: opens a port in a template that no visible code instantiates; "
                        "hardware depends on its ports, so instantiate it by name, or delete it"
                    )
                yield made


def _where(location: Any) -> str:
    return f"{diagnostics.relative(Path(location.file.name))}:{location.line}"


def _named(call: Any) -> Iterator[Any]:
    """The reference to the called function, if the call names it."""
    callee = next(call.get_children(), None)
    while callee is not None and callee.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
        callee = next(callee.get_children(), None)
    if callee is not None and callee.kind.name == "DECL_REF_EXPR":
        yield callee


def _opens(cursor: Any) -> bool:
    """Whether an expression or declaration in the text of a template opens a port."""
    kind = cursor.kind.name
    if kind == "CALL_EXPR":
        return cursor.spelling == "SMI_Barrier" or _OPEN.match(cursor.spelling) is not None or _is_channel(cursor)
    if kind not in ("VAR_DECL", "CXX_UNRESOLVED_CONSTRUCT_EXPR", "CXX_FUNCTIONAL_CAST_EXPR"):
        return False
    if cursor.type.kind.name in ("LVALUEREFERENCE", "RVALUEREFERENCE", "POINTER"):
        return False
    # If the type is not dependent, its constructor is a separate call.
    constructed = any(one.kind.name == "CALL_EXPR" and _is_channel(one) for one in cursor.walk_preorder())
    of_ours = [one for one in cursor.get_children() if one.kind.name == "TEMPLATE_REF" and one.spelling in _CPP]
    return bool(of_ours) and not constructed


def _is_channel(call: Any) -> bool:
    """Whether a call constructs a channel of smi.hpp, and does not copy one."""
    return (
        call.spelling in _CPP
        and call.type.get_canonical().spelling.startswith(f"smi::{call.spelling}<")
        and sum(1 for _ in call.get_arguments()) > 2
    )


def _port(call: Any, where: str) -> Port | None:
    """The port that a call opens; None for a call of another function."""
    arguments = list(call.get_arguments())
    if call.spelling == "SMI_Barrier":
        return Port(_number(arguments[0], "the port", where, range(PORTS)), "barrier", None, None, None, where)
    if _is_channel(call):
        kind = _CPP_TYPES.get(call.type.get_canonical().get_template_argument_type(0).spelling)
        if kind is None:
            return None  # in the text of a template
        degree = _number(arguments[4], "the degree", where, range(-1, 1 << 31)) if _given(arguments, 4) else -1
        number = _number(arguments[2], "the port", where, range(PORTS))
        return Port(number, _CPP[call.spelling], kind, None, degree if degree >= 0 else None, where)
    found = _OPEN.match(call.spelling)
    if not found:
        return None
    operation = "receive" if found[1] == "recv" else found[1]
    type_at, port_at, op_at = _POSITIONS[operation]
    port = _number(arguments[port_at], "the port", where, range(PORTS))
    kind = TYPES[_number(arguments[type_at], "the type", where, TYPES)]
    reduction = None if op_at is None else OPERATIONS[_number(arguments[op_at], "the operation", where, OPERATIONS)]
    stated = _number(arguments[-1], "the degree", where, range(1 << 31)) if found[2] else None
    return Port(port, operation, kind, reduction, stated, where)


def _given(arguments: Sequence[Any], at: int) -> bool:
    """Whether the call contains an argument; a default argument has no location."""
    return len(arguments) > at and arguments[at].location.file is not None


def _number(cursor: Any, what: str, where: str, allowed: Any) -> int:
    value = constant(cursor)
    if value is None:
        raise InputError(f"{where}: {what} is not constant; hardware depends on it, so write a number")
    if value not in allowed:
        raise InputError(f"{where}: {what} is {value}, which does not exist")
    return value


def _add(ports: dict[tuple[int, str], Port], made: Port, program: str) -> None:
    for (number, _), other in ports.items():
        if number == made.port:
            _compatible(made, other, f"in {program}")
    key = made.port, made.operation
    before = ports.get(key)
    if before is not None:
        stated = [one for one in (before.degree, made.degree) if one is not None]
        made = Port(
            before.port, before.operation, before.type, before.reduction, max(stated, default=None), before.where
        )
    ports[key] = made


def _compatible(one: Port, other: Port, who: str) -> None:
    """Checks that two uses of a port are the same hardware, or its two ends."""
    ends = {"send", "receive"}
    same = one.operation == other.operation or {one.operation, other.operation} <= ends
    if same and one.type == other.type and one.reduction == other.reduction:
        return
    uses = f"{_description(one)}, and {who} for {_description(other)}"
    raise InputError(f"{one.where}: port {one.port} is used for {uses} ({other.where}); give each its own port")


def _description(port: Port) -> str:
    return " ".join(text for text in (port.operation, port.reduction, port.type) if text)


def _agree(one: Ports, other: Ports) -> None:
    """Checks that ports of the same number are ends of the same channels, or the same collective."""
    for mine in one.ports:
        for theirs in other.ports:
            if mine.port == theirs.port:
                _compatible(theirs, mine, f"in {one.program}")
