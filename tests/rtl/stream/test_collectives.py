# SPDX-License-Identifier: Apache-2.0
"""Broadcast and reduction along trees in wirings of boards, over links that lose and damage frames."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bench.stream import ranks
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent


@cache
def boards(cluster: str, kind: int = ranks.BCAST) -> ranks.Boards:
    return ranks.Boards(ranks.Wiring.of(cluster), kind=kind)


def test_elements_are_joined_as_this_machine_does(size: Size, seed: int) -> None:
    """Ints and floats, all operations: subnormals, infinities, NaN, cancellation, pipelines that stand still."""
    design = sources.blocks("stream/collectives.f", config=configs.load("tiny"))
    simulator = verilate.model("gs_stream_lane", design, [HERE / "lane.cc"], optimise="-O1")
    count = size.pick(100_000, 1_000_000, 100_000_000)
    done = subprocess.run([simulator, str(seed), str(count)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# Frames lost and, as many again, damaged: of 2^20.
LOSSES = {"none": 0, "one in fifty": 10_486}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_collectives_of_all_roots(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Both kinds at once, in any order of roots, types, operations and lengths, with kernels that stall: what comes is
    what NumPy says, to the bit. Trees change from root to root, and nothing else does."""
    here = boards(cluster)
    random = np.random.default_rng(seed)
    everybody = range(here.wiring.boards)
    trees = {
        kind: {
            root: ranks.tree(here.wiring, root, everybody, int(random.integers(2, 5))) for root in everybody
        }
        for kind in (ranks.BCAST, ranks.REDUCE)
    }  # fmt: skip
    runs = []
    for _ in range(size.pick(6, 24, 600)):
        count = int(random.choice([0, 1, 1, 2, 3, 7, 40, 500]))
        if random.random() < 0.1:
            count = int(random.integers(1, 3000))
        runs.append(
            ranks.made(
                random,
                int(random.choice([ranks.BCAST, ranks.REDUCE])),
                int(random.integers(here.wiring.boards)),
                count,
                everybody,
                element=int(random.choice([ranks.INT, ranks.FLOAT])),
                op=int(random.integers(3)),
                shape=str(random.choice(["any", "close", "negative", "special"])),
                gap=int(random.choice([-1, -1, 0])),
            )
        )
    outcome = here.run(trees, runs, limit=40_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_results_for_all_and_barriers(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Allreduce, and barriers beside it: results reach all ranks, and nobody leaves a barrier before the last has come.
    Each block has a tree of its own; its root is no matter of the kernels."""
    here = boards(cluster, ranks.ALLREDUCE)
    random = np.random.default_rng(seed)
    everybody = range(here.wiring.boards)
    roots = {kind: int(random.integers(here.wiring.boards)) for kind in (ranks.ALLREDUCE, ranks.BARRIER)}
    trees = {kind: {root: ranks.tree(here.wiring, root, everybody)} for kind, root in roots.items()}
    runs = []
    for _ in range(size.pick(6, 24, 600)):
        kind = int(random.choice([ranks.ALLREDUCE, ranks.BARRIER]))
        runs.append(
            ranks.made(
                random,
                kind,
                roots[kind],
                int(random.choice([0, 1, 2, 3, 40, 500])),
                everybody,
                element=int(random.choice([ranks.INT, ranks.FLOAT])),
                op=int(random.integers(3)),
                shape=str(random.choice(["any", "close", "negative", "special"])),
            )
        )
    outcome = here.run(trees, runs, limit=40_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)
    for number, run in enumerate(runs):
        if run.kind == ranks.BARRIER:
            assert outcome.opened[number] < outcome.first[number], f"run {number}: left before the last had come"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_parts_of_all_ranks(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Scatter, gather and allgather in any order, with any root and count, none among them: at one block over all
    boards, and beside it at another over some of them. Each block has one tree, whoever is root."""
    here = boards(cluster, ranks.SCATTER)
    random = np.random.default_rng(seed)
    everybody = list(range(here.wiring.boards))
    few = grown(random, here.wiring, int(random.integers(1, here.wiring.boards)))
    members = {0: everybody, ranks.SECOND: few}
    trees = {
        block + ranks.SCATTER: {0: ranks.tree(here.wiring, int(random.choice(some)), some, 4)}
        for block, some in members.items()
    }
    runs = []
    # Each kind at each block, and what chance adds.
    kinds = [block + kind for block in members for kind in ranks.PARTS]
    kinds += [int(kind) for kind in random.choice(kinds, size.pick(6, 30, 1000))]
    for number in random.permutation(len(kinds)):
        block = kinds[number] // ranks.SECOND * ranks.SECOND
        count = int(random.choice([0, 1, 2, 3, 7, 40, 300]))
        if random.random() < 0.1:
            count = int(random.integers(1, 1500))
        root = int(random.choice(members[block]))
        runs.append(ranks.made(random, kinds[number], root, count, members[block], shape="any"))
    outcome = here.run(trees, runs, limit=100_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)


def grown(random: np.random.Generator, wiring: ranks.Wiring, count: int) -> list[int]:
    """Boards that hang together."""
    some = [int(random.integers(wiring.boards))]
    while len(some) < count:
        near = sorted({far for (board, _), (far, _) in wiring.ends.items() if board in some} - set(some))
        some.append(int(random.choice(near)))
    return sorted(some)


def test_some_ranks_and_a_root_between_two(size: Size, seed: int) -> None:
    """Trees over a part of the boards; the others take no part and notice nothing."""
    here = boards("bus8")
    random = np.random.default_rng(seed)
    some = range(2, 6)
    trees = {kind: {3: ranks.tree(here.wiring, 3, some)} for kind in (ranks.BCAST, ranks.REDUCE)}
    runs = [
        ranks.made(random, kind, 3, 100, some, shape="negative", op=op)
        for kind in (ranks.BCAST, ranks.REDUCE)
        for op in (ranks.ADD, ranks.MAX, ranks.MIN)
    ]
    here.run(trees, runs, limit=100_000, seed=seed)


@pytest.mark.parametrize("wrong", ["root", "element"])
def test_what_a_block_cannot_do_is_told(wrong: str, seed: int) -> None:
    """A root without a tree; a type that a reduction does not have: it stands, and says so."""
    here = boards("bus8")
    random = np.random.default_rng(seed)
    two = range(2)
    trees = {ranks.REDUCE: {0: ranks.tree(here.wiring, 0, two)}}
    run = ranks.made(random, ranks.REDUCE, 0, 4, two)
    if wrong == "root":
        run.root = 9
    else:
        run.element = 6
    with pytest.raises(AssertionError, match="a collective that its block cannot do"):
        here.run(trees, [run], limit=20_000, seed=seed)


# Kind, what rank 1 opens in place of 4 ints, who reports, and about whom: types, counts. An eager port knows the other
# end's count when its message has ended, and else the least that it can be.
MISMATCHES = {
    "bcast-type": (ranks.BCAST, (ranks.FLOAT, 4), 1, 0, r"fault 1 .* type 2 and 1 count 4 and \d+"),
    "bcast-more": (ranks.BCAST, (ranks.INT, 6), 1, 0, "fault 2 .* type 1 and 1 count 6 and 4"),
    "bcast-less": (ranks.BCAST, (ranks.INT, 3), 1, 0, "fault 2 .* type 1 and 1 count 3 and 4"),
    "reduce-type": (ranks.REDUCE, (ranks.FLOAT, 4), 0, 1, r"fault 1 .* type 1 and 2 count 4 and \d+"),
    "reduce-more": (ranks.REDUCE, (ranks.INT, 6), 0, 1, "fault 2 .* type 1 and 1 count 4 and 5"),
    "reduce-less": (ranks.REDUCE, (ranks.INT, 3), 0, 1, "fault 2 .* type 1 and 1 count 4 and 3"),
    "allreduce-type": (ranks.ALLREDUCE, (ranks.FLOAT, 4), 0, 1, r"fault 1 .* type 1 and 2 count 4 and \d+"),
    "allreduce-more": (ranks.ALLREDUCE, (ranks.INT, 6), 0, 1, "fault 2 .* type 1 and 1 count 4 and 5"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_ranks_that_disagree_are_told(case: str, seed: int) -> None:
    """Type or count of one rank differ: the port where they meet says which rank and port, and what both ends have."""
    kind, (element, count), teller, other, right = MISMATCHES[case]
    here = boards("bus8", kind)
    two = range(2)
    trees = {kind: {0: ranks.tree(here.wiring, 0, two)}}
    run = ranks.made(np.random.default_rng(seed), kind, 0, 4, two, element=ranks.INT)
    run.wrong[1] = (element, ranks.ADD, 0, count)
    ends = here.wiring.ends.items()
    edge = next(link for (board, link), (far, _) in ends if (board, far) == (teller, other))
    port = ranks.block(kind) * here.LINKS + edge
    told = right.replace(".*", f"port {port} own {teller} peer {other}")
    with pytest.raises(AssertionError, match=f"report of board {teller}: {told}"):
        here.run(trees, [run], limit=20_000, seed=seed)
