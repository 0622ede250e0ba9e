# SPDX-License-Identifier: Apache-2.0
"""The C++ library: brought by a wheel (`prebuilt`), or built on first use and kept per compiler and CPU; loaded through
ctypes.

``lib()`` returns the library.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import mmap
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from gossamer import builds, diagnostics, prebuilt
from gossamer.builds import build_dir, lock, toolchain_key
from gossamer.errors import HandlerDied, InputError, RunDied
from gossamer.paths import INCLUDE, ROOT

SOURCES = ROOT / "src"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-fPIC", "-Wall", "-Wextra", "-Wpedantic")
# The emulator of streaming messages needs Boost, the Ethernet shell and the host of boards generated headers: they are
# built on demand.
_ELSEWHERE = {"smi", "shell", "machine", "boards"}


def compiler() -> Path:
    """The path of the C++ compiler, without the arguments that ``builds.compiler`` has."""
    return Path(builds.compiler()[0])


# With a soname, a dependent library finds it by its rpath, not by the path at link time. It is never unloaded, because
# idle threads and a signal handler execute its code.
_LINK = ("-shared", "-pthread", f"-Wl,-soname,{prebuilt.LIBRARY}", "-Wl,-z,nodelete")


def _sources() -> list[Path]:
    return [path for path in sorted(SOURCES.glob("*/*.cc")) if path.parent.name not in _ELSEWHERE]


def add_steps(plan: builds.Plan, flags: Sequence[str] = FLAGS, link: Sequence[str] = ()) -> None:
    """Adds the compilation of the library to a plan; ``link`` are further options of the linker."""
    objects = [plan.compile(path, [*flags, f"-I{INCLUDE}", f"-I{SOURCES}"]) for path in _sources()]
    plan.link(prebuilt.LIBRARY, objects, [*_LINK, *link])


def ensure_built() -> Path:
    """The path of the library, which is built if it is necessary."""
    ready = prebuilt.library()
    if ready is not None:
        return ready

    def failed(said: str, log: Path) -> InputError:
        first = diagnostics.first_error(said, SOURCES)
        return InputError(f"building the library failed: {first} (all of it in {log})")

    # The folder depends on the list of sources: adding or removing one selects another folder.
    names = [str(path.relative_to(SOURCES)) for path in _sources()]
    name = f"lib/{builds.tag(*names, *FLAGS, f'-I{INCLUDE}', f'-I{SOURCES}', *_LINK)}"
    return builds.kept(name, add_steps, failed, title="building the C++ library") / prebuilt.LIBRARY


_mapped: dict[int, tuple[weakref.ref[mmap.mmap], str]] = {}
"""Files that are mapped into memory, and their paths, by the library's number for them."""


def watch_mapping(mapping: mmap.mmap, path: str) -> Callable[[], object]:
    """Watches a mapped file. If it is truncated, reads of the mapping return zeros instead of raising SIGBUS, and
    ``check_mapped`` raises. The returned function ends the watch, and so does the end of the mapping."""
    address = np.frombuffer(mapping, np.uint8).ctypes.data
    number = lib().gs_mapping_watch(ctypes.c_void_p(address), ctypes.c_size_t(len(mapping)))
    if number < 0:
        return lambda: None
    _mapped[number] = (weakref.ref(mapping), path)

    def forget() -> None:
        del _mapped[number]
        lib().gs_mapping_forget(number)

    finalizer = weakref.finalize(mapping, forget)
    finalizer.atexit = False
    return finalizer


def check_mapped() -> None:
    """Raises RunDied if a file was truncated while it was mapped: its missing data may have been read as zeros."""
    if _cut() is None:
        return
    gc.collect()  # unreferenced graphs may still be in memory
    path = _cut()
    if path is not None:
        raise RunDied(f"{path}: was cut short while it was read; there is no answer. Make the file again")


def _cut() -> str | None:
    """A mapped file that was truncated; None if no file was."""
    # A copy, because an allocation in the loop may collect graphs, whose mappings leave the dictionary.
    for number, (reference, path) in _mapped.copy().items():
        if number not in _mapped:
            continue
        mapping = reference()
        # In the last remaining page, reads beyond the end of the file return zeros and raise no signal.
        if lib().gs_mapping_cut(number) or (mapping is not None and mapping.size() < len(mapping)):
            return path
    return None


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
    """Raises InputError with the library's message when a call returned a failure, HandlerDied if a run aborted."""
    if code == -2:
        raise KeyboardInterrupt
    if code == -3:
        vertex = ctypes.c_uint64()
        places = lib().gs_last_death(ctypes.byref(vertex)).decode(errors="replace").split()
        text = lib().gs_last_error().decode(errors="replace")
        raise HandlerDied(text, None if vertex.value == 2**64 - 1 else vertex.value, places)
    if code:
        raise InputError(lib().gs_last_error().decode(errors="replace"))


__all__ = [
    "build_dir",
    "check",
    "check_mapped",
    "compiler",
    "ensure_built",
    "lib",
    "lock",
    "toolchain_key",
    "watch_mapping",
]
