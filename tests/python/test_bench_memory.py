# SPDX-License-Identifier: Apache-2.0
"""Memory of processes: each counts only its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from gossamer.bench.memory import watched

_HOLD = "import time; held = bytearray(60_000_000); held[::4096] = b'x' * len(held[::4096]); time.sleep(0.5)"


def test_memory_of_a_child_excludes_that_of_its_parent() -> None:
    held = np.ones(50_000_000)  # 400 MB
    with watched() as peaks:
        subprocess.run([sys.executable, "-I", "-c", _HOLD], check=True)
    assert held[-1] == 1
    (child,) = (peak for pid, peak in peaks.items() if pid != os.getpid())
    assert peaks[os.getpid()] > 400e6 and 60e6 < child < 200e6
