# SPDX-License-Identifier: Apache-2.0
"""Rows of the engine ``distributed``: speed, bytes between ranks and memory, on a geometric graph."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import builds, processes
from gossamer.bench import Context, Row
from gossamer.distributed import shares
from gossamer.errors import RunDied
from gossamer.graph import Graph, generate
from gossamer.paths import ROOT

SPEED, BYTES, MEMORY = "distributed.2x1-vs-cpu", "distributed.bytes-ratio", "distributed.memory-ratio"
LARGER = "distributed.larger"
NAMES = (SPEED, BYTES, MEMORY, LARGER)
SCALE = "GOSSAMER_BENCH_SCALE"
"""A number below 1 shrinks the graph: to test the suite, not to measure."""
RANKS = 2
LIMIT = 1_600_000_000
"""Bytes of virtual memory of a rank in the row of a larger graph, of which LIBRARIES are the interpreter and MPI."""
LIBRARIES = 450_000_000
LARGER_RANKS = 5
TIMES = 3
"""The graph's size over the limit."""
STEPS = 20
REPEAT = 5
_MESSAGE_BYTES = 4
_OWN_BYTES = 64e6
"""Memory of a rank that is not its share of the graph: the interpreter, MPI and the libraries."""


def rows(context: Context) -> Iterator[Row]:
    """The rows asked for. Raises RunDied where the ranks of vertices are not those of the engine ``cpu``."""
    if not any(context.wants(name) for name in NAMES):
        return
    scale = _scale()
    if context.wants(LARGER):
        yield _larger(context, scale)
    if not any(context.wants(name) for name in (SPEED, BYTES, MEMORY)):
        return
    spec = geometric()
    distributed = ["--engine", "distributed", "-n", str(RANKS), "-t", "1"]
    best: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(context.repeat or REPEAT if context.wants(SPEED) else 1):
            for name, engine in (("cpu", ["-t", str(RANKS)]), ("distributed", distributed)):
                stats = run_command(spec, engine, Path(folder) / f"{name}.npy", {})
                if turn == 0 or step_seconds(stats) < step_seconds(best[name]):
                    best[name] = stats
        values = [np.load(Path(folder) / f"{name}.npy") for name in best]
        if not np.allclose(values[0], values[1], rtol=1e-3, atol=0):
            raise RunDied(f"{SPEED}: the ranks of vertices differ from those of the engine cpu")
        about: dict[str, Any] = {"app": "pagerank", "graph": f"gen:{spec}", "steps": STEPS}
        seconds = {name: step_seconds(stats) for name, stats in best.items()}
        if context.wants(SPEED):
            ratio = seconds["cpu"] / seconds["distributed"]
            reference: Any = {"what": "cpu, 2 threads", "value": seconds["cpu"] * 1e3, "unit": "ms/step"}
            yield context.row(
                SPEED,
                seconds["distributed"] * 1e3,
                "ms/step",
                reference=reference,
                ratio=ratio,
                least_ratio=0.8,
                **about,
            )
        if context.wants(BYTES) or context.wants(MEMORY):
            graph = generate.from_spec(spec)
            if context.wants(BYTES):
                yield context.row(BYTES, _bytes_ratio(spec, distributed, graph, Path(folder)), "", most=1.1, **about)
            if context.wants(MEMORY):
                arrays = [array for rows in (graph.out, graph.into) for array in (rows.offsets, rows.targets)]
                share = sum(array.nbytes for array in arrays) / RANKS
                peak = max(best["distributed"]["rank_peak_bytes"]) - _OWN_BYTES
                yield context.row(MEMORY, peak / share, "", most=1.3, peak_bytes=peak, share_bytes=share, **about)


def _scale() -> float:
    return float(os.environ.get(SCALE, "1"))


def geometric() -> str:
    """The specification of the graph, for ``gen:``."""
    scale = _scale()
    return f"geo:vertices={max(1000, int(200_000 * scale))},fanout=100,radius={0.02 / scale**0.5:.3g}"


