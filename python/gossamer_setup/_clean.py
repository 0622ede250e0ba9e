# SPDX-License-Identifier: Apache-2.0
"""``./gossamer clean``: removes build products. They are rebuilt on demand."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator

from gossamer_setup import _cache
from gossamer_setup._env import ROOT, SetupError
from gossamer_setup._places import BUILD
from gossamer_setup._setup import Parser

_GOING = ".removing-"
"""Prefix of the name of a folder that is being removed, so that it is not mistaken for a finished build."""


def parser() -> argparse.ArgumentParser:
    """The options of ``clean``."""
    result = Parser(
        prog="./gossamer clean",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        description="Remove what was compiled, simulated or generated below build/ (all of it if no PART is named).\n"
        "It is built again when it is needed. Packages below .gossamer/ stay, and so does the build cache that all of\n"
        "your checkouts share, but with --cache.",
        epilog="Examples:\n"
        "  ./gossamer clean --list     the parts and their sizes\n"
        "  ./gossamer clean hdl        only what was made from SystemVerilog\n"
        "  ./gossamer clean            all\n"
        "  ./gossamer clean --cache    the build cache of all your checkouts\n",
    )
    result.add_argument("parts", nargs="*", metavar="PART", help="a folder below build/KEY, as --list shows them")
    result.add_argument(
        "--list", action="store_true", dest="list_only", help="print the parts and their sizes, and stop"
    )
    result.add_argument(
        "--cache", action="store_true", help="remove the build cache, which all your checkouts share, and nothing else"
    )
    return result


def main(arguments: list[str]) -> int:
    """Runs ``clean``; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as leave:  # --help
        return leave.code if isinstance(leave.code, int) else 2
    try:
        if options.cache:
            if options.parts or options.list_only:
                raise SetupError("--cache removes the whole build cache: leave out --list and names of parts")
            path, total = _cache.remove()
            print(f"removed {total / 1e6:.1f} MB from {path}")
            return 0
        return _clean(options.parts, options.list_only)
    except OSError as error:
        raise SetupError(f"{error.filename or BUILD}: {error.strerror}; it cannot be removed") from None


def _clean(wanted: list[str], list_only: bool) -> int:
    there = _parts()
    unknown = [part for part in wanted if part not in there]
    if unknown:
        raise SetupError(f"build/ has no part {unknown[0]!r}; there are: {', '.join(there) or 'none'}")
    parts = {part: folders for part, folders in there.items() if not wanted or part in wanted}
    width = max(map(len, parts), default=0)
    total = 0
    with contextlib.nullcontext() if list_only else _builds_locked():
        for part, folders in parts.items():
            size = sum(map(_size, folders))
            total += size
            if not list_only:
                for folder in folders:
                    _remove(folder)
            print(f"{part:<{width}}  {size / 1e6:10.1f} MB")
        if not list_only:
            _remove_left_over()
    print(f"{'' if list_only else 'removed '}{total / 1e6:.1f} MB {'in' if list_only else 'from'} {BUILD}")
    return 0


def _keys() -> list[str]:
    """Folders of builds: one for each compiler and processor, and those that depend on neither."""
    if not os.path.isdir(BUILD):
        return []
    return [entry.path for entry in sorted(os.scandir(BUILD), key=lambda entry: entry.name)]


def _parts() -> dict[str, list[str]]:
    """All that can be removed, by name: everything but locks, for which other processes may wait."""
    parts: dict[str, list[str]] = {}
    for key in _keys():
        if os.path.basename(key).startswith(_GOING):
            continue
        if not os.path.isdir(key) or os.path.islink(key):
            parts.setdefault(os.path.basename(key), []).append(key)
            continue
        for entry in sorted(os.scandir(key), key=lambda entry: entry.name):
            if not entry.name.endswith(".lock"):
                parts.setdefault(entry.name, []).append(entry.path)
    return parts


@contextlib.contextmanager
def _builds_locked() -> Iterator[None]:
    """Holds every lock of a build. Raises SetupError if another process holds one."""
    with contextlib.ExitStack() as held:
        for key in _keys():
            if not os.path.isdir(key):
                continue
            for entry in os.scandir(key):
                if not entry.name.endswith(".lock"):
                    continue
                file = held.enter_context(open(entry.path, "rb"))
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    name = os.path.relpath(entry.path, ROOT)
                    raise SetupError(f"something is being built ({name} is locked); wait for it, or stop it") from None
        yield


def _size(path: str) -> int:
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    return _cache.size(path)


def _remove(path: str) -> None:
    renamed = os.path.join(BUILD, f"{_GOING}{os.getpid()}-{os.path.basename(path)}")
    os.rename(path, renamed)
    _remove_now(renamed)


def _remove_now(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _remove_left_over() -> None:
    """Folders that an interrupted call has left."""
    for key in _keys():
        if os.path.basename(key).startswith(_GOING):
            _remove_now(key)


__all__ = ["main", "parser"]
