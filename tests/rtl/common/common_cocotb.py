# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of each block of rtl/common, against models in Python that share no code with them.

Inputs change at the falling edge; outputs are read after they have settled, as the rising edge samples them.
"""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

CYCLES = int(os.environ.get("CHECKS_CYCLES", "2000"))
MASK = 2**32 - 1


class Block:
    """The ports of one block of common_top, by their names in the block."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self._dut = dut
        self._name = name

    def set(self, **values: int) -> None:
        for port, value in values.items():
            getattr(self._dut, f"{self._name}_{port}").value = value

    def get(self, port: str) -> int:
        return int(getattr(self._dut, f"{self._name}_{port}").value)

    async def begin(self) -> None:
        """Starts the clock and resets; leaves after a falling edge, with all inputs of the block 0."""
        for handle in self._dut:
            if handle._name.startswith(self._name + "_") and handle._name.endswith("_i"):
                handle.value = 0
        cocotb.start_soon(Clock(self._dut.clk_i, 10, unit="ns").start())
        await self.reset()

    async def reset(self) -> None:
        self._dut.rst_ni.value = 0
        for _ in range(3):
            await FallingEdge(self._dut.clk_i)
        self._dut.rst_ni.value = 1

    async def settle(self) -> None:
        await ReadOnly()

    async def step(self) -> None:
        await FallingEdge(self._dut.clk_i)


def paces() -> Callable[[], tuple[bool, bool]]:
    """Random send and accept decisions, in phases of different probability, including floods, droughts and stalls."""
    left, send, take = 0, 0.0, 0.0

    def pace() -> tuple[bool, bool]:
        nonlocal left, send, take
        if left == 0:
            left = random.randrange(1, 60)
            send, take = random.choice([0.0, 0.2, 0.5, 0.9, 1.0]), random.choice([0.0, 0.2, 0.5, 0.9, 1.0])
        left -= 1
        return random.random() < send, random.random() < take

    return pace


async def queue(block: Block, capacity: int, longest: int, counts: bool) -> None:
    """A queue of ``capacity`` items; the first item is at the output at most ``longest`` cycles after its arrival.

    Checks order and contents, that no item is lost or invented, the exact capacity, and that a waiting item is stable.
    """
    await block.begin()
    pace, held, age = paces(), deque[int](), 0
    offered: int | None = None
    shown: int | None = None
    passed = 0
    for cycle in range(CYCLES):
        if cycle % 700 == 699:
            block.set(in_valid_i=0)
            await block.reset()
            held.clear()
            offered = shown = None
            age = 0
        send, take = pace()
        if offered is None and send:
            offered = random.getrandbits(32)
        block.set(in_valid_i=offered is not None, in_data_i=offered or 0, out_ready_i=take)
        await block.settle()
        ready, valid = block.get("in_ready_o"), block.get("out_valid_o")
        if counts:
            assert block.get("count_o") == len(held), "the count is wrong"
        assert ready == (len(held) < capacity), f"{len(held)} of {capacity} items are in it, and ready is {ready}"
        assert not valid or held, "an item from an empty queue"
        age = age + 1 if held else 0
        assert valid or age < longest, f"no item at the output after {age} cycles"
        data = block.get("out_data_o") if valid else None
        assert shown is None or data == shown, "a waiting item has changed"
        if valid:
            assert data == held[0], f"item {passed}: {data:#x} instead of {held[0]:#x}"
            if take:
                held.popleft()
                passed += 1
                age = 0
        shown = data if valid and not take else None
        if offered is not None and ready:
            held.append(offered)
            offered = None
        await block.step()
    assert passed > CYCLES // 20, "hardly any item passed"
    # Without stalls one item passes in each cycle.
    for _ in range(capacity + 8):
        block.set(in_valid_i=1, in_data_i=7, out_ready_i=1)
        await block.step()
    for _ in range(2 * capacity):
        block.set(in_valid_i=1, in_data_i=7, out_ready_i=1)
        await block.settle()
        assert block.get("in_ready_o") and block.get("out_valid_o"), "a gap without stalls"
        await block.step()


