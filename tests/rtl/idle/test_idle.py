# SPDX-License-Identifier: Apache-2.0
"""Idle detection: random clusters against a model, latency, the protocol checked by Spin, proofs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

import gossamer_setup
from gossamer import config as configs
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).parent


def build(boards: int, endpoints: int, wires: int) -> Path:
    design = sources.blocks("idle", config=configs.load("tiny")) + [HERE / "idle_top.sv"]
    return verilate.model(
        "idle_top",
        design,
        [HERE / "cluster.cc"],
        parameters={"Boards": boards, "Endpoints": endpoints, "Wires": wires},
        optimise="-O1",
        include=[models.INCLUDE],
        cxx=[f"-DIDLE_BOARDS={boards}", f"-DIDLE_ENDPOINTS={endpoints}"],
    )


def run(simulator: Path, *arguments: object) -> str:
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.default_cases("4-3-0", "3-5-2", seconds=30, adds="a node with eight children")
@pytest.mark.parametrize(("boards", "endpoints", "wires"), [(4, 3, 0), (3, 5, 2), (9, 1, 0)])
def test_random_clusters_match_model(boards: int, endpoints: int, wires: int, size: Size, seed: int) -> None:
    found = json.loads(run(build(boards, endpoints, wires), "random", seed, size.pick(300, 1500, 30_000)))
    # Some runs need several waves in an epoch: without these the test would cover half of the protocol.
    assert found["waves"] > 0


@pytest.mark.parametrize(
    ("width", "height", "words", "most"), [(1, 1, 0, 10), (1, 1, 1, 44), (2, 2, 0, 545), (2, 2, 1, 590)]
)
def test_barrier_latency_is_bounded(width: int, height: int, words: int, most: int, seed: int) -> None:
    """Cycles from barrier to barrier, links of 130 cycles a hop, threads that return to idle at once."""
    assert float(run(build(4, 3, 0), "barrier", seed, width, height, 130, words)) <= most


def test_reports_mark_late_messages(size: Size, seed: int) -> None:
    """Messages of this wave, of the next and of the next epoch, in any cycle, against the documented rule."""
    verilate.cocotb(
        "late_messages_top",
        sources.blocks("idle", config=configs.load("tiny")) + (HERE / "late_messages_top.sv",),
        "rtl.idle.late_messages_cocotb",
        environment={"LATE_EPOCHS": str(size.pick(150, 400, 5_000))},
        seed=seed,
    )


# The model is small: one more message costs minutes. Each optional part has a run of its own.
COMPLETE = [
    {"UNICASTS": 2, "MULTICASTS": 0, "HOSTS": 0, "TREE": 0},
    {"UNICASTS": 2, "MULTICASTS": 0, "HOSTS": 0, "TREE": 1},
    {"UNICASTS": 1, "MULTICASTS": 0, "HOSTS": 1, "TREE": 1},
    {"UNICASTS": 0, "MULTICASTS": 1, "HOSTS": 0, "TREE": 1},
]
WITHOUT = {
    "wave": {"UNICASTS": 3, "MULTICASTS": 0, "HOSTS": 0, "TREE": 1, "NO_WAVE": 1},
    "epoch": {"UNICASTS": 2, "MULTICASTS": 0, "HOSTS": 0, "TREE": 1, "NO_EPOCH": 1},
    "withdrawal": {"UNICASTS": 1, "MULTICASTS": 0, "HOSTS": 1, "TREE": 1, "NO_WITHDRAW": 1},
    "colour of the next epoch": {"UNICASTS": 3, "MULTICASTS": 0, "HOSTS": 0, "TREE": 0, "NO_LATE_EPOCH": 1},
    "colour of copies": {"UNICASTS": 1, "MULTICASTS": 1, "HOSTS": 0, "TREE": 1, "FIRST_COLOUR": 1},
}


def spin(folder: Path, defines: dict[str, int], *, cycles: bool = False) -> str:
    """Output of the verifier for the model. With ``cycles`` it searches for infinite runs."""
    tool = gossamer_setup.program("spin", "spin")
    compiler = os.environ.get("CC", "gcc")
    words = [f"-D{name}={value}" for name, value in defines.items()]
    subprocess.run([tool, *words, "-a", HERE / "idle.pml"], cwd=folder, check=True, capture_output=True, timeout=60)
    kind = "-DNP" if cycles else "-DSAFETY"
    command = [compiler, "-O2", "-w", kind, "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    verifier = [str(folder / "pan"), "-m1000000", *(["-l"] if cycles else [])]
    done = subprocess.run(verifier, cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert "max search depth too small" not in done.stdout and "out of memory" not in done.stdout, done.stdout
    assert "errors:" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.default_cases("1-0-1-1", seconds=32, adds="other numbers of boards, hosts and messages in the model")
@pytest.mark.parametrize("defines", COMPLETE, ids=lambda d: "-".join(map(str, d.values())))
def test_protocol_releases_every_epoch_correctly(defines: dict[str, int], tmp_path: Path) -> None:
    """No false release; and every run that ends has released all epochs."""
    assert "errors: 0" in spin(tmp_path, defines)


def test_protocol_always_ends(tmp_path: Path, size: Size) -> None:
    """Eventual release: no run is infinite."""
    defines = {"UNICASTS": 1, "MULTICASTS": 0, "HOSTS": size.pick(0, 0, 1), "TREE": 1, "EPOCHS": size.pick(1, 2, 2)}
    assert "errors: 0" in spin(tmp_path, defines, cycles=True)


@pytest.mark.default_cases("wave", seconds=26, adds="the other parts of the protocol, left out one at a time")
@pytest.mark.parametrize("part", WITHOUT)
def test_protocol_fails_without_each_of_its_parts(part: str, tmp_path: Path, size: Size) -> None:
    """The verifier finds an error if any part of the protocol is missing."""
    if part == "colour of the next epoch" and size.name != "large":
        pytest.skip("a million states; for a larger size of this test")
    found = spin(tmp_path, WITHOUT[part])
    assert "errors: 1" in found and "assertion violated" in found, found


def proof(top: str, depth: int, cover: int, parameters: dict[str, int], mode: str) -> None:
    block = sources.blocks("idle", config=configs.load("tiny"))
    done = prove.prove(
        top, block + [HERE / f"{top}.sv"], mode=mode, depth=depth, cover_depth=cover, parameters=parameters
    )
    assert done, done.reason


@pytest.mark.parametrize(("endpoints", "wires", "mode"), [(1, 0, "prove"), (2, 0, "bmc"), (1, 1, "bmc")])
def test_single_board_never_releases_falsely(endpoints: int, wires: int, mode: str) -> None:
    proof("single_proof", 24, 24, {"Endpoints": endpoints, "Wires": wires}, mode)


def test_root_decides_on_the_last_reports(size: Size) -> None:
    proof("verdict_proof", size.pick(12, 14, 24), 18, {}, "bmc")
