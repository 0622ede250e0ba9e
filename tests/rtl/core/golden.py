# SPDX-License-Identifier: Apache-2.0
"""Spike, the golden model: each instruction of a program with its register and memory writes."""

from __future__ import annotations

import re
import resource
import struct
import subprocess
from pathlib import Path

import numpy as np
from rtl.core.programs import CODE, DATA, SHARE, WAY, i_type, j_type, li
from rtl.fpu.golden import device_tree, spike

COMMIT = np.dtype(
    [("tid", "u1"), ("reg", "u1"), ("stored", "u1"), ("zero", "u1")]
    + [(name, "<u4") for name in ("pc", "instr", "value", "address", "data")]
)
"""A finished instruction: the register that it wrote (32 and above: floating-point; 255: none), bytes it stored."""
Commits = np.ndarray[tuple[int], np.dtype[np.void]]

_START = 0x8000
_HOST = 0xF000
_WAY_OUT, _HANDLER = _START + 0x100, _START + 0x180
_MOST_LOG = 2 << 30
_LINE = re.compile(
    rb"^core +0: 3 0x([0-9a-f]{8}) \(0x([0-9a-f]{8})\)(?:.*? ([xf])(\d+) +0x([0-9a-f]+))?"
    rb"(?:.*? mem 0x([0-9a-f]+)(?: 0x([0-9a-f]+))?)?",
    re.MULTILINE,
)


def _elf(segments: list[tuple[int, bytes]], tohost: int) -> bytes:
    """An ELF file with these segments, and the symbols through which a program ends the simulator."""
    names = b"\0tohost\0fromhost\0"
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, tohost, 8, 0x11, 0, 0xFFF1)
    symbols += struct.pack("<IIIBBH", 8, tohost + 64, 8, 0x11, 0, 0xFFF1)
    sections = b"\0.symtab\0.strtab\0.shstrtab\0"
    body = b""
    heads = b""
    at = 52 + 32 * len(segments)
    for address, data in segments:
        heads += struct.pack("<8I", 1, at + len(body), address, address, len(data), len(data), 7, 4)
        body += data
    table = at + len(body)
    where = table + len(symbols) + len(names) + len(sections)
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    head += struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, segments[0][0], 52, where, 0, 52, 32, len(segments), 40, 4, 3)
    tail = bytes(40)
    tail += struct.pack("<10I", 1, 2, 0, 0, table, len(symbols), 2, 1, 4, 16)
    tail += struct.pack("<10I", 9, 3, 0, 0, table + len(symbols), len(names), 0, 0, 1, 0)
    tail += struct.pack("<10I", 17, 3, 0, 0, table + len(symbols) + len(names), len(sections), 0, 0, 1, 0)
    return head + heads + body + symbols + names + sections + tail


def _log(tid: int, code: list[int], at: int, folder: Path, data: int | None = None) -> list[tuple[bytes, ...]]:
    """The matches of _LINE in the log of a program."""
    end = at + 4 * (len(code) - 1)
    # Prologue: set the handler of traps, enable floating point, set the instruction count to the core's. Epilogue:
    # notify the host.
    jump_in = [*li(5, at), 0x00028067]
    handler = [*li(5, _HANDLER), i_type(0x73, 1, 0, 5, 0x305)]
    way_in = [*handler, 0x000062B7, 0x3002A073, i_type(0x73, 5, 0, WAY - len(jump_in), 0xB02), *jump_in]
    way_out = [_HOST | 5 << 7 | 0x37, 1 << 20 | 6 << 7 | 0x13, 0x0062A023, 0x0002A223, 0x0000006F]
    offset = _WAY_OUT - end
    jump = (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20
    words = [*code[:-1], jump | (offset >> 12 & 0xFF) << 12 | 0x6F]
    # The handler reads cause, address and value of a trap into x5, x6, x7.
    handled = [i_type(0x73, 2, 5 + n, 0, number) for n, number in enumerate((0x342, 0x341, 0x343))]
    handled += [j_type(0, _WAY_OUT - _HANDLER - 4 * len(handled))]
    start = b"".join(
        struct.pack(f"<{len(part)}I", *part).ljust(size, b"\0")
        for part, size in ((way_in, _WAY_OUT - _START), (way_out, _HANDLER - _WAY_OUT), (handled, 0))
    )
    elf = folder / f"thread{tid}.elf"
    elf.write_bytes(_elf([(_START, start), (_HOST, bytes(128)), (at, struct.pack(f"<{len(words)}I", *words))], _HOST))
    tree = folder / f"thread{tid}.dtb"
    base = DATA + tid * SHARE if data is None else data
    tree.write_bytes(device_tree(SHARE))
    log = folder / f"thread{tid}.log"
    memory = f"-m{_START:#x}:{CODE + 0x10000 - _START:#x},{base:#x}:{SHARE:#x}"
    how = ["--isa=rv32imf_zicsr_zifencei_zicntr", "--priv=m", "--log-commits"]
    ran = subprocess.run(
        [spike(), *how, memory, f"--dtb={tree}", f"--log={log}", elf],
        capture_output=True,
        timeout=300,
        check=False,
        # A runaway program would fill the disk with its log.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_LOG, _MOST_LOG)),
    )
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    text = log.read_bytes()
    log.unlink()
    return _LINE.findall(text)


def commits(tid: int, code: list[int], at: int, folder: Path, data: int | None = None) -> Commits:
    """Commits of a thread's program at an address, up to its last word, the jump to itself, or to its trap.

    The memory of the thread, SHARE bytes, is at ``data``, by default at its part of DATA. The program may also load and
    store in the rest of the 64 KB from CODE on.
    """
    return _commits(_log(tid, code, at, folder, data), tid, at, at + 4 * (len(code) - 1))


def trapped(tid: int, code: list[int], at: int, folder: Path) -> tuple[Commits, tuple[int, ...]]:
    """Commits of a program up to its trap, and the trap's cause, address and value; no trap: an empty tuple."""
    lines = _log(tid, code, at, folder)
    reads = [line for line in lines if _HANDLER <= int(line[0], 16) < _HANDLER + 12]
    return _commits(lines, tid, at, at + 4 * (len(code) - 1)), tuple(int(line[4], 16) for line in reads)


def _commits(lines: list[tuple[bytes, ...]], tid: int, at: int, end: int) -> Commits:
    """The commits at addresses from ``at`` to before ``end``."""
    rows = []
    for pc, instr, kind, number, value, address, bytes_of in lines:
        where = int(pc, 16)
        if not at <= where < end:
            continue
        register = 255 if not kind else int(number) + (32 if kind == b"f" else 0)
        stored = len(bytes_of) // 2
        rows.append(
            (tid, register, stored, 0, where, int(instr, 16), int(value or b"0", 16) & 0xFFFFFFFF)
            + (int(address, 16) if stored else 0, int(bytes_of or b"0", 16))
        )
    return np.array(rows, dtype=COMMIT)
