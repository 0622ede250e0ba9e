# SPDX-License-Identifier: Apache-2.0
"""The Pythons of this machine, for tests of several versions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


def interpreter_of(version: str) -> str:
    """A Python of that version, such as 3.12; the test is skipped if there is none."""
    # On the path, where shims of pyenv may not run, or in pyenv's own folder.
    there = [shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))]
    works = (one for one in there if one and not subprocess.run([one, "-c", ""], capture_output=True).returncode)
    found = next(works, None)
    if found is None:
        pytest.skip(f"there is no Python {version}")
    return found
