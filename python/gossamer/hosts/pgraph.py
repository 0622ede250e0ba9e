# SPDX-License-Identifier: Apache-2.0
"""Builds programs with a host of their own; executables are cached under ``build/``.

On the engine rtl the host is linked with the library of hosts (``host/src/job.cc``). The program for threads is
compiled once the host has a graph: only then the host names the type of its vertex, which is defined in a header that
the host includes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from gossamer import apps, builds, device, native
from gossamer.errors import GossamerError, InputError
from gossamer.hosts import hostlink
from gossamer.paths import INCLUDE

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

_FOR_THREADS = re.compile(r"\W((tinsel|io|gossamer/device)\.h)\b.*(No such file|not found)")
"""Headers for the overlay's threads, which are not available to a program with a host of its own."""


_HOST = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]gossamer/pgraph\.h[>\"]", re.MULTILINE)
_SOURCE = """\
// Generated: the program of a host's vertex for the threads of the hardware.
{headers}#include <gossamer/softswitch.h>
GOSSAMER_SOFTSWITCH({vertex})
"""


@dataclass(frozen=True)
class VertexRecipe(hostlink.Recipe):
    """How to compile the part for threads of a host's graph: one of the headers in ``sources`` defines the vertex."""

    pins: int = 1
    changes: bool = False
    """Whether the run resumes after its graph has changed."""
    late: ClassVar[bool] = True

    def of_vertex(self, vertex: str, pins: int, changes: bool) -> VertexRecipe:
        """The recipe with the host's vertex and pins. Raises InputError if no header can define such a vertex."""
        if not re.fullmatch(r"[\w:<>, ]+", vertex):
            raise InputError(f"{self.name}: its vertex {vertex} has no name that a header could declare")
        if not self.sources:
            raise InputError(
                f"{self.name}: defines its vertex {vertex} in the host's source; move it to a header of its own, which "
                "includes gossamer/polite.h, and include that header in the host with quotes"
            )
        return replace(self, vertex=vertex, pins=pins, changes=changes)

    def image(self, *, wide: bool) -> Image:
        """See Recipe.image."""
        text = _SOURCE.format(headers="".join(f'#include "{one}"\n' for one in self.sources), vertex=self.vertex)
        folder = native.build_dir() / "device" / "vertices"
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / f"{Path(self.name).stem}-{hashlib.sha256(os.fsencode(text)).hexdigest()[:8]}.cc"
        if not source.is_file() or source.read_bytes() != os.fsencode(text):
            source.write_bytes(os.fsencode(text))
        defines = (
            *self.defines,
            "GOSSAMER_POLITE_HOSTED=1",
            f"GOSSAMER_POLITE_PINS={self.pins}",
            f"GOSSAMER_POLITE_MULTICAST={self.sends}",
            f"GOSSAMER_POLITE_WIDE={int(wide)}",
            *(["GOSSAMER_POLITE_CHANGES=1"] if self.changes else []),
        )
        return device.build(source, self.config, defines, boards=self.boards, freestanding=True)


def is_one(path: str) -> bool:
    """Whether a file is a program with a host of its own."""
    if not path.endswith((".cpp", ".cc", ".cxx")) or not os.path.isfile(path):
        return False
    return _HOST.search(Path(path).read_text(encoding="utf-8", errors="replace")) is not None


def build(
    source: str,
    config: Config,
    defines: Sequence[str] = (),
    *,
    boards: tuple[int, int] = device.ALONE,
    sends: int = 1,
) -> hostlink.Program:
    """Builds a host program for simulated boards; ``boards`` are columns and rows, ``sends`` as of a Recipe.

    Raises InputError if it does not compile.
    """
    folders = hostlink.host_library(config, boards)
    binary = compile_program(Path(source), defines, folders)
    path = Path(os.path.realpath(source))
    recipe = VertexRecipe(
        source,
        hostlink.vertex_headers(path),
        config,
        tuple(defines),
        (),
        boards,
        sends=sends,
        files={"code.v": False, "data.v": True},
    )
    run = binary.parent / "run"
    run.mkdir(exist_ok=True)
    for name in recipe.files:  # created now, so that the mapper's files do not count as results of the host
        (run / name).touch()
    return hostlink.Program(source, binary, run, {}, (), recipe)


def compile_program(source: Path, defines: Sequence[str] = (), boards: hostlink.HostLibrary | None = None) -> Path:
    """The executable of a host program, compiled if it is not up to date; ``boards`` is the library of the engine rtl.

    Raises InputError if the source is missing or does not compile.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    path = Path(os.path.realpath(source))
    library = native.ensure_built()
    flags = [*builds.user_level(apps.FLAGS), *builds.macros(defines)]
    more: list[Path] = []
    if boards is not None:
        flags += ["-DGOSSAMER_BOARDS", *boards.flags]
        more = [boards.archive]

    def steps(plan: builds.Plan) -> None:
        # A relative path, since commas and colons in a path would split the linker's arguments.
        near = os.path.relpath(library.parent, plan.folder)
        runs = ["-Xlinker", "-rpath", "-Xlinker", f"$ORIGIN/{near}"]
        one = plan.compile(path, [f"-I{INCLUDE}", *flags])
        plan.link("program", [one, *more, f"{near}/{library.name}"], [*runs, "-pthread"])

    def failed(output: str, log: Path) -> GossamerError:
        if missing := _FOR_THREADS.search(output):
            reason = f"{source}: includes {missing[1]}, so it is for threads of a tile"
            return InputError(f"{reason}; run it with --engine rtl")
        return apps.failed_at(path)(output, log)

    name = f"programs/{builds.plain(path.stem)}-{builds.tag(str(path), str(library), *map(str, more), *flags)}"
    return builds.kept(name, steps, failed) / "program"
