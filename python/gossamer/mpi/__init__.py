# SPDX-License-Identifier: Apache-2.0
"""MPI programs: compiled with Gossamer's own MPI, and run on this machine or on threads of simulated boards.

The library is C, in ``src/mpi``; ``include/gossamer/mpi/mpi.h`` is its header. docs/mpi.md is for users.
"""

from gossamer.paths import INCLUDE, ROOT

LIBRARY = ROOT / "src" / "mpi"
HEADERS = INCLUDE / "gossamer" / "mpi"
DEVICE = ROOT / "device" / "mpi"
MOST_RANKS = 1024
"""Ranks of a run on this machine."""
CONFIG = "tiny-mpi"
"""The board of a run on engine rtl, unless another is named."""

__all__ = ["CONFIG", "DEVICE", "HEADERS", "LIBRARY", "MOST_RANKS"]
