# SPDX-License-Identifier: Apache-2.0
"""Streets of a town are closed and reopened, and the shortest paths from one corner are updated.

    PYTHONPATH=python .gossamer/env/bin/python examples/roadworks/roadworks.py [WIDTH [DAYS]]

Every day eight streets are closed and those of the previous day reopened. Vertices whose path used a closed street are
reset; all others keep their states. Finally a run from the start checks the paths.
"""

import sys

import numpy as np

import gossamer as gs
from gossamer.graph import generate


def downstream(previous: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The vertices whose path uses one of these streets."""
    count = len(previous)
    cut = np.zeros(count, np.bool_)
    cut[targets[previous[targets] == sources]] = True
    before = np.where(previous < count, previous, np.arange(count))
    while True:  # a vertex after a disconnected one is disconnected as well; each round looks twice as far back
        further = cut | cut[before]
        if (further == cut).all():
            return np.flatnonzero(cut)
        cut, before = further, before[before]


def main(width: int, days: int) -> int:
    town = generate.grid(width, width, weights=(1, 20), seed=4)
    random = np.random.default_rng(1)
    run = gs.start("sssp-paths", town, source=0)
    found = run.go()
    print(f"first day: {found.stats['deliveries']} messages")
    closed = None
    for day in range(days):
        at = random.choice(town.edges, 8, replace=False)
        u = np.searchsorted(town.out.offsets, at, side="right") - 1
        v, w = town.out.targets[at].astype(np.int64), town.out.weights[at]
        if closed is not None:
            run.add_edges(*closed)
        run.remove_edges(u, v)
        once = np.unique(np.sort([u, v], axis=0), axis=1, return_index=True)[1]  # both directions may be drawn
        closed = u[once], v[once], w[once]
        # Streets are two-way.
        lost = downstream(found.columns["previous"].astype(np.int64), np.append(u, v), np.append(v, u))
        run.reset(lost)
        found = run.go()
        print(f"day {day + 2}: {len(lost)} corners reset, {found.stats['deliveries']} messages")
    fresh = gs.run("sssp-paths", run.graph, source=0)
    same = all((found.columns[name] == fresh.columns[name]).all() for name in fresh.columns)
    print(f"a run from the start: {fresh.stats['deliveries']} messages, {'the same paths' if same else 'OTHER PATHS'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in [*sys.argv[1:], *["100", "6"][len(sys.argv) - 1 :]])))
