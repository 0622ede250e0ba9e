# SPDX-License-Identifier: Apache-2.0
"""`./gossamer smi generate`: the host's header compared with the tables, CMake, errors.

tests/rtl/stream/test_generated.py tests the hardware itself.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Command

from gossamer import builds
from gossamer.smi import hardware

GESUMMV = [str(ROOT / "examples" / "gesummv" / f"gesummv_rank{rank}.cl") for rank in range(2)]
SENDS = "#include <smi.h>\nint main(void) {{ SMI_Channel c = {call}; (void)c; return 0; }}\n"


def test_header_functions_write_the_words_of_the_tables(tmp_path: Path) -> None:
    """Calls derived only from ranks and edges, compiled as C99, write the words of the tables for each board."""
    program = tmp_path / "both.c"
    program.write_text(
        "#include <smi.h>\nint main(void) { SMI_Barrier(3, SMI_COMM_WORLD); "
        "SMI_BChannel b = SMI_Open_bcast_channel(4, SMI_INT, 1, 0, SMI_COMM_WORLD); (void)b; return 0; }\n"
    )
    design = hardware.design([str(program)], ["both,both"], options=hardware.Options(links=4, edges=3))
    hardware.write(design, tmp_path)
    ranks, words, ends = hardware.tables(design, "ring4")
    assert len(ranks) == 8
    calls = []
    for board, name in enumerate(words):
        calls.append(f'puts("{name}"); gossamer_smi_board(&bus, {board}, 1);')
        for one in ranks:
            calls.append(
                f"gossamer_smi_rank(&bus, {one.rank}, (struct gossamer_smi_location){{{one.board}, {one.slot}}});"
            )
        for one in (one for one in ranks if one.board == board):
            calls.append(f"gossamer_smi_own(&bus, {one.slot}, {one.rank});")
            for edge, far in ends[one.rank].items():
                (back,) = [number for number, to in ends[far].items() if to == one.rank]
                there = f"(struct gossamer_smi_location){{{ranks[far].board}, {ranks[far].slot}}}"
                calls.append(f"gossamer_smi_edge(&bus, {one.slot}, {edge}, {far}, {there}, {back});")
            for root in range(len(ranks)):
                towards = {edge: reach(ends, far, one.rank) for edge, far in ends[one.rank].items()}
                parent = next((edge for edge, those in towards.items() if root in those), -1)
                children = sum(1 << edge for edge in towards if edge != parent)
                calls.append(f"gossamer_smi_tree(&bus, {one.slot}, {root}, {parent}, {children});")
                calls.append(f"gossamer_smi_next_edge(&bus, {one.slot}, {root}, {max(parent, 0)});")
        calls.append("gossamer_smi_bind_edges(&bus, 3);")
    (tmp_path / "host.c").write_text(
        '#include <stdio.h>\n#include "both_both.h"\n'
        "static void put(void* c, uint32_t a, uint32_t w) { (void)c; "
        'printf("%u %lu\\n", (unsigned)a, (unsigned long)w); }\n'
        "int main(void) { const struct gossamer_smi_bus bus = {put, 0, 0};\n"
        + "\n".join(calls)
        + "\nreturn both_both_design.slots != 2; }\n"
    )
    flags = ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    subprocess.run([*builds.compiler(), *flags, str(tmp_path / "host.c"), "-o", str(tmp_path / "host")], check=True)
    printed: dict[str, list[tuple[int, int]]] = {}
    for line in subprocess.run([tmp_path / "host"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line in words:
            printed[line] = []
        else:
            address, word = map(int, line.split())
            printed[list(printed)[-1]].append((address, word))
    for name, mine in printed.items():
        # Without the routes (0x14), which the route generator computes.
        assert sorted(mine) == sorted(pair for pair in words[name] if pair[0] != 0x14)
        assert [pair[0] for pair in words[name]][-1] == 0x2C
        trees = [word for address, word in words[name] if address == 0x24 and word & 7 == 1]
        assert trees[-1] >> 3 & 0xFF == 0, "rank 0's tree must be last"


def test_ordered_sums_use_the_path_of_ranks() -> None:
    """With any wiring, the last tree is the path of ranks: each rank's child is the rank before it."""
    design = hardware.design([str(ROOT / "examples" / "streams" / "kmeans.cpp")])
    for cluster in ("torus8", "bus8"):
        places, words, ends = hardware.tables(design, cluster)
        for place, written in zip(places, words.values(), strict=True):
            tree = [word for address, word in written if address == 0x24][-1]
            entry, root = tree >> 11, tree >> 3 & 0xFF
            below = {ends[place.rank][edge] for edge in range(8) if entry >> edge & 1}
            assert root == 7 and entry >> 11 == (place.rank == 7)
            assert below == ({place.rank - 1} if place.rank else set())
            assert place.rank == 7 or ends[place.rank][entry >> 8 & 7] == place.rank + 1


