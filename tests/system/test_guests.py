# SPDX-License-Identifier: Apache-2.0
"""Guests: programs of several kinds on one cluster at once, each judged by its own verifier, also with offenders."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse.csgraph
import statistics_judge
from conftest import ROOT, Command

import gossamer as gs
import gossamer_setup
from gossamer import guests
from gossamer.engines import guest
from gossamer.guests import _host

FIXTURES = ROOT / "tests" / "fixtures" / "guests"
ALL = ROOT / "tests" / "fixtures" / "cluster" / "all.c"
FLOOD = FIXTURES / "flood.c"
GRAPH = "gen:geo:vertices=200,fanout=4,radius=0.06,seed=5"
SMALL = ("mpi4", "tiny-smi")
LARGE = ("quad4", "quad-smi")


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")


def write(folder: Path, tables: dict[str, dict[str, Any]], where: tuple[str, str] = SMALL, loss: float = 0.01) -> Path:
    """A file of guests."""
    cluster, config = where
    lines = [f'cluster = "{cluster}"', f'config = "{config}"', f"frame_loss = {loss}"]
    for name, table in tables.items():
        lines.append(f"[guests.{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    path = folder / "guests.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def vertices(folder: Path, boards: list[str]) -> dict[str, Any]:
    """Components of a graph, in a file."""
    return {"boards": boards, "run": f"run hashmin {GRAPH} --undirected -o {folder}/components.npy"}


def mpi(boards: list[str], rounds: int = 3) -> dict[str, Any]:
    return {"boards": boards, "run": f"mpi run {FIXTURES}/ranks.c -n 3 -D ROUNDS={rounds}"}


def threads(boards: list[str]) -> dict[str, Any]:
    """Every message and every barrier is checked by the threads themselves."""
    return {"boards": boards, "run": f"run {ALL} -D ROUNDS=3 -D TARGETS=5 -D STEP=7"}


STREAMS = {"streams": True, "run": f"smi run {FIXTURES}/chain.cpp"}


def lines_of(name: str, text: str) -> list[str]:
    """The lines of a guest."""
    mark = f"[{name}] "
    return [line.removeprefix(mark) for line in text.splitlines() if line.startswith(mark)]


def check_vertices(folder: Path) -> None:
    """The components are those of SciPy."""
    graph = gs.read_graph(GRAPH, undirected=True)
    count, labels = scipy.sparse.csgraph.connected_components(graph.to_scipy(), directed=False)
    found = np.load(folder / "components.npy")
    pairs = set(zip(labels.tolist(), found.tolist(), strict=True))
    assert len(pairs) == count == len(set(found.tolist()))


def check_mpi(out: str) -> None:
    assert sorted(lines_of("ranks", out)) == [f"rank {rank}: 0 wrong" for rank in range(3)]


def check_streams(out: str) -> None:
    found = [line for line in lines_of("streams", out) if line.startswith("rank")]
    assert sorted(found) == [f"rank {rank}: 0 wrong, sum {0 if rank else 46}" for rank in range(4)]


def check_threads(out: str, boards: int, each: int) -> None:
    """One line of each thread with number 5 modulo 16: what it has heard of 5 senders in 3 rounds."""
    found = [line.split("] ")[1] for line in lines_of("threads", out) if "heard" in line]
    all_threads = boards * each
    wanted = []
    for me in range(all_threads):
        if me % each % 16 == 5:
            senders = [(me - 1 - 7 * at) % all_threads for at in range(5)]
            total = sum((me + r) * (s + 1) for r in range(3) for s in senders) % 2**32
            wanted.append(f"heard 15 sum {total} wrong 0")
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize(
    "where",
    [
        SMALL,
        pytest.param(
            LARGE, marks=pytest.mark.tier("all", seconds=300, adds="guests on larger boards, which need a build")
        ),
    ],
)
def test_four_guests_of_different_kinds_at_once(command: Command, tmp_path: Path, where: tuple[str, str]) -> None:
    """On a cluster whose links lose frames; tiles for one, streaming ports of the same boards for another."""
    path = write(
        tmp_path,
        {
            "vertices": vertices(tmp_path, ["x0y0"]),
            "ranks": mpi(["x1y0"]),
            "threads": threads(["x0y1", "x1y1"]),
            "streams": STREAMS,
        },
        where,
    )
    done = command("run", path, "--stats", tmp_path / "s.json", "--report", tmp_path / "s.html")
    assert done.returncode == 0, done.stderr
    check_vertices(tmp_path)
    check_mpi(done.stdout)
    check_threads(done.stdout, 2, gs.config.load(where[1]).threads)
    check_streams(done.stdout)
    about = statistics_judge.read(tmp_path / "s.json")
    assert [one["code"] for one in about["guests"]] == [0] * 4
    page = (tmp_path / "s.html").read_text()
    assert "<h2>Guests</h2>" in page and f"<td>cycles</td><td>{about['cycles']:,}</td>" in page
    # All started in the same cycle.
    firsts = {run["first"] for one in about["guests"] for run in one["runs"]}
    assert len(firsts) == 1 and not [event for event in about["events"] if not event["what"].startswith("link_")]


@pytest.mark.parametrize(
    ("way", "named"),
    [
        (0, r"tile_dropped"),
        (1, None),
        pytest.param(
            2,
            r"trap: bad_destination",
            marks=pytest.mark.tier("all", seconds=40, adds="guests next to threads that trap"),
        ),
    ],
    ids=["floods", "stops-reading", "sends-to-every-address"],
)
def test_offender_harms_no_other_guest(command: Command, tmp_path: Path, way: int, named: str | None) -> None:
    """Its packets and those of others take the same links; its boards are between those of the vertices."""
    offender = f"run {FLOOD} -D WAY={way} --max-cycles 80000"
    path = write(
        tmp_path,
        {
            "vertices": vertices(tmp_path, ["x0y0", "x1y1"]),
            "offender": {"boards": ["x0y1", "x1y0"], "run": offender},
            "streams": STREAMS,
        },
    )
    done = command("run", path, "--stats", tmp_path / "s.json")
    assert done.returncode == 4, done.stderr
    assert done.stderr.splitlines()[-1].endswith("guest offender ended with 4")
    check_vertices(tmp_path)
    check_streams(done.stdout)
    about = statistics_judge.read(tmp_path / "s.json")
    assert [one["code"] for one in about["guests"]] == [0, 4, 0]
    if named:
        told = [line for line in done.stderr.splitlines() if named in line]
        assert told and all("guest offender" in line or line.startswith("[offender] ") for line in told)
    end = about["guests"][1]["runs"][0]["reason"]
    assert end == ("done" if way == 2 else "max-cycles")


_RAW = """
import sys
sys.path.insert(0, {python!r})
import numpy as np
from gossamer.engines import guest
from gossamer.errors import GossamerError
from gossamer.config import constants
place = guest.Place.here()
link = place.link(place.plan)
link.call("configure")
layout, endpoint = constants.layout("flit"), constants.enumeration("endpoint")
networks, kinds = constants.enumeration("vnet").values, constants.enumeration("flit_kind").values
tried = refused = 0
def send(dest, network, kind, job, payload, last=1):
    global tried, refused
    flit = layout.pack(dest=dest, vnet=network, kind=kind, job=job, last=last, payload=payload, epoch=0, wave=0)
    tried += 1
    try:
        link.exchange(flit.to_bytes(24, "little"), 0)
    except GossamerError as error:
        refused += "nothing of it is sent" in str(error)
