# SPDX-License-Identifier: Apache-2.0
"""cocotb test of an accelerator's loads and stores: each accesses its bytes of one line, or is a fault."""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer.config import constants

ACCESSES = int(os.environ.get("ACC_ACCESSES", "400"))
LINE = int(os.environ.get("ACC_LINE_BYTES", "32"))
PORT = int(os.environ.get("ACC_PORT_BYTES", "32"))
DRAM_BYTES = int(os.environ.get("ACC_DRAM_BYTES", str(1 << 26)))
SRAM_BYTES = int(os.environ.get("ACC_SRAM_BYTES", str(1 << 20)))

SRAM, DRAM, PARTITIONS = (constants.value(f"{name}_base") for name in ("sram", "dram", "partition"))
PAD = constants.value("scratchpad_base")
TRAP = constants.enumeration("trap")
FAULT, OP = constants.layout("load_header"), constants.enumeration("load_op")["fault"]
STATUS = constants.enumeration("rejection")["address"]
# One flit, which is a complete packet.
HEAD = constants.enumeration("flit_kind")["header"] << 24 | 1 << 16 | constants.enumeration("vnet")["reply"] << 8
LOADS = {0: (1, True), 1: (2, True), 2: (4, False), 4: (1, False), 5: (2, False)}
LOAD, STORE, CSR = 0, 1, 2


