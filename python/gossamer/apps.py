# SPDX-License-Identifier: Apache-2.0
"""Applications: found by name or path, compiled once, loaded.

A compiled application is one shared object with the C interface of
``include/gossamer/abi.h``. It is kept under ``build/`` and made again when the
compiler, a flag, or any file that it included has changed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import native
from gossamer.errors import InputError
from gossamer.paths import APPS, INCLUDE

FLAGS = ("-std=c++20", "-O3", "-march=native", "-mtune=generic", "-g1", "-fPIC", "-Wall", "-Wextra")
_COLUMN_TYPES: dict[int, type[np.generic]] = {
    1: np.int32,
    2: np.uint32,
    3: np.int64,
    4: np.uint64,
    5: np.float32,
    6: np.float64,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of an application; ``kind`` is real, integer, vertex or flag."""

    name: str
    kind: str
    low: float
    """Of an integer an int, exact to its last digit; so are ``high`` and ``default``."""
    high: float
    default: float
    help: str


@dataclass(frozen=True)
class Column:
    """One column of an application's result."""

    name: str
    dtype: np.dtype[np.generic]
    order: str
    """largest, smallest or groups: what of it is worth seeing first."""
    absent: float | None
    """The value that stands for "there is none"."""
    vertex: bool
    """The values are indices of vertices."""
    help: str

    def present(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which values are there: all but those that stand for none."""
        if self.absent is None:
            return np.ones(len(values), np.bool_)
        return np.asarray(values != self.dtype.type(self.absent))


@dataclass(frozen=True)
class App:
    """A compiled, loaded application."""

    name: str
    summary: str
    path: Path
    library: ctypes.CDLL
    parameters: tuple[Parameter, ...]
    columns: tuple[Column, ...]
    totals: tuple[Column, ...]
    """What a run tells of its last step's aggregates."""
    same: str
    """exact, or within (``tolerance``): what two right results may differ in."""
    tolerance: float
    undirected: bool
    uses_weights: bool
    state_bytes: int
    message_bytes: int
    edge_bytes: int
    defines: tuple[str, ...] = ()
    """Macros that it was compiled with."""

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name; InputError with the near ones if there is none."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(p.name for p in self.parameters) or "none"
        raise InputError(f"{self.name} has no parameter {name!r}; it has: {known}")


COMMAND_WORDS = frozenset(
    {"app", "dedupe", "define", "engine", "format", "graph", "help", "no-loops", "output"}
    | {"seed", "shuffle", "stats", "threads", "top", "undirected"}
    # of the engine rtl
    | {"config", "cluster", "routes", "frame-loss", "cut", "waves", "trace", "trace-size", "report", "least-wait"}
    | {"max-cycles", "watchdog", "workers", "tile", "mapping", "multicast", "max-steps"}
)
"""What a parameter may not be called: options of ``./gossamer run``, arguments of ``gossamer.run``."""
ABI_VERSION = 4
"""GS_ABI_VERSION of include/gossamer/abi.h, which the structs in ``engines/_given.py`` follow."""


def names() -> list[str]:
    """The applications that come with Gossamer."""
    return sorted(path.name for path in APPS.iterdir() if (path / f"{path.name}.h").is_file())


def find(app: str | os.PathLike[str]) -> Path:
    """The header of an application: a name of ours, or a path to a header."""
    text = os.fspath(app)
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]*", text):
        header = APPS / text / f"{text}.h"
        if header.is_file():
            return header
    path = Path(text)
    if path.suffix in {".h", ".hh", ".hpp"}:
        if path.is_file():
            return path.resolve()
        raise InputError(f"{text}: no such file")
    import difflib

    near = difflib.get_close_matches(text, names(), n=1)
    hint = f"did you mean {near[0]}?" if near else "they are: " + ", ".join(names())
    raise InputError(f"there is no application {text!r}; {hint} (or give a header: mine/vertex.h)")


