# SPDX-License-Identifier: Apache-2.0
"""Signed roles: packages are read and verified here with hashlib and RFC 8032's formulas on Python's integers."""

from __future__ import annotations

import hashlib
import json
import random
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command
from shell.shell_cluster import KEY, Cluster, mac, role_file, root, start

import gossamer_setup
from gossamer.errors import InputError
from gossamer.shell import signature
from gossamer.shell.manager import Manager
from gossamer.shell.store import Store

# ---- Ed25519 of RFC 8032, section 5.1

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
Point = tuple[int, int]


def plus(a: Point, b: Point) -> Point:
    t = D * a[0] * b[0] * a[1] * b[1] % P
    return (
        (a[0] * b[1] + a[1] * b[0]) * pow(1 + t, -1, P) % P,
        (a[1] * b[1] + a[0] * b[0]) * pow(1 - t, -1, P) % P,
    )


def times(scalar: int, point: Point) -> Point:
    total = (0, 1)
    for bit in f"{scalar:b}":
        total = plus(total, total)
        if bit == "1":
            total = plus(total, point)
    return total


def decoded(data: bytes) -> Point:
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert x * x % P == square
    return (P - x if x & 1 != sign else x), y


BASE = decoded((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(public: bytes, text: bytes, signed: bytes) -> bool:
    s = int.from_bytes(signed[32:], "little")
    challenge = int.from_bytes(hashlib.sha512(signed[:32] + public + text).digest(), "little") % L
    return s < L and times(s, BASE) == plus(decoded(signed[:32]), times(challenge, decoded(public)))


def parsed(package: bytes) -> tuple[dict[str, object], bytes, bytes, bytes, bytes]:
    """Description, signed text, signature, manifest and body of a package."""
    assert package[:4] == b"GSR1"
    end = 8 + struct.unpack_from(">I", package, 4)[0]
    about = json.loads(package[8:end])
    hashes = 16 * -(-about["body_bytes"] // 65536)
    signed, rest = package[end : end + 64], package[end + 64 :]
    return about, b"gossamer-role\0" + package[:end], signed, rest[:hashes], rest[hashes:]


# ---- Tests


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two signing keys and a file that trusts the first."""
    gossamer_setup.require("sign")
    folder = tmp_path_factory.mktemp("signatures")
    for name in ("release", "other"):
        signature.make_key(folder / name)
    (folder / "trusted").write_text("# who signs our roles\n\n" + (folder / "release.pub").read_text())
    return folder


def made(place: Path, body: bytes, *, key: str = "release", board_type: int = 1) -> bytes:
    return signature.sign(body, signature.read_key(place / key), name="sums", version="2.1", board_type=board_type)


def test_a_package_is_signed_as_rfc_8032_says(place: Path, seed: int) -> None:
    body = random.Random(seed).randbytes(200_000)
    about, text, signed, manifest, rest = parsed(made(place, body))
    public = bytes.fromhex(str(about["signer"]))
    assert is_signed(public, text, signed) and not is_signed(public, text + b"!", signed)
    assert rest == body and about["root"] == root(body).hex() == hashlib.blake2s(manifest).hexdigest()
    assert (about["name"], about["version"], about["board_type"], about["body_bytes"]) == ("sums", "2.1", 1, 200_000)
    kind, encoded, name = (place / "release.pub").read_text().split()
    assert kind == "ssh-ed25519" and name == "release" and encoded
    assert (place / "release").stat().st_mode & 0o777 == 0o600
    found = signature.verify("here", made(place, body), None)
    assert found.body == body and found.signer == public and found.root == root(body)


def test_every_damage_of_a_package_is_found(place: Path, seed: int) -> None:
    draw = random.Random(seed)
    body = draw.randbytes(150_000)
    good = made(place, body)
    start = len(good) - len(body)
    places = [*range(0, start, 3), start, start + 65535, start + 65536, len(good) - 1]
    places += [draw.randrange(start, len(good)) for _ in range(30)]
    for at in places:
        bad = bytearray(good)
        bad[at] ^= 1 << draw.randrange(8)
        with pytest.raises(InputError) as caught:
            signature.verify("role.gsr", bytes(bad), None)
        assert "role.gsr: is" in str(caught.value) and "\n" not in str(caught.value)
    for bad in (*(good[:length] for length in (0, 4, 7, 8, 100, 300, start - 1, len(good) - 1)), good + b"\0"):
        with pytest.raises(InputError):
            signature.verify("role.gsr", bad, None)
    # The signature of one package does not fit another; and a manifest of right length is not accepted with its body.
    other = made(place, body[::-1])
    head = 8 + struct.unpack_from(">I", good, 4)[0]
    for bad in (good[:head] + other[head:], good[: head + 64] + other[head + 64 :], other[:head] + good[head:]):
        with pytest.raises(InputError, match="is damaged"):
            signature.verify("role.gsr", bad, None)
    bad = good[: start + 65536] + bytes(10) + good[start + 65546 :]
    with pytest.raises(InputError, match=r"is damaged: bytes 65,536 to 131,072"):
        signature.verify("role.gsr", bad, None)


def test_only_trusted_signers_are_accepted(place: Path) -> None:
    trust = place / "trusted"
    body = b"a role"
    assert signature.accepted("r", body, None) == (body, None)
    assert signature.accepted("r", made(place, body), trust)[0] == body
    assert signature.accepted("r", made(place, body, key="other"), None)[0] == body
    with pytest.raises(InputError, match="is signed with a key that is not trusted"):
        signature.accepted("r", made(place, body, key="other"), trust)
    with pytest.raises(InputError, match=r"is not signed, and .* is the file of trusted keys"):
        signature.accepted("r", body, trust)
    (place / "both").write_text((place / "release.pub").read_text() + (place / "other.pub").read_text())
    assert signature.accepted("r", made(place, body, key="other"), place / "both")[0] == body
    # A signer who puts a trusted key into the description has no signature of it.
    about = parsed(made(place, body))[0]
    forged = made(place, b"A role", key="other")
    end = 8 + struct.unpack_from(">I", forged, 4)[0]
    mine = json.loads(forged[8:end]) | {"signer": about["signer"]}
    head = json.dumps(mine, separators=(",", ":")).encode()
    with pytest.raises(InputError, match="is damaged: the signature"):
        signature.accepted("r", b"GSR1" + struct.pack(">I", len(head)) + head + forged[end:], trust)


def test_wrong_keys_and_files_are_reported_in_one_line(command: Command, place: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519

    role = tmp_path / "role.bin"
    role.write_bytes(bytes(100_000))
    key, out = str(place / "release"), str(tmp_path / "role.gsr")
    done = command("cluster", "sign", str(role), "--key", key, "-o", out, "--version", "7")
    assert done.returncode == 0 and done.stdout == f"{out}: role 7 for boards of type 1, 100,000 bytes\n", done.stderr
    assert parsed(Path(out).read_bytes())[4] == role.read_bytes()

    def written(name: str, text: bytes, mode: int = 0o600) -> str:
        (tmp_path / name).write_bytes(text)
        (tmp_path / name).chmod(mode)
        return str(tmp_path / name)

    curve = ec.generate_private_key(ec.SECP256R1())
    pem = curve.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    edwards = ed25519.Ed25519PrivateKey.generate()
    locked = edwards.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"x"))
    openssh = edwards.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
    assert signature.read_key(Path(written("openssh", openssh))).public_key() == edwards.public_key()
    public = (place / "release.pub").read_bytes()
    for words, said in (
        (("sign", str(role), "--key", written("open", pem, 0o644), "-o", out), "other users can read the signing key"),
        (("sign", str(role), "--key", written("ec", pem), "-o", out), "is not an Ed25519 key"),
        (("sign", str(role), "--key", written("locked", locked), "-o", out), "has a passphrase"),
        (("sign", str(role), "--key", written("text", b"seven"), "-o", out), "is not a private key"),
        (("sign", str(role), "--key", str(tmp_path / "none"), "-o", out), "no such signing key"),
        (("sign", out, "--key", key, "-o", str(tmp_path / "again.gsr")), "is signed already"),
        (("sign", str(role), "--key", key, "-o", out, "--name", "a\nb"), "printable characters"),
        (("key", "--signing", key), "exists; signing keys are not overwritten"),
        (("key", str(tmp_path / "k.json")), "name the addresses of boards"),
        (("configure", out, "--trust", written("wide", public, 0o666)), "other users can change the trusted keys"),
        (("configure", out, "--trust", written("bad", public + b"ssh-rsa AAAA\n")), "bad:2: is not a public Ed25519"),
        (("configure", str(role), "--trust", str(place / "trusted")), "is not signed"),
        (
            ("configure", written("deep", signature.MAGIC + struct.pack(">I", 60_000) + b"[" * 70_000)),
            "is damaged: the description",
        ),
    ):
        done = command("cluster", *words, timeout=300)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)


def test_boards_are_configured_with_signed_roles_of_their_type(command: Command, place: Path, tmp_path: Path) -> None:
    scratch = {"TMPDIR": str(tmp_path)}
    role = role_file()
    good, foreign, damaged = (tmp_path / f"{name}.gsr" for name in ("good", "foreign", "damaged"))
    good.write_bytes(made(place, role))
    foreign.write_bytes(made(place, role, board_type=9))
    damaged.write_bytes(made(place, role)[:-1] + b"?")
    trust = ("--trust", str(place / "trusted"))
    assert command("cluster", "sim", "up", "2", env=scratch, timeout=300).returncode == 0
    try:
        for words, said in (
            ((str(foreign), *trust), "foreign.gsr: is for boards of type 9; board 02:67:73:00:00:01 has type 1"),
            ((str(damaged), *trust), "damaged.gsr: is damaged: bytes "),
            (("tests/fixtures/shell/loopback.c", *trust), "is not signed"),
        ):
            done = command("cluster", "configure", *words, env=scratch, timeout=120)
            assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
        found = json.loads(command("cluster", "discover", "--json", env=scratch).stdout)
        assert {board["role"] for board in found} == {""} and {board["state"] for board in found} == {"free"}
        done = command("cluster", "configure", str(good), env=scratch | {"GOSSAMER_TRUST": trust[1]}, timeout=120)
        assert done.returncode == 0 and done.stdout.count("  ok  ") == 2, done.stderr
        found = json.loads(command("cluster", "discover", "--json", env=scratch).stdout)
        assert {board["role"] for board in found} == {root(role).hex()[:32]}
        # The keys of the boards that the command renews open sessions afterwards.
        keys = next(tmp_path.glob("gossamer-*/keys.json"))
        before = json.loads(keys.read_text())
        done = command("cluster", "key", "rotate", str(keys), env=scratch, timeout=120)
        assert done.returncode == 0 and done.stdout.count("  renewed\n") == 2, done.stderr
        after = json.loads(keys.read_text())
        assert before.keys() == after.keys() and not set(before.values()) & set(after.values())
        assert command("cluster", "configure", str(good), env=scratch, timeout=120).returncode == 0
    finally:
        command("cluster", "sim", "down", env=scratch)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    one = Cluster(tmp_path)
    yield one
    one.end()


def test_a_manager_with_trusted_keys_runs_no_other_role(cluster: Cluster, place: Path) -> None:
    start(cluster, 1)
    role = role_file()
    state = cluster.folder / "state.sqlite"
    store = Store(state)
    task: list[tuple[dict[int, int], list[tuple[int, bytes]]]] = [({0: 8192, 4: 4}, [(8192, struct.pack("<I", 77))])]
    ended = threading.Event()

    def work() -> None:
        manager = Manager(cluster.socket, {mac(1): KEY}, state, place / "trusted")
        stopper = threading.Thread(target=lambda: (ended.wait(), manager.stop()))
        stopper.start()
        manager.run()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        jobs = [
            store.submit("tester", data, root(role).hex(), board_type, 1, 20.0, task)
            for data, board_type in (
                (made(place, role), 1),
                (role, 1),  # not signed, although the board has this role by then
                (made(place, role, key="other"), 1),
                (made(place, role_file(1)), 1),  # names another root
                (made(place, role, board_type=2), 1),
            )
        ]
        until = time.monotonic() + 60
        while any(one["state"] in ("waiting", "running") for one in store.jobs()):
            assert time.monotonic() < until, (store.jobs(), store.log())
            time.sleep(0.05)
    finally:
        ended.set()
        thread.join(30)
    states = {one["id"]: one["state"] for one in store.jobs()}
    assert [states[job] for job in jobs] == ["done", *["cancelled"] * 4]
    assert store.results(jobs[0])[0]["result"] == struct.pack("<I", 77)
    said = [line["text"] for line in store.log() if line["level"] == "error"]
    for job, why in zip(jobs[1:], ("is not signed", "not trusted", "names another", "names another"), strict=True):
        assert any(f"job {job}" in text and why in text for text in said), said
    store.close()
