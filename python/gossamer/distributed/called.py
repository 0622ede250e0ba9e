# SPDX-License-Identifier: Apache-2.0
"""The program of the ranks that a call of ``gossamer.run`` starts: ``python -m gossamer.distributed.called FOLDER``.

The folder has the graph, and the request that gossamer/engines/distributed.py has written; rank 0 writes the result
there.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from pathlib import Path

import numpy as np

from gossamer import apps
from gossamer.distributed import job, rank
from gossamer.distributed.transport import Ranks
from gossamer.errors import GraphWarning
from gossamer.graph import read_graph


def main(folder: Path) -> None:
    """Runs the request as one rank of the job."""
    ranks: Ranks | None = None
    try:
        warnings.simplefilter("ignore", GraphWarning)  # the caller has warned
        path, defines, numbers, threads, settings = pickle.loads((folder / "request").read_bytes())
        ranks = job.join(None)
        job.note_process(ranks)
        app = rank.compiled(apps.load(path, defines))
        file = folder / "graph.gsg"
        share = rank.load(ranks, app, lambda: read_graph(file), None, (str(file), None))
        result = rank.run(ranks, app, share, lambda _: numbers, threads, settings)
        if ranks.rank == 0:
            for index, values in enumerate(result.columns.values()):
                np.save(folder / f"column.{index}.npy", values)
            (folder / "result").write_bytes(pickle.dumps((result.totals, result.stats)))
        ranks.leave()
    except (Exception, KeyboardInterrupt) as error:
        job.fail(ranks, error)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
