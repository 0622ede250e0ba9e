# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel with compiled applications, and the source archive.

The source archive is made of the files of the checkout, and the wheel of the unpacked source archive, so a file that is
missing in the archive is missing in the wheel as well. The library and each bundled application are compiled for each
level of processors of `prebuilt.LEVELS`. auditwheel finds the oldest manylinux platform on which they load.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import gossamer_setup
from gossamer import apps, builds, native, prebuilt, processes
from gossamer.apps import app
from gossamer.errors import InputError
from gossamer.files import write_whole
from gossamer.paths import INSTALLED, ROOT
from gossamer_setup import _tree

_MORE = ("-g0", "-fno-semantic-interposition")
_STRIPPED = "-Wl,-s"


def compile_level(level: str, names: Sequence[str]) -> Path:
    """The folder with the library and the named applications, compiled for a level of `prebuilt.LEVELS`.

    The environment's GOSSAMER_OPTIMISE_APPS holds for both; tests compile them with less optimisation.
    """
    options, library = (_flags(level, flags) for flags in (apps.FLAGS, native.FLAGS))
    precompiled = app.precompiled_header(options)
    headers = [app.find(name) for name in names]

    def steps(plan: builds.Plan) -> None:
        native.add_steps(plan, library, [_STRIPPED])
        for header in headers:
            for defines in ((), *prebuilt.VARIANTS.get(header.stem, ())):
                target = prebuilt.object_name(header.stem, defines)
                app.add_step(plan, header, defines, [*options, _STRIPPED], precompiled, target)

    tag = builds.tag(*names, *options, *library)
    return builds.kept(
        f"wheel/{level}-{tag}", steps, app.failed_at(ROOT / "apps"), title=f"compiling applications for {level}"
    )


def _flags(level: str, flags: Sequence[str]) -> list[str]:
    own = [f"-march={level}" if word == "-march=native" else word for word in (*flags, *_MORE)]
    return builds.user_level(own, "GOSSAMER_OPTIMISE_APPS")


def build(output: Path, levels: Sequence[str], names: Sequence[str]) -> tuple[Path, Path]:
    """Writes the wheel and the source archive to a folder; returns the path of each.

    ``levels`` and ``names`` are the levels of processors and the applications that the wheel has compiled. Raises
    InputError where they cannot be built.
    """
    if INSTALLED:
        raise InputError("the wheel is built from a checkout of Gossamer, and this is an installed package")
    if platform.machine() != "x86_64":
        raise InputError(f"the wheel is built on x86-64 machines, and this is {platform.machine()}")
    gossamer_setup.require("core", "wheel")
    # Before the compilation, which takes minutes.
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output}: cannot be made: {error.strerror}; choose another folder") from None
    compiled = {level: compile_level(level, names) for level in levels}
    with tempfile.TemporaryDirectory(prefix="gossamer-wheel-") as name:
        work = Path(name)
        _copy_tree(work / "tree")
        source = _run_backend("sdist", work / "tree", work / "source", {})
        with tarfile.open(source) as archive:
            archive.extractall(work / "unpacked")
        (tree,) = (work / "unpacked").iterdir()
        for level, folder in compiled.items():
            (work / "prebuilt" / level).mkdir(parents=True)
            for path in sorted(folder.glob("*.so")):
                shutil.copyfile(path, work / "prebuilt" / level / path.name)
        plain = _run_backend("wheel", tree, work / "plain", {"GOSSAMER_PREBUILT": str(work / "prebuilt")})
        repaired = _retag(plain, work / "repaired")
        results = []
        for made in (repaired, source):
            write_whole(output / made.name, made.read_bytes())
            results.append(output / made.name)
    return results[0], results[1]


def _copy_tree(target: Path) -> None:
    """The files of the checkout, without what is built in it; setuptools leaves files of its own where it works."""
    for name in _tree.tracked():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


_BACKEND = (
    "import json, sys; from setuptools import build_meta; "
    "name = getattr(build_meta, 'build_' + sys.argv[1])(sys.argv[2]); print('\\nbuilt ' + json.dumps(name))"
)


def _run_backend(kind: str, tree: Path, output: Path, more: dict[str, str]) -> Path:
    """Runs setuptools, which every installer would call, in a folder; returns what it has written."""
    output.mkdir()
    done = processes.run(
        [sys.executable, "-I", "-c", _BACKEND, kind, str(output)], cwd=tree, env={**os.environ, **more}
    )
    found = re.search(r"^built (.*)$", done.stdout, re.MULTILINE)
    if done.returncode or found is None:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise InputError(f"setuptools cannot build the {kind}: {last}")
    return output / str(json.loads(found[1]))


def _retag(wheel: Path, output: Path) -> Path:
    """The wheel under the name of the oldest manylinux platform that its libraries permit.

    Raises InputError if it links a library that manylinux does not have: the wheel must bring none.
    """
    binaries = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    command = [sys.executable, "-I", "-m", "auditwheel", "repair", "--plat", "auto", "-w", str(output), str(wheel)]
    done = processes.run(command, env=environment)
    found = sorted(output.glob("*.whl"))
    if done.returncode or len(found) != 1 or "manylinux" not in found[0].name:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise InputError(f"auditwheel finds no manylinux platform for the wheel: {last}")
    return found[0]


__all__ = ["build", "compile_level"]
