# SPDX-License-Identifier: Apache-2.0
"""Programs for the overlay's threads: compiled and linked once, cached, and read back as an image.

    image = device.build("programs/hello.c", "tiny")
    image.instructions          # words from address 0 of instruction memory
    image.segments              # contents of data memory at the start
    image.where(0x1c)           # Place(function='main', file='programs/hello.c', line=12)

A program is C or C++20; every thread starts in its ``main``. ``device/`` contains the start-up code and library.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import gossamer_setup
from gossamer import build_cache, builds, diagnostics, files
from gossamer.config import constants
from gossamer.device import _elf, _header, _single_precision, _sources
from gossamer.device._elf import DoesNotFit, Elf, Place, Segment, global_symbols, may_print_fractions
from gossamer.device._header import ALONE, Part
from gossamer.device._sources import LANGUAGES, OBJECT, SUFFIXES
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.config import Config

__all__ = [
    "ALONE",
    "SUFFIXES",
    "TINSEL_ARITHMETIC",
    "Image",
    "Part",
    "Place",
    "Segment",
    "build",
    "data_base",
    "headers",
    "load",
    "single_precision",
]

DEVICE = ROOT / "device"
_CPU = ("-mcpu=generic_rv32+m+f+zicsr+relax", "-mabi=ilp32f")
# The target with a C library provides the headers of C and C++; the library itself is not linked.
FLAGS = (
    "-target",
    "riscv32-linux-musl",
    *_CPU,
    "-fno-pic",
    "-g",
    "-gdwarf-4",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-fomit-frame-pointer",
    "-fno-stack-protector",
    "-fno-sanitize=all",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-fno-math-errno",
    "-ftls-model=local-exec",
    "-Wall",
    "-UNDEBUG",  # the compiler's driver disables assertions when it optimizes
    "-D__GOSSAMER_DEVICE__=1",
)
_COMPILED_STANDARD_LIBRARY = ("algorithm.cpp",)
"""Sources of the C++ library to compile: sorting, which is not in headers and needs neither heap nor OS."""
TINSEL_MODE = "GOSSAMER_COMPAT"
"""The macro of programs for Tinsel 0.8.3: it selects lengths and formats as in its code, and its arithmetic."""
TINSEL_ARITHMETIC = ("-ffp-contract=off",)
"""Tinsel's compiler options; constants have single precision too (`single_precision`)."""
_MATH = (
    "pow", "powf", "pow_data", "powf_data", "exp_data", "atan2", "atan2f", "sinh", "sinhf", "__expo2", "__expo2f",
    "expm1", "expm1f", "ldexp", "ldexpf", "scalbn", "scalbnf", "asinf", "asinh", "asinhf", "acosh", "atanh", "erf",
    "erff", "nearbyint", "nearbyintf", "tgamma", "lgamma", "lgamma_r", "remainder", "remquo", "logb", "ilogb",
    "signgam", "nextafter", "__fpclassify", "__fpclassifyf", "__signbit", "__signbitf", "__math_divzero",
    "__math_divzerof", "__math_invalid", "__math_invalidf", "__math_oflow", "__math_oflowf", "__math_uflow",
    "__math_uflowf", "__math_xflow", "__math_xflowf",
)  # fmt: skip
"""Sources of the C library's mathematics that the compiler has in C; it has the others in its own language."""
_CPP_FLAGS = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")