@cocotb.test()
async def clock_gate(dut: HierarchyObject) -> None:
    """The gated clock has an edge for every busy cycle and the 3 cycles after it, and for no other."""
    block = Block(dut, "gate")
    await block.begin()
    await RisingEdge(dut.clk_i)
    left, edges, slept = 3, 0, 0
    for _ in range(CYCLES):
        await block.settle()
        edges = block.get("edges_o") if edges == 0 else edges
        assert block.get("edges_o") == edges
        await FallingEdge(dut.clk_i)
        busy = block.get("busy_i")
        if busy or left:
            edges += 1
        else:
            slept += 1
        left = 3 if busy else max(left - 1, 0)
        await RisingEdge(dut.clk_i)
        # busy_i comes from a register, as in a tile: it changes after the edge.
        block.set(busy_i=random.random() < 0.2)
    assert slept > CYCLES // 20 and edges > CYCLES // 4


@cocotb.test()
async def skid(dut: HierarchyObject) -> None:
    await queue(Block(dut, "skid"), 2, 1, False)


@cocotb.test()
async def fifo(dut: HierarchyObject) -> None:
    await queue(Block(dut, "fifo"), 16, 1, True)


@cocotb.test()
async def fifo_of_odd_depth(dut: HierarchyObject) -> None:
    await queue(Block(dut, "odd"), 5, 1, True)


@cocotb.test()
async def fifo_in_block_ram(dut: HierarchyObject) -> None:
    await queue(Block(dut, "block"), 33, 3, True)


@cocotb.test()
async def arbiter(dut: HierarchyObject) -> None:
    block = Block(dut, "arbiter")
    await block.begin()
    size, waited, pointer = 5, [0] * 5, 0
    for cycle in range(CYCLES):
        # Requests are asserted and withdrawn at random; at the end all of them stay asserted.
        request = 2**size - 1 if cycle > CYCLES * 3 // 4 else random.getrandbits(size) & random.getrandbits(size)
        advance = random.random() < 0.7
        block.set(req_i=request, advance_i=advance)
        await block.settle()
        order = [(pointer + i) % size for i in range(size)]
        first = next((i for i in order if request >> i & 1), None)
        assert block.get("gnt_o") == (0 if first is None else 1 << first)
        if first is not None:
            assert block.get("idx_o") == first
            pointer = (first + advance) % size
        for i in range(size):
            waited[i] = waited[i] + (advance and first is not None) if request >> i & 1 and i != first else 0
            assert waited[i] < size, f"request {i} waits for more than {size - 1} others"
        await block.step()


@cocotb.test()
async def stream_arbiter(dut: HierarchyObject) -> None:
    block = Block(dut, "merge")
    await block.begin()
    size = 3
    offered: list[int | None] = [None] * size
    waited, number, passed = [0] * size, 0, 0
    shown: tuple[int, int] | None = None
    pace = paces()
    for _ in range(CYCLES):
        send, take = pace()
        for i in range(size):
            if offered[i] is None and send and random.random() < 0.7:
                number += 1
                offered[i] = i << 24 | number
        valid = sum((value is not None) << i for i, value in enumerate(offered))
        data = sum((value or 0) << 32 * i for i, value in enumerate(offered))
        block.set(in_valid_i=valid, in_data_i=data, out_ready_i=take)
        await block.settle()
        assert block.get("out_valid_o") == (valid != 0)
        if valid:
            chosen = block.get("out_idx_o")
            item = block.get("out_data_o")
            assert item == offered[chosen], "an item that was not sent, or of another input"
            assert shown is None or shown == (chosen, item), "a waiting item has changed"
            assert block.get("in_ready_o") == (take << chosen)
            shown = None if take else (chosen, item)
            if take:
                passed += 1
                offered[chosen] = None
                for i in range(size):
                    waited[i] = waited[i] + 1 if offered[i] is not None and i != chosen else 0
                    assert waited[i] < size, f"input {i} waits for more than {size - 1} items of others"
        await block.step()
    assert passed > CYCLES // 10


