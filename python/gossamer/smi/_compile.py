# SPDX-License-Identifier: Apache-2.0
"""Builds the emulator and the users' programs for it. Up-to-date files are not rebuilt."""

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
"""The model of a DRAM bank."""
C_SUFFIXES = (".c",)
CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".C")
OPENCL = ".cl"
# No fused multiply-add unless the source requests one, so results are identical on every machine.
USER_FLAGS = ("-O2", "-g", "-fPIC", "-ffp-contract=off", "-fno-optimize-sibling-calls")
# Merged calls lose their lines; a unique symbol would be shared by all ranks.
_GNU_FLAGS = ("-fno-crossjumping", "-fno-tree-tail-merge")
_GNU_CPP_FLAGS = ("-fno-gnu-unique",)
_LANGUAGE = {".c": ("-x", "c", "-std=gnu17"), **dict.fromkeys(CPP_SUFFIXES, ("-x", "c++", "-std=gnu++20"))}


def emulator() -> Path:
    """The emulator's executable, built if necessary; its library is in the same folder."""
    sources = [*sorted(SOURCE.glob("*.cc")), *_DRAM]
    flags = _flags("-std=c++20", "-O2", "-g1", "-fPIC", "-Wall", "-Wextra", f"-I{INCLUDE}", f"-I{_DRAM[0].parent}")

    def steps(plan: builds.Plan) -> None:
        objects = {source.stem: plan.compile(source, flags) for source in sources}
        main = objects.pop("main")
        library = "libgossamer_smi.so"
        plan.link(library, list(objects.values()), ["-shared", f"-Wl,-soname,{library}", "-lboost_context", "-ldl"])
        plan.link("smi-emulator", [main, library], ["-Wl,-rpath,$ORIGIN"])

    def failed(output: str, log: Path) -> InputError:
        return InputError(f"building the emulator failed: {diagnostics.complaint(output, SOURCE, log)}")

    # The folder's name includes a hash of the list of sources, so a new or deleted source changes the folder.
    name = f"smi/emulator-{builds.tag(*(source.name for source in sources), *flags)}"
    return builds.kept(name, steps, failed, begin=gossamer_setup.boost) / "smi-emulator"


def shared_object(name: str, sources: Sequence[tuple[Path, Path]], defines: Sequence[str]) -> Path:
    """A program's shared object. ``sources`` are the files to compile, each with the user's file it was generated from.

    InputError, at the user's line, if one does not compile or link.
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
        # The soname is the file name, independent of the folder. With -Bsymbolic a user's function takes precedence
        # over one of the same name in the C library, such as `send`.
        link_flags = ["-shared", "-Wl,-soname,program.so", "-Wl,-Bsymbolic", "-Wl,-z,defs"]
        link_flags += [f"-L{library}", "-lgossamer_smi", "-lm"]
        plan.link("program.so", objects, link_flags)

    def failed(output: str, log: Path) -> InputError:
        users = [user.resolve() for _, user in sources]
        # Files are compiled in parallel; report the first one in the output.
        at = {user: output.find(f"{user}:") for user in users}
        user = min((one for one in users if at[one] >= 0), key=lambda one: at[one], default=users[0])
        return InputError(diagnostics.complaint(output, user, log))

    key = builds.tag(*(str(one.resolve()) for pair in sources for one in pair), *flags, str(library))
    return builds.kept(f"smi/programs/{builds.plain(name)}-{key}", steps, failed) / "program.so"


def _flags(*flags: str, cpp: bool = True) -> list[str]:
    """Flags of one file, with the GNU-specific flags if the compiler is GNU's."""
    if any("g++" in Path(word).name for word in builds.compiler()):
        return [*flags, *_GNU_FLAGS, *(_GNU_CPP_FLAGS if cpp else ())]
    return list(flags)
