# SPDX-License-Identifier: Apache-2.0
"""The engine ``board``: programs on boards behind Ethernet shells give the results of the simulator; bad input."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agreement
import numpy as np
import pytest
import scipy.sparse
import statistics_judge
import traces
from conftest import ROOT, Command
from shell.shell_cluster import KEY, Cluster, mac

import gossamer
from gossamer import config as configs
from gossamer import device
from gossamer.engines import board as boards
from gossamer.engines.board import BoardHardware, Boards, Place
from gossamer.engines.rtl_cluster import Plan
from gossamer.errors import InputError, RunDied
from gossamer.graph import Graph
from gossamer.hdl import sources
from gossamer.shell import _build, host, keys

TINY = configs.load("tiny")
HELLO = "programs/hello.c"
FIXTURES = ROOT / "tests" / "fixtures"
HEAD = "#include <gossamer/device.h>\n#include <stdio.h>\n#include <tinsel.h>\n"


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    try:
        yield cluster
    finally:
        cluster.end()


def key_file(cluster: Cluster, count: int, key: bytes = KEY) -> str:
    path = cluster.folder / "keys.json"
    keys.write(path, {mac(number): key for number in range(1, count + 1)})
    return str(path)


def place(cluster: Cluster, count: int = 1) -> Place:
    return Place(cluster.socket, key_file(cluster, count))


def write(folder: Path, body: str) -> Path:
    path = folder / "prog.c"
    path.write_text(HEAD + body)
    return path


@pytest.fixture
def scratch(command: Command, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The simulated cluster of two boards that the documentation starts."""
    where = {"TMPDIR": str(tmp_path)}
    assert command("cluster", "sim", "up", "2", env=where).returncode == 0
    yield where
    assert command("cluster", "sim", "down", env=where).returncode == 0


def test_programs_on_a_board_print_what_they_print_in_the_simulator(command: Command, scratch: dict[str, str]) -> None:
    done = command("run", HELLO, "--engine", "board", "--config", "tiny", "--stats", env=scratch)
    assert done.returncode == 0, done.stderr
    reference = command("run", HELLO, "--engine", "rtl", "--config", "tiny", "--stats")
    said = [sorted(line for line in one.stdout.splitlines() if line.startswith("[")) for one in (done, reference)]
    assert said[0] == said[1] and len(said[0]) == TINY.threads
    cycles = [
        int(re.search(r"cycles +([\d,]+)", one.stdout)[1].replace(",", ""))  # type: ignore[index]
        for one in (done, reference)
    ]
    # The board's clock counts, not the host's: its cycles differ by the time of its first and its last packet.
    assert 0.7 < cycles[0] / cycles[1] < 1.3
    assert "board engine, a board of tiny" in done.stdout


