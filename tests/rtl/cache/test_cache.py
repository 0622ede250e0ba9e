# SPDX-License-Identifier: Apache-2.0
"""The cache, in every kind that a configuration may select, against a flat memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size

from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


@pytest.mark.default_cases(
    "(cache_matches_flat_memory|hits_sustain_one_request_per_cycle)", seconds=14, adds="requests at full speed"
)
@pytest.mark.parametrize(
    "test",
    ["cache_matches_flat_memory", "cache_matches_flat_memory_at_full_speed", "hits_sustain_one_request_per_cycle"],
)
def test_cache(test: str, size: Size, seed: int) -> None:
    verilate.cocotb(
        "cache_top",
        sources.blocks("cache") + sources.listing(HERE / "cache_top.f"),
        "rtl.cache.cache_cocotb",
        environment={"CACHE_SEED": str(seed), "CACHE_REQUESTS": str(size.pick(1000, 2000, 40_000))},
        scramble=seed,
        only=test,
    )
