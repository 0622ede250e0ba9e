# SPDX-License-Identifier: Apache-2.0
"""Files of jobs, JSON: a role, a kernel, and tasks with registers and input.

    {"role": "sum.c", "kernel": 1, "board_type": 1, "timeout": 60,
     "tasks": [{"registers": {"0": 8192, "4": 800}, "inputs": [{"address": 8192, "file": "part0.bin"}]}]}

An input has ``file``, relative to the job's file, or ``hex``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import InputError

_WORD = 1 << 32


@dataclass(frozen=True)
class Job:
    """A job, read and checked."""

    role: bytes
    board_type: int
    kernel: int
    timeout: float
    """Seconds that a task may take."""
    tasks: Sequence[tuple[dict[int, int], Sequence[tuple[int, bytes]]]]


def read(path: Path) -> Job:
    """Reads a job's file and the files that it names; InputError with the entry that is wrong."""
    try:
        spec = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the job: {error}") from None
    except ValueError as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    spec = _table(path, "the job", spec, {"role", "kernel", "board_type", "timeout", "tasks"}, {"role", "tasks"})
    timeout = spec.get("timeout", 60)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 1e6:
        raise InputError(f"{path}: timeout: must be seconds above 0")
    if not isinstance(spec["tasks"], list) or not spec["tasks"]:
        raise InputError(f"{path}: tasks: must be a list of at least one task")
    tasks = [_task(path, f"tasks[{number}]", one) for number, one in enumerate(spec["tasks"])]
    return Job(
        role=_role(path, spec["role"]),
        board_type=_number(path, "board_type", spec.get("board_type", 1), _WORD),
        kernel=_number(path, "kernel", spec.get("kernel", 0), _WORD),
        timeout=float(timeout),
        tasks=tasks,
    )


def role_bytes(path: Path) -> bytes:
    """A role file; a C or C++ source is compiled for simulated boards. InputError if it cannot be read or is empty."""
    from gossamer.shell import _build

    try:
        data = (_build.role(path.resolve()) if path.suffix in (".c", ".cc", ".cpp") else path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the role: {(error.strerror or str(error)).lower()}") from None
    if not data:
        raise InputError(f"{path}: is empty")
    return data


def _role(path: Path, name: Any) -> bytes:
    if not isinstance(name, str) or not name:
        raise InputError(f"{path}: role: must be the path of a file")
    return role_bytes(path.parent / name)


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
    try:
        return address, (path.parent / str(entry["file"])).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {where}.file: {entry['file']}: {(error.strerror or str(error)).lower()}") from None


__all__ = ["Job", "read", "role_bytes"]