def random_address() -> int:
    """An address of memory, of few lines, so that addresses repeat."""
    base = random.choice([SRAM] * (SRAM_BYTES > 0) + [DRAM, PARTITIONS])
    reach = {SRAM: SRAM_BYTES, DRAM: min(DRAM_BYTES, 1 << 30), PARTITIONS: DRAM_BYTES // 2}[base]
    line = random.choice([0, LINE, reach // 2, reach - LINE, random.randrange(0, reach, LINE)])
    return base + line + random.randrange(LINE)


def unmapped_address() -> int:
    """An unmapped address."""
    beyond = [0, PAD, SRAM - 4, SRAM + SRAM_BYTES, PARTITIONS + DRAM_BYTES // 2, 0xFFFFFFFC]
    return random.choice(beyond if DRAM_BYTES >= 1 << 30 else [*beyond, DRAM + DRAM_BYTES])


class Memory:
    """Memory lines, returned as beats at random times; checks that requests are complete."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.dut = dut
        self.lines: dict[tuple[int, int], bytes] = {}
        self.asked: list[tuple[int, int]] = []
        self.written: list[tuple[tuple[int, int], bytes]] = []
        self.beats: list[bytes] = []
        self.old: dict[tuple[int, int], bytes] = {}
        self.due: deque[tuple[int, int, bytes]] = deque()

    def line(self, where: tuple[int, int]) -> bytes:
        return self.lines.setdefault(where, random.randbytes(LINE))

    def drive(self) -> None:
        dut = self.dut
        dut.mem_ready_i.value = int(random.random() < 0.6)
        dut.rsp_valid_i.value = 0
        dut.rsp_data_i.value = random.getrandbits(8 * PORT)
        if self.due and random.random() < 0.6:
            ack, last, data = self.due.popleft()
            dut.rsp_valid_i.value, dut.rsp_ack_i.value, dut.rsp_last_i.value = 1, ack, last
            dut.rsp_data_i.value = int.from_bytes(data, "little")

    def watch(self) -> None:
        dut = self.dut
        if not (int(dut.mem_valid_o.value) and int(dut.mem_ready_i.value)):
            return
        where = (int(dut.mem_space_o.value), int(dut.mem_addr_o.value))
        last = int(dut.mem_last_o.value)
        assert where[1] % LINE == 0
        if not int(dut.mem_write_o.value):
            assert last and not self.beats
            self.asked.append(where)
            beats = [self.line(where)[at : at + PORT] for at in range(0, LINE, PORT)]
            self.due += [(0, int(number == len(beats)), beat) for number, beat in enumerate(beats, 1)]
            return
        self.beats.append(int(dut.mem_data_o.value).to_bytes(PORT, "little"))
        assert last == (len(self.beats) == LINE // PORT)
        if last:
            self.written.append((where, b"".join(self.beats)))
            self.old[where] = self.line(where)
            self.lines[where] = b"".join(self.beats)
            self.beats = []
            self.due.append((1, 1, random.randbytes(PORT)))


@cocotb.test()
async def every_access_gets_its_own_response(dut: HierarchyObject) -> None:
    """Loads and stores of bytes, halfwords and words, of all memories and of unmapped addresses."""
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    here, host, job = random.getrandbits(32), random.getrandbits(32), random.getrandbits(5)
    dut.here_i.value, dut.host_i.value, dut.job_i.value = here, host, job
    dut.req_valid_i.value = dut.mem_ready_i.value = dut.rsp_valid_i.value = dut.fault_ready_i.value = 0
    dut.rst_ni.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    memory = Memory(dut)
    physical: dict[int, tuple[int, int]] = {}
    done = {"loads": 0, "stores": 0, "faults": 0}
    for _ in range(ACCESSES):
        op = random.choice([LOAD, STORE])
        funct3 = random.choice([0, 1, 2] if op == STORE else list(LOADS))
        size, signed = LOADS[funct3]
        address, data = random_address(), random.getrandbits(32)
        if random.random() < 0.8:
            address -= address % size
        if random.random() < 0.1:
            address = unmapped_address()
        if random.random() < 0.05:
            op = CSR
        mapped = physical_address(address)
        bad = op == CSR or mapped is None or address % size != 0
        dut.req_op_i.value, dut.req_funct3_i.value = op, funct3
        dut.req_addr_i.value, dut.req_data_i.value = address, data
        dut.req_valid_i.value = 1
        asked, written = len(memory.asked), len(memory.written)
        memory.old.clear()
        faults: list[list[int]] = []
        answer = None
        for _ in range(400):
            memory.drive()
            dut.fault_ready_i.value = int(random.random() < 0.5)
            await ReadOnly()
            taken = int(dut.req_valid_i.value) and int(dut.req_ready_o.value)
            memory.watch()
            if int(dut.fault_valid_o.value) and int(dut.fault_ready_i.value):
                faults.append([int(of.value) for of in (dut.fault_head_o, dut.fault_dest_o, dut.fault_payload_o)])
            if int(dut.ans_valid_o.value):
                answer = (int(dut.ans_flags_o.value), int(dut.ans_data_o.value))
            await FallingEdge(dut.clk_i)
            if taken:
                dut.req_valid_i.value = 0
                dut.req_addr_i.value = random.getrandbits(32)
                dut.req_data_i.value = random.getrandbits(32)
            if answer is not None:
                break
        assert answer is not None, "no response"
        asked_now, written_now = memory.asked[asked:], memory.written[written:]
        if bad:
            done["faults"] += 1
            assert answer == (1, 0) and not asked_now and not written_now
            misaligned = address % size != 0
            kind = ("store" if op == STORE else "load") + ("_misaligned" if misaligned else "_fault")
            header = FAULT.pack(reply=here, address=address, tag=TRAP[kind], op=OP, status=STATUS)
            assert faults == [[HEAD | job, host, header]], (faults, hex(address), kind)
            continue
        assert not faults and len(asked_now) == 1
        where = asked_now[0]
        # Each line of program addresses maps to exactly one line of memory.
        assert where[0] == int(address < DRAM) and physical.setdefault(address // LINE, where) == where
        if address < PARTITIONS:
            assert where[1] == mapped - mapped % LINE
        offset = address % LINE
        if op == LOAD:
            done["loads"] += 1
            value = int.from_bytes(memory.lines[where][offset : offset + size], "little", signed=signed)
            assert answer == (0, value & 0xFFFFFFFF) and not written_now
        else:
            done["stores"] += 1
            assert answer[0] == 0 and [at for at, _ in written_now] == [where]
            bytes_now = (data & (1 << 8 * size) - 1).to_bytes(size, "little")
            old = memory.old[where]
            assert written_now[0][1] == old[:offset] + bytes_now + old[offset + size :]
    parted = [where for line, where in physical.items() if line >= PARTITIONS // LINE]
    assert len(set(parted)) == len(parted), "two lines of partitions map to one line of memory"
    assert all(where[1] >= DRAM_BYTES // 2 for where in parted)
    assert min(done.values()) > ACCESSES // 20, done


def physical_address(address: int) -> int | None:
    """Physical address of an address, or None if it is unmapped; partitions are interleaved by line."""
    for base, reach in ((PARTITIONS, DRAM_BYTES // 2), (DRAM, min(DRAM_BYTES, 1 << 30)), (SRAM, SRAM_BYTES)):
        if address >= base:
            return address - base if address - base < reach else None
    return None
