# SPDX-License-Identifier: Apache-2.0
"""The base class of engines, and the changes of a graph between two parts of a run."""

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
    """A change of the graph, or of vertices, between two parts of a run: gs_change_kind of the C interface."""

    ADD_EDGES = 1
    REMOVE_EDGES = 2
    ADD_VERTICES = 3
    REMOVE_VERTICES = 4
    WAKE = 5
    RESET = 6
    RESTART = 7


class ResumableRun(abc.ABC):
    """A paused run whose graph may change before it resumes."""

    @abc.abstractmethod
    def change(self, kind: Change, count: int, ends: Sequence[Indices], weights: Weights | None = None) -> None:
        """Applies a change completely, or raises InputError and changes nothing.

        ``count`` is the number of edges or vertices; ``ends`` is empty, or vertices, or sources and targets.
        """

    @abc.abstractmethod
    def resume(self, graph: Graph) -> Result:
        """Runs to the end; ``graph`` is for the result. Raises the errors of ``Engine.run``."""


class Engine(abc.ABC):
    """Runs an application on a graph."""

    name: str

    @abc.abstractmethod
    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """Runs ``app`` to its end.

        ``parameters`` are checked numbers by name, with vertices as indices. ``threads`` 0 means every CPU. Raises
        InputError if the application rejects its input, NoAnswer if it reports that its values are not an answer,
        KeyboardInterrupt on Ctrl-C.
        """

    def start(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> ResumableRun:
        """Prepares a run on a graph that changes; arguments as of ``run``. Raises InputError if it is not supported."""
        raise InputError(f"{app.name}: the engine {self.name} does not support graphs that change; use cpu or shuffle")


__all__ = ["Change", "Engine", "Indices", "ResumableRun", "Weights"]
