# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the streaming ports of boards: jobs, registers in band, wrong packets, and streams among traffic of
tiles and hosts over a link that loses frames."""

from __future__ import annotations

import itertools
import os
import random
from collections import deque
from collections.abc import Iterator, Mapping

import cocotb
from cocotb.handle import HierarchyObject
from rtl.board.streams_bench import (
    CUT,
    END,
    KERNELS,
    LINKS,
    NO_JOB,
    OP,
    PORTS,
    REGISTER,
    VNET,
    WHAT,
    WHY,
    Bench,
    Kernel,
    Message,
    flit,
    header,
    index,
    messages,
    pauses,
    register_address,
    stream_address,
)

from gossamer.config import constants

COUNT = int(os.environ["STREAMS_COUNT"])
LOSS = float(os.environ["STREAMS_LOSS"])
DROP = constants.layout("stream_drop")
# Of the block of collectives of BLOCKS in test_streams.py
EDGES, RANKS, KINDS = 2, 16, 0b1010_0110


class Owners:
    """Which job owns each streaming port of a board: a model of the job slots."""

    def __init__(self, ports: int = PORTS) -> None:
        self.slots: dict[int, tuple[int, set[int]]] = {}
        self.ports = ports

    def set(self, place: int, job: int, first: int, count: int) -> int:
        """Assigns a slot; returns the rejection."""
        others = [slot for at, slot in self.slots.items() if at != place]
        ports = set(range(first, first + count))
        if place >= 3:
            return WHY["place"]
        if job == NO_JOB or any(job == slot[0] for slot in others):
            return WHY["job"]
        if (count and first + count > self.ports) or any(ports & slot[1] for slot in others):
            return WHY["mask"]
        self.slots[place] = (job, ports)
        return 0

    def of(self, port: int) -> int:
        return next((job for job, ports in self.slots.values() if port in ports), NO_JOB)


def until_all(seen: Mapping[int, int], count: int) -> Iterator[int]:
    """Numbers from 0 to `count`, and on until all of `seen` have occurred: random accesses may take longer."""
    for number in itertools.count():
        if number >= count and min(seen.values()) > 0:
            return
        assert number < 50 * count, seen
        yield number


@cocotb.test()
async def registers_belong_to_jobs(dut: HierarchyObject) -> None:
    """Random slots, and random accesses of registers that exist or not, by packets of any job, against a model; every
    rejected access is an event that names the packet's job."""
    bench = Bench(dut)
    await bench.begin()
    owners = [Owners() for _ in range(2)]
    cut = {(board, link): 0 for board in range(2) for link in range(LINKS)}
    numbers = list(range(16))
    seen = dict.fromkeys((0, WHY["place"], WHY["job"], WHY["address"], WHY["mask"]), 0)
    for _ in until_all(seen, 10 * COUNT):
        board = random.randrange(2)
        own = owners[board]
        if random.random() < 0.2:
            place, job = random.choice((0, 1, 2, 3)), random.choice((3, 4, 5, NO_JOB))
            first, count = random.choice((0, 1, 2, 255)), random.choice((0, 1, 2, 3, 257))
            expected, before = own.set(place, job, first, count), len(bench.seen("control"))
            assert await bench.job(board, place, job, first, count) == expected, (place, job, first, count)
            seen[expected] += 1
            if expected:
                await bench.event("control", before)
            continue
        block = random.choice(("stream", "stream", "link", "none"))
        unit = random.choice((0, 1, 1, 2, 255))
        number, job = random.choice(numbers), random.choice((3, 4, 5, NO_JOB, own.of(unit)))
        value = random.getrandbits(64) if random.random() < 0.5 else None
        address = (
            constants.layout("register_address").pack(block=random.choice((0, 3, 15)), unit=unit, number=number)
            if block == "none"
            else register_address(block, unit, number)
        )
        if block == "link" and unit == 0 and value is not None:
            # Link 0 connects the boards.
            value &= ~1
        expected, result = 0, None
        if block == "none" or unit >= PORTS:
            expected = WHY["place"]
        elif block == "link":
            if number != CUT and (value is not None or number > 12):
                expected = WHY["address"]
            elif value is not None and job != NO_JOB:
                expected = WHY["job"]
            elif value is not None:
                cut[board, unit] = value & 1
            if number == CUT:
                result = cut[board, unit]
        else:
            binds = number in (REGISTER["send_bind"], REGISTER["recv_bind"])
            if number > 7 or binds != (value is not None):
                expected = WHY["address"]
            elif binds and (own.of(unit) == NO_JOB or job != own.of(unit)):
                expected = WHY["job"]
            if number == REGISTER["state"]:
                result = own.of(unit)
        before = len(bench.seen("control"))
        rejection, got = await bench.register(board, address, value, job=job)
        assert rejection == expected, f"{block} {unit} {number} of job {job}: {rejection}, not {expected}"
        if expected or value is not None:
            assert got == 0
        elif result is not None:
            assert got == result
        seen[expected] += 1
        if expected:
            event = await bench.event("control", before)
            assert event["board"] == board
            assert event["value"] >> 32 & 15 == expected and event["value"] >> 36 == job
            assert event["value"] & 31 == OP["register"] | (value is not None) << 4
            assert event["value"] >> 5 & 0xFFFF == address


