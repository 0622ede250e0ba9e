# SPDX-License-Identifier: Apache-2.0
"""The FuseSoC cores of streams list the files of their top in compilation order."""

from __future__ import annotations

import re

import pytest

from gossamer.hdl import sources
from gossamer.paths import ROOT

LISTS = {
    "endpoint": "stream.f", "board": "board.f", "bcast": "bcast.f", "reduce": "reduce.f", "allreduce": "allreduce.f",
    "barrier": "barrier.f", "scatter_gather": "scatter_gather.f",
}  # fmt: skip


def test_each_stream_block_has_a_core() -> None:
    assert {path.stem.removeprefix("stream_") for path in (ROOT / "ip").glob("stream_*.core")} == set(LISTS)


@pytest.mark.parametrize("name", LISTS)
def test_core_lists_the_files_of_its_design_in_order(name: str) -> None:
    core = ROOT / "ip" / f"stream_{name}.core"
    text = core.read_text(encoding="utf-8")
    named = re.findall(r"^\s+- (\S+\.svh?)\b", text, re.MULTILINE)
    design = sources.blocks(f"stream/{LISTS[name]}")
    headers = [path for path in named if path.endswith(".svh")]
    assert {(core.parent / path).resolve() for path in headers} == set(design.headers())
    assert named[: len(headers) + 1] == [*headers, "gossamer_pkg.sv"]
    assert [(core.parent / path).resolve() for path in named[len(headers) + 1 :]] == list(design.verilog)
    assert f"toplevel: {design.top}\n" in text