@functools.cache
def _load(header: Path, defines: tuple[str, ...]) -> App:
    compiled = _compiled(header, defines)
    try:
        library = ctypes.CDLL(str(compiled))
    except OSError as error:
        missing = re.search(r"undefined symbol: (\w+)", str(error))
        what = f"{demangled(missing[1])} is declared and nowhere defined" if missing else str(error)
        raise InputError(f"{relative(header)}: cannot be loaded: {what}") from None
    for missing_name in ("gs_app_describe", "gs_app_run", "gs_app_open"):
        if not hasattr(library, missing_name):
            raise InputError(f"{relative(header)}: has no descriptor; end it with GOSSAMER_APPLICATION(YourApp)")
    version = library.gs_app_abi_version() if hasattr(library, "gs_app_abi_version") else 1
    if version != ABI_VERSION:
        raise InputError(
            f"{relative(header)}: was compiled for version {version} of the interface, this program has {ABI_VERSION}; "
            f"remove {relative(Path(library._name).parent)}"
        )
    library.gs_app_describe.restype = ctypes.c_char_p
    library.gs_app_statistics.restype = None
    library.gs_app_statistics.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_verdict.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_column.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    library.gs_app_total.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    library.gs_app_hear.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.gs_app_ended.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_free.argtypes = [ctypes.c_void_p]
    text = library.gs_app_describe()
    if text is None:
        raise InputError(f"{relative(header)}: {native.lib().gs_last_error().decode(errors='replace')}")
    about = json.loads(text.decode())
    _check_names(header, "parameter", [p["name"] for p in about["parameters"]], COMMAND_WORDS)
    _check_names(header, "column", [c["name"] for c in about["columns"]], frozenset({"vertex"}))
    _check_names(header, "total", [c["name"] for c in about["totals"]], frozenset())
    return App(
        name=about["name"],
        summary=about["summary"],
        path=header,
        library=library,
        parameters=tuple(Parameter(**p) for p in about["parameters"]),
        columns=_columns(about["columns"]),
        totals=_columns(about["totals"]),
        same=about["same"],
        tolerance=about["tolerance"],
        undirected=about["undirected"],
        uses_weights=about["uses_weights"],
        state_bytes=about["state_bytes"],
        message_bytes=about["message_bytes"],
        edge_bytes=about["edge_bytes"],
        defines=defines,
    )


def _columns(described: list[dict[str, Any]]) -> tuple[Column, ...]:
    return tuple(
        Column(c["name"], np.dtype(_COLUMN_TYPES[c["type"]]), c["order"], c["absent"], c["vertex"], c["help"])
        for c in described
    )


def _check_names(header: Path, what: str, names: Sequence[str], taken: frozenset[str]) -> None:
    """Refuses a name that could not be given or be told from another."""
    if what == "column" and not names:
        raise InputError(f"{relative(header)}: the descriptor has no result column; add one in results()")
    for at, name in enumerate(names):
        where = f"{relative(header)}: {what} {name!r}"
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
            raise InputError(f"{where}: a name has letters, digits, - and _, a letter first; rename it")
        if name in taken:
            raise InputError(f"{where}: is a word of the command's own; rename it")
        if name in names[:at]:
            raise InputError(f"{where}: is there twice; rename one")


def load(app: str | os.PathLike[str], defines: Sequence[str] = ()) -> App:
    """Finds, compiles where needed, and loads an application.

    ``app`` is the name of one of ours or the path of an application header;
    ``defines`` are macros for it, ``NAME=VALUE``. Raises InputError where it is
    not found, does not compile, or breaks the rule of what a vertex may be.
    """
    native.lib()
    return _load(find(app), tuple(defines))


def _compiled(header: Path, defines: tuple[str, ...]) -> Path:
    tag = hashlib.sha256("\n".join([str(header), *FLAGS, *defines]).encode()).hexdigest()[:12]
    folder = native.build_dir() / "apps" / f"{header.stem}-{tag}"
    shared = folder / "app.so"
    if fresh(folder):
        return shared
    with native.lock(f"app-{tag}"):
        if fresh(folder):
            return shared
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / "app.cc"
        source.write_text(f'#include <gossamer/app.h>\n#include "{header}"\n')
        _check_widths(header, defines)
        # Two versions of a header may be loaded: what both name, each must have for itself. Else the dynamic linker
        # gives the second the first one's inline variables.
        exported = folder / "exported"
        exported.write_text("{ global: gs_app_*; local: *; };\n")
        flags = [*FLAGS, *(f"-D{d}" for d in defines), "-shared", f"-Wl,--version-script={exported}"]
        compile_cpp(source, shared, [f"-I{_precompiled()}", *flags], user=header, dependencies=folder / "app.d")
        remember(folder)
    return shared


