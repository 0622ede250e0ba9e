# SPDX-License-Identifier: Apache-2.0
"""Every top of the hardware, for configurations of both ends: Verilator's lint and Yosys' elaboration, no warnings.

A block's top is the last module of its list. The waivers are in rtl/common/waivers.vlt.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gossamer import config
from gossamer.errors import InputError
from gossamer.hdl import sources, synth, verilate
from gossamer.paths import ROOT

HERE = Path(__file__).resolve().parent
MODELS = ROOT / "tests" / "models"


def listing(name: str) -> sources.Sources:
    """The files that a list names; the name of a list outside ``rtl/`` is its path in the checkout."""
    return sources.listing((sources.RTL if not name.startswith(("sim/", "tests/")) else ROOT) / name)


LISTS = sorted(str(path.relative_to(sources.RTL)) for path in sources.RTL.rglob("*.f"))
LISTS += sorted(str(path.relative_to(ROOT)) for folder in (sources.SIM, MODELS) for path in folder.rglob("*.f"))
# Lists of packages alone are read with the blocks that use them.
TOPS = [name for name in LISTS if not listing(name).top.endswith("_pkg")]
SYNTHESIZED = [name for name in TOPS if not name.startswith(("sim/", "tests/"))]
CONFIGS = ("tiny", "de5")
STREAMS = "tiny-stream"
"""With streaming ports, which the others lack."""
BLOCKS = [
    pytest.param("board/fabric.f", str(ROOT / "tests" / "fixtures" / "smi" / "small.toml"), id="board/fabric.f-small"),
    pytest.param(
        "board/fabric.f", "smi520n", marks=pytest.mark.tier("all", seconds=14, adds="more ports and blocks of a kind")
    ),
]
"""With blocks of collectives as well: two of those of the SMI paper's board, and all."""
MATCH = "tiny-match-board"
"""With a match engine at the board."""


def maximal(names: list[str]) -> list[str]:
    """The lists whose top is in no other list: linting these reads every module below them as well."""
    files = {name: listing(name).files for name in names}
    return [
        name
        for name in names
        if not any(files[name][-1] in files[other] and len(files[other]) > len(files[name]) for other in names)
    ]


def cases(names: list[str]) -> list[object]:
    """Each list with each configuration; the default tier lints the maximal tops with one configuration each, except
    those that it builds."""
    chosen = set(maximal(names)) - BUILT
    higher = pytest.mark.tier("all", seconds=2.5, adds="a top inside of another one, or the other configuration")
    built = pytest.mark.tier("all", seconds=7, adds="a simulator's top for larger boards than those of the simulators")

    def marks(name: str, configuration: str) -> Any:
        if name in chosen and configuration == "de5":
            return ()
        return built if name in BUILT and configuration == "de5" else higher

    return [
        pytest.param(name, configuration, marks=marks(name, configuration))
        for name in names
        for configuration in CONFIGS
    ]


BUILT = {"sim/board/sim_board.f", "sim/board/board_uncore.f", "sim/board/board_tile.f", "sim/tile/sim_tile.f"}
"""Tops that the default tier builds for ``tiny``, with warnings as errors; ``role/board.f`` has the rest of a board."""
# Tops that need types from outside, and modules that provide them.
# Whole boards: with four tiles of sixteen, which are the same.
BOARDS = {"board/board.f", "role/board.f", "sim/board/sim_board.f", "tests/models/memory/mem_tiles.f"}
FRAMES = {
    "memory/memory.f": HERE / "lint_memory.sv",
    "memory/axi4_lines.f": HERE / "memory" / "axi4_lines_top.sv",
    "memory/sdram.f": HERE / "memory" / "sdram_top.sv",
    "sim/memory/sim_memory.f": HERE / "lint_sim_memory.sv",
}
# Modules of benches around blocks: their rows take too long for tests, but they must build.
BENCHES = {
    "fabric/link_bench.sv": (("link",), ("sim/link/gs_mac_model.sv",)),
    "fabric/area_switch.sv": (("switch",), ()),
    "fabric/area_memory.sv": (("tile", "memory"), ()),
    "tile/core_memory.sv": (("core",), ()),
    "board/ecp5_memory.sv": (("board/board.f", "memory/axi4_lines.f", "memory/sdram.f"), ()),
    "board/ecp5_link.sv": (("board/crossings.f", "shell/rgmii.f"), ()),
}
# Modules around a peer that is not part of the project.
PEERS = {"tile/picorv32_regular.sv"}


