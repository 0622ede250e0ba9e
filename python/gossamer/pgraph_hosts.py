# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own: compiled once, kept under ``build/``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from gossamer import apps, builds, native
from gossamer.errors import GossamerError, InputError
from gossamer.paths import INCLUDE

_FOR_THREADS = re.compile(r"\W((tinsel|io|gossamer/device)\.h)\b.*(No such file|not found)")
"""Headers of the overlay's threads, which a program with a host of its own does not find."""


def compile_program(source: Path, defines: Sequence[str] = ()) -> Path:
    """The executable of a host program, compiled where it is not up to date.

    Raises InputError where it is not there or does not compile.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    path = Path(os.path.realpath(source))
    library = native.ensure_built()
    flags = [*apps.FLAGS, *(f"-D{d}" for d in defines)]

    def steps(plan: builds.Plan) -> None:
        # Commas and colons of a path would part the linker's words.
        near = os.path.relpath(library.parent, plan.folder)
        runs = ["-Xlinker", "-rpath", "-Xlinker", f"$ORIGIN/{near}"]
        one = plan.compile(path, [f"-I{INCLUDE}", *flags])
        plan.link("program", [one, f"{near}/{library.name}"], [*runs, "-pthread"])

    def failed(said: str, log: Path) -> GossamerError:
        if missing := _FOR_THREADS.search(said):
            threads = f"{source}: includes {missing[1]}, so it is for threads of a tile"
            return InputError(f"{threads}; run it with --engine rtl")
        return apps.failed_at(path)(said, log)

    name = f"programs/{builds.plain(path.stem)}-{builds.tag(str(path), str(library), *flags)}"
    return builds.kept(name, steps, failed) / "program"
