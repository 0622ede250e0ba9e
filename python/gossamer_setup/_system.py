# SPDX-License-Identifier: Apache-2.0
"""Requirements on the machine itself: Python's venv, and a C++20 compiler."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence

from gossamer_setup._env import SetupError

_CXX20 = """\
#include <bit>
#include <concepts>
#include <span>
static_assert(std::integral<int> && std::has_single_bit(8u));
"""
# Header, library and Debian package of the fibers of streaming messages.
BOOST = ("boost/context/fiber.hpp", "boost_context", "libboost-context-dev")
COMPILERS = ("g++", "c++", "clang++")


def compiler(variable: str = "CXX", names: Sequence[str] = COMPILERS) -> list[str] | None:
    """The C++ compiler, its path first: ``$CXX``, which may have arguments (``ccache g++``, ``g++ -m64``), else the
    first of g++, c++, clang++ on the path. Another compiler has another variable and other names.

    Raises SetupError if the variable names no compiler.
    """
    given = os.environ.get(variable, "").strip()
    if not given:
        return next(([found] for name in names if (found := shutil.which(name))), None)
    try:
        words = [given] if shutil.which(given) else shlex.split(given)
    except ValueError:
        words = [given]
    found = shutil.which(words[0])
    if found is None:
        raise SetupError(
            f"{variable}={given}: there is no such compiler; name one that is on the path, or unset {variable}"
        )
    # Commands run in other folders than this one.
    return [os.path.abspath(found), *words[1:]]


def compiler_version(command: list[str]) -> str:
    """The compiler's first line of ``--version``."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    return next(iter(done.stdout.splitlines()), "").strip()


def speaks_cxx20(compiler: list[str]) -> bool:
    """Whether it compiles a few lines of C++20 with the library's headers."""
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    try:
        done = subprocess.run(command, input=_CXX20, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def venv_package() -> str:
    """The Debian package with ``venv`` for this Python."""
    return f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"


def has_venv() -> bool:
    """Whether Python can make environments with an installer (Debian has a separate package for it)."""
    return all(importlib.util.find_spec(name) is not None for name in ("venv", "ensurepip"))


def install_line(packages: list[str]) -> str:
    """The command that installs Debian packages."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt-get install {' '.join(packages)}"


def _apt(packages: list[str]) -> bool:
    """Installs Debian packages, as root and if apt-get exists."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    sys.stderr.write(f"gossamer: installing Debian packages: {' '.join(packages)}\n")
    sys.stderr.flush()
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    # Another process of Gossamer may be installing now: wait for it.
    waits = ["-o", "DPkg::Lock::Timeout=300"]
    install = ["apt-get", *waits, "install", "-y", "-q", "--no-install-recommends", *packages]
    # A fresh machine has no package lists, an old one stale ones: update once, then try again.
    for command in (install, ["apt-get", "update", "-q"], install):
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError:
            return False
        if command is install and done.returncode == 0:
            return True
    return False


def program(name: str, package: str) -> str:
    """The path of a program from a Debian package; as root, installs the package if it is missing."""
    found = shutil.which(name)
    if not found and _apt([package]):
        found = shutil.which(name)
    if not found:
        raise SetupError(f"there is no {name}; install with: {install_line([package])}")
    return found


def links(header: str, library: str) -> bool:
    """Whether the compiler finds a library and its header."""
    found = compiler()
    if found is None:
        return False
    command = [*found, "-std=c++20", "-x", "c++", "-", "-o", os.devnull, f"-l{library}"]
    text = f"#include <{header}>\nint main() {{}}\n"
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def library(header: str, name: str, package: str) -> None:
    """Checks that a C++ library is installed; as root, installs its Debian package if it is missing."""
    if not links(header, name) and not (_apt([package]) and links(header, name)):
        raise SetupError(f"the compiler finds no <{header}> or no lib{name}; install with: {install_line([package])}")


def missing(groups: list[str]) -> dict[str, str]:
    """Debian package -> why it is needed, for what this machine lacks to install the groups."""
    lacks: dict[str, str] = {}
    if not has_venv():
        lacks[venv_package()] = "this Python cannot make environments"
    if compiler() is None:
        lacks["g++"] = "there is no C++ compiler"
    if "rtl" in groups and not shutil.which("make"):
        lacks["make"] = "there is no make"
    if "rtl" in groups and not shutil.which("perl"):
        lacks["perl"] = "there is no perl"
    return lacks


def prepare(groups: list[str]) -> None:
    """Checks the machine for the requirements of set-up; SetupError names the missing ones."""
    lacks = missing(groups)
    if lacks and _apt(list(lacks)):
        importlib.invalidate_caches()
        lacks = missing(groups)
    if lacks:
        raise SetupError(f"{'; '.join(lacks.values())}; install with: {install_line(list(lacks))}")
    command = compiler()
    if command and not speaks_cxx20(command):
        version = compiler_version(command)
        raise SetupError(
            f"the compiler {shlex.join(command)} ({version}) does not speak C++20; install g++ 10 or newer and name "
            "it: CXX=g++-12 ./gossamer ..."
        )
