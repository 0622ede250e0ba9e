# SPDX-License-Identifier: Apache-2.0
"""Random programs for one core's threads: every instruction of RV32IMF and Zicsr that affects only registers, memory
and the floating-point status. Branches are forward; an outer loop makes the program long."""

from __future__ import annotations

import random
from collections.abc import Callable

CODE = 0x10000
"""First address of the programs; the code below it dispatches each thread to its own."""
DATA = 0x40000000
SHARE = 0x10000
"""Bytes of memory of each thread, from DATA on."""

BASE, COUNTER = 30, 31  # registers that programs do not write
Unit = list[int]

_INTEGERS = [0, 1, 2, 3, 31, 32, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0x80000001, 0xFFFF, 0x10000]
_FLOATS = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345]
_FLOATS += [0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x4F000000, 0xCF000000, 0x4F800000]
_FLOATS += [0x3F000000, 0x3FC00000, 0x4B000001, 0x33800000, 0x34000000]


def r_type(opcode: int, funct3: int, funct7: int, rd: int, rs1: int, rs2: int) -> int:
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def i_type(opcode: int, funct3: int, rd: int, rs1: int, immediate: int) -> int:
    return (immediate & 0xFFF) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode


def s_type(opcode: int, funct3: int, rs1: int, rs2: int, immediate: int) -> int:
    return (immediate >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (immediate & 31) << 7 | opcode


def b_type(funct3: int, rs1: int, rs2: int, offset: int) -> int:
    high = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25
    return high | rs2 << 20 | rs1 << 15 | funct3 << 12 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7 | 0x63


def j_type(rd: int, offset: int) -> int:
    low = (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 | (offset >> 12 & 0xFF) << 12
    return (offset >> 20 & 1) << 31 | low | rd << 7 | 0x6F


def li(rd: int, value: int) -> Unit:
    """Loads a constant."""
    low = ((value & 0xFFF) ^ 0x800) - 0x800
    return [((value - low) & 0xFFFFF000) | rd << 7 | 0x37, i_type(0x13, 0, rd, rd, low)]


class _Maker:
    """Generates units: sequences of instructions without a jump target inside."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.kinds: list[tuple[int, Callable[[], Unit]]] = [
            (14, self.op),
            (12, self.op_imm),
            (6, self.multiply),
            (4, self.divide),
            (3, self.upper),
            (8, self.load),
            (7, self.store),
            (14, self.float_op),
            (5, self.fused),
            (6, self.float_other),
            (4, self.status),
            (2, self.count),
            (4, self.constant),
            (4, self.float_constant),
            (1, self.fence),
        ]
        self.weights = [weight for weight, _ in self.kinds]

    def unit(self) -> Unit:
        return self.rng.choices(self.kinds, self.weights)[0][1]()

    def rd(self) -> int:
        return self.rng.randrange(BASE)

    def rs(self) -> int:
        return self.rng.randrange(32)

    def freg(self) -> int:
        return self.rng.randrange(32)

    def mode(self) -> int:
        return self.rng.choice((0, 1, 2, 3, 4, 7, 7, 7))

    def integer(self) -> int:
        pick = self.rng.random()
        if pick < 0.4:
            return self.rng.choice(_INTEGERS)
        return self.rng.getrandbits(32) >> (0 if pick < 0.7 else self.rng.randrange(32))

    def float_word(self) -> int:
        if self.rng.random() < 0.5:
            return self.rng.choice(_FLOATS)
        if self.rng.random() < 0.5:  # near 1, so that sums cancel
            return self.rng.getrandbits(1) << 31 | self.rng.randrange(100, 155) << 23 | self.rng.getrandbits(23)
        return self.rng.getrandbits(32)

    def op(self) -> Unit:
        funct3 = self.rng.randrange(8)
        other = 0x20 if funct3 in (0, 5) and self.rng.getrandbits(1) else 0
        return [r_type(0x33, funct3, other, self.rd(), self.rs(), self.rs())]

    def op_imm(self) -> Unit:
        funct3 = self.rng.randrange(8)
        immediate = self.rng.getrandbits(12)
        if funct3 in (1, 5):
            immediate = immediate & 31 | (0x400 if funct3 == 5 and self.rng.getrandbits(1) else 0)
        return [i_type(0x13, funct3, self.rd(), self.rs(), immediate)]

    def multiply(self) -> Unit:
        return [r_type(0x33, self.rng.randrange(4), 1, self.rd(), self.rs(), self.rs())]

    def divide(self) -> Unit:
        """Random register values are poor divisors: half of the divisors are small or 0."""
        divisor, unit = self.rs(), []
        if self.rng.getrandbits(1):
            divisor = self.rng.randrange(1, BASE)
            unit = [i_type(0x13, 0, divisor, 0, self.rng.choice((0, 1, -1, self.rng.randrange(-40, 40))))]
        return [*unit, r_type(0x33, self.rng.randrange(4, 8), 1, self.rd(), self.rs(), divisor)]

    def upper(self) -> Unit:
        return [self.rng.getrandbits(20) << 12 | self.rd() << 7 | self.rng.choice((0x37, 0x17))]

    def load(self) -> Unit:
        funct3, size = self.rng.choice(((0, 1), (1, 2), (2, 4), (4, 1), (5, 2), (7, 4)))
        offset = self.rng.randrange(-64, 64) * 4 + self.rng.randrange(0, 4, size)
        if funct3 == 7:
            return [i_type(0x07, 2, self.freg(), BASE, offset)]
        return [i_type(0x03, funct3, self.rd(), BASE, offset)]

    def store(self) -> Unit:
        funct3, size = self.rng.choice(((0, 1), (1, 2), (2, 4), (7, 4)))
        offset = self.rng.randrange(-64, 64) * 4 + self.rng.randrange(0, 4, size)
        if funct3 == 7:
            return [s_type(0x27, 2, BASE, self.freg(), offset)]
        return [s_type(0x23, funct3, BASE, self.rs(), offset)]

    def float_op(self) -> Unit:
        funct5 = self.rng.choice((0, 0, 1, 1, 2, 2, 3, 11))
        second = 0 if funct5 == 11 else self.freg()
        return [r_type(0x53, self.mode(), funct5 << 2, self.freg(), self.freg(), second)]

    def fused(self) -> Unit:
        opcode = self.rng.choice((0x43, 0x47, 0x4B, 0x4F))
        return [r_type(opcode, self.mode(), self.freg() << 2, self.freg(), self.freg(), self.freg())]

    def float_other(self) -> Unit:
        kind = self.rng.randrange(8)
        f1, f2, f3 = self.freg(), self.freg(), self.freg()
        if kind == 0:
            return [r_type(0x53, self.rng.randrange(3), 0x10, f1, f2, f3)]  # fsgnj*
        if kind == 1:
            return [r_type(0x53, self.rng.randrange(2), 0x14, f1, f2, f3)]  # fmin, fmax
        if kind == 2:
            return [r_type(0x53, self.rng.randrange(3), 0x50, self.rd(), f2, f3)]  # compare
        if kind == 3:
            return [r_type(0x53, self.mode(), 0x60, self.rd(), f2, self.rng.randrange(2))]  # to integer
        if kind == 4:
            return [r_type(0x53, self.mode(), 0x68, f1, self.rs(), self.rng.randrange(2))]  # from integer
        if kind == 5:
            return [r_type(0x53, 0, 0x70, self.rd(), f2, 0)]  # fmv.x.w
        if kind == 6:
            return [r_type(0x53, 1, 0x70, self.rd(), f2, 0)]  # fclass
        return [r_type(0x53, 0, 0x78, f1, self.rs(), 0)]  # fmv.w.x

    def status(self) -> Unit:
        """CSR instructions on fflags, frm, fcsr. A write of a mode is followed by a write of a legal one."""
        number = self.rng.choice((1, 1, 2, 3))
        funct3 = self.rng.choice((1, 2, 3, 5, 6, 7))
        source = self.rng.choice((0, self.rs()))
        unit = [i_type(0x73, funct3, self.rd(), source, number)]
        if number != 1:
            unit.append(i_type(0x73, 5, self.rd(), self.rng.randrange(5), 2))
        return unit

    def count(self) -> Unit:
        """Reads the number of instructions that the thread has finished."""
        return [i_type(0x73, 2, self.rd(), 0, self.rng.choice((0xC02, 0xC02, 0xC82)))]

    def constant(self) -> Unit:
        return li(self.rd(), self.integer())

    def float_constant(self) -> Unit:
        register = self.rd()
        return [*li(register, self.float_word()), r_type(0x53, 0, 0x78, self.freg(), register, 0)]

    def fence(self) -> Unit:
        return [self.rng.choice((0x0FF0000F, 0x0000100F, 0x8330000F))]


def program(rng: random.Random, tid: int, length: int, loops: int) -> list[int]:
    """A program of at most `length` words, with `loops` rounds; the last word jumps to itself."""
    maker = _Maker(rng)
    code = li(BASE, DATA + tid * SHARE + 0x800)
    for number in range(32):
        code += [*li(1, maker.float_word()), r_type(0x53, 0, 0x78, number, 1, 0)]
    for number in range(1, BASE):
        code += li(number, maker.integer())
    code += [i_type(0x73, 5, 0, 0, 3), *li(COUNTER, loops)]
    stride = length - len(code) - 8
    units: list[Unit] = []
    jumps: dict[int, int] = {}  # jumping unit, and its distance in units
    while stride > 12:
        unit = maker.unit()
        pick = rng.random()
        if pick < 0.12:
            # Patched below, when the lengths are known. Some of the compared pairs are always equal.
            first = maker.rs()
            second = first if rng.random() < 0.2 else maker.rs()
            unit = [b_type(rng.choice((0, 1, 4, 5, 6, 7)), first, second, 0)]
            jumps[len(units)] = rng.randrange(1, 8)
        elif pick < 0.15:
            unit = [j_type(maker.rd(), 0)]
            jumps[len(units)] = rng.randrange(1, 4)
        elif pick < 0.18:
            register = rng.randrange(1, BASE)
            unit = [register << 7 | 0x17, i_type(0x67, 0, maker.rd(), register, 0)]
            jumps[len(units)] = rng.randrange(1, 4)
        units.append(unit)
        stride -= len(unit)
    starts = [0]
    for unit in units:
        starts.append(starts[-1] + len(unit))
    for number, distance in jumps.items():
        offset = 4 * (starts[min(number + distance, len(units))] - starts[number])
        unit = units[number]
        if len(unit) == 2:
            unit[1] |= offset << 20  # from the auipc before it
        else:
            unit[0] |= j_type(0, offset) & ~0x7F if unit[0] & 0x7F == 0x6F else b_type(0, 0, 0, offset) & ~0x7F
    body = [word for unit in units for word in unit]
    code += body
    code += [i_type(0x13, 0, COUNTER, COUNTER, -1), b_type(0, COUNTER, 0, 8), j_type(0, -4 * (len(body) + 2))]
    code += [i_type(0x73, 2, 1, 0, 3), i_type(0x73, 2, 2, 0, 1), i_type(0x73, 2, 3, 0, 2), 0x6F]
    assert len(code) <= length
    return code


WAY = 5
"""Instructions of a thread before its program."""


def image(programs: list[list[int]], stride: int) -> list[int]:
    """Words of an instruction memory: the threads' programs, `stride` bytes apart (a power of two)."""
    words = [
        i_type(0x73, 2, 5, 0, 0xCC3),  # csrr x5, thread_id
        i_type(0x13, 1, 5, 5, stride.bit_length() - 1),
        CODE | 6 << 7 | 0x37,
        r_type(0x33, 0, 0, 5, 5, 6),
        i_type(0x67, 0, 0, 5, 0),
    ]
    assert len(words) == WAY
    words += [0] * (CODE // 4 - len(words))
    for code in programs:
        words += code + [0] * (stride // 4 - len(code))
    return words


def program_address(tid: int, stride: int) -> int:
    """Address of a thread's program."""
    return CODE + tid * stride
