# SPDX-License-Identifier: Apache-2.0
"""gs_role_links: frames pass whole and in their order, in both directions, over clocks of any ratio."""

from __future__ import annotations

import os
import random
from collections import deque

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from models.clocks import ticking

LINKS, BYTES, COUNT = (int(os.environ[f"ROLE_{name}"]) for name in ("LINKS", "BYTES", "COUNT"))
SHELL = 8000
PERIODS = ((8000, 1.0), (16000, 1.0), (16667, 0.7), (4000, 0.5))
"""Of the board's clock, in ps, with the share of the cycles in which the shell accepts a byte."""
TOO_SLOW = 8000 * BYTES * 8


class Bench:
    def __init__(self, dut, period: int, pace: float) -> None:
        self.dut, self.draw, self.pace = dut, random.Random(cocotb.RANDOM_SEED ^ period), pace
        self.to_board: deque[tuple[int, bytes, bool]] = deque()
        self.to_shell: list[deque[bytes]] = [deque() for _ in range(LINKS)]
        self.at_board: list[list[tuple[bytes, bool]]] = [[] for _ in range(LINKS)]
        self.at_shell: list[list[bytes]] = [[] for _ in range(LINKS)]
        self.idle = 0.2
        self.inputs: dict[str, int] = {}
        self.tasks = [
            cocotb.start_soon(one)
            for one in (
                ticking(dut.clk_i, SHELL, False), ticking(dut.board_clk_i, period, self.draw.random() < 0.5),
                self.feed(), self.take(), self.hear(), *(self.send(link) for link in range(LINKS)),
            )
        ]  # fmt: skip

    async def feed(self) -> None:
        """The shell's frames, a byte a cycle; pieces of frames of different links interleave."""
        dut = self.dut
        parts: list[deque[tuple[bytes, bool]]] = [deque() for _ in range(LINKS)]
        while True:
            while self.to_board:
                link, frame, bad = self.to_board.popleft()
                parts[link].append((frame, bad))
            open_ = [link for link in range(LINKS) if parts[link]]
            await RisingEdge(dut.clk_i)
            dut.link_valid_i.value = 0
            if not open_ or self.draw.random() < self.idle:
                continue
            link = self.draw.choice(open_)
            frame, bad = parts[link].popleft()
            cut = self.draw.randrange(1, len(frame) + 1) if self.draw.random() < 0.3 else len(frame)
            if cut < len(frame):
                parts[link].appendleft((frame[cut:], bad))
            for at in range(cut):
                if at:
                    await RisingEdge(dut.clk_i)
                last = cut == len(frame) and at == cut - 1
                dut.link_valid_i.value = 1
                dut.link_data_i.value = frame[at]
                dut.link_dest_i.value = link
                dut.link_last_i.value = last
                dut.link_error_i.value = last and bad

    async def take(self) -> None:
        dut, part, link = self.dut, b"", None
        while True:
            await RisingEdge(dut.clk_i)
            dut.link_ready_i.value = ready = self.draw.random() < self.pace
            await ReadOnly()
            if not (ready and int(dut.link_valid_o.value)):
                continue
            assert link in (None, int(dut.link_dest_o.value)), "frames interleave"
            link = int(dut.link_dest_o.value)
            part += bytes([int(dut.link_data_o.value)])
            if int(dut.link_last_o.value):
                self.at_shell[link].append(part)
                part, link = b"", None

    async def send(self, link: int) -> None:
        dut = self.dut
        valid = last = keep = data = 0

        def drive() -> None:
            # Other links' bits are those of their own tasks.
            for name, bits, value in (("tx_valid_i", 1, valid), ("tx_last_i", 1, last), ("tx_keep_i", BYTES, keep),
                                      ("tx_data_i", 8 * BYTES, data)):  # fmt: skip
                shared = self.inputs.setdefault(name, 0) & ~((1 << bits) - 1 << bits * link)
                self.inputs[name] = shared | value << bits * link
                getattr(dut, name).value = self.inputs[name]

        while True:
            await RisingEdge(dut.board_clk_i)
            valid = 0
            drive()
            if not self.to_shell[link]:
                continue
            frame = self.to_shell[link].popleft()
            for at in range(0, len(frame), BYTES):
                beat = frame[at : at + BYTES]
                valid, last, keep = 1, at + BYTES >= len(frame), (1 << len(beat)) - 1
                data = int.from_bytes(beat, "little")
                drive()
                while True:
                    await ReadOnly()
                    ready = int(dut.tx_ready_o.value) >> link & 1
                    await RisingEdge(dut.board_clk_i)
                    if ready:
                        break
            valid = 0
            drive()

    async def hear(self) -> None:
        dut = self.dut
        parts = [b""] * LINKS
        while True:
            await RisingEdge(dut.board_clk_i)
            await ReadOnly()
            valid = int(dut.rx_valid_o.value)
            for link in range(LINKS):
                if not valid >> link & 1:
                    continue
                keep = int(dut.rx_keep_o.value) >> BYTES * link & (1 << BYTES) - 1
                data = int(dut.rx_data_o.value) >> 8 * BYTES * link & (1 << 8 * BYTES) - 1
                parts[link] += data.to_bytes(BYTES, "little")[: keep.bit_count()]
                if int(dut.rx_last_o.value) >> link & 1:
                    self.at_board[link].append((parts[link], bool(int(dut.rx_error_o.value) >> link & 1)))
                    parts[link] = b""


