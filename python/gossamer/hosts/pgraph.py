# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own: compiled once, kept under ``build/``.

On the engine rtl the host is compiled together with the library of hosts (``host/src/job.cc``). The threads' program is
compiled when the host has a graph: then it tells the type of its vertex, which stands in a header that the host
includes.
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
"""Headers of the overlay's threads, which a program with a host of its own does not find."""


_HOST = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]gossamer/pgraph\.h[>\"]", re.MULTILINE)
_SOURCE = """\
// Generated: the program of a host's vertex for the threads of the hardware.
{headers}#include <gossamer/softswitch.h>
GOSSAMER_SOFTSWITCH({vertex})
"""


@dataclass(frozen=True)
class VertexRecipe(hostlink.Recipe):
    """How the threads' part of a host's graph is compiled: ``sources`` are headers, one of which has the vertex."""

    pins: int = 1
    changes: bool = False
    """A part of a run that goes on."""
    late: ClassVar[bool] = True

    def of_vertex(self, vertex: str, pins: int, changes: bool) -> VertexRecipe:
        """With what the host has told. Raises InputError where no header can have such a vertex."""
        if not re.fullmatch(r"[\w:<>, ]+", vertex):
            raise InputError(f"{self.name}: its vertex {vertex} has no name that a header could give it")
        if not self.sources:
            raise InputError(
                f"{self.name}: has its vertex {vertex} in the host's source; for the threads it stands in a header of "
                "its own, which includes gossamer/polite.h and is included by the host in quotes"
            )
        return replace(self, vertex=vertex, pins=pins, changes=changes)

    def image(self, *, wide: bool) -> Image:
        """See Recipe.image."""
        text = _SOURCE.format(headers="".join(f'#include "{one}"\n' for one in self.sources), vertex=self.vertex)
        folder = native.build_dir() / "device" / "vertices"
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / f"{Path(self.name).stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.cc"
        if not source.is_file() or source.read_text() != text:
            source.write_text(text)
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
    """A host program for simulated boards, of so many columns and rows; ``sends`` as of a Recipe.

    Raises InputError where it does not compile.
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
    for name in recipe.files:  # the mapper writes them; what is there beforehand is no result of the host
        (run / name).touch()
    return hostlink.Program(source, binary, run, {}, (), recipe)


def compile_program(source: Path, defines: Sequence[str] = (), boards: hostlink.HostLibrary | None = None) -> Path:
    """The executable of a host program, compiled where it is not up to date; ``boards`` are those of the engine rtl.

    Raises InputError where it is not there or does not compile.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    path = Path(os.path.realpath(source))
    library = native.ensure_built()
    flags = [*apps.FLAGS, *(f"-D{d}" for d in defines)]
    more: list[Path] = []
    if boards is not None:
        flags += ["-DGOSSAMER_BOARDS", *boards.flags]
        more = [boards.archive]

    def steps(plan: builds.Plan) -> None:
        # Commas and colons of a path would part the linker's words.
        near = os.path.relpath(library.parent, plan.folder)
        runs = ["-Xlinker", "-rpath", "-Xlinker", f"$ORIGIN/{near}"]
        one = plan.compile(path, [f"-I{INCLUDE}", *flags])
        plan.link("program", [one, *more, f"{near}/{library.name}"], [*runs, "-pthread"])

    def failed(said: str, log: Path) -> GossamerError:
        if missing := _FOR_THREADS.search(said):
            threads = f"{source}: includes {missing[1]}, so it is for threads of a tile"
            return InputError(f"{threads}; run it with --engine rtl")
        return apps.failed_at(path)(said, log)

    name = f"programs/{builds.plain(path.stem)}-{builds.tag(str(path), str(library), *map(str, more), *flags)}"
    return builds.kept(name, steps, failed) / "program"
