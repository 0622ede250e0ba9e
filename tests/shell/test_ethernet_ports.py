# SPDX-License-Identifier: Apache-2.0
"""Boards on AF_PACKET, in network namespaces with veth and a Linux bridge: group addresses, jumbo frames, slow boards,
dead boards, pulled cables."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import platform
import random
import signal
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Size
from shell.shell_cluster import KEY, Cluster, mac, role_file, root, start

from gossamer import builds
from gossamer.errors import InputError
from gossamer.paths import INCLUDE
from gossamer.shell import Host, _build, _native, mac_text, namespaces
from gossamer.shell.namespaces import PORT, Lan

needs_root = pytest.mark.skipif(namespaces.missing() is not None, reason=str(namespaces.missing()))
GROUP = 0x03_67_73_00_00_01
"""A locally administered group address."""


class Stations:
    """Twins at the stations of a network of namespaces."""

    def __init__(self, lan: Lan, count: int) -> None:
        self.lan, self.macs = lan, [namespaces.mac(number) for number in range(1, count + 1)]
        self.processes: list[subprocess.Popen[bytes]] = []
        for number in range(1, count + 1):
            self.start(number)

    def start(self, number: int) -> None:
        words = ["--port", PORT, "--mac", mac_text(namespaces.mac(number)), "--key", KEY.hex()]
        command = self.lan.command(number, [_build.folder() / "shell_twin", *words])
        self.processes.append(subprocess.Popen(command))

    def host(self) -> Host:
        """A host with sessions of all boards."""
        with self.lan.inside(0):
            host = Host(PORT, dict.fromkeys(self.macs, KEY))
        end = time.monotonic() + 20
        while not {board.mac for board in host.discover(0.05)} >= set(self.macs):
            assert time.monotonic() < end
        for one in self.macs:
            host.open(one)
        return host

    def sniffer(self, number: int) -> socket.socket:
        """A raw socket at a station's interface, which receives what the station receives."""
        with self.lan.inside(number):
            found = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x80AA))
            found.bind((PORT, 0x80AA))
            # SO_RCVBUFFORCE: the whole transfer waits in the socket.
            found.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)
            found.setblocking(False)
        return found


def received(sniffer: socket.socket) -> list[bytes]:
    frames: list[bytes] = []
    with contextlib.suppress(BlockingIOError):
        while True:
            frames.append(sniffer.recv(1 << 16))
    return frames


@contextlib.contextmanager
def stations(count: int, mtu: int = 1500) -> Iterator[Stations]:
    with Lan(count, mtu) as lan:
        made = Stations(lan, count)
        try:
            yield made
        finally:
            for process in made.processes:
                process.kill()
                process.wait()


def loaded(host: Host, role: bytes) -> set[int]:
    """Boards that announce the role."""
    return {board.mac for board in host.discover(0.3) if board.role == root(role)[:16].hex()}


