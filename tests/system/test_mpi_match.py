# SPDX-License-Identifier: Apache-2.0
"""MPI programs whose messages are matched by the engine of a tile; ranks are threads of that tile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import ROOT, Command, Size
from system import mpi_order

from gossamer import config as configs
from gossamer.engines.rtl import Run, Tile
from gossamer.mpi import _device

PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"


def run(program: Path, ranks: int, *arguments: str) -> tuple[Run, list[str]]:
    """The result and output of ranks on one tile."""
    (done,) = runs(program, ranks, arguments)
    return done


def runs(program: Path, ranks: int, *arguments: Sequence[str]) -> list[tuple[Run, list[str]]]:
    """The same for several runs in sequence on one tile."""
    config = configs.load("tiny-match")
    stride = 1
    while ranks * stride * 2 <= config.threads_per_tile:
        stride *= 2
    place = _device.Places(ranks, 1, ranks, stride, (ranks - 1) * stride + 1)

    def one(tile: Tile, words: Sequence[str]) -> tuple[Run, list[str]]:
        lines: list[str] = []
        tile.load_image(_device.build([str(program)], config, place, words))
        done = tile.run(place.threads, max_cycles=60_000_000, on_line=lambda thread, text, more: lines.append(text))
        return done, lines

    with Tile(config) as tile:
        return [one(tile, words) for words in arguments]


def good(done: Run, lines: list[str]) -> bool:
    return done.reason == "done" and not any(done.codes.values()) and bool(lines)


def test_every_call_matches_this_machine(command: Command) -> None:
    """All calls: probes, cancelled receives, synchronous sends, datatypes, collectives."""
    here = command("mpi", "run", FIXTURES / "calls.c", "-n", "4")
    done, lines = run(FIXTURES / "calls.c", 4)
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


@pytest.mark.tier("all", seconds=90, adds="groups, datatypes and nonblocking calls on the overlay")
@pytest.mark.parametrize("name", ["objects", "data", "collectives"])
def test_groups_datatypes_and_nonblocking_calls_match_this_machine(name: str, command: Command) -> None:
    here = command("mpi", "run", FIXTURES / f"{name}.c", "-n", "3")
    done, lines = run(FIXTURES / f"{name}.c", 3)
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


def test_nonblocking_collectives_in_progress_match_this_machine(command: Command) -> None:
    """Many at a time, each on its own stack; duplicates made by MPI_Comm_idup."""
    here = command("mpi", "run", FIXTURES / "collectives.c", "-n", "2", "--", "short")
    done, lines = run(FIXTURES / "collectives.c", 2, "short")
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


@pytest.mark.parametrize("name", ["unstructured", "sort", "cg", "halo2d", "halo3d", "rate", "pingpong"])
def test_programs_match_this_machine(name: str, command: Command, size: Size) -> None:
    if name != "unstructured" and size.pick(True, True, False):
        pytest.skip("only in --full")
    here = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "6")
    done, lines = run(PROGRAMS / f"{name}.c", 6)
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


@pytest.mark.tier("all", seconds=15, adds="messages of many packets through the match engine")
def test_long_messages_match_this_machine(command: Command) -> None:
    """Unaligned transfers of all ranks at once, while the receivers write next to their buffers."""
    here = command("mpi", "run", FIXTURES / "long.c", "-n", "4")
    done, lines = run(FIXTURES / "long.c", 4)
    assert here.returncode == 0, here.stdout + here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


def test_dma_engine_copies_more_than_a_byte_a_cycle() -> None:
    """A long message takes less than a cycle a byte; the core's own copy takes some 50."""
    done, lines = run(ROOT / "bench" / "match" / "programs" / "bandwidth.c", 2, "65536")
    assert good(done, lines), lines
    assert int(lines[0].split()[2]) < 65536, lines


