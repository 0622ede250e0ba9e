# SPDX-License-Identifier: Apache-2.0
"""Device software and its compiler driver.

The device library is compared with this machine's C library; programs run on an instruction-set model that
is stricter than the hardware (model.cc) and are checked by their own verifiers (program_checks.py).
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gossamer_setup
from gossamer import device
from gossamer.config import load as load_config
from gossamer.device import _single_precision
from gossamer.errors import ExitCode, InputError

if TYPE_CHECKING:
    from conftest import Size

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def sibling(name: str) -> ModuleType:
    """A module of this folder; tests are imported by path, so it cannot be imported from a package."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


model: Any = sibling("device_model")
checks: Any = sibling("program_checks")
FIXTURES: Path = model.FIXTURES
PROGRAMS: Path = model.PROGRAMS


def refused(source: Path | list[Path], config: str = "tiny", *defines: str) -> str:
    """The one-line error of a rejected program."""
    with pytest.raises(InputError) as error:
        device.build(source, config, defines)
    text = str(error.value)
    assert error.value.exit_code == ExitCode.INPUT
    assert "\n" not in text
    return text


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def roomy(folder: Path) -> str:
    """tiny with 64 KB for instructions, for tests larger than usual programs."""
    text = (ROOT / "config" / "tiny.toml").read_text()
    assert "threads_per_core = 8\n" in text
    text = text.replace("threads_per_core = 8\n", "threads_per_core = 8\ninstr_mem_bytes = 0x1_0000\n")
    return str(written(folder, "roomy.toml", text))


def on_this_machine(source: Path, folder: Path, *flags: str) -> str:
    """The output of a program with this machine's C library."""
    binary = folder / f"{source.stem}-here"
    command = ["cc", "-std=gnu17", "-O1", "-fno-builtin", "-funsigned-char", "-ffp-contract=off", "-w", *flags]
    subprocess.run([*command, str(source), "-o", str(binary), "-lm"], check=True)
    return subprocess.run([str(binary)], check=True, capture_output=True, encoding="latin-1").stdout


# ---------------------------------------------------------------------- programs


def test_every_program_has_a_check_and_a_page() -> None:
    assert {path.name for path in PROGRAMS.iterdir()} == set(checks.CHECKS)
    assert {path.stem for path in (ROOT / "docs" / "programs").glob("*.md")} == {
        Path(name).stem for name in checks.CHECKS
    }


@pytest.mark.parametrize("program", sorted(set(checks.CHECKS) - checks.ON_HARDWARE))
def test_program_prints_the_expected_output_on_the_model(program: str, tmp_path: Path, size: Size, seed: int) -> None:
    """In any order of threads and messages, on any number of threads."""
    chance = random.Random(seed)
    counts = [1, 2, 16] + [chance.randint(3, 15) for _ in range(size.pick(1, 4, 60))]
    counts += [16, 16, 16]
    for number, threads in enumerate(counts):
        order = chance.randrange(1 << 29) * 3 + number % 3  # the model has three ways to choose who goes next
        ran = model.run(PROGRAMS / program, tmp_path, threads=threads, seed=order)
        assert ran.end.startswith("end "), f"{threads} threads: {ran.end}"
        assert (ran.traps, set(ran.codes.values()), len(ran.codes)) == ({}, {0}, threads)
        checks.CHECKS[program](ran.lines(), threads)


def test_first_program_of_the_guide_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "programming-device.md").read_text()
    source = written(tmp_path, "first.c", text.split("```c\n")[1].split("```")[0])
    ran = model.run(source, tmp_path, threads=9)
    assert sorted(ran.lines()) == [(0, f"thread {n} says {n * n}") for n in range(1, 9)]
    assert set(ran.codes.values()) == {0}


@pytest.mark.default_cases("(de5|quad)", seconds=7, adds="the other configurations")
@pytest.mark.parametrize("config", ["ecp5", "quad", "de5", "de5-128", "smi520n"])
def test_programs_fit_every_configuration(config: str, size: Size) -> None:
    for program in size.pick(["heat.c", "sort.c"], list(checks.CHECKS), list(checks.CHECKS)):
        image = device.build(PROGRAMS / program, config)
        assert 0 < 4 * len(image.instructions) <= load_config(config).core.instr_mem_bytes


def test_sort_runs_on_64_threads(tmp_path: Path) -> None:
    ran = model.run(PROGRAMS / "sort.c", tmp_path, config="de5", threads=64)
    checks.sort(ran.lines(), 64)


# ---------------------------------------------------------------------- the device library


