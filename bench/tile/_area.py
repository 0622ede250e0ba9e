# SPDX-License-Identifier: Apache-2.0
"""What the blocks of a tile cost, and how fast a tile is on ECP5.

Counts of other families are those of synthesis: Xilinx LUT6 (7 series) and Cyclone V ALUTs, with the parameters of
`de5`, the papers' machine. The tile on ECP5 is that of `ecp5-85`: four cores of 16 threads, an FPU, 16 KB of cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.config import Config
from gossamer.hdl import sources, synth

FAMILIES = {"xilinx": "xc7", "cyclonev": "cyclonev"}
BLOCKS = ("core", "fpu", "cache", "mailbox", "mailbox-multicast", "tile")
TILE_MHZ, TILE_CELLS = "tile.ecp5-mhz", "tile.ecp5-cells"
CELLS_OF_85F = 83_640
BLOCK_RAMS_OF_85F = 208
# ALMs of the FPL 2019 paper's Figure 6, by the number of such blocks; an ALM holds two ALUTs.
_PAPER_ALMS = {"core": 51_029 / 64, "fpu": 15_612 / 16, "cache": 7_522 / 16, "mailbox": 4_783 / 16}
# A tile of theirs: all of these, and a sixteenth of what the figure calls interconnect.
_PAPER_ALMS["tile"] = (51_029 + 15_612 + 7_522 + 4_783 + 37_660) / 16
# What local multicast adds to a tile, by the multicast paper's Figure 6: in mailbox and, for longer flits, elsewhere.
_MULTICAST_ALMS = (173_718 - 155_935) / 16
_GRVI_LUTS = 320
# What the tile must reach; areas in ALUTs of a Cyclone V.
_TILE_MHZ_LEAST, _TILE_CELLS_MOST = 112.0, 19_000.0
_MOST = {"area.mailbox-multicast.cyclonev": 2_600.0, "area.tile.cyclonev": 15_500.0}
# Their core contains the mailbox's client, ours does not: so all cores of a tile stand with the mailbox, too.
TOGETHER = {f"area.cores-{box}.cyclonev": box for box in ("mailbox", "mailbox-multicast")}
NAMES = (TILE_MHZ, TILE_CELLS, *(f"area.{block}.{family}" for block in BLOCKS for family in FAMILIES), *TOGETHER)


def measure(context: Context) -> Iterator[Row]:
    """Each row as synthesis ends; results are kept by content, so a second run is quick."""
    config = configs.load("de5")
    for block in BLOCKS:
        for family, option in FAMILIES.items():
            name = f"area.{block}.{family}"
            if context.wants(name):
                yield _area(context, name, block, family, option, config)
    for name, box in TOGETHER.items():
        if context.wants(name):
            yield _together(context, name, box, config)
    if context.wants(TILE_MHZ) or context.wants(TILE_CELLS):
        yield from _tile(context)


def _parameters(block: str, config: Config) -> tuple[str, tuple[str, ...], Mapping[str, int]]:
    """Top, its blocks' lists, its parameters."""
    threads = config.core.threads_per_core
    if block == "core":
        return "gs_core", ("core",), {"ThreadsPerCore": threads, "InstrWords": config.instr_words}
    if block == "fpu":
        return "gs_fpu", ("fpu",), {"NCores": config.fpu.cores_per_fpu, "ThreadsPerCore": threads}
    if block == "cache":
        cache = config.cache
        return (
            "gs_cache",
            ("cache",),
            {
                "Threads": config.threads_per_cache,
                "Ways": cache.ways,
                "SetsPerThread": cache.sets_per_thread,
                "LineBytes": cache.line_bytes,
                "PortBytes": config.memory.dram.port_bytes,
                "Inflight": cache.inflight,
            },
        )
    if block == "tile":
        return "gs_tile", ("tile",), {}
    return "gs_mailbox", ("mailbox",), {"Multicast": int(block == "mailbox-multicast")}


def _luts(block: str, option: str, config: Config) -> synth.LutReport:
    top, lists, parameters = _parameters(block, config)
    return synth.luts(top, sources.blocks(*lists, config=config), option, parameters)


def _paper(block: str) -> tuple[str, float]:
    """What the papers' is, and its ALMs."""
    alms = _PAPER_ALMS[block.removesuffix("-multicast")]
    if block.endswith("-multicast"):
        return (
            "ALMs of Tinsel on Stratix V, and what local multicast adds to a tile, two ALUTs each",
            alms + _MULTICAST_ALMS,
        )
    return "ALMs of Tinsel on Stratix V, two ALUTs each", alms


def _together(context: Context, name: str, box: str, config: Config) -> Row:
    """Cores of a tile and its mailbox."""
    cores = config.mailbox.cores_per_mailbox
    luts = cores * _luts("core", FAMILIES["cyclonev"], config).luts + _luts(box, FAMILIES["cyclonev"], config).luts
    what, alms = _paper(box)
    alms += cores * _PAPER_ALMS["core"]
    reference: Reference = {"what": what, "value": 2 * alms, "unit": "ALUTs"}
    return context.row(
        name, float(luts), "ALUTs", reference=reference, ratio=2 * alms / luts, configuration=config.name, cores=cores
    )


def _area(context: Context, name: str, block: str, family: str, option: str, config: Config) -> Row:
    report = _luts(block, option, config)
    reference: Reference | None = None
    ratio = None
    if family == "cyclonev":
        what, alms = _paper(block)
        reference = {"what": what, "value": 2 * alms, "unit": "ALUTs"}
        ratio = 2 * alms / report.luts
    elif family == "xilinx" and block == "core":
        reference = {"what": "GRVI, RV32I without multiply", "value": float(_GRVI_LUTS), "unit": "LUT6"}
        ratio = _GRVI_LUTS / report.luts
    return context.row(
        name,
        float(report.luts),
        "ALUTs" if family == "cyclonev" else "LUT6",
        reference=reference,
        ratio=ratio,
        configuration=config.name,
        ffs=report.ffs,
        block_rams=report.block_rams,
        dsps=report.dsps,
        most=_MOST.get(name),
    )


def _tile(context: Context) -> Iterator[Row]:
    config = configs.load("ecp5-85")
    lists = sources.blocks("tile", config=config)
    # Placing and routing takes some twenty minutes a seed: all three with --full, none where cells alone are counted.
    seeds = () if not context.wants(TILE_MHZ) else (1, 2, 3) if context.full else (1,)
    report = synth.ecp5("gs_tile", lists, {}, seeds=seeds, mhz=110)
    about: dict[str, Any] = {
        "configuration": config.name,
        "ffs": report.ffs,
        "block_rams": report.block_rams,
        "dsps": report.dsps,
        "fits_twice": 2 * report.cells <= CELLS_OF_85F and 2 * report.block_rams <= BLOCK_RAMS_OF_85F,
    }
    if context.wants(TILE_MHZ):
        yield context.row(TILE_MHZ, report.median_mhz, "MHz", seeds=report.mhz, least=_TILE_MHZ_LEAST, **about)
    if context.wants(TILE_CELLS):
        half = CELLS_OF_85F / 2
        yield context.row(
            TILE_CELLS,
            float(report.cells),
            "cells",
            reference={"what": "half of an ECP5-85F", "value": half, "unit": "cells"},
            ratio=half / report.cells,
            most=_TILE_CELLS_MOST,
            **about,
        )


__all__ = ["NAMES", "measure"]
