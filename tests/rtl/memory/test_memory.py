# SPDX-License-Identifier: Apache-2.0
"""The path between caches and memories, and the models of the memories."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from conftest import Size, current_size

from gossamer import builds
from gossamer.hdl import prove, sources, verilate
from gossamer.hdl.sources import Sources
from gossamer.paths import ROOT

HERE = Path(__file__).parent
SIM = sources.SIM / "memory"


def compile_harness(folder: Path, name: str, *files: Path) -> Path:
    """A C++ program of files and the models, without a design."""
    program = folder / name
    command = [*builds.compiler(), "-std=c++20", "-O2", "-Wall", "-Wextra", f"-I{SIM}", *map(str, files)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def run(command: Sequence[object]) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_dram_controller_obeys_the_timing_rules(tmp_path: Path, size: Size, seed: int) -> None:
    """The controller violates no rule, and the checker names each rule that a wrong timing violates."""
    program = compile_harness(
        tmp_path, "rules", HERE / "dram_rules.cc", SIM / "gs_dram_controller.cc", SIM / "gs_dram_checker.cc"
    )
    run([program, seed, size.pick(2000, 5000, 100_000)])


def test_rule_test_fails_if_the_checker_lacks_a_rule(tmp_path: Path, size: Size) -> None:
    """The test of the rules fails if the checker lacks a rule."""
    text = (SIM / "gs_dram_checker.cc").read_text(encoding="utf-8")
    for rule in ("tRRD", "tWTR", "tFAW", "tRTP", "tWR", "tCCD", "tRCD")[: size.pick(1, 1, 7)]:
        lame = tmp_path / f"{rule}.cc"
        line = next(line for line in text.splitlines() if f'"{rule}")' in line)
        lame.write_text(text.replace(line, "{}" if "if" in line else ""), encoding="utf-8")
        program = compile_harness(tmp_path, rule, HERE / "dram_rules.cc", SIM / "gs_dram_controller.cc", lame)
        done = subprocess.run([program, "1", "2000"], capture_output=True, text=True, check=False)
        assert done.returncode == 1 and f"{rule} was broken and the checker did not say so" in done.stdout


def test_mem_arbiter_is_fair_and_never_interleaves_bursts() -> None:
    """Of three inputs none begins a second burst while another one waits; bursts never interleave. By induction."""
    block = sources.blocks("memory")
    wanted = tuple(path for path in block.files if path.stem in ("gs_arbiter", "gs_mem_arbiter"))
    design = Sources(wanted, block.include) + [HERE / "arbiter_proof.sv"]
    proof = prove.prove("arbiter_proof", design, mode="prove", depth=4, defines={"INDUCTION": 1})
    assert proof, proof.reason


@pytest.fixture(scope="module")
def harness() -> Path:
    return verilate.model(
        "memory_top",
        sources.blocks("memory") + sources.listing(HERE / "memory_top.f"),
        [HERE / "memory_harness.cc"],
        optimise="-O1",
    )


def test_memory_path_returns_correct_data_without_starvation(harness: Path, size: Size, seed: int) -> None:
    """Data are correct in every phase; directions are batched; rows are fully used; no request starves."""
    requests = size.pick(2000, 6000, 200_000)
    phases = {mood["mood"]: mood for mood in map(json.loads, run([harness, seed, requests]).splitlines())}
    assert set(phases) == {
        "mixed",
        "slow memory",
        "slow caches",
        "all out",
        "in step",
        "hotspot",
        "few writes",
        "crowd",
        "slow addresses",
        "blocked",
    }
    # Without sorting, half of all requests would change the direction.
    assert phases["all out"]["direction_changes"] < 0.2
    assert phases["in step"]["direction_changes"] < 0.2
    # Threads in step share rows; with random addresses each request needs another row.
    assert phases["in step"]["rows"] < 0.6 * phases["all out"]["rows"]
    # If writes are few, a write waits for at most one batch of reads. (An assertion checks that batches are complete.)
    assert 8 <= phases["few writes"]["reads"] <= 16
    # Banks are served round-robin: the next five requests are for other banks, if there are any.
    assert phases["few writes"]["soon"] < 0.3
    # 16 slots, and two writes upstream of them.
    assert phases["blocked"]["queued_writes"] == 18
    # 128 requests are outstanding, and the memory executes one every three cycles; a busy row starves no request.
    assert phases["all out"]["longest"] < 6000
    assert phases["hotspot"]["longest"] < 300
    assert phases["crowd"]["longest"] < 2500


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """The benchmark of the suite `tile`."""
    name = "gossamer_bench_memory_tested"
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / "tile" / "_memory.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("row", current_size().pick((), (), (0, 1)))
def test_core_models_draw_the_bandwidth_of_real_cores(bench: ModuleType, row: int) -> None:
    """Compares tiles that run a compiled program with models of cores at the caches, on a quarter of the board."""
    case = bench.CASES[row]
    case = replace(case, warm=case.warm // 2, window=case.window // 4, passes=2)
    config = bench.configuration(case, "quad")
    cores, models = (bench.share(case, config, bench.run(case, config, tiles=tiles)) for tiles in (True, False))
    print(f"{case.name}: {cores:.4f} of the peak, with models of cores {models:.4f}")
    assert cores == pytest.approx(models, rel=0.03)
