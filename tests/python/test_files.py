# SPDX-License-Identifier: Apache-2.0
"""Output files: regular files are replaced atomically, all others are written in place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gossamer.errors import InputError
from gossamer.files import check_outputs, check_writable, move_whole, whole_file, write_whole


def fill(path: Path, data: bytes, how: str) -> None:
    if how == "moved":
        aside = path.parent / "aside"
        aside.write_bytes(data)
        move_whole(aside, path)
    else:
        write_whole(path, data)


def only(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.mark.parametrize("how", ["written", "moved"])
def test_regular_file_is_replaced_atomically(tmp_path: Path, how: str) -> None:
    target = tmp_path / "a"
    target.write_text("a longer text from before")
    other = tmp_path / "b"
    os.link(target, other)  # has the old contents afterwards, so the file was replaced
    check_writable(target)
    fill(target, b"new", how)
    assert target.read_bytes() == b"new"
    assert other.read_text() == "a longer text from before"
    only(tmp_path, "a", "b")


def test_outputs_replace_neither_each_other_nor_an_input(tmp_path: Path) -> None:
    a, b, null = tmp_path / "a", tmp_path / "b", Path("/dev/null")
    check_outputs([("--x", a), ("--y", b), ("--z", None), ("--y", null), ("--x", null)], [null, tmp_path / "c"])
    check_outputs([("--x", a)], [a])  # it does not exist, so the input is another thing of that name
    a.write_text("1")
    (tmp_path / "link").symlink_to("a")
    check_outputs([("--x", a)])
    for outputs, inputs, message in (
        ([("--x", a)], ["gen:ring", str(tmp_path / "link")], f"--x {a}: is also read, and would be replaced; write "),
        ([("--x", a), ("--y", tmp_path / "link")], [], "--x and --y name the same file, "),
        ([("--x", b), ("--x", tmp_path / "." / "b")], [], f"--x {b}: is given twice; omit one, or write two files"),
        ([("--x", tmp_path)], [], f"{tmp_path}: is a folder; give a file"),
    ):
        with pytest.raises(InputError) as caught:
            check_outputs(outputs, inputs)
        assert str(caught.value).startswith(message)


def test_names_of_maximum_length_are_writable(tmp_path: Path) -> None:
    name = "a" * 251 + ".csv"
    check_writable(tmp_path / name)
    write_whole(tmp_path / name, b"new")
    only(tmp_path, name)


def test_two_files_of_a_folder_are_written_concurrently(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a") as a, whole_file(tmp_path / "b") as b:
        a.write(b"one")
        b.write(b"two")
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"one", b"two"]
    only(tmp_path, "a", "b")


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt), whole_file(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert target.read_text() == "before"
    only(tmp_path, "a")


@pytest.mark.parametrize("how", ["written", "moved"])
def test_symbolic_link_is_preserved(tmp_path: Path, how: str) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "link"
    link.symlink_to("far/target")
    check_writable(link)
    fill(link, b"new", how)
    assert link.is_symlink()
    assert (tmp_path / "far" / "target").read_bytes() == b"new"
    only(tmp_path / "far", "target")
    link.unlink()
    link.symlink_to("nowhere/target")
    with pytest.raises(InputError, match="there is no folder"):
        check_writable(link)


@pytest.mark.parametrize("how", ["written", "moved"])
def test_pipe_is_preserved(tmp_path: Path, how: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    fill(pipe, b"through", how)
    reader.join(20)
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    only(tmp_path, "pipe")


def test_device_is_preserved(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("only root makes devices, and not everywhere")
    check_writable(device)
    write_whole(device, b"gone")
    assert stat.S_ISCHR(device.stat().st_mode)
    only(tmp_path, "null")


SCRIPT = """
import sys
from pathlib import Path
from gossamer.files import check_outputs, check_writable, write_whole
path = Path(sys.argv[1])
check_writable(path)
print("before")
write_whole(path, b"written\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout"])
@pytest.mark.parametrize("into", ["pipe", "file"])
def test_standard_output_keeps_its_order(tmp_path: Path, name: str, into: str) -> None:
    before = os.lstat("/dev/stdout")
    command = [sys.executable, "-I", "-c", SCRIPT, name]
    if into == "pipe":
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
    else:
        with open(tmp_path / "out", "w") as file:
            file.write("first\n")
            file.flush()
            subprocess.run(command, stdout=file, check=True, timeout=60)
        said = (tmp_path / "out").read_text().removeprefix("first\n")
        assert len(said) < len((tmp_path / "out").read_text())
    assert said == "before\nwritten\nafter\n"
    assert os.lstat("/dev/stdout").st_ino == before.st_ino


def test_unwritable_paths_are_rejected_in_one_line(tmp_path: Path) -> None:
    for path, what in ((tmp_path, "is a folder"), (tmp_path / "no" / "a", "there is no folder")):
        with pytest.raises(InputError, match=what):
            check_writable(path)
        with pytest.raises(InputError):
            write_whole(path, b"")
    with pytest.raises(InputError, match="No space left"):
        write_whole("/dev/full", b"x")
