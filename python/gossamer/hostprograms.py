# SPDX-License-Identifier: Apache-2.0
"""Programs with a part for a host and a part for threads, as written for Tinsel's HostLink.

    program = hostprograms.build(["ring/"], config)
    program.binary          # the host, an executable
    program.folder          # where it runs: code.v, data.v and the other files of the program's folder are there

What a source includes tells its part: HostLink.h or DebugLink.h is for hosts, tinsel.h for threads.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import _device_sources, apps, device, native
from gossamer.errors import InputError
from gossamer.paths import ROOT

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.device import Image

__all__ = ["Program", "build", "is_one", "split"]

HOST = ROOT / "host"
_COMPAT = ROOT / "device" / "compat"
_FOR_HOSTS = {"HostLink.h", "DebugLink.h"}
_FOR_THREADS = {"tinsel.h", "io.h", "gossamer/device.h"}
_CPP = (".cc", ".cpp", ".cxx", ".C")
_HOST_SUFFIXES = (*_CPP, ".c")
_DEVICE_DEFINES = ("GOSSAMER_COMPAT", "TINSEL")
"""Lengths of messages and printf's %x are as in the code of Tinsel 0.8.3."""
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\")", re.DOTALL)
_MAIN = re.compile(r"\bmain\s*\([^;{]*\)\s*\{")
_HEX_FILE = re.compile(r"\"([^\"\n]*\.v)\"")


@dataclass(frozen=True)
class Parts:
    """Which source belongs to what."""

    host: tuple[Path, ...]
    devices: Mapping[str, tuple[Path, ...]]
    """Sources of each program for threads, by its name: that of the file with its ``main``."""
    hex_files: tuple[str, ...]
    """Names of hex files in the sources of the host."""
    data: tuple[Path, ...]
    """Other files and folders of the program's folders, which it may want to read."""


@dataclass(frozen=True)
class Program:
    """A program that is ready to run."""

    name: str
    """The host's first file, for messages."""
    binary: Path
    folder: Path
    """Where it runs."""
    images: Mapping[str, Image]
    """What is in each of the files with code, by its name in the folder."""
    warnings: tuple[str, ...]


class _Source:
    """A source and what it includes, its own headers looked through."""

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

    def side(self) -> str:
        """``host``, ``device``, or nothing if that is not told."""
        for names in (self.direct, self.reached):
            host, threads = bool(names & _FOR_HOSTS), bool(names & _FOR_THREADS)
            if host != threads:
                return "host" if host else "device"
            if host and not re.search(r"\b(HostLink|DebugLink)\b", self.text):
                return "device" if re.search(r"\btinsel[A-Z]\w*\s*\(", self.text) else "host"
            if host:
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
    """Whether sources or folders of them have a part for a host."""
    folders = [Path(one) for one in (*given, *includes) if os.path.isdir(one)]
    files = [path for path in _files(given) if path.suffix in _HOST_SUFFIXES]
    return any(_Source(path, folders).side() == "host" for path in files)


def split(given: Sequence[str], includes: Sequence[str] = ()) -> Parts:
    """Tells the parts of a program apart; InputError where one is missing, or there are several hosts."""
    folders = [Path(one) for one in (*given, *includes) if os.path.isdir(one)]
    sources = [_Source(path, folders) for path in _files(given)]
    sides: dict[str, list[_Source]] = {"host": [], "device": [], "": []}
    for source in sources:
        sides[source.side()].append(source)
    # A source that includes neither belongs to those who include the header of its name; with a main, to threads.
    for source in sides.pop(""):
        headers = {source.path.with_suffix(suffix).resolve() for suffix in (".h", ".hpp", ".hh")}
        users = [side for side, found in sides.items() if any(headers & one.headers for one in found)]
        if source.has_main or source.path.suffix == ".S":
            users = ["device"] if any(one.has_main for one in sides["host"]) else ["host"]
        for side in users or ["host"]:
            sides[side].append(source)
    host, threads = sides["host"], sides["device"]
    what = given[0]
    mains = [source.path for source in host if source.has_main]
    if len(mains) > 1:
        raise InputError(f"{mains[0]}: has a main, and {mains[1]} too; give the files of one host program")
    if not mains:
        raise InputError(f"{what}: includes HostLink.h, but no host program in it has a main")
    if not threads:
        raise InputError(f"{what}: has a host program, but nothing for threads: no source includes tinsel.h")
    begins = [source for source in threads if source.has_main]
    if not begins:
        raise InputError(f"{threads[0].path}: is for threads, but no source for threads has a main")
    shared = [source.path for source in threads if not source.has_main]
    devices = {source.path.stem: (source.path, *shared) for source in begins}
    if len(devices) < len(begins):
        raise InputError(f"{what}: two programs for threads have one name; give them different ones")
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
    return Parts(tuple(first), devices, tuple(sorted(literals)), tuple(data))


