# SPDX-License-Identifier: Apache-2.0
"""MPI programs for threads of the overlay: a rank is a thread, and its program's variables are its own.

Threads share the program's memory and see each other's changes late or never, so every variable that can change
becomes thread-local: the source is compiled to LLVM's text form, the variables are marked there, and it is compiled on.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import device, diagnostics, native
from gossamer.device import _sources
from gossamer.device._sources import LANGUAGES
from gossamer.errors import InputError
from gossamer.mpi import DEVICE, HEADERS, LIBRARY
from gossamer.paths import INCLUDE

if TYPE_CHECKING:
    from gossamer.config import Config

_GLOBAL = re.compile(
    r'^(?P<name>@(?:"[^"]*"|[\w.$-]+)) = (?P<before>(?:(?!thread_local|unnamed_addr|local_unnamed_addr)\w+ )*?)'
    r"(?P<unnamed>(?:local_)?unnamed_addr )?(?P<extern>externally_initialized )?global (?P<rest>.*)$"
)
_NAME = re.compile(r'@(?:"[^"]*"|[\w.$-]+)')
_MAIN = re.compile(r'(?P<text>"[^"]*")|@main\b')
"""The name, or text, which may have it inside and stays as it is; a quotation mark in text stands as a number."""


@dataclasses.dataclass(frozen=True)
class Places:
    """How ranks are spread: so many a board, and so many threads from one to the next."""

    ranks: int
    boards: int
    per_board: int
    stride: int
    threads: int
    """Threads that a run has to start."""

    def rank(self, thread: int, threads_per_board: int) -> int:
        """The rank of a thread, by its number in the cluster."""
        board, number = divmod(thread, threads_per_board)
        return board * self.per_board + number // self.stride


def places(ranks: int, config: Config, boards: int) -> Places:
    """Spreads ranks evenly over boards, and over the cores of each. InputError where there are too many."""
    if ranks > config.threads * boards:
        what = f"{boards} boards of {config.name} have" if boards > 1 else f"a board of {config.name} has"
        raise InputError(f"-n {ranks}: {what} {config.threads * boards} threads, each of which can be one rank")
    per_board = -(-ranks // boards)
    stride = 1
    while per_board * stride * 2 <= config.threads:
        stride *= 2
    used = -(-ranks // per_board)
    threads = (used - 1) * config.threads + (config.threads if used > 1 else (per_board - 1) * stride + 1)
    return Places(ranks, boards, per_board, stride, threads)


def build(
    sources: Sequence[str],
    config: Config,
    place: Places,
    arguments: Sequence[str],
    *,
    defines: Sequence[str] = (),
    includes: Sequence[str] = (),
    shape: tuple[int, int] = device.ALONE,
) -> device.Image:
    """Compiles and links an MPI program for a configuration. InputError, one line, where that cannot be done."""
    paths = _sources.collect(list(sources))
    folders = [*includes, *(one for one in sources if os.path.isdir(one))]
    flags = [*_sources.search(folders), *_sources.macros(defines), f"-I{HEADERS}"]
    library = device.headers(config, shape)
    flags.append(f"-I{library}")
    given: list[Path] = []
    said: list[str] = []
    for path in paths:
        if path.suffix in (".c", ".cc", ".cpp", ".cxx"):
            made, warned = _private(path, flags)
            given.append(made)
            said += _sources.shown(_sources.warnings(warned), [path])
        elif path.suffix == ".elf":
            raise InputError(f"{path}: is linked already; give the sources of an MPI program")
        else:
            given.append(path)
    given.append(_arguments(paths[0].name, arguments))
    own = [*sorted(LIBRARY.glob("*.c")), *sorted(DEVICE.glob("*.c"))]
    given += [path for path in own if path.name != "shared.c"]
    placed = [f"GSMPI_SIZE={place.ranks}", f"GSMPI_PER_BOARD={place.per_board}u", f"GSMPI_STRIDE={place.stride}u"]
    image = device.build(given, config, placed, includes=[HEADERS, LIBRARY], boards=shape)
    return dataclasses.replace(image, name=str(paths[0]), warnings=tuple(said))


def _private(source: Path, flags: Sequence[str]) -> tuple[Path, str]:
    """The object of a source whose variables are each thread's own, and what the compiler had to say."""
    folder = native.build_dir() / "device" / "mpi"
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"{source.stem}.{os.getpid()}.ll"
    plain, log = text.with_suffix(".o"), text.with_suffix(".log")
    tool, *standard = LANGUAGES[source.suffix]
    try:
        # Once as it is, for errors and warnings: where the compiler writes its text form it may leave them out.
        _, said = device._compile(source.resolve(), plain, ["-O2", *flags], source)
        # Optimization comes behind the marks: before them it would use addresses that are no constants.
        passes = ["-O2", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"]
        search = [f"-I{device.DEVICE / 'include'}", f"-I{INCLUDE}"]
        if tool == "c++":
            standard += device._CPP_FLAGS
        command = [tool, *device._FLAGS, *standard, *flags, *search, *passes, str(source.resolve()), "-o", str(text)]
        good, errors = device._run(command, log)
        if not good:
            raise InputError(diagnostics.complaint(errors, source.resolve(), log))
        changed = thread_local(text.read_text(), source)
        made = folder / f"{hashlib.sha256(changed.encode()).hexdigest()[:16]}" / f"{source.name}.o"
        if made.exists():
            return made, said
        made.parent.mkdir(exist_ok=True)
        text.write_text(changed)
        partial = made.with_suffix(f".{os.getpid()}.part")
        good, errors = device._run(["cc", *device._FLAGS, "-O2", "-c", str(text), "-o", str(partial)], log)
        if not good:
            raise InputError(diagnostics.complaint(errors, source.resolve(), log))
        os.replace(partial, made)
        return made, said
    finally:
        for suffix in (".ll", ".d", ".o"):
            text.with_suffix(suffix).unlink(missing_ok=True)


def thread_local(text: str, source: Path) -> str:
    """LLVM's text of a program with all variables thread-local that can change, and ``main`` named ``gsmpi_main``."""
    lines = text.split("\n")
    changed: set[str] = set()
    for number, line in enumerate(lines):
        found = _GLOBAL.match(line)
        if found is None or found["name"].startswith("@llvm."):
            continue
        changed.add(found["name"])
        lines[number] = (
            f"{found['name']} = {found['before']}thread_local(localexec) {found['unnamed'] or ''}"
            f"{found['extern'] or ''}global {found['rest']}"
        )
    for line in lines:
        if not line.startswith("@") or line.startswith("@llvm."):
            continue
        name, _, rest = line.partition(" = ")
        value = re.sub(r'c"(?:[^"\\]|\\.)*"', "", rest)  # text may have anything in it
        for used in _NAME.findall(value.split(", !dbg")[0]):
            if used in changed:
                raise InputError(
                    f"{source}: {name[1:]} begins as the address of {used[1:]}, which is another one on each rank of "
                    "the overlay; give it its value in main"
                )
    return "\n".join(
        _MAIN.sub(lambda found: found["text"] or "@gsmpi_main", line) if "@main" in line else line for line in lines
    )


def _arguments(program: str, arguments: Sequence[str]) -> Path:
    """A source with the program's arguments."""
    words = [program, *arguments]
    for word in words:
        if "\0" in word:
            raise InputError("an argument has a byte 0 in it")
    quoted = ", ".join('"' + "".join(f"\\{byte:03o}" for byte in os.fsencode(word)) + '"' for word in words)
    text = (
        "// SPDX-License-Identifier: Apache-2.0\n"
        f"const char* const gsmpi_arguments[] = {{{quoted}, 0}};\nconst int gsmpi_argument_count = {len(words)};\n"
    )
    folder = native.build_dir() / "device" / "mpi" / hashlib.sha256(text.encode()).hexdigest()[:16]
    made = folder / "arguments.c"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = folder / f"arguments.{os.getpid()}.part"
        partial.write_text(text)
        os.replace(partial, made)
    return made


__all__ = ["Places", "build", "places", "thread_local"]