@cocotb.test()
async def registers_of_blocks_belong_to_jobs(dut: HierarchyObject) -> None:
    """Random slots, which may cover a part of a block's ports, and random accesses of its registers, against a model: a
    block belongs to the job of all its ports, and loses its role with them."""
    bench = Bench(dut)
    await bench.begin()
    owners, roles = [Owners(PORTS + EDGES) for _ in range(2)], [0, 0]
    block = constants.enumeration("register_block")["collective"]
    registers = constants.enumeration("collective_register")
    state = constants.layout("collective_state")
    seen = dict.fromkeys((0, WHY["place"], WHY["job"], WHY["address"], WHY["kind"]), 0)

    def owner(board: int) -> int:
        its = {owners[board].of(PORTS + edge) for edge in range(EDGES)}
        return its.pop() if len(its) == 1 else NO_JOB

    for _ in until_all(seen, 30 * COUNT):
        board = random.randrange(2)
        if random.random() < 0.2:
            place, job = random.choice((0, 1)), random.choice((3, 4))
            first, count = random.choice(((0, 2), (2, 2), (2, 1), (3, 1), (0, 4), (3, 2), (0, 0)))
            before, own = dict(owners[board].slots), owner(board)
            expected = owners[board].set(place, job, first, count)
            assert await bench.job(board, place, job, first, count) == expected
            # A port of the block has another slot, or the same one again.
            ports = set(range(PORTS, PORTS + EDGES))
            old = before.get(place, (NO_JOB, set()))[1]
            if not expected and (ports & (old | owners[board].slots[place][1]) or owner(board) != own):
                roles[board] = 0
            continue
        number, unit = random.choice((*range(5), 5, 15)), random.choice((0, 0, 0, 1, 255))
        job = random.choice((3, 4, NO_JOB, owner(board), owner(board)))
        write = random.random() < 0.8
        name = next((name for name, its in registers.values.items() if its == number), "")
        value, wrong = random.getrandbits(3), 0
        if name == "role":
            value = random.choice((0, 1, 2, 3, 7, 8, 1 << 40 | 1))
            wrong = WHY["kind"] if value >= 8 or (value and not KINDS >> value & 1) else 0
        elif name == "tree":
            root = random.choice((0, RANKS - 1, RANKS, 255))
            value, wrong = constants.layout("collective_tree").pack(root=root, children=value), root >= RANKS
        elif name == "rank_edge":
            rank = random.choice((0, RANKS - 1, RANKS, 255))
            value, wrong = constants.layout("collective_rank_edge").pack(rank=rank, member=1), rank >= RANKS
        elif name == "neighbour":
            edge = random.randrange(8)
            value, wrong = constants.layout("collective_neighbour").pack(edge_number=edge), edge >= EDGES
        else:
            wrong = True
        expected = wrong if name == "role" else wrong and WHY["address"]
        if not write:
            expected = 0 if name == "state" else WHY["address"]
        elif not expected and (owner(board) == NO_JOB or job != owner(board)):
            expected = WHY["job"]
        if unit:
            expected = WHY["place"]
        address = constants.layout("register_address").pack(block=block, unit=unit, number=number)
        rejection, got = await bench.register(board, address, value if write else None, job=job)
        assert rejection == expected, f"{name} {unit} = {value:#x} of job {job}: {rejection}, not {expected}"
        seen[expected] += 1
        if expected or write:
            assert got == 0
            roles[board] = value if not expected and name == "role" else roles[board]
        else:
            found = state.unpack(got)
            assert (found["job"], found["role"], found["idle"], found["fault"]) == (owner(board), roles[board], 1, 0)


