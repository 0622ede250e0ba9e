# SPDX-License-Identifier: Apache-2.0
"""The floating-point unit against Spike: every operation, every rounding mode, results and flags; and its timing."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import Size
from rtl.fpu import golden, vectors

from gossamer.config import constants
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
RECORD = np.dtype(
    [("op", "u1"), ("mode", "u1"), ("flags", "u1"), ("zero", "u1"), ("a", "<u4"), ("b", "<u4"), ("c", "<u4")]
    + [("result", "<u4"), ("number", "<u4")]
)
SLOW = ("div", "sqrt")
SHORT = ("sgnj", "sgnjn", "sgnjx", "min", "max", "eq", "lt", "le", "class")
LATENCY, SHORT_LATENCY, SLOW_LATENCY = (constants.value(f"fpu_{name}_latency") for name in ("add", "compare", "div"))
Records = np.ndarray[tuple[int], np.dtype[np.void]]
Make = Callable[[np.random.Generator, str, int], golden.Words]


@pytest.fixture(scope="session")
def harness() -> Path:
    """The unit and its driver as a program, rebuilt when one of its sources has changed."""
    design = sources.blocks("fpu") + [HERE / "gs_fpu_bench.sv"]
    # The build takes longer than the run.
    return verilate.model("gs_fpu_bench", design, [HERE / "harness.cc"], optimise="-O1")


def _records(rng: np.random.Generator, counts: dict[str, int], folder: Path, make: Make = vectors.operands) -> Records:
    """Shuffled records of all rounding modes for `count` operands of each operation, with Spike's results."""
    operands = [make(rng, name, counts.get(name, 0)) for name in golden.NAMES]
    parts = []
    for op, (words, (values, flags)) in enumerate(zip(operands, golden.results(operands, folder), strict=True)):
        part = np.zeros((len(words), golden.MODES), dtype=RECORD)
        part["op"] = op
        part["mode"] = np.arange(golden.MODES)
        part["flags"] = flags
        for column, name in enumerate("abc"):
            part[name] = words[:, column : column + 1]
        part["result"] = values
        parts.append(part.reshape(-1))
    records = np.concatenate(parts)
    records = records[rng.permutation(len(records))]
    records["number"] = np.arange(len(records))
    return records


class Run:
    """The harness's output: figures, and minimum and maximum latency of each operation."""

    def __init__(self, text: str) -> None:
        self.figures = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text.split("latency")[0])}
        latency = re.findall(r"latency op=(\d+) least=(\d+) most=(\d+)", text)
        self.least = {golden.NAMES[int(op)]: int(least) for op, least, _ in latency}
        self.most = {golden.NAMES[int(op)]: int(most) for op, _, most in latency}


def _drive(
    harness: Path, records: Records, folder: Path, seed: int, valid: int = 100, ready: int = 100, split: int = 0
) -> Run:
    file = folder / "records.bin"
    records.tofile(file)
    command = [harness, file, seed % 2**31, valid, ready, split]
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1800, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    run = Run(ran.stdout)
    assert run.figures["records"] == run.figures["accepted"] == len(records)
    return run


