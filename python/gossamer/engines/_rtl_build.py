# SPDX-License-Identifier: Apache-2.0
"""Builds simulators of tiles and of boards: Verilator models with their drivers, cached per configuration."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import gossamer_setup
from gossamer import builds, diagnostics, progress
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.hdl.sources import Sources

TOP = "gs_sim_tile"
_SIM = ROOT / "sim"
_DRIVER = _SIM / "tile" / "driver.cc"
_MANY = _SIM / "tile" / "gs_sim_tiles.cc"
_FLAT = _SIM / "board" / "flat.cc"
_CLUSTER = _SIM / "board" / "cluster.cc"
_ROLE = _SIM / "board" / "role.cc"
_KERNELS = _SIM / "board" / "kernels.cc"
_MACHINE = [
    ROOT / "src" / "machine" / f"{name}.cc" for name in ("machine", "memory", "debug", "packets", "plan", "transport")
]
"""The machine library, whose transport is then the simulation itself."""
_FABRIC = ROOT / "src" / "smi" / "rtl"
_HOST = _SIM / "host"
# The tests of the blocks check assertions; here they would only cost speed.
_FLAGS = ("--no-assert", "--x-assign", "fast", "--x-initial", "fast")


def simulator(config: Config, *, waves: bool = False) -> Path:
    """The executable that simulates a tile of a configuration; built if it is missing or outdated.

    Raises InputError if it cannot be built.
    """
    from gossamer.hdl import sources

    return build(config, sources.blocks("sim/tile/sim_tile.f", config=config), waves=waves, label=config.name)


LINKS = (2, 4, 8)
"""Numbers of simulated links of a board, few so that many clusters share a simulator."""


def cluster(
    config: Config,
    links: int = LINKS[0],
    *,
    jobs: int = 1,
    waves: bool = False,
    flat: bool = False,
    fast: bool = True,
) -> Path:
    """The executable that simulates clusters of a configuration, also of one board (sim/board/cluster.h).

    ``links`` is the number of simulated links of each board; up to ``jobs`` jobs may share the boards. With ``flat`` a
    single board is one model, for comparison. That model, and all models without ``fast``, are built by Verilator's
    own rules. Raises InputError if it cannot be built.
    """
    label, parameters = f"boards of {config.name}", {"Links": links, "Jobs": jobs}
    if flat:
        return _build_board(config, label, "sim_board", None, _FLAT, waves=waves, fast=False, parameters=parameters)
    return _build_board(
        config, label, "board_tile", "board_uncore", _CLUSTER, waves=waves, fast=fast, parameters=parameters
    )


BOARD_TYPE = 1
"""The type of simulated boards, for which roles are built."""


def board_role(config: Config, links: int = LINKS[0], *, jobs: int = 1) -> Path:
    """The role file of a simulated board for the Ethernet shell (sim/board/role.cc); arguments as of `cluster`.

    Raises InputError if it cannot be built.
    """
    return _build_board(
        config,
        f"the role of {config.name}",
        "board_tile",
        "board_uncore",
        _ROLE,
        waves=False,
        fast=True,
        parameters={"Links": links, "Jobs": jobs},
        exported="gs_role_entry",
    )


def board_kernels(config: Config, links: int = LINKS[0]) -> Path:
    """The library of boards whose streaming ports kernels of the SMI emulator use (sim/board/kernels.cc).

    Its model of the uncore is that of `cluster`. Raises InputError if it cannot be built.
    """
    gossamer_setup.require("rtl")
    from gossamer.hdl import sources, verilate

    own = sources.blocks("sim/board/board_uncore.f", config=config)
    with _announce(f"building the simulator of streaming ports of {config.name}"):
        return verilate.model(
            own.top,
            own,
            [_KERNELS, *_MACHINE],
            parameters={"Links": links, "Jobs": 1},
            assertions=False,
            optimise=_level(True),
            flags=_FLAGS,
            cxx=[f"-I{sources.package(config).parent}"],
            include=[_HOST, _FABRIC, INCLUDE, ROOT / "src"],
            shared=True,
            exported="gs_fabric_make",
            fast=True,
            many=verilate.fast_models(),
        )


def guest_kernels() -> Path:
    """The library that connects kernels to the streaming ports of boards that another process simulates
    (sim/board/guest_kernels.cc)."""
    source = _SIM / "board" / "guest_kernels.cc"
    flags = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", f"-I{_FABRIC}"]

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the guests' streaming ports failed: {diagnostics.complaint(said, ROOT, log)}")

    def steps(plan: builds.Plan) -> None:
        plan.link("libguest.so", [plan.compile(source, flags)], ["-shared"])

    return builds.kept(f"guest-kernels-{builds.tag(str(source), *flags)}", steps, failed) / "libguest.so"


def _build_board(
    config: Config,
    label: str,
    model: str,
    uncore: str | None,
    harness: Path,
    *,
    waves: bool,
    fast: bool,
    parameters: Mapping[str, int],
    exported: str | None = None,
) -> Path:
    """A simulator of a tile model and, if ``uncore`` is given, of an uncore model per board.

    ``parameters`` are those of the uncore's top, or of the only top. With ``exported`` it is a library that exports
    this symbol.

    With an uncore model, instances of the tile model are evaluated together.
    """
    gossamer_setup.require("rtl")
    from gossamer.hdl import sources, verilate

    own = sources.blocks(f"sim/board/{model}.f", config=config)
    fast = fast and not waves
    # A role is built with the interface of roles, and with the type of its boards.
    role = [] if exported is None else [f"-DGS_BOARD_TYPE={BOARD_TYPE}", f"-DGS_ROLE_TAG={_role_tag()}"]
    with _announce(f"building the simulator of {label}"):
        return verilate.model(
            own.top,
            own,
            [harness],
            assertions=False,
            waves=waves,
            optimise=_level(fast),
            flags=_FLAGS,
            cxx=[f"-I{sources.package(config).parent}", *role],
            include=[_HOST, _FABRIC, INCLUDE],
            shared=exported is not None,
            exported=exported,
            fast=fast,
            many=fast and uncore is not None and verilate.fast_models(),
            parameters=parameters if uncore is None else None,
            extra=[] if uncore is None else [sources.blocks(f"sim/board/{uncore}.f", config=config)],
            extra_parameters=parameters if uncore is not None else None,
        )


def simulator_of_many(config: Config) -> Path:
    """The executable that simulates many tiles on one thread (sim/tile/gs_sim_tiles.cc).

    Raises InputError if it cannot be built.
    """
    from gossamer.hdl import sources

    label = f"many tiles of {config.name}"
    return build(config, sources.blocks("sim/tile/sim_tile.f", config=config), many=True, label=label)


def build(
    config: Config,
    sources: Sources,
    *,
    waves: bool = False,
    fast: bool = True,
    many: bool = False,
    flags: Sequence[str] = (),
    label: str = "",
) -> Path:
    """The same for any design whose top has that name and those ports; ``label`` names it in the progress note.

    Without ``fast`` it is built by Verilator's own rules; with ``many`` its harness simulates many tiles.
    """
    gossamer_setup.require("rtl")
    from gossamer.hdl import sources as lists
    from gossamer.hdl import verilate

    with _announce(f"building the simulator of {label}" if label else ""):
        return verilate.model(
            TOP,
            sources,
            [_MANY if many else _DRIVER],
            assertions=False,
            waves=waves,
            optimise=_level(fast and not waves),
            flags=[*_FLAGS, *flags],
            cxx=[f"-I{lists.package(config).parent}"],
            include=[_HOST, INCLUDE],
            fast=fast,
            many=many,
        )


def _level(fast: bool) -> str:
    """The optimization level of models that clang does not build: runs that write waves, or compare models, are too
    short to repay a longer compilation."""
    return "-O3" if fast else "-Og"


def _role_tag() -> str:
    """Changes with the interface of roles, which is in none of the folders whose headers a build depends on."""
    return builds.tag((INCLUDE / "gossamer" / "role.h").read_text(encoding="utf-8"))


@contextlib.contextmanager
def _announce(text: str) -> Iterator[None]:
    """Shows the progress of a build in the block: the tools that have run so far, and the time."""
    from gossamer.hdl import _run

    if not text:
        yield
        return
    with progress.steps(text, None) as bar, _run.counting(bar):
        yield


__all__ = [
    "BOARD_TYPE",
    "LINKS",
    "board_kernels",
    "board_role",
    "build",
    "cluster",
    "guest_kernels",
    "simulator",
    "simulator_of_many",
]