def printf_cases(chance: random.Random, count: int) -> str:
    """A table for printf_check.c: random formats, special and random values."""
    floats = [0.0, 1.0, 0.5, 1.5, 2.5, 0.1, 9.5, 99.5, 0.00001, 999999.5, 1e6, 123456789.0, 1e-5, 9.9999995e-5, 1e38]
    floats += [3.4028235e38, 1.1754944e-38, 1e-45, float("inf"), float("nan"), 16777217.0, 1 / 3, 0.045, 1e10, 5e-7]
    lines = []
    for _ in range(count):
        flags = "".join(chance.sample("-+ #0", chance.choice([0, 0, 1, 2, 3])))
        width = chance.choice(["", "", str(chance.randint(1, 24))])
        precision = chance.choice(["", "", ".", f".{chance.randint(0, 12)}"])
        kind = chance.choice("iiillffffLLsnc")
        value, star = 0, 0
        if kind in "il":
            bits = chance.choice([0, 1, 8, 16, 31, 32, 48, 63, 64] if kind == "l" else [0, 1, 8, 16, 31, 32])
            value = chance.getrandbits(bits) if bits else chance.choice([0, 1, 2**63, 2**64 - 1, 2**31])
            what = chance.choice("diuxXo")
            if what in "diu":
                flags = flags.replace("#", "")  # has no meaning there
            if what in "uxXo":
                flags = flags.replace("+", "").replace(" ", "")
            length = "ll" if kind == "l" else chance.choice(["", "", "h", "hh", "l" if value < 2**31 else ""])
            if kind == "i":
                value &= 0xFFFFFFFF
            text = f"%{flags}{width}{precision}{length}{what}"
        elif kind == "s":
            text = f"%{flags.replace('#', '').replace('0', '').replace('+', '').replace(' ', '')}{width}{precision}s"
        else:
            star = chance.randint(-12, 14)
            real = chance.choice([*floats, *(chance.uniform(-1, 1) * 10 ** chance.randint(-9, 9) for _ in floats)])
            value = struct.unpack("<I", struct.pack("<f", chance.choice([1, -1]) * real))[0]
            if chance.random() < 0.3:
                value = chance.getrandbits(32)
            if value & 0x7F800000 == 0x7F800000:
                value &= 0x7FC00000  # the sign of a NaN is its maker's choice
            if kind == "n":
                text, value = f"%{flags.replace('#', '').replace('+', '').replace(' ', '')}*u", value & 0xFFFF
            elif kind == "c":
                text = f"%.*{chance.choice('feg')}"
            else:
                text = f"%{flags}{width}{precision}{'L' if kind == 'L' else ''}{chance.choice('feEgGF')}"
        lines.append(f"{{\"{text}\", '{kind}', {value}ull, {star}}},")
    return "\n".join(lines) + "\n"


def by_python(case: str) -> str | None:
    """The output of Python for a float with ``%#g``.

    glibc drops the zeros after the point of a number that is rounded to the next power of ten:
    ``printf("%#g", 999999.5)`` gives ``1.e+06`` for ``1.00000e+06``.
    """
    found = re.fullmatch(r"""\{"(%[^"*]*#[^"*]*[gG])", '[fL]', (\d+)ull, -?\d+\},""", case)
    if found is None:
        return None
    (value,) = struct.unpack("<f", struct.pack("<I", int(found[2])))
    return str(found[1].replace("L", "") % value)


def test_printf_matches_the_c_library(tmp_path: Path, size: Size, seed: int) -> None:
    cases = written(tmp_path, "cases.inc", printf_cases(random.Random(seed), size.pick(100, 1000, 20000)))
    define = f'-DCASES="{cases}"'
    right = on_this_machine(FIXTURES / "printf_check.c", tmp_path, define).splitlines()
    ran = model.run(FIXTURES / "printf_check.c", tmp_path, threads=1, defines=[define[2:]], steps=2_000_000_000)
    assert ran.end.startswith("end ")
    got = ran.text[0].splitlines()
    table = cases.read_text().splitlines()
    table += [""] * (len(right) - len(table))
    wrong = [row for row in zip(got, right, table, strict=False) if row[0] != row[1]]
    wrong = [row for row in wrong if f"<{by_python(row[2])}>" not in row[0]]
    assert not wrong, f"{len(wrong)} differ; the first: {wrong[0]}"
    assert len(got) == len(right)


