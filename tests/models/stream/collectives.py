# SPDX-License-Identifier: Apache-2.0
"""Collectives over boards in simulation: wirings, trees in them, the harness (ranks.cc) with its script, and the
expected results.

The model is NumPy's: it knows ranks, trees and docs/hardware/stream.md, but nothing of the blocks.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer import config as configs
from gossamer.config import constants
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
BCAST, REDUCE, SCATTER, GATHER, ALLREDUCE, ALLGATHER, BARRIER = range(1, 8)
SECOND_BLOCK = 8
"""Added to the kind of a scatter/gather: the second block for them. Added to a reduction: the block of allreduce."""
REDUCE_VIA_ALLREDUCE = SECOND_BLOCK + REDUCE
SCATTER_GATHER = (SCATTER, GATHER, ALLGATHER)
SETS = {BCAST: 0, REDUCE: 0, ALLREDUCE: 1, BARRIER: 1, REDUCE_VIA_ALLREDUCE: 1} | dict.fromkeys(
    (*SCATTER_GATHER, *(SECOND_BLOCK + kind for kind in SCATTER_GATHER)), 2
)
"""Set of blocks (parameter of the model) that has each kind: a board of the harness has two blocks."""
INT, FLOAT, DOUBLE, CHAR, SHORT, LONG, HALF = range(1, 8)
ADD, MAX, MIN = 0, 1, 2
TYPES = {
    number: np.dtype(name)
    for number, name in ((INT, "i4"), (FLOAT, "f4"), (DOUBLE, "f8"), (CHAR, "i1"), (SHORT, "i2"), (LONG, "i8"),
                         (HALF, "f2"))
}  # fmt: skip
BITS = {number: np.dtype(f"u{one.itemsize}") for number, one in TYPES.items()}
"""The same elements as unsigned integers of their bits."""
NAN = {HALF: 0x7E00, FLOAT: 0x7FC00000, DOUBLE: 0x7FF8 << 48}
Words = npt.NDArray[np.unsignedinteger[Any]]


def block(kind: int) -> int:
    """Index of a kind's block among the two of its set."""
    return int(kind != REDUCE_VIA_ALLREDUCE and (kind > SECOND_BLOCK or kind in (REDUCE, BARRIER)))


@dataclass(frozen=True)
class Wiring:
    """Boards and their links, numbered from 0; by board and link, the board and link at the far end."""

    boards: int
    links: int
    ends: Mapping[tuple[int, int], tuple[int, int]]

    @staticmethod
    def of(cluster: str) -> Wiring:
        """The wiring of a file in config/clusters."""
        found = configs.load_cluster(cluster)
        used = sorted({link for board in range(len(found.boards)) for link, _, _ in found.neighbours(board)})
        number = {link: at for at, link in enumerate(used)}
        ends = {
            (board, number[link]): (far, number[far_link])
            for board in range(len(found.boards))
            for link, far, far_link in found.neighbours(board)
        }
        return Wiring(len(found.boards), len(used), ends)

    def lines(self) -> list[str]:
        """Lines of the script."""
        cables = [f"wire {b} {link} {far} {far_link}" for (b, link), (far, far_link) in sorted(self.ends.items())]
        return [f"boards {self.boards}", *cables, *self.routes()]

    def routes(self) -> list[str]:
        """Routes of each board to its neighbours; trees need no others. Packets leave in the higher channel."""
        first = constants.enumeration("stream_port")["link"]
        return [f"route {b} {far} {1 << 7 | 1 << 5 | first + n}" for (b, n), (far, _) in sorted(self.ends.items())]


