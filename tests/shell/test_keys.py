# SPDX-License-Identifier: Apache-2.0
"""Renewing the keys of boards: the command, the board's store, the file of the host. The frames and the next key are
computed by `shell_frames` and hashlib."""

from __future__ import annotations

import hashlib
import random
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell.shell_cluster import KEY, Cluster, mac, mac_bytes
from shell.shell_frames import ANNOUNCE, ERROR, OPEN, OPENED, SOLICIT, Frame, Session, Wire, parse, session_key

from gossamer.shell import BoardError, Host, keys

REKEY, REKEYED = 0x0A, 0x0B
OK, BAD_LENGTH, CONFIG_FAILED = 0, 2, 16
HOST = bytes.fromhex("020000000999")


RTL = pytest.mark.tier("all", seconds=12, adds="boards whose shell is the RTL, with its port for a store of keys")


@pytest.fixture(params=["twin", pytest.param("rtl", marks=RTL)])
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    made = Cluster(tmp_path, rtl=request.param == "rtl")
    yield made
    made.end()


def store(cluster: Cluster, number: int = 1) -> tuple[str, str]:
    return "--key-file", str(cluster.folder / f"key-{number}")


def following(key: bytes, salt: bytes) -> bytes:
    return hashlib.blake2s(salt + b"gossamer-rekey", key=key).digest()


def opens(cluster: Cluster, key: bytes, number: int = 1) -> bool:
    with Host(cluster.socket, {mac(number): key}) as host:
        try:
            host.open(mac(number), take_over=True, timeout=5)
        except BoardError as error:
            assert error.status == "bad_tag"
            return False
        host.close(mac(number))
        return True


def restart(cluster: Cluster, *options: str) -> None:
    cluster.kill_board(1)
    cluster.start_board(1, *options)


def test_old_key_is_accepted_until_a_session_opens_with_the_next(cluster: Cluster, seed: int) -> None:
    salt = random.Random(seed).randbytes(32)
    cluster.start_switch()
    cluster.start_board(1, *store(cluster))
    wire = Wire(cluster.socket, HOST)
    session = Session(wire, mac_bytes(1), KEY)
    assert session.ask(session.command(REKEY, salt[:31]), REKEYED).status == BAD_LENGTH
    assert not Path(store(cluster)[1]).exists()
    # Without the session's key, the command changes nothing.
    forged = session.command(REKEY, salt)
    wire.send(forged.bytes(bytes(32)))
    assert wire.wait_for(ERROR)[0].status == 4
    assert session.ask(forged, REKEYED).status == OK
    # The frame again is answered, and derives no other key.
    assert session.ask(forged, REKEYED).status == OK
    wire.close()
    file = Path(store(cluster)[1])
    after = following(KEY, salt)
    assert file.stat().st_mode & 0o777 == 0o600 and file.read_text().split() == [KEY.hex(), after.hex()]
    assert not opens(cluster, following(after, salt))
    assert opens(cluster, KEY)
    restart(cluster, *store(cluster))
    assert opens(cluster, KEY) and opens(cluster, after)
    assert not opens(cluster, KEY) and opens(cluster, after)
    restart(cluster, *store(cluster))
    assert not opens(cluster, KEY) and opens(cluster, after)
    assert file.read_text().split() == [after.hex()]


def test_an_open_with_the_next_key_needs_the_challenge(cluster: Cluster) -> None:
    salt = bytes(32)
    cluster.start_switch()
    cluster.start_board(1, *store(cluster))
    wire = Wire(cluster.socket, HOST)
    session = Session(wire, mac_bytes(1), KEY)
    assert session.ask(session.command(REKEY, salt), REKEYED).status == OK
    old = Frame(mac_bytes(1), HOST, OPEN, bytes(7) + b"\1" + bytes(8), session=session.challenge)
    wire.send(old.bytes(following(KEY, salt)))
    assert wire.wait_for(ERROR)[0].status == 4
    wire.send(Frame(mac_bytes(1), HOST, SOLICIT).bytes())
    wire.close()
    assert opens(cluster, KEY)