def reach(ends: dict[int, dict[int, int]], rank: int, before: int) -> set[int]:
    """Ranks reachable over an edge."""
    found = {rank}
    for far in ends[rank].values():
        if far != before:
            found |= reach(ends, far, rank)
    return found


def test_second_run_writes_no_file(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "made"
    first = command("smi", "generate", *GESUMMV, "-o", str(out), "--links", "1", "--lanes", "0=4")
    assert (first.returncode, first.stderr) == (0, "")
    assert "logic [127:0] port0_send_tdata" in (out / "gesummv_rank0.sv").read_text()
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert command("smi", "generate", *GESUMMV, "-o", str(out), "--links", "1", "--lanes", "0=4").returncode == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()} == before
    for board in ("gesummv_rank0", "gesummv_rank1"):
        core = (out / f"{board}.core").read_text()
        named = re.findall(r"^      - ([^:\n]+)", core, re.MULTILINE)
        assert f"{board}.sv" in named and all((out / name).is_file() for name in named)
        for project in (f"{board}.qip", f"{board}_vivado.tcl"):
            text = (out / project).read_text()
            assert all(name in text for name in named)


def test_files_of_removed_boards_are_removed_and_others_stay(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "made"

    def generate(*arguments: str) -> set[str]:
        assert command("smi", "generate", *arguments, "-o", str(out)).returncode == 0
        return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}

    both = generate(*GESUMMV, "--counters")
    (out / "gesummv_rank0_host.c").write_text("int main(void) { return 0; }\n")
    (out / "rtl" / "mine.sv").write_text("module mine; endmodule\n")
    # A file that the user has changed since is the user's.
    (out / "gesummv_rank0.core").write_text("changed\n")
    (out / "gesummv_rank0.qip").unlink()
    (out / "gesummv_rank0.qip").symlink_to(out / "rtl" / "mine.sv")
    one = generate(GESUMMV[1])
    gone = {f"gesummv_rank0{end}" for end in (".sv", ".h", ".f", "_vivado.tcl")} | {"rtl/gs_stream_counters.sv"}
    assert both - one == gone
    assert one - both == {"gesummv_rank0_host.c", "rtl/mine.sv"}
    assert (out / "rtl" / "mine.sv").exists()
    # A list that names files outside of the folder, or is damaged, removes nothing.
    outside = tmp_path / "outside.txt"
    outside.write_text("text\n")
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    (out / "written.json").write_text(json.dumps({"files": {"../outside.txt": digest, str(outside): digest}}))
    assert generate(GESUMMV[1]) == one and outside.exists()
    (out / "written.json").write_text("{")
    assert generate(GESUMMV[1]) == one


def test_tables_stay_as_long_as_they_are_valid(command: Command, tmp_path: Path) -> None:
    program, out = str(ROOT / "examples" / "streams" / "stencil.cpp"), tmp_path / "made"
    for options, stays in ((["--cluster", "torus8"], True), ([], True), (["--depth", "512"], False)):
        assert command("smi", "generate", program, "-o", str(out), *options).returncode == 0
        assert (out / "tables.json").exists() == stays


def test_header_functions_read_reports_and_counters(tmp_path: Path) -> None:
    """Fields of registers as docs/hardware/stream-top.md and the RTL's report have them; clear writes its bits."""
    design = hardware.design(GESUMMV, options=hardware.Options(links=1, counters=True))
    hardware.write(design, tmp_path)
    (tmp_path / "host.c").write_text(
        """#include <stdio.h>
#include "gesummv_rank1.h"
#include <gossamer/smi/record.h>
static unsigned status = 2, selected = 9;
static void put(void* c, uint32_t a, uint32_t w) {
  (void)c;
  if (a == 0x38) selected = w; else printf("%x %x\\n", (unsigned)a, (unsigned)w);
}
static uint32_t get(void* c, uint32_t a) {
  static const uint32_t words[6] = {0x00050021, 0x0004d807 & 0x0007fcff, 9, 7, 0xA, 0xB};
  (void)c;
  if (a == 8) return status;
  if (a >= 0x60 && a < 0x80) return selected * 1000 + (a - 0x60) / 4;
  if (a == 0x54) status = 0;
  return words[(a - 0x40) / 4];
}
int main(void) {
  const struct gossamer_smi_bus bus = {put, get, 0};
  struct gossamer_smi_report r;
  struct gossamer_smi_counts n;
  gossamer_smi_clear_status(&bus);
  gossamer_smi_clear_collectives(&bus, 5);
  if (!gossamer_smi_read_report(&bus, &r)) return 1;
  printf("%u %u %u %u %u %u", r.rank, r.port, r.peer, r.fault, r.my_type, r.their_type);
  printf(" %u %u %u %u\\n", (unsigned)r.my_count, (unsigned)r.their_count, (unsigned)r.my_tag, (unsigned)r.their_tag);
  if (gossamer_smi_read_report(&bus, &r)) return 2;
  n = gossamer_smi_read_counts(&bus, 3);
  printf("%u %u %u %u %u", (unsigned)n.cycle, (unsigned)n.packets_sent, (unsigned)n.packets_received,
         (unsigned)n.beats_sent, (unsigned)n.beats_received);
  printf(" %u %u %u\\n", (unsigned)n.stalled, (unsigned)n.empty, (unsigned)n.full);
  return gesummv_rank1_design.counters != 1;
}
"""
    )
    flags = ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    subprocess.run([*builds.compiler(), *flags, str(tmp_path / "host.c"), "-o", str(tmp_path / "host")], check=True)
    lines = subprocess.run([tmp_path / "host"], capture_output=True, text=True, check=True).stdout.splitlines()
    word = 0x0004D807 & 0x0007FCFF
    fault, theirs, mine = word >> 10 & 7, word >> 13 & 7, word >> 16 & 7
    assert lines == [
        "c 1", "c 500", f"5 33 7 {fault} {mine} {theirs} 9 7 10 11", "3000 3001 3002 3003 3004 3005 3006 3007"
    ]  # fmt: skip


