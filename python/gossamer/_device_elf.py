# SPDX-License-Identifier: Apache-2.0
"""Reads a linked program: what goes where, and which line an instruction is from."""

from __future__ import annotations

import bisect
import contextlib
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import InputError

_INSTRUCTIONS_END = 0x0010_0000
"""Addresses below it are instruction memory's."""
_RVC, _FLOAT_ABI, _FLOAT_SINGLE, _RVE = 0x1, 0x6, 0x2, 0x8
"""Bits of a RISC-V ELF file's flags."""
_ALLOCATED, _EXECUTABLE = 0x2, 0x4
"""Bits of a section's flags."""
_FRACTION = re.compile(rb"%[-+ #0]*[0-9*]*(\.[0-9*]*)?[hlLjzt]*[eEfFgG]")


@dataclass(frozen=True)
class Segment:
    """Contents of data memory: ``data`` from ``address`` on, then zeros up to ``size`` bytes."""

    address: int
    data: bytes
    size: int

    @property
    def end(self) -> int:
        return self.address + self.size


@dataclass(frozen=True)
class Place:
    """Where in a program an instruction is from; None for what is not known."""

    function: str | None
    file: str | None
    line: int | None

    def __str__(self) -> str:
        """``function at file:line``, or as much of it as is known."""
        spot = f"{self.file}:{self.line}" if self.file and self.line else self.file
        return " at ".join(part for part in (self.function, spot) if part) or "unknown code"


class DoesNotFit(InputError):
    """More instructions than there is memory for."""


def may_print_fractions(path: Path) -> bool:
    """Whether a string of an object file has a printf format like %f, %e or %g in it."""
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        for section in ELFFile(file).iter_sections():
            kept = section["sh_flags"] & _ALLOCATED and not section["sh_flags"] & _EXECUTABLE
            if kept and section["sh_type"] == "SHT_PROGBITS" and _FRACTION.search(section.data()):
                return True
    return False


