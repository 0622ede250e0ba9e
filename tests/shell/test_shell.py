# SPDX-License-Identifier: Apache-2.0
"""Boards on a simulated Ethernet: discovery, sessions, configuration, memory, kernels, messages, with faults."""

from __future__ import annotations

import random
import signal
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Size
from shell import shell_frames as frames
from shell.shell_cluster import KEY, Cluster, mac, mac_bytes, role_file, root, start
from shell.shell_frames import Frame, Session, Wire

from gossamer.shell import BoardError, BoardInfo, Host


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


def announced(host: Host, number: int, **wanted: object) -> BoardInfo:
    """What a board announces, once its fields are those that are wanted; a busy machine takes a while."""
    end = time.monotonic() + 10
    while True:
        for board in host.discover(0.1):
            if board.mac == mac(number) and all(getattr(board, name) == value for name, value in wanted.items()):
                return board
        assert time.monotonic() < end, (host.discover(0), wanted)


def opened(host: Host, boards: int) -> list[int]:
    """Opens sessions with all boards, which must have announced themselves."""
    wanted = [mac(number) for number in range(1, boards + 1)]
    for _ in range(50):
        if {board.mac for board in host.discover(0.05)} >= set(wanted):
            break
    for one in wanted:
        host.open(one)
    return wanted


def test_boards_announce_themselves_and_answer_a_request(cluster: Cluster) -> None:
    cluster.start_switch()
    wire = Wire(cluster.socket, b"\x02\0\0\0\0\x01")
    cluster.start_board(1)
    announce, _ = wire.wait_for(frames.ANNOUNCE)
    mac0, mac1, vendor, product = struct.unpack_from(">6s6sHH", announce.payload)
    assert mac0 == mac_bytes(1) and mac1 == bytes(6) and (vendor, product) == (0x1234, 1)
    assert announce.to == frames.BROADCAST and announce.session != 0
    # Until a session is open it is repeated.
    repeated, _ = wire.wait_for(frames.ANNOUNCE)
    assert repeated.payload == announce.payload
    wire.close()
    with cluster.host(1) as host:
        board = announced(host, 1)
        assert (board.mac, board.serial, board.state, board.owner) == (mac(1), 1, "free", None)


def test_forged_announcements_do_not_displace_a_board_with_a_session(cluster: Cluster) -> None:
    """Of more senders than a host remembers; the board that announces itself last is found all the same."""
    start(cluster, 1)
    wire = Wire(cluster.socket, b"\x02\0\0\0\0\x01")
    announce, _ = wire.wait_for(frames.ANNOUNCE)
    with cluster.host(2) as host:
        opened(host, 1)
        for number in range(6000):
            wire.send(replace(announce, source=b"\x02\xff" + number.to_bytes(4, "big")).bytes())
            if number % 50 == 0:
                host.discover(0)
        assert len(host.discover(0.2)) == 4096
        cluster.start_board(2)
        announced(host, 2)
        assert mac(1) in {board.mac for board in host.discover(0)}
        assert host.status(mac(1)) is not None
    wire.close()


def test_unauthenticated_frames_change_nothing_and_are_counted(cluster: Cluster) -> None:
    start(cluster, 1)
    wire = Wire(cluster.socket, b"\x02\0\0\0\0\x01")
    session = Session(wire, mac_bytes(1), KEY)
    good = session.command(frames.WRITE, b"x" * 64)
    for wrong in (
        good.bytes(bytes(32)),  # another key
        good.bytes(None),  # no tag
        replace(good, session=good.session ^ 1).bytes(session.key),  # another session
        replace(good, source=b"\x02\0\0\0\0\x02").bytes(session.key),  # another host
        session.open_frame,  # an old session's opening
    ):
        wire.send(wrong)
    wire.send(good.bytes(session.key, damage=1))
    wire.send(replace(good, version=1).bytes(session.key))
    wire.send(good.bytes(session.key)[:40])
    wire.send(replace(good, length=2000).bytes(session.key))
    wire.send(replace(good, kind=0x7F, ethertype=0x80EF).bytes(session.key))
    time.sleep(0.1)
    wire.send(Frame(mac_bytes(1), wire.mac, frames.ASK_STATUS).bytes())
    status, _ = wire.wait_for(frames.STATUS)
    bad_frames, bad_tags = struct.unpack_from(">II", status.payload, 32)
    assert (bad_frames, bad_tags) == (5, 4)
    # The command itself is the next that the board expects. There is no role, so it is answered with that status.
    assert session.ask(good, frames.STORED).status == 14
    # A replay is answered again and not executed.
    assert session.ask(good, frames.STORED).status == 14
    wire.close()


