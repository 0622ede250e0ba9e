# SPDX-License-Identifier: Apache-2.0
"""Match engines at two boards that a lossy link connects: random traffic of both boards' tiles, compared with MPI's
rules on lists; jobs; faulty packets; registers; idle detection's counts.

The test is the tiles at the first exit of each board: it sends the packets of threads, and receives those to tile 0.
"""

from __future__ import annotations

import os
import random
from collections import Counter, deque
from dataclasses import dataclass, field

import cocotb
from cocotb.handle import HierarchyObject
from rtl.board.streams_bench import BLOCK, BOARDS, END, NO_JOB, VNET, WHAT, WHY, Bench, flit

from gossamer.config import constants

COUNT = int(os.environ["MATCH_COUNT"])
LOSS = float(os.environ["MATCH_LOSS"])
ENGINES = int(os.environ["MATCH_ENGINES"])
HEAD, DROP = constants.layout("match_packet_head"), constants.layout("match_drop")
PACKET, REGISTER = constants.enumeration("match_packet"), constants.enumeration("match_register")
THREADS, TILES, FLITS, WINDOW, SLOTS = 16, 2, 4, 4, 3
EAGER = 0x20
"""First bytes of messages are below this value."""
ANSWERS = [PACKET[name] for name in ("none", "cancelled", "gone", "counted", "cleared")]


def match_address(board: int, rank: int) -> int:
    return constants.layout("address_match").pack(kind=END["match"], board=board, rank=rank)


def packet(board: int, rank: int, words: list[int], *, job: int, epoch: int = 0, kind: str = "body") -> list[int]:
    """Flits of a packet to a rank's engine."""
    dest, last = match_address(board, rank), len(words) - 1
    made = [flit("request", kind if not at else "body", dest, one, last=at == last, job=job)
            for at, one in enumerate(words)]  # fmt: skip
    layout = constants.layout("flit")
    return [layout.pack(**{**layout.unpack(one), "epoch": epoch}) for one in made]


@dataclass
class Message:
    """A message or a receive; the envelope is (communicator, source, tag), None for a wildcard."""

    envelope: tuple[int, int | None, int | None]
    handle: int = 0
    words: list[int] = field(default_factory=list)


def fits(receive: Message, message: Message) -> bool:
    return all(mine in (None, theirs) for mine, theirs in zip(receive.envelope, message.envelope, strict=True))


@dataclass
class Rank:
    """The state that MPI prescribes, as two lists; and the packets that the thread must receive."""

    board: int
    number: int
    receives: list[Message] = field(default_factory=list)
    waiting: list[Message] = field(default_factory=list)
    expected: deque[list[int]] = field(default_factory=deque)
    answers: deque[list[int]] = field(default_factory=deque)
    owed: int = 0
    delivered: int = 0
    received: int = 0
    """Packets of the engine that the thread has received."""

    def deliver(self, message: Message, handle: int, *, found: bool = False) -> None:
        head = HEAD.unpack(message.words[0]) | {"handle": handle}
        head["kind"] |= PACKET["found"] if found else 0
        self.expected.append([HEAD.pack(**head), *message.words[1:]])
        self.delivered += 1

    def arrives(self, message: Message) -> None:
        for receive in self.receives:
            if fits(receive, message):
                self.receives.remove(receive)
                return self.deliver(message, receive.handle)
        self.waiting.append(message)
        return None

    def first(self, receive: Message) -> Message | None:
        return next((one for one in self.waiting if fits(receive, one)), None)

    def posts(self, receive: Message) -> None:
        message = self.first(receive)
        if message is None:
            self.receives.append(receive)
        else:
            self.waiting.remove(message)
            self.deliver(message, receive.handle)

    def takes(self, receive: Message, head: dict[str, int]) -> None:
        message = self.first(receive)
        if message is None:
            self.answers.append([HEAD.pack(**head | {"kind": PACKET["none"]})])
        else:
            self.waiting.remove(message)
            self.deliver(message, head["handle"], found=True)

    def cancels(self, handle: int, head: dict[str, int]) -> None:
        receive = next((one for one in self.receives if one.handle == handle), None)
        if receive is not None:
            self.receives.remove(receive)
        kind = "gone" if receive is None else "cancelled"
        self.answers.append([HEAD.pack(**head | {"kind": PACKET[kind]})])

    def counts(self, head: dict[str, int]) -> None:
        self.answers.append([HEAD.pack(**head | {"kind": PACKET["counted"], "tag": self.delivered})])


