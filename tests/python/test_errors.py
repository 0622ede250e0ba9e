# SPDX-License-Identifier: Apache-2.0
"""Error messages, exit codes, notes about deprecated options."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import click
import pytest

import gossamer_setup
from gossamer.cli import _deprecated
from gossamer.diagnostics import first_error, relative
from gossamer.errors import ExitCode, InputError, signal_name
from gossamer.shell import _build, keys


def test_unnamed_signals_are_reported_by_number() -> None:
    """Any signal may kill a program; Python has no names for most real-time signals."""
    names = {number: signal_name(number) for number in range(1, signal.SIGRTMAX + 1)}
    assert names[signal.SIGKILL] == "SIGKILL" and names[signal.SIGRTMIN + 1] == f"signal {signal.SIGRTMIN + 1}"
    assert len(set(names.values())) == signal.SIGRTMAX


def test_path_is_relative_only_below_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert relative(here / "deep" / "main.c") == "deep/main.c"
    assert relative(here / "..main.c") == "..main.c"
    for outside in (tmp_path / "main.c", tmp_path / "beside" / "main.c", Path("/main.c"), tmp_path):
        assert relative(outside) == str(outside)


def test_errors_of_a_folder_s_sources_are_at_the_compilers_line(tmp_path: Path) -> None:
    """The place is not the folder, which has many files."""
    said = f"In file included from {tmp_path}/a.c:1:\n{tmp_path}/a.h:7:3: error: expected ';'\n"
    assert first_error(said, tmp_path) == f"{tmp_path}/a.h:7: expected ';'"
    assert first_error(said, tmp_path / "a.c") == f"{tmp_path}/a.c:1: expected ';'"


def test_files_of_operators_are_named_with_their_fault(tmp_path: Path) -> None:
    """Without the number and the words of Python's exceptions."""
    role, key = tmp_path / "role.c", tmp_path / "key"
    role.write_text("int f(void) {\n  return nothing;\n}\n")
    key.write_bytes(b"ab\xff")
    key.chmod(0o600)
    for call, message in (
        (lambda: _build.role(role), rf"{role}:2: .*nothing.* \(all of it in .*\)"),
        (lambda: _build.role(tmp_path / "none.c"), rf"{tmp_path}/none\.c: no such file; name the source of a role, .*"),
        (lambda: keys.check_private(key, "key"), rf"{key}: cannot read the key: byte 3 is not UTF-8 text"),
        (lambda: keys.check_private(tmp_path, "key"), rf"{tmp_path}: cannot read the key: is a directory"),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert re.fullmatch(message, str(caught.value)), caught.value


def test_setup_exit_codes_match_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set-up runs without the package, so it defines its own codes; its help lists all codes."""
    listed = gossamer_setup.help_text().partition("Exit codes:")[2]
    assert {int(code) for code in re.findall(r"(?:^|;)\s*(\d+) ", listed)} == {int(code) for code in ExitCode}
    assert gossamer_setup.SetupError.exit_code == ExitCode.INPUT

    def interrupt(_arguments: list[str], _run: object = None) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(gossamer_setup, "_launch", interrupt)
    monkeypatch.setattr(gossamer_setup, "_open_what_is_closed", lambda: None)
    assert gossamer_setup.launch([]) == ExitCode.INTERRUPTED


def test_deprecated_option_prints_a_note_and_keeps_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert _deprecated.renamed("--new", "a", "--old", None) == "a"
    assert capsys.readouterr().err == ""
    assert _deprecated.renamed("--new", None, "--old", "b") == "b"
    assert capsys.readouterr().err == "note: --old is deprecated and will be removed; use --new\n"
    with pytest.raises(click.UsageError, match=r"--old is the old name of --new"):
        _deprecated.renamed("--new", "a", "--old", "b")


def test_ctrl_c_stays_ctrl_c_behind_an_error_of_other_code(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Python reports an interruption in __set_name__ as a RuntimeError, with the cause."""
    import gossamer.cli
    from gossamer import __main__ as entry

    class Interrupted:
        def make_context(self, *_: object) -> None:
            raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(gossamer.cli, "main", Interrupted())
    assert entry.run(["run"]) == ExitCode.INTERRUPTED
    assert capfd.readouterr().err == "gossamer: interrupted\n"
