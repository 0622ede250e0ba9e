# SPDX-License-Identifier: Apache-2.0
"""Match engines and DMA engines of the engine ``fast``: raw packets and MPI programs, compared with the hardware, with
this machine's MPI library, with MPICH and with MPI's rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import agreement
import pytest
from conftest import ROOT, Command, Size
from system import mpi_order
from system.test_fast import BOUND, counters, order_of_requests, requests_of
from system.test_mpi import PREFIX, with_other
from traces import read

import gossamer_setup
from gossamer import config as configs
from gossamer import device
from gossamer.config import constants
from gossamer.engines.fast import Fast
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.mpi import _device

PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"
PACKETS = ROOT / "tests" / "fixtures" / "fast" / "match.c"
RANDOM = PACKETS.with_name("match_random.c")
TIMES = PACKETS.with_name("match_times.c")
KINDS = constants.enumeration("match_packet").values

Words = dict[int, list[int]]


def test_kinds_of_packets_are_those_of_the_hardware() -> None:
    """The C++ library is built without the headers that are generated for boards."""
    text = (ROOT / "src" / "fast" / "match.h").read_text(encoding="utf-8")
    listed = text[text.index("namespace packet {") : text.index("}  // namespace packet")]
    found, value = {}, -1
    for name, given in re.findall(r"^  k(\w+)(?: = (0x[0-9a-f]+))?,?$", listed, re.MULTILINE):
        value = int(given, 16) if given else value + 1
        found[re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()] = value
    assert found and found == {name: KINDS.get(name) for name in found}


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    gossamer_setup.require("core", "mpi")


def plan_of(name: str) -> Plan:
    return Plan(configs.load_cluster(name) if name.startswith("match") else configs.load(name))


def emitted(machine: Cluster, number: int, program: Path = PACKETS) -> tuple[Run, Words]:
    """A run of a program of packets: the words that each thread emits."""
    words: Words = {}
    with machine:
        machine.load_image(
            device.build(str(program), machine.config, [f"STEP={number}", f"SEED={number}"], boards=machine.shape)
        )
        run = machine.run(
            machine.threads,
            max_cycles=4_000_000,
            on_emit=lambda thread, word: words.setdefault(thread, []).append(word),
        )
    return run, words


def test_engines_answer_every_kind_of_packet() -> None:
    """Within a board and between boards; threads check the data of transfers."""
    for name, step in (("match2", 37), ("tiny-match", 17)):
        run, words = emitted(Fast(plan_of(name)), step)
        assert (run.reason, set(run.codes.values()), run.traps) == ("done", {0}, []), name
        seen = {word & 0xFF for its in words.values() for word in its}
        answers = {"none", "news", "cancelled", "gone", "full_messages", "bad", "cleared", "counted"}
        answers |= {"moved"} if name == "tiny-match" else set()
        assert {KINDS[one] for one in answers} <= seen, name


def test_recorded_orders_of_engines_are_those_of_a_replay() -> None:
    """Threads and engines receive in the recorded order; with two packets of different senders exchanged, in that."""
    plan = plan_of("tiny-match")
    machine = Fast(plan, deliveries=True)
    emitted(machine, 17)
    arrived: dict[int, list[tuple[int, int]]] = {}
    for receiver, sender, number in machine.deliveries:
        arrived.setdefault(receiver, []).append((sender, number))
    assert machine.threads in arrived, "no packet reached an engine"
    engine = arrived[machine.threads]
    at = next(i for i in range(len(engine) - 1) if engine[i][0] != engine[i + 1][0] and i > 100)
    engine[at], engine[at + 1] = engine[at + 1], engine[at]
    again = Fast(plan, order={machine.threads: engine}, deliveries=True)
    run, _ = emitted(again, 17)
    assert run.reason == "done" and set(run.codes.values()) == {0}
    assert [(sender, number) for receiver, sender, number in again.deliveries if receiver == machine.threads] == engine


@pytest.mark.tier("all", seconds=60, adds="packets to engines in tiles, at boards and over links")
@pytest.mark.parametrize("name, step", [("tiny-match", 17), ("match2", 37), ("match4", 37)])
def test_packets_are_those_of_the_hardware(name: str, step: int, tmp_path: Path) -> None:
    """Each thread's packets in order, its instructions, misses and messages; on one board the requests of each thread
    with program counters and addresses, too."""
    plan = plan_of(name)
    trace = tmp_path / "match.pftrace" if name == "tiny-match" else None
    real, want = emitted(Cluster(plan, trace=trace, least_wait=0), step)
    machine = Fast(plan, commits=1 << 16)
    words: Words = {}
    with machine:
        machine.load_image(device.build(str(PACKETS), plan.config, [f"STEP={step}"], boards=plan.shape))
        found = machine.run(machine.threads, on_emit=lambda thread, word: words.setdefault(thread, []).append(word))
        requests = {thread: requests_of(machine.committed(thread)) for thread in range(machine.threads)}
    assert (real.reason, real.codes) == (found.reason, found.codes)
    assert words == want
    agreement.check(counters(real), counters(found))
    assert found.cycles == pytest.approx(real.cycles, rel=BOUND)
    if trace is not None:
        waits = order_of_requests(read(trace))
        assert waits.keys() == requests.keys()
        for thread, its in waits.items():
            assert its == requests[thread], f"thread {thread}"


@pytest.mark.tier("all", seconds=40, adds="random packets to engines")
@pytest.mark.parametrize("name", ["tiny-match", "match2"])
def test_random_packets_are_answered_as_by_the_hardware(name: str, seed: int, size: Size) -> None:
    """Each thread's packets in order, and its instructions; threads leave packets unacknowledged."""
    plan = plan_of(name)
    for number in range(size.pick(1, 2, 50)):
        one = (seed + number) % (1 << 30)
        (real, want), (found, words) = (emitted(machine(plan), one, RANDOM) for machine in (Cluster, Fast))
        assert (real.reason, found.reason) == ("done", "done"), f"seed {one}"
        assert words == want, f"seed {one}"
        agreement.check(counters(real), counters(found))
        assert found.cycles == pytest.approx(real.cycles, rel=BOUND), f"seed {one}"