class Threads:
    """The threads of tile 0 of each board: checks each packet that leaves the engines."""

    def __init__(self, bench: Bench, jobs: list[int], ranks: list[Rank], epoch: int = 0) -> None:
        self.bench, self.jobs, self.epoch = bench, jobs, epoch
        self.ranks = {(rank.board, rank.number): rank for rank in ranks}
        self.partial: dict[int, list[dict[str, int]]] = {board: [] for board in range(BOARDS)}

    def look(self) -> None:
        for board in range(BOARDS):
            left = self.bench.left[board][VNET["mailbox"]]
            for one in left:
                self.partial[board].append(one)
                if one["last"]:
                    self.receive(board, self.partial[board])
                    self.partial[board] = []
            left.clear()

    def receive(self, board: int, flits: list[dict[str, int]]) -> None:
        dest = constants.layout("address_thread").unpack(flits[0]["dest"])
        assert (dest["kind"], dest["board"], dest["tile_x"], dest["tile_y"]) == (END["thread"], board, 0, 0)
        assert all(one["dest"] == flits[0]["dest"] and one["job"] == self.jobs[board] for one in flits)
        assert all(one["epoch"] == self.epoch and one["kind"] == 0 for one in flits)
        rank = self.ranks[board, dest["thread"]]
        words = [one["payload"] for one in flits]
        queue = rank.answers if HEAD.unpack(words[0])["kind"] in ANSWERS else rank.expected
        assert queue, f"rank {rank.number} of board {board} receives a packet that nothing has caused: {words[0]:#x}"
        wanted = queue.popleft()
        assert words == wanted, f"rank {rank.number} of board {board}: {words[0]:#x} instead of {wanted[0]:#x}"
        rank.received += 1
        rank.owed += 1
        assert rank.owed <= WINDOW, "more packets than the thread's window"


def envelope(*, any_source: bool = False, any_tag: bool = False) -> tuple[int, int | None, int | None]:
    source, tag = random.randrange(3), random.randrange(3)
    return random.randrange(2), None if any_source else source, None if any_tag else tag


def head_of(kind: int, one: tuple[int, int | None, int | None], handle: int, credit: int = 0) -> dict[str, int]:
    communicator, source, tag = one
    return HEAD.unpack(HEAD.pack(
        kind=kind, communicator=communicator, source=source or 0, any_source=source is None, tag=tag or 0,
        any_tag=tag is None, handle=handle, credit=credit,
    ))  # fmt: skip


def send(bench: Bench, origin: int, flits: list[int]) -> None:
    bench.exits[origin][VNET["request"]].waiting.extend(flits)


async def begin(dut: HierarchyObject, loss: float = LOSS) -> Bench:
    bench = Bench(dut)
    await bench.begin(loss)
    return bench


async def job(bench: Bench, board: int, place: int, number: int, tiles: int) -> int:
    """Sets a job slot, and waits until the engines are cleared."""
    rejection = await bench.job(board, place, number, 0, 0, tiles)
    await bench.steps(200)
    return rejection


async def register(bench: Bench, board: int, name: str, engine: int = 0) -> int:
    address = constants.layout("register_address").pack(block=BLOCK["match"], unit=engine, number=REGISTER[name])
    rejection, value = await bench.register(board, address)
    assert rejection == 0
    return value


async def write_clear(bench: Bench, board: int, engine: int, of_job: int, secret: int = 0) -> int:
    address = constants.layout("register_address").pack(block=BLOCK["match"], unit=engine, number=REGISTER["clear"])
    return (await bench.register(board, address, secret, job=of_job))[0]