@dataclass(frozen=True)
class Image:
    """A linked program."""

    name: str
    """File name as the user gave it, for messages."""
    elf: Path
    instructions: tuple[int, ...]
    """32-bit words of instruction memory from address 0, where every thread starts."""
    segments: tuple[Segment, ...]
    """Contents of data memory, by address; none overlap."""
    symbols: Mapping[str, int]
    """Addresses of functions and variables by name."""
    warnings: tuple[str, ...]
    """The compiler's warnings about the sources, one line each: ``file:line: warning: text``."""
    _elf: Elf = field(repr=False, compare=False)

    def where(self, pc: int) -> Place:
        """Function, file and line of an instruction; unknown parts are None."""
        return self._elf.where(pc)

    def instruction(self, pc: int) -> int | None:
        """The instruction at an address; None outside of the program."""
        return self.instructions[pc // 4] if pc % 4 == 0 and 0 <= pc < 4 * len(self.instructions) else None


def build(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    config: str | Config,
    defines: Sequence[str] = (),
    *,
    includes: Sequence[str | os.PathLike[str]] = (),
    optimize: str | None = None,
    boards: tuple[int, int] = ALONE,
    freestanding: bool = False,
    users: Sequence[Path] = (),
    data_offset: int = 0,
    c_library: bool = False,
) -> Image:
    """Compiles and links a program for a configuration; an ELF file is only read.

    ``sources`` are C (.c), C++20 (.cc, .cpp, .cxx) or assembly (.S) files, objects (.o), or folders, each of which
    means the sources directly in it. ``defines`` are macros (NAME=VALUE), ``includes`` are include folders.
    ``optimize`` is the compiler's level (0 to 3, s, z); the default is 2, or z if the instructions do not fit at 2.
    ``boards`` are columns and rows of the target cluster, or a ``Part`` of a cluster. ``freestanding`` omits code for
    hosted compilers, such as the descriptor of an application. ``users`` are the user's files, which messages name,
    where ``sources`` were made of them. ``data_offset`` is the distance in bytes of the program's data from the start
    of data memory. ``c_library`` links the compiler's C library, for a program that defines ``malloc``. Raises
    InputError, one line, if a file does not exist, does not compile or does not link, or if the program does not fit.

    Threads start in ``main``; in ``_start`` if the program defines that; at the first instruction of the first source
    if that is assembly and the program has neither.
    """
    if isinstance(config, str):
        from gossamer import config as configs

        config = configs.load(config)
    given = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    paths = _sources.collect(given)
    if paths[0].suffix == ".elf":
        return load(paths[0], config, boards=boards)
    # Headers in a folder of sources are found without an include option.
    folders = [*includes, *(one for one in given if os.path.isdir(one))]
    flags = (*_sources.search(folders), *builds.macros(defines))
    if freestanding:
        flags += ("-ffreestanding", "-fbuiltin")
    if optimize is None:
        with contextlib.suppress(DoesNotFit):
            return _built(paths, config, boards, flags, "2", users or paths, data_offset, c_library)
    return _built(paths, config, boards, flags, optimize or "z", users or paths, data_offset, c_library)


def _built(
    paths: Sequence[Path],
    config: Config,
    boards: tuple[int, int],
    flags: Sequence[str],
    optimize: str,
    users: Sequence[Path],
    data_offset: int,
    c_library: bool,
) -> Image:
    elf, warned = _linked(paths, config, boards, flags, optimize, users, data_offset, c_library)
    return _read(elf, config, boards, str(users[0]), users, _sources.shown(warned, users))


def load(path: str | os.PathLike[str], config: Config, *, boards: tuple[int, int] = ALONE) -> Image:
    """Reads an ELF file; InputError if it is invalid, for another architecture, or too large."""
    file = Path(os.fspath(path))
    if not file.is_file():
        raise InputError(f"{file}: no such file")
    return _read(file, config, boards, str(file), [])


def data_base(config: Config) -> int:
    """The first address of the data of programs."""
    return _header.memory_map(config).data_base


def headers(config: Config, boards: tuple[int, int] = ALONE) -> Path:
    """The folder with ``gossamer/device_config.h``, a program's view of a configuration."""
    text = _header.header(config, boards)
    # The tag depends on the text only, because host programs use it without the compiler for threads.
    folder = builds.build_dir() / "device" / f"include-{config.name}-{builds.tag(text)}"
    header = folder / "gossamer" / "device_config.h"
    if not header.exists():
        header.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(header, text.encode())
    return folder


def _read(
    file: Path,
    config: Config,
    boards: tuple[int, int],
    name: str,
    sources: Sequence[Path],
    warned: tuple[str, ...] = (),
) -> Image:
    elf = Elf(file, name, sources)
    place = _header.memory_map(config)
    for place_of in elf.constructors():
        raise InputError(
            f"{place_of or name}: a static object has a constructor that must run before main, and no thread can "
            "run it for the others; declare it constexpr or constinit, or construct it in main"
        )
    other = elf.symbols.get("__gossamer_layout")
    if other is not None and other != _layout_mark(config, boards):
        what = config.name if boards == ALONE else f"{config.name} and {boards[0]} x {boards[1]} boards"
        raise InputError(f"{name}: was linked for a configuration other than {what}; build it again")
    try:
        instructions = elf.instructions(place.instr_bytes, config.name)
    except DoesNotFit as error:
        raise DoesNotFit(f"{error}; {_larger(error.needs)}", error.needs) from None
    segments = elf.segments(place.data_base, place.data_bytes, config.name)
    elf.thread_local(place.partition_bytes, place.stack_bytes, config.name)
    return Image(name, file, instructions, segments, elf.symbols, warned, elf)


def _larger(size: int) -> str:
    """The end of a message: the configurations and clusters whose instruction memory has ``size`` bytes."""
    from gossamer import config as configs

    known = ((name, configs.load(name)) for name in configs.names())
    # The smallest board first, without streaming ports if possible.
    fit = {
        name: (bytes_of, config.threads, config.stream.ports)
        for name, config in known
        if (bytes_of := _header.memory_map(config).instr_bytes) >= size
    }
    if not fit:
        return "no configuration holds it; make the program smaller"
    names = sorted(fit, key=lambda name: (fit[name], name))
    clusters = [name for name, of in configs.clusters_of().items() if of in fit]
    also = f", or --cluster {' or '.join(clusters)}" if clusters else ""
    hold = "holds" if len(names) == 1 else "hold"
    return f"{' and '.join(names[:3])} {hold} it: --config {names[0]}{also}"


def _layout_mark(config: Config, boards: tuple[int, int]) -> int:
    """A hash of all configuration values that a linked program depends on."""
    text = _header.header(config, boards).split("\n", 3)[3]  # without the configuration's name
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


# ---------------------------------------------------------------------- compiling


_DISTURBING = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "ZIG_LIB_DIR")
"""Environment variables for the user's compilers that would affect this one."""


