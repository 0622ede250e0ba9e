# SPDX-License-Identifier: Apache-2.0
"""The machine library against a model of boards: configuration, memories, debug buses, runs, failures, signals."""

from __future__ import annotations

import random
import signal
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from models import fabric_packets as packets
from python import machine_peer
from python.machine_peer import DONE, END, FAILED, LINE, PACKET, Peer, flit_of

from gossamer import config as configs
from gossamer import routes
from gossamer.config import Cluster, constants
from gossamer.engines._machine import EACH_TILE, Kind, Link
from gossamer.engines._rtl_plan import Job, Plan, TableUpdate, tile_facts
from gossamer.errors import InputError, RunDied

DRAM = 0x4000_0000
THREADS = 64
SMALL = "config small\nshape 4 2 64 16 32 2\ncluster c\nboard x\nboard y y\nboard z\nhosts 1 0\njob 0 2\njob 1\n"
TREES = "relay 0\nrelay 1\nrelay 2\nidle 1 1 0 2\nidle 0 1\nidle 2 1\n"
TABLES = f"routes 1 0 0 0 9 8\nroutes 0 1 2 3 4 5\nroutes 2 1 2 3 4 5\n{TREES}"
PLAN = f"{SMALL}{TABLES}patience 100000 3000\nend\n"


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer(boards=3, tiles=4, width=2, drams=2, jobs=[[0, 2], [1]], root=1) as made:
        yield made


@pytest.fixture
def link(peer: Peer) -> Iterator[Link]:
    made = peer.link(PLAN)
    yield made
    made.close()


def image(peer: Peer, board: int, dram: int, address: int, size: int) -> bytes:
    """Bytes of a memory of the model."""
    memory, line = peer.memories.get((board, dram), {}), peer.line
    first = address // line * line
    data = b"".join(memory.get(at, bytes(line)) for at in range(first, address + size, line))
    return data[address - first :][:size]


def configured(cluster: Cluster, jobs: list[Job]) -> tuple[Plan, Peer]:
    """A plan, and the boards that the library has configured by it."""
    plan = Plan(cluster)
    config = plan.config
    peer = Peer(
        plan.boards,
        config.tiles,
        config.mesh.width,
        config.memory.dram.count,
        jobs=[job.boards for job in jobs] or [range(plan.boards)],
        value=lambda fields, board: 1,
        silent=set(range(plan.boards)),
    )
    identity = struct.pack(
        "<BIIBBBB",
        constants.enumeration("debug_report")["identity"],
        constants.value("debug_magic"),
        0,
        constants.value("debug_version"),
        config.threads_per_tile,
        config.core.threads_per_core,
        0,
    )
    peer.reports = lambda tile, commands: [identity]
    with peer:
        link = peer.link(plan.facts(jobs))
        link.call("configure")
        link.close()
    return plan, peer


@pytest.mark.parametrize("name", ["pair", "quad4", "ring4", "torus8"])
@pytest.mark.parametrize("shared", [False, True])
def test_configuration_reaches_every_board_in_order(name: str, shared: bool) -> None:
    """Tables, sizes, slots and trees that the control units receive are those of the plan; each board gets its route to
    the host first, and a parent of idle detection its tree before its children."""
    cluster = configs.load_cluster(name)
    count = len(cluster.boards)
    jobs = [Job("first", tuple(range(0, count, 2))), Job("second", tuple(range(1, count, 2)))] if shared else []
    plan, peer = configured(cluster, jobs)
    known: dict[int, dict[int, int]] = {board: {} for board in range(count)}
    cluster_sent, idle = [], []
    for board, job, op, fields in peer.control:
        if op == "route":
            if not known[board]:
                assert fields["first"] == packets.host_entry(0), "the route to the host is the first"
            for at in range(fields["count"]):
                known[board][fields["first"] + at] = fields["entries"] >> 8 * at & 0xFF
        elif op == "cluster":
            cluster_sent.append(board)
            assert fields["boards"] == count and fields["hosts"] == len(plan.hosts) and not fields["flush"]
        elif op == "job":
            its = jobs[fields["job"]].boards if jobs else range(count)
            assert fields["place"] == fields["job"] and fields["host"] == packets.HOST
            assert fields["tiles"] == ((1 << plan.config.tiles) - 1 if board in its else 0)
        elif op == "idle_tree":
            parent = -1 if fields["root"] else fields["parent"]
            assert (parent == -1 or (parent, job) in idle) and fields["enable"] == 1
            idle.append((board, job))
    entries = [[*plan.board_entries(board), *(plan.host_entry(board, host) for host in range(len(plan.hosts)))]
               for board in range(count)]  # fmt: skip
    for board in range(count):
        for to, entry in enumerate(entries[board]):
            at = to if to < count else packets.host_entry(to - count)
            assert known[board][at] == entry
    assert cluster_sent == plan.order()
    assert sorted(idle) == [(board, job) for board in range(count) for job in range(len(jobs) or 1)]
    # The tree of broadcasts reaches every board once.
    relays = {board: fields["children"] for board, _, op, fields in peer.control if op == "relay"}
    reached, queue = [], [plan.hosts[0]]
    while queue:
        board = queue.pop()
        reached.append(board)
        slots = [relays[board] >> 13 * slot & 0x1FFF for slot in range(8)]
        queue += [slot & 0xFFF for slot in slots if slot]
    assert sorted(reached) == list(range(count))


