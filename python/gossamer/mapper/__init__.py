# SPDX-License-Identifier: Apache-2.0
"""From the vertices of a graph to the threads of a machine: who holds which vertex, and the tables of each thread.

``machine`` says what there is to map to, ``partition`` gives each vertex a thread, ``tables`` makes what the threads'
softswitch (``device/include/gossamer/softswitch.h``) reads, ``patches`` changes them in place, ``records`` says what
the boards' multicast routers do.
"""

from __future__ import annotations

from gossamer.mapper.layout import Layout, Problem, Relation
from gossamer.mapper.machine import Machine
from gossamer.mapper.multicast_tables import Network
from gossamer.mapper.outcome import Outcome
from gossamer.mapper.partition import METHODS, Cut, Mapping, assign, cut
from gossamer.mapper.patches import Full, Patches
from gossamer.mapper.tables import Spare, Tables, TooWide

__all__ = [
    "METHODS",
    "Cut",
    "Full",
    "Layout",
    "Machine",
    "Mapping",
    "Network",
    "Outcome",
    "Patches",
    "Problem",
    "Relation",
    "Spare",
    "Tables",
    "TooWide",
    "assign",
    "cut",
]