def design(name: str, configuration: str, folder: Path) -> sources.Sources:
    loaded = config.load(configuration)
    if name in BOARDS and loaded.mesh.width > 2:
        quarter = folder / f"{configuration}-quarter.toml"
        quarter.write_text(
            f'base = "{configuration}"\ndescription = "a quarter of a board, for lint"\n[mesh]\nwidth = 2\nheight = 2\n'
            "[router]\nmesh_ports = 2\n[cache]\ncaches_per_dram = 2\n"
        )
        loaded = config.load(quarter)
    found = sources.blocks(name, config=loaded)
    return found + [FRAMES[name]] if name in FRAMES else found


@pytest.mark.parametrize(
    ("name", "configuration"),
    [*cases(TOPS), ("board/board.f", STREAMS), *BLOCKS, ("board/board.f", MATCH)],
)
def test_verilator_lints_every_top_without_warnings(name: str, configuration: str, tmp_path: Path) -> None:
    files = design(name, configuration, tmp_path)
    assert verilate.lint(files.top, files) == ""


@pytest.mark.parametrize(
    ("name", "configuration"),
    [*cases(SYNTHESIZED), ("board/fabric.f", STREAMS), *BLOCKS, ("board/fabric.f", MATCH)],
)
def test_yosys_elaborates_every_top_without_warnings(name: str, configuration: str, tmp_path: Path) -> None:
    files = design(name, configuration, tmp_path)
    assert synth.elaborate(files.top, files) == ""


@pytest.mark.parametrize("name", BENCHES)
def test_bench_modules_are_lint_free(name: str) -> None:
    blocks, models = BENCHES[name]
    small = "ecp5-85" if name.startswith("board/") else "de5"
    files = sources.blocks(*blocks, config=config.load(small)) + [ROOT / model for model in models]
    path = ROOT / "bench" / name
    assert verilate.lint(path.stem, files + [path]) == ""


def test_every_bench_module_is_listed() -> None:
    found = {path.relative_to(ROOT / "bench").as_posix() for path in (ROOT / "bench").rglob("*.sv")}
    assert found == set(BENCHES) | PEERS


@pytest.mark.parametrize("module", [path.stem for path in sources.listing(sources.RTL / "common" / "common.f").files])
def test_each_common_block_is_lint_free_alone(module: str) -> None:
    assert verilate.lint(module, sources.blocks()) == ""


def test_every_module_is_in_a_file_list() -> None:
    listed = {path for name in LISTS for path in listing(name).files}
    modules = [path for folder in (sources.RTL, sources.SIM, MODELS / "memory") for path in folder.rglob("*.sv")]
    assert sorted(path for path in modules if path not in listed) == []


def test_file_lists_are_read_as_they_are_now(tmp_path: Path) -> None:
    """A file that is missing, and a list that includes itself, are reported with the line; each file counts once."""
    outer, inner, one, two = (tmp_path / name for name in ("outer.f", "inner.f", "one.sv", "two.sv"))
    one.touch()
    two.touch()
    outer.write_text("// a comment\n-f inner.f\none.sv\n+incdir+.\n")
    inner.write_text("two.sv // and this one\none.sv\n")
    found = sources.listing(outer)
    assert (found.files, found.include) == ((two, one), (tmp_path,))
    inner.write_text("one.sv\n\ntwo.sv\n")
    assert sources.listing(outer).files == (one, two)
    inner.write_text("one.sv\n\nouter.f\n")
    with pytest.raises(InputError, match=r"inner\.f:3: outer\.f: the list includes itself"):
        sources.listing(outer)
    inner.write_text("one.sv\nthree.sv\n")
    with pytest.raises(InputError, match=r"inner\.f:2: three\.sv: no such file"):
        sources.listing(outer)


def test_waivers_are_in_one_file_with_their_reasons() -> None:
    inside = re.compile(r"verilator\s+lint_off|lint_off_begin")
    modules = [path for folder in (sources.RTL, sources.SIM, MODELS / "memory") for path in folder.rglob("*.sv*")]
    assert [path for path in modules if inside.search(path.read_text(encoding="utf-8"))] == []
    lines = verilate.WAIVERS.read_text(encoding="utf-8").splitlines()
    waivers = [number for number, line in enumerate(lines) if line.startswith("lint_off")]
    assert waivers
    assert [lines[number] for number in waivers if not lines[number - 1].startswith("//")] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("logic [3:0] wide; assign wide = 5'd17; assign out_o = wide[0];", "WIDTHTRUNC"),
        ("logic unused; assign unused = clk_i; assign out_o = other;", "not used|Can't find|not found"),
        ("if (1) begin : gen_bad $fatal(1, \"a sentence\"); end assign out_o = clk_i;", "a sentence"),
    ],
)  # fmt: skip
def test_lint_finds_faults(text: str, said: str, tmp_path: Path) -> None:
    """Designs with faults do not pass the lint."""
    path = tmp_path / "faulty.sv"
    path.write_text(f"module faulty (input logic clk_i, output logic out_o);\n{text}\nendmodule\n")
    assert re.search(said, verilate.lint("faulty", sources.Sources((path,), ())))


