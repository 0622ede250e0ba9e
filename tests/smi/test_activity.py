# SPDX-License-Identifier: Apache-2.0
"""Reports, traces and statistics of streaming programs on boards, and `./gossamer top` while they run.

Expected counts are computed from the program alone, or from packets that the hardware's links count.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import statistics_judge
import traces
from conftest import ROOT, Command

from gossamer import config as configs
from gossamer import smi
from gossamer.cli.smi import command as group
from gossamer.errors import InputError

SMALL = ROOT / "tests" / "fixtures" / "smi" / "ring_small.toml"
TYPES = {"SMI_INT": "int", "SMI_DOUBLE": "double", "SMI_SHORT": "short", "SMI_CHAR": "char"}
ON_BOARDS = ("--engine", "rtl", "--cluster", SMALL)
PACKET = 30 * 16
"""Bytes of elements in a long packet: 32 flits, without those of its address and of its header."""


@dataclass
class Traffic:
    """A random program: on each port one rank sends messages to the others, and all ranks broadcast and meet."""

    seed: int
    messages: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)
    """Elements of each message, by port, source and destination."""
    types: list[str] = field(default_factory=list)
    broadcasts: list[tuple[int, int]] = field(default_factory=list)
    """Root and elements of each."""
    barriers: int = 3
    ranks: int = 4

    def source(self) -> str:
        """The program in C."""
        draw = random.Random(self.seed)
        lines, starts = ["#include <smi.h>"], []
        self.types = draw.sample(sorted(TYPES), 4)
        for port in range(4):
            sender = draw.randrange(self.ranks)
            others = [rank for rank in range(self.ranks) if rank != sender]
            sent = [(draw.choice(others), draw.choice([1, 2, 7, 60, 300])) for _ in range(draw.randint(2, 6))]
            for to, count in sent:
                self.messages.setdefault((port, sender, to), []).append(count)
            calls = [self._call(port, "send", "Push", to, count) for to, count in sent]
            lines.append(f"static void send{port}(void* unused) {{ {' '.join(calls)} (void)unused; }}")
            starts.append(f'if (me == {sender}) SMI_Start_kernel("send{port}", send{port}, 0);')
            for rank in sorted({to for to, _ in sent}):
                calls = [self._call(port, "recv", "Pop", sender, count) for to, count in sent if to == rank]
                name = f"receive{port}_{rank}"
                lines.append(f"static void {name}(void* unused) {{ {' '.join(calls)} (void)unused; }}")
                starts.append(f'if (me == {rank}) SMI_Start_kernel("{name}", {name}, 0);')
        self.broadcasts = [(draw.randrange(self.ranks), draw.choice([1, 5, 90])) for _ in range(3)]
        lines += ["int main(void) {", "  const int me = SMI_Comm_rank(SMI_COMM_WORLD);", "  int value = me;"]
        lines += [f"  {start}" for start in starts]
        for root, count in self.broadcasts:
            lines.append(f"  {{ SMI_BChannel c = SMI_Open_bcast_channel({count}, SMI_INT, 4, {root}, SMI_COMM_WORLD);")
            lines.append(f"    for (int i = 0; i < {count}; i++) SMI_Bcast(&c, &value); }}")
        lines += ["  SMI_Barrier(5, SMI_COMM_WORLD);"] * self.barriers
        return "\n".join([*lines, "  return 0;", "}", ""])

    def _call(self, port: int, opens: str, call: str, peer: int, count: int) -> str:
        kind = self.types[port]
        return (
            f"{{ {TYPES[kind]} v = 0; SMI_Channel c = SMI_Open_{opens}_channel({count}, {kind}, {peer}, {port}, "
            f"SMI_COMM_WORLD); for (int i = 0; i < {count}; i++) SMI_{call}(&c, &v); }}"
        )


def run(command: Command, folder: Path, source: str, *more: str | Path, ranks: int = 4, code: int = 0) -> str:
    """Runs a program with a report, a trace and statistics in a folder; returns the output on stderr."""
    file = folder / "program.c"
    file.write_text(source)
    done = command("smi", "run", file, "--ranks", str(ranks), *ON_BOARDS, "--report", "report.html", "--trace",
                   "trace.pftrace", "--stats", "stats.json", *more, cwd=folder)  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stderr


def stats_of(folder: Path) -> dict[str, Any]:
    return statistics_judge.read(folder / "stats.json")


def rows(page: str, section: str) -> list[list[str]]:
    """The rows of the table in a section of a report."""
    part = page.split(f"<h2>{section}</h2>")[1].split("<h2>")[0]
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", part)[1:]]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def check_arrows(trace: traces.Trace, sender: str, receiver: str) -> int:
    """Checks that the nth arrow of a channel is within the nth message at both ends; returns the number of arrows."""
    arrows = sorted((arrow for arrow in trace.arrows() if arrow[0].track == sender), key=lambda arrow: arrow[0].begin)
    for end, track in enumerate((sender, receiver)):
        messages = sorted((span for span in trace.spans if span.track == track), key=lambda span: span.begin)
        for arrow, message in zip(arrows, messages, strict=False):
            assert arrow[end].track == track and message.begin <= arrow[end].begin < message.end
    return len(arrows)


def test_report_trace_and_statistics_have_the_counts_of_the_program(
    command: Command, seed: int, tmp_path: Path
) -> None:
    traffic = Traffic(seed)
    source = traffic.source()
    file = tmp_path / "program.c"
    file.write_text(source)
    plain = command("smi", "run", file, "--ranks", "4", *ON_BOARDS)
    assert plain.returncode == 0, plain.stderr
    told = run(command, tmp_path, source)
    cycles = number(told.split()[-2])
    assert told.splitlines()[-1] == plain.stderr.splitlines()[-1], "recording has changed the cycles"
    stats, trace = stats_of(tmp_path), traces.read(tmp_path / "trace.pftrace")
    page = (tmp_path / "report.html").read_text()
    assert stats["cycles"] == cycles and f"<td>cycles</td><td>{cycles:,}</td>" in page

    # Channels
    expected = {key: (len(counts), sum(counts)) for key, counts in traffic.messages.items()}
    channels = {(one["port"], one["source"], one["destination"]): one for one in stats["channels"]}
    for way in (("messages_sent", "sent"), ("messages_received", "received")):
        assert {key: tuple(one[name] for name in way) for key, one in channels.items()} == expected
    assert {key: one["type"] for key, one in channels.items()} == {key: traffic.types[key[0]] for key in expected}
    shown = {tuple(map(int, re.findall(r"\d+", row[0]))): row for row in rows(page, "Channels")}
    assert {key: (number(row[2]), number(row[3])) for key, row in shown.items()} == expected
    for (port, source, to), (messages, elements) in expected.items():
        counts, one = traffic.messages[port, source, to], channels[port, source, to]
        ends = (
            (f"rank {source}, board b{source}/channels/port {port} to rank {to}", ("send_opening", "stalled")),
            (f"rank {to}, board b{to}/channels/port {port} from rank {source}", ("receive_opening", "empty", "full")),
        )
        for end, (track, stalls) in enumerate(ends):
            spans = sorted((span for span in trace.spans if span.track == track), key=lambda span: span.begin)
            assert [span.notes["elements"] for span in spans] == counts
            # Cycles of open messages: elements, stalls, and one for each open. A sender may also wait for its kernel.
            busy = sum(span.end - span.begin for span in spans)
            known = elements + messages + sum(one[name] for name in stalls)
            assert busy == known if end else busy >= known, (track, busy, one)
        arrows = [(a, b) for a, b in trace.arrows() if a.track == ends[0][0]]
        assert len(arrows) == messages and all(b.track == ends[1][0] and a.begin < b.begin for a, b in arrows)
        check_arrows(trace, ends[0][0], ends[1][0])

    # Collectives and barriers
    blocks = {(one["kind"], one["rank"]): one for one in stats["collectives"]}
    assert len(blocks) == len(stats["collectives"]) == 8
    for rank in range(4):
        pushed = sum(count for root, count in traffic.broadcasts if root == rank)
        popped = sum(count for root, count in traffic.broadcasts if root != rank)
        bcast, barrier = blocks["Bcast", rank], blocks["Barrier", rank]
        assert (bcast["opened"], bcast["pushed"], bcast["popped"]) == (3, pushed, popped)
        assert (barrier["opened"], barrier["pushed"], barrier["popped"]) == (3, 3, 3)
        for one, port in ((bcast, 4), (barrier, 5)):
            track = f"rank {rank}, board b{rank}/collectives/{one['kind']}, port {port}"
            spans = [span for span in trace.spans if span.track == track]
            assert len(spans) == 3 and sum(span.end - span.begin for span in spans) == one["cycles"]
    names = [f"{kind} port {port}, rank {rank} (b{rank})"
             for port, kind in ((4, "Bcast"), (5, "Barrier")) for rank in range(4)]  # fmt: skip
    assert [row[0] for row in rows(page, "Collectives")] == names

    # Kernels
    kernels = {(one["rank"], one["name"]): one for one in stats["by_kernel"]}
    tracks = {track for track in trace.tracks if "/kernels/" in track}
    assert tracks == {f"rank {rank}, board b{rank}/kernels/{name}" for rank, name in kernels}
    assert len(kernels) == len(stats["by_kernel"]) == stats["kernels"]
    for (rank, name), one in kernels.items():
        spans = [span for span in trace.spans if span.track == f"rank {rank}, board b{rank}/kernels/{name}"]
        assert sum(span.end - span.begin for span in spans) == one["end"] - one["begin"]
        # The trace shows waits from 24 cycles on.
        waits = sum(span.end - span.begin for span in spans if span.name != "runs")
        assert 0 <= sum(one["waits"].values()) - waits <= 24 * sum(place["waits"] for place in one["places"])
        by_kind: Counter[str] = Counter()
        for place in one["places"]:
            by_kind[place["kind"]] += place["cycles"]
            assert re.fullmatch(r"program\.c:\d+", place["call"])
        assert {kind: waited for kind, waited in one["waits"].items() if waited} == dict(by_kind)
    assert max(one["end"] for one in kernels.values()) == cycles


# ---- Stalls ----

SLOW = """#include <smi.h>
int main(void) {
  const int me = SMI_Comm_rank(SMI_COMM_WORLD), n = FIRST;
  int v = 0;
  if (me == 0) {
    SMI_Channel c = SMI_Open_send_channel(n, SMI_INT, 2, 0, SMI_COMM_WORLD);
    for (int i = 0; i < n; i++) SMI_Push(&c, &v);
#ifdef TWO
  } else {
    SMI_Channel a = SMI_Open_recv_channel(n, SMI_INT, 0, 0, SMI_COMM_WORLD);
    for (int i = 0; i < n; i++) SMI_Pop(&a, &v);
  }
#else
  } else if (me == 1) {
    SMI_Channel c = SMI_Open_send_channel(SECOND, SMI_INT, 2, 1, SMI_COMM_WORLD);
    for (int i = 0; i < SECOND; i++) SMI_Push(&c, &v);
  } else {
    SMI_Channel a = SMI_Open_recv_channel(n, SMI_INT, 0, 0, SMI_COMM_WORLD);
    SMI_Channel b = SMI_Open_recv_channel(SECOND, SMI_INT, 1, 1, SMI_COMM_WORLD);
    SMI_Pop(&b, &v);
    for (int i = 0; i < n; i++) SMI_Pop(&a, &v);
    for (int i = 1; i < SECOND; i++) SMI_Pop(&b, &v);
  }
