# SPDX-License-Identifier: Apache-2.0
"""Programs in the style of Tinsel's applications: their counters, files, headers and parts, on simulated boards."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Command

import gossamer_setup
from gossamer import builds
from gossamer import config as configs
from gossamer.errors import InputError
from gossamer.hosts import hostlink

FIXTURES = ROOT / "tests" / "fixtures" / "hostlink"
RTL = ("--engine", "rtl")
TINY = configs.load("tiny")


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(TINY)


def test_counted_cycles_of_a_core_follow_reset_and_stop(command: Command) -> None:
    done = command("run", FIXTURES / "utilisation", *RTL)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for line in done.stdout.splitlines():
        parts = re.fullmatch(r"0:0:(\d+):\d+: (.*) ([0-9a-f]{8})", line)
        assert parts, line
        found[int(parts[1])][parts[2]] = int(parts[3], 16)
    untouched = found.pop(1)["untouched"]
    assert len(found) == TINY.cores - 1
    for core, one in found.items():
        # A loop of a few instructions, each at most once in as many cycles as the pipeline is deep, and memory waits.
        assert 500 * (core + 1) * 8 < one["cycles"] < 500 * (core + 1) * 200, found
        assert 0.3 < one["idle"] / one["cycles"] < 1, found  # one of the core's threads works
        assert (one["stopped"], one["high"], one["of the core"], one["cleared"]) == (0, 0, 0, 0), found
        assert one["goes on"] == 1
    # Others' commands change nothing: these are cycles from reset on, with loading the program.
    assert untouched > 2000


def test_programs_that_share_a_memory_get_separate_places(command: Command) -> None:
    done = command("run", FIXTURES / "pair_of_programs", *RTL)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(100 + sum(range(1, 9))), str(7 + 6000)]


def placed(words: list[str], edges: list[tuple[int, int]]) -> None:
    """Checks a line of the fixture `tools`: partitions of equal size, and their costs."""
    before, after, width, height = map(int, words[2:6])
    at = [tuple(map(int, word.split(","))) for word in words[6:-2]]
    sizes = Counter(at)
    assert len(sizes) == width * height and max(sizes.values()) == -(-len(at) // (width * height))
    cost = sum(abs(at[a][0] - at[b][0]) + abs(at[a][1] - at[b][1]) for a, b in edges)
    assert after == cost <= before
    assert int(words[-1]) == sum(at[a] == at[b] for a, b in edges)


def test_host_without_threads_finds_the_headers_and_writes_into_the_callers_folder(
    command: Command, tmp_path: Path
) -> None:
    done = command("run", FIXTURES / "tools", *RTL, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:5] == [
        "self-test 1, root 6",
        "40000000 4030201",
        "40000004 605",
        "40000100 aa",
        "bitmap 1 1 0 1",
    ]
    edges = [tuple(map(int, word.split(","))) for word in lines[-1].split()[1:]]
    assert len(edges) == 4 * 37 and len(lines) == 10
    for line in lines[5:-1]:
        placed(line.split(), edges)  # type: ignore[arg-type]
    assert (tmp_path / "made.txt").read_text() == "@40000000\n"
    assert not (FIXTURES / "tools" / "made.txt").exists()
    (tmp_path / "made.txt").unlink()

    # Also if the host returns another code; not if a call is rejected.
    assert command("run", FIXTURES / "tools", *RTL, "--", "three", cwd=tmp_path).returncode == 3
    assert (tmp_path / "made.txt").exists()
    for word, says in (
        ("data", "HostLink::loadDataViaCore: second.v would overwrite first.v at 0x40000004 of the same DRAM"),
        ("code", "HostLink::loadInstrsOntoCore: loop.v for core 1 would replace nop.v, which core 0 runs from"),
        ("ready", "HostLink::startOne: nop.v was loaded for core 0 of board 0,0, and then loop.v for another core"),
    ):
        done = command("run", FIXTURES / "tools", *RTL, "--", word, cwd=tmp_path)
        assert done.returncode == 2 and done.stderr.startswith(f"gossamer: error: {says}"), done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.tier("all", seconds=8, adds="a host with assembly and no main")
def test_bare_program_starts_in_its_own_entry(command: Command) -> None:
    done = command("run", FIXTURES / "bare", *RTL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "43\n", "")


ENDS = {
    "deadlock": ("hostLink.recv(msg);", ()),
    "trap": ("hostLink.send(5, 1, msg); hostLink.recv(msg);", ()),
    "ended": ("for (int i = 0; i < TinselThreadsPerBoard; i++) hostLink.send(7, 1, msg); hostLink.recv(msg);", ()),
    "max-cycles": ("hostLink.recv(msg);", ("--max-cycles", "300")),
    "crashed": ("hostLink.canRecv(); fflush(stdout); *(volatile int*) 8 = 1;", ()),
    "timeout": ("hostLink.canRecv(); for (;;) usleep(1000);", ("--timeout", "1")),
}
DEVICE = """#include <tinsel.h>
int main() {
  tinselWaitUntil(TINSEL_CAN_RECV);
  if (tinselId() == 5) *(volatile int*) 8 = 1;
  return 0;
}
"""
HOST = """#include <HostLink.h>
int main() {
  HostLink hostLink;
  hostLink.boot("code.v", "data.v");
  hostLink.go();
  uint32_t msg[TinselWordsPerMsg] = {0};
  %s
}
"""


@pytest.mark.default_cases("deadlock", seconds=24, adds="the other ends of a run")
@pytest.mark.parametrize("end", ENDS)
def test_statistics_are_written_when_a_run_aborts(end: str, command: Command, tmp_path: Path) -> None:
    call, options = ENDS[end]
    if end == "ended":
        call = call.replace("send(7", "send(i == 5 ? 4 : i").replace("recv(msg)", "flush(); hostLink.recv(msg)")
        call = call.replace("hostLink.flush", "hostLink.send(5, 1, msg); hostLink.flush")
    (tmp_path / "prog.c").write_text(DEVICE.replace("tinselId() == 5", "0") if end == "ended" else DEVICE)
    (tmp_path / "Run.cpp").write_text(HOST % call)
    done = command("run", tmp_path, *RTL, "--stats=figures.json", *options, cwd=tmp_path)
    assert done.returncode == 4, (done.stdout, done.stderr)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["end"] == end
    assert figures["threads"] == TINY.threads
    assert figures["instructions"] > TINY.threads and figures["cycles"] > 100
    assert sum(tile["instructions"] for tile in figures["by_tile"]) >= figures["instructions"]
    assert [trap["thread"] for trap in figures["traps"]] == ([5] if end == "trap" else [])


# ------------------------------------------------------------------------------ parts


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def names_of(folder: Path) -> dict[str, str]:
    """The program for threads that is in each file which a host may load."""
    parts = hostlink.split([str(folder)])
    return {name: program for name, (program, _) in hostlink._hex_names(parts).items()}


THREADS = "#include <tinsel.h>\nint main() { return 0; }\n"
OWN_ENTRY = "#include <config.h>\n  .globl _start\n_start: csrw GS_CSR_THREAD_STOP, zero\n"


@pytest.mark.parametrize(
    ("literals", "expected"),
    [
        (["code_0.v", "data_1.v"], {"code_0.v": "ping_0", "data_1.v": "pong_1"}),
        (["ping_0.v", "pong-data.v"], {"ping_0.v": "ping_0", "pong-data.v": "pong_1"}),
        (["ping.code.v", "pong/code.v"], {"ping.code.v": "ping_0", "pong/code.v": "pong_1"}),
        (["code%d.v"], {"code0.v": "ping_0", "code1.v": "pong_1"}),
        (["instr_%02u.v"], {"instr_00.v": "ping_0", "instr_01.v": "pong_1"}),
        (["%s_code.v"], {"ping_0_code.v": "ping_0", "pong_1_code.v": "pong_1"}),
        (["code_", ".v"], {"code_0.v": "ping_0", "code_1.v": "pong_1", "data_0.v": "ping_0"}),
        (["core1_code.v"], None),
        (["both.v"], None),
        (["code.v"], None),
    ],
)
def test_files_to_load_are_found_by_number_and_name(
    literals: list[str], expected: dict[str, str] | None, tmp_path: Path
) -> None:
    host = "#include <HostLink.h>\nint main() { " + " ".join(f'use("{name}");' for name in literals) + " }\n"
    folder = written(tmp_path, ping_0__c=THREADS, pong_1__c=THREADS, Run__cpp=host)
    if expected is None:
        with pytest.raises(InputError, match=r"loads .*, but there are several programs for threads"):
            names_of(folder)
        return
    assert names_of(folder).items() >= expected.items()


def test_parts_of_a_program_may_be_missing_where_nothing_needs_them(tmp_path: Path) -> None:
    host = '#include <HostLink.h>\nint main() { HostLink link; link.boot("code.v", "data.v"); }\n'
    alone = written(tmp_path / "alone", Run__cpp="#include <HostLink.h>\nint main() { HostLink link; }\n")
    assert hostlink.split([str(alone)]).devices == {}
    own = written(tmp_path / "own", Run__cpp=host, code__v="@0\n13 00 00 00\n", data__v="")
    assert names_of(own) == {}
    with pytest.raises(InputError, match=r"loads data\.v, but has nothing for threads"):
        hostlink.split([str(written(tmp_path / "half", Run__cpp=host, code__v=""))])
    graph = "#include <HostLink.h>\n#include <POLite.h>\nint main() { PGraph<A, B, C, D> graph; }\n"
    with pytest.raises(InputError, match="has a PGraph, but has nothing for threads"):
        hostlink.split([str(written(tmp_path / "graph", Run__cpp=graph))])
    for name, files in {
        "entry": {"boot__S": OWN_ENTRY},
        "first": {"boot__S": "#include <config.h>\n  csrw GS_CSR_THREAD_STOP, zero\n"},
        "c_entry": {"boot__c": "#include <tinsel.h>\nvoid _start(void) { tinselKillThread(); }\n"},
        "both": {"boot__cpp": THREADS, "entry__S": "  .globl _start\n_start:\n  tail main\n"},
    }.items():
        parts = hostlink.split([str(written(tmp_path / name, Run__cpp=host, **files))])
        assert list(parts.devices) == ["boot"], name
    none = written(tmp_path / "none", Run__cpp=host, part__c="#include <tinsel.h>\nint part(void) { return 0; }\n")
    with pytest.raises(InputError, match="no source for threads has a main or a _start"):
        hostlink.split([str(none)])


def test_edge_list_numbers_neighbours_in_reverse_order_of_the_file(tmp_path: Path, seed: int) -> None:
    pairs = np.random.default_rng(seed).integers(9, size=(60, 2)).tolist()
    (tmp_path / "net.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs))
    (tmp_path / "list.cpp").write_text(
        "#include <EdgeList.h>\nint main(int, char** argv) {\n  EdgeList net;\n  net.read(argv[1]);\n"
        "  for (uint32_t i = 0; i < net.numNodes; i++)\n"
        '    for (uint32_t j = 1; j <= net.neighbours[i][0]; j++) printf("%u %u\\n", i, net.neighbours[i][j]);\n}\n'
    )
    folders = [f"-I{ROOT / 'compat' / 'polite'}", f"-I{ROOT / 'include'}"]
    command = [*builds.compiler(), "-std=gnu++17", *folders, str(tmp_path / "list.cpp"), "-o", str(tmp_path / "list")]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "list", tmp_path / "net.txt"], check=True, capture_output=True, text=True)
    wanted = [(a, b) for node in range(10) for a, b in reversed(pairs) if a == node]
    assert [tuple(map(int, line.split())) for line in done.stdout.splitlines()] == wanted


# ------------------------------------------------------------------------------ arithmetic and size of devices

RELAX_H = """#pragma once
#define POLITE_NUM_PINS 1
#include <POLite.h>
struct RelaxState { float value; uint32_t id; };
struct RelaxMessage { float value; uint32_t id; };
template <typename T> T relaxed(T value) { return value * 0.3 + 0.7 / (value + 1.1); }
struct Relax : PDevice<RelaxState, None, RelaxMessage> {
  void init() { *readyToSend = No; }
  void send(volatile RelaxMessage*) {}
  void recv(RelaxMessage*, None*) {}
  bool step() {
    s->value = relaxed(s->value) + s->value * s->value * 0.01;
    return time < 30;
  }
  bool finish(volatile RelaxMessage* m) {
    m->value = s->value;
    m->id = s->id;
    return true;
  }
};
"""
RELAX_CPP = """#include "Relax.h"
int main() { ((PThread<Relax, RelaxState, None, RelaxMessage>*) tinselHeapBaseSRAM())->run(); }
"""
RELAX_RUN = """#include <HostLink.h>
#include "Relax.h"
int main() {
  HostLink hostLink;
  PGraph<Relax, RelaxState, None, RelaxMessage> graph;
  for (int i = 0; i < 50; i++) graph.newDevice();
  graph.map();
  for (uint32_t i = 0; i < 50; i++) graph.devices[i]->state = {i * 0.37f, i};
  graph.write(&hostLink);
  hostLink.boot("code.v", "data.v");
  hostLink.go();
  for (int i = 0; i < 50; i++) {
    PMessage<RelaxMessage> msg;
    hostLink.recvMsg(&msg, sizeof msg);
    uint32_t bits;
    memcpy(&bits, &msg.payload.value, 4);
    printf("%u %08x\\n", msg.payload.id, bits);
  }
}
"""


@pytest.mark.default_cases("cpu", seconds=10, adds="the same on the hardware")
@pytest.mark.parametrize("engine", ["cpu", "rtl"])
def test_devices_compute_in_single_precision_without_contraction(engine: str, command: Command, tmp_path: Path) -> None:
    folder = written(tmp_path, Relax__h=RELAX_H, Relax__cpp=RELAX_CPP, Run__cpp=RELAX_RUN)
    done = command("polite", "run", folder, "--engine", engine, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    f = np.float32
    value = np.arange(50).astype(f) * f(0.37)
    for _ in range(31):
        value = (value * f(0.3) + f(0.7) / (value + f(1.1))) + value * value * f(0.01)
    wanted = {number: f"{bits:08x}" for number, bits in enumerate(value.view(np.uint32).tolist())}
    assert {int(a): b for a, b in map(str.split, done.stdout.splitlines())} == wanted
    if engine == "rtl":
        image = hostlink.build([str(folder)], TINY).images["code.v"]
        assert not [name for name in image.symbols if re.search("printf|print_|df[23]|sfdf|dfsf", name)]
