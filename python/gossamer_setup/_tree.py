# SPDX-License-Identifier: Apache-2.0
"""The files of a checkout that the source archive and the installed package have. setup.py needs it, so it is bare Python."""

from __future__ import annotations

import os
import subprocess

from gossamer_setup._places import PACKAGED, ROOT

_NOT_OURS = ("build", "dist", "__pycache__")


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
        folders[:] = [
            name for name in folders if not name.startswith(".") and name not in _NOT_OURS and ".egg-info" not in name
        ]
        found += [os.path.relpath(os.path.join(place, name), root) for name in names if not name.endswith(".pyc")]
    return sorted(found)


def packaged(root: str = ROOT) -> list[str]:
    """Those of them that an installed package has below ``gossamer/tree``."""
    return [name for name in tracked(root) if name.partition("/")[0] in PACKAGED]
