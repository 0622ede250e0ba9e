# SPDX-License-Identifier: Apache-2.0
"""Where the user's build cache is (gossamer/build_cache.py), and its removal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil

from gossamer_setup import _places
from gossamer_setup._env import SetupError

MARK = "FORMAT"
"""The file that makes a folder a build cache."""


def folder() -> str | None:
    """The folder of the build cache, as the environment sets it; None if it is off."""
    setting = os.environ.get("GOSSAMER_CACHE", "")
    if setting == "off":
        return None
    if setting:
        if not os.path.isabs(setting):
            raise SetupError(f"GOSSAMER_CACHE={setting}: must be off, or the absolute path of a folder")
        return setting
    return os.path.join(_places.cache_base(), "gossamer")


def size(path: str) -> int:
    """Bytes on the disk of everything below a folder."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total


def remove() -> tuple[str, int]:
    """Removes the build cache; returns its folder and the bytes that it had. Raises SetupError, OSError."""
    path = folder()
    if path is None:
        raise SetupError("GOSSAMER_CACHE=off: there is no build cache to remove; unset it, or name a folder with it")
    if not os.path.isdir(path):
        return path, 0
    if not os.path.exists(os.path.join(path, MARK)):
        if os.listdir(path):
            raise SetupError(f"{path}: is no build cache (it has no file {MARK}); remove it by hand if you want to")
        return path, 0
    total = size(path)
    with open(os.path.join(path, "lock"), "a", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # The mark goes last: an interrupted removal can be repeated.
        for name in sorted(os.listdir(path), key=lambda name: name == MARK):
            place = os.path.join(path, name)
            if os.path.isdir(place) and not os.path.islink(place):
                shutil.rmtree(place)
            else:
                os.unlink(place)
    with contextlib.suppress(OSError):
        os.rmdir(path)
    return path, total


__all__ = ["MARK", "folder", "remove", "size"]
