# SPDX-License-Identifier: Apache-2.0
"""MPI programs whose messages are matched by the engine in the tile: one tile alone, ranks are its threads."""

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
    """What ranks on one tile come to, and what they write."""
    (done,) = runs(program, ranks, arguments)
    return done


def runs(program: Path, ranks: int, *arguments: Sequence[str]) -> list[tuple[Run, list[str]]]:
    """The same, one run after the other on the same tile."""
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


def test_every_call_gives_what_it_gives_here(command: Command) -> None:
    """All calls: probes, cancelled receives, synchronous sends, datatypes, collectives."""
    here = command("mpi", "run", FIXTURES / "calls.c", "-n", "4")
    done, lines = run(FIXTURES / "calls.c", 4)
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


@pytest.mark.parametrize("name", ["unstructured", "sort", "cg", "halo2d", "halo3d", "rate", "pingpong"])
def test_programs(name: str, command: Command, size: Size) -> None:
    if name != "unstructured" and size.pick(True, True, False):
        pytest.skip("only in --full")
    here = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "6")
    done, lines = run(PROGRAMS / f"{name}.c", 6)
    assert here.returncode == 0, here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


def test_long_messages(command: Command) -> None:
    """Moves of all ranks at once, unaligned, while the receivers write beside their buffers."""
    here = command("mpi", "run", FIXTURES / "long.c", "-n", "4")
    done, lines = run(FIXTURES / "long.c", 4)
    assert here.returncode == 0, here.stdout + here.stderr
    assert good(done, lines), lines
    assert sorted(lines) == sorted(here.stdout.splitlines())


def test_the_core_does_not_copy() -> None:
    """A long message takes less than a cycle a byte; the core's own copy takes some 50."""
    done, lines = run(ROOT / "bench" / "match" / "programs" / "bandwidth.c", 2, "65536")
    assert good(done, lines), lines
    assert int(lines[0].split()[2]) < 65536, lines


def test_matching_order(seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, judged by MPI's rules alone."""
    for number in range(size.pick(1, 1, 50)):
        one = (seed + number) % (1 << 30)
        done, lines = run(FIXTURES / "order.c", 4, str(one), "8")
        assert good(done, lines), f"seed {one}: {lines}"
        assert mpi_order.judge("\n".join(lines), 4, 8) == [], f"seed {one}: {lines}"


def test_what_is_given_back_is_there_again() -> None:
    """Memory of the overlay in blocks of many sizes, more in all than a thread has; datatypes."""
    done, lines = run(FIXTURES / "resource_reuse.c", 2)
    assert good(done, lines), lines
    assert sorted(lines) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


def test_a_program_meets_nothing_of_the_one_before(command: Command) -> None:
    """Receives and messages are left in the engine; ranks begin one after the other, and send at once."""
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
        ("deadlock", "deadlock: waits in MPI_Recv for a message from rank"),
        ("more", "rank 1 of MPI_COMM_WORLD calls MPI_Bcast with root 1: all must call the same"),
        ("truncate", "the message from rank 1, tag 4, has 16 bytes, but the receive buffer has 4"),
    ],
)
def test_what_is_wrong_is_said(what: str, said: str, size: Size) -> None:
    if what != "deadlock" and size.pick(True, True, False):
        pytest.skip("only in --full")
    done, lines = run(FIXTURES / "wrong.c", 3, what)
    assert any(done.codes.values()) and any(said in line for line in lines), (done.codes, lines)


def test_each_start_brings_a_secret() -> None:
    """Receives whose tags are in one bin while the hash has no secret are as quick to pass as any others."""
    engine = (ROOT / "rtl" / "match" / "gs_match.sv").read_text(encoding="utf-8")
    (bits,) = re.findall(r"DefaultSeed = 128'h([0-9A-F_]+)", engine)
    bins = (2 * configs.load("tiny-match").match.list_entries).bit_length() - 1
    done, lines = run(FIXTURES / "hash_secret.c", 1, bits.replace("_", "")[-16:], str(bins))
    assert good(done, lines), lines
    found, others, same = map(int, lines[0].split())
    assert 2**found > 300, "too few tags are in one bin"
    assert same < others + 300, "with the tags of one bin a probe takes longer: MPI_Init has sent no secret"


def test_a_rank_that_computes_holds_up_no_other() -> None:
    """Many receives, and messages for all of them, while their rank does not call MPI."""
    done, lines = run(FIXTURES / "slow_receiver.c", 4)
    assert good(done, lines), lines
    assert lines == ["0 are wrong, the game ended before"]


def test_what_senders_may_send_has_room() -> None:
    """As many receives as there is room for, and then as many messages as there are credits for."""
    config = configs.load("tiny-match")
    ranks = config.threads_per_tile
    receives, messages = config.match_receives // ranks - 2, config.match_eager // ranks**2
    assert receives > 0 and messages > 1
    done, lines = run(FIXTURES / "engine_capacity.c", ranks, str(receives), str(messages))
    assert good(done, lines), lines
    assert sorted(lines) == sorted(f"rank {rank}: 0 are wrong" for rank in range(ranks))


@pytest.mark.default_cases("receives.*", seconds=27, adds="the queue of unexpected messages")
@pytest.mark.parametrize(
    ("what", "who", "said"), [("receives", 1, "no free entry for a receive"), ("messages", 0, "an unexpected message")]
)
def test_an_engine_that_is_full_says_so(what: str, who: int, said: str) -> None:
    """Receives, and messages that nobody receives, of more than the engine has room for."""
    config = configs.load("tiny-match")
    most = config.match_receives if what == "receives" else config.match_announced
    done, lines = run(FIXTURES / "flood.c", 2, what, str(most - 2))
    assert good(done, lines), lines
    done, lines = run(FIXTURES / "flood.c", 2, what, str(most + 2))
    assert any(done.codes.values()) and any(said in line for line in lines), (done.codes, lines)
    assert f"rank {who} went on" not in lines
