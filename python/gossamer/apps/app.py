# SPDX-License-Identifier: Apache-2.0
"""Finds, compiles and loads applications, by name or path.

A compiled application is a shared object with the C interface of ``include/gossamer/abi.h``. It is cached under
``build/`` and rebuilt when the compiler, a flag, or any included file has changed. A wheel brings the bundled ones
compiled (`prebuilt`).
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import builds, native, paths, prebuilt, processes
from gossamer.arguments import PATH, Kind, accepts
from gossamer.diagnostics import complaint, demangled, first_error, relative
from gossamer.errors import InputError
from gossamer.files import write_whole
from gossamer.paths import APPS, INCLUDE, app_headers

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
    """One parameter of an application; ``kind`` is real, integer, vertex, flag, vertices or shares."""

    name: str
    kind: str
    low: float
    """An exact int for an integer parameter; so are ``high`` and ``default``."""
    high: float
    default: float
    help: str


Numbers = Mapping[str, int | float | tuple[int | tuple[int, float], ...]]
"""Checked parameters by name, with vertices as indices; a ``vertices`` parameter is a tuple of them, a ``shares``
parameter one of pairs of vertex and weight."""


@dataclass(frozen=True)
class Column:
    """One column of an application's result."""

    name: str
    dtype: np.dtype[np.generic]
    order: str
    """largest, smallest or groups: which values the command prints."""
    absent: float | None
    """The value that means "no value"; None if every value is valid."""
    vertex: bool
    """Whether the values are indices of vertices."""
    help: str

    def present(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each value, whether it differs from ``absent``."""
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
    """Aggregates of the last step that a run reports."""
    same: str
    """exact, or within (``tolerance``): how far two correct results may differ."""
    tolerance: float
    undirected: bool
    uses_weights: bool
    reads_edges: bool
    """Whether vertices read their own edges."""
    writes_edges: bool
    """Whether vertices may change the values of edges along which they receive messages."""
    goes_on: bool
    """Whether vertices have handlers that resume a run after the graph has changed."""
    accumulates: bool
    """Whether states contain sums (``gossamer/accumulator.h``) that are narrower on boards."""
    state_bytes: int
    message_bytes: int
    edge_bytes: int
    defines: tuple[str, ...] = ()
    """Macros that the application was compiled with."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickling loads the library again, from the header.
        header = str(self.path) if self.path.parent.parent != APPS else self.path.stem
        return load, (header, self.defines)

    def __repr__(self) -> str:
        return f"<App {self.name}: {relative(self.path)}>"

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name. Raises InputError, with the known names, if it is unknown."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = ", ".join(p.name for p in self.parameters) or "none"
        raise InputError(f"{self.name} has no parameter {name!r}; it has: {known}{_taken_by(name)}")


_ARGUMENTS = {
    "columns": "read_graph",
    "dedupe": "read_graph",
    "drop_loops": "read_graph",
    "format": "read_graph",
    "undirected": "read_graph and Graph.from_arrays",
    "symmetric": "Graph.from_csr and Graph.from_scipy",
    "weighted": "Graph.from_scipy",
    "weight": "Graph.from_networkx",
    "weights": "Graph.from_arrays, Graph.from_csr and Graph.with_weights",
    "labels": "Graph.from_csr",
    "defines": "vertex",
    "config": "gossamer.engines.rtl_vertices.Hardware",
    "mapping": "gossamer.engines.rtl_vertices.Hardware",
    "multicast": "gossamer.engines.rtl_vertices.Hardware",
    "max_steps": "gossamer.engines.rtl_vertices.Hardware",
}
"""Arguments of other functions that users give to ``run``, and the functions that take them."""


def _taken_by(name: str) -> str:
    """Which function, or which bundled applications, take an argument that an application does not have."""
    if name in _ARGUMENTS:
        return f"; {name} is an argument of {_ARGUMENTS[name]}"
    headers = app_headers()
    known = [path.stem for path in headers if any(found[1] == name and _always(found) for found in _declared(path))]
    if not known:
        return ""
    return (
        f"; {', '.join(known[:4])}{' and others' if len(known) > 4 else ''} {'has' if len(known) == 1 else 'have'} it"
    )


def _always(declared: re.Match[str]) -> bool:
    """Whether a parameter is not inside a conditional part of the header, other than that for the host."""
    open_parts: list[str] = []
    for line in declared.string[: declared.start()].splitlines():
        if re.match(r"\s*#\s*if", line):
            open_parts.append(line)
        elif re.match(r"\s*#\s*endif", line) and open_parts:
            open_parts.pop()
    return all("__STDC_HOSTED__" in part for part in open_parts)


COMMAND_WORDS = frozenset(
    {"app", "columns", "dedupe", "define", "engine", "format", "graph", "help", "no-loops", "output"}
    | {"seed", "shuffle", "stats", "threads", "top", "undirected"}
    # options of the engine distributed
    | {"ranks", "hosts", "checkpoint", "checkpoint-every", "restart", "partition"}
    # options of the engines rtl and board
    | {"config", "cluster", "routes", "frame-loss", "cut", "waves", "trace", "trace-size", "report", "least-wait"}
    | {"max-cycles", "watchdog", "workers", "tile", "mapping", "multicast", "max-steps"}
    | {"port", "keys", "role"}
)
"""Reserved names of parameters: options of ``./gossamer run``, arguments of ``gossamer.run``."""
NARROW = "GOSSAMER_NARROW_SUMS"
"""Macro with which accumulators have their size on boards."""
ABI_VERSION = 8
"""GS_ABI_VERSION of include/gossamer/abi.h, which the structs in ``engines/_abi.py`` follow."""


def names() -> list[str]:
    """The names of the bundled applications."""
    return sorted({path.stem for path in app_headers()})


def about(name: str) -> str:
    """The first sentence of an application's header, without compiling it."""
    text = re.sub(r"\([^)]*\)", "", _comment(find(name)))
    first = re.split(r"[.;](?: |$)", " ".join(text.split()), maxsplit=1)[0]
    return re.sub(r" +([,:])", r"\1", first)


def example(header: Path) -> str:
    """A graph that the application accepts: that of a line ``/// Example graph: GRAPH`` of its header."""
    found = re.search(r"^/// Example graph: (\S+)$", header.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return found[1] if found else "gen:rmat:scale=10,seed=1"


def _comment(header: Path) -> str:
    """The comment that opens a header."""
    found = re.search(r"^(?:///.*\n)+", header.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return "\n".join(line[3:].strip() for line in found[0].splitlines()) if found else ""


_found: dict[tuple[Path, str], Path] = {}
"""Headers of bundled applications by name: a search of the folders takes longer than a short run."""


def find(app: str | os.PathLike[str]) -> Path:
    """The header of an application, given by the name of a bundled application or by a path."""
    text = os.fspath(app)
    known = _found.get((paths.APPS, text))
    if known is not None and known.is_file():
        return known
    if re.fullmatch(r"[a-z0-9][a-z0-9_-]*", text):
        headers = app_headers(text)
        if len(headers) > 1:
            found = ", ".join(map(relative, headers))
            raise InputError(f"the application name {text!r} is ambiguous: {found}; rename one header or give its path")
        if headers:
            _found[paths.APPS, text] = headers[0]
            return headers[0]
    path = Path(text)
    if path.suffix in {".h", ".hh", ".hpp"}:
        if path.is_file():
            return path.resolve()
        raise InputError(f"{text}: no such file")
    import difflib

    near = difflib.get_close_matches(text, names(), n=1)
    hint = f"did you mean {near[0]}?" if near else "choose one of " + ", ".join(names())
    raise InputError(f"no such application: {text!r}; {hint} (or a header, such as mine/vertex.h)")


_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(r'\.\s*(?:integer|real|flag|vertex|vertices|shares)\s*\(\s*"([^"]*)"')


def _declared(header: Path) -> Iterator[re.Match[str]]:
    """The parameters that a header itself declares; group 1 of each match is the name."""
    text = header.read_text(encoding="utf-8", errors="replace")
    return _PARAMETER.finditer(_COMMENTS.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text))


def _check_reserved(header: Path) -> None:
    """Raises InputError, before the header is compiled, for a parameter whose name is an option of the command."""
    for found in _declared(header):
        if found[1] in COMMAND_WORDS:
            line = found.string.count("\n", 0, found.start()) + 1
            raise InputError(
                f"{relative(header)}:{line}: parameter {found[1]!r}: is reserved by the command; rename it, for "
                f"instance my-{found[1]}"
            )


@functools.cache
def _load(header: Path, defines: tuple[str, ...]) -> App:
    _check_reserved(header)
    compiled = _compiled(header, defines)
    try:
        library = ctypes.CDLL(str(compiled))
    except OSError as error:
        missing = re.search(r"undefined symbol: (\w+)", str(error))
        what = f"{demangled(missing[1])} is declared but not defined" if missing else str(error)
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
    _declare(library)
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
        reads_edges=about["reads_edges"],
        writes_edges=about["writes_edges"],
        goes_on=about["goes_on"],
        accumulates=about["accumulates"],
        state_bytes=about["state_bytes"],
        message_bytes=about["message_bytes"],
        edge_bytes=about["edge_bytes"],
        defines=defines,
    )


def _declare(library: ctypes.CDLL) -> None:
    """Declares the types of an application's functions."""
    library.gs_app_describe.restype = ctypes.c_char_p
    library.gs_app_statistics.restype = None
    library.gs_app_statistics.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_verdict.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_column.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    library.gs_app_total.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    library.gs_app_change.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_go.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_part.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_receive.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.gs_app_ended.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.gs_app_free.argtypes = [ctypes.c_void_p]


def distributed(app: App) -> App:
    """The same application, compiled for the engine ``distributed`` only. Raises InputError as ``load`` does."""
    library = ctypes.CDLL(str(_compiled(app.path, app.defines, ["-DGOSSAMER_DISTRIBUTED"])))
    _declare(library)
    library.gs_app_run_share.argtypes = [ctypes.c_void_p] * 4
    return replace(app, library=library)


def _columns(described: list[dict[str, Any]]) -> tuple[Column, ...]:
    return tuple(
        Column(c["name"], np.dtype(_COLUMN_TYPES[c["type"]]), c["order"], c["absent"], c["vertex"], c["help"])
        for c in described
    )


def _check_names(header: Path, what: str, names: Sequence[str], taken: frozenset[str]) -> None:
    """Raises InputError for names that are malformed, reserved or not unique."""
    if what == "column" and not names:
        raise InputError(f"{relative(header)}: the descriptor has no result column; add one in results()")
    for at, name in enumerate(names):
        where = f"{relative(header)}: {what} {name!r}"
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
            raise InputError(f"{where}: a name has letters, digits, - and _, a letter first; rename it")
        if name in taken:
            raise InputError(f"{where}: is reserved by the command; rename it")
        if name in names[:at]:
            raise InputError(f"{where}: is defined twice; rename one")


def load(app: str | os.PathLike[str], defines: Sequence[str] = ()) -> App:
    """Finds, compiles if needed, and loads an application.

    ``app`` is the name of a bundled application or the path of an application header; ``defines`` are macros,
    ``NAME=VALUE``. Raises InputError if it is not found, does not compile, or violates the rules for vertices.
    """
    native.lib()
    return _load(find(app), tuple(defines))


def for_boards(app: App) -> App:
    """The same application with the states that the boards' threads have. Raises InputError as ``load`` does."""
    if not app.accumulates or NARROW in app.defines:
        return app
    return _load(app.path, (*app.defines, NARROW))


@accepts(source=PATH, defines=Kind((list, tuple), "a list of macros"))
def vertex(source: str | os.PathLike[str], defines: Sequence[str] = ()) -> App:
    """Compiles and loads a vertex of your own: the path of its header, or its text, which has several lines.

    The result is an argument of ``run`` and ``start``. It is compiled once, also for later processes. A changed text is
    another vertex; a changed header is compiled again in the next process. ``defines`` are macros, ``NAME=VALUE``. A
    text includes other files by absolute paths, or as ``<gossamer/polite.h>``. Raises InputError as ``load`` does; line
    numbers are those of the text.
    """
    if not isinstance(source, str) or "\n" not in source:
        return load(source, defines)
    header = builds.build_dir() / "vertices" / f"vertex-{builds.tag(source)}.h"
    if not header.is_file():
        header.parent.mkdir(parents=True, exist_ok=True)
        write_whole(header, source.encode())
    return load(header, defines)


def _compiled(header: Path, defines: tuple[str, ...], more: Sequence[str] = ()) -> Path:
    bundled = header.is_relative_to(APPS)
    ready = prebuilt.application(header, defines) if bundled and not more else None
    if ready is not None:
        return ready
    options = builds.user_level([*FLAGS, *more], "GOSSAMER_OPTIMISE_APPS" if bundled else "GOSSAMER_OPTIMISE")
    # The compiler does not list the headers inside the precompiled header as dependencies.
    precompiled = precompiled_header(options)

    def begin() -> None:
        _check_widths(header, defines)

    def steps(plan: builds.Plan) -> None:
        add_step(plan, header, defines, options, precompiled, "app.so")

    tag = builds.tag(str(header), *options, *defines)
    return builds.kept(f"apps/{builds.plain(header.stem)}-{tag}", steps, failed_at(header), begin=begin) / "app.so"


def add_step(
    plan: builds.Plan,
    header: Path,
    defines: Sequence[str],
    options: Sequence[str],
    precompiled: Path,
    target: str,
) -> None:
    """Adds the compilation of an application to a plan. ``precompiled`` is that of `precompiled_header` with the same
    ``options`` of the compiler."""
    # Two versions of a header may be loaded, so symbols must be local: the dynamic linker would bind the inline
    # variables of the second version to those of the first.
    (plan.folder / "exported").write_text("{ global: gs_app_*; local: *; };\n")
    # The source is empty: a path may contain characters that #include cannot express.
    source = plan.folder / "app.cc"
    source.write_text("")
    given = ["-include", "gossamer/app.h", "-include", str(header)]
    flags = [f"-I{precompiled}", f"-I{INCLUDE}", *options, *builds.macros(defines), *given]
    flags += ["-shared", "-Wl,--version-script=exported"]
    plan.compile(source, flags, target, [builds.stamp(precompiled)])


def failed_at(user: Path) -> builds.Failed:
    """The handler of failed builds that reports the error at the line of a user's file, if the compiler names one."""
    return lambda output, log: InputError(complaint(output, user, log))


def _check_widths(header: Path, defines: tuple[str, ...]) -> None:
    """Raises InputError for a vertex that contains a long or a size_t, which have another width on the overlay's cores.

    The compiler checks only the vertex part, freestanding as for such a core, with an int64_t that is not its long. All
    other errors of this check are ignored; the actual compilation reports them if they are real.
    """
    wide = {"INT64": "long long int", "UINT64": "long long unsigned int"}
    types = [flag for name, kind in wide.items() for flag in (f"-U__{name}_TYPE__", f"-D__{name}_TYPE__={kind}")]
    command = [*builds.compiler(), f"-I{INCLUDE}", "-std=c++20", "-ffreestanding", "-fsyntax-only", "-x", "c++"]
    command += ["-DGOSSAMER_EXACT_WIDTHS", *types, *builds.macros(defines), "-include", str(header), os.devnull]
    done = processes.run(command)
    errors = [line for line in done.stderr.splitlines() if re.search(r"\berror:", line)]
    if done.returncode and errors and all("whose width depends on the machine" in line for line in errors):
        raise InputError(first_error(done.stderr, header))


def precompiled_header(options: Sequence[str]) -> Path:
    """An include folder, to be searched first, with app.h precompiled; saves a second per application.

    A precompiled header serves only compilations with the same ``options``.
    """

    def steps(plan: builds.Plan) -> None:
        # The compiler requires the header in the same folder as its precompiled form.
        header = plan.folder / "gossamer" / "app.h"
        header.parent.mkdir(exist_ok=True)
        header.write_text("#pragma once\n#include_next <gossamer/app.h>\n")
        plan.compile(header, [f"-I{INCLUDE}", *options, "-x", "c++-header"], "gossamer/app.h.gch")

    return builds.kept(f"precompiled-{builds.tag(*options)}", steps, failed_at(INCLUDE / "gossamer" / "app.h"))
