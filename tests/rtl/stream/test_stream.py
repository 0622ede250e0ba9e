# SPDX-License-Identifier: Apache-2.0
"""Streaming ports: cocotb tests of two endpoints at a switch, and boards in a ring."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from conftest import Size
from models.stream import injection, ring

from gossamer import config as configs
from gossamer.hdl import sources, verilate

HERE = Path(__file__).resolve().parent
CHECKS = {
    check: module
    for module in ("stream_cocotb", "faults_cocotb")
    for check in re.findall(r"^@cocotb.test\(\)\nasync def (\w+)", (HERE / f"{module}.py").read_text(), re.MULTILINE)
}
VOQ_CHECKS = ("waiting_messages_do_not_block_other_receivers", "queued_message_overtakes_a_stalled_one")
# Beat of a kernel and buffers: as wide as a flit, as an element, and the minimum.
SHAPES = {
    "float": {"PortBits": 1, "Bytes": 4, "Send": 64, "Depth": 64, "Packet": 32},
    "flit": {"PortBits": 1, "Bytes": 16, "Send": 64, "Depth": 128, "Packet": 32},
    # A beat is one element of any type.
    "elements": {"PortBits": 1, "Bytes": 8, "Send": 64, "Depth": 64, "Packet": 32, "ElementBeats": 1},
    "least": {"PortBits": 1, "Bytes": 1, "Send": 8, "Depth": 4, "Packet": 3},
    # The same, and floats, with virtual output queues, for messages longer than a packet or the receiver's buffer.
    "voq": {"PortBits": 1, "Bytes": 4, "Send": 64, "Depth": 64, "Packet": 8, "VoqDepth": 32},
    "least voq": {"PortBits": 1, "Bytes": 1, "Send": 8, "Depth": 4, "Packet": 3, "VoqDepth": 8},
}


@pytest.mark.default_cases(
    ".*-least voq",
    "(messages_on|eager_|one_beat|pauses_).*-elements",
    seconds=110,
    adds="other widths of elements and depths of buffers",
)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("check", CHECKS)
def test_cocotb(check: str, shape: str, size: Size, seed: int) -> None:
    about = SHAPES[shape]
    if about["Depth"] == 4 and check == "one_beat_per_cycle":
        pytest.skip("four flits of credits do not cover the round trip")
    if "VoqDepth" not in about and check in VOQ_CHECKS:
        pytest.skip("no virtual output queues")
    verilate.cocotb(
        "pair_top",
        sources.blocks("switch", "stream", config=configs.load("tiny")) + [HERE / "pair_top.sv"],
        f"rtl.stream.{CHECKS[check]}",
        parameters=about,
        only=check,
        seed=seed,
        scramble=seed,
        environment={
            "STREAM_MESSAGES": str(size.pick(20, 60, 3000)),
            "STREAM_PORTS": str(2 << about["PortBits"]),
            "STREAM_BYTES": str(about["Bytes"]),
            "STREAM_DEPTH": str(about["Depth"]),
            "STREAM_PACKET": str(about["Packet"]),
            "STREAM_ELEMENT_BEATS": str(about.get("ElementBeats", 0)),
            "STREAM_VOQ_DEPTH": str(about.get("VoqDepth", 0)),
        },
    )


BOARDS = 4
"""Boards of the ring. One port of each sends packets, the other circuits."""


@pytest.mark.tier("all", seconds=65, adds="circuits, which hold a link for themselves")
def test_circuit_holds_the_link_exclusively() -> None:
    """Another message over its last link waits, while packets share the link; a stalled circuit releases it."""
    program = ring.boards(BOARDS)
    for hops in (1, 2):
        mine, other, cycles = ring.numbers("beside", program, "beside", hops, ring.CIRCUITS)
        assert mine > 0.94 * 5 * cycles and other == 0
        # A timeout of 256 cycles, plus the time of the message alone.
        (took,) = ring.numbers("deaf", program, "deaf", hops, ring.CIRCUITS)
        assert took < 256 + 4_000 / 5 + 500
        # Two messages of several packets: after a circuit the other message starts as soon as after packets.
        (took,), (packets,) = (
            ring.numbers("both", program, "both", hops, port) for port in (ring.CIRCUITS, ring.PACKETS)
        )
        assert took <= packets


def test_reported_waits_match_their_own_message_alone() -> None:
    """Waits for earlier, this and later collectives and messages; and more messages than the counter has values, each
    with a reported wait, before or while it is sent."""
    push = verilate.model(
        "push_top",
        sources.blocks("stream", config=configs.load("tiny")) + [HERE / "push_top.sv"],
        [HERE / "push.cc"],
        optimise="-O1",
    )
    done = subprocess.run([push, "waits"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for waited in range(40, 44):  # the last wait is reported at each of these times
        words = [push, "1000", str(waited), "140000"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout == "messages 140000 told 1\n", (words, done.stdout, done.stderr)


@pytest.mark.tier("all", seconds=46, adds="the rate of the shortest messages, in a model of its own")
@pytest.mark.parametrize("endpoints", [1, 3])
def test_one_element_messages_take_one_cycle_each(endpoints: int, size: Size) -> None:
    """At the link, for more than a buffer holds and any burst of the switch: both ends open a channel per cycle."""
    each = size.pick(4_000, 4_000, 100_000)
    for burst in (1, 16):
        messages, cycles = ring.numbers("injection", injection.boards(), burst, endpoints, each)
        assert messages == each * endpoints - 2 * (each * endpoints // 4) and cycles == messages


# Lost frames of 2^20; the same number is damaged.
LOSSES = {"none": 0, "one in ten": 52_429}


@pytest.mark.tier("all", seconds=66, adds="streams over links with faults; collectives over such links run by default")
@pytest.mark.parametrize("mode", ["asked", "eager"])
@pytest.mark.parametrize("loss", LOSSES)
def test_streams_survive_lost_and_damaged_frames(loss: str, mode: str, size: Size, seed: int) -> None:
    """Four boards in a ring, kernels that stall, mailbox messages on the same links; packets and circuits."""
    count = size.pick(20, 400, 20_000)
    arguments = ["traffic", seed, count, LOSSES[loss], int(mode == "eager")]
    done = subprocess.run([ring.boards(BOARDS), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    words = done.stdout.split()
    assert int(words[1]) == count and int(words[5]) == 20 * count
    assert (int(words[9]) > 0) == (LOSSES[loss] > 0)
