# SPDX-License-Identifier: Apache-2.0
"""Gossamer: an open stack for clusters of FPGAs.

import gossamer as gs
result = gs.run("pagerank", gs.read_graph("web.mtx.gz"))
result.values  # a NumPy array, one rank per vertex
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer_setup._version import VERSION as __version__

if TYPE_CHECKING:
    # For editors and type checkers; at run time names are loaded on first use.
    from gossamer.apps.app import vertex as vertex
    from gossamer.apps.results import Result as Result
    from gossamer.apps.resumable import Run as Run
    from gossamer.apps.resumable import start as start
    from gossamer.apps.runner import run as run
    from gossamer.engines.distributed import Distributed as Distributed
    from gossamer.errors import GossamerError as GossamerError
    from gossamer.errors import GraphWarning as GraphWarning
    from gossamer.errors import InputError as InputError
    from gossamer.errors import NoAnswer as NoAnswer
    from gossamer.graph import Graph as Graph
    from gossamer.graph import read_graph as read_graph
    from gossamer.graph import write_graph as write_graph

_PUBLIC = {
    "Graph": "gossamer.graph",
    "read_graph": "gossamer.graph",
    "write_graph": "gossamer.graph",
    "Result": "gossamer.apps.results",
    "run": "gossamer.apps.runner",
    "vertex": "gossamer.apps.app",
    "start": "gossamer.apps.resumable",
    "Run": "gossamer.apps.resumable",
    "Distributed": "gossamer.engines.distributed",
    "GossamerError": "gossamer.errors",
    "GraphWarning": "gossamer.errors",
    "InputError": "gossamer.errors",
    "NoAnswer": "gossamer.errors",
}

__all__ = [
    "Distributed",
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
    "vertex",
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


def __dir__() -> list[str]:
    """The public names, also those that are not loaded yet: for completion in editors and notebooks."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
