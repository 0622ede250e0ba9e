# SPDX-License-Identifier: Apache-2.0
"""Programs with a host on a cluster: board coordinates, router tables, equal cycles."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest
from conftest import ROOT, Command, Size

import gossamer_setup
from gossamer import config as configs

FIXTURES = ROOT / "tests" / "fixtures" / "hostlink"
PAIR = ("--engine", "rtl", "--cluster", "pair")
FOUR = ("--engine", "rtl", "--cluster", ROOT / "tests" / "fixtures" / "cluster" / "four.toml")
TINY = configs.load("tiny")


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(TINY)


def said() -> list[str]:
    """Boards, tiles and threads of the tile of the threads that receive a message."""
    last = TINY.core.threads_per_core * (TINY.mailbox.cores_per_mailbox - 1)
    return [f"{told}: {x} 1 {last + told}" for told in (1, 2, 3) for x in (0, 1)]


@pytest.mark.tier("all", seconds=31, adds="a ring over each cluster, as on one board")
def test_ring_spans_all_boards_with_equal_cycles_for_any_workers(command: Command, tmp_path: Path) -> None:
    found = []
    for workers in ("1", "2"):
        stats = tmp_path / "stats.json"
        words = ("--workers", workers, "--frame-loss", "0.02", f"--stats={stats}", "--", "1000")
        done = command("run", FIXTURES / "ring", *PAIR, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"2 boards: {1000 + 2 * TINY.threads} from board 1,0 core 3 thread 7\n"
        about = json.loads(stats.read_text())
        found.append({key: about[key] for key in ("cycles", "instructions", "by_tile", "by_link", "by_board")})
    assert found[0] == found[1]


def test_host_addresses_boards_by_coordinates(command: Command) -> None:
    done = command("run", FIXTURES / "boards", *PAIR, "--", "key")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["key: 0 1 5 77", *said(), f"bye: {TINY.threads} {TINY.threads}"]


def test_trap_and_deadlock_name_their_boards(command: Command) -> None:
    done = command("run", FIXTURES / "boards", *PAIR, "-D", "FAULTY", timeout=200)
    assert done.returncode == 4
    trapped = 2 * TINY.threads - TINY.core.threads_per_core + 2
    first, last = done.stderr.splitlines()
    assert first.startswith(f"[{trapped} b 1,0.10] trap: store_fault: ")
    assert last.endswith(f"Run.cpp: thread {trapped} trapped; the host waits in HostLink::recv")
    done = command("run", FIXTURES / "boards", *PAIR, "--", "wait", timeout=200)
    assert done.returncode == 4
    first, last = done.stderr.splitlines()
    assert first.startswith("threads 0-63 (board a, tiles 0,0, 1,0; board b, tiles 0,0, 1,0) wait for a message")
    assert last.endswith("all threads that run (0-63) wait for messages, and none is in flight")


def test_boards_sort_words_sent_by_the_host(command: Command) -> None:
    """Words travel from the host to every thread, between all threads, and back; idle detection includes the host's."""
    sort = (FIXTURES / "sort", *PAIR, "--frame-loss", "0.02")
    done = command("run", *sort, "--", "3")
    said = f"{2 * TINY.threads * 12} words of 2 boards: sorted; lines say {2 * TINY.threads * 12}, 0 are missing\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    done = command("run", *sort, "-D", "FAULTY", "--", "3")
    assert done.returncode == 1 and "words of 2 boards: WRONG;" in done.stdout


