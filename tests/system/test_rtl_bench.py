# SPDX-License-Identifier: Apache-2.0
"""The raw programs of ``./gossamer bench fabric``: they run on a board and on a cluster and detect faults."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

import gossamer_setup
from gossamer import config as configs
from gossamer.errors import RunDied

BENCH = ROOT / "bench" / "fabric"
PROGRAMS = {
    "neighbours.c": ["COUNT=16"],
    "links.c": ["COUNT=16"],
    "barrier.c": ["ROUNDS=8"],
    "step.c": ["ROUNDS=4"],
    "alltoall.c": ["FLITS=2"],
    "hotspot.c": ["COUNT=1"],
    "fanout.c": ["COUNT=4"],
}
# Programs that need a second board or a multicast router, which only boards of clusters have.
ON_CLUSTERS = {"hop": ("hop.c", ["ROUNDS=4"]), "key": ("fanout.c", ["KEY", "COUNT=4", "FLITS=2"])}
# One thread imitates a faulty fabric: program, defines, text and its replacement.
ONE = "(gossamerThread() == 3)"
FAULTS = {
    "number": ("neighbours.c", ["COUNT=16"], "out[0] = to_send / EVERY;", f"out[0] = to_send / EVERY + {ONE};"),
    "sender": ("neighbours.c", ["COUNT=16"], "= tinselId();", f"= tinselId() ^ {ONE};"),
    "lost": (
        "neighbours.c",
        ["COUNT=16"],
        "GS_CSR_WRITE(GS_CSR_SEND_DEST, partner);",
        f"if (to_send != 5 || !{ONE}) GS_CSR_WRITE(GS_CSR_SEND_DEST, partner);",
    ),
    "twice": (
        "neighbours.c",
        ["COUNT=16"],
        "  // Nobody is released while",
        f"  if {ONE} GS_CSR_WRITE(GS_CSR_SEND_DEST, partner);  //",
    ),
    "vote": (
        "barrier.c",
        ["ROUNDS=8"],
        "++round) sum += (uint32_t)tinselIdle(1)",
        f"++round) sum += tinselIdle(!{ONE})",
    ),
    "sum": ("barrier.c", ["ROUNDS=8", "SUM"], "gsReduceSum(0, mine);", f"gsReduceSum(0, mine + {ONE});"),
    "step": ("step.c", ["ROUNDS=4"], "out[0] = round << 16", f"out[0] = (round + {ONE}) << 16"),
    "all": ("alltoall.c", [], "out[0] = here;", f"out[0] = here + {ONE};"),
    "misled": ("alltoall.c", [], "out[1] = to;", f"out[1] = to + {ONE};"),
    "hot": ("hotspot.c", ["COUNT=1"], "out[0] = here;", f"out[0] = here + {ONE};"),
    "fan": ("fanout.c", ["COUNT=4"], "++expected;", f"expected += 1 + {ONE};"),
}


CLUSTER_FAULTS = {
    "hop": ("out[0] = word;", "out[0] = word + 1;"),
    "key": ("(uint16_t)count;", "(uint16_t)(count - (tile == GS_TILES));"),
}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    gossamer_setup.require("test", "rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))
    spec = importlib.util.spec_from_file_location("gossamer_bench_fabric_run", BENCH / "_run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs_on_a_board_and_on_a_cluster(bench: ModuleType, program: str) -> None:
    for where in (configs.load("tiny"), configs.load_cluster("pair")):
        assert bench.run(where, program, PROGRAMS[program]).value > 0, where.name


@pytest.mark.parametrize("name", ON_CLUSTERS)
def test_program_runs_on_a_cluster(bench: ModuleType, name: str) -> None:
    assert bench.run(configs.load_cluster("pair"), *ON_CLUSTERS[name]).value > 0


def test_barrier_sum_covers_all_boards(bench: ModuleType) -> None:
    for where in (configs.load("tiny"), configs.load_cluster("pair")):
        assert bench.run(where, "barrier.c", ["ROUNDS=8", "SUM"]).value > 0, where.name


def test_boot_program_starts_all_boards(bench: ModuleType) -> None:
    assert bench.run(configs.load_cluster("pair"), "boot.c").value == 1


def test_frame_loss_only_increases_cycles(bench: ModuleType) -> None:
    pair = configs.load_cluster("pair")
    # With one frame in twenty lost the cores of `tiny` are still slower than the link.
    quick, slow = (bench.run(pair, "links.c", ["COUNT=16"], frame_loss=loss).value for loss in (0.0, 0.2))
    assert slow > quick


@pytest.mark.parametrize("name", FAULTS)
def test_fault_on_a_board_gives_no_result(bench: ModuleType, tmp_path: Path, name: str) -> None:
    program, defines, text, instead = FAULTS[name]
    fails(bench, configs.load("tiny"), tmp_path, program, defines, text, instead)


@pytest.mark.parametrize("name", CLUSTER_FAULTS)
def test_fault_on_a_cluster_gives_no_result(bench: ModuleType, tmp_path: Path, name: str) -> None:
    program, defines = ON_CLUSTERS[name]
    fails(bench, configs.load_cluster("pair"), tmp_path, program, defines, *CLUSTER_FAULTS[name])


def fails(
    bench: ModuleType,
    where: configs.Config | configs.Cluster,
    tmp_path: Path,
    program: str,
    defines: list[str],
    text: str,
    instead: str,
) -> None:
    """A copy of the program with the replaced text fails."""
    for path in (BENCH / "programs").iterdir():
        shutil.copy(path, tmp_path)
    found = [path for path in (tmp_path / program, tmp_path / "bench.h") if text in path.read_text()]
    assert len(found) == 1 and found[0].read_text().count(text) == 1
    found[0].write_text(found[0].read_text().replace(text, instead))
    with pytest.raises(RunDied, match="did not end well"):
        bench.run(where, tmp_path / program, defines)
