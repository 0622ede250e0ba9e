# SPDX-License-Identifier: Apache-2.0
"""Reads a linked program: its memory contents, and the source line of an instruction."""

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

from gossamer import step_cache
from gossamer.diagnostics import relative
from gossamer.errors import InputError

_INSTRUCTIONS_END = 0x0010_0000
"""Addresses below it are in instruction memory."""
_RVC, _FLOAT_ABI, _FLOAT_SINGLE, _RVE = 0x1, 0x6, 0x2, 0x8
"""Bits of a RISC-V ELF file's flags."""
_ALLOCATED, _EXECUTABLE = 0x2, 0x4
"""Bits of a section's flags."""
_MOST_TLS_ALIGNMENT = 128
"""Alignment of thread-local variables in device/link.ld."""
_NEAR = 64
"""Rows of the line table that are searched for a line, in each direction."""
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
    """Source location of an instruction; None for unknown parts.

    File and line are inside the function. If the compiler has inlined the function, ``into`` is the location of the
    call, and so on outwards.
    """

    function: str | None
    file: str | None
    line: int | None
    into: Place | None = None

    def __str__(self) -> str:
        """``function at file:line``, or the known parts of it, and the locations it is inlined into."""
        spot = f"{self.file}:{self.line}" if self.file and self.line else self.file
        own = " at ".join(part for part in (self.function, spot) if part) or "unknown code"
        return f"{own}, inlined into {self.into}" if self.into else own

    def chain(self) -> Iterator[Place]:
        """This location and those of the calls that it is inlined into, outwards."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.into


class DoesNotFit(InputError):
    """The instructions exceed the instruction memory."""

    def __init__(self, text: str, needs: int) -> None:
        super().__init__(text)
        self.needs = needs
        """Bytes of instructions."""


def may_print_fractions(path: Path) -> bool:
    """Whether a string of an object file contains a printf format such as %f, %e or %g."""
    from elftools.elf.elffile import ELFFile

    with open(path, "rb") as file:
        for section in ELFFile(file).iter_sections():
            kept = section["sh_flags"] & _ALLOCATED and not section["sh_flags"] & _EXECUTABLE
            if kept and section["sh_type"] == "SHT_PROGBITS" and _FRACTION.search(section.data()):
                return True
    return False


def global_symbols(path: Path) -> set[str]:
    """The symbols that an object file defines for others."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    with open(path, "rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
        return {
            one.name
            for one in symbols
            if one["st_shndx"] != "SHN_UNDEF" and one["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK")
        }


