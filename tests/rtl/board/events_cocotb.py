# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of counters whose events may coincide: each counts all events of a cycle.

Inputs change at the falling edge; outputs are read before the next change.
"""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge

CYCLES = int(os.environ["EVENTS_CYCLES"])
# Counters of a link, the last in the low bits; the events in the order of `lnk_events_i`.
LINK = ["tx_frames", "tx_bytes", "tx_packets", "resends", "rx_frames", "rx_bytes", "rx_packets", "damaged", "dropped"]
LINK += ["stalls", "lost", "restarts"]
LINK_EVENTS = ["tx_frames", "rx_frames", "resends", "tx_packets", "rx_packets", "damaged", "dropped", "dropped"]
LINK_EVENTS += ["stalls", "restarts"]
VCS, PORTS, ROUTERS, JOBS = 4, 4, 2, 2


async def begin(dut: HierarchyObject) -> None:
    """Starts the clock and resets, with all inputs 0."""
    for handle in dut:
        if handle._name.endswith("_i") and handle._name != "clk_i":
            handle.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


def some(bits: int) -> int:
    """Random bits: few, any, or all of them at once."""
    kind = random.randrange(4)
    if kind == 0:
        return 2**bits - 1
    return random.getrandbits(bits) if kind == 1 else random.getrandbits(bits) & random.getrandbits(bits)


@cocotb.test
async def counters_of_a_link_count_all_events_of_a_cycle(dut: HierarchyObject) -> None:
    await begin(dut)
    counts = dict.fromkeys(LINK, 0)
    for _ in range(CYCLES):
        events, clear, amount = some(len(LINK_EVENTS)), some(1), random.getrandbits(16)
        dut.lnk_events_i.value, dut.lnk_clear_i.value, dut.lnk_amount_i.value = events, clear, amount
        for number, name in enumerate(LINK_EVENTS):
            counts[name] += events >> number & 1
        counts["tx_bytes"] += amount * (events & 1)
        counts["rx_bytes"] += amount * (events >> 1 & 1)
        counts["lost"] += amount * clear
        await FallingEdge(dut.clk_i)
        found = int(dut.lnk_counters_o.value)
        for place, name in enumerate(reversed(LINK)):
            value = found >> 32 * place & 0xFFFF_FFFF
            assert value == counts[name] & 0xFFFF_FFFF, f"{name} is {value}, not {counts[name]}"


@cocotb.test
async def router_counts_messages_of_all_channels_in_a_cycle(dut: HierarchyObject) -> None:
    await begin(dut)
    inside = [0] * VCS
    sent = received = total = 0
    for _ in range(CYCLES):
        own = some(VCS)
        # A channel holds few messages, and consumes only those of the job that it holds.
        enters = sum(1 << v for v in range(VCS) if inside[v] < 3 and random.random() < 0.6)
        receives = sum(1 << v for v in range(VCS) if inside[v] and random.random() < 0.6)
        leaves = some(VCS)
        dut.mcs_own_i.value, dut.mcs_entered_i.value = own, enters
        dut.mcs_received_i.value, dut.mcs_sent_i.value = receives, leaves
        for v in range(VCS):
            if own >> v & 1:
                inside[v] += (enters >> v & 1) - (receives >> v & 1)
        received += (receives & own).bit_count()
        sent += (leaves & own).bit_count()
        total += (receives & own).bit_count() > 1
        await FallingEdge(dut.clk_i)
        assert (int(dut.mcs_sent_o.value), int(dut.mcs_received_o.value)) == (sent, received)
        assert bool(dut.mcs_idle_o.value) == (sum(inside) == 0)
    assert total > CYCLES // 20


@cocotb.test
async def messages_dropped_by_several_tiles_in_a_cycle_are_all_counted(dut: HierarchyObject) -> None:
    await begin(dut)
    width = len(dut.drp_valid_i)
    count, due = 0, 0
    for _ in range(CYCLES):
        drops = some(width) if random.random() < 0.3 else 0
        reported = random.random() < 0.5
        dut.drp_valid_i.value, dut.drp_reported_i.value = drops, reported
        count += drops.bit_count()
        await FallingEdge(dut.clk_i)
        assert int(dut.drp_count_o.value) == count
        due += int(dut.drp_valid_o.value)
    # A report of each tile, and one for each power of two.
    assert width // 2 <= due


@cocotb.test
async def control_unit_counts_all_events_of_a_cycle(dut: HierarchyObject) -> None:
    await begin(dut)
    counts = {"unroutable": 0, "records": 0, "entered": 0}
    for _ in range(CYCLES):
        unroutable, entered = some(PORTS), some(PORTS)
        bad = [random.choice((0, 1, random.randrange(16), 15)) for _ in range(ROUTERS)]
        dut.ctl_unroutable_i.value, dut.ctl_entered_i.value = unroutable, entered
        dut.ctl_bad_i.value = sum(value << 4 * r for r, value in enumerate(bad))
        counts["unroutable"] += unroutable.bit_count()
        counts["entered"] += entered.bit_count()
        counts["records"] += sum(bad)
        await FallingEdge(dut.clk_i)
        for name, wanted in counts.items():
            assert int(getattr(dut, f"ctl_{name}_o").value) == wanted, name


@cocotb.test
async def packets_that_are_rejected_in_one_cycle_are_all_counted(dut: HierarchyObject) -> None:
    """Illegal packets of control and of a broadcast, and packets without a receiver, in any order, while idle detection
    drops packets of both jobs in almost every cycle."""
    await begin(dut)
    wanted = 0
    for distance in range(-16, 17):
        for third in (-1, 1):
            for cycle in range(50):
                packets = (cycle == 20 + third, cycle == 20 + distance, cycle == 20)
                # One flit enters in a cycle.
                taken = next((n for n in (2, 1, 0) if packets[n]), None)
                dropped = random.choice((3, 3, 3, 0))
                dut.ctl_packet_i.value = 0 if taken is None else 1 << taken
                dut.ctl_dropped_i.value = dropped
                wanted += (taken is not None) + dropped.bit_count()
                await FallingEdge(dut.clk_i)
            dut.ctl_packet_i.value = dut.ctl_dropped_i.value = 0
            for _ in range(10):
                await FallingEdge(dut.clk_i)
            assert int(dut.ctl_rejected_o.value) == wanted, (distance, third)
