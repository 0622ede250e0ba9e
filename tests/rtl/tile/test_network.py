# SPDX-License-Identifier: Apache-2.0
"""The tile's network port: the loader, rejected packets, messages to the host, traffic while threads run."""

from __future__ import annotations

import itertools
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import Size, current_size
from models import fabric_packets as network

from gossamer import config as configs
from gossamer import device
from gossamer.config import Config, constants
from gossamer.engines.rtl import ACCELERATOR, Tile
from gossamer.errors import InputError

HERE = Path(__file__).parent
DRAM, SRAM = 0x4000_0000, 0x1000_0000
REJECTION = constants.enumeration("rejection")


@pytest.fixture(scope="module", params=current_size().pick(("tiny",), ("tiny", "quad"), ("tiny", "quad")))
def config(request: pytest.FixtureRequest) -> Config:
    return configs.load(request.param)


@pytest.fixture
def tile(config: Config) -> Iterator[Tile]:
    with Tile(config) as one:
        yield one


def command(name: str, *arguments: bytes) -> bytes:
    return bytes([constants.enumeration("debug_command")[name]]) + b"".join(arguments)


def dram(tile: Tile) -> int:
    return min(tile.config.memory.dram.bytes, 1 << 30)


def sram(tile: Tile) -> int:
    return tile.config.memory.sram.count // tile.config.memory.dram.count * tile.config.memory.sram.bytes


class Model:
    """Model of memory: bytes at addresses."""

    def __init__(self) -> None:
        self.lines: dict[int, bytes] = {}

    def write(self, address: int, data: bytes, line: int) -> None:
        for at in range(0, len(data), line):
            self.lines[address + at] = data[at : at + line]

    def read(self, address: int, length: int, line: int) -> bytes:
        return b"".join(self.lines.get(address + at, bytes(line)) for at in range(0, length, line))


def random_range(tile: Tile, source: random.Random) -> tuple[int, int]:
    """An address and a legal number of lines: the ends of the memories, and few others, so that accesses overlap."""
    line = tile.config.cache.line_bytes
    base, size = source.choice([(DRAM, dram(tile)), (SRAM, sram(tile))])
    count = source.randint(1, 40)
    inside = source.choice([0, size - count * line, source.randrange(64) * line])
    return base + inside, count * line


def test_reads_return_written_and_filled_data(tile: Tile, size: Size, seed: int) -> None:
    """Sequences of writes without replies, fills and reads, in packets of all lengths; order is kept.

    Packets of an odd number of flits are sent between them.
    """
    source, line, model = random.Random(seed), tile.config.cache.line_bytes, Model()
    for _ in range(size.pick(5, 15, 200)):
        flits, expected = [], []
        for tag in range(12):
            address, length = random_range(tile, source)
            what = source.choice(["write", "write", "write_instr", "fill", "read"])
            if what == "write_instr":
                code = source.randbytes(16 * source.randint(1, 16))
                flits.append(network.packet(network.header("write_instr", 0, len(code), group=0xF), code))
            elif what == "write":
                data = source.randbytes(min(length, network.PACKET))
                flits.append(network.packet(network.header("write", address, len(data)), data))
                model.write(address, data, line)
            elif what == "fill":
                flits.append(network.packet(network.header("fill", address, length)))
                model.write(address, bytes(length), line)
            else:
                flits.append(network.request("read", address, length, tag=tag))
                expected += [
                    (tag, address + at, model.read(address + at, min(network.PACKET, length - at), line))
                    for at in range(0, length, network.PACKET)
                ]
        replies = tile.exchange(np.concatenate(flits), len(expected))
        assert all(reply.status == 0 and reply.length == len(reply.data) for reply in replies)
        assert [(reply.tag, reply.address, reply.data) for reply in replies] == expected