def test_report_on_quad4_matches_the_statistics(command: Command, size: Size, tmp_path: Path) -> None:
    """1,024 threads of four boards in two rows, with a host, and the report of all boards, tiles and links."""
    if size.name == "small":
        pytest.skip("a build of quad4")
    stats, page = tmp_path / "stats.json", tmp_path / "r.html"
    words = ("--engine", "rtl", "--cluster", "quad4", "--frame-loss", "0.01", "--stats", stats, "--report", page)
    done = command("run", FIXTURES / "sort", *words, "--", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "12288 words of 4 boards: sorted; lines say 12288, 0 are missing\n"
    about, text = json.loads(stats.read_text()), page.read_text()
    # Each word is sent to its owner, which sends one message to the host; the host sends two messages to each thread.
    assert sum(tile["sent"] for tile in about["by_tile"]) == 2 * 12288
    assert sum(tile["received"] for tile in about["by_tile"]) == 12288 + 2 * 1024
    rows = re.findall(r"<tr><td>(x[01]y[01]) ([01],[01])</td>(.*?)</tr>", text)
    shown = {(board, tile): re.findall(r"<td>(.*?)</td>", row)[8:10] for board, tile, row in rows}
    assert shown == {
        (tile["board"], "{},{}".format(*tile["tile"])): [f"{tile['sent']:,}", f"{tile['received']:,}"]
        for tile in about["by_tile"]
    } and len(shown) == 16  # fmt: skip
    links = re.findall(r"<tr><td>(x[01]y[01]):(\w+) to .*?</td>(.*?)</tr>", text)
    packets = {(board, link): re.findall(r"<td>(.*?)</td>", row)[2] for board, link, row in links}
    wanted = {(link["board"], link["link"]): f"{link['tx_packets']:,}" for link in about["by_link"]}
    assert packets == wanted and len(packets) == 8


KEYS = FIXTURES / "keys"


Key = tuple[int, list[tuple[int, int | None, int]]]
"""A sender and its receivers: a thread, None and a word, or a tile, a mask of its threads and a half-word."""


def arrivals(each: int, keys: list[Key]) -> tuple[list[str], list[str]]:
    """Keys as arguments of the program, and its output sorted by key. A tile has ``each`` threads."""
    words, lines = [], []
    for number, (sender, dests) in enumerate(keys):
        texts, found = [], []
        for place, mask, key in dests:
            if mask is None:
                texts.append(f"{place}={key}")
                found.append((place, key))
            else:
                texts.append(f"{place}/{mask:x}={key}")
                found += [(place * each + bit, 0x55550000 | key) for bit in range(each) if mask >> bit & 1]
        words.append(f"{sender}:{','.join(texts)}")
        lines += sorted(f"{number} {thread} 0x{word:08x} whole" for thread, word in found)
    return words, lines


def by_key(text: str) -> list[str]:
    """The program's lines sorted by key: copies of a message arrive in any order."""
    return sorted(sorted(text.splitlines()), key=lambda line: int(line.split()[0]))


@pytest.mark.default_cases("pair", seconds=38, adds="clusters of four boards")
@pytest.mark.parametrize("cluster", ["pair", "four", "quad4"])
def test_router_tables_reach_exactly_the_named_threads(command: Command, size: Size, seed: int, cluster: str) -> None:
    """Keys of ProgRouterMesh reach exactly the threads they name, from every board; one has hundreds of records."""
    if cluster == "quad4" and size.name == "small":
        pytest.skip("a build of quad4")
    random = Random(seed)
    config = configs.load("quad") if cluster == "quad4" else TINY
    width, height = (2, 1) if cluster == "pair" else (2, 2)
    mesh = config.mesh.width * config.mesh.height
    threads, tiles, each = width * height * config.threads, width * height * mesh, config.threads // mesh
    whole = (1 << each) - 1

    def dest() -> tuple[int, int | None, int]:
        if random.random() < 0.5:
            return random.randrange(threads), None, random.randrange(1, 1 << 31)
        return random.randrange(tiles), random.randrange(1, whole + 1), random.randrange(1 << 16)

    keys: list[Key] = []
    for sender in range(0, threads, config.threads):
        keys.append((sender, [dest() for _ in range(random.randrange(1, 6))]))
    keys.append((random.randrange(threads), []))
    many = [(random.randrange(threads), None, 1 + number) for number in range(250)]
    keys.append((random.randrange(threads), [*many, (0, whole, 0xFFFF), (tiles - 1, 1 << each - 1, 0)]))
    random.shuffle(keys)
    words, lines = arrivals(each, keys)
    file = ROOT / "tests" / "fixtures" / "cluster" / "four.toml" if cluster == "four" else cluster
    done = command("run", KEYS, "--engine", "rtl", "--cluster", file, "--", str(width), str(height), *words, "hand")
    assert (done.returncode, done.stderr) == (0, "")
    right = (config.mesh.width - 1) * each
    hand = [(1, 0xAB000000), (config.threads + 2, 0xAB000001), (right, 0x7777CDEF), (right + 1, 0x7777CDEF)]
    lines += sorted(f"{len(keys)} {thread} 0x{word:08x} whole" for thread, word in hand)
    assert by_key(done.stdout) == lines


WAYS = ("n", "ne", "nes")
"""Paths from the first board over adjacent boards."""
WAITS = "messages in these trees can deadlock: "


def test_trees_with_turns_absent_from_routes_are_accepted(command: Command) -> None:
    """Trees of the program are accepted if their channels have no cyclic dependency."""
    done = command("run", KEYS, *FOUR, "--", "2", "2", *(f"hand {way}" for way in WAYS))
    assert (done.returncode, done.stderr) == (0, "")
    lines = []
    for number, way in enumerate(WAYS):
        x = y = 0
        for step in ("", *way):
            x, y = x + (step == "e"), y + {"n": 1, "s": -1}.get(step, 0)
            lines.append(f"{number} {(2 * y + x) * TINY.threads} 0x{0xA0000000 + 16 * y + x:08x} whole")
    assert by_key(done.stdout) == sorted(lines, key=lambda line: (int(line.split()[0]), line))


def test_trees_may_refer_to_records_of_earlier_tables(command: Command) -> None:
    """Records that are not overwritten stay in the boards' memories, and trees may continue there."""
    done = command("run", KEYS, *FOUR, "--", "2", "2", "hand ne", "hand ne", "then", "hand old")
    assert (done.returncode, done.stderr) == (0, "")
    third = [line for line in by_key(done.stdout) if line.startswith("2 ")]
    assert third == [f"2 {(2 + x) * TINY.threads} 0xa000001{x} whole" for x in (0, 1)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        # The trees turn clockwise at all corners.
        (("hand circle",), f"{WAITS}x0y0:north channel 0 waits for x0y1:east channel "),
        # Three corners, after valid trees in use; routes add the fourth.
        (("hand ne", "then", "hand nesw"), f"{WAITS}x0y0:north channel 0 waits for x0y1:east channel "),
        (("hand loop",), f"{WAITS}x0y0:east channel "),
        (("hand self",), "board x0y0, key 0x"),
        (("hand gone",), "board x1y0, key 0x"),
    ],
)
def test_trees_that_can_deadlock_are_rejected(command: Command, words: tuple[str, ...], says: str) -> None:
    """They are rejected before anything is written, also after valid ones."""
    done = command("run", KEYS, *FOUR, "--", "2", "2", *words)
    assert (done.returncode, done.stdout.count("\n")) == (2, 3 if "then" in words else 0)
    assert done.stderr.startswith(f"gossamer: error: ProgRouterMesh::write: {says}")
    assert done.stderr.count("\n") == 1


