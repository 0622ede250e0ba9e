# SPDX-License-Identifier: Apache-2.0
"""MPI programs whose messages are matched by engines at the boards; ranks are threads of two boards."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, Command, Size
from system import mpi_order
from system.test_mpi import PREFIX, with_other

import gossamer_setup
from gossamer import config as configs
from gossamer.config import constants
from gossamer.device import Image
from gossamer.engines.rtl import Run
from gossamer.engines.rtl_cluster import Cluster, Plan
from gossamer.mpi import _device

PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"
CLUSTER = "match2"


@pytest.mark.tier("all", seconds=100, adds="programs on engines at the boards")
@pytest.mark.parametrize("name", ["unstructured", "sort", "cg", "halo2d"])
def test_programs_match_this_machine(name: str, command: Command) -> None:
    here = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "8")
    there = command("mpi", "run", PROGRAMS / f"{name}.c", "-n", "8", "--engine", "rtl", "--cluster", CLUSTER)
    assert (here.returncode, there.returncode) == (0, 0), here.stderr + there.stderr
    assert sorted(there.stdout.splitlines()) == sorted(here.stdout.splitlines()) != []


@pytest.mark.tier("all", seconds=60, adds="MPICH as the reference of engines at the boards")
@pytest.mark.parametrize("name", ["calls", "objects", "data"])
def test_calls_match_mpich(name: str, command: Command, tmp_path: Path) -> None:
    gossamer_setup.require("mpi")
    if not (PREFIX / "bin" / "mpiexec").exists():
        pytest.skip("MPICH has wheels for x86-64 alone")
    source = FIXTURES / f"{name}.c"
    done = command("mpi", "run", source, "-n", "4", "--engine", "rtl", "--config", "tiny-match-board")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(with_other(source, 4, tmp_path).splitlines()) != []


def lossy(plan: Plan, image: Image, threads: int, seed: int) -> tuple[list[str], Run, list[int]]:
    """Output and result of a run whose links lose frames, and the register `packets` of each board's engine."""
    lines: list[str] = []
    number = constants.enumeration("match_register")["packets"]
    with Cluster(plan, frame_loss=0.02, seed=seed) as boards:
        boards.load_image(image)
        done = boards.run(threads, max_cycles=20_000_000, on_line=lambda thread, text, more: lines.append(text))
        return lines, done, [boards.link.read_register(board, "match", 0, number) for board in range(plan.boards)]


@pytest.mark.tier("all", seconds=60, adds="MPI on engines at the boards; tests/rtl/board has random requests of theirs")
def test_random_receives_match_in_mpi_order_over_lossy_links(seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, checked against MPI's rules, while links lose and damage frames. The
    boards' registers show that the engines carried the messages, and that none of them dropped a packet."""
    plan = Plan(configs.load_cluster(CLUSTER))
    ranks, each = 4, 8
    place = _device.places(ranks, plan.config, plan.boards)
    for number in range(size.pick(1, 1, 50)):
        one = (seed + number) % (1 << 30)
        image = _device.build([str(FIXTURES / "order.c")], plan.config, place, [str(one), str(each)], shape=plan.shape)
        lines, done, packets = lossy(plan, image, place.threads, one)
        assert done.reason == "done" and not any(done.codes.values()), f"seed {one}: {lines}"
        assert mpi_order.judge("\n".join(lines), ranks, each) == [], f"seed {one}: {lines}"
        for board in range(plan.boards):
            received, sent = packets[board] & 0xFFFFFFFF, packets[board] >> 32
            assert received > each and sent > each, f"the engine of board {board}: {received} packets, {sent} answers"
            assert done.boards[board]["match_dropped"] == done.boards[board]["unroutable"] == 0
        assert sum(counts["resends"] for counts in done.links.values()), "no frame was lost"


def test_program_needs_an_engine_that_the_board_lacks(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "needs.c"
    source.write_text(
        "#include <gossamer/device.h>\nint main(void) { return gossamerMatcher(gossamerAddress(0)) == 0; }\n"
    )
    done = command("run", source, "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 2
    assert "the configuration has no match engine at the board; set match.on_board" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
