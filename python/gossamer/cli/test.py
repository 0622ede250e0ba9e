# SPDX-License-Identifier: Apache-2.0
"""``./gossamer test``: runs the tests, all or by name, in four tiers."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType

import click

import gossamer_setup
from gossamer.errors import AnswerNo, ExitCode, InputError
from gossamer.paths import ROOT

# What pytest's exit codes mean.
_FAILED, _STOPPED, _INTERNAL, _USAGE, _NOTHING = 1, 2, 3, 4, 5
_GRACE_SECONDS = 20.0


@click.command(short_help="Run the tests.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", "tier", flag_value="quick", help="Whether this installation works: at most 3 minutes.")
@click.option("--all", "tier", flag_value="all", help="Every test with every set of parameters: about an hour.")
@click.option("--full", "tier", flag_value="full", help="The same with large counts: hours.")
@click.option("-x", "--exitfirst", is_flag=True, help="Stop at the first failure.")
@click.option("--list", "list_only", is_flag=True, help="Print the tests that would run.")
@click.option("--jobs", type=click.IntRange(min=1), help="Tests that run at a time (default: one per processor).")
@click.option("--record", is_flag=True, help="Write the measured durations to tests/durations.json.")
@click.option("--record-proofs", is_flag=True, help="Note each proof that passes in tests/proofs.json.")
@click.option("--mutants", "mutants", metavar="BLOCK", help="Count which of N faults in a block its tests notice.")
@click.option("--seed", type=click.IntRange(min=0), help="Which faults, with --mutants (1).")
def command(
    names: tuple[str, ...],
    tier: str | None,
    exitfirst: bool,
    list_only: bool,
    jobs: int | None,
    record: bool,
    record_proofs: bool,
    mutants: str | None,
    seed: int | None,
) -> int:
    """Run the tests whose file or name contains NAME (all if none is given), or files of your own.

    Without an option the default tier runs: every block, every feature and every command once, in at most 20 minutes
    on two cores. Proofs whose inputs have not changed since they passed are skipped in it (tests/proofs.json).

    Exit code 1 if a test failed. A random test prints its seed; GOSSAMER_TEST_SEED=N repeats it.

    With --mutants BLOCK [N]: puts N faults (60), one at a time, into a block of the hardware (core, fpu, cache,
    mailbox, memory, tile, common, noc, link, switch, multicast, idle, board, stream, match, role, shell) and runs the
    block's tests and proofs. Prints each fault that they miss, and the share that they detect; exit code 1 below 0.95.

    \b
    Examples:
      ./gossamer test --quick
      ./gossamer test pagerank test_setup
      ./gossamer test mine/test_mine.py
      ./gossamer test --full 'test_cpp.py::test_cpp[core'
      ./gossamer test --mutants cache 30 --seed 7
    """
    if mutants is not None:
        if exitfirst or list_only:
            raise InputError("--mutants runs all that it makes: leave out --exitfirst and --list")
        return _mutants(mutants, names, tier, 1 if seed is None else seed)
    if seed is not None:
        raise InputError("--seed is for --mutants; a random test's is GOSSAMER_TEST_SEED=N ./gossamer test NAME")
    if (text := os.environ.get("GOSSAMER_TEST_SEED")) and not text.isdecimal():
        raise InputError(f"GOSSAMER_TEST_SEED={text}: must be a number, as a failed test printed it")
    gossamer_setup.require("core", "test")
    if not names and platform.machine() == "x86_64":
        # All tests: those of the hardware need its tools, which have builds for this machine alone. A test that is
        # named asks for what it needs itself.
        gossamer_setup.require("rtl", "mpi", "golden", "synth", "cluster", "sign", "plot")
    arguments = ["-m", "pytest", "--no-header", "-q", "-rs", "--durations=40", "--durations-min=20"]
    arguments += ["-p", "gossamer.cli._test_plugin"]
    own = [Path(name).resolve() for name in names if name.endswith(".py") and Path(name).is_file()]
    own = [path for path in own if not path.is_relative_to(ROOT / "tests")]
    if own and len(own) < len(names):
        raise InputError("files of your own and names of ours do not go together; run them one after the other")
    for name in names:
        if not name.isprintable():
            raise InputError(f"no test has {name!r} in its name; ./gossamer test --list shows all names")
    arguments += [] if own else [f"--name={name}" for name in names]
    arguments += ["--exitfirst"] if exitfirst else []
    jobs = jobs or len(os.sched_getaffinity(0))
    if list_only:
        arguments += ["--collect-only"]
    elif jobs > 1:
        # Test by test, in the order of tests/durations.py; tests of one xdist_group stay together.
        arguments += [f"--numprocesses={jobs}", "--dist=loadgroup", "--no-loadscope-reorder"]
    arguments += ["--record"] if record else []
    environment = dict(os.environ, GOSSAMER_TEST_TIER=tier or "default")
    with tempfile.TemporaryDirectory() as folder:
        hint_file = Path(folder) / "hint"
        environment["GOSSAMER_TEST_HINT"] = str(hint_file)
        command = [sys.executable, "-I", *arguments, *(map(str, own) if own else ("tests",))]
        proofs = Path(folder) / "proofs"
        if record_proofs:
            environment["GOSSAMER_RECORD_PROOFS"] = str(proofs)
        code = _run(command, environment)
        if record_proofs and proofs.exists():
            from gossamer.hdl import proof_ledger

            proof_ledger.write(proofs.read_text(encoding="utf-8"), whole=tier == "all" and not names and code == 0)
        hint = hint_file.read_text(encoding="utf-8") if hint_file.exists() else ""
    if code is None:
        return int(ExitCode.INTERRUPTED)
    if code == 0:
        return int(ExitCode.DONE)
    if code == _NOTHING and names:
        wanted = " or ".join(repr(name) for name in names)
        raise InputError(f"no test has {wanted} in its name; {hint or './gossamer test --list shows all names'}")
    if code in (_INTERNAL, _USAGE, _NOTHING) or code < 0:
        raise RuntimeError(f"pytest ended with {code}")
    raise AnswerNo("a test failed" if code == _FAILED else "the tests could not be collected")


def _run(command: list[str], environment: dict[str, str]) -> int | None:
    """Runs pytest; returns its exit code, None if a signal stopped it. Pytest itself reports its progress."""
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        child.send_signal(signal.SIGINT)
        raise KeyboardInterrupt

    # From the checkout, so that its settings hold; isolated, as the command itself is. In a new session, so that
    # a terminal's Ctrl-C reaches only this process: pytest ends at once on a second one.
    child = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        code = child.wait()
    except KeyboardInterrupt:
        # The tests end what they started.
        try:
            child.wait(_GRACE_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return None
    # The tests may have noticed the signal first.
    return None if stopped else code


def _mutants(block: str, names: tuple[str, ...], tier: str | None, seed: int) -> int:
    """Mutation testing of a block; undetected faults are printed last."""
    from gossamer.hdl import mutate

    if len(names) > 1 or (names and not (names[0].isdecimal() and 0 < int(names[0]) < 10_000)):
        raise InputError(f"--mutants BLOCK [N]: N is a number of mutants, not {' '.join(names)!r}")
    target = mutate.block(block)

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    tiers = {None: ("default",), "all": ("default", "all"), "full": ("default", "all", "full")}
    if tier not in tiers:
        raise InputError("--mutants runs the default tier's tests first; give --all or --full for more, not --quick")
    sizes = tiers[tier]
    report = mutate.run(
        target, int(names[0]) if names else mutate.COUNT, seed=seed, sizes=sizes, tell=lambda line: click.echo(line)
    )
    escaped = report.escaped
    for verdict in escaped:
        undecided = f" (not decided: {', '.join(verdict.undecided)})" if verdict.undecided else ""
        click.echo(f"escaped: {verdict.mutation}{undecided}")
    for verdict in report.verdicts:
        if verdict.equivalent and verdict.caught:
            click.echo(f"argued to be equivalent, but {verdict.caught} fails: {verdict.mutation}")
    if report.left_out:
        click.echo(f"left out: {', '.join(report.left_out)}")
    judged = len(report.judged)
    click.echo(
        f"{block}: {judged - len(escaped)} of {judged} mutants caught, {report.share:.3f}; "
        f"{len(report.verdicts) - judged} argued to be equivalent; seed {seed}; {report.seconds / 60:.1f} minutes"
    )
    if report.share < mutate.LEAST:
        raise AnswerNo(f"{len(escaped)} mutants escaped; at least {mutate.LEAST} of them must be caught")
    return int(ExitCode.DONE)
