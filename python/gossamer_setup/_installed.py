# SPDX-License-Identifier: Apache-2.0
"""An installed package instead of a checkout: its groups of dependencies are extras, its command is ``gossamer``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from gossamer_setup._env import GROUPS, REQUIREMENTS, SetupError
from gossamer_setup._places import INSTALLED

EXTRAS = ("rtl", "mpi", "smi", "kahypar", "cluster", "plot", "sign")
"""Groups that pip can install with the package, as pyproject.toml declares them; the others serve a checkout."""
_SETUP = re.compile(rf"\./gossamer setup((?: (?:{'|'.join(GROUPS)})\b)*)")


def pip_line(groups: Sequence[str]) -> str:
    """The command that installs extras for this Python."""
    import shlex

    extras = ",".join(group for group in groups if group in EXTRAS)
    package = f"gossamer[{extras}]" if extras else "gossamer"
    return f"{shlex.quote(sys.executable or 'python3')} -m pip install {shlex.quote(package)}"


def spoken(text: str) -> str:
    """A text of a checkout's command as an installed package says it: ``gossamer``, and pip for ``setup``."""
    if not INSTALLED:
        return text
    return _SETUP.sub(lambda found: pip_line(found[1].split()), text).replace("./gossamer", "gossamer")


def applies(marker: str) -> bool:
    """Whether a requirement's marker holds for this Python. Only the forms that our requirement files use are known."""
    values = {"platform_machine": os.uname().machine, "sys_platform": sys.platform}
    for part in marker.split(" and "):
        name, sign, value = part.split()
        value = value.strip("\"'")
        if sign == "==" and name in values:
            holds = values[name] == value
        elif sign == "<" and name == "python_version":
            holds = sys.version_info[:2] < tuple(map(int, value.split(".")))
        else:
            raise ValueError(f"unknown marker: {part}")
        if not holds:
            return False
    return True


def requirements(group: str) -> list[str]:
    """The names of the packages that a group needs with this Python."""
    found = []
    with open(os.path.join(REQUIREMENTS, f"{group}.in"), encoding="utf-8") as file:
        for line in file:
            wanted, _, marker = line.partition("#")[0].partition(";")
            if wanted.strip() and (not marker.strip() or applies(marker.strip())):
                found += re.findall(r"^[\w.-]+", wanted.strip())
    return found


def missing(group: str) -> list[str]:
    """The packages of a group that are not installed."""
    from importlib import metadata

    lacks = []
    for name in requirements(group):
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            lacks.append(name)
    return lacks


def require(groups: Sequence[str]) -> None:
    """Raises SetupError, with the command that installs them, if packages of the groups are missing."""
    lacking = {group: lacks for group in groups if (lacks := missing(group))}
    if not lacking:
        return
    names = ", ".join(name for lacks in lacking.values() for name in lacks)
    if any(group not in EXTRAS and group != "core" for group in lacking):
        raise SetupError(f"this needs a checkout of Gossamer, where {', '.join(lacking)} can be set up: {names}")
    raise SetupError(f"this needs packages that are not installed ({names}); install with: {pip_line(list(lacking))}")
