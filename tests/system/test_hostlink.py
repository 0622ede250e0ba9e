# SPDX-License-Identifier: Apache-2.0
"""Programs with a host, as written for Tinsel's HostLink, compared with values computed here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Command

import gossamer_setup
from gossamer import config as configs
from gossamer.hosts import hostlink

FIXTURES = ROOT / "tests" / "fixtures" / "hostlink"
RTL = ("--engine", "rtl")
TINY = configs.load("tiny")
THREADS, CORES = TINY.threads, TINY.cores
PER_CORE = TINY.core.threads_per_core


@pytest.fixture(scope="module", autouse=True)
def simulator() -> Path:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    return _rtl_build.cluster(TINY)


def good(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def bad(done: subprocess.CompletedProcess[str], code: int) -> list[str]:
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stderr.splitlines()


def test_host_receives_arguments_and_returns_its_exit_code(command: Command) -> None:
    done = command("run", FIXTURES / "ring", *RTL, "--", "70", "3")
    assert (done.returncode, done.stderr) == (3, "")
    core, thread = divmod(THREADS - 1, PER_CORE)
    assert done.stdout == f"1 boards: {70 + THREADS} from board 0,0 core {core} thread {thread}\n"


def test_thread_output_reaches_the_host(command: Command) -> None:
    wanted = [
        f"0:0:{me // PER_CORE}:{me % PER_CORE}: Hello from thread {me:08x}{', odd' if me % 2 else ''}"
        for me in range(THREADS)
    ]
    assert sorted(good(command("run", FIXTURES / "hello", *RTL))) == sorted(wanted)


def test_messages_travel_in_both_directions(command: Command) -> None:
    sums = [sum((first + i) ** 2 + i for i in range(THREADS)) for first in (3, 100, 7)]
    assert good(command("run", FIXTURES / "pingpong", *RTL)) == [*map(str, sums), "all have ended"]


def heat(cells: int, steps: int) -> list[float]:
    line = np.zeros(cells + 2, np.float32)
    line[0], line[-1] = 1, 9
    for _ in range(steps):
        line[1:-1] = (line[:-2] + line[2:]) * np.float32(0.5)
    return [float(cell) for cell in line[1:-1]]


def test_heat_matches_numpy_with_equal_cycles_for_any_workers(command: Command, tmp_path: Path) -> None:
    found = []
    for run, workers in enumerate(("1", "2", "2")):
        stats = tmp_path / f"{run}.json"
        lines = good(command("run", FIXTURES / "heat", *RTL, "--workers", workers, f"--stats={stats}"))
        assert [float.fromhex(line) for line in lines] == heat(THREADS * 4, 20)
        about = json.loads(stats.read_text())
        assert about["threads"] == THREADS
        found.append({key: about[key] for key in ("cycles", "instructions", "by_tile")})
    assert found[0] == found[1] == found[2]


def test_cores_run_different_programs_and_loaders_serve_requests(command: Command) -> None:
    # The counters are on the first core of the second tile; the adders on the first core of all.
    first = TINY.threads_per_tile
    told = sum(range(first, first + PER_CORE))
    squares = sum(i * i for i in range(0, 100, 2))
    assert good(command("run", FIXTURES / "cores", *RTL)) == [
        f"{told} {PER_CORE // 4 * 10000}",
        f"1 {2 * squares + 50 * 7}",
        "11 22 33",
        "5990",
    ]


@pytest.mark.parametrize(("count", "told"), [
    (0x0400_0000, "HostLink::send: there is no memory at 0x"),
    (0x4000_0000, "HostLink::send: 1073741824 words to read end beyond the address space"),
])  # fmt: skip
def test_invalid_loader_requests_are_reported(command: Command, count: int, told: str) -> None:
    (line,) = bad(command("run", FIXTURES / "cores", *RTL, "--", count), 2)
    assert line.startswith(f"gossamer: error: {told}")


def test_thread_bytes_reach_the_host(command: Command) -> None:
    heard = {100 * core: "b" for core in range(CORES)} | {1: "IBM", 102: "Hello", 203: "world"}
    wanted = [f"{who}: {what}" for who, what in sorted(heard.items())]
    assert good(command("run", FIXTURES / "echo", *RTL)) == wanted


def test_full_thread_queue_stalls_the_host(command: Command) -> None:
    total = f"{sum(range(5000)):08x}"
    assert good(command("run", FIXTURES / "flow", *RTL)) == ["full: yes", f"0:0:0:0: {total}", total]


THREADED = """#include <HostLink.h>
#include <thread>
int main() {
  for (int again = 0; again < 2; again++) {
    HostLink hostLink;
    hostLink.boot("code.v", "data.v");
    FILE* out = tmpfile();
    std::thread printer([&] { hostLink.dumpStdOut(out); });
    hostLink.go();
    uint32_t msg[TinselWordsPerMsg] = {0};
    for (int i = 0; i < TinselThreadsPerBoard; i++) hostLink.send(i, 1, msg);
    printer.join();
    rewind(out);
    char line[80];
    while (fgets(line, sizeof line, out)) fputs(line, stdout);
  }
}
"""


def test_multithreaded_host_opens_two_links_in_sequence(command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path / "threaded", THREADED)
    assert good(command("run", folder, *RTL, timeout=200)) == ["0:0:0:5: five is here"] * 2


# ------------------------------------------------------------------------------ errors

DEVICE = """#include <tinsel.h>
int main() {
  if (tinselId() == 5) {
    printf("five is here\\n");
    %s
  }
  tinselWaitUntil(TINSEL_CAN_RECV);
  return 0;
}
"""
HOST = """#include <HostLink.h>
int main(int argc, char** argv) {
  HostLink hostLink;
  hostLink.boot("code.v", "data.v");
  hostLink.go();
  uint32_t msg[TinselWordsPerMsg];
  %s
  return 0;
}
"""


def written(folder: Path, host: str, device: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "prog.c").write_text(DEVICE % device)
    (folder / "Run.cpp").write_text(host if "#include" in host else HOST % host)
    return folder


def test_trap_aborts_the_run(command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path / "trap", "hostLink.recv(msg);", "*(volatile int*) 8 = 1;")
    lines = bad(command("run", folder, *RTL, timeout=100), 4)
    assert lines[0] == "[5] five is here"
    assert re.fullmatch(r"\[5\] trap: store_fault: .* in main at .*/prog.c:5 \(pc 0x[0-9a-f]+\)", lines[1])
    assert lines[2:] == [f"gossamer: error: {folder}/Run.cpp: thread 5 trapped; the host waits in HostLink::recv"]


@pytest.mark.parametrize("call", ["recv(msg)", "dumpStdOut(stderr)"])
def test_deadlock_names_the_host_call_and_the_threads(command: Command, tmp_path: Path, call: str) -> None:
    folder = written(tmp_path / "deadlock", f"hostLink.{call};")
    lines = bad(command("run", folder, *RTL, timeout=100), 4)
    assert lines[0] == ("[5] five is here" if "recv" in call else "0:0:0:5: five is here")
    assert lines[1].startswith(f"threads 0-{THREADS - 1} (tiles 0,0, 1,0) wait for a message (tinselWaitUntil) in")
    assert lines[2] == (
        f"gossamer: error: {folder}/Run.cpp: deadlock: the host waits in HostLink::{call.split('(')[0]}, all threads "
        f"that run (0-{THREADS - 1}) wait for messages, and none is in flight"
    )


@pytest.mark.tier("all", seconds=5, adds="hosts that wait when no thread runs")
def test_host_wait_without_a_running_thread_is_an_error(command: Command, tmp_path: Path) -> None:
    all_end = "for (int i = 0; i < TinselThreadsPerBoard; i++) hostLink.send(i, 1, msg);\n"
    folder = written(tmp_path / "ended", all_end + "hostLink.recvMsg(msg, 4);")
    lines = bad(command("run", folder, *RTL, timeout=100), 4)
    error = f"gossamer: error: {folder}/Run.cpp: "
    assert lines[-1] == error + "the host waits in HostLink::recvMsg, but all threads have ended"
    written(folder, HOST.replace("hostLink.go();", "") % "hostLink.recv(msg);")
    lines = bad(command("run", folder, *RTL, timeout=100), 4)
    assert lines == [error + "the host waits in HostLink::recv, but no thread was started (HostLink::go)"]
    written(folder, "hostLink.recv(msg);", "for (;;);")
    lines = bad(command("run", folder, *RTL, "--max-cycles", "20000", timeout=100), 4)
    assert lines[-1] == error + "did not end within 20,000 cycles; the host waits in HostLink::recv"


def test_host_crash_and_host_timeout_are_reported(command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path / "crash", 'puts("before"); fflush(stdout); *(volatile int*) 8 = 1;')
    done = command("run", folder, *RTL, timeout=100)
    assert done.stdout == "before\n"
    assert bad(done, 4) == [f"gossamer: error: {folder}/Run.cpp: the host program was killed by SIGSEGV"]
    written(folder, "hostLink.canRecv(); for (;;) usleep(1000);")
    (line,) = bad(command("run", folder, *RTL, "--timeout", "1", timeout=100), 4)
    wanted = "the host has computed for 1 s without a call to HostLink (--timeout); simulated time was stopped at cycle"
    assert wanted in line


MISUSES = {
    "hostLink.send(TinselThreadsPerBoard, 1, msg)": "HostLink::send: the address 0x00000020 is on board 1; there are "
    "1 x 1 boards of 4 cores of 8 threads; make addresses with toAddr",
    "hostLink.send(0xA0000000, 1, msg)": "HostLink::send: the address 0xa0000000 is not that of "
    "a receiver of messages; ",
    "hostLink.send(0, 5, msg)": "HostLink::send: a message of 5 flits; it has 1 to 4",
    "hostLink.toAddr(0, 1, 0, 0)": "HostLink::toAddr: there is no board 0,1; there are boards 0,0 to 0,0",
    "hostLink.toAddr(0, 0, 4, 0)": "HostLink::toAddr: there is no core 4; a board has cores 0 to 3",
    "hostLink.go()": "HostLink::go: no thread is ready to start; call boot, startAll or startOne before",
    "hostLink.startOne(0, 0, 1, 1)": "HostLink::startOne: core 1 of board 0,0 has been started already",
    "hostLink.recvMsg(msg, 65)": "HostLink::recvMsg: 65 bytes; a message has 64",
    'hostLink.loadAll("code.v", "none" ".v")': "HostLink::loadAll: none.v: No such file or directory",
    'hostLink.loadAll("input.txt", "data.v")': "HostLink::loadAll: input.txt:1: is not a Verilog hex file of bytes",
    'hostLink.loadAll("code.v", "data.v")': "HostLink::loadAll: 32 threads still run; load a program when all",
    "hostLink.setAddr(0, 0, 0, 64); hostLink.store(0, 0, 0, 1, msg); hostLink.recv(msg)": "HostLink::recv: there is no "
    "memory at 0x00000040, or not all of it (address)",
    "HostLink second(2, 1)": "HostLink: 2 x 1 boxes are requested, but all simulated boards are one box, of",
}


def test_invalid_calls_are_reported_in_one_line(command: Command, tmp_path: Path) -> None:
    cases = "".join(f"case {number}: {{ {call}; }} break;\n" for number, call in enumerate(MISUSES))
    folder = written(tmp_path / "misuse", f'printf("kept"); switch (atoi(argv[1])) {{ {cases} }}')
    (folder / "input.txt").write_text("hello")
    for number, told in enumerate(MISUSES.values()):
        done = command("run", folder, *RTL, "--", number, timeout=100)
        assert done.stdout == "kept", number
        (line,) = bad(done, 2)
        assert line.startswith(f"gossamer: error: {told}")


def test_interrupt_ends_the_run(tmp_path: Path) -> None:
    folder = written(tmp_path / "forever", 'puts("begun"); fflush(stdout); hostLink.recv(msg);', "for (;;);")
    with subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), "run", str(folder), *RTL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(60) == 130
        assert "Traceback" not in child.stderr.read()


# ------------------------------------------------------------------------------ sources


def test_sources_are_split_into_host_and_device_programs(tmp_path: Path) -> None:
    files = {
        "Run.cpp": '#include "shared.h"\n// #include <tinsel.h>\n#include "util.h"\nint main() { boot("x/one.v"); }',
        "shared.h": "#ifdef TINSEL\n#include <tinsel.h>\n#else\n#include <HostLink.h>\n#endif\nHostLink* link;\n",
        "util.h": "int f();",
        "util.cpp": '#include "util.h"\nint f() { return 1; }',
        "dev.c": '#include <tinsel.h>\n#include "part.h"\nint main() { return part(); }',
        "part.h": "int part(void);",
        "part.c": '#include "part.h"\nint part(void) { return 0; }',
        "plain.cpp": "int main() {}",
        "input.txt": "1 2 3",
        "Makefile": "all:",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    parts = hostlink.split([str(tmp_path)])
    assert [path.name for path in parts.host] == ["Run.cpp", "util.cpp"]
    devices = {name: [path.name for path in paths] for name, paths in parts.devices.items()}
    assert devices == {"dev": ["dev.c", "part.c"], "plain": ["plain.cpp", "part.c"]}
    assert parts.hex_files == ("x/one.v",)
    assert [path.name for path in parts.data] == ["Makefile", "input.txt", "part.h", "shared.h", "util.h"]


def test_incomplete_program_folders_are_rejected(command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path / "part", "")
    (folder / "prog.c").unlink()
    (line,) = bad(command("run", folder, *RTL), 2)
    assert line.endswith(f"{folder}: loads code.v, but has nothing for threads: no source includes tinsel.h")
    written(folder, "")
    (folder / "Other.cpp").write_text(HOST % "")
    (line,) = bad(command("run", folder, *RTL), 2)
    assert line == (
        f"gossamer: error: {folder}/Other.cpp: has a main, as has {folder}/Run.cpp; give the files of one host program"
    )
    done = command("run", folder / "Run.cpp", folder / "prog.c", *RTL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (folder / "Other.cpp").write_text("#include <tinsel.h>\nint main() {}")
    (line,) = bad(command("run", folder, *RTL), 2)
    assert f"{folder}/Run.cpp: loads code.v, but there are several programs for threads" in line
    (folder / "Other.cpp").unlink()
    written(folder, "nothing_of_this_name();")
    (line,) = bad(command("run", folder, *RTL), 2)
    assert line.startswith(f"gossamer: error: {folder}/Run.cpp:7: ") and "nothing_of_this_name" in line
    (line,) = bad(command("run", folder, *RTL, "--threads", "4"), 2)
    assert line == "gossamer: error: --threads: not for a program with a host; a host starts its threads itself"


def test_host_reads_files_of_its_own_and_the_callers_folder(command: Command, tmp_path: Path) -> None:
    text = """#include <HostLink.h>
    int main(int argc, char** argv) {
      char word[2][16];
      const char* names[] = {"own.txt", argv[1]};
      for (int i = 0; i < 2; i++) {
        FILE* file = fopen(names[i], "r");
        if (!file || fscanf(file, "%15s", word[i]) != 1) return 9;
        fclose(file);
      }
      printf("%s %s %s\\n", word[0], word[1], argv[2]);
      return 0;
    }
    """
    folder = written(tmp_path / "files", text)
    (folder / "own.txt").write_text("mine")
    (tmp_path / "given.txt").write_text("yours")
    done = command("run", folder, *RTL, "--", "given.txt", "--plain", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine yours --plain\n", "")
