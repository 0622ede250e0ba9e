# SPDX-License-Identifier: Apache-2.0
"""The .core files of the stream IPs: each lists the files of its top, in order."""

from __future__ import annotations

import re

import pytest

from gossamer.hdl import sources
from gossamer.paths import ROOT

LISTS = {
    "endpoint": "stream.f", "board": "board.f", "bcast": "bcast.f", "reduce": "reduce.f", "allreduce": "allreduce.f",
    "barrier": "barrier.f", "scatter_gather": "scatter_gather.f",
}  # fmt: skip


def test_each_ip_has_a_core_file() -> None:
    assert {path.stem.removeprefix("gossamer_stream_") for path in ROOT.glob("gossamer_stream_*.core")} == set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_core_lists_the_files_of_the_design(name: str) -> None:
    core = ROOT / f"gossamer_stream_{name}.core"
    text = core.read_text(encoding="utf-8")
    named = re.findall(r"^\s+- (\S+\.svh?)\b", text, re.MULTILINE)
    assert named[0] == "build/stream/gossamer_pkg.sv" and named[1] == "rtl/common/gs_assert.svh"
    design = sources.blocks(f"stream/{LISTS[name]}")
    assert [(ROOT / path).resolve() for path in named[2:]] == list(design.verilog)
    assert f"toplevel: {design.top}\n" in text
