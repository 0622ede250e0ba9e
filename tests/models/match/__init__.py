# SPDX-License-Identifier: Apache-2.0
"""Match engines in simulation: the reference model, models of published engines, and the harness (engine_bench)."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_TESTS = _HERE.parents[1]
REFERENCE = _HERE / "reference.cc"
BASELINES = _HERE / "baselines.cc"
ENGINE_BENCH = _HERE / "engine_bench.cc"
INCLUDE = (_TESTS, _TESTS / "models" / "include")
"""Folders of headers that a harness needs, for ``models/match/*.h`` and ``check.h``."""
