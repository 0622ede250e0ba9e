# SPDX-License-Identifier: Apache-2.0
"""Programs on gs_board: limits of a configuration, and the packets that set ports and blocks of collectives."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Command

from gossamer import config as configs
from gossamer import smi
from gossamer.config import constants
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError
from gossamer.smi import _boards, _rtl

from .test_rtl import KINDS, REDUCED, canonical, collected

FIXTURES = ROOT / "tests" / "fixtures" / "smi"
RING = FIXTURES / "ring.toml"
SMALL = FIXTURES / "ring_small.toml"
CHANNEL = "  SMI_Open_send_channel_ad(1, SMI_INT, 0, {port}, SMI_COMM_WORLD, {degree});\n"
COLLECTIVE = "  SMI_Open_bcast_channel(1, SMI_INT, {port}, 0, SMI_COMM_WORLD);\n"
TWO = """#include <smi.h>
#include <stdio.h>
int main(void) {
  const int n = 1000;
  if (SMI_Comm_rank(SMI_COMM_WORLD) == 0) {
    SMI_Channel out = SMI_Open_send_channel(n, SMI_SHORT, 1, 0, SMI_COMM_WORLD);
    for (short i = 0; i < n; i++) SMI_Push(&out, &i);
  } else {
    SMI_Channel in = SMI_Open_recv_channel(n, SMI_SHORT, 0, 0, SMI_COMM_WORLD);
    long sum = 0;
    short value;
    for (int i = 0; i < n; i++) SMI_Pop(&in, &value), sum += value * (i + 1);
    printf("%ld\\n", sum);
  }
  return 0;
}
"""


def program(folder: Path, *lines: str) -> str:
    path = folder / "one.c"
    path.write_text("#include <smi.h>\nint main(void) {\n" + "".join(lines) + "  return 0;\n}\n")
    return str(path)


NO_PORTS = (
    r"boards of {} have no streaming ports for SMI programs \(stream\.ports, stream\.element_beats, "
    r"stream\.width_bytes\); give another cluster"
)


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        (
            [CHANNEL.format(port=port, degree=1) for port in range(17)],
            {},
            r"the programs use 17 ports of channels; boards of smi520n have 16 \(stream\.ports\)",
        ),
        (
            [CHANNEL.format(port=0, degree=65)],
            {},
            r"channels of 65 elements ahead \(degree, or --slack\) need stream\.voq_flits of 128; smi520n has 64",
        ),
        (
            [CHANNEL.format(port=0, degree=1)],
            {"slack": 100_000},
            r"channels of 100000 elements ahead \(degree, or --slack\) need stream\.depth_flits",
        ),
        (
            [COLLECTIVE.format(port=port) for port in range(5)],
            {"config": "smi520n"},
            r"one\.c:3: the programs use 5 collectives and barriers; boards of smi520n have 4 blocks ",
        ),
        ([CHANNEL.format(port=0, degree=1)], {"config": "de5"}, NO_PORTS.format("de5")),
        ([CHANNEL.format(port=0, degree=1)], {"config": "tiny-stream"}, NO_PORTS.format("tiny-stream")),
        ([CHANNEL.format(port=0, degree=1)], {"config": "smi520m"}, "smi520m"),
    ],
)
def test_program_beyond_the_configuration_is_reported_before_anything_is_built(
    lines: list[str], options: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gossamer.engines import _rtl_build

    monkeypatch.setattr(_rtl_build, "board_kernels", lambda *_: pytest.fail("a simulator was requested"))
    config = options.pop("config", None)
    slack = options.pop("slack", 16)
    assert config is None or isinstance(config, str)
    assert isinstance(slack, int)
    with pytest.raises(InputError, match=said):
        _rtl.plan([program(tmp_path, *lines)], [], 4, RING, slack, False, config=config)


@pytest.mark.tier("all", seconds=110, adds="a simulator of boards with eight blocks")
def test_more_collectives_than_blocks_run_on_boards_with_more_of_them(command: Command) -> None:
    """torus8 has boards of smi520n, with four blocks; the program has five collectives."""
    done = command("smi", "run", FIXTURES / "five.c", "--engine", "rtl", "--cluster", "torus8", "--ranks", "4")
    assert done.returncode == 0, done.stderr
    total = sum(port * 10 + i for port in range(5) for i in range(3))
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: {total}" for rank in range(4)]


def test_options_of_boards_need_their_engine(command: Command, tmp_path: Path) -> None:
    file = program(tmp_path)
    for option, value, engines in (
        ("--config", "smi520n", "rtl or board"),
        ("--frame-loss", "0.1", "rtl"),
        ("--port", "eth0", "board"),
        ("--keys", "keys.json", "board"),
    ):
        done = command("smi", "run", file, option, value)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"gossamer: error: {option}: give --engine {engines} with it\n"
    with pytest.raises(InputError, match="--frame-loss 1: must be 0 or more, and less than 1"):
        smi.Options(engine="rtl", frame_loss=1.0)


def test_frames_that_links_lose_cost_cycles_and_nothing_else(command: Command, tmp_path: Path) -> None:
    (tmp_path / "two.c").write_text(TWO)
    cycles = []
    for loss in ("0", "0.2"):
        done = command("smi", "run", tmp_path / "two.c", "--engine", "rtl", "--cluster", SMALL, "--ranks", "2",
                       "--frame-loss", loss, "--seed", "3")  # fmt: skip
        assert (done.returncode, done.stdout) == (0, f"{sum(i * (i + 1) for i in range(1000))}\n"), done.stderr
        cycles.append(int(done.stderr.split()[-2].replace(",", "")))
    # One element a cycle after three times the latency to the neighbour.
    assert 1000 < cycles[0] < 2100 < cycles[1]


PAIRS = (("barrier", "bcast"), ("reduce", "double"), ("sum", "scatter"), ("gather", "allgather"))
"""Kinds of collect.c that use the two blocks of a board in turn."""


@pytest.mark.parametrize("pair", PAIRS)
def test_two_blocks_serve_every_kind_with_one_simulator(pair: tuple[str, str], seed: int, tmp_path: Path) -> None:
    """Roles, tables and bindings are set in band; any root and count, compared with Python."""
    draw = random.Random(seed)
    ranks = draw.choice([3, 4])
    case = [(kind, draw.randrange(ranks), draw.choice([0, 1, 2, 17])) for kind in pair * 3]
    words = [str(tmp_path / "out"), *(str(word) for one in case for word in one)]
    mask = sum(1 << KINDS.index(kind) for kind in pair)
    cycles = set()
    for order in (0, draw.randrange(1, 2**31)):
        done = smi.run([str(FIXTURES / "collect.c")], ranks=ranks, topology=SMALL, arguments=words,
                       defines=[f"KINDS={mask}"], options=smi.Options(seed=order, engine="rtl"))  # fmt: skip
        assert done.code == 0
        cycles.add(done.cycles)
        for me in range(ranks):
            assert (tmp_path / f"out.{me}").read_text().splitlines() == collected(case, ranks, me), f"rank {me}"
    assert len(cycles) == 1


@pytest.mark.parametrize(("bit", "name"), [*enumerate(REDUCED)])
def test_one_block_reduces_every_type(bit: int, name: str, seed: int, tmp_path: Path) -> None:
    """Random bits on two ranks: reductions to a root and to all, compared with NumPy."""
    draw = np.random.default_rng(seed)
    kind, ranks, root, count = np.dtype(REDUCED[name]), 2, 1, 20
    op = ("ADD", "MAX", "MIN")[(bit + seed) % 3]
    join = {"ADD": np.add, "MAX": np.maximum, "MIN": np.minimum}[op]
    bits = np.frombuffer(draw.bytes(ranks * count * kind.itemsize), f"u{kind.itemsize}").reshape(ranks, count)
    data = (bits | bits.dtype.type(1)).view(kind)  # no zeros, because NumPy may return +0 or -0
    with np.errstate(all="ignore"):
        expected = canonical(np.asarray(join.reduce(data, dtype=kind)))
    for rank in range(ranks):
        (tmp_path / f"in.{rank}").write_bytes(data[rank].tobytes())
    done = smi.run([str(FIXTURES / "reduce.c")], ranks=ranks, topology=SMALL,
                   arguments=[str(tmp_path / "in"), str(tmp_path / "out"), str(count), str(root)],
                   defines=[f"OP=SMI_{op}", f"TYPES={1 << bit}"], options=smi.Options(engine="rtl"))  # fmt: skip
    assert done.code == 0
    for rank in range(ranks):
        assert (tmp_path / f"out.{rank}").read_bytes() == expected * (rank == root) + expected, f"{op}, rank {rank}"


ORDERED = """#include <gossamer/smi/smi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const int count = atoi(argv[1]), root = atoi(argv[2]), me = SMI_Comm_rank(SMI_COMM_WORLD);
  char path[512];
  float given[100], sums[100];
  snprintf(path, sizeof path, "%s.%d", argv[3], me);
  FILE* file = fopen(path, "rb");
  if (!file || fread(given, 4, count, file) != (size_t)count) return 2;
  fclose(file);
  SMI_RChannel one = SMI_Open_reduce_channel(count, SMI_FLOAT, SMI_ADD_ORDERED, 0, root, SMI_COMM_WORLD);
  for (int n = 0; n < count; n++) SMI_Reduce(&one, &given[n], &sums[n]);
  snprintf(path, sizeof path, "%s.%d.%s", argv[3], me, "reduce");
  file = fopen(path, "wb");
  if (me == root) fwrite(sums, 4, count, file);
  fclose(file);
  SMI_AllreduceChannel all = SMI_Open_allreduce_channel(count, SMI_FLOAT, SMI_ADD_ORDERED, 1, SMI_COMM_WORLD);
  for (int n = 0; n < count; n++) SMI_Allreduce(&all, &given[n], &sums[n]);
  snprintf(path, sizeof path, "%s.%d.%s", argv[3], me, "allreduce");
  file = fopen(path, "wb");
  fwrite(sums, 4, count, file);
  return fclose(file);
}
"""


def test_blocks_add_in_the_order_of_ranks(seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    ranks, count, root = 4, 12, int(draw.integers(4))
    data = (draw.normal(size=(ranks, count)) * 2.0 ** draw.integers(-4, 5, (ranks, count))).astype(np.float32)
    for rank in range(ranks):
        (tmp_path / f"f.{rank}").write_bytes(data[rank].tobytes())
    sums = data[0]
    for rank in range(1, ranks):
        sums = sums + data[rank]
    (tmp_path / "ordered.c").write_text(ORDERED)
    words = [str(count), str(root), str(tmp_path / "f")]
    done = smi.run([str(tmp_path / "ordered.c")], ranks=ranks, topology=SMALL, arguments=words,
                   options=smi.Options(engine="rtl"))  # fmt: skip
    assert done.code == 0
    for rank in range(ranks):
        assert (tmp_path / f"f.{rank}.allreduce").read_bytes() == sums.tobytes()
        assert (tmp_path / f"f.{rank}.reduce").read_bytes() == (sums.tobytes() if rank == root else b"")


def registers(lines: list[str]) -> list[tuple[int, str, int, int, int]]:
    """The writes of registers in a script: board, block, unit, number, value; decoded field by field."""
    blocks = {number: name for name, number in constants.enumeration("register_block").values.items()}
    found = []
    for kind, *rest in map(str.split, lines):
        if kind == "register":
            board, _, address, value = map(int, rest)
            found.append((board, blocks[address >> 12], address >> 4 & 0xFF, address & 15, value))
    return found


@pytest.mark.parametrize("ranks", [1, 5, 8])
def test_tables_of_collectives_are_trees_over_cables(ranks: int) -> None:
    """From the registers alone: each edge's far end names this end, and for each root all ranks have a path to it."""
    plan = Plan(configs.load_cluster("torus8"))
    lines = _boards.script(plan, ranks, [_boards.Block("bcast"), _boards.Block("allreduce", path=True)], "x.c:1")
    writes = registers(lines)
    stream = plan.config.stream
    number = constants.enumeration("collective_register").values
    for unit in range(2):
        far: dict[tuple[int, int], tuple[int, int]] = {}
        for board, block, its, register, value in writes:
            if (block, its, register) == ("collective", unit, number["neighbour"]):
                port = value & 0xFF
                edge = port - stream.ports - unit * stream.block_edges
                assert value >> 14 & 0xFFF == value >> 32 & 0xFF and value >> 29 & 7 == 2
                far[board, value >> 40 & 7] = (value >> 14 & 0xFFF, edge)
        for end, other in far.items():
            assert far[other] == end
        trees: dict[int, dict[int, tuple[int, int, int]]] = {}
        for board, block, its, register, value in writes:
            if (block, its, register) == ("collective", unit, number["tree"]):
                trees.setdefault(value >> 15, {})[board] = (value >> 11 & 1, value >> 8 & 7, value & 0xFF)
        assert sorted(trees) == (list(range(ranks)) if unit == 0 else [0])
        for root, entries in trees.items():
            assert sorted(entries) == list(range(ranks))
            tops = [board for board, (top, _, _) in entries.items() if top]
            assert tops == ([root] if unit == 0 else [ranks - 1])
            for board in entries:
                steps = 0
                while not entries[board][0]:
                    above, its_edge = far[board, entries[board][1]]
                    assert entries[above][2] >> its_edge & 1, "the parent does not know its child"
                    if unit:
                        assert above == board + 1
                    board, steps = above, steps + 1
                    assert steps < ranks
            assert sum(children.bit_count() for _, _, children in entries.values()) == ranks - 1
    bound = {(board, unit) for board, block, unit, register, _ in writes if block == "stream" and register == 1}
    assert len(bound) == sum(len(plan.cluster.neighbours(b)) for b in range(8)) + 14 or ranks < 8