def test_wrong_key_and_other_owner_are_reported(cluster: Cluster) -> None:
    start(cluster, 1)
    with (
        Host(cluster.socket, {mac(1): bytes(32)}) as host,
        pytest.raises(BoardError, match="the key is not the board's"),
    ):
        announced(host, 1)
        host.open(mac(1))
    with cluster.host(1) as owner, cluster.host(1) as other:
        opened(owner, 1)
        with pytest.raises(BoardError, match="another host has a session"):
            other.open(mac(1))
        other.open(mac(1), take_over=True)
        with pytest.raises(BoardError):
            owner.read(mac(1), 0, 4)


@pytest.mark.parametrize(
    ("boards", "options"),
    [
        (1, ()),
        (3, ()),
        (4, ("--loss", "0.02", "--duplicate", "0.01", "--reorder", "0.02", "--damage", "0.01", "--mtu", "1500")),
        (3, ("--loss", "0.01", "--mtu", "9000")),
    ],
    ids=["one", "three", "faults", "jumbo"],
)
def test_all_boards_are_configured_at_once(
    boards: int, options: tuple[str, ...], cluster: Cluster, size: Size, seed: int
) -> None:
    start(cluster, boards, *options, "--seed", str(seed))
    with cluster.host(boards) as host:
        macs = opened(host, boards)
        role = role_file(size.pick(300_000, 2_000_000, 20_000_000))
        results = host.configure(macs, role)
        assert {status for status, _ in results.values()} == {"ok"}
        for number in range(1, boards + 1):
            announced(host, number, role=root(role)[:16].hex(), state="ready")
        # Each board sums numbers of its own.
        for number, one in enumerate(macs, 1):
            words = [random.Random(number).randrange(1 << 32) for _ in range(5000)]
            data = struct.pack("<5000I", *words)
            host.write(one, 8192, data)
            assert host.read(one, 8192, len(data)) == data
            host.write_registers(one, {0: 8192, 4: len(data)})
        host.start_all(macs, kernel=1, run=7)
        for number, one in enumerate(macs, 1):
            cycles, count = host.wait(one, 7)
            words = [random.Random(number).randrange(1 << 32) for _ in range(5000)]
            assert (cycles, host.result(one, count, 7)) == (5000, struct.pack("<I", sum(words) % 2**32))
            host.finish(one, 7)


def test_packets_return_once_and_in_order_over_a_lossy_network(cluster: Cluster, size: Size, seed: int) -> None:
    start(cluster, 1, "--loss", "0.05", "--duplicate", "0.02", "--reorder", "0.05", "--seed", str(seed))
    draw = random.Random(seed)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file())[board][0] == "ok"
        host.start(board, 0, 1)
        packets = [draw.randbytes(draw.randrange(1, 1400)) for _ in range(size.pick(200, 1000, 20_000))]
        returned = []
        for packet in packets:
            host.send(board, 0, packet)
            while (found := host.receive(board, 0, 0.0)) is not None:
                returned.append(found)
        while len(returned) < len(packets) and (found := host.receive(board, 0, 5.0)) is not None:
            returned.append(found)
        assert returned == [packet[::-1] for packet in packets]


def test_operations_out_of_order_get_a_status_and_change_nothing(cluster: Cluster) -> None:
    start(cluster, 1)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        for early in (
            lambda: host.write(board, 0, b"x"),
            lambda: host.start(board),
            lambda: host.write_registers(board, {0: 1}),
        ):
            with pytest.raises(BoardError, match="no role is loaded"):
                early()
        assert host.configure([board], role_file())[board][0] == "ok"
        with pytest.raises(BoardError, match="an earlier step is missing"):
            host.result(board, 4)
        host.start(board, kernel=3, run=5)
        for late in (
            lambda: host.write(board, 0, b"x"),
            lambda: host.start(board),
            lambda: host.write_registers(board, {0: 1}),
        ):
            with pytest.raises(BoardError, match="an earlier step is missing"):
                late()
        assert host.configure([board], role_file(1))[board][0] == "out_of_order"
        with pytest.raises(BoardError, match="outside of the board's memory"):
            host.read(board, 1 << 40, 16)


