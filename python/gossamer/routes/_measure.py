# SPDX-License-Identifier: Apache-2.0
"""Figures of routes: hops, load of links, bisection. The load counts one route per ordered pair of boards."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.routes._generate import Routes
from gossamer.routes._topology import link_name, up_cables

Ints = NDArray[np.int64]
_EXACT = 16
"""Maximum number of boards for which every cut is tried."""


@dataclass(frozen=True, eq=False)
class Figures:
    """The figures of a topology's routes."""

    boards: int
    cables: int
    hops_mean: float
    hops_max: int
    hops_shortest_mean: float
    """Mean length of shortest paths."""
    hops_histogram: tuple[int, ...]
    """[hops]: number of routes."""
    minimal: float
    """Share of routes that are shortest paths."""
    longer_max: int
    """Maximum number of hops by which a route exceeds the shortest path."""
    load_mean: float
    """Mean number of routes over a direction of a cable."""
    load_max: int
    load_min: int
    load: Ints
    """[cable, direction]: number of routes; from a to b, then from b to a. -1 if the cable is down."""
    busiest: str
    """Names of the two ends of the most loaded direction."""
    bisection: int
    """Cables between two halves of the boards: the minimum over the tried cuts."""
    bisection_gbps: float
    """Rate of these cables in one direction."""
    bisection_exact: bool
    """Whether every cut was tried."""

    def load_histogram(self, bins: int = 10) -> list[tuple[int, int, int]]:
        """(least, most, directions) for equal ranges of load."""
        used = self.load[self.load >= 0]
        if not used.size:
            return []
        low, high = int(used.min()), int(used.max())
        width = max(1, -(-(high - low + 1) // bins))
        counts = np.bincount((used - low) // width)
        return [(low + at * width, low + (at + 1) * width - 1, int(count)) for at, count in enumerate(counts)]

    def as_json(self) -> dict[str, Any]:
        """The figures for --json."""
        return {
            "boards": self.boards,
            "cables": self.cables,
            "hops": {
                "mean": self.hops_mean,
                "max": self.hops_max,
                "shortest_mean": self.hops_shortest_mean,
                "histogram": list(self.hops_histogram),
            },
            "minimal_share": self.minimal,
            "longer_by_at_most": self.longer_max,
            "load": {
                "mean": self.load_mean,
                "max": self.load_max,
                "min": self.load_min,
                "busiest": self.busiest,
                "histogram": [{"from": a, "to": b, "directions": n} for a, b, n in self.load_histogram()],
            },
            "bisection": {"cables": self.bisection, "gbps": self.bisection_gbps, "exact": self.bisection_exact},
        }


def measure(routes: Routes) -> Figures:
    """The figures of routes."""
    cluster = routes.topology.cluster
    up = up_cables(routes.topology)
    load = _load(routes, up)
    used = load[up]
    pairs = routes.hops > 0
    hops, shortest = routes.hops[pairs], routes.shortest[pairs]
    busiest = ""
    if used.size:
        cable_at, direction = divmod(int(np.argmax(load)), 2)
        cable = cluster.cables[cable_at]
        ends = [link_name(cluster, cable.a, cable.a_link), link_name(cluster, cable.b, cable.b_link)]
        busiest = " to ".join(ends if direction == 0 else reversed(ends))
    cut, exact = _bisection(routes, up)
    rates = [cluster.boards[cluster.cables[number].a].config.links.rate_mbps for number in up]
    crossing = [rate for number, rate in zip(up, rates, strict=True) if _crosses(routes, cut, number)]
    return Figures(
        boards=len(cluster.boards) - len(routes.topology.down_boards),
        cables=len(up),
        hops_mean=float(hops.mean()) if hops.size else 0.0,
        hops_max=int(hops.max(initial=0)),
        hops_shortest_mean=float(shortest.mean()) if hops.size else 0.0,
        hops_histogram=tuple(int(count) for count in np.bincount(hops)) if hops.size else (),
        minimal=float((hops == shortest).mean()) if hops.size else 1.0,
        longer_max=int((hops - shortest).max(initial=0)),
        load_mean=float(used.mean()) if used.size else 0.0,
        load_max=int(used.max(initial=0)),
        load_min=int(used.min()) if used.size else 0,
        load=load,
        busiest=busiest,
        bisection=len(crossing),
        bisection_gbps=sum(crossing) / 1000,
        bisection_exact=exact,
    )


def _load(routes: Routes, up: list[int]) -> Ints:
    """Number of routes over each direction of each cable: follows all routes at once, hop by hop."""
    cluster, tables = routes.topology.cluster, routes.tables
    most = max([len(board.config.links.names) for board in cluster.boards] + [1])
    slot = np.full((tables.boards, most), -1, dtype=np.int64)
    far = np.zeros((tables.boards, most), dtype=np.int64)
    for number in up:
        cable = cluster.cables[number]
        slot[cable.a, cable.a_link], far[cable.a, cable.a_link] = 2 * number, cable.b
        slot[cable.b, cable.b_link], far[cable.b, cable.b_link] = 2 * number + 1, cable.a
    load = np.zeros(2 * len(cluster.cables), dtype=np.int64)
    rows, columns = np.nonzero(routes.hops > 0)
    routes_here = np.ones(len(rows), dtype=np.int64)
    through = np.zeros((tables.boards, tables.boards), dtype=np.int64)
    # Longest routes first: the routes that start at or pass a board move one hop on, and are counted with those there.
    by_hops = np.argsort(-routes.hops[rows, columns], kind="stable")
    rows, columns = rows[by_hops], columns[by_hops]
    through[rows, columns] = routes_here
    edges = np.flatnonzero(np.diff(routes.hops[rows, columns], prepend=-1))
    for start, end in zip(edges, [*edges[1:], len(rows)], strict=True):
        row, column = rows[start:end], columns[start:end]
        port, count = tables.port[row, column], through[row, column]
        np.add.at(load, slot[row, port], count)
        ahead = far[row, port]
        np.add.at(through, (ahead, column), count)
    by_direction: Ints = load.reshape(-1, 2)
    down = np.ones(len(cluster.cables), dtype=np.bool_)
    down[up] = False
    by_direction[down] = -1
    return by_direction


# ---------------------------------------------------------------- bisection


def _crosses(routes: Routes, cut: NDArray[np.bool_], number: int) -> bool:
    cable = routes.topology.cluster.cables[number]
    return bool(cut[cable.a] != cut[cable.b])


def _bisection(routes: Routes, up: list[int]) -> tuple[NDArray[np.bool_], bool]:
    """([board] -> half, whether every cut was tried). Large wirings: cuts along several orders, improved by swaps."""
    cluster = routes.topology.cluster
    boards = np.array(sorted(set(range(len(cluster.boards))) - routes.topology.down_boards), dtype=np.int64)
    index = np.full(len(cluster.boards), -1, dtype=np.int64)
    index[boards] = np.arange(len(boards))
    a = index[[cluster.cables[number].a for number in up]] if up else np.zeros(0, dtype=np.int64)
    b = index[[cluster.cables[number].b for number in up]] if up else np.zeros(0, dtype=np.int64)
    count, half = len(boards), len(boards) // 2
    best: NDArray[np.bool_] = np.zeros(count, dtype=np.bool_)
    if count <= _EXACT:
        fewest = None
        for chosen in itertools.combinations(range(count), half):
            if count == 2 * half and half and chosen[0] != 0:
                break
            side = np.zeros(count, dtype=np.bool_)
            side[list(chosen)] = True
            cost = int(np.count_nonzero(side[a] != side[b]))
            if fewest is None or cost < fewest:
                fewest, best = cost, side
    else:
        weight = np.zeros((count, count), dtype=np.int16)
        np.add.at(weight, (a, b), 1)
        np.add.at(weight, (b, a), 1)
        fewest = None
        for order in _orders(routes, boards, weight):
            side = np.zeros(count, dtype=np.bool_)
            side[order[:half]] = True
            side = _swap(side, weight)
            cost = int(np.count_nonzero(side[a] != side[b]))
            if fewest is None or cost < fewest:
                fewest, best = cost, side
    whole = np.zeros(len(cluster.boards), dtype=np.bool_)
    whole[boards] = best
    return whole, count <= _EXACT


def _orders(routes: Routes, boards: Ints, weight: NDArray[np.int16]) -> list[Ints]:
    """Orders of boards, each of which is cut in the middle."""
    cluster = routes.topology.cluster
    places = [(board.x, board.y) for board in cluster.boards]
    found = [np.arange(len(boards))]
    if all(x is not None for x, _ in places):
        columns = np.array([places[board][0] for board in boards])
        found.append(np.argsort(columns, kind="stable"))
    near = routes.shortest[np.ix_(boards, boards)]
    ends = int(np.argmax(near[0]))
    for start in (0, ends):
        found.append(np.argsort(near[start], kind="stable"))
    found.append(np.argsort(near[0].astype(np.int64) - near[ends], kind="stable"))
    # The second eigenvector of the graph, by a power iteration from a fixed start.
    degree = weight.sum(axis=1).astype(np.float64)
    vector = np.sin(np.arange(len(boards)) + 1.0)
    rows, columns = np.nonzero(weight)
    values = weight[rows, columns].astype(np.float64)
    shift = 2 * float(degree.max(initial=1.0))
    for _ in range(300):
        vector -= vector.mean()
        vector = shift * vector - degree * vector + np.bincount(rows, values * vector[columns], len(boards))
        vector /= float(np.abs(vector).max()) or 1.0
    found.append(np.argsort(vector, kind="stable"))
    return found


def _swap(side: NDArray[np.bool_], weight: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Swaps the pair of boards that saves most cables, while a swap saves any (gain of Kernighan and Lin)."""
    side = side.copy()
    sign = np.where(side, 1, -1)
    gain = -sign * (weight @ sign)
    for _ in range(len(side)):
        left, right = np.flatnonzero(side), np.flatnonzero(~side)
        # Consider only the best boards of each side: a cable between the pair lowers the gain by two.
        left = left[np.argsort(-gain[left], kind="stable")[:32]]
        right = right[np.argsort(-gain[right], kind="stable")[:32]]
        saved = gain[left][:, None] + gain[right][None, :] - 2 * weight[np.ix_(left, right)]
        at = int(np.argmax(saved))
        row, column = divmod(at, len(right))
        if saved[row, column] <= 0:
            break
        one, other = left[row], right[column]
        side[one], side[other] = False, True
        sign = np.where(side, 1, -1)
        gain = -sign * (weight @ sign)
    return side
