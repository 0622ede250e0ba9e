# SPDX-License-Identifier: Apache-2.0
"""Engines: where an application runs. All are children of one class.

``cpu`` runs on the threads of this machine; ``shuffle`` delivers messages in a
random order with random delays, to find programs that depend on it. ``rtl`` runs
them on the threads of the simulated hardware, instruction by instruction.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.apps import App, Numbers
    from gossamer.graph import Graph
    from gossamer.run_app import Result


class Engine(abc.ABC):
    """Runs an application on a graph."""

    name: str

    @abc.abstractmethod
    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """Runs ``app`` to its end.

        ``parameters`` are numbers by name, vertices as indices, all checked.
        ``threads`` 0 means every CPU. Raises InputError where the application
        refuses its input, NoAnswer where it says that the values are none,
        KeyboardInterrupt on Ctrl-C.
        """


def names() -> list[str]:
    """The engines that work today."""
    return ["cpu", "shuffle", "rtl"]


def get(name: str) -> Engine:
    """The engine of that name; InputError where there is none."""
    if name not in names():
        raise InputError(f"there is no engine {name!r}; there are: {', '.join(names())}")
    if name == "rtl":
        from gossamer.engines.rtl_vertices import Hardware

        return Hardware()
    from gossamer.engines.cpu import InProcess

    return InProcess(name)
