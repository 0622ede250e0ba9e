# SPDX-License-Identifier: Apache-2.0
"""What all threads of a board draw from its memories together: each increments an array of its own.

Whole tiles run a compiled program; behind them are the design's crossbar and scheduler, and the models of `de5`'s
memories. Every word of every array is checked at the end. The same with models of cores, which run the loop as a
barrel core would in front of real caches, stands beside: a test holds the two together.
"""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import models
from models import fabric_packets

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Row
from gossamer.config import Config
from gossamer.errors import RunDied

DDR3, QDR = "memory.ddr3-share", "memory.qdr-share"
NAMES = (DDR3, QDR)
CONFIG = "de5"
PROGRAM = Path(__file__).parent / "increment.c"
HARNESS = models.FOLDER / "memory" / "gs_mem_bench.cc"


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


def configuration(case: Case, base: str = CONFIG) -> Config:
    """A configuration with the case's caches."""
    text = f"""
base = "{base}"
description = "{base} with the caches of {case.name}"
[cache]
line_bytes = {case.line_bytes}
sets_per_thread = {case.sets}
"""
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as scratch:
        file = Path(scratch) / f"{base}-{case.line_bytes}.toml"
        file.write_text(text, encoding="utf-8")
        return configs.load(file)


def simulator(case: Case, config: Config, *, tiles: bool, scheduler: bool = True) -> Path:
    """The benchmark's executable: of whole tiles, or of models of cores."""
    from gossamer.hdl import sources, verilate

    top = "gs_mem_tiles" if tiles else "gs_mem_bench"
    models = {"Lines": case.lines, "Space": int(case.sram)}
    return verilate.model(
        top,
        sources.blocks(f"tests/models/memory/{'mem_tiles' if tiles else 'mem_bench'}.f", config=config),
        [HARNESS],
        parameters={"Scheduler": int(scheduler)} | ({} if tiles else models),
        assertions=False,
        optimise="-O2",
        flags=["--prefix", "Vgs_mem_bench"],
    )


def run(case: Case, config: Config, *, tiles: bool = True, scheduler: bool = True) -> dict[str, int]:
    """Runs it: counts of the window, of lines and instructions."""
    executable = simulator(case, config, tiles=tiles, scheduler=scheduler)
    dram, sram = config.memory.dram, config.memory.sram
    threads = config.threads // dram.count
    # Models of cores have array after array; programs have all of a thread's part of the SRAM between them.
    apart = sram.bytes * sram.count // config.threads // case.line_bytes if tiles else case.lines
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
        apart,
    )
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as scratch:
        command: list[object] = [executable, *values]
        if tiles:
            flits = Path(scratch) / "flits"
            flits.write_bytes(_flits(case, config))
            command.append(f"+flits={flits}")
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{case.name}: the memory benchmark ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    told: dict[str, int] = json.loads(done.stdout)
    if told["early"]:
        raise RunDied(f"{case.name}: threads ended within the measured window of {case.window} cycles")
    return told


def _flits(case: Case, config: Config) -> bytes:
    """What brings the program into the instruction memories of every tile; of each flit the last byte first."""
    words = case.lines * case.line_bytes // 4
    defines = [f"PASSES={case.passes}", f"WORDS={words}", f"SRAM={int(case.sram)}"]
    image = device.build(PROGRAM, config, defines=defines)
    if image.segments:
        raise RunDied(f"{PROGRAM.name} has data of its own; only its instructions are loaded")
    code = b"".join(struct.pack("<I", word) for word in image.instructions)
    code += bytes(-len(code) % fabric_packets.PAYLOAD)
    flits = fabric_packets.writes(
        0, code, op="write_instr", group=fabric_packets.ALL_GROUPS, dest=fabric_packets.EVERY_TILE
    )
    return b"".join(row.tobytes()[::-1] for row in flits)


def share(case: Case, config: Config, told: dict[str, int]) -> float:
    """Of what the memories can move, what they moved."""
    return (told["fills"] + told["writebacks"]) * case.line_bytes / told["window"] / _peak(case, config)


def _peak(case: Case, config: Config) -> float:
    """Bytes a cycle."""
    if case.sram:
        return config.sram_mbytes_per_s / config.board.clock_mhz
    return float(config.memory.dram.count * config.memory.dram.port_bytes)


def _row(context: Context, case: Case) -> Row:
    config = configuration(case)
    told = run(case, config)
    value = share(case, config, told)
    return context.row(
        case.name,
        value,
        "share",
        reference={"what": "FPL 2019 paper, figure 9", "value": case.paper, "unit": "share"},
        ratio=value / case.paper,
        configuration=CONFIG,
        of="the SRAMs' peak, reads and writes" if case.sram else "32 bytes a cycle a DIMM",
        line_bytes=case.line_bytes,
        cache_bytes=case.line_bytes * config.cache.ways * case.sets * config.threads_per_cache,
        threads=config.threads,
        bytes_a_cycle=round(value * _peak(case, config), 3),
        instructions_a_cycle=round(told["instructions"] / told["window"], 3),
        cycles=told["window"],
        with_models_of_cores=round(share(case, config, run(case, config, tiles=False)), 5),
        least=case.least,
    )


__all__ = ["CASES", "DDR3", "NAMES", "QDR", "Case", "configuration", "measure", "run", "share", "simulator"]
