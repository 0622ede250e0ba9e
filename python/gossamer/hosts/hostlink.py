# SPDX-License-Identifier: Apache-2.0
"""Builds programs with a host part and a part for threads, as written for Tinsel's HostLink.

    program = hostlink.build(["ring/"], config)
    program.binary          # the host, an executable
    program.folder          # its working folder, with code.v, data.v and the other files of the program's folder

The includes of a source determine its part: HostLink.h or DebugLink.h is for hosts, tinsel.h for threads.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from gossamer import builds, device, diagnostics
from gossamer.device import _sources
from gossamer.errors import InputError
from gossamer.files import temporary_sibling
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

__all__ = [
    "HEARS",
    "WIDE",
    "HostLibrary",
    "Program",
    "Recipe",
    "argument",
    "build",
    "host_library",
    "is_one",
    "split",
    "vertex_headers",
]

HOST = ROOT / "host"
DEVICE = ROOT / "device" / "include"
_COMPAT = ROOT / "device" / "compat"
POLITE = ROOT / "compat" / "polite"
HEARS = "GOSSAMER_POLITE_HEARS=1"
"""Macro for devices whose host sends messages to them."""
WIDE = "wide"
"""A file in the folder of a run that exists if the program with wide offsets was loaded."""
_FOR_HOSTS = {"HostLink.h", "DebugLink.h"}
_FOR_THREADS = {"tinsel.h", "io.h", "gossamer/device.h"}
_CPP = (".cc", ".cpp", ".cxx", ".C")
_HOST_SUFFIXES = (*_CPP, ".c")
_DEVICE_DEFINES = ("GOSSAMER_COMPAT", "TINSEL")
"""These select message lengths and printf's %x as in the code of Tinsel 0.8.3."""
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\([^;{]*\)\s*\{")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SENDS = re.compile(r"(\.|->|\bHostLink\s*::)\s*(send|trySend)\s*\(")
"""Calls of HostLink::send; the handler send of a device is never called explicitly."""
_HEX_FILE = re.compile(r"\"([^\"\n]*\.v)\"")
_START = re.compile(r"^[ \t]*_start[ \t]*:|\b_start\s*\([^;{]*\)\s*\{", re.MULTILINE)
"""The entry point of a program for threads without a main."""
_FORMAT = re.compile(r"%(?P<length>\d*)l*(?P<kind>[diuxs])")
_KINDS = {"code", "data", "instr", "instrs", "text", "v"}
"""Words in names of hex files that name no program."""


@dataclass(frozen=True)
class Parts:
    """The sources of a program by part."""

    host: tuple[Path, ...]
    devices: Mapping[str, tuple[Path, ...]]
    """Sources of each program for threads, by the name of the file with its ``main`` or ``_start``."""
    hex_files: tuple[str, ...]
    """Names of hex files in the sources of the host."""
    data: tuple[Path, ...]
    """Other files and folders of the program's folders, which the host may read."""
    polite: bool
    """Whether the host uses POLite."""
    sends: bool
    """Whether the host sends messages to threads."""


@dataclass(frozen=True)
class Recipe:
    """How to compile the part for threads of a POLite program; the mapper of its graph may need another variant."""

    name: str
    """Name of the program for threads."""
    sources: tuple[Path, ...]
    config: Config
    defines: tuple[str, ...]
    includes: tuple[str, ...]
    boards: tuple[int, int]
    """Columns and rows."""
    sends: int
    """How messages reach several threads: GOSSAMER_POLITE_MULTICAST of the softswitch."""
    files: Mapping[str, bool]
    """Files that the host loads: whether they contain data, by name."""
    data_offset: int = 0
    """Distance of the program's data from the start of data memory in bytes."""
    vertex: str = ""
    """The vertex type, after the host has named it."""
    late: ClassVar[bool] = False
    """Whether the program is compiled only after the host has named the vertex type."""

    @property
    def hears(self) -> bool:
        """Whether devices receive messages of the host."""
        return HEARS in self.defines

    def image(self, *, wide: bool) -> Image:
        """The program; ``wide`` for offsets of 32 bits."""
        defines = (
            *self.defines,
            f"GOSSAMER_POLITE_MULTICAST={self.sends}",
            f"GOSSAMER_POLITE_WIDE={int(wide)}",
        )
        return device.build(
            list(self.sources),
            self.config,
            defines,
            includes=self.includes,
            boards=self.boards,
            data_offset=self.data_offset,
        )

    def of_vertex(self, vertex: str, pins: int, changes: bool) -> Recipe:
        """The recipe for a vertex type that the host has named, and the pins of its graph (hosts/pgraph.py)."""
        raise InputError(
            f"{self.name}: is compiled for one vertex already, not for {vertex} with {pins} "
            f"pin{'' if pins == 1 else 's'}"
        )

    def absolute(self) -> Recipe:
        """The recipe with absolute paths, for a process that runs in another folder."""
        sources, includes = (map(os.path.abspath, paths) for paths in (self.sources, self.includes))
        return replace(self, sources=tuple(map(Path, sources)), includes=tuple(includes))

    def write_hex(self, folder: Path, image: Image) -> None:
        """Writes the files that the host loads."""
        for name, is_data in self.files.items():
            _write_hex(folder / name, image, is_data)


@dataclass(frozen=True)
class Program:
    """A built program."""

    name: str
    """The host's first file, for messages."""
    binary: Path
    folder: Path
    """Its working folder."""
    images: Mapping[str, Image]
    """The content of each file with code, by its name in the folder."""
    warnings: tuple[str, ...]
    recipe: Recipe | None = None
    """How to compile the devices of a program with PGraph."""


class _Source:
    """A source and its includes, found recursively in the program's own headers."""

    def __init__(self, path: Path, folders: Sequence[Path]) -> None:
        self.path = path
        self.direct: set[str] = set()
        self.reached: set[str] = set()
        self.headers: set[Path] = set()
        self.text = _text(path)
        queue = [(path, self.text)]
        while queue:
            at, text = queue.pop()
            for name in _INCLUDE.findall(text):
                self.reached.add(name)
                if at == path:
                    self.direct.add(name)
                for folder in (at.parent, *folders):
                    header = folder / name
                    if header.is_file() and (real := header.resolve()) not in self.headers:
                        self.headers.add(real)
                        queue.append((header, _text(header)))
                        break
        self.has_main = _MAIN.search(self.text) is not None
        self.has_start = _START.search(self.text) is not None

    @property
    def is_polite(self) -> bool:
        """Whether the source uses POLite."""
        return any(name == "POLite.h" or name.startswith("POLite/") for name in self.reached)

    def side(self) -> str:
        """``host``, ``device``, or an empty string if the source does not determine its part."""
        for names in (self.direct, self.reached):
            host, threads = bool(names & _FOR_HOSTS), bool(names & _FOR_THREADS)
            if host != threads:
                return "host" if host else "device"
            if host and not re.search(r"\b(HostLink|DebugLink)\b", self.text):
                return "device" if re.search(r"\btinsel[A-Z]\w*\s*\(", self.text) else "host"
            if host:
                return "host"
        if self.is_polite:
            if re.search(r"\bPThread\b", self.text):
                return "device"
            if re.search(r"\b(PGraph|HostLink)\b", self.text):
                return "host"
        return ""


def _text(path: Path) -> str:
    """A source without comments."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return _COMMENT.sub(lambda found: found[1] or " ", text)


def _files(given: Sequence[str]) -> list[Path]:
    found: list[Path] = []
    for one in map(Path, given):
        if one.is_dir():
            names = sorted(os.listdir(one))
            found += [one / n for n in names if not n.startswith(".") and Path(n).suffix in (*_HOST_SUFFIXES, ".S")]
        else:
            found.append(one)
    return [path for path in found if path.is_file()]


def is_one(given: Sequence[str], includes: Sequence[str] = ()) -> bool:
    """Whether sources, or folders of sources, contain a host part."""
    folders = [Path(one) for one in (*given, *includes) if os.path.isdir(one)]
    files = [path for path in _files(given) if path.suffix in _HOST_SUFFIXES]
    return any(_Source(path, folders).side() == "host" for path in files)


def split(given: Sequence[str], includes: Sequence[str] = ()) -> Parts:
    """Splits a program into its parts. Raises InputError if it has no host or several, or if the host needs
    threads and there is nothing for them."""
    folders = [Path(one) for one in (*given, *includes) if os.path.isdir(one)]
    sources = [_Source(path, folders) for path in _files(given)]
    sides: dict[str, list[_Source]] = {"host": [], "device": [], "": []}
    for source in sources:
        sides[source.side()].append(source)
    # A source that includes neither belongs to the parts that include the header of its name; with an entry point, to
    # threads.
    for source in sides.pop(""):
        headers = {source.path.with_suffix(suffix).resolve() for suffix in (".h", ".hpp", ".hh")}
        users = [side for side, found in sides.items() if any(headers & one.headers for one in found)]
        if source.has_main or source.path.suffix == ".S":
            assembly = source.path.suffix == ".S"
            users = ["device"] if assembly or any(one.has_main for one in sides["host"]) else ["host"]
        for side in users or ["host"]:
            sides[side].append(source)
    host, threads = sides["host"], sides["device"]
    what = given[0]
    mains = [source.path for source in host if source.has_main]
    if len(mains) > 1:
        raise InputError(f"{mains[0]}: has a main, as has {mains[1]}; give the files of one host program")
    if not mains:
        raise InputError(f"{what}: includes HostLink.h, but no host program in it has a main")
    begins = [source for source in threads if source.has_main or source.has_start]
    if threads and not begins:
        # Assembly without either starts with its first instruction.
        begins = [source for source in threads if source.path.suffix == ".S"]
        if len(begins) != 1 or len(threads) > 1:
            raise InputError(f"{threads[0].path}: is for threads, but no source for threads has a main or a _start")
    elif any(source.has_main for source in begins) and any(source.has_start for source in begins):
        # An entry point of the user's own, which calls main.
        begins = [source for source in begins if source.has_main]
    shared = [source.path for source in threads if source not in begins]
    devices = {source.path.stem: (source.path, *shared) for source in begins}
    if len(devices) < len(begins):
        raise InputError(f"{what}: two programs for threads have the same name; rename one")
    literals = {name for source in host for name in _HEX_FILE.findall(source.text)}
    for header in {header for source in host for header in source.headers}:
        literals |= set(_HEX_FILE.findall(_text(header)))
    taken = {source.path for source in sources}
    data = [
        folder / name
        for folder in (Path(one) for one in given if os.path.isdir(one))
        for name in sorted(os.listdir(folder))
        if folder / name not in taken and not name.startswith(".")
    ]
    first = sorted((source.path for source in host), key=lambda path: path not in mains)
    polite = any(source.is_polite for source in host)
    headers = {header for source in host for header in source.headers}
    texts = [*(source.text for source in host), *map(_text, headers)]
    sends = any(map(_SENDS.search, texts))
    if not threads:
        # Such a host loads files that it brings, or none.
        there = {path.name for path in data}
        absent = sorted(name for name in literals if name not in there and not _FORMAT.search(name))
        graph = any(re.search(r"\bPGraph\b", text) for text in texts)
        why = f"loads {absent[0]}" if absent else "has a PGraph" if graph else ""
        if why:
            raise InputError(f"{what}: {why}, but has nothing for threads: no source includes tinsel.h")
    return Parts(tuple(first), devices, tuple(sorted(literals)), tuple(data), polite, sends)


def _hex_names(parts: Parts) -> dict[str, tuple[str, bool]]:
    """The files that a host may load: program, and whether the file contains data, by name."""
    names: dict[str, tuple[str, bool]] = {}
    for program in parts.devices:
        for form in ("{0}-{1}.v", "{0}_{1}.v", "{0}.{1}.v", "{1}-{0}.v", "{1}_{0}.v", "{0}/{1}.v"):
            for kind in ("code", "data"):
                names[form.format(program, kind)] = (program, kind == "data")
    # With numbers that distinguish the programs: names that a host may compose.
    numbers = {program: re.findall(r"\d+", program)[-1:] for program in parts.devices}
    for program, its in numbers.items():
        if its and list(numbers.values()).count(its) == 1:
            for kind in ("code", "data"):
                names |= {f"{kind}{sign}{its[0]}.v": (program, kind == "data") for sign in ("", "_", "-", ".")}
    for name in ("code.v", "data.v", *parts.hex_files):
        # A name that begins with a sign is the end of a name that the host composes.
        if os.path.isabs(name) or ".." in Path(name).parts or not parts.devices or not name[0].isalnum():
            continue
        is_data = "data" in Path(name).name.lower()
        if _FORMAT.search(name):
            names |= {made: (program, is_data) for program in parts.devices for made in _formatted(name, program)}
            continue
        found = _program_of(name, list(parts.devices))
        if found is not None:
            names[name] = (found, is_data)
        elif name in parts.hex_files and parts.devices:
            several = ", ".join(str(files[0]) for files in parts.devices.values())
            raise InputError(
                f"{parts.host[0]}: loads {name}, but there are several programs for threads: {several}; "
                "name their files NAME-code.v and NAME-data.v"
            )
    return names


def _words(name: str) -> set[str]:
    """The words and numbers of a name, in which numbers have no leading zeros."""
    return {
        word.lstrip("0") or "0" if word.isdecimal() else word for word in re.findall(r"[^\W\d_]+|\d+", name.lower())
    }


def _program_of(name: str, programs: Sequence[str]) -> str | None:
    """The program for threads that is in a hex file: the only one, the longest whose name it contains, or the only one
    with all the other words of its name, as ``code_0.v`` for ``ping_0.c``. None if there is no such one."""
    if len(programs) == 1:
        return programs[0]
    contained = [program for program in programs if program in name]
    if contained and len(contained) < len(programs):
        return max(contained, key=len)
    words = _words(name) - _KINDS
    matching = [program for program in programs if words and words <= _words(program)]
    return matching[0] if len(matching) == 1 else None


def _formatted(name: str, program: str) -> Iterator[str]:
    """The names that a format such as ``code_%d.v`` has for a program: with its last number, or with its whole name."""
    numbers = re.findall(r"\d+", program)[-1:]

    def value(found: re.Match[str], number: str) -> str:
        if found["kind"] == "s":
            return program
        text = format(int(number), "x") if found["kind"] == "x" else str(int(number))
        fill = "0" if found["length"].startswith("0") else " "
        return text.rjust(int(found["length"] or 0), fill)

    if re.search(r"%\d*l*[diux]", name):
        yield from (_FORMAT.sub(functools.partial(value, number=number), name) for number in numbers)
    else:
        yield _FORMAT.sub(functools.partial(value, number=""), name)


def build(
    given: Sequence[str],
    config: Config,
    defines: Sequence[str] = (),
    *,
    includes: Sequence[str] = (),
    boards: tuple[int, int] = device.ALONE,
    sends: int = 1,
) -> Program:
    """Builds both parts of a program, if they are not up to date.

    ``given`` are sources, or folders, which mean all sources directly in them; ``boards`` are columns and rows of the
    cluster on which the program will run. Raises InputError if a part is missing or does not compile.
    """
    parts = split(given, includes)
    folders = [*includes, *(one for one in given if os.path.isdir(one))]
    hex_names = _hex_names(parts)
    recipes = {
        name: Recipe(
            name,
            files,
            config,
            (*defines, *_DEVICE_DEFINES, *([HEARS] if parts.sends else [])),
            (*folders, str(_COMPAT), str(POLITE)),
            boards,
            sends,
            {file: is_data for file, (program, is_data) in hex_names.items() if program == name},
        )
        for name, files in parts.devices.items()
    }
    if parts.polite and len(recipes) > 1:
        several = ", ".join(str(files[0]) for files in parts.devices.values())
        raise InputError(f"{parts.host[0]}: has one PGraph for several programs for threads: {several}; keep one")
    images = _images(recipes)
    binary = host_binary(parts.host, config, boards, defines, folders)
    run = binary.parent / "files"
    run.mkdir(parents=True, exist_ok=True)
    for name, (program, is_data) in hex_names.items():
        _write_hex(run / name, images[program], is_data)
    link(run, {path.name: path for path in parts.data if path.name not in hex_names})
    return Program(
        str(parts.host[0]),
        binary,
        run,
        {name: images[program] for name, (program, is_data) in hex_names.items() if not is_data},
        tuple(dict.fromkeys(line for image in images.values() for line in image.warnings)),
        next(iter(recipes.values()), None) if parts.polite else None,
    )


_ALIGNMENT = 128
"""Bytes; at least a line of the caches. Programs of different threads share no line."""


def _images(recipes: Mapping[str, Recipe]) -> dict[str, Image]:
    """The programs for threads. Their data is in different places, because threads of different programs may share a
    DRAM."""
    images: dict[str, Image] = {}
    offset = 0
    for name, recipe in recipes.items():
        image = images[name] = replace(recipe, data_offset=offset).image(wide=False)
        if image.segments:
            end = image.segments[-1].end - device.data_base(recipe.config)
            offset = (end + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
    return images


def link(folder: Path, files: Mapping[str, Path]) -> None:
    """Creates symbolic links to files in a folder, by their names there, and removes all other links.

    Correct links are not touched, because other commands may run in that folder at the same time.
    """
    # A host would write through a stale link to a wrong location.
    for at in folder.iterdir():
        if at.is_symlink() and at.name not in files:
            at.unlink(missing_ok=True)
    for name, path in files.items():
        at = folder / name
        target = str(path.resolve())
        if os.readlink(at) == target if at.is_symlink() else at.exists():
            continue
        aside = temporary_sibling(folder.parent / "link")
        aside.symlink_to(target)
        aside.replace(at)


def argument(word: str, folder: Path) -> str:
    """An argument for a host, which runs in another folder: a path relative to the current folder becomes absolute.

    A number stays a number, even if a file has that name.
    """
    path = Path(word)
    if not word or _NUMBER.fullmatch(word) or path.is_absolute():
        return word
    # Not Path.exists, which raises an error for an argument that is too long for a file name.
    if os.path.exists(word):
        return os.path.abspath(path)
    # A file that the host will create in an existing folder.
    wanted = "/" in word and os.path.isdir(path.parent) and not os.path.exists(folder / path)
    return os.path.abspath(path) if wanted else word


def reached(sources: Sequence[Path], folders: Sequence[str]) -> set[Path]:
    """Sources, and the headers in ``folders`` that they include."""
    found = [_Source(path, [Path(one) for one in folders]) for path in sources]
    return {path.resolve() for path in sources} | {header for one in found for header in one.headers}


def _write_hex(path: Path, image: Image, is_data: bool) -> None:
    """Writes code or data of a program as Verilog hex, including zero-filled memory."""
    if is_data:
        parts = [(one.address, one.data + bytes(one.size - len(one.data))) for one in image.segments]
    else:
        parts = [(0, b"".join(word.to_bytes(4, "little") for word in image.instructions))]
    lines = []
    for address, data in parts:
        lines.append(f"@{address:08X}")
        lines += [data[at : at + 16].hex(" ").upper() for at in range(0, len(data), 16)]
    text = "\n".join(lines) + "\n"
    # Not written again, because the checkout may be read-only.
    if not path.is_symlink() and path.is_file() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Replace the file, since a link would lead to another folder's file.
    aside = temporary_sibling(path.parent / "hex")
    aside.write_text(text)
    aside.replace(path)


# ---- The host's part ---------------------------------------------------------------

_USER_FLAGS = ("-std=gnu++17", "-O2", "-g")
_OWN_FLAGS = ("-std=c++20", "-O1", "-g1", "-Wall", "-Wextra")


def _headers(config: Config, boards: tuple[int, int]) -> list[str]:
    """Include options of hosts: Gossamer's headers, and those generated for the configuration."""
    made = device.headers(config, boards)
    return [f"-I{HOST / 'include'}", f"-I{made}", f"-I{DEVICE}", f"-I{POLITE}", f"-I{INCLUDE}"]


def host_binary(
    sources: Sequence[Path],
    config: Config,
    boards: tuple[int, int],
    defines: Sequence[str],
    folders: Iterable[str],
    engine: str = "rtl",
) -> Path:
    """The executable of a host, linked with the library of an engine."""
    library = _library(config, boards, engine)
    flags = [
        *builds.user_level(_USER_FLAGS),
        *builds.macros(defines),
        *_sources.search(list(folders)),
        *_headers(config, boards),
    ]

    def steps(plan: builds.Plan) -> None:
        # As in Tinsel's makefiles, C sources of hosts are compiled as C++.
        objects = [plan.compile(path.resolve(), ["-x", "c++", *flags]) for path in sources]
        plan.link("program", [*objects, library], ["-pthread", "-ldl"])

    tag = builds.tag(*(str(path.resolve()) for path in sources), *flags, str(library))
    name = f"hostprograms/{builds.plain(sources[0].stem)}-{config.name}-{tag}"
    return builds.kept(name, steps, failed_in(sources)) / "program"


@dataclass(frozen=True)
class HostLibrary:
    """The library and compiler flags of a host that drives boards."""

    archive: Path
    flags: tuple[str, ...]


def host_library(config: Config, boards: tuple[int, int]) -> HostLibrary:
    """The library for hosts of simulated boards. Its headers are searched last, so that they hide no other headers."""
    headers = tuple(word.replace("-I", "-idirafter", 1) for word in _headers(config, boards))
    return HostLibrary(_library(config, boards, "rtl"), headers)


def vertex_headers(source: Path) -> tuple[Path, ...]:
    """The user's headers that a source includes and that compile for threads: they include POLite, but no host API."""
    found = []
    for name in _INCLUDE.findall(_text(source)):
        header = source.parent / name
        if not header.is_file():
            continue
        reached = _Source(header, []).reached
        if "gossamer/polite.h" in reached and "gossamer/pgraph.h" not in reached:
            found.append(header.resolve())
    return tuple(dict.fromkeys(found))


def failed_in(sources: Sequence[Path]) -> builds.Failed:
    """The handler of failed builds that reports the error at the user's own line, in any of the sources."""

    def failed(output: str, log: Path) -> InputError:
        undefined = re.search(r"undefined reference to [`']([^']+)'", output)
        if undefined:
            what = f"does not link: nothing defines {undefined[1]}"
            return InputError(f"{sources[0]}: {what} (all of it in {diagnostics.relative(log)})")
        return InputError(diagnostics.complaint(output, diagnostics.whose(output, sources).resolve(), log))

    return failed


_LIBRARIES = {"rtl": HOST / "src", "cpu": HOST / "cpu"}
"""Engine-specific sources of the library that implements HostLink.h."""
_COMMON = HOST / "common"


def _library(config: Config, boards: tuple[int, int], engine: str) -> Path:
    """The library that implements HostLink.h, for a configuration and an engine."""
    from gossamer.engines import _machine
    from gossamer.hdl import sources

    own = _LIBRARIES[engine]
    package = sources.package(config).parent
    other = ROOT / "sim" / "host" if engine == "rtl" else POLITE / "cpu"
    folders = [own, _COMMON, other, package, ROOT / "src"]
    flags = [*_OWN_FLAGS, *(f"-I{one}" for one in folders), *_headers(config, boards)]
    files = sorted((*_COMMON.glob("*.cc"), *own.glob("*.cc")))
    machine = _machine.compilation() if engine == "rtl" else None

    def steps(plan: builds.Plan) -> None:
        shared = machine.steps(plan) if machine else []
        plan.archive("libhostlink.a", [*shared, *(plan.compile(path, flags) for path in files)])

    def failed(output: str, log: Path) -> InputError:
        return InputError(f"building the library of hosts failed: {diagnostics.complaint(output, own, log)}")

    tag = builds.tag(*map(str, files), *flags, machine.tag if machine else "")
    return builds.kept(f"hostprograms/lib-{config.name}-{tag}", steps, failed) / "libhostlink.a"
