# SPDX-License-Identifier: Apache-2.0
"""Bounded proofs of match engines: all sequences of a few requests, compared with a model; CAM and lists alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Size, current_size

from gossamer import config as configs
from gossamer.hdl import prove, sources

HERE = Path(__file__).parent


def files(name: str) -> sources.Sources:
    return sources.blocks("match", config=configs.load("tiny")) + [HERE / name]


def test_cam_finds_the_oldest_match(size: Size) -> None:
    depth, entries, group, part = size.pick((8, 3, 2, 1), (10, 3, 2, 1), (16, 5, 4, 2))
    proof = prove.prove(
        "prove_cam",
        files("prove_cam.sv"),
        mode="bmc",
        depth=depth,
        parameters={"Entries": entries, "Group": group, "Part": part},
        cover_depth=16,
    )
    assert proof, proof.reason


@pytest.mark.default_cases("[012]", seconds=9, adds="the deepest of the four proofs")
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
def test_lists_of_a_class_find_the_oldest_match(kind: int, size: Size) -> None:
    """Deep enough for three entries of one list, removed in any order, and a lookup after that."""
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


HASHED = {
    # Ops of requests, the first in the lowest digit: 1 a receive, 2 a message, 3 a cancel. And cycles.
    "hashed-match": (0x21, 34),
    # A message has two receives to choose from; a receive two messages; two messages meet one receive.
    "hashed-order": (0x211, 40),
    "hashed-messages": (0x122, 40),
    "hashed-second": (0x221, 40),
    # A message after a cancelled receive.
    "hashed-cancel": (0x231, 44),
}


@pytest.mark.timeout(7 * 3600)
@pytest.mark.skipif(current_size().name != "large", reason="the solver takes minutes to hours: --full")
@pytest.mark.parametrize("name", [*HASHED, "two-level", "parallel"])
def test_every_sequence_of_requests_matches_model(name: str) -> None:
    """Two or three requests after strangers that fill the CAM, with any keys and secret.

    For the hashed engine their ops are given, since the solver ends in minutes then. All else is the solver's, as are
    wildcards. Memories begin with zeros, so that the solver sees that most bits of keys never change.
    """
    ops, depth = HASHED.get(name, (0, 40))
    shape = {"Architecture": 0, "Requests": 2 + len(f"{ops:x}"), "Ops": ops}
    if name not in HASHED:
        shape = {"Architecture": 1, "Requests": 4, "Lists": 1 if name == "two-level" else 2}
    proof = prove.prove(
        "prove_match",
        files("prove_match.sv"),
        mode="bmc",
        depth=depth,
        parameters={**shape, "StrangePosts": 2, "Steady": 1},
        cover_depth=depth + 4,
        timeout=6 * 3600,
        script=["memory_map", "setundef -init -zero", "opt -full", "opt -full"],
    )
    assert proof, proof.reason