def test_unaligned_host_writes_change_only_their_bytes(tile: Tile, seed: int) -> None:
    source = random.Random(seed)
    image = bytearray(4096)
    for _ in range(20):
        at = source.randrange(3000)
        data = source.randbytes(source.choice([0, 1, 3, 31, 32, 33, 1000]))
        tile.write(DRAM + 0x1_0000 + at, data)
        image[at : at + len(data)] = data
    assert tile.read(DRAM + 0x1_0000, 1024).tobytes() == bytes(image)


def test_loading_preserves_neighbouring_memory(tile: Tile, seed: int) -> None:
    """Unaligned data and zeroes, over memory that is not zero; the reported progress sums to the bytes written."""
    source, line = random.Random(seed), tile.config.cache.line_bytes
    base, size = DRAM + (1 << 20), 3 << 20
    image = bytearray(source.randbytes(1 << 16) * (size >> 16))
    tile.write(base, bytes(image))
    # Within a line, across lines, whole lines, partial lines at both ends, more than one transfer.
    sizes = [1, line - 1, line, line + 1, 3 * line, 10 * line + 5, source.randrange(1, 40 * line), (1 << 20) + 3]
    segments: list[tuple[int, bytes]] = []
    zeroes: list[tuple[int, int]] = []
    at = 0
    for length in [*sizes, *sizes]:
        at += source.choice([0, 1, line // 2, line, source.randrange(4 * line)])
        if source.random() < 0.5:
            segments.append((base + at, source.randbytes(length)))
        else:
            zeroes.append((base + at, length))
        image[at : at + length] = segments[-1][1] if segments and segments[-1][0] == base + at else bytes(length)
        at += length
    code = [0x0000_006F] * 5
    progress: list[tuple[int, int]] = []
    tile.load(code, segments, zeroes=zeroes, on_progress=lambda done, total: progress.append((done, total)))
    assert tile.read(base, size // 4).tobytes() == bytes(image)
    total = 4 * len(code) + sum(len(data) for _, data in segments) + sum(length for _, length in zeroes)
    assert {of for _, of in progress} == {total} and progress[-1][0] == total
    assert all(before < after for (before, _), (after, _) in itertools.pairwise(progress))
    # The progress is reported in several steps.
    assert len(progress) > len(segments) + len(zeroes)


def test_uninitialized_variables_are_zero(tile: Tile, tmp_path: Path) -> None:
    """Variables without an initial value, over memory of a previous program; no byte beyond them changes."""
    source = tmp_path / "zeroes.c"
    source.write_text(
        "#include <stdint.h>\nuint8_t values[7] = {1, 2, 3, 4, 5, 6, 7};\nuint8_t zeroes[5003];\n"
        "int main(void) {\n  uint32_t sum = 0;\n  for (uint32_t i = 0; i < sizeof zeroes; ++i) sum += zeroes[i];\n"
        "  for (uint32_t i = 0; i < sizeof values; ++i) sum += values[i];\n  return (int)sum;\n}\n"
    )
    image = device.build(source, tile.config)
    behind = max(part.address + part.size for part in image.segments)
    assert any(part.size > len(part.data) for part in image.segments)
    assert any((part.address + part.size) % tile.config.cache.line_bytes for part in image.segments)
    begin, end = DRAM, behind + 256
    dirt = bytes([0xA5]) * (-(-(end - begin) // 4) * 4)
    tile.write(begin, dirt)
    expected = bytearray(dirt)
    for part in image.segments:
        data = part.data + bytes(part.size - len(part.data))
        expected[part.address - begin : part.address - begin + len(data)] = data
    tile.load_image(image)
    assert tile.read(begin, len(dirt) // 4).tobytes() == bytes(expected)
    done = tile.run(1, max_cycles=1_000_000)
    assert (done.reason, done.codes) == ("done", {0: 28})


def test_instruction_memories_are_written_by_mask(tile: Tile, seed: int) -> None:
    source = random.Random(seed)
    memories = tile.config.core.cores_per_instr_mem
    memories = max(1, tile.config.mailbox.cores_per_mailbox // memories)
    size = 4 * tile.config.instr_words
    everything = source.randbytes(size)
    assert tile.exchange(network.writes(0, everything, op="write_instr", group=network.ALL_GROUPS), 1)[0].status == 0
    held = [bytearray(everything) for _ in range(memories)]
    for _ in range(8):
        group = source.randrange(1, 1 << memories)
        at = source.randrange(size // 16 - 4) * 16
        data = source.randbytes(source.randint(1, 4) * 16)
        assert tile.exchange(network.writes(at, data, op="write_instr", group=group), 1)[0].status == 0
        for memory in range(memories):
            if group >> memory & 1:
                held[memory][at : at + len(data)] = data
    for memory in range(memories):
        replies = tile.exchange(network.request("read_instr", 0, size, group=1 << memory), size // network.PACKET)
        assert b"".join(reply.data for reply in replies) == bytes(held[memory])


def broken(tile: Tile, source: random.Random) -> tuple[network.Flits, int | None]:
    """A packet that must be rejected, and the status in its reply; None if no reply is sent."""
    line = tile.config.cache.line_bytes
    where = DRAM + source.randrange(64) * line
    data = source.randbytes(source.randint(1, 8) * line)
    good = network.header("write", where, len(data), reply=network.HOST)
    kind = source.randrange(19)
    if kind == 0:  # truncated
        return network.packet(good, data[: source.randrange(0, len(data), 16)]), REJECTION["length"]
    if kind == 1:  # too many flits, up to more than the buffer holds
        return network.packet(good, data + bytes(16 * source.choice([1, 2, 16, 40]))), REJECTION["length"]
    if kind == 2:  # an illegal length
        wrong = network.header("write", where, source.choice([0, 8, 1 << 31, 0xFFFF_FFE0]), reply=network.HOST)
        return network.packet(wrong, data), REJECTION["length"]
    if kind == 3:
        wrong = network.header("write", where + source.choice([4, 8, 16 % line or 4]), len(data), reply=network.HOST)
        return network.packet(wrong, data), REJECTION["address"]
    if kind == 4:  # beyond the ends of the windows, or across them
        place = source.choice(
            [0, SRAM - line, SRAM + sram(tile), DRAM + dram(tile), DRAM + dram(tile) - len(data) + line,
             0x8000_0000 + tile.config.memory.dram.bytes // 2, 0x8000_0000 - line, 0xFFFF_FFE0, 0x0010_0000]
        )  # fmt: skip
        return network.packet(network.header("write", place, len(data), reply=network.HOST), data), REJECTION["address"]
    if kind == 5:  # reads and fills across the end; a length that wraps around
        operation = source.choice(["read", "fill"])
        return network.request(operation, where, source.choice([1 << 31, 0xFFFF_FFE0, dram(tile) + line])), (
            REJECTION["address"]
        )
    if kind == 6:
        head = network.header("write", where, len(data), reply=network.HOST)
        head[0] |= source.randint(5, 15)
        return network.packet(head, data), REJECTION["kind"]
    if kind == 7:  # data after an operation without data
        head = network.header(source.choice(["read", "fill"]), where, len(data), reply=network.HOST)
        return network.packet(head, data), REJECTION["length"]
    if kind == 8:  # instructions beyond the memory, or misaligned
        size = 4 * tile.config.instr_words
        at = source.choice([size, size - 16, 4, 0xFFFF_FFF0])
        head = network.header("write_instr", at, 32, reply=network.HOST, group=0xF)
        return network.packet(head, bytes(32)), REJECTION["address"]
    if kind == 9:
        return network.packet(good, data, job=source.randint(1, 31)), REJECTION["job"]
    if kind == 10:  # for another tile or board
        return network.packet(good, data, dest=network.TILE | 1 << source.randrange(6, 26)), None
    if kind == 11:  # of a kind that no tile accepts
        dest = constants.enumeration("endpoint")[source.choice(["stream", "match", "key", "host", "control"])] << 29
        return network.packet(good, data, dest=dest), None
    if kind == 12:  # a reply or a control packet, which the tile rejects
        return network.packet(good, data, vnet=source.choice(["reply", "control"])), None
    if kind == 13:  # a message instead of the header: it has no valid reply address
        flits = network.packet(good, data)
        flits[0, 5] = flits[1, 5] & ~np.uint32(1 << 10) | np.uint32(flits[0, 5] & 1 << 10)
        return flits, None
    if kind == 16:  # a flit of data of another kind
        flits = network.packet(good, data)
        at = source.randrange(1, len(flits))
        others = [network.side(other, last=False, vnet="request") for other in ("header", "mask")]
        flits[at, 5] ^= network.side("body", last=False, vnet="request") ^ source.choice(others)
        return flits, REJECTION["kind"]
    if kind == 17:  # a reserved field is not 0; then the reply address is ignored as well
        head = good.copy()
        spare = constants.layout("load_header").field("spare")
        head[spare.lsb // 32] |= 1 << spare.lsb % 32 + source.randrange(spare.bits)
        return network.packet(head, data), None
    if kind == 18:  # replies to endpoints that accept none
        others = ["thread", "tile", "stream", "match", "key", "control"]
        dest = constants.enumeration("endpoint")[source.choice(others)] << 29 | source.randrange(1, 1 << 6)
        return network.packet(network.header("write", where, len(data), reply=dest), data), None
    if kind == 15:  # messages to threads: of another tile or job, to no thread, longer than a slot
        thread = constants.enumeration("endpoint")["thread"] << 29
        flits = network.packet(good, bytes(16 * source.randrange(0, 3)), dest=thread, vnet="mailbox")
        flits[0, 5] &= ~np.uint32(3 << 11)
        wrong = source.randrange(3)
        if wrong == 0:
            flits[:, 4] |= 1 << source.randrange(6, 26)
        elif wrong == 1:
            flits[:, 5] |= source.randint(1, 31) << 2
        else:
            flits = network.packet(good, bytes(16 * 20), dest=thread, vnet="mailbox")
            flits[0, 5] &= ~np.uint32(3 << 11)
        return flits, None
    # to the accelerator, of another job, tile or epoch
    dest = constants.enumeration("endpoint")["accelerator"] << 29
    if source.random() < 0.5:
        return network.packet(good, data, dest=dest | 1 << 6), None
    flits = network.packet(good, data, dest=dest, job=source.choice([0, 3]))
    flits[:, 5] |= source.choice([2, 3]) << 1
    return flits, None


def test_rejected_packets_have_no_effect(tile: Tile, size: Size, seed: int) -> None:
    """Packets with every kind of error, between valid ones: each is rejected and counted; valid ones are executed."""
    source, line, model = random.Random(seed), tile.config.cache.line_bytes, Model()
    # After reset the mailbox initializes its slots; packets wait until then.
    early = network.packet(network.header("read", 0, 0), dest=constants.enumeration("endpoint")["thread"] << 29, job=1,
                           vnet="mailbox")  # fmt: skip
    tile.exchange(early, 0)
    for _ in range(5000):
        tile.exchange(network.request("read", DRAM, 40 * network.PACKET), 40)
        if tile.counters()["refused"]:
            break
    rejected = 1
    for _ in range(size.pick(5, 20, 300)):
        flits, expected = [], []
        for _ in range(10):
            if source.random() < 0.4:
                address = DRAM + source.randrange(64) * line
                data = source.randbytes(source.randint(1, network.PACKET // line) * line)
                flits.append(network.packet(network.header("write", address, len(data), reply=network.HOST), data))
                model.write(address, data, line)
                expected.append(0)
            else:
                packet, status = broken(tile, source)
                flits.append(packet)
                rejected += 1
                if status is not None:
                    expected.append(status)
        # The status of a packet without reply is in the next reply without its own; so every round ends with two.
        last = [network.request("read", DRAM, line, tag=tag) for tag in (1, 2)]
        replies = tile.exchange(np.concatenate(flits + last), len(expected) + 2)
        statuses = [reply.status for reply in replies]
        assert statuses[-1] == 0
        for found, wanted in zip(statuses[:-2], expected, strict=True):
            assert found == wanted or (wanted == 0 and found == REJECTION["kind"])
        assert tile.counters()["refused"] == rejected
        found = tile.exchange(network.request("read", DRAM, 80 * line), -(-80 * line // network.PACKET))
        assert b"".join(reply.data for reply in found) == model.read(DRAM, 80 * line, line)


def test_status_of_a_rejected_packet_is_in_the_next_host_reply(tile: Tile) -> None:
    """So a host that requests one reply after many packets detects a rejected one."""
    line = tile.config.cache.line_bytes
    silent = network.packet(network.header("write", 0, line), bytes(line))
    sound = network.writes(DRAM, bytes(line))
    assert [reply.rejection for reply in tile.exchange(np.concatenate([silent, sound]), 1)] == ["address"]
    assert [reply.rejection for reply in tile.exchange(sound, 1)] == [""]
    with pytest.raises(InputError, match="no memory"):
        tile.write(DRAM + dram(tile) - 4, bytes(8))


def test_replies_contain_only_loader_operations(tile: Tile) -> None:
    """For any request: 9 and 10 would be an answer and an event of a control unit, 5 an accelerator's fault."""
    operations = constants.enumeration("load_op")
    for op in range(operations["read_instr"] + 1, 16):
        request = network.packet(network.header("write", DRAM, 16, reply=network.HOST, tag=op))
        request[0, 0] |= op
        (reply,) = tile.exchange(request, 1)
        assert (reply.op, reply.tag, reply.rejection) == (operations["write"], op, "kind")


def test_broadcast_address_reaches_every_tile(tile: Tile) -> None:
    line = tile.config.cache.line_bytes
    data = bytes(range(line))
    assert tile.exchange(network.writes(DRAM, data, dest=network.EVERY_TILE), 1)[0].status == 0
    assert tile.exchange(network.request("read", DRAM, line), 1)[0].data == data


def test_accelerator_faults_stop_no_thread(tile: Tile) -> None:
    """The fault names the accelerator; the requesting thread continues; the accelerator can send to the host."""
    image = device.build(HERE / "fault.c", tile.config)
    tile.load_image(image)
    done = tile.run(1, max_cycles=1_000_000)
    assert (done.reason, done.codes) == ("done", {0: 0})
    causes = constants.enumeration("trap")
    assert [(trap.thread, trap.cause, trap.value) for trap in done.traps] == [
        (ACCELERATOR, causes["load_fault"], 0x8),
        (ACCELERATOR, causes["load_misaligned"], 0x4000_0002),
        (ACCELERATOR, causes["load_fault"], 0x0010_0000),
    ]
    words = [struct.unpack("<4I", message.data) for message in done.messages]
    assert words == [(0xC0FF_EE00, 1, 2, 3), (0xC0FF_EE01, 1, 2, 3), (0, 0, 0, 99)]
    assert [message.host for message in done.messages] == [0, 0, 0]


def test_message_of_the_next_epoch_waits_for_that_epoch(tile: Tile) -> None:
    """Its answer has the epoch of the barrier that it waited for, as have the threads that were released before this
    tile and request a sum of its accelerator. A message of a past epoch is rejected.
    """

    tile.load_image(device.build(HERE / "epoch.c", tile.config))
    tile.exchange(accelerator_request(9, epoch=1), 0)
    done = tile.run(tile.threads, max_cycles=1_000_000)
    assert (done.reason, done.codes) == ("done", dict.fromkeys(range(tile.threads), 0))
    messages = [(message.epoch, struct.unpack("<4I", message.data)) for message in done.messages]
    assert [(epoch, words[0], words[3]) for epoch, words in messages] == [(0, 1, 0), (1, 0, 9), (1, 2, 0)]
    # Now it is epoch 1, and no message waits.
    before = tile.counters()["refused"]
    tile.exchange(np.concatenate([accelerator_request(7), accelerator_request(8, epoch=3)]), 0)
    assert tile.counters()["refused"] == before + 2
    data = bytes(range(tile.config.cache.line_bytes))
    assert tile.exchange(network.writes(DRAM, data), 1)[0].status == 0


def accelerator_request(word: int, *, to: int = 0, job: int = 0, epoch: int = 0) -> network.Flits:
    """A message of one flit to an accelerator, by default this tile's: a request for the sum of no words."""
    dest = constants.enumeration("endpoint")["accelerator"] << 29 | to
    flits = network.packet(np.array([0, 0, network.HOST, word], np.uint32), dest=dest, job=job)
    flits[:, 5] = network.side("body", last=True, vnet="request", job=job, epoch=epoch)
    return flits


def test_rejections_in_the_same_cycle_are_all_counted(tile: Tile) -> None:
    """A request is dropped a cycle after it arrives: together with a packet of another network that follows it."""
    line = tile.config.cache.line_bytes
    before = tile.counters()["refused"]
    flits = []
    for vnet in ("reply", "control") * 20:
        flits += [accelerator_request(1, to=1 << 6), network.packet(network.header("read", DRAM, line), vnet=vnet)]
    tile.exchange(np.concatenate(flits), 0)
    tile.exchange(network.request("read", DRAM, line), 1)
    assert tile.counters()["refused"] == before + len(flits)


def test_receipts_in_the_same_cycle_are_both_counted(tile: Tile) -> None:
    """Messages that the accelerator receives and messages of a past epoch that the tile rejects, at every distance: all
    count as received, so the barrier after them is released."""
    tile.load_image(device.build(HERE / "epoch.c", tile.config))
    flits = []
    for rejected in [*range(1, 9)] * 3:
        flits += [accelerator_request(1), *[accelerator_request(2, epoch=3)] * rejected]
    before = tile.counters()["refused"]
    tile.exchange(np.concatenate(flits), 0)
    tile.exchange(network.request("read", DRAM, tile.config.cache.line_bytes), 1)
    assert tile.counters()["refused"] == before + 3 * 36
    done = tile.run(tile.threads, max_cycles=1_000_000)
    assert (done.reason, done.codes) == ("done", dict.fromkeys(range(tile.threads), 0))


def test_loader_and_threads_share_memory(tile: Tile, seed: int) -> None:
    """While every thread rewrites memory, the loader accesses other lines: both make progress with correct data."""
    source = random.Random(seed)
    image = device.build(HERE / "spin.c", tile.config)
    tile.load_image(image)
    line, region = tile.config.cache.line_bytes, DRAM + dram(tile) // 4
    tile.ask(command("start_first", bytes([tile.threads])) + command("ping"), 1)
    passes = image.symbols["passes"]

    def progress() -> list[int]:
        replies = tile.exchange(network.request("read", passes, 64 * 32), 64 * 32 // network.PACKET)
        return [*struct.unpack_from(f"<{64 * 8}I", b"".join(reply.data for reply in replies))[::8]][: tile.threads]

    model = Model()
    seen = progress()
    for _ in range(6):
        flits = []
        for _ in range(100):
            at, data = region + source.randrange(256) * line, source.randbytes(network.PACKET)
            flits.append(network.packet(network.header("write", at, len(data)), data))
            model.write(at, data, line)
        flits.append(network.request("read", region, 264 * line))
        replies = tile.exchange(np.concatenate(flits), 264 * line // network.PACKET)
        assert b"".join(reply.data for reply in replies) == model.read(region, 264 * line, line)
    # 600 packets of 17 flits: every thread has made progress meanwhile.
    for _ in range(20):
        now = progress()
        if all(later > before for later, before in zip(now, seen, strict=True)):
            break
    else:
        pytest.fail(f"threads stood still: {seen}, then {now}")
    wrong = tile.exchange(network.request("read", image.symbols["wrong"], 64 * 32), 64 * 32 // network.PACKET)
    assert not any(b"".join(reply.data for reply in wrong))
