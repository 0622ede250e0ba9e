# SPDX-License-Identifier: Apache-2.0
"""What must never happen in the shell: an image with a missing or a foreign byte is loaded, or two images mix."""

from __future__ import annotations

from pathlib import Path

from gossamer.hdl import prove, sources

TOP = Path(__file__).parent / "prove_image.sv"
MUX = Path(__file__).parent / "prove_config_mux.sv"


def test_no_image_is_loaded_with_a_part_that_was_not_verified() -> None:
    """For any requests of the firmware, in the first 30 cycles; an image of two blocks is loaded within them."""
    proof = prove.prove("prove_image", sources.blocks("shell/image.f") + [TOP], mode="bmc", depth=30, cover_depth=40)
    assert proof.passed, f"{proof.reason}; see {proof.log}"


def test_words_of_two_sources_never_mix_and_each_end_is_reported_once() -> None:
    """By induction, so for ever, and for any behaviour of both sources and of the port."""
    proof = prove.prove("prove_config_mux", sources.blocks("shell/config_mux.f") + [MUX], depth=6)
    assert proof.passed, f"{proof.reason}; see {proof.log}"