def test_statistics_of_boards_follow_the_schema_and_are_those_of_the_page(
    command: Command, scratch: dict[str, str], tmp_path: Path
) -> None:
    """Of a program, of vertices, and of MPI ranks; the reference validator judges the files."""
    (tmp_path / "one.c").write_text(
        "#include <mpi.h>\nint main(int argc, char** argv) { MPI_Init(&argc, &argv); MPI_Finalize(); return 0; }\n"
    )
    graph = "gen:grid:width=12,height=12"
    runs: dict[str, tuple[str | Path, ...]] = {
        "program": ("run", ROOT / HELLO, "--config", "tiny"),
        "vertices": ("run", "hashmin", graph, "--config", "tiny"),
        "vertices-on-two": ("run", "hashmin", graph, "--cluster", "pair", "--output", "x.csv"),
        "ranks": ("mpi", "run", "one.c", "-n", "4", "--config", "tiny-mpi"),
    }
    for name, words in runs.items():
        done = command(
            *words,
            "--engine",
            "board",
            "--stats",
            f"{name}.json",
            "--report",
            f"{name}.html",
            env=scratch,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        data = statistics_judge.read(tmp_path / f"{name}.json")
        assert (data["engine"], data["end"]) == ("board", "done") and len(data["by_tile"]) == data["tiles"]
        assert sum(tile["instructions"] for tile in data["by_tile"]) >= data["instructions"] > 0
        assert f"<td>cycles</td><td>{data['cycles']:,}</td>" in (tmp_path / f"{name}.html").read_text()
    assert {one["board"] for one in statistics_judge.read(tmp_path / "vertices-on-two.json")["by_tile"]} == {"a", "b"}
    agreement.check(gossamer.run("hashmin", gossamer.read_graph(graph)), tmp_path / "x.csv")


def random_matrix(seed: int) -> scipy.sparse.coo_matrix:
    """A symmetric matrix whose graph has several components."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, 300, (2, 260))
    half = scipy.sparse.coo_matrix((np.ones(260), (ends[0], ends[1])), (300, 300))
    return (half + half.T).tocoo()


def least_of_components(matrix: scipy.sparse.coo_matrix) -> np.ndarray[Any, Any]:
    """For each vertex the least one of its component, by SciPy."""
    count, reference = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    least = np.full(count, matrix.shape[0])
    np.minimum.at(least, reference, np.arange(matrix.shape[0]))
    assert count > 1
    return least[reference]


def test_vertices_on_a_board_over_a_lossy_network_have_scipys_components(twins: Cluster) -> None:
    """Frames of the host port are lost, duplicated and reordered; no message of a vertex is."""
    twins.start_switch("--loss", "0.02", "--duplicate", "0.02", "--reorder", "0.02", "--seed", "5")
    twins.start_board(1)
    matrix = random_matrix(11)
    graph = Graph.from_scipy(matrix, weighted=False)
    engine = BoardHardware(config=TINY, place=place(twins))
    found = gossamer.run("hashmin", graph, engine=engine)
    assert found.stats["engine"] == "board" and engine.done is not None and engine.done.reason == "done"
    assert (np.asarray(found.values) == least_of_components(matrix)).all()
    agreement.check(gossamer.run("hashmin", graph), found)


@pytest.mark.default_cases("software|rtl", seconds=12, adds="a board with the shell's RTL that has a software peer")
@pytest.mark.parametrize("shells", ["software", "rtl", "mixed"])
def test_vertices_on_two_boards_over_a_lossy_network_have_scipys_components(twins: Cluster, shells: str) -> None:
    """The network loses frames of the host port and of the links between the boards; each repairs its own losses."""
    twins.start_switch("--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.01", "--seed", "6")
    for number in (1, 2):
        if shells == "rtl" or (shells == "mixed" and number == 2):
            twins.start_rtl(number)
        else:
            twins.start_board(number)
    plan = Plan(configs.load_cluster("pair"))
    matrix = random_matrix(12)
    engine = BoardHardware(plan=plan, place=place(twins, 2), multicast="full", mapping="random")
    graph = Graph.from_scipy(matrix, weighted=False)
    found = gossamer.run("hashmin", graph, engine=engine)
    assert (np.asarray(found.values) == least_of_components(matrix)).all()
    agreement.check(gossamer.run("hashmin", graph), found)
    run = engine.done
    assert run is not None and run.reason == "done" and found.stats["boards"] == 2
    # Links carried packets in both directions, and repaired lost frames.
    carried = [one["rx_packets"] for one in run.links.values()]
    assert sum(count > 0 for count in carried) >= 2 and sum(one["resends"] for one in run.links.values()) > 0


def test_host_programs_and_polite_run_on_two_boards(command: Command, scratch: dict[str, str], tmp_path: Path) -> None:
    words = ("--engine", "board", "--cluster", "pair")
    ring = command("run", FIXTURES / "hostlink" / "ring", *words, "--", "70", "3", env=scratch)
    last = 2 * TINY.threads
    assert (ring.returncode, ring.stderr) == (3, ""), ring.stderr
    assert ring.stdout.startswith(f"2 boards: {70 + last} from board 1,0 ")
    matrix = random_matrix(13)
    graph = tmp_path / "graph.txt"
    graph.write_text("".join(f"{a} {b}\n" for a, b in zip(matrix.row, matrix.col, strict=True)))
    done = command("polite", "run", FIXTURES / "polite" / "hashmin", *words, "--", graph, env=scratch)
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    vertices = int(first.removesuffix(" on threads"))
    # The label of a vertex falls with its number, so the least label of a component is that of its greatest vertex.
    _, reference = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    greatest = [int(np.flatnonzero(reference == reference[vertex]).max()) for vertex in range(vertices)]
    labels = {int(vertex): int(label) for vertex, label in map(str.split, lines)}
    assert labels == {vertex: (1 << 40) - greatest[vertex] * 7919 for vertex in range(vertices)}


def role_in_systemverilog() -> str:
    """gs_role_board with gs_role_links and models of the memories, as a role file for simulated boards."""
    top = ROOT / "tests" / "rtl" / "role" / "board_top.sv"
    design = sources.blocks("role/board.f", "sim/memory/sim_memory.f", config=TINY) + (top,)
    return str(_build.rtl_role(design))


@pytest.mark.tier("all", seconds=120, adds="boards that are wholly in SystemVerilog: shell, role, links")
@pytest.mark.parametrize("shells", ["software", "rtl"])
def test_boards_in_systemverilog_have_scipys_components(twins: Cluster, shells: str) -> None:
    """The role that a bitstream would have: clocks cross between shell and board, links have no back-pressure."""
    role = role_in_systemverilog()
    twins.start_switch("--loss", "0.01", "--duplicate", "0.01", "--reorder", "0.01", "--seed", "8")
    for number in (1, 2):
        (twins.start_rtl if shells == "rtl" else twins.start_board)(number)
    matrix = random_matrix(14)
    where = Place(twins.socket, key_file(twins, 2), role=role)
    engine = BoardHardware(plan=Plan(configs.load_cluster("pair")), place=where, mapping="random")
    found = gossamer.run("hashmin", Graph.from_scipy(matrix, weighted=False), engine=engine)
    assert (np.asarray(found.values) == least_of_components(matrix)).all()
    run = engine.done
    assert run is not None and run.reason == "done" and run.cycles > 1000
    assert sum(one["rx_packets"] > 0 for one in run.links.values()) >= 2


@pytest.mark.tier("all", seconds=90, adds="SMI programs on boards, which need a role of their own")
def test_smi_programs_on_boards_give_the_elements_of_the_simulator(
    command: Command, scratch: dict[str, str], tmp_path: Path
) -> None:
    """Channels and a reduction; kernels at one board, too. The memory that kernels and boards share is removed."""
    words = ("smi", "run", "tests/fixtures/guests/chain.cpp", "--cluster", "pair", "--config", "tiny-smi", "--engine")
    files = {
        engine: [tmp_path / f"{engine}{ending}" for ending in (".json", ".html", ".pftrace")]
        for engine in ("board", "rtl")
    }
    found = [
        command(*words, engine, *(word for pair in zip(("--stats", "--report", "--trace"), its, strict=True)
                                  for word in pair), env=scratch)
        for engine, its in files.items()
    ]  # fmt: skip
    assert [done.returncode for done in found] == [0, 0], found[0].stderr
    lines = [sorted(done.stdout.splitlines()) for done in found]
    assert lines[0] == lines[1] == ["rank 0: 0 wrong, sum 21", "rank 1: 0 wrong, sum 0"]
    assert "cycles" in found[0].stderr
    stats = [statistics_judge.read(its[0]) for its in files.values()]
    counts = [[(one["port"], one["source"], one["destination"], one["sent"], one["received"])
               for one in its["channels"]] for its in stats]  # fmt: skip
    assert counts[0] == counts[1] and counts[0]
    # The ports' own counters, which the boards report in band.
    for one in stats[0]["ports"]:
        sums = [sum(count[end] for count in counts[0] if (count[0], count[far]) == (one["port"], one["rank"]))
                for end, far in ((3, 1), (4, 2))]  # fmt: skip
        assert [one["sent"], one["received"], one["dropped"]] == [*sums, 0]
    assert sum(one["sent"] for one in stats[0]["ports"]) == sum(count[3] for count in counts[0]) > 0
    assert all(one["tx_packets"] > 0 for one in stats[0]["links"] if one["link"] == "north")
    assert "Ports, as the boards count" in files["board"][1].read_text()
    traced = [{event.track for event in traces.read(its[2]).spans if "/channels/" in event.track}
              for its in files.values()]  # fmt: skip
    assert traced[0] == traced[1] and len(traced[0]) == 2 * len(counts[0])
    stuck = tmp_path / "stuck.c"
    stuck.write_text(
        "#include <smi.h>\nint main(void) {\n  int value;\n"
        "  SMI_Channel in = SMI_Open_recv_channel(1, SMI_INT, 1 - SMI_Comm_rank(SMI_COMM_WORLD), 0, SMI_COMM_WORLD);\n"
        "  SMI_Pop(&in, &value);\n  return 0;\n}\n"
    )
    done = command("smi", "run", stuck, *words[3:], "board", env=scratch)
    assert done.returncode == 4 and "deadlock" in done.stderr and f"{stuck}:5" in done.stderr
    assert not list(Path("/dev/shm").glob("gossamer-kernels-*"))


@pytest.mark.tier("all", seconds=60, adds="MPI programs on boards, which need a configuration of their own")
def test_mpi_programs_run_on_a_board(command: Command, scratch: dict[str, str]) -> None:
    words = ("mpi", "run", "examples/mpi/sort.c", "-n", "8", "--engine")
    found = [command(*words, engine, env=scratch) for engine in ("board", "rtl")]
    assert [one.returncode for one in found] == [0, 0], found[0].stderr
    assert found[0].stdout == found[1].stdout


def test_threads_on_a_board_read_input_trap_wait_and_are_stopped(twins: Cluster, tmp_path: Path) -> None:
    twins.start_switch()
    twins.start_board(1)
    echo = device.build(
        write(
            tmp_path,
            "int main(void) {\n  if (gossamerThread()) return 3;\n  for (uint32_t c = 0; (c & 0xFF) != '.';) {\n"
            "    while (!((c = tinselUartTryGet()) & 0x100));\n    while (!tinselUartTryPut((uint8_t)(c + 1)));\n  }\n"
            "  return 0;\n}",
        ),
        TINY,
    )
    with Boards(TINY, place(twins)) as machine:
        lines: list[tuple[int, str]] = []
        machine.load_image(echo)
        text = bytes(range(97, 120)) * 20 + b"."
        run = machine.run(2, inputs={0: text}, on_line=lambda thread, line, more: lines.append((thread, line)))
        assert run.reason == "done" and run.codes == {0: 0, 1: 3} and run.threads == 2
        assert lines == [(0, "".join(chr(byte + 1) for byte in text))]
        wait = "int main(void) { if (gossamerThread() > 13) tinselWaitUntil(TINSEL_CAN_RECV); return 0; }"
        machine.load_image(device.build(write(tmp_path, wait), TINY))
        run = machine.run(20)
        assert run.reason == "deadlock" and [one.thread for one in run.unfinished] == list(range(14, 20))
        assert {one.words() for one in run.unfinished} == {"waits for a message (tinselWaitUntil)"}
        assert sorted(run.codes) == list(range(14))
        run = machine.run(20, watchdog=50_000)
        assert run.reason == "stuck" and len(run.unfinished) == 6
    # A new session resets the board, which threads of the last run still occupied.
    with Boards(TINY, place(twins)) as machine:
        trap = "int main(void) { if (gossamerThread() == 5) *(volatile int*)0x3 = 1; return 0; }"
        image = device.build(write(tmp_path, trap), TINY)
        machine.load_image(image)
        run = machine.run(machine.threads)
        assert [one.thread for one in run.traps] == [5] and sorted(run.codes) == [t for t in range(32) if t != 5]
        assert "prog.c:4" in str(image.where(run.traps[0].pc))
        forever = "int main(void) { volatile int i = 0; for (;;) i++; }"
        machine.load_image(device.build(write(tmp_path, forever), TINY))
        run = machine.run(3, max_cycles=20_000)
        assert run.reason == "max-cycles" and len(run.unfinished) == 3 and run.cycles >= 20_000
        assert all(re.match("runs|waits for a (load|store)", one.words()) for one in run.unfinished)


DEADLOCK = """
static void idle(void) { tinselIdle(0); }
static void receive(uint32_t which) {
  if (which == 2) tinselWaitUntil(TINSEL_CAN_RECV);
  tinselWaitUntil(0);
}
int main(void) {
  const uint32_t which = gossamerThread() % 5;
  if (which == 0) return 0;
  if (which == 1) idle();
  receive(which);
  return 0;
}
"""


def test_deadlock_on_boards_has_the_text_of_the_simulator(
    command: Command, scratch: dict[str, str], tmp_path: Path
) -> None:
    prog = write(tmp_path, DEADLOCK)
    words = ("run", prog, "--config", "tiny", "--engine")
    done, reference = (command(*words, engine, env=scratch) for engine in ("board", "rtl"))
    assert done.returncode == reference.returncode == 4 and not done.stdout
    assert done.stderr == reference.stderr
    waits = ("wait for idleness (tinselIdle) in ", "wait for a message (tinselWaitUntil) in ", "wait for no event")
    assert all(sum(part in line for line in done.stderr.splitlines()) == 1 for part in waits), done.stderr


def test_messages_to_the_host_arrive_whole_and_before_the_end(twins: Cluster, tmp_path: Path) -> None:
    """All threads of two boards send to the host until they end at once; the run ends only when all messages have
    arrived, also those that the network has lost."""
    twins.start_switch("--loss", "0.05", "--seed", "3")
    for number in (1, 2):
        twins.start_board(number)
    plan = Plan(configs.load_cluster("pair"))
    body = (
        "int main(void) {\n  tinselSetLen(TinselMaxFlitsPerMsg - 1);\n"
        "  for (unsigned i = 0; i < 20; i++) {\n    tinselWaitUntil(TINSEL_CAN_SEND);\n"
        "    volatile uint32_t* out = tinselSendSlot();\n"
        "    out[0] = tinselId(); out[1] = i; out[2] = tinselId() ^ ~i;\n"
        "    tinselSend((int)tinselHostId(), out);\n  }\n  return 0;\n}"
    )
    with Boards(plan, place(twins, 2)) as machine:
        machine.load_image(device.build(write(tmp_path, body), TINY, boards=plan.shape))
        run = machine.run(machine.threads)
    words = [np.frombuffer(message.data, "<u4")[:3].tolist() for message in run.messages]
    # A thread's identifier has the column of its board above its number on the board.
    threads = sorted({t for t, _, _ in words})
    assert len(threads) == 64
    assert sorted(words) == [[t, i, (t ^ ~i) & 0xFFFF_FFFF] for t in threads for i in range(20)]
    # Messages of one thread arrive in order.
    assert all([i for t, i, _ in words if t == one] == list(range(20)) for one in threads)


def test_board_that_vanishes_in_a_run_ends_it_with_one_line(twins: Cluster, tmp_path: Path) -> None:
    twins.start_switch()
    twins.start_board(1)
    image = device.build(write(tmp_path, "int main(void) { volatile int i = 0; for (;;) i++; }"), TINY)
    begun = time.monotonic()
    with Boards(TINY, place(twins)) as machine, pytest.raises(RunDied) as died:
        machine.load_image(image)
        threading.Timer(0.5, lambda: twins.kill_board(1)).start()
        machine.run(4)
    assert str(died.value) == f"board {host.mac_text(mac(1))}: does not answer any more"
    assert time.monotonic() - begun < 60


def test_wrong_boards_are_named_before_anything_is_loaded(twins: Cluster, command: Command, tmp_path: Path) -> None:
    def said(where: Place, count: int = 1) -> str:
        with pytest.raises(InputError) as error:
            boards.find(where, count)
        return str(error.value)

    twins.start_switch()
    assert said(place(twins)) == f"{twins.socket}: 1 board is needed and none can be used; check cables and the port"
    twins.start_board(1)
    twins.start_board(2, "--type", "7")
    name = [host.mac_text(mac(number)) for number in range(3)]
    short = "2 boards are needed and 1 can be used"
    assert said(place(twins, 2), 2) == f"{twins.socket}: {short}: board {name[2]} is of type 7, not 1"
    assert said(Place(twins.socket)).endswith(
        f"none can be used: board {name[1]} has no key; name a file with --keys; board {name[2]} is of type 7, not 1"
    )
    wrong = key_file(twins, 1, bytes(32))
    with pytest.raises(InputError, match=f"^board {name[1]}: opening a session: the key is not the board's"):
        Boards(TINY, Place(twins.socket, wrong))
    with twins.host(1) as other:
        other.discover(0.3)
        other.open(mac(1))
        assert f"board {name[1]} has a session with {host.mac_text(other.mac)}" in said(place(twins))
    empty = {"TMPDIR": str(tmp_path / "empty")}
    (tmp_path / "empty").mkdir()
    for words, line in (
        (
            ("run", HELLO, "--engine", "board"),
            "no simulated cluster runs; start one with ./gossamer cluster sim up 1, or",
        ),
        # Before its role is built: no other test uses this configuration.
        (("run", HELLO, "--engine", "board", "--config", "de5-128"), "no simulated cluster runs; start one with"),
        (("run", HELLO, "--engine", "board", "--waves", "a.fst"), "--waves: needs a simulator; boards have none"),
        (("run", HELLO, "--engine", "board", "--one-tile"), "--one-tile: needs a simulator; boards have none"),
        (("run", HELLO, "--engine", "rtl", "--port", "eth0"), "--port: names boards on Ethernet; add --engine board"),
        (("run", "hashmin", "--keys", "k.json"), "--keys: needs the hardware; add --engine board"),
        (("run", HELLO, "--engine", "board", "--port", "no/switch"), "no/switch: no switch: No such file or directory"),
    ):
        done = command(*words, env=empty)
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(f"gossamer: error: {line}"), done.stderr
        assert "building the simulator" not in done.stderr
