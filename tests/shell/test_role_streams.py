# SPDX-License-Identifier: Apache-2.0
"""Message streams of roles in SystemVerilog: the loopback role on a software board and on one with the shell's RTL, and
a board of threads, whose control unit a host reaches by them."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from conftest import ROOT
from models import fabric_packets
from shell.shell_cluster import Cluster, mac

from gossamer import config as configs
from gossamer.config import constants
from gossamer.hdl import sources
from gossamer.shell import BoardError, Host, _build

STREAMS = 4
PACKETS, BYTES = 0, 4
"""Addresses of the role's registers."""
CONTROL = constants.enumeration("vnet")["control"]
NUMBER, LINKS = 5, 2
"""Number and links of the board."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


def echoed(host: Host, board: int, run: int, draw: random.Random, count: int) -> list[list[bytes]]:
    """Sends packets to all streams; what returns, by stream. The role is started before and has ended after."""
    host.start(board, 0, run)
    sent: list[list[bytes]] = [[] for _ in range(STREAMS)]
    found: list[list[bytes]] = [[] for _ in range(STREAMS)]
    for number in range(count):
        stream = draw.randrange(STREAMS)
        packet = draw.randbytes(draw.choice([1, 2, 3, 4, 5, draw.randrange(1, 1437), 1436]))
        host.send(board, stream, packet)
        sent[stream].append(packet)
        if number % 8 == 7:
            collect(host, board, found, lambda: sum(map(len, found)) + 64 > sum(map(len, sent)))
    collect(host, board, found, lambda: sum(map(len, found)) == sum(map(len, sent)))
    assert found == sent
    host.send(board, draw.randrange(STREAMS), b"")
    host.wait(board, run, timeout=30.0)
    assert host.read_register(board, PACKETS) == count
    assert host.read_register(board, BYTES) == sum(len(packet) for stream in sent for packet in stream)
    host.finish(board, run)
    return found


def collect(host: Host, board: int, found: list[list[bytes]], enough: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not enough():
        assert time.monotonic() < end, [len(stream) for stream in found]
        for stream in range(STREAMS):
            while (packet := host.receive(board, stream, 0.0 if stream else 0.002)) is not None:
                found[stream].append(packet)


def _check(cluster: Cluster, start: Callable[[], None], faults: tuple[str, ...], seed: int, count: int) -> None:
    cluster.start_switch(*faults)
    start()
    draw = random.Random(seed)
    role = _build.role(ROOT / "rtl" / "role" / "echo.f").read_bytes()
    with cluster.host(1) as host:
        board = mac(1)
        end = time.monotonic() + 30
        while board not in {one.mac for one in host.discover(0.1)}:
            assert time.monotonic() < end
        host.open(board, timeout=30.0)
        assert host.configure([board], role, drop_after=30.0)[board][0] == "ok"
        end = time.monotonic() + 30
        while [one.streams for one in host.discover(0.2)] != [STREAMS]:
            assert time.monotonic() < end
        for run in (1, 2):
            echoed(host, board, run, draw, count)
        # No such kernel; then a run that ends with its session, with packets in all queues.
        host.start(board, 1, 3)
        with pytest.raises(BoardError):
            host.wait(board, 3, timeout=20.0)
        host.finish(board, 3)
        host.start(board, 0, 4)
        for number in range(20):
            host.send(board, number % STREAMS, draw.randbytes(100))
        host.close(board)
        host.open(board, timeout=30.0)
        echoed(host, board, 5, draw, 20)


def test_packets_return_from_the_role_on_a_software_board(cluster: Cluster, seed: int) -> None:
    faults = ("--loss", "0.02", "--duplicate", "0.02", "--reorder", "0.02")
    _check(cluster, lambda: cluster.start_board(1), faults, seed, 100)


@pytest.mark.tier("all", seconds=60, adds="the loopback role after the shell's RTL")
@pytest.mark.parametrize("faults", [(), ("--loss", "0.02", "--reorder", "0.02")], ids=["clean", "faults"])
def test_packets_return_from_the_role_on_the_shell_in_rtl(cluster: Cluster, faults: tuple[str, ...], seed: int) -> None:
    _check(cluster, lambda: cluster.start_rtl(1), faults, seed, 200)


def answers(host: Host, packets: list[fabric_packets.Flits]) -> list[Mapping[str, int]]:
    """What the control unit answers to packets, one answer each."""
    host.send(mac(1), CONTROL, b"".join(packet.tobytes() for packet in packets))
    found: list[Mapping[str, int]] = []
    end = time.monotonic() + 60
    while len(found) < len(packets):
        assert time.monotonic() < end, found
        packet = host.receive(mac(1), 0, 1.0) or b""
        # A record is a flit and the cycle in which it left the board.
        assert len(packet) % 32 == 0
        for at in range(0, len(packet), 32):
            if (one := fabric_packets.answer(packet[at : at + 24])) is not None:
                found.append(one)
    return found


@pytest.mark.tier("all", seconds=90, adds="a whole board in SystemVerilog as the role")
def test_board_in_systemverilog_is_driven_by_message_frames(tmp_path: Path) -> None:
    """Twice, since a run begins with a reset board; then with a kernel that it does not have."""
    config = configs.load("tiny")
    top = ROOT / "tests" / "rtl" / "role" / "board_top.sv"
    design = sources.blocks("role/board.f", "sim/memory/sim_memory.f", config=config) + (top,)
    host_port = config.router.mesh_ports + LINKS + constants.enumeration("board_port")["host"]
    route = fabric_packets.table(NUMBER, fabric_packets.host_entry(0), [fabric_packets.entry(host_port, 0)])
    about = fabric_packets.control(NUMBER, "cluster", burst=8, boards=1, hosts=1, host=fabric_packets.HOST, flush=0)
    role = _build.rtl_role(design).read_bytes()
    cluster = Cluster(tmp_path)
    try:
        cluster.start_switch("--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.01")
        cluster.start_board(1)
        with cluster.host(1) as host:
            host.discover()
            host.open(mac(1))
            assert host.configure([mac(1)], role)[mac(1)][0] == "ok"
            for run in (1, 2):
                host.write_registers(mac(1), {0: NUMBER})
                host.start(mac(1), 0, run)
                # The first packet makes the route of the answers, so it has none itself.
                host.send(mac(1), CONTROL, b"".join(packet.tobytes() for packet in route))
                (known,) = answers(host, [about])
                assert (known["board"], known["rejection"]) == (NUMBER, 0)
                counts = answers(host, [fabric_packets.counter(NUMBER, name) for name in ("refused", "entered")])
                assert [one["board"] for one in counts] == [NUMBER, NUMBER]
                # A packet that is no whole flit does nothing but count.
                host.send(mac(1), CONTROL, struct.pack("<3I", 1, 2, 3))
                answers(host, [about])
                host.send(mac(1), 0, b"")
                host.wait(mac(1), run, timeout=30.0)
                assert host.read_register(mac(1), 8) == 1
                host.finish(mac(1), run)
            host.start(mac(1), 1, 3)
            with pytest.raises(BoardError):
                host.wait(mac(1), 3, timeout=30.0)
    finally:
        cluster.end()
