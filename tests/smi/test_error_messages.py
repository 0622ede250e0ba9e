# SPDX-License-Identifier: Apache-2.0
"""Faulty programs: each gets one error line with the user's source lines, and its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Command

FILE = ROOT / "tests" / "fixtures" / "smi" / "errors.cc"


def line_of(mark: str) -> str:
    """``file:line`` of the line with this comment at its end."""
    lines = FILE.read_text().splitlines()
    (number,) = [at for at, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return f"{FILE.name}:{number}"


# case -> ranks, exit code, texts in the error line, and comments of the source lines in it
CASES: dict[str, tuple[int, int, tuple[str, ...], tuple[str, ...]]] = {
    "count": (2, 2, ("rank 1", "4 elements of SMI_INT", "port 2", "sends 3 of SMI_INT"), ("sends", "receives")),
    "type": (2, 2, ("rank 1", "3 elements of SMI_FLOAT", "port 2", "sends 3 of SMI_INT"), ("sends", "receives")),
    "rank": (2, 2, ("SMI_Push with rank 2", "ranks are 0 to 1"), ("rank",)),
    "many": (2, 2, ("beyond the channel's count of 2",), ("many",)),
    "direction": (1, 2, ("SMI_Pop on a channel that was opened to send",), ("direction",)),
    "port": (1, 2, ("there is no port 256",), ("port",)),
    "twice": (2, 2, ("port 7 is used twice",), ("first", "second")),
    "kinds": (1, 2, ("port 7 is used twice", "Bcast"), ("kinds",)),
    "root": (2, 2, ("root 9 does not exist",), ("root",)),
    "roots": (2, 2, ("port 4", "from root 1", "from root 0", "all ranks"), ("roots",)),
    "ops": (2, 2, ("with SMI_MAX", "with SMI_ADD"), ("ops",)),
    "counts": (2, 2, ("2 elements are sent to a rank that receives 3",), ("counts",)),
    "degree": (1, 2, ("degree is -1",), ("degree",)),
    "null": (2, 2, ("communicator is null",), ("null",)),
    "subrank": (4, 2, ("rank 2", "communicator of size 2", "0 to 1"), ("subrank",)),
    "unopened": (1, 2, ("was not opened",), ("unopened",)),
    "ring": (3, 4, ("deadlock: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0",), ()),
    "ended": (2, 4, ("deadlock: rank 1 waits for rank 0, which has ended",), ()),
    "kernel": (1, 4, ("deadlock: rank 0 waits for itself",), ()),
    "late": (3, 4, ("waits for rank 2, which has ended",), ()),
    "segv": (2, 4, ("rank 1, main: an invalid memory access",), ()),
    "exit": (3, 4, ("rank 1 called exit(0) while rank 0 was not done",), ()),
    "exitkernel": (1, 4, ("rank 0 called exit(0) while its kernel popper was not done",), ()),
    "leave": (2, 4, ("_exit(0)",), ()),
    "realtime": (1, 4, ("killed by signal ",), ()),
    "joins": (2, 4, ("deadlock: rank 0 waits for rank 1, which waits for rank 0",), ()),
    "fifo": (2, 4, ("deadlock: rank 0 waits for rank 1, which waits for rank 0",), ()),
    "copies": (2, 2, ("SMI_Bcast beyond the channel's count",), ("copies",)),
    "copied": (1, 2, ("SMI_Bcast beyond the channel's count",), ("copied",)),
    "stale": (1, 2, ("SMI_Push beyond the channel's count of 1",), ("stale",)),
    "throw": (1, 4, ("no good",), ()),
}


@pytest.mark.parametrize("case", CASES)
def test_error_is_one_line_with_reason_and_source_lines(command: Command, case: str) -> None:
    ranks, code, texts, marks = CASES[case]
    done = command("smi", "run", FILE, "--ranks", str(ranks), "--", case)
    assert done.returncode == code, done.stderr
    *notes, error = done.stderr.splitlines()
    assert error.startswith("gossamer: error: ")
    for text in (*texts, *map(line_of, marks)):
        assert text in error
    assert all("waits" in note for note in notes if not note.startswith("gossamer: installing "))
    assert done.stdout == ""


def test_deadlock_notes_name_each_kernel_and_its_line(command: Command) -> None:
    done = command("smi", "run", FILE, "--ranks", "2", "--", "ring")
    for rank in (0, 1):
        assert f"rank {rank} waits to pop from rank {1 - rank}, port 0: empty (" in done.stderr
    assert done.stderr.count(line_of("ring")) == 2
    done = command("smi", "run", FILE, "--ranks", "1", "--", "kernel")
    assert "rank 0, popper, waits to pop from rank 0, port 6: empty" in done.stderr


def test_slack_bounds_the_sender_and_a_full_channel_is_named(command: Command) -> None:
    assert command("smi", "run", FILE, "--ranks", "2", "--slack", "4", "--", "slack").returncode == 0
    done = command("smi", "run", FILE, "--ranks", "2", "--slack", "3", "--", "slack")
    assert done.returncode == 4
    assert f"to push to rank 1, port 0: full, 3 elements are ahead ({FILE.relative_to(ROOT)}" in done.stderr
    assert line_of("slack") in done.stderr
    done = command("smi", "run", FILE, "--ranks", "2", "--slack", "0", "--", "slack")
    assert "in a push to rank 1, port 0, until it is popped" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--ranks", "0"), "--ranks 0: give 1 to 4096"),
        (("--ranks", "9", "--cluster", "torus8"), "--ranks 9: the topology torus8 has 8 boards only"),
        (("--cluster", "nowhere"), "nowhere"),
    ],
)
def test_ranks_are_checked_before_the_build(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    broken = tmp_path / "broken.c"
    broken.write_text("int main( {\n")
    done = command("smi", "run", broken, *arguments)
    assert done.returncode == 2
    assert says in done.stderr and done.stderr.count("\n") == 1 and "broken.c" not in done.stderr


@pytest.mark.parametrize(("case", "option"), [("forever", "--timeout=0.3"), ("allocating", "--timeout=0.3"),
                                              ("busy", "--timeout=0.3"),
                                              ("busy", "--operations=100000")])  # fmt: skip
def test_run_aborts_at_its_limit(command: Command, case: str, option: str) -> None:
    done = command("smi", "run", FILE, "--ranks", "2", option, "--", case)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "never ends" in done.stderr


@pytest.mark.parametrize("case", ["forever", "busy"])
def test_interrupt_ends_the_run_and_the_emulator(case: str, command: Command) -> None:
    assert command("smi", "run", FILE, "--", "none").returncode == 0
    run = [sys.executable, ROOT / "gossamer", "smi", "run", FILE, "--ranks", "2", "--", case]
    child = subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    emulator = _child_of(child.pid)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 130
    assert errors == "gossamer: interrupted\n"
    assert not Path(f"/proc/{emulator}").exists()


def _child_of(pid: int) -> int:
    """The emulator's process, once it runs the programs."""
    for _ in range(600):
        for entry in os.listdir("/proc"):
            try:
                state = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split() if entry.isdigit() else []
                # The emulator installs its handlers after loading the programs, which uses some CPU time.
                if state and int(state[1]) == pid and int(state[11]) > 5:
                    return int(entry)
            except OSError:
                continue
        time.sleep(0.1)
    raise AssertionError("the emulator did not start")


