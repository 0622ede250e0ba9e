# SPDX-License-Identifier: Apache-2.0
"""Programs on the RTL transport. Most run on boards with the same ports, so that few models are built."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command, Size

from gossamer import smi
from gossamer.errors import InputError, RunDied

from . import model
from .test_examples import GESUMMV, STREAMS, stencil
from .test_opencl import CLIENT, READS, SERVER
from .test_random import Program, combine, emulate

FIXTURES = ROOT / "tests" / "fixtures" / "smi"
BOARDS = str(FIXTURES / "boards.c")
RING = FIXTURES / "ring.toml"
PORTS = str(FIXTURES / "ports.c")
TYPES = (3, 1, 2, 1, 2, 4)
"""Types of the ports of boards.c."""


def on_boards(
    files: list[str], ranks: int, *arguments: object, seed: int = 0, fours: int = 1, **more: Any
) -> smi.Result:
    return smi.run([*files, PORTS], ranks=ranks, topology=RING, arguments=[str(one) for one in arguments],
                   defines=[f"FOURS={fours}"], options=smi.Options(seed=seed, engine="rtl"), **more)  # fmt: skip


class Messages(Program):
    """A random program of messages and barriers, on the ports of boards.c."""

    def group(self, port: int) -> None:
        draw = self.draw
        kind = "barrier" if port == 0 else "message"
        if kind == "message" and self.ranks == 1:
            return
        # Messages of a port to several ranks: a message that waits for its receiver must not block the others.
        all_ranks = range(self.ranks)
        sender, *receivers = draw.sample(all_ranks, draw.randint(2, self.ranks)) if kind == "message" else (0, 0)
        stated = kind == "message" and draw.random() < 0.7
        slack = draw.choice([0, 1, 2, 5, 40]) if stated else self.default
        homes = {rank: self.kernel(rank) for rank in range(self.ranks)}
        lists: dict[int, list[model.Call]] = {rank: [] for rank in range(self.ranks)}
        given: dict[int, model.Values] = {}
        taken: dict[tuple[int, int], int] = {}
        length = draw.randint(1, 3)
        for number in range(length):
            count = 1 if kind == "barrier" else draw.choice([1, 2, 3, 7, 20])
            # The narrowest and the widest port are the most frequent; a program has at most six groups.
            number_ = 6 if kind == "barrier" else (port + 4) % 6
            receiver = draw.choice(receivers)
            c = model.Channel(
                kind, count, TYPES[number_ % 6], number_, sender, 0, slack, stated, self.ranks, receiver,
                given=given if kind == "message" else {}, taken=taken if kind == "message" else {}, combine=combine,
            )  # fmt: skip
            self.ids[id(c)] = len(self.ids)
            self.kept.append(c)
            for rank in range(self.ranks):
                calls = [model.Call(c, self.number(c.type)) for _ in range(c.calls(rank))]
                if number == length - 1 and draw.random() < 0.07:
                    calls = calls[: draw.randrange(len(calls) + 1)]
                lists[rank] += calls
        for rank, calls in lists.items():
            homes[rank].append(calls)


def modelled(case: int, endless: bool) -> tuple[Messages, list[model.Kernel], bool]:
    """A program, its kernels after a run of the model, and whether all ended; `endless`: with unlimited slack."""
    program = Messages(case)
    for channel in program.kept if endless else []:
        channel.slack = 10**6
    kernels = program.modelled()
    return program, kernels, model.run(kernels)


def test_random_programs_match_the_model_within_the_boards_slack(
    size: Size, seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Boards have buffers: kernels proceed at least as far as with the stated slack, and at most as far as with
    unlimited slack. If both agree, so must the waiting kernels. Cycles do not depend on the order of kernels."""
    draw = random.Random(seed)
    for wanted in ("ends", "waits", "between") * size.pick(1, 4, 300):
        outcome = None
        while outcome != wanted:
            case = draw.randrange(2**32)
            program, least, ends = modelled(case, False)
            _, most, may_end = modelled(case, True)
            same = all(one.at == other.at for one, other in zip(least, most, strict=True))
            if program.ranks <= 4:
                outcome = "between" if not same else "ends" if ends else "waits"
        cycles: list[int | None] = []

        def run(files: list[str], cycles: list[int | None] = cycles, **about: Any) -> smi.Result:
            about["options"] = smi.Options(about["options"].slack, about["options"].seed, engine="rtl")
            result = smi.run([BOARDS], topology=RING, **about)
            cycles.append(result.cycles)
            return result

        found = [emulate(program, order, tmp_path, capfd, run=run) for order in (0, draw.randrange(1, 2**31))]
        place = f"program {case}\n{program.script()}"
        assert found[0] == found[1] and cycles[1:] == cycles[:-1], f"{cycles} cycles, {place}"
        ended, results, waits = found[0]
        for low, high in zip(least, most, strict=True):
            gave = results[low.rank, low.number]
            assert low.at <= len(gave) <= high.at and gave == high.results[: len(gave)], place
        assert ended or not ends, place
        assert not ended or may_end, place
        if same:
            waiting = {
                (one.rank, f"k{one.number}" if one.number else "main") for one in least if one.at < len(one.todo)
            }
            assert waits == waiting, place


