# SPDX-License-Identifier: Apache-2.0
"""The files of a design: the blocks' file lists, and the generated package.

A list ``rtl/<block>/<block>.f`` has one file on each line, relative to ``rtl/`` (``sim/...`` to the checkout), in
compilation order. ``-f other/other.f`` (or the name alone) includes another list, ``+incdir+folder`` adds a folder of
headers, ``+constants+name`` the generated package of ``config/constants/name``, ``//`` starts a comment. By convention
the last module of a list is the block's top. A list may also contain the C++ of models.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import native
from gossamer.errors import InputError
from gossamer.paths import ROOT

if TYPE_CHECKING:
    from gossamer.config import Config

RTL = ROOT / "rtl"
"""Synthesizable blocks."""
SIM = ROOT / "sim"
"""Models, harnesses and tops for simulation."""
_HEADERS = {".svh", ".vh", ".h", ".hpp"}


@dataclass(frozen=True)
class Sources:
    """A design: its files in compilation order, and the folders of its headers."""

    files: tuple[Path, ...]
    include: tuple[Path, ...]

    def __add__(self, other: Sources | Iterable[Path]) -> Sources:
        more = other if isinstance(other, Sources) else Sources(tuple(other), ())
        return Sources(
            tuple(dict.fromkeys((*self.files, *more.files))), tuple(dict.fromkeys((*self.include, *more.include)))
        )

    @property
    def top(self) -> str:
        """The name of the last file's module."""
        return self.verilog[-1].stem

    @property
    def verilog(self) -> tuple[Path, ...]:
        """The SystemVerilog files, without C++ of models and Verilator's settings."""
        return tuple(path for path in self.files if path.suffix in (".sv", ".v"))

    def headers(self) -> Iterator[Path]:
        """The header files in the include folders."""
        for folder in self.include:
            yield from sorted(path for path in folder.iterdir() if path.suffix in _HEADERS)

    def digest(self, *more: object, also: Iterable[Path] = ()) -> str:
        """Twelve hex digits of a hash of the files, those of ``also``, and ``more``."""
        seen = hashlib.sha256("\0".join(map(str, more)).encode())
        for path in (*self.files, *self.headers(), *also):
            data = path.read_bytes()
            seen.update(f"\0{path.name} {len(data)}\0".encode())
            seen.update(data)
        return seen.hexdigest()[:12]


def listing(path: Path) -> Sources:
    """The files of a file list and of the lists that it includes, each file once.

    Raises InputError with file and line for a file that does not exist.
    """
    found = _Collected()
    _collect(path.resolve(), (), found)
    return Sources(tuple(found.files), tuple(found.include))


@dataclass(frozen=True)
class _Collected:
    """What the lists that were read so far contain, each file and folder once, in the order of their first mention."""

    files: dict[Path, None] = field(default_factory=dict)
    include: dict[Path, None] = field(default_factory=dict)
    lists: set[Path] = field(default_factory=set)


def _collect(path: Path, above: tuple[Path, ...], found: _Collected) -> None:
    """Adds the contents of a list, which is included by the lists ``above``."""
    if path in found.lists:
        return
    state = path.stat()
    for number, kind, name in _entries(path, state.st_mtime_ns, state.st_size):
        if kind == "constants":
            found.files[constants_package(name)] = None
        elif kind == "list":
            if Path(name) in (*above, path):
                raise InputError(f"{path}:{number}: {Path(name).name}: the list includes itself")
            _collect(Path(name), (*above, path), found)
        else:
            (found.include if kind == "include" else found.files)[Path(name)] = None
    found.lists.add(path)


@functools.lru_cache(maxsize=1024)
def _entries(path: Path, _changed: int, _size: int) -> tuple[tuple[int, str, str], ...]:
    """The entries of a list in one state: line, kind (constants, include, list, file), and name or resolved path.

    Kept in the process, because a command reads the lists of a board several times, and resolving hundreds of paths
    takes longer than the rest of its start.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        entry = line.split("//")[0].strip()
        if not entry:
            continue
        if entry.startswith("+constants+"):
            found.append((number, "constants", entry.removeprefix("+constants+")))
            continue
        folder = entry.removeprefix("+incdir+") if entry.startswith("+incdir+") else None
        name = folder or entry.removeprefix("-f ").strip()
        # The list's own folder comes first: the list of a generated design names its "rtl", not that of the checkout.
        place = next((root / name for root in (path.parent, RTL, ROOT) if (root / name).exists()), None)
        if place is None:
            raise InputError(f"{path}:{number}: {name}: no such file in {RTL} or {ROOT}")
        kind = "include" if folder else "list" if place.suffix == ".f" else "file"
        found.append((number, kind, str(place.resolve())))
    return tuple(found)


def blocks(*names: str, config: Config | None = None) -> Sources:
    """The files of blocks, after those that all blocks use: a configuration's package, and ``rtl/common``.

    A name is that of a block (``"core"``), of a list below ``rtl/``, or the path of a list below ``sim/`` or ``tests/``
    (``"sim/tile/sim_tile.f"``).
    """
    found = Sources((package(config),), ()) if config is not None else Sources((), ())
    for name in ("common", *names):
        root = ROOT if name.startswith(("sim/", "tests/")) else RTL
        path = root / (name if name.endswith(".f") else f"{name}/{name}.f")
        if not path.is_file():
            raise InputError(f"{name}: no such block; {path} does not exist")
        found += listing(path)
    return found


def package(config: Config) -> Path:
    """``gossamer_pkg.sv`` of a configuration, generated if necessary, with ``gossamer/config.h`` in the same folder."""
    # A command asks several times for that of the same configuration.
    known = (config.name, config.model_dump_json())
    if known not in _generated_keys:
        from gossamer.config import _generate

        text = _generate.systemverilog(config) + _generate.cpp(config)
        _generated_keys[known] = hashlib.sha256(text.encode()).hexdigest()[:12]
    folder = native.build_dir() / "hdl" / "generated" / f"{config.name}-{_generated_keys[known]}"
    path = folder / "gossamer_pkg.sv"
    if not (path.exists() and (folder / "gossamer" / "config.h").exists()):
        from gossamer.config import generate

        generate(config, folder)
    return path


_generated_keys: dict[tuple[str, str], str] = {}
"""The hash of the generated files, by the name and the parameters of a configuration."""


def constants_package(name: str) -> Path:
    """``gossamer_<name>_pkg.sv`` with the constants and layouts of ``config/constants/<name>``."""
    from gossamer.config import _generate

    text = _generate.package_systemverilog(name)
    folder = native.build_dir() / "hdl" / "generated" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    path = folder / f"gossamer_{name}_pkg.sv"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{os.getpid()}.sv")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return path


__all__ = ["RTL", "SIM", "Sources", "blocks", "constants_package", "listing", "package"]