async def traffic(bench: Bench, threads: Threads, packets: int) -> Counter[str]:
    """Random requests and messages: those of a rank all come from one tile, so their order is known."""
    ranks, sent = list(threads.ranks.values()), Counter[str]()
    handle, stopped = 0, 0
    bench.exit_takes = lambda board: bool(stopped != board + 1)
    for _ in range(packets):
        rank = random.choice(ranks)
        origin = (rank.number + rank.board) % BOARDS
        kind = random.choices(("message", "post", "take", "cancel", "count"), (6, 6, 1, 1, 1))[0]
        if kind == "message" and len(rank.waiting) > 6:
            kind = "post"
        if kind == "post" and len(rank.receives) > 4:
            kind = "message"
        if kind in ("take", "cancel", "count"):
            # A thread has one such request in flight; those of others wait meanwhile.
            for _ in range(4_000):
                if not rank.answers:
                    break
                stopped = 0
                if rank.owed == WINDOW:
                    acknowledge(bench, threads, rank)
                    sent["taken"] += 1
                await bench.steps(10)
            assert not rank.answers, f"rank {rank.number} of board {rank.board} gets no answer"
        handle = handle % 0xFFFE + 1
        any_source, any_tag = random.random() < 0.3, random.random() < 0.3
        credit, words = 0, [random.getrandbits(128) for _ in range(random.randrange(FLITS))]
        if kind != "message":
            credit, rank.owed = rank.owed, 0
        if kind == "message":
            head = head_of(random.randrange(1, EAGER), envelope(), random.getrandbits(16), random.randrange(256))
            message = Message((head["communicator"], head["source"], head["tag"]), 0, [HEAD.pack(**head), *words])
            rank.arrives(message)
            words = message.words
        elif kind == "count":
            head = head_of(PACKET["count"], (0, 0, 0), handle, credit)
            rank.counts(head)
            words = [HEAD.pack(**head)]
        elif kind == "cancel":
            old = random.choice(rank.receives).handle if rank.receives and random.random() < 0.7 else handle
            head = head_of(PACKET["cancel"], (0, 0, 0), old, credit)
            rank.cancels(old, head)
            words = [HEAD.pack(**head)]
        else:
            one = envelope(any_source=any_source, any_tag=any_tag)
            head = head_of(PACKET[kind], one, handle, credit)
            receive = Message(one, handle)
            if kind == "post":
                rank.posts(receive)
            else:
                rank.takes(receive, head)
            words = [HEAD.pack(**head)]
        send(bench, origin, packet(rank.board, rank.number, words, job=threads.jobs[rank.board], epoch=threads.epoch))
        sent[kind] += 1
        # An exit that takes nothing stops neither the request network nor the other board.
        if random.random() < 0.01:
            stopped = random.randrange(3)
        await bench.steps(random.choice((0, 0, 3, 10)))
        for one_rank in ranks:
            if one_rank.owed >= WINDOW // 2 and random.random() < 0.2:
                acknowledge(bench, threads, one_rank)
                sent["taken"] += 1
    stopped = 0
    return sent


def acknowledge(bench: Bench, threads: Threads, rank: Rank) -> None:
    words = [HEAD.pack(kind=PACKET["taken"], credit=rank.owed)]
    rank.owed = 0
    made = packet(rank.board, rank.number, words, job=threads.jobs[rank.board], epoch=threads.epoch)
    send(bench, (rank.number + rank.board) % BOARDS, made)


async def watch(bench: Bench, threads: Threads) -> None:
    while True:
        threads.look()
        await bench.step()


async def settle(bench: Bench, threads: Threads) -> int:
    """Waits until all expected packets have left; returns the acknowledgements sent."""
    acknowledged = 0
    for _ in range(4_000):
        if not any(rank.expected or rank.answers for rank in threads.ranks.values()):
            break
        for rank in threads.ranks.values():
            if rank.owed:
                acknowledge(bench, threads, rank)
                acknowledged += 1
        await bench.steps(40)
    for (board, number), rank in threads.ranks.items():
        assert not rank.expected and not rank.answers, f"rank {number} of board {board} waits for packets"
    await bench.steps(400)
    return acknowledged


async def counts(bench: Bench, board: int) -> tuple[int, int]:
    """Packets received and sent by all engines of a board."""
    values = [await register(bench, board, "packets", engine) for engine in range(ENGINES)]
    return sum(one & 0xFFFFFFFF for one in values), sum(one >> 32 for one in values)


@cocotb.test()
async def random_traffic_of_two_boards_matches_in_mpi_order(dut: HierarchyObject) -> None:
    bench = await begin(dut)
    jobs = [4, 4]
    for board in range(BOARDS):
        assert await job(bench, board, 0, jobs[board], 1) == 0
    await bench.steps(4_000)
    ranks = [Rank(board, number) for board in range(BOARDS) for number in random.sample(range(THREADS), 5)]
    threads = Threads(bench, jobs, ranks)
    watching = cocotb.start_soon(watch(bench, threads))
    sent = await traffic(bench, threads, COUNT)
    bench.exit_takes = lambda board: True
    acknowledged = await settle(bench, threads)
    total = [await counts(bench, board) for board in range(BOARDS)]
    assert sum(one[0] for one in total) == sent.total() + acknowledged, "packets received by the engines"
    for board in range(BOARDS):
        mine = [rank for rank in ranks if rank.board == board]
        assert total[board][1] == sum(rank.received for rank in mine), "packets sent by the engines"
        waiting = await register(bench, board, "waiting")
        assert waiting & 0xFFFFFFFF == sum(len(rank.receives) for rank in mine)
        assert waiting >> 32 == sum(len(rank.waiting) for rank in mine)
        state = constants.layout("match_state").unpack(await register(bench, board, "state"))
        assert (state["job"], state["busy"]) == (jobs[board], 0)
        assert await bench.counter(board, "match_dropped") == await bench.counter(board, "unroutable") == 0
    assert not bench.seen("match_dropped")
    watching.cancel()


