# SPDX-License-Identifier: Apache-2.0
"""Firmware in C++, compiled by gossamer.shell._firmware, on the control processor."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from rtl.core.programs import i_type
from rtl.shell.test_rv32 import START, Run

from gossamer.errors import InputError
from gossamer.shell import _firmware

SOURCE = Path(__file__).resolve().parent / "firmware.cc"
RAM_BYTES = 0x10000
"""Firmware is started at START by a jump from there to address 0."""


def run(folder: Path, source: Path, **options: int) -> Run:
    image = _firmware.build([source], folder, ram_bytes=RAM_BYTES, flags=[f"-I{folder}"])
    jump = i_type(0x67, 0, 0, 0, 0)
    (folder / "image.hex").write_text(f"{image.read_text()}@{START // 4:x}\n{jump:08x}\n")
    return Run([], folder, **options)


def signed(value: int, bits: int) -> int:
    return value - (value >> bits - 1 << bits)


def arithmetic(a: int, b: int, by: int, bits: int) -> list[int]:
    """What the firmware prints for an operation, by Python's integers."""
    mask = (1 << bits) - 1
    sa, sb = signed(a, bits), signed(b, bits)
    found = [a * b & mask, a << by & mask, a >> by, sa >> by & mask]
    if b == 0:
        return found
    found += [a // b, a % b]
    if b == mask:
        return found
    quotient = abs(sa) // abs(sb) * (1 if (sa < 0) == (sb < 0) else -1)
    return [*found, quotient & mask, sa - quotient * sb & mask]


def memory(to: int, source: int, count: int) -> list[int]:
    data = bytearray(range(64))

    def digest() -> int:
        value = 0
        for byte in data:
            value = value * 31 + byte & 2**64 - 1
        return value

    data[to : to + count] = data[source : source + count]
    found = [digest()]
    data[to : to + count] = bytes([0xA5]) * count
    place = 32 if source < 32 else 0
    copied = count if count < 32 - source % 32 else 0
    data[place : place + copied] = data[source : source + copied]
    return [*found, digest(), int(data[:count] < data[to : to + count])]


def test_firmware_computes_as_python(seed: int, tmp_path: Path) -> None:
    """Arithmetic of 32 and 64 bits, memory functions at all alignments, constructors, initialised and zeroed data."""
    rng = random.Random(seed)
    edges = (0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

    def operand() -> int:
        return rng.choice(edges) if rng.random() < 0.3 else rng.getrandbits(64) >> rng.randrange(64)

    operands = [(operand(), operand(), number) for number in range(64)]
    moves = [(to, source, count) for to in range(4) for source in range(4) for count in (0, 1, 5, 12)]
    for _ in range(60):
        count = rng.randrange(40)
        moves.append((rng.randrange(64 - count), rng.randrange(64 - count), count))
    rows = (
        "struct Operands { uint64_t a, b; uint32_t by; };",
        "struct Move { uint32_t to, from, count; };",
        f"constexpr std::array<Operands, {len(operands)}> kOperands{{{{",
        *(f"  {{{a}u, {b}u, {by}}}," for a, b, by in operands),
        f"}}}};\nconstexpr std::array<Move, {len(moves)}> kMoves{{{{",
        *(f"  {{{to}, {source}, {count}}}," for to, source, count in moves),
        "}};",
    )
    (tmp_path / "operands.h").write_text("\n".join(("#pragma once\n#include <array>\n#include <cstdint>", *rows, "")))
    want = [41, 42, 0x12345678, 0]
    for a, b, by in operands:
        want += arithmetic(a & 0xFFFFFFFF, b & 0xFFFFFFFF, by % 32, 32) + arithmetic(a, b, by, 64)
    for move in moves:
        want += memory(*move)
    ran = run(tmp_path, SOURCE, cycles=20_000_000)
    assert ran.lines[-1] == "exit 7"
    assert [int(line, 16) for line in ran.lines[:-1]] == want
    print(f"{ran.counts['cycles'] / ran.counts['instructions']:.2f} cycles an instruction")


def test_return_of_main_stops_the_processor(tmp_path: Path) -> None:
    source = tmp_path / "empty.cc"
    source.write_text("int main() { return 0; }\n")
    ran = run(tmp_path, source, cycles=1_000_000)
    assert len(ran.lines) == 1 and re.fullmatch(r"trap pc=0x[0-9a-f]+", ran.lines[0])
    assert ran.commits[0]["instr"] == 0x67


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#include <array>\nstd::array<char, 16000> all;\nint main() { return all[3]; }", "the RAM has 16384 bytes"),
        ("const char* volatile text;\nchar all[20000] = {1};\nint main() { text = all; }", "the RAM has 16384 bytes"),
        ("int main() { return missing(); }", r"wrong.cc:1: .*missing"),
        ("int missing();\nint main() { return missing(); }", r"wrong.cc: does not link: .*missing"),
        ("int other() { return 0; }", r"wrong.cc: does not link: .*main"),
    ],
    ids=["bss", "data", "error", "undefined", "main"],
)
def test_faulty_firmware_is_reported_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    source = tmp_path / "wrong.cc"
    source.write_text(text + "\n")
    with pytest.raises(InputError, match=said) as error:
        _firmware.build([source], tmp_path)
    assert "\n" not in str(error.value)


def test_missing_source_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.cc: no such file"):
        _firmware.build([tmp_path / "nowhere.cc"], tmp_path)


def commands() -> int:
    """The result of firmware_commands.cc."""
    session, following, total, rejected, check = 0x0123456789ABCDEF, 1, 0, 0, 0
    registers = [0] * 16
    for i in range(200):
        kind = i % 4
        head = bytes([i & 255] * 12)
        answer = bytearray(head + bytes(52))
        answer[24:28] = following.to_bytes(4, "big")
        if i % 10 == 9:
            rejected += 1
            answer[14] = 0xFF
        else:
            following += 1
            answer[14] = kind
            if kind == 0:
                total += i
            elif kind == 1:
                registers[i % 16] = i
            elif kind == 2:
                answer[32:36] = registers[i % 16].to_bytes(4, "big")
            else:
                session += i
            answer[24:28] = following.to_bytes(4, "big")
        for at in range(0, 64, 4):
            check = (check << 5 | check >> 27) & 0xFFFFFFFF ^ int.from_bytes(answer[at : at + 4], "little")
    return check ^ total ^ rejected << 24


def test_command_loop_takes_less_than_four_cycles_an_instruction(tmp_path: Path) -> None:
    ran = run(tmp_path, SOURCE.with_name("firmware_commands.cc"), cycles=5_000_000)
    assert ran.lines == [f"exit {commands()}"]
    cycles = ran.counts["cycles"] / ran.counts["instructions"]
    print(f"{cycles:.2f} cycles an instruction, {ran.counts['cycles'] / 200:.0f} a command")
    assert cycles < 4
