# SPDX-License-Identifier: Apache-2.0
"""Inputs of device programs: files, folders, warnings, sizes; and source locations of instructions."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gossamer import device
from gossamer.config import constants
from gossamer.config import load as load_config
from gossamer.device import _header
from gossamer.errors import ExitCode, InputError

HERE = Path(__file__).resolve().parent


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
FIXTURES: Path = model.FIXTURES


def refused(source: Path | list[Path], config: str = "tiny", **options: Any) -> str:
    """The one-line error of a rejected program."""
    with pytest.raises(InputError) as error:
        device.build(source, config, **options)
    text = str(error.value)
    assert error.value.exit_code == ExitCode.INPUT
    assert "\n" not in text
    return text


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


# ---------------------------------------------------------------------- files and folders


def test_folder_is_built_from_its_sources(tmp_path: Path) -> None:
    """Only sources directly in it; its headers are found, hidden files and subfolders are ignored."""
    folder = tmp_path / "mine"
    written(folder, "main.c", "#include <part.h>\nint main(void) { return PART + more() + least(); }\n")
    written(folder, "part.h", "#define PART 40\nint more(void);\nint least(void);\n")
    written(folder, "more.cpp", 'extern "C" int more() { return 2; }\n')
    written(folder, "least.S", ".globl least\nleast:\n  li a0, 1\n  ret\n")
    written(folder, ".hidden.c", "this is no C\n")
    written(folder, "notes.txt", "nor is this\n")
    written(folder / "below", "also.c", "int main(void) { return 1; }\n")
    assert model.run(folder, tmp_path, threads=1).codes == {0: 43}
    (folder / "also.c").write_text("int main(void) { return 1; }\n")
    text = refused(folder)
    assert re.match(rf"{folder}/\w+\.c:\d+: does not link: main is defined here and in {folder}/\w+\.c:\d", text)


def test_include_folders_are_searched(tmp_path: Path) -> None:
    written(tmp_path / "include", "answer.h", "#define ANSWER 42\n")
    source = written(tmp_path, "main.c", "#include <answer.h>\nint main(void) { return ANSWER; }\n")
    assert refused(source).startswith(f"{source}:1: 'answer.h' file not found")
    image = device.build(source, "tiny", includes=[tmp_path / "include"])
    assert image.warnings == ()
    none = tmp_path / "none"
    assert refused(source, includes=[none]) == f"{none}: no such include folder (-I)"


def test_object_file_is_linked_or_rejected(tmp_path: Path) -> None:
    main = written(tmp_path, "main.c", "int part(void);\nint main(void) { return part(); }\n")
    part = written(tmp_path, "part.S", ".globl part\npart:\n  li a0, 7\n  ret\n")
    whole = device.build([main, part], "tiny")
    made = next(whole.elf.parent.parent.glob("1-part.o"))
    kept = tmp_path / "part.o"
    kept.write_bytes(made.read_bytes())
    assert model.run([main, kept], tmp_path, threads=1).codes == {0: 7}
    # A rebuilt object is linked again.
    kept.write_bytes(b"noise")
    assert refused([main, kept]) == f"{kept}: is not an object file, or is corrupt"
    here = written(tmp_path, "here.c", "int part(void) { return 1; }\n")
    subprocess.run(["cc", "-c", str(here), "-o", str(kept)], check=True)
    assert refused([main, kept]) == f"{kept}: is for another architecture; the threads are 32-bit RISC-V (rv32imf)"
    kept.write_bytes(whole.elf.read_bytes())
    assert refused([main, kept]) == f"{kept}: is not an object file; a linked program has the extension .elf"
    wrong = bytearray(made.read_bytes())
    for flags, what in ((0x3, "has compressed instructions"), (0x4, "a calling convention other than")):
        wrong[36:40] = flags.to_bytes(4, "little")
        kept.write_bytes(wrong)
        assert what in refused([main, kept])


def test_inputs_without_sources_are_rejected(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    text = refused(empty)
    assert text.startswith(f"{empty}: has no sources; a folder means the files with the extensions .c, .S")
    main = written(tmp_path, "main.c", "int main(void) { return 0; }\n")
    assert refused([main, main]) == f"{main}: is listed twice; list it once"
    assert refused([main, tmp_path / "none.c"]) == f"{tmp_path}/none.c: no such file"
    elf = tmp_path / "ready.elf"
    elf.write_bytes(device.build(main, "tiny").elf.read_bytes())
    for both in ([main, elf], [elf, main]):
        assert refused(both) == f"{elf}: an ELF file is a complete program; give no other files"
    assert refused(main, defines=["1X=2"]) == "-D 1X=2: is not a macro; give NAME or NAME=VALUE"
    assert refused(main, defines=["=2"]).startswith("-D =2: is not a macro")
    assert device.build(main, "tiny", ["X", "Y=2", "F(x)=x"]).warnings == ()


# ---------------------------------------------------------------------- warnings


def test_warnings_are_repeated_for_cached_builds(tmp_path: Path) -> None:
    """Warnings of the user's files and headers are repeated if a build or the compiler's cache has the result."""
    header = written(tmp_path, "part.h", "static int never(void) { return 1; }\n")
    text = '#include "part.h"\nint main(void) {\n  int unused;\n  return 0;\n}\n'
    source = written(tmp_path, "warned.c", text)
    other = written(tmp_path, "other.c", '#include "part.h"\nint other(void) { return never(); }\n')
    wanted = {
        f"{source}:3: warning: unused variable 'unused' [-Wunused-variable]",
        f"{header}:1: warning: unused function 'never' [-Wunused-function]",
    }
    for _ in range(2):
        image = device.build([source, other], "tiny")
        assert (set(image.warnings), len(image.warnings)) == (wanted, 2)
    # The same text again, after another: the compiler's cache has its result.
    source.write_text("int main(void) { return 0; }\n")
    assert device.build([source, other], "tiny").warnings == ()
    source.write_text(text)
    assert set(device.build([source, other], "tiny").warnings) == wanted


def test_shipped_programs_have_no_warnings(tmp_path: Path) -> None:
    """The programs of this project and their includes cause no warnings."""
    for source in sorted(model.PROGRAMS.iterdir()):
        assert device.build(source, "tiny").warnings == (), source


def test_main_with_parameters_causes_a_warning(tmp_path: Path) -> None:
    source = written(tmp_path, "args.c", "#include <tinsel.h>\n\nint main(int argc, char** argv) { return argc; }\n")
    (warning,) = device.build(source, "tiny").warnings
    assert warning == (
        f"{source}:3: warning: main has parameters, but threads have no arguments: argc is 0 and argv is null"
    )
    assert model.run(source, tmp_path, threads=1).codes == {0: 0}


# ---------------------------------------------------------------------- sizes


def test_oversized_thread_local_data_is_rejected(tmp_path: Path) -> None:
    """The maximum size works in every thread; one more cache line is rejected, with the number of bytes."""
    body = """
