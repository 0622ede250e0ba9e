# SPDX-License-Identifier: Apache-2.0
"""The multicast router of a port: random tables and traffic against a model, wrong tables, rates and latency."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent
HARNESS_FOLDER = models.FOLDER / "multicast"
HARNESS = [HARNESS_FOLDER / "main.cc", HARNESS_FOLDER / "bench.cc"]


LONGEST = """
base = "quad"
description = "the longest messages"
[mailbox]
max_flits = 16
slot_bytes = 256
[mesh]
buffer_flits = 32
"""


def run(folder: Path, *arguments: object) -> str:
    path = folder / "longest.toml"
    path.write_text(LONGEST, encoding="utf-8")
    simulator = verilate.model(
        "multicast_top",
        sources.blocks("multicast", config=configs.load(path)) + [HARNESS_FOLDER / "multicast_top.sv"],
        HARNESS,
        optimise="-Og",
        include=[models.INCLUDE],
    )
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def test_every_record_makes_its_copy_in_order(tmp_path: Path, size: Size, seed: int) -> None:
    words = run(tmp_path, "random", seed, size.pick(500, 4_000, 200_000)).split()
    copies, lookups, hits = int(words[1]), int(words[5]), int(words[7])
    assert copies > 500
    assert 0 < hits < lookups


def test_wrong_tables_affect_no_other_message_and_channels_are_independent(tmp_path: Path, seed: int) -> None:
    run(tmp_path, "directed", seed)


def test_rates_and_latency_reach_their_bounds(tmp_path: Path, seed: int) -> None:
    found = [line.split() for line in run(tmp_path, "rates", seed, 40).splitlines()]
    first = {int(words[1]): int(words[2]) for words in found if words[0] == "first"}
    assert set(first) == {1, 4}
    assert all(cycles <= 12 for cycles in first.values()), first
    rates = {(int(words[1]), words[2]): float(words[3]) for words in found if words[0] == "rate"}
    assert len(rates) == 4
    assert all(rate >= 0.99 for (_, records), rate in rates.items() if records == "cached"), rates


@pytest.mark.parametrize(("cache", "slots"), [(16, 5), (1, 2)])
def test_lookups_that_meet_fills_return_the_right_records(cache: int, slots: int, size: Size, seed: int) -> None:
    """The largest cache that is legal, and the smallest."""
    verilate.cocotb(
        "records_top",
        sources.blocks("multicast", config=configs.load("quad")) + [HERE / "records_top.sv"],
        "rtl.multicast.records_cocotb",
        parameters={"CacheW": cache, "SlotW": slots},
        environment={"RECORDS_CYCLES": str(size.pick(4_000, 10_000, 500_000)), "RECORDS_CACHE": str(cache)},
        seed=seed,
        optimise="-O0",
    )
