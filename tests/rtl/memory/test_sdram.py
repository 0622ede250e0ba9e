# SPDX-License-Identifier: Apache-2.0
"""The SDRAM controller, against a model of an SDRAM's pins and the checker of its rules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Size

from gossamer import config
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "models" / "include"
# Line, burst in words, CAS latency, bytes of a bank's run, cycles of the wires
SHAPES = {
    "i9": (32, 8, 2, 1024, 1),
    "two-bursts": (64, 8, 3, 256, 1),
    "short-bursts": (32, 2, 2, 64, 2),
}


@pytest.mark.default_cases("i9", "short-bursts", seconds=8, adds="lines of two bursts")
@pytest.mark.parametrize("shape", SHAPES)
def test_sdram_controller_returns_correct_lines_and_obeys_the_rules(shape: str, size: Size, seed: int) -> None:
    """Masked writes, reads that stall, refreshes; no command cuts a burst, and no rule of the memory is violated."""
    line, burst, cl, bank, flight = SHAPES[shape]
    simulator = verilate.model(
        "sdram_top",
        sources.blocks("memory/sdram.f", config=config.load("ecp5")) + [HERE / "sdram_top.sv"],
        [HERE / "sdram.cc", sources.SIM / "memory" / "gs_dram_checker.cc"],
        parameters={"LineBytes": line, "Burst": burst, "Cl": cl, "BankBytes": bank, "Flight": flight},
        optimise="-Og",
        cxx=[f"-DLINE_BYTES={line}", f"-DBURST={burst}", f"-DCL={cl}", f"-DBANK_BYTES={bank}", f"-DFLIGHT={flight}"],
        include=[INCLUDE, sources.SIM / "memory"],
    )
    requests = size.pick(20_000, 100_000, 2_000_000)
    done = subprocess.run([simulator, str(seed), str(requests)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"seed {seed}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    found = json.loads(done.stdout)
    # Each access takes a burst of cycles on the bus; the phases with few requests take the rest.
    assert found["accesses"] == requests * line // (4 * burst)


def test_reads_of_the_shell_see_writes_that_have_a_response(size: Size, seed: int) -> None:
    verilate.cocotb(
        "axi4_lines_top",
        sources.blocks("memory/axi4_lines.f", config=config.load("ecp5")) + [HERE / "axi4_lines_top.sv"],
        "rtl.memory.axi4_lines_cocotb",
        seed=seed,
        scramble=seed,
        environment={"AXI4_LINES_COUNT": str(size.pick(300, 3000, 40_000))},
    )
