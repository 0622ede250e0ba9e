# SPDX-License-Identifier: Apache-2.0
"""The C++ library: built on first use, kept per compiler and CPU, loaded through ctypes.

``lib()`` gives the library. A build is redone when a source changed; telling so
costs one ``stat`` a file, so a warm start never runs the build system.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from gossamer.errors import HandlerDied, InputError
from gossamer.paths import BUILD, ROOT


def compiler() -> Path:
    """The C++ compiler: ``$CXX``, else the first of g++, c++, clang++ on the path.

    Raises InputError when there is none.
    """
    for name in (os.environ.get("CXX", ""), "g++", "c++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return Path(found)
    raise InputError("no C++ compiler found; install one: apt-get install g++")


@functools.cache
def toolchain_key() -> str:
    """Twelve hex digits that change with the compiler or the CPU's features."""
    path = compiler().resolve()
    info = path.stat()
    text = f"{path} {info.st_size} {info.st_mtime_ns}\n"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpu:
        text += next((line for line in cpu if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def build_dir() -> Path:
    """Where this machine's builds of this checkout live."""
    return BUILD / toolchain_key()


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """One build of ``name`` at a time, across processes; the wait is silent."""
    folder = build_dir()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _signature() -> str:
    """Changes when any source of the library does."""
    parts = []
    for top in (ROOT / "src", ROOT / "include"):
        for folder, folders, files in os.walk(top):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                info = os.stat(path)
                parts.append(f"{path} {info.st_size} {info.st_mtime_ns}")
    info = os.stat(ROOT / "CMakeLists.txt")
    parts.append(f"{info.st_size} {info.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _tool(name: str) -> str:
    """A build tool of our own environment, else the system's."""
    own = Path(sys.executable).parent / name
    found = str(own) if own.exists() else shutil.which(name)
    if not found:
        raise InputError(f"{name} is missing; run: ./gossamer setup core")
    return found


def _run(command: list[str], log: Path) -> None:
    with open(log, "ab") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        lines = log.read_text(errors="replace").splitlines()
        first = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")
        raise InputError(f"building the library failed: {first.strip()} (all of it in {log})")


def ensure_built() -> Path:
    """Builds the library where that is needed; gives its path."""
    folder = build_dir() / "lib"
    library = folder / "libgossamer.so"
    stamp = folder / "signature"
    wanted = _signature()
    with contextlib.suppress(OSError):
        if library.exists() and stamp.read_text() == wanted:
            return library
    with lock("lib"):
        wanted = _signature()
        with contextlib.suppress(OSError):
            if library.exists() and stamp.read_text() == wanted:
                return library
        if sys.stderr.isatty():
            print("building the C++ library ...", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        log = folder / "build.log"
        log.unlink(missing_ok=True)
        configure = [_tool("cmake"), "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}", f"-DCMAKE_CXX_COMPILER={compiler()}"]
        _run(configure, log)
        _run([_tool("cmake"), "--build", str(folder), "--target", "gossamer"], log)
        partial = stamp.with_suffix(".part")
        partial.write_text(wanted)
        os.replace(partial, stamp)
    return library


@functools.cache
def lib() -> ctypes.CDLL:
    """The loaded library. Symbols are global: compiled applications link against it."""
    library = ctypes.CDLL(str(ensure_built()), mode=ctypes.RTLD_GLOBAL)
    library.gs_last_error.restype = ctypes.c_char_p
    library.gs_last_death.restype = ctypes.c_char_p
    library.gs_last_death.argtypes = [ctypes.c_void_p]
    library.gs_interrupt.restype = None
    return library


def check(code: int) -> None:
    """Raises InputError with the library's message when a call returned a failure, HandlerDied where a run died."""
    if code == -2:
        raise KeyboardInterrupt
    if code == -3:
        vertex = ctypes.c_uint64()
        places = lib().gs_last_death(ctypes.byref(vertex)).decode(errors="replace").split()
        text = lib().gs_last_error().decode(errors="replace")
        raise HandlerDied(text, None if vertex.value == 2**64 - 1 else vertex.value, places)
    if code:
        raise InputError(lib().gs_last_error().decode(errors="replace"))


__all__ = ["build_dir", "check", "compiler", "ensure_built", "lib", "lock", "toolchain_key"]
