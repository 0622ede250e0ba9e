# SPDX-License-Identifier: Apache-2.0
"""Boards generated from programs: lint, Yosys, reproducible output, and kernels on boards connected by wires."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer import routes, smi
from gossamer.hdl import sources, synth, verilate
from gossamer.paths import ROOT
from gossamer.smi import hardware

HERE = Path(__file__).resolve().parent
GESUMMV = [str(ROOT / "examples" / "gesummv" / f"gesummv_rank{rank}.cl") for rank in range(2)]
STENCIL = [str(ROOT / "examples" / "streams" / "stencil.cpp")]
ALL = [str(HERE / "all_ports.c")]
PASSING = [str(HERE / "passing.c")]
# Programs, boards by their programs, options, and a cluster or the designs of a pair of boards.
DESIGNS = {
    "gesummv": (GESUMMV, [], hardware.Options(links=2), ("gesummv_rank0", "gesummv_rank1")),
    "gesummv-one-board": (GESUMMV, ["gesummv_rank0,gesummv_rank1"], hardware.Options(links=1), ()),
    "stencil": (STENCIL, [], hardware.Options(links=2), "ring4"),
    "all": (ALL, [], hardware.Options(links=4), "torus8"),
    "all-two-ranks": (
        ALL, ["all_ports,all_ports"], hardware.Options(links=1, edges=1, depth=64, lanes={3: 2}),
        ("all_ports_all_ports",),
    ),
    "passing": (
        PASSING, ["passing,passing"], hardware.Options(links=1, boards=2, depth=16),
        ("passing_passing",),
    ),
}  # fmt: skip
RUN = ["gesummv", "stencil", "all-two-ranks"]
Wires = dict[tuple[int, int], tuple[int, int]]
"""By board and MAC, the board and MAC at the other end of the cable."""
_PORT = re.compile(r"^  (input |output) logic (\[\d+:0\] )?(\w+),?$", re.MULTILINE)


def made(name: str) -> hardware.Design:
    files, boards, options, _ = DESIGNS[name]
    return hardware.design(files, boards, options=options)


def interface(text: str) -> list[tuple[str, str, str]]:
    """Direction, range and name of a top's ports."""
    return _PORT.findall(text[: text.index(");")])


@pytest.mark.default_cases(
    "gesummv", seconds=49, adds="designs with all operations, or with subsets of the same blocks"
)
@pytest.mark.parametrize("name", DESIGNS)
def test_designs_are_warning_free_and_reproducible(name: str, tmp_path: Path) -> None:
    files = hardware.write(made(name), tmp_path / "one")
    again = hardware.write(made(name), tmp_path / "two")
    assert [path.read_bytes() for path in files] == [path.read_bytes() for path in again]
    for board in made(name).boards:
        design = sources.listing(tmp_path / "one" / f"{board.name}.f")
        assert verilate.lint(board.name, design) == ""
        assert synth.elaborate(board.name, design) == ""


def test_board_has_exactly_the_used_halves(tmp_path: Path) -> None:
    hardware.write(made("gesummv"), tmp_path)
    names = {
        rank: {name for _, _, name in interface((tmp_path / f"gesummv_rank{rank}.sv").read_text()) if "port" in name}
        for rank in range(2)
    }
    assert {name.rsplit("_t", 1)[0] for name in names[0]} == {"port0_send_open", "port0_send"}
    assert {name.rsplit("_t", 1)[0] for name in names[1]} == {"port0_receive_open", "port0_receive"}
    hardware.write(made("all-two-ranks"), tmp_path)
    everything = {
        name.rsplit("_t", 1)[0] for _, _, name in interface((tmp_path / "all_ports_all_ports.sv").read_text())
    }
    assert {"slot0_port10_barrier_come", "slot1_port7_scatter_take", "slot1_port2_send"} <= everything


@pytest.mark.tier("all", seconds=31, adds="the cells of two synthesized boards")
def test_unused_half_costs_nothing() -> None:
    """The halves of a port share little but the endpoint: each alone is about half of it, and only the receiving half
    has the receive buffer."""
    design = sources.blocks("stream/stream.f", config=configs.load("tiny"))
    about = {"Ports": 1, "Bytes": 4, "Depth": 256}
    whole, sends, receives = (
        synth.luts("gs_stream_endpoint", design, "xc7", {**about, **without})
        for without in ({}, {"Receives": 0}, {"Sends": 0})
    )
    assert sends.block_rams == 0 < receives.block_rams == whole.block_rams
    assert max(sends.luts, receives.luts) < 0.7 * whole.luts
    assert max(sends.ffs, receives.ffs) < 0.7 * whole.ffs


