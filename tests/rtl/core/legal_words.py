# SPDX-License-Identifier: Apache-2.0
"""Legal instruction words of RV32IMF with Zicsr and Zifencei on this core, from the ISA manual."""

from __future__ import annotations

import random

# Mask and match of instructions whose other bits are free.
_TABLE: list[tuple[int, int]] = []


def _add(mask: int, match: int) -> None:
    _TABLE.append((mask, match))


for _opcode in (0x37, 0x17, 0x6F):  # lui, auipc, jal
    _add(0x7F, _opcode)
_add(0x707F, 0x67)  # jalr
for _funct3 in (0, 1, 4, 5, 6, 7):
    _add(0x707F, _funct3 << 12 | 0x63)
for _funct3 in (0, 1, 2, 4, 5):
    _add(0x707F, _funct3 << 12 | 0x03)
for _funct3 in (0, 1, 2):
    _add(0x707F, _funct3 << 12 | 0x23)
for _funct3 in (0, 2, 3, 4, 6, 7):
    _add(0x707F, _funct3 << 12 | 0x13)
for _funct3, _funct7 in ((1, 0), (5, 0), (5, 0x20)):
    _add(0xFE00707F, _funct7 << 25 | _funct3 << 12 | 0x13)
for _funct3 in range(8):
    _add(0xFE00707F, _funct3 << 12 | 0x33)
    _add(0xFE00707F, 1 << 25 | _funct3 << 12 | 0x33)
for _funct3 in (0, 5):
    _add(0xFE00707F, 0x20 << 25 | _funct3 << 12 | 0x33)
for _funct3 in (0, 1):
    _add(0x707F, _funct3 << 12 | 0x0F)  # fences
_add(0x707F, 2 << 12 | 0x07)
_add(0x707F, 2 << 12 | 0x27)
for _funct7 in (0x00, 0x04, 0x08, 0x0C):  # fadd, fsub, fmul, fdiv
    _add(0xFE00007F, _funct7 << 25 | 0x53)
for _opcode in (0x43, 0x47, 0x4B, 0x4F):
    _add(0x0600007F, _opcode)
_add(0xFFF0007F, 0x2C << 25 | 0x53)  # fsqrt
for _funct7, _count in ((0x10, 3), (0x14, 2), (0x50, 3)):  # fsgnj*, fmin and fmax, comparisons
    for _funct3 in range(_count):
        _add(0xFE00707F, _funct7 << 25 | _funct3 << 12 | 0x53)
for _funct7 in (0x60, 0x68):  # conversions
    for _second in (0, 1):
        _add(0xFFF0007F, _funct7 << 25 | _second << 20 | 0x53)
for _funct7, _funct3 in ((0x70, 0), (0x70, 1), (0x78, 0)):  # fmv.x.w, fclass, fmv.w.x
    _add(0xFFF0707F, _funct7 << 25 | _funct3 << 12 | 0x53)

_ROUNDING = {0x00, 0x04, 0x08, 0x0C, 0x2C, 0x60, 0x68}


def is_legal(word: int) -> bool:
    """Whether a word is an instruction, including environment calls; frm holds a legal mode."""
    opcode, funct3, number, source = word & 0x7F, word >> 12 & 7, word >> 20, word >> 15 & 31
    if word in (0x00000073, 0x00100073):
        return True
    if opcode == 0x73:
        if funct3 in (0, 4):
            return False
        if number in (1, 2, 3):
            return True
        # CSRs of the tile: only csrrw writes them, unless they are read-only.
        return source == 0 if funct3 & 2 else number >> 10 != 3
    if not any(word & mask == match for mask, match in _TABLE):
        return False
    rounds = opcode in (0x43, 0x47, 0x4B, 0x4F) or (opcode == 0x53 and word >> 25 in _ROUNDING)
    return not (rounds and funct3 in (5, 6))


def words(rng: random.Random, count: int) -> list[int]:
    """`count` words: instructions, instructions with one inverted bit, random words, all CSRs."""
    found = [0x00000073, 0x00100073, 0x10500073, 0x30200073, 0x00008073, 0x000000F3, 0, 0xFFFFFFFF]
    while len(found) < count:
        mask, match = rng.choice(_TABLE)
        word = match | rng.getrandbits(32) & ~mask
        pick = rng.random()
        if pick < 0.5:
            word ^= 1 << rng.randrange(32)
        elif pick < 0.6:
            word = rng.getrandbits(32) | 3
        elif pick < 0.75:
            number = rng.choice((1, 2, 3, 0, 4, 5, 0x101, 0x801, 0xC00, 0xCC3, rng.getrandbits(12)))
            word = number << 20 | rng.choice((0, rng.getrandbits(5))) << 15 | rng.getrandbits(8) << 7 | 0x73
        elif pick < 0.8:
            word = rng.choice((0x00000073, 0x00100073)) ^ 1 << rng.randrange(7, 32)
        # Jumps and voluntary stops are excluded, because they would end the test.
        found.append(word)
    return found


def inverted(rng: random.Random) -> list[int]:
    """Of each instruction words with one of its fixed bits inverted; all of these bits."""
    return [
        (match | rng.getrandbits(32) & ~mask) ^ 1 << bit
        for mask, match in _TABLE
        for bit in range(32)
        if mask >> bit & 1
    ]