def tool(name: str) -> list[str]:
    """A tool for threads (cc, c++, ld.lld, ar), as a command for `builds.Plan`."""
    _compiler_files()
    cache = build_cache.zig_folder(builds.build_dir() / "zig")
    unset = [word for variable in _DISTURBING for word in ("-u", variable)]
    caches = [f"ZIG_GLOBAL_CACHE_DIR={cache}", f"ZIG_LOCAL_CACHE_DIR={cache}"]
    return ["env", *unset, *caches, sys.executable, "-I", "-m", "ziglang", name]


def _compiler_files() -> Path:
    """The folder of the headers and sources of the compiler."""
    gossamer_setup.require("rtl")
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise InputError("the compiler for the overlay's threads is missing; run: ./gossamer setup rtl")
    return Path(found.origin).parent / "lib"


def single_precision(compiler: Sequence[str]) -> tuple[list[str], Path]:
    """A compiler command that makes constants of single precision, and the script in it."""
    script = Path(_single_precision.__file__)
    return [sys.executable, "-I", str(script), *compiler, "--"], script


def compile_step(plan: builds.Plan, source: Path, flags: Sequence[str], target: str) -> str:
    """A step that compiles one file for threads; the build keeps the compiler's warnings with the target."""
    name, options = _command(source, flags)
    command, needs = tool(name), []
    if source.suffix != ".S" and any(word.partition("=")[0] == f"-D{TINSEL_MODE}" for word in options):
        command, script = single_precision(command)
        options += TINSEL_ARITHMETIC
        needs.append(script)
    # With a dependency file the compiler does not use its cache, from which it would omit warnings.
    return plan.compile(source.resolve(), options, target, needs, tool=command, keep_said=True)


def text_step(plan: builds.Plan, source: Path, flags: Sequence[str], target: str, compiled: str) -> str:
    """A step that writes the LLVM assembly of a file whenever it is compiled; with a dependency file the compiler would
    write none."""
    name, options = _command(source, flags)
    command = [*tool(name), *options, "-S", "-emit-llvm", str(source.resolve()), "-o", target]
    return plan.run(target, command, [source.resolve(), compiled])


