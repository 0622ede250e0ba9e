# SPDX-License-Identifier: Apache-2.0
"""Programs for the overlay's threads: compiled and linked once, kept under ``build/``, read back as an image.

    image = device.build("programs/hello.c", "tiny")
    image.instructions          # words from address 0 of instruction memory
    image.segments              # what goes to data memory before the start
    image.where(0x1c)           # Place(function='main', file='programs/hello.c', line=12)

A program is C or C++20; every thread begins in its ``main``. ``device/`` has what is linked to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import gossamer_setup
from gossamer import builds, diagnostics, files, native, processes
from gossamer.config import constants
from gossamer.device import _elf, _header, _sources
from gossamer.device._elf import DoesNotFit, Elf, Place, Segment, may_print_fractions
from gossamer.device._header import ALONE
from gossamer.device._sources import LANGUAGES, OBJECT, SUFFIXES
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.config import Config

__all__ = ["ALONE", "SUFFIXES", "Image", "Place", "Segment", "build", "headers", "load"]

DEVICE = ROOT / "device"
_CPU = ("-mcpu=generic_rv32+m+f+zicsr+relax", "-mabi=ilp32f")
# The target with a C library gives the headers of C and C++; nothing of that library is linked.
_FLAGS = (
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
    "-UNDEBUG",  # the compiler's driver turns assertions off where it optimizes
    "-D__GOSSAMER_DEVICE__=1",
)
_COMPILED_STANDARD_LIBRARY = ("algorithm.cpp",)
"""What of the C++ library is not all in its headers, and needs neither heap nor operating system: sorting."""
_CPP_FLAGS = ("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")


@dataclass(frozen=True)
class Image:
    """A linked program."""

    name: str
    """The file as the user gave it, for messages."""
    elf: Path
    instructions: tuple[int, ...]
    """32-bit words of instruction memory from address 0, where every thread starts."""
    segments: tuple[Segment, ...]
    """Contents of data memory, by address; none overlap."""
    symbols: Mapping[str, int]
    """Addresses of functions and variables by name."""
    warnings: tuple[str, ...]
    """What the compiler has to say about the sources, a line each: ``file:line: warning: text``."""
    _elf: Elf = field(repr=False, compare=False)

    def where(self, pc: int) -> Place:
        """Function, file and line of an instruction; parts that nobody knows are None."""
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
) -> Image:
    """Compiles and links a program for a configuration; an ELF file that is ready is only read.

    ``sources`` are C (.c), C++20 (.cc, .cpp, .cxx) or assembly (.S) files, objects (.o), or folders, each of which
    stands for the sources directly in it. ``defines`` are macros for them (NAME=VALUE), ``includes`` folders with
    their headers, ``optimize`` the compiler's level (0 to 3, s, z); without it 2, or z where the instructions
    do not fit at 2. ``boards`` are columns and rows of the cluster that it will run on. ``freestanding`` leaves out
    what is for hosted compilers alone, such as the descriptor of an application. Raises InputError, one clear
    line, where something is not there, does not compile, does not link or does not fit.
    """
    if isinstance(config, str):
        from gossamer import config as configs

        config = configs.load(config)
    given = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    paths = _sources.collect(given)
    if paths[0].suffix == ".elf":
        return load(paths[0], config, boards=boards)
    # A folder's own headers are found as those beside a source are.
    folders = [*includes, *(one for one in given if os.path.isdir(one))]
    flags = (*_sources.search(folders), *_sources.macros(defines))
    if freestanding:
        flags += ("-ffreestanding", "-fbuiltin")
    if optimize is None:
        with contextlib.suppress(DoesNotFit):
            return _built(paths, config, boards, flags, "2")
    return _built(paths, config, boards, flags, optimize or "z")


def _built(
    paths: Sequence[Path], config: Config, boards: tuple[int, int], flags: Sequence[str], optimize: str
) -> Image:
    elf = _linked(paths, config, boards, flags, optimize)
    warned = [tuple(one) for one in json.loads((elf.parent / "warnings.json").read_text())]
    return _read(elf, config, boards, str(paths[0]), paths, _sources.shown(warned, paths))


def load(path: str | os.PathLike[str], config: Config, *, boards: tuple[int, int] = ALONE) -> Image:
    """Reads an ELF file; InputError if it is none, is for another machine, or does not fit."""
    file = Path(os.fspath(path))
    if not file.is_file():
        raise InputError(f"{file}: no such file")
    return _read(file, config, boards, str(file), [])


def headers(config: Config, boards: tuple[int, int] = ALONE) -> Path:
    """The folder with ``gossamer/device_config.h``, what programs are told of a configuration."""
    text = _header.header(config, boards)
    # Of the text alone: programs for this machine read it too, where the compiler for threads is not installed.
    folder = native.build_dir() / "device" / f"include-{config.name}-{builds.tag(text)}"
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
            f"{place_of or name}: a static object needs code to run before main, and no thread could run it for "
            "the others; make it constexpr or constinit, or make it in main"
        )
    other = elf.symbols.get("__gossamer_layout")
    if other is not None and other != _layout_mark(config, boards):
        what = config.name if boards == ALONE else f"{config.name} and {boards[0]} x {boards[1]} boards"
        raise InputError(f"{name}: was linked for another configuration than {what}; build it again")
    instructions = elf.instructions(place.instr_bytes, config.name)
    segments = elf.segments(place.data_base, place.data_bytes, config.name)
    elf.thread_local(place.partition_bytes, place.stack_bytes, config.name)
    return Image(name, file, instructions, segments, elf.symbols, warned, elf)


def _layout_mark(config: Config, boards: tuple[int, int]) -> int:
    """A number that changes with everything that a linked program has taken from its configuration."""
    text = _header.header(config, boards).split("\n", 3)[3]  # without the configuration's name
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


# ---------------------------------------------------------------------- compiling


def _environment() -> dict[str, str]:
    cache = str(native.build_dir() / "zig")
    kept = {key: value for key, value in os.environ.items() if key not in _DISTURBING}
    return {**kept, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}


_DISTURBING = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "ZIG_LIB_DIR"}
"""Variables of the user's own compilers that would reach ours."""


