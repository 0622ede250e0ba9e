# SPDX-License-Identifier: Apache-2.0
"""Build products of one user, kept by content and shared by all of the user's checkouts.

The cache is ``$XDG_CACHE_HOME/gossamer`` (``~/.cache/gossamer``)::

    FORMAT                    the version of this layout
    lock, size                serializes eviction; bytes of all entries, as last counted
    KIND/KEY/manifest.json    size, mode and SHA-256 of each file of an entry
    KIND/KEY/...              the files
    dependencies/KEY.json     which files a compilation read, by the key of its command
    zig/, yowasp/             caches of tools, which they keep by content themselves

An entry is written to a temporary folder and renamed, so a reader sees all of it or nothing. A restore copies the
files and compares their digests, so eviction or damage costs a rebuild and never a wrong product. Entries that were
not used for longest are removed first when the cache exceeds its limit.

``GOSSAMER_CACHE=off`` turns it off, ``GOSSAMER_CACHE=DIR`` moves it, ``GOSSAMER_CACHE_SIZE`` sets the limit in bytes,
with a suffix M or G (default 5G). A cache that cannot be used is reported in one line, and builds go on without it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer.errors import InputError
from gossamer_setup import SetupError, _cache

FORMAT = "1"
DEFAULT_LIMIT = 5 << 30
TOOLS = ("zig", "yowasp")
"""Folders in which tools keep caches of their own."""
_MANIFEST = "manifest.json"
_TEMPORARY = ".tmp-"
_STALE_SECONDS = 3600.0
"""A temporary folder of this age belongs to a process that was killed."""
_EVICT_TO = 0.8
"""Eviction stops at this share of the limit, so that it does not run at each store."""
_NO_LONGER_KNOWN = 8
"""Sets of files kept for one compile command; the oldest set is dropped for a ninth."""


def digest_file(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, in hexadecimal digits. Raises OSError."""
    seen = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            seen.update(block)
    return seen.hexdigest()


