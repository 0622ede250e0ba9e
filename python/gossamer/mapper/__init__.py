# SPDX-License-Identifier: Apache-2.0
"""From the vertices of a graph to the threads of a machine: who holds which vertex, and the tables of each thread.

``machine`` says what there is to map to, ``partition`` gives each vertex a thread, ``tables`` makes what the threads'
softswitch (``device/include/gossamer/softswitch.h``) reads.
"""

from __future__ import annotations

from gossamer.mapper.machine import Machine
from gossamer.mapper.partition import METHODS, Mapping, assign
from gossamer.mapper.tables import Layout, Problem, Relation, Tables, TooWide

__all__ = ["METHODS", "Layout", "Machine", "Mapping", "Problem", "Relation", "Tables", "TooWide", "assign"]
