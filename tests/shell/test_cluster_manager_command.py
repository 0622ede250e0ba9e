# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster`` with a manager that runs: run, configure, load, exec, results, top, leases; wrong input."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

import pytest
from conftest import ROOT, Command
from shell import shell_frames as frames
from shell import shell_scapy as scapy
from shell.managed_cluster import check_results, cli, joined, submit, wait_for_end, wait_until
from shell.managed_cluster import managed as in_thread
from shell.nonsense_board import Answers, NonsenseBoard
from shell.shell_cluster import KEY, ROLE, Cluster, mac, mac_bytes, role_file, root, start

from gossamer.shell import _build, client
from gossamer.shell.host import mac_text
from gossamer.shell.store import Store

ADDRESSES = [mac_text(mac(number)) for number in (1, 2, 3)]


def key_file(folder: Path, key: bytes = KEY, boards: int = 3) -> Path:
    file = folder / "keys.json"
    file.write_text(json.dumps({mac_text(mac(number)): key.hex() for number in range(1, boards + 1)}))
    file.chmod(0o600)
    return file


def lines_until(file: IO[str], start: str) -> str:
    """The lines of ``file`` to the first that begins with ``start``, or to its end.

    The first command that needs a group of packages prints two lines while it installs them.
    """
    read = ""
    while line := file.readline():
        read += line
        if line.startswith(start):
            break
    return read


