# SPDX-License-Identifier: Apache-2.0
"""Maps the vertices of a graph to the threads of a machine, and builds the tables of each thread.

``machine`` describes the machine, ``partition`` assigns each vertex a thread, ``tables`` builds the tables that the
threads' softswitch (``device/include/gossamer/softswitch.h``) reads, ``patches`` changes them in place,
``multicast_tables`` builds those of the boards' multicast routers.
"""

from __future__ import annotations

from gossamer.mapper.cuts import cut_of
from gossamer.mapper.layout import Layout, Problem, Relation
from gossamer.mapper.machine import Machine
from gossamer.mapper.multicast_tables import Network
from gossamer.mapper.outcome import Outcome
from gossamer.mapper.partition import METHODS, Cut, Mapping, assign, cut, place
from gossamer.mapper.patches import OutOfSpace, Patches
from gossamer.mapper.regions import TooLarge, check_least, least_bytes
from gossamer.mapper.tables import Spare, Tables, TooWide

__all__ = [
    "METHODS",
    "Cut",
    "Layout",
    "Machine",
    "Mapping",
    "Network",
    "OutOfSpace",
    "Outcome",
    "Patches",
    "Problem",
    "Relation",
    "Spare",
    "Tables",
    "TooLarge",
    "TooWide",
    "assign",
    "check_least",
    "cut",
    "cut_of",
    "least_bytes",
    "place",
]