class Steered(Block):
    """A steer queue, used like a plain queue: an item's receiver is its value modulo 3."""

    def set(self, **values: int) -> None:
        if "in_data_i" in values:
            values["in_to_i"] = 1 << values["in_data_i"] % 3
        if "out_ready_i" in values:
            # The ready bits of the other receivers are random: they must have no effect.
            head = 1 << super().get("out_data_o") % 3
            values["out_ready_i"] = random.getrandbits(3) & ~head | (head if values["out_ready_i"] else 0)
        super().set(**values)

    def get(self, port: str) -> int:
        value = super().get(port)
        if port != "out_valid_o":
            return value
        assert value in (0, 1 << super().get("out_data_o") % 3), f"valid for the wrong receiver: {value:03b}"
        return int(value != 0)


@cocotb.test()
async def steer_queue(dut: HierarchyObject) -> None:
    await queue(Steered(dut, "sort"), 2, 1, False)


def strobed(old: int, new: int, strobe: int, size: int) -> int:
    """``old`` with the bytes of ``new`` whose strobe is set."""
    mask = sum(0xFF << 8 * i for i in range(size) if strobe >> i & 1)
    return old & ~mask | new & mask


class Output:
    """A RAM's expected output, after ``latency`` edges; None if it is undefined."""

    def __init__(self, latency: int) -> None:
        self.stages: list[int | None] = [None] * latency

    def edge(self, enabled: bool, value: int | None) -> None:
        self.stages[1:] = self.stages[:-1]
        if enabled:
            self.stages[0] = value

    def check(self, found: int) -> None:
        wanted = self.stages[-1]
        assert wanted is None or found == wanted, f"{found:#x} was read instead of {wanted:#x}"


@cocotb.test()
async def ram_with_two_simple_ports(dut: HierarchyObject) -> None:
    block = Block(dut, "sdp")
    await block.begin()
    memory: list[int | None] = [None] * 32
    outputs = {latency: Output(latency) for latency in (1, 2)}
    read = 0
    for _ in range(CYCLES):
        write, enable = random.random() < 0.5, random.random() < 0.7
        waddr, raddr = random.randrange(32), random.randrange(32)
        data = random.getrandbits(32)
        strobe = 15 if memory[waddr] is None else random.getrandbits(4)
        block.set(we_i=write, wstrb_i=strobe, waddr_i=waddr, wdata_i=data, re_i=enable, raddr_i=raddr)
        await block.settle()
        now = memory[raddr]
        assert now is None or block.get("rdata0_o") == now
        read += now is not None
        for latency, output in outputs.items():
            output.check(block.get(f"rdata{latency}_o"))
            output.edge(enable, None if write and waddr == raddr else now)
        if write:
            memory[waddr] = strobed(memory[waddr] or 0, data, strobe, 4)
        await block.step()
    assert read > CYCLES // 2


@cocotb.test()
async def reads_that_meet_a_write_are_random(dut: HierarchyObject) -> None:
    """Neither the old nor the new word, so that a design that uses either fails."""
    simple, true = Block(dut, "sdp"), Block(dut, "tdp")
    await simple.begin()
    seen: dict[str, set[int]] = {name: set() for name in ("rdata1_o", "rdata2_o", "a_rdata1_o", "b_rdata1_o")}
    words = {0xAAAA_AAAA, 0x5555_5555}
    for step in range(64):
        data = 0xAAAA_AAAA if step % 2 else 0x5555_5555
        simple.set(we_i=1, wstrb_i=15, waddr_i=3, wdata_i=data, re_i=1, raddr_i=3)
        true.set(a_en_i=1, a_we_i=1, a_strb_i=15, a_addr_i=3, a_wdata_i=data)
        true.set(b_en_i=1, b_we_i=0, b_strb_i=0, b_addr_i=3, b_wdata_i=0)
        await simple.step()
        if step < 2:
            continue
        for name, values in seen.items():
            values.add((true if name[1] == "_" else simple).get(name))
    assert all(len(values - words) > 50 for values in seen.values()), {name: len(seen[name]) for name in seen}
    simple.set(we_i=0, re_i=1)
    true.set(a_we_i=0)
    for _ in range(2):
        await simple.step()
    assert simple.get("rdata1_o") == simple.get("rdata2_o") == true.get("b_rdata1_o") == 0xAAAA_AAAA


