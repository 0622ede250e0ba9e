# SPDX-License-Identifier: Apache-2.0
"""The multicast router of a port: flits a cycle, cycles to the first copy; messages to keys on whole boards.

The router alone, with the cache of a board's, stands in the harness of its tests. Its records are in full beats, five
copies each. Cached: of a key that was expanded before. Uncached: no key comes twice, and memory answers each read after
so many cycles, with as many under way as the router asks for; the harness ends where a record that should be uncached
was in the cache, or the other way round.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import models

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate

from ._run import run

RATE, UNCACHED, FIRST = "router.flits-per-cycle", "router.flits-per-cycle-uncached", "router.first-copy-cycles"
FAN_OUT = "multicast.fanout-gbs"
NAMES = (RATE, UNCACHED, FIRST, FAN_OUT)
GROUPS = ("test", "rtl")
CONFIG = "de5"
READ_CYCLES = (40, 80, 160)
"""Of a read of memory; the row is that of the first."""
CACHE_W = 9
FIRST_MOST = 12.0
PORT: Reference = {"what": "a flit a cycle a port", "value": 1.0, "unit": "flits/cycle"}
CLUSTER, COUNT = "box", 32
_HARNESS = models.FOLDER / "multicast"


@dataclass(frozen=True)
class Rates:
    """By the flits of a message: cycles to the first copy, flits a cycle from cached records, from others."""

    first: dict[str, int]
    cached: dict[str, float]
    uncached: dict[str, float]


def measure(context: Context) -> Iterator[Row]:
    """Cycles are exact."""
    if any(context.wants(name) for name in (RATE, UNCACHED, FIRST)):
        found = {cycles: _rates(cycles) for cycles in READ_CYCLES}
        rates = found[READ_CYCLES[0]]
        about: dict[str, Any] = {"configuration": CONFIG, "cache_beats": 1 << CACHE_W, "records_a_beat": 5}
        if context.wants(RATE):
            value = min(rates.cached.values())
            yield context.row(
                RATE, value, "flits/cycle", reference=PORT, ratio=value, least=0.99, by_flits=rates.cached, **about
            )
        if context.wants(UNCACHED):
            value = min(rates.uncached.values())
            yield context.row(
                UNCACHED,
                value,
                "flits/cycle",
                reference=PORT,
                ratio=value,
                read_cycles=READ_CYCLES[0],
                by_read_cycles={str(cycles): one.uncached for cycles, one in found.items()},
                **about,
            )
        if context.wants(FIRST):
            value = max(rates.first.values())
            yield context.row(
                FIRST,
                float(value),
                "cycles",
                reference={"what": "at most", "value": FIRST_MOST, "unit": "cycles"},
                ratio=FIRST_MOST / value,
                most=FIRST_MOST,
                by_flits=rates.first,
                **about,
            )
    if context.wants(FAN_OUT):
        yield _fan_out(context)


def _rates(read_cycles: int) -> Rates:
    simulator = verilate.model(
        "multicast_top",
        sources.blocks("multicast", config=configs.load(CONFIG)) + [_HARNESS / "multicast_top.sv"],
        # The harness of the tests, all of it.
        sorted(_HARNESS.glob("*.cc")),
        parameters={"CacheW": CACHE_W},
        optimise="-O1",
        include=[models.INCLUDE],
    )
    done = subprocess.run([simulator, "rates", "1", str(read_cycles)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the multicast router's rates: {(done.stderr or done.stdout).strip()[-500:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return Rates(
        first={words[1]: int(words[2]) for words in lines if words[0] == "first"},
        cached={words[1]: float(words[3]) for words in lines if words[0] == "rate" and words[2] == "cached"},
        uncached={words[1]: float(words[3]) for words in lines if words[0] == "rate" and words[2] == "uncached"},
    )


def _fan_out(context: Context) -> Row:
    """A thread of each board of a box sends to a key; its records name all threads of the board."""
    cluster = configs.load_cluster(CLUSTER)
    config = cluster.boards[0].config
    length = config.mailbox.max_flits
    about: dict[str, Any] = {
        "cluster": CLUSTER,
        "configuration": config.name,
        "messages_a_board": COUNT,
        "message_flits": length,
        "copies": config.threads,
    }

    def gbs(defines: list[str]) -> float:
        cycles = run(cluster, "fanout.c", [f"FLITS={length}", f"COUNT={COUNT}", *defines]).value
        return config.threads * COUNT * length * config.mailbox.flit_bytes / cycles * config.clock_hz / 1e9

    masks, keys = gbs([]), gbs(["KEY"])
    return context.row(
        FAN_OUT,
        keys,
        "GB/s a board",
        reference={"what": "the same by a mask to each tile", "value": masks, "unit": "GB/s a board"},
        ratio=keys / masks,
        **about,
    )


__all__ = ["GROUPS", "NAMES", "measure"]
