# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own: compiled once, kept under ``build/``."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from gossamer import apps, native
from gossamer.errors import InputError


def compile_program(source: Path, defines: Sequence[str] = ()) -> Path:
    """The executable of a host program, compiled where it is not up to date.

    Raises InputError where it is not there or does not compile.
    """
    if not source.is_file():
        raise InputError(f"{source}: no such file")
    path = source.resolve()
    library = native.ensure_built()
    flags = [*apps.FLAGS, *(f"-D{d}" for d in defines)]
    tag = hashlib.sha256("\n".join([str(path), *flags]).encode()).hexdigest()[:12]
    folder = native.build_dir() / "programs" / f"{path.stem}-{tag}"
    binary = folder / "program"
    if apps.fresh(folder):
        return binary
    with native.lock(f"program-{tag}"):
        if not apps.fresh(folder):
            folder.mkdir(parents=True, exist_ok=True)
            link = [str(library), f"-Wl,-rpath,{library.parent}", "-pthread"]
            apps.compile_cpp(path, binary, flags, user=path, dependencies=folder / "app.d", link=link)
            apps.remember(folder)
    return binary
