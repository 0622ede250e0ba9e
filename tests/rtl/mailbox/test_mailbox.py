# SPDX-License-Identifier: Apache-2.0
"""The mailbox: its rules one by one, random threads against a model, rates, and proofs of its blocks."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import models
import pytest
from conftest import Size

from gossamer import config as configs
from gossamer.hdl import prove, sources, verilate
from gossamer.hdl.sources import Sources

HERE = Path(__file__).parent
HARNESS_FOLDER = models.FOLDER / "mailbox"
HARNESS = sorted(HARNESS_FOLDER.glob("*.cc"))


@dataclass(frozen=True)
class Shape:
    """A mailbox's parameters."""

    threads: int
    core_bits: int
    slots_per_thread: int
    slot_bytes: int
    max_flits: int
    queue_depth: int
    multicast: int

    def build(self) -> Path:
        send_slots = 2
        parameters = {
            "Threads": self.threads,
            "CoreBits": self.core_bits,
            "SlotsPerThread": self.slots_per_thread,
            "SlotBytes": self.slot_bytes,
            "MaxFlits": self.max_flits,
            "QueueDepth": self.queue_depth,
            "SendSlots": send_slots,
            "Multicast": self.multicast,
        }
        # The parameter SlotBytes of the model is the macro MAILBOX_SLOT_BYTES of its harness.
        macros = {re.sub("[A-Z]", r"_\g<0>", name).upper(): value for name, value in parameters.items()}
        design = sources.blocks("mailbox", "idle", config=configs.load("tiny")) + [HARNESS_FOLDER / "mailbox_top.sv"]
        return verilate.model(
            "mailbox_top",
            design,
            HARNESS,
            parameters=parameters,
            include=[models.INCLUDE],
            optimise="-O1",
            cxx=[f"-DMAILBOX{macro}={value}" for macro, value in macros.items()],
        )


SHAPES = {
    "tiny": Shape(16, 1, 8, 64, 4, 8, 1),
    "de5": Shape(64, 2, 16, 64, 4, 16, 1),
    # One core, without multicast; messages are shorter than their slots, and queues are full before slots run out.
    "unicast": Shape(16, 0, 8, 64, 2, 4, 0),
}


def shapes(size: Size) -> list[str]:
    return size.pick(["tiny"], ["tiny", "de5"], ["tiny", "de5", "unicast"])


