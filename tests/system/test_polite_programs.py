# SPDX-License-Identifier: Apache-2.0
"""Programs written for POLite of Tinsel 0.8.3 on cpu and rtl, each compared with a plain serial program."""

from __future__ import annotations

import heapq
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from conftest import ROOT, Command, Size
from scipy.sparse import csgraph

import gossamer_setup
from gossamer import config as configs
from gossamer.cli import _host_program
from gossamer.cli._program_arguments import Request
from gossamer.engines import _rtl_host
from gossamer.errors import RunDied

FIXTURES = ROOT / "tests" / "fixtures" / "polite"
ENGINES = ("cpu", "rtl")
TINY = configs.load("tiny")
LINE = re.compile(r"0:0:(\d+):(\d+): (.*)")


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(TINY)


def edges(seed: int, nodes: int, count: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    found = random.integers(nodes, size=(count, 2))
    found[::9, 0] = found[0, 0]  # a hub
    found[-1] = nodes - 1  # so that there are as many
    return found


def written(folder: Path, pairs: np.ndarray) -> Path:
    path = folder / "net.txt"
    path.write_text("".join(f"{a} {b}\n" for a, b in pairs))
    return path


def polite(command: Command, folder: Path, name: str | Path, engine: str, *words: object, code: int = 0) -> list[str]:
    done = command("polite", "run", FIXTURES / name, "--engine", engine, "--", *map(str, words), cwd=folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    return (done.stderr if code else done.stdout).splitlines()


def edit(file: Path, old: str, new: str) -> None:
    """Replaces the first occurrence of a text in a source."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize("engine", ENGINES)
def test_pagerank_and_its_counters_match_a_serial_program(
    engine: str, command: Command, tmp_path: Path, size: Size, seed: int
) -> None:
    nodes = 50
    pairs = edges(seed, nodes, size.pick(200, 300, 2000))
    lines = polite(command, tmp_path, "pagerank", engine, written(tmp_path, pairs).name)
    out = np.bincount(pairs[:, 0], minlength=nodes)
    assert lines[0] == f"Max fan-out = {out.max()}"
    score = np.full(nodes, 1 / nodes)
    for _ in range(12):
        given = np.bincount(pairs[:, 1], score[pairs[:, 0]] / out[pairs[:, 0]], nodes)
        score = 0.15 / nodes + 0.85 * given
    assert [int(line.split()[0]) for line in lines[1:]] == list(range(nodes))
    assert np.allclose([float(line.split()[1]) for line in lines[1:]], score, rtol=1e-5)

    # Counters: sends and deliveries match a serial count, and each thread, core and cache has a line.
    stats = [LINE.fullmatch(line) for line in (tmp_path / "stats.txt").read_text().splitlines()]
    texts = [found[3] for found in stats if found]
    assert Counter(text[0] for text in texts) == {"H": TINY.caches, "C": TINY.cores, "S": TINY.threads}
    words = [dict(part.split(":") for part in text.split(",")) for text in texts if text[0] == "S"]
    totals = {key: sum(int(one[key], 16) for one in words) for key in ("S", "R", "HM")}
    assert totals == {"S": 12 * np.count_nonzero(out), "R": 12 * len(pairs), "HM": nodes}
    assert {int(one["T"], 16) for one in words} == {12}


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_asynchronous_sssp_matches_dijkstra(engine: str, command: Command, tmp_path: Path, seed: int) -> None:
    nodes = 60
    lines = polite(command, tmp_path, "sssp", engine, written(tmp_path, edges(seed, nodes, 300)), 5, seed % 1000)
    ways: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for line in lines:
        if line.startswith("edge"):
            a, b, weight = map(int, line.split()[1:])
            assert 1 <= weight <= 100
            ways[a].append((b, weight))
    want = [0x7FFFFFFF] * nodes
    want[5] = 0
    queue = [(0, 5)]
    while queue:
        far, node = heapq.heappop(queue)
        for other, weight in ways[node] if far == want[node] else ():
            if far + weight < want[other]:
                want[other] = far + weight
                heapq.heappush(queue, (far + weight, other))
    got = dict(map(int, line.split()[1:]) for line in lines if line.startswith("dist"))
    assert got == dict(enumerate(want))
    assert (tmp_path / "sssp-stats.txt").read_text().count("H:") == TINY.caches


@pytest.mark.default_cases("cpu", seconds=5, adds="the same on simulated boards, where sssp runs by default")
@pytest.mark.parametrize("engine", ENGINES)
def test_asynchronous_heat_matches_a_serial_program(engine: str, command: Command, tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    width, height = (int(x) for x in random.integers(2, 9, 2))
    lines = polite(command, tmp_path, "heat", engine, width, height)
    cells = np.zeros((height, width))
    cells[:, 0], cells[:, -1] = 255, 40
    fixed = cells.copy()
    count = np.full((height + 2, width + 2), 0)
    count[1:-1, 1:-1] = 1
    near = count[:-2, 1:-1] + count[2:, 1:-1] + count[1:-1, :-2] + count[1:-1, 2:]
    for _ in range(25):
        padded = np.pad(cells, 1)
        cells = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / near
        cells[:, 0], cells[:, -1] = fixed[:, 0], fixed[:, -1]
    got = np.full(width * height, np.nan)
    for line in lines:
        number, time, value = line.split()
        assert time == "25" and np.isnan(got[int(number)])
        got[int(number)] = float(value)
    assert np.allclose(got.reshape(height, width), cells, rtol=1e-4)


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_hashmin_with_64_bit_labels_matches_union_find(
    engine: str, command: Command, tmp_path: Path, seed: int
) -> None:
    for pairs in (np.array([[0, 1], [1, 2], [3, 4], [5, 5]]), edges(seed, 70, 55)):
        nodes = int(pairs.max()) + 1
        words = [] if nodes == 6 else [written(tmp_path, pairs).name]
        lines = polite(command, tmp_path, "hashmin", engine, *words)
        root = list(range(nodes))

        def find(node: int, root: list[int] = root) -> int:
            while root[node] != node:
                node = root[node]
            return node

        for a, b in pairs.tolist():
            root[min(find(a), find(b))] = max(find(a), find(b))
        assert lines[0] == f"{nodes} on threads"
        got = dict(map(int, line.split()) for line in lines[1:])
        assert got == {node: 2**40 - 7919 * find(node) for node in range(nodes)}
    assert not (tmp_path / "never-made.txt").exists()  # without POLITE_DUMP_STATS there are no counters


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_three_pins_edge_labels_and_early_host_messages_arrive(
    engine: str, command: Command, tmp_path: Path, seed: int
) -> None:
    n = int(np.random.default_rng(seed).integers(7, 25))
    lines = polite(command, tmp_path, "pins", engine, n)
    heard = np.zeros(n, int)
    for i in range(n):
        for j in range(2, n, 3):
            heard[(i + j) % n] += 2 * 1000 * ((i + j) % 256)
        if i % 3 == 0:
            heard[(i - 1) % n] += 2 * 7
    want = [f"token {i} {turn}" for i in range(n) for turn in (0, 1)]
    want += [f"end {i} {heard[i]}" for i in range(0, n, 2)]
    assert sorted(lines) == sorted(want)


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_host_polls_and_devices_query_their_location(engine: str, command: Command, tmp_path: Path, seed: int) -> None:
    n, steps = (int(x) for x in np.random.default_rng(seed).integers((12, 2), (30, 6)))  # enough for a report
    lines = polite(command, tmp_path, "paced", engine, n, steps)
    want = []
    for i in range(n):
        count = (steps + 1) * sum((i - (1 << k)) % n + 1 for k in range(20) if 1 << k < n)
        want.append(f"end {i} {count} here")
    assert sorted(lines[:-1]) == sorted(want)
    assert lines[-1].startswith("some reports")
    said = (tmp_path / "said.txt").read_text().splitlines()
    assert [line.partition(": ")[2] for line in said] == [f"step {time:08x} of 0" for time in range(steps + 1)]
    assert len({line.partition(": ")[0] for line in said}) == 1


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_messages_of_maximum_size_match_dijkstra(engine: str, command: Command, tmp_path: Path, seed: int) -> None:
    """56 bytes and a key are four flits, the maximum of a message."""
    nodes = 40
    pairs = edges(seed, nodes, 130)
    lines = polite(command, tmp_path, "landmarks", engine, written(tmp_path, pairs).name)
    hops = csgraph.dijkstra(
        scipy.sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(nodes, nodes)).tocsr(),
        indices=range(14),
        unweighted=True,
    )
    want = np.where(np.isinf(hops), 0x7FFF_FFFF, hops).astype(int).T
    got = np.array([[int(word) for word in line.split()] for line in lines])
    assert (got[np.argsort(got[:, 0])] == np.column_stack([np.arange(nodes), want])).all()


@pytest.mark.default_cases("rtl", seconds=4, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_empty_messages_and_edges_are_supported(engine: str, command: Command, tmp_path: Path) -> None:
    assert polite(command, tmp_path, "pulses", engine) == [f"{sum(i % 5 for i in range(40))} pulses"]


@pytest.mark.tier("all", seconds=6, adds="counters of a host whose queue overflows")
def test_counters_follow_more_messages_than_the_host_queue_holds(command: Command, tmp_path: Path) -> None:
    """On cpu the host's queue holds 2^20 messages; a host that saves counters receives them after more messages."""
    folder = tmp_path / "program"
    shutil.copytree(FIXTURES / "pulses", folder)
    edit(folder / "Run.cpp", "2 * (i % 5)", "2 * 27000")
    edit(folder / "Run.cpp", "hostLink.go();", 'hostLink.go();\n  politeSaveStats(&hostLink, "counters.txt");')
    for file in ("Run.cpp", "Pulse.cpp"):
        edit(folder / file, '#include "Pulse.h"', '#define POLITE_DUMP_STATS\n#include "Pulse.h"')
    lines = polite(command, tmp_path, folder, "cpu")
    assert 40 * 27000 > 1 << 20 and lines == [f"{40 * 27000} pulses"]
    assert (tmp_path / "counters.txt").read_text().count("H:") == TINY.caches


@pytest.mark.parametrize("where", [("cpu",), ("rtl", "heap"), ("rtl", "heap", "one")])
def test_host_sends_to_devices_and_writes_its_own_tables(
    where: tuple[str, ...], command: Command, tmp_path: Path, seed: int
) -> None:
    """Messages of the host by destKey; edges by board, keys at several threads; memory that the host writes."""
    nodes, letters = 40, 4
    pairs = edges(seed, nodes, 120)
    boards = 2 if where[1:] else 1
    cluster = ("--cluster", "pair") if where[1:] else ()
    words = (
        "polite",
        "run",
        FIXTURES / "mail",
        "--engine",
        where[0],
        *cluster,
        "--",
        written(tmp_path, pairs),
        letters,
    )
    done = command(*map(str, words), *where[1:], cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    said: dict[str, list[list[int]]] = {}
    for line in done.stdout.splitlines():
        if line[-1].isdigit():
            kind, *numbers = line.replace(" of", "").split()
            said.setdefault(kind, []).append([int(one) for one in numbers])
    assert said["boards"] == [[boards, 1]]

    # Sums: letters, and those forwarded by neighbours.
    own = letters * 10 * np.arange(nodes) + letters * (letters - 1) // 2
    sums = own + np.bincount(pairs[:, 1], own[pairs[:, 0]], nodes).astype(int)
    ends = {one[0]: one[1:] for one in said["end"]}
    assert {i: ends[i][0] for i in range(nodes)} == dict(enumerate(sums + 1_000_000 * letters))

    # A device's address is its number on its thread times the number of threads, plus the thread.
    assert len(said["device"]) == nodes and len({address for _, address in said["device"]}) == nodes
    thread = {i: address % (32 * boards) for i, address in said["device"]}
    board = {i: its // 32 for i, its in thread.items()}
    assert len(set(board.values())) == (2 if where == ("rtl", "heap") else 1)
    assert {i: ends[i][1] for i in range(nodes)} == {i: 7 * thread[i] + 1 if where[1:] else 0 for i in range(nodes)}
    size = 5 * 4 * nodes
    assert said["states"] == [[size if where[0] == "rtl" else 0, size]]

    # Edges by their target board, and for each mailbox a key that is unique at its threads.
    led: dict[tuple[int, int], list[int]] = {}
    for i, local, index, dest, address in said["dest"]:
        assert local == (board[i] == board[dest]) and [i, dest] in pairs.tolist()
        assert address % (32 * boards) == thread[dest] and index < np.count_nonzero(pairs[:, 0] == i)
        led.setdefault((i, local), []).append(thread[dest])
    assert Counter(map(tuple, pairs.tolist())) == Counter((i, dest) for i, _, _, dest, _ in said["dest"])
    assert all(threads == sorted(threads) for threads in led.values())
    keys = Counter[tuple[int, int]]()
    reached: dict[tuple[int, int], set[int]] = {}
    for i, local, mailbox, high, low, key in said["entry"]:
        threads = {16 * mailbox + bit for bit in range(64) if (high << 32 | low) >> bit & 1}
        assert not reached.setdefault((i, local), set()) & threads
        reached[i, local] |= threads
        keys.update((its, key) for its in threads)
    assert reached == {which: set(threads) for which, threads in led.items()}
    assert max(keys.values()) == 1 and max(key for _, key in keys) < 3 * max(Counter(its for its, _ in keys).values())


@pytest.mark.default_cases("rtl", seconds=16, adds="the same on the cpu engine")
@pytest.mark.parametrize("engine", ENGINES)
def test_host_messages_without_a_receiver_are_rejected(engine: str, command: Command, tmp_path: Path) -> None:
    """To missing devices, and from a host whose calls the build does not find."""
    path = written(tmp_path, edges(1, 9, 20))
    key = "destKey = getLocalDeviceId(graph.toDeviceAddr[i])"
    post = "struct Post : HostLink { void post(uint32_t to, uint32_t n, void* msg) { send(to, n, msg); } } hostLink;"
    deaf = {"HostLink hostLink;": post, "hostLink.send(": "hostLink.post("}
    for name, changes, words, says in (
        ("far", {key: "destKey = strtoul(argv[3], 0, 0)"}, ["77"], "there is no device 77 on that thread"),
        ("far", {}, ["0x80000000"], "there is no device 2147483648 on that thread"),
        ("deaf", deaf, [], "the devices are compiled for a host that sends them nothing"),
    ):
        folder = tmp_path / name
        if changes:
            shutil.copytree(FIXTURES / "mail", folder)
        for old, new in changes.items():
            edit(folder / "Run.cpp", old, new)
        errors = polite(command, tmp_path, folder, engine, path, 2, *words, code=2)
        assert errors[-1].startswith("gossamer: error: ") and f"HostLink::send: {says}" in errors[-1], errors


# ---- Placement, limits and errors --------------------------------------------------------


def test_placer_and_boards_are_selected_by_the_environment(command: Command, tmp_path: Path, seed: int) -> None:
    path = written(tmp_path, edges(seed, 40, 100))
    words = ("polite", "run", FIXTURES / "hashmin", "--engine", "rtl", "--cluster", "pair")
    for placer, boards in (("metis", {}), ("bfs", {"POLITE_BOARDS_X": "1", "POLITE_BOARDS_Y": "1"})):
        done = command(*words, "--", path, env={"POLITE_PLACER": placer, "POLITE_CHATTY": "1", **boards})
        assert done.returncode == 0 and "PGraph::map: 40 devices" in done.stderr, done.stderr
        assert done.stdout.startswith("40 on threads\n") and "elsewhere" not in done.stdout


@pytest.mark.tier("all", seconds=8, adds="counts of messages of the multicast router against those of sends one by one")
def test_router_multicast_reduces_messages_sent(command: Command, tmp_path: Path, seed: int) -> None:
    """Components on four boards, whose routers copy messages."""
    pairs = edges(seed, 60, 150)
    _, labels = csgraph.connected_components(scipy.sparse.coo_array((np.ones(150), pairs.T), shape=(60, 60)))
    most = [int(np.flatnonzero(labels == label).max()) for label in labels]
    four = ROOT / "tests" / "fixtures" / "cluster" / "four.toml"
    words = ("polite", "run", FIXTURES / "hashmin", "--engine", "rtl", "--cluster", four, "--stats", "s.json")
    sent = []
    for how in ("full", "none"):
        done = command(*words, "--multicast", how, "--", written(tmp_path, pairs), cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stderr
        got = dict(map(int, line.split()) for line in done.stdout.splitlines()[1:])
        assert got == {node: 2**40 - 7919 * most[node] for node in range(60)}
        sent.append(json.loads((tmp_path / "s.json").read_text())["mailbox"]["sent"])
    assert sent[0] < 0.8 * sent[1]


@pytest.mark.tier(
    "all",
    seconds=7,
    adds="limits of steps and cycles for programs of existing hosts; the cycle limit of applications runs by default",
)
def test_limits_name_the_sending_devices(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("polite", "run", "--engine", "rtl")
    path = written(tmp_path, np.array([[i, (i + 1) % 9] for i in range(9)]))
    done = command(*words, FIXTURES / "pagerank", "--max-steps", "4", "--", path, cwd=tmp_path)
    named = "did not end within 4 steps: 9 devices still send (0, 1, 2, 3, 4, 5, 6, 7, ...)"
    assert done.returncode == 4 and done.stderr.splitlines()[-1].endswith(named)
    assert not (tmp_path / "stats.txt").exists()
    done = command(*words, endless(tmp_path, "true"), "--max-cycles", "30000")
    assert done.returncode == 4 and re.search(r"did not end within .*: \d+ devices still send \(", done.stderr)
    # Only a broken machine triggers the watchdog; here a patched run reports it for a working one.
    real = _rtl_host.run

    def frozen(*arguments: Any, **how: Any) -> _rtl_host.HostResult:
        ended = real(*arguments, **how)
        assert ended.report is not None and ended.report.reason == "max-cycles"
        ended.report.reason = "stuck"
        return ended

    monkeypatch.setattr(_rtl_host, "run", frozen)
    given = ["--config", "tiny", "--max-cycles", "30000", str(tmp_path / "program")]
    with pytest.raises(
        RunDied, match=r"stuck: no instruction and no output for a long time, .*: \d+ devices still send \("
    ):
        _host_program.run(Request.of(given), [])
    done = command("run", ROOT / "programs/hello.c", "--engine", "rtl", "--config", "tiny", "--max-steps", "4")
    assert done.returncode == 2 and "--max-steps: limits the steps of a graph's vertices, and" in done.stderr


def test_trap_names_its_device(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    shutil.copytree(FIXTURES / "mail", folder)
    edit(folder / "Mail.h", "    s->letters++;\n", "    if (s->id == 7) __builtin_trap();\n    s->letters++;\n")
    errors = polite(command, tmp_path, folder, "rtl", written(tmp_path, edges(1, 9, 20)), 2, code=4)
    assert any(re.match(r"\[\d+, whose registers point to device 7\] trap: illegal_instruction", one) for one in errors)


@pytest.mark.tier("all", seconds=5, adds="states above 64 KiB")
def test_state_offsets_may_exceed_16_bits(command: Command, tmp_path: Path) -> None:
    # 1,000 states of 2,200 bytes on 32 threads: the last state of a thread begins after offset 65,535.
    folder = tmp_path / "program"
    shutil.copytree(FIXTURES / "pulses", folder)
    for file, old, new in (("Pulse.h", "left;", "left;\n  uint8_t pad[2196];"), ("Run.cpp", "40", "1000")):
        text = (folder / file).read_text()
        (folder / file).write_text(text.replace(old, new))
    assert -(-1000 // TINY.threads) * 2200 > 65_536
    assert polite(command, tmp_path, folder, "rtl") == ["2000 pulses"]


def endless(folder: Path, host: str) -> Path:
    """Devices that send without end."""
    program = folder / "program"
    shutil.copytree(FIXTURES / "pulses", program)
    for file, old, new in (("Pulse.h", "    s->left--;\n", ""), ("Run.cpp", "i < wanted", host)):
        text = (program / file).read_text()
        assert old in text
        (program / file).write_text(text.replace(old, new))
    return program


@pytest.mark.tier("all", seconds=5, adds="a host that returns from main early")
def test_host_may_exit_before_its_devices(command: Command, tmp_path: Path) -> None:
    assert polite(command, tmp_path, endless(tmp_path, "i < wanted"), "cpu", code=1) == []


def test_timeout_aborts_an_endless_program(command: Command, tmp_path: Path) -> None:
    program = endless(tmp_path, "true")
    done = command("polite", "run", program, "--timeout", "2")
    assert done.returncode == 4 and "did not end within 2 s (--timeout)" in done.stderr


def test_interrupt_leaves_no_process(tmp_path: Path) -> None:
    words = [sys.executable, str(ROOT / "gossamer"), "polite", "run", str(endless(tmp_path, "true"))]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True) as child:
        runs = f"{child.pid}"
        for _ in range(1200):
            time.sleep(0.1)
            found = subprocess.run(["pgrep", "-g", runs, "-x", "program"], capture_output=True, check=False)
            if found.returncode == 0:
                break
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors.splitlines()[-1]) == (130, "gossamer: interrupted")
    assert subprocess.run(["pgrep", "-g", runs], capture_output=True, check=False).returncode == 1


CHANGES = [
    # file, old text, new text, error message, exit codes on cpu and rtl
    ("Run.cpp", "graph.addEdge(i, 0,", "graph.addEdge(i, 1,", "PGraph::addEdge: there is no pin 1", (2, 2)),
    ("Run.cpp", "graph.addEdge(i, 0,", "graph.addEdge(i, 0, 77 +", "PGraph::addEdge: there is no device", (2, 2)),
    ("Run.cpp", "graph.mapVerticesToDRAM = true;", "graph.write(&hostLink);", "graph is not mapped", (2, 2)),
    ("PageRank.h", "? Pin(0) : No;\n      return", "? Pin(3) : No;\n      return", "pin 3", (4, 0)),
    ("PageRank.h", "? Pin(0) : No;\n      return", "? Pin(3) : No;\n      return", "sendOnMissingPin", (0, 4)),
    ("PageRank.h", "uint16_t fanOut;", "uint16_t fanOut; size_t wide;", "types of fixed width", (0, 2)),
    ("PageRank.h", "uint16_t fanOut;", "uint16_t fanOut; uint32_t wide[300000];", "a DRAM holds", (0, 2)),
    ("PageRank.h", "uint32_t src;\n};", "uint32_t src; uint32_t more[14];\n};", "message is too large", (2, 2)),
]


@pytest.mark.default_cases(
    "PGraph::addEdge: the0-.*", "(pin 3|graph is not mapped).*", seconds=64, adds="the other errors"
)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one[3][:20])
def test_errors_are_reported_in_one_line(
    change: tuple[str, str, str, str, tuple[int, int]], engine: str, command: Command, tmp_path: Path
) -> None:
    file, old, new, says, codes = change
    code = codes[ENGINES.index(engine)]
    if not code:
        pytest.skip("is no mistake there")
    folder = tmp_path / "program"
    shutil.copytree(FIXTURES / "pagerank", folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    errors = polite(command, tmp_path, folder, engine, written(tmp_path, edges(1, 30, 60)), code=code)
    assert says in "\n".join(errors), errors
    assert sum(line.startswith("gossamer: error: ") for line in errors) == 1
    assert not (tmp_path / "stats.txt").exists()
    assert not any("run-" in path.name for path in (ROOT / "build").glob("*/hostprograms/PageRank*/run-*"))


@pytest.mark.tier("all", seconds=6, adds="types that differ in width between host and threads")
@pytest.mark.parametrize(
    "old, new, says",
    [
        (
            "int32_t, SSSPMessage>",
            "long, SSSPMessage>",
            "label of an edge has 8 bytes on the host and 4 on the threads",
        ),
        ("dist;\n  uint32_t from;", "dist;\n  size_t from;", "message has 16 bytes on the host and 8 on the threads"),
    ],
)
def test_types_of_different_width_on_the_threads_are_rejected(
    old: str, new: str, says: str, command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "program"
    shutil.copytree(FIXTURES / "sssp", folder)
    for file in (*folder.glob("*.h"), *folder.glob("*.cpp")):
        text = file.read_text().replace(old, new)
        file.write_text(text.replace("int32_t* weight", "long* weight") if "long" in new else text)
    errors = polite(command, tmp_path, folder, "rtl", written(tmp_path, edges(1, 9, 20)), 1, 1, code=2)
    assert says in errors[-1] and "types of fixed width" in errors[-1], errors


def test_invalid_arguments_are_rejected(command: Command, tmp_path: Path) -> None:
    for words, says in (
        (["--engine", "shuffle"], "--engine shuffle"),
        (["--placer", "scotch", "--", "net.txt"], "POLITE_PLACER=scotch"),
        (["--frame-loss", "0.1"], "--frame-loss"),
        (["--", "nothing.txt"], "nothing.txt: cannot be opened"),
    ):
        written(tmp_path, edges(1, 5, 9))
        done = command("polite", "run", FIXTURES / "pagerank", *words, cwd=tmp_path)
        assert done.returncode == 2 and says in done.stderr.splitlines()[-1]
    (tmp_path / "net.txt").write_text("0 1\n2\n")
    done = command("polite", "run", FIXTURES / "pagerank", "--", "net.txt", cwd=tmp_path)
    assert done.returncode == 2 and "net.txt:3: has a source without a destination" in done.stderr
    done = command("polite", "run", tmp_path / "nowhere")
    assert done.returncode == 2 and "no such folder" in done.stderr
