# SPDX-License-Identifier: Apache-2.0
"""A growing acyclic graph of dependencies that rejects edges which would close a cycle.

It maintains a topological order while edges are added (Pearce and Kelly, "A dynamic topological sort algorithm for
directed acyclic graphs", 2006): a forward edge costs nothing, a backward edge a search between its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Order:
    """A topological order of nodes 0 .. n-1."""

    def __init__(self, places: Sequence[int]) -> None:
        self.place = list(places)
        self._array: NDArray[np.int64] | None = None
        """[node]: a permutation to begin with."""
        self.after: list[list[int]] = [[] for _ in self.place]
        self.before: list[list[int]] = [[] for _ in self.place]

    def places(self) -> NDArray[np.int64]:
        """The positions as an array, which is read-only."""
        if self._array is None:
            self._array = np.array(self.place, dtype=np.int64)
        return self._array

    def add(self, source: int, target: int) -> bool:
        """Adds a new edge. Returns False, without a change, if it would close a cycle."""
        place = self.place
        if source == target:
            return False
        if place[source] > place[target]:
            ahead = self._search(self.after, target, place[source], source)
            if ahead is None:
                return False
            before = self._search_back(source, place[target])
            moved = sorted(before, key=place.__getitem__) + sorted(ahead, key=place.__getitem__)
            for node, where in zip(moved, sorted(place[node] for node in moved), strict=True):
                place[node] = where
            self._array = None
        self.after[source].append(target)
        self.before[target].append(source)
        return True

    def _search(self, edges: list[list[int]], start: int, limit: int, forbidden: int) -> list[int] | None:
        """Successors of `start` before a position; None if `forbidden` is one of them."""
        place = self.place
        seen, queue = {start}, [start]
        while queue:
            for node in edges[queue.pop()]:
                if node == forbidden:
                    return None
                if node not in seen and place[node] < limit:
                    seen.add(node)
                    queue.append(node)
        return list(seen)

    def _search_back(self, start: int, limit: int) -> list[int]:
        """Predecessors of `start` after a position."""
        place = self.place
        seen, queue = {start}, [start]
        while queue:
            for node in self.before[queue.pop()]:
                if node not in seen and place[node] > limit:
                    seen.add(node)
                    queue.append(node)
        return list(seen)
