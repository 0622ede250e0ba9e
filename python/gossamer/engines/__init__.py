# SPDX-License-Identifier: Apache-2.0
"""Engines run applications; all derive from one class.

``cpu`` runs an application on threads of this machine; ``shuffle`` delivers messages in random order with random
delays, to find programs that depend on the order. ``rtl`` runs it on threads of the simulated hardware, instruction by
instruction; ``model`` predicts its cycles there; ``board`` runs it on boards with Ethernet shells; ``distributed`` on
the ranks of an MPI job.
"""

from __future__ import annotations

from gossamer.engines._base import Change, Engine, Indices, ResumableRun, Weights
from gossamer.errors import InputError


def names() -> list[str]:
    """The names of the implemented engines."""
    return ["cpu", "shuffle", "rtl", "model", "board", "distributed"]


def get(name: str) -> Engine:
    """The engine of that name. Raises InputError for an unknown name."""
    if name not in names():
        raise InputError(f"there is no engine {name!r}; there are: {', '.join(names())}")
    if name == "rtl":
        from gossamer.engines.rtl_vertices import Hardware

        return Hardware()
    if name == "model":
        from gossamer.engines.model import Model

        return Model()
    if name == "board":
        from gossamer.engines.board import BoardHardware

        return BoardHardware()
    if name == "distributed":
        raise InputError(
            "the engine distributed needs the number of ranks: engine=gossamer.Distributed(ranks=4), or the command "
            "./gossamer run APP GRAPH --engine distributed -n 4"
        )
    from gossamer.engines.cpu import InProcess

    return InProcess(name)


__all__ = ["Change", "Engine", "Indices", "ResumableRun", "Weights", "get", "names"]
