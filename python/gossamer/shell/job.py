# SPDX-License-Identifier: Apache-2.0
"""Files of jobs, JSON: a role, a kernel, and tasks with registers and input.

    {"role": "sum.c", "kernel": 1, "board_type": 1, "timeout": 60,
     "tasks": [{"registers": {"0": 8192, "4": 800}, "inputs": [{"address": 8192, "file": "part0.bin"}]}]}

An input has ``file``, relative to the job's file, or ``hex``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import InputError
from gossamer.files import parse_json, reason
from gossamer.shell import signature
from gossamer.shell.host import root_of

_WORD = 1 << 32


@dataclass(frozen=True)
class Job:
    """A job, read and checked."""

    role: bytes
    """The role file, or a package of one (`signature`)."""
    root: bytes
    """32 bytes that name the role."""
    board_type: int
    kernel: int
    timeout: float
    """Seconds that a task may take."""
    tasks: Sequence[tuple[dict[int, int], Sequence[tuple[int, bytes]]]]


def read(path: Path) -> Job:
    """Reads a job's file and the files that it names; InputError with the entry that is wrong."""
    try:
        spec = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the job: {reason(error)}") from None
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    spec = _table(path, "the job", spec, {"role", "kernel", "board_type", "timeout", "tasks"}, {"role", "tasks"})
    timeout = spec.get("timeout", 60)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 1e6:
        raise InputError(f"{path}: timeout: must be seconds above 0")
    if not isinstance(spec["tasks"], list) or not spec["tasks"]:
        raise InputError(f"{path}: tasks: must be a list of at least one task")
    tasks = [_task(path, f"tasks[{number}]", one) for number, one in enumerate(spec["tasks"])]
    role = role_bytes(_file(path, "role", spec["role"]))
    # The manager decides whom it trusts; here the package is only checked.
    body, package = signature.accepted(f"{path}: role", role, None)
    default = 1 if package is None else package.board_type
    board_type = _number(path, "board_type", spec.get("board_type", default), _WORD)
    if package is not None and board_type != package.board_type:
        raise InputError(f"{path}: board_type: the role is signed for boards of type {package.board_type}")
    return Job(
        role=role,
        root=root_of(body),
        board_type=board_type,
        kernel=_number(path, "kernel", spec.get("kernel", 0), _WORD),
        timeout=float(timeout),
        tasks=tasks,
    )


def role_bytes(path: Path) -> bytes:
    """A role file or a package; a source in C, C++ or SystemVerilog is built for simulated boards.

    Raises InputError if it cannot be read or is empty.
    """
    from gossamer.shell import _build

    try:
        data = (_build.role(path.resolve()) if path.suffix in _build.SOURCE_SUFFIXES else path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the role: {(error.strerror or str(error)).lower()}") from None
    if not data:
        raise InputError(f"{path}: is empty")
    if (end := _elf_end(data)) > len(data):
        raise InputError(f"{path}: is cut off, {len(data):,} bytes of at least {end:,}; build or copy it again")
    return data


def _elf_end(data: bytes) -> int:
    """The end of what an ELF file's header and segments name: a mapping beyond the end of a file kills a process.

    0 for other files; roles of boards have other formats.
    """
    if data[:6] != b"\x7fELF\x02\x01":  # 64 bits, least significant byte first
        return 0
    if len(data) < 64:
        return 64
    programs, sections = struct.unpack_from("<QQ", data, 32)
    entry, count, section_entry, section_count = struct.unpack_from("<4H", data, 54)
    end = int(max(programs + entry * count, sections + section_entry * section_count))
    if entry < 56 or programs + entry * count > len(data):
        return end
    extents = (struct.unpack_from("<Q16xQ", data, programs + entry * number + 8) for number in range(count))
    return max([end, *(int(offset) + int(size) for offset, size in extents)])


def _file(path: Path, where: str, name: Any) -> Path:
    """The file that a job names, relative to the job's own."""
    try:
        # A name with a zero byte, or with half of a pair of surrogates, is none of a file.
        if isinstance(name, str) and name and b"\0" not in os.fsencode(name):
            return path.parent / name
    except UnicodeEncodeError:
        pass
    raise InputError(f"{path}: {where}: must be the path of a file")


def _table(path: Path, where: str, value: Any, known: set[str], needed: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path}: {where}: must be an object")
    if unknown := sorted(value.keys() - known):
        raise InputError(f"{path}: {where}: no key {unknown[0]}; the keys are {', '.join(sorted(known))}")
    if missing := sorted(needed - value.keys()):
        raise InputError(f"{path}: {where}: needs the key {missing[0]}")
    return value


def _number(path: Path, where: str, value: Any, end: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        raise InputError(f"{path}: {where}: must be an integer from 0 to {end - 1}")
    return value


def _task(path: Path, where: str, value: Any) -> tuple[dict[int, int], list[tuple[int, bytes]]]:
    task = _table(path, where, value, {"registers", "inputs"}, set())
    registers: dict[int, int] = {}
    listed = task.get("registers", {})
    if not isinstance(listed, dict):
        raise InputError(f"{path}: {where}.registers: must be an object from addresses to values")
    for at, number in listed.items():
        if not at.isdecimal() or int(at) % 4:
            raise InputError(f"{path}: {where}.registers: {at}: an address is a multiple of 4")
        registers[int(at)] = _number(path, f"{where}.registers.{at}", number, _WORD)
    inputs = task.get("inputs", [])
    if not isinstance(inputs, list):
        raise InputError(f"{path}: {where}.inputs: must be a list")
    return registers, [_input(path, f"{where}.inputs[{number}]", one) for number, one in enumerate(inputs)]


def _input(path: Path, where: str, value: Any) -> tuple[int, bytes]:
    entry = _table(path, where, value, {"address", "file", "hex"}, {"address"})
    address = _number(path, f"{where}.address", entry["address"], 1 << 64)
    if ("file" in entry) == ("hex" in entry):
        raise InputError(f"{path}: {where}: needs either file or hex")
    if "hex" in entry:
        try:
            return address, bytes.fromhex(entry["hex"])
        except (TypeError, ValueError):
            raise InputError(f"{path}: {where}.hex: must be hexadecimal digits") from None
    file = _file(path, f"{where}.file", entry["file"])
    try:
        return address, file.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {where}.file: {entry['file']}: {(error.strerror or str(error)).lower()}") from None


__all__ = ["Job", "read", "role_bytes"]
