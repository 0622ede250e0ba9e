# SPDX-License-Identifier: Apache-2.0
"""./gossamer run with a device program: its files, its output, and one-line errors."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Command

from gossamer.__main__ import run
from gossamer.cli import _tile_program
from gossamer.errors import InputError
from gossamer.hdl import verilate

RTL = ("--engine", "rtl")


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_program_of_several_files_and_folders_runs_with_warnings(command: Command, tmp_path: Path) -> None:
    main = written(
        tmp_path,
        "main.c",
        "#include <stdio.h>\n#include <told.h>\nint part(void);\n"
        'int main(void) {\n  int unused;\n  printf("%d and %d\\n", part(), TOLD);\n  return 0;\n}\n',
    )
    part = written(tmp_path, "part.S", ".globl part\npart:\n  li a0, 41\n  ret\n")
    written(tmp_path / "include", "told.h", "#define TOLD 42\n")
    words = ["run", main, part, "-I", tmp_path / "include", "-t", "2"]
    for _ in range(2):
        done = command(*words)
        assert (done.returncode, sorted(done.stdout.splitlines())) == (0, ["[0] 41 and 42", "[1] 41 and 42"])
        assert done.stderr == f"{main}:5: warning: unused variable 'unused' [-Wunused-variable]\n"
    written(tmp_path, "told.h", "#define TOLD 43\n")
    done = command("run", tmp_path, *RTL, "--threads=1")
    assert (done.returncode, done.stdout) == (0, "[0] 41 and 43\n")
    done = command("run", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"gossamer: error: {tmp_path}: is a folder; a folder with a program for threads of a tile needs --engine rtl\n"
    )


def test_device_program_without_the_rtl_engine_is_rejected(command: Command) -> None:
    done = command("run", "programs/queens.cpp", cwd=ROOT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gossamer: error: programs/queens.cpp: includes gossamer/device.h, so it is for threads of a tile; "
        "run it with --engine rtl\n"
    )


BAD = """#include <stdio.h>
#include <tinsel.h>
static inline int peek(volatile int* at) { return *at; }
int main(void) {
  switch (tinselId()) {
    case 0: printf("\\x1b[31mred\\r\\x9b tab\\tstays \\u00fc\\x80\\n"); return 0;
    case 1: return peek((volatile int*)64);
    case 2: __asm__ volatile("csrr a0, 0x7c0");
    case 3: __asm__ volatile("csrw 0xc00, a0");
    case 4: return 9;
    case 5: return 9;
    default: return 0;
  }
}
"""


def test_all_traps_and_exit_codes_are_reported(command: Command, tmp_path: Path) -> None:
    source = written(tmp_path, "bad.c", BAD)
    done = command("run", source, *RTL)
    assert done.returncode == 4
    assert done.stdout == "[0] \\x1b[31mred\\r\\x9b tab\tstays \u00fc\\x80\n"
    *traps, last = done.stderr.splitlines()
    said = {int(re.match(r"\[(\d+)\]", line)[1]): line for line in traps}  # type: ignore[index]
    assert re.search(rf"in peek at {source}:3, inlined into main at {source}:7 \(pc", said[1])
    assert "bad_register: this core has no register 0x7c0, in main" in said[2]
    assert "illegal_instruction: register cycle (0xc00) cannot be written here, in main" in said[3]
    assert last == f"gossamer: error: {source}: threads 1-3 trapped; threads 4-5 with 9 ended, not with 0"


def test_raw_text_is_printed_unescaped(command: Command, tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint main(void) { printf("\\x1b[1mA\\rB\\n"); return 0; }\n'
    command = [sys.executable, ROOT / "gossamer", "run", written(tmp_path, "raw.c", text), "-t", "1", "--raw-text"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"[0] \x1b[1mA\rB\n")


@pytest.mark.parametrize(
    ("files", "words", "said"),
    [
        ({"a.c": "int main(void) {\n  int x = ;\n}\n"}, ["a.c"], "a.c:2: expected expression"),
        ({"a.c": '#include "none.h"\n'}, ["a.c"], "a.c:1: 'none.h' file not found"),
        ({"a.o": "noise"}, ["a.o"], "a.o: is not an object file, or is corrupt"),
        ({"a.elf": "noise"}, ["a.elf"], "a.elf: is not an ELF file, or is corrupt"),
        (
            {"a.c": "int main(void) { return 0; }\n", "b.c": "\nint main(void) { return 0; }\n"},
            ["a.c", "b.c"],
            "a.c:1: does not link: main is defined here and in b.c:2; keep one definition",
        ),
        ({"a.S": ".globl main\nmain:\n.rept 3000\nnop\n.endr\n"}, ["a.S"], "a.S: does not fit: 12,"),
        ({"a.S": ".globl main\nmain:\n  frob a0\n"}, ["a.S"], "a.S:3: unrecognized instruction mnemonic"),
        ({"a.c": ""}, ["a.c"], "a.c: does not link: nothing defines main; every thread starts in main"),
        ({"a.c": ""}, ["a.c", "--frob"], "no such option for a program: --frob"),
        ({"empty/a.txt": ""}, ["empty", *RTL], "empty: has no sources; a folder means"),
        ({"a.v": ""}, ["a.v", *RTL], "a.v: is not a program; its extension must be one of .c, .S"),
        ({}, ["none/", *RTL], "none: no such file"),
        ({"a.c": ""}, ["a.c", "none.c"], "none.c: no such file"),
        ({"a.c": ""}, ["a.c", "-I", "none"], "none: no such include folder (-I)"),
        ({"a.c": ""}, ["a.c", "-D", "1X"], "-D 1X: is not a macro; give NAME or NAME=VALUE"),
        ({"a.c": ""}, ["a.c", "-D"], "-D: needs a value"),
        ({"a.c": ""}, ["a.c", "-t", "0"], "--threads: '0' is no whole number from 1 up"),
        ({"a.c": ""}, ["a.c", "-t", "-1"], "--threads: '-1' is no whole number from 1 up"),
        ({"a.c": ""}, ["a.c", "-t", "33"], "--threads 33: a board of tiny has 32 threads"),
        ({"a.c": ""}, ["a.c", "--engine", "cpu"], "a.c: a program for threads of a tile runs on engine rtl"),
        (
            {"a.c": "_Thread_local char big[2000000];\nint main(void) { return big[big[1]]; }\n"},
            ["a.c"],
            "a.c: does not fit: 2,000,000 bytes of thread-local variables",
        ),
    ],
)
def test_errors_are_reported_in_one_line(
    files: dict[str, str],
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in files.items():
        written(tmp_path, name, text)
    monkeypatch.chdir(tmp_path)
    code = run(["run", *words])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith(f"gossamer: error: {said}"), err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["run", "programs/hello.c"], ["config", "show", "tiny"]]
)
def test_full_output_device_is_reported(words: list[str]) -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        command = [sys.executable, ROOT / "gossamer", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == (
        "gossamer: error: cannot write the output: No space left on device; free space or choose another file\n"
    )


def test_full_output_device_hides_no_other_error(tmp_path: Path) -> None:
    """The failure to write buffered output does not replace an earlier error."""
    source = written(tmp_path, "one.c", "int main(void) { return 1; }\n")
    command = [sys.executable, ROOT / "gossamer", "run", source, *RTL, "--stats"]
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (1, 2) and "Traceback" not in done.stderr and "Exception" not in done.stderr
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False)
    assert closed.returncode == 1 and "ended, not with 0" in closed.stderr


def test_missing_waveform_headers_are_reported_before_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error precedes the builds of program and simulator."""
    nothing = written(tmp_path, "cc", "#!/bin/sh\nexit 1\n")
    nothing.chmod(0o755)
    monkeypatch.setattr(verilate.builds, "compiler", lambda: [str(nothing)])
    source = written(tmp_path, "wrong.c", "this is no C\n")
    with pytest.raises(InputError, match=r"apt-get install liblz4-dev zlib1g-dev$"):
        _tile_program.run([str(source), *RTL, "--waves", str(tmp_path / "a.fst")])
