# SPDX-License-Identifier: Apache-2.0
"""Compiling for the emulator: its own process, and the programs of users. What is up to date is only looked at."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gossamer_setup
from gossamer import builds, diagnostics, native, processes
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

SOURCE = ROOT / "src" / "smi"
COMPAT = ROOT / "compat" / "smi"
C_SUFFIXES = (".c",)
CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".C")
OPENCL = ".cl"
# No fused multiply-add unless the source asks for one: the same bits on every machine.
USER_FLAGS = ("-O2", "-g", "-fPIC", "-ffp-contract=off", "-fno-optimize-sibling-calls")
# Calls that are merged lose their lines; unique symbols would be one for all ranks.
_GNU_FLAGS = ("-fno-crossjumping", "-fno-tree-tail-merge")
_GNU_CPP_FLAGS = ("-fno-gnu-unique",)
_LANGUAGE = {".c": ("-x", "c", "-std=gnu17"), **dict.fromkeys(CPP_SUFFIXES, ("-x", "c++", "-std=gnu++20"))}


def emulator() -> Path:
    """The emulator's executable, built where needed; its library is beside it."""
    folder = native.build_dir() / "smi" / "emulator"
    binary = folder / "smi-emulator"
    if builds.fresh(folder):
        return binary
    with native.lock("smi-emulator"):
        if builds.fresh(folder):
            return binary
        gossamer_setup.boost()
        begun = time.time_ns()
        folder.mkdir(parents=True, exist_ok=True)
        flags = ["-std=c++20", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", f"-I{INCLUDE}"]
        sources = sorted(SOURCE.glob("*.cc"))
        with ThreadPoolExecutor(2) as workers:
            objects = list(workers.map(lambda source: compile_one(source, folder, flags, source), sources))
        main = next(one for one in objects if one.stem.endswith("main"))
        library = folder / "libgossamer_smi.so"
        rest = [one for one in objects if one != main]
        _link(["-shared", *map(str, rest), "-lboost_context", "-ldl"], library, SOURCE)
        _link([str(main), f"-L{folder}", "-lgossamer_smi", "-Wl,-rpath,$ORIGIN"], binary, SOURCE)
        builds.remember(folder, [one.with_suffix(".d") for one in objects], begun=begun)
    return binary


def shared_object(name: str, sources: Sequence[tuple[Path, Path]], defines: Sequence[str]) -> Path:
    """A program's shared object. ``sources`` are files to compile, each with the user's file that it stands for.

    InputError, at the user's line, where one does not compile or link.
    """
    library = emulator().parent
    flags = [*USER_FLAGS, f"-I{INCLUDE}", f"-I{COMPAT}", *(f"-D{one}" for one in defines)]
    key = builds.tag(*(str(one.resolve()) for pair in sources for one in pair), *flags)
    folder = native.build_dir() / "smi" / "programs" / f"{name}-{key}"
    target = folder / "program.so"
    if builds.fresh(folder):
        return target
    with native.lock(f"smi-{key}"):
        if not builds.fresh(folder):
            begun = time.time_ns()
            folder.mkdir(parents=True, exist_ok=True)
            objects = []
            for number, (source, user) in enumerate(sources):
                language = [*_LANGUAGE[source.suffix], f"-I{user.resolve().parent}"]
                objects.append(compile_one(source, folder, [*language, *flags], user, f"{number}-"))
            words = ["-shared", "-Wl,-z,defs", *map(str, objects), f"-L{library}", "-lgossamer_smi", "-lm"]
            _link(words, target, sources[0][1])
            rules = [one.with_suffix(".d") for one in objects]
            builds.remember(folder, rules, [user for _, user in sources], begun=begun)
    return target


def compile_one(source: Path, folder: Path, flags: Sequence[str], user: Path, prefix: str = "") -> Path:
    """One object; its dependencies are in the file of the same name that ends in .d."""
    target = folder / f"{prefix}{source.stem}.o"
    if any("g++" in Path(word).name for word in builds.compiler()):
        flags = [*flags, *_GNU_FLAGS, *(_GNU_CPP_FLAGS if source.suffix in CPP_SUFFIXES else ())]
    read = ["-MMD", "-MF", str(target.with_suffix(".d")), "-MT", "app"]
    _compiler([*flags, *read, "-c", "-o", str(target), str(source.resolve())], folder, user)
    return target


def _link(words: Sequence[str], target: Path, user: Path) -> None:
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        # The library's name is its file's, whatever it is called while it is written.
        name = [f"-Wl,-soname,{target.name}"] if target.suffix == ".so" else []
        _compiler(["-o", str(partial), *name, *words], target.parent, user)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _compiler(words: Sequence[str], folder: Path, user: Path) -> None:
    command = [*builds.compiler(), *words]
    done = processes.run(command)
    if done.returncode:
        log = folder / "errors.log"
        log.write_text(shlex.join(command) + "\n" + done.stderr)
        raise InputError(diagnostics.complaint(done.stderr, user.resolve(), log))
