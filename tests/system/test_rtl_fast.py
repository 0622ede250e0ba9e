# SPDX-License-Identifier: Apache-2.0
"""Fast models: the passes over Verilator's C++, and equal cycles for every build of a simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.engines import _rtl_build, rtl
from gossamer.engines.rtl import Run, Tile
from gossamer.errors import InputError
from gossamer.hdl import _generated

TINY = configs.load("tiny")
HEADER = """
        VL_IN8(clk_i,0,0);
        VL_OUTW(net_out_o,171,0,6);
        CData/*0:0*/ a_q;
    QData/*63:0*/ b_q;
    VlWide<3>/*80:0*/ wide_q;
    VlUnpacked<IData/*31:0*/, 16> ram;
    VlUnpacked<VlWide<3>/*80:0*/, 4> rows;
    std::string name;
    double real;
"""
NAMES = _generated.integers(HEADER)


def select(branch: str) -> str:
    text, count = _generated.selections(f"f() {{\n    before();\n    {branch}\n    after();\n}}\n", NAMES)
    assert count == text.count("gs_if =")
    assert text.startswith("f() {\n    before();\n    ") and text.endswith("\n    after();\n}\n")
    return text if count else ""


def test_integer_members_of_a_header_are_found() -> None:
    assert {"clk_i", "net_out_o[]", "a_q", "b_q", "wide_q[]", "ram[]"} == NAMES


def test_short_branches_become_selections() -> None:
    branch = "vlSelfRef.a_q = 1U;\n        vlSelfRef.wide_q[2U]\n            = vlSelfRef.b_q;"
    text = select(f"if (vlSelfRef.c(1)) {{\n        {branch}\n    }}")
    assert "const bool gs_if = (vlSelfRef.c(1));" in text
    # In source order: the second assignment may read the result of the first.
    first = text.index("{ const auto gs_new = 1U; vlSelfRef.a_q = gs_if ? gs_new : vlSelfRef.a_q; }")
    second = text.index("{ const auto gs_new = vlSelfRef.b_q; vlSelfRef.wide_q[2U] = gs_if ? gs_new : ")
    assert first < second


@pytest.mark.parametrize(
    "body",
    [
        "vlSelfRef.a_q = 1U;\n    } else {\n        vlSelfRef.a_q = 2U;",
        "vlSelfRef.a_q = VL_RANDOM_I();",
        "vlSelfRef.a_q = Vtop_task(vlSelf);",
        "VL_STOP_MT(1);",
        "vlSelfRef.b_q = (1U / (IData)(vlSelfRef.a_q));",
        "vlSelfRef.ram[vlSelfRef.a_q] = 1U;",
        "vlSelfRef.rows[1U] = vlSelfRef.wide_q;",
        "vlSelfRef.name = vlSelfRef.a_q;",
        "vlSelfRef.real = 1.0;",
        "local = 1U;",
        "vlSelfRef.a_q = 1U;\n        vlSelfRef.b_q = 2U;\n        vlSelfRef.wide_q[0U] = 3U;",
        "vlSelfRef.b_q = " + " + ".join(["vlSelfRef.b_q"] * 20) + ";",
        "vlSelfRef.a_q == 1U;",
        "vlSelfRef.a_q |= 1U;",
    ],
)
def test_unsuitable_branches_are_unchanged(body: str) -> None:
    assert not select(f"if (vlSelfRef.clk_i) {{\n        {body}\n    }}")
    assert not select("if (VL_UNLIKELY(vlSelfRef.clk_i)) {\n        vlSelfRef.a_q = 1U;\n    }")


def test_inner_branches_become_selections() -> None:
    text = select("if (c) {\n        call();\n        if (d) {\n            vlSelfRef.a_q = 1U;\n        }\n    }")
    assert text.count("gs_if =") == 1 and "    if (c) {\n        call();" in text


def test_unknown_generated_code_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Vtop___024root___eval_nba"):
        _generated.together(tmp_path, "top")
    (tmp_path / "Vtop___024root__0.cpp").write_text(
        "void Vtop___024root___eval_nba(Vtop___024root* vlSelf) {\n    // Body\n    while (1) {\n    }\n}\n"
    )
    with pytest.raises(InputError, match=r"unknown form: while \(1\)"):
        _generated.together(tmp_path, "top")


@pytest.fixture(scope="module")
def image() -> device.Image:
    gossamer_setup.require("rtl")
    return device.build(ROOT / "programs" / "heat.c", TINY, ["STEPS=2"])


def run(image: device.Image, simulator: Path) -> tuple[Run, list[tuple[int, str]], list[int]]:
    said: list[tuple[int, str]] = []
    with Tile(TINY, simulator=simulator) as tile:
        tile.load_image(image)
        done = tile.run(tile.threads, on_line=lambda thread, line, _: said.append((thread, line)))
        memory = [int(word) for word in tile.read(0x4000_0000, 256)]
    return done, said, memory


@pytest.mark.tier("all", seconds=22, adds="equal cycles of the two ways to build a model")
def test_fast_model_matches_verilators_own_build(image: device.Image) -> None:
    """Compares output in order, cycles, instructions, all counters, and memory after the run."""
    from gossamer.hdl import sources

    design = sources.blocks("sim/tile/sim_tile.f", config=TINY)
    flat = run(image, _rtl_build.build(TINY, design, fast=False))
    fast = run(image, _rtl_build.build(TINY, design))
    assert flat[0].reason == "done" and len(flat[1]) == 8 * TINY.threads_per_tile
    for field in ("reason", "cycles", "instructions", "counters", "codes"):
        assert getattr(flat[0], field) == getattr(fast[0], field), field
    assert flat[1:] == fast[1:]


@pytest.mark.tier("all", seconds=40, adds="the harness of many tiles, which benches alone use")
def test_tiles_evaluated_together_match_tiles_evaluated_alone(image: device.Image) -> None:
    """Compares bytes, flits and cycles of every tile; the first tile ends in the same cycle as a single tile.

    The simulator of one tile starts it in another cycle, and the phase of the memory's refreshes moves its end by up to
    2,000 cycles in a million for starts that are 131 to 4,000 cycles apart.
    """
    together = rtl.run_many_tiles(TINY, image, 3, stagger=777, most=1_000_000)
    apart = rtl.run_many_tiles(TINY, image, 3, stagger=777, most=1_000_000, apart=True)
    assert together.tiles == apart.tiles
    assert [tile.ended for tile in together.tiles] == [TINY.threads_per_tile] * 3
    assert len({tile.sum for tile in together.tiles}) == 3
    alone = rtl.run_many_tiles(TINY, image, 1, stagger=0, most=1_000_000)
    assert alone.tiles[0] == together.tiles[0]
    done, _, _ = run(image, _rtl_build.simulator(TINY))
    assert abs(alone.tiles[0].cycles - done.cycles) <= 0.003 * done.cycles
