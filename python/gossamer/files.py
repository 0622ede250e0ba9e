# SPDX-License-Identifier: Apache-2.0
"""Output files: checked before the work, and after it either complete or absent.

A file is written under a temporary name and then renamed. Only regular files are replaced: a device, a pipe or the
command's own output (/dev/stdout) is written directly.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from gossamer.errors import InputError

_OWN = re.compile(r"/dev/(?:std(in|out|err)|fd/(\d+))|/proc/(?:self|thread-self)/fd/(\d+)")

_numbers = itertools.count()


def _own_number(path: Path) -> int | None:
    """The file descriptor that a name such as /dev/stdout denotes."""
    found = _OWN.fullmatch(os.path.abspath(path))
    if found is None:
        return None
    if found[1]:
        return ("in", "out", "err").index(found[1])
    return int(found[2] or found[3])


def _is_replaced(path: Path) -> bool:
    """Whether a rename replaces the path: it is a regular file, or does not exist."""
    if _own_number(path) is not None:
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def reason(error: Exception) -> str:
    """Why a file cannot be read, for a message: one line, without the names and the advice of Python's libraries."""
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1:,} is not UTF-8 text"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    text = " ".join(str(error).split()) or type(error).__name__
    # NumPy's answer to a file that is not its own.
    return "it has no arrays of numbers" if "allow_pickle" in text else text


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text from a user. Raises ValueError, also if it is nested too deeply for the parser."""
    try:
        return json.loads(text)
    except UnicodeDecodeError as error:
        raise ValueError(reason(error)) from None
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def temporary_sibling(path: Path) -> Path:
    """A temporary name for a file, different at each call.

    For a symbolic link it is in the folder of the link's target, because the target is replaced and the link is kept.
    """
    target = Path(os.path.realpath(path)) if _is_replaced(path) else path
    # Short, because the target's name may have the greatest possible length.
    return target.with_name(f".gossamer.{os.getpid()}.{next(_numbers)}.part")


def check_writable(path: Path) -> None:
    """Rejects a path that cannot be written, before the work. Raises InputError."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give a file")
    if not _is_replaced(path):
        if _own_number(path) is None and not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot write there; choose another file")
        return
    folder = temporary_sibling(path).parent
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot write in {folder}; choose another folder")


def check_outputs(outputs: Iterable[tuple[str, Path | None]], inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Rejects output files that cannot be written, that two options name, or that are also read, before the work.

    ``outputs`` are options with their files, None for an option that is not given; ``inputs`` are the files that the
    command reads. A device or a pipe may occur twice. Raises InputError.
    """
    read = {os.path.realpath(path) for path in inputs if os.path.exists(path)}
    taken: dict[str, str] = {}
    for option, path in outputs:
        if path is None:
            continue
        check_writable(path)
        if not _is_replaced(path):
            continue
        name = os.path.realpath(path)
        if name in read:
            raise InputError(f"{option} {path}: is also read, and would be replaced; write another file")
        if name in taken:
            if taken[name] == option:
                raise InputError(f"{option} {path}: is given twice; omit one, or write two files")
            raise InputError(f"{taken[name]} and {option} name the same file, {path}; write two files")
        taken[name] = option


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that appears under its name complete, if the block succeeds, or not at all.

    Raises InputError if it cannot be written.
    """
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give a file")
    try:
        if not _is_replaced(target):
            with _opened(target) as file:
                yield file
            return
        aside = temporary_sibling(target)
        try:
            with open(aside, "xb") as file:
                yield file
            os.replace(aside, os.path.realpath(target))
        finally:
            with contextlib.suppress(OSError):
                aside.unlink()
    except OSError as error:
        # NumPy reports a short write without a number and a reason.
        why = error.strerror or f"not all of it could be written ({error})"
        raise InputError(f"{target}: cannot be written: {why}; free space, or choose another place") from None


def _opened(path: Path) -> BinaryIO:
    """Opens a path that is not a regular file. An own output is duplicated, so that later output follows in order."""
    number = _own_number(path)
    if number is None:
        return open(path, "wb")
    sys.stdout.flush()
    sys.stderr.flush()
    return os.fdopen(os.dup(number), "wb")


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file as `whole_file` does."""
    with whole_file(path) as file:
        file.write(data)


def move_whole(aside: Path, path: Path) -> None:
    """Renames a finished file, or copies it to a path that is not a regular file and removes `aside`."""
    if _is_replaced(path):
        os.replace(aside, os.path.realpath(path))
        return
    with open(aside, "rb") as source, whole_file(path) as file:
        shutil.copyfileobj(source, file)
    aside.unlink()


__all__ = [
    "check_outputs",
    "check_writable",
    "move_whole",
    "parse_json",
    "reason",
    "temporary_sibling",
    "whole_file",
    "write_whole",
]
