# SPDX-License-Identifier: Apache-2.0
"""Cycles of the match engines: the preposted latency benchmark, unloading, and the rate within the CAM.

All engines have CAMs of 256 entries and room for 32,768 behind them. Cycles are exact. A latency is from the request's
handshake to its completion's, the engine at rest before.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from models import match as models

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate

GROUPS = ("test", "rtl")
CONFIG = "de5"
CAM, DEPTH = 256, 32_768
HERE = Path(__file__).parent
# Parameters of gs_match.
ARCHITECTURES = {
    "ours": {"Architecture": 0, "Lists": 1, "Entries": 2 * DEPTH, "Reserve": DEPTH // 4},
    "two-level": {"Architecture": 1, "Lists": 1, "Entries": DEPTH, "Reserve": 0},
    "parallel": {"Architecture": 1, "Lists": 4, "Entries": DEPTH, "Reserve": 0},
    "parallel-64": {"Architecture": 1, "Lists": 64, "Entries": DEPTH, "Reserve": 0},
}
PAPER_MHZ = {"two-level": 321.3, "parallel": 234.0, "parallel-64": 168.0}
# What makes the curves of its Figs. 4 and 5, which are pictures alone: a cycle in the CAM, three an entry behind it.
PAPER_CAM, PAPER_ENTRY = 1, 3
MODELS = ("alpu", "hash")
DEPTHS = (1, 16, 128, 256, 257, 300, 500, 1_000, 3_000, 10_000, 32_768)
UNLOADS = (1, 100, 256, 500, 1_000, 3_000, 10_000, 30_000)
# A simulation of more cycles than that is for --full alone, one of more than the second none at all.
_LONG, _ENDLESS = 3_000_000, 400_000_000
ADVERSARIES = {
    "stream": "one source and one tag",
    "one-tag": "one source; all but the last with one tag",
    "wildcards": "every other receive from any source, some with any tag",
    "collide": "keys of one bin of the hash, made by who knows its secret",
    "collide-blind": "the same keys, with another secret",
}
ADVERSARY_DEPTHS = (1_000, 30_000)
# Each receive of one bin walks past all others: posting more takes hundreds of millions of cycles.
COLLIDE_MOST = 1_000
CAM_MOST, LISTS_MOST, UNLOAD_LEAST, RATE_LEAST = 3.0, 24.0, 25.0, 0.25
RATE = "rate.ours"
RATE_DEPTH, RATE_MATCHES = 256, 50_000


def is_short(keys: str, depth: int) -> bool:
    """Whether so many receives of a kind are posted in reasonable time."""
    return keys != "collide" or depth <= COLLIDE_MOST


PREPOSTED = {f"preposted.{name}.d{depth}": (name, depth) for name in (*ARCHITECTURES, *MODELS) for depth in DEPTHS}
ADVERSE = {
    f"preposted.{name}.{keys}.d{depth}": (name, keys, depth)
    for name in ARCHITECTURES
    for keys in ADVERSARIES
    for depth in ADVERSARY_DEPTHS
    if (name == "ours" or not keys.startswith("collide")) and is_short(keys, depth)
}
UNLOAD = {f"unload.{name}.n{depth}": (name, depth) for name in (*ARCHITECTURES, *MODELS) for depth in UNLOADS}
NAMES = (*PREPOSTED, *ADVERSE, *UNLOAD, RATE)


def run(name: str, *arguments: object) -> list[list[str]]:
    """The words that the measuring program prints, by lines."""
    parameters: dict[str, int | str] = {"CamEntries": CAM, **ARCHITECTURES[name]}
    flags = {"ARCHITECTURE": "Architecture", "CAM": "CamEntries", "ENTRIES": "Entries", "RESERVE": "Reserve"}
    simulator = verilate.model(
        "gs_match",
        sources.blocks("match", config=configs.load(CONFIG)),
        [
            HERE / "measure.cc",
            models.ENGINE_BENCH,
            models.REFERENCE,
            models.BASELINES,
        ],
        parameters=parameters,
        optimise="-O1",
        cxx=[*(f"-DGS_{flag}={parameters[key]}" for flag, key in flags.items()), "-DGS_RANKS=1024"],
        include=models.INCLUDE,
    )
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"match engine {name}: {(done.stderr or done.stdout).strip()[-500:]}")
    return [line.split() for line in done.stdout.splitlines()]


@cache
def _models() -> dict[tuple[str, str, int], float]:
    """Nanoseconds of the models of published engines, by benchmark, engine and depth."""
    found = {}
    for _, depth, *words in run("ours", "baselines", *sorted({*DEPTHS, *UNLOADS})):
        for benchmark, *values in (words[:3], words[3:]):
            for name, value in zip(MODELS, values, strict=True):
                found[benchmark, name, int(depth)] = float(value)
    return found


@cache
def _preposted(name: str, keys: str) -> dict[int, tuple[float, int, int]]:
    """Cycles by depth: the mean, the fewest, the most."""
    depths = DEPTHS if keys == "random" else [depth for depth in ADVERSARY_DEPTHS if is_short(keys, depth)]
    lines = run(name, "preposted", keys, *depths)
    return {int(words[1]): (float(words[3]), int(words[5]), int(words[7])) for words in lines}


@cache
def _unload(name: str, depth: int) -> int:
    return int(run(name, "unload", depth)[0][3])


def _about(name: str, cycles: float) -> dict[str, Any]:
    about: dict[str, Any] = {"configuration": CONFIG, "cam_entries": CAM, "list_entries": DEPTH}
    if name in PAPER_MHZ:
        about["ns_at_the_papers_clock"] = cycles / PAPER_MHZ[name] * 1e3
        about["papers_mhz"] = PAPER_MHZ[name]
    return about


def _paper(name: str, depth: int, unloads: bool = False) -> float:
    """A point of the paper's figures in cycles: the last of so many receives is found; or of all that are there."""
    lists = int(ARCHITECTURES[name]["Lists"])

    def last(receives: int) -> int:
        return PAPER_CAM + PAPER_ENTRY * -(-max(0, receives - CAM) // lists)

    return float(sum(last(receives) for receives in range(1, depth + 1)) if unloads else last(depth))


def _beside(paper: float) -> Reference:
    return {"what": "the paper: 1 in the CAM, 3 an entry behind it", "value": paper, "unit": "cycles"}


def _estimate(name: str, depth: int) -> float:
    """Cycles that unloading takes, about."""
    lists = int(ARCHITECTURES[name]["Lists"])
    return 20.0 * depth if name == "ours" else 3 * max(0, depth - CAM) ** 2 / 2 / lists


def measure(context: Context) -> Iterator[Row]:
    """The rows asked for."""
    for row, (name, depth) in PREPOSTED.items():
        if context.wants(row):
            yield _row_preposted(context, row, name, "random", depth)
    for row, (name, keys, depth) in ADVERSE.items():
        if context.wants(row):
            yield _row_preposted(context, row, name, keys, depth)
    for row, (name, depth) in UNLOAD.items():
        if context.wants(row):
            yield _row_unload(context, row, name, depth)
    if context.wants(RATE):
        words = run("ours", "rate", RATE_DEPTH, RATE_MATCHES)[0]
        value = int(words[1]) / int(words[3])
        yield context.row(
            RATE,
            value,
            "matches/cycle",
            reference={"what": "at least", "value": RATE_LEAST, "unit": "matches/cycle"},
            ratio=value / RATE_LEAST,
            least=RATE_LEAST,
            depth=RATE_DEPTH,
            wildcards=0.05,
            requests_per_match=2,
            **_about("ours", 0),
        )


def _row_preposted(context: Context, row: str, name: str, keys: str, depth: int) -> Row:
    if name in MODELS:
        return context.row(row, _models()["preposted", name, depth], "ns", model="of what is published", keys=keys)
    cycles, least, most = _preposted(name, keys)[depth]
    about = {**_about(name, cycles), "keys": ADVERSARIES.get(keys, keys), "fewest": least, "at_worst": most}
    if name != "ours":
        if keys != "random":
            return context.row(row, cycles, "cycles", **about)
        paper = _paper(name, depth)
        about["papers_ns"] = paper / PAPER_MHZ[name] * 1e3
        return context.row(row, cycles, "cycles", reference=_beside(paper), ratio=paper / cycles, **about)
    bound = CAM_MOST if depth <= CAM else LISTS_MOST
    bounded = keys in ("random", "stream", "one-tag")
    walked, _, _ = _preposted("two-level", keys)[depth] if not keys.startswith("collide") else (None, 0, 0)
    reference: Reference = {"what": "the two-level engine, the same receives", "value": walked, "unit": "cycles"}
    return context.row(
        row,
        cycles,
        "cycles",
        reference=reference if walked is not None else None,
        ratio=walked / cycles if walked is not None else None,
        **({"most": bound} if bounded else {}),
        **about,
    )


def _row_unload(context: Context, row: str, name: str, depth: int) -> Row:
    if name in MODELS:
        return context.row(row, _models()["unload", name, depth], "ns", model="of what is published")
    estimate = _estimate(name, depth)
    if estimate > _ENDLESS:
        return context.skip(row, f"some {estimate:.1e} cycles: too many to simulate")
    if estimate > _LONG and not context.full and name != "parallel-64":
        return context.skip(row, f"some {estimate:.1e} cycles to simulate: with --full")
    cycles = _unload(name, depth)
    if name != "ours":
        paper = _paper(name, depth, unloads=True)
        about = _about(name, cycles)
        return context.row(row, float(cycles), "cycles", reference=_beside(paper), ratio=paper / cycles, **about)
    beside = _unload("parallel-64", depth)
    return context.row(
        row,
        float(cycles),
        "cycles",
        reference={"what": "64 lists, the same receives", "value": float(beside), "unit": "cycles"},
        ratio=beside / cycles,
        least_ratio=UNLOAD_LEAST if depth == max(UNLOADS) else None,
        **_about(name, cycles),
    )


__all__ = ["GROUPS", "NAMES", "measure"]
