# SPDX-License-Identifier: Apache-2.0
"""The folder in which a POLite host runs: files to load, the program's own files, then what it has written."""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gossamer.errors import InputError
from gossamer.hostprograms import WIDE, Program
from gossamer.paths import ROOT

SETTINGS = "settings.pickle"
"""The recipe, for the mapper, which fills in what only the host knows."""


@dataclass
class Staged:
    """A program in a folder of its own."""

    program: Program
    environment: Mapping[str, str]
    """What its host needs to map its graph."""
    ended_well: bool = False
    """To be set when the host has come to its own end: what it has written is kept then."""

    def images(self) -> Program:
        """The program with what was loaded, which is another where the graph needs wide offsets."""
        recipe = self.program.recipe
        wide = (self.program.folder / WIDE).exists()
        if recipe is None or not (wide or recipe.late):
            return self.program
        recipe = pickle.loads((self.program.folder / SETTINGS).read_bytes())
        names = self.program.images or [str(self.program.folder / "code.v")]
        if recipe.late and not recipe.vertex:  # its host has never come so far
            return self.program
        return replace(self.program, images=dict.fromkeys(names, recipe.image(wide=wide)))


@contextlib.contextmanager
def staged(program: Program) -> Iterator[Staged]:
    """Runs a program in a folder of its own; new files move to where the command was given when all went well.

    Whether a program writes is known when it has: files that cannot be moved are kept, and InputError says where.
    """
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="run-", dir=program.folder.parent) as name:
        folder = Path(name)
        for path in sorted(program.folder.iterdir()):
            (folder / path.name).symlink_to(path.resolve())
        known = {path.name for path in folder.iterdir()}
        environment = {}
        if program.recipe is not None:
            (folder / SETTINGS).write_bytes(pickle.dumps(program.recipe.absolute()))
            environment = {
                "GOSSAMER_POLITE": str(folder),
                "GOSSAMER_PYTHON": sys.executable,
                "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")])),
            }
        stage = Staged(replace(program, folder=folder), environment)
        yield stage
        if not stage.ended_well:
            return
        own = {SETTINGS, "problem", "tables", WIDE}
        written = [one for one in sorted(folder.iterdir()) if one.name not in known | own and not one.is_symlink()]
        try:
            for path in written:
                _move(path, home / path.name)
        except OSError as error:
            kept = Path(tempfile.mkdtemp(prefix="gossamer-results-"))
            for path in written:
                if path.exists():
                    shutil.move(path, kept / path.name)
            raise InputError(
                f"{error.filename}: cannot be written: {error.strerror}; what {program.name} has written is in {kept}"
            ) from None


def _move(path: Path, target: Path) -> None:
    if target.is_dir():
        if not path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "there is a folder of that name", target)
        for inner in sorted(path.iterdir()):
            _move(inner, target / inner.name)
        return
    try:
        shutil.move(path, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), target) from None


__all__ = ["Staged", "staged"]