def test_routers_use_rewritten_tables(command: Command) -> None:
    """Routers follow tables that a host writes between messages, not previously read records."""
    each = TINY.threads // (TINY.mesh.width * TINY.mesh.height)
    there = TINY.threads
    tables: list[list[Key]] = [
        [(0, [(3, None, 33), (there + 2, None, 44)]), (there, [(there + 5, None, 55), (1, None, 66)])],
        [(0, [(there + 6, None, 77), (1, None, 11)]), (there, [(4, None, 99), (there + 1, None, 22)])],
        [(0, [(0, 3, 5), (there + 2, None, 45)]), (there, [(there + 5, None, 56)])],
    ]
    words, lines = [], []
    for at, keys in enumerate(tables):
        texts, found = arrivals(each, keys)
        words += texts if at == 0 else ["then", *texts]
        lines += [re.sub(r"^\d+", lambda n: str(2 * at + int(n[0])), line) for line in found]  # noqa: B023
    done = command("run", KEYS, *PAIR, "--", "2", "1", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert by_key(done.stdout) == lines


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("3", "1"), "ProgRouterMesh: the program asks for 3 x 1 boards, and there are 2 x 1"),
        (
            ("1", "1", "40:3=1"),
            "ProgRouterMesh::addDestsFromBoardXY: there is no board 1,0; there are boards 0,0 to 0,0",
        ),
        (("2", "1", "bad mailbox"), "ProgRouter::addMRM: there is no mailbox 2,0; a board has mailboxes 0,0 to 1,0"),
        (("2", "1", "bad mask"), "ProgRouter::addMRM: there is no thread 16 at a mailbox; there are 0 to 15"),
        (("2", "1", "bad thread"), "ProgRouter::addURM1: there is no thread 16 at a mailbox; there are 0 to 15"),
        (("2", "1", "bad direction"), "ProgRouter::addRR: there is no board south of board 0,0"),
        (("2", "1", "bad number"), "ProgRouter::addRR: there is no direction 4; there are 0 north"),
        (("2", "1", "bad order"), "ProgRouter::addURM1: a record after addIND"),
        (("2", "1", "bad length"), "ProgRouter::genKey: 32 beats of records; a key has 31 at most"),
        (("2", "1", "bad table"), "ProgRouter::addURM1: the router of board 0,0 has space for 32768 beats of 32 bytes"),
    ],
)
def test_invalid_records_are_rejected(command: Command, words: tuple[str, ...], says: str) -> None:
    done = command("run", KEYS, *PAIR, "--", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"gossamer: error: {says}") and done.stderr.count("\n") == 1


def test_router_tables_reach_the_named_threads_of_a_single_board(command: Command) -> None:
    """A single board has the same multicast routers as a board of a cluster."""
    each = TINY.threads // (TINY.mesh.width * TINY.mesh.height)
    keys: list[Key] = [
        (0, [(3, None, 33), (each + 2, None, 44)]),
        (each + 1, [(1, 0b101, 7), (0, None, 9), (0, (1 << each) - 1, 8)]),
        (5, []),
    ]
    words, lines = arrivals(each, keys)
    done = command("run", KEYS, "--engine", "rtl", "--config", "tiny", "--", "1", "1", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert by_key(done.stdout) == lines
