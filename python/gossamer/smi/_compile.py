# SPDX-License-Identifier: Apache-2.0
"""Builds the emulator and the users' programs for it. Up-to-date files are not rebuilt.

OpenCL device files are compiled by clang, which implements the language and declares its built-in functions. It is part
of the package ziglang. A library (src/smi/opencl) has the built-in functions.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import gossamer_setup
from gossamer import builds, diagnostics, processes
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

SOURCE = ROOT / "src" / "smi"
COMPAT = ROOT / "compat" / "smi"
_DRAM = [ROOT / "sim" / "memory" / f"gs_dram_{part}.cc" for part in ("controller", "checker")]
"""The model of a DRAM bank."""
_SYMBOLIZE = ROOT / "src" / "core" / "symbolize.cc"
"""Maps call sites to lines, for traces."""
C_SUFFIXES = (".c",)
CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".C")
OPENCL = ".cl"
# No fused multiply-add unless the source requests one, so results are identical on every machine.
USER_FLAGS = ("-O2", "-g", "-fPIC", "-ffp-contract=off", "-fno-optimize-sibling-calls")
# Merged calls lose their lines; a unique symbol would be shared by all ranks.
_GNU_FLAGS = ("-fno-crossjumping", "-fno-tree-tail-merge")
_GNU_CPP_FLAGS = ("-fno-gnu-unique",)
# The language, without headers of the compiler: for the compiler and for the parser, which have different versions.
OPENCL_FLAGS = (
    *("-x", "cl", "-cl-std=CL2.0", "-cl-no-stdinc", "-Xclang", "-fdeclare-opencl-builtins"),
    *("-D__opencl_c_generic_address_space=1", "-w", f"--target={os.uname().machine}-linux-gnu"),
    *("-nostdinc", f"-I{COMPAT / 'opencl'}", "-include", str(COMPAT / "opencl.h")),
)
_BUILTINS = SOURCE / "opencl"
# addr2line of older binutils confuses the files of DWARF 5.
_CLANG_FLAGS = ("-cl-fp32-correctly-rounded-divide-sqrt", "-gdwarf-4")
_LANGUAGE = {".c": ("-x", "c", "-std=gnu17"), **dict.fromkeys(CPP_SUFFIXES, ("-x", "c++", "-std=gnu++20"))}


def emulator() -> Path:
    """The emulator's executable, built if necessary; its library is in the same folder."""
    sources = [*sorted(SOURCE.glob("*.cc")), *_DRAM, _SYMBOLIZE]
    includes = [f"-I{folder}" for folder in (INCLUDE, _DRAM[0].parent, ROOT / "sim" / "host")]
    flags = _flags("-std=c++20", "-O2", "-g1", "-fPIC", "-Wall", "-Wextra", *includes)

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


def clang() -> list[str]:
    """The compiler of OpenCL device files, as a command for `builds.Plan`."""
    gossamer_setup.require("smi")
    unset = [word for name in ("CPATH", "C_INCLUDE_PATH", "ZIG_LIB_DIR") for word in ("-u", name)]
    return ["env", *unset, sys.executable, "-I", "-m", "ziglang", "clang"]


def builtins() -> Path:
    """The folder of libgossamer_opencl.so, which has OpenCL's built-in functions; built if necessary."""
    target = f"--target={os.uname().machine}-linux-gnu"
    common = ["-fPIC", "-w", "-ffp-contract=off", f"-I{_BUILTINS}", f"-I{COMPAT}", target]
    language = ["-x", "cl", "-cl-std=CL2.0", "-cl-no-stdinc", "-include", str(COMPAT / "opencl_types.h")]
    flags = [*language, *common, "-cl-fp32-correctly-rounded-divide-sqrt"]
    # The conversions are many, and take the longest to optimize.
    parts = {"math": ["-O1"], "integer": ["-O1"], "convert": ["-O0", "-DSIGNED"], "convert-unsigned": ["-O0"]}
    library = "libgossamer_opencl.so"

    def steps(plan: builds.Plan) -> None:
        tool = clang()
        made = []
        for name, more in parts.items():
            source = _BUILTINS / f"{name.split('-')[0]}.cl"
            made.append(plan.compile(source, [*flags, *more], f"{name}.o", tool=tool))
        headers = [f"-isystem{folder}" for folder in system_headers("c")]
        made.append(plan.compile(_BUILTINS / "printf.c", [*common, "-O1", "-nostdinc", *headers], tool=tool))
        plan.link(library, made, ["-shared", f"-Wl,-soname,{library}", "-lm"])

    def failed(output: str, log: Path) -> InputError:
        return InputError(f"building OpenCL's functions failed: {diagnostics.complaint(output, _BUILTINS, log)}")

    return builds.kept(f"smi/opencl-{builds.tag(*flags, *common)}", steps, failed, title="building OpenCL's functions")


