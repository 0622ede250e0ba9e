# SPDX-License-Identifier: Apache-2.0
"""Models and harnesses that tests and benchmarks share. ``bench/`` uses nothing else from ``tests/``.

The folder of a block's name contains the top and the C++ harness around it.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
INCLUDE = FOLDER / "include"
"""Headers that harnesses share: ``check.h``, ``flit.h``, ``reduce.h``."""
