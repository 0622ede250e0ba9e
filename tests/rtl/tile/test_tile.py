# SPDX-License-Identifier: Apache-2.0
"""The whole tile: address map, traps, control unit, accelerator; the tile's network is in test_network."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import current_size

from gossamer import config as configs
from gossamer import device
from gossamer.config import Config, constants
from gossamer.engines import _rtl_build
from gossamer.engines.rtl import Run, Tile
from gossamer.hdl import sources
from gossamer.paths import ROOT

HERE = Path(__file__).parent
DIRECT, PARTITIONS, SRAM, SCRATCHPAD = 0x4000_0000, 0x8000_0000, 0x1000_0000, 0x0010_0000


@pytest.fixture(scope="module", params=current_size().pick(("tiny",), ("tiny", "quad"), ("tiny", "quad")))
def config(request: pytest.FixtureRequest) -> Config:
    """The smallest tile, and one of four cores with two instruction memories."""
    return configs.load(request.param)


@pytest.fixture
def tile(config: Config) -> Iterator[Tile]:
    with Tile(config) as one:
        yield one


def command(name: str, *arguments: bytes) -> bytes:
    return bytes([constants.enumeration("debug_command")[name]]) + b"".join(arguments)


def run(tile: Tile, name: str, threads: int, **options: object) -> tuple[Run, dict[int, list[str]]]:
    defines = [
        f"TinselTestDirectBytes={min(tile.config.memory.dram.bytes, 1 << 30)}u",
        f"TinselTestHalfBytes={min(tile.config.memory.dram.bytes // 2, 1 << 31)}u",
        f"TinselTestSramBytes={tile.config.memory.sram.count * tile.config.memory.sram.bytes}u",
    ]
    tile.load_image(device.build(HERE / name, tile.config, defines=defines))
    lines: dict[int, list[str]] = {}
    done = tile.run(
        threads, max_cycles=3_000_000, on_line=lambda t, text, _: lines.setdefault(t, []).append(text), **options
    )
    return done, lines


def store(tile: Tile, words: dict[int, int]) -> None:
    """Thread 0 stores words, flushes them, and reads all of them back."""
    image = device.build(HERE / "windows.c", tile.config)
    tile.load_image(image)
    table = [len(words), 0, *(number for pair in words.items() for number in pair)]
    tile.write(image.symbols["table"], struct.pack(f"<{len(table)}I", *table))
    lines: list[str] = []
    done = tile.run(1, max_cycles=3_000_000, on_line=lambda _, text, __: lines.append(text))
    assert (done.reason, done.codes, lines) == ("done", {0: 0}, []) and not done.traps


def test_partitions_are_interleaved_by_line_in_the_upper_half(tile: Tile, seed: int) -> None:
    """Words stored through the partitions' window are read through the direct one at the mapped addresses."""
    dram, line = tile.config.memory.dram.bytes, tile.config.cache.line_bytes
    sharers = tile.config.cache.caches_per_dram * tile.config.threads_per_cache
    size = dram // 2 // sharers
    source = random.Random(seed)
    words, physical = {}, {}
    for number in range(64):
        part = number % sharers
        # The ends of thread 0's partition hold its stack and guard.
        inside = source.choice([line - 4, line, size // 2, size // 2 + 4, source.randrange(16, size // 8) * 4])
        at = PARTITIONS + part * size + inside
        words[at] = source.getrandbits(32)
        physical[at] = dram // 2 + (inside // line * sharers + part) * line + inside % line
    assert len(set(physical.values())) == len(physical)
    store(tile, words)
    for at, word in words.items():
        assert tile.read(DIRECT + physical[at], 1)[0] == word, f"{at:#x} is at {physical[at]:#x}"


def test_every_memory_window_stores_data(tile: Tile, seed: int) -> None:
    source = random.Random(seed)
    sram = tile.config.memory.sram.count * tile.config.memory.sram.bytes
    dram = min(tile.config.memory.dram.bytes, 1 << 30)
    pad = SCRATCHPAD + tile.config.scratchpad_bytes - 4
    places = [SCRATCHPAD, pad, SRAM, SRAM + sram - 4, DIRECT + 0x10_0000, DIRECT + dram // 2 - 4]
    words = {at: source.getrandbits(32) for at in places}
    store(tile, words)
    for at, word in words.items():
        if at not in (SCRATCHPAD, pad):
            assert tile.read(at, 1)[0] == word, hex(at)


def test_each_trap_stops_only_its_thread(tile: Tile) -> None:
    done, lines = run(tile, "traps.c", 16)
    causes = constants.enumeration("trap").values
    sram_end = SRAM + tile.config.memory.sram.count * tile.config.memory.sram.bytes
    expected = {
        0: ("illegal_instruction", 0xFFFF_FFFF),
        1: ("breakpoint", None),
        2: ("environment_call", None),
        3: ("load_misaligned", 0x4000_0002),
        4: ("store_misaligned", 0x4000_0001),
        5: ("load_fault", 0x8),
        6: ("store_fault", 0x3FFF_FFFC),
        7: ("fetch_fault", None),
        8: ("fetch_misaligned", None),
        9: ("stack_overflow", 0x4001_1FFC),
        10: ("bad_slot", SCRATCHPAD + 10 * tile.config.mailbox.slots_per_thread * tile.config.mailbox.slot_bytes + 4),
        11: ("bad_length", 4),
        12: ("bad_destination", None),
        13: ("nothing_to_receive", None),
        14: ("illegal_instruction", None),
        15: ("load_fault", sram_end),
    }
    found = {trap.thread: trap for trap in done.traps}
    assert len(done.traps) == 16 and sorted(found) == list(range(16))
    for thread, (cause, value) in expected.items():
        assert found[thread].cause == causes[cause], f"thread {thread}: {found[thread]}"
        if value is not None:
            assert found[thread].value == value, f"thread {thread}: {found[thread].value:#x}"
    assert lines == {15: ["all well"]}
    assert done.codes == {}


def test_register_access_matches_the_description(tile: Tile) -> None:
    """A read of a write-only register traps its thread, in any unit; a write of a read-only one is an illegal
    instruction, as RISC-V defines it."""
    registers, traps = constants.enumeration("csr"), constants.enumeration("trap")
    tried = set()
    for name, number in registers.values.items():
        if registers.units[name] == "core" or registers.access[name] == "rw":
            continue
        # csrrs x5, number, x0, or csrrw x0, number, x5; then thread_stop
        read, write = number << 20 | 0b010 << 12 | 5 << 7 | 0x73, number << 20 | 5 << 15 | 0b001 << 12 | 0x73
        wrong, cause, value = read, traps["bad_register"], number
        if registers.access[name] == "ro":
            wrong, cause, value = write, traps["illegal_instruction"], write
        tile.load([wrong, registers["thread_stop"] << 20 | 0b001 << 12 | 0x73])
        done = tile.run(1, max_cycles=100_000)
        assert [(trap.thread, trap.cause, trap.pc, trap.value) for trap in done.traps] == [(0, cause, 0, value)], name
        tried.add(registers.units[name])
    assert tried == {"mailbox", "cache", "control"}


def test_control_unit_serves_all_requests(tile: Tile) -> None:
    emitted: list[tuple[int, int]] = []
    done, lines = run(
        tile, "services.c", 1, inputs={0: b"hello"}, on_emit=lambda thread, word: emitted.append((thread, word))
    )
    assert done.reason == "done" and not done.traps
    patched, started, counts, quick, got = lines[0]
    assert patched == "41 42"
    assert started == "thread 1 ran"
    hits, misses, stopped = map(int, counts.split())
    # The lines of the heap are fetched; those of the stack are already cached.
    assert misses == 16 * 4 // tile.config.cache.line_bytes and hits >= 16 * 3 - misses and stopped == 1
    assert quick == "1"
    assert got == "got hello"
    assert emitted == [(0, 0x1234_5678)]
    assert done.codes == {0: 0, 1: 5}


def test_instret_counts_every_instruction(tile: Tile) -> None:
    """In every thread, while all of them run; a suspended instruction and a divide in two passes count once."""
    done, lines = run(tile, "instret.c", tile.threads)
    assert done.reason == "done" and not done.traps
    assert lines == {me: [f"1 4 7 7 {3 + 200 * (me + 1)} 0"] for me in range(tile.threads)}
    assert done.codes == dict.fromkeys(range(tile.threads), 0)


def test_guard_applies_only_to_its_thread(tile: Tile) -> None:
    """While all threads set and clear their guards."""
    done, lines = run(tile, "guards.c", tile.threads)
    assert done.reason == "done" and not done.traps and lines == {}
    assert done.codes == dict.fromkeys(range(tile.threads), 0)


def test_threads_read_the_number_of_participants(tile: Tile) -> None:
    registers = constants.enumeration("csr")
    # csrrs x10, threads, x0; csrrw x0, thread_stop, x10
    program = [registers["threads"] << 20 | 0b010 << 12 | 10 << 7 | 0x73]
    program += [registers["thread_stop"] << 20 | 10 << 15 | 0b001 << 12 | 0x73]
    for count in sorted({1, 2, 3, 5, 10, tile.threads // 2 + 5, tile.threads - 1, tile.threads}):
        tile.load(program)
        done = tile.run(count, max_cycles=100_000)
        assert done.codes == dict.fromkeys(range(count), count)


def folded_floats(me: int) -> int:
    """The output of floats.c, by NumPy. In double precision each product and sum is exact, so it is rounded once."""
    state, folded = (me * 0x9E37_79B9 + 1) & 0xFFFF_FFFF, 0

    def step() -> np.float64:
        nonlocal state
        state = (state * 1664525 + 1013904223) & 0xFFFF_FFFF
        word = np.uint32(state & 0x8000_0000 | 0x3F80_0000 | state >> 8 & 0x7F_FFFF)
        return np.float64(word.view(np.float32))

    for _ in range(24):
        x, y, z = step(), step(), step()
        signed = state - (state >> 31 << 32)
        singles = [np.float32(x * y + z), np.float32(x + y), np.float32(y - z), np.float32(x * z)]
        singles += [np.float32(x) / np.float32(y), np.sqrt(np.float32(abs(z)))]
        whole = int(np.float32(x) * np.float32(1e6))
        compared = int(x < y) | int(y <= z) << 1 | int(x == z) << 2
        last = np.copysign(np.float32(x), np.float32(z))
        words = [int(single.view(np.uint32)) for single in singles]
        words += [whole & 0xFFFF_FFFF, int(np.float32(signed).view(np.uint32)), compared, int(last.view(np.uint32))]
        for word in words:
            folded = ((folded << 5 | folded >> 27) & 0xFFFF_FFFF) ^ word
    return folded


def test_every_core_computes_with_floats(tile: Tile) -> None:
    """All threads at once, so that the path to the shared unit is saturated."""
    done, lines = run(tile, "floats.c", tile.threads)
    assert done.reason == "done" and not done.traps
    assert lines == {me: [f"{folded_floats(me):x}"] for me in range(tile.threads)}


def test_accelerator_sums_for_every_thread(tile: Tile) -> None:
    done, lines = run(tile, "accelerator.c", tile.threads)
    assert done.reason == "done" and not done.traps and lines == {}
    assert done.codes == dict.fromkeys(range(tile.threads), 0)


def test_accelerator_shares_memory_with_every_thread(tile: Tile) -> None:
    """Its sums are correct while all threads miss in their caches and write back."""
    done, lines = run(tile, "sharing.c", tile.threads)
    assert done.reason == "done" and not done.traps and lines == {}
    assert done.codes == dict.fromkeys(range(tile.threads), 0)


def test_halted_thread_is_inspected_and_resumes(tile: Tile) -> None:
    """Halts a thread, reads a register and its pc by injected instructions, changes a register, resumes it."""
    # x5 counts up until x6 is not 0; then the host gets x6.
    stop = constants.enumeration("csr")["thread_stop"]
    value = constants.enumeration("csr")["debug_value"]
    program = [
        0x0000_0293,  # addi x5, x0, 0
        0x0000_0313,  # addi x6, x0, 0
        0x0012_8293,  # loop: addi x5, x5, 1
        0xFE03_0EE3,  # beq x6, x0, loop
        value << 20 | 6 << 15 | 1 << 12 | 0x73,  # csrw debug_value, x6
        stop << 20 | 6 << 15 | 1 << 12 | 0x73,  # csrw thread_stop, x6
    ]
    tile.load(program)
    thread = bytes([1])

    def inject(instruction: int) -> bytes:
        return command("inject", thread, struct.pack("<I", instruction))

    def show(register: int) -> bytes:
        return inject(value << 20 | register << 15 | 1 << 12 | 0x73)

    # The threads count while the identities are sent.
    tile.ask(command("start_first", bytes([2])) + command("ping") * 20, 20)
    assert tile.ask(command("halt", thread), 1) == [bytes([constants.enumeration("debug_report")["parked"], 1])]
    first, second = (struct.unpack("<xBI", reply)[1] for reply in tile.ask(show(5) + show(5), 2))
    assert first == second > 0, "a halted thread still counts"
    (pc,) = tile.ask(inject(0x0000_0397) + show(7), 1)  # auipc x7, 0
    assert struct.unpack("<xBI", pc)[1] in (8, 12)
    ended = tile.ask(inject(0x02A0_0313) + command("resume", thread), 1)  # addi x6, x0, 42
    assert ended == [struct.pack("<BBI", constants.enumeration("debug_report")["debug_value"], 1, 42)]
    # Thread 0 was not halted: it counts forever.
    again = tile.ask(command("halt", b"\0"), 1)
    assert again == [bytes([constants.enumeration("debug_report")["parked"], 0])]


def test_injected_instructions_execute_unchanged(tile: Tile, seed: int) -> None:
    """Into every thread: a pair of instructions loads a constant, which the thread reports unchanged."""
    numbers = random.Random(seed)
    value = constants.enumeration("csr")["debug_value"]
    tile.load([0x0000_0063])  # beq x0, x0, itself
    tile.ask(command("start_first", bytes([tile.threads])) + command("ping"), 1)
    parked, shown = (constants.enumeration("debug_report")[name] for name in ("parked", "debug_value"))
    for thread in range(tile.threads):
        assert tile.ask(command("halt", bytes([thread])), 1) == [bytes([parked, thread])]
        for _ in range(3):
            high, low, register = numbers.getrandbits(20), numbers.getrandbits(11), numbers.randrange(1, 32)
            instructions = [
                high << 12 | register << 7 | 0x37,  # lui
                low << 20 | register << 15 | register << 7 | 0x13,  # addi
                value << 20 | register << 15 | 1 << 12 | 0x73,  # csrw debug_value
            ]
            commands = [command("inject", bytes([thread]), struct.pack("<I", one)) for one in instructions]
            assert tile.ask(b"".join(commands), 1) == [struct.pack("<BBI", shown, thread, high << 12 | low)]


@pytest.mark.tier("all", seconds=46, adds="a second model of the tile, without clock gates")
@pytest.mark.parametrize("program", current_size().pick(("ring",), *2 * (("heat", "sort", "ring", "memory"),)))
def test_clock_gates_do_not_change_behaviour(config: Config, program: str) -> None:
    """End, output, counters and exit codes are identical to the cycle with and without clock gates."""
    awake = _rtl_build.build(
        config, sources.blocks("sim/tile/sim_tile.f", config=config), flags=["-DGS_NO_CLOCK_GATES"], label="all awake"
    )
    image = device.build(ROOT / "programs" / f"{program}.c", config)
    seen = []
    for simulator in (None, awake):
        said: list[tuple[int, str, bool]] = []
        with Tile(config, simulator=simulator) as one:
            one.load_image(image)
            done = one.run(one.threads, on_line=lambda t, text, more, said=said: said.append((t, text, more)))
        seen.append((done.reason, done.cycles, done.instructions, done.counters, done.codes, said))
    assert seen[0][0] == "done" and seen[0] == seen[1]
