# SPDX-License-Identifier: Apache-2.0
"""Writes the SystemVerilog package and the C++ header of a configuration.

Both contain the same constants: every key, every derived value, the shared
enumerations, and the bit layouts. They depend only on the files in ``config/``:
the same files generate the same bytes.

Names: a SystemVerilog parameter is named by section and key (CacheWays,
MailboxMaxFlits), except that a key with ``_per_`` is the whole name
(ThreadsPerCore). In C++ the section is a namespace: cache::ways,
mailbox::max_flits, core::threads_per_core.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from gossamer.config import constants
from gossamer.config._schema import Config, Knob, derived_docs, knobs, section_docs
from gossamer.config._source import near, range_text
from gossamer.errors import InputError

_LANGUAGES = ("sv", "cpp", "all")


def generate_files(config: Config, outdir: Path, lang: str) -> list[Path]:
    """See `gossamer.config.generate`."""
    _check_language(lang)
    texts: dict[Path, str] = {}
    if lang in ("sv", "all"):
        texts[outdir / "gossamer_pkg.sv"] = systemverilog(config)
    if lang in ("cpp", "all"):
        texts[outdir / "gossamer" / "config.h"] = cpp(config)
    return _write(texts, outdir)


def constants_files(name: str, outdir: Path, lang: str) -> list[Path]:
    """See `gossamer.config.generate_constants`."""
    _check_language(lang)
    texts: dict[Path, str] = {}
    if lang in ("sv", "all"):
        texts[outdir / f"gossamer_{name}_pkg.sv"] = package_systemverilog(name)
    if lang in ("cpp", "all"):
        texts[outdir / "gossamer" / f"{name}_constants.h"] = package_cpp(name)
    return _write(texts, outdir)


def _check_language(lang: str) -> None:
    if lang not in _LANGUAGES:
        raise InputError(f"language {lang}: must be one of {', '.join(_LANGUAGES)}{near(lang, _LANGUAGES)}")


def _write(texts: Mapping[Path, str], outdir: Path) -> list[Path]:
    written: list[tuple[Path, Path]] = []
    try:
        for path, text in texts.items():
            if path.is_file() and path.read_bytes() == text.encode():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
            written.append((partial, path))
            partial.write_bytes(text.encode())
        for partial, path in written:
            os.replace(partial, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{outdir}: cannot write the generated files: {reason}") from None
    finally:
        for partial, _ in written:
            partial.unlink(missing_ok=True)
    return list(texts)


def camel(name: str) -> str:
    """``threads_per_core`` as ``ThreadsPerCore``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def sv_name(knob: Knob) -> str:
    """The SystemVerilog name of a key."""
    if "_per_" in knob.path[-1]:
        return camel(knob.path[-1])
    return camel("_".join(path for path in knob.path if path != "memory"))


def _origin(config: Config) -> str:
    text = f"configuration {config.name}" + (f", based on {config.base}" if config.base else "")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _meaning(doc: str, unit: str, allowed: str = "") -> str:
    """A comment: meaning, unit, range."""
    notes = [note for note in (unit, allowed) if note]
    return f"{doc} [{'; '.join(notes)}]" if notes else doc


def _hex_bits(bits: int) -> int:
    return (bits + 3) // 4


