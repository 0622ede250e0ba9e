# SPDX-License-Identifier: Apache-2.0
"""Boards generated from programs: lint, Yosys, the same bytes twice, and kernels over them with wires between."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Size

from gossamer import routes
from gossamer.hdl import sources, synth, verilate
from gossamer.paths import ROOT
from gossamer.smi import hardware

HERE = Path(__file__).resolve().parent
GESUMMV = [str(ROOT / "examples" / "gesummv" / f"gesummv_rank{rank}.cl") for rank in range(2)]
STENCIL = [str(ROOT / "examples" / "streams" / "stencil.cpp")]
ALL = [str(HERE / "all_ports.c")]
# Programs, boards by their programs, options, and a cluster or what the boards of a pair are.
DESIGNS = {
    "gesummv": (GESUMMV, [], hardware.Options(links=2), ("gesummv_rank0", "gesummv_rank1")),
    "gesummv-one-board": (GESUMMV, ["gesummv_rank0,gesummv_rank1"], hardware.Options(links=1), ()),
    "stencil": (STENCIL, [], hardware.Options(links=2), "ring4"),
    "all": (
        ALL, ["all_ports,all_ports"], hardware.Options(links=1, edges=2, depth=64, lanes={3: 2}),
        ("all_ports_all_ports", "all_ports_all_ports"),
    ),
}  # fmt: skip
RUN = ["gesummv", "stencil", "all"]
_PORT = re.compile(r"^  (input |output) logic (\[\d+:0\] )?(\w+),?$", re.MULTILINE)


def made(name: str) -> hardware.Design:
    files, boards, options, _ = DESIGNS[name]
    return hardware.design(files, boards, options=options)


def interface(text: str) -> list[tuple[str, str, str]]:
    """Direction, range and name of a top's ports."""
    return _PORT.findall(text[: text.index(");")])


@pytest.mark.parametrize("name", DESIGNS)
def test_lint_yosys_and_the_same_bytes_again(name: str, tmp_path: Path) -> None:
    files = hardware.write(made(name), tmp_path / "one")
    again = hardware.write(made(name), tmp_path / "two")
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in again]
    for board in made(name).boards:
        design = sources.listing(tmp_path / "one" / f"{board.name}.f")
        assert verilate.lint(board.name, design) == ""
        assert synth.elaborate(board.name, design) == ""


def test_a_board_has_the_halves_that_its_program_uses_and_no_others(tmp_path: Path) -> None:
    """And only these are hardware: flip-flops and memory of a board that only sends are fewer."""
    hardware.write(made("gesummv"), tmp_path)
    names = {
        rank: {name for _, _, name in interface((tmp_path / f"gesummv_rank{rank}.sv").read_text()) if "port" in name}
        for rank in range(2)
    }
    assert {name.split("_t")[0] for name in names[0]} == {"port0_send_open", "port0_send"}
    assert {name.split("_t")[0] for name in names[1]} == {"port0_receive_open", "port0_receive"}
    hardware.write(made("all"), tmp_path)
    everything = {name.split("_t")[0] for _, _, name in interface((tmp_path / "all_ports_all_ports.sv").read_text())}
    assert {"slot0_port10_barrier_come", "slot1_port7_scatter_take", "slot1_port2_send"} <= everything
    cells = [
        synth.luts(f"gesummv_rank{rank}", sources.listing(tmp_path / f"gesummv_rank{rank}.f"), family="xc7")
        for rank in range(2)
    ]
    # A receiver keeps elements in a buffer of its own depth; a sender has none of that.
    assert cells[0].luts != cells[1].luts


