# SPDX-License-Identifier: Apache-2.0
"""PTRANS on simulated boards, judged by NumPy; the example's two commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Command
from shell.shell_cluster import Cluster, mac, start

from gossamer.errors import InputError
from gossamer.shell import BoardError, _build, ptrans
from gossamer.shell.job import role_bytes


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.end()


def test_parts_cover_all_rows_in_whole_tiles() -> None:
    for rows, boards in ((640, 20), (1920, 12), (96, 3), (672, 20)):
        parts = ptrans.split(rows, 64, boards)
        assert [part.first for part in parts] == [0, *np.cumsum([part.rows for part in parts])[:-1]]
        sizes = {part.rows // 32 for part in parts}
        assert sum(part.rows for part in parts) == rows and max(sizes) - min(sizes) <= 1
    for rows, columns, boards in ((100, 32, 1), (32, 0, 1), (64, 32, 3)):
        with pytest.raises(InputError):
            ptrans.split(rows, columns, boards)


def test_boards_compute_the_sum_with_the_transpose(cluster: Cluster, seed: int) -> None:
    """With lost frames; the time is at least that of the hardware's cycles."""
    draw = np.random.default_rng(seed)
    start(cluster, 3, "--loss", "0.01", "--reorder", "0.01", "--seed", str(seed % 1000 + 1))
    boards = [mac(number) for number in (1, 2, 3)]
    with cluster.host(3) as host:
        host.discover()
        for board in boards:
            host.open(board)
        host.configure(boards, ptrans.role())
        for number, (rows, columns, count) in enumerate(((32, 32, 1), (96, 64, 3), (160, 96, 2)), 1):
            a = (draw.standard_normal((columns, rows)) * np.exp2(draw.integers(-90, 90, (columns, rows)))).astype("<f4")
            b = (draw.standard_normal((rows, columns)) * np.exp2(draw.integers(-90, 90, (rows, columns)))).astype("<f4")
            found = ptrans.run(host, boards[:count], a, b, repeat=3000 // number, number=number)
            np.testing.assert_array_equal(found.result, b + np.transpose(a))
            assert found.executed >= max(found.cycles) / ptrans.CLOCK_HZ
        good = ptrans.Part(0, 32, 32).registers()
        for at, value in ((0x18, 0), (0x1C, 33), (0x00, 8), (0x28, 4), (0x14, 1 << 20), (0x10, (64 << 20) - 128)):
            host.write_registers(mac(1), good | {at: value})
            host.start(mac(1), 0, 100)
            with pytest.raises(BoardError) as caught:
                host.wait(mac(1), 100)
            assert caught.value.status == "role_failed", at
            host.finish(mac(1), 100)


@pytest.mark.tier("all", seconds=40, adds="the role in SystemVerilog on both kinds of simulated boards")
def test_the_hardware_computes_the_sum_on_boards_of_both_kinds(cluster: Cluster, seed: int) -> None:
    """One role file, made from rtl/role/role.f: board 1 has the shell's RTL, board 2 is software."""
    draw = np.random.default_rng(seed)
    cluster.start_switch()
    cluster.start_rtl(1)
    cluster.start_board(2)
    boards = [mac(1), mac(2)]
    role = _build.role(ROOT / "rtl" / "role" / "role.f").read_bytes()
    with cluster.host(2) as host:
        end = time.monotonic() + 30
        while {board.mac for board in host.discover(0.1)} < set(boards):
            assert time.monotonic() < end
        for board in boards:
            host.open(board)
        assert {status for status, _ in host.configure(boards, role, drop_after=30.0).values()} == {"ok"}
        a = (draw.standard_normal((64, 96)) * np.exp2(draw.integers(-90, 90, (64, 96)))).astype("<f4")
        b = (draw.standard_normal((96, 64)) * np.exp2(draw.integers(-90, 90, (96, 64)))).astype("<f4")
        found = ptrans.run(host, boards, a, b, repeat=2)
        np.testing.assert_array_equal(found.result, b + np.transpose(a))
        # A beat in each cycle, and a few at the start and the end: board 2 has 64 of the rows. The shell's RTL counts
        # cycles of its own, which are not those of the role's model.
        assert 0 < found.cycles[1] - 2 * 64 * 64 < 60
        part = ptrans.Part(0, 32, 32).registers()
        for board in boards:
            for number, (at, value, kernel) in enumerate(
                ((0x18, 0, 0), (0x00, 8, 0), (0x14, 1 << 20, 0), (0x10, (64 << 20) - 128, 0), (0x00, 0, 1)), 100
            ):
                host.write_registers(board, part | {at: value})
                host.start(board, kernel, number)
                with pytest.raises(BoardError) as caught:
                    host.wait(board, number, timeout=20.0)
                assert caught.value.status == "role_failed", (at, value)
                host.finish(board, number)
            # A long run ends with its session.
            host.write_registers(board, part | {0x2C: 1 << 30})
            host.start(board, 0, 200)
            host.close(board)
            host.open(board)
            host.write_registers(board, part | {0x2C: 1})
            host.start(board, 0, 201)
            host.wait(board, 201, timeout=20.0)
            assert host.read_register(board, 0x18) == 32
            host.finish(board, 201)


@pytest.mark.tier("all", seconds=10, adds="modules that are no roles")
def test_a_module_that_is_no_role_is_reported(tmp_path: Path) -> None:
    for name, text, said in (
        ("port.sv", "module port (input logic clk_i);\nendmodule\n", "lacks a port of rtl/role/gs_role_ptrans.sv"),
        ("syntax.sv", "module syntax (input logic clk_i;\nendmodule\n", "syntax.sv:1"),
        ("list.f", "nothing.sv\n", "list.f:1"),
        ("missing.sv", "", "missing.sv: no such file"),
    ):
        if text:
            (tmp_path / name).write_text(text)
        with pytest.raises(InputError) as caught:
            role_bytes(tmp_path / name)
        assert said in str(caught.value) and "\n" not in str(caught.value), caught.value


def test_the_example_runs_on_simulated_boards(command: Command, tmp_path: Path) -> None:
    scratch = {"TMPDIR": str(tmp_path)}
    assert command("cluster", "sim", "up", "2", env=scratch, timeout=300).returncode == 0
    try:
        for words, code, said in (
            (("64", "5"), 0, r"2 boards, 64 x 64 elements: 0 wrong\ncycles of the first board: 10,279\n"),
            (("65",), 2, r"ptrans: 65 rows: must be a multiple of 32\n"),
            (("32",), 2, r"ptrans: 32 rows: 2 boards need at least 64\n"),
        ):
            done = subprocess.run(
                [sys.executable, "examples/ptrans/ptrans.py", *words],
                cwd=ROOT, env=os.environ | scratch | {"PYTHONPATH": "python"}, capture_output=True, text=True,
                timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == code and re.match(said, done.stdout + done.stderr), done.stdout + done.stderr
    finally:
        command("cluster", "sim", "down", env=scratch)