def test_random_receives_match_in_mpi_order(seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, checked against MPI's rules."""
    for number in range(size.pick(1, 1, 50)):
        one = (seed + number) % (1 << 30)
        done, lines = run(FIXTURES / "order.c", 4, str(one), "8")
        assert good(done, lines), f"seed {one}: {lines}"
        assert mpi_order.judge("\n".join(lines), 4, 8) == [], f"seed {one}: {lines}"


@pytest.mark.tier("all", seconds=13, adds="many datatypes made and freed")
def test_freed_datatypes_and_memory_are_reused() -> None:
    """Memory blocks of many sizes, in total more than a thread has; datatypes."""
    done, lines = run(FIXTURES / "resource_reuse.c", 2)
    assert good(done, lines), lines
    assert sorted(lines) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


def test_program_does_not_see_messages_of_the_previous_one(command: Command) -> None:
    """The first program leaves receives and messages in the engine; ranks start in sequence and send at once."""
    here = command("mpi", "run", FIXTURES / "rerun.c", "-n", "4", "--", "look")
    assert here.returncode == 0, here.stderr
    (first, left), *others = runs(FIXTURES / "rerun.c", 4, ["leave"], ["look"], ["leave"], ["look"])
    assert good(first, left) and len(left) == 4, left
    for done, lines in (others[0], others[2]):
        assert good(done, lines), lines
        assert sorted(lines) == sorted(here.stdout.splitlines())


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("other-tag", "; a message from rank 1 with tag 8 waits for a receive"),
        ("deadlock", "deadlock: waits in MPI_Recv for a message from rank"),
        ("more", "rank 1 of MPI_COMM_WORLD calls MPI_Bcast with root 1: all must call the same"),
        ("truncate", "the message from rank 1, tag 4, has 16 bytes, but the receive buffer has 4"),
    ],
)
def test_errors_name_call_and_cause(what: str, said: str, size: Size) -> None:
    if what != "other-tag" and size.pick(True, True, False):
        pytest.skip("only in --full")
    done, lines = run(FIXTURES / "wrong.c", 3, what)
    assert any(done.codes.values()) and any(said in line for line in lines), (done.codes, lines)


@pytest.mark.tier("all", seconds=24, adds="the secret of the hash at each of several starts")
def test_hash_secret_is_set_at_each_start() -> None:
    """Receives whose tags share a bin of the default hash take no longer to search than others."""
    engine = (ROOT / "rtl" / "match" / "gs_match.sv").read_text(encoding="utf-8")
    (bits,) = re.findall(r"DefaultSeed = 128'h([0-9A-F_]+)", engine)
    bins = (2 * configs.load("tiny-match").match.list_entries).bit_length() - 1
    done, lines = run(FIXTURES / "hash_secret.c", 1, bits.replace("_", "")[-16:], str(bins))
    assert good(done, lines), lines
    found, others, same = map(int, lines[0].split())
    assert 2**found > 300, "too few tags are in one bin"
    assert same < others + 300, "with the tags of one bin a probe takes longer: MPI_Init has sent no secret"


def test_computing_rank_does_not_block_other_ranks() -> None:
    """A rank posts many receives and does not call MPI while messages for all of them arrive."""
    done, lines = run(FIXTURES / "slow_receiver.c", 4)
    assert good(done, lines), lines
    assert lines == ["0 are wrong, the game ended before"]


@pytest.mark.tier("all", seconds=7, adds="queues of the engine filled to the credits")
def test_engine_accepts_all_messages_that_credits_allow() -> None:
    """As many receives as the engine holds, then as many messages as there are credits."""
    config = configs.load("tiny-match")
    ranks = config.threads_per_tile
    receives, messages = config.match_receives // ranks - 2, config.match_eager // ranks**2
    assert receives > 0 and messages > 1
    done, lines = run(FIXTURES / "engine_capacity.c", ranks, str(receives), str(messages))
    assert good(done, lines), lines
    assert sorted(lines) == sorted(f"rank {rank}: 0 are wrong" for rank in range(ranks))


@pytest.mark.tier("all", seconds=16, adds="an engine without a free entry")
@pytest.mark.parametrize(
    ("what", "who", "said"), [("receives", 1, "no free entry for a receive"), ("messages", 0, "an unexpected message")]
)
def test_full_engine_is_reported(what: str, who: int, said: str) -> None:
    """More receives, or more unexpected messages, than the engine holds."""
    config = configs.load("tiny-match")
    most = config.match_receives if what == "receives" else config.match_announced
    done, lines = run(FIXTURES / "flood.c", 2, what, str(most - 2))
    assert good(done, lines), lines
    done, lines = run(FIXTURES / "flood.c", 2, what, str(most + 2))
    assert any(done.codes.values()) and any(said in line for line in lines), (done.codes, lines)
    assert f"rank {who} went on" not in lines
