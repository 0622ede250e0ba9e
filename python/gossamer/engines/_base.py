# SPDX-License-Identifier: Apache-2.0
"""What every engine is a child of, and what it is told of a graph that changes."""

from __future__ import annotations

import abc
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gossamer.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from gossamer.apps import App, Numbers
    from gossamer.apps.results import Result
    from gossamer.graph import Graph


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


class ResumableRun(abc.ABC):
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

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """Prepares a run on a graph that changes; arguments as of ``run``. Raises InputError where there is none."""
        raise InputError(f"{app.name}: on the engine {self.name} graphs do not change yet; take cpu or shuffle")


__all__ = ["Change", "Engine", "Indices", "ResumableRun", "Weights"]