async def configure(bench: Bench, jobs: dict[Kernel, int]) -> None:
    """Gives each port to a job, and binds port 0 of both boards to each other; ports 1 request credits."""
    for board in range(2):
        for port in range(PORTS):
            assert await bench.job(board, port, jobs[board, port], port, 1) == 0
    for board in range(2):
        await bench.bind((board, 0), (1 - board, 0), 7, jobs[board, 0])


def tile_packet(board: int, number: int, size: int) -> list[int]:
    """A message to a thread of a board: its number and length in its first flit."""
    dest = constants.layout("address_thread").pack(kind=END["thread"], board=board, thread=number & 7)
    words = [number | size << 32 | random.getrandbits(64) << 64, *(random.getrandbits(128) for _ in range(size - 1))]
    return [flit("mailbox", "body", dest, word, last=at == size - 1, job=9) for at, word in enumerate(words)]


def loader_packet(board: int, number: int, size: int) -> list[int]:
    """A packet of the host to a tile, as its loader gets them: of kind header, so no message."""
    dest = constants.layout("address_tile").pack(kind=END["tile"], board=board)
    found = [flit("request", "header", dest, number | size << 32, last=size == 1, job=9)]
    return found + [
        flit("request", "body", dest, random.getrandbits(128), last=at == size - 2, job=9) for at in range(size - 1)
    ]


def host_packet(number: int, size: int) -> list[int]:
    """An answer of a tile to the host."""
    dest = constants.layout("address_host").pack(kind=END["host"], host=0)
    found = [flit("reply", "header", dest, 15 | number << 8 | size << 40, last=size == 1, job=9)]
    return found + [
        flit("reply", "body", dest, random.getrandbits(128), last=at == size - 2, job=9) for at in range(size - 1)
    ]


def payloads(flits: list[int]) -> list[tuple[int, int]]:
    layout = constants.layout("flit")
    return [(one["payload"], one["last"]) for one in map(layout.unpack, flits)]


