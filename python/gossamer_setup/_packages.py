# SPDX-License-Identifier: Apache-2.0
"""The packages in an environment: which ones a group pins, whether their files are whole, and how they get there.

A package counts only if it is alone under its name, has the pinned version, and every file has the digest that its
RECORD names. A new package is unpacked elsewhere first and then moved in file by file, its RECORD last, so an
interruption at any moment leaves every other package as it was, and this one whole or without a RECORD.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import csv
import glob
import hashlib
import operator
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gossamer_setup import _env
from gossamer_setup._signals import SIGNALS


@dataclass(frozen=True)
class Pin:
    """A package of a requirement file."""

    name: str
    version: str
    text: str
    """Its lines in the file, with the hashes."""


def normal(name: str) -> str:
    """The name of a package as all its spellings have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


# ---- What a group pins -----------------------------------------------------------------


def _marker_values() -> dict[str, str]:
    return {
        "python_full_version": platform.python_version(),
        "python_version": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "sys_platform": sys.platform,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "implementation_name": sys.implementation.name,
        "platform_system": platform.system(),
        "os_name": os.name,
    }


_COMPARE: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,  # type: ignore[dict-item]
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:3])


def applies(marker: str) -> bool:
    """Whether a requirement with this environment marker is for this Python; the installer judges unknown markers."""
    values = _marker_values()

    def value(node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            parts = [value(part) for part in node.values]
            return all(parts) if isinstance(node.op, ast.And) else any(parts)
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Name):
            raise ValueError(marker)
        here, there = values[node.left.id], ast.literal_eval(node.comparators[0])
        compare = _COMPARE[type(node.ops[0])]
        if "version" not in node.left.id:
            return compare(here, there)
        wanted = _numbers(there)
        have = _numbers(here)
        if there.endswith(".*"):
            have = have[: len(wanted)]
        else:
            have, wanted = (number + (0,) * (3 - len(number)) for number in (have, wanted))
        return compare(have, wanted)

    try:
        return value(ast.parse(marker, mode="eval").body)
    except (SyntaxError, ValueError, KeyError):
        return True


def pins(requirements: str) -> list[Pin]:
    """The packages of a requirement file that are for this Python."""
    found = []
    for text in re.split(r"^(?=[A-Za-z0-9])", requirements, flags=re.MULTILINE)[1:]:
        head = re.match(r"([\w.-]+)==([^\s;\\]+)(?:\s*;\s*([^\\\n]+))?", text)
        if head and (head[3] is None or applies(head[3].strip())):
            found.append(Pin(normal(head[1]), head[2], text))
    return found


# ---- Whether it is whole -----------------------------------------------------------------


