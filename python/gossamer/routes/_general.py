# SPDX-License-Identifier: Apache-2.0
"""Routes for any wiring: a tree of shortest paths for each destination, with acyclic channel dependencies.

A channel is an arc and a virtual channel. Channels have an order; a dependency that goes forward in the order is safe.
The initial order is that of up*/down* routes on each virtual channel, one after the other, or that of dimension order
for a grid with failed parts. Trees are built one after the other, from the destination outwards, level by level: each
board selects the least used of its channels to boards that are one hop nearer and whose next channel is a safe
dependency. If boards further out then find no safe channel, all boards select the last channel in the order instead,
which leaves boards further out the largest choice. A board without a safe shortest path uses the shortest safe path. A
destination that some board still cannot reach has plain up*/down* routes.

Then trees with detours are built again; now a backward dependency is added if it closes no cycle with those in use,
which changes the order. Finally, within the resulting order, boards move to less used channels of the same length.
(Routing on the dependency graph itself is the idea of Domke, Hoefler and Matsuoka, "Routing on the Dependency Graph",
2016; here a route may change its virtual channel at every board.)
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.routes._order import Order
from gossamer.routes._wiring import Wiring

Ints = NDArray[np.int64]
_FORBIDDEN, _UNDECIDED, _PERMITTED = -1, 0, 1
_FAR = np.iinfo(np.int64).max
_SMALL = 128
"""Maximum number of boards for which all plans are tried; a plan takes less than a second."""
_TRIES = 8
_ROUNDS = 3
"""Number of balancing rounds over all trees of a small wiring."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A next arc and a virtual channel for each pair of boards; -1 if there is no route."""

    arc: Ints
    """[board, destination]."""
    vc: Ints
    """[board, destination]."""
    excess: int
    """Hops beyond shortest paths, summed over all pairs."""
    fallbacks: int
    """Number of destinations with up*/down* routes."""


def plan(net: Wiring, vcs: int, seed: tuple[Ints, Ints] | None = None) -> Plan:
    """The best of several plans: the first without a detour; for large wirings the first complete one.

    `seed` is a plan (next board, virtual channel) that is deadlock-free if nothing is down.
    """
    if not net.arcs:
        alone = np.full((net.boards, net.boards), -1, dtype=np.int64)
        return Plan(alone, np.zeros_like(alone), 0, 0)
    best: Plan | None = None
    small = net.boards <= _SMALL
    if seed is not None:
        best = _Planner(net, vcs, seed, 0).run()
    for number in range(_TRIES if small else 1):
        if best is not None and (not best.excess or not small):
            break
        made = _Planner(net, vcs, None, number).run()
        assert made is not None
        if best is None or made.excess < best.excess:
            best = made
    assert best is not None
    return best


@dataclass(eq=False)
class _Tree:
    """Routes of all boards to one destination."""

    chosen: Ints
    """[board]: channel; -1 for the destination and for boards without a route yet."""
    hops: Ints
    """[board]."""
    code: Ints
    """[board]: the chosen channel as a column of the dependencies; -1 for boards without a route yet."""
    left: list[int]
    """Boards without a safe shortest route."""


