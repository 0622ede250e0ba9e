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

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "python"))

from gossamer_setup import _tree  # noqa: E402

PREBUILT = os.environ.get("GOSSAMER_PREBUILT")


class Package(Distribution):
    """A package with binary files belongs to the platform's folder of packages."""

    def has_ext_modules(self) -> bool:
        return bool(PREBUILT)


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

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", "linux_x86_64") if PREBUILT else ("py3", "none", "any")


class BuildSource(sdist):
    """All files of the checkout: an unpacked source archive is a checkout."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        names = {*files, *_tree.tracked(str(ROOT))}
        links = {name for name in names if (ROOT / name).is_symlink()}
        super().make_release_tree(base_dir, sorted(names - links))
        for name in sorted(links):
            os.symlink(os.readlink(ROOT / name), os.path.join(base_dir, name))


setup(distclass=Package, cmdclass={"build_py": BuildPackage, "bdist_wheel": BuildWheel, "sdist": BuildSource})