#endif
  return 0;
}
"""


def test_stalls_of_a_channel_are_those_that_its_receiver_causes(command: Command, tmp_path: Path) -> None:
    """Rank 2 opens channel b, pops one element, and pops the rest when all of channel a has arrived. So b fills its
    queue, and the downstream buffers, then stalls its sender."""
    run(command, tmp_path, SLOW.replace("FIRST", "20000").replace("SECOND", "6000"), ranks=3)
    stats = stats_of(tmp_path)
    a, b = sorted(stats["channels"], key=lambda one: int(one["port"]))
    waits = [{place["call"]: place["cycles"] for place in one["places"]} for one in stats["by_kernel"]]
    # Queues of kernels have 16 elements. That of channel b fills while rank 2 pops from a, a cycle for each element and
    # for each wait.
    assert a["full"] == 0
    assert abs(b["full"] - (20_000 + waits[2]["program.c:21"] - 16)) <= 2
    # The port of a sender stalls first; its kernel waits when its queue is full, too.
    for rank, (channel, call) in enumerate(((a, "program.c:7"), (b, "program.c:16"))):
        assert waits[rank] == {call: stats["by_kernel"][rank]["waits"]["push"]}
        assert 0 <= channel["stalled"] - waits[rank][call] <= 2 * 16
    assert b["stalled"] > 19_000 > 2_000 > a["stalled"]


def test_links_carry_the_packets_of_the_elements(command: Command, tmp_path: Path) -> None:
    """Rank 1 is a neighbour of rank 0: its elements are in whole packets, after a packet that requests credits."""
    count = 12_400
    run(command, tmp_path, SLOW.replace("FIRST", str(count)).replace("2, 0", "1, 0"), "-D", "TWO", ranks=2)
    links = {(one["board"], one["link"]): one for one in stats_of(tmp_path)["links"]}
    packets = {key: one["tx_packets"] for key, one in links.items() if one["tx_packets"]}
    assert packets.keys() == {("b0", "ch0"), ("b1", "ch1")}
    assert packets["b0", "ch0"] == 1 + math.ceil(count * 4 / PACKET) == links["b1", "ch1"]["rx_packets"]
    assert packets["b1", "ch1"] == links["b0", "ch0"]["rx_packets"]
    found = rows((tmp_path / "report.html").read_text(), "Links")
    assert len(found) == len(links) == 8
    for row in found:
        board, link = row[0].split()[0].split(":")
        names = ("tx_packets", "tx_bytes", "resends", "damaged", "dropped", "stalls")
        assert list(map(number, row[3:])) == [links[board, link][name] for name in names]
    # The curves of the trace add up to the bytes of the counters, with the 24 bytes of each frame that these omit.
    stats, trace = stats_of(tmp_path), traces.read(tmp_path / "trace.pftrace")
    config = configs.load_cluster(str(SMALL)).boards[0].config
    rate = config.links.rate_mbps / 8 / config.board.clock_mhz
    names = [name for name in trace.counters if name.endswith(": share of the line")]
    assert len(names) == 8
    for board, its in (("b0", "rank 0, board b0/ch0 to b1"), ("b1", "rank 1, board b1/ch1 to b0")):
        values = trace.counters[f"{its}: share of the line"]
        ends = [time for time, _ in values[1:]]
        assert ends[-1] <= stats["cycles"]
        bytes_sent = sum((end - begin) * share / 100 * rate for (begin, share), end in zip(values, ends, strict=False))
        one = links[board, its.split("/")[1].split()[0]]
        assert round(bytes_sent) == one["tx_bytes"] + config.links.overhead_bytes * one["tx_frames"]


LATE = """#include <smi.h>
int main(void) {
  int v = 0;
  if (SMI_Comm_rank(SMI_COMM_WORLD) == 0) {
    char data[64], *memory = SMI_Bank_alloc(0, 1280000);
    SMI_Bank_stream in = SMI_Open_bank_read(memory, 1280000);
    for (int i = 0; i < 20000; i++) SMI_Bank_read(&in, data, 64);
    SMI_Channel c = SMI_Open_send_channel(10, SMI_INT, 1, 0, SMI_COMM_WORLD);
    for (int i = 0; i < 10; i++) SMI_Push(&c, &v);
  } else {
    SMI_Channel c = SMI_Open_recv_channel(10, SMI_INT, 0, 0, SMI_COMM_WORLD);
    for (int i = 0; i < 10; i++) SMI_Pop(&c, &v);
  }
  return 0;
}
"""


def test_cycles_in_which_idle_boards_are_not_simulated_count(command: Command, tmp_path: Path) -> None:
    """Boards without traffic are not clocked while rank 0 reads memory, at most 64 bytes a cycle."""
    run(command, tmp_path, LATE, ranks=2)
    stats = stats_of(tmp_path)
    (channel,) = stats["channels"]
    # The receiver opens its channel in cycle 0, and its last element arrives in the last cycle.
    assert channel["empty"] + channel["full"] + channel["receive_opening"] == stats["cycles"] - 10 - 1
    reader, popper = stats["by_kernel"]
    assert channel["empty"] > reader["end"] > 20_000
    assert reader["waits"]["memory"] > 500
    assert popper["waits"]["pop"] > 20_000


# ---- Runs that do not end ----

CYCLE = """#include <smi.h>
int main(void) {
  int v = 0;
  const int other = 1 - SMI_Comm_rank(SMI_COMM_WORLD);
  SMI_Channel out = SMI_Open_send_channel(9, SMI_INT, other, 0, SMI_COMM_WORLD);
  SMI_Channel in = SMI_Open_recv_channel(10, SMI_INT, other, 1, SMI_COMM_WORLD);
  for (int i = 0; i < 9; i++) SMI_Push(&out, &v);
  SMI_Pop(&in, &v);
  return 0;
}
"""


def test_a_deadlock_has_a_report_and_a_trace(command: Command, tmp_path: Path) -> None:
    said = run(command, tmp_path, CYCLE, ranks=2, code=4)
    assert "deadlock" in said and "program.c:8" in said
    stats = stats_of(tmp_path)
    assert (stats["end"], stats["code"]) == ("deadlock", 4)
    assert all(one["doing"] != "ended" and one["waits"]["pop"] > 0 for one in stats["by_kernel"])
    assert "The run is deadlocked" in (tmp_path / "report.html").read_text()
    trace = traces.read(tmp_path / "trace.pftrace")
    last = [max((span for span in trace.spans if span.track == f"rank {rank}, board b{rank}/kernels/main"),
                key=lambda span: span.end) for rank in range(2)]  # fmt: skip
    assert [(span.name, span.end) for span in last] == [
        (f"pop from rank {1 - rank}, port 1", stats["cycles"]) for rank in range(2)
    ]
    # Messages without a receiver have no arrow.
    assert len(trace.of("first element leaves")) == 2 and not trace.arrows()


ENDLESS = """#include <smi.h>
int main(void) {
  const int me = SMI_Comm_rank(SMI_COMM_WORLD);
  int v = 0;
  for (;;) {
    if (me == 0) {
      SMI_Channel c = SMI_Open_send_channel(500, SMI_INT, 1, 0, SMI_COMM_WORLD);
      for (int i = 0; i < 500; i++) SMI_Push(&c, &v);
    } else {
      SMI_Channel c = SMI_Open_recv_channel(500, SMI_INT, 0, 0, SMI_COMM_WORLD);
      for (int i = 0; i < 500; i++) SMI_Pop(&c, &v);
    }
  }
}
"""


@contextlib.contextmanager
def endless(folder: Path, errors: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A run that never ends, from its first snapshot on; interrupted at the end, when its errors are added."""
    (folder / "endless.c").write_text(ENDLESS)
    words = ["smi", "run", "endless.c", "--ranks", "2", *map(str, ON_BOARDS), "--trace", "t.pftrace", "--report",
             "r.html"]  # fmt: skip
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "GOSSAMER_RUNNING": str(folder / "running")}, start_new_session=True,
    )  # fmt: skip
    try:
        end = time.monotonic() + 120
        while not list((folder / "running").glob("*.json")):
            assert child.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)
        errors.append(child.communicate(timeout=60)[1])