class Run(Protocol):
    def __call__(self, *words: str | Path, code: int = 0) -> str:
        """Runs ./gossamer cluster with the manager's state; its output, or the one line of its error."""
        ...


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Cluster, str]]:
    """A manager of three boards as a process of its own, commands for it, and what it has printed."""
    folder = tmp_path_factory.mktemp("cluster")
    cluster = Cluster(folder)
    state = folder / "state.sqlite"
    manager = None
    try:
        start(cluster, 3)
        manager = subprocess.Popen(
            [ROOT / "gossamer", "cluster", "manager", "--port", cluster.socket, "--keys", key_file(folder),
             "--state", state, "--http", "0"],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert manager.stderr is not None
        said = lines_until(manager.stderr, "page: ")
        assert "page: http://127.0.0.1:" in said, said

        def run(*words: str | Path, code: int = 0) -> str:
            found, out, err = cli(*words, "--state", state)
            assert found == code, (words, out, err)
            if code:
                assert err.count("\n") == 1, err
            return err if code else out

        wait_until(lambda: sum(one["managed"] for one in json.loads(run("list", "--json"))) == 3, "the boards join")
        yield run, cluster, said
        manager.send_signal(signal.SIGINT)
        _, rest = manager.communicate(timeout=30)
        assert manager.returncode == 130 and "Traceback" not in rest, rest
    finally:
        if manager is not None and manager.poll() is None:
            manager.kill()
            manager.communicate()
        cluster.end()


def job_file(folder: Path, name: str = "job.json", kernel: int = 1, tasks: int = 3) -> Path:
    listed = [
        {"registers": {"0": 8192, "4": 8}, "inputs": [{"address": 8192, "hex": struct.pack("<2I", n, 7).hex()}]}
        for n in range(tasks)
    ]
    file = folder / name
    file.write_text(json.dumps({"role": str(ROLE), "kernel": kernel, "tasks": listed}))
    return file


def test_run_waits_for_a_job_and_writes_its_results(managed: tuple[Run, Cluster, str], tmp_path: Path) -> None:
    run, _, _ = managed
    run("run", job_file(tmp_path), "--to", tmp_path / "results")
    found = {int(file.stem): file.read_bytes() for file in (tmp_path / "results").iterdir()}
    assert found == {n: struct.pack("<I", n + 7) for n in range(3)}
    said = run("run", job_file(tmp_path, kernel=2), code=1)
    assert re.search(r"job \d+ has failed: 3 of 3 tasks; the first: board .*reported a failure", said)
    (tmp_path / "file").touch()
    assert "is a file" in run("run", job_file(tmp_path), "--to", tmp_path / "file", code=2)


def test_boards_of_the_manager_are_configured_loaded_and_executed(
    managed: tuple[Run, Cluster, str], tmp_path: Path
) -> None:
    run, _, _ = managed
    assert [line.split()[:2] for line in run("configure", ROLE).splitlines()] == [[one, "ok"] for one in ADDRESSES]
    for number, address in enumerate(ADDRESSES):
        (tmp_path / "input").write_bytes(struct.pack("<3I", 5, 6, 100 * number))
        assert (
            run("load", tmp_path / "input", "--address", "8192", "--boards", address)
            == f"{address}  12 bytes at 8192\n"
        )
    done = run("exec", "1", "--register", "0=8192", "--register", "0x4=12")
    assert done.splitlines() == [f"{one}  3 cycles  4 bytes of result" for one in ADDRESSES]
    rows = [line.split() for line in run("results").splitlines()[1:]]
    assert rows == [[one, "1", "3", struct.pack("<I", 11 + 100 * n).hex()] for n, one in enumerate(ADDRESSES)]
    run("results", "--boards", ADDRESSES[2], "--to", tmp_path / "by-board")
    (file,) = (tmp_path / "by-board").iterdir()
    assert file.name == f"{ADDRESSES[2].replace(':', '-')}.bin" and file.read_bytes() == struct.pack("<I", 211)
    assert "reported a failure (3 of 3 boards)" in run("exec", "2", code=2)
    assert "reported a failure" in run("results", code=1)
    assert "longer than 0.3 s" in run("exec", "3", "--timeout", "0.3", "--boards", ADDRESSES[0], code=2)
    assert "--register 3=1: an address is a multiple of 4" in run("exec", "1", "--register", "3=1", code=2)
    assert "must be ADDRESS=VALUE" in run("exec", "1", "--register", "four", code=2)
    assert "cannot read the input: no such file" in run("load", tmp_path / "none", code=2)
    # The session of that board has ended with its kernel; it comes back with the role.
    wait_until(lambda: run("log").count(f"board {ADDRESSES[0]} has joined") == 2, "the board joins again")
    wait_until(lambda: all(one["managed"] for one in json.loads(run("list", "--json"))), "all boards are managed")
    said = run("load", tmp_path / "input", "--address", str(1 << 40), code=2)
    assert "outside of the board's memory" in said


def test_leases_keep_other_users_from_boards(managed: tuple[Run, Cluster, str]) -> None:
    run, _, _ = managed
    made = run("lease", "2", "--for", "30min", "--user", "anna", "--boards", ",".join(ADDRESSES[:2]))
    number = re.fullmatch(rf"lease (\d+): {ADDRESSES[0]}, {ADDRESSES[1]} for 30 min\n", made)
    assert number
    assert "1 boards are free, not 2" in run("lease", "2", "--user", "bert", code=1)
    (listed,) = json.loads(run("leases", "--json"))
    assert (listed["user"], listed["boards"]) == ("anna", ADDRESSES[:2])
    # At once: requests are judged by the leases of their time.
    assert f"board {ADDRESSES[0]} is leased to anna" in run("configure", ROLE, "--user", "bert", code=2)
    assert f"{ADDRESSES[0]}  ok" in run("configure", ROLE, "--user", "anna", "--boards", ADDRESSES[0])
    wait_until(lambda: "anna" in run("list").splitlines()[1], "the list shows the lease")
    assert "30 min" in run("leases")
    assert "is anna's" in run("release", number[1], "--user", "bert", code=2)
    run("release", number[1], "--user", "anna")
    run("configure", ROLE, "--user", "bert")
    assert "no lease" in run("release", number[1], code=2)
    assert "must be a time such as" in run("lease", "1", "--for", "soon", code=2)
    assert "is in no quarantine" in run("readmit", ADDRESSES[0], code=2)
    assert f"lease {number[1]} of anna was released" in run("log")


def test_job_waits_for_boards_that_were_just_leased(managed: tuple[Run, Cluster, str], tmp_path: Path) -> None:
    """Its role is loaded, so that nothing but the lease holds its tasks up."""
    run, _, _ = managed
    run("configure", ROLE)
    lease = run("lease", "3", "--user", "anna").split()[1].rstrip(":")
    job = run("submit", job_file(tmp_path), "--owner", "bert").split()[-1]

    def done() -> int:
        (tasks,) = (one["tasks"] for one in json.loads(run("jobs", "--json")) if one["id"] == int(job))
        return int(tasks.get("done", 0))

    time.sleep(0.3)
    assert done() == 0
    run("release", lease, "--user", "anna")
    wait_until(lambda: done() == 3, "the job is done")


def test_top_prints_one_page_without_a_terminal(managed: tuple[Run, Cluster, str]) -> None:
    run, _, _ = managed
    lines = run("top").splitlines()
    assert lines[0].startswith("3 boards at ") and [line[:17] for line in lines[3:6]] == ADDRESSES
    assert all(len(line) <= 80 for line in lines)


def test_top_refreshes_in_a_terminal_until_q(managed: tuple[Run, Cluster, str]) -> None:
    _, cluster, _ = managed
    host_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [ROOT / "gossamer", "cluster", "top", "--state", cluster.folder / "state.sqlite", "--every", "0.2"],
        stdin=terminal, stdout=terminal, stderr=terminal, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(terminal)
    shown, end = b"", time.monotonic() + 30
    while shown.count(b"\x1b[H") < 3 and time.monotonic() < end:
        if select.select([host_end], [], [], 0.2)[0]:
            shown += os.read(host_end, 1 << 16)
    assert shown.count(b"\x1b[H") >= 3 and ADDRESSES[0].encode() in shown and b"\x1b[?1049h" in shown
    os.write(host_end, b"q")
    with contextlib.suppress(OSError):
        while select.select([host_end], [], [], 10)[0] and (more := os.read(host_end, 1 << 16)):
            shown += more
    assert process.wait(10) == 0 and shown.endswith(b"\x1b[?25h\x1b[?1049l")
    os.close(host_end)


def test_second_manager_ends_with_one_line(managed: tuple[Run, Cluster, str], tmp_path: Path) -> None:
    run, cluster, _ = managed
    words = ("manager", "--port", cluster.socket, "--keys", key_file(tmp_path), "--http", "off")
    assert "another manager, process " in run(*words, code=2)
    code, _, err = cli(*words, "--state", tmp_path / "other.sqlite")
    assert (code, err.count("\n")) == (2, 1) and "has a session with another manager" in err, err
    # Nor does a command disturb the manager's boards.
    code, _, err = cli("configure", ROLE, *words[1:5])
    assert (code, err.count("\n")) == (2, 1) and "another host has a session with it" in err, err


def test_wrong_options_of_the_manager_are_refused_in_one_line(
    managed: tuple[Run, Cluster, str], tmp_path: Path
) -> None:
    run, cluster, said = managed
    base = ("manager", "--port", cluster.socket, "--keys", key_file(tmp_path))
    assert "must be off, a port, or an address" in run(*base, "--http", "eighty", code=2)
    assert "must be BOARD=FOLDER" in run(*base, "--hwmon", "hwmon0", code=2)
    assert "has no temp, power or fan" in run(*base, "--hwmon", f"{ADDRESSES[0]}={tmp_path}", code=2)
    assert oct((cluster.folder / "state.sqlite.token").stat().st_mode & 0o777) == "0o600"
    assert str(cluster.folder / "state.sqlite.token") in said


def damaged_state(folder: Path) -> Path:
    """A state whose pages after the first are overwritten."""
    state = folder / "damaged.sqlite"
    store = Store(state)
    for number in range(30):
        store.note("info", f"line {number} " + "x" * 4000)
    store.close()
    with state.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (state.stat().st_size - 4096))
    return state


