# SPDX-License-Identifier: Apache-2.0
"""Builds the C++ parts of the Ethernet shell: the host's library, the switch and the simulated board."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from gossamer import builds, diagnostics
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

SOURCES = ROOT / "src" / "shell"
SIMULATION = ROOT / "sim" / "shell"
_FLAGS = ("-std=c++20", "-O3", "-march=native", "-fPIC", "-Wall", "-Wextra", "-pthread")


def _failed(said: str, log: Path) -> InputError:
    return InputError(f"building the shell failed: {diagnostics.first_error(said, ROOT)} (all of it in {log})")


@functools.cache
def constants() -> Path:
    """An include folder with ``gossamer/shell_constants.h``, generated from ``config/constants/shell``."""
    from gossamer.config import _generate

    text = _generate.package_cpp("shell")
    folder = builds.build_dir() / f"shell-constants-{builds.tag(text)}"
    target = folder / "gossamer" / "shell_constants.h"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{os.getpid()}.h")
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    return folder


@functools.cache
def folder() -> Path:
    """The folder of all products: ``libshell.so``, ``shell_switch``, ``shell_twin``.

    Raises InputError if they cannot be built.
    """
    flags = [*_FLAGS, f"-I{constants()}", f"-I{INCLUDE}", f"-I{ROOT / 'src'}"]

    def steps(plan: builds.Plan) -> None:
        common = {path.stem: plan.compile(path, flags) for path in sorted(SOURCES.glob("*.cc"))}
        simulated = {path.stem: plan.compile(path, flags) for path in sorted(SIMULATION.glob("*.cc"))}
        frames = [common[name] for name in ("blake2s", "frame", "port")]
        plan.link("libshell.so", [*common.values()], ["-shared", "-pthread"])
        plan.link("shell_switch", [simulated["switch"], *frames], ["-pthread"])
        plan.link("shell_twin", [simulated["twin"], simulated["board"], *frames], ["-pthread", "-ldl"])

    tag = builds.tag(*flags, *(path.name for where in (SOURCES, SIMULATION) for path in sorted(where.glob("*.cc"))))
    return builds.kept(f"shell-{tag}", steps, _failed, title="building the Ethernet shell's programs")


def role(source: Path) -> Path:
    """A role file for simulated boards from a C or C++ source (include/gossamer/role.h).

    Raises InputError at the line of the first error.
    """
    language = [] if source.suffix == ".c" else list(_FLAGS[:1])
    tool = builds.c_compiler() if source.suffix == ".c" else None
    flags = [*language, "-O2", "-fPIC", "-Wall", f"-I{INCLUDE}"]

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"{diagnostics.first_error(said, source.parent)} (all of it in {log})")

    def steps(plan: builds.Plan) -> None:
        plan.link("role.so", [plan.compile(source, flags, tool=tool)], ["-shared"])

    return (
        builds.kept(f"roles/{builds.plain(source.stem)}-{builds.tag(str(source), *flags)}", steps, failed) / "role.so"
    )


__all__ = ["constants", "folder", "role"]
