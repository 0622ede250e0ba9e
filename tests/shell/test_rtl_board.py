# SPDX-License-Identifier: Apache-2.0
"""The shell's RTL with its firmware, in simulation, as hosts use it: beside software twins, over a network with faults.

`test_scapy_*.py` compare its frames with those of a twin, one by one (`--all`).
"""

from __future__ import annotations

import random
import signal
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shell.shell_cluster import Cluster, mac, role_file, root

from gossamer.shell import BoardError, Host


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


def opened(host: Host, boards: int) -> list[int]:
    wanted = [mac(number) for number in range(1, boards + 1)]
    end = time.monotonic() + 30
    while not {board.mac for board in host.discover(0.1)} >= set(wanted):
        assert time.monotonic() < end
    for one in wanted:
        host.open(one, timeout=20.0)
    return wanted


@pytest.mark.default_cases("slow", seconds=4, adds="a lossy network, and a board that keeps up")
@pytest.mark.parametrize(
    ("faults", "pause"),
    [((), "0"), (("--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.01"), "0"), ((), "12")],
    ids=["clean", "faults", "slow"],
)
def test_rtl_and_twin_are_configured_at_once_and_do_their_tasks(
    cluster: Cluster, faults: tuple[str, ...], pause: str
) -> None:
    """Of the slow board, an answer takes longer than the host waits for one: it must not ask ever more often."""
    cluster.start_switch(*faults)
    cluster.start_rtl(1, "--pause", pause)
    cluster.start_board(2)
    role = role_file(150_000)
    with cluster.host(2) as host:
        boards = opened(host, 2)
        results = host.configure(boards, role, drop_after=20.0)
        assert {status for status, _ in results.values()} == {"ok"}, results
        assert {board.role for board in host.discover(0.2)} == {root(role)[:16].hex()}
        for number, board in enumerate(boards):
            # Addresses and lengths that are no multiples of a beat.
            data = random.Random(number).randbytes(4001)
            host.write(board, 8191, data)
            assert host.read(board, 8191, len(data)) == data
            assert host.read(board, 8190, 1) == b"\0"
            host.write_registers(board, {0: 8192, 4: 4000})
        host.start_all(boards, kernel=1, run=7)
        for number, board in enumerate(boards):
            _, count = host.wait(board, 7, timeout=30.0)
            words = struct.unpack("<1000I", random.Random(number).randbytes(4001)[1:])
            assert host.result(board, count, 7) == struct.pack("<I", sum(words) % 2**32)
            host.finish(board, 7)


def test_packets_return_once_and_in_order(cluster: Cluster) -> None:
    cluster.start_switch("--loss", "0.02", "--duplicate", "0.02", "--reorder", "0.02")
    cluster.start_rtl(1)
    draw = random.Random(1)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file(), drop_after=20.0)[board][0] == "ok"
        host.start(board, 0, 1)
        packets = [draw.randbytes(draw.randrange(1, 1400)) for _ in range(60)]
        returned = []
        for packet in packets:
            host.send(board, 0, packet)
            while (found := host.receive(board, 0, 0.0)) is not None:
                returned.append(found)
        while len(returned) < len(packets) and (found := host.receive(board, 0, 10.0)) is not None:
            returned.append(found)
        assert returned == [packet[::-1] for packet in packets]


def test_forged_image_is_not_loaded_and_the_role_runs_on(cluster: Cluster) -> None:
    cluster.start_switch()
    cluster.start_rtl(1)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file(), drop_after=20.0)[board][0] == "ok"
        status, _ = host.configure([board], b"no role" * 3000, drop_after=20.0)[board]
        assert status == "config_failed"
        end = time.monotonic() + 10
        while [(one.role, one.state) for one in host.discover(0.2)] != [(root(role_file())[:16].hex(), "ready")]:
            assert time.monotonic() < end
        host.start(board, 3, 2)


def wait_for(host: Host, role: bytes | None, state: str) -> None:
    """Waits until the board announces this role, or none, and this state."""
    wanted = (root(role)[:16].hex() if role else "", state)
    end = time.monotonic() + 30
    while (found := [(one.role, one.state) for one in host.discover(0.2)]) != [wanted]:
        assert time.monotonic() < end, (found, wanted)


@pytest.mark.tier("all", seconds=10, adds="two sources of the configuration port on a board")
def test_configuration_waits_for_the_local_port_whose_role_replaces_that_of_the_host(cluster: Cluster) -> None:
    """The local port is that of a flash: it loads its role at the start, and when it is asked to."""
    local, remote = role_file(), role_file(100_000)
    file = cluster.folder / "flash"
    file.write_bytes(local)
    cluster.start_switch()
    cluster.start_rtl(1, "--local-config", str(file), "--local-hold", "1")
    process = cluster.processes["board 1"]
    with cluster.host(1) as host, cluster.host(1) as observer, ThreadPoolExecutor() as pool:
        (board,) = opened(host, 1)
        wait_for(host, None, "owned")
        waiting = pool.submit(host.configure, [board], remote, drop_after=30.0)
        wait_for(observer, None, "loading")
        time.sleep(0.2)
        assert not waiting.done()
        process.send_signal(signal.SIGUSR2)
        assert waiting.result()[board][0] == "ok"
        wait_for(host, remote, "ready")
        host.start(board, 0, 1)
        process.send_signal(signal.SIGUSR1)
        with pytest.raises(BoardError) as caught:
            host.wait(board, 1, timeout=10.0)
        assert caught.value.status == "role_failed"
        host.finish(board, 1)
        with pytest.raises(BoardError) as caught:
            host.start(board, 1, 2)
        assert caught.value.status == "no_role"
        wait_for(host, remote, "owned")
        process.send_signal(signal.SIGUSR2)
        wait_for(host, local, "ready")
        host.write(board, 0, struct.pack("<3I", 5, 6, 7))
        host.write_registers(board, {0: 0, 4: 12})
        host.start(board, 1, 3)
        _, count = host.wait(board, 3, timeout=10.0)
        assert host.result(board, count, 3) == struct.pack("<I", 18)


@pytest.mark.tier("all", seconds=5, adds="a local port without a role for the board")
def test_local_file_that_is_no_role_changes_nothing(cluster: Cluster) -> None:
    file = cluster.folder / "flash"
    file.write_bytes(b"no role" * 3000)
    cluster.start_switch()
    cluster.start_rtl(1, "--local-config", str(file))
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        wait_for(host, None, "owned")
        assert host.configure([board], role_file(), drop_after=20.0)[board][0] == "ok"
        cluster.processes["board 1"].send_signal(signal.SIGUSR1)
        time.sleep(1)
        wait_for(host, role_file(), "ready")
        host.start(board, 3, 1)


@pytest.mark.tier("all", seconds=8, adds="a configuration port that rejects an image before its end")
def test_board_survives_a_port_that_rejects_an_image_before_its_end(cluster: Cluster) -> None:
    """The rest of the image must not stay in the reader, which also hashes the blocks of the next image."""
    cluster.start_switch()
    cluster.start_rtl(1, "--config-max", "70000")
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file(), drop_after=20.0)[board][0] == "ok"
        for _ in range(2):
            assert host.configure([board], role_file(100_000), drop_after=20.0)[board][0] == "config_failed"
            wait_for(host, role_file(), "ready")
        assert host.configure([board], role_file(1), drop_after=20.0)[board][0] == "ok"
        host.start(board, 3, 1)
