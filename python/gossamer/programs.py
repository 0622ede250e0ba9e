# SPDX-License-Identifier: Apache-2.0
"""Programs with a host of their own: compiled once, kept under ``build/``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from gossamer import apps, native
from gossamer.errors import InputError

_FOR_THREADS = re.compile(r"\W((tinsel|io|gossamer/device)\.h)\b.*(No such file|not found)")
"""Headers of the overlay's threads, which a program with a host of its own does not find."""


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
            try:
                apps.compile_cpp(path, binary, flags, user=path, dependencies=folder / "app.d", link=link)
            except InputError as error:
                if missing := _FOR_THREADS.search(str(error)):
                    text = f"{source}: includes {missing[1]}, so it is for threads of a tile; run it with --engine rtl"
                    raise InputError(text) from None
                raise
            apps.remember(folder)
    return binary