def test_long_double_is_rounded_once(tmp_path: Path) -> None:
    """To single precision, just above and below the midpoint of two numbers; too large values become infinite."""
    step = 2.0**-23
    cases = [
        ("0x1.000001p0L", "1.00000000"),  # the middle: to the even one
        ("0x1.0000010000000000000000000001p0L", f"{1 + step:.8f}"),
        ("-0x1.0000010000000000000000000001p0L", f"{-1 - step:.8f}"),
        ("0x1.000003p0L", f"{1 + 2 * step:.8f}"),
        ("0x1.0000029fffffffffffffffffffffp0L", f"{1 + step:.8f}"),
        ("1e39L", "inf"),
        ("1e400L", "inf"),
        ("-1e4000L", "-inf"),
        ("1e-4000L", "0.00000000"),
        ("__builtin_infl()", "inf"),
        ('__builtin_nanl("")', "nan"),
    ]
    values = ", ".join(value for value, _ in cases)
    source = written(
        tmp_path,
        "rounded.c",
        f"#include <stdio.h>\nstatic const long double values[] = {{{values}}};\n"
        "int main(void) {\n  for (unsigned i = 0; i < sizeof values / sizeof *values; ++i)"
        ' printf("%.8Lf %u\\n", values[i], i);\n  return 0;\n}\n',
    )
    ran = model.run(source, tmp_path, threads=1)
    assert ran.text[0].splitlines() == [f"{wanted} {number}" for number, (_, wanted) in enumerate(cases)]


def test_library_functions_match_this_machine(tmp_path: Path) -> None:
    source = FIXTURES / "library_check.c"
    right = on_this_machine(source, tmp_path)
    assert len(right.splitlines()) > 130
    for optimize in "2z":
        ran = model.run(source, tmp_path, roomy(tmp_path), threads=1, optimize=optimize)
        assert ran.end.startswith("end ")
        assert ran.text[0].splitlines() == right.splitlines()


def test_threads_start_in_the_documented_state(tmp_path: Path) -> None:
    config = load_config("tiny")
    ran = model.run(FIXTURES / "threads.c", tmp_path)
    assert ran.end.startswith("end ")
    assert ran.codes == {thread: thread for thread in range(16)}, ran.text
    # Computed from the memory map: 32 threads share 64 MB, whose upper half is divided into partitions of 1 MB.
    for thread, line in ran.lines():
        found = re.fullmatch(
            r"(\d+): set (\d+) odd 4 stack (\w+) locals (\w+) heap (\w+) sram (\w+) slot (\w+) (\d+)\.(\d+)", line
        )
        assert found, line
        assert [int(found[1]), int(found[2])] == [thread, 17 + thread]
        stack, local, heap, sram, slot = (int(found[group], 16) for group in range(3, 8))
        base = 0x8000_0000 + (thread << 20)
        assert heap == base
        assert base + (1 << 20) - 0x10000 < stack < local < base + (1 << 20)
        assert sram == 0x1000_0000 + thread * (config.memory.sram.bytes // 32)
        assert slot == 0x0010_0000 + thread * 8 * 64
        assert (int(found[8]), int(found[9])) == divmod(thread, 8)


def test_threads_end_with_their_codes_and_traps(tmp_path: Path) -> None:
    source = FIXTURES / "ends.c"
    ran = model.run(source, tmp_path)
    image = device.build(source, "tiny")
    assert ran.codes == {0: 0, 1: 42, 2: 43, 3: 134, 10: 0, 13: 0, 14: 1, 15: 1}
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "assert(" in text)
    assert ran.text == {
        3: f'{source.relative_to(ROOT)}:{line}: main: assertion failed: me == 4 && "three is not four"\n',
        13: "plain 0000beef\n",
    }
    causes = {thread: cause for thread, (cause, _, _) in ran.traps.items()}
    assert causes == {4: 3, 5: 31, 6: 5, 7: 4, 8: 7, 9: 29, 11: 25, 12: 2}
    places = {thread: image.where(pc) for thread, (_, pc, _) in ran.traps.items()}
    lines = source.read_text().splitlines()
    assert places[4].function == "abort"
    assert places[5].function == "deeper"
    assert (places[6].function, places[7].function) == ("peek", "peek")
    for thread, text in ((5, "deeper("), (6, "return *(volatile"), (8, "case 8:"), (12, "case 12:")):
        place = places[thread]
        assert place.file == str(source) and place.line
        if thread != 5:
            assert text in lines[place.line - 1]
    assert places[9].function == "tinselRecv"
    # Threads trap at the guard, at the lower end of their own stack.
    assert ran.traps[5][2] // 0x1000 * 0x1000 == 0x8000_0000 + (6 << 20) - 0x10000


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("startup", ["PAPER", "CODE"])
def test_both_startups_deliver_all_messages(startup: str, length: int, tmp_path: Path, seed: int) -> None:
    """The papers' tinselAlloc of slots that the hardware has already, and the code's tinselFree alone."""
    for threads in (1, 7, 16):
        defines = [startup, f"LENGTH={length}"]
        ran = model.run(FIXTURES / "startup.c", tmp_path, threads=threads, seed=seed % 2**31, defines=defines)
        assert ran.end.startswith("end "), ran.end
        total = sum(4 * (t * 1000 + told * 10) + 6 for t in range(threads) for told in range(6))
        assert sorted(ran.lines()) == sorted(
            (t, f"{t}: heard {6 * threads}, sum {total}, idle 2") for t in range(threads)
        )