async def begin(dut, period: int, pace: float) -> Bench:
    for name in ("link_valid_i", "link_data_i", "link_last_i", "link_error_i", "link_dest_i", "link_ready_i",
                 "board_rst_ni", "tx_valid_i", "tx_data_i", "tx_keep_i", "tx_last_i"):  # fmt: skip
        getattr(dut, name).value = 0
    bench = Bench(dut, period, pace)
    await Timer(100 * max(period, SHELL), "ps")
    dut.board_rst_ni.value = 1
    await Timer(100 * max(period, SHELL), "ps")
    return bench


async def settle(what: str, done) -> None:
    for _ in range(3000):
        if done():
            return
        await Timer(100 * SHELL, "ps")
    raise AssertionError(what)


async def both_directions(dut, period: int, pace: float) -> None:
    bench = await begin(dut, period, pace)
    draw = bench.draw
    to_board: list[list[tuple[bytes, bool]]] = [[] for _ in range(LINKS)]
    to_shell: list[list[bytes]] = [[] for _ in range(LINKS)]
    for _ in range(COUNT):
        bench.idle = draw.choice((0.0, 0.2))
        frame = draw.randbytes(draw.choice((1, 60, 60, draw.randrange(1, 100), draw.randrange(1, 700))))
        link, bad = draw.randrange(LINKS), draw.random() < 0.1
        if draw.random() < 0.5:
            bench.to_board.append((link, frame, bad))
            to_board[link].append((frame, bad))
        else:
            bench.to_shell[link].append(frame)
            to_shell[link].append(frame)
        if draw.random() < 0.3:
            await Timer(draw.randrange(1, 300) * SHELL, "ps")
    await settle("frames to the shell", lambda: sum(map(len, bench.at_shell)) == sum(map(len, to_shell)))
    await settle("frames to the board", lambda: sum(map(len, bench.at_board)) == sum(map(len, to_board)))
    assert bench.at_shell == to_shell
    assert bench.at_board == to_board
    # The reset passes to the other clock while both run.
    dut.board_rst_ni.value = 0
    await Timer(100 * max(period, SHELL), "ps")
    for task in bench.tasks:
        task.cancel()


@cocotb.test()
async def frames_pass_once_and_in_order(dut) -> None:
    for period, pace in PERIODS:
        await both_directions(dut, period, pace)


@cocotb.test()
async def frames_that_a_slow_board_loses_end_with_an_error(dut) -> None:
    """Each link takes an eighth of the line rate: what arrives without an error is whole, and in order."""
    bench = await begin(dut, TOO_SLOW, 1.0)
    bench.idle = 0.0
    sent: list[list[bytes]] = [[] for _ in range(LINKS)]
    for _ in range(COUNT):
        link = bench.draw.randrange(LINKS)
        sent[link].append(bench.draw.randbytes(bench.draw.randrange(40, 300)))
        bench.to_board.append((link, sent[link][-1], False))
    await Timer(sum(len(one) for link in sent for one in link) * SHELL + 4000 * SHELL, "ps")
    for _ in range(30):
        await Timer(100 * SHELL, "ps")
    lost = 0
    for link in range(LINKS):
        at = 0
        for frame, bad in bench.at_board[link]:
            if not bad:
                at = sent[link].index(frame, at) + 1
            lost += bad
    assert lost and any(not bad for link in bench.at_board for _, bad in link)
    # After a pause, frames pass again.
    for link in range(LINKS):
        bench.to_board.append((link, b"after a pause", False))
    await settle("later frames", lambda: all(one and one[-1] == (b"after a pause", False) for one in bench.at_board))


