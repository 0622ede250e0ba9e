# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of hardware: how many faults that Yosys puts into a block its tests and proofs notice.

    report = mutate.run(mutate.block("cache"), 60, seed=1)
    print(report.share, report.escaped)

The tests run as they are. First they are asked which designs they build (`_mutants.Scouted`); of these Yosys samples
mutations; then each design is built once, as a netlist with all mutants in it, and the tests run once for each, the
quick ones first, until one fails. What passes them runs them again at their default size. A test that hangs has failed.
docs/hardware/testing.md tells it at length.
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

BLOCKS = ("core", "fpu", "cache", "mailbox", "memory", "tile", "common", "noc", "link", "switch", "multicast", "idle")
# Folders of tests that a block has besides its own.
_MORE_TESTS = {"tile": ("control",)}
# Modules for simulation alone.
_NO_HARDWARE = {"gs_core_trace"}
COUNT = 60
LEAST = 0.95
"""The share of mutants that are not equivalent which tests must notice."""
EQUIVALENTS = ROOT / "tests" / "rtl" / "equivalents.toml"
# A test hangs when it has used so much more processor time than without a mutant; or, where it sleeps for ever, when so
# many times that has passed on the clock. So other work on the machine makes no mutant look caught.
_PATIENCE = 4.0
_GRACE_SECONDS = 60.0
_SLEEP = 10.0
_LOOK_SECONDS = 0.5
_SIZES = ("default", "all")


@dataclass(frozen=True)
class Target:
    """What is mutated, and what should notice."""

    name: str
    files: tuple[Path, ...]
    tests: Path
    more_tests: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Equivalent:
    """Mutations of which somebody has argued that they change nothing that matters."""

    file: str
    signal: str
    text: str
    """How the source at their place begins, blanks folded: what moves stays argued, what changes does not."""
    why: str
    faults: tuple[str, ...] = ()
    """Parts of `Mutation.fault` of which one must be there; none: any fault at that place."""

    def covers(self, mutation: Mutation) -> bool:
        """Whether this mutation is argued."""
        if (mutation.file, mutation.signal) != (self.file, self.signal) or not mutation.text.startswith(self.text):
            return False
        return not self.faults or any(fault in mutation.fault for fault in self.faults)


@dataclass
class Verdict:
    """What became of a mutant."""

    number: int
    mutation: Mutation
    caught: str = ""
    """The test that failed or hung; empty: none did."""
    size: str = ""
    seconds: float = 0.0
    equivalent: str = ""
    """Why it is no fault."""
    undecided: list[str] = field(default_factory=list)
    """Proofs that were not decided with it: they have not noticed it."""


@dataclass
class Report:
    """A block's mutants and what became of them."""

    block: str
    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    seconds: float = 0.0
    left_out: list[str] = field(default_factory=list)
    """Tests that judge no mutant: they fail without one, or Yosys cannot read what they build."""

    @property
    def escaped(self) -> list[Verdict]:
        """Faults that no test has noticed."""
        return [verdict for verdict in self.verdicts if not verdict.caught and not verdict.equivalent]

    @property
    def judged(self) -> list[Verdict]:
        """All but the equivalents."""
        return [verdict for verdict in self.verdicts if not verdict.equivalent]

    @property
    def share(self) -> float:
        """Of the mutants that are not equivalent, those that were noticed."""
        return 1 - len(self.escaped) / len(self.judged) if self.judged else 1.0


def block(name: str) -> Target:
    """A block of `rtl/` with the tests of the same name, and with those of its parts.

    Raises InputError if there is none.
    """
    if name not in BLOCKS:
        raise InputError(f"no block {name!r} to mutate; there are: {', '.join(BLOCKS)}")
    files = tuple(path for path in sorted((RTL / name).glob("*.sv")) if path.stem not in _NO_HARDWARE)
    tests = ROOT / "tests" / "rtl"
    return Target(name, files, tests / name, tuple(tests / more for more in _MORE_TESTS.get(name, ())))