# ---------------------------------------------------------------------- the device API


def csr_accesses(image: device.Image, function: str) -> list[int]:
    """Numbers of the registers that a function accesses."""
    at = image.symbols[function] // 4
    found = []
    while image.instructions[at] != 0x00008067:  # ret
        word = image.instructions[at]
        if word & 0x7F == 0x73 and word >> 12 & 7:
            found.append(word >> 20)
        at += 1
    return found


@pytest.mark.parametrize("source", ["api_c.c", "api_cpp.cpp"])
def test_every_api_call_is_one_or_two_register_accesses(source: str) -> None:
    image = device.build(FIXTURES / source, "tiny")
    calls = sorted(name for name in image.symbols if name.startswith("api_"))
    assert len(calls) == 47
    # Numbers as config/constants/core.toml has them, typed again here.
    assert csr_accesses(image, "api_tinselSend") == [0x801, 0x800]
    assert csr_accesses(image, "api_tinselKeySend") == [0x801, 0x806]
    assert csr_accesses(image, "api_tinselMulticast") == [0x804, 0x803, 0x801, 0x805]
    assert csr_accesses(image, "api_tinselIdle") == [0x809]
    assert csr_accesses(image, "api_tinselWriteInstr") == [0x811, 0x812]
    calculated = {"AccId", "BridgeId", "FromAddr", "ToAddr", "UseRoutingKey", "HeapBaseGeneric", "HeapBaseSRAMGeneric"}
    for call in calls:
        most = 4 if call == "api_tinselMulticast" else 0 if call[10:] in calculated else 2
        count = len(csr_accesses(image, call))
        assert (count == 0) if most == 0 else 1 <= count <= most, call


def test_message_length_is_in_flits_or_flits_minus_one(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "length.c",
        "#include <tinsel.h>\nint main(void) { tinselSetLen(3); return (int)GS_CSR_READ(GS_CSR_SEND_LENGTH); }\n",
    )
    assert model.run(source, tmp_path, threads=1).codes == {0: 2}
    assert model.run(source, tmp_path, threads=1, defines=["GOSSAMER_COMPAT"]).codes == {0: 3}


# ---------------------------------------------------------------------- C++


def test_freestanding_cpp_library_works(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "cpp.cpp",
        """
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};
struct Square final : Shape {
  int side;
  constexpr explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};
template <std::integral T> constexpr T total(std::span<const T> values) {
  return std::accumulate(values.begin(), values.end(), T{});
}
constinit int made = total<int>(std::array{1, 2, 3});
int main() {
  std::array values{5, 3, 9, 1, 7, 2, 8, 6, 4, 0, 11, 10};
#ifdef SORTS
  std::ranges::sort(values);
#endif
  const Square square{values[10]};
  const Shape* volatile shape = &square;
  std::optional<int> found;
  for (int even : values | std::views::filter([](int v) { return v % 2 == 0; })) found = even;
  std::variant<int, float> one = 2.5f;
  const std::string_view text = "threads";
  const auto [a, b] = std::tuple{std::bit_width(9u), std::popcount(7u)};
  std::printf("%d %d %d %d %d %d %d %d %d\\n", values[0], values[11], shape->area(), *found, made,
              static_cast<int>(text.find('r')), static_cast<int>(2 * std::get<float>(one)), a, b);
}
""",
    )
    ran = model.run(source, tmp_path, roomy(tmp_path), threads=2)
    assert ran.text == {0: "5 10 121 10 6 2 5 4 3\n", 1: "5 10 121 10 6 2 5 4 3\n"}
    assert ran.codes == {0: 0, 1: 0}  # main returns 0 where it says nothing
    # Sorting is the only part of the C++ library outside of its headers.
    ran = model.run(source, tmp_path, roomy(tmp_path), threads=1, defines=["SORTS"])
    assert ran.text == {0: "0 11 100 10 6 2 5 4 3\n"}


