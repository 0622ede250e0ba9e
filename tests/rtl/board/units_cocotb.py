# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of small units of a board's control, against models that are checked in every cycle.

Inputs change at the falling edge; outputs are read before the next change, as the rising edge in between samples them.
"""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import FallingEdge, ReadOnly

from gossamer.config import constants

CYCLES = int(os.environ["UNITS_CYCLES"])
LINKS, PORTS, ROUTERS, CHILDREN = 2, 3, 2, 3
FLIT, EVENT, ANSWER = (constants.layout(name) for name in ("flit", "control_event", "control_answer"))
REPORT, VERDICT = constants.layout("idle_report"), constants.layout("idle_answer")
OP, WHAT = constants.enumeration("control_op"), constants.enumeration("board_event")
LINK_EVENTS = ("link_up", "link_down", "link_restarted", "link_mismatch")


async def begin(dut: HierarchyObject) -> None:
    """Starts the clock and resets, with all inputs 0."""
    for handle in dut:
        if handle._name.endswith("_i") and handle._name != "clk_i":
            handle.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


class Unreported:
    """Events of each source that have not been reported, with their values, in order."""

    def __init__(self) -> None:
        self.pending: dict[tuple[int, int], list[int]] = {}

    def add(self, events: dict[tuple[int, int], int]) -> None:
        for source, value in events.items():
            self.pending.setdefault(source, []).append(value)

    def reported(self, source: tuple[int, int], value: int) -> None:
        """One packet reports all events of its source so far, with the first one's value."""
        waited = self.pending.pop(source, [])
        assert waited, f"{source} is reported, but did not happen"
        assert waited[0] == value, f"{source} is reported with {value:#x}, the first value was {waited[0]:#x}"


def random_events(dut: HierarchyObject, odds: float) -> dict[tuple[int, int], int]:
    """Sets the inputs for one cycle; returns the values to be reported, by kind of event and unit."""
    found: dict[tuple[int, int], int] = {}
    links = unroutable = bad = dest = 0
    for link in range(LINKS):
        # The first field is in the highest bit.
        for kind, name in enumerate(LINK_EVENTS):
            if random.random() < odds:
                links |= 1 << 4 * link + 3 - kind
                found[WHAT[name], link] = 0
    for port in range(PORTS):
        value = random.getrandbits(32)
        dest |= value << 32 * port
        if random.random() < odds:
            unroutable |= 1 << port
            found[WHAT["unroutable"], port] = value
    for router in range(ROUTERS):
        if random.random() < odds:
            bad |= 1 << router
            found[WHAT["record"], router] = 0
    dropped, word = random.random() < odds, random.getrandbits(32)
    if dropped:
        found[WHAT["control"], 0] = word
    dut.rep_links_i.value, dut.rep_unroutable_i.value, dut.rep_dest_i.value = links, unroutable, dest
    dut.rep_bad_i.value, dut.rep_rejected_i.value, dut.rep_rejected_word_i.value = bad, dropped, word
    return found


@cocotb.test
async def events_are_reported_once_with_their_first_value(dut: HierarchyObject) -> None:
    """No event is lost, even if it occurs in the cycle in which its source is being reported.

    A packet that is first valid in a cycle was chosen in the previous one, from the events before that.
    """
    await begin(dut)
    unreported, before, shown = Unreported(), {}, False
    reported = 0
    odds, pace = 0.05, 0.5
    for cycle in range(CYCLES + 200):
        if cycle % 97 == 0:
            odds, pace = random.choice((0.0, 0.01, 0.05, 0.3)), random.choice((0.1, 0.5, 1.0))
        events = random_events(dut, odds if cycle < CYCLES else 0.0)
        ready = random.random() < pace or cycle >= CYCLES
        dut.rep_ready_i.value = ready
        await ReadOnly()
        valid = bool(dut.rep_valid_o.value)
        if valid and not shown:
            packet = EVENT.unpack(FLIT.unpack(int(dut.rep_flit_o.value))["payload"])
            assert packet["op_code"] == OP["event"] and packet["board"] == 5
            unreported.reported((packet["what"], packet["unit"]), packet["value"])
            reported += 1
        # Events of the cycle in which the packet was chosen are reported by another one.
        unreported.add(before)
        before, shown = events, valid and not ready
        await FallingEdge(dut.clk_i)
    assert not unreported.pending, f"never reported: {unreported.pending}"
    assert reported > CYCLES // 50


