# SPDX-License-Identifier: Apache-2.0
"""Compiling for the emulator: its own process, and the programs of users. What is up to date is only looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gossamer_setup
from gossamer import builds, diagnostics
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

SOURCE = ROOT / "src" / "smi"
COMPAT = ROOT / "compat" / "smi"
_DRAM = [ROOT / "sim" / "memory" / f"gs_dram_{part}.cc" for part in ("controller", "checker")]
"""The model of a bank."""
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
    sources = [*sorted(SOURCE.glob("*.cc")), *_DRAM]
    flags = _flags("-std=c++20", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", f"-I{INCLUDE}", f"-I{_DRAM[0].parent}")

    def steps(plan: builds.Plan) -> None:
        objects = {source.stem: plan.compile(source, flags) for source in sources}
        main = objects.pop("main")
        library = "libgossamer_smi.so"
        plan.link(library, list(objects.values()), ["-shared", f"-Wl,-soname,{library}", "-lboost_context", "-ldl"])
        plan.link("smi-emulator", [main, library], ["-Wl,-rpath,$ORIGIN"])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the emulator failed: {diagnostics.complaint(said, SOURCE, log)}")

    # The folder is that of these sources: one that is added or removed makes another.
    name = f"smi/emulator-{builds.tag(*(source.name for source in sources), *flags)}"
    return builds.kept(name, steps, failed, begin=gossamer_setup.boost) / "smi-emulator"


def shared_object(name: str, sources: Sequence[tuple[Path, Path]], defines: Sequence[str]) -> Path:
    """A program's shared object. ``sources`` are files to compile, each with the user's file that it stands for.

    InputError, at the user's line, where one does not compile or link.
    """
    library = emulator().parent
    flags = [*USER_FLAGS, f"-I{INCLUDE}", f"-I{COMPAT}", *(f"-D{one}" for one in defines)]

    def steps(plan: builds.Plan) -> None:
        objects = []
        for source, user in sources:
            own = [*_LANGUAGE[source.suffix], f"-I{user.resolve().parent}", *flags]
            objects.append(
                plan.compile(source.resolve(), _flags(*own, cpp=source.suffix in CPP_SUFFIXES), needs=[user.resolve()])
            )
        # The library's name is its file's, wherever it is when it is linked. A user's function is called before one of
        # the same name in the C library, such as `send`.
        words = ["-shared", "-Wl,-soname,program.so", "-Wl,-Bsymbolic", "-Wl,-z,defs"]
        words += [f"-L{library}", "-lgossamer_smi", "-lm"]
        plan.link("program.so", objects, words)

    def failed(said: str, log: Path) -> InputError:
        users = [user.resolve() for _, user in sources]
        # Several files are compiled at a time: the first that is complained of.
        at = {user: said.find(f"{user}:") for user in users}
        user = min((one for one in users if at[one] >= 0), key=lambda one: at[one], default=users[0])
        return InputError(diagnostics.complaint(said, user, log))

    key = builds.tag(*(str(one.resolve()) for pair in sources for one in pair), *flags, str(library))
    return builds.kept(f"smi/programs/{builds.plain(name)}-{key}", steps, failed) / "program.so"


def _flags(*flags: str, cpp: bool = True) -> list[str]:
    """Flags of one file, with those that GNU's compiler alone knows where it is that one."""
    if any("g++" in Path(word).name for word in builds.compiler()):
        return [*flags, *_GNU_FLAGS, *(_GNU_CPP_FLAGS if cpp else ())]
    return list(flags)