def _compiler_files() -> Path:
    """The folder of the compiler's own headers and sources."""
    gossamer_setup.require("rtl")
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise InputError("the compiler for the overlay's threads is missing; run: ./gossamer setup rtl")
    return Path(found.origin).parent / "lib"


def _run(command: Sequence[str], log: Path) -> tuple[bool, str]:
    """Runs a tool: whether it went well, and its messages, which are kept in a file as well if it did not."""
    done = processes.run([sys.executable, "-I", "-m", "ziglang", *command], env=_environment())
    if done.returncode:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(shlex.join(command) + "\n" + done.stderr)
    return not done.returncode, done.stderr


def _compile(source: Path, target: Path, flags: Sequence[str], user: Path) -> tuple[list[str], str]:
    """Compiles one file; gives the files that it read, and the compiler's messages. InputError at the user's line."""
    tool, *standard = LANGUAGES[source.suffix]
    if tool == "c++":
        standard += _CPP_FLAGS
    dependencies, log = target.with_suffix(".d"), target.with_suffix(".log")
    search = [f"-I{DEVICE / 'include'}", f"-I{INCLUDE}"]
    command = [tool, *_FLAGS, *standard, *flags, *search, "-MMD", "-MF", str(dependencies)]
    # With a file of dependencies the compiler leaves its cache alone, out of which it gives no warnings.
    good, said = _run([*command, "-c", str(source), "-o", str(target)], log)
    if not good:
        raise InputError(diagnostics.complaint(said, user.resolve(), log))
    text = dependencies.read_text().replace("\\\n", " ")
    return shlex.split(text.split(": ", 1)[1]), said


