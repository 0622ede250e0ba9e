# SPDX-License-Identifier: Apache-2.0
"""The compression of BLAKE2s in hardware against Python's hashlib."""

from __future__ import annotations

from gossamer.hdl import sources, verilate


def test_digests_equal_those_of_hashlib(seed: int) -> None:
    verilate.cocotb("gs_blake2s", sources.blocks("shell"), "rtl.shell.blake2s_cocotb", seed=seed)