def site(env: str) -> str:
    """The folder of an environment's packages."""
    return os.path.join(env, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")


def infos(place: str) -> dict[str, list[str]]:
    """The metadata folders in a folder of packages, by the names of their packages."""
    found: dict[str, list[str]] = {}
    for folder in sorted(glob.glob(os.path.join(glob.escape(place), "*.dist-info"))):
        found.setdefault(normal(os.path.basename(folder).split("-")[0]), []).append(folder)
    return found


@dataclass(frozen=True)
class Entry:
    """A file of a package, as its RECORD has it."""

    path: str
    digest: str
    size: int


def record(info: str) -> list[Entry]:
    """The files of a package that have a digest: all but RECORD itself. Raises OSError and ValueError."""
    place = os.path.dirname(info)
    with open(os.path.join(info, "RECORD"), encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    entries = [
        Entry(os.path.normpath(os.path.join(place, row[0])), row[1], int(row[2])) for row in rows if row and row[1]
    ]
    if not any(entry.path == os.path.join(info, "METADATA") for entry in entries):
        raise ValueError(f"{info}: RECORD is cut short")
    return entries


def _digest(path: str, kind: str) -> str:
    seen = hashlib.new(kind)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            seen.update(block)
    return base64.urlsafe_b64encode(seen.digest()).decode().rstrip("=")


def _is_whole(entry: Entry, digests: bool) -> bool:
    try:
        if os.path.getsize(entry.path) != entry.size:
            return False
        kind, _, wanted = entry.digest.partition("=")
        return not digests or _digest(entry.path, kind) == wanted
    except (OSError, ValueError):
        return False


def fault(pin: Pin, there: dict[str, list[str]], *, digests: bool = True) -> str | None:
    """What is wrong with a package, or None if it is whole. ``there`` is what `infos` gives."""
    folders = there.get(pin.name, [])
    if not folders:
        return f"{pin.name} is not there"
    versions = [os.path.basename(folder)[: -len(".dist-info")].rpartition("-")[2] for folder in folders]
    if len(folders) > 1 or versions[0] != pin.version:
        return f"{pin.name} is {' and '.join(versions)}, not {pin.version}"
    try:
        entries = record(folders[0])
    except (OSError, ValueError, IndexError):
        return f"the metadata of {pin.name} are damaged"
    bad = [entry.path for entry in entries if not _is_whole(entry, digests)]
    if not bad:
        return None
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    return f"{pin.name}: {os.path.relpath(bad[0], os.path.dirname(folders[0]))}{more} missing or changed"


def faults(env: str, group: str, *, digests: bool = True) -> dict[str, str]:
    """What is wrong with the packages of a group, by their names."""
    there = infos(site(env))
    text = (_env._read(_env.requirement_file(group)) or b"").decode("utf-8", "replace")
    found = ((pin.name, fault(pin, there, digests=digests)) for pin in pins(text))
    return {name: what for name, what in found if what is not None}


def write_list(env: str, group: str, wanted: list[Pin]) -> None:
    """Writes the list of a group's files and their sizes, which every start of the command compares."""
    there = infos(site(env))
    lines = []
    for pin in wanted:
        (info,) = there[pin.name]
        own = os.path.join(info, "RECORD")
        paths = {entry.path: entry.size for entry in record(info)} | {own: os.path.getsize(own)}
        lines += [f"{size} {os.path.relpath(path, env)}\n" for path, size in paths.items()]
    target = _env.list_file(env, group)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = f"{target}.part"
    with open(partial, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(lines)
    os.replace(partial, target)


# ---- How packages get there ----------------------------------------------------------------


def _free(path: str) -> None:
    """Makes the folder of a path, whatever damage lies in the way."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    parent = os.path.dirname(path)
    if os.path.isdir(parent):
        return
    at = parent
    while not os.path.lexists(at):
        at = os.path.dirname(at)
    if not os.path.isdir(at):
        os.unlink(at)
    os.makedirs(parent, exist_ok=True)


def _move(staged_info: str, stage: str, env: str) -> None:
    """Moves one package from its staging folder into the environment; its RECORD comes last."""

    def target(path: str) -> str:
        return os.path.join(env, os.path.relpath(path, stage))

    info = target(staged_info)
    entries = record(staged_info)
    for entry in entries:
        if os.path.commonpath([stage, entry.path]) != stage:
            raise ValueError(f"{entry.path}: a file outside of the environment")
    for entry in entries:
        place = target(entry.path)
        _free(place)
        os.replace(entry.path, place)
    _free(os.path.join(info, "RECORD"))
    os.replace(os.path.join(staged_info, "RECORD"), os.path.join(info, "RECORD"))


def _drop_other_versions(env: str, name: str, version: str) -> None:
    """Removes the files of other versions of a package which no package has now."""
    place = site(env)
    old = [info for info in infos(place)[name] if not info.endswith(f"-{version}.dist-info")]
    if not old:
        return
    owned: set[str] = set()
    for info in (one for several in infos(place).values() for one in several if one not in old):
        with contextlib.suppress(OSError, ValueError, IndexError):
            owned |= {entry.path for entry in record(info)}
    for info in old:
        entries: list[Entry] = []
        with contextlib.suppress(OSError, ValueError, IndexError):
            entries = record(info)
        for entry in entries:
            inside = os.path.commonpath([env, entry.path]) == env
            if inside and entry.path not in owned and os.path.dirname(entry.path) != info:
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
        shutil.rmtree(info, ignore_errors=True)


def move_in(stage: str, env: str) -> None:
    """Moves all packages from a staging folder, which is laid out as the environment is, into the environment.

    Raises ValueError where the installer has not left whole packages.
    """
    for name, (info, *_) in infos(site(stage)).items():
        version = os.path.basename(info)[: -len(".dist-info")].rpartition("-")[2]
        with SIGNALS.held():
            _move(info, stage, env)
            _drop_other_versions(env, name, version)


@contextlib.contextmanager
def staging(env: str) -> Iterator[str]:
    """A folder on the environment's disk, laid out like it. Removes those of set-ups that were killed."""
    prefix = os.path.join(_env.STATE, "staging-")
    for left in glob.glob(f"{glob.escape(prefix)}*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = f"{prefix}{os.getpid()}"
    os.makedirs(os.path.join(folder, "lib"))
    try:
        # As an environment has it, where a Python has libraries of two kinds.
        os.symlink("lib", os.path.join(folder, "lib64"))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["Entry", "Pin", "applies", "fault", "faults", "infos", "move_in", "pins", "record", "site", "staging"]
