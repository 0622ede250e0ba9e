# SPDX-License-Identifier: Apache-2.0
"""Bounded proofs of match engines: all sequences of some requests, against plain lists; CAM and lists by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size, current_size

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).parent


def files(name: str) -> sources.Sources:
    return sources.blocks("match", config=configs.load("tiny")) + [HERE / name]


def test_the_cam_keeps_entries_and_their_order(size: Size) -> None:
    depth, entries = size.pick((8, 3), (10, 3), (16, 5))
    proof = prove.prove(
        "prove_cam", files("prove_cam.sv"), mode="bmc", depth=depth, parameters={"Entries": entries}, cover_depth=16
    )
    assert proof, proof.reason


@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_lists_of_a_class_keep_entries_and_their_order(kind: int, size: Size) -> None:
    """Deep enough for three entries of one list that leave in any order, and a lookup behind it."""
    if kind not in size.pick((3,), (3,), (0, 1, 2, 3)):
        pytest.skip("only in --full")
    proof = prove.prove(
        "prove_class",
        files("prove_class.sv"),
        mode="bmc",
        depth=size.pick(32, 44, 56),
        parameters={"Class": kind},
        cover_depth=46,
        timeout=3 * 3600,
        script=["memory_map", "setundef -init -zero", "opt -full"],
    )
    assert proof, proof.reason


@pytest.mark.skipif(current_size().name != "full", reason="the solver takes minutes to hours: --full")
@pytest.mark.parametrize("name", ["hashed-match", "hashed-order", "two-level", "parallel"])
def test_every_sequence_of_requests_is_answered_as_by_lists(name: str) -> None:
    """Of two requests behind strangers that fill the CAM, with any keys and secret.

    For the hashed engine their ops are given, since the solver ends in minutes then: a receive and a message, or two
    receives and a message, which must get the older that matches. All else is the solver's, wildcards as well.
    Memories begin with zeros, so that the solver sees that most bits of keys never change.
    """
    shapes = {
        "hashed-match": {"Architecture": 0, "StrangePosts": 2, "Requests": 4, "Ops": 0x21},
        "hashed-order": {"Architecture": 0, "StrangePosts": 2, "Requests": 5, "Ops": 0x211},
        "two-level": {"Architecture": 1, "StrangePosts": 2, "Requests": 4},
        "parallel": {"Architecture": 1, "Lists": 2, "StrangePosts": 2, "Requests": 4},
    }
    proof = prove.prove(
        "prove_match",
        files("prove_match.sv"),
        mode="bmc",
        depth=34 if name == "hashed-match" else 40,
        parameters={**shapes[name], "Steady": 1},
        cover_depth=44,
        timeout=6 * 3600,
        script=["memory_map", "setundef -init -zero", "opt -full", "opt -full"],
    )
    assert proof, proof.reason
