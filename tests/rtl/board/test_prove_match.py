# SPDX-License-Identifier: Apache-2.0
"""Proofs of the match engines at the board: no packet is lost, duplicated or interleaved, and jobs are isolated."""

from __future__ import annotations

from pathlib import Path

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).parent
# Two engines of two tiles each, so that jobs share an engine and hold different ones.
CONFIG = """base = "tiny-stream"
description = "two match engines at the board, each for two tiles"
[mesh]
height = 2
[cache]
caches_per_dram = 4
[match]
list_entries = 256
on_board = 2
"""
# The matching itself is proved elsewhere (rtl/match). Here the slot may answer anything at any time.
SLOT = ("in_ready_o", "out_valid_o", "out_o", "busy_o", "receives_o", "messages_o")


def cut(*slots: str) -> list[str]:
    """Commands of Yosys that leave the outputs of instances of gs_match_slot to the solver.

    In ``slots``, patterns of Yosys, ? matches a bracket.
    """
    wires = " ".join(f"w:{slot}.{port}" for slot in slots for port in SLOT)
    formal = [f"chformal -remove c:{slot}.*" for slot in slots]
    return [*formal, f"cutpoint {wires}", "opt_clean -purge"]


def files(name: str, folder: Path) -> sources.Sources:
    path = folder / "engines.toml"
    path.write_text(CONFIG)
    return sources.blocks("board/fabric.f", config=configs.load(path)) + [HERE / name]


def test_match_engine_at_the_board_isolates_jobs_and_keeps_packets_whole(tmp_path: Path) -> None:
    """By induction, for any behaviour of the slot."""
    script = [*cut("u_engine.u_slot"), "chformal -assert -remove c:u_engine.packets_of_ended_epochs_never_wait"]
    proof = prove.prove(
        "prove_board_match_engine",
        files("prove_board_match_engine.sv", tmp_path),
        depth=2,
        cover_depth=16,
        script=script,
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def test_board_passes_only_packets_of_its_owner_to_a_match_engine(tmp_path: Path) -> None:
    """By induction: the filter, the owners of the engines and their output.

    Other proofs contain the assertions of the local port, the engines and the arbiters.
    """
    script = [
        *cut("u_match.gen_engine?0?.u_engine.u_slot", "u_match.gen_engine?1?.u_engine.u_slot"),
        "chformal -assert -remove c:u_match.gen_engine*",
        "chformal -assert -remove c:u_match.u_port.*",
        "chformal -assert -remove c:u_match.u_drops.*",
    ]
    proof = prove.prove(
        "prove_board_match",
        files("prove_board_match.sv", tmp_path),
        depth=2,
        cover_depth=7,
        script=script,
    )
    assert proof.passed, f"{proof.reason}; see {proof.log}"