@dataclass(frozen=True)
class Tree:
    """By board: link to the parent, or None for the root; links to the children, in order."""

    root: int
    parent: Mapping[int, int | None]
    children: Mapping[int, Sequence[int]]

    def depth(self, wiring: Wiring) -> int:
        """Hops from the root to the farthest rank."""

        def below(board: int) -> int:
            return max((1 + below(wiring.ends[board, link][0]) for link in self.children[board]), default=0)

        return below(self.root)

    def lines(self, kind: int) -> list[str]:
        """Lines of the script."""
        lines = []
        for board, link in self.parent.items():
            mask = sum(1 << child for child in self.children[board])
            lines.append(f"tree {kind} {board} {self.root} {(link is None) << 11 | (link or 0) << 8 | mask}")
        return lines

    def links(self, board: int) -> list[int]:
        """Links of a board that are edges of the tree."""
        up = self.parent[board]
        return [*self.children[board], *([] if up is None else [up])]

    def rank_edges(self, kind: int, wiring: Wiring) -> list[str]:
        """Lines of the script: for each member, the link that leads to each other member, whatever the root."""
        lines = []
        for board in self.parent:
            via = {board: 0}
            for link in self.links(board):
                queue = [wiring.ends[board, link][0]]
                for far in queue:
                    via[far] = link
                    queue += [to for to in (wiring.ends[far, out][0] for out in self.links(far)) if to not in via]
            lines += [f"tree {kind} {board} {to} {8 | link}" for to, link in via.items()]
        return lines


def tree(wiring: Wiring, root: int, members: Sequence[int], most: int = 3) -> Tree:
    """Breadth first over the members' links; a board has at most ``most`` children."""
    parent: dict[int, int | None] = {root: None}
    children: dict[int, list[int]] = {board: [] for board in members}
    queue = [root]
    for board in queue:
        for link in range(wiring.links):
            far, far_link = wiring.ends.get((board, link), (-1, -1))
            if far in children and far not in parent and len(children[board]) < most:
                parent[far] = far_link
                children[board].append(link)
                queue.append(far)
    assert len(parent) == len(members), f"no tree from {root} over {members}"
    return Tree(root, parent, children)


def ring(wiring: Wiring, most: int = 100_000) -> list[tuple[int, int]]:
    """A cycle over links that visits each board once: the boards in order, each with its link to the next. ValueError
    if there is none, or none is found in ``most`` steps."""
    cycle: list[tuple[int, int]] = []
    passed = {0}
    steps = 0

    def extend(board: int) -> bool:
        nonlocal steps
        for link in range(wiring.links):
            far, _ = wiring.ends.get((board, link), (-1, -1))
            if far < 0 or (far in passed) != (len(passed) == wiring.boards and far == 0):
                continue
            steps += 1
            if steps > most:
                return False
            cycle.append((board, link))
            passed.add(far)
            if len(cycle) == wiring.boards or extend(far):
                return True
            cycle.pop()
            passed.discard(far)
        return False

    if wiring.boards < 2 or not extend(0):
        raise ValueError(f"no ring over links passes all {wiring.boards} boards once")
    return cycle


def ring_tree(wiring: Wiring, cycle: Sequence[tuple[int, int]], root: int) -> Tree:
    """The tree of a root in a ring: the child of each board is the next one, and the last board precedes the root. Each
    board has the same two edges for every root. In a section of a ring the root must be the first board."""
    parent: dict[int, int | None] = {root: None}
    children: dict[int, list[int]] = {board: [] for board, _ in cycle}
    for board, link in cycle:
        far, far_link = wiring.ends[board, link]
        if far in children and far != root:
            children[board] = [link]
            parent[far] = far_link
    return Tree(root, parent, children)


@dataclass
class Run:
    """A collective, with the data of each board's kernel."""

    kind: int
    element: int
    op: int
    root: int
    count: int
    members: Sequence[int]
    gap: int = -1
    data: dict[int, Words] = field(default_factory=dict)
    wrong: dict[int, dict[str, int]] = field(default_factory=dict)
    """Values of ``kind``, ``element``, ``op``, ``root`` or ``count`` that a rank opens in place of the others'."""

    def lines(self, number: int) -> list[str]:
        """Lines of the script."""
        mask = sum(1 << board for board in self.members)
        lines = [f"run {self.kind} {self.element} {self.op} {self.root} {self.count} {mask} {self.gap}"]
        for board, wrong in self.wrong.items():
            what = {
                "kind": self.kind % SECOND_BLOCK, "element": self.element, "op": self.op, "root": self.root,
                "count": self.count,
            } | wrong  # fmt: skip
            lines.append(f"wrong {number} {board} {' '.join(map(str, what.values()))}")
        return lines


