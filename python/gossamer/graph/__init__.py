# SPDX-License-Identifier: Apache-2.0
"""Graphs: in memory (Graph, CSR), in files (read_graph, write_graph), and generated from a seed (generate)."""

from __future__ import annotations

from gossamer.graph import generate
from gossamer.graph._adjlist import LabelTable
from gossamer.graph._graph import Graph
from gossamer.graph._read import FORMATS, read_graph
from gossamer.graph._rows import CSR
from gossamer.graph._write import write_graph

__all__ = ["CSR", "FORMATS", "Graph", "LabelTable", "generate", "read_graph", "write_graph"]
