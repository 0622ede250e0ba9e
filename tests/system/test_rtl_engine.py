# SPDX-License-Identifier: Apache-2.0
"""Messages of the `rtl` engine and arguments of its command; these tests need no simulator."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from conftest import Command

from gossamer.cli import _tile_program
from gossamer.config import constants
from gossamer.engines import _rtl_diagnostics as words

CSR = constants.enumeration("csr")
REQUEST, CSR_ACCESS = 2, 2


def still(thread: int, address: int, data: int = 0, pc: int = 16, doing: int = REQUEST) -> words.UnfinishedThread:
    return words.UnfinishedThread(thread, doing, CSR_ACCESS, pc, address, data)


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([3], "3"), ([1, 0], "0-1"), ([0, 1, 2, 5, 7, 8], "0-2, 5, 7-8"), (range(64), "0-63"), ([], "")],
)
def test_ranges_of_numbers_are_abbreviated(numbers: list[int], text: str) -> None:
    assert words.ranges(numbers) == text


def test_threads_with_the_same_wait_share_a_line() -> None:
    waiting = [still(t, CSR["wait"], 2) for t in (0, 1, 2, 5)] + [still(3, CSR["wait"], 1), still(4, 0, doing=1)]
    lines = words.describe_unfinished(waiting, lambda pc: f"main at ring.c:{pc}")
    assert lines == [
        "threads 0-2, 5 wait for a message (tinselWaitUntil) in main at ring.c:16",
        "thread 3 waits until it can send (tinselWaitUntil) in main at ring.c:16",
        "thread 4 runs in main at ring.c:16",
    ]


def test_every_thread_state_has_a_description() -> None:
    for doing in range(7):
        for asked in range(4):
            one = words.UnfinishedThread(1, doing, asked, 0, 0x4000_0000, 0)
            first, rest = words.describe_unfinished([one], str)[0], words.describe_unfinished([one, one], str)[0]
            assert first.startswith("thread 1 ") and rest.startswith("threads 1")


def test_long_lists_of_waits_are_abbreviated() -> None:
    lines = words.describe_unfinished([still(t, CSR["wait"], 2, pc=t) for t in range(64)], str)
    assert len(lines) == 17
    assert lines[-1] == "threads 16-63 wait for a message (tinselWaitUntil), at other locations"


def test_unfinished_thread_records_are_parsed() -> None:
    payload = struct.pack("<IBBHIII", 700, 2, 2, 0, 0x44, CSR["idle"], 1) * 2
    one, other = words.parse_unfinished(payload)
    assert one == other == words.UnfinishedThread(700, 2, 2, 0x44, CSR["idle"], 1)
    assert one.words() == "waits for idleness (tinselIdle)"


@pytest.mark.parametrize("name", list(constants.enumeration("trap").values))
def test_every_trap_names_cause_and_location(name: str) -> None:
    cause = constants.enumeration("trap")[name]
    text = words.Trap(3, 100, cause, 0x40, 0xBAD).words(lambda pc: f"main at t.c:{pc}")
    # The text names a register; other causes have their own texts.
    says = "this core has no register 0xbad" if name == "bad_register" else constants.enumeration("trap").docs[name]
    assert text.startswith(f"{name}: {says}")
    assert text.endswith("in main at t.c:64 (pc 0x40)")
    assert "\n" not in text


def test_trap_without_a_pc_has_an_unknown_location() -> None:
    text = words.Trap(3, 100, 63, words.UNKNOWN_PC, 0).words(str)
    assert text.startswith("cause 63: ") and text.endswith("location unknown")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("prog.c", True),
        ("prog.c --engine rtl", True),
        ("--config tiny prog.elf", True),
        ("a.cpp --engine rtl", True),
        ("a.cpp --engine=rtl", True),
        ("-ertl a.cpp", True),
        ("a.cpp", False),
        ("a.cpp --engine cpu", False),
        ("--engine shuffle a.cpp", False),
        ("pagerank graph.mtx", False),
    ],
)
def test_arguments_of_a_device_program_are_recognized(line: str, is_one: bool) -> None:
    assert _tile_program.is_one(line.split()) == is_one


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--threads", "33"], "a board of tiny has 32 threads"),
        (["--threads", "0"], "no whole number from 1 up"),
        (["--threads", "many"], "no whole number from 1 up"),
        (["--config", "nope"], "no configuration named nope"),
        (["--engine", "cpu"], "runs on engine rtl"),
        (["--waves", "waves.vcd"], "ends with .fst"),
        (["--waves", "no/where/waves.fst"], "there is no folder"),
        (["--trace", "no/where/t.json"], "there is no folder"),
        (["--stats=no/where/s.json"], "there is no folder"),
        (["--max-cycles", "-3"], "no whole number from 1 up"),
        (["--bogus"], "no such option for a program: --bogus"),
        (["--config"], "needs a value"),
        (["two.c"], "two.c: no such file"),
        (["--input", "nothing-here"], "cannot be read"),
    ],
)
def test_invalid_options_are_reported_in_one_line(command: Command, arguments: list[str], says: str) -> None:
    done = command("run", "programs/hello.c", "--engine", "rtl", *arguments)
    assert done.returncode == 2
    assert says in done.stderr and done.stderr.count("\n") == 1 and not done.stdout


def test_inconsistent_configuration_is_rejected(command: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('base = "tiny"\ndescription = "no such cache"\n[cache]\nways = 3\n', encoding="utf-8")
    done = command("run", "programs/hello.c", "--engine", "rtl", "--config", bad)
    assert done.returncode == 2 and "bad.toml" in done.stderr and done.stderr.count("\n") == 1


def test_missing_program_is_reported(command: Command) -> None:
    done = command("run", "nowhere/prog.c", "--engine", "rtl")
    assert (done.returncode, done.stderr) == (2, "gossamer: error: nowhere/prog.c: no such file\n")


def test_help_lists_options_and_examples(command: Command) -> None:
    done = command("run", "prog.c", "--help")
    assert done.returncode == 0 and "--max-cycles" in done.stdout and "Examples:" in done.stdout
