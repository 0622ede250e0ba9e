# SPDX-License-Identifier: Apache-2.0
"""Translates OpenCL device files of SMI for the emulator. Line numbers do not change.

The compiler implements OpenCL C (`_compile`); only channels are rewritten (compat/smi/opencl.h). A program without a
host gets a main that starts all kernels with the arguments of the command line (`_arguments`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import builds, diagnostics, files, native
from gossamer.errors import InputError
from gossamer.smi._compile import OPENCL
from gossamer.smi._parse import Parsed, annotated, constant, parse, without_address_spaces
from gossamer.smi._parse import plain as plain_of

_CHANNEL = re.compile(r"\bchannel\b([^;{}]*);")
_DEPTH = re.compile(r"\bdepth\s*\(((?:[^()]|\([^()]*\))*)\)")
_IO = re.compile(r"\bio\s*\(")
_WORK_ITEMS = re.compile(r"get_(?:work_dim|(?:global|local)_(?:size|id)|num_groups|group_id|global_offset)$")
_AUTORUN = re.compile(r"__attribute__\s*\(\(\s*autorun\s*\)\)")


@dataclass(frozen=True)
class Channel:
    """A channel between the kernels of a rank, or an array of them."""

    name: str
    type: str
    sizes: tuple[int, ...]
    depth: str
    """An expression."""
    depth_value: int
    line: int


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel, as the command line sets it."""

    name: str
    kind: str
    """``buffer``, ``signed``, ``unsigned``, ``float``, ``comm``, or empty if no argument can set it."""
    size: int
    """Bytes of a number, or of an element."""
    lanes: int
    """Elements of a vector; else 1."""
    type: str
    """Without qualifiers."""


@dataclass(frozen=True)
class Kernel:
    name: str
    arguments: tuple[tuple[str, str], ...]
    """Type and name of each."""
    parameters: tuple[Parameter, ...]
    autorun: bool
    endless: bool
    """Whether it contains an infinite loop without an exit, such as ``while (1)``."""
    line: int


@dataclass(frozen=True)
class Source:
    """A .cl file."""

    parsed: Parsed
    channels: tuple[Channel, ...]
    kernels: tuple[Kernel, ...]
    text: str
    """The translation to C, with unchanged line numbers."""


def read(path: Path, defines: Sequence[str] = (), includes: Sequence[str] = ()) -> Source:
    """Reads a .cl file; InputError, at its line, if it does not parse."""
    parsed = parse(path, defines, includes)
    text = parsed.text
    plain = plain_of(text)
    _check_work_items(parsed)
    variables = [one for one in parsed.own("VAR_DECL") if annotated(one, "channel")]
    data = text.encode()
    # A depth may be a constant expression, so the parser evaluates it.
    texts = {}
    for found in _CHANNEL.finditer(plain):
        depth = _DEPTH.search(found[1])
        texts[found.start()] = depth[1] if depth else "0"
    if variables:
        more = "".join(f"enum {{ gs_smi_depth_{start} = ({text}) }};\n" for start, text in texts.items())
        again = parse(path, defines, includes, more)
        values = {one.spelling: one.enum_value for one in again.own("ENUM_CONSTANT_DECL")}
    channels: list[Channel] = []
    out, at = [], 0
    for found in _CHANNEL.finditer(plain):
        start, end = (len(text[:position].encode()) for position in found.span())
        inside = [one for one in variables if start <= one.location.offset < end]
        if not inside:
            continue
        made = []
        if _IO.search(found[1]):
            raise _error(inside[0], f"channel {inside[0].spelling} is an io channel, which the emulator does not have")
        for one in inside:
            channel = _channel(one, texts[found.start()], values[f"gs_smi_depth_{found.start()}"])
            channels.append(channel)
            sizes = "".join(f"[{size}]" for size in channel.sizes)
            made.append(
                f"static struct {{ SMI_Fifo fifo; {channel.type} type[0]; char depth[0][{channel.depth}]; }} "
                f"{channel.name}{sizes};"
            )
        out.append(data[at:start].decode(errors="replace") + " ".join(made) + "\n" * found[0].count("\n"))
        at = end
    out.append(data[at:].decode(errors="replace"))
    functions = [one for one in parsed.own("FUNCTION_DECL") if one.is_definition()]
    kernels = tuple(_kernel(one, plain, data, functions) for one in functions if annotated(one, "kernel"))
    return Source(parsed, tuple(channels), kernels, "".join(out))


