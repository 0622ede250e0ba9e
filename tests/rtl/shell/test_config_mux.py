# SPDX-License-Identifier: Apache-2.0
"""The multiplexer of the configuration port, with random sources and a model of the port."""

from __future__ import annotations

import pytest
from conftest import Size

from gossamer.hdl import sources, verilate


@pytest.mark.default_cases("2", seconds=3, adds="more than two sources")
@pytest.mark.parametrize("count", [2, 3])
def test_each_image_is_that_of_one_source_and_ends_once(count: int, size: Size, seed: int) -> None:
    verilate.cocotb(
        "gs_config_mux",
        sources.blocks("shell/config_mux.f"),
        "rtl.shell.config_mux_cocotb",
        parameters={"Sources": count},
        environment={"MUX_SOURCES": str(count), "MUX_CYCLES": str(size.pick(10_000, 60_000, 300_000))},
        seed=seed,
    )
