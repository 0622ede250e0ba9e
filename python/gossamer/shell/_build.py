# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ parts of the Ethernet shell: the host's library, the switch and the simulated board."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import builds, diagnostics
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.hdl.sources import Sources

SOURCES = ROOT / "src" / "shell"
SIMULATION = ROOT / "sim" / "shell"
RTL_SUFFIXES = (".sv", ".v", ".f")
"""Roles in hardware: modules and lists of files."""
SOURCE_SUFFIXES = (".c", ".cc", ".cpp", *RTL_SUFFIXES)
"""What `role` builds a role from; files with other names are role files."""
_FLAGS = ("-std=c++20", "-O3", "-march=native", "-fPIC", "-Wall", "-Wextra", "-pthread")


def _failed(said: str, log: Path) -> InputError:
    return InputError(f"building the shell failed: {diagnostics.first_error(said, ROOT)} (all of it in {log})")


@functools.cache
def constants() -> Path:
    """An include folder with ``gossamer/shell_constants.h``, generated from ``config/constants/shell``."""
    from gossamer.config import _generate

    return builds.header("shell-constants", "gossamer/shell_constants.h", _generate.package_cpp("shell"))


@functools.cache
def folder() -> Path:
    """The folder of all products: ``libshell.so``, ``libshell.a``, ``shell_switch``, ``shell_twin``.

    Raises InputError if they cannot be built.
    """
    flags = [*_FLAGS, f"-I{constants()}", f"-I{INCLUDE}", f"-I{ROOT / 'src'}"]

    def steps(plan: builds.Plan) -> None:
        common = {path.stem: plan.compile(path, flags) for path in sorted(SOURCES.glob("*.cc"))}
        simulated = {path.stem: plan.compile(path, flags) for path in _simulated()}
        frames = [common[name] for name in ("blake2s", "blake2s_block", "blake2s_core", "frame", "port")]
        control = [common.pop("control")]
        plan.link("libshell.so", [*common.values()], ["-shared", "-pthread"])
        plan.archive("libshell.a", [*common.values()])
        plan.link("shell_switch", [simulated["switch"], *frames], ["-pthread"])
        twin = [simulated[name] for name in ("twin", "board", "board_options", "role_host")]
        plan.link("shell_twin", [*twin, *control, *frames], ["-pthread", "-ldl"])

    tag = builds.tag(*flags, "libshell.a", *(path.name for path in (*sorted(SOURCES.glob("*.cc")), *_simulated())))
    return builds.kept(f"shell-{tag}", steps, _failed, title="building the Ethernet shell's programs")


def _simulated() -> list[Path]:
    """The sources of simulated boards and the switch that need no simulator."""
    return [path for path in sorted(SIMULATION.glob("*.cc")) if path.stem not in ("rtl_board", "rtl_role")]


@functools.cache
def rtl_board() -> Path:
    """The program of a simulated board whose shell is the RTL.

    Raises InputError if it cannot be built.
    """
    from gossamer.hdl import sources, verilate

    harness = [SIMULATION / name for name in ("rtl_board.cc", "board_options.cc", "role_host.cc")]
    harness += [SOURCES / name for name in ("blake2s.cc", "blake2s_block.cc", "blake2s_core.cc", "frame.cc", "port.cc")]
    design = sources.listing(SIMULATION / "sim_shell.f")
    include = [SIMULATION, ROOT / "src", INCLUDE, constants()]
    cxx = ["-std=c++20", "-pthread", "-ldl"]
    return verilate.model("gs_sim_shell", design, harness, include=include, cxx=cxx)


def role(source: Path) -> Path:
    """A role file for simulated boards from a C or C++ source (include/gossamer/role.h), or from hardware: a module of
    SystemVerilog (``.sv``, ``.v``) or a list of files (``.f``), whose last one is the top (sim/shell/rtl_role.cc).

    Raises InputError at the line of the first error.
    """
    if source.suffix in RTL_SUFFIXES:
        return _rtl_role(source)
    if not source.is_file():
        raise InputError(f"{source}: no such file; name the source of a role, or a role file")
    language = [] if source.suffix == ".c" else list(_FLAGS[:1])
    tool = builds.c_compiler() if source.suffix == ".c" else None
    flags = [*language, "-O2", "-fPIC", "-Wall", f"-I{INCLUDE}"]

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"{diagnostics.first_error(said, source.resolve())} (all of it in {log})")

    def steps(plan: builds.Plan) -> None:
        plan.link("role.so", [plan.compile(source, flags, tool=tool)], ["-shared"])

    return (
        builds.kept(f"roles/{builds.plain(source.stem)}-{builds.tag(str(source), *flags)}", steps, failed) / "role.so"
    )


def _rtl_role(source: Path) -> Path:
    from gossamer.hdl import sources

    if not source.is_file():
        raise InputError(f"{source}: no such file; name a module or a list of files of the role")
    return rtl_role(sources.listing(source) if source.suffix == ".f" else sources.Sources((source.resolve(),), ()))


def rtl_role(design: Sources) -> Path:
    """A role file for simulated boards from a design, whose last file is the top. Raises InputError at its errors."""
    from gossamer.hdl import verilate

    name = f"V{design.top}"
    cxx = ["-std=c++20", "-fvisibility=hidden", f"-DGS_ROLE_TOP={name}", f'-DGS_ROLE_HEADER="{name}.h"']
    cxx += [f'-DGS_ROLE_NAME="{design.top}"']
    # Warnings are a matter of the role's own lint.
    flags = ["-Wno-fatal"]
    return verilate.model(
        design.top, design, [SIMULATION / "rtl_role.cc"], include=[INCLUDE], cxx=cxx, flags=flags, shared=True
    )


__all__ = ["RTL_SUFFIXES", "SOURCE_SUFFIXES", "constants", "folder", "role", "rtl_board", "rtl_role"]