def test_constructor_before_main_is_rejected(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "early.cpp",
        "struct Early {\n  Early();\n  volatile int x;\n};\nint start = 1;\nEarly::Early() : x(start) {}\n"
        "Early early;\nint main() { return early.x; }\n",
    )
    text = refused(source)
    assert re.match(
        rf"{re.escape(str(source))}:[67]: a static object has a constructor that must run before main", text
    ), text


def test_several_files_are_linked_to_one_program(tmp_path: Path) -> None:
    one = written(tmp_path, "one.c", "int twice(int); int main(void) { return twice(21); }\n")
    two = written(tmp_path, "two.cpp", 'extern "C" int twice(int x) { return 2 * x; }\n')
    assert model.run([one, two], tmp_path, threads=1).codes == {0: 42}


# ---------------------------------------------------------------------- rejected programs


def test_compiler_error_is_reported_at_its_line(tmp_path: Path) -> None:
    source = written(tmp_path, "wrong.c", "int main(void) {\n  return 1 +;\n}\n")
    text = refused(source)
    assert text.startswith(f"{source}:2: expected expression"), text


def test_compiler_error_in_a_header_is_reported_at_its_include(tmp_path: Path) -> None:
    written(tmp_path, "header.h", "int broken(;\n")
    source = written(tmp_path, "includes.c", '\n#include "header.h"\nint main(void) { return 0; }\n')
    assert refused(source).startswith(f"{source}:2: ")


def test_link_error_names_the_undefined_symbol(tmp_path: Path) -> None:
    source = written(tmp_path, "calls.c", "int missing(int);\nint main(void) {\n  return missing(1);\n}\n")
    assert refused(source).startswith(f"{source}:3: does not link: nothing defines missing")
    source = written(tmp_path, "empty.c", "int helper;\n")
    assert refused(source).startswith(f"{source}: does not link: nothing defines main; every thread starts in main")
    source = written(tmp_path, "heap.cpp", "int* volatile p;\nint main() {\n  p = new int(3);\n}\n")
    assert re.search(r":3: does not link: nothing defines operator new.*; threads have no heap", refused(source))
    text = "#include <stdlib.h>\nchar* volatile p;\nint main(void) { p = malloc(9); }\n"
    source = written(tmp_path, "heap.c", text)
    assert f"{source}:3: does not link: nothing defines malloc; threads have no heap" in refused(source)


def test_oversized_program_is_rejected_with_its_size(tmp_path: Path) -> None:
    source = written(tmp_path, "long.S", ".globl main\nmain:\n.rept 2100\nnop\n.endr\nret\n")
    text = refused(source)
    found = re.search(r"does not fit: ([\d,]+) bytes of instructions are ([\d,]+) more than the 8,192 of tiny", text)
    assert found, text
    size, over = (int(group.replace(",", "")) for group in found.groups())
    assert size - over == 8192
    # The sizes consist of the start-up code and 2,101 instructions.
    assert size >= 4 * 2101
    fits = written(tmp_path, "fits.S", f".globl main\nmain:\n.rept {2100 - over // 4}\nnop\n.endr\nret\n")
    assert 4 * len(device.build(fits, "tiny").instructions) == 8192
    source = written(tmp_path, "wide.c", "char big[40000000];\nint main(void) { return big[1]; }\n")
    text = refused(source)
    assert re.search(r"does not fit: [\d,]+ bytes of data are [\d,]+ more than the 32,505,856 of tiny's memory", text)


def test_program_too_large_for_speed_is_optimized_for_size(tmp_path: Path) -> None:
    source = PROGRAMS / "heat.c"
    fast = device.build(source, "tiny")
    assert 4 * len(fast.instructions) > 4096
    assert 4 * len(device.build(source, "ecp5").instructions) <= 4096
    with pytest.raises(InputError, match="does not fit"):
        device.build(source, "ecp5", optimize="2")


def test_linked_elf_file_is_accepted(tmp_path: Path) -> None:
    image = device.build(PROGRAMS / "hello.c", "tiny")
    copy = tmp_path / "hello.elf"
    copy.write_bytes(image.elf.read_bytes())
    again = device.build(copy, "tiny")
    assert (again.instructions, again.segments) == (image.instructions, image.segments)
    assert again.where(again.symbols["main"]).function == "main"
    text = refused(copy, "ecp5")
    assert text == f"{copy}: was linked for a configuration other than ecp5; build it again"
    cut = tmp_path / "cut.elf"
    cut.write_bytes(image.elf.read_bytes()[:1000])
    assert refused(cut) == f"{cut}: is not an ELF file, or is corrupt"


