# SPDX-License-Identifier: Apache-2.0
"""Files that commands write: refused before the work, whole or not there after it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from gossamer.errors import InputError


def check_writable(path: Path) -> None:
    """Refuses before the run what could not be written after it."""
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give a file")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot write in {folder}; choose another folder")


def whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes a file that appears whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(partial, "wb") as file:
            write(file)
        os.replace(partial, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