@needs_root
def test_boards_on_veth_are_configured_by_one_copy_to_a_group_address(size: Size) -> None:
    """The host's data frames pass once, to the group; sessions, commands and messages work on the interface."""
    role = role_file(size.pick(1_000_000, 5_000_000, 50_000_000))
    with stations(3) as made, made.host() as host:
        sniffer = made.sniffer(1)
        assert {status for status, _ in host.configure(made.macs, role, group=GROUP).values()} == {"ok"}
        data = [frame for frame in received(sniffer) if frame[16] == 0x11]
        assert {frame[:6] for frame in data} == {GROUP.to_bytes(6, "big")}
        chunks = -(-len(role) // 1344) + -(-(-(-len(role) // 65536) * 16) // 1344)
        assert len(data) == chunks and {len(frame) for frame in data[:-1]} == {64 + 1344}
        assert loaded(host, role) == set(made.macs)
        host.write(made.macs[0], 4096, role[:10_000])
        assert host.read(made.macs[0], 4096, 10_000) == role[:10_000]
        host.start_all(made.macs)
        for one in made.macs:
            host.send(one, 0, b"abc")
            assert host.receive(one, 0) == b"cba"
        sniffer.close()


@needs_root
@pytest.mark.parametrize("slow", ["1500", "none"])
def test_jumbo_frames_are_used_where_all_boards_have_them(slow: str) -> None:
    role = role_file(500_000)
    with stations(2, 9000) as made:
        if slow == "1500":
            made.processes[-1].kill()
            made.processes.pop().wait()
            subprocess.run(made.lan.command(2, ["ip", "link", "set", PORT, "mtu", "1500"]), check=True)
            made.start(2)
        with made.host() as host:
            mtus = {board.mac: board.mtu for board in host.discover()}
            assert mtus == {made.macs[0]: 9000, made.macs[1]: 1500 if slow == "1500" else 9000}
            sniffer = made.sniffer(1)
            assert {status for status, _ in host.configure(made.macs, role).values()} == {"ok"}
            longest = max(len(frame) for frame in received(sniffer))
            assert longest == 64 + (1344 if slow == "1500" else 8832)
            sniffer.close()
            assert loaded(host, role) == set(made.macs)
            # Commands to a board use its own frame length.
            data = random.Random(1).randbytes(50_000)
            for one in made.macs:
                host.write(one, 0, data)
                assert host.read(one, 0, len(data)) == data


@needs_root
@pytest.mark.parametrize("fault", ["dead", "slow"])
def test_a_slow_or_dead_board_does_not_hold_up_the_others(fault: str) -> None:
    """A dead board is reported; a board at a tenth of the rate is finished after the others."""
    role = role_file(20_000_000)
    with stations(4) as made, made.host() as host:
        last, ended = made.processes[-1], threading.Event()

        def stutter() -> None:
            while not ended.is_set():
                last.send_signal(signal.SIGSTOP)
                ended.wait(0.09)
                last.send_signal(signal.SIGCONT)
                ended.wait(0.01)

        disturbing = threading.Thread(target=stutter)
        if fault == "dead":
            last.kill()
        else:
            disturbing.start()
        try:
            results = host.configure(made.macs, role, drop_after=4.0)
        finally:
            ended.set()
            if fault == "slow":
                disturbing.join()
        assert [results[one][0] for one in made.macs[:3]] == ["ok"] * 3
        assert results[made.macs[3]][0] == ("ok" if fault == "slow" else "timed_out")
        others = max(results[one][1] for one in made.macs[:3])
        assert others + (1.0 if fault == "dead" else 0.0) < results[made.macs[3]][1]
        assert loaded(host, role) >= set(made.macs[: 4 if fault == "slow" else 3])


@needs_root
def test_a_cable_pulled_during_a_configuration_keeps_the_old_role() -> None:
    first, second = role_file(1), role_file(30_000_000)
    with stations(2) as made, made.host() as host:
        assert {status for status, _ in host.configure(made.macs, first).values()} == {"ok"}

        def progress(sent: int, total: int, _done: int) -> None:
            if sent > total // 2:
                made.lan.set_link(2, False)

        results = host.configure(made.macs, second, progress=progress, drop_after=4.0)
        assert [results[one][0] for one in made.macs] == ["ok", "timed_out"]
        # Flow control does not wait for a board that no longer answers.
        assert results[made.macs[0]][1] + 1.0 < results[made.macs[1]][1]
        made.lan.set_link(2, True)
        assert loaded(host, first) == {made.macs[1]} and loaded(host, second) == {made.macs[0]}
        assert host.configure([made.macs[1]], second)[made.macs[1]][0] == "ok"
        assert loaded(host, second) == set(made.macs)


def test_losses_of_many_boards_are_repaired_by_few_frames(tmp_path: Path, size: Size) -> None:
    """At 1 % independent loss the repair frames are at most 3 % of the bytes; a resend to all would be 8 % or more."""
    boards, role = 8, role_file(size.pick(3_000_000, 8_000_000, 40_000_000))
    sent: list[int] = []
    for loss in ("0", "0.01"):
        (folder := tmp_path / loss).mkdir()
        cluster = Cluster(folder)
        start(cluster, boards, "--loss", loss, "--queue", "100000000")
        try:
            with cluster.host(boards) as host:
                macs = [mac(number) for number in range(1, boards + 1)]
                while not {board.mac for board in host.discover(0.05)} >= set(macs):
                    pass
                for one in macs:
                    host.open(one)
                before = host.bytes_sent
                results = host.configure(macs, role, drop_after=10.0)
                assert {status for status, _ in results.values()} == {"ok"}
                sent.append(host.bytes_sent - before)
        finally:
            cluster.end()
    assert 1.0 < sent[1] / sent[0] <= 1.03


def test_a_session_is_kept_while_an_image_is_broadcast_slowly(tmp_path: Path) -> None:
    """Frames to all have no tag and prolong no session."""
    cluster = Cluster(tmp_path)
    start(cluster, 2)
    try:
        with cluster.host(2) as host:
            macs = [mac(1), mac(2)]
            while not {board.mac for board in host.discover(0.05)} >= set(macs):
                pass
            for one in macs:
                host.open(one, lease=0.5)
            role = role_file(600_000)
            results = host.configure(macs, role, bytes_per_s=400_000)
            assert {status for status, _ in results.values()} == {"ok"}
            assert min(seconds for _, seconds in results.values()) > 1.2
    finally:
        cluster.end()


@pytest.mark.parametrize("blocks", [0, 1, 2, 3, 8, 15, 16, 17, 33])
@pytest.mark.parametrize("more", [0, 1, 64, 65535])
def test_blocks_hashed_in_vector_lanes_have_the_hashes_of_hashlib(blocks: int, more: int) -> None:
    role = random.Random(blocks).randbytes(65536 * blocks + more)
    found = ctypes.create_string_buffer(32)
    _native.lib().gs_shell_root(role, len(role), found)
    assert found.raw == root(role)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names levels of x86-64")
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3"])
def test_hashes_and_checksums_agree_on_processors_with_shorter_vectors(level: str, tmp_path: Path) -> None:
    """4 lanes and a table of checksums, 8 lanes; this processor's own are those of the library."""
    program, image = tmp_path / "digests", tmp_path / "image"
    sources = [ROOT / "tests" / "fixtures" / "shell" / "digests.cc"]
    sources += [ROOT / "src" / "shell" / f"{name}.cc" for name in ("blake2s", "blake2s_block", "blake2s_core", "frame")]
    folders = [f"-I{_build.constants()}", f"-I{INCLUDE}", f"-I{ROOT / 'src'}"]
    command = [*builds.compiler(), "-std=c++20", "-O1", f"-march={level}", *folders, *map(str, sources)]
    subprocess.run([*command, "-o", str(program)], check=True)
    data = random.Random(1).randbytes(65536 * 21 + 777)
    image.write_bytes(data)
    done = subprocess.run([program, image], capture_output=True, text=True, check=True)
    wanted = [hashlib.blake2s(data[at : at + 65536]).hexdigest() for at in range(0, len(data), 65536)]
    wanted += [f"{zlib.crc32(data[:length]):08x}" for length in [*range(301), len(data)]]
    assert done.stdout.split() == wanted


def test_a_network_without_root_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(InputError, match="network namespaces need root"), Lan(1):
        pass
