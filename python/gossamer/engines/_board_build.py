# SPDX-License-Identifier: Apache-2.0
"""Builds the program that runs boards behind Ethernet shells for one configuration (src/boards)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import builds, diagnostics
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.config import Config

_SOURCES = ROOT / "src" / "boards"
_PACKETS = ROOT / "src" / "machine" / "packets.cc"
_HOST = ROOT / "sim" / "host"


def _failed(said: str, log: Path) -> InputError:
    return InputError(f"building the host of boards failed: {diagnostics.first_error(said, ROOT)} (all of it in {log})")


def session(config: Config) -> Path:
    """The program for boards of a configuration. Raises InputError if it cannot be built."""
    from gossamer.hdl import sources
    from gossamer.shell import _build

    library = _build.folder() / "libshell.a"
    include = (sources.package(config).parent, _build.constants(), _HOST, INCLUDE, ROOT / "src")
    flags = ["-std=c++20", "-O2", "-march=native", "-Wall", "-Wextra", *(f"-I{path}" for path in include)]

    def steps(plan: builds.Plan) -> None:
        own = [plan.compile(path, flags) for path in (*sorted(_SOURCES.glob("*.cc")), _PACKETS)]
        plan.link("board_session", [*own, library], ["-pthread"])

    name = f"board-session/{builds.plain(config.name)}-{builds.tag(*flags, str(library))}"
    return builds.kept(name, steps, _failed, title="building the host of boards") / "board_session"


__all__ = ["session"]
