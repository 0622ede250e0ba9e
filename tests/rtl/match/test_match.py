# SPDX-License-Identifier: Apache-2.0
"""Match engines of every architecture, compared with the reference model."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import Size
from models import match as models

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Engine:
    """An architecture and its sizes."""

    architecture: int
    cam: int
    lists: int
    entries: int
    reserve: int = 0
    ranks: int = 1000

    def build(self, program: str = "main.cc", optimise: str = "-Og") -> Path:
        parameters = {
            "Architecture": self.architecture,
            "CamEntries": self.cam,
            "Lists": self.lists,
            "Entries": self.entries,
            "Reserve": self.reserve,
            "Ranks": self.ranks,
        }
        names = {
            "Architecture": "ARCHITECTURE",
            "CamEntries": "CAM",
            "Entries": "ENTRIES",
            "Reserve": "RESERVE",
            "Ranks": "RANKS",
        }
        return verilate.model(
            "gs_match",
            sources.blocks("match", config=configs.load("tiny")),
            [HERE / program, models.ENGINE_BENCH, models.REFERENCE],
            parameters=parameters,
            optimise=optimise,
            cxx=[f"-DGS_{names[name]}={value}" for name, value in parameters.items() if name in names],
            include=models.INCLUDE,
        )


ENGINES = {
    "ours": Engine(0, 16, 1, 512, 64),
    # Three groups of slots in the CAM, the last incomplete.
    "ours-three-groups": Engine(0, 40, 1, 512, 64),
    "ours-small": Engine(0, 2, 1, 8, 1),
    "two-level": Engine(1, 16, 1, 256),
    "two-level-small": Engine(1, 3, 1, 16),
    "parallel": Engine(1, 16, 4, 256),
    "parallel-small": Engine(1, 3, 4, 16),
    # As deep as the published profiles: thousands.
    "ours-deep": Engine(0, 16, 1, 4096, 512),
    "parallel-64": Engine(1, 16, 64, 2048),
}
CANCEL = 6
"""Cycles of a cancel in the hashed engine."""
DEEP = {"ours-deep": 3000, "parallel-64": 2000}
# The smallest engines, with two CAM slots: few requests suffice to fill them.
SMALLEST = {
    "ours": Engine(0, 2, 1, 8, ranks=2),
    "two-level": Engine(1, 2, 1, 8, ranks=2),
    "parallel": Engine(1, 2, 2, 8, ranks=2),
}


def run(engine: Engine, *arguments: object, program: str = "main.cc", optimise: str = "-Og") -> str:
    done = subprocess.run(
        [engine.build(program, optimise), *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.default_cases(
    "(ours|ours-small|two-level-small|parallel-small)",
    seconds=30,
    adds="deeper queues and more lists of the same engines",
)
@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("name", ENGINES)
def test_random_requests_match_reference(name: str, size: Size, seed: int) -> None:
    # Lists take hundreds of cycles per request, and one of four requests waits.
    slow = ENGINES[name].architecture == 1
    deep = DEEP.get(name, 0)
    requests = size.pick(30_000 if deep else 20_000, 30_000 if slow or deep else 200_000, 10_000_000)
    # A long run justifies a long build.
    optimise = size.pick("-Og", "-Og", "-O3")
    found = run(ENGINES[name], "random", seed, requests, deep, optimise=optimise).splitlines()
    depths = list(map(int, found[0].split()[5::2]))
    assert min(depths) >= 0.9 * deep, found
    # Every kind of answer has occurred. Full queues are certain only in small engines, or after many requests.
    counts = [list(map(int, line.split()[2:])) for line in found if line.startswith("op ")]
    post, arrive, cancel, probe, take, count, clear, strange = counts
    assert all(post[:2]) and all(arrive[:2]), found
    assert post[4] and arrive[4] and count[4] and strange[4] == sum(strange) > 0, found
    assert count[0] and clear[0] and clear[0] + clear[4] == sum(clear), found
    if ENGINES[name].entries <= 16 or (requests >= 200_000 and not deep):
        assert post[3] and arrive[3], found
    assert cancel[0] and cancel[2] and probe[0] and probe[2] and take[0] and take[2], found


@pytest.mark.parametrize("name", SMALLEST)
def test_every_short_sequence_matches_reference(name: str, size: Size) -> None:
    """Every sequence of `length` requests, with an empty CAM, one with a free slot, and a full one; all keys in one
    bin of the hash, and in many.
    """
    length = size.pick(2, 3, 4)
    if name == "two-level" and length < 4:
        pytest.skip("only in --full: parallel's lists are the same")
    full = 2 if name == "ours" else 4
    for strangers in (0, full - 1, full):
        for secret in ("spread", "collide") if name == "ours" else ("spread",):
            words = run(SMALLEST[name], length, strangers, secret, program="every.cc").split()
            # All sequences except those that cancel nonexistent receives.
            assert int(words[1]) > 31**length, words


@pytest.mark.tier("all", seconds=39, adds="orders that the random requests contain too")
@pytest.mark.parametrize("name", ["ours", "two-level", "parallel", "parallel-64"])
def test_mpi_order_in_and_outside_the_cam(name: str, seed: int) -> None:
    """With all of the case's entries in the CAM, some of them, and none."""
    engine = ENGINES[name]
    # Strangers are alternating receives and messages. In the hashed engine both queues share the CAM; in the others
    # one slot of each stays free, since with two the data mover always fills one first.
    nearly_full = engine.cam - 2 if engine.architecture == 0 else 2 * engine.cam - 2
    found = []
    for spilled in (0, nearly_full, 2 * engine.cam + 20):
        words = run(engine, "cases", seed, spilled).split()
        assert int(words[1]) > 15
        found.append((int(words[3]), int(words[5])))
        # Independent of the position of the receive.
        assert int(words[7]) == CANCEL or name != "ours", words
    (near, none), (some, others), (left, far) = found
    assert near and not none, found
    assert some and others, found
    assert far and not left, found