def whole(arrived: list[bytes], sent: list[bytes], what: str, cuts: int = 0) -> None:
    """All that arrived is whole and in order, but for the present byte of frames that a reset has cut."""
    at = 0
    for frame in arrived:
        if frame in sent[at:]:
            at = sent.index(frame, at) + 1
            continue
        cuts -= 1
        assert cuts >= 0, f"{what}: a stray frame of {len(frame)} bytes"
        at = next(n for n in range(at, len(sent)) if sent[n].startswith(frame[:-1])) + 1


@cocotb.test()
async def reset_while_a_clock_stands_still_leaves_no_part_of_a_frame(dut) -> None:
    """The board is reset in the middle of frames while its clock, the shell's or both stand still. The shell's frames
    that meet the reset arrive whole or not at all, and no frame after it is lost."""
    draw = random.Random(cocotb.RANDOM_SEED)
    period, pace = draw.choice(PERIODS)
    bench = await begin(dut, period, pace)
    clocks, rest = bench.tasks[:2], bench.tasks[2:4]
    board = bench.tasks[4:]

    def frames() -> list[list[bytes]]:
        return [[draw.randbytes(draw.choice((1, 2, 60, 200))) for _ in range(4)] for _ in range(LINKS)]

    def give(to_shell: list[list[bytes]], to_board: list[list[bytes]]) -> None:
        for arrived in (*bench.at_shell, *bench.at_board):
            arrived.clear()
        for link in range(LINKS):
            bench.to_shell[link].extend(to_shell[link])
            bench.to_board.extend((link, frame, False) for frame in to_board[link])

    for _ in range(COUNT // 4):
        to_shell, to_board = frames(), frames()
        give(to_shell, to_board)
        await Timer(draw.randrange(1, 700) * SHELL + draw.randrange(SHELL), "ps")
        stopped = draw.choice(((0,), (1,), (0, 1)))
        for clock in stopped:
            clocks[clock].cancel()
        await Timer(draw.randrange(1, 40 * SHELL), "ps")
        # The board's logic ends with the reset.
        for task in board:
            task.cancel()
        dut.tx_valid_i.value = 0
        bench.inputs.clear()
        dut.board_rst_ni.value = 0
        for one in bench.to_shell:
            one.clear()
        await Timer(draw.randrange(1, 40 * SHELL), "ps")
        if 1 in stopped:
            period, bench.pace = draw.choice(PERIODS)
        for clock, (pin, length) in enumerate(((dut.clk_i, SHELL), (dut.board_clk_i, period))):
            if clock in stopped:
                clocks[clock] = cocotb.start_soon(ticking(pin, length, False))
        await Timer(100 * max(period, SHELL), "ps")
        heard = [[frame for frame, bad in one if not bad] for one in bench.at_board]
        for arrived in bench.at_board:
            arrived.clear()
        board = [cocotb.start_soon(one) for one in (bench.hear(), *(bench.send(link) for link in range(LINKS)))]
        dut.board_rst_ni.value = 1
        await Timer(2000 * max(period, SHELL), "ps")
        for link in range(LINKS):
            later = [frame for frame, bad in bench.at_board[link] if not bad]
            whole(heard[link] + later, to_board[link], f"link {link} to the board")
            whole(bench.at_shell[link], to_shell[link], f"link {link} to the shell", cuts=1)
        to_shell, to_board = frames(), frames()
        give(to_shell, to_board)
        await settle("frames to the shell", lambda: sum(map(len, bench.at_shell)) == 4 * LINKS)
        await settle("frames to the board", lambda: sum(map(len, bench.at_board)) == 4 * LINKS)
        assert bench.at_shell == to_shell
        assert bench.at_board == [[(frame, False) for frame in one] for one in to_board]
    for task in (*clocks, *rest, *board):
        task.cancel()