def test_elf_file_for_another_machine_is_rejected(tmp_path: Path) -> None:
    source = written(tmp_path, "here.c", "int main(void) { return 0; }\n")
    here = tmp_path / "here.elf"
    subprocess.run(["cc", "-static", str(source), "-o", str(here)], check=True)
    assert re.fullmatch(rf"{re.escape(str(here))}: is for .*; the threads are 32-bit RISC-V \(rv32imf\)", refused(here))
    noise = written(tmp_path, "noise.elf", "this is text\n")
    assert refused(noise) == f"{noise}: is not an ELF file, or is corrupt"
    zig = [sys.executable, "-m", "ziglang", "cc", "-nostdlib", "-Wl,--entry=main"]
    cache = str(tmp_path / "zig")
    environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    for target, cpu, what in (
        ("riscv64-freestanding-none", "generic_rv64+m+f", "is for 64-bit RISC-V"),
        ("riscv32-freestanding-none", "generic_rv32+m+c", "has compressed instructions"),
        ("riscv32-freestanding-none", "generic_rv32+m+f+d", "a calling convention other than ilp32f"),
        ("riscv32-freestanding-none", "generic_rv32+m+f", "starts at 0x"),
    ):
        other = tmp_path / "other.elf"
        abi = "lp64" if "64" in target else "ilp32d" if cpu.endswith("d") else "ilp32"
        command = [*zig, "-target", target, f"-mcpu={cpu}", f"-mabi={abi}", str(source), "-o", str(other)]
        subprocess.run(command, check=True, env=environment)
        assert what in refused(other)
    loose = tmp_path / "loose.elf"
    command = [*zig[:4], "-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+f+zicsr", "-c", str(source)]
    subprocess.run([*command, "-o", str(loose)], check=True, env=environment)
    assert "is not a linked program" in refused(loose)


def test_files_that_are_not_programs_are_rejected(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.c") == f"{tmp_path}/none.c: no such file"
    text = written(tmp_path, "notes.txt", "hello\n")
    assert "is not a program; its extension must be one of .c, .S" in refused(text)
    assert "at least one source file" in refused([])
    with pytest.raises(InputError, match="nosuch"):
        device.build(PROGRAMS / "hello.c", "nosuch")


# ---------------------------------------------------------------------- rebuilds


def test_program_is_compiled_once(tmp_path: Path) -> None:
    header = written(tmp_path, "answer.h", "#define ANSWER 1\n")
    source = written(tmp_path, "cached.c", '#include "answer.h"\nint main(void) { return ANSWER; }\n')
    assert model.run(source, tmp_path, threads=1).codes == {0: 1}
    elf = device.build(source, "tiny").elf
    before = elf.stat().st_mtime_ns
    assert device.build(source, "tiny").elf.stat().st_mtime_ns == before
    assert device.build(source, "tiny", ["ANSWER2"]).elf != elf
    time.sleep(0.01)
    header.write_text("#define ANSWER 27\n")
    assert model.run(source, tmp_path, threads=1).codes == {0: 27}
    # A failed build leaves no result that looks valid.
    source.write_text("int main(void) {\n")
    refused(source)
    refused(source)


def test_environment_of_other_compilers_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "tinsel.h", "#error this is another one\n")
    monkeypatch.setenv("CPATH", str(tmp_path))
    monkeypatch.setenv("C_INCLUDE_PATH", str(tmp_path))
    source = written(tmp_path, "clean.c", "#include <tinsel.h>\nint main(void) { return 3; }\n")
    assert model.run(source, tmp_path, threads=1).codes == {0: 3}


def test_instruction_has_its_source_location() -> None:
    image = device.build(PROGRAMS / "ring.c", "tiny")
    start = image.where(0)
    assert (start.function, start.file) == ("_start", os.path.relpath(ROOT / "device" / "crt0.S"))
    assert image.where(image.symbols["main"]).function == "main"
    assert image.where(image.symbols["main"]).file == str(PROGRAMS / "ring.c")
    assert str(image.where(1 << 24)) == "unknown code"
    seen = {image.where(4 * at).function for at in range(len(image.instructions))}
    assert {"main", "printf", "tinselWaitUntil", "_start", "putchar"} <= seen
    for at in range(len(image.instructions)):
        place = image.where(4 * at)
        assert place.function and place.file and place.line, f"{4 * at:x}: {place}"


def test_compiler_group_is_installed_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a fresh clone the first program installs the group of its compiler."""
    asked: list[str] = []
    monkeypatch.setattr(gossamer_setup, "require", lambda *groups: asked.extend(groups))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="setup rtl"):
        device._compiler_files()
    assert asked == ["rtl"]


# ---------------------------------------------------------------------- programs for Tinsel 0.8.3

COMPAT = ("GOSSAMER_COMPAT", "TINSEL")


def needed(image: device.Image) -> set[str]:
    """What the program's own objects need from libraries."""
    from elftools.elf.elffile import ELFFile

    names: set[str] = set()
    for path in image.elf.parent.parent.glob("*.o"):
        with open(path, "rb") as file:
            symbols = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
            names |= {one.name for one in symbols if one["st_shndx"] == "SHN_UNDEF" and one.name}
    return names


