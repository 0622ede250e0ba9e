# SPDX-License-Identifier: Apache-2.0
"""Where the environment of this checkout is, and whether a group is installed in it.

There is one environment for each pair of checkout and Python; a checkout that was moved
gets a new one (scripts in an environment contain absolute paths). ``.gossamer/env`` is a
link to the one that was set up last, which other Pythons use too (`borrowed`).

A group's stamp is a copy of its requirement file, written when the installation is
complete, and its list has the sizes of its files. Comparing them needs no network, no
hashing and no imports, which keeps the warm start short, and detects a changed
requirement file and a missing or truncated file.
"""

from __future__ import annotations

import os
import sys

from gossamer_setup._places import ROOT as ROOT
from gossamer_setup._places import STATE as STATE
from gossamer_setup._places import checksum

REQUIREMENTS = os.path.join(ROOT, "requirements")
LINK = os.path.join(STATE, "env")

# name: (what it is for, megabytes to download, about)
GROUPS: dict[str, tuple[str, int]] = {
    "core": ("what every command needs", 27),
    "test": ("what ./gossamer test needs", 170),
    "peers": ("what ./gossamer bench graph compares with", 140),
    "rtl": ("simulation of the hardware, programs for its threads", 130),
    "mpi": ("one simulation on many machines: --ranks", 13),
    "smi": ("ports and OpenCL sources of streaming messages", 126),
    "golden": ("the golden model that judges the hardware, for tests", 209),
    "synth": ("synthesis and proofs of the hardware", 65),
    "kahypar": ("another way to partition graphs: --mapping kahypar", 7),
    "cluster": ("metrics of the manager of boards on Ethernet", 1),
    "plot": ("pictures: --plot", 45),
    "wheel": ("what ./gossamer wheel needs", 3),
    "sign": ("signed roles for boards on Ethernet: ./gossamer cluster sign", 6),
}


class SetupError(Exception):
    """The environment is unusable: one line with the error and its remedy."""

    exit_code = 2


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def base_python() -> str:
    """The base interpreter, links resolved; the same inside and outside the environment."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def env_dir() -> str:
    """The environment for this checkout and this Python."""
    tag = sys.implementation.cache_tag or f"python-{sys.version_info[0]}{sys.version_info[1]}"
    return os.path.join(STATE, "envs", f"{tag}-{checksum(ROOT + chr(0) + base_python())}")


def env_python(env: str) -> str:
    """The interpreter of an environment."""
    return os.path.join(env, "bin", "python")


def requirement_file(group: str) -> str:
    """The pinned and hashed requirements of a group."""
    return os.path.join(REQUIREMENTS, f"{group}.txt")


def stamp_file(env: str, group: str) -> str:
    """The stamp of a group that is installed in an environment."""
    return os.path.join(env, "gossamer-groups", group)


def list_file(env: str, group: str) -> str:
    """The list of a group's files: a line with size and path for each."""
    return os.path.join(env, "gossamer-files", group)


def made(env: str) -> bool:
    """Whether the environment itself is complete; its groups are checked separately."""
    return os.path.exists(os.path.join(env, "gossamer-groups")) and os.path.exists(env_python(env))


def stamped(env: str, group: str) -> bool:
    """Whether a group was installed completely from its present requirement file; files may be damaged since."""
    stamp = _read(stamp_file(env, group))
    return stamp is not None and stamp == _read(requirement_file(group)) and made(env)


def installed(env: str, group: str) -> bool:
    """A group is installed as its requirement file says today, and all its files are there in their sizes."""
    return stamped(env, group) and _is_whole(env, group)


_whole: set[tuple[str, str]] = set()
"""Environments and groups that this process has found to be whole."""


def _is_whole(env: str, group: str) -> bool:
    if (env, group) in _whole:
        return True
    content = _read(list_file(env, group))
    if content is None:
        # Installed before there were lists: set-up compares the digests once, where it can write the list.
        return not os.access(env, os.W_OK)
    prefix = os.fsencode(env) + b"/"
    stat = os.stat
    try:
        for line in content.splitlines():
            size, _, path = line.partition(b" ")
            if stat(prefix + path).st_size != int(size):
                return False
    except (OSError, ValueError):
        return False
    _whole.add((env, group))
    return True


def borrowed() -> str | None:
    """The Python to use in place of this one: that of the environment that the checkout has, if ours has none.

    A user with several Pythons (Debian's and pyenv's, say) needs one environment, not one for each.
    """
    own = env_dir()
    if made(own):
        return None
    other = os.path.realpath(LINK)
    if other == own or not os.path.exists(stamp_file(other, "core")) or not made(other):
        return None
    if (_read(os.path.join(other, "gossamer-root")) or b"") != os.fsencode(ROOT):
        return None
    python = os.path.realpath(env_python(other))
    return python if os.access(python, os.X_OK) and python != base_python() else None


def check_groups(names: list[str]) -> list[str]:
    """Group names as a user typed them, ``all`` spelled out; core comes first."""
    chosen: list[str] = []
    for name in names:
        if name != "all" and name not in GROUPS:
            raise SetupError(f"no such group: {name!r}; there are {', '.join(GROUPS)}, and all")
        chosen += GROUPS if name == "all" else [name]
    return [group for group in GROUPS if group in chosen]