def _hex_names(parts: Parts) -> dict[str, tuple[str, bool]]:
    """Files for the host to load: program and whether it is data, by name."""
    names: dict[str, tuple[str, bool]] = {}
    for program in parts.devices:
        for form in ("{0}-{1}.v", "{0}_{1}.v", "{0}.{1}.v", "{1}-{0}.v", "{1}_{0}.v", "{0}/{1}.v"):
            for kind in ("code", "data"):
                names[form.format(program, kind)] = (program, kind == "data")
    plain = {"code.v", "data.v"}
    for name in (*sorted(plain), *parts.hex_files):
        if os.path.isabs(name) or ".." in Path(name).parts:
            continue
        known = [program for program in parts.devices if program in name] or list(parts.devices)
        if len(parts.devices) > 1 and len(known) == len(parts.devices):
            if name in parts.hex_files:
                several = ", ".join(str(files[0]) for files in parts.devices.values())
                raise InputError(
                    f"{parts.host[0]}: loads {name}, but there are several programs for threads: {several}; "
                    "name their files NAME-code.v and NAME-data.v"
                )
            continue
        names[name] = (max(known, key=len), "data" in Path(name).name.lower())
    return names


def build(
    given: Sequence[str],
    config: Config,
    defines: Sequence[str] = (),
    *,
    includes: Sequence[str] = (),
    boards: tuple[int, int] = device.ALONE,
) -> Program:
    """Builds both parts of a program; what is up to date is only read.

    ``given`` are sources, or folders that stand for those directly in them; ``boards`` are columns and rows of the
    cluster that it will run on. InputError, one clear line, where a part is
    missing or does not compile.
    """
    parts = split(given, includes)
    folders = [*includes, *(one for one in given if os.path.isdir(one))]
    images = {
        name: device.build(
            list(files), config, [*defines, *_DEVICE_DEFINES], includes=[*folders, str(_COMPAT)], boards=boards
        )
        for name, files in parts.devices.items()
    }
    binary = _host_binary(parts.host, config, boards, defines, folders)
    run = binary.parent / "run"
    run.mkdir(parents=True, exist_ok=True)
    hex_names = _hex_names(parts)
    for name, (program, is_data) in hex_names.items():
        _write_hex(run / name, images[program], is_data)
    for path in parts.data:
        link = run / path.name
        if path.name in hex_names or (link.exists() and not link.is_symlink()):
            continue
        link.unlink(missing_ok=True)
        link.symlink_to(path.resolve())
    return Program(
        str(parts.host[0]),
        binary,
        run,
        {name: images[program] for name, (program, is_data) in hex_names.items() if not is_data},
        tuple(dict.fromkeys(line for image in images.values() for line in image.warnings)),
    )