EXPRESSIONS = """#include <tinsel.h>
#include <math.h>
#define REAL(x) x##f
#define HALF 0.5
static const float table[] = {0.1, 2.5e-3, .75, 3., 0x1.8p1, 1'000.25};
struct Settings {
  float rate = 0.3;
};
template <typename T>
T scaled(T value) {
  return value * 0.1 + 2.5 * value / 3.0;
}
static float with_default(float value, float by = 1.1) { return value * by - 0.7; }
static constexpr auto deduced = 0.2;
static_assert(sizeof deduced == 4 && sizeof(1.5L) > 4 && sizeof(0.5f) == 4);
int main() {
  volatile float inputs[] = {VALUES};
  for (float x : inputs) {
    auto more = [](auto value) { return value > 1.5 ? value * 0.01 : value + 1e-2; };
    const float results[] = {scaled(x), with_default(x), more(x), x * x + x * HALF, REAL(0.25) * x,
                             table[0] + table[1] * x + table[2] + table[3] + table[4] + table[5],
                             Settings().rate * x - deduced, sqrt(x * 0.3), fabs(-x) * 1.7};
    for (float result : results) puthex(__builtin_bit_cast(uint32_t, result)), putchar('\\n');
  }
}
"""


def reference(given: list[float]) -> list[str]:
    """The same in NumPy; each operation is rounded to single precision."""
    f = np.float32
    lines = []
    for x in map(f, given):
        table = [f(0.1), f(2.5e-3), f(0.75), f(3), f(3), f(1000.25)]
        more = x * f(0.01) if x > f(1.5) else x + f(1e-2)
        total = table[0] + table[1] * x
        for one in table[2:]:
            total = total + one
        results = [
            x * f(0.1) + f(2.5) * x / f(3),
            x * f(1.1) - f(0.7),
            more,
            x * x + x * f(0.5),
            f(0.25) * x,
            total,
            f(0.3) * x - f(0.2),
            np.sqrt(x * f(0.3)),
            abs(x) * f(1.7),
        ]
        lines += [f"{struct.unpack('<I', struct.pack('<f', one))[0]:08x}" for one in results]
    return lines


def test_arithmetic_of_threads_is_single_precision_without_contraction(tmp_path: Path, size: Size, seed: int) -> None:
    chance = random.Random(seed)
    given = [float(np.float32(chance.uniform(0, 3))) for _ in range(size.pick(8, 40, 400))]
    source = written(tmp_path, "maths.cpp", EXPRESSIONS.replace("VALUES", ", ".join(f"{x!r}f" for x in given)))
    needs = needed(device.build(source, "tiny", COMPAT))
    assert not {name for name in needs if "df" in name or name in ("sqrt", "fabs")}, needs
    ran = model.run(source, tmp_path, threads=1, defines=COMPAT)
    assert ran.text[0].splitlines() == reference(given)
    # Other programs keep the arithmetic of C.
    assert any("df" in name for name in needed(device.build(written(tmp_path, "own.c", OWN), "tiny")))


OWN = "int main(void) { volatile float x = 1; x = x * 0.1; return (int)x; }"


def test_only_double_constants_in_range_become_single() -> None:
    changed = ["1.0", "1.", ".5", "1e3", "1.5e-3", "0x1p-3", "0X1.8P+2", "1'000.5", "1e38", "1e-45", "0.0", "0e5"]
    kept = ["1", "0x1e3", "017", "1.0f", "1.0F", "1.0L", "1e3l", "1.0_km", "1e39", "1e-60", "0b101", "10u", "0x1p-3f"]
    assert [_single_precision.single(one) for one in changed] == [f"{one}f" for one in changed]
    assert [_single_precision.single(one) for one in kept] == kept
    text = """# 1 "user.c"
char* a = "1.0 \\" 2.0"; int b = '1', x1 = 3; float c = a1.0 ? 2.5 : -.5e1, d = R"(3.0)"[0];
# 1 "/usr/include/x.h" 1 3
double system = 1.0;
# 3 "user.c" 2
#pragma rate 1.0
float e = 4.0;
"""
    changed_text = text.replace("2.5 :", "2.5f :").replace("-.5e1", "-.5e1f").replace("4.0", "4.0f")
    assert _single_precision.converted(text) == changed_text.replace("a1.0", "a1.0f")