def _command(source: Path, flags: Sequence[str]) -> tuple[str, list[str]]:
    """The compiler for a source, and its options."""
    name, *standard = LANGUAGES[source.suffix]
    if name == "c++":
        standard += _CPP_FLAGS
    return name, [*FLAGS, *standard, *flags, f"-I{DEVICE / 'include'}", f"-I{INCLUDE}"]


def does_not_compile(users: Sequence[Path]) -> builds.Failed:
    """The error for a build in which a user's source does not compile, at the user's line."""

    def failed(output: str, log: Path) -> InputError:
        return InputError(diagnostics.complaint(output, diagnostics.whose(output, users).resolve(), log))

    return failed


def _linked(
    paths: Sequence[Path],
    config: Config,
    boards: tuple[int, int],
    given: Sequence[str],
    optimize: str,
    users: Sequence[Path],
    data_offset: int,
    c_library: bool,
) -> tuple[Path, list[tuple[str, int, str]]]:
    """The program's ELF file, built if it is not up to date, and the warnings of its sources."""
    library = _library(config, boards)
    flags = [f"-O{optimize}", *given, f"-I{headers(config, boards)}", *_frame_limit(config)]
    tag = tag_of(*(str(path.resolve()) for path in paths), *FLAGS, *flags, str(library))
    name = f"device/{builds.plain(paths[0].stem)}-{config.name}-{tag}"
    targets = {path: f"{n}-{builds.plain(path.stem)}.o" for n, path in enumerate(paths) if path.suffix != OBJECT}
    made = builds.build_dir() / name
    if targets:
        builds.kept(
            name,
            lambda plan: [compile_step(plan, path, flags, target) for path, target in targets.items()],
            does_not_compile(list(targets)),
        )
    objects = [made / targets[path] if path in targets else path.resolve() for path in paths]

    def does_not_link(output: str, log: Path) -> InputError:
        return InputError(f"{_link_error(output, users)} (all of it in {diagnostics.relative(log)})")

    # A separate build, because the link command depends on the contents of the objects.
    symbols = {"__gossamer_layout": _layout_mark(config, boards)}
    where = f"{name}/linked"
    if data_offset:
        symbols["__gossamer_data_base"] = _header.memory_map(config).data_base + data_offset
        where += f"-{data_offset:x}"

    def link(plan: builds.Plan) -> None:
        _link_step(plan, objects, library, symbols, paths, _c_library() if c_library else [])

    folder = builds.kept(where, link, does_not_link)
    elf = folder / "program.elf"
    warned = [one for target in targets.values() for one in _sources.warnings(builds.said(made, target))]
    return elf, warned + _arguments_of_main(elf, users)


def _frame_limit(config: Config) -> tuple[str, ...]:
    """Rejects functions whose frame is larger than the stack, which could skip the guard below the stack."""
    limit = _header.memory_map(config).stack_bytes - constants.value("guard_bytes")
    return (f"-Wframe-larger-than={limit}", "-Werror=frame-larger-than")


def _arguments_of_main(elf: Path, users: Sequence[Path]) -> list[tuple[str, int, str]]:
    """The warning about a main with parameters; cached, because the search takes longer than reading the program."""
    kept = elf.with_name("arguments.json")
    of = builds.state(str(builds.stamp(elf.parent)))
    with contextlib.suppress(OSError, ValueError, KeyError):
        known = json.loads(kept.read_text())
        if known["of"] == of:
            return [tuple(one) for one in known["warnings"]]
    place = Elf(elf, str(users[0]), users).with_parameters("main")
    text = "main has parameters, but threads have no arguments: argc is 0 and argv is null"
    found = [] if place is None else [(os.path.realpath(place[0]), place[1], text)]
    files.write_whole(kept, json.dumps({"of": of, "warnings": found}).encode())
    return found