def combined(element: int, op: int, a: Words, b: Words) -> Words:
    """Two ranks' elements combined: sums as NumPy adds, extremes as in IEEE 754-2019."""
    x, y = a.view(TYPES[element]), b.view(TYPES[element])
    with np.errstate(all="ignore"):
        if op == ADD:
            return np.asarray((x + y).view(BITS[element]))
        wins = x > y if op == MAX else x < y
        if element in NAN:
            # Equal operands with different bits are zeros.
            wins |= (x == y) & (np.signbit(y) if op == MAX else np.signbit(x))
            nan = BITS[element].type(NAN[element])
            return np.where(np.isnan(x) | np.isnan(y), nan, np.where(wins, a, b))
        return np.where(wins, a, b)


def expected(wiring: Wiring, trees: Mapping[int, Tree], run: Run) -> list[Words]:
    """The results that kernels receive, in the order of boards, without kernels that receive none."""
    if run.kind == BCAST:
        return [run.data[run.root]] * (len(run.members) - 1)
    if run.kind == BARRIER:
        return [np.zeros(1, BITS[run.element])] * len(run.members)
    if run.kind % SECOND_BLOCK == SCATTER:
        return np.split(run.data[run.root], len(run.members))
    if run.kind % SECOND_BLOCK in (GATHER, ALLGATHER):
        every = np.concatenate([run.data[board] for board in sorted(run.members)])
        return [every] * (1 if run.kind % SECOND_BLOCK == GATHER else len(run.members))
    one = trees[run.root] if run.kind == REDUCE else next(iter(trees.values()))

    def below(board: int) -> Words:
        total = run.data[board]
        for link in sorted(one.children[board]):
            total = combined(run.element, run.op, total, below(wiring.ends[board, link][0]))
        return total

    return [below(one.root)] * (len(run.members) if run.kind == ALLREDUCE else 1)


def same(element: int, found: Words, right: Words) -> npt.NDArray[np.bool_]:
    """Whether elements are bit-identical; all NaNs are equal."""
    equal: npt.NDArray[np.bool_] = found == right
    if element in NAN:
        equal |= np.isnan(found.view(TYPES[element])) & np.isnan(right.view(TYPES[element]))
    return equal