def test_roles_that_do_not_load_leave_the_previous_role(cluster: Cluster) -> None:
    start(cluster, 1)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file())[board][0] == "ok"
        before = announced(host, 1, state="ready")
        assert host.configure([board], b"not a shared object" * 100)[board][0] == "config_failed"
        assert host.configure([board], role_file(1), board_type=2)[board][0] == "bad_image"
        assert announced(host, 1, state="ready").role == before.role
        host.start(board, kernel=2, run=1)
        with pytest.raises(BoardError, match="the role's kernel reported a failure"):
            host.wait(board, 1)


def test_board_that_restarts_during_a_configuration_never_reports_success(cluster: Cluster) -> None:
    """Others are configured; the restarted board has parts of two images and takes neither."""
    start(cluster, 3)
    with cluster.host(3) as host:
        macs = opened(host, 3)
        restarted = False

        def progress(sent: int, total: int, done: int) -> None:
            nonlocal restarted
            if not restarted and sent > total // 2:
                restarted = True
                cluster.kill_board(2)
                cluster.start_board(2, "--boot", "2")

        results = host.configure(macs, role_file(3_000_000), progress=progress, drop_after=2.0)
        assert restarted and [results[mac(number)][0] == "ok" for number in (1, 2, 3)] == [True, False, True]
        assert announced(host, 2, boot=2).role == ""
        host.open(mac(2))
        assert host.configure([mac(2)], role_file())[mac(2)][0] == "ok"


def test_frames_of_another_image_are_not_stored(cluster: Cluster) -> None:
    """A foreign sender broadcasts chunks with the right binding and wrong bytes: hashes find them."""
    start(cluster, 1)
    wire = Wire(cluster.socket, b"\x02\0\0\0\0\x99")
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        role = role_file(1_000_000)
        forged = 0

        def progress(sent: int, total: int, done: int) -> None:
            nonlocal forged
            if forged < 20 and sent < total - 40:
                # The board's own answer to a query tells what image it receives.
                binding = int.from_bytes(root(role)[:8], "big")
                wire.send(
                    Frame(
                        frames.BROADCAST, wire.mac, frames.DATA, bytes(1344), offset=sent + 30, binding=binding
                    ).bytes()
                )
                forged += 1

        assert host.configure([board], role, progress=progress)[board][0] == "ok"
        assert forged and announced(host, 1, state="ready").role == root(role)[:16].hex()
        host.pump(1.2)
        status = host.status(board)
        assert status is not None and int(status["bad_tags"]) > 0
    wire.close()


def test_write_beyond_the_last_address_does_not_reach_the_first(cluster: Cluster) -> None:
    start(cluster, 1)
    with cluster.host(1) as host:
        opened(host, 1)
        assert host.configure([mac(1)], role_file())[mac(1)][0] == "ok"
        host.write(mac(1), 0, bytes(range(100)))
        for before in (1, 1344, 2688):
            # The switch holds the frames, so the host has sent several before it learns that the first is rejected.
            switch = cluster.processes["switch"]
            switch.send_signal(signal.SIGSTOP)
            later = threading.Timer(0.1, switch.send_signal, [signal.SIGCONT])
            later.start()
            with pytest.raises(BoardError, match="outside of the board's memory"):
                host.write(mac(1), (1 << 64) - before, b"x" * 8000)
            later.join()
        assert host.read(mac(1), 0, 100) == bytes(range(100))


def test_registers_of_a_frame_are_written_all_or_none(cluster: Cluster) -> None:
    start(cluster, 1)
    with cluster.host(1) as host:
        (board,) = opened(host, 1)
        assert host.configure([board], role_file())[board][0] == "ok"
        host.write_registers(board, {0: 7, 4: 8})
        with pytest.raises(BoardError, match="outside of the board's memory or registers"):
            host.write_registers(board, {0: 9, 4096: 1})
        assert (host.read_register(board, 0), host.read_register(board, 4)) == (7, 8)