def _link_step(
    plan: builds.Plan,
    objects: Sequence[Path],
    library: Path,
    symbols: Mapping[str, int],
    users: Sequence[Path],
    more: Sequence[Path],
) -> None:
    command = [*tool("ld.lld"), "-T", str(library / "link.ld"), "--gc-sections", "--no-undefined"]
    # Debug lines of discarded sections must not refer to address 0.
    command += ["-z", "dead-reloc-in-nonalloc=.debug_*=0xffffffff"]
    command += [f"--defsym={name}={value}" for name, value in symbols.items()]
    command += ["-z", "max-page-size=16", "-o", "program.elf"]
    defined = set[str]().union(*map(global_symbols, objects))
    start: list[Path] = []
    if "_start" in defined:
        start, entry = [library / "bare.o"], ["-e", "gossamer_entry"]
    elif "main" not in defined and users[0].suffix == ".S":
        entry = ["-e", "0", "--no-gc-sections"]
    else:
        start, entry = [library / "crt0.o"], ["--relax-gp"]  # crt0 sets the global pointer
    command += entry
    parts = [*start, *objects]
    if any(may_print_fractions(one) for one in objects):
        # An object and not a member of the archive, because printf refers to it weakly. Without printf it is discarded.
        parts.append(library / "print_float.o")
    parts.append(library / "libdevice.a")
    if any(path.suffix == OBJECT or LANGUAGES[path.suffix][0] == "c++" for path in users):
        parts.append(_cpp_library())
    parts += [*more, _arithmetic()]
    plan.run("program.elf", [*command, *map(str, parts)], [library / "link.ld", *parts])


_KNOWN_MISSING = {
    "malloc": "threads have no heap; tinselHeapBase() is this thread's private memory",
    "free": "threads have no heap; tinselHeapBase() is this thread's private memory",
    "operator new(unsigned int)": "threads have no heap; tinselHeapBase() is this thread's private memory",
    "operator new[](unsigned int)": "threads have no heap; tinselHeapBase() is this thread's private memory",
    "scanf": "threads have no standard input",
    "fgets": "threads have no standard input",
    "getchar": "threads have no standard input",
    "fscanf": "threads have no files",
    "fopen": "threads have no files",
    "sleep": "threads have no clock to sleep by; MPI_Wtime and time count the board's cycles",
    "usleep": "threads have no clock to sleep by; MPI_Wtime and time count the board's cycles",
    "main": "every thread starts in main",
}


def _link_error(errors: str, users: Sequence[Path]) -> str:
    """The linker's first error, at the user's line if it is known."""
    first = re.search(r"ld\.lld: error: (.*)", errors)
    what = first[1] if first else (errors.strip().splitlines() or ["the linker printed no error"])[-1]
    twice = re.match(r"duplicate symbol: (.*)", what)
    if twice:
        found = re.findall(r">>> defined at (?:\S+ \((.+):(\d+)\)|(\S+))", errors)[:2]
        places = [f"{diagnostics.relative(Path(file))}:{line}" if line else other for file, line, other in found]
        first_place, second = [*places, diagnostics.relative(users[0]), "another file"][:2]
        return f"{first_place}: does not link: {twice[1]} is defined here and in {second}; keep one definition"
    missing = re.match(r"undefined symbol: (.*)", what)
    if not missing:
        return f"{diagnostics.relative(users[0])}: does not link: {what}"
    name = missing[1]
    why = f"; {_KNOWN_MISSING[name]}" if name in _KNOWN_MISSING else ""
    place = diagnostics.relative(users[0])
    after = errors[first.end() :] if first else ""
    # ">>> referenced by ring.c:12 (/full/path/ring.c:12)"
    for file, line in re.findall(r">>> referenced by \S+ \((.+):(\d+)\)", after.split("ld.lld: error:")[0]):
        if any(os.path.realpath(file) == os.path.realpath(user) for user in users):
            place = f"{diagnostics.relative(Path(file))}:{line}"
            break
    return f"{place}: does not link: nothing defines {name}{why}"


# ---------------------------------------------------------------------- libraries of every program