@cocotb.test()
async def ram_with_two_true_ports(dut: HierarchyObject) -> None:
    block = Block(dut, "tdp")
    await block.begin()
    memory: list[int | None] = [None] * 32
    outputs = {(port, latency): Output(latency) for port in "ab" for latency in (1, 2)}
    for _ in range(CYCLES):
        ports = {}
        for port in "ab":
            address = random.randrange(32)
            strobe = 15 if memory[address] is None else random.getrandbits(4)
            ports[port] = (random.random() < 0.8, random.random() < 0.4, address, random.getrandbits(32), strobe)
        (a_on, a_write, a_address, *_), (b_on, b_write, b_address, *_) = ports["a"], ports["b"]
        meet = a_on and b_on and a_address == b_address
        if meet and a_write and b_write:
            continue
        for port, (on, write, address, data, strobe) in ports.items():
            values = {"en": on, "we": write, "strb": strobe, "addr": address, "wdata": data}
            block.set(**{f"{port}_{name}_i": value for name, value in values.items()})
        await block.settle()
        before = list(memory)
        for port, (on, write, address, data, strobe) in ports.items():
            undefined = write or (meet and (a_write or b_write))
            for latency in (1, 2):
                output = outputs[port, latency]
                output.check(block.get(f"{port}_rdata{latency}_o"))
                output.edge(on, None if undefined else before[address])
            if on and write:
                memory[address] = strobed(before[address] or 0, data, strobe, 4)
        await block.step()
    assert None not in memory


@cocotb.test()
async def ram_of_mixed_width(dut: HierarchyObject) -> None:
    block = Block(dut, "mixed")
    await block.begin()
    memory: list[int | None] = [None] * 16
    outputs = {(port, latency): Output(latency) for port in "nw" for latency in (1, 2)}
    for cycle in range(CYCLES):
        word, wide = random.randrange(64), random.randrange(16)
        row, lane = divmod(word, 4)
        n_on, w_on = random.random() < 0.8, random.random() < 0.8
        n_write, w_write = random.random() < 0.4, random.random() < 0.3
        n_data, w_data = random.getrandbits(32), random.getrandbits(128)
        n_strobe, w_strobe = random.getrandbits(4), random.getrandbits(16)
        if cycle < 16:
            # All words are written once, so that they are defined.
            n_on, w_on, w_write, wide, w_strobe = False, True, True, cycle, 2**16 - 1
        meet = n_on and w_on and row == wide
        if meet and n_write and w_write:
            continue
        block.set(n_en_i=n_on, n_we_i=n_write, n_strb_i=n_strobe, n_addr_i=word, n_wdata_i=n_data)
        block.set(w_en_i=w_on, w_we_i=w_write, w_strb_i=w_strobe, w_addr_i=wide, w_wdata_i=w_data)
        await block.settle()
        before = list(memory)
        n_old, w_old = before[row], before[wide]
        clash = meet and (n_write or w_write)
        n_value = None if n_write or clash or n_old is None else n_old >> 32 * lane & MASK
        w_value = None if w_write or clash else w_old
        for latency in (1, 2):
            outputs["n", latency].check(block.get(f"n_rdata{latency}_o"))
            outputs["w", latency].check(block.get(f"w_rdata{latency}_o"))
            outputs["n", latency].edge(n_on, n_value)
            outputs["w", latency].edge(w_on, w_value)
        if n_on and n_write and n_old is not None:
            memory[row] = strobed(n_old, n_data << 32 * lane, n_strobe << 4 * lane, 16)
        if w_on and w_write:
            memory[wide] = strobed(w_old or 0, w_data, w_strobe, 16)
        await block.step()
    assert None not in memory
