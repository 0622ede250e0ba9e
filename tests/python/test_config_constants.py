# SPDX-License-Identifier: Apache-2.0
"""Shared constants: numbers and widths match their specifications, and invalid files are errors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from gossamer import paths
from gossamer.config import constants
from gossamer.config._constants import read_constants
from gossamer.errors import ExitCode, InputError


def test_exit_codes_match_the_command() -> None:
    assert dict(constants.enumeration("exit_code").values) == {code.name.lower(): int(code) for code in ExitCode}


def test_ethertypes_match_safs_table_1() -> None:
    table = {0x80EF, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB}
    numbers = set(constants.enumeration("ethertype").values.values())
    assert table < numbers
    # The others are those that IEEE 802 reserves for local experiments.
    assert numbers - table == {0x88B5, 0x88B6}


def test_smi_numbers_match_its_programs() -> None:
    assert dict(constants.enumeration("smi_type").values) == {
        "int": 1, "float": 2, "double": 3, "char": 4, "short": 5, "long": 6, "half": 7,
    }  # fmt: skip
    assert dict(constants.enumeration("smi_op").values) == {"add": 0, "max": 1, "min": 2}


def test_stream_header_has_the_length_of_the_smi_papers() -> None:
    """4 bytes; type and account replace the paper's receiving rank, which the address encodes."""
    header = constants.layout("stream_header")
    assert (header.bits, header.bytes) == (32, 4)
    assert [field.bits for field in header.fields] == [8, 3, 5, 8, 3, 5]


def test_tinsel_numbers_match_its_programs() -> None:
    assert constants.enumeration("wakeup")["can_send"] == 1
    assert constants.enumeration("wakeup")["can_receive"] == 2
    boot = constants.enumeration("boot_command")
    assert [boot[name] for name in ("set_address", "write_instr", "store", "load", "start")] == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_csrs_are_in_the_user_ranges_of_risc_v() -> None:
    csr = constants.enumeration("csr")
    standard = {"fflags": 0x001, "frm": 0x002, "fcsr": 0x003, "cycle": 0xC00, "instret": 0xC02,
                "cycle_high": 0xC80, "instret_high": 0xC82}  # fmt: skip
    for name, number in csr.values.items():
        if name in standard:
            assert number == standard[name]
        elif csr.access[name] == "ro":
            assert 0xCC0 <= number <= 0xCFF, name
        else:
            assert 0x800 <= number <= 0x8FF, name


def test_routing_keys_and_records_match_the_multicast_paper() -> None:
    """32-bit keys with 5 bits of size; 256-bit beats; records of 48 to 96 bits."""
    key = constants.layout("route_key")
    assert (key.bits, key.field("beats").bits, key.field("beat").bits) == (32, 5, 27)
    assert constants.layout("route_beat").bits == 256
    for name in ("thread", "thread_word", "tile", "router", "indirect"):
        assert constants.layout(f"route_{name}").bits in (48, 96)
        # The first 48 bits contain the kind.
        assert constants.layout(f"route_{name}").field("kind").lsb == 45
    tile = constants.layout("route_tile")
    assert tile.field("mask_low").bits + tile.field("mask_high").bits == 64


def test_link_headers_share_their_first_fields() -> None:
    """A receiver reads the common fields before it knows the form; only `again` omits most of them."""
    common = [(field.name, field.bits) for field in constants.layout("link_header").fields[:-1]]
    forms = set(constants.enumeration("link_form").values) - {"none"}
    for form in forms - {"again"}:
        fields = constants.layout(f"link_{form}").fields
        assert [(field.name, field.bits) for field in fields[: len(common)]] == common
    assert [field.name for field in constants.layout("link_again").fields[:2]] == ["form", "flits"]
    assert forms - {"again", "whole"} < set(constants.enumeration("endpoint").values)
    assert all(constants.layout(f"link_{form}").bits % 8 == 0 for form in forms)
    # Only the form with a mask has its bytes.
    sizes = {form: constants.layout(f"link_{form}").bytes for form in forms}
    assert sizes.pop("tile") == sizes.pop("match") == 14
    assert sizes["thread"] == 6 and sizes["again"] == 3 and max(sizes.values()) == 8


def test_fields_of_addresses_and_headers_have_equal_widths() -> None:
    for kind in ("thread", "tile", "match", "host"):
        address, header = constants.layout(f"address_{kind}"), constants.layout(f"link_{kind}")
        names = {field.name for field in address.fields} & {field.name for field in header.fields}
        for name in names - {"spare"}:
            assert address.field(name).bits == header.field(name).bits, (kind, name)


# ------------------------------------------------------------------ layouts


def by_text(layout: constants.Layout, values: dict[str, int]) -> int:
    """The fields concatenated as binary digits, without shifts and masks."""
    return int("".join(f"{values[field.name]:0{field.bits}b}" for field in layout.fields), 2)


@pytest.mark.parametrize("name", constants.everything().layouts)
def test_unpack_inverts_pack(name: str, size: Any, seed: int) -> None:
    layout = constants.layout(name)
    rng = random.Random(seed)
    for _ in range(size.pick(20, 200, 5000)):
        values = {field.name: rng.getrandbits(field.bits) for field in layout.fields}
        packed = layout.pack(**values)
        assert packed == by_text(layout, values)
        assert layout.unpack(packed) == values
    assert layout.pack() == 0
    assert layout.unpack((1 << layout.bits) - 1) == {field.name: (1 << field.bits) - 1 for field in layout.fields}