def test_damaged_or_foreign_state_is_refused_in_one_line(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        start(cluster, 1)
        damaged, other, newer = damaged_state(tmp_path), tmp_path / "text.sqlite", tmp_path / "newer.sqlite"
        other.write_text("no database " * 100)
        store = Store(newer)
        store._db.execute("PRAGMA user_version = 99")
        store.close()
        options = ("--port", cluster.socket, "--keys", key_file(tmp_path), "--http", "off")
        for state, said in (
            (damaged, "is damaged"),
            (other, "not a database"),
            (newer, "newer version of the manager"),
        ):
            code, _, err = cli("manager", *options, "--state", state)
            assert (code, err.count("\n")) == (2, 1) and said in err, err
        code, _, err = cli("jobs", "--state", damaged)
        assert (code, err.count("\n")) == (2, 1) and "damaged" in err, err
        code, _, err = cli("jobs", "--state", tmp_path / "no" / "such.sqlite")
        assert (code, err.count("\n")) == (2, 1), err
    finally:
        cluster.end()


def test_wrong_keys_types_and_sizes_are_refused_and_the_old_role_is_kept(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        cluster.start_switch()
        cluster.start_board(1)
        cluster.start_board(2, "--image-max", "65536", "--type", "2")
        right = ("--port", cluster.socket, "--keys", key_file(tmp_path))
        one = ("--boards", ADDRESSES[0])
        assert cli("configure", ROLE, *right, *one)[0] == 0
        role = cli("discover", "--port", cluster.socket)[1].splitlines()[1].split()[2]
        folder = tmp_path / "wrong"
        folder.mkdir()
        wrong = ("--port", cluster.socket, "--keys", key_file(folder, bytes(32)))
        large, cut, damaged = tmp_path / "large.so", tmp_path / "cut.so", tmp_path / "damaged.so"
        large.write_bytes(bytes(100_000))
        built = _build.role(ROLE).read_bytes()
        cut.write_bytes(built[:-9000])
        damaged.write_bytes(b"\x7fELD" + built[4:])
        for words, said in (
            ((ROLE, *wrong, *one), f"board {ADDRESSES[0]}: no session: the key is not the board's"),
            ((ROLE, *right), f"is for boards of type 1; board {ADDRESSES[1]} has type 2"),
            ((large, *right, "--boards", ADDRESSES[1], "--type", "2"), "100,000 bytes; board"),
            ((cut, *right, *one), "cut.so: is cut off"),
            (
                (damaged, *right, *one),
                f"board {ADDRESSES[0]}: the board could not load the role or store the key; the previous one is kept",
            ),
        ):
            code, _, err = cli("configure", *words)
            assert (code, err.count("\n")) == (2, 1) and said in err, err
        # No session and no half of a role is left.
        listed = [line.split() for line in cli("discover", "--port", cluster.socket)[1].splitlines()]
        assert [line[:2] + line[2:3] for line in listed[1:]] == [
            [ADDRESSES[0], "free", role], [ADDRESSES[1], "free", "-"],
        ]  # fmt: skip
    finally:
        cluster.end()


class Stranger:
    """A process that answers each broadcast with a frame; it is made by the tests' own code."""

    def __init__(self, cluster: Cluster, number: int, answer: bytes) -> None:
        program = (
            "import sys; sys.path[:0] = sys.argv[1:3]\n"
            "from shell import shell_frames as frames\n"
            "wire = frames.Wire(sys.argv[3], bytes.fromhex(sys.argv[4]))\n"
            "print('ready', flush=True)\n"
            "while True:\n"
            "    if wire.receive(60) is None: break\n"
            "    wire.send(bytes.fromhex(sys.argv[5]))\n"
        )
        words = [ROOT / "tests", ROOT / "python", cluster.socket, mac_bytes(number).hex(), answer.hex()]
        self.process = subprocess.Popen([sys.executable, "-c", program, *map(str, words)], stdout=subprocess.PIPE)
        assert self.process.stdout is not None and self.process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize(
    ("kind", "said"),
    [("version", "speaks version 3 of the protocol, this host version 2"), ("nonsense", "frames that are damaged")],
)
def test_boards_that_cannot_be_understood_are_named(kind: str, said: str, tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    stranger = None
    try:
        cluster.start_switch()
        version = 3 if kind == "version" else 2
        frame = frames.Frame(b"\xff" * 6, mac_bytes(2), frames.ANNOUNCE, bytes(80), version=version)
        answer = frame.bytes(damage=0 if kind == "version" else 0x5A5A)
        stranger = Stranger(cluster, 2, answer)
        right = ("--port", cluster.socket, "--keys", key_file(tmp_path))
        for words in (("discover", "--port", cluster.socket), ("configure", ROLE, *right)):
            code, _, err = cli(*words)
            assert (code, err.count("\n")) == (2, 1), err
            assert f"board {ADDRESSES[1]}" in err and said in err
        # Beside a board that is well, it is a note, and nothing is held up; asked for by name, it is an error.
        cluster.start_board(1)
        code, out, err = cli("configure", ROLE, *right)
        assert code == 0 and out.startswith(f"{ADDRESSES[0]}  ok") and said in err, (out, err)
        code, _, err = cli("configure", ROLE, *right, "--boards", ADDRESSES[1])
        assert (code, err.count("\n")) == (2, 1) and said in err
    finally:
        if stranger is not None:
            stranger.end()
        cluster.end()


def test_configure_shows_the_progress_of_each_board_in_a_terminal(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        start(cluster, 2, "--rate", "3e6")
        role = tmp_path / "role.so"
        role.write_bytes(role_file(6_000_000))
        host_end, terminal = pty.openpty()
        process = subprocess.Popen(
            [ROOT / "gossamer", "cluster", "configure", role, "--port", cluster.socket, "--keys", key_file(tmp_path),
             "--wait", "6", "--drop-after", "20"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal,
            env=os.environ | {"GOSSAMER_PROGRESS": "on"},
        )  # fmt: skip
        os.close(terminal)
        shown, shares, differ = b"", [], False
        second = cluster.processes["board 2"]
        with contextlib.suppress(OSError):
            while more := os.read(host_end, 1 << 16):
                shown += more
                found = re.findall(r"configuring 2 boards: \d+% \((.*?)\), \d+ s", shown.decode())
                shares = [{name: int(share) for name, share in re.findall(r"(00:01:0\d) (\d+)%", one)} for one in found]
                differ = any(len(set(one.values())) == 2 for one in shares)
                # The second board is stopped until the line shows a greater share for the first one.
                if any(max(one.values()) > 0 for one in shares):
                    second.send_signal(signal.SIGCONT if differ else signal.SIGSTOP)
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 0 and out.decode().count("  ok  ") == 2, (out, shown)
        assert shares and all(one.keys() == {"00:01:01", "00:01:02"} for one in shares), shown
        assert differ and shown.endswith(b"\r\x1b[K"), shown
        os.close(host_end)
    finally:
        cluster.end()


def test_first_steps_of_the_guide_run_as_printed(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a state and a simulation of their own; what outlives its command is a process of its own."""
    place = {"TMPDIR": str(tmp_path)}
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(client, "default_state", lambda: tmp_path / "state.sqlite")
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n((?:\./gossamer cluster .*\n)+)```$", page, re.MULTILINE)
    first, manager, jobs = ([line.split()[2:] for line in block.splitlines()] for block in blocks[:3])
    assert [words[0] for words in first] == ["sim", "discover", "configure", "load", "exec", "results"]
    process = None
    try:
        done = command("cluster", *first[0], env=place)
        assert done.returncode == 0, done.stderr
        for words in first[1:]:
            code, out, err = cli(*words)
            assert code == 0, (words, err)
        text = (ROOT / "examples/cluster/job.json").read_bytes()[:8]
        total = struct.pack("<I", sum(struct.unpack("<2I", text)) % 2**32).hex()
        assert [line.split()[1:] for line in out.splitlines()[1:]] == [["0", "2", total]] * 4
        assert manager == [["manager"]]
        process = subprocess.Popen(
            [ROOT / "gossamer", "cluster", "manager", "--state", tmp_path / "state.sqlite", "--http", "0"],
            env=os.environ | place, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        lines_until(process.stderr, "managing")
        wait_until(lambda: cli("list")[0] == 0, "the manager runs")
        for words in jobs[:3]:
            where = [str(tmp_path / "results") if word == "build/results" else word for word in words]
            code, out, err = cli(*where)
            assert code == 0, (words, err)
        assert [(tmp_path / "results" / f"{n}.bin").read_bytes()[0] for n in range(3)] == [3, 7, 11]
        assert jobs[3] == ["sim", "down"]
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        assert command("cluster", "sim", "down", env=place).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="drops a capability of root")
def test_interface_without_permission_is_refused_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", ROOT / "gossamer", "cluster", "discover",
         "--port", "lo"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "lo: " in done.stderr and "CAP_NET_RAW" in done.stderr


def test_systemd_accepts_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_ETHERTYPES", "88B6,80CB,A0F1,80EF,A0F3,80AA,A0F5,A0F6,88B5")
    code, out, said = cli("unit", "--port", "eth0", "--keys", tmp_path / "my keys.json", "--state", tmp_path / "s")
    assert said == f"note: {tmp_path}/my keys.json: no such file; the manager does not start without it\n"
    assert code == 0 and f'"{tmp_path}/my keys.json"' in out
    assert "Environment=GOSSAMER_ETHERTYPES=88B6,80CB,A0F1,80EF,A0F3,80AA,A0F5,A0F6,88B5\n" in out
    file = tmp_path / "gossamer-cluster.service"
    file.write_text(out)
    lines = dict(line.split("=", 1) for line in out.splitlines() if "=" in line and line[0] != "#")
    assert lines["Restart"] == "always" and lines["AmbientCapabilities"] == "CAP_NET_RAW"
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed")
    checked = subprocess.run(
        [analyze, "verify", "--man=no", file], capture_output=True, text=True, timeout=60, check=False
    )
    about = [line for line in checked.stderr.splitlines() if "gossamer-cluster" in line]
    assert about == [], checked.stderr
    # The linter finds faults in such a file.
    file.write_text(out.replace("Type=exec", "Type=nonsense"))
    wrong = subprocess.run(
        [analyze, "verify", "--man=no", file], capture_output=True, text=True, timeout=60, check=False
    )
    assert "nonsense" in wrong.stderr


LARGE = {"memory_bytes": (1 << 64) - 1}
NONSENSE: dict[str, tuple[Answers, str, int, str]] = {
    "none": (Answers(), "exec", 0, ""),
    "cycles": (Answers(run=((1 << 64) - 1, 0, 4)), "exec", 2, "run: the board has reported values that no board has"),
    "bytes": (Answers(run=(1, 0, 1 << 63)), "exec", 2, "run: the board has reported values that no board has"),
    "memory": (
        Answers(run=(1, 0, (1 << 64) - 1), announce=LARGE), "exec", 2,
        "result: the board has reported values that no board has",
    ),
    "result": (Answers(payload={scapy.RESULT_DATA: b"xx"}), "exec", 2, "result: bad_length"),
    "end": (Answers(status={scapy.FINISHED: 200}), "exec", 2, "no board has; update or check its shell (status 200)"),
    "image": (Answers(status={scapy.BEGUN: 200}), "configure", 2, "update or check its shell (status 200)"),
    "loaded": (Answers(status={scapy.LOADED: 200}), "configure", 2, "update or check its shell (status 200)"),
    "announced": (
        Answers(announce={"state": 250, "mtu": 0, "credits": 0, "sink_rate": 0, "streams": 65535} | LARGE),
        "configure", 0, "",
    ),
    "short": (Answers(payload={scapy.ANNOUNCE: b"xx"}), "configure", 2, "answers with frames that are damaged"),
}  # fmt: skip


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_of_a_board_with_the_right_key_is_reported_in_one_line(case: str, tmp_path: Path) -> None:
    answers, what, code, said = NONSENSE[case]
    cluster = Cluster(tmp_path)
    cluster.start_switch()
    board = NonsenseBoard(cluster, 1, answers)
    try:
        words = ("1", "--state", tmp_path / "state.sqlite") if what == "exec" else (ROLE,)
        found, out, err = cli(what, *words, "--port", cluster.socket, "--keys", key_file(tmp_path))
        assert (found, err.count("\n")) == (code, bool(code)), (out, err)
        assert said in err, err
    finally:
        board.end()
        cluster.end()


@pytest.mark.parametrize("run", [((1 << 64) - 1, 0, 4), (1, 0, 1 << 63)])
def test_nonsense_of_a_board_does_not_end_the_manager(run: tuple[int, int, int], tmp_path: Path) -> None:
    """The task of the board that answers nonsense is done by another one."""
    cluster = Cluster(tmp_path)
    cluster.start_switch()
    board = NonsenseBoard(cluster, 1, Answers(run=run, announce={"role": root(role_file())[:16]}))
    try:
        with in_thread(cluster, 2) as manager:
            joined(manager, 1)
            store = Store(cluster.folder / "state.sqlite")
            job = submit(store, 3)
            wait_until(lambda: any("no board has" in one["text"] for one in store.log()), "the nonsense is noted")
            cluster.start_board(2)
            assert wait_for_end(store, job) == "done"
            check_results(store, job, 3)
            store.close()
    finally:
        board.end()
        cluster.end()