class Cache:
    """The cache in one folder. Every method returns normally whatever is wrong with the folder."""

    def __init__(self, root: Path, limit: int = DEFAULT_LIMIT) -> None:
        self.root = root
        self.limit = limit
        self._usable: bool | None = None

    # ---- The folder ----------------------------------------------------------------

    def _report(self, text: str) -> None:
        print(f"gossamer: build cache {self.root}: {text}", file=sys.stderr, flush=True)

    def _disable(self, error: OSError | str) -> None:
        """Reports once why the cache is not used, and stops using it in this process."""
        if self._usable is not False:
            why = error if isinstance(error, str) else error.strerror or str(error)
            self._report(f"{why}; building without it (GOSSAMER_CACHE=off silences this)")
        self._usable = False

    def usable(self) -> bool:
        """Whether the folder exists, can be written and has this layout; makes it where it does not exist."""
        if self._usable is None:
            self._usable = True
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                mark = self.root / _cache.MARK
                if not mark.exists():
                    if any(
                        entry.name != _cache.MARK and not entry.name.startswith(".") for entry in self.root.iterdir()
                    ):
                        self._disable("is a folder of something else")
                        return False
                    temporary = self.root / f"{_TEMPORARY}format-{os.getpid()}"
                    temporary.write_text(FORMAT + "\n", encoding="ascii")
                    os.replace(temporary, mark)
                found = mark.read_text(encoding="ascii", errors="replace").strip()
                if found != FORMAT:
                    self._disable(f"has layout {found[:20]!r} of another version; ./gossamer clean --cache removes it")
                elif not os.access(self.root, os.W_OK | os.X_OK):
                    self._disable("is not writable")
            except OSError as error:
                self._disable(error)
        return self._usable

    # ---- Entries -------------------------------------------------------------------

    def restore(self, kind: str, key: str, folder: Path) -> bool:
        """Copies an entry's files into ``folder`` and compares their digests; False if there is no whole entry."""
        if not self.usable():
            return False
        entry = self.root / kind / key
        written: list[Path] = []
        try:
            manifest = json.loads((entry / _MANIFEST).read_text(encoding="utf-8"))
            for name, (size, mode, digest) in manifest["files"].items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                written.append(target)
                if self._copy(entry / name, target) != (size, digest):
                    raise ValueError(name)
                target.chmod(mode)
            os.utime(entry / _MANIFEST)
        except FileNotFoundError:
            # Not there, or evicted while it was read.
            self._discard(written)
            return False
        except (ValueError, KeyError, TypeError, AttributeError):
            self._discard(written)
            self._report(f"entry {kind}/{key} is damaged; it is removed and built again")
            self._remove(entry)
            return False
        except OSError as error:
            self._discard(written)
            self._disable(error)
            return False
        return True

    def store(self, kind: str, key: str, folder: Path, files: Sequence[str]) -> None:
        """Keeps files of a folder, given by their relative names, as an entry; an entry that exists stays."""
        if not self.usable():
            return
        entry = self.root / kind / key
        if (entry / _MANIFEST).exists():
            return
        temporary = self.root / kind / f"{_TEMPORARY}{os.getpid()}-{time.monotonic_ns()}"
        total = 0
        manifest: dict[str, tuple[int, int, str]] = {}
        try:
            temporary.mkdir(parents=True)
            for name in files:
                target = temporary / name
                target.parent.mkdir(parents=True, exist_ok=True)
                size, digest = self._copy(folder / name, target)
                manifest[name] = (size, stat.S_IMODE((folder / name).stat().st_mode), digest)
                total += size
            (temporary / _MANIFEST).write_text(json.dumps({"files": manifest}), encoding="utf-8")
            entry.parent.mkdir(parents=True, exist_ok=True)
            os.rename(temporary, entry)
        except OSError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            # Another process was first: its entry has the same contents.
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                self._disable(error)
            return
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        self._grow(total)

    @staticmethod
    def _copy(source: Path, target: Path) -> tuple[int, str]:
        """Copies a file; returns the bytes copied and their digest."""
        seen, size = hashlib.sha256(), 0
        # A file that is replaced, not overwritten: the old one may be a running program.
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        with open(source, "rb") as read, open(target, "xb") as write:
            while block := read.read(1 << 20):
                seen.update(block)
                size += len(block)
                write.write(block)
        return size, seen.hexdigest()

    @staticmethod
    def _discard(files: Sequence[Path]) -> None:
        for path in files:
            with contextlib.suppress(OSError):
                path.unlink()

    @staticmethod
    def _remove(entry: Path) -> None:
        """Removes an entry: renamed first, so that no reader meets half of it."""
        gone = entry.with_name(f"{_TEMPORARY}gone-{os.getpid()}-{time.monotonic_ns()}")
        with contextlib.suppress(OSError):
            os.rename(entry, gone)
            shutil.rmtree(gone, ignore_errors=True)

    # ---- What a compilation reads ---------------------------------------------------

    def dependencies(self, key: str) -> list[list[str]]:
        """The sets of files that compilations with this key have read, the newest first."""
        if not self.usable():
            return []
        try:
            known = json.loads((self.root / "dependencies" / f"{key}.json").read_text(encoding="utf-8"))
            if isinstance(known, list) and all(isinstance(one, list) for one in known):
                return [[str(path) for path in one] for one in known]
        except (OSError, ValueError):
            pass
        return []

    def add_dependencies(self, key: str, files: Sequence[str]) -> None:
        """Notes one more set of files for a key."""
        if not self.usable():
            return
        known = [one for one in self.dependencies(key) if one != list(files)]
        path = self.root / "dependencies" / f"{key}.json"
        temporary = path.with_name(f"{_TEMPORARY}{os.getpid()}-{time.monotonic_ns()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps([list(files), *known][:_NO_LONGER_KNOWN]), encoding="utf-8")
            os.replace(temporary, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            self._disable(error)

    # ---- The limit -------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self.root / "lock", "a", encoding="ascii") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _grow(self, size: int) -> None:
        """Adds an entry's bytes to the count, and evicts when that exceeds the limit."""
        try:
            with self._locked():
                count = self.root / "size"
                try:
                    total = int(count.read_text(encoding="ascii")) + size
                except (OSError, ValueError):
                    total = sum(one[1] for one in self._entries())
                if total > self.limit:
                    total = self._evict()
                temporary = count.with_name(f"{_TEMPORARY}size")
                temporary.write_text(str(total), encoding="ascii")
                os.replace(temporary, count)
        except OSError as error:
            self._disable(error)

    def _entries(self) -> list[tuple[float, int, Path]]:
        """All entries: when each was last used, its bytes, its folder."""
        found: list[tuple[float, int, Path]] = []
        for kind in os.scandir(self.root):
            if not kind.is_dir(follow_symlinks=False) or kind.name in ("dependencies",):
                continue
            if kind.name in TOOLS:
                # One entry: its files depend on each other in ways that only the tool knows.
                with contextlib.suppress(OSError):
                    found.append((kind.stat().st_mtime, _tree_size(Path(kind.path)), Path(kind.path)))
                continue
            for entry in os.scandir(kind.path):
                try:
                    info = os.stat(os.path.join(entry.path, _MANIFEST))
                    found.append((info.st_mtime, _tree_size(Path(entry.path)), Path(entry.path)))
                except OSError:
                    with contextlib.suppress(OSError):
                        if time.time() - entry.stat().st_mtime > _STALE_SECONDS:
                            shutil.rmtree(entry.path, ignore_errors=True)
        return found

    def _evict(self) -> int:
        """Removes the entries that were not used for longest; returns the bytes that are left."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for _, size, folder in entries:
            if total <= self.limit * _EVICT_TO:
                break
            self._remove(folder)
            total -= size
        return total


def _tree_size(folder: Path) -> int:
    """Bytes of the regular files below a folder."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total


class _Off(Cache):
    """Keeps nothing."""

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))
        self._usable = False