@cocotb.test()
async def streams_tiles_and_hosts_share_a_lossy_link(dut: HierarchyObject) -> None:
    """Eager streams and streams on request in both directions, messages of tiles, packets from and to a host, all at
    once, with stalls and full queues, and the link cut in the middle: all of them arrive whole and in order, and no
    packet is dropped."""
    bench = Bench(dut)
    await bench.begin(LOSS)
    jobs = {kernel: 3 + kernel[1] for kernel in KERNELS}
    await configure(bench, jobs)
    tasks = []
    for kernel in KERNELS:
        peer = (1 - kernel[0], kernel[1])
        sent = messages(COUNT)
        bench.sources[index(kernel)].set_pause_generator(pauses(0.3))
        bench.sinks[index(peer)].set_pause_generator(pauses(0.3))
        tasks += [
            cocotb.start_soon(bench.send(kernel, peer, sent)),
            cocotb.start_soon(bench.receive(peer, kernel, sent)),
        ]
    wanted: list[list[int]] = [[], []]
    loads: list[list[int]] = [[], []]
    answers: list[list[int]] = [[], []]
    for number in range(8 * COUNT):
        for board in range(2):
            wanted[board] += tile_packet(board, number, random.randrange(1, 5))
            loads[board] += loader_packet(board, number, random.choice((1, 2, 17)))
            answers[board] += host_packet(2 * number + board, random.choice((1, 2, 33)))
    # Messages of each board's tiles go to the other board; the host's packets for both boards share one queue.
    for board in range(2):
        bench.exits[board][VNET["mailbox"]].waiting = deque(wanted[1 - board])
        bench.exits[board][VNET["reply"]].waiting = deque(answers[board])
        bench.host[VNET["request"]].extend(loads[board])
    bench.exit_takes = lambda board: bench.now % 512 < 400 and random.random() < 0.9
    await bench.steps(3000)
    address = register_address("link", 0, CUT)
    for _ in range(3):
        # The other board is not reachable while the link is cut.
        assert await bench.register(0, address, 1) == (0, 0)
        await bench.steps(random.randrange(200, 4_000))
        assert await bench.register(0, address, 0) == (0, 0)
        await bench.steps(3000)
    for task in tasks:
        await task
    total = sum(map(len, wanted)) + sum(map(len, loads))

    def all_left() -> int:
        return sum(len(bench.left[board][net]) for board in range(2) for net in (VNET["mailbox"], VNET["request"]))

    await bench.until(lambda: all_left() == total, 60_000, f"{all_left()} of {total} flits have arrived at tiles")
    expected = sum(map(len, answers))
    reply = bench.received[VNET["reply"]]
    await bench.until(lambda: len(reply) == expected, 60_000, f"{len(reply)} of {expected} flits are at the host")
    for board in range(2):
        for net, sent in (("mailbox", wanted), ("request", loads)):
            found = [(one["payload"], one["last"]) for one in bench.left[board][VNET[net]]]
            assert found == payloads(sent[board]), f"flits of {net} at board {board}"
    # Packets of both boards alternate at the host; those of each are in order, and none is interleaved.
    queues = [deque(payloads(sent)) for sent in answers]
    current: int | None = None
    for one in reply:
        item = (one["payload"], one["last"])
        if current is None:
            current = next(board for board in range(2) if queues[board] and queues[board][0] == item)
        assert queues[current].popleft() == item
        if one["last"]:
            current = None
    for board in range(2):
        assert await bench.counter(board, "stream_dropped") == await bench.counter(board, "unroutable") == 0
    for kernel in KERNELS:
        assert await bench.port_register(kernel, "sent") > 0 and await bench.port_register(kernel, "received") > 0
    wrong = [one for one in bench.events if one["what"] not in (WHAT["link_up"], WHAT["link_down"])]
    assert not wrong, wrong


@cocotb.test()
async def receiver_that_does_not_read_stops_only_its_stream(dut: HierarchyObject) -> None:
    """A stream stops when its receiver's buffer is full; another stream, tiles and the host continue at full rate.
    When the kernel reads again, no element is missing."""
    bench = Bench(dut)
    await bench.begin(LOSS)
    await configure(bench, {kernel: 3 + kernel[1] for kernel in KERNELS})
    stopped = [Message("double", random.randbytes(8 * 1200))]
    bench.sinks[index((1, 0))].pause = True
    tasks = [
        cocotb.start_soon(bench.send((0, 0), (1, 0), stopped)),
        cocotb.start_soon(bench.receive((1, 0), (0, 0), stopped)),
    ]
    await bench.steps(3_000)
    beats = await bench.port_register((0, 0), "sent")
    sent = messages(COUNT)
    packets = [one for number in range(COUNT) for one in tile_packet(1, number, 3)]
    bench.exits[0][VNET["mailbox"]].waiting.extend(packets)
    other = cocotb.start_soon(bench.send((0, 1), (1, 1), sent))
    await bench.receive((1, 1), (0, 1), sent)
    await other
    await bench.until(lambda: len(bench.left[1][0]) == len(packets), 20_000, "messages of tiles wait for the stream")
    assert await bench.port_register((0, 0), "sent") == beats < 1200
    assert await bench.port_register((1, 0), "received") == 0
    bench.sinks[index((1, 0))].pause = False
    for task in tasks:
        await task
    assert await bench.port_register((1, 0), "received") == 1200