class Elf:
    """A program in an ELF file; InputError if it is not a program for the overlay's threads."""

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
            self._tls_alignment = max((part["p_align"] for part in elf.iter_segments("PT_TLS")), default=0)
            self._entry = elf["e_entry"]
            self._constructors: bytes = b""
            table = elf.get_section_by_name(".init_array")
            if table is not None:
                self._constructors = table.data()
            self.symbols: Mapping[str, int] = {}
            self._functions: list[tuple[int, int, str]] = []
            self._objects: list[tuple[str, int, str]] = []
            symbols = elf.get_section_by_name(".symtab")
            if symbols is not None:
                self._read_symbols(symbols)

    @contextlib.contextmanager
    def _open(self) -> Iterator[Any]:
        """The file opened with pyelftools, whose exceptions become an InputError about the file."""
        from elftools.common.exceptions import DWARFError, ELFError
        from elftools.construct import ConstructError
        from elftools.elf.elffile import ELFFile

        try:
            with open(self._path, "rb") as file:
                yield ELFFile(file)
        except OSError as error:
            raise InputError(f"{self._name}: {error.strerror}") from None
        except (ELFError, DWARFError, ConstructError, ValueError, KeyError, IndexError, EOFError):
            raise InputError(f"{self._name}: is not an ELF file, or is corrupt") from None

    def _check(self, elf: Any) -> None:
        """Checks for a linked program for RV32IMF, floats in registers, no compressed instructions."""
        machine = elf.get_machine_arch()
        if machine != "RISC-V" or elf.elfclass != 32 or not elf.little_endian:
            bits = "" if str(elf.elfclass) in machine else f"{elf.elfclass}-bit "
            raise InputError(f"{self._name}: is for {bits}{machine}; the threads are 32-bit RISC-V (rv32imf)")
        if elf["e_type"] != "ET_EXEC":
            raise InputError(f"{self._name}: is not a linked program (its ELF type is {elf['e_type']})")
        flags = elf["e_flags"]
        if flags & _RVC:
            raise InputError(f"{self._name}: has compressed instructions, which the core lacks; build for rv32imf")
        if flags & _RVE or flags & _FLOAT_ABI > _FLOAT_SINGLE:
            raise InputError(f"{self._name}: has a calling convention other than ilp32f; build for rv32imf")

    def _read_symbols(self, table: Any) -> None:
        found = {}
        for symbol in table.iter_symbols():
            name, kind = symbol.name, symbol["st_info"]["type"]
            if not name or name.startswith((".L", "$")) or symbol["st_shndx"] == "SHN_UNDEF":
                continue
            if kind in {"STT_FUNC", "STT_OBJECT", "STT_NOTYPE"}:
                found[name] = symbol["st_value"]
            if kind in {"STT_OBJECT", "STT_TLS"}:
                self._objects.append((kind, symbol["st_size"], name))
            if kind == "STT_FUNC":
                self._functions.append((symbol["st_value"], symbol["st_size"], name))
        self._functions.sort()
        self.symbols = found

    # ------------------------------------------------------------------ memory contents

    def instructions(self, capacity: int, config: str) -> tuple[int, ...]:
        """The words of instruction memory from 0; InputError if there are more than ``capacity`` bytes."""
        code = [(at, data, size) for at, data, size, runs in self._loads if runs]
        if self._entry != 0:
            raise InputError(f"{self._name}: starts at 0x{self._entry:x}, but a thread starts at 0")
        end = max((at + size for at, _, size in code), default=0)
        if not end:
            raise InputError(f"{self._name}: has no instructions")
        for at, _, size in code:
            if at + size > _INSTRUCTIONS_END:
                raise InputError(f"{self._name}: has instructions at 0x{at:x}; instruction memory starts at 0")
        if end > capacity:
            raise DoesNotFit(
                f"{self._name}: does not fit: {end:,} bytes of instructions are {end - capacity:,} more than "
                f"the {capacity:,} of {config}'s instruction memory",
                end,
            )
        memory = bytearray((end + 3) // 4 * 4)
        for at, data, _ in code:
            memory[at : at + len(data)] = data
        return tuple(int.from_bytes(memory[at : at + 4], "little") for at in range(0, len(memory), 4))

    def segments(self, base: int, capacity: int, config: str) -> tuple[Segment, ...]:
        """Contents of data memory; InputError if they exceed ``capacity`` bytes from ``base``."""
        found = [Segment(at, data, size) for at, data, size, runs in self._loads if not runs]
        for segment in found:
            if segment.address < base:
                raise InputError(f"{self._name}: has data at 0x{segment.address:x}; data memory starts at 0x{base:x}")
            if segment.end > base + capacity:
                raise InputError(
                    f"{self._name}: does not fit: {segment.end - base:,} bytes of data are "
                    f"{segment.end - base - capacity:,} more than the {capacity:,} of {config}'s memory"
                    f"{self._largest('STT_OBJECT')}"
                )
        return tuple(sorted(found, key=lambda segment: segment.address))

    def thread_local(self, partition: int, stack: int, config: str) -> None:
        """InputError if thread-local variables and a stack exceed a thread's ``partition`` bytes."""
        size, at = self.symbols.get("__tls_bytes", 0), self.symbols.get("__gossamer_top_bytes", 0)
        if at > partition:
            raise InputError(
                f"{self._name}: does not fit: {size:,} bytes of thread-local variables and {stack:,} of stack are "
                f"{at - partition:,} more than the {partition:,} of a thread's memory in {config}"
                f"{self._largest('STT_TLS')}"
            )
        if self._tls_alignment > _MOST_TLS_ALIGNMENT:
            raise InputError(
                f"{self._name}: thread-local variables are aligned to {self._tls_alignment:,} bytes, but threads "
                f"support at most {_MOST_TLS_ALIGNMENT}"
            )

    def _largest(self, kind: str) -> str:
        """The end of a message that names the largest variable of a kind."""
        size, name = max(((size, name) for found, size, name in self._objects if found == kind), default=(0, ""))
        return f"; the largest, {name}, has {size:,}" if size else ""

    def constructors(self) -> Iterator[Place | None]:
        """Functions that must run before main, each as the location of its object in the user's sources, if known."""
        for at in range(0, len(self._constructors), 4):
            pc = int.from_bytes(self._constructors[at : at + 4], "little")
            start, size, _ = self._function(pc) or (pc, 4, "")
            places = (self.where(start + step) for step in range(0, max(size, 4), 4))
            yield next(
                (
                    Place(None, one.file, one.line)
                    for place in places
                    for one in place.chain()
                    if one.file in self._sources.values()
                ),
                None,
            )

    def with_parameters(self, function: str) -> tuple[str, int] | None:
        """File and line of a function with parameters; None if it has none, or without debug information."""
        with self._open() as elf:
            for unit in elf.get_dwarf_info().iter_CUs():
                top = unit.get_top_DIE()
                for die in top.iter_children():
                    if die.tag != "DW_TAG_subprogram" or _text(die, "DW_AT_name") != function:
                        continue
                    if any(child.tag == "DW_TAG_formal_parameter" for child in die.iter_children()):
                        program = unit.dwarfinfo.line_program_for_CU(unit)
                        files = _files(program, _text(top, "DW_AT_comp_dir")) if program else {}
                        return files.get(_number(die, "DW_AT_decl_file"), ""), _number(die, "DW_AT_decl_line")
        return None

    # ------------------------------------------------------------------ source lines

    def _function(self, pc: int) -> tuple[int, int, str] | None:
        at = bisect.bisect_right(self._functions, (pc, 1 << 32, "")) - 1
        if at < 0:
            return None
        start, size, name = self._functions[at]
        return (start, size, name) if pc < start + max(size, 4) else None

    def where(self, pc: int) -> Place:
        """Function, file and line of the instruction at ``pc``, and of the calls that it is inlined into."""
        function = self._function(pc)
        name = self._names.get(function[0], function[2]) if function else None
        row = self._row(pc)
        if row is None:
            return Place(name, None, None)
        frames = self._inlined(pc)
        file, line = row
        # Outwards: the next frame names the function that contains a call; the outermost contains the last call.
        names = [frame[0] for frame in frames] + [name]
        spots = [(file, line)] + [(frame[1], frame[2]) for frame in frames]
        place = None
        for inside, (at, number) in reversed(list(zip(names, spots, strict=True))):
            place = Place(inside, self._shown(at), number, place)
        assert place is not None
        return place

    def _row(self, pc: int) -> tuple[str, int] | None:
        """File and line of an instruction.

        Without a line from the compiler, the nearest line of the same function at the same depth of inlining.
        """
        rows, starts = self._lines
        at = bisect.bisect_right(starts, pc) - 1
        row = rows[at] if at >= 0 else None
        if row is None or row[1]:
            return row
        frames, function = self._inlined(pc), self._function(pc)
        nearest: tuple[str, int] | None = None
        for step in range(1, _NEAR):
            for near in (at - step, at + step):
                found = rows[near] if 0 <= near < len(rows) else None
                if found is None or not found[1] or self._function(starts[near]) != function:
                    continue
                if self._inlined(starts[near]) == frames:
                    return found
                nearest = nearest or found
        return nearest or row

    def _shown(self, file: str) -> str:
        """A path as the user gave it; other paths relative to the current folder where possible."""
        real = os.path.realpath(file)
        if real in self._sources:
            return self._sources[real]
        return relative(Path(real))

    @functools.cached_property
    def _lines(self) -> tuple[list[tuple[str, int] | None], list[int]]:
        """Rows of the line table by address; None at the end of a sequence."""
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
                    else:
                        rows[state.address] = (files.get(state.file, ""), state.line)
        starts = sorted(rows)
        return [rows[start] for start in starts], starts

    def _inlined(self, pc: int) -> list[tuple[str, str, int]]:
        """Inlined functions that contain ``pc``, innermost first: name, file and line of the call."""
        return [(name, file, line) for low, high, name, file, line in self._inlines if low <= pc < high]

    @functools.cached_property
    def _inlines(self) -> list[tuple[int, int, str, str, int]]:
        """Inlined functions, inner before outer; in the file an inner one follows its outer one."""
        return self._scopes[0][::-1]

    @property
    def _names(self) -> Mapping[int, str]:
        """Source names of functions by start address."""
        return self._scopes[1]

    @functools.cached_property
    def _scopes(self) -> tuple[list[tuple[int, int, str, str, int]], dict[int, str]]:
        found: list[tuple[int, int, str, str, int]] = []
        names: dict[int, str] = {}
        with self._open() as elf:
            if not elf.has_dwarf_info():
                return found, names
            info = elf.get_dwarf_info()
            ranges = info.range_lists()
            for unit in info.iter_CUs():
                top = unit.get_top_DIE()
                base = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
                program = info.line_program_for_CU(unit)
                files = _files(program, _text(top, "DW_AT_comp_dir")) if program else {}
                for die in unit.iter_DIEs():
                    if die.tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in die.attributes:
                        names.setdefault(die.attributes["DW_AT_low_pc"].value, _name(die))
                    if die.tag != "DW_TAG_inlined_subroutine" or not (name := _name(die)):
                        continue
                    file = files.get(_number(die, "DW_AT_call_file"), "")
                    line = _number(die, "DW_AT_call_line")
                    for low, high in _ranges(die, ranges, base):
                        found.append((low, high, name, file, line))
        return found, {at: name for at, name in names.items() if name}


def _name(die: Any) -> str:
    """A function's name, also if its declaration is elsewhere."""
    for attribute in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if attribute in die.attributes:
            die = die.get_DIE_from_attribute(attribute)
    return _text(die, "DW_AT_name")


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode(errors="replace") if found else ""


def _number(die: Any, attribute: str) -> int:
    found = die.attributes.get(attribute)
    return int(found.value) if found else 0


def _files(program: Any, folder: str) -> dict[int, str]:
    """Paths by file index of a line program."""
    header = program.header
    first = 0 if header.version >= 5 else 1
    folders = [one.decode(errors="replace") for one in header.include_directory]
    if first:
        folders = [folder, *folders]
    found = {}
    for number, entry in enumerate(header.file_entry, first):
        name = entry.name.decode(errors="replace")
        parent = folders[entry.dir_index] if entry.dir_index < len(folders) else folder
        found[number] = step_cache.real_path(os.path.join(folder, parent, name))
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
