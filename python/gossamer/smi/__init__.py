# SPDX-License-Identifier: Apache-2.0
"""Streaming messages (SMI): programs in C, C++ and OpenCL whose ranks exchange elements over channels.

from gossamer import smi
result = smi.run(["pipeline.c"], ranks=8, arguments=["1000"])
result.operations       # pushes, pops and calls of collectives, over all ranks
"""

from __future__ import annotations

from gossamer.smi._programs import Program, build
from gossamer.smi._ranks import Place, places
from gossamer.smi._run import LEAST_WAIT, TRACE_BYTES, OnBoards, Options, Result, run

__all__ = [
    "LEAST_WAIT",
    "TRACE_BYTES",
    "OnBoards",
    "Options",
    "Place",
    "Program",
    "Result",
    "build",
    "places",
    "run",
]
