# SPDX-License-Identifier: Apache-2.0
"""Gossamer: an open stack for clusters of FPGAs.

import gossamer as gs
result = gs.run("pagerank", gs.read_graph("web.mtx.gz"))
result.values  # a NumPy array, one rank per vertex
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Graph": "gossamer.graph",
    "read_graph": "gossamer.graph",
    "write_graph": "gossamer.graph",
    "Result": "gossamer.apps.results",
    "run": "gossamer.apps.runner",
    "start": "gossamer.apps.resumable",
    "Run": "gossamer.apps.resumable",
    "GossamerError": "gossamer.errors",
    "GraphWarning": "gossamer.errors",
    "InputError": "gossamer.errors",
    "NoAnswer": "gossamer.errors",
}

__all__ = [
    "GossamerError",
    "Graph",
    "GraphWarning",
    "InputError",
    "NoAnswer",
    "Result",
    "Run",
    "__version__",
    "read_graph",
    "run",
    "start",
    "write_graph",
]


def __getattr__(name: str) -> Any:
    """Loads a public name on first use: `import gossamer` alone costs nothing."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value
