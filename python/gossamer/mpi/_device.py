# SPDX-License-Identifier: Apache-2.0
"""MPI programs for threads of the overlay: each rank is a thread with private variables.

Threads share the program's memory, and caches are not coherent, so every mutable variable becomes thread-local: the
source is compiled to LLVM assembly, the variables are marked there, and the result is compiled to an object.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import builds, device, files
from gossamer.device import _sources
from gossamer.device._elf import DoesNotFit
from gossamer.errors import InputError
from gossamer.mpi import DEVICE, HEADERS, LIBRARY

if TYPE_CHECKING:
    from gossamer.config import Config

_PROGRAMS = (".c", ".cc", ".cpp", ".cxx")
_GLOBAL = re.compile(
    r'^(?P<name>@(?:"[^"]*"|[\w.$-]+)) = (?P<before>(?:(?!thread_local|unnamed_addr|local_unnamed_addr)\w+ )*?)'
    r"(?P<unnamed>(?:local_)?unnamed_addr )?(?P<extern>externally_initialized )?global (?P<rest>.*)$"
)
_NAME = re.compile(r'@(?:"[^"]*"|[\w.$-]+)')
_MAIN = re.compile(r'(?P<text>"[^"]*")|@main\b')
"""The name, or a string literal, which may contain the name; LLVM encodes quotation marks in literals as numbers."""


@dataclasses.dataclass(frozen=True)
class Places:
    """The mapping of ranks to threads: ranks for each board, and the stride in threads between ranks."""

    ranks: int
    boards: int
    per_board: int
    stride: int
    threads: int
    """Threads that a run must start."""

    def rank(self, thread: int, threads_per_board: int) -> int:
        """The rank of a thread, given by its index in the cluster."""
        board, number = divmod(thread, threads_per_board)
        return board * self.per_board + number // self.stride


def places(ranks: int, config: Config, boards: int) -> Places:
    """Spreads ranks evenly over boards, and over the cores of each board. InputError for too many ranks."""
    if ranks > config.threads * boards:
        what = f"{boards} boards of {config.name} have" if boards > 1 else f"a board of {config.name} has"
        raise InputError(f"-n {ranks}: {what} {config.threads * boards} threads, and each rank needs one")
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
    """Compiles and links an MPI program for a configuration. InputError, one line, if that fails."""
    paths = _sources.collect(list(sources))
    folders = [*includes, *(one for one in sources if os.path.isdir(one))]
    flags = [*_sources.search(folders), *builds.macros(defines), f"-I{HEADERS}"]
    library = device.headers(config, shape)
    flags.append(f"-I{library}")
    for path in paths:
        if path.suffix == ".elf":
            raise InputError(f"{path}: is already linked; give the sources of an MPI program")
    own = [path for path in (*sorted(LIBRARY.glob("*.c")), *sorted(DEVICE.glob("*.c"))) if path.name != "shared.c"]
    own.append(_arguments(paths[0].name, arguments))
    placed = [f"GSMPI_SIZE={place.ranks}", f"GSMPI_PER_BOARD={place.per_board}u", f"GSMPI_STRIDE={place.stride}u"]

    def built(level: str, library_level: str | None) -> device.Image:
        made, warned = _private([path for path in paths if path.suffix in _PROGRAMS], flags, level)
        image = device.build(
            [*(made.get(path, path) for path in paths), *own], config, placed,
            includes=[HEADERS, LIBRARY], optimize=library_level, boards=shape, users=paths, c_library=True,
        )  # fmt: skip
        return dataclasses.replace(image, name=str(paths[0]), warnings=_sources.shown(warned, paths))

    with contextlib.suppress(DoesNotFit):
        return built("2", None)
    return built("z", "z")


def _private(
    sources: Sequence[Path], flags: Sequence[str], level: str = "2"
) -> tuple[dict[Path, Path], list[tuple[str, int, str]]]:
    """Objects with thread-local variables by source, and the compiler's warnings. ``level`` is that of optimization."""
    if not sources:
        return {}, []
    stems = [f"{number}-{builds.plain(source.stem)}" for number, source in enumerate(sources)]
    # Optimize after the marks only: before, the optimizer would treat the variables' addresses as constants.
    passes = [f"-O{level}", "-Xclang", "-disable-llvm-passes"]
    # The return address of an MPI call is then in the function that contains the call: it names the line in messages.
    flags = [*flags, "-fno-optimize-sibling-calls"]

    def to_text(plan: builds.Plan) -> None:
        for source, stem in zip(sources, stems, strict=True):
            # Compile unmodified first, for errors and warnings: with LLVM assembly as output some may be missing.
            compiled = device.compile_step(plan, source, [f"-O{level}", *flags], f"{stem}.o")
            device.text_step(plan, source, [*flags, *passes], f"{stem}.ll", compiled)

    def to_objects(plan: builds.Plan) -> None:
        for source, stem in zip(sources, stems, strict=True):
            text = plan.folder / f"{stem}.ll"
            # Names of files in it may have bytes that are no text.
            made = os.fsdecode((plain / f"{stem}.ll").read_bytes())
            text.write_bytes(os.fsencode(thread_local(made, source)))
            command = [*device.tool("cc"), *device.FLAGS, f"-O{level}", flags[-1], "-c", text.name, "-o", f"{stem}.o"]
            plan.run(f"{stem}.o", command, [text, plain / f"{stem}.ll"])

    failed = device.does_not_compile(sources)
    tag = device.tag_of(*(str(source.resolve()) for source in sources), *device.FLAGS, *flags, level)
    name = f"device/mpi-{stems[0][2:]}-{tag}"
    plain = builds.kept(name, to_text, failed)
    made = builds.kept(f"{name}/private", to_objects, failed)
    warned = [one for stem in stems for one in _sources.warnings(builds.said(plain, f"{stem}.o"))]
    return {source: made / f"{stem}.o" for source, stem in zip(sources, stems, strict=True)}, warned


