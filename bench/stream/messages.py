# SPDX-License-Identifier: Apache-2.0
"""Messages of all sizes over more hops, beside the SMI paper's and its path through hosts; short ones at a switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from models.stream import injection, ring

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.paths import BUILD

from . import page, paper

BOARDS, DEPTH = 8, 4096
"""Flits of a port's buffer: a link passes a frame on when it is whole, so a credit's way there and back over seven hops
is some 4,000 cycles, for which 1,024 flits are too few."""
HOPS = (1, 4, 7)
SIZES = (1, 16, 256, 1_024, 4_096, 16_384, 65_536, 1_048_576)
"""Floats of a message; the last with `--full`."""
_ENDPOINTS, _EACH = 4, 4_000
"""That send one-element messages, and how many each."""
_INJECTIONS = {f"injection.r{burst}": burst for burst in paper.INJECTION}
_LATENCIES = {f"latency.us.h{hops}": hops for hops in HOPS}
_BANDWIDTHS = {f"bandwidth.{4 * size}B.h{hops}": (size, hops) for hops in HOPS for size in SIZES}
PAGE = BUILD / "bench" / "stream.html"
"""Where the figures of messages are drawn."""
NAMES = (*_INJECTIONS, *_LATENCIES, *_BANDWIDTHS)


def _injection(context: Context, name: str, burst: int) -> Row:
    def interval(endpoints: int) -> float:
        messages, cycles = ring.numbers(name, injection.boards(), burst, endpoints, _EACH)
        return cycles / messages

    value, alone = interval(_ENDPOINTS), interval(1)
    beside: Reference = {"what": f"SMI's paper, R = {burst}", "value": paper.INJECTION[burst], "unit": "cycles"}
    return context.row(
        name, value, "cycles", reference=beside, ratio=paper.INJECTION[burst] / value, most=1.0, endpoints=_ENDPOINTS,
        one_endpoint=alone, messages=_EACH, configuration=ring.CONFIG,
    )  # fmt: skip


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured."""
    for name, burst in _INJECTIONS.items():
        if context.wants(name):
            yield _injection(context, name, burst)
    shown = []
    for row in _over_links(context):
        yield row
        shown.append(row)
    if any(row.value is not None and row.name in _BANDWIDTHS for row in shown):
        page.write(PAGE, shown)


def _over_links(context: Context) -> Iterator[Row]:
    config = configs.load(ring.CONFIG)
    mhz, line = config.board.clock_mhz, config.links.rate_mbps / 1000
    about: dict[str, Any] = {
        "configuration": ring.CONFIG, "boards": BOARDS, "depth": DEPTH, "packet": ring.PACKET,
        "bytes": ring.BYTES,
    }  # fmt: skip
    for name, hops in _LATENCIES.items():
        if context.wants(name):
            (cycles,) = ring.numbers(name, ring.boards(BOARDS, DEPTH), "latency", hops)
            beside: Reference = {"what": "SMI's paper", "value": paper.US[hops], "unit": "µs"}
            value = cycles / mhz
            yield context.row(
                name, value, "µs", reference=beside, ratio=paper.US[hops] / value, hops=hops, cycles=cycles,
                flight_us=hops * config.links.flight_cycles / mhz, host_us=paper.HOST_US, **about,
            )  # fmt: skip
    for name, (size, hops) in _BANDWIDTHS.items():
        if not context.wants(name):
            continue
        if size == SIZES[-1] and not context.full:
            yield context.skip(name, "takes minutes: --full")
            continue
        times = 4 if size < 10_000 else 1
        many, payload, cycles = ring.numbers(name, ring.boards(BOARDS, DEPTH), "message", hops, size, times)
        rate = 8 * payload * many * mhz / (cycles * 1000)
        share, theirs = rate / line, paper.host(payload) / paper.LINE
        beside = {"what": "through hosts, a model of the paper's figures", "value": theirs, "unit": "share"}
        yield context.row(
            name, share, "of line rate", reference=beside, ratio=share / theirs, hops=hops, cycles=cycles / many,
            gbit_s=rate, host_gbit_s=paper.host(payload), smi_gbit_s=paper.smi(payload, hops),
            smi_share=paper.smi(payload, hops) / paper.LINE, payload=payload, **about,
        )  # fmt: skip


__all__ = ["NAMES", "rows"]