def _write_hex(path: Path, image: Image, is_data: bool) -> None:
    """Code or data of a program, as Verilog hex; memory that is to be zero is written too."""
    if is_data:
        parts = [(one.address, one.data + bytes(one.size - len(one.data))) for one in image.segments]
    else:
        parts = [(0, b"".join(word.to_bytes(4, "little") for word in image.instructions))]
    lines = []
    for address, data in parts:
        lines.append(f"@{address:08X}")
        lines += [data[at : at + 16].hex(" ").upper() for at in range(0, len(data), 16)]
    text = "\n".join(lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_text(text)


# ---- The host's part ---------------------------------------------------------------

_USER_FLAGS = ("-std=gnu++17", "-O2", "-g")
_OWN_FLAGS = ("-std=c++20", "-O2", "-g", "-Wall", "-Wextra")


def _headers(config: Config, boards: tuple[int, int]) -> list[str]:
    """Where headers of hosts are: ours, and those that are made for the configuration."""
    made = device.headers(config, boards)
    return [f"-I{HOST / 'include'}", f"-I{made}", f"-I{ROOT / 'device' / 'include'}"]


def _host_binary(
    sources: Sequence[Path], config: Config, boards: tuple[int, int], defines: Sequence[str], folders: Iterable[str]
) -> Path:
    library = _library(config, boards)
    flags = [
        *_USER_FLAGS,
        *_device_sources.macros(defines),
        *_device_sources.search(list(folders)),
        *_headers(config, boards),
    ]
    tag = apps.tag(*(str(path.resolve()) for path in sources), *flags, str(library))
    folder = native.build_dir() / "hostprograms" / f"{sources[0].stem}-{config.name}-{tag}"
    binary = folder / "program"
    if apps.fresh(folder):
        return binary
    with native.lock(f"hostprogram-{tag}"):
        if not apps.fresh(folder):
            folder.mkdir(parents=True, exist_ok=True)
            objects = _compile(sources, folder, flags)
            partial = folder / f"program.{os.getpid()}.part"
            _run(["-o", partial, *objects, library, "-pthread"], folder, sources[0])
            os.replace(partial, binary)
            apps.remember(folder, [one.with_suffix(".d") for one in objects], [library])
    return binary


def _library(config: Config, boards: tuple[int, int]) -> Path:
    """The library behind HostLink.h, for a configuration."""
    from gossamer.hdl import sources

    constants = sources.package(config).parent
    folders = [HOST / "src", ROOT / "rtl" / "sim" / "host", constants]
    flags = [*_OWN_FLAGS, *(f"-I{one}" for one in folders), *_headers(config, boards)]
    tag = apps.tag(*flags)
    folder = native.build_dir() / "hostprograms" / f"lib-{config.name}-{tag}"
    archive = folder / "libhostlink.a"
    if apps.fresh(folder):
        return archive
    with native.lock(f"hostlink-{tag}"):
        if not apps.fresh(folder):
            folder.mkdir(parents=True, exist_ok=True)
            files = sorted((HOST / "src").glob("*.cc"))
            objects = _compile(files, folder, flags)
            archive.unlink(missing_ok=True)
            subprocess.run(["ar", "rcs", str(archive), *map(str, objects)], check=True)
            apps.remember(folder, [one.with_suffix(".d") for one in objects])
    return archive


def _compile(sources: Sequence[Path], folder: Path, flags: Sequence[str]) -> list[Path]:
    objects = []
    for number, path in enumerate(sources):
        target = folder / f"{number}-{path.stem}.o"
        read = ["-MMD", "-MF", str(target.with_suffix(".d")), "-MT", "app"]
        # Tinsel's own rules compile C of hosts as C++ too.
        _run(["-x", "c++", *flags, *read, "-c", "-o", target, path.resolve()], folder, path)
        objects.append(target)
    return objects


def _run(words: Sequence[str | Path], folder: Path, user: Path) -> None:
    command = [str(native.compiler()), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        log = folder / "errors.log"
        log.write_text(shlex.join(command) + "\n" + done.stderr)
        undefined = re.search(r"undefined reference to [`']([^']+)'", done.stderr)
        if undefined and "-c" not in words:
            raise InputError(
                f"{user}: does not link: nothing defines {undefined[1]} (all of it in {apps.relative(log)})"
            )
        raise InputError(f"{apps.first_error(done.stderr, user.resolve())} (all of it in {apps.relative(log)})")
