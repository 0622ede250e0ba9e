# SPDX-License-Identifier: Apache-2.0
"""Engines: where an application runs. All are children of one class.

``cpu`` runs on the threads of this machine; ``shuffle`` delivers messages in a
random order with random delays, to find programs that depend on it. ``rtl`` runs
them on the threads of the simulated hardware, instruction by instruction.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gossamer.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from gossamer.apps import App, Numbers
    from gossamer.graph import Graph
    from gossamer.run_app import Result


Indices: TypeAlias = "np.ndarray[Any, np.dtype[np.uint32]]"
Weights: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


class Change(enum.IntEnum):
    """What becomes of a graph, or of vertices, between two parts of a run: gs_change_kind of the C interface."""

    ADD_EDGES = 1
    REMOVE_EDGES = 2
    ADD_VERTICES = 3
    REMOVE_VERTICES = 4
    WAKE = 5
    RESET = 6
    RESTART = 7


class Standing(abc.ABC):
    """A run that stands still on a graph that may change, and then goes on."""

    @abc.abstractmethod
    def change(self, kind: Change, count: int, ends: Sequence[Indices], weights: Weights | None = None) -> None:
        """Changes all of it, or raises InputError and changes nothing.

        ``count`` edges or vertices; ``ends`` are none, vertices, or sources and targets.
        """

    @abc.abstractmethod
    def go(self, graph: Graph) -> Result:
        """Runs to the end; ``graph`` is for the result. Raises what ``Engine.run`` raises."""


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

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Standing:
        """Prepares a run on a graph that changes; arguments as of ``run``. Raises InputError where there is none."""
        raise InputError(f"{app.name}: on the engine {self.name} graphs do not change yet; take cpu or shuffle")


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