def parse_limit(text: str) -> int:
    """Bytes of a size such as 800M or 5G. Raises InputError."""
    found = re.fullmatch(r"(\d+)([MG]?)", text.strip())
    if not found:
        raise InputError(f"GOSSAMER_CACHE_SIZE={text}: give a number of bytes, with M or G for megabytes or gigabytes")
    return int(found[1]) << {"": 0, "M": 20, "G": 30}[found[2]]


@functools.cache
def _of(root: str | None, size: str) -> Cache:
    if root is None:
        return _Off()
    return Cache(Path(root), parse_limit(size) if size else DEFAULT_LIMIT)


def cache() -> Cache:
    """The user's cache, as the environment sets it. Raises InputError where the environment has a wrong value."""
    try:
        root = _cache.folder()
    except SetupError as error:
        raise InputError(str(error)) from None
    return _of(root, os.environ.get("GOSSAMER_CACHE_SIZE", ""))


def zig_folder(otherwise: Path) -> Path:
    """The folder for zig's own cache: in the user's cache where that can be used."""
    found = cache()
    return found.root / "zig" if found.usable() else otherwise


def entries(found: Cache) -> list[tuple[str, int, int]]:
    """What a cache holds, by kind: name, entries, bytes."""
    kinds: dict[str, tuple[int, int]] = {}
    if found.root.is_dir():
        for _, size, folder in found._entries():
            name = folder.name if folder.name in TOOLS else folder.parent.name
            count, total = kinds.get(name, (0, 0))
            kinds[name] = (count + 1, total + size)
    return [(name, *kinds[name]) for name in sorted(kinds)]


__all__ = [
    "DEFAULT_LIMIT",
    "FORMAT",
    "TOOLS",
    "Cache",
    "cache",
    "digest_file",
    "entries",
    "parse_limit",
    "zig_folder",
]
