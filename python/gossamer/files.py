# SPDX-License-Identifier: Apache-2.0
"""Files that users ask for: refused before the work, whole or not there after it.

A file is written under another name and then takes the place of what was there. That is right for regular
files alone: a device, a pipe or the command's own output (/dev/stdout) is written to as it stands.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gossamer.errors import InputError

_OWN = re.compile(r"/dev/(?:std(in|out|err)|fd/(\d+))|/proc/(?:self|thread-self)/fd/(\d+)")

_numbers = itertools.count()


def _own_number(path: Path) -> int | None:
    """The file descriptor that a name such as /dev/stdout stands for."""
    found = _OWN.fullmatch(os.path.abspath(path))
    if found is None:
        return None
    if found[1]:
        return ("in", "out", "err").index(found[1])
    return int(found[2] or found[3])


def _is_replaced(path: Path) -> bool:
    """Whether a whole file takes the place of what is there: of nothing, or of a regular file."""
    if _own_number(path) is not None:
        return False
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def temporary_sibling(path: Path) -> Path:
    """Another name at each call, where a file is written first. Behind a symbolic link, which stays: the file that it
    leads to changes."""
    target = Path(os.path.realpath(path)) if _is_replaced(path) else path
    # Short, whatever the target's name: that may be as long as a name can be.
    return target.with_name(f".gossamer.{os.getpid()}.{next(_numbers)}.part")


def check_writable(path: Path) -> None:
    """Refuses before the work what could not be written after it."""
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


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that appears under its name whole, when the block ends well, or not at all.

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
    """What is no regular file. Of our own output a copy, so that what follows comes behind it."""
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
    """Gives a finished file its name, or copies it to what is no regular file. `aside` is gone then."""
    if _is_replaced(path):
        os.replace(aside, os.path.realpath(path))
        return
    with open(aside, "rb") as source, whole_file(path) as file:
        shutil.copyfileobj(source, file)
    aside.unlink()


__all__ = ["check_writable", "move_whole", "temporary_sibling", "whole_file", "write_whole"]