@functools.cache
def system_headers(language: str) -> list[str]:
    """The C++ compiler's folders of headers for ``c`` or ``c++``, for compilers and parsers without headers."""
    done = processes.run([*builds.compiler(), "-E", "-x", language, "-v", "/dev/null"])
    lines = done.stderr.splitlines()
    try:
        first = next(at for at, line in enumerate(lines) if line.startswith("#include <"))
        last = lines.index("End of search list.")
    except (StopIteration, ValueError):
        return []
    return [line.strip() for line in lines[first + 1 : last]]


def preprocessor_flags(defines: Sequence[str], includes: Sequence[str]) -> list[str]:
    """Options for the user's macros and folders of headers. InputError for a folder that does not exist, and for
    a macro without a name."""
    for folder in includes:
        if not Path(folder).is_dir():
            raise InputError(f"-I {folder}: is not a folder; give the folder of the headers")
    return [*(f"-I{os.path.abspath(folder)}" for folder in includes), *builds.macros(defines)]


def shared_object(
    name: str, sources: Sequence[tuple[Path, Path]], defines: Sequence[str], includes: Sequence[str] = ()
) -> Path:
    """A program's shared object. ``sources`` are the files to compile, each with the user's file it was generated from.

    InputError, at the user's line, if one does not compile or link.
    """
    library = emulator().parent
    flags = [*USER_FLAGS, f"-I{INCLUDE}", f"-I{COMPAT}", *preprocessor_flags(defines, includes)]
    opencl = builtins() if any(source.suffix == OPENCL for source, _ in sources) else None

    def steps(plan: builds.Plan) -> None:
        objects = []
        for source, user in sources:
            folder = f"-I{user.resolve().parent}"
            if source.suffix == OPENCL:
                own, tool = [folder, *flags, *OPENCL_FLAGS, *_CLANG_FLAGS], clang()
            else:
                own = _flags(*_LANGUAGE[source.suffix], folder, *flags, cpp=source.suffix in CPP_SUFFIXES)
                tool = None
            objects.append(plan.compile(source.resolve(), own, needs=[user.resolve()], tool=tool))
        # The soname is the file name, independent of the folder. With -Bsymbolic a user's function takes precedence
        # over one of the same name in the C library, such as `send`.
        link_flags = ["-shared", "-Wl,-soname,program.so", "-Wl,-Bsymbolic", "-Wl,-z,defs"]
        link_flags += [f"-L{library}", "-lgossamer_smi", "-lm"]
        if opencl is not None:
            link_flags += [f"-L{opencl}", "-Wl,--as-needed", "-lgossamer_opencl", f"-Wl,-rpath,{opencl}"]
        plan.link("program.so", objects, link_flags)

    def failed(output: str, log: Path) -> InputError:
        users = [user.resolve() for _, user in sources]
        # Files are compiled in parallel; report the first one in the output.
        at = {user: output.find(f"{user}:") for user in users}
        user = min((one for one in users if at[one] >= 0), key=lambda one: at[one], default=users[0])
        return InputError(diagnostics.complaint(output, user, log))

    paths = [str(one.resolve()) for pair in sources for one in pair]
    key = builds.tag(*paths, *flags, *OPENCL_FLAGS, *_CLANG_FLAGS, str(library), str(opencl))
    return builds.kept(f"smi/programs/{builds.plain(name)}-{key}", steps, failed) / "program.so"


def _flags(*flags: str, cpp: bool = True) -> list[str]:
    """Flags of one file, with the GNU-specific flags if the compiler is GNU's."""
    if any("g++" in Path(word).name for word in builds.compiler()):
        return [*flags, *_GNU_FLAGS, *(_GNU_CPP_FLAGS if cpp else ())]
    return list(flags)