def wires(design: hardware.Design, cluster: str) -> Wires:
    """The cables of a cluster of boards of a design."""
    read = routes.read_topology(cluster).cluster
    macs = hardware.links(design, cluster)

    def end(board: int, link: int) -> tuple[int, int]:
        here = read.boards[board]
        return board, macs[here.name][here.config.links.names[link]]

    pairs = [(end(one.a, one.a_link), end(one.b, one.b_link)) for one in read.cables]
    return dict([*pairs, *((b, a) for a, b in pairs)])


def up(far: Wires, boards: int) -> list[int]:
    """By board, a bit mask of the connected MACs."""
    return [sum(1 << mac for board, mac in far if board == at) for at in range(boards)]


def wrapper(far: Wires, boards: list[str], texts: dict[str, str], links: int) -> str:
    """All boards connected by wires; all other signals are ports of the wrapper."""
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
    return "module cluster_top (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(body) + "\nendmodule\n"


def scenario(name: str, folder: Path) -> sources.Sources:
    """Writes a design, a cluster of it and the parameters of a test."""
    design, wired = made(name), DESIGNS[name][3]
    hardware.write(design, folder)
    cluster = str(wired)
    if not isinstance(wired, str):
        cluster = str(folder / "pair.json")
        fpgas = {f"node:acl{at}": board for at, board in enumerate(wired)}
        cables = {"node:acl0:ch0": "node:acl1:ch0"} if len(wired) > 1 else {}
        Path(cluster).write_text(json.dumps({"fpgas": fpgas, "connections": cables}))
    ranks, words, _ = hardware.tables(design, cluster)
    kinds = [next(one.design for one in ranks if one.board == board) for board in range(len(words))]
    texts = {board.name: (folder / f"{board.name}.sv").read_text() for board in design.boards}
    far = wires(design, cluster)
    (folder / "cluster_top.sv").write_text(wrapper(far, kinds, texts, design.options.links))
    known = {board["name"]: board for board in json.loads((folder / "design.json").read_text())["boards"]}
    about = {
        "boards": len(kinds),
        "number": design.number,
        "stride": design.stride,
        "words": list(words.values()),
        "up": up(far, len(kinds)),
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
    return found + [sources.SIM / "link" / "gs_mac_model.sv", folder / "cluster_top.sv"]


@pytest.mark.parametrize("check", ["channels_and_collectives", "faults_are_reported"])
@pytest.mark.parametrize("name", RUN)
def test_kernels_over_generated_boards_exchange_correct_data(
    name: str, check: str, size: Size, seed: int, tmp_path: Path
) -> None:
    # A model takes minutes to build; test_generated_cluster.py has all ports in one of its own.
    if size.pick(True, True, False):
        pytest.skip("only in --full")
    run(name, check, size.pick(2, 4, 100), seed, tmp_path)


@pytest.mark.parametrize("check", ["queued_messages_overtake_waiting_ones", "faults_are_reported"])
def test_queued_messages_overtake_waiting_messages(check: str, size: Size, seed: int, tmp_path: Path) -> None:
    """Messages overtake messages that wait for their receiver."""
    run("passing", check, size.pick(2, 4, 100), seed, tmp_path)


def run(name: str, check: str, rounds: int, seed: int, folder: Path) -> None:
    verilate.cocotb(
        "cluster_top",
        scenario(name, folder),
        "rtl.stream.generated_cocotb",
        only=check,
        seed=seed,
        environment={
            "GENERATED_SCENARIO": str(folder / "scenario.json"),
            "GENERATED_ROUNDS": str(rounds),
        },
    )


APPLICATION = """
module gesummv_app (
  input logic clk_i, input logic rst_ni,
  // Rank 0 multiplies A, and rank 1 B: alpha, columns and rows; vector, and matrix
{declared},
  output logic y_tvalid, input logic y_tready, output logic [31:0] y_tdata
);
  logic b0_port0_send_open_tvalid, b0_port0_send_open_tready, b0_port0_send_tvalid, b0_port0_send_tready;
  logic b1_port0_receive_open_tvalid, b1_port0_receive_open_tready, b1_port0_receive_tvalid, b1_port0_receive_tready;
  logic b1_port0_receive_tlast;
  logic [39:0] b0_port0_send_open_tdata, b1_port0_receive_open_tdata;
  logic [31:0] b0_port0_send_tdata, b1_port0_receive_tdata;
  logic [3:0] b1_port0_receive_tkeep;
  logic right_valid, right_ready, unused;
  logic [31:0] right;
  assign unused = ^{{b1_port0_receive_tkeep, b1_port0_receive_tlast}};
  cluster_top u_cluster (.*);
  // A rank opens its channel when it begins: to rank 1, from rank 0, as many elements as rows.
  always_ff @(posedge clk_i) begin
    b0_port0_send_open_tvalid <= rst_ni && ((k0_start_tvalid && k0_start_tready)
                                 || (b0_port0_send_open_tvalid && !b0_port0_send_open_tready));
    b1_port0_receive_open_tvalid <= rst_ni && ((k1_start_tvalid && k1_start_tready)
                                    || (b1_port0_receive_open_tvalid && !b1_port0_receive_open_tready));
    if (k0_start_tvalid && k0_start_tready) b0_port0_send_open_tdata <= {{8'd1, k0_start_tdata[31:0]}};
    if (k1_start_tvalid && k1_start_tready) b1_port0_receive_open_tdata <= {{8'd0, k1_start_tdata[31:0]}};
  end
  gs_kernel_gemv #(.Columns(256)) u_a (
    .clk_i, .rst_ni, .start_valid_i(k0_start_tvalid), .start_ready_o(k0_start_tready), .rows_i(k0_start_tdata[31:0]),
    .columns_i(k0_start_tdata[40:32]), .alpha_i(k0_start_tdata[79:48]), .x_valid_i(k0_x_tvalid),
    .x_ready_o(k0_x_tready), .x_i(k0_x_tdata), .a_valid_i(k0_a_tvalid), .a_ready_o(k0_a_tready), .a_i(k0_a_tdata),
    .y_valid_o(b0_port0_send_tvalid), .y_ready_i(b0_port0_send_tready), .y_o(b0_port0_send_tdata)
  );
  gs_kernel_gemv #(.Columns(256)) u_b (
    .clk_i, .rst_ni, .start_valid_i(k1_start_tvalid), .start_ready_o(k1_start_tready), .rows_i(k1_start_tdata[31:0]),
    .columns_i(k1_start_tdata[40:32]), .alpha_i(k1_start_tdata[79:48]), .x_valid_i(k1_x_tvalid),
    .x_ready_o(k1_x_tready), .x_i(k1_x_tdata), .a_valid_i(k1_a_tvalid), .a_ready_o(k1_a_tready), .a_i(k1_a_tdata),
    .y_valid_o(right_valid), .y_ready_i(right_ready), .y_o(right)
  );
  gs_kernel_axpy u_axpy (
    .clk_i, .rst_ni, .left_valid_i(b1_port0_receive_tvalid), .left_ready_o(b1_port0_receive_tready),
    .left_i(b1_port0_receive_tdata), .right_valid_i(right_valid), .right_ready_o(right_ready), .right_i(right),
    .y_valid_o(y_tvalid), .y_ready_i(y_tready), .y_o(y_tdata)
  );
  logic unused_start;
  assign unused_start = ^{{k0_start_tdata[47:41], k1_start_tdata[47:41]}};
endmodule
"""


def test_gesummv_in_hardware_matches_emulator_and_numpy(size: Size, seed: int, tmp_path: Path) -> None:
    """GESUMMV of two ranks, kernels and all, over the boards generated from its own sources: y is that of the emulator,
    which runs these sources, and of NumPy, to the bit."""
    if size.pick(True, True, False):
        pytest.skip("only in --full")  # its model takes two minutes to build
    design = scenario("gesummv", tmp_path)
    # The board's folder has copies of the shared files.
    have = {path.name for path in design.files}
    kernels = sources.listing(sources.RTL / "stream" / "kernels" / "gesummv.f")
    design += [path for path in kernels.files if path.name not in have]
    cluster = (tmp_path / "cluster_top.sv").read_text()
    axil = re.findall(r"^  ((?:input |output) logic (?:\[\d+:0\] )?b\d_s_axil_\w+)", cluster, re.MULTILINE)
    streams = []
    for rank in range(2):
        for name, bits in (("start", 80), ("x", 32), ("a", 32)):
            signal = f"k{rank}_{name}_t"
            streams.append(
                f"input logic {signal}valid, output logic {signal}ready, input logic [{bits - 1}:0] {signal}data"
            )
    text = APPLICATION.format(declared=",\n".join(f"  {one}" for one in [*axil, *streams]))
    (tmp_path / "gesummv_app.sv").write_text(text)
    random = np.random.default_rng(seed)
    problems = []
    for number, n in enumerate([13, 64, *([256] if size.pick(False, False, True) else [])]):
        a, b = (random.standard_normal((n, n)).astype(np.float32) for _ in range(2))
        x = random.standard_normal(n).astype(np.float32)
        names = {}
        for name, data in (("A", a), ("B", b), ("x", x)):
            names[name] = tmp_path / f"{name}{number}.bin"
            names[name].write_bytes(data.tobytes())
        out = tmp_path / f"y{number}.bin"
        words = [f"{name}={path}" for name, path in names.items()]
        done = smi.run(
            GESUMMV, topology=str(ROOT / "examples" / "gesummv" / "two.json"),
            arguments=[f"N={n}", "alpha=1.5", "beta=-0.7", *words, f"y={n}:{out}"],
        )  # fmt: skip
        assert done.code == 0
        sums = np.zeros((2, n), np.float32)
        for column in range(n):
            sums[0] += a[:, column] * x[column]
            sums[1] += b[:, column] * x[column]
        y = np.float32(1.5) * sums[0] + np.float32(-0.7) * sums[1]
        assert out.read_bytes() == y.tobytes(), "emulator and NumPy disagree"
        problems.append({"n": n, "alpha": 1.5, "beta": -0.7, **{name: str(path) for name, path in names.items()},
                         "y": str(out)})  # fmt: skip
    (tmp_path / "problems.json").write_text(json.dumps(problems))
    verilate.cocotb(
        "gesummv_app",
        design + [tmp_path / "gesummv_app.sv"],
        "rtl.stream.generated_cocotb",
        only="gesummv",
        seed=seed,
        environment={
            "GENERATED_SCENARIO": str(tmp_path / "scenario.json"),
            "GENERATED_PROBLEMS": str(tmp_path / "problems.json"),
            "GENERATED_RESULTS": str(tmp_path / "results"),
        },
    )
    print((tmp_path / "results").read_text())


GEMV = """
module gemv_top (
  input logic clk_i, input logic rst_ni,
  input logic start_tvalid, output logic start_tready, input logic [79:0] start_tdata,
  input logic x_tvalid, output logic x_tready, input logic [31:0] x_tdata,
  input logic a_tvalid, output logic a_tready, input logic [31:0] a_tdata,
  output logic y_tvalid, input logic y_tready, output logic [31:0] y_tdata
);
  logic unused;
  assign unused = ^start_tdata[47:39];
  gs_kernel_gemv #(.Columns(64), .Queue(8)) u_gemv (
    .clk_i, .rst_ni, .start_valid_i(start_tvalid), .start_ready_o(start_tready), .rows_i(start_tdata[31:0]),
    .columns_i(start_tdata[38:32]), .alpha_i(start_tdata[79:48]), .x_valid_i(x_tvalid), .x_ready_o(x_tready),
    .x_i(x_tdata), .a_valid_i(a_tvalid), .a_ready_o(a_tready), .a_i(a_tdata), .y_valid_o(y_tvalid),
    .y_ready_i(y_tready), .y_o(y_tdata)
  );
endmodule
"""


def test_gemv_kernel_matches_numpy(seed: int, tmp_path: Path) -> None:
    (tmp_path / "gemv_top.sv").write_text(GEMV)
    design = sources.blocks("stream/kernels/gesummv.f", config=configs.load("tiny")) + [tmp_path / "gemv_top.sv"]
    verilate.cocotb("gemv_top", design, "rtl.stream.generated_cocotb", only="gemv", seed=seed)
