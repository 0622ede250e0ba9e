# SPDX-License-Identifier: Apache-2.0
"""What the hardware's tests need before the first of them runs: simulator, golden model, synthesis, solver."""

from __future__ import annotations

import platform

import pytest

import gossamer_setup


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    """Installs the groups where they are missing, so that a fresh checkout runs these tests and does not skip them."""
    if platform.machine() != "x86_64":
        pytest.skip(f"the simulator and the solver have no builds for {platform.machine()}")
    gossamer_setup.require("core", "rtl", "golden", "synth")