class _Names:
    """The names of one package, which share one name space in SystemVerilog."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}

    def claim(self, name: str, what: str) -> str:
        """The name; InputError if it is already in use."""
        if name in self.owner:
            raise InputError(f"config: {self.owner[name]} and {what} are both {name} in SystemVerilog; rename one")
        self.owner[name] = what
        return name


# ------------------------------------------------------------ SystemVerilog


def systemverilog(config: Config) -> str:
    """The text of ``gossamer_pkg.sv``."""
    return "\n".join(_sv_lines(config)) + "\n"


def _sv_number(name: str, value: int) -> str:
    if value >= 1 << 32:
        return f"  localparam longint unsigned {name} = 64'd{value};"
    return f"  localparam int unsigned {name} = 32'd{value};"


def _sv_knob(name: str, value: object) -> str | None:
    """A key as a parameter; None for a type that hardware cannot use (ClockHz has the clock as an integer)."""
    if isinstance(value, bool):
        return f"  localparam bit {name} = 1'b{int(value)};"
    if isinstance(value, int):
        return _sv_number(name, value)
    if isinstance(value, str):
        return f'  localparam string {name} = "{_escape(value)}";'
    return None


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _sv_lines(config: Config) -> Iterator[str]:
    shared = constants.package("")
    yield "// SPDX-License-Identifier: Apache-2.0"
    yield f"/// Parameters, constants and layouts of {_origin(config)}."
    yield "// Generated from config/; edit the files there."
    yield ""
    yield "// No design uses all parameters of the package."
    yield "/* verilator lint_off UNUSEDPARAM */"
    yield "package gossamer_pkg;"
    yield f'  localparam string ConfigName = "{_escape(config.name)}";'
    sections = section_docs(config)
    names = _Names()
    names.claim("ConfigName", "the configuration's name")
    last: tuple[str, ...] = ()
    for knob in knobs(config):
        if knob.path[:-1] != last:
            last = knob.path[:-1]
            yield ""
            yield f"  // [{'.'.join(last)}] {sections[last]}"
        name = sv_name(knob)
        line = _sv_knob(name, knob.value)
        if line is None:
            continue
        names.claim(name, knob.key)
        yield f"  /// {_meaning(knob.doc, knob.unit, range_text(knob.field))}"
        yield line
    if config.links.names:
        yield ""
        yield "  // Indices of the links, by their names."
        for number, link in enumerate(config.links.names):
            yield _sv_number(names.claim(f"LinkIndex{camel(link)}", f"link {link}"), number)
    yield ""
    yield "  // Values derived from those above."
    for name, (doc, unit) in derived_docs().items():
        yield f"  /// {_meaning(doc, unit)}"
        yield _sv_number(names.claim(camel(name), name), getattr(config, name))
    yield from _sv_constants(shared, names)
    yield "endpackage"
    yield "/* verilator lint_on UNUSEDPARAM */"


def package_systemverilog(name: str) -> str:
    """The text of ``gossamer_NAME_pkg.sv``: the constants of a folder, the same for all configurations."""
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/// Constants and layouts of config/constants/{name}.",
        "// Generated; edit the files there.",
        "",
        "// No design uses all parameters of the package.",
        "/* verilator lint_off UNUSEDPARAM */",
        f"package gossamer_{name}_pkg;",
        *_sv_constants(constants.package(name), _Names()),
        "endpackage",
        "/* verilator lint_on UNUSEDPARAM */",
    ]
    return "\n".join(lines) + "\n"


def package_cpp(name: str) -> str:
    """The text of ``gossamer/NAME_constants.h``, namespace ``gossamer::NAME``: the same constants.

    Without a name it replaces ``gossamer/config.h`` for code that is independent of a configuration.
    """
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/// Constants and layouts of config/constants{name and f'/{name}'}.",
        "// Generated; edit the files there. Freestanding C++20.",
        "#pragma once",
        "",
        "#include <stdint.h>",
        "",
        f"namespace gossamer::{name or 'config'} {{",
        "",
        *_cpp_constants(constants.package(name)),
        "",
        f"}}  // namespace gossamer::{name or 'config'}",
    ]
    return "\n".join(lines) + "\n"


def _sv_constants(shared: constants.Constants, names: _Names) -> Iterator[str]:
    """The declarations of constants within a package."""
    for plain in shared.values.values():
        yield f"  /// {_meaning(plain.doc, plain.unit)}"
        yield _sv_number(names.claim(camel(plain.name), f"const.{plain.name}"), plain.value)
    for one in shared.enums.values():
        yield ""
        yield f"  /// {one.doc}"
        yield f"  typedef enum logic [{one.bits - 1}:0] {{"
        entries = list(one.values.items())
        for number, (key, value) in enumerate(entries):
            comma = "," if number + 1 < len(entries) else ""
            note = f" ({one.access[key]})" if key in one.access else ""
            name = names.claim(camel(one.name) + camel(key), f"enum.{one.name}.{key}")
            yield f"    /// {one.docs[key]}{note}"
            yield f"    {name} = {one.bits}'h{value:0{_hex_bits(one.bits)}X}{comma}"
        yield f"  }} {one.name}_e;"
        if one.units:
            yield from _sv_registers(one, names)
    for layout in shared.layouts.values():
        yield ""
        yield f"  /// {layout.doc}"
        yield "  typedef struct packed {"
        for field in layout.fields:
            kind = f"{field.enum}_e" if field.enum else ("logic" if field.bits == 1 else f"logic [{field.bits - 1}:0]")
            yield f"    /// {field.doc}"
            yield f"    {kind} {field.name};"
        yield f"  }} {layout.name}_t;"
        yield _sv_number(names.claim(f"{camel(layout.name)}Bits", f"layout.{layout.name}"), layout.bits)


def _sv_registers(one: constants.Enumeration, names: _Names) -> Iterator[str]:
    """Functions of a register's number: the unit that contains it, and whether it is readable and writable."""
    title = camel(one.name)
    units = sorted(set(one.units.values()))
    bits = len(units).bit_length()
    none = names.claim(f"{title}UnitNone", f"enum.{one.name}")
    members = {unit: names.claim(f"{title}Unit{camel(unit)}", f"enum.{one.name}, unit {unit}") for unit in units}
    yield ""
    yield f"  /// Units that contain registers of {one.name}_e"
    yield f"  typedef enum logic [{bits - 1}:0] {{"
    entries = [none, *members.values()]
    for number, member in enumerate(entries):
        yield f"    {member} = {bits}'d{number}{',' if number + 1 < len(entries) else ''}"
    yield f"  }} {names.claim(f'{one.name}_unit_e', f'enum.{one.name}')};"

    def function(name: str, kind: str, doc: str, choices: dict[str, list[str]], otherwise: str) -> Iterator[str]:
        yield ""
        yield f"  /// {doc}"
        yield f"  function automatic {kind} {names.claim(name, f'enum.{one.name}')}(logic [{one.bits - 1}:0] number);"
        yield "    case (number)"
        for result, keys in choices.items():
            for key in keys[:-1]:
                yield f"      {title}{camel(key)},"
            yield f"      {title}{camel(keys[-1])}: {name} = {result};"
        yield f"      default: {name} = {otherwise};"
        yield "    endcase"
        yield "  endfunction"

    by_unit = {members[unit]: [key for key, its in one.units.items() if its == unit] for unit in units}
    readable = [key for key, access in one.access.items() if access != "wo"]
    writable = [key for key, access in one.access.items() if access != "ro"]
    yield from function(
        f"{one.name}_unit", f"{one.name}_unit_e", "The unit that contains the register of a number", by_unit, none
    )
    for can, keys in (("readable", readable), ("writable", writable)):
        doc = f"Whether the number is that of a {can} register"
        yield from function(f"{one.name}_{can}", "logic", doc, {"1'b1": keys}, "1'b0")