def _channel(cursor: Any, depth: str, value: int) -> Channel:
    kind, sizes = cursor.type, []
    while kind.kind.name == "CONSTANTARRAY":
        sizes.append(kind.element_count)
        kind = kind.element_type
    return Channel(cursor.spelling, _unqualified(kind), tuple(sizes), depth, value, cursor.location.line)


def _unqualified(kind: Any) -> str:
    """A type without the address spaces that the parser adds."""
    return without_address_spaces(kind.spelling).strip()


def _check_work_items(parsed: Parsed) -> None:
    for call in parsed.own("CALL_EXPR"):
        if _WORK_ITEMS.match(call.spelling):
            raise _error(call, f"{call.spelling}: work-items are not supported; use a loop in one work-item")


def _error(cursor: Any, what: str) -> InputError:
    file = diagnostics.relative(Path(cursor.location.file.name))
    return InputError(f"{file}:{cursor.location.line}: {what}")


def _kernel(cursor: Any, plain: str, data: bytes, functions: Sequence[Any]) -> Kernel:
    arguments = tuple((_unqualified(one.type), one.spelling) for one in cursor.get_arguments())
    # The parser counts bytes of the source; `plain` has one space for each character of a comment.
    head = plain[: len(data[: cursor.location.offset].decode(errors="replace"))]
    return Kernel(
        cursor.spelling,
        arguments,
        tuple(_parameter(one) for one in cursor.get_arguments()),
        _AUTORUN.search(head[max(head.rfind(";"), head.rfind("}")) + 1 :]) is not None,
        _endless(cursor, functions, set()),
        cursor.location.line,
    )


def _endless(function: Any, functions: Sequence[Any], seen: set[str]) -> bool:
    """Whether a function, or a function of the file that it calls, contains an infinite loop without an exit."""
    seen.add(function.spelling)
    called = {one.spelling for one in function.walk_preorder() if one.kind.name == "CALL_EXPR"} - seen
    return any(map(_never_left, function.walk_preorder())) or any(
        _endless(one, functions, seen) for one in functions if one.spelling in called
    )


def _never_left(statement: Any) -> bool:
    """Whether a statement is a loop without a condition, or with a true constant, and without an exit in its body."""
    kind, parts = statement.kind.name, list(statement.get_children())
    if kind == "FOR_STMT":
        # libclang omits empty parts of a `for`, so the tokens must tell which parts exist.
        if not _forever([one.spelling for one in statement.get_tokens()]):
            return False
    elif kind == "WHILE_STMT":
        if not constant(parts[0]):
            return False
    elif kind == "DO_STMT":
        if not constant(parts[-1]):
            return False
    else:
        return False
    return not any(_leaves(one, True) for one in parts)


def _forever(tokens: list[str]) -> bool:
    """Whether the tokens of a ``for`` have an empty condition, or a number other than 0."""
    depth, at = 0, [0]
    for position, token in enumerate(tokens):
        depth += (token in "([{") - (token in ")]}")
        if token == ";" and depth == 1:
            at.append(position)
        if len(at) == 3:
            break
    condition = "".join(tokens[at[1] + 1 : at[2]]) if len(at) == 3 else "0"
    return condition in ("", "true") or (condition.isdecimal() and int(condition) != 0)


def _leaves(statement: Any, own: bool) -> bool:
    """Whether a statement of a loop's body exits the loop; `own`: a ``break`` here belongs to that loop."""
    kind = statement.kind.name
    if kind in ("RETURN_STMT", "GOTO_STMT", "INDIRECT_GOTO_STMT") or (kind == "BREAK_STMT" and own):
        return True
    inner = kind in ("WHILE_STMT", "DO_STMT", "FOR_STMT", "SWITCH_STMT")
    return any(_leaves(one, own and not inner) for one in statement.get_children())


_SIGNED = ("CHAR_S", "SCHAR", "SHORT", "INT", "LONG", "LONGLONG", "ENUM")
_UNSIGNED = ("BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG")