def run(shape: str, *arguments: object) -> str:
    simulator = SHAPES[shape].build()
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shape} {arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.parametrize("shape", SHAPES)
def test_mailbox_follows_its_documented_rules(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    run(shape, "directed", seed)


@pytest.mark.parametrize("shape", SHAPES)
def test_waiting_threads_are_woken_in_every_relevant_cycle(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    run(shape, "waits", seed)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_traffic_matches_model(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    for i in range(size.pick(1, 1, 20)):
        run(shape, "random", seed + i, size.pick(50_000, 300_000, 2_000_000))


def test_mailbox_sustains_its_rates(size: Size, seed: int) -> None:
    shape = shapes(size)[-1] if size.name == "small" else "de5"
    found = json.loads(run(shape, "rates", seed).splitlines()[0])
    # A packet for few threads takes longer to arrive, with its head, than to be distributed.
    threads, flits = SHAPES[shape].threads, SHAPES[shape].max_flits
    assert found["pointers"] >= min(4.0, threads / (flits + 1))
    assert min(found["out"], found["in"]) >= (0.9 if shape == "de5" else 0.85)


@pytest.mark.parametrize("shape", SHAPES)
def test_bad_packets_are_dropped_and_streams_are_independent(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    run(shape, "network", seed)


@pytest.mark.parametrize("shape", SHAPES)
def test_random_packets_match_model(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    run(shape, "fuzz", seed, size.pick(2, 6, 60))


@pytest.mark.parametrize("shape", SHAPES)
def test_barrier_words_are_reduced_correctly(shape: str, size: Size, seed: int) -> None:
    if shape not in shapes(size):
        pytest.skip(f"{shape} is for a larger size of this test")
    for i in range(size.pick(2, 5, 50)):
        run(shape, "reduce", seed + i)


@dataclass(frozen=True)
class Proved:
    """A proof: its top, the modules below it, the depth of the induction, the depth of the covers."""

    top: str
    modules: tuple[str, ...]
    depth: int
    cover: int


PROOFS = {
    "slots": Proved("slot_refcount_proof", ("gs_mailbox_slot_refcount",), 5, 30),
    "queues": Proved("queue_bank_proof", ("gs_mailbox_queue_bank",), 4, 30),
    "waits": Proved("wait_table_proof", ("gs_mailbox_wait_table",), 3, 20),
    "tx": Proved("tx_proof", ("gs_mailbox_tx", "gs_mailbox_send_queues", "gs_mailbox_out"), 3, 20),
}


@pytest.mark.parametrize("multicast", [0, 1])
@pytest.mark.parametrize("name", PROOFS)
def test_proof(name: str, multicast: int, size: Size) -> None:
    if not multicast and size.name != "large":
        pytest.skip("only in --full, as everything without multicast")
    proved = PROOFS[name]
    wanted = {"gossamer_pkg", "gs_address_pkg", "gs_mailbox_pkg", "gs_ram_sdp", *proved.modules}
    block = sources.blocks("mailbox", config=configs.load("tiny"))
    design = Sources(tuple(path for path in block.files if path.stem in wanted), block.include)
    design += [HERE / f"{proved.top}.sv"]
    for mode, depth in (("prove", proved.depth), ("cover", proved.cover)):
        proof = prove.prove(
            proved.top,
            design,
            mode=mode,
            depth=depth,
            cover_depth=0,
            parameters={"Multicast": multicast},
            defines={"INDUCTION": 1},
        )
        assert proof, f"{mode}: {proof.reason}"


def test_completions_find_a_free_entry() -> None:
    """Exhaustively, the first cycles of four entries, whatever is issued and accepted."""
    wanted = {"gossamer_pkg", "gs_address_pkg", "gs_mailbox_pkg", "gs_ram_sdp", "gs_fifo", "gs_mailbox_completions"}
    block = sources.blocks("mailbox", config=configs.load("tiny"))
    design = Sources(tuple(path for path in block.files if path.stem in wanted), block.include)
    design += [HERE / "completions_proof.sv"]
    proof = prove.prove("completions_proof", design, mode="bmc", depth=14, cover_depth=14)
    assert proof, proof.reason


def test_idle_state_counts_every_event() -> None:
    """From any state, so that each carry of the counts is covered."""
    wanted = {"gossamer_pkg", "gs_idle_pkg", "gs_mailbox_idle"}
    block = sources.blocks("mailbox", "idle", config=configs.load("tiny"))
    design = Sources(tuple(path for path in block.files if path.stem in wanted), block.include)
    design += [HERE / "idle_counts_proof.sv"]
    proof = prove.prove("idle_counts_proof", design, depth=2, cover_depth=4)
    assert proof, f"{proof.reason}; see {proof.log}"


def test_requests_enter_the_pipeline(size: Size) -> None:
    """Exhaustively, the first cycles of two threads, for all requests."""
    block = sources.blocks("mailbox", config=configs.load("tiny"))
    around = {"gs_mailbox", "gs_mailbox_tx", "gs_mailbox_rx"}
    design = Sources(tuple(path for path in block.files if path.stem not in around), block.include)
    design += [HERE / "requests_proof.sv"]
    depth = size.pick(15, 18, 20)
    for mode, cycles in (("bmc", depth), ("cover", 24)):
        proof = prove.prove("requests_proof", design, mode=mode, depth=cycles, cover_depth=0)
        assert proof, f"{mode}: {proof.reason}"
