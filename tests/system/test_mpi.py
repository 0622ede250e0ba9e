# SPDX-License-Identifier: Apache-2.0
"""MPI programs on this machine: the same source gives what another MPI gives, and what is wrong is said."""

from __future__ import annotations

import random
import re
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
PREFIX = Path(sys.executable).parent.parent
"""Where set-up group `mpi` puts a normal MPI, MPICH."""


@pytest.fixture(scope="module")
def other() -> None:
    """For tests that need it."""
    gossamer_setup.require("mpi")
    if not (PREFIX / "bin" / "mpiexec").exists():
        pytest.skip("MPICH has wheels for x86-64 alone")


needs_other = pytest.mark.usefixtures("other")


def with_other(source: Path, ranks: int, folder: Path, *arguments: str) -> str:
    """What a program writes under the other MPI."""
    made = folder / f"other-{source.stem}"
    library = [f"-I{PREFIX}/include", f"-L{PREFIX}/lib", f"-Wl,-rpath,{PREFIX}/lib", "-lmpi", "-lm"]
    subprocess.run([*builds.c_compiler(), "-w", "-O1", str(source), "-o", str(made), *library], check=True)
    words = [str(PREFIX / "bin" / "mpiexec"), "-n", str(ranks), str(made), *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def ours(
    source: Path, ranks: int, folder: Path, *arguments: str, packet_bytes: int | None = None, shuffle: int = 0
) -> str:
    """What it writes under ours. ``shuffle``: packets arrive in any order, as the overlay's may."""
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
def test_programs_give_what_another_mpi_gives(name: str, tmp_path: Path, size: Size) -> None:
    for ranks in size.pick((4,), (2, 6), (1, 2, 3, 4, 6, 8, 12, 16)):
        assert lines(ours(PROGRAMS / f"{name}.c", ranks, tmp_path)) == lines(
            with_other(PROGRAMS / f"{name}.c", ranks, tmp_path)
        )


@needs_other
def test_every_call_gives_what_another_mpi_gives(tmp_path: Path, seed: int, size: Size) -> None:
    """In packets of this machine and of the overlay, and with packets in any order."""
    source = FIXTURES / "calls.c"
    for ranks in size.pick((4,), (1, 5), (1, 2, 3, 4, 5, 7, 8)):
        wanted = lines(with_other(source, ranks, tmp_path))
        assert len(wanted) > 20
        assert lines(ours(source, ranks, tmp_path)) == wanted
        assert lines(ours(source, ranks, tmp_path, packet_bytes=64)) == wanted
        assert lines(ours(source, ranks, tmp_path, packet_bytes=64, shuffle=seed | 1)) == wanted


@needs_other
def test_operations_on_gaps(tmp_path: Path, size: Size) -> None:
    """A program's operation is given elements of a vector where the vector has them."""
    for ranks in size.pick((3,), (2, 5), (2, 3, 4, 5, 7, 8)):
        wanted = lines(with_other(FIXTURES / "strided_datatypes.c", ranks, tmp_path))
        assert len(wanted) == 20 * ranks
        assert lines(ours(FIXTURES / "strided_datatypes.c", ranks, tmp_path)) == wanted


@needs_other
def test_long_doubles(tmp_path: Path) -> None:
    for ranks in (2, 5):
        wanted = lines(with_other(FIXTURES / "long_double_reductions.c", ranks, tmp_path))
        assert lines(ours(FIXTURES / "long_double_reductions.c", ranks, tmp_path)) == wanted != []


def test_every_call_is_called() -> None:
    """Each call that the header declares is in the program that calls them all, but for the end of a run."""
    header = (ROOT / "include" / "gossamer" / "mpi" / "mpi.h").read_text()
    declared = set(re.findall(r"^(?:int|double) (MPI_\w+)\(", header, re.MULTILINE))
    assert len(declared) > 70
    called = set(re.findall(r"\b(MPI_\w+)\(", (FIXTURES / "calls.c").read_text()))
    assert declared - called <= {"MPI_Init", "MPI_Abort"}


def test_what_is_given_back_is_there_again(tmp_path: Path) -> None:
    """Datatypes made of others that are freed first, some of them while a receive uses them; memory."""
    assert lines(ours(FIXTURES / "resource_reuse.c", 2, tmp_path)) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


@pytest.mark.tier("quick", seconds=1, adds="ranks of MPI as processes")
def test_communicators_are_there_again(tmp_path: Path) -> None:
    assert lines(ours(FIXTURES / "comm_reuse.c", 2, tmp_path)) == [f"rank {rank}: 0 are wrong" for rank in range(2)]


def test_matching_order(tmp_path: Path, seed: int, size: Size) -> None:
    """Random streams and receives with wildcards, in order and with packets that overtake each other."""
    chance = random.Random(seed)
    for _ in range(size.pick(4, 15, 1000)):
        ranks, each, one = chance.randint(2, 6), chance.randint(1, 12), chance.randrange(1, 1 << 30)
        for shuffle in (0, one):
            text = ours(FIXTURES / "order.c", ranks, tmp_path, str(one), str(each), packet_bytes=64, shuffle=shuffle)
            assert mpi_order.judge(text, ranks, each) == [], f"seed {one}, {ranks} ranks, {each} messages\n{text}"


@needs_other
def test_another_mpi_keeps_the_same_rules(tmp_path: Path, seed: int, size: Size) -> None:
    """The judge of matching order judges another MPI as well: what it asks for is not of our making."""
    chance = random.Random(seed)
    for _ in range(size.pick(1, 4, 50)):
        ranks, each, one = chance.randint(2, 5), chance.randint(1, 12), chance.randrange(1, 1 << 30)
        text = with_other(FIXTURES / "order.c", ranks, tmp_path, str(one), str(each))
        assert mpi_order.judge(text, ranks, each) == []


def test_the_judge_sees_what_is_wrong() -> None:
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
        ("operation", 4, ["MPI_Allreduce: operation", "[MPI_ERR_OP]"]),
        ("abort", 4, ["rank 2: MPI_Abort with code 9", "rank 2 ended the run"]),
        ("crash", 4, ["rank 1 was killed by SIGABRT"]),
        ("early", 4, ["MPI_Comm_rank: called before MPI_Init"]),
        ("code", 1, ["rank 1 with 5"]),
        ("nothing", 0, []),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(what: str, code: int, said: list[str], command: Command) -> None:
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
def test_a_rank_is_compared_with_itself(call: str, gives: int, expects: int, kind: str, command: Command) -> None:
    """Rank 0 gives itself more or less than it expects, and all others do right."""
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", f"own-{call.lower()}", timeout=60)
    said = f"rank 0: MPI_{call}: this rank sends {gives} bytes to itself and expects {expects} [MPI_ERR_{kind}]"
    assert (done.returncode, said in done.stderr) == (4, True), done.stderr


@pytest.mark.parametrize(
    "call",
    ["Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather",
     "Alltoall", "Sendrecv_replace"],
)  # fmt: skip
def test_collectives_refuse_a_null_buffer(call: str, command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", f"null-{call.lower()}", timeout=60)
    said = f"rank 0: MPI_{call}: the buffer is null and the count is 1 [MPI_ERR_BUFFER]"
    assert (done.returncode, said in done.stderr) == (4, True), done.stderr


def test_null_buffers_that_do_not_count(command: Command) -> None:
    done = command("mpi", "run", FIXTURES / "collective_errors.c", "-n", "3", "--", "nothing", timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_gather_alone_is_limited_by_all_ranks(command: Command) -> None:
    """800 MB on three ranks: a Bcast and a Reduce get as far as their buffer, which is null; a Gather does not fit."""
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
        ("600", ["1"], "rank 1"),  # the other calls MPI_Init when rank 1 has ended
        ("-600", ["0"], "rank 0"),  # the others wait for it already
        ("0", ["0", "1", "2"], None),
    ],
)
def test_a_rank_that_leaves_before_the_others_begin(
    wait: str, leaving: list[str], said: str | None, command: Command
) -> None:
    """Milliseconds that the others wait before MPI_Init, or, less than 0, those who leave before they do."""
    done = command("mpi", "run", FIXTURES / "missing_init.c", "-n", "3", "--", wait, *leaving, timeout=60)
    if said is None:
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, f"{said} ended without MPI_Init" in done.stderr) == (4, True), done.stderr