@pytest.mark.parametrize("options", [(), ("--key-file", "/nonexistent/key")], ids=["no store", "a store that fails"])
def test_a_board_that_cannot_store_a_key_keeps_its_own(cluster: Cluster, options: tuple[str, ...]) -> None:
    cluster.start_switch()
    cluster.start_board(1, *options)
    wire = Wire(cluster.socket, HOST)
    session = Session(wire, mac_bytes(1), KEY)
    assert session.ask(session.command(REKEY, bytes(32)), REKEYED).status == CONFIG_FAILED
    wire.close()
    assert not opens(cluster, following(KEY, bytes(32))) and opens(cluster, KEY)


def test_a_lost_answer_to_open_and_a_new_challenge_are_survived(cluster: Cluster) -> None:
    """The board's answer is lost, and its next announcement reaches the host before the host repeats the request."""
    cluster.start_switch()
    wire = Wire(cluster.socket, mac_bytes(1))
    host = Host(cluster.socket, {mac(1): KEY})
    station = host.mac.to_bytes(6, "big")

    def answer(kind: int, session: int, payload: bytes, key: bytes | None = None) -> None:
        wire.send(Frame(station, mac_bytes(1), kind, payload, session=session).bytes(key))

    def board() -> None:
        """Follows docs/hardware/shell.md, except that it does not answer the first open."""
        challenge, session, key = 17, 0, b""
        while (data := wire.receive(5.0)) is not None:
            frame = parse(data)
            if frame.kind == SOLICIT:
                answer(ANNOUNCE, challenge, bytes(80))
            elif frame.kind == OPEN:
                nonce = struct.unpack_from(">Q", frame.payload)[0]
                first = session == 0
                if nonce != session and frame.session == challenge:
                    session, key = nonce, session_key(KEY, mac_bytes(1), station, challenge, nonce)
                    challenge += 1
                if first:
                    answer(ANNOUNCE, challenge, bytes(80))
                else:
                    answer(OPENED, session, bytes(64), key)
                    return

    thread = threading.Thread(target=board)
    thread.start()
    try:
        host.open(mac(1), timeout=5)
    finally:
        thread.join()
        host.free()
        wire.close()


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("step", ["rekey", "close", "second open", "second close"])
def test_a_rotation_interrupted_at_any_step_is_continued(cluster: Cluster, step: str) -> None:
    """With lost frames; after the interruption the file has a key that the board accepts, and the next one finishes."""
    cluster.start_switch("--loss", "0.05", "--seed", "3")
    for number in (1, 2):
        cluster.start_board(number, *store(cluster, number))
    path = cluster.folder / "keys.json"
    keys.write(path, {mac(number): KEY for number in (1, 2)})

    class Stopping(Host):
        calls = dict.fromkeys(("open", "close", "rekey"), 0)

        def _count(self, name: str) -> None:
            self.calls[name] += 1
            if step == f"{'second ' if self.calls[name] == 2 else ''}{name}":
                raise Interrupted

        def open(self, *words, **named):  # type: ignore[no-untyped-def]
            self._count("open")
            return super().open(*words, **named)

        def close(self, number: int) -> None:
            self._count("close")
            super().close(number)

        def rekey(self, number: int, salt: bytes) -> None:
            super().rekey(number, salt)
            self._count("rekey")

    with Stopping(cluster.socket, keys.read(path)) as host, pytest.raises(Interrupted):
        keys.rotate(path, host, [mac(1), mac(2)])
    left = keys.read(path)
    assert left[mac(2)] == KEY and hasattr(left[mac(1)], "next") == (step != "second close")
    with Host(cluster.socket, left) as host:
        assert keys.rotate(path, host, [mac(1), mac(2)], take_over=True) == {mac(1): "", mac(2): ""}
    made = keys.read(path)
    assert path.stat().st_mode & 0o777 == 0o600 and len(set(made.values()) | {KEY}) == 3
    for number in (1, 2):
        assert opens(cluster, made[mac(number)], number) and not opens(cluster, KEY, number)
        assert not hasattr(made[mac(number)], "next")