def test_top_shows_a_run_and_an_interrupt_leaves_its_trace(command: Command, tmp_path: Path) -> None:
    running = {"GOSSAMER_RUNNING": str(tmp_path / "running"), "COLUMNS": "100"}
    errors: list[str] = []
    with endless(tmp_path, errors) as child:
        done = command("top", "--once", env=running)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"endless\.c on ring_small \(4 boards, 2 kernels started\), process \d+, runs", lines[0])
    rate = re.fullmatch(r"kernels 2: \d run, \d wait; ([\d.]+) elements a cycle over channels, 0.000 pushed and .*",
                        " ".join(" ".join(lines[2 : lines.index("")]).split()))  # fmt: skip
    assert rate is not None and 0.2 < float(rate[1]) <= 1.0
    names = [line.split()[:2] for line in lines]
    assert ["0", "main"] in names and ["1", "main"] in names
    (channel,) = (line for line in lines if line.startswith("port 0, 0 to 1 "))
    assert channel.split()[5] == rate[1]
    assert len([line for line in lines if re.match(r"b\d ch\d +up", line)]) == 8
    assert child.returncode == 130
    assert errors[0].splitlines()[-1] == "gossamer: interrupted"
    # The trace ends at the interrupt; there is neither a report nor a temporary file.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.c", "running", "t.pftrace"]
    assert not list((tmp_path / "running").iterdir())
    trace = traces.read(tmp_path / "t.pftrace")
    # A message leaves before its predecessor arrives.
    way = "channels/port 0"
    assert check_arrows(trace, f"rank 0, board b0/{way} to rank 1", f"rank 1, board b1/{way} from rank 0") > 1
    assert {span.notes["call"] for span in trace.spans if "/channels/" in span.track} == {"endless.c:8", "endless.c:11"}


