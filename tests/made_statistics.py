# SPDX-License-Identifier: Apache-2.0
"""Statistics of large machines, as an engine may write them, for tests of reports."""

from __future__ import annotations

import random
from typing import Any

from gossamer.watch import statistics

STATES = ("runs", "memory", "float", "receive", "send", "barrier", "other")


def cluster(width: int, boards: int, seed: int = 1) -> dict[str, Any]:
    """Statistics of a program on a cluster of rows of five boards, as an engine may write them."""
    draw = random.Random(seed)
    names = [f"board-{b:02}" for b in range(boards)]
    tiles = [
        {
            "board": name, "tile": [x, y], "instructions": draw.randrange(200_000), "sent": draw.randrange(10**7),
            "received": draw.randrange(10**7), "states": {state: draw.random() * 2 for state in STATES},
            "flits": {way: draw.randrange(100_000) for way in ("north", "south", "east", "west")},
        }
        for name in names
        for y in range(width)
        for x in range(width)
    ]  # fmt: skip
    links = [
        {
            "board": names[b], "link": "east", "to": names[b + 1], "to_link": "west", "used": draw.random(),
            "state": 1, **{name: draw.randrange(10**9) for name in ("tx_packets", "tx_bytes", "tx_frames", "resends",
                                                                   "damaged", "dropped", "stalls")},
        }
        for b in range(boards - 1)
    ]  # fmt: skip
    edges = [float(at) for at in range(0, 100_001, 1000)]
    series = [
        {"name": "instructions a cycle and core, by tile", "unit": "1/cycle", "of": f"tile {t['board']} {t['tile']}",
         "most": 1.0, "values": [draw.random() for _ in edges[1:]]} for t in tiles
    ]  # fmt: skip
    values = {
        "program": "a/very/long/name/" * 5 + "of_a_program.c", "threads": 16 * len(tiles), "cycles": 100_000,
        "instructions": sum(t["instructions"] for t in tiles), "end": "done", "tiles": len(tiles),
        "cores": 2 * len(tiles), "clock_mhz": 250.0, "by_tile": tiles, "by_link": links, "cluster": "big",
        "board_places": [{"name": n, "x": float(b % 5), "y": float(b // 5)} for b, n in enumerate(names)],
        "timeline": {"unit": "cycles", "edges": edges, "series": series}, "mailbox": {"sent": 3},
    }  # fmt: skip
    return statistics.document("program", "rtl", "of_a_program.c", values, command="./gossamer run " + "x" * 400,
                               configuration={"engine": "rtl", "cluster": "big", "config": "c" * 80})  # fmt: skip


__all__ = ["STATES", "cluster"]