def times(machine: Cluster) -> dict[str, int]:
    """Cycles of single requests, by name."""
    lines: list[str] = []
    with machine:
        machine.load_image(device.build(str(TIMES), machine.config, boards=machine.shape))
        run = machine.run(machine.threads, on_line=lambda thread, text, more: lines.append(text))
    assert run.reason == "done"
    return {name.strip(): int(cycles) for name, cycles in (line.rsplit(" ", 1) for line in lines)}


@pytest.mark.tier("all", seconds=60, adds="the time of each request to an engine")
@pytest.mark.parametrize("name", ["tiny-match", "match2", "match4"])
def test_requests_take_the_hardwares_time(name: str) -> None:
    real, found = times(Cluster(plan_of(name))), times(Fast(plan_of(name)))
    assert found.keys() == real.keys() and len(real) > 14
    assert {one: found[one] / real[one] - 1 for one in real} == pytest.approx(dict.fromkeys(real, 0), abs=BOUND)


# ---- MPI ----


def agrees(command: Command, program: Path, ranks: int, *words: str) -> None:
    here = command("mpi", "run", program, "-n", ranks)
    there = command("mpi", "run", program, "-n", ranks, "--engine", "fast", *words)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines()) != []


@pytest.mark.parametrize(
    "name, ranks, words",
    [("unstructured", 8, ("--cluster", "match2")), ("halo2d", 16, ("--cluster", "match4"))],
)
def test_mpi_programs_match_this_machine(name: str, ranks: int, words: Sequence[str], command: Command) -> None:
    agrees(command, PROGRAMS / f"{name}.c", ranks, *words)


OTHERS = [
    (name, ranks, words)
    for name in ("unstructured", "halo2d", "halo3d", "sort", "cg", "rate", "pingpong")
    for ranks, words in (
        (6, ("--config", "tiny-match")),
        (8, ("--cluster", "match2")),
        (16, ("--cluster", "match4")),
        (4, ("--config", "tiny-mpi")),
    )
]


@pytest.mark.tier("all", seconds=150, adds="all MPI examples with engines in tiles, at boards, and without")
@pytest.mark.parametrize("name, ranks, words", OTHERS)
def test_more_mpi_programs_match_this_machine(name: str, ranks: int, words: Sequence[str], command: Command) -> None:
    agrees(command, PROGRAMS / f"{name}.c", ranks, *words)


MACHINES = {
    "two engines at the board": ("tiny-match-board", "on_board = 2"),
    "four engines for 64 threads each": ("quad", "list_entries = 1024\non_board = 4"),
    "64 threads a tile": ("quad", "list_entries = 1024\nin_tiles = true\ndma = true"),
}
"""Configurations, and their section ``match``."""


@pytest.mark.tier("all", seconds=20, adds="engines of other shares of a board")
@pytest.mark.parametrize("name", MACHINES)
def test_other_shares_of_a_board_match_this_machine(name: str, command: Command, tmp_path: Path) -> None:
    base, match = MACHINES[name]
    file = tmp_path / "machine.toml"
    file.write_text(
        f'base = "{base}"\ndescription = "{name}"\n[match]\n{match}\n[core]\ninstr_mem_bytes = 0x1_0000\n',
        encoding="utf-8",
    )
    agrees(command, PROGRAMS / "unstructured.c", 32, "--config", str(file))


