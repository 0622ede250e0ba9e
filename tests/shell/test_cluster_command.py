# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: simulated boards, discovery, configuration, keys; wrong input."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Command
from shell.managed_cluster import cli
from shell.shell_cluster import KEY, Cluster, mac, start
from shell.shell_frames import Wire

from gossamer.errors import InputError
from gossamer.shell import job, keys, simulation

ROLE = "tests/fixtures/shell/loopback.c"


@pytest.fixture
def scratch(tmp_path: Path) -> dict[str, str]:
    """A place of its own for the simulation that the commands start."""
    return {"TMPDIR": str(tmp_path)}


@pytest.fixture
def boards(command: Command, scratch: dict[str, str]) -> Iterator[int]:
    done = command("cluster", "sim", "up", "3", "--loss", "1%", env=scratch, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("3 boards at "), done.stderr
    yield 3
    done = command("cluster", "sim", "down", env=scratch)
    assert (done.returncode, done.stdout) == (0, "3 boards ended\n")


def test_of_two_commands_at_once_one_starts_a_cluster(command: Command, scratch: dict[str, str]) -> None:
    """The other one would replace the description of the first's processes, and nothing would end them."""
    words = [sys.executable, str(ROOT / "gossamer"), "cluster", "sim", "up", "2"]
    both = [
        subprocess.Popen(
            words, env={**os.environ, **scratch}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    said = sorted((*one.communicate(timeout=300), one.returncode) for one in both)
    assert command("cluster", "sim", "down", env=scratch).stdout == "2 boards ended\n"
    assert [code for *_, code in said] == [2, 0] and "a simulated cluster runs already" in said[0][1]
    left = subprocess.run(["pgrep", "-f", str(scratch["TMPDIR"])], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_simulated_boards_are_discovered_and_configured(command: Command, scratch: dict[str, str], boards: int) -> None:
    done = command("cluster", "configure", ROLE, env=scratch, timeout=120)
    assert done.returncode == 0 and done.stdout.count("  ok  ") == boards, done.stderr
    found = json.loads(command("cluster", "discover", "--json", env=scratch).stdout)
    assert len(found) == boards and len({board["role"] for board in found}) == 1 and found[0]["role"]
    listed = command("cluster", "discover", env=scratch).stdout.splitlines()
    assert listed[0].startswith("ADDRESS") and found[0]["mac"] in listed[1] and found[0]["role"][:8] in listed[1]
    again = command("cluster", "sim", "up", "2", env=scratch)
    assert again.returncode == 2 and "a simulated cluster runs already" in again.stderr
    one = command("cluster", "configure", ROLE, "--boards", found[1]["mac"], env=scratch)
    assert one.returncode == 0 and one.stdout.startswith(f"{found[1]['mac']}  ok")
    for words, code, said in (
        ((ROLE, "--boards", "02:00:00:00:00:77"), 2, "has not answered"),
        ((ROLE, "--boards", "seven"), 2, "seven: not an Ethernet address"),
        ((ROLE, "--type", "9"), 2, "is for boards of type 9; board 02:67:73:00:00:01 has type 1"),
        (
            ("README.md",),
            2,
            "README.md: board 02:67:73:00:00:01: the board could not load the role or store the key; the previous one "
            "is kept",
        ),
        ((ROLE, "--group", "02:00:00:00:00:77"), 2, "is the address of one station; a group's first byte is odd"),
        ((ROLE, "--group", "all"), 2, "all: not an Ethernet address"),
        ((ROLE, "--group", "03:00:00:00:00:77", "--unicast"), 2, "--group and --unicast: give one of them"),
        (("no-such-role.so",), 2, "no-such-role.so: cannot read the role: no such file or directory"),
    ):
        done = command("cluster", "configure", *words, env=scratch)
        assert done.returncode == code and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    kept = json.loads(command("cluster", "discover", "--json", env=scratch).stdout)
    assert [board["role"] for board in kept] == [board["role"] for board in found]


@pytest.mark.parametrize("group", ["03:67:73:00:00:09", None])
def test_role_for_a_group_is_not_broadcast(tmp_path: Path, command: Command, group: str | None) -> None:
    """A station at the switch sees frames of the role's data for the group alone, or without one for all."""
    cluster = Cluster(tmp_path)
    try:
        start(cluster, 2, "--loss", "0.02")
        witness = Wire(cluster.socket, b"\x02\0\0\0\0\x55")
        keys.write(tmp_path / "keys.json", {mac(number): KEY for number in (1, 2)})
        words = [
            "--port",
            cluster.socket,
            "--keys",
            str(tmp_path / "keys.json"),
            *(["--group", group] if group else []),
        ]
        done = command("cluster", "configure", ROLE, *words, timeout=120)
        assert done.returncode == 0 and done.stdout.count("  ok  ") == 2, done.stderr
        found: dict[bytes, int] = {}
        while (data := witness.receive(0.2)) is not None:
            if data[12:14] == b"\x80\xaa":
                found[data[:6]] = found.get(data[:6], 0) + 1
        assert (
            set(found) == {bytes.fromhex(group.replace(":", "")) if group else b"\xff" * 6} and min(found.values()) > 5
        )
        witness.close()
    finally:
        cluster.end()


def test_missing_simulation_port_and_keys_are_reported_in_one_line(
    command: Command, scratch: dict[str, str], tmp_path: Path
) -> None:
    open_file = tmp_path / "open.json"
    open_file.write_text("{}")
    open_file.chmod(0o644)
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1]")
    wrong.chmod(0o600)
    for words, said in (
        (("discover",), "no simulated cluster runs; start one with"),
        (("sim", "down"), "no simulated cluster runs in this checkout"),
        (("discover", "--port", "nosuch0"), "nosuch0: no such interface"),
        (("discover", "--port", f"{tmp_path}/no-switch"), "no switch"),
        (("configure", ROLE, "--port", "lo", "--keys", str(open_file)), "other users can read the keys; chmod 600"),
        (("configure", ROLE, "--port", "lo", "--keys", str(wrong)), "is not a key file"),
        (("configure", ROLE, "--port", "lo", "--keys", str(tmp_path / "none")), "no such key file"),
        (("sim", "up", "2", "--loss", "2"), "2: must be a share from 0 to 1"),
        (("key", str(tmp_path / "keys"), "02:00"), "02:00: not an Ethernet address"),
    ):
        done = command("cluster", *words, env=scratch, timeout=300)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, (words, done.stderr)


def test_keys_are_made_once_and_rotated_on_request(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    first, second = "02:00:00:00:00:01", "02:00:00:00:00:02"
    assert command("cluster", "key", str(file), first).stdout == f"{file}: 1 new key, 1 in all\n"
    made = json.loads(file.read_text())
    assert file.stat().st_mode & 0o777 == 0o600 and len(bytes.fromhex(made[first])) == 32
    assert command("cluster", "key", str(file), first, second).stdout == f"{file}: 1 new key, 2 in all\n"
    assert json.loads(file.read_text())[first] == made[first]
    assert command("cluster", "key", str(file), first, "--rotate").stdout == f"{file}: 1 new key, 2 in all\n"
    assert json.loads(file.read_text())[first] != made[first]


def test_jobs_are_submitted_managed_and_collected(
    command: Command, scratch: dict[str, str], boards: int, tmp_path: Path
) -> None:
    state = str(tmp_path / "state.sqlite")
    (tmp_path / "input.bin").write_bytes(struct.pack("<4I", 1, 2, 3, 4))
    tasks = [
        {"registers": {"0": 8192, "4": 16}, "inputs": [{"address": 8192, "file": "input.bin"}]},
        {"registers": {"0": 8192, "4": 8}, "inputs": [{"address": 8192, "hex": "0500000006000000"}]},
    ]
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"role": str(ROOT / ROLE), "kernel": 1, "tasks": tasks}))
    done = command("cluster", "submit", str(file), "--state", state, "--owner", "me", timeout=300)
    assert done.stdout == "1\n", done.stderr
    manager = subprocess.Popen(
        [ROOT / "gossamer", "cluster", "manager", "--state", state, "--http", "0"],
        env=os.environ | scratch, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        folder = tmp_path / "results"
        done = command("cluster", "results", "1", "--wait", "--to", str(folder), "--state", state, timeout=60)
        assert done.returncode == 0, done.stderr
        assert [(folder / f"{n}.bin").read_bytes() for n in (0, 1)] == [struct.pack("<I", n) for n in (10, 11)]
        listed = command("cluster", "list", "--state", state).stdout.splitlines()
        assert len(listed) == 1 + boards and listed[0].startswith("ADDRESS")
        assert "  done   2     0       2" in command("cluster", "jobs", "--state", state).stdout
        assert "has loaded role" in command("cluster", "log", "--state", state).stdout
    finally:
        manager.send_signal(signal.SIGINT)
        _, said = manager.communicate(timeout=30)
    assert manager.returncode == 130 and "Traceback" not in said
    done = command("cluster", "list", "--state", state)
    assert done.returncode == 2 and "no manager runs; start one with" in done.stderr


def test_files_and_options_that_python_itself_rejects_are_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nesting beyond the parser's stack, nan as a number of a range, bytes that are no text, addresses of no board."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    deep.chmod(0o600)
    cluster = Cluster(tmp_path)
    at = ("--port", cluster.socket)
    state = ("--state", tmp_path / "state.sqlite")
    (tmp_path / "job.json").write_text(json.dumps({"role": str(ROOT / ROLE), "tasks": [{}]}))
    new = tmp_path / "new.json"
    try:
        start(cluster, 1)
        for words, said in (
            (("configure", ROLE, *at, "--keys", deep), "deep.json: is not a key file"),
            (("key", deep, "02:00:00:00:00:01"), "deep.json: is not a key file"),
            (("key", "rotate", deep, *at), "deep.json: is not a key file"),
            (("manager", *at, "--keys", deep, "--http", "off"), "deep.json: is not a key file"),
            (("submit", deep, *state), "deep.json: is not JSON: its values are nested too deeply"),
            (("discover", *at, "--wait", "nan"), "'--wait': nan is not a number"),
            (("configure", ROLE, *at, "--drop-after", "nan"), "'--drop-after': nan is not a number"),
            (("exec", "1", *at, "--timeout", "nan"), "'--timeout': nan is not a number"),
            (("top", "--every", "nan"), "'--every': nan is not a number"),
            (("sim", "up", "2", "--rate", "nan"), "'--rate': nan is not a number"),
            (("discover", "--port", "\udcff"), "no such interface"),
            (("load", deep, "--port", "\udcff"), "no such interface"),
            (("discover", "--port", f"{tmp_path}/\udcff"), "no switch"),
            (("submit", tmp_path / "job.json", *state, "--owner", "\udcff"), "is no name of a user"),
            (("submit", tmp_path / "job.json", *state, "--owner", "two\nlines"), "is no name of a user"),
            (("key", new, "ff:ff:ff:ff:ff:ff"), "no board has this address"),
            (("key", new, "02:00:00:00:00:01", "03:00:00:00:00:01"), "03:00:00:00:00:01: no board has this address"),
            (("key", new, "00:00:00:00:00:00"), "no board has this address"),
            (("manager", *at, "--keys", new, "--http", "[::1:8747"), "--http [::1:8747: must be off, a port, or"),
            (("manager", *at, "--keys", new, "--http", "::1:8747"), "--http ::1:8747: must be off, a port, or"),
        ):
            code, out, err = cli(*words)
            assert (code, out, err.count("\n")) == (2, "", 1) and said in err, (words, code, out, err)
        assert not new.exists()
    finally:
        cluster.end()


@pytest.mark.parametrize(
    "text", ["[]", "5", "{}", '{"socket":"a","keys":"b","boards":1,"processes":[]}', "[" * 100_000,
             '{"socket":"a","keys":"b","boards":1,"processes":[[5]]}'],
)  # fmt: skip
def test_damaged_description_of_a_simulation_is_none(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    simulation.folder().mkdir()
    (simulation.folder() / "running.json").write_text(text)
    for words in (("discover",), ("sim", "down")):
        code, _, err = cli(*words)
        assert (code, err.count("\n")) == (2, 1) and "no simulated cluster runs" in err, err


def test_page_that_cannot_be_served_is_the_only_line_of_the_manager(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        start(cluster, 1)
        keys.write(tmp_path / "keys.json", {mac(1): KEY})
        words = ("manager", "--port", cluster.socket, "--keys", tmp_path / "keys.json", "--state", tmp_path / "s")
        for more, said in (
            (("--http", "203.0.113.7:0"), "cannot serve the page there"),
            (("--http", "0", "--token-file", tmp_path), "cannot use the token: is a directory"),
        ):
            code, _, err = cli(*words, *more)
            assert (code, err.count("\n")) == (2, 1) and said in err, err
    finally:
        cluster.end()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "the job: must be an object"),
        ('{"role": "x.so"}', "the job: needs the key tasks"),
        ('{"role": "none.so", "tasks": [{}]}', "none.so: cannot read the role: no such file or directory"),
        ('{"role": "x.so", "tasks": []}', "tasks: must be a list of at least one task"),
        ('{"role": "x.so", "tasks": [{"input": 1}]}', "tasks[0]: no key input; the keys are inputs, registers"),
        ('{"role": "x.so", "tasks": [{"registers": {"3": 1}}]}', "3: an address is a multiple of 4"),
        ('{"role": "x.so", "tasks": [{"inputs": [{"address": 0}]}]}', "tasks[0].inputs[0]: needs either file or hex"),
        ('{"role": "x.so", "tasks": [{"inputs": [{"address": 0, "hex": "0"}]}]}', "must be hexadecimal digits"),
        ('{"role": "a\\u0000b", "tasks": [{}]}', "role: must be the path of a file"),
        ('{"role": "\\ud800", "tasks": [{}]}', "role: must be the path of a file"),
        ('{"role": "x.so", "tasks": [{"inputs": [{"address": 0, "file": "\\u0000"}]}]}', "must be the path of a file"),
        ('{"role": "x.so", "tasks": [{"inputs": [{"address": 0, "file": 5}]}]}', "must be the path of a file"),
        ('{"role": "x.so", "tasks": [{}], "timeout": 0}', "timeout: must be seconds above 0"),
    ],
)
def test_wrong_jobs_are_rejected_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.so").write_bytes(b"role")
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        job.read(tmp_path / "job.json")
    assert "\n" not in str(caught.value)
