# SPDX-License-Identifier: Apache-2.0
"""The C++ library: built on first use, kept per compiler and CPU, loaded through ctypes.

``lib()`` gives the library.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import mmap
import weakref
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gossamer import builds, diagnostics
from gossamer.builds import build_dir, lock, toolchain_key
from gossamer.errors import HandlerDied, InputError, RunDied
from gossamer.paths import INCLUDE, ROOT

SOURCES = ROOT / "src"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-fPIC", "-Wall", "-Wextra", "-Wpedantic")
# The emulator of streaming messages needs Boost, and the MPI of device programs is theirs: built when asked for.
_ELSEWHERE = {"smi"}


def compiler() -> Path:
    """The path of the C++ compiler, without the arguments that ``builds.compiler`` has."""
    return Path(builds.compiler()[0])


def ensure_built() -> Path:
    """Builds the library where that is needed; gives its path."""
    sources = [path for path in sorted(SOURCES.glob("*/*.cc")) if path.parent.name not in _ELSEWHERE]
    flags = [*FLAGS, f"-I{INCLUDE}", f"-I{SOURCES}"]
    # By its own name whoever needs it looks for it where it says (rpath), not where it was when it was linked.
    # Threads that are kept between runs, and a signal's handler, are in its code: it is never unloaded.
    link = ["-shared", "-pthread", "-Wl,-soname,libgossamer.so", "-Wl,-z,nodelete"]

    def steps(plan: builds.Plan) -> None:
        objects = [plan.compile(path, flags) for path in sources]
        plan.link("libgossamer.so", objects, link)

    def failed(said: str, log: Path) -> InputError:
        first = diagnostics.first_error(said, SOURCES)
        return InputError(f"building the library failed: {first} (all of it in {log})")

    # The folder is that of these sources: one that is added or removed makes another.
    names = [str(path.relative_to(SOURCES)) for path in sources]
    name = f"lib/{builds.tag(*names, *flags, *link)}"
    return builds.kept(name, steps, failed, title="building the C++ library") / "libgossamer.so"


_mapped: dict[int, tuple[weakref.ref[mmap.mmap], str]] = {}
"""Files that are mapped into memory, and their paths, by the library's number for them."""


def watch_mapping(mapping: mmap.mmap, path: str) -> Callable[[], object]:
    """From here on ``check_mapped`` tells whether the file was cut short; until then whoever read on would die of
    SIGBUS. What is returned ends that, and so does the mapping's end."""
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
    """Raises RunDied where a file was cut short while it was mapped: somebody may have read what is gone."""
    if _cut() is None:
        return
    gc.collect()  # a graph that nobody has any more may still be there
    path = _cut()
    if path is not None:
        raise RunDied(f"{path}: was cut short while it was read; there is no answer. Make the file again")


def _cut() -> str | None:
    """A file that was cut short while it is mapped."""
    # A copy, made at once: what is allocated on the way may collect graphs, and those take their files out.
    for number, (reference, path) in _mapped.copy().items():
        if number not in _mapped:
            continue
        mapping = reference()
        # In the last page that is left, zeros are behind the end of the file without any signal.
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
