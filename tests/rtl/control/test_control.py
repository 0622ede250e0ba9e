# SPDX-License-Identifier: Apache-2.0
"""The control unit with threads, host, loader and schedulers; proofs of its modules, with few threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size, current_size

from gossamer import config as configs
from gossamer.config import Config
from gossamer.hdl import prove, sources, verilate
from gossamer.hdl.sources import Sources

HERE = Path(__file__).parent
TESTS = (
    "stalled_host_blocks_no_other_request",
    "threads_start_exactly_once",
    "instruction_writes_reach_their_memory",
    "busy_loader_starves_no_thread",
    "host_inspects_halted_threads",
    "host_reads_the_state_of_each_thread",
    "responses_carry_every_bit",
    "uart_bytes_arrive_exactly_once",
    "cycle_high_matches_its_read_cycle",
    "counted_cycles_follow_clear_start_and_stop",
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
        # Inputs change at the falling edge, after the gate's decision: a request to a sleeping block would be lost.
        # In a tile inputs change with the clock; the tile's tests have gates.
        defines={"GS_NO_CLOCK_GATES": 1},
        looks_at={"gs_tile_counters": ["slot_o", "cycles_q"], "gs_ram_sdp": ["mem"]},
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


def few_threads(cores: int, folder: Path) -> Config:
    """A tile with two threads a core."""
    path = folder / "few.toml"
    path.write_text(
        f'base = "tiny"\ndescription = "few threads, for proofs"\n[core]\nthreads_per_core = 2\n'
        f"cores_per_instr_mem = {cores}\n[fpu]\ncores_per_fpu = {cores}\n[mailbox]\ncores_per_mailbox = {cores}\n"
        f"[cache]\ncores_per_cache = {cores}\ncaches_per_dram = 2\n"
    )
    return configs.load(path)


PACKAGES = (
    "gossamer_pkg", "gs_cache_pkg", "gs_mem_pkg", "gs_thread_pkg", "gs_core_pkg", "gs_address_pkg", "gs_tile_pkg",
    "gs_control_pkg", "gs_ram_sdp", "gs_fifo",
)  # fmt: skip


@pytest.mark.parametrize("cores", current_size().pick((1,), (1,), (1, 2)))
@pytest.mark.parametrize("name", ["report_queue", "thread_control", "debug_out"])
def test_proof(name: str, cores: int, tmp_path: Path) -> None:
    """By induction: the report queue never overflows, operations on threads are done once, reports are sent whole."""
    # A proof of the requester of an operation needs two cores.
    config = few_threads(2 if name == "thread_control" else cores, tmp_path)
    module = f"gs_{name}"
    block = sources.blocks("tile", config=config)
    design = Sources(tuple(path for path in block.files if path.stem in (*PACKAGES, module)), block.include)
    proof = prove.prove(f"{name}_proof", design + [HERE / f"{name}_proof.sv"], depth=2, cover_depth=30)
    assert proof, proof.reason


def test_response_waits_for_at_most_one_other(tmp_path: Path) -> None:
    """By induction: each response reaches its core once, unchanged, and the buses alternate in conflicts."""
    block = sources.blocks("tile", config=few_threads(2, tmp_path))
    wanted = (*PACKAGES, "gs_tile_rsp_mux", "gs_rr_arbiter", "gs_arbiter", "gs_rr_pick")
    design = Sources(tuple(path for path in block.files if path.stem in wanted), block.include)
    proof = prove.prove("rsp_mux_proof", design + [HERE / "rsp_mux_proof.sv"], depth=2, cover_depth=10)
    assert proof, proof.reason
