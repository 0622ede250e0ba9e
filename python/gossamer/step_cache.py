# SPDX-License-Identifier: Apache-2.0
"""Compile steps in the user's cache: found by their command and by the contents of the files that they read.

A compilation is looked up in two stages. The key of its command, with all paths of this checkout replaced, leads to
the sets of files that such compilations have read before (`build_cache.Cache.dependencies`). The contents of one such
set, together with the command, are the key of the object. So a lookup preprocesses nothing.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer import build_cache
from gossamer.paths import ROOT

KIND = "object"
_REPORT = "report"
"""The warnings of a compilation, in an entry; its object is called ``object``."""
_LIBRARY_MARKS = ("/usr/include/features.h", "/usr/include/boost/version.hpp")
"""Headers whose state tells the versions of libraries that compilers do not report as dependencies."""
DEBUG_ROOT = "/gossamer"
"""Replaces the checkout's path in debug information, so that an object is the same in each checkout."""


def neutral_flags() -> list[str]:
    """Compiler flags that keep the path of this checkout out of an object: in debug information and in ``__FILE__``."""
    return [f"-fdebug-prefix-map={ROOT}={DEBUG_ROOT}", f"-fmacro-prefix-map={ROOT}/="]


def real_path(path: str) -> str:
    """A path of debug information as a path of this checkout."""
    return f"{ROOT}{path[len(DEBUG_ROOT) :]}" if path.startswith(f"{DEBUG_ROOT}/") else path


def real_text(text: str) -> str:
    """The output of a linker, which names places by debug information, with the paths of this checkout."""
    return re.sub(rf"(?<![\w./]){DEBUG_ROOT}/", f"{ROOT}/", text)


def _marks(folder: Path) -> list[tuple[str, str]]:
    """Prefixes of paths and their replacements in keys, the longest first where one contains another."""
    environment = os.path.realpath(sys.prefix)
    return [
        (str(folder), "$FOLDER"),
        (sys.prefix, "$ENV"),
        (environment, "$ENV"),
        (str(build_cache.cache().root), "$CACHE"),
        (str(ROOT), "$ROOT"),
    ]


def _neutral(text: str, marks: Sequence[tuple[str, str]]) -> str:
    for prefix, mark in marks:
        text = text.replace(prefix, mark)
    return text


def _here(text: str, marks: Sequence[tuple[str, str]]) -> str:
    for prefix, mark in reversed(marks):
        text = text.replace(mark, prefix)
    return text


@functools.cache
def _version(package: str) -> str:
    return importlib.metadata.version(package)


@functools.lru_cache(maxsize=1 << 16)
def _digest(path: str, _size: int, _changed: int) -> str:
    return build_cache.digest_file(path)


def _contents(path: str, marks: Sequence[tuple[str, str]]) -> str | None:
    """A digest of a file's contents; of the stamp of another build, of the contents of all that it names."""
    try:
        info = os.stat(path)
        if os.path.basename(path) != "stamp.json":
            return _digest(path, info.st_size, info.st_mtime_ns)
        seen = hashlib.sha256()
        for name in sorted(json.loads(Path(path).read_text(encoding="utf-8"))):
            seen.update(f"{_neutral(name, marks)} {_contents(name, marks)}\n".encode("utf-8", "surrogateescape"))
        return seen.hexdigest()
    except (OSError, ValueError):
        return None


@functools.cache
def _machine(compiler_key: str) -> str:
    """Of everything that is not a file of a compilation: compiler, processor, versions of libraries."""
    states = [compiler_key]
    for mark in _LIBRARY_MARKS:
        try:
            info = os.stat(mark)
            states.append(f"{mark} {info.st_size} {info.st_mtime_ns}")
        except OSError:
            states.append(mark)
    return " ".join(states)


@dataclass(frozen=True)
class Step:
    """One compilation, as the cache knows it."""

    folder: Path
    target: str
    command: tuple[str, ...]
    needs: tuple[str, ...]
    """Files that it depends on and the compiler does not report."""
    compiler_key: str
    """Changes with the compiler and the processor."""
    report: str | None
    """The file in the folder that has its warnings, where they are kept."""

    def _key(self, marks: Sequence[tuple[str, str]]) -> str:
        words = [_neutral(word, marks) for word in self.command]
        if "ziglang" in words:
            words.append(_version("ziglang"))
        text = "\0".join((_machine(self.compiler_key), *words, *(_neutral(one, marks) for one in self.needs)))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:40]

    def _entry(self, key: str, files: Sequence[str], marks: Sequence[tuple[str, str]]) -> str | None:
        seen = hashlib.sha256(key.encode())
        for file in files:
            digest = _contents(_here(file, marks), marks)
            if digest is None:
                return None
            seen.update(f"{file} {digest}\n".encode("utf-8", "surrogateescape"))
        return seen.hexdigest()[:40]

    def restore(self) -> list[str] | None:
        """Brings the target from the cache; returns the files that its compilation read, None where it is not there."""
        cache = build_cache.cache()
        if not cache.usable():
            return None
        marks = _marks(self.folder)
        key = self._key(marks)
        for files in cache.dependencies(key):
            entry = self._entry(key, files, marks)
            place = self.folder / f".restored-{os.getpid()}"
            if entry is None or not cache.restore(KIND, entry, place):
                continue
            try:
                if self.report is not None:
                    text = (place / _REPORT).read_text(encoding="utf-8", errors="surrogateescape")
                    (self.folder / self.report).write_text(
                        _here(text, marks), encoding="utf-8", errors="surrogateescape"
                    )
                os.replace(place / "object", self.folder / self.target)
            except OSError:
                continue
            finally:
                for name in ("object", _REPORT):
                    (place / name).unlink(missing_ok=True)
                place.rmdir()
            return [_here(file, marks) for file in files]
        return None

    def store(self, files: Sequence[str]) -> None:
        """Keeps the target, whose compilation read ``files``."""
        cache = build_cache.cache()
        if not cache.usable():
            return
        marks = _marks(self.folder)
        key = self._key(marks)
        names = sorted({_neutral(file, marks) for file in (*files, *self.needs)})
        entry = self._entry(key, names, marks)
        if entry is None:
            return
        place = self.folder / f".stored-{os.getpid()}-{self.target}"
        try:
            place.mkdir()
            os.link(self.folder / self.target, place / "object")
            parts = ["object"]
            if self.report is not None:
                text = (self.folder / self.report).read_text(encoding="utf-8", errors="surrogateescape")
                (place / _REPORT).write_text(_neutral(text, marks), encoding="utf-8", errors="surrogateescape")
                parts.append(_REPORT)
            cache.store(KIND, entry, place, parts)
            cache.add_dependencies(key, names)
        except OSError:
            return
        finally:
            for name in ("object", _REPORT):
                (place / name).unlink(missing_ok=True)
            if place.is_dir():
                place.rmdir()


__all__ = ["DEBUG_ROOT", "Step", "neutral_flags", "real_path", "real_text"]