@cocotb.test()
async def wrong_packets_are_dropped_and_name_job_and_port(dut: HierarchyObject) -> None:
    """Packets to ports that do not exist, of other jobs, of other kinds and lengths, from a host and from tiles of both
    boards: dropped whole and reported, the first one of each job with its port. Messages count as received in their
    job. Streams of the port pass in between."""
    bench = Bench(dut)
    await bench.begin()
    await configure(bench, {kernel: 3 + kernel[1] for kernel in KERNELS})
    expected: dict[int, list[tuple[int, int, int]]] = {0: [], 1: []}
    lost = [[0] * 3 for _ in range(2)]
    job = 0

    def wrong(why: str, port: int, one: list[int], board: int, of_job: int) -> None:
        expected[board].append((WHY[why], of_job, port))
        at = random.randrange(2)
        # The networks in which these packets leave an exit
        net = FLITS.unpack(one[0])["vnet"]
        bench.exits[at][net].waiting.extend(one)

    FLITS = constants.layout("flit")
    # Long packets, between whose flits those of other networks arrive
    tasks = []
    for source in (0, 1):
        sent = [Message("double", random.randbytes(8 * 150 * COUNT))]
        tasks += [
            cocotb.start_soon(bench.send((source, 0), (1 - source, 0), sent)),
            cocotb.start_soon(bench.receive((1 - source, 0), (source, 0), sent)),
        ]
    await bench.steps(300)
    for board in range(2):
        for port, why in (
            (0, "job"),
            (1, "job"),
            (2, "place"),
            (200, "place"),
            (0, "kind"),
            (1, "room"),
            (1, "kind"),
            (0, "room"),
        ):
            for size in (1, 2, 17):
                for net in ("request", "reply", "mailbox"):
                    if why == "room" and net == "mailbox":
                        continue
                    job = 4 + (job - 3) % 26 if why in ("job", "place") else 3 + port
                    dest = stream_address((board, port))
                    # Elements and credits of another binding
                    account = 30 if why == "room" else 0
                    names = port if why != "kind" else 1 - port
                    head = header(names, op=0 if net == "request" else 2, account=account)
                    message = net == "mailbox" or (why == "kind" and size == 2)
                    kind, reason = ("body" if message else "header"), why
                    if port < PORTS and (message or net == "mailbox"):
                        reason = "kind"
                    if reason == "job" and job == 3 + port:
                        job += 1
                    one = [flit(net, kind, dest, head, last=size == 1, job=job)]
                    one += [
                        flit(net, "body", dest, header(port), last=at == size - 2, job=job) for at in range(size - 1)
                    ]
                    wrong(reason, port, one, board, job)
                    if message and job in (3, 4):
                        lost[board][job - 3] += 1
    for task in tasks:
        await task
    for board in range(2):
        count = len(expected[board])

        async def dropped(board: int = board) -> int:
            return await bench.counter(board, "stream_dropped")

        for _ in range(40):
            if await dropped() == count:
                break
            await bench.steps(100)
        assert await dropped() == count
        for port in range(PORTS):
            mine = sum(one[2] == port for one in expected[board])
            assert await bench.port_register((board, port), "dropped") == mine
        found = [DROP.unpack(one["value"]) for one in bench.events
                 if one["what"] == WHAT["stream_dropped"] and one["board"] == board]  # fmt: skip
        for one in found:
            assert (one["why"], one["job"], one["port"]) in expected[board], one
        assert {one["job"] for one in found} == {one[1] for one in expected[board]}, "an offender is not named"
        assert len(found) <= 26 + count.bit_length() + 1
        strays = [int(dut.strays_o.value) >> 32 * (3 * board + slot) & 0xFFFFFFFF for slot in range(3)]
        assert strays == lost[board], f"dropped messages of board {board}"
    assert not bench.received[VNET["request"]]


