# SPDX-License-Identifier: Apache-2.0
"""How few links a message can cross: small trees over a wiring, found by chance, with no rule about turns or channels.

It shares no code with what makes the trees of messages. The best of many attempts is no proof of the least, but on
racks of 48 boards more attempts than these find hardly less.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

TRIES = 40


def fewest_links(neighbours: Mapping[int, Sequence[int]], source: int, ends: Iterable[int], seed: int = 1) -> int:
    """Links of the smallest tree found from a board to others."""
    chance = random.Random(seed)
    wanted = set(ends) - {source}
    return min(_tree(neighbours, source, wanted, chance) for _ in range(TRIES)) if wanted else 0


def _tree(neighbours: Mapping[int, Sequence[int]], source: int, wanted: set[int], chance: random.Random) -> int:
    """One attempt: ends are joined in an order that begins near and has some chance in it."""
    tree, left, links = {source}, set(wanted), 0
    while left:
        before = {board: board for board in tree}
        front: list[int] = list(tree)
        found: list[int] = []
        while not found:
            ahead: list[int] = []
            chance.shuffle(front)
            for board in front:
                for there in chance.sample(neighbours[board], len(neighbours[board])):
                    if there not in before:
                        before[there] = board
                        ahead.append(there)
            found = [board for board in ahead if board in left]
            front = ahead
        board = chance.choice(found)
        while board not in tree:
            tree.add(board)
            left.discard(board)
            links += 1
            board = before[board]
    return links


__all__ = ["fewest_links"]
