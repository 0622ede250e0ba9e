# SPDX-License-Identifier: Apache-2.0
"""Translates OpenCL device files of SMI into C for the emulator. Line numbers do not change.

Only channels and vectors are rewritten; compat/smi/opencl.h defines the rest of the language. A program without a host
gets a main that starts all kernels with the arguments of the command line (compat/smi/arguments.h).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import builds, files, native
from gossamer.errors import InputError
from gossamer.smi import _vectors
from gossamer.smi._parse import Parsed, annotated, constant, parse
from gossamer.smi._parse import plain as plain_of

_CHANNEL = re.compile(r"\bchannel\b([^;{}]*);")
_DEPTH = re.compile(r"\bdepth\s*\(((?:[^()]|\([^()]*\))*)\)")
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
class Kernel:
    name: str
    arguments: tuple[tuple[str, str], ...]
    """Type and name of each."""
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


def read(path: Path, defines: Sequence[str] = ()) -> Source:
    """Reads a .cl file; InputError, at its line, if it does not parse."""
    parsed = parse(path, defines)
    text = path.read_text(encoding="utf-8", errors="replace")
    vectors = _vectors.in_gnu_c(path, defines, text, plain_of(text))
    if vectors != text:
        text = vectors
        parsed = parse(path, defines, text=text)
    plain = plain_of(text)
    variables = [one for one in parsed.own("VAR_DECL") if annotated(one, "channel")]
    data = text.encode()
    # A depth may be a constant expression, so the parser evaluates it.
    texts = {}
    for found in _CHANNEL.finditer(plain):
        depth = _DEPTH.search(found[1])
        texts[found.start()] = depth[1] if depth else "0"
    if variables:
        more = "".join(f"enum {{ gs_smi_depth_{start} = ({text}) }};\n" for start, text in texts.items())
        again = parse(path, defines, more, text)
        values = {one.spelling: one.enum_value for one in again.own("ENUM_CONSTANT_DECL")}
    channels: list[Channel] = []
    out, at = [], 0
    for found in _CHANNEL.finditer(plain):
        start, end = (len(text[:position].encode()) for position in found.span())
        inside = [one for one in variables if start <= one.location.offset < end]
        if not inside:
            continue
        made = []
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
    return Channel(cursor.spelling, kind.spelling, tuple(sizes), depth, value, cursor.location.line)


def _kernel(cursor: Any, plain: str, data: bytes, functions: Sequence[Any]) -> Kernel:
    arguments = tuple((one.type.spelling, one.spelling) for one in cursor.get_arguments())
    # The parser counts bytes of the source; `plain` has one space for each character of a comment.
    head = plain[: len(data[: cursor.location.offset].decode(errors="replace"))]
    return Kernel(
        cursor.spelling,
        arguments,
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


def to_c(path: Path, defines: Sequence[str], *, host: bool) -> Path:
    """Writes the C translation of a .cl file. Without a host it gets a main that starts its kernels."""
    source = read(path, defines)
    if not host and not source.kernels:
        raise InputError(f"{path}: has no kernel, and no file has a main")
    text = f'#include "opencl.h"\n#line 1 "{path.resolve()}"\n{source.text}\n'
    if not host:
        text += _main(source.kernels)
    folder = native.build_dir() / "smi" / "opencl"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{path.stem}-{builds.tag(str(path.resolve()), text)}.c"
    if not made.exists():
        files.write_whole(made, text.encode())
    return made


def _main(kernels: Sequence[Kernel]) -> str:
    lines = ['#line 1 "main for kernels without a host"', "#undef kernel", "#undef global", '#include "arguments.h"']
    for one in kernels:
        names = ", ".join(_argument(one.name, kind, name) for kind, name in one.arguments)
        lines.append(f"static void gs_smi_start_{one.name}(void* gs_smi_nothing) {{ {one.name}({names}); }}")
    lines.append("int main(int gs_smi_count, char** gs_smi_given) {")
    lines.append("  gs_smi_words = gs_smi_given;")
    lines.append(f"  SMI_Kernel gs_smi_started[{len(kernels)}];")
    for number, one in enumerate(kernels):
        start = "gs_smi_start_daemon" if one.autorun or one.endless else "SMI_Start_kernel"
        lines.append(f'  gs_smi_started[{number}] = {start}("{one.name}", gs_smi_start_{one.name}, 0);')
    for number, one in enumerate(kernels):
        if not (one.autorun or one.endless):
            lines.append(f"  SMI_Wait_kernel(gs_smi_started[{number}]);")
    # Endless kernels have finished their work when no kernel can proceed.
    if any(one.endless and not one.autorun for one in kernels):
        lines.append("  gs_smi_settle();")
    lines += ["  gs_smi_write();", "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def _argument(kernel: str, kind: str, name: str) -> str:
    """The expression for an argument of a kernel."""
    if kind.endswith("*") or "*restrict" in kind or "*__restrict" in kind or "* restrict" in kind:
        # Of `const float *restrict`, the elements are float.
        element = kind.split("*")[0].replace("volatile", "").strip()
        return f'gs_smi_buffer("{kernel}", "{name}", sizeof({element}))'
    plain = kind.replace("const", "").replace("volatile", "").strip()
    if plain == "SMI_Comm":
        return "SMI_COMM_WORLD"
    if plain in ("float", "double"):
        return f'gs_smi_number("{kernel}", "{name}")'
    return f'gs_smi_integer("{kernel}", "{name}", sizeof({plain}), ({plain})-1 < 0)'