# ---- Size ----

MANY = """#include <smi.h>
int main(void) {
  const int me = SMI_Comm_rank(SMI_COMM_WORLD);
  int v = 0;
  for (int i = 0; i < 120; i++) {
    SMI_Channel c = SMI_Open_send_channel(1, SMI_INT, 1 - me, 0, SMI_COMM_WORLD);
    SMI_Push(&c, &v);
    SMI_Channel d = SMI_Open_recv_channel(1, SMI_INT, 1 - me, 0, SMI_COMM_WORLD);
    SMI_Pop(&d, &v);
  }
  return 0;
}
"""


def test_trace_has_a_bounded_size_and_says_what_it_omits(tmp_path: Path) -> None:
    (tmp_path / "many.c").write_text(MANY)
    path, notes = tmp_path / "many.pftrace", list[str]()
    options = smi.Options(engine="rtl", trace=path, least_wait=0, trace_bytes=50_000)
    done = smi.run([str(tmp_path / "many.c")], ranks=2, topology=SMALL, options=options, note=notes.append)
    assert path.stat().st_size <= 50_000
    (note,) = notes
    assert re.fullmatch(
        r"trace: thinned to 1 MB: .* waits shorter .*, .* messages and collectives .*, .* arrows .*", note
    )
    assert done.boards is not None and done.boards.note == note
    assert [(one.sent, one.received) for one in done.boards.activity.channels] == [(120, 120)] * 2
    trace = traces.read(path)
    for rank in range(2):
        spans = [span for span in trace.spans if span.track == f"rank {rank}, board b{rank}/kernels/main"]
        kernel = done.boards.activity.kernels[rank]
        assert sum(span.end - span.begin for span in spans) == kernel.cycles
    assert all(a.begin < b.begin for a, b in trace.arrows())