def test_exit_code_of_main_is_returned(command: Command) -> None:
    assert command("smi", "run", FILE, "--ranks", "3", "--", "code").returncode == 3
    assert command("smi", "run", FILE, "--ranks", "3", "--", "exit3").returncode == 3


def test_channel_use_before_main_is_an_error(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "early.cc"
    rest = "int main() { return world == 0; }\n"
    file.write_text(f"#include <smi.h>\nstatic SMI_Comm world = SMI_COMM_WORLD;\n{rest}")
    done = command("smi", "run", file, "--ranks", "2")
    assert done.returncode == 2
    assert f"rank 0, before its main: SMI_COMM_WORLD ({file}:2)" in done.stderr
    fault = "static int world = *(volatile int*)(long)(getppid() % 64);\n"
    file.write_text(f"#include <smi.h>\n#include <unistd.h>\n{fault}{rest}")
    done = command("smi", "run", file)
    assert done.returncode == 4
    assert "rank 0, before its main: an invalid memory access" in done.stderr


@pytest.mark.parametrize(("hard", "code"), [("1000", 0), ("64", 2)])
def test_open_file_limit_is_raised_or_reported(hard: str, code: int) -> None:
    run = [sys.executable, str(ROOT / "gossamer"), "smi", "run", str(FILE), "--ranks", "100", "--", "none"]
    limit = f'ulimit -Sn 64; ulimit -Hn {hard}; exec "$@"'
    done = subprocess.run(["bash", "-c", limit, "bash", *run], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert code == 0 or "100 ranks need 116 open files, but the limit of this process is 64" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.c"], "no such file"),
        ([str(ROOT / "README.md")], "is not a program"),
        ([str(ROOT / "src" / "smi" / "elements.cc")], "has no main"),
        ([str(FILE), str(FILE)], "listed twice"),
        ([str(FILE), "--ranks", "0"], "give 1 to"),
        ([str(FILE), "--ranks", "9", "--cluster", "torus8"], "has 8 boards only"),
        ([str(FILE), "--slack", "-1"], "0 or more"),
        ([str(FILE), "--slack", "3000000000"], "up to 2147483647"),
        ([str(FILE), "--seed", str(1 << 64)], "up to 18446744073709551615"),
        ([str(FILE), "--operations", str(1 << 64)], "up to 18446744073709551615"),
        ([str(FILE), "--timeout", "nan"], "0 or more"),
        ([str(FILE), "--stack", "0"], "1 to 4096"),
        ([], "give source files"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(command: Command, arguments: list[str], message: str) -> None:
    done = command("smi", "run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_compiler_error_is_reported_at_the_users_line(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("#include <smi.h>\nint main(void) {\n  SMI_Push(1);\n  return 0;\n}\n")
    done = command("smi", "run", bad)
    assert done.returncode == 2
    assert f"{bad}:3: " in done.stderr
    bad.write_text("#include <smi.h>\nvoid nothing(void);\nint main(void) {\n  nothing();\n  return 0;\n}\n")
    done = command("smi", "run", bad)
    assert done.returncode == 2
    assert "nothing" in done.stderr
