# SPDX-License-Identifier: Apache-2.0
"""MPI programs: compiled with Gossamer's MPI library, run on this machine or on threads of simulated boards.

The library is in ``src/mpi``, its header is ``include/gossamer/mpi/mpi.h``; docs/mpi.md is the user's guide.
"""

from gossamer.paths import INCLUDE, ROOT

LIBRARY = ROOT / "src" / "mpi"
HEADERS = INCLUDE / "gossamer" / "mpi"
DEVICE = ROOT / "device" / "mpi"
MOST_RANKS = 1024
"""Ranks of a run on this machine."""
CONFIG = "tiny-mpi"
"""The default configuration of engine rtl."""

__all__ = ["CONFIG", "DEVICE", "HEADERS", "LIBRARY", "MOST_RANKS"]
