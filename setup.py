# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot express: the files of the checkout that the package carries, and compiled ones.

``./gossamer wheel`` builds the wheel with applications for several processors: it names the folder of the compiled
files in the environment's GOSSAMER_PREBUILT. Without it (``pip install`` of a checkout or of the source archive) the
wheel is for any machine, and compiles what it runs on first use.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python"))

from gossamer_setup import _tree  # noqa: E402

PREBUILT = os.environ.get("GOSSAMER_PREBUILT")


class BuildPackage(build_py):
    """The Python files, ``gossamer/tree`` and ``gossamer/compiled``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # the checkout is used where it is
            return
        package = Path(self.build_lib) / "gossamer"
        for folder in ("tree", "compiled"):
            shutil.rmtree(package / folder, ignore_errors=True)
        for name in _tree.packaged(str(ROOT)):
            target = package / "tree" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        if PREBUILT:
            shutil.copytree(PREBUILT, package / "compiled")


class BuildWheel(bdist_wheel):
    """A wheel for one platform if it has compiled files; they are loaded with ctypes, so every Python does."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = not PREBUILT

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", "linux_x86_64") if PREBUILT else ("py3", "none", "any")


class BuildSource(sdist):
    """All files of the checkout: an unpacked source archive is a checkout."""

    def add_defaults(self) -> None:
        super().add_defaults()
        self.filelist.extend(_tree.tracked(str(ROOT)))


setup(cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel, "sdist": BuildSource})
