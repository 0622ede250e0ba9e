# SPDX-License-Identifier: Apache-2.0
"""What all threads of a board draw from its memories together: each increments an array of its own.

Behind them are the design's caches, crossbar and scheduler, and the models of `de5`'s memories. Every word of
every array is checked at the end.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

DDR3, QDR = "memory.ddr3-share", "memory.qdr-share"
NAMES = (DDR3, QDR)
CONFIG = "de5"
HARNESS = ("gs_mem_bench.cc", "gs_mem_dpi.cc", "gs_dram_controller.cc", "gs_dram_checker.cc", "gs_sram_model.cc")


@dataclass(frozen=True)
class Case:
    """A row: which memory, how it is used, and what stands beside it."""

    name: str
    sram: bool
    line_bytes: int
    sets: int
    lines: int
    passes: int
    warm: int
    window: int
    paper: float
    least: float


# The papers' 64 KB of cache: with lines twice as long a thread has half the sets.
# The window begins when every cache is full and every miss writes a line back, and ends before the first array.
CASES = (
    Case(DDR3, False, 64, 2, 64, 3, 60_000, 200_000, 0.638, 0.85),
    Case(QDR, True, 32, 4, 64, 4, 80_000, 100_000, 0.90, 0.93),
)


def measure(context: Context) -> Iterator[Row]:
    """One run a row: it is deterministic, to the cycle."""
    for case in CASES:
        if context.wants(case.name):
            yield _row(context, case)


def simulator(case: Case, *, scheduler: bool = True) -> Path:
    """The benchmark's executable for a row."""
    from gossamer.hdl import sources, verilate

    config = configs.load(CONFIG)
    parameters = {
        "LineBytes": case.line_bytes,
        "Sets": case.sets,
        "Lines": case.lines,
        "Space": int(case.sram),
        "Scheduler": int(scheduler),
    }
    return verilate.model(
        "gs_mem_bench",
        sources.blocks("sim/mem_bench.f", config=config),
        [ROOT / "rtl" / "sim" / name for name in HARNESS],
        parameters=parameters,
        assertions=False,
        optimise="-O2",
    )


def run(case: Case, executable: Path) -> dict[str, int]:
    """Runs it: counts of the window, of lines and instructions."""
    config = configs.load(CONFIG)
    dram, sram = config.memory.dram, config.memory.sram
    threads = config.threads // dram.count
    values = (
        int(case.sram),
        case.line_bytes,
        case.lines,
        case.passes,
        threads,
        dram.count,
        sram.count // dram.count if case.sram else 1,
        dram.bytes // 2,
        case.warm,
        case.window,
        5_000_000,
    )
    done = subprocess.run([executable, *map(str, values)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{case.name}: the memory benchmark ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    told: dict[str, int] = json.loads(done.stdout)
    if told["early"]:
        raise RunDied(f"{case.name}: threads ended within the measured window of {case.window} cycles")
    return told


def _row(context: Context, case: Case) -> Row:
    config = configs.load(CONFIG)
    told = run(case, simulator(case))
    moved = (told["fills"] + told["writebacks"]) * case.line_bytes
    cycle = moved / told["window"]
    if case.sram:
        peak = config.sram_mbytes_per_s / config.board.clock_mhz
        of = "the SRAMs' peak, reads and writes"
    else:
        peak = float(config.memory.dram.count * config.memory.dram.port_bytes)
        of = "32 bytes a cycle a DIMM"
    share = cycle / peak
    return context.row(
        case.name,
        share,
        "share",
        reference={"what": "FPL 2019 paper, figure 9", "value": case.paper, "unit": "share"},
        ratio=share / case.paper,
        configuration=CONFIG,
        of=of,
        line_bytes=case.line_bytes,
        cache_bytes=case.line_bytes * config.cache.ways * case.sets * config.threads_per_cache,
        threads=config.threads,
        bytes_a_cycle=round(cycle, 3),
        instructions_a_cycle=round(told["instructions"] / told["window"], 3),
        cycles=told["window"],
        least=case.least,
    )


__all__ = ["CASES", "DDR3", "NAMES", "QDR", "Case", "measure", "run", "simulator"]
