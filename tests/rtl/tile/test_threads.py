# SPDX-License-Identifier: Apache-2.0
"""Programs that start threads which run, and that write outside of instruction memory: they alone trap."""

from __future__ import annotations

from pathlib import Path

from gossamer import config as configs
from gossamer import device
from gossamer.config import constants
from gossamer.engines.rtl import Tile

HERE = Path(__file__).parent
FAR = 200


def test_a_start_of_a_running_thread_traps() -> None:
    config = configs.load("tiny")
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
        done = tile.run(tile.threads, max_cycles=3_000_000, on_line=lambda thread, text, _: lines.append((thread, text)))
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


def test_the_debug_bus_is_refused() -> None:
    """Starts of threads that run, instructions for threads that are not parked, and numbers that there are not."""
    refused = constants.enumeration("debug_report")["refused"]
    codes = constants.enumeration("debug_command")

    def command(name: str, thread: int) -> bytes:
        return bytes([codes[name], thread]) + bytes(4 if name == "inject" else 1 if name == "uart" else 0)

    def refusals(*commands: tuple[str, int]) -> list[bytes]:
        return [bytes([refused, codes[name], thread]) for name, thread in commands]

    with Tile(configs.load("tiny")) as tile:
        tile.load([0x0000_006F])  # jal x0, 0
        never = [("inject", 1)]
        assert tile.ask(b"".join(command(*one) for one in never), 1) == refusals(*never)
        wrong = [("start", 0), ("inject", 0), ("start", FAR), ("halt", FAR), ("resume", FAR), ("flush", FAR), ("uart", FAR)]
        wrong += [("inject", FAR), ("start_first", FAR)]
        stream = command("start_first", 1) + b"".join(command(*one) for one in wrong)
        assert tile.ask(stream, len(wrong)) == refusals(*wrong)
        # Of several that are started together those that run go on.
        assert tile.ask(command("start_first", 3) + command("start", 2), 2) == refusals(("start_first", 0), ("start", 2))
        # A second memory that there is not, and an address outside.
        place = bytes([codes["set_address"]]) + (4 * tile.config.instr_words).to_bytes(4, "little")
        word = bytes([codes["write_instr"]]) + bytes(4)
        assert tile.ask(place + word, 1) == [bytes([refused, codes["write_instr"], 0])]
