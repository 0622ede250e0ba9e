# SPDX-License-Identifier: Apache-2.0
"""Hardware from programs: boards with exactly the endpoints that their kernels use, and the tables that hosts write.

from gossamer.smi import hardware
made = hardware.design(["rank0.cl", "rank1.cl"])
hardware.write(made, "build/gesummv")           # SystemVerilog, host header, project files
"""

from __future__ import annotations

from gossamer.smi.hardware._boot import Place, links, tables
from gossamer.smi.hardware._design import Board, Design, Endpoint, Options, design
from gossamer.smi.hardware._files import write, write_tables

__all__ = ["Board", "Design", "Endpoint", "Options", "Place", "design", "links", "tables", "write", "write_tables"]