def test_message_that_waits_for_its_receiver_does_not_block_others(capfd: pytest.CaptureFixture[str]) -> None:
    """A port sends to three ranks up to its degree; the first rank receives only after the last has all elements."""
    for order in (0, 5):
        assert on_boards([str(FIXTURES / "passing.c")], 4, seed=order, fours=4).code == 0
        assert sorted(capfd.readouterr().out.splitlines()) == [f"rank {rank}: 0 wrong" for rank in (1, 2, 3)]


def test_stencil_matches_numpy_with_equal_cycles_for_any_order(seed: int, tmp_path: Path) -> None:
    grid = np.random.default_rng(seed).normal(size=(8, 12)).astype(np.float32)
    grid.tofile(tmp_path / "in")
    words = (2, 2, 8, 12, 2, tmp_path / "in", tmp_path / "out")
    cycles = []
    for order in (0, 7):
        done = on_boards([str(STREAMS / "stencil.cpp")], 4, *words, seed=order, fours=4)
        assert done.code == 0
        cycles.append(done.cycles)
        assert np.array_equal(np.fromfile(tmp_path / "out", dtype=np.float32).reshape(8, 12), stencil(grid, 2))
    assert cycles[0] == cycles[1]


def test_gesummv_matches_numpy_at_one_element_a_cycle(seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    size = 300
    data = {name: draw.integers(-9, 9, (size, size)).astype(np.float32) for name in "AB"}
    data["x"] = draw.integers(-9, 9, size).astype(np.float32)
    for name, values in data.items():
        values.tofile(tmp_path / name)
    words = [f"{name}={tmp_path / name}" for name in data]
    words += [f"N={size}", "alpha=1.5", "beta=0.5", f"y={size}:{tmp_path / 'y'}"]
    files = [str(GESUMMV / f"gesummv_rank{rank}.cl") for rank in range(2)]
    cycles = [on_boards(files, 2, *words, seed=order).cycles for order in (0, 3)]
    want = np.float32(1.5) * (data["A"] @ data["x"]) + np.float32(0.5) * (data["B"] @ data["x"])
    assert np.array_equal(np.fromfile(tmp_path / "y", dtype=np.float32), want)
    # One element a cycle, after one and a half round trips.
    assert cycles[0] == cycles[1] and cycles[0] is not None and size < cycles[0] < size + 1100


def test_pipeline_carries_one_element_a_cycle(command: Command) -> None:
    """Through three ranks, each with a loop of pop and push: 1,000 more elements take 1,000 more cycles."""
    took = []
    for count in (1000, 2000):
        done = command("smi", "run", STREAMS / "pipeline.c", PORTS, "-D", "FOURS=1", "--engine", "rtl", "--cluster",
                       RING, "--ranks", "3", "--", str(count))  # fmt: skip
        assert (done.returncode, done.stdout) == (0, f"{sum(range(count)) + count * 3}\n"), done.stderr
        took.append(int(done.stderr.split()[-2].replace(",", "")))
    assert took[1] - took[0] == 1000


def test_polling_kernels_have_equal_cycles_for_any_order(tmp_path: Path) -> None:
    """Polling kernels of one rank and a channel to itself: the number of polls depends on cycles only."""
    found = []
    for order in (0, 3, 9):
        words = f"n=200 tries=1:{tmp_path / 'tries'} polls=1:{tmp_path / 'polls'} total=1:{tmp_path / 'total'}".split()
        done = on_boards([str(FIXTURES / "polls.cl")], 1, *words, seed=order)
        counts = [int(np.fromfile(tmp_path / name, dtype=np.int32)[0]) for name in ("tries", "polls", "total")]
        found.append((done.cycles, *counts))
    assert found[0] == found[1] == found[2]
    _, tries, polls, total = found[0]
    assert total == sum(range(200))
    # One element every three cycles: the writer polls every cycle, the reader once an element except for the start.
    assert 590 <= tries <= 605 and 200 <= polls <= 205


@pytest.mark.parametrize("reads", READS)
def test_run_ends_after_endless_kernels_finish_their_work(reads: str, tmp_path: Path) -> None:
    (tmp_path / "server.cl").write_text(SERVER.replace("READ", READS[reads]))
    (tmp_path / "client.cl").write_text(CLIENT)
    out, n = tmp_path / "out.bin", 100
    cycles = []
    for order in (0, 5):
        files = [str(tmp_path / "client.cl"), str(tmp_path / "server.cl")]
        done = on_boards(files, 2, f"n={n}", f"out={n}:{out}", seed=order)
        assert done.code == 0
        cycles.append(done.cycles)
        assert np.array_equal(np.fromfile(out, np.int32), np.cumsum(np.arange(n)))
    assert cycles[0] == cycles[1]


KINDS = ("bcast", "double", "reduce", "sum", "scatter", "gather", "allgather", "barrier")


def collected(case: list[tuple[str, int, int]], ranks: int, me: int) -> list[str]:
    """The output of collect.c at a rank."""
    lines = []
    for number, (kind, root, count) in enumerate(case):
        at = 2 + 3 * number

        def value(rank: int, n: int, at: int = at) -> int:
            return rank * 7 + at * 3 + n

        each = range(count)
        found: list[str] = []
        if kind == "bcast":
            found = [f"{value(root, n)}" for n in each]
        elif kind == "double":
            found = [f"{value(root, n) + 0.25:.2f}" for n in each]
        elif kind == "reduce" and me == root:
            found = [f"{min(value(rank, n) * (1 if n % 2 else -1) for rank in range(ranks))}" for n in each]
        elif kind == "sum":
            found = [f"{sum(value(rank, n) + 0.5 for rank in range(ranks)):.1f}" for n in each]
        elif kind == "scatter":
            found = [f"{value(root, me * count + n)}" for n in each]
        elif kind == "gather" and me == root:
            # Characters are signed.
            found = [f"{(value(rank, n) + 128) % 256 - 128}" for rank in range(ranks) for n in each]
        elif kind == "allgather":
            found = [f"{value(rank, n)}" for rank in range(ranks) for n in each]
        lines.append(" ".join([str(at), kind, *found]))
    return lines


@pytest.mark.tier(
    "all", seconds=59, adds="random sequences of collectives on boards; the reductions run in the default tier"
)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_random_collectives_match_python(ranks: int, size: Size, seed: int, tmp_path: Path) -> None:
    """All kinds in random order, with random roots and counts; the cycles do not depend on the order of kernels."""
    draw = random.Random(seed)
    case = [(kind, draw.randrange(ranks), draw.choice([0, 1, 2, 17, 40])) for kind in KINDS * size.pick(2, 5, 100)]
    draw.shuffle(case)
    cycles = set()
    for order in (0, draw.randrange(1, 2**31)):
        words = [str(tmp_path / "out"), *(str(word) for one in case for word in one)]
        done = smi.run([str(FIXTURES / "collect.c")], ranks=ranks, topology=RING, arguments=words,
                       options=smi.Options(seed=order, engine="rtl"))  # fmt: skip
        assert done.code == 0
        cycles.add(done.cycles)
        for me in range(ranks):
            assert (tmp_path / f"out.{me}").read_text().splitlines() == collected(case, ranks, me), f"rank {me}"
    assert len(cycles) == 1


REDUCED = {"double": "f8", "short": "i2", "char": "i1", "long": "i8", "half": "f2"}


@pytest.mark.tier("all", seconds=200, adds="element types other than int and float, whose reductions run by default")
@pytest.mark.parametrize("op", ["ADD", "MAX", "MIN"])
def test_reductions_of_all_types_match_numpy(op: str, seed: int, tmp_path: Path) -> None:
    """To a root and to all ranks; the test above has int and float. Two ranks have random bits, because their order is
    irrelevant; four ranks have small negative integers, whose sums are exact."""
    draw = np.random.default_rng(seed)
    join = {"ADD": np.add, "MAX": np.maximum, "MIN": np.minimum}[op]
    for ranks, root, count in ((4, 2, 5), (2, 0, 9), (2, 1, 40)):
        given, expected = [b""] * ranks, b""
        for name in REDUCED.values():
            kind = np.dtype(name)
            # No zeros, because NumPy may return +0 or -0.
            bits = draw.integers(0, 1 << 8 * kind.itemsize, (ranks, count), f"u{kind.itemsize}")
            data = (bits | bits.dtype.type(1)).view(kind)
            if ranks > 2:
                data = -draw.integers(1, 30, (ranks, count)).astype(kind)
            given = [before + row.tobytes() for before, row in zip(given, data, strict=True)]
            with np.errstate(all="ignore"):
                expected += canonical(np.asarray(join.reduce(data, dtype=kind)))
        for rank, mine in enumerate(given):
            (tmp_path / f"in.{rank}").write_bytes(mine)
        words = [str(tmp_path / "in"), str(tmp_path / "out"), str(count), str(root)]
        done = smi.run([str(FIXTURES / "reduce.c")], ranks=ranks, topology=RING, arguments=words,
                       defines=[f"OP=SMI_{op}"], options=smi.Options(engine="rtl"))  # fmt: skip
        assert done.code == 0
        for rank in range(ranks):
            found = (tmp_path / f"out.{rank}").read_bytes()
            to_root, to_all = found[: -len(expected)], found[-len(expected) :]
            assert to_all == expected and to_root == (expected if rank == root else b""), f"rank {rank} of {ranks}"


def canonical(data: np.typing.NDArray[Any]) -> bytes:
    """Elements with the canonical NaN of the RTL."""
    if data.dtype.kind == "f":
        data = np.where(np.isnan(data), data.dtype.type(np.nan), data)
    return data.tobytes()


DEADLOCK = """
#include <smi.h>
int main(void) {
  int me = SMI_Comm_rank(SMI_COMM_WORLD), value = 0;
  SMI_Channel out = SMI_Open_send_channel(1, SMI_INT, 1 - me, 0, SMI_COMM_WORLD);
  SMI_Channel in = SMI_Open_recv_channel(1, SMI_INT, 1 - me, 0, SMI_COMM_WORLD);
  SMI_Pop(&in, &value);
  SMI_Push(&out, &value);
  return 0;
}
"""


def test_deadlock_text_equals_the_emulators(tmp_path: Path) -> None:
    (tmp_path / "ring.c").write_text(DEADLOCK)
    notes: dict[str, list[str]] = {}
    for engine in ("emulator", "rtl"):
        notes[engine] = []
        with pytest.raises(RunDied, match="rank 0 waits for rank 1, which waits for rank 0"):
            smi.run([str(tmp_path / "ring.c"), PORTS], ranks=2, topology=RING, defines=["FOURS=1"],
                    options=smi.Options(engine=engine), note=notes[engine].append)  # fmt: skip
    assert notes["rtl"] == notes["emulator"] and len(notes["emulator"]) == 2


MISSED = """
#include <smi.h>
int main(void) {
  int me = SMI_Comm_rank(SMI_COMM_WORLD), value = 0, other = 0;
  SMI_Channel in = SMI_Open_recv_channel(1, SMI_INT, 0, 8, SMI_COMM_WORLD);
  SMI_Channel out = SMI_Open_send_channel(1, SMI_INT, 1, 8, SMI_COMM_WORLD);
  if (me == 1) SMI_Pop(&in, &value);
  CALL
  if (me == 0) SMI_Push(&out, &value);
  return 0;
}
"""
CALLS = {
    "bcast": "SMI_BChannel c = SMI_Open_bcast_channel(1, SMI_INT, 0, 1, SMI_COMM_WORLD); SMI_Bcast(&c, &value);",
    "reduce": "SMI_RChannel c = SMI_Open_reduce_channel(1, SMI_INT, SMI_MIN, 1, 0, SMI_COMM_WORLD); "
    "SMI_Reduce(&c, &value, &other);",
    "allreduce": "SMI_AllreduceChannel c = SMI_Open_allreduce_channel(1, SMI_FLOAT, SMI_ADD, 2, SMI_COMM_WORLD); "
    "float a = 0, b; SMI_Allreduce(&c, &a, &b);",
    "scatter": "SMI_ScatterChannel c = SMI_Open_scatter_channel(1, 1, SMI_SHORT, 3, 1, SMI_COMM_WORLD); "
    "short a = 0, b; SMI_Scatter(&c, &a, &b);",
    "gather": "SMI_GatherChannel c = SMI_Open_gather_channel(1, 1, SMI_CHAR, 4, 0, SMI_COMM_WORLD); char a = 0, b; "
    "for (int n = 0; n < 2 - me; n++) SMI_Gather(&c, &a, &b);",
    "allgather": "SMI_AllgatherChannel c = SMI_Open_allgather_channel(1, SMI_INT, 5, SMI_COMM_WORLD); "
    "for (int n = 0; n < 2; n++) SMI_Allgather(&c, &value, &other);",
}


@pytest.mark.tier(
    "all",
    seconds=35,
    adds="the deadlock text of every collective on boards; the emulator reports the same in the default tier",
)
@pytest.mark.parametrize("kind", CALLS)
def test_deadlock_text_in_a_collective_equals_the_emulators(kind: str, tmp_path: Path) -> None:
    """Rank 0 waits in the collective, rank 1 waits for an element that rank 0 would send after it."""
    (tmp_path / "missed.c").write_text(MISSED.replace("CALL", CALLS[kind]))
    # The ports of the other collectives, so that all cases share one model.
    rest = "".join(f"if (0) {{ {call} }}\n" for other, call in CALLS.items() if other != kind)
    rest = f"#include <smi.h>\nvoid rest(int me, int value, int other) {{\n{rest}}}\n"
    (tmp_path / "rest.c").write_text(rest)
    notes: dict[str, list[str]] = {}
    for engine in ("emulator", "rtl"):
        notes[engine] = []
        with pytest.raises(RunDied, match="rank 0 waits for rank 1, which waits for rank 0"):
            smi.run([str(tmp_path / "missed.c"), str(tmp_path / "rest.c")], ranks=2, topology=RING,
                    options=smi.Options(engine=engine), note=notes[engine].append)  # fmt: skip
    assert notes["rtl"] == notes["emulator"]


FULL = MISSED.replace(
    "if (me == 1)",
    "SMI_BChannel c = SMI_Open_bcast_channel(20000, SMI_INT, 0, 0, SMI_COMM_WORLD);\n  if (me == 1)",
).replace("CALL", "for (int n = 0; n < 20000; n++) SMI_Bcast(&c, &value);")


@pytest.mark.tier("all", seconds=27, adds="a sender without a receiver, in a simulator of its own")
def test_full_buffers_stop_the_sender(tmp_path: Path) -> None:
    """All buffers of the route fill up long before the last element of the broadcast."""
    (tmp_path / "missed.c").write_text(FULL)
    rest = "".join(f"if (0) {{ {call} }}\n" for other, call in CALLS.items() if other != "bcast")
    (tmp_path / "rest.c").write_text(f"#include <smi.h>\nvoid rest(int me, int value, int other) {{\n{rest}}}\n")
    notes: list[str] = []
    with pytest.raises(RunDied, match="rank 0 waits for rank 1, which waits for rank 0"):
        smi.run([str(tmp_path / "missed.c"), str(tmp_path / "rest.c")], ranks=2, topology=RING,
                options=smi.Options(engine="rtl"), note=notes.append)  # fmt: skip
    assert any("in Bcast, port 0, element" in line for line in notes)


MANY = "".join(f"SMI_Open_allgather_channel(1, SMI_INT, {port}, SMI_COMM_WORLD);" for port in range(30, 46))
SPLIT = "SMI_Barrier(4, SMI_Comm_split(SMI_COMM_WORLD, SMI_Comm_rank(SMI_COMM_WORLD) / 2, 0));"
RANDOM = "SMI_Open_send_channel(1, SMI_INT, 0, SMI_Comm_rank(SMI_COMM_WORLD), SMI_COMM_WORLD);"
BARRIERS = "SMI_Barrier(2, SMI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (MANY, r"bad\.c:3: 16 ports of collectives; --engine rtl has 15 at most"),
        (SPLIT, r"Barrier of a communicator of size 2: the RTL supports only collectives of all ranks.*bad\.c:3"),
        (RANDOM, r"bad\.c:3: the port is not constant"),
        (BARRIERS, r"barriers on port 4 and on port 2 .*bad\.c:3"),
    ],
)
def test_unsupported_use_is_reported(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "bad.c").write_text(
        "#include <smi.h>\nint main(void) {\n" + line
        + "\n  SMI_Open_send_channel(1, SMI_INT, 0, 0, SMI_COMM_WORLD);\n  return 0;\n}\n"
    )  # fmt: skip
    with pytest.raises(InputError, match=said):
        on_boards([str(tmp_path / "bad.c")], 4)


def test_unsupported_options_and_clusters_are_reported() -> None:
    file = str(STREAMS / "pipeline.c")
    with pytest.raises(InputError, match="needs the boards' wiring; give --cluster"):
        smi.run([file], ranks=2, options=smi.Options(engine="rtl"))
    with pytest.raises(InputError, match="--engine rtl runs in one process; leave out --mpi"):
        smi.Options(engine="rtl", processes=2)
    with pytest.raises(InputError, match="--engine hdl: give emulator, rtl or board"):
        smi.Options(engine="hdl")
    with pytest.raises(
        InputError, match="b is quad, a is tiny; --engine rtl needs the same configuration on all boards"
    ):
        smi.run([file], topology=FIXTURES / "mixed.toml", options=smi.Options(engine="rtl"))
