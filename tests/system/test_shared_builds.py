# SPDX-License-Identifier: Apache-2.0
"""Products that many tests use: built first, so that no test waits for another's build."""

from __future__ import annotations

import os

import pytest

import gossamer_setup
from gossamer import config as configs
from gossamer import native
from gossamer.smi import _compile

pytestmark = pytest.mark.builds


def test_library_is_built() -> None:
    assert native.ensure_built().is_file()


def test_simulator_of_tiny_boards_is_built() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    assert os.access(_rtl_build.cluster(configs.load("tiny")), os.X_OK)


def test_emulator_of_streams_is_built() -> None:
    gossamer_setup.require("smi")
    assert os.access(_compile.emulator(), os.X_OK)