def _linked(
    paths: Sequence[Path], config: Config, boards: tuple[int, int], given: Sequence[str], optimize: str
) -> Path:
    """The program's ELF file, made where it is not up to date; beside it are the warnings of its sources."""
    library = _library(config, boards)
    flags = [f"-O{optimize}", *given, f"-I{library}", *_frame_limit(config)]
    resolved = [path.resolve() for path in paths]
    tag = _tag(*map(str, resolved), *_FLAGS, *flags)
    folder = native.build_dir() / "device" / f"{paths[0].stem}-{config.name}-{tag}"
    elf = folder / "program.elf"
    if builds.fresh(folder):
        return elf
    with native.lock(f"device-{tag}"):
        if builds.fresh(folder):
            return elf
        begun = time.time_ns()
        folder.mkdir(parents=True, exist_ok=True)
        read: list[str] = []
        objects = []
        warned: list[tuple[str, int, str]] = []
        for number, (path, user) in enumerate(zip(resolved, paths, strict=True)):
            if path.suffix == OBJECT:
                objects.append(path)
                read.append(str(path))
                continue
            target = folder / f"{number}-{path.stem}.o"
            files, said = _compile(path, target, flags, user)
            read += files
            warned += _sources.warnings(said)
            objects.append(target)
        _link(objects, elf, library, _layout_mark(config, boards), paths)
        warned += _arguments_of_main(elf, paths)
        (folder / "warnings.json").write_text(json.dumps(warned))
        builds.remember(folder, [], [*read, builds.stamp(library)], begun=begun)
    return elf


def _frame_limit(config: Config) -> tuple[str, ...]:
    """A function whose variables are more than the stack would step over the guard below it: an error."""
    room = _header.memory_map(config).stack_bytes - constants.value("guard_bytes")
    return (f"-Wframe-larger-than={room}", "-Werror=frame-larger-than")


def _arguments_of_main(elf: Path, users: Sequence[Path]) -> list[tuple[str, int, str]]:
    place = Elf(elf, str(users[0]), users).with_parameters("main")
    if place is None:
        return []
    text = "main has parameters, but a thread is given no arguments: argc is 0 and argv is null"
    return [(os.path.realpath(place[0]), place[1], text)]


def _link(objects: Sequence[Path], elf: Path, library: Path, mark: int, users: Sequence[Path]) -> None:
    partial = elf.with_name(f"{elf.name}.{os.getpid()}.part")
    command = ["ld.lld", "-T", str(library / "link.ld"), "--gc-sections", "--relax-gp", "--no-undefined"]
    # Lines of what was left out must not look like lines at address 0.
    command += ["-z", "dead-reloc-in-nonalloc=.debug_*=0xffffffff"]
    command += [f"--defsym=__gossamer_layout={mark}", "-z", "max-page-size=16", "-o", str(partial)]
    if any(may_print_fractions(one) for one in objects):
        command += ["-u", "gossamer_print_float"]
    command += [str(library / "crt0.o"), *map(str, objects), str(library / "libdevice.a")]
    if any(path.suffix == OBJECT or LANGUAGES[path.suffix][0] == "c++" for path in users):
        command.append(str(_cpp_library()))
    command.append(str(_arithmetic()))
    log = elf.with_suffix(".log")
    try:
        good, said = _run(command, log)
        if not good:
            raise InputError(f"{_link_error(said, users)} (all of it in {diagnostics.relative(log)})")
        os.replace(partial, elf)
    finally:
        partial.unlink(missing_ok=True)


_KNOWN_MISSING = {
    "malloc": "there is no heap to take from; tinselHeapBase() is this thread's own memory",
    "free": "there is no heap; tinselHeapBase() is this thread's own memory",
    "operator new(unsigned int)": "there is no heap; tinselHeapBase() is this thread's own memory",
    "operator new[](unsigned int)": "there is no heap; tinselHeapBase() is this thread's own memory",
    "main": "every thread begins in main",
}


def _link_error(errors: str, users: Sequence[Path]) -> str:
    """The linker's first complaint, at the user's line where it knows one."""
    first = re.search(r"ld\.lld: error: (.*)", errors)
    what = first[1] if first else (errors.strip().splitlines() or ["the linker said nothing"])[-1]
    twice = re.match(r"duplicate symbol: (.*)", what)
    if twice:
        found = re.findall(r">>> defined at (?:\S+ \((.+):(\d+)\)|(\S+))", errors)[:2]
        places = [f"{diagnostics.relative(Path(file))}:{line}" if line else other for file, line, other in found]
        first_place, second = [*places, diagnostics.relative(users[0]), "another file"][:2]
        return f"{first_place}: does not link: {twice[1]} is defined here and again in {second}; keep one of them"
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


# ---------------------------------------------------------------------- what is linked to every program