def test_every_operation_matches_spike(harness: Path, size: Size, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    count = size.pick(400, 6000, 40000)  # operands, each in five rounding modes
    records = _records(rng, dict.fromkeys(golden.NAMES, count), tmp_path)
    for op in range(len(golden.NAMES)):
        assert np.count_nonzero(records["op"] == op) >= count * golden.MODES
    # Coverage of the vectors: all flags, subnormal results, both infinities.
    arithmetic = records[records["op"] <= golden.NAMES.index("sqrt")]
    for name, op in (("mul", 2), ("madd", 3), ("nmadd", 6), ("div", 7)):
        part = records[records["op"] == op]
        for bit in (0, 1, 2, 4):
            assert np.count_nonzero(part["flags"] & (1 << bit)) >= count // 50, f"{name} raises flag {bit} too rarely"
        subnormal = (part["result"] & 0x7F800000 == 0) & (part["result"] & 0x7FFFFF != 0)
        assert np.count_nonzero(subnormal) >= count // 50, f"{name} has too few subnormal results"
    assert np.count_nonzero(arithmetic["flags"] & 8) > 0
    _drive(harness, records, tmp_path, seed)


@pytest.mark.parametrize(("valid", "ready"), [(100, 50), (30, 100), (70, 70), (100, 5)])
def test_no_response_is_lost_under_back_pressure(
    harness: Path, size: Size, seed: int, tmp_path: Path, valid: int, ready: int
) -> None:
    """Random gaps between requests, and a receiver that is not always ready."""
    records = _records(np.random.default_rng(seed), dict.fromkeys(golden.NAMES, size.pick(20, 100, 1500)), tmp_path)
    _drive(harness, records, tmp_path, seed, valid, ready)


@pytest.mark.parametrize("mix", ["arithmetic", "short", "both"])
def test_fpu_starts_one_operation_per_cycle(harness: Path, size: Size, seed: int, tmp_path: Path, mix: str) -> None:
    arithmetic = [name for name in golden.NAMES if name not in SLOW + SHORT]
    names = {"arithmetic": arithmetic, "short": list(SHORT), "both": [*arithmetic, *SHORT]}[mix]
    records = _records(np.random.default_rng(seed), dict.fromkeys(names, size.pick(20, 100, 1000)), tmp_path)
    run = _drive(harness, records, tmp_path, seed)
    assert run.figures["stalled"] == 0
    assert run.figures["cycles"] <= len(records) + LATENCY + 1
    for name in names:
        if name in SHORT:
            # It returns early unless results of arithmetic delay it, and at the latest in the slot that it left empty.
            assert run.least[name] == SHORT_LATENCY or mix == "both"
            assert run.most[name] <= (SHORT_LATENCY if mix == "short" else LATENCY)
        else:
            assert run.least[name] == run.most[name] == LATENCY
    if mix == "both":
        assert run.figures["overtaken"] > 0


@pytest.mark.parametrize("others", ["arithmetic", "all"])
def test_divide_and_root_do_not_block_other_cores(
    harness: Path, size: Size, seed: int, tmp_path: Path, others: str
) -> None:
    """One core divides continuously; the other three lose two pipeline slots for each of its operations.

    Arithmetic alone leaves no slot empty: a quotient that waits for a slot must get one.
    """
    count = size.pick(8, 40, 400)
    names = [name for name in golden.NAMES if name not in SLOW and (others == "all" or name not in SHORT)]
    counts = dict.fromkeys(names, 40 * count // len(names))
    counts.update(dict.fromkeys(SLOW, count))
    records = _records(np.random.default_rng(seed), counts, tmp_path)
    is_slow = np.isin(records["op"], [golden.NAMES.index(name) for name in SLOW])
    slow, rest = np.count_nonzero(is_slow), np.count_nonzero(~is_slow)
    alone = _drive(harness, records[is_slow], tmp_path, seed, split=1)
    together = _drive(harness, records, tmp_path, seed, split=1)
    assert alone.figures["cycles"] > rest // 2, "too few operations to interfere"
    assert together.figures["cycles"] <= rest + 2 * slow + 100
    assert together.figures["overtaken"] > 0


def test_divide_and_root_latency_matches_the_page(harness: Path, size: Size, seed: int, tmp_path: Path) -> None:
    """With little contention, iterative operations have the latency of docs/hardware/fpu.md."""
    del size
    records = _records(np.random.default_rng(seed), dict.fromkeys(SLOW, 40), tmp_path)
    ordinary = (records["a"] & 0x7F800000 != 0) & (records["b"] & 0x7F800000 != 0)
    ordinary &= (records["a"] & 0x7F800000 != 0x7F800000) & (records["b"] & 0x7F800000 != 0x7F800000)
    ordinary &= records["a"] < 0x80000000
    run = _drive(harness, records[ordinary], tmp_path, seed, valid=1)
    for name in SLOW:
        assert run.least[name] == SLOW_LATENCY
    run = _drive(harness, records[~ordinary], tmp_path, seed, valid=1)
    for name in SLOW:
        assert run.least[name] == LATENCY  # zeros, infinities, NaNs, roots of negative numbers do not iterate


def _ordinary(rng: np.random.Generator, name: str, count: int) -> golden.Words:
    """Operands from 1 to 4; as integers they are large."""
    del name
    return rng.integers(0x3F800000, 0x40800000, (count, 3), dtype=np.uint32)


def test_latencies_equal_the_constants(harness: Path, seed: int, tmp_path: Path) -> None:
    """The measured latency of each operation, alone and on normal operands, equals that in config/constants."""
    records = _records(np.random.default_rng(seed), dict.fromkeys(golden.NAMES, 20), tmp_path, _ordinary)
    found = _drive(harness, records, tmp_path, seed, valid=1).least
    want = dict.fromkeys(("add", "sub", "madd", "msub", "nmsub", "nmadd"), LATENCY)
    want |= {name: constants.value(f"fpu_{name}_latency") for name in ("mul", "div", "sqrt")}
    want |= dict.fromkeys(("cvt.w.s", "cvt.wu.s", "cvt.s.w", "cvt.s.wu"), constants.value("fpu_convert_latency"))
    want |= dict.fromkeys(SHORT, SHORT_LATENCY)
    assert found == want


def test_harness_detects_wrong_results(harness: Path, seed: int, tmp_path: Path) -> None:
    records = _records(np.random.default_rng(seed), {"madd": 50, "min": 50}, tmp_path)
    for field, name in (("result", "madd"), ("flags", "min")):
        spoiled = records.copy()
        place = int(np.flatnonzero(spoiled["op"] == golden.NAMES.index(name))[7])
        spoiled[field][place] ^= 1
        spoiled.tofile(tmp_path / "spoiled.bin")
        command = [str(harness), str(tmp_path / "spoiled.bin"), "1", "100", "100", "0"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert ran.returncode == 1
        assert f"record {place}:" in ran.stdout