class Elf:
    """A program in an ELF file; InputError if it is none for this machine."""

    def __init__(self, path: Path, name: str, sources: Sequence[Path]) -> None:
        self._path, self._name = path, name
        self._sources = {os.path.realpath(source): str(source) for source in sources}
        with self._open() as elf:
            self._check(elf)
            self._loads = [
                (part["p_vaddr"], part.data(), part["p_memsz"], bool(part["p_flags"] & 1))
                for part in elf.iter_segments("PT_LOAD")
                if part["p_memsz"]
            ]
            self._entry = elf["e_entry"]
            self._constructors: bytes = b""
            table = elf.get_section_by_name(".init_array")
            if table is not None:
                self._constructors = table.data()
            self.symbols: Mapping[str, int] = {}
            self._functions: list[tuple[int, int, str]] = []
            symbols = elf.get_section_by_name(".symtab")
            if symbols is not None:
                self._read_symbols(symbols)

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        """The file, as pyelftools sees it; whatever that stumbles over is the file's fault."""
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.construct import ConstructError
        from elftools.elf.elffile import ELFFile

        try:
            with open(self._path, "rb") as file:
                yield ELFFile(file)
        except OSError as error:
            raise InputError(f"{self._name}: {error.strerror}") from None
        except (ELFError, DWARFError, ConstructError, ValueError, KeyError, IndexError, EOFError):
            raise InputError(f"{self._name}: is not an ELF file, or is damaged") from None

    def _check(self, elf: Any) -> None:
        """This machine: RV32IMF with floats in registers, no compressed instructions, linked."""
        machine = elf.get_machine_arch()
        if machine != "RISC-V" or elf.elfclass != 32 or not elf.little_endian:
            bits = "" if str(elf.elfclass) in machine else f"{elf.elfclass}-bit "
            raise InputError(f"{self._name}: is for {bits}{machine}; the threads are 32-bit RISC-V (rv32imf)")
        if elf["e_type"] != "ET_EXEC":
            raise InputError(f"{self._name}: is not a linked program (its ELF type is {elf['e_type']})")
        flags = elf["e_flags"]
        if flags & _RVC:
            raise InputError(f"{self._name}: has compressed instructions, which the core has not; build for rv32imf")
        if flags & _RVE or flags & _FLOAT_ABI > _FLOAT_SINGLE:
            raise InputError(f"{self._name}: was built for another calling convention than ilp32f; build for rv32imf")

    def _read_symbols(self, table: Any) -> None:
        found = {}
        for symbol in table.iter_symbols():
            name, kind = symbol.name, symbol["st_info"]["type"]
            if not name or name.startswith((".L", "$")) or symbol["st_shndx"] == "SHN_UNDEF":
                continue
            if kind in {"STT_FUNC", "STT_OBJECT", "STT_NOTYPE"}:
                found[name] = symbol["st_value"]
            if kind == "STT_FUNC":
                self._functions.append((symbol["st_value"], symbol["st_size"], name))
        self._functions.sort()
        self.symbols = found

    # ------------------------------------------------------------------ what goes where

    def instructions(self, room: int, config: str) -> tuple[int, ...]:
        """The words of instruction memory from 0; InputError if there are more than ``room`` bytes."""
        code = [(at, data, size) for at, data, size, runs in self._loads if runs]
        if self._entry != 0:
            raise InputError(f"{self._name}: starts at 0x{self._entry:x}, but a thread starts at 0")
        end = max((at + size for at, _, size in code), default=0)
        if not end:
            raise InputError(f"{self._name}: has no instructions")
        for at, _, size in code:
            if at + size > _INSTRUCTIONS_END:
                raise InputError(f"{self._name}: has instructions at 0x{at:x}; their memory starts at 0")
        if end > room:
            raise DoesNotFit(
                f"{self._name}: does not fit: {end:,} bytes of instructions are {end - room:,} more than "
                f"the {room:,} of {config}'s instruction memory"
            )
        memory = bytearray((end + 3) // 4 * 4)
        for at, data, _ in code:
            memory[at : at + len(data)] = data
        return tuple(int.from_bytes(memory[at : at + 4], "little") for at in range(0, len(memory), 4))

    def segments(self, base: int, room: int, config: str) -> tuple[Segment, ...]:
        """Data memory; InputError if it is not inside of ``room`` bytes from ``base``."""
        found = [Segment(at, data, size) for at, data, size, runs in self._loads if not runs]
        for segment in found:
            if segment.address < base:
                raise InputError(f"{self._name}: has data at 0x{segment.address:x}; memory starts at 0x{base:x}")
            if segment.end > base + room:
                raise InputError(
                    f"{self._name}: does not fit: {segment.end - base:,} bytes of data are "
                    f"{segment.end - base - room:,} more than the {room:,} of {config}'s memory"
                )
        return tuple(sorted(found, key=lambda segment: segment.address))

    def constructors(self) -> Iterator[Place | None]:
        """Functions that would have to run before main, by the lines that ask for them."""
        for at in range(0, len(self._constructors), 4):
            pc = int.from_bytes(self._constructors[at : at + 4], "little")
            start, size, _ = self._function(pc) or (pc, 4, "")
            places = (self.where(start + step) for step in range(0, max(size, 4), 4))
            yield next(
                (Place(None, place.file, place.line) for place in places if place.file in self._sources.values()),
                None,
            )

    # ------------------------------------------------------------------ which line

    def _function(self, pc: int) -> tuple[int, int, str] | None:
        at = bisect.bisect_right(self._functions, (pc, 1 << 32, "")) - 1
        if at < 0:
            return None
        start, size, name = self._functions[at]
        return (start, size, name) if pc < start + max(size, 4) else None

    def where(self, pc: int) -> Place:
        """Function, file and line of the instruction at ``pc``.

        In a function of ours that was put in place of a call in the user's source, it is that call's line.
        """
        function = self._function(pc)
        name = function[2] if function else None
        rows, starts = self._lines
        at = bisect.bisect_right(starts, pc) - 1
        row = rows[at] if at >= 0 else None
        if row is None:
            return Place(name, None, None)
        frames = self._inlined(pc)
        if os.path.realpath(row[0]) not in self._sources:
            for frame, file, line in frames:
                if os.path.realpath(file) in self._sources:
                    return Place(frame, self._shown(file), line)
        return Place(frames[0][0] if frames else name, self._shown(row[0]), row[1])

    def _shown(self, file: str) -> str:
        """A path as the user gave it; others as a person would type them from here."""
        real = os.path.realpath(file)
        if real in self._sources:
            return self._sources[real]
        short = os.path.relpath(real)
        return short if not short.startswith("../..") else real

    @functools.cached_property
    def _lines(self) -> tuple[list[tuple[str, int] | None], list[int]]:
        """Rows of the line table by address; None where a sequence has ended."""
        rows: dict[int, tuple[str, int] | None] = {}
        with self._open() as elf:
            if not elf.has_dwarf_info():
                return [], []
            info = elf.get_dwarf_info()
            for unit in info.iter_CUs():
                program = info.line_program_for_CU(unit)
                if program is None:
                    continue
                folder = _text(unit.get_top_DIE(), "DW_AT_comp_dir")
                files = _files(program, folder)
                for entry in program.get_entries():
                    state = entry.state
                    if state is None:
                        continue
                    if state.end_sequence:
                        rows.setdefault(state.address, None)
                    elif state.line:
                        rows[state.address] = (files[state.file], state.line)
        starts = sorted(rows)
        return [rows[start] for start in starts], starts

    def _inlined(self, pc: int) -> list[tuple[str, str, int]]:
        """Functions put in place of a call that ``pc`` is in, inner ones first: name, file and line of the call."""
        return [(name, file, line) for low, high, name, file, line in self._inlines if low <= pc < high]

    @functools.cached_property
    def _inlines(self) -> list[tuple[int, int, str, str, int]]:
        found: list[tuple[int, int, int, str, str, int]] = []
        with self._open() as elf:
            info = elf.get_dwarf_info()
            ranges = info.range_lists()
            for unit in info.iter_CUs():
                top = unit.get_top_DIE()
                base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
                program = info.line_program_for_CU(unit)
                files = _files(program, _text(top, "DW_AT_comp_dir")) if program else {}
                for die in unit.iter_DIEs():
                    if die.tag != "DW_TAG_inlined_subroutine":
                        continue
                    origin = die.get_DIE_from_attribute("DW_AT_abstract_origin")
                    if "DW_AT_specification" in origin.attributes:
                        origin = origin.get_DIE_from_attribute("DW_AT_specification")
                    name = _text(origin, "DW_AT_name")
                    if not name:
                        continue
                    file = files.get(_number(die, "DW_AT_call_file"), "")
                    line = _number(die, "DW_AT_call_line")
                    for low, high in _ranges(die, ranges, base):
                        found.append((high - low, low, high, name, file, line))
        return [(low, high, name, file, line) for _, low, high, name, file, line in sorted(found)]


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode(errors="replace") if found else ""


def _number(die: Any, attribute: str) -> int:
    found = die.attributes.get(attribute)
    return int(found.value) if found else 0


def _files(program: Any, folder: str) -> dict[int, str]:
    """Paths by the numbers that a line program uses."""
    header = program.header
    first = 0 if header.version >= 5 else 1
    folders = [one.decode(errors="replace") for one in header.include_directory]
    if first:
        folders = [folder, *folders]
    found = {}
    for number, entry in enumerate(header.file_entry, first):
        name = entry.name.decode(errors="replace")
        place = folders[entry.dir_index] if entry.dir_index < len(folders) else folder
        found[number] = os.path.join(folder, place, name)
    return found


def _ranges(die: Any, lists: Any, base: int) -> Iterator[tuple[int, int]]:
    attributes = die.attributes
    if "DW_AT_low_pc" in attributes:
        low = attributes["DW_AT_low_pc"].value
        high = attributes["DW_AT_high_pc"]
        yield low, high.value if high.form == "DW_FORM_addr" else low + high.value
    elif "DW_AT_ranges" in attributes and lists is not None:
        for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, die.cu):
            if hasattr(entry, "begin_offset"):
                yield base + entry.begin_offset, base + entry.end_offset