@cocotb.test()
async def kernels_reach_only_streaming_ports_of_their_job(dut: HierarchyObject) -> None:
    """Whatever address a kernel supplies, its packets arrive at a streaming port, and are dropped unless the port has
    the kernel's job. The kernel of a port without a job waits; a port that changes its job is unbound."""
    bench = Bench(dut)
    await bench.begin()
    assert await bench.job(0, 0, 3, 0, 1) == 0
    assert await bench.job(1, 0, 5, 0, 1) == 0
    # Port 1 of board 0 has no job.
    bench.open_send((0, 1), (1, 0), "int", 1)
    bench.open_recv((0, 1), (1, 0), "int", 1)
    await bench.steps(200)
    assert index((0, 1)) in bench.opens["send"] and index((0, 1)) in bench.opens["recv"]
    bench.opens["send"].clear()
    bench.opens["recv"].clear()
    state = constants.layout("stream_state")
    assert state.unpack(await bench.port_register((0, 1), "state"))["job"] == NO_JOB
    for account, kind in enumerate(END.values, 1):
        dest = END[kind] << 29 | 1 << 14 | random.getrandbits(6) << 8
        send = constants.layout("stream_send_bind").pack(eager=1, account=account, dest=dest, flits=4)
        assert await bench.register(0, register_address("stream", 0, REGISTER["send_bind"]), send, job=3) == (0, 0)
        bench.open_send((0, 0), (1, 0), "int", 1, dest)
        await bench.sources[0].send(bytes(8))
        for _ in range(40):
            if await bench.counter(1, "stream_dropped") == account:
                break
            await bench.steps(50)
        assert await bench.counter(1, "stream_dropped") == account, f"the packet to a {kind} is somewhere else"
    assert not any(bench.left[board][net] for board in range(2) for net in range(4))
    assert not any(bench.received)
    found = DROP.unpack(bench.seen("stream_dropped")[0]["value"])
    assert (found["why"], found["job"], found["port"]) == (WHY["job"], 3, 0)
    # The receiver gets the sender's job, and an eager message that no kernel receives. The next slots unbind both:
    # a stream on request passes, and the message is gone.
    assert await bench.job(1, 0, 3, 0, 1) == 0
    await bench.bind((0, 0), (1, 0), 9, 3)
    bench.open_send((0, 0), (1, 0), "double", 4)
    await bench.sources[0].send(random.randbytes(32))
    await bench.steps(500)
    assert await bench.port_register((0, 0), "sent") == 4 + len(END.values)
    assert await bench.job(1, 0, 3, 0, 1) == 0
    assert await bench.job(0, 0, 3, 0, 1) == 0
    assert await bench.port_register((0, 0), "sent") == 0
    assert await bench.port_register((1, 0), "dropped") == 0
    sent = messages(3)
    task = cocotb.start_soon(bench.send((0, 0), (1, 0), sent))
    await bench.receive((1, 0), (0, 0), sent)
    await task


@cocotb.test()
async def faults_are_reported_in_band(dut: HierarchyObject) -> None:
    """A channel whose ends have different types or counts: an event, registers of the last fault, and a binding that
    ends it."""
    bench = Bench(dut)
    await bench.begin()
    jobs = {kernel: 3 + kernel[1] for kernel in KERNELS}
    await configure(bench, jobs)
    layout = constants.layout("stream_fault_report")
    for number, (theirs, count) in enumerate((("int", 5), ("double", 9)), 1):
        bench.open_send((0, 1), (1, 1), theirs, count)
        bench.open_recv((1, 1), (0, 1), "double", 5)
        event = await bench.event("stream_fault", number - 1)
        assert event["board"] == 1
        about = {
            "port": 1, "job": 4, "fault": 2 - (theirs != "double"), "own": 3, "peer": 1, "mine": 3,
            "theirs": 1 if theirs == "int" else 3,
        }  # fmt: skip
        assert {name: layout.unpack(event["value"])[name] for name in about} == about
        assert await bench.port_register((1, 1), "fault") == event["value"]
        assert await bench.port_register((1, 1), "counts") == count << 32 | 5
        state = constants.layout("stream_state").unpack(await bench.port_register((1, 1), "state"))
        assert (state["faults"], state["job"]) == (number, 4)
        # Only the job's packets end the fault.
        for kernel, name in (((1, 1), "recv_bind"), ((0, 1), "send_bind")):
            address = register_address("stream", 1, REGISTER[name])
            value = number << 48 if name == "send_bind" else number << 40
            assert await bench.register(kernel[0], address, value, job=3) == (WHY["job"], 0)
            assert await bench.register(kernel[0], address, value, job=4) == (0, 0)
        await bench.steps(100)
        bench.opens["send"].clear()
        bench.opens["recv"].clear()
        sent = messages(2)
        task = cocotb.start_soon(bench.send((0, 1), (1, 1), sent))
        await bench.receive((1, 1), (0, 1), sent)
        await task
