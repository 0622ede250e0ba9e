# SPDX-License-Identifier: Apache-2.0
"""The command-line frame: help, invalid input, exit codes, and the common part of the bench suites."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from conftest import ROOT, Command, Size

import gossamer.__main__ as entry
import gossamer.cli.bench as bench_cli
import gossamer.paths
import gossamer_setup

LAUNCHER = [sys.executable, str(ROOT / "gossamer")]
NAMES = list(gossamer_setup.COMMANDS)


def one_line(text: str) -> str:
    """An error is one line that opens with the command's name."""
    assert re.fullmatch(r"gossamer: error: [^\n]+\n", text), text
    return text


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help_lists_every_command_with_examples(command: Command, arguments: list[str]) -> None:
    done = command(*arguments)
    assert done.returncode == 0 and not done.stderr
    assert all(re.search(rf"^  {name} ", done.stdout, re.MULTILINE) for name in NAMES)
    assert "Examples:" in done.stdout


@pytest.mark.tier("quick", seconds=1, adds="the command starts in its environment")
def test_version_is_printed(command: Command) -> None:
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"gossamer {gossamer_setup.VERSION}\n", "")


@pytest.mark.parametrize("name", NAMES)
def test_help_of_each_command_has_examples(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"./gossamer {name}" in done.stdout
    assert re.search("examples?:", done.stdout, re.IGNORECASE), done.stdout


def test_test_help_lists_every_block_with_mutants(command: Command) -> None:
    from gossamer.hdl.mutate import BLOCKS

    assert f"({', '.join(BLOCKS)})" in " ".join(command("test", "--help").stdout.split())


@pytest.mark.parametrize("name", NAMES)
def test_module_and_launcher_print_the_same_help(command: Command, name: str) -> None:
    """The launcher prints some help itself; the module started directly prints the same."""
    module = [sys.executable, "-I", "-m", "gossamer"]
    done = subprocess.run([*module, name, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, command(name, "--help").stdout)
    done = subprocess.run([*module, "--help"], capture_output=True, text=True, check=False)
    assert done.stdout == command("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["test", "--seed", "5"], "--seed is for --mutants"),
        (["test", "--mutants", "core", "-x"], "leave out --exitfirst"),
        (["runn"], "did you mean 'run'?"),
        (["docter"], "did you mean 'doctor'?"),
        (["zzzz"], "--help lists them"),
        (["--nope"], "no such option: --nope"),
        (["setup", "nope"], "no such group: 'nope'"),
        (["setup", "--nope"], "./gossamer setup --help"),
        (["doctor", "extra"], "./gossamer doctor --help"),
        (["bench", "nope"], "no such suite: 'nope'"),
        (["bench", "--nope"], "./gossamer bench --help"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(command: Command, arguments: list[str], says: str) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    assert says in one_line(done.stderr.splitlines(keepends=True)[-1])


@pytest.mark.tier(
    "all", seconds=21, adds="the exit code for each form of a name; the close matches are tested in the default tier"
)
def test_test_name_without_match_is_an_error(command: Command) -> None:
    # The name is assembled here: a test with the name in its own id would run itself without end.
    name = "-".join(["no", "such", "thing"])
    done = command("test", name)
    assert done.returncode == 2
    assert f"no test has '{name}' in its name" in one_line(done.stderr.splitlines(keepends=True)[-1])


def test_seed_of_random_tests_is_checked(command: Command) -> None:
    done = command("test", "test_barrier_latency_is_bounded", env={"GOSSAMER_TEST_SEED": "0x12"})
    assert done.returncode == 2
    assert done.stderr == ("gossamer: error: GOSSAMER_TEST_SEED=0x12: must be a number, as a failed test printed it\n")


@pytest.mark.default_cases("15", seconds=42, adds="the other signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_tests_leave_no_process(tmp_path: Path, number: signal.Signals) -> None:
    """The running test is interrupted, and no process remains."""
    # A separate session identifies its processes; the terminal sends Ctrl-C to all of them.
    program = [*LAUNCHER, "test", "test_sleeps_until_stopped"]
    environment = {**os.environ, "GOSSAMER_TEST_SLEEP": str(tmp_path / "asleep")}
    child = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 120
    while not (tmp_path / "asleep").exists():
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    if number == signal.SIGINT:
        os.killpg(child.pid, number)
    else:
        child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == 130
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


def test_sleeps_until_stopped() -> None:
    """The test above runs this one by name."""
    if flag := os.environ.get("GOSSAMER_TEST_SLEEP"):
        Path(flag).touch()
        time.sleep(300)


def test_module_suggests_a_command_for_a_misspelt_name(capfd: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["runn"]) == 2
    assert "did you mean 'run'?" in one_line(capfd.readouterr().err)


def test_modules_in_the_current_folder_are_not_imported(command: Command, tmp_path: Path) -> None:
    for name in ("click", "numpy", "gossamer", "json", "types"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(99)\n")
    done = command("bench", "--list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_unsupported_python_is_reported_in_one_line() -> None:
    """Uses any older interpreter on this machine; otherwise only the syntax of the launcher is checked."""
    source = (ROOT / "gossamer").read_text()
    head = source.split("from gossamer_setup")[0]
    assert not re.search(r"\bf[\"']|:=|^\s*from __future__|->", head, re.MULTILINE)
    old = next(filter(None, map(shutil.which, ("python3.9", "python3.8", "python3.7", "python2.7"))), None)
    if old and subprocess.run([old, "-c", "pass"], capture_output=True, check=False).returncode == 0:
        done = subprocess.run([old, ROOT / "gossamer"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "needs 3.10 or newer" in one_line(done.stderr)


def test_closed_output_pipe_is_not_an_error() -> None:
    for arguments in (["--help"], ["bench", "--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([*LAUNCHER, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, "")


def test_launcher_adds_at_most_40_ms(size: Size) -> None:
    """The launcher adds at most 40 ms to a warm start, without the start of its own interpreter."""

    def best(program: list[str]) -> float:
        times = []
        for _ in range(size.pick(10, 20, 30)):
            start = time.perf_counter()
            subprocess.run(program, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        return min(times)

    added = []
    for _ in range(3):  # other tests run meanwhile
        launched = best([*LAUNCHER, "bench", "--list"])
        direct = best([sys.executable, "-I", "-m", "gossamer", "bench", "--list"])
        bare = best([sys.executable, "-c", "pass"])
        print(f"launched {launched:.3f} s, direct {direct:.3f} s, interpreter {bare:.3f} s")
        added.append(launched - direct - bare)
        if added[-1] < 0.040:
            break
    assert min(added) < 0.040


@pytest.fixture
def sub_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[BaseException], int]:
    """Runs a sub-command that only raises."""

    def run(error: BaseException) -> int:
        @click.command()
        def command() -> None:
            raise error

        module = types.ModuleType("gossamer.cli.boom")
        module.__dict__["command"] = command
        monkeypatch.setitem(sys.modules, "gossamer.cli.boom", module)
        monkeypatch.setitem(gossamer_setup.COMMANDS, "boom", ("Raise.", ()))
        monkeypatch.setattr(gossamer.paths, "STATE", tmp_path / "state")
        return entry.run(["boom"])

    return run


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (gossamer.errors.AnswerNo("they differ"), 1, "they differ"),
        (gossamer.errors.InputError("wrong\n  there"), 2, "wrong there"),
        (gossamer.errors.RunDied("a rank"), 4, "a rank"),
        (gossamer_setup.SetupError("no compiler"), 2, "no compiler"),
        (click.FileError("some.file", "gone"), 2, "some.file"),
        (MemoryError(), 2, "does not have enough memory"),
        (OSError(28, "No space left on device", "out.npy"), 2, "cannot write out.npy"),
        (OSError(36, "File name too long", "aaa"), 2, "aaa: File name too long"),
    ],
)
def test_errors_own_their_exit_codes(
    sub_command: Callable[[BaseException], int],
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    says: str,
) -> None:
    assert sub_command(error) == code
    assert says in one_line(capfd.readouterr().err)


def test_interrupt_has_exit_code_130(
    sub_command: Callable[[BaseException], int], capfd: pytest.CaptureFixture[str]
) -> None:
    assert sub_command(KeyboardInterrupt()) == 130
    assert capfd.readouterr().err == "gossamer: interrupted\n"


def test_internal_error_is_written_to_a_report_file(
    sub_command: Callable[[BaseException], int], capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert sub_command(ZeroDivisionError("of a kind")) == 70
    line = one_line(capfd.readouterr().err)
    (report,) = (tmp_path / "state").iterdir()
    assert str(report) in line and "of a kind" in line
    assert "Traceback" in report.read_text() and "ZeroDivisionError" in report.read_text()


SUITE = """
from gossamer.bench import Context
NAMES = ["fast.a", "fast.b", "slow.c"]
def rows(context):
    for name in NAMES:
        if name == "slow.c" and {stop}:
            raise KeyboardInterrupt
        if not context.wants(name):
            continue
        if name == "fast.b":
            yield context.skip(name, "no data folder", unit="s")
        else:
            yield [context.row(name, 2.5, "s", reference=dict(what="peer", value=5.0, unit="s"), ratio=2.0)]
"""


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bool], Path]:
    """Replaces the real suites by one of three rows, which may be interrupted before its last row."""

    def make(stop: bool) -> Path:
        folder = tmp_path / "suites" / "demo"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").write_text(SUITE.format(stop=stop))
        monkeypatch.setattr(bench_cli, "SUITES", folder.parent)
        return tmp_path / "rows.json"

    return make


def test_bench_writes_its_rows(suite: Callable[[bool], Path], capfd: pytest.CaptureFixture[str]) -> None:
    path = suite(False)
    assert entry.run(["bench", "demo", "--json", str(path)]) == 0
    assert "skipped: no data folder" in capfd.readouterr().out
    first, second, third = json.loads(path.read_text())
    assert list(first)[:7] == ["suite", "name", "value", "unit", "config", "reference", "ratio"]
    assert (first["suite"], first["name"], first["value"], first["ratio"]) == ("demo", "fast.a", 2.5, 2.0)
    assert first["reference"] == {"what": "peer", "value": 5.0, "unit": "s"}
    assert {"cpu", "cores", "compiler", "date"} <= set(first["config"])
    assert (second["value"], second["skipped"]) == (None, "no data folder")
    assert third["name"] == "slow.c"
    assert [entry.name for entry in path.parent.iterdir() if ".part" in entry.name] == []


def test_interrupted_bench_writes_its_completed_rows(suite: Callable[[bool], Path]) -> None:
    path = suite(True)
    assert entry.run(["bench", "demo", "--json", str(path)]) == 130
    assert [row["name"] for row in json.loads(path.read_text())] == ["fast.a", "fast.b"]


def test_bench_runs_only_the_selected_rows(suite: Callable[[bool], Path], capfd: pytest.CaptureFixture[str]) -> None:
    path = suite(False)
    assert entry.run(["bench", "demo", "--only", "^slow", "--json", str(path)]) == 0
    assert [row["name"] for row in json.loads(path.read_text())] == ["slow.c"]
    capfd.readouterr()
    assert entry.run(["bench", "demo", "--list", "--only", "fast"]) == 0
    assert capfd.readouterr().out.split() == ["fast.a", "fast.b"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--only", "["], "not a regular expression"),
        (["--only", "nothing-like-it"], "no row of suite demo matches"),
        (["--data", "/nonexistent"], "no such folder"),
        (["--peer", "gapbs"], "NAME=DIR"),
        (["--peer", "gapbs=/nonexistent"], "there is no folder /nonexistent"),
        (["--json", "/nonexistent/rows.json"], "there is no folder /nonexistent"),
        (["--repeat", "0"], "--repeat"),
    ],
)
def test_bench_rejects_invalid_options(
    suite: Callable[[bool], Path], capfd: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    suite(False)
    assert entry.run(["bench", "demo", *options]) == 2
    assert says in one_line(capfd.readouterr().err)