def _larger(context: Context, scale: float) -> Row:
    """A graph of three times the memory limit of a rank. The engine cpu must fail with that limit."""
    size = TIMES * LIMIT * scale
    limit = int(LIMIT * scale if scale == 1 else LIMIT * scale + LIBRARIES)
    vertices = int(size / 8 / 100)
    radius = 0.02 * (200_000 / vertices) ** 0.5
    spec = f"geo:vertices={vertices},fanout=100,radius={radius:.3g}"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "larger.npy"
        limited = ["bash", "-c", 'ulimit -v "$0" && exec "$@"', str(limit // 1024)]
        begun = time.perf_counter()
        engine = ["--engine", "distributed", "-n", str(LARGER_RANKS)]
        stats = run_command(spec, engine, output, {}, limited)
        seconds = time.perf_counter() - begun
        total = float(np.load(output, mmap_mode="r").sum(dtype=np.float64))
        edges = stats["graph"]["edges"]
        if edges < 99 * vertices or abs(total - 1) > 1e-3:
            raise RunDied(f"{LARGER}: {edges} edges and ranks with the sum {total} are wrong")
        try:
            run_command(spec, ["--threads", "1"], output, {}, limited)
        except RunDied as error:
            alone = False
            if "memory" not in str(error):
                raise
        else:
            alone = True
    # The limit of a shrunken graph includes the libraries, so that one process may have enough of it.
    if alone and scale == 1:
        raise RunDied(f"{LARGER}: the engine cpu has run with the same limit, so the graph is not larger")
    about: dict[str, Any] = {"graph": f"gen:{spec}", "limit_bytes": limit, "ranks": LARGER_RANKS, "seconds": seconds}
    return context.row(LARGER, size / limit, "", least_ratio=TIMES if scale == 1 else None, ratio=size / limit, **about)


def step_seconds(stats: dict[str, Any]) -> float:
    """Seconds of a step; without the first ones, in which cpu builds rows that ranks get with their shares."""
    later = stats["step_seconds"][STEPS // 2 :]
    return float(sum(later)) / len(later)


def run_command(
    spec: str, engine: list[str], output: Path, environment: dict[str, str], before: Sequence[str] = ()
) -> dict[str, Any]:
    """Runs PageRank with the arguments ``engine``, after the words ``before``; returns the statistics.

    Raises RunDied.
    """
    stats = output.with_suffix(".json")
    words = ["run", "pagerank", f"gen:{spec}", "--iterations", str(STEPS), *engine, "-o", output, "--stats", stats]
    command = [*before, sys.executable, str(ROOT / "gossamer"), *map(str, words)]
    done = processes.run(command, env={**os.environ, **environment})
    if done.returncode:
        raise RunDied(done.stderr.strip() or f"{' '.join(command)}: exit code {done.returncode}")
    found: dict[str, Any] = json.loads(stats.read_text(encoding="utf-8"))
    return found


def _bytes_ratio(spec: str, engine: list[str], graph: Graph, folder: Path) -> float:
    """Bytes that the ranks send in a step, as MPI sees them, over one message for each vertex and rank with edges."""
    counter, counts = folder / "sent_bytes.so", folder / "counts"
    prefix = Path(sys.executable).parent.parent
    source = Path(__file__).with_name("sent_bytes.c")
    flags = ["-shared", "-fPIC", "-O2", f"-I{prefix}/include", str(source), "-o", str(counter)]
    done = processes.run([*builds.c_compiler(), *flags])
    if done.returncode:
        raise RunDied(f"{source}: {done.stderr.strip()}")
    run_command(spec, engine, folder / "counted.npy", {"LD_PRELOAD": str(counter), "GOSSAMER_SENT_BYTES": str(counts)})
    sent = sum(int(line) for line in counts.read_text(encoding="ascii").split())
    cuts = shares.cuts_by_edges(lambda v: v, graph.vertices, RANKS).astype(np.int64)
    sources = np.repeat(np.arange(graph.vertices), graph.out.degrees().astype(np.int64))
    owners = np.searchsorted(cuts, graph.out.targets, side="right") - 1
    there = owners != np.searchsorted(cuts, sources, side="right") - 1
    pairs = len(np.unique(sources[there] * RANKS + owners[there]))
    return sent / STEPS / (pairs * _MESSAGE_BYTES)


__all__ = ["NAMES", "REPEAT", "SCALE", "STEPS", "geometric", "rows", "run_command", "step_seconds"]