def _check_widths(header: Path, defines: tuple[str, ...]) -> None:
    """Refuses a vertex with a long or a size_t in it, which are not as wide on the overlay's cores.

    The compiler looks at the vertex part alone, as if for such a core, with an int64_t that is not its
    long. Whatever else it minds there is for the compilation proper to say, or concerns that view only.
    """
    wide = {"INT64": "long long int", "UINT64": "long long unsigned int"}
    types = [flag for name, kind in wide.items() for flag in (f"-U__{name}_TYPE__", f"-D__{name}_TYPE__={kind}")]
    command = [str(native.compiler()), f"-I{INCLUDE}", "-std=c++20", "-ffreestanding", "-fsyntax-only", "-x", "c++"]
    command += ["-DGOSSAMER_EXACT_WIDTHS", *types, *(f"-D{d}" for d in defines), "-include", str(header), os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    errors = [line for line in done.stderr.splitlines() if re.search(r"\berror:", line)]
    if done.returncode and errors and all("is not as wide everywhere" in line for line in errors):
        raise InputError(first_error(done.stderr, header))


def _precompiled() -> Path:
    """A folder to be searched first, with app.h parsed beforehand; saves a second."""
    folder = native.build_dir() / "precompiled"
    if fresh(folder):
        return folder
    with native.lock("precompiled"):
        if fresh(folder):
            return folder
        target = folder / "gossamer" / "app.h.gch"
        target.parent.mkdir(parents=True, exist_ok=True)
        header = INCLUDE / "gossamer" / "app.h"
        compile_cpp(header, target, [*FLAGS, "-x", "c++-header"], user=header, dependencies=folder / "app.d")
        remember(folder)
    return folder


def compile_cpp(
    source: Path,
    target: Path,
    flags: Sequence[str],
    *,
    user: Path,
    dependencies: Path,
    link: Sequence[str] = (),
) -> None:
    """Compiles one file; the target appears whole or not at all.

    Raises InputError with the first error, at the line of ``user`` where it can.
    """
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    command = [str(native.compiler()), f"-I{INCLUDE}", *flags, "-MMD", "-MF", str(dependencies), "-MT", "app"]
    command += ["-o", str(partial), str(source), *link]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            log = target.with_name("errors.log")
            log.write_text(shlex.join(command) + "\n" + done.stderr)
            raise InputError(f"{first_error(done.stderr, user)} (all of it in {relative(log)})")
        os.replace(partial, target)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def first_error(output: str, user: Path) -> str:
    """The first error of a compiler's output, at the user's line if there is one."""
    place = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)?\s*(?P<rest>.*)$")
    users = str(user)
    first = ""
    first_at = -1
    lines = output.splitlines()
    for at, line in enumerate(lines):
        found = place.match(line)
        if found and re.match(r"(fatal )?error:", found["rest"]):
            message = re.sub(r"^(fatal )?error: (static assertion failed: )?", "", found["rest"])
            if os.path.realpath(found["file"]) == users:
                return f"{relative(user)}:{found['line']}: {message}"
            if first_at < 0:
                first, first_at = f"{relative(Path(found['file']))}:{found['line']}: {message}", at
                if "static assertion failed" in found["rest"]:
                    break  # the rule that is broken; what follows from it says less
    if first_at < 0:
        return _linker_error(lines, user)
    # An error deep in a template: the user's line is in the notes around it.
    message = first.split(": ", 1)[1]
    for line in [*reversed(lines[:first_at]), *lines[first_at:]]:
        found = place.match(line.replace("In file included from ", "").strip())
        if found and os.path.realpath(found["file"]) == users:
            return f"{relative(user)}:{found['line']}: {message}"
    return f"{relative(user)}: {message}"


_LINKER = re.compile(
    r"((undefined reference to|multiple definition of|undefined symbol:|duplicate symbol:|cannot find) .*)"
)


def _linker_error(lines: Sequence[str], user: Path) -> str:
    """What the linker of GCC, LLVM or another says first, without the names of our objects."""
    for line in lines:
        if found := _LINKER.search(line):
            return f"{relative(user)}: does not link: {found[1].rstrip('; ')}"
    said = next((line for line in lines if "error" in line or "fatal" in line), lines[-1] if lines else "nothing")
    return f"{relative(user)}: does not compile; the compiler says: {said}"


def demangled(symbol: str) -> str:
    """A symbol of C++ as the source has it; as it is where that cannot be told."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    free.argtypes = [ctypes.c_void_p]
    found = demangle(symbol.encode(), None, None, None)
    if not found:
        return symbol
    text = ctypes.string_at(found).decode(errors="replace")
    free(found)
    return text


def relative(path: Path) -> str:
    """A path as a person would type it from here."""
    text = os.path.relpath(path)
    return text if not text.startswith("../..") else str(path)


def _stamp(folder: Path) -> Path:
    return folder / "stamp.json"


def _state(path: str) -> list[int]:
    info = os.stat(path)
    return [info.st_size, info.st_mtime_ns]


def fresh(folder: Path) -> bool:
    """Whether nothing has changed of what the last compilation read."""
    try:
        stamp = json.loads(_stamp(folder).read_text())
        return all(_state(path) == state for path, state in stamp.items())
    except (OSError, ValueError):
        return False


def tag(*parts: str) -> str:
    """Twelve hex digits that change with any of the parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def remember(folder: Path, rules: Sequence[Path] = (), more: Sequence[Path] = ()) -> None:
    """What a compilation read, for `fresh`: what the compiler's dependency files name (app.d where none is given), and
    `more`."""
    files = [str(path) for path in more]
    for rule in rules or [folder / "app.d"]:
        files += shlex.split(rule.read_text().replace("\\\n", " ").split(":", 1)[1])
    read = {os.path.abspath(file) for file in files}
    partial = _stamp(folder).with_suffix(".part")
    partial.write_text(json.dumps({file: _state(file) for file in sorted(read) if not file.startswith("/usr/")}))
    os.replace(partial, _stamp(folder))
