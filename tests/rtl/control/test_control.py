# SPDX-License-Identifier: Apache-2.0
"""The control unit between threads, host, loader and schedulers."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size, current_size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
TESTS = (
    "a_host_that_does_not_read_holds_up_nothing",
    "threads_start_once",
    "instructions_reach_their_memory",
    "a_busy_loader_starves_nobody",
    "the_host_looks_in",
    "bytes_for_threads_come_once",
    "the_high_word_of_cycles_is_of_its_moment",
)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("configuration", current_size().pick(("quad",), ("quad", "tiny"), ("quad", "tiny")))
def test_control(configuration: str, name: str, size: Size, seed: int) -> None:
    config = configs.load(configuration)
    cores = min(config.mailbox.cores_per_mailbox, config.threads_per_tile // config.core.threads_per_core)
    verilate.cocotb(
        "control_top",
        sources.blocks("tile", config=config) + [HERE / "control_top.sv"],
        "rtl.control.control_cocotb",
        # Inputs come at the falling edge, at which a gate has decided already: a request to a block that sleeps would
        # be lost. In a tile they come with the clock; its own tests have gates.
        defines={"GS_NO_CLOCK_GATES": 1},
        environment={
            "CONTROL_CYCLES": str(size.pick(6_000, 12_000, 100_000)),
            "CONTROL_CORES": str(cores),
            "CONTROL_TIDS": str(config.core.threads_per_core),
            "CONTROL_MEMORIES": str(max(1, cores // config.core.cores_per_instr_mem)),
            "CONTROL_WORDS": str(config.instr_words),
        },
        seed=seed,
        only=name,
        optimise="-O0",
    )
