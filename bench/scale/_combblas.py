# SPDX-License-Identifier: Apache-2.0
"""Rows of the engine ``distributed`` against CombBLAS: PageRank on the same graph, in turns, results compared.

CombBLAS arranges ranks in a square. Against two ranks it runs one rank with two threads.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gossamer_setup
from gossamer import builds, diagnostics, processes
from gossamer.bench import Context, Row
from gossamer.errors import InputError, RunDied
from gossamer.graph import generate
from gossamer_setup import SetupError, _system

from ._distributed import REPEAT, STEPS, geometric, run_command

_RANKS = (1, 2, 4)
_PEER = {1: (1, 1), 2: (1, 2), 4: (4, 1)}
"""For each number of our ranks: ranks and threads of each rank of CombBLAS."""
NAMES = tuple(f"distributed.vs-combblas.n{ranks}" for ranks in _RANKS)
_LEAST = 2.0
_SOURCE = Path(__file__).with_name("combblas_pagerank.cc")
_HEADER = "CombBLAS/Exception.h"
"""A header that includes no other: the compiler that looks for it is not that of MPI."""


def rows(context: Context) -> Iterator[Row]:
    """The rows asked for; skipped without CombBLAS. Raises RunDied where the two results differ."""
    wanted = [ranks for ranks in _RANKS if context.wants(f"distributed.vs-combblas.n{ranks}")]
    if not wanted:
        return
    try:
        launcher = gossamer_setup.program("mpirun.openmpi", "openmpi-bin")
        compiler = gossamer_setup.program("mpicxx.openmpi", "libopenmpi-dev")
        _system.library(_HEADER, "CombBLAS", "libcombblas-dev")
    except SetupError as error:
        for ranks in wanted:
            yield context.skip(f"distributed.vs-combblas.n{ranks}", str(error), "ms/step")
        return
    program = _program(compiler)
    spec = geometric()
    graph = generate.from_spec(spec)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edges = folder / "edges"
        ends = np.repeat(np.arange(graph.vertices, dtype=np.int32), graph.out.degrees().astype(np.int64))
        np.stack([ends, graph.out.targets.astype(np.int32)], axis=1).tofile(edges)
        for ranks in wanted:
            peer_ranks, threads = _PEER[ranks]
            start = [launcher, "--oversubscribe", "--bind-to", "none", "-n", str(peer_ranks), program]
            ours, theirs = [], []
            for _ in range(context.repeat or REPEAT):
                engine = ["--engine", "distributed", "-n", str(ranks), "-t", "1"]
                ours.append(_fastest(run_command(spec, engine, folder / "ours.npy", {})["step_seconds"]))
                theirs.append(_peer([*map(str, start), str(edges)], graph.vertices, threads, folder / "theirs"))
            own, other = np.load(folder / "ours.npy"), np.fromfile(folder / "theirs", np.float32)
            if own.shape != other.shape or not np.allclose(own, other, rtol=1e-3, atol=0):
                raise RunDied(f"distributed.vs-combblas.n{ranks}: the ranks of vertices differ from those of CombBLAS")
            best = min(ours), min(theirs)
            yield context.row(
                f"distributed.vs-combblas.n{ranks}",
                best[0] * 1e3,
                "ms/step",
                reference={"what": "CombBLAS", "value": best[1] * 1e3, "unit": "ms/step"},
                ratio=best[1] / best[0],
                least_ratio=_LEAST,
                app="pagerank",
                graph=f"gen:{spec}",
                steps=STEPS,
                peer_ranks=peer_ranks,
                peer_threads=threads,
                peer_does="SpMV of a matrix of bool and a dense vector of float",
            )


def _program(compiler: str) -> Path:
    def steps(plan: builds.Plan) -> None:
        flags = ["-std=c++17", "-O3", "-march=native", "-fopenmp", "-DTHREADED", "-w"]
        made = plan.compile(_SOURCE, flags, "pagerank.o", tool=[compiler])
        plan.run("pagerank", [compiler, "-fopenmp", "-o", "pagerank", made, "-lCombBLAS"], [made])

    def failed(said: str, log: Path) -> InputError:
        return InputError(f"building the peer CombBLAS failed: {diagnostics.complaint(said, _SOURCE.parent, log)}")

    return builds.kept("bench/combblas", steps, failed, title="building the peer CombBLAS") / "pagerank"


def _fastest(seconds: list[float]) -> float:
    """The fastest of the last half of the steps: a rank that spins, as the peer's do, suffers most from other work."""
    return min(seconds[STEPS // 2 :])


def _peer(command: list[str], vertices: int, threads: int, result: Path) -> float:
    """Seconds of a step of CombBLAS."""
    more: dict[str, Any] = {
        "OMP_NUM_THREADS": str(threads),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    done = processes.run([*command, str(vertices), str(STEPS), str(result)], env={**os.environ, **more})
    lines = done.stdout.split()
    if done.returncode or len(lines) != STEPS:
        raise RunDied(f"CombBLAS: {done.stderr.strip()[-300:] or f'exit code {done.returncode}'}")
    return _fastest([float(line) for line in lines])


__all__ = ["NAMES", "rows"]