def test_bad_requests(command: Command, tmp_path: Path) -> None:
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


def test_a_real_time_signal_has_a_number(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "signal.c"
    program.write_text("#include <mpi.h>\n#include <signal.h>\nint main(void) { MPI_Init(0, 0); raise(40); }\n")
    done = command("mpi", "run", program, "-n", "1")
    assert (done.returncode, "rank 0 was killed by signal 40" in done.stderr) == (4, True), done.stderr


def test_open_files(tmp_path: Path) -> None:
    """A run takes the files that it may have, and says when that is too few."""
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


def test_this_folder_is_a_program(command: Command, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); }\n")
    done = command("mpi", "run", ".", "-n", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_text_with_the_name_of_main_stays(tmp_path: Path) -> None:
    """What the overlay's compiler makes of a program: its main gets another name, and its text stays."""
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


def test_cpp_and_arguments(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "words.cpp"
    program.write_text(
        "#include <mpi.h>\n#include <cstdio>\nstatic MPI_Comm world = MPI_COMM_WORLD;\n"
        "int main(int argc, char** argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n  MPI_Comm_rank(world, &rank);\n"
        '  if (rank == 1) std::printf("%d %s %s\\n", argc, argv[1], argv[2]);\n  MPI_Finalize();\n}\n'
    )
    done = command("mpi", "run", program, "-n", "2", "--", "--size", "a b.c")
    assert (done.returncode, done.stdout) == (0, "3 --size a b.c\n"), done.stderr
