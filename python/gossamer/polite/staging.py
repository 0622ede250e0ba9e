# SPDX-License-Identifier: Apache-2.0
"""The folder in which a host runs: files that it loads, the program's own files, and files that it writes."""

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
from typing import TYPE_CHECKING

from gossamer.errors import InputError
from gossamer.hosts.hostlink import WIDE, Program
from gossamer.paths import PYTHON

if TYPE_CHECKING:
    from gossamer.engines.rtl_cluster import Plan
    from gossamer.mapper import Outcome

SETTINGS = "settings.pickle"
"""Recipe and placement for the mapper, which adds the vertex type that the host names."""
PLACED = "placed.pickle"
"""The mapper's placement of vertices: an Outcome, and the vertices of each thread."""


@dataclass(frozen=True)
class Placement:
    """How the graph of a host is mapped to boards."""

    plan: Plan | None = None
    """The plan of the boards; None for the default."""
    multicast: str = "local"
    """local, none or full, as of ``engines.rtl_vertices.Hardware``."""
    method: str | None = None
    """How vertices are mapped; None: the environment variable POLITE_PLACER decides."""
    most_steps: int = 0
    """Steps after which a run aborts; 0: no limit."""

    @property
    def sends(self) -> int:
        """See Recipe.sends. No message leaves a single board."""
        many = self.plan is not None and self.plan.boards > 1
        return 2 if self.multicast == "full" and many else int(self.multicast != "none")


@dataclass
class Staged:
    """A program in its own folder."""

    program: Program
    environment: Mapping[str, str]
    """Environment variables that the host needs to map its graph."""
    ended_well: bool = False
    """Set by the caller after the host has ended regularly; its output files are kept then."""

    def placed(self) -> tuple[Outcome, list[list[int]]] | None:
        """The addresses of the last graph's data, and the vertices of each thread; None if no graph was mapped."""
        path = self.program.folder / PLACED
        if not path.exists():
            return None
        found: tuple[Outcome, list[list[int]]] = pickle.loads(path.read_bytes())
        return found

    def images(self) -> Program:
        """The program with the images that were loaded, which differ if the graph needs wide offsets."""
        recipe = self.program.recipe
        wide = (self.program.folder / WIDE).exists()
        if recipe is None or not (wide or recipe.late):
            return self.program
        recipe, _ = pickle.loads((self.program.folder / SETTINGS).read_bytes())
        names = self.program.images or [str(self.program.folder / "code.v")]
        if recipe.late and not recipe.vertex:  # the host ended before it mapped a graph
            return self.program
        return replace(self.program, images=dict.fromkeys(names, recipe.image(wide=wide)))


@contextlib.contextmanager
def staged(program: Program, placement: Placement | None = None) -> Iterator[Staged]:
    """Creates a folder for a run of a program; after a regular end, moves new files to the current folder.

    If a file cannot be moved, all remaining files are moved to a temporary folder, which the InputError names.
    """
    home = Path.cwd()
    builds_folder = program.folder.parent if os.access(program.folder.parent, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="run-", dir=builds_folder) as name:
        folder = Path(name)
        for path in sorted(program.folder.iterdir()):
            (folder / path.name).symlink_to(path.resolve())
        known = {path.name for path in folder.iterdir()}
        # Also without a graph: the host may write tables of routers, which are checked.
        environment = {
            "GOSSAMER_POLITE": str(folder),
            "GOSSAMER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(PYTHON), os.environ.get("PYTHONPATH")])),
        }
        if program.recipe is not None:
            placement = placement or Placement()
            (folder / SETTINGS).write_bytes(pickle.dumps((program.recipe.absolute(), placement)))
            environment["GOSSAMER_POLITE_HEARS"] = str(int(program.recipe.hears))
            if placement.most_steps:
                environment["GOSSAMER_MAX_STEPS"] = str(placement.most_steps)
        stage = Staged(replace(program, folder=folder), environment)
        yield stage
        if not stage.ended_well:
            return
        # The mapper's files; without a graph there are none, and a host's file may have such a name.
        own = {".trees"}
        if program.recipe is not None:
            own |= {SETTINGS, PLACED, "problem", "tables", WIDE}
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
            raise IsADirectoryError(errno.EISDIR, "a folder of that name exists", target)
        for inner in sorted(path.iterdir()):
            _move(inner, target / inner.name)
        return
    try:
        shutil.move(path, target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), target) from None


__all__ = ["PLACED", "SETTINGS", "Placement", "Staged", "staged"]
