# SPDX-License-Identifier: Apache-2.0
"""Programs that start running threads, and that write outside of instruction memory: only these threads trap."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import current_size

from gossamer import config as configs
from gossamer import device
from gossamer.config import Config, constants
from gossamer.engines.rtl import Tile
from gossamer.errors import InputError

HERE = Path(__file__).parent
FAR = 200


@pytest.fixture(scope="module", params=current_size().pick(("tiny",), ("tiny", "quad"), ("tiny", "quad")))
def config(request: pytest.FixtureRequest) -> Config:
    """The smallest tile, and one of four cores with two instruction memories."""
    return configs.load(request.param)


def test_start_of_a_running_thread_traps(config: Config) -> None:
    box, tids = config.mailbox, config.core.threads_per_core
    defines = [
        f"TinselTestSlotWords={box.slot_bytes // 4}",
        f"TinselTestSlots={box.slots_per_thread}",
        f"TinselTestInstrWords={config.instr_words}",
    ]
    lines: list[tuple[int, str]] = []
    with Tile(config) as tile:
        image = device.build(HERE / "threads.c", config, defines=defines)
        tile.load_image(image)
        done = tile.run(
            tile.threads, max_cycles=3_000_000, on_line=lambda thread, text, _: lines.append((thread, text))
        )
    causes = constants.enumeration("trap").values
    expected = {
        1: ("bad_thread", 0),
        2: ("bad_thread", 2),
        3: ("bad_thread", tids),
        4: ("bad_thread", 0xFFFF_FFFF),
        5: ("bad_instr_address", 4 * config.instr_words),
        6: ("bad_instr_address", 2),
        7: ("bad_register", 0x8FF),
    }
    assert done.reason == "done"
    cores = range(0, tile.threads, tids)
    assert sorted(lines) == [(first, "2000") for first in cores]
    assert done.codes == dict.fromkeys(cores, 1)
    found = {trap.thread: trap for trap in done.traps}
    assert sorted(found) == [thread for thread in range(tile.threads) if thread % tids]
    for thread, trap in found.items():
        cause, value = expected[min(thread % tids, 7)]
        assert (trap.cause, trap.value) == (causes[cause], value), f"thread {thread}: {trap}"
        assert 0 < trap.pc < 4 * len(image.instructions) and trap.pc % 4 == 0


def test_debug_bus_rejects_invalid_commands(config: Config) -> None:
    """Starts and flushes of running threads, instructions for threads that are not parked, numbers beyond the tile."""
    rejected = constants.enumeration("debug_report")["rejected"]
    codes = constants.enumeration("debug_command")

    def command(name: str, thread: int) -> bytes:
        return bytes([codes[name], thread]) + bytes(4 if name == "inject" else 1 if name == "uart" else 0)

    def rejections(*commands: tuple[str, int]) -> list[bytes]:
        return [bytes([rejected, codes[name], thread]) for name, thread in commands]

    with Tile(config) as tile:
        tile.load([0x0000_006F])  # jal x0, 0
        never = [("inject", 1)]
        assert tile.ask(b"".join(command(*one) for one in never), 1) == rejections(*never)
        wrong = [("start", 0), ("inject", 0), ("flush", 0), ("start", FAR), ("halt", FAR), ("resume", FAR)]
        wrong += [("flush", FAR)]
        wrong += [("uart", FAR), ("inject", FAR), ("start_first", FAR)]
        stream = command("start_first", 1) + b"".join(command(*one) for one in wrong)
        assert tile.ask(stream, len(wrong)) == rejections(*wrong)
        # A parked thread can be flushed.
        reports = constants.enumeration("debug_report")
        assert tile.ask(command("halt", 0), 1) == [bytes([reports["parked"], 0])]
        assert tile.ask(command("flush", 0), 1) == [bytes([reports["flushed"], 0])]
        tile.ask(command("resume", 0) + command("ping", 0)[:1], 1)
        # If several threads are started together, running ones continue.
        replies = tile.ask(command("start_first", 3) + command("start", 2), 2)
        assert replies == rejections(("start_first", 0), ("start", 2))


def test_memory_is_not_read_while_a_thread_runs(config: Config) -> None:
    """Its cached data would be missing: the host reports it. After the thread's end all data are read."""
    # lui x5, 0x40000; addi x6, x0, 7; sw x6, 0(x5); csrrs x7, uart_get, x0; beq x7, x0, -4; csrrw x0, thread_stop, x0
    program = [0x4000_02B7, 0x0070_0313, 0x0062_A023, 0xCD00_23F3, 0xFE03_8EE3, 0x8140_1073]
    with Tile(config) as tile:
        tile.load(program)
        tile.write(0x4000_0000, bytes(64))
        assert tile.run(1, max_cycles=3_000).reason == "max-cycles"
        with pytest.raises(InputError, match=r"thread 0 still runs: .* after all threads have ended"):
            tile.read(0x4000_0000, 1)
        # The thread ends when it gets a byte.
        codes = constants.enumeration("debug_command")
        tile.ask(bytes([codes["uart"], 0, 1]) + 20 * bytes([codes["ping"]]), 20)
        assert tile.read(0x4000_0000, 1)[0] == 7


def test_flush_is_granted_at_a_busy_cache(config: Config) -> None:
    """Threads load and store continuously; the cache partition of a parked thread is still flushed."""
    codes, reports = constants.enumeration("debug_command"), constants.enumeration("debug_report")
    counters = constants.enumeration("debug_counter")
    # lui x5, 0x40000; lw x6, 0(x5); addi x6, x6, 1; sw x6, 0(x5); jal x0, -12
    endless = [0x4000_02B7, 0x0002_A303, 0x0013_0313, 0x0062_A023, 0xFF5F_F06F]
    with Tile(config) as tile:
        tile.load(endless)
        idle = tile.threads - 1
        before = tile.counters()["hits"]
        stream = bytes([codes["start_first"], idle]) + 8 * bytes([codes["flush"], idle])
        assert tile.ask(stream, 8) == [bytes([reports["flushed"], idle])] * 8
        # The others continue: each gets its own responses.
        read = bytes([codes["read_counter"], counters["hits"]])
        first, second = (int.from_bytes(tile.ask(8 * read, 8)[-1][2:], "little") for _ in range(2))
        assert before < first < second
        # A flushed thread can be started again.
        assert tile.ask(bytes([codes["start"], idle, codes["start"], idle]), 1) == [
            bytes([reports["rejected"], codes["start"], idle])
        ]