def _kept(name: str, make: Callable[[Path], Sequence[str | Path]]) -> Path:
    """The folder ``name`` of what is built for threads; ``make`` fills it where it is not up to date, and gives the
    files that it has read."""
    folder = native.build_dir() / "device" / name
    if builds.fresh(folder):
        return folder
    with native.lock(name):
        if not builds.fresh(folder):
            begun = time.time_ns()
            folder.mkdir(parents=True, exist_ok=True)
            builds.remember(folder, [], make(folder), begun=begun)
    return folder


def _library(config: Config, boards: tuple[int, int]) -> Path:
    """The folder with header, linker script, start-up code and library of a configuration."""
    text = _header.header(config, boards)

    def make(folder: Path) -> list[str]:
        place = _header.memory_map(config)
        template = DEVICE / "link.ld"
        script = template.read_text()
        for name in ("data_base", "stack_bytes", "partition_bytes"):
            script = script.replace(f"${name}", f"0x{getattr(place, name):X}")
        script = script.replace("$guard_bytes", f"0x{constants.value('guard_bytes'):X}").replace("$$", "$")
        (folder / "link.ld").write_text(script)
        read = [str(template)]
        objects = []
        for source in (DEVICE / "crt0.S", *sorted((DEVICE / "lib").iterdir())):
            if source.suffix not in LANGUAGES:
                continue
            target = folder / f"{source.stem}.o"
            flags = ["-Oz", "-fno-builtin", "-Wextra", f"-I{folder}"]
            read += _compile(source, target, flags, source)[0]
            objects.append(target)
        _archive(folder / "libdevice.a", [one for one in objects if one.stem != "crt0"], folder)
        own = str(folder)
        return [file for file in read if not file.startswith(own)]

    return _kept(f"lib-{config.name}-{_tag(text, *_FLAGS, 'z')}", make)


def _cpp_library() -> Path:
    """What C++ programs need of their library beside its headers."""
    top = _compiler_files() / "libcxx" / "src"

    def make(folder: Path) -> list[str]:
        read: list[str] = []
        objects = []
        for name in _COMPILED_STANDARD_LIBRARY:
            objects.append(folder / f"{name}.o")
            flags = ["-Oz", "-w", "-D_LIBCPP_BUILDING_LIBRARY", f"-I{top}"]
            read += _compile(top / name, objects[-1], flags, top / name)[0]
        _archive(folder / "libcpp.a", objects, folder)
        return read

    return _kept(f"cpp-{_tag(*_FLAGS, *_COMPILED_STANDARD_LIBRARY)}", make) / "libcpp.a"


def _archive(archive: Path, objects: Sequence[Path], folder: Path) -> None:
    archive.unlink(missing_ok=True)
    good, said = _run(["ar", "rcs", str(archive), *map(str, objects)], folder / "build.log")
    if not good:
        raise InputError(f"{diagnostics.relative(archive)} cannot be made: {said.strip().splitlines()[-1]}")


def _arithmetic() -> Path:
    """The compiler's own library: arithmetic that the core has not, such as double precision."""
    source = _compiler_files() / "compiler_rt.zig"
    options = ["-target", "riscv32-freestanding-none", _CPU[0], "-OReleaseSmall", "-fsingle-threaded", "-fstrip"]
    options += ["-ffunction-sections", "-fdata-sections"]

    def make(folder: Path) -> list[Path]:
        member = folder / "arithmetic.o"
        good, said = _run(["build-obj", str(source), *options, f"-femit-bin={member}"], folder / "build.log")
        if not good:
            raise InputError(f"the compiler's library cannot be made: {said.strip().splitlines()[-1]}")
        _archive(folder / "libarithmetic.a", [member], folder)
        return [source]

    return _kept(f"arithmetic-{_tag(*options)}", make) / "libarithmetic.a"


# ---------------------------------------------------------------------- what is up to date


def _tag(*parts: str) -> str:
    """Twelve hex digits that change with any of the parts, with the compiler, or with how it is called."""
    ours = (__file__, _sources.__file__, _elf.__file__)
    states = [builds.state(file) for file in (str(_compiler_files() / "compiler_rt.zig"), *ours)]
    text = "\n".join((*parts, str(states)))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