@cocotb.test
async def answers_stay_in_order_among_events(dut: HierarchyObject) -> None:
    await begin(dut)
    wanted: deque[int] = deque()
    reported = 0
    for cycle in range(CYCLES + 300):
        random_events(dut, 0.1 if cycle < CYCLES else 0.0)
        request = cycle < CYCLES and random.random() < 0.5 and bool(dut.rep_answer_ready_o.value)
        value = random.getrandbits(64)
        dut.rep_answer_valid_i.value, dut.rep_answer_i.value = request, value
        ready = random.random() < 0.6
        dut.rep_ready_i.value = ready
        await ReadOnly()
        if dut.rep_valid_o.value and ready:
            packet = ANSWER.unpack(FLIT.unpack(int(dut.rep_flit_o.value))["payload"])
            if packet["op_code"] == OP["answer"]:
                assert packet["value"] == wanted.popleft()
                reported += 1
        if request:
            wanted.append(value)
        await FallingEdge(dut.clk_i)
    assert not wanted and reported > CYCLES // 10


@cocotb.test
async def inbox_forwards_answers_first_and_the_last_report_of_each_child(dut: HierarchyObject) -> None:
    await begin(dut)
    answers: deque[tuple[int, ...]] = deque()
    slots: dict[int, tuple[int, ...]] = {}
    # The packet of the previous cycle: its board, -1 for an answer, and its flits.
    previous: tuple[int, tuple[int, ...]] | None = None
    current: list[int] = []
    seen = {"answer": 0, "report": 0, "dropped": 0, "again": 0}
    odds, pace = 0.5, 0.5
    for cycle in range(CYCLES + 100):
        if cycle % 61 == 0:
            odds, pace = random.choice((0.1, 0.5, 0.9)), random.choice((0.1, 0.5, 1.0))
        ready = random.random() < pace or cycle >= CYCLES
        dut.inb_ready_i.value = ready
        # The model's state is that of the previous cycle: its answer counts as well.
        full = len(answers) + (previous is not None and previous[0] < 0) >= 4
        board = random.choice((-1, 1, 1, 2, 3, 4)) if cycle < CYCLES and random.random() < odds else None
        if board == -1 and full:
            board = None
        flits: tuple[int, ...] = ()
        if board is not None:
            word = random.getrandbits(128)
            head = (
                VERDICT.pack(op_code=OP["idle_answer"], answer=random.getrandbits(2), given=random.getrandbits(2))
                if board < 0
                else REPORT.pack(op_code=OP["idle_report"], board=board, count=random.getrandbits(32))
            )
            flits = (head, word) if random.random() < 0.5 else (head,)
            dut.inb_head_i.value, dut.inb_words_i.value = head, word
        dut.inb_valid_i.value, dut.inb_two_i.value = board is not None, len(flits) == 2
        await ReadOnly()
        valid = bool(dut.inb_valid_o.value)
        taken: int | None = None
        if valid:
            flit = FLIT.unpack(int(dut.inb_flit_o.value))
            if not current:
                # First valid now, so chosen in the previous cycle, among the packets of that time.
                if answers:
                    current, taken = list(answers.popleft()), None
                    assert flit["payload"] == current[0], "answers have priority over reports, and stay in order"
                    seen["answer"] += 1
                else:
                    taken = REPORT.unpack(flit["payload"])["board"]
                    assert taken in slots, f"a report of board {taken}, which has none"
                    current = list(slots[taken])
                    seen["report"] += 1
            assert flit["payload"] == current[0] and flit["last"] == (len(current) == 1)
            if ready:
                current.pop(0)
        dropped = False
        if previous is not None:
            its, what = previous
            if its < 0:
                answers.append(what)
            elif its in slots or len(slots) < CHILDREN:
                seen["again"] += its == taken
                slots[its] = what
                taken = None if its == taken else taken
            else:
                dropped = True
        if taken is not None:
            del slots[taken]
        assert bool(dut.inb_dropped_o.value) == dropped, "exactly the packets without a slot are dropped"
        seen["dropped"] += dropped
        previous = None if board is None else (board, flits)
        await FallingEdge(dut.clk_i)
    assert not answers and not slots and not current, "not all packets were forwarded"
    assert min(seen.values()) > CYCLES // 200, seen