@cocotb.test()
async def faulty_packets_are_dropped_and_name_job_and_rank(dut: HierarchyObject) -> None:
    """Packets of another job, to ranks of another job's tile, of other kinds and networks, of an ended epoch, to ranks
    that do not exist, and too long ones, between the packets of a job whose results do not change."""
    bench = await begin(dut)
    for board in range(BOARDS):
        assert await job(bench, board, 0, 4, 1) == 0
        assert await job(bench, board, 1, 9, 2) == 0
    await bench.steps(4_000)
    # With one engine, job 4 owns it; with two, each job has one.
    assert constants.layout("match_state").unpack(await register(bench, 0, "state"))["job"] == 4
    ranks = [Rank(board, number) for board in range(BOARDS) for number in (0, 7, 15)]
    threads = Threads(bench, [4, 4], ranks)
    watching = cocotb.start_soon(watch(bench, threads))
    expected: list[list[tuple[int, int, int]]] = [[], []]
    lost = [[0] * SLOTS for _ in range(BOARDS)]
    running = cocotb.start_soon(traffic(bench, threads, COUNT))
    for _ in range(COUNT // 4):
        board, origin = random.randrange(BOARDS), random.randrange(BOARDS)
        why = random.choice(("job", "tile", "kind", "network", "epoch", "rank", "length"))
        rank, of_job, epoch, kind = random.choice((0, 7, 15)), 4, random.randrange(2), "body"
        size = random.randrange(1, 4)
        reason = why
        if why == "job":
            of_job, reason = random.choice((0, 9, 17)), "job"
        elif why == "tile":
            rank, reason = THREADS + random.randrange(THREADS), "job"
        elif why == "kind":
            kind = random.choice(("header", "mask", "key"))
        elif why == "epoch":
            epoch = random.choice((2, 3))
        elif why == "rank":
            rank, reason = random.choice((TILES * THREADS, 1 << 13, (1 << 14) - 1)), "thread"
        elif why == "length":
            epoch, size = 0, FLITS + random.randrange(1, 4)
        words = [HEAD.pack(kind=1, communicator=3), *(random.getrandbits(128) for _ in range(size - 1))]
        made = packet(board, rank, words, job=of_job, epoch=epoch, kind=kind)
        net = "request"
        if why == "network":
            net, reason = random.choice(("mailbox", "reply", "control")), "kind"
            layout = constants.layout("flit")
            made = [layout.pack(**{**layout.unpack(one), "vnet": VNET[net]}) for one in made]
        bench.exits[origin][VNET[net]].waiting.extend(made)
        expected[board].append((WHY[reason], of_job, rank))
        if why != "length" and kind != "header" and net != "control":
            slot = {4: 0, 9: 1}.get(of_job)
            if slot is not None:
                lost[board][slot] += 1
        await bench.steps(random.randrange(40))
    await running
    bench.exit_takes = lambda board: True
    await settle(bench, threads)
    for board in range(BOARDS):
        for _ in range(40):
            if await bench.counter(board, "match_dropped") == len(expected[board]):
                break
            await bench.steps(100)
        assert await bench.counter(board, "match_dropped") == len(expected[board])
        found = [DROP.unpack(one["value"]) for one in bench.events
                 if one["what"] == WHAT["match_dropped"] and one["board"] == board]  # fmt: skip
        for one in found:
            assert (one["why"], one["job"], one["rank"]) in expected[board], one
        assert {one["job"] for one in found} == {one[1] for one in expected[board]}, "an offender is not named"
        assert len(found) <= 4 + len(expected[board]).bit_length() + 1
        strays = [int(dut.strays_o.value) >> 32 * (SLOTS * board + slot) & 0xFFFFFFFF for slot in range(SLOTS)]
        assert strays == lost[board], f"dropped messages of board {board}"
    watching.cancel()


@cocotb.test()
async def engine_is_cleared_by_its_job_and_with_its_job(dut: HierarchyObject) -> None:
    """A clear by register, and an assignment of the job slot, drop receives and messages while packets arrive and
    leave; a register is written only by the engine's job; an engine has at most one job."""
    bench = await begin(dut)
    assert await write_clear(bench, 0, 0, 4) == WHY["job"]
    assert await job(bench, 0, 0, 4, 1) == 0
    assert await job(bench, 1, 0, 4, 1) == 0
    await bench.steps(4_000)
    state = constants.layout("match_state")
    for round_ in range(max(2, COUNT // 100)):
        threads = Threads(bench, [4, 4], [Rank(0, 3), Rank(0, 8)])
        watching = cocotb.start_soon(watch(bench, threads))
        await traffic(bench, threads, 40)
        bench.exit_takes = lambda board: True
        await settle(bench, threads)
        watching.cancel()
        # The threads receive nothing any more, so packets of the engine wait, some of them begun: they have three
        # flits, which do not divide the credits of the switch.
        bench.exit_takes = lambda board: False
        for _ in range(16):
            rank = random.choice((3, 8))
            one = head_of(1, (0, 0, 5), 0)
            send(bench, 0, packet(0, rank, [HEAD.pack(**one), 1, 2], job=4))
            post = head_of(PACKET["post"], (0, 0, 5), 77, credit=WINDOW)
            send(bench, 0, packet(0, rank, [HEAD.pack(**post)], job=4))
        await bench.steps(random.randrange(10, 600))
        assert await write_clear(bench, 0, 0, NO_JOB) == WHY["job"]
        assert await write_clear(bench, 0, 0, 9) == WHY["job"]

        async def clear(round_: int = round_) -> None:
            if round_ % 2:
                assert await write_clear(bench, 0, 0, 4, random.getrandbits(64)) == 0
            else:
                assert await job(bench, 0, 0, 4, 1) == 0

        # The first clear meets packets that arrive and leave; some arrive after it. The second one leaves nothing.
        await clear()
        bench.exit_takes = lambda board: True
        await bench.steps(2_000)
        if ENGINES == 1:
            # The job of another slot does not get the engine, and does not clear it.
            before = await register(bench, 0, "packets")
            assert await job(bench, 0, 1, 9, 2) == 0
            assert state.unpack(await register(bench, 0, "state"))["job"] == 4
            assert await register(bench, 0, "packets") == before
        await clear()
        await bench.steps(1_500)
        assert await register(bench, 0, "waiting") == 0, "the clear has left receives or messages"
        assert not state.unpack(await register(bench, 0, "state"))["busy"]
        flits = bench.left[0][VNET["mailbox"]]
        for at in range(0, len(flits), 3):
            found = [(one["last"], one["payload"]) for one in flits[at : at + 3]]
            assert [last for last, _ in found] == [0, 0, 1] and [word for _, word in found[1:]] == [1, 2], (
                "the clear has cut a packet off"
            )
        flits.clear()
    # The job leaves: the engine goes to the next job that holds one of its tiles.
    assert await job(bench, 0, 0, 6, 1) == 0
    assert state.unpack(await register(bench, 0, "state"))["job"] == 6
    assert state.unpack(await register(bench, 1, "state"))["job"] == 4
    assert await register(bench, 0, "packets") == 0


@cocotb.test()
async def packets_of_the_next_epoch_wait(dut: HierarchyObject) -> None:
    """A message of the next epoch has no effect before that epoch, and stops no other job's packets."""
    bench = await begin(dut, 0.0)
    assert await job(bench, 0, 0, 4, 1) == 0
    await bench.steps(4_000)
    threads = Threads(bench, [4, 4], [Rank(0, 2)], epoch=0)
    rank = threads.ranks[0, 2]
    head = head_of(PACKET["post"], (1, 0, 7), 55)
    rank.posts(Message((1, 0, 7), 55))
    send(bench, 0, packet(0, 2, [HEAD.pack(**head)], job=4))
    early = head_of(3, (1, 0, 7), 0)
    send(bench, 0, packet(0, 2, [HEAD.pack(**early), 9, 8], job=4, epoch=1))
    await bench.steps(1_500)
    assert not bench.left[0][VNET["mailbox"]]
    assert (await counts(bench, 0))[0] == 1, "the early message is in the engine"
    # Packets of other networks pass the one that waits.
    dest = match_address(0, 2)
    bench.exits[0][VNET["control"]].waiting.append(flit("control", "body", dest, 0, job=4))
    await bench.until(lambda: bool(bench.seen("match_dropped")), 2_000, "a packet of the control network waits")