# ---------------------------------------------------------------------- C++

_CPP_SUPPORT = """\
/// The value of a layout in words of 64 bits, least significant word first.
template <unsigned kBits>
struct Words {
  static constexpr unsigned count = (kBits + 63) / 64;
  uint64_t word[count] = {};

  /// `bits` bits from lsb on, at most 64.
  constexpr uint64_t get(unsigned lsb, unsigned bits) const {
    const unsigned at = lsb / 64, shift = lsb % 64;
    uint64_t value = word[at] >> shift;
    if (shift + bits > 64) value |= word[at + 1] << (64 - shift);
    return bits < 64 ? value & ((uint64_t{1} << bits) - 1) : value;
  }

  /// Sets the same bits, which must be 0, to the low bits of value; excess high bits are truncated.
  constexpr void put(unsigned lsb, unsigned bits, uint64_t value) {
    const unsigned at = lsb / 64, shift = lsb % 64;
    if (bits < 64) value &= (uint64_t{1} << bits) - 1;
    word[at] |= value << shift;
    if (shift + bits > 64) word[at + 1] |= value >> (64 - shift);
  }

  static constexpr unsigned word_bits(unsigned bits) { return bits < 64 ? bits : 64; }

  /// The same for fields wider than a word.
  template <unsigned kWide>
  constexpr Words<kWide> get_wide(unsigned lsb) const {
    Words<kWide> value;
    for (unsigned at = 0; at < kWide; at += 64) value.word[at / 64] = get(lsb + at, word_bits(kWide - at));
    return value;
  }
  template <unsigned kWide>
  constexpr void put_wide(unsigned lsb, const Words<kWide>& value) {
    for (unsigned at = 0; at < kWide; at += 64) put(lsb + at, word_bits(kWide - at), value.word[at / 64]);
  }
};
"""


def cpp(config: Config) -> str:
    """The text of ``gossamer/config.h``."""
    return "\n".join(_cpp_lines(config)) + "\n"


def _cpp_unsigned(bits: int) -> str:
    for size in (8, 16, 32):
        if bits <= size:
            return f"uint{size}_t"
    return "uint64_t"


def cpp_namespace(section: str) -> str:
    """The C++ namespace of a table: its name, with an underscore after a keyword."""
    return section + "_" if section == "switch" else section


def _cpp_knob(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"inline constexpr bool {name} = {str(value).lower()};"
    if isinstance(value, int):
        return f"inline constexpr {_cpp_unsigned(max(32, value.bit_length()))} {name} = {value}u;"
    if isinstance(value, float):
        return f"inline constexpr double {name} = {value!r};"
    if isinstance(value, str):
        return f'inline constexpr char {name}[] = "{_escape(value)}";'
    assert isinstance(value, tuple)
    if not value:
        return f"// {name}: none"
    items = ", ".join(f'"{_escape(str(item))}"' for item in value)
    return f"inline constexpr const char* {name}[] = {{{items}}};"


def _cpp_lines(config: Config) -> Iterator[str]:
    shared = constants.package("")
    yield "// SPDX-License-Identifier: Apache-2.0"
    yield f"/// Parameters, constants and layouts of {_origin(config)}."
    yield "// Generated from config/; edit the files there. Freestanding C++20."
    yield "#pragma once"
    yield ""
    yield "#include <stdint.h>"
    yield ""
    yield "namespace gossamer::config {"
    yield ""
    yield f'inline constexpr char name[] = "{_escape(config.name)}";'
    sections = section_docs(config)
    last: tuple[str, ...] = ()
    for knob in knobs(config):
        section = knob.path[:-1]
        if section != last:
            if last:
                yield f"}}  // namespace {cpp_namespace(last[-1])}"
            last = section
            yield ""
            yield f"/// {sections[section]}"
            yield f"namespace {cpp_namespace(section[-1])} {{"
        yield f"/// {_meaning(knob.doc, knob.unit, range_text(knob.field))}"
        yield _cpp_knob(knob.path[-1], knob.value)
    yield f"}}  // namespace {cpp_namespace(last[-1])}"
    yield ""
    yield "/// Values derived from those above."
    yield "namespace derived {"
    for name, (doc, unit) in derived_docs().items():
        yield f"/// {_meaning(doc, unit)}"
        yield _cpp_knob(name, getattr(config, name))
    yield "}  // namespace derived"
    yield ""
    yield from _cpp_constants(shared)
    yield ""
    yield "}  // namespace gossamer::config"


def _cpp_constants(shared: constants.Constants) -> Iterator[str]:
    """The declarations of constants within a namespace."""
    for plain in shared.values.values():
        yield f"/// {_meaning(plain.doc, plain.unit)}"
        yield _cpp_knob(plain.name, plain.value)
    for one in shared.enums.values():
        title = camel(one.name)
        yield ""
        yield f"/// {one.doc}"
        yield f"enum class {title} : {_cpp_unsigned(one.bits)} {{"
        for key, value in one.values.items():
            note = f" ({one.access[key]})" if key in one.access else ""
            yield f"  /// {one.docs[key]}{note}"
            yield f"  {camel(key)} = 0x{value:X},"
        yield "};"
        yield "/// Its name in config/; null for an unnamed number."
        yield f"constexpr const char* name_of({title} value) {{"
        yield "  switch (value) {"
        for key in one.values:
            yield f'    case {title}::{camel(key)}: return "{key}";'
        yield "  }"
        yield "  return nullptr;"
        yield "}"
    yield ""
    yield _CPP_SUPPORT.rstrip("\n")
    for layout in shared.layouts.values():
        yield ""
        yield from _cpp_layout(layout)


def _cpp_type(field: constants.Field) -> str:
    if field.enum:
        return camel(field.enum)
    return f"Words<{field.bits}>" if field.bits > 64 else _cpp_unsigned(field.bits)


def _cpp_layout(layout: constants.Layout) -> Iterator[str]:
    title = camel(layout.name)
    yield f"/// {layout.doc}"
    yield f"struct {title} {{"
    for field in layout.fields:
        yield f"  /// {field.doc} [{field.bits} bit{'s' if field.bits > 1 else ''}]"
        yield f"  {_cpp_type(field)} {field.name}{{}};"
    yield ""
    yield "  /// Width of the layout; position and width of each field."
    yield f"  static constexpr unsigned kBits = {layout.bits};"
    for field in layout.fields:
        prefix = f"k{camel(field.name)}"
        yield f"  static constexpr unsigned {prefix}Lsb = {field.lsb}, {prefix}Bits = {field.bits};"
    yield ""
    yield "  /// The fields as one value; bits that exceed a field are truncated."
    yield f"  constexpr Words<{layout.bits}> pack() const {{"
    yield f"    Words<{layout.bits}> to;"
    for field in layout.fields:
        lsb = f"k{camel(field.name)}Lsb"
        if field.bits > 64:
            yield f"    to.template put_wide<{field.bits}>({lsb}, {field.name});"
        else:
            yield f"    to.put({lsb}, {field.bits}, static_cast<uint64_t>({field.name}));"
    yield "    return to;"
    yield "  }"
    yield "  /// The fields of a value from pack()."
    yield f"  static constexpr {title} unpack(const Words<{layout.bits}>& from) {{"
    yield f"    {title} to;"
    for field in layout.fields:
        lsb = f"k{camel(field.name)}Lsb"
        if field.bits > 64:
            yield f"    to.{field.name} = from.template get_wide<{field.bits}>({lsb});"
        else:
            yield f"    to.{field.name} = static_cast<{_cpp_type(field)}>(from.get({lsb}, {field.bits}));"
    yield "    return to;"
    yield "  }"
    yield "};"
