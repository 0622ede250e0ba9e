# SPDX-License-Identifier: Apache-2.0
"""cocotb test of the cache of records: fills that meet lookups of their line, as often as possible.

The memory answers, whenever it can, in the cycle in which a beat of the same line is looked up: the same beat, or one
with another tag. Keys are of few lines, so that such clashes follow each other and hits lie between them. A model of
the cache predicts each hit and each miss. Flushes change the contents of the memory while reads are in flight.
"""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, FallingEdge, Timer

CYCLES = int(os.environ["RECORDS_CYCLES"])
CACHE = int(os.environ["RECORDS_CACHE"])
LINE = (1 << CACHE) - 1


@cocotb.test
async def lookups_that_meet_fills_return_the_records_of_their_key(dut: HierarchyObject) -> None:
    for handle in dut:
        if handle._name.endswith("_i") and handle._name != "clk_i":
            handle.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    await ClockCycles(dut.clk_i, 4)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, (1 << CACHE) + 4)
    address, bits = len(dut.key_beat_i), len(dut.beat_o) // 2
    contents: dict[int, int] = {}
    # The contents before each flush, while reads that began before it may return them.
    before: list[dict[int, int]] = []

    def at(beat: int) -> int:
        return contents.setdefault(beat, random.getrandbits(bits))

    # The lines of the keys: also the first and the last, where beats of a key wrap to the next tag.
    lines = [0, 1, LINE - 1, LINE] if CACHE > 1 else [0, 1]
    tag_bits = address - CACHE
    tags = [0, 1, (1 << tag_bits) - 2, random.randrange(1, (1 << tag_bits) - 2)]
    # Two tags that differ in one bit.
    tags.append(tags[-1] ^ 1 << random.randrange(tag_bits))
    # Beats, and the number of flushes before the key was accepted.
    expected: list[deque[tuple[int, int]]] = [deque(), deque()]
    # Reads in flight by tag: the beat, its contents, whether a flush has occurred since.
    waiting: dict[int, tuple[int, int, bool]] = {}
    # The model of the cache: tags of lines; what the lookup of the previous cycle must find; cycles of clearing.
    cache: dict[int, int] = {}
    predicted: bool | None = None
    clearing = flushes = 0
    clashes = same = other = repeated = hits = read = 0
    clashed = False
    # Cycles for which the memory accepts no read.
    closed = 0
    accepting = random.random()
    for cycle in range(CYCLES):
        await FallingEdge(dut.clk_i)
        if cycle % 64 == 0:
            accepting = random.choice((0.2, 0.7, 1.0))
        valid = random.randrange(4) if random.random() < 0.7 else 0
        beat = random.choice(tags) << CACHE | random.choice(lines)
        beats = random.choice((1, 1, 2, 3))
        dut.key_valid_i.value, dut.key_beat_i.value, dut.key_beats_i.value = valid, beat, beats
        ready = random.randrange(4) if random.random() < accepting else 0
        dut.beat_ready_i.value = ready
        accepts = not closed and random.random() < accepting
        closed = max(closed - 1, 0)
        dut.req_ready_i.value = accepts
        dut.rsp_valid_i.value = 0
        await Timer(1, "ns")
        # Clearing takes a cycle for each line. Often it meets a lookup that would be a hit, and the read that takes the
        # place of the hit waits at the memory until after the clearing: it must not become a hit again.
        meets = int(dut.reads_beat_o.value)
        would_hit = bool(dut.reads_o.value) and cache.get(meets & LINE) == meets >> CACHE
        flush = CACHE == 1 and random.random() < (0.2 if would_hit else 0.015)
        dut.flush_i.value = flush
        if flush and would_hit and random.random() < 0.7:
            closed = (1 << CACHE) + 2
        # The answer of this cycle: one that fills the line that is looked up, or any if there are many.
        line = int(dut.reads_beat_o.value) & LINE
        looks = bool(dut.reads_o.value)
        fits = [tag for tag, (wanted, _, _) in waiting.items() if looks and wanted & LINE == line]
        full = len(waiting) > 6 or random.random() < 0.05
        choice = random.choice(fits) if fits else random.choice(list(waiting)) if waiting and full else None
        if choice is not None:
            dut.rsp_valid_i.value, dut.rsp_tag_i.value, dut.rsp_i.value = 1, choice, waiting[choice][1]
        await Timer(1, "ns")
        hit = bool(dut.hit_o.value)
        hits += hit
        assert hit == (predicted is True and not clearing), f"cycle {cycle}: hit: {hit}, the model: {predicted}"
        clash = bool(dut.clash_o.value)
        if clash:
            assert choice is not None
            clashes += 1
            repeated += clashed
            if waiting[choice][0] == int(dut.reads_beat_o.value):
                same += 1
            else:
                other += 1
        clashed = clash
        for stream in range(2):
            if valid >> stream & 1 and int(dut.key_ready_o.value) >> stream & 1:
                expected[stream].extend((wanted, flushes) for wanted in range(beat, beat + beats))
            if ready >> stream & 1 and int(dut.beat_valid_o.value) >> stream & 1:
                wanted, since = expected[stream].popleft()
                found = int(dut.beat_o.value) >> bits * stream & (1 << bits) - 1
                # A beat that was read before a flush, and returned after it, may be an old one.
                legal = [at(wanted), *(old[wanted] for old in before[since:] if wanted in old)]
                assert found in legal, f"cycle {cycle}: stream {stream}: beat {wanted:#x} is wrong"
                read += 1
        # The tag that a lookup in this cycle reads does not include a fill in this cycle: that is a clash, and a miss.
        fill = None
        if choice is not None and bool(dut.rsp_ready_o.value):
            wanted, _, old = waiting.pop(choice)
            if not clearing and not old:
                fill = wanted
        if looks:
            looked = int(dut.reads_beat_o.value)
            met = fill is not None and fill & LINE == looked & LINE
            predicted = not clearing and not met and cache.get(looked & LINE) == looked >> CACHE
        elif accepts or predicted is not False:
            # A miss that the memory does not accept waits, and stays a miss.
            predicted = None
        if fill is not None:
            cache[fill & LINE] = fill >> CACHE
        if bool(dut.req_valid_o.value) and accepts:
            wanted = int(dut.req_beat_o.value)
            waiting[int(dut.req_tag_o.value)] = wanted, at(wanted), False
        clearing = max(clearing - 1, 0)
        if flush:
            flushes += 1
            before.append(contents)
            contents = {}
            cache.clear()
            waiting = {tag: (wanted, value, True) for tag, (wanted, value, _) in waiting.items()}
            clearing = 1 << CACHE
    assert min(same, other, repeated) >= CYCLES // 400, (clashes, same, other, repeated)
    assert hits > CYCLES // 500 and read > CYCLES // 8, (hits, read)
    assert flushes > CYCLES // 100 or CACHE > 1, flushes
