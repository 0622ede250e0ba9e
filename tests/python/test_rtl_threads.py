# SPDX-License-Identifier: Apache-2.0
"""Descriptions of threads by the rtl engine: what they wait for, where, and why they trapped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.cli._program_output import judge_run, visible
from gossamer.config import constants
from gossamer.engines._rtl_diagnostics import UNKNOWN_PC, Trap, UnfinishedThread, describe_unfinished
from gossamer.engines.rtl import Run
from gossamer.errors import AnswerNo, RunDied

ROOT = Path(__file__).resolve().parents[2]
CSR = constants.enumeration("csr")
REQUEST, LOAD, CSR_ACCESS = 2, 0, 2
ILLEGAL = constants.enumeration("trap")["illegal_instruction"]


def named(lines: list[str]) -> set[int]:
    """The threads that the lines name."""
    found: set[int] = set()
    for line in lines:
        match = re.match(r"threads? ([\d, -]+) ", line)
        assert match, line
        for part in match[1].split(", "):
            low, _, high = part.partition("-")
            found |= set(range(int(low), int(high or low) + 1))
    return found


@pytest.mark.parametrize("places", [1, 5, 16, 17, 64])
def test_every_waiting_thread_is_named(places: int) -> None:
    """For any number of source locations at which they wait."""
    threads = [UnfinishedThread(t, REQUEST, LOAD, 4 * (t % places), 0x4000_0000 + t % places, 0) for t in range(64)]
    lines = describe_unfinished(threads, lambda pc: f"f at x.c:{pc}")
    assert named(lines) == set(range(64))
    assert len(lines) == len(set(lines))


def test_wait_for_a_register_names_register_and_number() -> None:
    (line,) = describe_unfinished(
        [UnfinishedThread(3, REQUEST, CSR_ACCESS, 0, CSR["uart_put"], 0)], lambda pc: "main at x.c:5"
    )
    assert line == "thread 3 waits for the register uart_put (0x821) in main at x.c:5"
    (line,) = describe_unfinished([UnfinishedThread(3, REQUEST, CSR_ACCESS, 0, 0x123, 0)], lambda pc: "main at x.c:5")
    assert line == "thread 3 waits for the register 0x123 in main at x.c:5"


@pytest.mark.parametrize(
    ("instruction", "value", "said"),
    [
        (0x7C0_02573, 0x7C0, "this core has no register 0x7c0"),  # csrr a0
        (0xC00_51073, 0xC00, "register cycle (0xc00) cannot be written here"),  # csrw
        (0x800_02573, 0x800, "register send_dest (0x800) cannot be read here"),  # csrr
        (0xC01_02573, 0xC01, "this core has no register 0xc01"),
        (0x0000_0000, 0, "not an instruction of this core; instruction 0x00000000"),
        (0x0000_2073, 0x0000_2073, "this core has no register 0x000"),
    ],
)
def test_trap_names_the_register_instead_of_the_instruction(instruction: int, value: int, said: str) -> None:
    # The units name the register, the core the instruction.
    name = "bad_register" if 0 < value < 0x1000 else "illegal_instruction"
    trap = Trap(1, 0, constants.enumeration("trap")[name], 0x40, value)
    words = trap.words(lambda pc: "main at x.c:5", {0x40: instruction}.get)
    assert words == f"{name}: {said}, in main at x.c:5 (pc 0x40)"


def test_trap_without_a_pc_has_an_unknown_location() -> None:
    cause = constants.enumeration("trap")["bad_register"]
    words = Trap(1, 0, cause, UNKNOWN_PC, 0x7C0).words(lambda pc: "nowhere", {}.get)
    assert words == "bad_register: this core has no register 0x7c0, location unknown"
    words = Trap(1, 0, cause, UNKNOWN_PC, 0xC00).words(lambda pc: "nowhere", {}.get)
    assert words == "bad_register: register cycle (0xc00) cannot be read or written like that, location unknown"


def test_sending_and_releasing_foreign_slots_have_different_causes() -> None:
    """Sending from another thread's slot is a different cause than releasing it."""
    trap = Trap(1, 0, constants.enumeration("trap")["not_received"], 0x40, 0x10_0040)
    text = trap.words(lambda pc: "main at x.c:5")
    assert text == (
        "not_received: used a slot that this thread does not own: not received yet, or already released; "
        "address 0x00100040, in main at x.c:5 (pc 0x40)"
    )


def test_guide_lists_every_trap_cause() -> None:
    """Each cause is listed once, with its name in config/."""
    text = (ROOT / "docs" / "programming-device.md").read_text()
    table = text.split("| cause | what it usually is |")[1].split("\n\n")[0]
    causes = [row.split("|")[1] for row in table.splitlines() if row.startswith("|")]
    listed = [name for cause in causes for name in re.findall(r"`(\w+)`", cause)]
    assert sorted(listed) == sorted(constants.enumeration("trap").values)


class Nowhere:
    def where(self, pc: int) -> str:
        return f"main at x.c:{pc}"


def judge(done: Run) -> None:
    judge_run("x.c", Nowhere(), done)  # type: ignore[arg-type]


def run(reason: str, codes: dict[int, int], traps: list[int], still: list[int]) -> Run:
    return Run(
        reason=reason,
        threads=16,
        cycles=1000,
        instructions=10,
        counters={},
        codes=codes,
        messages=[],
        traps=[Trap(t, 0, ILLEGAL, 0x40, 0) for t in traps],
        unfinished=[UnfinishedThread(t, REQUEST, LOAD, 4, 0x4000_0000, 0) for t in still],
        seconds=1,
    )


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("stuck", "stuck: no instruction and no output for a long time, after 1,000 cycles; threads 3-4 had not ended"),
        ("deadlock", "deadlock: all threads that run (3-4) wait for messages"),
        ("max-cycles", "2 of 16 threads had not ended after 1,000 cycles"),
    ],
)
def test_last_line_names_all_failures(reason: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RunDied) as error:
        judge(run(reason, {0: 0, 1: 7, 2: 0xFFFFFFFF}, [5, 6], [3, 4]))
    text = str(error.value)
    assert said in text and "threads 5-6 trapped" in text and "threads 1 with 7, 2 with -1 ended" in text
    assert capsys.readouterr().err == "threads 3-4 wait for a load from 0x40000000 in main at x.c:4\n"


def test_trap_does_not_hide_exit_codes() -> None:
    with pytest.raises(RunDied, match=r"^x.c: thread 5 trapped; threads 1-2 with 7 ended, not with 0$"):
        judge(run("done", {0: 0, 1: 7, 2: 7}, [5], []))
    with pytest.raises(AnswerNo, match=r"^x.c: thread 1 with 7 ended, not with 0$"):
        judge(run("done", {0: 0, 1: 7}, [], []))
    with pytest.raises(RunDied, match=r"stuck: .*; all threads had ended, but not all had reported it$"):
        judge(run("stuck", {}, [], []))


def test_control_characters_in_thread_output_are_escaped() -> None:
    assert visible("a\tb \u00fc \u4e16 \\") == "a\tb \u00fc \u4e16 \\"
    assert visible("\x1b[2J\r\b\x00\x7f\x9b1m\u202e") == r"\x1b[2J\r\x08\x00\x7f\x9b1m\u202e"