for board in range(4):
    for what in endpoint.values.values():
        dest = constants.layout("address_tile").pack(kind=what, board=board, tile_x=0, tile_y=0, spare=0, spare_low=0)
        for network in networks.values():
            for kind in kinds.values():
                # Also its own job at tiles of others.
                for job in (0, 2, 31, *([1] if board != 2 and what == endpoint["tile"] else [])):
                    send(dest, network, kind, job, 0)
    unit = constants.layout("address_control").pack(kind=endpoint["control"], board=board)
    for operation in range(16):
        if operation != constants.enumeration("control_op")["register"]:
            send(unit, networks["control"], kinds["body"], place.job, operation)
send(unit, networks["control"], kinds["header"], place.job, 14)
send(unit, networks["control"], kinds["body"], place.job, 14, last=0)
send(unit, networks["control"], kinds["body"], 2, 14)
print(tried, refused)
# Tile 1 of its own board answers.
print(len(link.ask(bytes((constants.enumeration("debug_command")["ping"],)), 1, 1)))
# All others belong to other guests or do not exist: their threads are not inspected, and nothing is reported.
command = constants.enumeration("debug_command")["inspect"]
for tile in (2, 3, 7, 8, 1 << 31):
    tried += 1
    try:
        print(link.ask(bytes((command, 0)), 1, tile))
    except GossamerError as error:
        refused += "nothing of it is sent" in str(error)
