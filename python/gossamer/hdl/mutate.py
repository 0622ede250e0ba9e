# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of hardware: the share of faults injected by Yosys that a block's tests and proofs detect.

    report = mutate.run(mutate.block("cache"), 60, seed=1)
    print(report.share, report.escaped)

The tests run unmodified. A first run finds the designs that they build (`_mutants.Scouted`), from which Yosys samples
mutations. Then each design is built once, as a netlist with all mutants, and the tests run for each mutant, in
ascending order of duration, until one fails. Mutants that pass run the tests of the next size. A test that hangs has
failed. docs/hardware/testing.md has the details.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import gossamer_setup
from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _mutants
from gossamer.hdl._mutants import Mutation, Plan
from gossamer.hdl.sources import RTL
from gossamer.paths import ROOT
from gossamer.wording import counted

BLOCKS = (
    "core",
    "fpu",
    "cache",
    "mailbox",
    "memory",
    "tile",
    "common",
    "noc",
    "link",
    "switch",
    "multicast",
    "idle",
    "board",
    "stream",
    "match",
    "role",
    "shell",
)
# Additional folders of tests of a block.
_MORE_TESTS = {"tile": ("control",)}
# Modules for simulation only.
_NO_HARDWARE = {"gs_core_trace"}
COUNT = 60
LEAST = 0.95
"""Required share of detected mutants, without equivalent mutants."""
EQUIVALENTS = ROOT / "tests" / "rtl" / "equivalents.toml"
# A test hangs if its processor time exceeds this multiple of that without a mutant; or, for a test that sleeps forever,
# if the elapsed time exceeds _SLEEP times that limit. So a loaded machine does not make a mutant look detected.
_PATIENCE = 4.0
_GRACE_SECONDS = 60.0
_SLEEP = 10.0
_LOOK_SECONDS = 0.5
_SIZES = ("default", "all")


@dataclass(frozen=True)
class Target:
    """The files to mutate, and the tests that should detect the mutants."""

    name: str
    files: tuple[Path, ...]
    tests: Path
    more_tests: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Equivalent:
    """Mutations with an argument that they change no relevant behaviour."""

    file: str
    signal: str
    text: str
    """The start of the source text there, with blanks folded: the entry follows moved code, but not changed code."""
    why: str
    faults: tuple[str, ...] = ()
    """Substrings of `Mutation.fault`, of which one must match; without any, every fault at that location."""

    def covers(self, mutation: Mutation) -> bool:
        """Whether the entry covers a mutation."""
        if (mutation.file, mutation.signal) != (self.file, self.signal) or not mutation.text.startswith(self.text):
            return False
        return not self.faults or any(fault in mutation.fault for fault in self.faults)


@dataclass
class Verdict:
    """The outcome of a mutant."""

    number: int
    mutation: Mutation
    caught: str = ""
    """The test that failed or hung; empty if none did."""
    size: str = ""
    seconds: float = 0.0
    equivalent: str = ""
    """The argument for its equivalence; empty without one."""
    undecided: list[str] = field(default_factory=list)
    """Proofs that the solver did not decide, and which have not detected it."""


@dataclass
class Report:
    """The mutants of a block and their outcomes."""

    block: str
    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)
    """Omitted tests: they fail without a mutant, or Yosys cannot read their design."""

    @property
    def escaped(self) -> list[Verdict]:
        """Mutants that no test has detected, without equivalents."""
        return [verdict for verdict in self.verdicts if not verdict.caught and not verdict.equivalent]

    @property
    def judged(self) -> list[Verdict]:
        """All mutants without equivalents."""
        return [verdict for verdict in self.verdicts if not verdict.equivalent]

    @property
    def share(self) -> float:
        """Share of detected mutants among those that are not equivalent."""
        return 1 - len(self.escaped) / len(self.judged) if self.judged else 1.0


def block(name: str) -> Target:
    """A block of `rtl/` with the tests of the same name and its additional tests.

    Raises InputError for an unknown name.
    """
    if name not in BLOCKS:
        raise InputError(f"no block {name!r} to mutate; the blocks are {', '.join(BLOCKS)}")
    files = tuple(path for path in sorted((RTL / name).glob("*.sv")) if path.stem not in _NO_HARDWARE)
    tests = ROOT / "tests" / "rtl"
    return Target(name, files, tests / name, tuple(tests / more for more in _MORE_TESTS.get(name, ())))


