# SPDX-License-Identifier: Apache-2.0
"""Backend of NetworkX: answers its functions with Gossamer's applications.

nx.pagerank(G, backend="gossamer")            # one call
nx.config.backend_priority.algos = ["gossamer"]  # all calls that it can answer

NetworkX finds it by the entry points ``networkx.backends`` and ``networkx.backend_info``. ``recorded`` lists the calls
that were answered.
"""

from __future__ import annotations

from typing import Any

from gossamer.networkx_backend._info import get_info

_PUBLIC = {
    "Call": "gossamer.networkx_backend._records",
    "ConvertedGraph": "gossamer.networkx_backend._graph",
    "backend": "gossamer.networkx_backend._interface",
    "recorded": "gossamer.networkx_backend._records",
}

__all__ = ["Call", "ConvertedGraph", "backend", "get_info", "recorded"]


def __getattr__(name: str) -> Any:
    """Loads a name on first use: NetworkX imports this module whenever it is imported itself."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'gossamer.networkx_backend' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