@pytest.mark.tier("all", seconds=90, adds="MPICH as the reference of engine fast")
@pytest.mark.parametrize("config", ["tiny-match", "tiny-match-board"])
@pytest.mark.parametrize("name", ["calls", "objects", "data"])
def test_mpi_calls_match_mpich(name: str, config: str, command: Command, tmp_path: Path) -> None:
    if not (PREFIX / "bin" / "mpiexec").exists():
        pytest.skip("MPICH has wheels for x86-64 alone")
    source = FIXTURES / f"{name}.c"
    done = command("mpi", "run", source, "-n", "4", "--engine", "fast", "--config", config)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(with_other(source, 4, tmp_path).splitlines()) != []


def ranks_of(program: Path, config: str, ranks: int, *arguments: Sequence[str]) -> list[tuple[Run, list[str]]]:
    """The results and output of several runs in sequence on one board."""
    plan = plan_of(config)
    place = _device.places(ranks, plan.config, plan.boards)
    found = []
    with Fast(plan) as machine:
        for words in arguments:
            lines: list[str] = []
            machine.load_image(_device.build([str(program)], plan.config, place, words, shape=plan.shape))
            done = machine.run(place.threads, on_line=lambda thread, text, more, to=lines: to.append(text))
            found.append((done, lines))
    return found


@pytest.mark.tier("all", seconds=25, adds="many random receives with wildcards")
@pytest.mark.parametrize("name", ["tiny-match", "match2", "match4"])
def test_random_receives_match_in_mpi_order(name: str, seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, checked against MPI's rules."""
    for number in range(size.pick(1, 5, 100)):
        one = (seed + number) % (1 << 30)
        ((done, lines),) = ranks_of(FIXTURES / "order.c", name, 4, [str(one), "8"])
        assert done.reason == "done" and not any(done.codes.values()), f"seed {one}: {lines}"
        assert mpi_order.judge("\n".join(lines), 4, 8) == [], f"seed {one}: {lines}"


@pytest.mark.tier("all", seconds=40, adds="engines that are full, and credit for all")
def test_engines_hold_what_the_hardware_holds() -> None:
    config = configs.load("tiny-match")
    ranks = config.threads_per_tile
    for what, most, said in (
        ("receives", config.match_receives, "no free entry for a receive"),
        ("messages", config.match_announced, "an unexpected message"),
    ):
        for count in (most - 2, most + 2):
            ((done, lines),) = ranks_of(FIXTURES / "flood.c", "tiny-match", 2, [what, str(count)])
            assert any(done.codes.values()) == any(said in line for line in lines) == (count > most), lines
    # Each of the two engines has messages of all ranks of both tiles.
    receives, messages = config.match_receives // ranks - 2, config.match_eager // (2 * ranks**2)
    words = [str(receives), str(messages)]
    ((done, lines),) = ranks_of(FIXTURES / "engine_capacity.c", "tiny-match", 2 * ranks, words)
    assert sorted(lines) == sorted(f"rank {rank}: 0 are wrong" for rank in range(2 * ranks))


@pytest.mark.tier("all", seconds=10, adds="unaligned transfers of all ranks at once")
def test_long_transfers_match_this_machine(command: Command) -> None:
    agrees(command, FIXTURES / "long.c", 4, "--config", "tiny-match")


@pytest.mark.tier("all", seconds=10, adds="a rank that computes")
def test_computing_rank_does_not_block_other_ranks() -> None:
    ((done, lines),) = ranks_of(FIXTURES / "slow_receiver.c", "tiny-match", 4, [])
    assert (done.reason, lines) == ("done", ["0 are wrong, the game ended before"])


@pytest.mark.tier("all", seconds=10, adds="the report of a deadlock")
def test_deadlocks_of_ranks_are_reported(command: Command) -> None:
    done = command(
        "mpi", "run", FIXTURES / "wrong.c", "-n", 3, "--engine", "fast", "--config", "tiny-match", "--", "other-tag"
    )
    assert done.returncode == 4
    assert re.search(r"wrong\.c:\d+: rank \d: deadlock: waits in MPI_Recv", done.stderr), done.stderr
    assert "; a message from rank 1 with tag 8 waits for a receive" in done.stderr


@pytest.mark.parametrize("words", [("--workers", "2"), ("--report", "page.html")])
def test_options_of_the_simulated_hardware_are_rejected(words: Sequence[str], command: Command) -> None:
    done = command("mpi", "run", PROGRAMS / "halo2d.c", "--engine", "fast", *words)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert f"{words[0]}: needs the simulated hardware; use --engine rtl" in done.stderr