#include <gossamer/device.h>
static _Thread_local volatile unsigned big[WORDS];
int main(void) {
  volatile unsigned* heap = (volatile unsigned*)(uintptr_t)gossamerHeapBase(gossamerThread());
  if (GOSSAMER_HEAP_BYTES) heap[GOSSAMER_HEAP_BYTES / 4 - 1] = 99;
  for (unsigned i = 0; i < WORDS; i += WORDS / 16) big[i] += gossamerThread() + i;
  for (unsigned i = 0; i < WORDS; i += WORDS / 16) if (big[i] != gossamerThread() + i) return 1;
  return GOSSAMER_HEAP_BYTES ? (int)heap[GOSSAMER_HEAP_BYTES / 4 - 1] - 99 : 0;
}
"""
    source = written(tmp_path, "local.c", body)
    place = _header.memory_map(load_config("tiny"))
    most = place.partition_bytes - place.stack_bytes
    for words in (most // 4, 1000, 50_000):
        ran = model.run(source, tmp_path, threads=4, defines=[f"WORDS={words}"], steps=400_000_000)
        assert ran.end.startswith("end ") and ran.codes == dict.fromkeys(range(4), 0), (words, ran.traps)
    text = refused(source, defines=[f"WORDS={most // 4 + 32}"])
    assert text == (
        f"{source}: does not fit: {most + 128:,} bytes of thread-local variables and 65,536 of stack are 4,096 more "
        f"than the 1,048,576 of a thread's memory in tiny; the largest, big, has {most + 128:,}"
    )


def test_thread_local_variables_do_not_reduce_the_stack(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "deep.c",
        "static _Thread_local volatile char much[200000];\n"
        "static __attribute__((noinline)) int deep(int n) {\n"
        "  volatile char here[1024];\n  here[n] = 1;\n  return n ? deep(n - 1) + here[n] : much[5];\n}\n"
        "int main(void) { return deep(DEPTH); }\n",
    )
    assert model.run(source, tmp_path, threads=2, defines=["DEPTH=50"]).codes == {0: 50, 1: 50}
    traps = model.run(source, tmp_path, threads=2, defines=["DEPTH=70"]).traps
    assert [cause for cause, _, _ in traps.values()] == [constants.enumeration("trap")["stack_overflow"]] * 2


def test_thread_local_variables_are_aligned(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "aligned.c",
        "static _Thread_local volatile char one = 1;\n"
        "static _Thread_local __attribute__((aligned(ALIGN))) volatile char two = 2, three;\n"
        "int main(void) {\n"
        "  return (int)(((unsigned)&two | (unsigned)&three) % ALIGN) * 100 + one + two + three;\n}\n",
    )
    for align in (16, 64, 128):
        assert model.run(source, tmp_path, threads=2, defines=[f"ALIGN={align}"]).codes == {0: 3, 1: 3}
    assert "aligned to 256 bytes, but threads support at most 128" in refused(source, defines=["ALIGN=256"])


def test_oversized_stack_frame_is_rejected(tmp_path: Path) -> None:
    """It could skip the guard."""
    source = written(
        tmp_path,
        "frame.c",
        "int use(volatile char*);\nint main(void) {\n  volatile char big[SIZE];\n  return use(big);\n}\n"
        "__attribute__((noinline)) int use(volatile char* at) { at[0] = 7; return at[0]; }\n",
    )
    assert model.run(source, tmp_path, threads=1, defines=["SIZE=61000"]).codes == {0: 7}
    text = refused(source, defines=["SIZE=70000"])
    assert re.match(rf"{source}:2: stack frame size \(70\d+\) exceeds limit \(61440\) in 'main'", text), text


def test_largest_variable_is_named(tmp_path: Path) -> None:
    source = written(
        tmp_path, "wide.c", "char small[90];\nchar big[40000000];\nint main(void) { return big[1] + small[2]; }\n"
    )
    assert refused(source).endswith("of tiny's memory; the largest, big, has 40,000,000")


# ---------------------------------------------------------------------- Tinsel's names


@pytest.mark.parametrize("config", ["tiny", "quad"])
def test_addresses_and_macros_match_tinsel(config: str, tmp_path: Path) -> None:
    ran = model.run(FIXTURES / "addresses.c", tmp_path, config, steps=400_000_000)
    threads = load_config(config).threads_per_tile
    assert ran.codes == dict.fromkeys(range(threads), 0), (ran.end, ran.text, ran.traps)
    assert sorted(ran.lines()) == [(t, f"{t} of {threads} well") for t in range(threads)]


@pytest.mark.parametrize("config", ["ecp5", "ecp5-85", "de5", "de5-128", "smi520n"])
def test_macros_exist_in_every_configuration(config: str) -> None:
    assert device.build(FIXTURES / "addresses.c", config).warnings == ()


def test_router_tables_follow_the_program_data(tmp_path: Path) -> None:
    for name in ("tiny", "quad", "ecp5", "de5"):
        config = load_config(name)
        place = _header.memory_map(config)
        text = _header.header(config)
        base = int(re.search(r"TinselPOLiteProgRouterBase (\w+)", text)[1], 0)  # type: ignore[index]
        # The tables begin at the end of programs, in the lower half of the memory and of its window.
        assert base == place.data_base + place.data_bytes
        end = base + config.router.table_bytes - place.data_base
        assert end == min(config.memory.dram.bytes // 2, 1 << 30)


def test_mesh_width_need_not_be_a_power_of_two(tmp_path: Path) -> None:
    """Addresses have gaps in this case; thread numbers and partitions have none."""
    changes = "[mesh]\nwidth = 3\nheight = 1\n[cache]\ncaches_per_dram = 3\n"
    path = written(tmp_path, "three.toml", f'base = "quad"\ndescription = "three tiles"\n{changes}')
    config = load_config(path)
    text = _header.header(config)
    assert "#define TinselThreadsPerBoard 192\n#define TinselLogThreadsPerBoard 8\n" in text
    assert "#define TinselMaxThreads 256\n" in text
    ran = model.run(FIXTURES / "threads.c", tmp_path, str(path), steps=400_000_000)
    assert ran.codes == {thread: thread for thread in range(64)}, (ran.end, ran.text)
    source = written(
        tmp_path,
        "numbers.c",
        "#include <gossamer/device.h>\n"
        "int main(void) {\n"
        "  for (uint32_t n = 0; n < 192; ++n) {\n"
        "    if (gossamerNumber(gossamerAddress(n)) != n || gossamerAddress(n) != n) return 1 + (int)n;\n"
        "    if (gossamerHeapBase(n) != GS_PARTITION_BASE + n * GS_PARTITION_BYTES) return 201;\n"
        "  }\n"
        "  return 0;\n}\n",
    )
    assert set(model.run(source, tmp_path, str(path), threads=2).codes.values()) == {0}


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (["tinsel.h"], "aabb"),
        (["io.h"], "aabb"),
        (["tinsel.h", "stdio.h"], "aa\nbb\n"),
        (["stdio.h", "tinsel.h"], "aa\nbb\n"),
        (["stdio.h", "io.h"], "aabb"),
        (["io.h", "stdio.h", "tinsel.h"], "aa\nbb\n"),
    ],
)
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_included_headers_select_the_puts_function(headers: list[str], said: str, suffix: str, tmp_path: Path) -> None:
    """tinsel.h provides Tinsel's puts, which adds no newline, unless a program includes C's."""
    lines = "".join(f"#include <{header}>\n" for header in headers)
    source = written(tmp_path, f"puts{suffix}", f'{lines}int main(void) {{ puts("aa"); puts("bb"); return 0; }}\n')
    ran = model.run(source, tmp_path, threads=1)
    assert (ran.text, ran.codes) == ({0: said}, {0: 0})


# ---------------------------------------------------------------------- source locations


INLINED = """#include <tinsel.h>
static inline uint32_t peek(uint32_t at) {
  return *(volatile uint32_t*)at;
}
static inline uint32_t twice(uint32_t at) {
  return 2 *
         peek(at);
}
int main(void) {
  if (tinselId() == 1)
    return (int)twice(64);
  tinselFree(0);
  return 0;
}
"""


def test_inlined_functions_have_their_call_chain(tmp_path: Path) -> None:
    """Each function has its own line, and each call is attributed to its caller."""
    source = written(tmp_path, "inlined.c", INLINED)
    image = device.build(source, "tiny")
    places = [image.where(4 * at) for at in range(len(image.instructions))]
    load = next(place for place in places if place.function == "peek")
    assert [(one.function, one.file, one.line) for one in load.chain()] == [
        ("peek", str(source), 3),
        ("twice", str(source), 7),
        ("main", str(source), 11),
    ]
    assert str(load) == f"peek at {source}:3, inlined into twice at {source}:7, inlined into main at {source}:11"
    free = next(place for place in places if place.function == "tinselFree")
    assert free.file and free.file.endswith("device/include/tinsel.h")
    assert free.into == device.Place("main", str(source), 12)
    text = source.read_text().splitlines()
    header = (HERE.parents[1] / "device" / "include" / "tinsel.h").read_text().splitlines()
    assert free.line and "tinselFree(" in header[free.line - 1]
    spans = {"peek": (2, 4), "twice": (5, 8), "main": (9, 14)}
    for place in places:
        for one in place.chain():
            if one.file == str(source):
                low, high = spans[str(one.function)]
                assert one.line and low <= one.line <= high, (one, text[one.line - 1])


def test_cpp_functions_have_demangled_names(tmp_path: Path) -> None:
    source = written(
        tmp_path,
        "names.cpp",
        "namespace far {\n[[gnu::noinline]] int away(volatile int& x) {\n  return x + 1;\n}\n}\n"
        "int main() {\n  volatile int x = 1;\n  return far::away(x);\n}\n",
    )
    image = device.build(source, "tiny")
    seen = {image.where(4 * at).function for at in range(len(image.instructions))}
    assert {"away", "main"} <= seen and not any(str(name).startswith("_Z") for name in seen)
