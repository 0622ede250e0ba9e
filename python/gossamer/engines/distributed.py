# SPDX-License-Identifier: Apache-2.0
"""The engine ``distributed``, called from Python: starts ranks, which read the graph from a file."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import apps
from gossamer.apps import App, Numbers
from gossamer.apps.results import Result
from gossamer.distributed import job
from gossamer.distributed.checkpoints import INTERVAL, Settings
from gossamer.engines._base import Engine
from gossamer.errors import InputError
from gossamer.graph import Graph, write_graph
from gossamer.wording import counted

MOST_RANKS = 65536


class Distributed(Engine):
    """Runs on several processes, also on several machines (docs/distributed.md).

    ``gs.run("pagerank", graph, engine=gs.Distributed(ranks=4))`` starts four ranks with MPI, which end with the call.
    ``threads`` of ``run`` is the number of threads of each rank, 1 by default. The graph is passed to the ranks as a
    temporary file, so it must fit the memory of this process; for larger ones use the command.
    """

    name = "distributed"

    def __init__(
        self,
        ranks: int | None = None,
        *,
        hosts: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = INTERVAL,
        restart: str | os.PathLike[str] | None = None,
    ) -> None:
        """``hosts`` is a file of machines, by default with a rank for each slot (docs/launching.md).

        ``checkpoint`` is a folder for checkpoints, one after every ``checkpoint_every`` steps; ``restart`` is a folder
        from whose last checkpoint the run continues. Raises InputError for a wrong argument.
        """
        _check_whole("ranks", ranks, MOST_RANKS)
        _check_whole("checkpoint_every", checkpoint_every, None)
        if ranks is None and hosts is None:
            raise InputError("Distributed: needs the number of ranks, as in Distributed(ranks=4), or a file of hosts")
        self.ranks = ranks
        """The number of ranks; None: one for each slot of ``hosts``."""
        self._hosts = None if hosts is None else os.fspath(hosts)
        folder, before = (None if path is None else Path(path).resolve() for path in (checkpoint, restart))
        self._settings = Settings(folder, checkpoint_every, before)

    def run(self, app: App, graph: Graph, parameters: Numbers, *, threads: int, seed: int) -> Result:
        """See Engine.run. Raises RunDied, or an error derived from it, if a rank fails."""
        begun = time.perf_counter()
        if self.ranks is not None and self.ranks > graph.vertices:
            raise InputError(
                f"Distributed: {self.ranks} ranks for {counted(graph.vertices, 'vertex', 'vertices')}; use fewer ranks"
            )
        self._settings.check()
        apps.distributed(app)  # compiles, before ranks wait for it

        def program(folder: Path) -> Sequence[str]:
            write_graph(graph, folder / "graph.gsg", both=True)
            request = (app.path, app.defines, parameters, threads or 1, self._settings)
            (folder / "request").write_bytes(pickle.dumps(request))
            return ["gossamer.distributed.called", str(folder)]

        checkpoints = self._settings.folder or self._settings.restart
        with job.launch(self.ranks, program, self._hosts, checkpoints) as (folder, _):
            columns: dict[str, Any] = {
                column.name: np.load(folder / f"column.{index}.npy") for index, column in enumerate(app.columns)
            }
            totals, stats = pickle.loads((folder / "result").read_bytes())
        seconds = time.perf_counter() - begun
        return Result(app=app, graph=graph, columns=columns, totals=totals, stats=stats, seconds=seconds)


def _check_whole(name: str, value: Any, most: int | None) -> None:
    if value is None and name == "ranks":
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        limit = "from 1" if most is None else f"from 1 to {most}"
        raise InputError(f"Distributed: {name}: {value!r} is no whole number {limit}")


__all__ = ["Distributed"]
