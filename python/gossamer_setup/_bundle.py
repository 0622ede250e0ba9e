# SPDX-License-Identifier: Apache-2.0
"""Packs the packages of groups into one file, and installs from it without a network.

A bundle is a tar archive: ``manifest.json`` first, then the packages. It fits one kind
of machine (Python and platform) and one state of the requirement files; both are
checked before anything is installed, and the hashes by the installer as always.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile

from gossamer_setup import _env, _install, _packages, _system
from gossamer_setup._env import SetupError
from gossamer_setup._lock import lock
from gossamer_setup._signals import SIGNALS

_FORMAT = 1


def _kind() -> dict[str, str]:
    return {
        "python": f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}",
        "platform": sysconfig.get_platform(),
    }


def _hash(group: str) -> str:
    with open(_env.requirement_file(group), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def pack(path: str, groups: list[str]) -> int:
    """Downloads the packages of the groups and writes the bundle; returns its size in bytes."""
    target = os.path.realpath(path)
    if (os.path.exists(target) and not os.path.isfile(target)) or not os.path.isdir(os.path.dirname(target)):
        raise SetupError(
            f"cannot write {path}: it is no regular file, or its folder is not there; choose another place"
        )
    env = _env.env_dir()
    partial = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{os.getpid()}.part")
    with SIGNALS.handled(), lock() as lock_fd, tempfile.TemporaryDirectory(dir=_env.STATE) as folder:
        try:
            with open(_install.LOG, "w", encoding="utf-8"):
                pass
            if not _env.made(env):
                _system.prepare(["core"])
                _install._make(env, lock_fd)
            for group in groups:
                file = _env.requirement_file(group)
                with open(file, encoding="utf-8") as text:
                    total = len(_packages.pins(text.read()))
                options = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--retries", "2"]
                command = _install.pip(env, "download", *options, "-d", folder, "-r", file)
                _install._Pip(group, f"packing {group}", total).run(command, lock_fd)
            manifest = {"format": _FORMAT, **_kind(), "groups": {group: _hash(group) for group in groups}}
            data = json.dumps(manifest, indent=1).encode()
            with tarfile.open(partial, "w") as tar:
                head = tarfile.TarInfo("manifest.json")
                head.size = len(data)
                tar.addfile(head, io.BytesIO(data))
                for name in sorted(os.listdir(folder)):
                    tar.add(os.path.join(folder, name), arcname=name)
            size = os.path.getsize(partial)
            os.replace(partial, target)
        except OSError as error:
            raise SetupError(f"cannot write {path}: {error.strerror}; choose another place") from error
        finally:
            if os.path.exists(partial):
                os.unlink(partial)
    return size


def _unpack(path: str, tar: tarfile.TarFile, folder: str) -> dict[str, str]:
    """Extracts only the packages; returns the groups and their hashes."""
    first = tar.next()
    content = tar.extractfile(first) if first is not None and first.name == "manifest.json" else None
    if content is None:
        raise SetupError(f"{path} is no bundle; make one with: ./gossamer setup --bundle FILE")
    manifest = json.load(content)
    if manifest["format"] != _FORMAT:
        raise SetupError(f"{path} is a bundle of another version of Gossamer; make it anew with this one")
    for what, here in _kind().items():
        if manifest[what] != here:
            raise SetupError(f"{path} is a bundle for {what} {manifest[what]}, this is {here}; make one for it")
    while (member := tar.next()) is not None:
        source = tar.extractfile(member) if member.isfile() else None
        if source is None or "/" in member.name or not member.name.endswith(".whl"):
            raise SetupError(f"{path} is no bundle of ours: it holds {member.name!r}; nothing was installed")
        with open(os.path.join(folder, member.name), "wb") as file:
            shutil.copyfileobj(source, file)
    groups = manifest["groups"]
    assert isinstance(groups, dict)
    return {str(group): str(digest) for group, digest in groups.items()}


def install_from(path: str, groups: list[str]) -> list[str]:
    """Installs groups from a bundle, all of them if none is named; returns their names."""
    os.makedirs(_env.STATE, exist_ok=True)
    with SIGNALS.handled(), tempfile.TemporaryDirectory(dir=_env.STATE) as folder:
        try:
            with tarfile.open(path, "r:") as tar:
                held = _unpack(path, tar, folder)
        except OSError as error:
            raise SetupError(f"cannot read {path}: {error.strerror}; name a bundle") from error
        except (tarfile.TarError, ValueError, KeyError, AssertionError) as error:
            raise SetupError(f"{path} is no bundle, or damaged: {error}; make it anew") from error
        chosen = groups or [group for group in _env.GROUPS if group in held]
        env = _env.env_dir()
        if "core" not in chosen and not _env.installed(env, "core"):
            chosen = ["core", *chosen]
        for group in chosen:
            if group not in held:
                raise SetupError(f"{path} does not hold group {group!r}; it holds {', '.join(held)}")
            if held[group] != _hash(group):
                raise SetupError(f"{path} was made for other versions of group {group!r}; make it anew")
        _install.ensure(chosen, wheels=folder)
    return chosen
