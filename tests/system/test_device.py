# SPDX-License-Identifier: Apache-2.0
"""Data of every vertex has the same layout on the overlay's threads as on this machine.

Each application header is compiled freestanding for rv32imf and for the host, and the layouts of
its state, edge, message, parameters and aggregates are read from the debug information of both: names, offsets,
sizes and kinds of all members at any depth. The comparison uses no code of Gossamer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.paths import app_headers

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "vertices"
KINDS = ("State", "Edge", "Message", "Params", "Aggregates")

SOURCE = """\
#include "{header}"
extern "C" {{
GossamerVertex::State layout_State;
GossamerVertex::Edge layout_Edge;
GossamerVertex::Message layout_Message;
GossamerVertex::Params layout_Params;
GossamerVertex::Aggregates layout_Aggregates;
bool handlers(GossamerVertex& v) {{
  v.init();
  v.send(&layout_Message);
  v.recv(&layout_Message, &layout_Edge);
  const bool on = gossamer::aggregates::step(v, layout_Aggregates, layout_Aggregates);
  return v.finish(&layout_Message) || on;
}}
}}
"""
# Freestanding on both sides: the descriptor is only for hosts and does not affect layouts.
COMMON = ["-std=c++20", "-ffreestanding", "-gdwarf-5", "-O1", "-c", f"-I{ROOT / 'include'}"]
COMMON += ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
CORE = ["-mcpu=generic_rv32+m+f+zicsr", "-mabi=ilp32f"]
# The C library's target provides the C++ headers; nothing of it is linked, and only the ABI determines the layout.
DEVICE = ["-target", "riscv32-linux-musl", *CORE, "-fno-exceptions", "-fno-rtti", "-fno-sanitize=all"]
# Linking resolves the addresses in the debug information, and shows that a handler needs only
# the compiler's own arithmetic (doubles, which the core lacks).
LINK = ["-target", "riscv32-freestanding-none", *CORE, "-Wl,--entry=handlers"]


def application_headers() -> list[Path]:
    """Every header that defines a vertex, of applications and examples."""
    found = [*app_headers(), *sorted((ROOT / "examples").glob("**/*.h"))]
    return [path for path in found if "GOSSAMER_VERTEX(" in path.read_text() or "/apps/" in str(path)]


def compile_both(header: Path, folder: Path) -> tuple[Path, Path]:
    """An object for this machine, and a program for the overlay."""
    from gossamer.native import build_dir, compiler

    source = folder / "layout.cc"
    source.write_text(SOURCE.format(header=header))
    host, device, program = folder / "host.o", folder / "device.o", folder / "device.elf"
    zig = [sys.executable, "-m", "ziglang", "c++"]
    cache = build_dir() / "zig"
    environment = dict(os.environ, ZIG_GLOBAL_CACHE_DIR=str(cache), ZIG_LOCAL_CACHE_DIR=str(cache))
    for command in (
        [compiler(), *COMMON, source, "-o", host],
        [*zig, *DEVICE, *COMMON, source, "-o", device],
        [*zig, *LINK, device, "-o", program],
    ):
        done = subprocess.run(
            list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{header} does not compile: {command}\n{done.stderr}"
    return host, program


def layouts(path: Path) -> tuple[str, dict[str, dict[str, tuple[Any, ...]]]]:
    """The machine of an object, and for each kind of data its members by name."""
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        elf = ELFFile(file)
        found = {}
        for unit in elf.get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                name = die.attributes.get("DW_AT_name")
                if die.tag == "DW_TAG_variable" and name and name.value.startswith(b"layout_"):
                    found[name.value.decode()[len("layout_") :]] = dict(members("", 0, die))
        return f"{elf.get_machine_arch()}/{elf.elfclass}", found


def target(die: Any) -> Any:
    """The type of a variable or member, without names and qualifiers in between."""
    die = die.get_DIE_from_attribute("DW_AT_type")
    while die.tag in {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"}:
        die = die.get_DIE_from_attribute("DW_AT_type")
    return die


def number(die: Any, attribute: str, default: int = 0) -> int:
    found = die.attributes.get(attribute)
    return default if found is None else int(found.value)


def members(path: str, offset: int, die: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """All members of a variable: path, and (offset, size, kind)."""
    what = target(die)
    size = number(what, "DW_AT_byte_size")
    kind = what.tag.removeprefix("DW_TAG_")
    if what.tag == "DW_TAG_base_type":
        yield path, (offset, size, f"encoding {number(what, 'DW_AT_encoding')}")
    elif what.tag in {"DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"}:
        yield path, (offset, size, kind.replace("class", "structure"))
        for child in what.iter_children():
            if child.tag not in {"DW_TAG_member", "DW_TAG_inheritance"}:
                continue
            if "DW_AT_external" in child.attributes:  # a static member is not in the object
                continue
            name = child.attributes.get("DW_AT_name")
            below = f"{path}.{name.value.decode() if name else child.tag.removeprefix('DW_TAG_')}"
            if "DW_AT_bit_size" in child.attributes:
                bits = number(child, "DW_AT_data_bit_offset"), number(child, "DW_AT_bit_size")
                yield f"{below}:bits", (offset, *bits)
            yield from members(below, offset + number(child, "DW_AT_data_member_location"), child)
    elif what.tag == "DW_TAG_array_type":
        counts = []
        for child in what.iter_children():
            if child.tag == "DW_TAG_subrange_type":
                upper = number(child, "DW_AT_upper_bound", -1)
                counts.append(number(child, "DW_AT_count", upper + 1))
        yield path, (offset, kind, *counts)
        yield from members(f"{path}[]", offset, what)
    else:
        yield path, (offset, size, kind)


def differences(header: Path, folder: Path) -> list[str]:
    """The members whose layouts differ, one line each."""
    host_object, device_object = compile_both(header, folder)
    host_machine, host = layouts(host_object)
    device_machine, device = layouts(device_object)
    assert device_machine == "RISC-V/32"
    assert host_machine != device_machine
    assert set(host) == set(device) == set(KINDS)
    lines = []
    for kind in KINDS:
        assert host[kind], f"{header}: nothing is known of its {kind}"
        for path in sorted(host[kind].keys() | device[kind].keys()):
            here, there = host[kind].get(path), device[kind].get(path)
            if here != there:
                lines.append(f"{kind}{path}: {here} on this machine, {there} on the overlay")
    return lines


def test_layout_check_covers_every_application() -> None:
    from gossamer import apps

    known = {path.stem for path in application_headers()}
    assert set(apps.names()) <= known
    assert len(known) >= 6


@pytest.mark.parametrize("header", application_headers(), ids=lambda path: path.stem)
def test_application_layouts_match_on_host_and_overlay(header: Path, tmp_path: Path) -> None:
    assert differences(header, tmp_path) == []


def test_fixed_width_types_have_the_same_layout_on_both(tmp_path: Path) -> None:
    assert differences(FIXTURES / "good_layout.h", tmp_path) == []
    _, found = layouts(tmp_path / "device.elf")
    # Computed by hand from the alignment rules, so that the comparison is not empty.
    state = found["State"]
    assert state[""][:2] == (0, 64)
    assert state[".weight"][:2] == (8, 8)
    assert state[".colour"][:2] == (16, 2)
    assert state[".corners"] == (20, "array_type", 2)
    assert state[".corners[].at"] == (20, "array_type", 3)
    assert state[".corners[].kind"][:2] == (32, 1)
    assert state[".low:bits"] == (0, 52 * 8, 5)
    assert state[".high:bits"] == (0, 52 * 8 + 5, 27)
    assert state[".total"][:2] == (56, 8)
    assert found["Message"][".value"][:2] == (8, 8)
    assert found["Params"][".on"][:2] == (8, 1)


@pytest.mark.parametrize(
    ("fixture", "place"),
    [
        ("long_in_state", "State.inner.count: "),
        ("size_t_in_state", "State.inner.count: "),
        ("long_in_message", "Message: "),
    ],
)
def test_types_of_variable_width_are_detected(fixture: str, place: str, tmp_path: Path) -> None:
    found = differences(FIXTURES / f"{fixture}.h", tmp_path)
    assert any(line.startswith(place) for line in found), found