@dataclass(frozen=True)
class Outcome:
    """Cycles from a collective's first open to its last, to the first result beat that a kernel received, and to the
    last; number of lost frames; the report, if one was expected."""

    opened: tuple[int, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    lost: int
    report: str = ""


class Boards:
    """The harness for a wiring. All wirings use one model: a board with four links and two blocks of collectives, that
    of ``kind`` and the other one of its set."""

    LINKS = 4

    def __init__(self, wiring: Wiring, depth: int = 256, kind: int = BCAST) -> None:
        self.wiring = wiring
        self.set = SETS[kind]
        design = sources.blocks("stream/board.f", "stream/collectives.f", config=configs.load("de5")) + [
            sources.SIM / "link" / "gs_mac_model.sv",
            HERE / "rank_top.sv",
        ]
        self.simulator = verilate.model(
            "rank_top",
            design,
            [HERE / "ranks.cc"],
            parameters={"Set": self.set, "Links": self.LINKS, "Depth": depth},
            cxx=[f"-DLINKS={self.LINKS}", f"-DSET={self.set}"],
            optimise="-Og",
        )

    def run(
        self, trees: Mapping[int, Mapping[int, Tree]], runs: Sequence[Run], *, limit: int, seed: int = 1, loss: int = 0,
        stalls: bool = False, recover: int | None = None,
    ) -> Outcome:  # fmt: skip
        """Runs collectives and compares all results; AssertionError if one differs. ``trees`` is by kind and root. With
        ``recover`` a report must appear before that run ends; the runs up to it are aborted."""
        lines = [
            f"seed {seed}",
            f"loss {loss}",
            f"stalls {int(stalls)}",
            f"limit {limit}",
        ]
        lines += self.wiring.lines()
        for kind, by_root in trees.items():
            for one in by_root.values():
                lines += one.rank_edges(kind, self.wiring) if kind % SECOND_BLOCK in SCATTER_GATHER else one.lines(kind)
        for number, run in enumerate(runs):
            lines += run.lines(number)
        if recover is not None:
            lines.append(f"recover {recover}")
        with tempfile.TemporaryDirectory() as folder:
            script, data, output = (Path(folder) / name for name in ("script", "input", "output"))
            script.write_text("\n".join(lines) + "\n")
            with data.open("wb") as file:
                for run in runs:
                    for board in sorted(run.data):
                        file.write(run.data[board].tobytes())
            command = [str(path) for path in (self.simulator, script, data, output)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
            found = output.read_bytes()
        at = 0
        for number, run in enumerate(runs):
            if recover is not None and number <= recover:
                continue
            kind = ALLREDUCE if run.kind == REDUCE_VIA_ALLREDUCE else run.kind
            for right in expected(self.wiring, trees.get(kind, {}), run):
                assert len(found) >= at + right.nbytes, f"run {number}: missing elements"
                received: Words = np.frombuffer(found, BITS[run.element], len(right), at)
                at += right.nbytes
                wrong = np.flatnonzero(~same(run.element, received, right))
                assert not len(wrong), (
                    f"run {number} (kind {run.kind}, type {run.element}, op {run.op}, root {run.root}): element "
                    f"{wrong[0]} of {len(right)} is {received[wrong[0]]:x}, must be {right[wrong[0]]:x}"
                )
        assert at == len(found)
        words = [line.split() for line in done.stdout.splitlines()]
        run_lines = [line for line in words if line[0] == "run"]
        lost = next(int(line[3]) for line in words if line[0] == "cycles")
        opened, first, last = (tuple(int(line[at]) for line in run_lines) for at in (3, 5, 7))
        report = next((line for line in done.stdout.splitlines() if line.startswith("report ")), "")
        return Outcome(opened, first, last, lost, report)


def special(element: int) -> Words:
    """Zeros, smallest and largest subnormals and normals, infinities, NaN."""
    kind = np.finfo(TYPES[element])
    ends = np.array([0, kind.smallest_subnormal, kind.smallest_normal, kind.max, np.inf], TYPES[element])
    bits = ends.view(BITS[element])
    greatest_subnormal = bits[2:3] - BITS[element].type(1)
    nan = np.array([NAN[element]], BITS[element])
    return np.concatenate([bits, (-ends).view(BITS[element]), greatest_subnormal, nan])


def elements(random: np.random.Generator, element: int, count: int, shape: str) -> Words:
    """Data of a kernel: ``any`` bits, ``close`` exponents, all ``negative``, or ``special`` floats."""
    kind, real = BITS[element], element in NAN
    bits = random.integers(0, 1 << 8 * kind.itemsize, count, dtype=kind)
    if shape == "negative" and not real:
        return np.asarray(bits | kind.type(1 << 8 * kind.itemsize - 1))
    if shape == "negative":
        return (-np.abs(random.normal(size=count))).astype(TYPES[element]).view(kind)
    if shape == "close" and real:
        return random.normal(size=count).astype(TYPES[element]).view(kind)
    if shape == "special" and real:
        return np.where(random.random(count) < 0.5, random.choice(special(element), count), bits)
    return bits


def random_run(
    random: np.random.Generator, kind: int, root: int, count: int, members: Sequence[int], *, element: int = FLOAT,
    op: int = ADD, shape: str = "close", gap: int = -1,
) -> Run:  # fmt: skip
    """A collective with random data."""
    lengths = dict.fromkeys(sorted(members), count)
    if kind == BCAST:
        lengths = {root: count}
    elif kind == BARRIER:
        count, lengths = 1, {}
    elif kind % SECOND_BLOCK == SCATTER:
        lengths = {root: count * len(members)}
    data = {board: elements(random, element, length, shape) for board, length in lengths.items()}
    return Run(kind, element, op, root, count, members, gap, data)
