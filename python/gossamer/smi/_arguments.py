# SPDX-License-Identifier: Apache-2.0
"""Arguments of kernels without a host program, from the command line: ``[RANK.][KERNEL.]NAME=VALUE``.

Each rank gets one word for each argument of its kernels, which compat/smi/arguments.h reads:

    KERNEL.NAME=bytes HEX       the bytes of a number or vector
    KERNEL.NAME=zeros BYTES     a buffer of zeros
    KERNEL.NAME=file PATH       a buffer with the contents of a file
    KERNEL.NAME=same KERNEL.NAME    the buffer of an earlier argument
    KERNEL.NAME>PATH            the buffer is written to this file at the end of the run
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.config._source import near
from gossamer.errors import InputError
from gossamer.files import check_writable
from gossamer.smi._programs import Program
from gossamer.smi._ranks import Place
from gossamer.smi.opencl import Kernel, Parameter

_MOST_BYTES = 1 << 62
_FLOATS = {2: "e", 4: "f", 8: "d"}


@dataclass(frozen=True)
class _Output:
    """A file that a run writes."""

    path: str
    who: str
    """The argument, or the shared buffer, and its rank."""


def resolve(programs: Sequence[Program], where: Sequence[Place], words: Sequence[str]) -> list[list[str]]:
    """The words of each rank; none for a rank whose program has a main.

    InputError if an argument has no value or a wrong one, if a word names no argument, or if two buffers are written
    to one file.
    """
    given: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            given.setdefault(name, value)
    used: set[str] = set()
    found: list[list[str]] = []
    outputs: list[_Output] = []
    for rank, place in enumerate(where):
        kernels = programs[place.program].kernels
        found.append(_of_rank(rank, kernels, given, used, outputs))
    if all(program.kernels for program in programs):
        _check_words(words, used, programs)
    _check_outputs(outputs)
    return found


def _check_words(words: Sequence[str], used: set[str], programs: Sequence[Program]) -> None:
    known = sorted({one.name for program in programs for kernel in program.kernels for one in kernel.parameters})
    for word in words:
        name, equals, _ = word.partition("=")
        if not equals:
            raise InputError(f"{word}: is not NAME=VALUE; arguments of kernels are given by name")
        if name not in used:
            base = name.rsplit(".", 1)[-1]
            if base.startswith("@"):
                raise InputError(f"{word}: no argument of a kernel uses this buffer; give NAME={base}")
            listed = f"the arguments are {', '.join(known)}" if known else "they have none"
            raise InputError(f"{word}: no kernel that runs has such an argument; {listed}{near(base, known)}")


def _check_outputs(outputs: Sequence[_Output]) -> None:
    """Checks that no file is written by two buffers. Devices, such as /dev/null, may be."""
    writers: dict[str, _Output] = {}
    for one in outputs:
        if os.path.exists(one.path) and not os.path.isfile(one.path):
            continue
        other = writers.setdefault(os.path.realpath(one.path), one)
        if other is not one:
            raise InputError(
                f"{one.path}: two buffers are written to this file, that of {other.who} and that of {one.who}; name "
                "a file for each ({} is the rank's number, KERNEL.NAME= names one argument), or let arguments of a "
                "rank share a buffer: @BUF=VALUE NAME=@BUF"
            )


def _of_rank(
    rank: int, kernels: Sequence[Kernel], given: Mapping[str, str], used: set[str], outputs: list[_Output]
) -> list[str]:
    """The words of one rank."""
    values: list[tuple[Kernel, Parameter, str]] = []
    sizes: dict[str, list[int]] = {}
    for kernel in kernels:
        for one in kernel.parameters:
            if one.kind == "comm":
                continue
            names = [f"{rank}.{kernel.name}.{one.name}", f"{rank}.{one.name}", f"{kernel.name}.{one.name}", one.name]
            present = [name for name in names if name in given]
            used.update(present)
            if not present:
                raise _wrong(kernel, one, "has no value; give it after --, as NAME=VALUE")
            value = given[present[0]]
            values.append((kernel, one, value))
            if value.startswith("@"):
                if one.kind != "buffer":
                    raise _wrong(kernel, one, f"is no buffer, so it cannot share {value}")
                sizes.setdefault(value, []).append(one.size)
    words: list[str] = []
    first: dict[str, str] = {}
    for kernel, one, value in values:
        key = f"{kernel.name}.{one.name}"
        if one.kind != "buffer":
            words.append(f"{key}=bytes {_packed(kernel, one, value).hex()}")
            continue
        size, who = one.size, f"kernel {kernel.name}'s argument {one.name} of rank {rank}"
        if value.startswith("@"):
            if value in first:
                words.append(f"{key}=same {first[value]}")
                continue
            first[value] = key
            size, who = min(sizes[value]), f"{value} of rank {rank}"
            names = [name for name in (f"{rank}.{value}", value) if name in given]
            used.update(names)
            if not names:
                raise _wrong(kernel, one, f"shares the buffer {value}, which has no value; give {value}=VALUE too")
            value = given[names[0]]
        words += _buffer(kernel, one, key, value, size, rank)
        output = value.partition(":")[2].replace("{}", str(rank))
        if output:
            check_writable(Path(output))
            outputs.append(_Output(output, who))
            words.append(f"{key}>{output}")
    for word in words:
        if "\n" in word:
            raise InputError(f"{word.splitlines()[0]}: a line break in the name of a file; rename the file")
    return words


def _buffer(kernel: Kernel, one: Parameter, key: str, value: str, size: int, rank: int) -> list[str]:
    content = value.partition(":")[0]
    if content.isascii() and content.isdecimal():
        if int(content) * size >= _MOST_BYTES:
            raise _wrong(kernel, one, "has more elements than fit into memory")
        return [f"{key}=zeros {int(content) * size}"]
    file = content.replace("{}", str(rank))
    try:
        with open(file, "rb") as opened:
            length = os.fstat(opened.fileno()).st_size
    except (OSError, ValueError):
        raise _wrong(kernel, one, "is neither a number nor a file that can be read") from None
    if length % size:
        raise _wrong(kernel, one, f"is {file} of {length} bytes; its elements have {size}, so give a multiple")
    return [f"{key}=file {file}"]


def _packed(kernel: Kernel, one: Parameter, text: str) -> bytes:
    """The bytes of a number, or of a vector: its elements with commas between, or one for all."""
    parts = text.split(",")
    if len(parts) not in (1, one.lanes):
        raise _wrong(kernel, one, f"has {len(parts)} elements; give {one.lanes}, or one for all")
    numbers = [_number(kernel, one, part) for part in parts] * (one.lanes // len(parts))
    # A vector of three is stored as one of four.
    return b"".join([*numbers, numbers[0] if one.lanes == 3 else b""])


def _number(kernel: Kernel, one: Parameter, text: str) -> bytes:
    if one.kind == "float":
        try:
            value = float.fromhex(text) if "0x" in text.lower() else float(text)
            if "_" in text:
                raise ValueError
        except ValueError:
            raise _wrong(kernel, one, "is not a number") from None
        try:
            return struct.pack(f"={_FLOATS[one.size]}", value)
        except OverflowError:
            raise _wrong(kernel, one, "does not fit into the kernel's parameter") from None
    signed = one.kind == "signed"
    # As in C: 0x for hexadecimal, a leading 0 for octal numbers.
    digits = re.fullmatch(r"\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|0([0-7]+)|(0|[1-9][0-9]*))", text)
    if digits is None or (digits[1] == "-" and not signed):
        raise _wrong(kernel, one, "is not an integer")
    bits = 8 * one.size
    size = int(digits[2], 16) if digits[2] else int(digits[3], 8) if digits[3] else int(digits[4])
    number = -size if digits[1] == "-" else size
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not least <= number <= most:
        raise _wrong(kernel, one, "does not fit into the kernel's parameter")
    return (number % (1 << bits)).to_bytes(one.size, "little")


def _wrong(kernel: Kernel, one: Parameter, what: str) -> InputError:
    return InputError(f"kernel {kernel.name}: argument {one.name} {what}")


__all__ = ["resolve"]