def _library(config: Config, boards: tuple[int, int]) -> Path:
    """The folder with linker script, start-up code and library of a configuration."""
    place = _header.memory_map(config)
    script = (DEVICE / "link.ld").read_text()
    for name in ("data_base", "stack_bytes", "partition_bytes"):
        script = script.replace(f"${name}", f"0x{getattr(place, name):X}")
    script = script.replace("$guard_bytes", f"0x{constants.value('guard_bytes'):X}").replace("$$", "$")
    sources = [one for one in sorted((DEVICE / "lib").iterdir()) if one.suffix in LANGUAGES]
    flags = ["-Oz", "-fno-builtin", "-Wextra", f"-I{headers(config, boards)}"]

    def steps(plan: builds.Plan) -> None:
        (plan.folder / "link.ld").write_text(script)
        for name in ("crt0", "bare"):
            compile_step(plan, DEVICE / f"{name}.S", flags, f"{name}.o")
        objects = [compile_step(plan, source, flags, f"{source.stem}.o") for source in sources]
        plan.archive("libdevice.a", objects, tool("ar"))

    tag = tag_of(script, *map(str, sources), *FLAGS, *flags)
    return builds.kept(f"device/lib-{config.name}-{tag}", steps, does_not_compile(sources))


def _cpp_library() -> Path:
    """The compiled part of the C++ library."""
    top = _compiler_files() / "libcxx" / "src"
    sources = [top / name for name in _COMPILED_STANDARD_LIBRARY]
    flags = ["-Oz", "-w", "-D_LIBCPP_BUILDING_LIBRARY", f"-I{top}"]

    def steps(plan: builds.Plan) -> None:
        objects = [compile_step(plan, source, flags, f"{source.stem}.o") for source in sources]
        plan.archive("libcpp.a", objects, tool("ar"))

    tag = tag_of(*FLAGS, *flags, *_COMPILED_STANDARD_LIBRARY)
    return builds.kept(f"device/cpp-{tag}", steps, does_not_compile(sources)) / "libcpp.a"


def _c_library() -> list[Path]:
    """The C library of the compiler, as archives: functions without files, processes and locales."""
    top = _compiler_files()
    musl = top / "libc" / "musl"
    sources = [musl / "src" / "math" / f"{name}.c" for name in _MATH]
    flags = [
        "-Oz",
        "-w",
        *(f"-I{musl / folder}" for folder in ("src/include", "src/internal", "arch/riscv32", "arch/generic")),
    ]
    options = ["-target", "riscv32-linux-musl", _CPU[0], "-OReleaseSmall", "-fsingle-threaded", "-fstrip", "-lc"]
    options += ["-ffunction-sections", "-fdata-sections"]

    def steps(plan: builds.Plan) -> None:
        objects = [compile_step(plan, source, flags, f"{source.stem}.o") for source in sources]
        plan.archive("libmath.a", objects, tool("ar"))
        command = [*tool("build-obj"), str(top / "c.zig"), *options, "-femit-bin=c.o"]
        plan.archive("libc.a", [plan.run("c.o", command, [top / "c.zig"])], tool("ar"))

    made = builds.kept(f"device/c-{tag_of(*FLAGS, *flags, *options, *_MATH)}", steps, does_not_compile(sources))
    return [made / "libc.a", made / "libmath.a"]


def _arithmetic() -> Path:
    """The compiler's run-time library: arithmetic that the core lacks, such as double precision."""
    source = _compiler_files() / "compiler_rt.zig"
    options = ["-target", "riscv32-freestanding-none", _CPU[0], "-OReleaseSmall", "-fsingle-threaded", "-fstrip"]
    options += ["-ffunction-sections", "-fdata-sections"]

    def steps(plan: builds.Plan) -> None:
        command = [*tool("build-obj"), str(source), *options, "-femit-bin=arithmetic.o"]
        plan.archive("libarithmetic.a", [plan.run("arithmetic.o", command, [source])], tool("ar"))

    def failed(output: str, log: Path) -> InputError:
        last = (output.strip().splitlines() or ["nothing"])[-1]
        return InputError(f"building the compiler's library failed: {last} (all of it in {diagnostics.relative(log)})")

    return builds.kept(f"device/arithmetic-{tag_of(*options)}", steps, failed) / "libarithmetic.a"


# ---------------------------------------------------------------------- build tags


def tag_of(*parts: str) -> str:
    """Twelve hex digits of a hash of the parts, the compiler, and this module."""
    ours = (__file__, _sources.__file__, _elf.__file__, _single_precision.__file__)
    states = [builds.state(file) for file in (str(_compiler_files() / "compiler_rt.zig"), *ours)]
    text = "\n".join((*parts, str(states)))
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:12]
