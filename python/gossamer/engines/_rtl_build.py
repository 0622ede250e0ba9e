# SPDX-License-Identifier: Apache-2.0
"""Builds simulators of a tile and of a board: Verilator's models and what drives them, kept per configuration."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import gossamer_setup
from gossamer.paths import ROOT

if TYPE_CHECKING:
    from gossamer.config import Config
    from gossamer.hdl.sources import Sources

TOP = "gs_sim_tile"
_SIM = ROOT / "sim"
_DRIVER = _SIM / "tile" / "driver.cc"
_MANY = _SIM / "tile" / "gs_sim_tiles.cc"
_BOARD = _SIM / "board" / "board.cc"
_FLAT = _SIM / "board" / "flat.cc"
_CLUSTER = _SIM / "board" / "cluster.cc"
_HOST = _SIM / "host"
# Assertions are checked where the blocks are tested; here they would only cost speed.
_FLAGS = ("--no-assert", "--x-assign", "fast", "--x-initial", "fast")


def simulator(config: Config, *, waves: bool = False) -> Path:
    """The executable that simulates a tile of a configuration, built where it is not there yet.

    Raises InputError where it cannot be built.
    """
    from gossamer.hdl import sources

    return build(config, sources.blocks("sim/tile/sim_tile.f", config=config), waves=waves, told=config.name)


def board(config: Config, *, waves: bool = False, flat: bool = False, fast: bool = True) -> Path:
    """The executable that simulates a board of a configuration: sim/board/board.h says how.

    With ``flat`` all of it is one model, for comparison. That one, and others without ``fast``, are built as Verilator
    builds models. Raises InputError where it cannot be built.
    """
    told = f"a board of {config.name}"
    if flat:
        return _together(config, told, "sim_board", None, _FLAT, waves=waves, fast=False)
    return _together(config, told, "board_tile", "board_uncore", _BOARD, waves=waves, fast=fast)


def cluster(config: Config, links: int, *, jobs: int = 1, waves: bool = False, fast: bool = True) -> Path:
    """The executable that simulates clusters of a configuration: sim/board/cluster.h says how.

    ``links`` are those of each board that are simulated, and so many jobs may share the boards. Raises InputError where
    it cannot be built.
    """
    told, parameters = f"clusters of {config.name}", {"Links": links, "Jobs": jobs}
    return _together(
        config, told, "board_tile", "cluster_uncore", _CLUSTER, waves=waves, fast=fast, parameters=parameters
    )


def _together(
    config: Config,
    told: str,
    model: str,
    beside: str | None,
    harness: Path,
    *,
    waves: bool,
    fast: bool,
    parameters: Mapping[str, int] | None = None,
) -> Path:
    """A model, and one ``beside`` it of which each board has one, which takes the ``parameters``.

    Instances of the model are evaluated together where there is another beside it.
    """
    gossamer_setup.require("rtl")
    from gossamer.hdl import sources, verilate

    own = sources.blocks(f"sim/board/{model}.f", config=config)
    fast = fast and not waves
    with _telling(f"building the simulator of {told}: some minutes, once ..."):
        return verilate.model(
            own.top,
            own,
            [harness],
            assertions=False,
            waves=waves,
            optimise=_level(fast),
            flags=_FLAGS,
            cxx=[f"-I{sources.package(config).parent}"],
            include=[_HOST],
            fast=fast,
            many=fast and beside is not None and verilate.fast_models(),
            beside=[] if beside is None else [sources.blocks(f"sim/board/{beside}.f", config=config)],
            beside_parameters=parameters or {},
        )


def simulator_of_many(config: Config) -> Path:
    """The executable that simulates many such tiles on one thread: sim/tile/gs_sim_tiles.cc says how it is used.

    Raises InputError where it cannot be built.
    """
    from gossamer.hdl import sources

    told = f"many tiles of {config.name}"
    return build(config, sources.blocks("sim/tile/sim_tile.f", config=config), many=True, told=told)


def build(
    config: Config,
    sources: Sources,
    *,
    waves: bool = False,
    fast: bool = True,
    many: bool = False,
    flags: Sequence[str] = (),
    told: str = "",
) -> Path:
    """The same of any design whose top has that name and those ports; ``told`` is what the user is told.

    Without ``fast`` it is built as Verilator builds models; with ``many`` its harness is that of many tiles.
    """
    gossamer_setup.require("rtl")
    from gossamer.hdl import sources as lists
    from gossamer.hdl import verilate

    with _telling(f"building the simulator of {told}: a minute or so, once ..." if told else ""):
        return verilate.model(
            TOP,
            sources,
            [_MANY if many else _DRIVER],
            assertions=False,
            waves=waves,
            optimise=_level(fast and not waves),
            flags=[*_FLAGS, *flags],
            cxx=[f"-I{lists.package(config).parent}"],
            include=[_HOST],
            fast=fast,
            many=many,
        )


def _level(fast: bool) -> str:
    """The compiler's level where a model is not built by clang: writing waves, or comparing, takes fewer cycles than
    would pay for a better one."""
    return "-O3" if fast else "-Og"


@contextlib.contextmanager
def _telling(text: str) -> Iterator[None]:
    """Says what takes so long, on a terminal and only if it does."""
    if not text or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(1.0, lambda: print(text, file=sys.stderr, flush=True))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


__all__ = ["board", "build", "cluster", "simulator", "simulator_of_many"]