# ---- Bad input ----


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--report", "none/r.html"], r"none/r\.html: there is no folder .*none; make it first"),
        (["--trace", "none/t.pftrace"], r"none/t\.pftrace: there is no folder .*none; make it first"),
        (["--report", "."], r"\.: is a folder; give a file"),
        (["--report", "r.txt"], r"--report r\.txt: unknown ending; write a file that ends in \.html or \.htm"),
        (["--trace", "t.json"], r"--trace t\.json: unknown ending; write a file that ends in \.pftrace or .*"),
        (
            ["--stats", "x.html", "--report", "x.html"],
            r"--stats and --report name the same file, x\.html; write two .*",
        ),
        (["--report", "a/../x.html", "--stats", "x.html"], r"--stats and --report name the same file, .*"),
        (["--trace-size", "4"], r"--trace-size: give --trace with it"),
        (["--least-wait", "4"], r"--least-wait: give --trace with it"),
        (["--trace", "t.pftrace", "--trace-size", "0"], r"--trace-size 0: give 1 or more MB"),
        (["--trace", "t.pftrace", "--least-wait", "-1"], r"--least-wait -1: give 0 or more cycles"),
        (["--trace", "t.pftrace", "--engine", "emulator"], r"--trace: give --engine rtl or board with it; .*"),
    ],
)
def test_bad_output_files_are_rejected_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "one.c").write_text("#include <smi.h>\nint main(void) { return 0; }\n")
    with pytest.raises(InputError) as caught:
        group.main(["run", "one.c", "--ranks", "2", *map(str, ON_BOARDS), *options], standalone_mode=False)
    assert re.fullmatch(said, str(caught.value)), caught.value
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "one.c"]


def test_a_bad_output_file_is_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("#include <smi.h>\nint main(void) { return 0; }\n")
    done = command("smi", "run", "one.c", "--ranks", "2", *ON_BOARDS, "--trace", "none/t.pftrace", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("gossamer: error: none/t.pftrace: there is no folder ")