def test_writes_change_only_their_bytes_in_each_memory(peer: Peer, link: Link, seed: int) -> None:
    """Random writes, fills and reads through single tiles and by broadcast: every memory has the bytes that were
    written to it, and keeps all others, also where the memories differ."""
    source = random.Random(seed)
    size = 2048
    expected = {(board, dram): bytearray(size) for board in range(3) for dram in range(2)}
    for _ in range(300):
        at = source.randrange(size)
        data = source.randbytes(source.choice([0, 1, 3, 31, 32, 33, 64, 300, 700]))[: size - at]
        job, tile = source.randrange(2), source.randrange(12)
        reached = [(board, dram) for board in peer.jobs[job] for dram in range(2)]
        match source.randrange(4):
            case 0:
                link.call("write", tile, DRAM + at, data, len(data))
                expected[tile // 4, tile % 4 // 2][at : at + len(data)] = data
            case 1:
                link.call("write_all", job, DRAM + at, data, len(data))
                for place in reached:
                    expected[place][at : at + len(data)] = data
            case 2:
                link.call("fill_all", job, DRAM + at, len(data))
                for place in reached:
                    expected[place][at : at + len(data)] = bytes(len(data))
            case _:
                found = link.read(tile, DRAM + at, len(data))
                assert found == expected[tile // 4, tile % 4 // 2][at : at + len(data)]
    for (board, dram), bytes_of in expected.items():
        assert image(peer, board, dram, DRAM, size) == bytes_of


def test_transfers_of_several_requests_are_whole(peer: Peer, link: Link, seed: int) -> None:
    data = random.Random(seed).randbytes((1 << 20) + 77)
    link.call("write_all", 1, DRAM + 5, data, len(data))
    assert image(peer, 1, 0, DRAM + 5, len(data)) == image(peer, 1, 1, DRAM + 5, len(data)) == data
    assert link.read(7, DRAM + 5, len(data)) == data
    assert (0, 0) not in peer.memories and (2, 1) not in peer.memories
    link.call("fill_all", 1, DRAM + 5, len(data))
    assert link.read(5, DRAM, 1 << 20) == bytes(1 << 20)


def test_code_reaches_all_tiles_of_its_job(peer: Peer, link: Link, seed: int) -> None:
    code = random.Random(seed).randbytes(4 * 1001)
    link.call("write_code", 0, code, len(code))
    assert sorted(peer.code) == [(board, tile) for board in (0, 2) for tile in range(4)]
    for store in peer.code.values():
        found = b"".join(store[at] for at in sorted(store))
        assert found == code + bytes(-len(code) % 16) and sorted(store) == list(range(0, len(found), 16))


def test_memory_that_does_not_exist_is_named(peer: Peer, link: Link) -> None:
    peer.limit = DRAM + 0x1000
    with pytest.raises(InputError, match=r"^there is no memory at 0x40001000, or not all of it \(address\)$"):
        link.call("write", 0, DRAM + 0xF00, bytes(320), 320)
    with pytest.raises(InputError, match="there is no memory at 0x40001000"):
        link.read(3, DRAM + 0x1000, 4)
    with pytest.raises(InputError, match="data beyond the end of memory"):
        link.call("write", 0, 0xFFFF_FFF0, bytes(32), 32)
    # The link is still in step.
    link.call("write", 0, DRAM, b"good", 4)
    assert link.read(0, DRAM, 4) == b"good"


def test_counters_are_those_that_were_asked(peer: Peer, link: Link, seed: int) -> None:
    """Any order of boards, more at a time than a board may answer."""
    peer.value = lambda fields, board: 10_000 * board + 100 * fields["unit"] + fields["counter"] + (1 << 40)
    source = random.Random(seed)
    keys = [(source.randrange(3), source.randrange(32), source.randrange(16)) for _ in range(200)]
    assert link.counters(keys) == [10_000 * board + 100 * unit + which + (1 << 40) for board, unit, which in keys]


def test_registers_of_blocks_are_accessed_by_their_job(peer: Peer, link: Link) -> None:
    layout, blocks = constants.layout("register_address"), constants.enumeration("register_block")
    link.write_register(2, "stream", 200, 1, 0xFEDC_BA98_7654_3210, job=5)
    assert link.read_register(0, "link", 7, 12) == 0
    (board, job, _, written), (_, other, _, read) = peer.control
    assert (board, job, written["write"], written["value"]) == (2, 5, 1, 0xFEDC_BA98_7654_3210)
    assert layout.unpack(written["address"]) == {"block": blocks["stream"], "unit": 200, "number": 1}
    assert (other, read["write"]) == (31, 0)
    assert layout.unpack(read["address"]) == {"block": blocks["link"], "unit": 7, "number": 12}


def test_rejected_control_packet_names_board_and_reason(peer: Peer, link: Link) -> None:
    peer.reject = lambda op: constants.enumeration("rejection")["room"]
    with pytest.raises(RunDied, match=r"^board y y: its control unit rejected a packet \(read, room\)$"):
        link.counters([(1, 31, 0)])


@pytest.mark.parametrize("busy", ["none", "flight", "entered"])
def test_drained_needs_two_equal_rounds(peer: Peer, link: Link, busy: str) -> None:
    """A packet in flight at one board at one time, or one that enters between the rounds, is seen."""
    reads = 0
    names = constants.enumeration("board_counter")

    def value(fields: Mapping[str, int], board: int) -> int:
        nonlocal reads
        reads += 1
        assert fields["unit"] == packets.BOARD_UNIT
        if fields["counter"] == names["in_flight"]:
            return int(busy == "flight" and board == 1 and reads > 6) << 5
        assert fields["counter"] == names["entered"]
        return 0xFFFF_FFFF if not (busy == "entered" and board == 1 and reads > 6) else 0

    peer.value = value
    assert link.call("drained") == (busy == "none")


def test_tables_that_cannot_coexist_wait_for_an_empty_fabric(peer: Peer, link: Link) -> None:
    """Only `update` loads them; new entries replace the old ones, a board after the other."""
    names = constants.enumeration("board_counter")
    left = 20

    def value(fields: Mapping[str, int], board: int) -> int:
        nonlocal left
        left -= fields["counter"] == names["in_flight"]
        return int(left > 0 and fields["counter"] == names["in_flight"])

    peer.value = value
    other = (
        f"{SMALL}{TABLES.replace('routes 2 1 2 3 4 5', 'routes 2 5 6 7 8 9')}patience 100000 3000\ndrain a cycle\nend\n"
    )
    link.call("update", other.encode())
    loaded = [(board, fields["first"], fields["entries"]) for board, _, op, fields in peer.control if op == "route"]
    assert [board for board, _, _ in loaded] == [1, 1, 0, 0, 2, 2] and left <= 0
    assert loaded[4:] == [(2, 0, 0x070605), (2, packets.host_entry(1), 0x0809)]
    assert [op for _, _, op, _ in peer.control[-6:]] == ["route"] * 6
    left = 1 << 30
    count = len([op for _, _, op, _ in peer.control if op == "route"])
    with pytest.raises(InputError, match=r"packets are always in flight, .*a cycle"):
        link.call("update", other.encode())
    assert len([op for _, _, op, _ in peer.control if op == "route"]) == count


def test_table_updates_of_a_cluster_name_each_board() -> None:
    cluster = configs.load_cluster("quad4")
    plan = Plan(cluster)
    topology = routes.Topology(cluster, {})
    change = TableUpdate.of(plan, routes.generate(topology, vcs=2, method="general").tables)
    peer = Peer(4, plan.config.tiles, plan.config.mesh.width, plan.config.memory.dram.count, jobs=[range(4)])
    with peer:
        link = peer.link(plan.facts())
        link.call("update", change.plan.facts(drain=change.fault).encode())
        link.close()
    found: dict[int, dict[int, int]] = {}
    for board, _, op, fields in peer.control:
        if op == "route":
            for at in range(fields["count"]):
                found.setdefault(board, {})[fields["first"] + at] = fields["entries"] >> 8 * at & 0xFF
    for board in range(4):
        assert [found[board][to] for to in range(4)] == change.plan.board_entries(board)
        assert found[board][packets.host_entry(0)] == change.plan.host_entry(board, 0)


def test_running_threads_are_named_by_flush(peer: Peer, link: Link) -> None:
    reports, flush = constants.enumeration("debug_report"), constants.enumeration("debug_command")["flush"]

    def answers(tile: int, commands: bytes) -> list[bytes]:
        assert commands == b"".join(bytes([flush, thread]) for thread in range(THREADS))
        running = {5: (3, 63)}.get(tile, ())
        return [
            bytes([reports["rejected"], flush, thread]) if thread in running else bytes([reports["flushed"], thread])
            for thread in range(THREADS)
        ]

    peer.reports = answers
    assert link.flush(3 * 4 * THREADS) == [5 * THREADS + 3, 5 * THREADS + 63]


def test_halt_waits_as_long_as_threads_park(peer: Peer, link: Link) -> None:
    """Commands go to every thread; time passes by reads of memory until none of them parks any more."""
    command, parked = constants.enumeration("debug_command"), constants.enumeration("debug_report")["parked"]
    commands: list[bytes] = []

    def answers(tile: int, sent: bytes) -> list[bytes]:
        commands.append(sent)
        return []

    peer.reports = answers
    peer.each = [bytes([parked, 3]), bytes([parked, 4])]
    link.call("halt")
    assert commands == 12 * [b"".join(bytes([command["halt"], thread]) for thread in range(THREADS))]
    assert [kind for kind, _ in peer.requests] == ["Q", "N", "N", "N"]
    link.call("resume")
    assert commands[12:] == 12 * [b"".join(bytes([command["resume"], thread]) for thread in range(THREADS))]
    assert [kind for kind, _ in peer.requests] == ["Q", "N", "N", "N", "Q", "N", "N"]


def test_registers_are_read_by_injected_writes(peer: Peer, link: Link) -> None:
    inject, shown = (
        constants.enumeration("debug_command")["inject"],
        constants.enumeration("debug_report")["debug_value"],
    )

    def answers(tile: int, sent: bytes) -> list[bytes]:
        code, thread, instruction = struct.unpack("<BBI", sent)
        assert (tile, code, thread) == (7, inject, 5)
        # csrrw x0, debug_value, xN
        assert instruction & 0xFFF0_7FFF == constants.enumeration("csr")["debug_value"] << 20 | 0x1073
        return [struct.pack("<BBI", shown, thread, 0xFEDC_0000 + (instruction >> 15 & 0x1F))]

    peer.reports = answers
    assert link.registers(7 * THREADS + 5) == [0xFEDC_0000 + number for number in range(1, 32)]


def test_tile_counters_have_64_bits(peer: Peer, link: Link) -> None:
    names = constants.enumeration("debug_counter").values
    counter = constants.enumeration("debug_report")["counter"]

    def value(tile: int, index: int) -> int:
        return (1 << 63) + (tile << 32) + index

    # Reports in another order than the commands.
    peer.reports = lambda tile, _: [
        struct.pack("<BBQ", counter, at, value(tile, at)) for at in reversed(names.values())
    ]
    found = link.tile_counters(12)
    assert found == [{name: value(tile, at) for name, at in names.items()} for tile in range(12)]


def test_unsolicited_records_keep_their_order(peer: Peer, link: Link) -> None:
    """Text, messages, events and faults that arrive while the host waits for answers reach the run, in order; those of
    before the run do not."""
    event = constants.layout("control_event").pack(
        op_code=machine_peer.OP["event"],
        board=2,
        what=constants.enumeration("board_event")["link_down"],
        unit=3,
        value=9,
    )
    fault = constants.layout("load_header").pack(
        op=machine_peer.LOAD["fault"], tag=5, address=0x1234, reply=0xE000_0040
    )
    told = [
        lambda: peer.record(LINE, b"first", 70),
        lambda: peer.record(PACKET, flit_of(7, packets.HOST | 1 << 14, "body", True, "mailbox", job=3), 1),
        lambda: peer.record(PACKET, flit_of(event, packets.HOST, "header", True, "reply")),
        lambda: peer.record(PACKET, flit_of(fault, packets.HOST, "header", True, "reply")),
        lambda: peer.record(LINE, b"last", 71, flags=1),
    ]

    def others(its: Peer, kind: str, payload: bytes) -> None:
        if kind == "R":
            assert struct.unpack("<IIQQ3I", payload) == (6, 0, 50, 60, 1, 2, 3)
            its.extra = [one() for one in told]
        elif kind == "C":
            its.send(its.record(END, bytes(32)))

    peer.others = others
    peer.extra = [peer.record(LINE, b"before the run", 1)]
    link.counters([(0, 31, 0)])
    link.run([1, 2, 3], 50, 60)
    assert link.read(0, DRAM, 4) == bytes(4)
    link.call("continue")
    found = [link.next() for _ in range(6)]
    assert [one.kind for one in found] == [Kind.LINE, Kind.MESSAGE, Kind.EVENT, Kind.FAULT, Kind.LINE, Kind.END]
    assert (found[0].thread, found[0].payload, found[4].flags, found[4].payload) == (70, b"first", 1, b"last")
    assert (found[1].thread, found[1].what, found[1].payload) == (1, 3, (7).to_bytes(16, "little"))
    assert (found[2].thread, found[2].what, found[2].unit, found[2].value) == (2, 2, 3, 9)
    assert (found[3].thread, found[3].what, found[3].value) == (0xE000_0040, 5, 0x1234)
    assert sorted(one.cycle for one in found) == [one.cycle for one in found]


def test_failure_and_end_of_the_other_process_are_told(peer: Peer, link: Link) -> None:
    peer.extra = [peer.record(FAILED, b"a board does not answer")]
    with pytest.raises(RunDied, match=r"^a board does not answer$"):
        link.read(0, DRAM, 4)
    assert link.next().kind == DONE
    threading.Timer(0.2, peer.hang_up).start()
    with pytest.raises(RunDied, match=r"^gone$"):
        link.next()
    with pytest.raises(RunDied, match=r"^gone$"):
        for _ in range(100):
            link.call("write", 0, DRAM, bytes(1 << 20), 1 << 20)


def test_signals_interrupt_a_blocked_call_if_their_handler_raises(peer: Peer, link: Link) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        peer.others = lambda its, kind, payload: its.send(its.record(END, bytes(32)))
        signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
        threading.Timer(0.5, lambda: peer.send(peer.record(LINE, b"late"))).start()
        assert link.next().payload == b"late" and seen, "a handler that returns does not end the call"

        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, stop)
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            link.next()
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert time.monotonic() - begun < 5
        link.call("stop")
        assert link.next().kind == Kind.END
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_requests_can_be_kept_for_replay(peer: Peer, link: Link) -> None:
    link.counters([(0, 31, 1)])
    link.keep_requests()
    link.call("write", 0, DRAM + 1, b"x", 1)
    link.call("pause", 5)
    link.call("symbols", b"", 0)
    link.ask(b"", 0, EACH_TILE)
    expected = b"".join(struct.pack("<II", ord(kind), len(payload)) + payload for kind, payload in peer.requests[1:])
    assert link.requests() == expected and len(peer.requests) > 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PLAN.replace("end\n", ""), "plan: is truncated"),
        (
            PLAN.replace("routes 1 0 0 0 9 8", "routes 1 0 0 9 8"),
            "plan:10: is no fact about a machine: routes 1 0 0 9 8",
        ),
        (PLAN.replace("hosts 1 0", "hosts 1 3"), "plan: describes no machine"),
        (PLAN.replace("idle 0 1", "idle 0 a"), "plan:17: is no fact about a machine: idle 0 a"),
        (PLAN.replace("idle 0 1", "idle 0 1 x"), "plan:17: is no fact about a machine: idle 0 1 x"),
        (PLAN.replace("shape 4 2 64", "shape 0 2 64"), "plan:2: is no fact about a machine: shape 0 2 64 16 32 2"),
        (PLAN.replace("job 0 2", "job 0 7"), "plan: describes no machine"),
        (PLAN + "more\n", "plan:21: is no fact about a machine: more"),
    ],
)
def test_wrong_plans_are_rejected(peer: Peer, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=f"^{reason}$"):
        peer.link(text)


def test_tile_alone_has_no_control_unit() -> None:
    """Its packets are sent to the tile at its port, and code to all tiles that they pass."""
    config = configs.load("tiny")
    with Peer(boards=1, tiles=1, width=1, drams=1, line=config.cache.line_bytes, jobs=[[0]]) as peer:
        link = peer.link(tile_facts(config))
        link.call("write_all", 0, DRAM + 3, b"abc", 3)
        assert link.read(0, DRAM + 2, 5) == b"\0abc\0"
        assert not peer.control
        link.close()