def equivalents(path: Path = EQUIVALENTS) -> list[Equivalent]:
    """The entries of the file.

    Raises InputError for an incomplete entry.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    if not path.exists():
        return []
    found = []
    for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []), 1):
        keys = ("file", "signal", "text", "why")
        if set(entry) - {*keys, "faults"} or not all(isinstance(entry.get(key), str) and entry[key] for key in keys):
            raise InputError(f"{path}: entry {number}: needs {', '.join(keys)}, may have faults, and no other key")
        file, signal, text, why = (entry[key] for key in keys)
        found.append(Equivalent(file, signal, text, why, tuple(entry.get("faults", ()))))
    return found


class _Runner:
    """Runs a target's tests as child processes, several at once; `end` stops them all."""

    def __init__(self, target: Target, folder: Path, seed: int) -> None:
        self.target = target
        self.folder = folder
        self.seed = seed
        self.children: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.ending = False

    def end(self) -> None:
        """Stops all children."""
        with self.lock:
            self.ending = True
            children = list(self.children)
        for child in children:
            _kill(child)

    def tests(
        self,
        plan: Path,
        number: int,
        size: str,
        only: Sequence[str] = (),
        *,
        first: bool = False,
        limits: Mapping[str, float] | None = None,
    ) -> tuple[list[dict[str, object]], str]:
        """The outcome of each test, and the test that hung, if any. ``first``: stops at the first failure.

        ``limits`` has for each test of ``only`` the seconds of processor time after which it counts as hung.
        """
        with tempfile.TemporaryDirectory(prefix="run-", dir=self.folder) as scratch:
            outcomes, log = Path(scratch) / "outcomes", Path(scratch) / "log"
            outcomes.touch()
            root = ROOT if self.target.tests.is_relative_to(ROOT) else self.target.tests
            command = [sys.executable, "-I", "-m", "pytest", "-p", "gossamer.hdl._outcomes"]
            command += ["-o", f"cache_dir={scratch}/cache", "--no-header", "-q"]
            command += ["--rootdir", str(root), "-c", str(ROOT / "pyproject.toml")]
            command += [f"--basetemp={scratch}/tmp", *(["--exitfirst"] if first else [])]
            command += list(only) if only else [str(self.target.tests), *map(str, self.target.more_tests)]
            environment = {
                **os.environ,
                "GOSSAMER_TEST_TIER": size,
                "GOSSAMER_TEST_SEED": str(self.seed),
                _mutants.PLAN: str(plan),
                _mutants.NUMBER: str(number),
                _mutants.OUTCOMES: str(outcomes),
            }
            with open(log, "wb") as out:
                with self.lock:
                    if self.ending:
                        return [], ""
                    child = subprocess.Popen(
                        command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                        start_new_session=True,
                    )  # fmt: skip
                    self.children.add(child)
                try:
                    code, hung = _wait(child, _Watch(child.pid, outcomes, limits) if limits else None)
                finally:
                    _kill(child)
                    with self.lock:
                        self.children.discard(child)
            if code not in (0, 1, 5) and not self.ending:
                tail = log.read_text(errors="replace")[-2000:]
                raise InputError(f"the tests of {self.target.name} did not run (pytest: {code}):\n{tail}")
            return [one for one in _read(outcomes) if one["outcome"] != _mutants.BEGAN], hung


def _read(outcomes: Path) -> list[dict[str, object]]:
    """The starts and outcomes that the tests have written so far, without an incomplete last line."""
    lines = outcomes.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


class _Watch:
    """Finds the running test of a child, and whether it exceeds its limit."""

    def __init__(self, root: int, outcomes: Path, limits: Mapping[str, float]) -> None:
        self.root = root
        self.outcomes = outcomes
        self.limits = limits
        self.lines = 0
        self.began, self.used = time.monotonic(), 0.0

    def hung(self) -> str:
        """The running test, if it exceeds its limit of processor time or of elapsed time; else an empty text."""
        used = sum(_family(self.root).values())
        lines = _read(self.outcomes)
        if len(lines) != self.lines:
            self.lines, self.began, self.used = len(lines), time.monotonic(), used
        # Before the first test starts, pytest collects the tests.
        running = str(lines[-1]["test"]) if lines else max(self.limits, key=lambda test: self.limits[test])
        limit = self.limits[running]
        late = used - self.used > limit or time.monotonic() - self.began > _SLEEP * limit
        return running if late else ""


def _wait(child: subprocess.Popen[bytes], watch: _Watch | None) -> tuple[int, str]:
    """The exit code of a child, or the test that hangs."""
    while True:
        try:
            return child.wait(None if watch is None else _LOOK_SECONDS), ""
        except subprocess.TimeoutExpired:
            assert watch is not None
            if hung := watch.hung():
                return 0, hung