def equivalents(path: Path = EQUIVALENTS) -> list[Equivalent]:
    """What the file argues.

    Raises InputError where an entry is not complete.
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
            raise InputError(f"{path}: entry {number}: it has {', '.join(keys)} and, if need be, faults; nothing else")
        file, signal, text, why = (entry[key] for key in keys)
        found.append(Equivalent(file, signal, text, why, tuple(entry.get("faults", ()))))
    return found


class _Runner:
    """Runs a target's tests as children, any number at once, and ends them all when it is left."""

    def __init__(self, target: Target, folder: Path, seed: int) -> None:
        self.target = target
        self.folder = folder
        self.seed = seed
        self.children: set[subprocess.Popen[bytes]] = set()
        self.lock = threading.Lock()
        self.ending = False

    def end(self) -> None:
        """Stops what runs."""
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
        """What became of each test that ran, and the one that hung, if any. ``first``: stops at the first failure.

        ``limits`` has for each test of ``only`` the seconds of processor time after which it hangs.
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
                raise InputError(f"the tests of {self.target.name} could not be run (pytest: {code}):\n{tail}")
            return [one for one in _read(outcomes) if one["outcome"] != _mutants.BEGAN], hung


def _read(outcomes: Path) -> list[dict[str, object]]:
    """What tests have written so far, as they began and ended; the last line may be under way."""
    lines = outcomes.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


class _Watch:
    """Looks which test of a child runs, and whether it takes too long."""

    def __init__(self, group: int, outcomes: Path, limits: Mapping[str, float]) -> None:
        self.group = group
        self.outcomes = outcomes
        self.limits = limits
        self.lines = 0
        self.began, self.used = time.monotonic(), 0.0

    def hung(self) -> str:
        """The test that runs, if it has used more processor time than it may, or has slept for too long."""
        used = _processor_seconds(self.group)
        lines = _read(self.outcomes)
        if len(lines) != self.lines:
            self.lines, self.began, self.used = len(lines), time.monotonic(), used
        # Before the first one begins, tests are being collected.
        running = str(lines[-1]["test"]) if lines else max(self.limits, key=lambda test: self.limits[test])
        limit = self.limits[running]
        late = used - self.used > limit or time.monotonic() - self.began > _SLEEP * limit
        return running if late else ""


def _wait(child: subprocess.Popen[bytes], watch: _Watch | None) -> tuple[int, str]:
    """The exit code of a child; or the test that hangs."""
    while True:
        try:
            return child.wait(None if watch is None else _LOOK_SECONDS), ""
        except subprocess.TimeoutExpired:
            assert watch is not None
            if hung := watch.hung():
                return 0, hung


def _processor_seconds(group: int) -> float:
    """What the processes of a group, and their children that have ended, have used."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # Behind the name: state, parent, group, ...; user and system time, its own and its children's.
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Ends a child and what it started."""
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
    """Makes ``count`` mutants and runs the target's tests against each; ``tell`` gets a line as each is judged.

    Raises InputError where the tests build nothing of the target, or fail without a mutant.
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
                # What is argued and not noticed by the quick tests is left at that.
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
    """The tests that build something of the target, in each size; what the designs offer is in ``offers``."""
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
        tell(f"{target.name}: left out, as Yosys cannot read them: tests of {', '.join(sorted(unread))}")
    if not any(found.values()) or not any(offers.glob("*/offers.json")):
        raise InputError(f"no test in {target.tests} builds anything of {target.name}")
    tell(f"{target.name}: {len(found[sizes[-1]])} tests use it")
    return found


def _choose(offers: Path, count: int, seed: int) -> list[Mutation]:
    """From the largest design, and from others only for files that are in none that is larger."""
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
    """What becomes of tests without a mutant, on all processors."""
    shares = [tests[start::jobs] for start in range(min(jobs, len(tests)))]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return [one for share in pool.map(lambda few: runner.tests(plan, 0, size, few)[0], shares) for one in share]
        except BaseException:
            runner.end()
            raise


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
    """Runs the tests of a size for each mutant; the short ones first."""
    began = time.monotonic()
    outcomes = _clean(runner, plan, size, tests, jobs)
    failed = [one for one in outcomes if one["outcome"] == "failed"]
    if len(failed) == len(outcomes):
        raise InputError(f"all tests fail without a mutant, {failed[0]['test']} for one: {failed[0]['why']}")
    # Those that had to build something run once more, to know how long they take.
    built = time.monotonic()
    again = [str(one["test"]) for one in outcomes if one["outcome"] == "passed" and one["built"]]
    outcomes = [one for one in outcomes if one["test"] not in again] + _clean(runner, plan, size, again, jobs)
    passed = [one for one in outcomes if one["outcome"] == "passed"]
    failed = [one for one in outcomes if one["outcome"] == "failed"]
    if failed:
        # They look for something that a netlist has not.
        names = sorted({str(one["test"]).partition("::")[2] for one in failed})
        left_out += [name for name in names if name not in left_out]
        tell(f"left out, as they fail without a mutant in the netlist: {', '.join(names)}")
    seconds = {str(one["test"]): float(str(one["seconds"])) for one in passed}
    # What tests share is set up by the first of them, and not always by the same one.
    shared = max((float(str(one["setup"])) for one in passed), default=0.0)
    limits = {test: _PATIENCE * (taken + shared) + _GRACE_SECONDS for test, taken in seconds.items()}
    tell(f"{size} tests: built in {built - began:.0f} s, {len(seconds)} run in {sum(seconds.values()):.0f} s")
    catches: Counter[tuple[str, str]] = Counter()

    def soonest(mutation: Mutation) -> list[str]:
        """Short tests first, and those that have caught others: of the same file above all."""

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
            end += f", {', '.join(verdict.undecided)} not decided"
        tell(f"[{done}/{len(verdicts)}] {verdict.mutation}: {end}{argued} ({verdict.seconds:.0f} s)")

    pool = ThreadPoolExecutor(jobs)
    try:
        for future in [pool.submit(judge, verdict) for verdict in verdicts]:
            future.result()
    finally:
        # Also after Ctrl-C: what runs ends, what does not run never will.
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
