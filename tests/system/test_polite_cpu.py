# SPDX-License-Identifier: Apache-2.0
"""Existing POLite programs on the engine cpu: arguments, files and signals of their hosts."""

from __future__ import annotations

import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import ROOT, Command
from sessions import Session

import gossamer_setup
from gossamer import config as configs
from gossamer.hosts import hostlink
from gossamer.polite import native

FIXTURES = ROOT / "tests" / "fixtures" / "polite"
BUILDS = ROOT / "build"


def folders_of_runs() -> set[Path]:
    return set(BUILDS.glob("*/hostprograms/*/run-*"))


def with_host(folder: Path, name: str, changes: list[tuple[str, str, str]]) -> Path:
    """A copy of a program with replaced text in its files."""
    program = folder / "program"
    shutil.copytree(FIXTURES / name, program)
    for file, old, new in changes:
        text = (program / file).read_text()
        assert old in text
        (program / file).write_text(text.replace(old, new))
    return program


@pytest.mark.tier("all", seconds=6, adds="signals to programs on cpu; on boards they run by default")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_to_the_command_ends_the_program(number: signal.Signals, code: int, tmp_path: Path) -> None:
    changes = [("Pulse.h", "    s->left--;\n", ""), ("Run.cpp", "i < wanted", "true")]
    program = with_host(tmp_path, "pulses", changes)
    before = folders_of_runs()
    session = Session("polite", "run", program, cwd=tmp_path)
    session.wait_until(lambda: "program" in session.processes())
    returned, said = session.ends(number, 15)
    assert returned == code and said.count("gossamer: ") == 1, said
    assert folders_of_runs() <= before


ECHO = """#include <HostLink.h>
#include <POLite.h>
#include "Pulse.h"
int main(int argc, char** argv) {
  PGraph<Pulse, Cell, None, None> graph;
  for (int i = 1; i < argc; ++i) printf("%s\\n", argv[i]);
  if (FILE* file = fopen("net.txt", "r")) printf("its own %d\\n", fgetc(file) - '0');
  if (FILE* file = fopen("written.txt", "w")) fclose(file);
}
"""


def test_program_receives_its_arguments_and_files(command: Command, tmp_path: Path) -> None:
    program = with_host(tmp_path, "pulses", [])
    (program / "Run.cpp").write_text(ECHO)
    (program / "net.txt").write_text("7")
    here = tmp_path / "here"
    (here / "nets").mkdir(parents=True)
    for name in ("4", "-2.5e3", "net.txt", "nets/a.txt"):
        (here / name).touch()
    words = ["4", "-2.5e3", "", "--", "net.txt", "nets/a.txt", "nets/new.txt", "missing.txt", "./4"]
    want = [*words[:4], *(str(here / one) for one in words[4:7]), "missing.txt", str(here / "4"), "its own 7"]
    done = command("polite", "run", program, "--", *words, cwd=here)
    assert (done.returncode, done.stdout.splitlines()) == (0, want), done.stderr
    assert (here / "written.txt").exists() and not (program / "written.txt").exists()

    # A file of the program is not written through a link, and the link is removed with the file.
    (program / "written.txt").touch()
    assert command("polite", "run", program, cwd=here).returncode == 0
    for path in (program / "written.txt", here / "written.txt", program / "net.txt"):
        path.unlink()
    done = command("polite", "run", program, cwd=here)
    assert (done.returncode, done.stdout) == (0, "")
    assert (here / "written.txt").exists() and not (program / "written.txt").exists()


def test_results_are_saved_when_the_callers_folder_is_not_writable(command: Command, tmp_path: Path) -> None:
    program = with_host(tmp_path, "pulses", [])
    (program / "Run.cpp").write_text(ECHO.replace('"w"))', '"w")) fputs("19", file),'))
    here = tmp_path / "here"
    (here / "written.txt").mkdir(parents=True)
    # Not even root can write to /proc.
    for home, why in (
        (Path("/proc"), "/proc/written.txt: cannot be written: "),
        (here, "a folder of that name exists"),
    ):
        done = command("polite", "run", program, cwd=home, env={"TMPDIR": str(tmp_path)})
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and why in done.stderr, done.stderr
        kept = Path(done.stderr.split(" is in ")[1].strip())
        assert kept.parent == tmp_path and (kept / "written.txt").read_text() == "19"
    assert list((here / "written.txt").iterdir()) == []


def test_device_compiler_is_not_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: str) -> None:
        raise AssertionError(f"asks for the group {group}")

    monkeypatch.setattr(gossamer_setup, "require", refuse)
    monkeypatch.chdir(tmp_path)
    program = native.build([str(with_host(tmp_path, "pulses", []))], configs.load("tiny"))
    assert (program.folder / "devices.so").exists()


def test_concurrent_commands_prepare_one_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    files = {f"file{i}": tmp_path / f"file{i}" for i in range(4)}
    hostlink.link(folder, files)

    def prepare(_: int) -> None:
        hostlink.link(folder, files)
        assert all((folder / name).is_symlink() for name in files)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(prepare, range(2000)))
    hostlink.link(folder, {"file1": tmp_path / "other"})
    assert [(path.name, path.readlink()) for path in folder.iterdir()] == [("file1", tmp_path / "other")]


def test_folder_as_edge_list_is_rejected(command: Command, tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    done = command("polite", "run", FIXTURES / "pagerank", "--", "nets", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith("nets: cannot be read")
