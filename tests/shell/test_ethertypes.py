# SPDX-License-Identifier: Apache-2.0
"""EtherTypes of a site: boards and hosts take them from GOSSAMER_ETHERTYPES."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell.managed_cluster import cli
from shell.shell_cluster import Cluster, mac, mac_bytes, role_file, root
from shell.shell_frames import ANNOUNCE, BROADCAST, SOLICIT, Frame, Wire

# Numbers of the default table are used for other kinds here, so that a kind that kept its own would be seen.
SITE = "88B6,80CB,A0F1,80EF,A0F3,80AA,A0F5,A0F6,88B5"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


def test_cluster_with_wrong_ethertypes_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_ETHERTYPES", "88B6")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = cli("sim", "up", "2")
    assert (code, out, err.count("\n")) == (2, "", 1) and "GOSSAMER_ETHERTYPES=88B6: must be nine numbers" in err
    code, _, err = cli("sim", "down")
    assert code == 2 and "no simulated cluster runs" in err


def _announced(wire: Wire, ethertype: int) -> dict[bytes, int]:
    """Boards that answer a request with this EtherType, and the EtherType of their answers."""
    wire.send(Frame(BROADCAST, wire.mac, SOLICIT, ethertype=ethertype).bytes())
    found = {}
    while (data := wire.receive(0.5)) is not None:
        kind, _, number = struct.unpack_from(">HBB", data, 12)
        assert (
            zlib.crc32(data[:52] + bytes(4) + data[56 : 64 + struct.unpack_from(">H", data, 18)[0]])
            == (struct.unpack_from(">I", data, 52)[0])
        )
        # A board also announces itself once a second without a request.
        if number == ANNOUNCE:
            found[data[6:12]] = kind
    return found


@pytest.mark.parametrize(
    "rtl", [False, pytest.param(True, marks=pytest.mark.tier("all", seconds=8, adds="the shell's RTL"))]
)
def test_boards_and_hosts_of_a_site_do_not_see_others(
    cluster: Cluster, rtl: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board of the site, and one with the default EtherTypes, on one switch."""
    cluster.start_switch()
    cluster.start_board(2)
    monkeypatch.setenv("GOSSAMER_ETHERTYPES", SITE)
    cluster.rtl = rtl
    cluster.start_board(1)
    wire = Wire(cluster.socket, bytes.fromhex("020000000042"))
    # The requests differ: neither board answers that of the other.
    assert _announced(wire, 0x88B6).get(mac_bytes(1)) == 0x88B6
    assert _announced(wire, 0x80EF).get(mac_bytes(2)) == 0x80EF
    wire.close()
    role = role_file(50_000)
    with cluster.host(2) as host:
        assert [board.mac for board in host.discover(1.5)] == [mac(1)]
        host.open(mac(1), take_over=True)
        assert {status for status, _ in host.configure([mac(1)], role, drop_after=20.0).values()} == {"ok"}
        assert [board.role for board in host.discover(0.5)] == [root(role)[:16].hex()]
        data = random.Random(1).randbytes(4000)
        host.write(mac(1), 8192, data)
        assert host.read(mac(1), 8192, len(data)) == data
        host.write_registers(mac(1), {0: 8192, 4: 4000})
        host.start_all([mac(1)], kernel=1, run=7)
        _, count = host.wait(mac(1), 7, timeout=30.0)
        assert host.result(mac(1), count, 7) == struct.pack("<I", sum(struct.unpack("<1000I", data)) % 2**32)
    monkeypatch.delenv("GOSSAMER_ETHERTYPES")
    with cluster.host(2) as host:
        assert [board.mac for board in host.discover(1.5)] == [mac(2)]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "must be nine numbers of four hexadecimal digits, separated by commas"),
        (SITE[:-5], "must be nine numbers of four hexadecimal digits, separated by commas"),
        (SITE + ",A0F7", "must be nine numbers of four hexadecimal digits, separated by commas"),
        (SITE + ",", "must be nine numbers of four hexadecimal digits, separated by commas"),
        (SITE.replace("A0F1", "0xA0F1"), "must be nine numbers of four hexadecimal digits, separated by commas"),
        (SITE.replace("A0F1", "05FF"), "05FF is a length, not an EtherType; those begin at 0600"),
        (SITE.replace("A0F1", "0800"), "0800 is used by other protocols"),
        (SITE.replace("A0F1", "8100"), "8100 is used by other protocols"),
        (SITE.replace("A0F1", "88b6"), "88b6 is there twice"),
    ],
)
def test_wrong_ethertypes_are_reported_in_one_line(
    cluster: Cluster, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster.start_switch()
    monkeypatch.setenv("GOSSAMER_ETHERTYPES", value)
    code, out, err = cli("discover", "--port", cluster.socket)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"GOSSAMER_ETHERTYPES={value}: {said}" in err
    # A board with them does not start.
    cluster.start_board(1)
    assert cluster.processes.pop("board 1").wait(10) == 2