def thread_local(text: str, source: Path) -> str:
    """The LLVM assembly of a program with all mutable variables thread-local, and ``main`` renamed ``gsmpi_main``."""
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
        value = re.sub(r'c"(?:[^"\\]|\\.)*"', "", rest)  # literals may contain any text
        for used in _NAME.findall(value.split(", !dbg")[0]):
            if used in changed:
                raise InputError(
                    f"{source}: {name[1:]} is initialized with the address of {used[1:]}, which differs on each rank "
                    "of the overlay; assign it in main"
                )
    return "\n".join(
        _MAIN.sub(lambda found: found["text"] or "@gsmpi_main", line) if "@main" in line else line for line in lines
    )


_MOST_HOST = 64
"""Characters of the machine's name that a rank reports, before the number of its board."""


def _quoted(text: bytes) -> str:
    """A string literal of C."""
    return '"' + "".join(f"\\{byte:03o}" for byte in text) + '"'


def _arguments(program: str, arguments: Sequence[str]) -> Path:
    """A source with the program's arguments, and the name of this machine."""
    values = [program, *arguments]
    for value in values:
        if "\0" in value:
            raise InputError("an argument contains a zero byte")
    quoted = ", ".join(_quoted(os.fsencode(value)) for value in values)
    text = (
        "// SPDX-License-Identifier: Apache-2.0\n"
        f"const char* const gsmpi_arguments[] = {{{quoted}, 0}};\nconst int gsmpi_argument_count = {len(values)};\n"
        f"const char gsmpi_host[] = {_quoted(os.fsencode(socket.gethostname()[:_MOST_HOST]))};\n"
    )
    folder = builds.build_dir() / "device" / f"mpi-arguments-{builds.tag(text)}"
    made = folder / "arguments.c"
    if not made.exists():
        folder.mkdir(parents=True, exist_ok=True)
        files.write_whole(made, text.encode())
    return made


__all__ = ["Places", "build", "places", "thread_local"]
