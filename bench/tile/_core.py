# SPDX-License-Identifier: Apache-2.0
"""The core: instructions a cycle in simulation; cells and clock on ECP5-85F, speed 8, beside picorv32.

The core is measured with its instruction memory and with all that a tile's core has: divider, traps, CSRs, FPU
port, request queues, debugging. picorv32 goes through the same flow.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from array import array
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import models

from gossamer.bench import Context, Row
from gossamer.config import constants
from gossamer.errors import InputError, RunDied
from gossamer.hdl import sources, synth, verilate
from gossamer.paths import ROOT

IPC, MHZ, CELLS, MIPS = "core.ipc", "core.ecp5-mhz", "core.ecp5-cells", "core.mips-per-cell-vs-picorv32"
NAMES = (IPC, MHZ, CELLS, MIPS)
THREADS = 16
STAGES = constants.value("core_pipeline_stages")
# 4 KB, as on the board that the open tools build for.
INSTR_WORDS = 1024
_HERE = Path(__file__).parent
_HARNESS = models.FOLDER / "core"
# Cycles an instruction of the peer, by its authors' account.
_PICORV32_CPI = 4.0
_CRUDE = "a crude RV32I+MUL barrel core"


def measure(context: Context) -> Iterator[Row]:
    """Synthesis takes a few minutes the first time; its results are kept by content."""
    if context.wants(IPC):
        value = ipc(THREADS)
        yield context.row(
            IPC,
            value,
            "instructions/cycle",
            reference={"what": "one instruction a cycle", "value": 1.0, "unit": "instructions/cycle"},
            ratio=value,
            threads=THREADS,
            with_as_many_threads_as_stages=ipc(STAGES),
            stages=STAGES,
            least=0.99,
        )
    if not any(context.wants(name) for name in (MHZ, CELLS, MIPS)):
        return
    core = synth.ecp5(
        "core_memory",
        sources.listing(ROOT / "rtl" / "core" / "core.f") + [_HERE / "core_memory.sv"],
        {"ThreadsPerCore": THREADS, "InstrWords": INSTR_WORDS},
    )
    shape: dict[str, Any] = {
        "threads": THREADS,
        "part": "ECP5-85F, speed 8",
        "seeds": len(core.mhz),
        "ffs": core.ffs,
        "block_rams": core.block_rams,
        "dsps": core.dsps,
    }
    if context.wants(MHZ):
        yield context.row(
            MHZ,
            core.median_mhz,
            "MHz",
            reference={"what": _CRUDE, "value": 145.0, "unit": "MHz"},
            ratio=core.median_mhz / 145.0,
            least=164.0,
            all_mhz=list(core.mhz),
            **shape,
        )
    if context.wants(CELLS):
        yield context.row(
            CELLS,
            core.cells,
            "cells",
            reference={"what": _CRUDE, "value": 1705.0, "unit": "cells"},
            ratio=1705.0 / core.cells,
            most=2100,
            **shape,
        )
    if context.wants(MIPS):
        cells, mhz = _picorv32()
        peer = mhz / _PICORV32_CPI / cells
        value = core.median_mhz * ipc(THREADS) / core.cells / peer
        yield context.row(
            MIPS,
            value,
            "times",
            reference={"what": "picorv32 in the same flow: MIPS a cell", "value": peer, "unit": "MIPS/cell"},
            ratio=value,
            least=6.3,
            picorv32_cells=cells,
            picorv32_mhz=mhz,
            picorv32_cycles_per_instruction=_PICORV32_CPI,
            **shape,
        )


@cache
def ipc(threads: int) -> float:
    """Instructions a cycle, so many of 16 threads running a loop of ALU instructions with a jump at its end."""
    core = sources.listing(ROOT / "rtl" / "core" / "core.f") + sources.listing(ROOT / "rtl" / "fpu" / "fpu.f")
    simulator = verilate.model(
        "core_top",
        core + [_HARNESS / "core_top.sv"],
        [_HARNESS / "harness.cc"],
        parameters={"ThreadsPerCore": THREADS},
        optimise="-O0",
    )
    # add, sub, sll, slt, sltu, xor, srl, or, and; j to the first.
    alu = [0x00838333, 0x408383B3, 0x00839433, 0x0083A4B3, 0x0083B533, 0x0083C5B3, 0x0083D633, 0x0083E6B3, 0x0083F733]
    words = array("I", [*alu, 0xFDDFF06F])
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as scratch:
        image = Path(scratch) / "image"
        image.write_bytes(words.tobytes())
        options = [f"threads={threads}", "fixed=1", "warm=1000", "cycles=101000", "quiet=1"]
        done = subprocess.run(
            [simulator, image, Path(scratch) / "commits", *options], capture_output=True, text=True, check=False
        )
    found = re.search(r"end cycles=(\d+) issued=(\d+)", done.stdout)
    if done.returncode or found is None:
        raise RunDied(f"the core's loop: {(done.stderr or done.stdout).strip()[-500:]}")
    return int(found[2]) / int(found[1])


def _picorv32() -> tuple[int, float]:
    """Cells and MHz of the peer."""
    found = importlib.util.find_spec("pythondata_cpu_picorv32")
    if found is None or found.origin is None:
        raise InputError("picorv32 is not there: its package is in group synth; ./gossamer setup synth installs it")
    verilog = Path(found.origin).parent / "verilog" / "picorv32.v"
    report = synth.ecp5("picorv32_regular", sources.Sources((verilog, _HERE / "picorv32_regular.sv"), ()), mhz=130)
    return report.cells, report.median_mhz


__all__ = ["NAMES", "measure"]