def test_values_that_exceed_their_field_are_rejected() -> None:
    header = constants.layout("stream_header")
    for value in (-1, 32):
        with pytest.raises(ValueError, match=r"stream_header\.valid is "):
            header.pack(valid=value)
    with pytest.raises(KeyError, match="no field prot"):
        header.pack(prot=1)
    for value in (-1, 1 << 32):
        with pytest.raises(ValueError, match="stream_header has 32 bits"):
            header.unpack(value)


def test_name_of_inverts_the_enumeration() -> None:
    trap = constants.enumeration("trap")
    assert trap.name_of(2) == "illegal_instruction"
    assert trap.name_of(63) is None


def test_unknown_constant_gets_the_closest_name() -> None:
    with pytest.raises(InputError, match=r"config/constants has no layout stream_haeder; did you mean stream_header\?"):
        constants.layout("stream_haeder")
    with pytest.raises(InputError, match="no enum zzz"):
        constants.enumeration("zzz")
    with pytest.raises(InputError, match="no value zzz"):
        constants.value("zzz")
    assert constants.value("shell_version") == 2


# ------------------------------------------------------------------- errors

ENUM = '[enum.e]\ndoc = "e"\nbits = 2\n[enum.e.values]\na = { value = 1, doc = "a" }\n'
LAYOUT = '[layout.l]\ndoc = "l"\nbits = 4\nfields = [\n'

WRONG = {
    # name: (text with `#!` in the reported line, the error after file and line)
    "number twice": (ENUM + 'b = { value = 1, doc = "b" } #!', "enum.e.values.b: is 0x1, the value of a"),
    "too wide": (
        ENUM + 'b = { value = 4, doc = "b" } #!',
        "enum.e.values.b: is 0x4, which does not fit in 2 bits",
    ),
    "negative": (
        ENUM + 'b = { value = -1, doc = "b" } #!',
        "enum.e.values.b.value: is -1, must be at least 0",
    ),
    "no meaning": (ENUM + "b = { value = 2 } #!", "enum.e.values.b.doc: missing (meaning)"),
    "name": (ENUM + 'B = { value = 2, doc = "b" } #!', "enum.e.values.B: B is not a valid name"),
    "misspelt": (
        ENUM + 'b = { valeu = 2, doc = "b" } #!',
        "enum.e.values.b.valeu: unknown key; did you mean value?",
    ),
    "access": (
        '[enum.csr]\ndoc = "c"\nbits = 12\n[enum.csr.values]\na = { value = 0xCC0, doc = "a", access = "rw" } #!',
        "enum.csr.values.a: CSR 0xcc0 is rw, but CSRs from 0xC00 on are read-only",
    ),
    "no unit": (
        '[enum.csr]\ndoc = "c"\nbits = 12\n[enum.csr.values]\na = { value = 0xCC0, doc = "a", access = "ro" } #!',
        "enum.csr.values.a: is in 0 lists of units; a register must be in one list",
    ),
    "two units": (
        '[enum.csr]\ndoc = "c"\nbits = 12\n[enum.csr.units]\nx = ["a"]\ny = ["a"]\n'
        '[enum.csr.values]\na = { value = 0xCC0, doc = "a", access = "ro" } #!',
        "enum.csr.values.a: is in 2 lists of units; a register must be in one list",
    ),
    "unit of nothing": (
        '[enum.csr]\ndoc = "c"\nbits = 12\n[enum.csr.units]\nx = ["b"] #!\n'
        '[enum.csr.values]\na = { value = 1, doc = "a" }',
        "enum.csr.units.x: register b does not exist",
    ),
    "sum": (
        '[layout.l]\ndoc = "l"\nbits = 4 #!\nfields = [{ name = "a", bits = 3, doc = "a" }]',
        "layout.l.bits: is 4, but its fields add up to 3 bits",
    ),
    "field twice": (
        LAYOUT + '{ name = "a", bits = 2, doc = "a" },\n{ name = "a", bits = 2, doc = "a" }, #!\n]',
        "layout.l.fields[1]: a is listed twice",
    ),
    "reserved": (
        LAYOUT + '{ name = "class", bits = 4, doc = "a" }, #!\n]',
        "layout.l.fields[0]: class is a reserved word of SystemVerilog",
    ),
    "no enum": (
        LAYOUT + '{ name = "a", bits = 4, doc = "a", enum = "zzz" }, #!\n]',
        "layout.l.fields[0]: a: enum zzz does not exist",
    ),
    "width": (
        ENUM + LAYOUT + '{ name = "a", bits = 4, doc = "a", enum = "e" }, #!\n]',
        "layout.l.fields[0]: a: 4 bits wide, but enum e: 2 bits",
    ),
    "kind of table": ("[enums.e] #!", "enums: unknown key; did you mean enum?"),
}


@pytest.mark.parametrize("case", WRONG)
def test_error_has_line_key_and_reason(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    (tmp_path / "x.toml").write_text(text + "\n")
    line = text[: text.index("#!")].count("\n") + 1
    with pytest.raises(InputError) as caught:
        read_constants(tmp_path)
    got = str(caught.value).replace(f"{tmp_path}/", "")
    assert got.startswith(f"x.toml:{line}: {says}"), got


def test_name_in_two_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(ENUM)
    (tmp_path / "b.toml").write_text("\n" + ENUM)
    with pytest.raises(InputError, match=r"b\.toml:2: enum\.e: also defined in .*a\.toml; keep one"):
        read_constants(tmp_path)


def test_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no constants"):
        read_constants(tmp_path)


def test_guides_example_is_valid(tmp_path: Path) -> None:
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    (tmp_path / "x.toml").write_text("[enum.colour]" + guide.split("```toml\n[enum.colour]")[1].split("```")[0])
    made = read_constants(tmp_path)
    assert made.layouts["pixel"].pack(colour=2, level=3) == 0x203
    assert made.values["frames"].value == 60
