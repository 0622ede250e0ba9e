# SPDX-License-Identifier: Apache-2.0
"""Collectives along trees in wirings of boards, over links that lose and damage frames."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import Size
from models.stream import collectives

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent


@cache
def boards(cluster: str, kind: int = collectives.BCAST) -> collectives.Boards:
    return collectives.Boards(collectives.Wiring.of(cluster), kind=kind)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_lanes_match_host_arithmetic(bits: int, size: Size, seed: int) -> None:
    """Integers and floats, all operations: subnormals, infinities, NaN, cancellation, stalled pipelines."""
    design = sources.blocks("stream/collectives.f", config=configs.load("tiny"))
    simulator = verilate.model(
        "gs_stream_lane",
        design,
        [HERE / "lane.cc"],
        parameters={"Bits": bits, "Floats": int(bits > 8)},
        cxx=[f"-DBITS={bits}"],
        optimise="-O1",
    )
    count = size.pick(100_000, 1_000_000, 100_000_000)
    done = subprocess.run([simulator, str(seed), str(count)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# Lost frames of 2^20; the same number is damaged.
LOSSES = {"none": 0, "one in fifty": 10_486}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_bcast_and_reduce_match_numpy_for_all_roots(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Both kinds at once, in any order of roots, types, operations and lengths, with kernels that stall: results are
    bit-identical to NumPy's for all types. Only the trees differ from root to root."""
    here = boards(cluster)
    random = np.random.default_rng(seed)
    all_ranks = range(here.wiring.boards)
    trees = {
        kind: {
            root: collectives.tree(here.wiring, root, all_ranks, int(random.integers(2, 5))) for root in all_ranks
        }
        for kind in (collectives.BCAST, collectives.REDUCE)
    }  # fmt: skip
    runs = []
    # A reduction of each type, and random collectives.
    cases = [(collectives.REDUCE, element) for element in collectives.TYPES]
    for _ in range(size.pick(4, 20, 600)):
        cases.append(
            (int(random.choice([collectives.BCAST, collectives.REDUCE])), int(random.choice(list(collectives.TYPES))))
        )
    for number in random.permutation(len(cases)):
        kind, element = cases[number]
        # 41: all lanes, and a partial last beat.
        count = int(random.choice([0, 1, 1, 2, 3, 7, 40, 500])) if number >= len(collectives.TYPES) else 41
        if number >= len(collectives.TYPES) and random.random() < 0.1:
            count = int(random.integers(1, 3000))
        runs.append(
            collectives.random_run(
                random,
                kind,
                int(random.integers(here.wiring.boards)),
                count,
                all_ranks,
                element=element,
                op=int(random.integers(3)),
                shape=str(random.choice(["any", "close", "negative", "special"])),
                gap=int(random.choice([-1, -1, 0])),
            )
        )
    outcome = here.run(trees, runs, limit=40_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_allreduce_and_barrier_match_numpy(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Allreduce and barriers at once: results reach all ranks, and no rank is released from a barrier before the last
    has arrived. Each block has a tree of its own, with a root independent of the kernels. Reductions at the block of
    allreduce reach any root."""
    here = boards(cluster, collectives.ALLREDUCE)
    random = np.random.default_rng(seed)
    all_ranks = range(here.wiring.boards)
    roots = {kind: int(random.integers(here.wiring.boards)) for kind in (collectives.ALLREDUCE, collectives.BARRIER)}
    trees = {kind: {root: collectives.tree(here.wiring, root, all_ranks)} for kind, root in roots.items()}
    runs = []
    for _ in range(size.pick(6, 24, 600)):
        kind = int(random.choice([collectives.ALLREDUCE, collectives.REDUCE_VIA_ALLREDUCE, collectives.BARRIER]))
        runs.append(
            collectives.random_run(
                random,
                kind,
                roots.get(kind, int(random.integers(here.wiring.boards))),
                int(random.choice([0, 1, 2, 3, 40, 500])),
                all_ranks,
                element=int(random.choice([collectives.INT, collectives.FLOAT])),
                op=int(random.integers(3)),
                shape=str(random.choice(["any", "close", "negative", "special"])),
            )
        )
    outcome = here.run(trees, runs, limit=40_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)
    for number, run in enumerate(runs):
        if run.kind == collectives.BARRIER:
            assert outcome.opened[number] < outcome.first[number], f"run {number}: released before all arrived"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("cluster", ["torus8", "bus8"])
def test_scatter_gather_results_match_numpy(cluster: str, loss: str, size: Size, seed: int) -> None:
    """Scatter, gather and allgather in any order, with any root and count, including 0: at one block over all boards,
    and at the same time at another over some of them. Each block has one tree for all roots."""
    here = boards(cluster, collectives.SCATTER)
    random = np.random.default_rng(seed)
    all_ranks = list(range(here.wiring.boards))
    few = connected_subset(random, here.wiring, int(random.integers(1, here.wiring.boards)))
    members = {0: all_ranks, collectives.SECOND_BLOCK: few}
    trees = {
        block + collectives.SCATTER: {0: collectives.tree(here.wiring, int(random.choice(some)), some, 4)}
        for block, some in members.items()
    }
    runs = []
    # Each kind at each block, and random collectives.
    kinds = [block + kind for block in members for kind in collectives.SCATTER_GATHER]
    kinds += [int(kind) for kind in random.choice(kinds, size.pick(6, 16, 1000))]
    for number in random.permutation(len(kinds)):
        block = kinds[number] // collectives.SECOND_BLOCK * collectives.SECOND_BLOCK
        count = int(random.choice([0, 1, 2, 3, 7, 40, 300]))
        if random.random() < 0.1:
            count = int(random.integers(1, 1500))
        root = int(random.choice(members[block]))
        runs.append(collectives.random_run(random, kinds[number], root, count, members[block], shape="any"))
    outcome = here.run(trees, runs, limit=100_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)


@pytest.mark.parametrize("loss", LOSSES)
def test_ring_serves_all_roots(loss: str, size: Size, seed: int) -> None:
    """Broadcasts and reductions in a ring over the wiring, from and to any root: only the tables differ from those of
    trees. Each board uses two links."""
    here = boards("torus8")
    random = np.random.default_rng(seed)
    all_ranks = range(here.wiring.boards)
    way = collectives.ring(here.wiring)
    assert sorted(board for board, _ in way) == list(all_ranks)
    around = {root: collectives.ring_tree(here.wiring, way, root) for root in all_ranks}
    for board in all_ranks:
        assert len({link for one in around.values() for link in one.links(board)}) == 2
    runs = []
    for _ in range(size.pick(3, 8, 300)):
        kind = int(random.choice([collectives.BCAST, collectives.REDUCE]))
        count = int(random.choice([0, 1, 3, 40, 500]))
        runs.append(collectives.random_run(random, kind, int(random.integers(here.wiring.boards)), count, all_ranks))
    trees = dict.fromkeys((collectives.BCAST, collectives.REDUCE), around)
    outcome = here.run(trees, runs, limit=40_000 * len(runs) + 50_000, seed=seed, loss=LOSSES[loss], stalls=True)
    assert (outcome.lost > 0) == (LOSSES[loss] > 0)


def test_ring_requires_a_cycle_over_all_boards() -> None:
    with pytest.raises(ValueError, match="no ring over links passes all 8 boards once"):
        collectives.ring(collectives.Wiring.of("bus8"))


def connected_subset(random: np.random.Generator, wiring: collectives.Wiring, count: int) -> list[int]:
    """Boards that are connected with each other."""
    some = [int(random.integers(wiring.boards))]
    while len(some) < count:
        near = sorted({far for (board, _), (far, _) in wiring.ends.items() if board in some} - set(some))
        some.append(int(random.choice(near)))
    return sorted(some)


def test_collectives_over_a_subset_of_ranks_match_numpy(size: Size, seed: int) -> None:
    """Trees over some of the boards; the others are not involved. The root is between two members."""
    here = boards("bus8")
    random = np.random.default_rng(seed)
    some = range(2, 6)
    trees = {kind: {3: collectives.tree(here.wiring, 3, some)} for kind in (collectives.BCAST, collectives.REDUCE)}
    runs = [
        collectives.random_run(random, kind, 3, 100, some, shape="negative", op=op)
        for kind in (collectives.BCAST, collectives.REDUCE)
        for op in (collectives.ADD, collectives.MAX, collectives.MIN)
    ]
    here.run(trees, runs, limit=100_000, seed=seed)


@pytest.mark.tier("all", seconds=30, adds="a board that lacks a collective, in a model of its own")
@pytest.mark.parametrize("wrong", ["root", "element"])
def test_unsupported_collective_is_a_fault(wrong: str, seed: int) -> None:
    """A root without a tree, or a type that a reduction does not support, halts the block and sets its fault."""
    two = range(2)
    # The allreduce of these boards supports int and float.
    kind = collectives.REDUCE if wrong == "root" else collectives.ALLREDUCE
    here = boards("bus8", kind)
    random = np.random.default_rng(seed)
    trees = {kind: {0: collectives.tree(here.wiring, 0, two)}}
    run = collectives.random_run(
        random, kind, 0, 4, two, element=collectives.FLOAT if wrong == "root" else collectives.SHORT
    )
    if wrong == "root":
        run.root = 9
    with pytest.raises(AssertionError, match="a collective that its block does not support"):
        here.run(trees, [run], limit=20_000, seed=seed)


# Kind, what rank 1 opens in place of 4 ints, the reporting rank, the reported rank: types, counts. An eager port knows
# the other end's count only if its message has ended; otherwise it reports a lower bound.
MISMATCHES = {
    "bcast-type": (collectives.BCAST, (collectives.FLOAT, 4), 1, 0, r"fault 1 .* type 2 and 1 count 4 and \d+"),
    "bcast-more": (collectives.BCAST, (collectives.INT, 6), 1, 0, "fault 2 .* type 1 and 1 count 6 and 4"),
    "bcast-less": (collectives.BCAST, (collectives.INT, 3), 1, 0, "fault 2 .* type 1 and 1 count 3 and 4"),
    "reduce-type": (collectives.REDUCE, (collectives.FLOAT, 4), 0, 1, r"fault 1 .* type 1 and 2 count 4 and \d+"),
    "reduce-more": (collectives.REDUCE, (collectives.INT, 6), 0, 1, "fault 2 .* type 1 and 1 count 4 and 5"),
    "reduce-less": (collectives.REDUCE, (collectives.INT, 3), 0, 1, "fault 2 .* type 1 and 1 count 4 and 3"),
    "allreduce-type": (collectives.ALLREDUCE, (collectives.FLOAT, 4), 0, 1, r"fault 1 .* type 1 and 2 count 4 and \d+"),
    "allreduce-more": (collectives.ALLREDUCE, (collectives.INT, 6), 0, 1, "fault 2 .* type 1 and 1 count 4 and 5"),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_mismatch_of_type_or_count_is_reported(case: str, seed: int) -> None:
    """If type or count of one rank differ, the port where they meet reports rank, port and both ends' values. After
    clearing and binding again, the same ranks continue."""
    kind, (element, count), reporter, other, right = MISMATCHES[case]
    here = boards("bus8", kind)
    two = range(2)
    trees = {kind: {0: collectives.tree(here.wiring, 0, two)}}
    run = collectives.random_run(np.random.default_rng(seed), kind, 0, 4, two, element=collectives.INT)
    run.wrong[1] = {"element": element, "count": count}
    ends = here.wiring.ends.items()
    edge = next(link for (board, link), (far, _) in ends if (board, far) == (reporter, other))
    port = collectives.block(kind) * here.LINKS + edge
    report = right.replace(".*", f"port {port} own {reporter} peer {other}")
    later = dataclasses.replace(run, wrong={}, gap=10_000)
    outcome = here.run(trees, [run, later], limit=40_000, seed=seed, recover=0)
    assert re.match(f"report of board {reporter}: {report}", outcome.report), outcome.report


REPORT = re.compile(
    r"report of board (?P<board>\d+): fault 4 port (?P<port>\d+) own (?P<own>\d+) peer (?P<peer>\d+) "
    r"type \d+ and \d+ count \d+ and \d+ tag (?P<mine>[\d ]+) tag (?P<theirs>[\d ]+)"
)


def tag(run: collectives.Run, board: int, number: int) -> str:
    """The tag of the collective that a rank opens, as the harness prints it."""
    wrong = run.wrong.get(board, {})
    kind = wrong.get("kind", run.kind % collectives.SECOND_BLOCK)
    root = 0 if kind in (collectives.ALLREDUCE, collectives.BARRIER) else wrong.get("root", run.root)
    op = 0 if kind == collectives.BARRIER else wrong.get("op", run.op)
    return f"{number} 0 {kind} {op} {root}"


def assert_mismatch_is_reported(
    here: collectives.Boards,
    trees: dict[int, dict[int, collectives.Tree]],
    runs: list[collectives.Run],
    wrong_rank: int,
    *,
    seed: int,
    loss: int = 0,
) -> None:
    """The last run, in which one rank opens another collective, ends with a report of a port between it and a
    neighbour; both sides of the report are what the two ranks have opened. After clearing and binding again, all ranks
    continue."""
    # Kernels that receive nothing finish at once: one more collective, later, waits for the report.
    later = dataclasses.replace(runs[-1], wrong={}, gap=10_000)
    outcome = here.run(
        trees, [*runs, later, *runs[:-1]], limit=120_000 * len(runs), seed=seed, loss=loss, stalls=loss > 0,
        recover=len(runs) - 1,
    )  # fmt: skip
    found = REPORT.search(outcome.report)
    assert found, outcome.report
    own, peer, port = (int(found[name]) for name in ("own", "peer", "port"))
    last = runs[-1]
    assert int(found["board"]) == own and wrong_rank in (own, peer) and own != peer
    assert port // here.LINKS == collectives.block(last.kind) and here.wiring.ends[own, port % here.LINKS][0] == peer
    number = sum(collectives.block(run.kind) == collectives.block(last.kind) for run in runs) - 1
    for rank, said in ((own, found["mine"]), (peer, found["theirs"])):
        assert said.strip() == tag(last, rank, number), found[0]


# Kind, and what two ranks open in place of root 0 and sums. In "both-wait" each expects the other one to send.
DISAGREEMENTS = {
    "bcast-both-send": (collectives.BCAST, {1: {"root": 1}}),
    "bcast-both-wait": (collectives.BCAST, {0: {"root": 1}}),
    "reduce-both-send": (collectives.REDUCE, {0: {"root": 1}}),
    "reduce-both-wait": (collectives.REDUCE, {1: {"root": 1}}),
    "reduce-op": (collectives.REDUCE, {1: {"op": collectives.MAX}}),
    "allreduce-op": (collectives.ALLREDUCE, {1: {"op": collectives.MIN}}),
    "allreduce-reduce": (collectives.ALLREDUCE, {1: {"kind": collectives.REDUCE}}),
    "through-all-root": (collectives.REDUCE_VIA_ALLREDUCE, {1: {"root": 1}}),
    "through-all-allreduce": (collectives.REDUCE_VIA_ALLREDUCE, {0: {"kind": collectives.ALLREDUCE}}),
    "scatter-both-wait": (collectives.SCATTER, {0: {"root": 1}}),
    "gather-both-wait": (collectives.GATHER, {1: {"root": 1}}),
    "scatter-gather": (collectives.SCATTER, {1: {"kind": collectives.GATHER}}),
    "gather-scatter": (collectives.GATHER, {1: {"kind": collectives.SCATTER}}),
    "gather-allgather": (collectives.GATHER, {1: {"kind": collectives.ALLGATHER}}),
    "second-scatter-allgather": (collectives.SECOND_BLOCK + collectives.SCATTER, {0: {"kind": collectives.ALLGATHER}}),
}


@pytest.mark.parametrize("case", DISAGREEMENTS)
def test_mismatch_of_two_ranks_is_reported(case: str, size: Size, seed: int) -> None:
    """Root, operation or kind differ between two ranks, also if both wait, or both have sent and finished."""
    kind, wrong = DISAGREEMENTS[case]
    here = boards("bus8", kind)
    random = np.random.default_rng(seed)
    single = collectives.ALLREDUCE if kind == collectives.REDUCE_VIA_ALLREDUCE else kind
    trees = {single: {root: collectives.tree(here.wiring, root, range(2)) for root in range(2)}}
    if single == collectives.ALLREDUCE or kind % collectives.SECOND_BLOCK in collectives.SCATTER_GATHER:
        trees[single].pop(1)
    for count in size.pick((0,), (0, 40), (0, 1, 3, 4, 40, 3000)):
        runs = [collectives.random_run(random, kind, 0, count, range(2), element=collectives.INT) for _ in range(2)]
        runs[-1].wrong = wrong
        assert_mismatch_is_reported(here, trees, runs, next(iter(wrong)), seed=seed)


# A rank waits for its kernel, which supplies nothing to the open collective. Members, root, and what ranks open.
SILENT = {
    "a-message-waits": ([0, 1], 1, {0: {"kind": collectives.ALLGATHER}}),
    "neighbours-wait": ([0, 1, 3], 1, {0: {"kind": collectives.ALLGATHER}, 1: {"root": 3}}),
    "both": (list(range(8)), 2, {0: {"kind": collectives.ALLGATHER}}),
}


@pytest.mark.parametrize("case", SILENT)
def test_mismatch_is_reported_while_a_kernel_supplies_nothing(case: str, seed: int) -> None:
    """In an allgather rank 0 sends first, over all edges, but its kernel is in a scatter and supplies nothing."""
    members, root, wrong = SILENT[case]
    here = boards("torus8", collectives.SCATTER)
    trees = {collectives.SCATTER: {0: collectives.tree(here.wiring, 0, members, 4)}}
    runs = [
        collectives.random_run(
            np.random.default_rng(seed), collectives.SCATTER, root, 500, members, element=collectives.INT
        )
    ]
    runs[0].wrong = wrong
    assert_mismatch_is_reported(here, trees, runs, 0, seed=seed)


@pytest.mark.tier("all", seconds=36, adds="eight ranks; two ranks run in the default tier")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["bcast", "reduce", "scatter-gather", "allreduce"])
def test_mismatch_of_one_rank_in_eight_is_reported(kind: str, loss: str, size: Size, seed: int) -> None:
    """After some correct collectives, one rank opens another root, operation or kind. Trees of a torus: a rank may use
    edges that its neighbours do not use."""
    one = {
        "bcast": collectives.BCAST,
        "reduce": collectives.REDUCE,
        "scatter-gather": collectives.SCATTER,
        "allreduce": collectives.ALLREDUCE,
    }[kind]
    here = boards("torus8", one)
    random = np.random.default_rng(seed)
    all_ranks = list(range(here.wiring.boards))
    for _ in range(size.pick(1, 2, 50)):
        kinds = collectives.SCATTER_GATHER if kind == "scatter-gather" else (one,)
        roots = all_ranks if one in (collectives.BCAST, collectives.REDUCE) else [0]
        trees = {
            one: {root: collectives.tree(here.wiring, root, all_ranks, int(random.integers(2, 5))) for root in roots}
        }
        runs = [
            collectives.random_run(
                random, int(random.choice(kinds)), 0 if kind == "allreduce" else int(random.choice(all_ranks)),
                int(random.choice([0, 1, 3, 40, 500])), all_ranks, op=int(random.integers(3)),
            )
            for _ in range(int(random.integers(2, 5)))
        ]  # fmt: skip
        wrong_rank, last = int(random.choice(all_ranks)), runs[-1]
        says: dict[str, list[int]] = {}
        if kind != "allreduce":
            says["root"] = [root for root in all_ranks if root != last.root]
        if kind.endswith("reduce"):
            says["op"] = [op for op in range(3) if op != last.op]
        if kind == "scatter-gather":
            says["kind"] = [other for other in kinds if other != last.kind]
        what = str(random.choice(sorted(says)))
        last.wrong = {wrong_rank: {what: int(random.choice(says[what]))}}
        assert_mismatch_is_reported(here, trees, runs, wrong_rank, seed=seed, loss=LOSSES[loss])
