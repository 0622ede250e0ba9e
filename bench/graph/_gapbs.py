# SPDX-License-Identifier: Apache-2.0
"""GAPBS, from a folder that the user names: its programs, run on a file with our graph.

The programs print no answers but their own check of them and a few figures, which are compared
with ours. The file is GAPBS's own serialised form: text would lose parallel edges and be slow to read.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from gossamer import builds
from gossamer.errors import AnswerNo, InputError

from ._answers import same_count, same_ranks
from ._graphs import SEARCHES, SOURCES, Case
from ._jobs import ITERATIONS, UNREACHED, Columns, Job

PROGRAMS = {"pagerank": "pr_spmv", "sssp": "sssp", "asp64": "bfs", "bfs": "bfs", "triangles": "tc"}
_FLAGS = ("-std=c++17", "-O3", "-march=native", "-fopenmp", "-w")
_PATIENCE = 3600.0


def program(folder: Path, name: str, into: Path) -> Path:
    """A program of GAPBS: compiled from its source as ours is, or else as it stands in the folder."""
    source = folder / "src" / f"{name}.cc"
    if source.is_file():
        into.mkdir(parents=True, exist_ok=True)
        command = [*builds.compiler(), *_FLAGS, "-o", str(into / name), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line]
            raise InputError(f"{source}: does not compile: {errors[0] if errors else 'the compiler failed'}")
        return into / name
    if os.access(folder / name, os.X_OK):
        return folder / name
    raise InputError(f"{folder}: neither src/{name}.cc nor a program {name}; name a folder of GAPBS")


def write_graph(case: Case, path: Path, *, weighted: bool, simple: bool = False) -> None:
    """GAPBS's serialised graph: flags and counts, then offsets and neighbours, each way."""
    graph = case.simple if simple else case.graph
    with open(path, "wb") as file:
        file.write(np.array([not graph.symmetric], np.bool_).tobytes())
        file.write(np.array([graph.edges, graph.vertices], np.int64).tobytes())
        for rows in (graph.out,) if graph.symmetric else (graph.out, graph.into):
            rows.offsets.astype(np.int64).tofile(file)
            neighbours = rows.targets.astype(np.int32)
            if weighted:
                assert rows.weights is not None
                neighbours = np.stack([neighbours, rows.weights.astype(np.int32)], axis=1)
            neighbours.tofile(file)


class Gapbs(Job):
    """One of its programs. Each call makes two trials, of which the second counts: the first warms up."""

    def __init__(self, measure: str, case: Case, folder: Path, scratch: Path) -> None:
        super().__init__()
        self.name = PROGRAMS[measure]
        self.case = case
        self.program = program(folder, self.name, scratch)
        weighted = measure == "sssp"
        simple = measure == "triangles"
        self.file = scratch / f"{case.name}{'-simple' if simple else ''}.{'wsg' if weighted else 'sg'}"
        if not self.file.exists():
            write_graph(case, self.file, weighted=weighted, simple=simple)
        self.sources = case.sources if measure == "asp64" else case.sources[:: SOURCES // SEARCHES]
        self.config = {"peer_does": self.name, "peer_folder": str(folder)}
        if measure == "pagerank":
            self.config |= {"peer_precision": "float32"}
        if measure == "sssp":
            self.config |= {"peer_delta": "its default, 1"}
        if self.name == "bfs":
            self.config |= {"peer_does": f"{self.name}, {len(self.sources)} runs of it, summed"}
        self.threads = 1

    def use(self, threads: int) -> int:
        self.threads = threads
        return threads

    def answer(self) -> Any:
        raise NotImplementedError("GAPBS times itself")

    def measure(self) -> tuple[float, Any]:
        return self._measure(check=False)

    def checked(self) -> tuple[float, Any]:
        """As ``measure``, with GAPBS's own check of its answer and all that it tells of it."""
        return self._measure(check=True)

    def _measure(self, *, check: bool) -> tuple[float, str]:
        extra = ["-v", "-a"] if check else []
        if self.name == "pr_spmv":
            return self._run("-i", str(ITERATIONS), "-t", "0", *extra)
        if self.name == "sssp":
            return self._run("-r", str(self.case.source), *extra)
        if self.name == "tc":
            return self._run(*extra)
        runs = [self._run("-r", str(source), *extra) for source in self.sources]
        return sum(seconds for seconds, _ in runs), "".join(text for _, text in runs)

    def _run(self, *arguments: str) -> tuple[float, str]:
        command = [str(self.program), "-f", str(self.file), "-n", "2", *arguments]
        environment = dict(os.environ, OMP_NUM_THREADS=str(self.threads))
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        trials = re.findall(r"^Trial Time:\s*([\d.eE+-]+)", done.stdout, re.MULTILINE)
        if done.returncode or len(trials) != 2:
            last = (done.stderr or done.stdout).strip().splitlines()
            why = last[-1] if last else "it said nothing"
            raise InputError(f"{self.program}: ended with {done.returncode}: {why}")
        return float(trials[1]), done.stdout

    def compare(self, where: str, ours: Columns, answer: Any) -> str:
        verdicts = re.findall(r"^Verification:\s*(\w+)", answer, re.MULTILINE)
        # Twenty iterations need not have come to rest, which is what GAPBS asks of ranks.
        if self.name != "pr_spmv" and (not verdicts or set(verdicts) != {"PASS"}):
            raise AnswerNo(f"{where}: GAPBS finds its own answer wrong")
        if self.name == "pr_spmv":
            found = dict(re.findall(r"^\s*(\d+):([\d.eE+-]+)\s*$", answer, re.MULTILINE))
            if not found:
                raise AnswerNo(f"{where}: GAPBS printed no ranks to compare")
            best = np.array(sorted(map(int, found)))
            theirs = np.array([float(found[str(vertex)]) for vertex in best])
            return f"its {len(best)} greatest ranks: {same_ranks(where, ours['rank'][best], theirs)}"
        if self.name == "sssp":
            reached = re.search(r"reaches (\d+) nodes", answer)
            least = int((ours["distance"] != UNREACHED).sum())
            told = int(reached[1]) if reached else -1
            return "its own check, and " + same_count(where, "vertices reached", least, told)
        if self.name == "tc":
            counted = re.search(r"(\d+) triangles", answer)
            told = int(counted[1]) if counted else -1
            return "its own check, and " + same_count(where, "triangles", int(ours["triangles"][0]), told)
        counts = re.findall(r"BFS Tree has (\d+) nodes", answer)
        # It tells of the last trial or of each, as its version may have it.
        told = sum(map(int, counts)) // max(1, len(counts) // len(self.sources))
        mine = int(ours["sources" if "sources" in ours else "reached"].sum())
        return "its own check, and " + same_count(where, "vertices reached in all", mine, told)
