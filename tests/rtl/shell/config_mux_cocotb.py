# SPDX-License-Identifier: Apache-2.0
"""gs_config_mux between random sources and a model of the port."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

SOURCES = int(os.environ["MUX_SOURCES"])
CYCLES = int(os.environ["MUX_CYCLES"])


@dataclass
class Source:
    """Sends images of random words; gives up in some of them, or keeps its request for a while after the end."""

    number: int
    draw: random.Random
    request: bool = False
    wait: int = 0
    words: list[int] = field(default_factory=list)
    sent: int = 0
    give_up: int | None = None
    images: list[tuple[list[int], int | None]] = field(default_factory=list)
    """The words of each image that the port accepted, and how it ended: 0, 1 for an error, None."""

    def begin(self) -> None:
        draw = self.draw
        self.words = [self.number << 24 | draw.getrandbits(24) for _ in range(draw.choice((1, 1, 2, 5, 12)))]
        self.sent = 0
        self.give_up = draw.randrange(30) if draw.random() < 0.4 else None
        self.request = True

    def drive(self) -> tuple[bool, bool, int, int]:
        """For the next cycle: request, valid, word, last."""
        if self.wait:
            self.wait -= 1
        elif not self.request:
            self.begin()
        elif self.give_up is not None:
            self.give_up -= 1
            if self.give_up < 0:
                self.stop()
        if not self.request or self.sent == len(self.words):
            # A word at any time; the multiplexer must not pass it on.
            return self.request, self.draw.random() < 0.5, self.number << 24, 1
        return self.request, self.draw.random() < 0.7, self.words[self.sent], int(self.sent + 1 == len(self.words))

    def stop(self) -> None:
        self.request, self.give_up = False, None
        self.wait = self.draw.choice((1, 1, 2, 9, 40))

    def accepted(self, word: int) -> None:
        assert word == self.words[self.sent], "a word of no image was accepted"
        if self.sent == 0:
            self.images.append(([], None))
        self.sent += 1
        self.images[-1][0].append(word)

    def ended(self, error: int) -> None:
        if self.images and self.images[-1][1] is None:
            self.images[-1] = (self.images[-1][0], error)
        else:
            # The port has rejected the source before its first word.
            assert error and self.request and self.sent == 0, "an end without an image"
        self.sent = len(self.words)
        if self.request:
            self.give_up = self.draw.choice((0, 0, 3, 20))


@dataclass
class Port:
    """Accepts an image and reports its end after a while. It may reject an image at any word, and may be silent about
    an image that is not whole when its request falls."""

    draw: random.Random
    grant: bool = False
    words: list[int] = field(default_factory=list)
    due: int | None = None
    reported: bool = False
    images: list[list[int]] = field(default_factory=list)
    """Those that were configured."""

    def drive(self, request: bool) -> tuple[bool, bool, bool, bool]:
        """From the request of the cycle before: grant, ready, done, error."""
        draw = self.draw
        done = error = False
        if not request and self.grant and draw.random() < 0.5:
            # With the end of its grant, or without, it reports an image that is not whole.
            done = error = bool(self.words) and not self.reported and draw.random() < 0.5
            self.grant = False
        elif request and not self.grant and draw.random() < 0.4:
            self.grant, self.words, self.due, self.reported = True, [], None, False
        elif request and self.grant and not self.reported:
            if self.due is not None:
                self.due -= 1
                if self.due < 0:
                    done, error = True, draw.random() < 0.3
                    if not error:
                        self.images.append(self.words)
            elif draw.random() < 0.01:
                done = error = True
        self.reported |= done
        return self.grant, self.grant and draw.random() < 0.7, done, error

    def accepted(self, word: int, last: bool) -> None:
        self.words.append(word)
        if last:
            self.due = self.draw.choice((0, 0, 1, 8))


@cocotb.test()
async def each_image_is_that_of_one_source_and_ends_once(dut) -> None:
    draw = random.Random(cocotb.RANDOM_SEED)
    sources = [Source(number, random.Random(draw.random())) for number in range(SOURCES)]
    port = Port(random.Random(draw.random()))
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    before = 0
    requests_before, served = 0, 0
    granted = [0] * SOURCES
    for cycle in range(CYCLES):
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        driven = [source.drive() for source in sources]
        dut.request_i.value = requests = sum(one[0] << i for i, one in enumerate(driven))
        dut.valid_i.value = sum(one[1] << i for i, one in enumerate(driven))
        dut.data_i.value = sum(one[2] << 32 * i for i, one in enumerate(driven))
        dut.bytes_i.value = sum(4 << 3 * i for i in range(SOURCES))
        dut.last_i.value = sum(one[3] << i for i, one in enumerate(driven))
        grant, ready, port_done, port_error = port.drive(bool(before))
        dut.port_grant_i.value, dut.port_ready_i.value = int(grant), int(ready)
        dut.port_done_i.value, dut.port_error_i.value = int(port_done), int(port_error)
        await ReadOnly()
        request = int(dut.port_request_o.value)
        if request and not before:
            # The port was free, so the first of the sources that want it is chosen.
            wanted = requests_before & ~served
            owner = (wanted & -wanted).bit_length() - 1
            assert wanted, f"cycle {cycle}: the port is requested for no source"
        grants = int(dut.grant_o.value)
        assert grants in (0, 1 << owner if request else 0), f"cycle {cycle}: grants {grants:b}"
        if grants:
            granted[owner] += 1
        if int(dut.port_valid_o.value) and ready:
            word = int(dut.port_data_o.value)
            assert word >> 24 == owner and int(dut.port_bytes_o.value) == 4
            port.accepted(word, bool(int(dut.port_last_o.value)))
        taken = int(dut.ready_o.value) & int(dut.valid_i.value)
        for number, source in enumerate(sources):
            if taken >> number & 1:
                source.accepted(driven[number][2])
        for number, source in enumerate(sources):
            if int(dut.done_o.value) >> number & 1:
                error = int(dut.error_o.value) >> number & 1
                assert error >= int(port_error)
                source.ended(error)
                served |= 1 << number
        served &= requests
        before, requests_before = request, requests
        await RisingEdge(dut.clk_i)
    found = [[words for words, end in source.images if end == 0] for source in sources]
    merged = [[words for words in port.images if words[0] >> 24 == number] for number in range(SOURCES)]
    assert found == merged
    for source in sources:
        ends = [end for _, end in source.images]
        assert None not in ends[:-1], f"an image of source {source.number} has no end"
        assert ends.count(0) > 3 and ends.count(1) > 3 and granted[source.number], (source.number, ends)
        assert all(len(words) > 0 for words, _ in source.images)