def _family(root: int) -> dict[int, float]:
    """A process and all that descend from it, with their processor time and that of their ended children.

    Simulators lead process groups of their own, so a group does not have all of them.
    """
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # After the name: state, parent, group, ...; user and system time, its own and its children's.
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            pid = int(stat.parent.name)
            parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    found = {root} & set(parents)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: ticks[pid] / os.sysconf("SC_CLK_TCK") for pid in found}


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kills a child and its descendants."""
    # A stopped process starts no others meanwhile.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGSTOP)
    for pid in _family(child.pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def run(
    target: Target,
    count: int = COUNT,
    *,
    seed: int = 1,
    jobs: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
    known: Sequence[Equivalent] | None = None,
    sizes: Sequence[str] = _SIZES,
) -> Report:
    """Makes ``count`` mutants and runs the target's tests for each; ``tell`` receives a line for each verdict.

    Raises InputError if the tests use no file of the target, or fail without a mutant.
    """
    gossamer_setup.require("core", "test", "rtl", "golden", "synth")
    began = time.monotonic()
    known = equivalents() if known is None else known
    jobs = jobs or len(os.sched_getaffinity(0))
    base = native.build_dir() / "hdl" / "mutation"
    base.mkdir(parents=True, exist_ok=True)
    report = Report(target.name, seed)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}-", dir=base) as scratch:
        runner = _Runner(target, Path(scratch), seed)
        with _ending(runner):
            stages = _scout(runner, target, count, seed, sizes, tell, report.left_out)
            plan = Path(scratch) / "plan.json"
            chosen = _choose(Path(scratch) / "offers", count, seed)
            Plan(tuple(map(str, target.files)), count, seed, tuple(chosen)).write(plan)
            report.verdicts = [Verdict(number, mutation) for number, mutation in enumerate(chosen, 1)]
            for verdict in report.verdicts:
                verdict.equivalent = next((entry.why for entry in known if entry.covers(verdict.mutation)), "")
            left = report.verdicts
            for size in filter(stages.__getitem__, sizes):
                _stage(runner, plan, size, stages[size], left, jobs, tell, report.left_out)
                # Equivalent mutants that pass the first size are not run again.
                left = [verdict for verdict in left if not verdict.caught and not verdict.equivalent]
                if not left:
                    break
    report.seconds = time.monotonic() - began
    return report


@contextlib.contextmanager
def _ending(runner: _Runner) -> Iterator[None]:
    try:
        yield
    finally:
        runner.end()


def _scout(
    runner: _Runner,
    target: Target,
    count: int,
    seed: int,
    sizes: Sequence[str],
    tell: Callable[[str], None],
    left_out: list[str],
) -> dict[str, list[str]]:
    """The tests that use files of the target, by size; ``offers`` has the mutations of each design."""
    offers = runner.folder / "offers"
    offers.mkdir()
    plan = runner.folder / "scout.json"
    Plan(tuple(map(str, target.files)), count, seed, (), str(offers)).write(plan)
    found = {}
    for size in sizes:
        outcomes, _ = runner.tests(plan, 0, size)
        found[size] = [str(one["test"]) for one in outcomes if "is to be mutated" in str(one["why"])]
    unread = [folder.name for folder in offers.iterdir() if not (folder / "offers.json").exists()]
    if unread:
        left_out += [f"tests of {name}" for name in sorted(unread)]
        tell(f"{target.name}: omitted, because Yosys cannot read them: tests of {', '.join(sorted(unread))}")
    if not any(found.values()) or not any(offers.glob("*/offers.json")):
        raise InputError(f"no test in {target.tests} uses a file of {target.name}")
    tell(f"{target.name}: {counted(len(found[sizes[-1]]), 'test')}")
    return found


def _choose(offers: Path, count: int, seed: int) -> list[Mutation]:
    """Mutations of the largest design, and of smaller designs for files that no larger one contains."""
    designs = [file.parent for file in offers.glob("*/offers.json")]
    designs.sort(key=lambda folder: (-(folder / "offered.json").stat().st_size, folder.name))
    found: list[Mutation] = []
    for folder in designs:
        known = {mutation.file for mutation in found}
        offered = [Mutation(**one) for one in json.loads((folder / "offers.json").read_text(encoding="utf-8"))]
        found += [mutation for mutation in offered if mutation.file not in known]
    random.Random(seed).shuffle(found)
    return found[:count]


def _clean(runner: _Runner, plan: Path, size: str, tests: Sequence[str], jobs: int) -> list[dict[str, object]]:
    """The outcomes of tests without a mutant, run on all processors."""
    shares = [tests[start::jobs] for start in range(min(jobs, len(tests)))]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return [one for share in pool.map(lambda few: runner.tests(plan, 0, size, few)[0], shares) for one in share]
        except BaseException:
            runner.end()
            raise


def _name(outcome: Mapping[str, object]) -> str:
    """A test without its file."""
    return str(outcome["test"]).partition("::")[2]


def _stage(
    runner: _Runner,
    plan: Path,
    size: str,
    tests: Sequence[str],
    verdicts: Sequence[Verdict],
    jobs: int,
    tell: Callable[[str], None],
    left_out: list[str],
) -> None:
    """Runs the tests of a size for each mutant, the shortest first."""
    began = time.monotonic()
    outcomes = _clean(runner, plan, size, tests, jobs)
    failed = [one for one in outcomes if one["outcome"] == "failed"]
    if len(failed) == len(outcomes):
        raise InputError(f"all tests fail without a mutant, for example {failed[0]['test']}: {failed[0]['why']}")
    # Tests that included a build run again, to measure their duration.
    built = time.monotonic()
    again = [str(one["test"]) for one in outcomes if one["outcome"] == "passed" and one["built"]]
    outcomes = [one for one in outcomes if one["test"] not in again] + _clean(runner, plan, size, again, jobs)
    passed = [one for one in outcomes if one["outcome"] == "passed"]
    failed = [one for one in outcomes if one["outcome"] == "failed"]
    if failed:
        # Either they access objects that the netlist lacks, or the netlist behaves differently: a fault of the design.
        left_out += [name for name in sorted({_name(one) for one in failed}) if name not in left_out]
        tell("omitted, because they fail without a mutant in the netlist (read why: synthesis may differ):")
        for one in failed:
            tell(f"  {_name(one)}: {' '.join(str(one['why']).split())[-200:]}")
    seconds = {str(one["test"]): float(str(one["seconds"])) for one in passed}
    # The first test of a run sets up shared fixtures, and the first test differs between runs.
    shared = max((float(str(one["setup"])) for one in passed), default=0.0)
    limits = {test: _PATIENCE * (taken + shared) + _GRACE_SECONDS for test, taken in seconds.items()}
    took = f"{counted(len(seconds), 'test')} run in {sum(seconds.values()):.0f} s"
    tell(f"{size} tests: built in {built - began:.0f} s, {took}")
    catches: Counter[tuple[str, str]] = Counter()

    def soonest(mutation: Mutation) -> list[str]:
        """Short tests first, weighted by the mutants that they have detected, above all of the same file."""

        def patience(test: str) -> float:
            return seconds[test] / (1 + catches[test, ""] + 10 * catches[test, mutation.file])

        return sorted(seconds, key=patience)

    done = 0

    def judge(verdict: Verdict) -> None:
        nonlocal done
        start = time.monotonic()
        order = soonest(verdict.mutation)
        seen, hung = runner.tests(plan, verdict.number, size, order, first=True, limits=limits)
        if runner.ending:
            return
        verdict.seconds += time.monotonic() - start
        failure = next((str(one["test"]) for one in seen if one["outcome"] == "failed"), "")
        verdict.undecided += [str(one["test"]).partition("::")[2] for one in seen if one["outcome"] == "undecided"]
        failure = failure or hung
        if failure:
            catches.update([(failure, ""), (failure, verdict.mutation.file)])
        if hung:
            failure += " (it hangs)"
        verdict.caught, verdict.size = failure, size
        done += 1
        end = f"caught by {failure.partition('::')[2]}" if failure else "passes"
        argued = " (argued to be equivalent)" if verdict.equivalent else ""
        if verdict.undecided and not failure:
            end += f", {', '.join(verdict.undecided)} undecided"
        tell(f"[{done}/{len(verdicts)}] {verdict.mutation}: {end}{argued} ({verdict.seconds:.0f} s)")

    pool = ThreadPoolExecutor(jobs)
    try:
        for future in [pool.submit(judge, verdict) for verdict in verdicts]:
            future.result()
    finally:
        # Also after Ctrl-C: stop the running tests, and cancel the pending ones.
        pool.shutdown(wait=False, cancel_futures=True)
        if sys.exc_info()[0] is not None:
            runner.end()
        pool.shutdown(wait=True)


__all__ = [
    "BLOCKS",
    "COUNT",
    "EQUIVALENTS",
    "LEAST",
    "Equivalent",
    "Mutation",
    "Report",
    "Target",
    "Verdict",
    "block",
    "equivalents",
    "run",
]