def test_kept_result_is_that_of_the_same_design(tmp_path: Path) -> None:
    """A clean result is kept; a change of a file, a header, a parameter or an option is checked again."""
    path, header = tmp_path / "kept.sv", tmp_path / "kept.svh"
    begin = '`include "kept.svh"\nmodule kept #(parameter int W = 1) (input logic [3:0] in_i, output logic out_o);\n'
    good = (
        f"{begin}  localparam logic [W+2:0] Mask = `MASK;\n  assign out_o = ^(in_i & Mask);\n"
        "`ifdef FAULT\n  initial $display(other);\n`endif\nendmodule\n"
    )
    faulty = good.replace("^(in_i & Mask)", "other")
    design = sources.Sources((path,), (tmp_path,))
    for text, mask, width, clean in (
        (good, "4'd9", 1, True),
        (good, "4'd9", 1, True),
        (faulty, "4'd9", 1, False),
        (good, "5'd17", 1, False),
        (good, "4'd9", 2, False),
        (good, "4'd9", 1, True),
    ):
        path.write_text(text)
        header.write_text(f"`define MASK {mask}\n")
        assert (verilate.lint("kept", design, parameters={"W": width}) == "") == clean, (text, mask, width)
    assert "other" in verilate.lint("kept", design, parameters={"W": 1}, defines={"FAULT": 1})
    assert synth.elaborate("kept", design, {"W": 1}) == synth.elaborate("kept", design, {"W": 1}) == ""
    path.write_text(faulty)
    assert "other" in synth.elaborate("kept", design, {"W": 1})


def test_name_used_before_its_declaration_is_rejected(tmp_path: Path) -> None:
    """slang takes it for a new wire without a driver, and the netlist differs from the simulation."""
    path = tmp_path / "late.sv"
    path.write_text(
        "module follow (input logic in_i, output logic out_o);\n  assign out_o = in_i;\nendmodule\n"
        "module late (input logic clk_i, input logic in_i, output logic [1:0] out_o);\n"
        "  for (genvar k = 0; k < 2; k++) begin : gen_late\n"
        "    follow u_follow (.in_i(later_q && in_i), .out_o(out_o[k]));\n  end\n"
        "  logic late_q, later_q;\n  always_ff @(posedge clk_i) {late_q, later_q} <= {later_q, in_i};\nendmodule\n"
    )
    with pytest.raises(InputError, match=r"no driver for .*later_q"):
        synth.elaborate("late", sources.Sources((path,), ()))


def test_no_cast_of_ones_without_a_width() -> None:
    """An operand of a cast is self-determined, so `'1` there is one bit: slang reads 1, Verilator all ones."""
    folders = ("rtl", "sim", "bench", "examples", "tests")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.sv*")]
    found = [path for path in paths if re.search(r"'\(\s*~?'1\s*\)", path.read_text(encoding="utf-8"))]
    assert paths and not found


@pytest.mark.parametrize("block", ["gs_fifo", "gs_arbiter", "gs_ram_sdp", "gs_ram_tdp", "gs_ram_mixed"])
def test_illegal_parameter_stops_elaboration(block: str) -> None:
    """Both tools stop with a sentence."""
    wrong = {
        "gs_fifo": ({"Depth": 1}, "Depth is 1"),
        "gs_arbiter": ({"N": 0}, "N is 0"),
        "gs_ram_sdp": ({"Width": 33, "ByteBits": 8}, "does not divide"),
        "gs_ram_tdp": ({"Latency": 3}, "Latency is 3"),
        "gs_ram_mixed": ({"WideBits": 96}, "is not NarrowBits"),
    }
    parameters, sentence = wrong[block]
    assert sentence in verilate.lint(block, sources.blocks(), parameters=parameters)
    assert sentence in synth.elaborate(block, sources.blocks(), parameters)