@cocotb.test
async def host_messages_carry_the_epoch_and_colour_of_their_gate(dut: HierarchyObject) -> None:
    """Messages wait at the gate until idle detection is open, and get its epoch and colour; other packets just pass."""
    await begin(dut)
    sent = int(dut.hst_sent_o.value)
    for _ in range(max(20, CYCLES // 40)):
        epoch, wave = random.getrandbits(2), random.getrandbits(1)
        dut.hst_epoch_i.value, dut.hst_wave_i.value = epoch, wave
        message = random.random() < 0.7
        network = 0 if message else 1
        # The epoch and colour that the host sets are ignored.
        flit = {
            "kind": constants.enumeration("flit_kind")["body" if message else "header"],
            "last": 1, "vnet": network, "job": 31, "epoch": random.getrandbits(2), "wave": random.getrandbits(1),
            "dest": random.getrandbits(29) | random.randrange(2 if message else 7) << 29,
            "payload": random.getrandbits(128),
        }  # fmt: skip
        while not int(dut.hst_ready_o.value) >> network & 1:
            await FallingEdge(dut.clk_i)
        dut.hst_flit_i.value, dut.hst_valid_i.value = FLIT.pack(**flit), 1 << network
        await FallingEdge(dut.clk_i)
        dut.hst_valid_i.value = 0
        closed = random.randrange(30) if message else 0
        if message:
            flit |= {"epoch": epoch, "wave": wave}
            for _ in range(closed):
                assert not int(dut.hst_valid_o.value), "a message has passed a closed gate"
                await FallingEdge(dut.clk_i)
        dut.hst_open_i.value = message
        for _ in range(40):
            if valid := int(dut.hst_valid_o.value):
                break
            await FallingEdge(dut.clk_i)
        assert valid == 1 << 2 * network, "it does not leave in the first channel of its network"
        assert FLIT.unpack(int(dut.hst_flit_o.value)) == flit
        sent += message
        # Counted before the hold falls.
        while message and int(dut.hst_hold_o.value):
            await FallingEdge(dut.clk_i)
        dut.hst_open_i.value = 0
        dut.hst_credit_i.value = valid
        await FallingEdge(dut.clk_i)
        dut.hst_credit_i.value = 0
        assert int(dut.hst_sent_o.value) == sent


@cocotb.test
async def host_packets_of_the_wrong_kind_are_dropped(dut: HierarchyObject) -> None:
    """Every network, kind and destination: exactly the messages that a receiver counts are counted as sent, headers
    that no receiver counts pass uncounted, and all other packets are dropped whole and reported."""
    await begin(dut)
    dut.hst_open_i.value = 1
    kinds, ends = (constants.enumeration(name) for name in ("flit_kind", "endpoint"))
    receivers = {0: ("thread", "tile"), 1: ("accelerator",), 2: ("host",)}
    for network in range(3):
        for kind in ("body", "mask", "key", "header"):
            for end in ("thread", "tile", "stream", "match", "key", "host", "control", "accelerator"):
                if kind == "header":
                    # A mailbox or an accelerator would count it as received.
                    counted = end in ("thread", "tile", "accelerator") if network == 0 else end == "accelerator"
                    message, legal = False, network == 2 or not counted
                else:
                    message = legal = end in receivers[network] and not (network == 0 and kind == "key")
                    if network == 0 and kind == end == "key":
                        message = legal = True
                sent, strays, left = int(dut.hst_sent_o.value), 0, 0
                head = {"kind": kinds[kind], "vnet": network, "job": 31, "dest": ends[end] << 29 | 5}
                for part in (head | {"last": 0}, head | {"kind": kinds["body"], "last": 1}, None):
                    dut.hst_valid_i.value = 0 if part is None else 1 << network
                    dut.hst_flit_i.value = 0 if part is None else FLIT.pack(**part)
                    for _ in range(1 if part else 24):
                        await FallingEdge(dut.clk_i)
                        valid = int(dut.hst_valid_o.value)
                        left += valid != 0
                        strays += int(dut.hst_stray_o.value)
                        dut.hst_credit_i.value = valid
                        dut.hst_valid_i.value = 0
                about = f"{kind} to {end} in network {network}"
                assert left == (2 if legal else 0), f"{left} flits of {about} have passed"
                assert int(dut.hst_sent_o.value) - sent == message, f"{about} is counted wrongly"
                assert strays == (not legal), f"{about} is reported {strays} times"


@cocotb.test
async def strays_of_two_jobs_in_a_cycle_are_merged(dut: HierarchyObject) -> None:
    """A stray message from the host and one to it, at every distance: both jobs are reported, except if both end in
    the same cycle, which is one event; messages of the known job are counted all the same."""
    await begin(dut)
    dut.hst_open_i.value = 1
    kinds, ends = (constants.enumeration(name) for name in ("flit_kind", "endpoint"))
    merged, sent = 0, int(dut.hst_sent_o.value)
    for distance in range(-8, 9):
        seen = []
        for cycle in range(40):
            outgoing, incoming = cycle == 10, cycle == 10 + distance
            dut.hst_valid_i.value = int(outgoing)
            dut.hst_flit_i.value = FLIT.pack(kind=kinds["body"], last=1, vnet=0, job=3, dest=ends["thread"] << 29)
            dut.hst_in_valid_i.value = incoming << 4
            dut.hst_in_flit_i.value = FLIT.pack(kind=kinds["body"], last=1, vnet=2, job=7, dest=ends["host"] << 29)
            await FallingEdge(dut.clk_i)
            if int(dut.hst_stray_o.value):
                seen.append(int(dut.hst_stray_job_o.value))
        assert sorted(seen) in ([3, 7], [3]), seen
        merged += seen == [3]
    assert merged == 1, "at one distance both end in the same cycle"
    assert int(dut.hst_sent_o.value) == sent


@cocotb.test
async def control_request_without_space_for_its_answer_is_never_answered(dut: HierarchyObject) -> None:
    """Space that is freed, or used up, while the request is executed changes nothing: either it is executed and
    answered, or rejected for lack of space and not answered."""
    await begin(dut)
    room = constants.enumeration("rejection")["room"]
    cluster = constants.layout("control_cluster").pack(op_code=OP["cluster"], boards=1, hosts=1, host=5 << 29)
    requests = {
        "cluster": cluster,
        "job": constants.layout("control_job").pack(op_code=OP["job"], job=3, place=0),
        "route": constants.layout("control_route").pack(op_code=OP["route"], count=5, first=2),
        "read": constants.layout("control_read").pack(op_code=OP["read"], unit=31),
        "idle_tree": constants.layout("idle_tree").pack(op_code=OP["idle_tree"]),
        "register": constants.layout("control_register").pack(op_code=OP["register"], address=0x2000),
    }
    dut.csr_register_hit_i.value = 1
    seen = {True: 0, False: 0}
    for number in range(max(200, CYCLES // 20)):
        name = "cluster" if number == 0 else random.choice(list(requests))
        dut.csr_head_i.value, dut.csr_flits_i.value, dut.csr_job_i.value = requests[name], 1, 3
        dut.csr_tree_ready_i.value = 3
        dut.csr_valid_i.value = 1
        first = number == 0 or random.random() < 0.5
        answers = 0
        for cycle in range(20):
            ready = first if cycle == 0 or number == 0 else first or random.random() < 0.5
            dut.csr_answer_ready_i.value = ready
            await ReadOnly()
            answers += int(dut.csr_answer_valid_o.value)
            done = bool(dut.csr_done_o.value)
            if done:
                rejection = int(dut.csr_rejection_o.value)
            await FallingEdge(dut.clk_i)
            if done:
                break
        dut.csr_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        assert done, f"{name} is not finished"
        assert answers == first and (rejection == room) == (not first), (name, first, answers, rejection)
        seen[first] += 1
    assert min(seen.values()) > 50


@cocotb.test
async def register_packets_are_answered_by_their_block(dut: HierarchyObject) -> None:
    """One request of one cycle, for blocks other than links; what the block answers in the next cycle is the answer,
    whatever it answers at other times. A block that does not answer does not exist. Links cut and connect."""
    await begin(dut)
    cluster = constants.layout("control_cluster").pack(op_code=OP["cluster"], boards=1, hosts=1, host=5 << 29)
    reasons, layout = constants.enumeration("rejection"), constants.layout("control_register")
    where, cut = constants.layout("register_address"), constants.enumeration("link_register")["cut"]
    links, seen = 0, set()
    for number in range(max(400, CYCLES // 10)):
        block, unit, register = (
            random.choice((1, 2, 3)),
            random.randrange(4),
            random.choice((cut, random.randrange(16))),
        )
        write, value, job = random.random() < 0.5, random.getrandbits(64), random.choice((3, 31))
        address = where.pack(block=block, unit=unit, number=register)
        packet = layout.pack(op_code=OP["register"], write=write, address=address, value=value)
        dut.csr_head_i.value = packet if number else cluster
        dut.csr_flits_i.value, dut.csr_job_i.value, dut.csr_answer_ready_i.value = 1, job, 1
        hit, rejection, answer = random.random() < 0.8, random.choice((0, 0, 1, 8)), random.getrandbits(64)
        dut.csr_valid_i.value = 1
        asked = found = False
        requests = 0
        for _ in range(20):
            # Only the cycle after the request counts.
            dut.csr_register_hit_i.value = hit if asked else random.getrandbits(1)
            dut.csr_register_rejection_i.value = rejection if asked else random.getrandbits(4)
            dut.csr_register_value_i.value = answer if asked else random.getrandbits(64)
            await ReadOnly()
            asked = bool(dut.csr_register_valid_o.value)
            requests += asked
            if dut.csr_done_o.value:
                assert dut.csr_answer_valid_o.value
                found = int(dut.csr_rejection_o.value), int(dut.csr_answer_value_o.value)
                assert not number or int(dut.csr_answer_address_o.value) == address
            await FallingEdge(dut.clk_i)
            if found:
                break
        dut.csr_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        if not number:
            continue
        expected = (reasons["place"], 0)
        if block == 1 and unit < LINKS:
            # Counters are 0 here, as links are down.
            expected = (0, links >> unit & 1 if register == cut else 0)
            if register != cut and (write or register > 12):
                expected = (reasons["address"], 0)
            elif write:
                expected = (0, 0) if job == 31 else (reasons["job"], 0)
                if job == 31:
                    links = links & ~(1 << unit) | (value & 1) << unit
        elif block != 1 and hit:
            expected = (rejection, answer)
        elif block != 1:
            expected = (reasons["place"], answer)
        assert requests == (block != 1)
        assert found[0] == expected[0] and (found[1] == expected[1] or expected[0])
        assert int(dut.csr_cut_o.value) == links
        seen.add((block, expected[0]))
    assert len(seen) == 4 + 2 * 4


@cocotb.test
async def debug_packets_pass_only_to_tiles_with_space(dut: HierarchyObject) -> None:
    """Tiles that exist or not, all counts, with and without space; a debug packet is never answered."""
    await begin(dut)
    reasons = constants.enumeration("rejection")
    layout = constants.layout("control_debug")
    tiles = len(dut.csr_debug_space_i)
    seen = set()
    for _ in range(max(400, CYCLES // 10)):
        tile, count = random.choice((0, tiles - 1, tiles, 63)), random.choice((0, 1, 12, 13, random.getrandbits(4)))
        space, flits = random.getrandbits(tiles), random.choice((1, 1, 1, 2, 3))
        packet = layout.pack(op_code=OP["debug"], tile=tile, count=count, bytes=random.getrandbits(96))
        expected = 0
        if flits != 1:
            expected = reasons["length"]
        elif tile >= tiles:
            expected = reasons["place"]
        elif not 1 <= count <= 12:
            expected = reasons["length"]
        elif not space >> tile & 1:
            expected = reasons["room"]
        dut.csr_head_i.value, dut.csr_flits_i.value, dut.csr_debug_space_i.value = packet, flits, space
        dut.csr_answer_ready_i.value = 0
        dut.csr_valid_i.value = 1
        passed = answers = 0
        for _ in range(20):
            await ReadOnly()
            answers += int(dut.csr_answer_valid_o.value)
            if int(dut.csr_debug_valid_o.value):
                passed += 1
                assert int(dut.csr_debug_o.value) == packet
            done = bool(dut.csr_done_o.value)
            rejection = int(dut.csr_rejection_o.value)
            await FallingEdge(dut.clk_i)
            if done:
                break
        dut.csr_valid_i.value = 0
        await FallingEdge(dut.clk_i)
        assert done and rejection == expected and not answers
        assert passed == (expected == 0)
        seen.add(expected)
    assert len(seen) == 4


@cocotb.test
async def begin_names_tiles_of_its_slot_for_one_run(dut: HierarchyObject) -> None:
    """The flags of tiles fall for a cycle when they are named, stay until the next run, and end with another job."""
    await begin(dut)
    # Without the slots of earlier tests.
    dut.rst_ni.value = 0
    for _ in range(2):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    reasons = constants.enumeration("rejection")
    tiles = len(dut.csr_debug_space_i)
    mask = (1 << tiles) - 1

    async def request(packet: int) -> tuple[int, list[int]]:
        dut.csr_head_i.value, dut.csr_flits_i.value, dut.csr_answer_ready_i.value = packet, 1, 1
        dut.csr_valid_i.value = 1
        flags = []
        for _ in range(20):
            await ReadOnly()
            done, rejection = bool(dut.csr_done_o.value), int(dut.csr_rejection_o.value)
            flags.append(int(dut.csr_expected_o.value))
            await FallingEdge(dut.clk_i)
            if done:
                break
        dut.csr_valid_i.value = 0
        for _ in range(2):
            await FallingEdge(dut.clk_i)
            flags.append(int(dut.csr_expected_o.value))
        assert done
        return rejection, flags

    job, start = constants.layout("control_job"), constants.layout("control_begin")
    assert (await request(start.pack(op_code=OP["begin"], place=0, tiles=1)))[0] == reasons["place"]
    own, current, assigned = [0, 0], 0, set()
    for _ in range(max(100, CYCLES // 40)):
        place = random.randrange(2)
        if random.random() < 0.2:
            free = mask & ~own[1 - place]
            before, own[place] = own[place], random.getrandbits(tiles) & free
            rejection, flags = await request(job.pack(op_code=OP["job"], job=3 + place, place=place, tiles=own[place]))
            current &= ~(before | own[place])
            assigned.add(place)
            assert rejection == 0 and flags[-1] == current
            continue
        named = random.getrandbits(tiles + 2) if random.random() < 0.3 else random.getrandbits(tiles) & own[place]
        place = random.choice((place, place, place, 5))
        add = random.random() < 0.4
        rejection, flags = await request(start.pack(op_code=OP["begin"], place=place, add=int(add), tiles=named))
        if place == 5 or place not in assigned:
            assert rejection == reasons["place"]
        elif named & ~own[place]:
            assert rejection == reasons["mask"]
        else:
            assert rejection == 0
            current &= ~(named if add else own[place])
            assert current in flags, "the flags do not fall between two runs"
            current |= named
        assert flags[-1] == current