class _Planner:
    """Builds the trees of all destinations."""

    def __init__(self, net: Wiring, vcs: int, seed: tuple[Ints, Ints] | None, root: int) -> None:
        """`root` selects the root of up*/down*: 0 is a central board."""
        self.net, self.vcs, self.seeded = net, vcs, seed is not None
        self.channels = net.arcs * vcs
        self.rank = _ranks(net, root)
        """[board]: its rank in the up*/down* tree."""
        self.width = net.slots.shape[1] * vcs
        # The last column is the destination itself, which accepts all packets.
        self.state = np.full((self.channels, self.width + 1), _UNDECIDED, dtype=np.int8)
        self.state[:, -1] = _PERMITTED
        self.load = np.zeros(self.channels, dtype=np.int64)
        self.used = np.arange(net.arcs) - net.first[net.tail] if net.arcs else np.zeros(0, dtype=np.int64)
        """[arc]: its slot at its tail."""
        self.asking = False
        """Whether backward dependencies are tried."""
        self.preferred = self._seed_channels(seed) if seed is not None else None
        """[board, destination]: the seed's channel; -1 if its cable is down."""
        depends = self._seed_dependencies(seed) if seed is not None else []
        self.order = Order(self._first_places(depends))

    # -------------------------------------------------------- dependencies

    def _code(self, channel: int) -> int:
        """Column of a channel in the state rows of preceding channels."""
        arc, vc = divmod(channel, self.vcs)
        return int(self.used[arc]) * self.vcs + vc

    def _may(self, source: int, target: int) -> bool:
        """Permits a dependency if possible."""
        if not self.asking and self.order.place[source] > self.order.place[target]:
            return False
        return self._permit(source, target)

    def _permit(self, source: int, target: int) -> bool:
        """Decides a dependency. Returns True if it is permitted."""
        code = self._code(target)
        if self.state[source, code] == _UNDECIDED:
            self.state[source, code] = _PERMITTED if self.order.add(source, target) else _FORBIDDEN
        return bool(self.state[source, code] == _PERMITTED)

    def _first_places(self, depends: list[tuple[int, int]]) -> list[int]:
        """The initial order: up*/down* on each virtual channel, one after the other; or that of a seed's routes."""
        net = self.net
        tail, head = self.rank[net.tail], self.rank[net.head]
        down = head > tail
        key = np.where(down, tail, -tail)
        arcs = np.lexsort((head, key, down))
        nodes = (arcs[None, :] * self.vcs + np.arange(self.vcs)[:, None]).ravel()
        if depends:
            nodes = _topological(nodes, depends)
        places = np.empty(self.channels, dtype=np.int64)
        places[nodes] = np.arange(self.channels)
        return [int(place) for place in places]

    def _seed_channels(self, seed: tuple[Ints, Ints]) -> Ints:
        """Channels of a plan; -1 if the cable is down."""
        following, vc = seed
        boards = self.net.boards
        arc_of = np.full((boards, boards), -1, dtype=np.int64)
        arc_of[self.net.tail, self.net.head] = np.arange(self.net.arcs)
        arc = arc_of[np.arange(boards)[:, None], following]
        return np.where(arc >= 0, arc * self.vcs + vc, -1)

    def _seed_dependencies(self, seed: tuple[Ints, Ints]) -> list[tuple[int, int]]:
        """Dependencies of a plan between cables that are up."""
        following, _ = seed
        boards = self.net.boards
        assert self.preferred is not None
        board, dest = np.nonzero(following != np.arange(boards)[:, None])
        ahead = following[board, dest]
        more = ahead != dest
        board, dest, ahead = board[more], dest[more], ahead[more]
        source, target = self.preferred[board, dest], self.preferred[ahead, dest]
        there = (source >= 0) & (target >= 0)
        pairs = np.unique(source[there] * self.channels + target[there])
        return [divmod(int(pair), self.channels) for pair in pairs]

    # --------------------------------------------------------------- trees

    def run(self) -> Plan | None:
        """Trees for all destinations; None if the seed's order does not allow routes from all boards."""
        net = self.net
        trees: dict[int, _Tree] = {}
        fallbacks = 0
        for dest in np.flatnonzero(net.up).tolist():
            tree = self._best_tree(dest)
            if tree is None:
                if self.seeded:
                    return None
                fallbacks += 1
                tree = self._up_down(dest)
            self._permit_all(tree.chosen, tree.chosen)
            self._count(tree, 1)
            trees[dest] = tree
        self.asking = True
        for dest, tree in trees.items():
            detours = self._excess(dest, tree)
            if detours:
                better = self._best_tree(dest)
                if better is not None and self._excess(dest, better) < detours:
                    self._permit_all(better.chosen, better.chosen)
                    self._count(tree, -1)
                    self._count(better, 1)
                    trees[dest] = better
        for _ in () if self.seeded else range(_ROUNDS if net.boards <= _SMALL else 1):
            for dest, tree in trees.items():
                self._balance(dest, tree)
        arc = np.full((net.boards, net.boards), -1, dtype=np.int64)
        vc = np.zeros((net.boards, net.boards), dtype=np.int64)
        for dest, tree in trees.items():
            rows = tree.chosen >= 0
            arc[rows, dest] = tree.chosen[rows] // self.vcs
            vc[rows, dest] = tree.chosen[rows] % self.vcs
        return Plan(arc, vc, sum(self._excess(dest, tree) for dest, tree in trees.items()), fallbacks)

    def _excess(self, dest: int, tree: _Tree) -> int:
        """Hops of a tree beyond shortest paths."""
        return int((tree.hops - self.net.distance[:, dest])[self.net.up].sum())

    def _best_tree(self, dest: int) -> _Tree | None:
        """A tree by least load; if that needs detours, a tree by last channel. None if neither is complete."""
        trees = []
        for free in (False, True):
            tree = self._tree(dest, free)
            if not tree.left:
                return tree
            trees.append(tree)
        for tree in sorted(trees, key=lambda one: len(one.left)):
            if self._detours(tree):
                return tree
        return None

    def _tree(self, dest: int, free: bool) -> _Tree:
        """The safe shortest routes to a destination; `free` selects the last safe channel, not the least used one."""
        net, vcs = self.net, self.vcs
        distance = net.distance[:, dest]
        chosen = np.full(net.boards, -1, dtype=np.int64)
        code = np.full(net.boards, -1, dtype=np.int64)
        code[dest] = self.width
        hops = np.where(net.up, 0, -1).astype(np.int64)
        place = self.order.places()
        weight = -place if free else self.load
        lanes = np.arange(vcs)
        left: list[int] = []
        by_level = np.argsort(distance, kind="stable")
        starts = np.searchsorted(distance[by_level], np.arange(1, int(distance.max(initial=0)) + 2))
        for level, (start, end) in enumerate(itertools.pairwise(starts), 1):
            boards = by_level[start:end]
            arcs = net.slots[boards]
            ahead = net.head[arcs]
            near = (arcs >= 0) & (distance[ahead] == level - 1) & (code[ahead] >= 0)
            channels = arcs[:, :, None] * vcs + lanes
            state = self.state[channels, code[ahead][:, :, None]]
            # A forward dependency can always be permitted.
            forwards = place[channels] < np.where(chosen[ahead] >= 0, place[chosen[ahead]], _FAR)[:, :, None]
            state = np.where((state == _UNDECIDED) & forwards, _PERMITTED, state)
            state = np.where(near[:, :, None], state, _FORBIDDEN).reshape(len(boards), -1)
            channels = channels.reshape(len(boards), -1)
            cost = np.where(state == _PERMITTED, weight[channels], _FAR)
            if self.preferred is not None and not free:
                cost[(state == _PERMITTED) & (channels == self.preferred[boards, dest][:, None])] = -1
            pick = np.argmin(cost, axis=1)
            rows = np.arange(len(boards))
            found = np.where(cost[rows, pick] < _FAR, channels[rows, pick], -1)
            if self.asking:
                # Now, because the next permission changes the order.
                self._permit_all(found, chosen)
                for row in np.flatnonzero(found < 0):
                    found[row] = self._ask(channels[row][state[row] == _UNDECIDED], chosen, weight)
                place = self.order.places()
                weight = -place if free else self.load
            chosen[boards] = found
            code[boards] = np.where(found >= 0, self.used[found // vcs] * vcs + found % vcs, -1)
            hops[boards] = level
            left += [int(board) for board in boards[found < 0]]
        return _Tree(chosen, hops, code, left)

    def _permit_all(self, channels: Ints, chosen: Ints) -> None:
        """Permits the forward dependencies of chosen channels."""
        channels = channels[channels >= 0]
        after = chosen[self.net.head[channels // self.vcs]]
        channels, after = channels[after >= 0], after[after >= 0]
        new = self.state[channels, self.used[after // self.vcs] * self.vcs + after % self.vcs] == _UNDECIDED
        for source, target in zip(channels[new].tolist(), after[new].tolist(), strict=True):
            if not self._permit(source, target):
                raise RuntimeError("a forward dependency closed a cycle")

    def _ask(self, channels: Ints, chosen: Ints, weight: Ints) -> int:
        """The first undecided channel whose dependency can be permitted, forward ones first; -1 if none is left."""
        place = self.order.place
        offers = []
        for channel in channels.tolist():
            after = int(chosen[self.net.head[channel // self.vcs]])
            offers.append((place[channel] > place[after], int(weight[channel]), channel, after))
        for _, _, channel, after in sorted(offers):
            if self._permit(channel, after):
                return int(channel)
        return -1

    def _detours(self, tree: _Tree) -> bool:
        """Connects boards without a shortest route to the tree by longer routes. Returns False if that fails."""
        net, vcs = self.net, self.vcs
        waiting = set(tree.left)
        offers: list[tuple[int, int, int, int]] = []

        def offer(arc: int) -> None:
            """Pushes the candidates of an arc into the tree onto the heap."""
            ahead = int(net.head[arc])
            for channel in range(arc * vcs, arc * vcs + vcs):
                state = int(self.state[channel, tree.code[ahead]])
                if state != _FORBIDDEN:
                    heapq.heappush(offers, (int(tree.hops[ahead]) + 1, -state, int(self.load[channel]), channel))

        for board in tree.left:
            for arc in range(int(net.first[board]), int(net.first[board + 1])):
                if tree.code[net.head[arc]] >= 0:
                    offer(arc)
        while waiting and offers:
            length, _, _, channel = heapq.heappop(offers)
            arc = channel // vcs
            board, after = int(net.tail[arc]), int(tree.chosen[net.head[arc]])
            if board not in waiting or (after >= 0 and not self._may(channel, after)):
                continue
            waiting.discard(board)
            tree.chosen[board], tree.hops[board], tree.code[board] = channel, length, self._code(channel)
            for other in range(int(net.first[board]), int(net.first[board + 1])):
                if int(net.head[other]) in waiting:
                    offer(net.arc(int(net.head[other]), board))
        return not waiting

    def _up_down(self, dest: int) -> _Tree:
        """The up*/down* routes to a destination, on the last virtual channel: first up, then only down."""
        net, last = self.net, self.vcs - 1
        chosen = np.full(net.boards, -1, dtype=np.int64)
        hops = np.where(net.up, 0, -1).astype(np.int64)
        reached = {dest}
        front = [dest]
        length = 0
        while front:
            length += 1
            found: dict[int, int] = {}
            for head in front:
                for back in range(int(net.first[head]), int(net.first[head + 1])):
                    board = int(net.head[back])
                    if board not in reached and self.rank[board] < self.rank[head]:
                        channel = net.arc(board, head) * self.vcs + last
                        if board not in found or self.load[channel] < self.load[found[board]]:
                            found[board] = channel
            for board, channel in found.items():
                chosen[board], hops[board] = channel, length
            reached |= set(found)
            front = sorted(found)
        for board in np.argsort(self.rank):
            if net.up[board] and int(board) not in reached:
                ups = [
                    (int(hops[net.head[arc]]) + 1, int(self.load[arc * self.vcs + last]), arc * self.vcs + last)
                    for arc in range(int(net.first[board]), int(net.first[board + 1]))
                    if self.rank[net.head[arc]] < self.rank[board]
                ]
                hops[board], _, chosen[board] = min(ups)
        return _Tree(chosen, hops, np.full(net.boards, -1, dtype=np.int64), [])

    def _balance(self, dest: int, tree: _Tree) -> None:
        """Moves each board of a tree, the outermost first, to its least used channel of the same length.

        The channel must be after all channels of the tree that lead to the board, and before the channel of the next
        board.
        """
        net, vcs = self.net, self.vcs
        self._count(tree, -1)
        place = self.order.places()
        routes = net.up.astype(np.int64)
        after = np.full(net.boards, -1, dtype=np.int64)
        lanes = np.arange(vcs)
        for level in range(int(tree.hops.max(initial=0)), 0, -1):
            boards = np.flatnonzero((tree.hops == level) & (tree.chosen >= 0))
            arcs = net.slots[boards]
            ahead = net.head[arcs]
            near = (arcs >= 0) & (tree.hops[ahead] == level - 1) & net.up[ahead]
            limit = np.where(ahead == dest, _FAR, place[tree.chosen[ahead]])[:, :, None]
            channels = arcs[:, :, None] * vcs + lanes
            there = place[channels]
            fits = near[:, :, None] & (there < limit) & (there > after[boards][:, None, None])
            channels = channels.reshape(len(boards), -1)
            cost = np.where(fits.reshape(len(boards), -1), self.load[channels], _FAR)
            chosen = channels[np.arange(len(boards)), np.argmin(cost, axis=1)]
            tree.chosen[boards] = chosen
            following = net.head[chosen // vcs]
            np.maximum.at(after, following, place[chosen])
            np.add.at(routes, following, routes[boards])
            np.add.at(self.load, chosen, routes[boards])

    def _count(self, tree: _Tree, sign: int) -> None:
        """Adds a tree's routes to the load of its channels, or subtracts them."""
        chosen, hops = tree.chosen, tree.hops
        routes = self.net.up.astype(np.int64)
        for level in range(int(hops.max(initial=0)), 0, -1):
            boards = np.flatnonzero((hops == level) & (chosen >= 0))
            np.add.at(self.load, chosen[boards], sign * routes[boards])
            np.add.at(routes, self.net.head[chosen[boards] // self.vcs], routes[boards])


def _ranks(net: Wiring, number: int) -> Ints:
    """[board]: its rank in a breadth-first order from a central board (number 0), or from one further out."""
    far = np.where(net.up, net.distance.max(axis=1), np.iinfo(np.int16).max)
    up = int(net.up.sum())
    root = int(np.argsort(far, kind="stable")[number * up // _TRIES])
    order = np.lexsort((np.arange(net.boards), np.where(net.up, net.distance[root], np.iinfo(np.int16).max)))
    ranks = np.empty(net.boards, dtype=np.int64)
    ranks[order] = np.arange(net.boards)
    return ranks


def _topological(nodes: Ints, depends: list[tuple[int, int]]) -> Ints:
    """`nodes` in an order in which `depends` go forward; nodes of one level keep their order."""
    count = len(nodes)
    source, target = (np.array(side, dtype=np.int64) for side in zip(*depends, strict=True))
    level = np.zeros(count, dtype=np.int64)
    for _ in range(count):
        before = level.copy()
        np.maximum.at(level, target, level[source] + 1)
        if np.array_equal(level, before):
            break
    return nodes[np.argsort(level[nodes], kind="stable")]