def test_cluster_changes_the_tables_but_not_the_design(command: Command, tmp_path: Path) -> None:
    program = str(ROOT / "examples" / "streams" / "stencil.cpp")
    texts = []
    for cluster in ("torus8", "bus8"):
        out = tmp_path / cluster
        assert command("smi", "generate", program, "-o", str(out), "--cluster", cluster).returncode == 0
        texts.append({path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()})
    tables = [json.loads(text.pop("tables.json")) for text in texts]
    for text in texts:
        text.pop("written.json")  # has the digest of the tables
    assert texts[0] == texts[1]
    assert tables[0]["boards"] != tables[1]["boards"] and tables[0]["design"] == tables[1]["design"]
    # The bus uses two links of four; its routes use only these.
    assert {tuple(used.items()) for used in tables[1]["links"].values()} == {
        (("ch2", 2),), (("ch3", 3),), (("ch2", 2), ("ch3", 3))
    }  # fmt: skip
    ports = {word & 0x1F for words in tables[1]["boards"].values() for address, word in words if address == 0x14}
    assert ports == {1 + 2, 1 + 3}


def test_links_of_a_smaller_design_are_numbered_by_use() -> None:
    design = hardware.design(GESUMMV, ["gesummv_rank0"], options=hardware.Options(links=2))
    found = hardware.links(design, "bus8")
    assert (found["b0"], found["b1"]) == ({"ch2": 0}, {"ch2": 0, "ch3": 1})


def test_equivalent_options_give_the_same_design() -> None:
    numbers = {hardware.design(GESUMMV, options=hardware.Options(lanes=lanes)).number for lanes in (None, {})}
    assert len(numbers) == 1