print(tried, refused)
# Registers: those of its own job only; the boards refuse the others.
denied = 0
for block in ("stream", "collective", "link"):
    for unit in range(2):
        try:
            link.write_register(0, block, unit, 0, 1, job=place.job)
        except GossamerError:
            denied += 1
print(denied)
"""


class _WithScript(_host.Host):
    """The second guest is a script in place of a command."""

    script: Path

    def _command(self, one: guests.Guest) -> list[str]:
        return [sys.executable, str(self.script)] if one.name == "offender" else super()._command(one)


def test_host_of_a_guest_cannot_send_packets_of_others(tmp_path: Path) -> None:
    """It tries every endpoint, network and kind, jobs of others, and all operations of control units."""
    path = write(
        tmp_path,
        {
            "vertices": vertices(tmp_path, ["x0y0", "x1y1"]),
            "offender": {"boards": ["x0y1"], "run": "run none.c"},
            "streams": STREAMS,
        },
        loss=0.0,
    )
    _WithScript.script = tmp_path / "offender.py"
    _WithScript.script.write_text(_RAW.format(python=str(ROOT / "python")))
    shown: dict[tuple[str, bool], list[str]] = {}
    notes: list[str] = []
    with _WithScript(
        guests.read(path),
        show=lambda name, line, error: shown.setdefault((name, error), []).append(line.decode()),
        note=notes.append,
    ) as host:
        outcomes = host.run()
    assert [one.code for one in outcomes] == [0, 0, 0], (shown, notes)
    tried, refused, answers, asked, unanswered, denied = " ".join(shown["offender", False]).split()
    assert int(tried) > 1500 and tried == refused and (answers, denied) == ("1", "6")
    assert asked == unanswered == str(int(tried) + 5)
    assert all("guest offender" in line for line in notes) and len(notes) >= 10
    check_vertices(tmp_path)
    check_streams("\n".join(f"[streams] {line}" for line in shown["streams", False]))


def test_deadlock_of_a_guest_is_its_own(command: Command, tmp_path: Path) -> None:
    """Its threads wait for ever, while those of another guest run; inputs and exit codes are a guest's own, too."""
    waits, busy = tmp_path / "waits.c", tmp_path / "busy.c"
    waits.write_text("#include <tinsel.h>\nint main(void) { tinselWaitUntil(TINSEL_CAN_RECV); return 0; }\n")
    busy.write_text(
        "#include <gossamer/device.h>\n#include <stdio.h>\nint main(void) {\n"
        '  for (volatile int i = 0; i < 1500; ++i) {}\n  if (!gossamerThread()) printf("worked\\n");\n  return 1;\n}\n'
    )
    path = write(
        tmp_path,
        {"waits": {"boards": ["x1y0"], "run": f"run {waits}"}, "busy": {"boards": ["x0y1"], "run": f"run {busy}"}},
    )
    done = command("run", path)
    assert done.returncode == 4
    assert "[busy] [0 x0y1 0,0.0] worked" in done.stdout.splitlines()
    last = done.stderr.splitlines()[-1]
    assert last.endswith("guest waits ended with 4; guest busy ended with 1")
    assert any("[waits] gossamer: error:" in line and "wait for messages" in line for line in done.stderr.splitlines())