def _parameter(cursor: Any) -> Parameter:
    kind = cursor.type.get_canonical()
    spelled = re.sub(r"\b(?:const|volatile|restrict)\b", "", _unqualified(cursor.type)).strip()
    name = kind.kind.name
    if spelled == "SMI_Comm":
        return Parameter(cursor.spelling, "comm", 8, 1, spelled)
    if name == "POINTER" or name.endswith("ARRAY"):
        element = kind.get_pointee().get_canonical() if name == "POINTER" else kind.element_type
        while element.kind.name == "CONSTANTARRAY":
            element = element.element_type
        return Parameter(cursor.spelling, "buffer", max(element.get_size(), 1), 1, spelled)
    lanes = 1
    if name in ("EXTVECTOR", "VECTOR"):
        lanes, kind = kind.element_count, kind.element_type.get_canonical()
        name = kind.kind.name
    sort = "signed" if name in _SIGNED else "unsigned" if name in _UNSIGNED else ""
    sort = "float" if name in ("HALF", "FLOAT16", "FLOAT", "DOUBLE") else sort
    return Parameter(cursor.spelling, sort, kind.get_size(), lanes, spelled)


def translate(path: Path, defines: Sequence[str], includes: Sequence[str] = (), *, host: bool) -> list[Path]:
    """Writes the translation of a .cl file, and without a host a main in C that starts its kernels; returns both."""
    source = read(path, defines, includes)
    if not host and not source.kernels:
        raise InputError(f"{path}: has no kernel, and no file has a main")
    text = f'#line 1 "{path.resolve()}"\n{source.text}\n'
    if host:
        return [_written(path, text, OPENCL)]
    for kernel in source.kernels:
        for one in kernel.parameters:
            if not one.kind:
                where = f"{diagnostics.relative(path)}:{kernel.line}"
                raise InputError(
                    f"{where}: kernel {kernel.name}: argument {one.name} of type {one.type} cannot be given on the "
                    "command line; use numbers, vectors and buffers, or a host program"
                )
    # The kernels with arguments of their types, for a caller in C, which has no vectors.
    text += '#line 1 "arguments of kernels"\n'
    for kernel in source.kernels:
        values = [
            f"gs_smi_values[{at}]" if one.kind == "buffer" else f"*({one.type}*)gs_smi_values[{at}]"
            for at, one in enumerate(kernel.parameters)
        ]
        text += f"void gs_smi_call_{kernel.name}(void** gs_smi_values) {{ {kernel.name}({', '.join(values)}); }}\n"
    return [_written(path, text, OPENCL), _written(path, _main(path, source.kernels), ".c")]


def _written(path: Path, text: str, suffix: str) -> Path:
    folder = native.build_dir() / "smi" / "opencl"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{path.stem}-{builds.tag(str(path.resolve()), text)}{suffix}"
    if not made.exists():
        files.write_whole(made, text.encode())
    return made


def _main(path: Path, kernels: Sequence[Kernel]) -> str:
    lines = ['#include "arguments.h"']
    for one in kernels:
        lines.append(f"void gs_smi_call_{one.name}(void**);")
        lines.append(f"static void* gs_smi_values_{one.name}[{len(one.parameters) + 1}];")
        lines.append(f"static void gs_smi_start_{one.name}(void* gs_smi_nothing) {{")
        lines.append(f"  (void)gs_smi_nothing;\n  gs_smi_call_{one.name}(gs_smi_values_{one.name});\n}}")
    lines.append("int main(int gs_smi_count, char** gs_smi_given) {")
    lines.append("  (void)gs_smi_count;\n  gs_smi_words = gs_smi_given;\n  static SMI_Comm gs_smi_world;")
    lines.append(f"  SMI_Kernel gs_smi_started[{len(kernels)}];\n  gs_smi_world = SMI_COMM_WORLD;")
    for one in kernels:
        for at, parameter in enumerate(one.parameters):
            value = f'gs_smi_argument("{one.name}.{parameter.name}")'
            lines.append(
                f"  gs_smi_values_{one.name}[{at}] = {'&gs_smi_world' if parameter.kind == 'comm' else value};"
            )
    lines.append("  gs_smi_at_end(gs_smi_write);")
    for number, one in enumerate(kernels):
        start = "gs_smi_start_daemon" if one.autorun or one.endless else "SMI_Start_kernel"
        lines.append(f'  gs_smi_started[{number}] = {start}("{one.name}", gs_smi_start_{one.name}, 0);')
    for number, one in enumerate(kernels):
        if not (one.autorun or one.endless):
            # A report of a deadlock names the line of the kernel.
            lines.append(f'#line {one.line} "{path.resolve()}"\n  SMI_Wait_kernel(gs_smi_started[{number}]);')
    # Endless kernels have finished their work when no kernel can proceed.
    if any(one.endless and not one.autorun for one in kernels):
        lines.append(f'#line {max(one.line for one in kernels)} "{path.resolve()}"\n  gs_smi_settle();')
    lines += ["  return 0;", "}"]
    return "\n".join(lines) + "\n"