def wrapper(cluster: str, boards: list[str], texts: dict[str, str], links: int) -> tuple[str, list[int]]:
    """All boards with wires between them, the rest as ports of the whole; and by board, the links that are wired."""
    read = routes.read_topology(cluster).cluster
    used = sorted({link for board in read.boards for link, _, _ in read.neighbours(board.index)})
    number = {link: at for at, link in enumerate(used)}
    far = {
        (board.index, number[link]): (to, number[to_link])
        for board in read.boards
        for link, to, to_link in read.neighbours(board.index)
    }
    ports, body = ["input logic clk_i", "input logic rst_ni"], []
    for at, name in enumerate(boards):
        pins = [".aclk(clk_i)", ".aresetn(rst_ni)"]
        for way, wide, signal in interface(texts[name]):
            if signal in ("aclk", "aresetn"):
                continue
            pins.append(f".{signal}(b{at}_{signal})")
            if signal.startswith("mac"):
                body.append(f"  logic {wide}b{at}_{signal};")
            else:
                ports.append(f"{way} logic {wide}b{at}_{signal}")
        body.append(f"  {name} u_b{at} ({', '.join(pins)});")
        for link in range(links):
            tx, (to, to_link) = f"b{at}_mac{link}_tx_t", far.get((at, link), (-1, 0))
            if to < 0:
                body.append(f"  assign b{at}_mac{link}_tx_tready = 1'b1;")
                body.append(f"  assign b{at}_mac{link}_rx_tvalid = 1'b0;")
                body += [f"  assign b{at}_mac{link}_rx_t{name} = '0;" for name in ("data", "keep", "last", "user")]
                body.append(f"  logic unused_{at}_{link};")
                said = ", ".join(f"{tx}{name}" for name in ("valid", "data", "keep", "last"))
                body.append(f"  assign unused_{at}_{link} = ^{{{said}}};")
                continue
            rx = f"b{to}_mac{to_link}_rx_t"
            body.append(f"  logic [31:0] unused_lost_{at}_{link}, unused_damaged_{at}_{link};")
            body.append(
                f"  gs_mac_model #(.BitsPerKilocycle(64_000), .Flight(20)) u_wire_{at}_{link} (.clk_i, .rst_ni, "
                f".loss_i('0), .damage_i('0), .cut_i(1'b0), .valid_i({tx}valid), .ready_o({tx}ready), "
                f".data_i({tx}data), .keep_i({tx}keep), .last_i({tx}last), .valid_o({rx}valid), .data_o({rx}data), "
                f".keep_o({rx}keep), .last_o({rx}last), .error_o({rx}user), .lost_o(unused_lost_{at}_{link}), "
                f".damaged_o(unused_damaged_{at}_{link}));"
            )
    text = "module cluster_top (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(body) + "\nendmodule\n"
    return text, [sum(1 << link for (board, link) in far if board == at) for at in range(len(boards))]


def scenario(name: str, folder: Path) -> sources.Sources:
    """Writes a design, a cluster of it and what a test must know."""
    design, wired = made(name), DESIGNS[name][3]
    hardware.write(design, folder)
    cluster = str(wired)
    if not isinstance(wired, str):
        cluster = str(folder / "pair.json")
        fpgas = {f"node:acl{at}": board for at, board in enumerate(wired)}
        cables = {"node:acl0:ch0": "node:acl1:ch0"}
        Path(cluster).write_text(json.dumps({"fpgas": fpgas, "connections": cables}))
    ranks, words, _ = hardware.tables(design, cluster)
    kinds = [next(one.design for one in ranks if one.board == board) for board in range(len(words))]
    texts = {board.name: (folder / f"{board.name}.sv").read_text() for board in design.boards}
    text, up = wrapper(cluster, kinds, texts, design.options.links)
    (folder / "cluster_top.sv").write_text(text)
    known = {board["name"]: board for board in json.loads((folder / "design.json").read_text())["boards"]}
    about = {
        "boards": len(kinds),
        "number": design.number,
        "stride": design.stride,
        "words": list(words.values()),
        "up": up,
        "ranks": [
            {
                "board": one.board,
                "slot": one.slot,
                "prefix": f"slot{one.slot}_" if len(known[one.design]["slots"]) > 1 else "",
                "endpoints": known[one.design]["slots"][one.slot]["endpoints"],
            }
            for one in ranks
        ],
    }
    (folder / "scenario.json").write_text(json.dumps(about))
    found = sources.Sources((), ())
    for board in design.boards:
        found += sources.listing(folder / f"{board.name}.f")
    return found + [sources.RTL / "sim" / "link" / "gs_mac_model.sv", folder / "cluster_top.sv"]


@pytest.mark.parametrize("check", ["channels_and_collectives", "faults_are_told"])
@pytest.mark.parametrize("name", RUN)
def test_kernels_over_generated_boards(name: str, check: str, size: Size, seed: int, tmp_path: Path) -> None:
    verilate.cocotb(
        "cluster_top",
        scenario(name, tmp_path),
        "rtl.stream.generated_cocotb",
        only=check,
        seed=seed,
        # cocotb sees all signals, so Verilator takes the joins of a reduction, a chain in an array, for a loop.
        flags=["-Wno-UNOPTFLAT"],
        environment={
            "GENERATED_SCENARIO": str(tmp_path / "scenario.json"),
            "GENERATED_ROUNDS": str(size.pick(2, 4, 100)),
        },
    )
