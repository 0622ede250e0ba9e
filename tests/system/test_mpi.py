# SPDX-License-Identifier: Apache-2.0
"""MPI programs on this machine: their output matches MPICH's, and errors are reported."""

from __future__ import annotations

import random
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Command, Size
from system import mpi_order

import gossamer_setup
from gossamer import builds, device
from gossamer import config as configs
from gossamer.mpi import HEADERS, _device, _host

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "examples" / "mpi"
FIXTURES = ROOT / "tests" / "fixtures" / "mpi"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.c"))
CALLS = ("objects", "data", "collectives")
"""Fixtures with the calls that calls.c lacks."""
PREFIX = Path(sys.executable).parent.parent
"""The folder where set-up group `mpi` installs MPICH."""


@pytest.fixture(scope="module")
def other() -> None:
    """Requires MPICH."""
    gossamer_setup.require("mpi")
    if not (PREFIX / "bin" / "mpiexec").exists():
        pytest.skip("MPICH has wheels for x86-64 alone")


needs_other = pytest.mark.usefixtures("other")


def with_other(source: Path, ranks: int, folder: Path, *arguments: str) -> str:
    """The output of a program under MPICH."""
    made = folder / f"other-{source.stem}"
    library = [f"-I{PREFIX}/include", f"-L{PREFIX}/lib", f"-Wl,-rpath,{PREFIX}/lib", "-lmpi", "-lm"]
    subprocess.run([*builds.c_compiler(), "-w", "-O1", str(source), "-o", str(made), *library], check=True)
    words = [str(PREFIX / "bin" / "mpiexec"), "-n", str(ranks), str(made), *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def ours(
    source: Path, ranks: int, folder: Path, *arguments: str, packet_bytes: int | None = None, shuffle: int = 0
) -> str:
    """The output of a program under Gossamer's MPI. ``shuffle``: packets arrive in any order, as the overlay's may."""
    made, _ = _host.build([str(source)], packet_bytes=packet_bytes)
    script = (
        "import sys, pathlib; from gossamer.mpi import _host; "
        "_host.run(sys.argv[1], pathlib.Path(sys.argv[1]), int(sys.argv[2]), "
        "sys.argv[4:], {'GSMPI_SHUFFLE': sys.argv[3]})"
    )
    command = [sys.executable, "-c", script, str(made), str(ranks), str(shuffle), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines(text: str) -> list[str]:
    return sorted(text.splitlines())


@needs_other
@pytest.mark.parametrize("name", NAMES)
def test_programs_match_mpich(name: str, tmp_path: Path, size: Size) -> None:
    for ranks in size.pick((4,), (2, 6), (1, 2, 3, 4, 6, 8, 12, 16)):
        assert lines(ours(PROGRAMS / f"{name}.c", ranks, tmp_path)) == lines(
            with_other(PROGRAMS / f"{name}.c", ranks, tmp_path)
        )


@needs_other
def test_every_call_matches_mpich(tmp_path: Path, seed: int, size: Size) -> None:
    """With packet sizes of this machine and of the overlay, and with packets in any order."""
    source = FIXTURES / "calls.c"
    for ranks in size.pick((4,), (1, 5), (1, 2, 3, 4, 5, 7, 8)):
        wanted = lines(with_other(source, ranks, tmp_path))
        assert len(wanted) > 20
        assert lines(ours(source, ranks, tmp_path)) == wanted
        assert lines(ours(source, ranks, tmp_path, packet_bytes=64)) == wanted
        assert lines(ours(source, ranks, tmp_path, packet_bytes=64, shuffle=seed | 1)) == wanted


@needs_other
@pytest.mark.default_cases(r"\w+-4", seconds=20, adds="other numbers of ranks")
@pytest.mark.parametrize("ranks", [1, 4, 5, 7])
@pytest.mark.parametrize("name", CALLS)
def test_groups_datatypes_and_nonblocking_calls_match_mpich(name: str, ranks: int, tmp_path: Path, seed: int) -> None:
    source = FIXTURES / f"{name}.c"
    wanted = lines(with_other(source, ranks, tmp_path))
    assert len(wanted) > 40
    assert lines(ours(source, ranks, tmp_path)) == wanted
    assert lines(ours(source, ranks, tmp_path, packet_bytes=64, shuffle=seed | 1)) == wanted


@pytest.mark.parametrize("ranks", [1, 3])
def test_thousands_of_communicators_then_an_error(ranks: int, tmp_path: Path) -> None:
    """Ranks that already use different contexts; the error is returned, and communicators that are freed are reused."""
    found = lines(ours(FIXTURES / "many_comms.c", ranks, tmp_path))
    counts = {int(line.split()[2]) for line in found}
    assert len(found) == ranks and len(counts) == 1 and counts.pop() > 16000, found
    assert all(line.endswith("none is left, 0 are wrong") for line in found), found


def test_processor_name_is_that_of_the_host(command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "streams.c", "-n", "2")
    assert (done.returncode, f"name {socket.gethostname()}" in done.stdout.splitlines()) == (0, True), done.stderr


@pytest.mark.parametrize("name", ["tag", "received-type", "other-tag", "mismatch", "request"])
def test_errors_and_deadlocks_name_file_and_line(name: str, command: Command) -> None:
    """Each message starts with the line of the call, which contains the call's name."""
    text = (FIXTURES / "wrong.c").read_text().splitlines()
    done = command("mpi", "run", FIXTURES / "wrong.c", "-n", "3", "--", name, timeout=60)
    found = re.findall(r"^mpi: \S*wrong\.c:(\d+): rank \d: .*?(MPI_\w+)", done.stderr, re.MULTILINE)
    assert done.returncode == 4 and found, done.stderr
    assert len(found) == done.stderr.count("mpi: "), done.stderr
    for line, call in found:
        assert f"{call}(" in text[int(line) - 1], done.stderr


def test_compiler_warnings_are_printed_with_verbose_alone(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "warned.c"
    program.write_text(
        "#include <mpi.h>\nint main(void) {\n  int unused;\n  MPI_Init(0, 0);\n  MPI_Finalize();\n  return 0;\n}\n"
    )
    done = command("mpi", "run", program, "-n", "1")
    assert (done.returncode, done.stderr) == (0, "")
    done = command("mpi", "run", program, "-n", "1", "-v")
    assert (done.returncode, "warned.c:3: warning: " in done.stderr) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("MPI_Win w; MPI_Win_create(0, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);", "one-sided communication"),
        ("MPI_Put(0, 0, MPI_INT, 0, 0, 0, MPI_INT, 0);", "one-sided communication"),
        ("MPI_File_open(MPI_COMM_WORLD, 0, 0, MPI_INFO_NULL, 0);", "files"),
        ("MPI_Comm_spawn(0, 0, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, 0, 0);", "inter-communicators"),
    ],
)
@pytest.mark.default_cases(r"c-.*(one-sided|files).*", seconds=3, adds="C++, and more calls")
@pytest.mark.parametrize("suffix", ["c", "cpp"])
def test_unsupported_calls_are_named_when_compiled(
    call: str, said: str, suffix: str, command: Command, tmp_path: Path
) -> None:
    program = tmp_path / f"program.{suffix}"
    program.write_text(f"#include <mpi.h>\nint main() {{\n  {call}\n}}\n")
    done = command("mpi", "run", program, "-n", "1")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "program." in done.stderr and ":3: " in done.stderr and f"Gossamer's MPI has no {said}" in done.stderr


@needs_other
def test_user_operations_on_strided_vectors_match_mpich(tmp_path: Path, size: Size) -> None:
    """A user operation receives the elements of a strided vector at their positions."""
    for ranks in size.pick((3,), (2, 5), (2, 3, 4, 5, 7, 8)):
        wanted = lines(with_other(FIXTURES / "strided_datatypes.c", ranks, tmp_path))
        assert len(wanted) == 20 * ranks
        assert lines(ours(FIXTURES / "strided_datatypes.c", ranks, tmp_path)) == wanted


@needs_other
def test_long_double_reductions_match_mpich(tmp_path: Path) -> None:
    for ranks in (2, 5):
        wanted = lines(with_other(FIXTURES / "long_double_reductions.c", ranks, tmp_path))
        assert lines(ours(FIXTURES / "long_double_reductions.c", ranks, tmp_path)) == wanted != []


def test_test_program_calls_every_declared_function() -> None:
    """The fixtures call each function that the header declares, except the one that aborts a run."""
    header = (ROOT / "include" / "gossamer" / "mpi" / "mpi.h").read_text()
    declared = set(re.findall(r"^(?:int|double|MPI_Aint) (MPI_\w+)\(", header, re.MULTILINE))
    assert len(declared) > 190
    texts = [(FIXTURES / f"{name}.c").read_text() for name in ("calls", *CALLS)]
    called = {name for text in texts for name in re.findall(r"\b(MPI_\w+)\(", text)}
    assert declared - called == {"MPI_Abort"}


def test_freed_datatypes_and_memory_are_reused(tmp_path: Path) -> None:
    """Datatypes derived from others that are freed first, some of them in use by a receive; memory."""
    assert lines(ours(FIXTURES / "resource_reuse.c", 2, tmp_path)) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


@pytest.mark.tier("quick", seconds=1, adds="ranks of MPI as processes")
def test_freed_communicators_are_reused(tmp_path: Path) -> None:
    assert lines(ours(FIXTURES / "comm_reuse.c", 2, tmp_path)) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


def test_random_receives_match_in_mpi_order(tmp_path: Path, seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, in order and with packets that overtake each other."""
    chance = random.Random(seed)
    for _ in range(size.pick(4, 15, 1000)):
        ranks, each, one = chance.randint(2, 6), chance.randint(1, 12), chance.randrange(1, 1 << 30)
        for shuffle in (0, one):
            text = ours(FIXTURES / "order.c", ranks, tmp_path, str(one), str(each), packet_bytes=64, shuffle=shuffle)
            assert mpi_order.judge(text, ranks, each) == [], f"seed {one}, {ranks} ranks, {each} messages\n{text}"


@needs_other
def test_mpich_passes_the_matching_order_check(tmp_path: Path, seed: int, size: Size) -> None:
    """MPICH confirms that the rules of the check are those of MPI."""
    chance = random.Random(seed)
    for _ in range(size.pick(1, 4, 50)):
        ranks, each, one = chance.randint(2, 5), chance.randint(1, 12), chance.randrange(1, 1 << 30)
        text = with_other(FIXTURES / "order.c", ranks, tmp_path, str(one), str(each))
        assert mpi_order.judge(text, ranks, each) == []


def test_matching_order_check_detects_violations() -> None:
    good = "got 0 comm 0 source -1 tag -1: comm 0 source 1 number 0 tag 2, status 1 2, 5 of 5\n"
    second = "got 1 comm 0 source 1 tag 2: comm 0 source 1 number 1 tag 2, status 1 2, 5 of 5\n"
    assert mpi_order.judge(good + second, 2, 2) == []
    swapped = good.replace("number 0", "number 1") + second.replace("number 1", "number 0")
    assert any("overtaken" in line for line in mpi_order.judge(swapped, 2, 2))
    assert mpi_order.judge(good, 2, 2)
    assert mpi_order.judge(good.replace("5 of 5", "4 of 5") + second, 2, 2)
    late = second + "open 0 comm 0 source -1 tag -1\n" + good.replace("got 0", "got 2")
    assert any("still open" in line for line in mpi_order.judge(late, 2, 2))


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        ("deadlock", 4, ["rank 0: deadlock: waits in MPI_Recv for a message from rank 1 with tag 7 in MPI_COMM_WORLD",
                         "rank 1: deadlock: ", "rank 2: deadlock: "]),
        ("tag", 4, ["rank 1: MPI_Send: tag -4 is out of range", "[MPI_ERR_TAG]"]),
        ("rank", 4, ["rank 2: MPI_Send: rank 99 is not in MPI_COMM_WORLD, which has ranks 0 to 2 [MPI_ERR_RANK]"]),
        ("type", 4, ["rank 1: MPI_Send: 0x0 is not a datatype", "[MPI_ERR_TYPE]"]),
        ("sent-type", 4, ["rank 1: MPI_Send: 0x30f is not a datatype", "[MPI_ERR_TYPE]"]),
        ("received-type", 4, ["rank 1: MPI_Recv: 0x328 is not a datatype", "[MPI_ERR_TYPE]"]),
        ("comm", 4, ["rank 1: MPI_Send: the communicator is MPI_COMM_NULL [MPI_ERR_COMM]"]),
        ("leave", 4, ["rank 1 ended without MPI_Finalize, with exit code 3"]),
        ("exit", 4, ["rank 1 ended without MPI_Finalize, with exit code 3"]),
        ("mismatch", 4, ["all must call the same", "MPI_Barrier"]),
        ("root", 4, ["all must call the same", "MPI_Bcast with root"]),
        ("counts", 4, ["MPI_Bcast: rank 0 of MPI_COMM_WORLD has sent 8 bytes and this rank expects 4"]),
        ("more", 4, ["MPI_Finalize", "rank 1", "calls MPI_Bcast with root 1"]),
        ("truncate", 4, ["rank 0: MPI_Recv: the message from rank 1, tag 4, has 16 bytes, but the receive buffer has 4 "
                         "[MPI_ERR_TRUNCATE]"]),
        ("bytes", 4, ["rank 0: MPI_Allreduce: MPI_MAX does not support MPI_BYTE [MPI_ERR_OP]"]),
        ("other-tag", 4, ["rank 0: deadlock: waits in MPI_Recv for a message from rank 1 with tag 7 in MPI_COMM_WORLD; "
                          "a message from rank 1 with tag 8 waits for a receive"]),
        ("other-source", 4, ["a message from rank 2 with tag 7 waits for a receive"]),
        ("request", 4, ["rank 0: deadlock: waits in MPI_Wait for MPI_Ibarrier in MPI_COMM_WORLD",
                        "rank 1: deadlock: waits in MPI_Finalize"]),
        ("operation", 4, ["rank 0: MPI_Allreduce: MPI_BAND does not support MPI_FLOAT [MPI_ERR_OP]"]),
        ("abort", 4, ["rank 2: MPI_Abort with code 9", "rank 2 ended the run"]),
        ("crash", 4, ["rank 1 was killed by SIGABRT"]),
        ("early", 4, ["MPI_Comm_rank: called before MPI_Init"]),
        ("code", 1, ["rank 1 with 5"]),
        ("nothing", 0, []),
    ],
)  # fmt: skip
def test_errors_name_rank_call_and_cause(what: str, code: int, said: list[str], command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "wrong.c", "-n", "3", "--", what, timeout=60)
    assert done.returncode == code, done.stderr
    for text in said:
        assert text in done.stderr


@pytest.mark.parametrize(
    ("call", "gives", "expects", "kind"),
    [
        ("Gather", 8, 4, "TRUNCATE"), ("Gatherv", 8, 4, "TRUNCATE"), ("Scatter", 4, 8, "COUNT"),
        ("Scatterv", 8, 4, "TRUNCATE"), ("Allgather", 8, 4, "TRUNCATE"), ("Alltoall", 8, 4, "TRUNCATE"),
        ("Alltoallv", 8, 4, "TRUNCATE"),
    ],
)  # fmt: skip
def test_size_mismatch_within_a_rank_is_reported(
    call: str, gives: int, expects: int, kind: str, command: Command
) -> None:
    """Rank 0 sends itself more or less than it expects; all other ranks are correct."""
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", f"own-{call.lower()}", timeout=60)
    said = f"rank 0: MPI_{call}: this rank sends {gives} bytes to itself and expects {expects} [MPI_ERR_{kind}]"
    assert (done.returncode, said in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    "call",
    ["Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather",
     "Alltoall", "Sendrecv_replace"],
)  # fmt: skip
def test_collectives_reject_a_null_buffer(call: str, command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", f"null-{call.lower()}", timeout=60)
    said = f"rank 0: MPI_{call}: the buffer is null and the count is 1 [MPI_ERR_BUFFER]"
    assert (done.returncode, said in done.stderr) == (4, True), done.stderr


def test_insignificant_null_buffers_are_accepted(command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", "nothing", timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_size_limit_of_gather_counts_all_ranks(command: Command) -> None:
    """800 MB on three ranks: Bcast and Reduce reach the check of their null buffer; Gather exceeds the limit."""
    for call, said in (
        ("bcast", "MPI_Bcast: the buffer is null and the count is 200000000 [MPI_ERR_BUFFER]"),
        ("reduce", "MPI_Reduce: the buffer is null and the count is 200000000 [MPI_ERR_BUFFER]"),
        ("gather", "MPI_Gather: 200000000 elements for each of 3 ranks are more than 2 GB [MPI_ERR_COUNT]"),
    ):
        done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", f"large-{call}", timeout=60)
        assert (done.returncode, said in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    ("wait", "leaving", "said"),
    [
        ("0", ["1"], "rank 1"),
        ("600", ["1"], "rank 1"),  # the others call MPI_Init after rank 1 has ended
        ("-600", ["0"], "rank 0"),  # the others already wait for rank 0
        ("0", ["0", "1", "2"], None),
    ],
)
def test_rank_that_exits_before_mpi_init_is_reported(
    wait: str, leaving: list[str], said: str | None, command: Command
) -> None:
    """``wait``: milliseconds that the other ranks wait before MPI_Init; if negative, the leaving ranks wait."""
    done = command("mpi", "run", FIXTURES / "missing_init.c", "-n", "3", "--", wait, *leaving, timeout=60)
    if said is None:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, f"{said} ended without MPI_Init" in done.stderr) == (4, True), done.stderr


def test_invalid_programs_and_options_are_rejected(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "broken.c"
    program.write_text("#include <mpi.h>\nint main(void) { return MPI_Nothing(); }\nint other( {\n")
    done = command("mpi", "run", program)
    assert (done.returncode, "broken.c:3" in done.stderr or "broken.c:2" in done.stderr) == (2, True), done.stderr
    done = command("mpi", "run", tmp_path / "absent.c")
    assert (done.returncode, "no such file" in done.stderr) == (2, True)
    done = command("mpi", "run", FIXTURES / "wrong.c", "-n", "100000")
    assert (done.returncode, "100000" in done.stderr) == (2, True)
    done = command("mpi", "run", FIXTURES / "wrong.c", "--config", "tiny")
    assert (done.returncode, "--engine rtl" in done.stderr) == (2, True)


def test_real_time_signal_is_reported_by_number(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "signal.c"
    program.write_text("#include <mpi.h>\n#include <signal.h>\nint main(void) { MPI_Init(0, 0); raise(40); }\n")
    done = command("mpi", "run", program, "-n", "1")
    assert (done.returncode, "rank 0 was killed by signal 40" in done.stderr) == (4, True), done.stderr


def test_open_file_limit_is_raised_or_reported(tmp_path: Path) -> None:
    """A run raises its limit of open files to the hard limit, and reports when that is too small."""
    program = tmp_path / "many.c"
    program.write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); }\n")
    for limit, ranks, code, said in (
        ("ulimit -n 40", "60", 2, "-n 60: needs "),
        ("ulimit -n 40", "8", 0, ""),
        ("ulimit -Sn 40", "60", 0, ""),
    ):
        words = [sys.executable, str(ROOT / "gossamer"), "mpi", "run", str(program), "-n", ranks]
        done = subprocess.run(
            ["bash", "-c", f'{limit} && exec "$@"', "bash", *words], capture_output=True, text=True, check=False
        )
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr


def test_current_folder_is_a_program(command: Command, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); }\n")
    done = command("mpi", "run", ".", "-n", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_renaming_main_keeps_string_literals(tmp_path: Path) -> None:
    """The overlay's build renames main but not string literals that contain its name."""
    source = tmp_path / "text.c"
    source.write_text(
        '#include <mpi.h>\n#include <stdio.h>\nint main(void) {\n  printf("user@main \\"@main\\" @main\\n");\n'
        "  return 0;\n}\n"
    )
    config = configs.load("tiny-mpi")
    objects, _ = _device._private([source], [f"-I{HEADERS}", f"-I{device.headers(config, device.ALONE)}"])
    made = objects[source]
    assert b'user@main "@main" @main' in made.read_bytes()
    assert b"gsmpi_main\0" in made.read_bytes()


def test_cpp_program_receives_its_arguments(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "words.cpp"
    program.write_text(
        "#include <mpi.h>\n#include <cstdio>\nstatic MPI_Comm world = MPI_COMM_WORLD;\n"
        "int main(int argc, char** argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(world, &rank);\n"
        '  if (rank == 1) std::printf("%d %s %s\\n", argc, argv[1], argv[2]);\n  MPI_Finalize();\n}\n'
    )
    done = command("mpi", "run", program, "-n", "2", "--", "--size", "a b.c")
    assert (done.returncode, done.stdout) == (0, "3 --size a b.c\n"), done.stderr