def test_interrupt_ends_all_guests(tmp_path: Path) -> None:
    """Also a guest whose threads never end, and one whose kernels wait for the boards in every cycle."""
    forever = '  for (;;) __asm__ volatile("");\n'
    (tmp_path / "loop.c").write_text(
        "#include <gossamer/device.h>\n#include <stdio.h>\nint main(void) {\n"
        '  if (!gossamerThread()) printf("begin\\n");\n' + forever + "}\n"
    )
    path = write(
        tmp_path,
        {
            "loop": {"boards": ["x0y0", "x1y1"], "run": f"run {tmp_path}/loop.c"},
            "streams": {"streams": True, "run": f"smi run {FIXTURES}/chain.cpp -D COUNT=100000000"},
        },
    )
    environment = {**os.environ, "GOSSAMER_RUNNING": str(tmp_path / "running")}
    child = subprocess.Popen(
        [sys.executable, ROOT / "gossamer", "run", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=environment,
    )  # fmt: skip
    assert child.stdout is not None
    assert "begin" in child.stdout.readline()
    page = subprocess.run(
        [sys.executable, ROOT / "gossamer", "top", "--once"], capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    assert page.returncode == 0 and "guests.toml" in page.stdout
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130 and said.splitlines()[-1] == "gossamer: interrupted"
    running = [Path(f"/proc/{one}/cmdline") for one in os.listdir("/proc") if one.isdecimal()]
    left = []
    for one in running:
        with contextlib.suppress(OSError):
            if str(tmp_path).encode() in one.read_bytes():
                left.append(one)
    assert not left


def bad(**changes: Any) -> Callable[[Path], Path]:
    """A file with one guest, changed."""

    def make(folder: Path) -> Path:
        table = {"boards": ["x0y0"], "run": f"run {ROOT}/programs/hello.c"} | changes
        return write(folder, {"one": {key: value for key, value in table.items() if value is not None}})

    return make


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (bad(boards=["x9y9"]), "cluster mpi4 has no board x9y9"),
        (bad(boards=["x0y0", "x0y0"]), "guests.one.boards: names board x0y0, whose tiles guest one has"),
        (bad(boards=None), "guests.one: has no place; give it boards = [...], or streams = true for an SMI program"),
        (bad(run="bench core"), "guests.one.run: is bench core; use run, mpi run or smi run"),
        (bad(run="run 'x"), "guests.one.run: is no command: No closing quotation"),
        (bad(run="run a.c --cluster quad4"), "guests.one.run: gives --cluster; all guests use the cluster of this"),
        (bad(run="run a.c -e rtl"), "guests.one.run: gives -e; all guests use the cluster of this file"),
        (bad(run="smi run a.c"), "guests.one: runs an SMI program, and has no streaming ports"),
        (bad(boards=None, streams=True), "guests.one: runs a program for tiles (run "),
        (bad(spare=1), "guests.one.spare: "),
        (lambda folder: write(folder, {}), "guests: "),
        (lambda folder: write(folder, {"o n": {"boards": ["x0y0"], "run": "run a.c"}}), "guests.toml:4: "),
        (
            lambda folder: write(folder, {f"s{n}": {"streams": True, "run": "smi run a.c"} for n in range(2)}),
            "guests.s1.streams: asks for streaming ports, which guest s0 has",
        ),
        (
            lambda folder: write(folder, {"s": {"streams": True, "run": "smi run a.c"}}, ("mpi4", "tiny-mpi")),
            "guests.s.streams: asks for streaming ports; tiny-mpi has none (stream.ports)",
        ),
        (
            lambda folder: write(folder, {f"g{n}": {"streams": True, "run": "smi run a.c"} for n in range(17)}),
            "guests: has 17 guests; boards have 16 job slots",
        ),
    ],
)
def test_invalid_file_is_reported_in_one_line(
    command: Command, tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    done = command("run", make(tmp_path))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert said in done.stderr and done.stderr.startswith("gossamer: error: ")


def test_guest_that_cannot_start_starts_no_other(command: Command, tmp_path: Path) -> None:
    """The file, the program and the options of a guest are checked before any thread runs."""
    hello = f"run {ROOT}/programs/hello.c"
    for wrong, said in (
        ("run none.c", "none.c"),
        (f"{hello} --frame-loss 0.1", "--frame-loss: is not for guests, which share their cluster; omit it"),
        (f"{hello} --threads 999", "--threads 999: "),
        (f"mpi run {FIXTURES}/ranks.c -n 999", "-n 999: a board of tiny-smi has 32 threads"),
        (
            "run hashmin gen:grid:width=9,height=9 --multicast full",
            "--multicast full: writes",
        ),
    ):
        path = write(tmp_path, {"good": {"boards": ["x0y0"], "run": hello}, "bad": {"boards": ["x0y1"], "run": wrong}})
        done = command("run", path)
        assert (done.returncode, done.stdout) == (2, ""), (wrong, done.stderr)
        lines = [line for line in done.stderr.splitlines() if "building" not in line]
        assert len(lines) == 3 and lines[0].startswith("[bad] gossamer: error: ") and said in lines[0], lines
        assert lines[1] == "guest bad cannot start, so no guest is started"
        assert lines[2].endswith("guest bad ended with 2")
    # An emulator that waits for its boards ends with its guest.
    path = write(tmp_path, {"streams": STREAMS, "bad": {"boards": ["x0y1"], "run": f"run {tmp_path}/later.c"}})
    (tmp_path / "later.c").write_text("int main(void) { return nothing; }\n")
    done = command("run", "--stats", tmp_path / "s.json", path)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith("guest bad ended with 2")
    done = command("run", "--workers", "0", path)
    assert (done.returncode, done.stderr) == (2, "gossamer: error: --workers 0: give 1 or more\n")
    done = command("run", hello.split()[1], "--engine", guest.NAME)
    assert done.returncode == 2 and "--engine guest: is for the guests of a cluster" in done.stderr