def test_faults_of_the_source_name_its_own_lines(tmp_path: Path) -> None:
    wrong = written(tmp_path, "wrong.c", "#include <tinsel.h>\n\nint main() { return 1.5 +; }\n")
    assert f"{wrong}:3: " in refused(wrong, "tiny", *COMPAT)
    missing = written(tmp_path, "missing.c", '#include <tinsel.h>\n#include "none.h"\nint main() { return 0; }\n')
    assert f"{missing}:2: " in refused(missing, "tiny", *COMPAT)
    text = "#include <tinsel.h>\n#include <math.h>\nint main() {\n  int unused;\n  return INFINITY > 1.5;\n}\n"
    image = device.build(written(tmp_path, "warned.c", text), "tiny", COMPAT)
    assert [line.split(": ")[0] for line in image.warnings] == [f"{tmp_path}/warned.c:4"]
    assert image.where(image.symbols["main"]).file == f"{tmp_path}/warned.c"


@pytest.mark.parametrize("defines", [COMPAT, ()], ids=["tinsel", "native"])
def test_printf_is_linked_only_where_it_is_called(defines: tuple[str, ...], tmp_path: Path) -> None:
    quiet = written(
        tmp_path,
        "quiet.cpp",
        "#include <tinsel.h>\n#include <assert.h>\n"
        'const char* unused() { return "%f"; }\n'
        'inline void never(float x) { printf("%f\\n", x); }\n'
        'int main() { puts("1.5%f\\n"); puthex(1); putchar(65); assert(tinselId() < 99); return 0; }\n',
    )
    image = device.build(quiet, "tiny", defines)
    assert not [name for name in image.symbols if "print" in name]
    loud = written(tmp_path, "loud.c", '#include <tinsel.h>\nint main() { printf("%x\\n", 1); return 0; }\n')
    assert [name for name in device.build(loud, "tiny", defines).symbols if "print" in name]
    real = written(tmp_path, "real.c", '#include <tinsel.h>\nint main() { printf("%f\\n", 1.5); return 0; }\n')
    assert "gossamer_print_float" in device.build(real, "tiny", defines).symbols
    assert model.run(real, tmp_path, threads=1, defines=defines).text[0] == "1.500000\n"


STOP = "  csrw GS_CSR_THREAD_STOP, a0\n"
CODES = {
    "label": "other:\n  li a0, 1\n" + STOP + "  .globl _start\n_start:\n  li a0, 7\n" + STOP,
    "first": "  li a0, 7\n" + STOP + "other:\n  li a0, 1\n" + STOP,
    "data": "  .globl _start\n_start:\n  lla a1, value\n  lw a0, 0(a1)\n" + STOP + "  .data\nvalue: .word 7\n",
}


@pytest.mark.parametrize("name", CODES)
def test_program_without_main_starts_in_its_own_entry(name: str, tmp_path: Path) -> None:
    source = written(tmp_path, f"{name}.S", f"#include <gossamer/device_config.h>\n  .text\n{CODES[name]}")
    ran = model.run(source, tmp_path, threads=3)
    assert (ran.codes, ran.traps) == ({0: 7, 1: 7, 2: 7}, {})


def test_own_entry_replaces_the_start_up_code_and_may_call_main(tmp_path: Path) -> None:
    own = written(
        tmp_path,
        "entry.S",
        "#include <gossamer/device_config.h>\n  .globl _start\n_start:\n"
        "  li sp, GS_PARTITION_BASE + 4096\n  call main\n" + STOP,
    )
    main = written(tmp_path, "main.c", "int main(void) { return 40 + 2; }\n")
    assert model.run([main, own], tmp_path, threads=1).codes == {0: 42}
    bare = written(
        tmp_path, "bare.c", "#include <tinsel.h>\nvoid _start(void) { tinselEmit(5); tinselKillThread(); }\n"
    )
    assert model.run(bare, tmp_path, threads=2).emitted == [(0, 5), (1, 5)]
    assert "nothing defines main; every thread starts in main" in refused(
        written(tmp_path, "none.c", "int part(void) { return 0; }\n")
    )


def test_data_of_a_program_is_placed_at_an_offset(tmp_path: Path) -> None:
    source = written(tmp_path, "data.c", "static int x[30] = {1};\nint y[9];\nint main(void) { return x[y[0]]++; }\n")
    plain, moved = (device.build(source, "tiny", data_offset=offset) for offset in (0, 0x1280))
    assert [one.address - 0x1280 for one in moved.segments] == [one.address for one in plain.segments]
    assert [one.data for one in moved.segments] == [one.data for one in plain.segments]
