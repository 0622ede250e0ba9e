# SPDX-License-Identifier: Apache-2.0
"""Proofs of the shared-datapath switch by induction: its ingresses, and all between them and the ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).parent
OUTPUTS = ("credit_o", "head_valid_o", "granted_o", "head_o", "left_o", "settled_o", "last_o", "data_o", "empty_o")
REGISTERS = ["memory_map", "opt -full"]


def check(top: str, cover_depth: int, script: list[str]) -> None:
    files = sources.blocks("switch", config=configs.load("quad")) + [HERE / f"{top}.sv"]
    proof = prove.prove(top, files, depth=2, cover_depth=cover_depth, script=[*script, *REGISTERS])
    assert proof.passed, f"{proof.reason}; see {proof.log}"


@pytest.mark.tier("all", seconds=105, adds="flits, packets and credits of an ingress of the shared datapath")
def test_shared_ingress_loses_no_flit_and_starves_no_packet() -> None:
    # The ingress's own assertions are about all lanes; the proof states them for one of the solver's choice.
    check("prove_shared_ingress", 16, ["chformal -assert -remove c:u_ingress.*"])


def test_shared_datapath_interleaves_no_packets_and_starves_no_lane() -> None:
    """For any behaviour of the ingresses that the proof of the ingress allows."""
    cuts = " ".join(f"w:u_switch.gen_port?{port}?.u_ingress.{name}" for port in range(3) for name in OUTPUTS)
    script = [
        "chformal -remove c:u_switch.gen_port*u_ingress*",
        "chformal -assert -remove c:u_switch.*",
        f"cutpoint {cuts}",
        "opt_clean -purge",
    ]
    check("prove_shared_datapath", 14, script)
