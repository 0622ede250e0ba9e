# SPDX-License-Identifier: Apache-2.0
"""The files of a checkout that the source archive and the installed package have.

setup.py imports it, so it needs no package.
"""

from __future__ import annotations

import os
import re
import subprocess

from gossamer_setup._places import PACKAGED, ROOT

_NOT_OURS = re.compile(r"\.git|\.gossamer|build|dist|__pycache__|\..*_cache|.*\.egg-info")
"""Folders that are made in a checkout."""


def tracked(root: str = ROOT) -> list[str]:
    """All files of a checkout or an unpacked source archive, relative to it, without what is made in it."""
    if os.path.exists(os.path.join(root, ".git")):
        command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        names = [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
        # A file that was removed and not committed yet is listed.
        return sorted({name for name in names if os.path.lexists(os.path.join(root, name))})
    found: list[str] = []
    for place, folders, names in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [name for name in folders if not _NOT_OURS.fullmatch(name)]
        found += [os.path.relpath(os.path.join(place, name), root) for name in names + links]
    return sorted(found)


def packaged(root: str = ROOT) -> list[str]:
    """Those of them that an installed package has below ``gossamer/tree``."""
    return [name for name in tracked(root) if name.partition("/")[0] in PACKAGED]