def test_old_name_of_voq_depth_works_with_one_note(command: Command, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(SENDS.format(call=SEND))
    texts = []
    for option in ("--voq-depth", "--aside"):
        out = tmp_path / option.strip("-")
        done = command("smi", "generate", str(tmp_path / "one.c"), "-o", str(out), option, "32")
        assert done.returncode == 0
        assert len(done.stderr.splitlines()) == (option == "--aside") and ("--voq-depth" in done.stderr) == bool(
            done.stderr
        )
        texts.append({path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert texts[0] == texts[1]


def test_invalid_board_names_are_rejected(command: Command, tmp_path: Path) -> None:
    def generate(*names: str) -> str:
        files = [tmp_path / f"{name}.c" for name in names]
        for path in files:
            path.write_text(SENDS.format(call=SEND))
        done = command("smi", "generate", *map(str, files), "-o", str(tmp_path / "out"))
        assert (done.returncode == 0) == (done.stderr == "") and len(done.stderr.splitlines()) < 2
        return done.stderr

    assert "table: is a SystemVerilog keyword" in generate("table")
    assert "gs_fifo: Gossamer's modules use these prefixes" in generate("gs_fifo")
    assert "x-y: not a valid module name" in generate("x-y")
    assert "A: differs from a only in letter case" in generate("a", "A")
    # A generated board.h must not replace the header of that name that it includes.
    assert generate("board") == ""
    (tmp_path / "host.c").write_text('#include "out/board.h"\nint main(void) { return board_design.ports != 1; }\n')
    flags = ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT / 'include'}"]
    subprocess.run([*builds.compiler(), *flags, str(tmp_path / "host.c")], check=True)


def test_collective_missing_on_a_rank_is_an_error_of_the_cluster(command: Command, tmp_path: Path) -> None:
    files = [tmp_path / "all.c", tmp_path / "some.c"]
    files[0].write_text("#include <smi.h>\nint main(void) { SMI_Barrier(3, SMI_COMM_WORLD); return 0; }\n")
    files[1].write_text(SENDS.format(call=SEND))
    out = tmp_path / "out"
    done = command("smi", "generate", *map(str, files), "-o", str(out), "--cluster", "ring4")
    assert done.returncode == 2 and not out.exists()
    assert len(done.stderr.splitlines()) == 1
    assert "barrier on port 3, which rank 1 (some) does not have" in done.stderr
    # Without a cluster the design is valid.
    assert command("smi", "generate", *map(str, files), "-o", str(out)).returncode == 0


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_host_builds_with_cmake_and_the_generated_header(tmp_path: Path) -> None:
    """CMake generates the header and builds a host that includes it."""
    sources = " ".join(GESUMMV)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.19)\nproject(host C)\nadd_subdirectory(gossamer)\n"
        f"gossamer_smi(gesummv SOURCES {sources} OPTIONS --links 2 DEPENDS ports.h)\n"
        "add_executable(host host.c)\ntarget_link_libraries(host PRIVATE gesummv)\n"
    )
    # The module is included in another folder than that of the call.
    (tmp_path / "gossamer").mkdir()
    (tmp_path / "gossamer" / "CMakeLists.txt").write_text(f"include({ROOT}/cmake/GossamerSmi.cmake)\n")
    (tmp_path / "ports.h").write_text("")
    (tmp_path / "host.c").write_text(
        "#include <gesummv_rank1.h>\n"
        "int main(void) { return GESUMMV_RANK1_LINKS != 2 || gesummv_rank1_design.ports != 1; }\n"
    )
    for arguments in (["-S", tmp_path, "-B", tmp_path / "build"], ["--build", tmp_path / "build"]):
        done = subprocess.run(["cmake", *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    assert subprocess.run([tmp_path / "build" / "host"], check=False).returncode == 0


SEND = "SMI_Open_send_channel(1, SMI_INT, 1, 0, SMI_COMM_WORLD)"
# Calls of the first program and of an optional second program; options; text of the error line.
ERRORS = {
    "literal": (["SMI_Open_send_channel(1, SMI_INT, 1, getpid(), SMI_COMM_WORLD)"], [], "the port is not constant"),
    "types": (
        ["SMI_Open_send_channel(1, SMI_INT, 1, 5, SMI_COMM_WORLD)",
         "SMI_Open_recv_channel(1, SMI_FLOAT, 1, 5, SMI_COMM_WORLD)"], [], "port 5 is used for receive float",
    ),
    "ordered": (
        ["SMI_Open_reduce_channel(1, SMI_INT, SMI_ADD_ORDERED, 2, 0, SMI_COMM_WORLD)"],
        ["--edges", "1", "--cluster", "ring4"], "generate it with --edges 2",
    ),
    "links": ([SEND], ["--links", "17"], "--links 17: must be from"),
    "depth": ([SEND], ["--depth", "100"], "power of two from 4"),
    "voq-depth": ([SEND], ["--voq-depth", "2"], "--voq-depth 2: must be a power of two from 4 to 4096"),
    "lanes": ([SEND], ["--lanes", "0=8"], "power of two up to 4"),
    "lanes-twice": ([SEND], ["--lanes", "0=2", "--lanes", "0=4"], "port 0 is given twice"),
    "lanes-long": ([SEND], ["--lanes", "0=" + 5000 * "9"], "must be PORT=N"),
    "no-port": ([SEND], ["--lanes", "1=2"], "no program uses port 1"),
    "board": ([SEND], ["--board", "two"], "unknown program two"),
    "room": (
        ["SMI_Open_bcast_channel(1, SMI_INT, 1, 0, SMI_COMM_WORLD)"], ["--board", ",".join(["one0"] * 9)],
        "a board has at most 8",
    ),
    "cluster": (
        [SEND], ["--links", "1", "--cluster", "torus8"],
        "boards use 4 links; the design has 1, see --links",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_error_is_reported_in_one_line(case: str, command: Command, tmp_path: Path) -> None:
    calls, options, message = ERRORS[case]
    files = []
    for at, call in enumerate(calls):
        kind = re.search(r"Open_(\w+?)_channel", call)
        assert kind
        channel = {"bcast": "SMI_BChannel", "reduce": "SMI_RChannel"}.get(kind[1], "SMI_Channel")
        path = tmp_path / f"one{at}.c"
        path.write_text(
            SENDS.format(call=call)
            .replace("SMI_Channel c", f"{channel} c")
            .replace("<smi.h>", "<smi.h>\n#include <unistd.h>")
        )
        files.append(str(path))
    done = command("smi", "generate", *files, "-o", str(tmp_path / "out"), *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr
