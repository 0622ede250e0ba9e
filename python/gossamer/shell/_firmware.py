# SPDX-License-Identifier: Apache-2.0
"""Compiles firmware for the Ethernet shell's control processor (``rtl/shell/gs_rv32.sv``): freestanding C++20."""

from __future__ import annotations

import functools
import shutil
import string
import struct
from collections.abc import Sequence
from pathlib import Path

from gossamer import builds, device, files
from gossamer.errors import InputError
from gossamer.paths import INCLUDE, ROOT
from gossamer.shell import _build

FOLDER = ROOT / "device" / "firmware"
"""Linker script, start-up code and run-time library."""
RAM_BYTES = 16384
"""The default of gs_rv32's parameter RamBytes."""
SHELL_RAM_BYTES = 65536
"""Bytes of the shell's processor: gs_shell's parameter RamBytes."""
STACK_BYTES = 3072
"""The least space for the stack, at the end of the RAM: with 1,408 bytes the shell's stack ran into its data."""
FLAGS = (
    # The target with a C library has the headers of C and C++; the library itself is not linked.
    "-target",
    "riscv32-linux-musl",
    "-mcpu=generic_rv32+relax",
    "-mabi=ilp32",
    # Not -ffreestanding, with which each memcpy of a word would be a call, and main would have a mangled name.
    "-Os",
    "-fno-pic",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-fomit-frame-pointer",
    "-fno-stack-protector",
    "-fno-sanitize=all",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-Wall",
    "-Wextra",
)
_CPP_FLAGS = ("-std=c++20", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics")


def build(
    sources: Sequence[Path],
    folder: Path,
    *,
    ram_bytes: int = RAM_BYTES,
    flags: Sequence[str] = (),
) -> Path:
    """Compiles and links C++ sources with a ``main``, and writes ``firmware.hex`` to ``folder``; returns its path.

    The file has the RAM's contents from address 0 on, a word of eight hex digits in each line, for $readmemh;
    ``firmware.elf`` is next to it. ``ram_bytes`` is gs_rv32's RamBytes; ``flags`` are further ones of the compiler,
    such as ``-I`` and ``-D``. Includes are searched in ``include/``, ``src/`` and in the generated constants of the
    shell. A return from ``main`` stops the processor with a trap. Raises InputError, one line, if a source does not
    compile, if the program does not link, or if it does not fit into the RAM.
    """
    for path in sources:
        if not path.is_file():
            raise InputError(f"{path}: no such file; name the C++ sources of the firmware")
    own = [FOLDER / "crt0.S", FOLDER / "runtime.cc"]
    paths = [*(path.resolve() for path in sources), *own]
    options = [*FLAGS, *flags, f"-I{INCLUDE}", f"-I{ROOT / 'src'}", f"-I{_build.constants()}"]
    script = string.Template((FOLDER / "link.ld").read_text(encoding="utf-8")).substitute(ram_bytes=ram_bytes)
    tag = builds.tag(*map(str, paths), *options, *_CPP_FLAGS, script)

    def steps(plan: builds.Plan) -> None:
        linker_script = plan.folder / "link.ld"
        linker_script.write_text(script, encoding="utf-8")
        objects = [_compile(plan, path, options, number) for number, path in enumerate(paths)]
        command = [*device.tool("ld.lld"), "-T", str(linker_script), "--gc-sections", "--no-undefined", "--relax-gp"]
        command += ["-z", "max-page-size=16", "-o", "firmware.elf", *objects]
        plan.run("firmware.elf", command, [linker_script, *objects])

    failed = device.does_not_compile([path.resolve() for path in sources])
    made = builds.kept(f"firmware/{builds.plain(paths[0].stem)}-{tag}", steps, failed, title="building the firmware")
    elf = made / "firmware.elf"
    image = _image(elf, ram_bytes, sources[0])
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(elf, folder / elf.name)
    target = folder / "firmware.hex"
    words = struct.unpack(f"<{len(image) // 4}I", image)
    files.write_whole(target, "".join(f"{word:08x}\n" for word in words).encode())
    return target


@functools.cache
def shell() -> Path:
    """The firmware of the shell's processor, as words for its RAM.

    Raises InputError if it does not compile.
    """
    sources = [FOLDER / name for name in ("shell.cc", "hash.cc")]
    sources += [_build.SOURCES / name for name in ("control.cc", "blake2s_core.cc")]
    return build(sources, builds.build_dir() / "firmware-shell", ram_bytes=SHELL_RAM_BYTES, flags=["-O2"])


def _compile(plan: builds.Plan, source: Path, options: Sequence[str], number: int) -> str:
    standard = () if source.suffix == ".S" else _CPP_FLAGS
    tool = device.tool("cc" if source.suffix == ".S" else "c++")
    return plan.compile(source, [*options, *standard], f"{number}-{builds.plain(source.stem)}.o", tool=tool)


def _image(elf: Path, ram_bytes: int, source: Path) -> bytes:
    """The contents of the RAM up to .bss, in whole words.

    Raises InputError if less than STACK_BYTES of the RAM would remain for the stack.
    """
    data = elf.read_bytes()
    image = bytearray()
    start, count = struct.unpack_from("<I", data, 28)[0], struct.unpack_from("<H", data, 44)[0]
    end = 0
    for number in range(count):
        kind, offset, address, _, stored, size, _, _ = struct.unpack_from("<8I", data, start + 32 * number)
        if kind == 1 and size:  # PT_LOAD
            end = max(end, address + size)
            image.extend(bytes(max(0, address + stored - len(image))))
            image[address : address + stored] = data[offset : offset + stored]
    if end + STACK_BYTES > ram_bytes:
        raise InputError(
            f"{source}: the firmware has {len(image)} bytes of program and data and {end - len(image)} of zeroed data, "
            f"and its stack needs {STACK_BYTES}; the RAM has {ram_bytes} bytes: enlarge RamBytes or shorten the program"
        )
    return bytes(image) + bytes(-len(image) % 4)


__all__ = ["FLAGS", "RAM_BYTES", "SHELL_RAM_BYTES", "STACK_BYTES", "build", "shell"]
