# SPDX-License-Identifier: Apache-2.0
"""Examples and OpenCL files match NumPy; ports of programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

from gossamer import smi
from gossamer.errors import InputError
from gossamer.smi import ports

STREAMS = ROOT / "examples" / "streams"
GESUMMV = ROOT / "examples" / "gesummv"
FIXTURES = ROOT / "tests" / "fixtures" / "smi"
LANES = FIXTURES / "lanes.cl"


def stencil(grid: Any, steps: int) -> Any:
    """The stencil by NumPy; each point is summed in the example's order."""
    for _ in range(steps):
        new = grid.copy()
        new[1:-1, 1:-1] = np.float32(0.25) * ((grid[:-2, 1:-1] + grid[2:, 1:-1]) + (grid[1:-1, :-2] + grid[1:-1, 2:]))
        grid = new
    return grid


@pytest.mark.parametrize(("across", "down"), [(1, 1), (2, 1), (4, 2)])
@pytest.mark.parametrize("slack", [1, 16])
def test_stencil_matches_numpy(across: int, down: int, slack: int, seed: int, tmp_path: Path) -> None:
    grid = np.random.default_rng(seed).normal(size=(16, 24)).astype(np.float32)
    grid.tofile(tmp_path / "in")
    words = [across, down, 16, 24, 9, tmp_path / "in", tmp_path / "out"]
    done = smi.run([str(STREAMS / "stencil.cpp")], ranks=across * down, arguments=[str(word) for word in words],
                   options=smi.Options(slack=slack, seed=slack))  # fmt: skip
    assert done.code == 0
    assert np.array_equal(np.fromfile(tmp_path / "out", dtype=np.float32).reshape(16, 24), stencil(grid, 9))


def test_kmeans_matches_numpy(seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    # Integers: sums and ties are exact in any order.
    points = draw.integers(-50, 50, (300, 3)).astype(np.float32)
    points.tofile(tmp_path / "in")
    means = points[:5].astype(np.float32)
    for _ in range(6):
        distances = ((points[:, None, :] - means[None]) ** 2).cumsum(axis=2)[:, :, -1]
        best = distances.argmin(axis=1)
        for one in range(5):
            if (best == one).any():
                means[one] = points[best == one].sum(axis=0) / np.float32((best == one).sum())
    for ranks in (1, 4):
        words = [5, 3, 300, 6, tmp_path / "in", tmp_path / "out"]
        assert smi.run([str(STREAMS / "kmeans.cpp")], ranks=ranks, arguments=[str(word) for word in words]).code == 0
        assert np.array_equal(np.fromfile(tmp_path / "out", dtype=np.float32).reshape(5, 3), means)


@pytest.mark.parametrize("ranks", [1, 2])
def test_gesummv_matches_numpy(ranks: int, seed: int, tmp_path: Path, command: Command) -> None:
    draw = np.random.default_rng(seed)
    size = 48
    # Small integers: sums are exact as floats in any order.
    data = {name: draw.integers(-9, 9, (size, size)).astype(np.float32) for name in "AB"}
    data["x"] = draw.integers(-9, 9, size).astype(np.float32)
    for name, values in data.items():
        values.tofile(tmp_path / name)
    words = [f"{name}={tmp_path / name}" for name in data]
    words += [f"N={size}", "alpha=1.5", "beta=0.5", f"y={size}:{tmp_path / 'y'}"]
    if ranks == 1:
        files: list[str | Path] = [GESUMMV / "gesummv.cl"]
    else:
        files = [GESUMMV / "gesummv_rank1.cl", GESUMMV / "gesummv_rank0.cl", "--cluster", GESUMMV / "two.json"]
    done = command("smi", "run", *files, "--", *words)
    assert done.returncode == 0, done.stderr
    want = np.float32(1.5) * (data["A"] @ data["x"]) + np.float32(0.5) * (data["B"] @ data["x"])
    assert np.array_equal(np.fromfile(tmp_path / "y", dtype=np.float32), want)


@pytest.mark.tier("quick", seconds=1, adds="the emulator of streaming messages")
def test_pipeline_sums_all_elements(command: Command) -> None:
    done = command("smi", "run", STREAMS / "pipeline.c", "--ranks", "8", "--slack", "0", "--", "1000")
    assert (done.returncode, done.stdout) == (0, f"{sum(range(1000)) + 1000 * sum(range(8))}\n")


def test_opencl_kernels_match_numpy(tmp_path: Path) -> None:
    """Arrays of channels, vectors, pragmas, fences, and an endless kernel."""
    data = np.arange(40, dtype=np.float32)
    data.tofile(tmp_path / "data")
    words = [f"data={tmp_path / 'data'}", "n=10", "root=2", f"2.out=80:{tmp_path / 'out{}'}", "sink.out=80"]
    assert smi.run([str(LANES)], ranks=3, arguments=words).code == 0
    want = sum(np.concatenate([data * 2, -data]) + np.ceil(np.float32(rank - 0.5)) for rank in range(3))
    assert np.array_equal(np.fromfile(tmp_path / "out2", dtype=np.float32), want)
    with pytest.raises(InputError, match="kernel source: argument data has no value"):
        smi.run([str(LANES)], ranks=1, arguments=words[1:])


def test_opencl_vectors_match_python(seed: int, tmp_path: Path) -> None:
    """Named elements and literals: in macro arguments, nested, and as constants."""
    data = np.random.default_rng(seed).integers(-50, 50, (20, 4)).astype(np.float32)
    data.tofile(tmp_path / "data")
    words = [f"data={tmp_path / 'data'}", "n=20", f"out=100:{tmp_path / 'out'}"]
    file = FIXTURES / "vectors.cl"
    assert smi.run([str(file)], arguments=words).code == 0
    want: list[float] = []
    for i, v in enumerate(data.tolist()):
        w = [v[2] + 100, v[3], v[0], v[0] + 2 * i]
        every = [*v, v[2], v[3], v[0], v[1]]
        pairs = [a + b for a, b in zip(every[::2], every[1::2], strict=True)]
        nested = [w[1], v[3], v[0], v[0]]
        want += [
            sum(a * (b + 0.5) for a, b in zip(v, range(4), strict=True)),
            i + sum(v) + w[0] + w[3],
            pairs[2] + v[1] + 0.25,
            every[5] + v[2] + 1 + w[3] + 7,
            nested[0] - 2 * nested[1] + 3 * nested[2] - 4 * nested[3] + v[1],
        ]
    assert np.fromfile(tmp_path / "out", dtype=np.float32).tolist() == want


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("float r = a.s4;", "vector component access exceeds"),
        ("float r = X(a).y;", "member reference base type 'float'"),
        ("float4 r = (float4)(a, 1);", "too many elements"),
        ("float4 r = (float4)(1, 2, 3);", "too few elements"),
    ],
)
def test_invalid_vectors_are_reported_at_their_line(line: str, said: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cl"
    bad.write_text(f"#define X(v) v.x\n__kernel void k(int n) {{\n  float4 a = (float4)(1);\n  {line}\n}}\n")
    with pytest.raises(InputError, match=r"bad\.cl:4: ") as error:
        smi.run([str(bad)], arguments=["n=1"])
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("word", "what"),
    [
        ("n=", "n is not an integer"),
        ("n=ten", "n is not an integer"),
        ("n=2147483648", "n does not fit into the kernel's parameter"),
        ("n=-9223372036854775809", "n does not fit into the kernel's parameter"),
        ("many=4294967296", "many does not fit into the kernel's parameter"),
        ("many=-1", "many is not an integer"),
        ("out=9000000000000000000", "out has more elements than fit into memory"),
        ("out=18446744073709551615", "out has more elements than fit into memory"),
        ("out=no/such/file", "out is neither a number nor a file that can be read"),
    ],
)
def test_invalid_kernel_arguments_are_reported(word: str, what: str, command: Command, tmp_path: Path) -> None:
    file = tmp_path / "one.cl"
    file.write_text("#include <smi.h>\n__kernel void one(int n, unsigned many, __global int* restrict out) {}\n")
    right = [f"n={-(2**31)}", f"many={2**32 - 1}", "out=10"]
    assert command("smi", "run", file, "--ranks", "1", "--", *right).returncode == 0
    done = command("smi", "run", file, "--ranks", "1", "--", word, *right)
    assert (done.returncode, done.stderr) == (2, f"gossamer: error: kernel one: argument {what}\n")


def test_opencl_error_is_reported_at_the_users_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.cl"
    bad.write_text("#include <smi.h>\nchannel int\n  a;\n__kernel void k(int n) {\n  write_channel_intel(b, n);\n}\n")
    with pytest.raises(InputError, match=r"bad\.cl:5: "):
        smi.run([str(bad)])


def test_ports_of_the_examples_are_listed(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "ports.json"
    done = command("smi", "ports", GESUMMV / "gesummv_rank0.cl", GESUMMV / "gesummv_rank1.cl", "--json", file)
    assert done.returncode == 0, done.stderr
    first, second = json.loads(file.read_text())["programs"]
    assert [(one["port"], one["operation"], one["type"]) for one in first["ports"]] == [(0, "send", "float")]
    assert [(one["port"], one["operation"], one["type"]) for one in second["ports"]] == [(0, "receive", "float")]
    assert second["channels"] == [{"name": "right", "type": "float", "sizes": [], "depth": 16}]
    assert [one["name"] for one in second["kernels"]] == ["gemv_b", "axpy"]
    (kmeans,) = ports.read([str(STREAMS / "kmeans.cpp")])
    assert [(one.port, one.operation, one.type, one.reduction) for one in kmeans.ports] == [
        (0, "bcast", "float", None), (1, "reduce", "float", "add_ordered"), (2, "reduce", "int", "add"),
    ]  # fmt: skip
    (stencil_ports,) = ports.read([str(STREAMS / "stencil.cpp")])
    assert len(stencil_ports.ports) == 9


def test_ports_opened_in_user_headers_are_listed(tmp_path: Path) -> None:
    """Openings in the user's headers count, in any folder; those in the project's headers do not."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "more.h").write_text("static void barrier(void) { SMI_Barrier(8, SMI_COMM_WORLD); }\n")
    opens = "static SMI_Channel opened(int n) {\n  return SMI_Open_send_channel(n, SMI_INT, 1, 4, SMI_COMM_WORLD);\n}\n"
    (tmp_path / "mine.h").write_text(f'#include <smi.h>\n#include "inner/more.h"\n{opens}')
    one = tmp_path / "one.cc"
    one.write_text('#include "mine.h"\n#include <gossamer/smi/smi.hpp>\n#include <vector>\nint main() { opened(1); }\n')
    (found,) = ports.read([str(one)])
    assert [(port.port, port.operation) for port in found.ports] == [(4, "send"), (8, "barrier")]
    assert found.ports[0].where.endswith("mine.h:4")
    assert found.ports[1].where.endswith("inner/more.h:1")


@pytest.mark.parametrize("comment", ["", "// plain", "// \u00e4\u00f6\u00fc \u2192 " + "\u00df" * 80])
def test_autorun_is_found_after_a_comment(comment: str, tmp_path: Path) -> None:
    file = tmp_path / "one.cl"
    kernel = "__attribute__((max_global_work_dim(0)))\n__attribute__((autorun))\n__kernel void forever() {}\n"
    file.write_text(f"#include <smi.h>\n{comment}\n__kernel void once(int n) {{}}\n{kernel}", encoding="utf-8")
    (found,) = ports.read([str(file)])
    assert [(one["name"], one["autorun"]) for one in found.kernels] == [("once", False), ("forever", True)]


BEGIN = "#include <smi.h>\nint main(int n, char** w) {\n"
SEND = "  SMI_Channel a = SMI_Open_send_channel_ad(n, SMI_INT, 1, 3, SMI_COMM_WORLD, 5);\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (SEND + "  SMI_Open_recv_channel(n, SMI_FLOAT, 1, 3, SMI_COMM_WORLD);\n", "receive float"),
        (SEND + "  SMI_Open_bcast_channel(n, SMI_INT, 3, 0, SMI_COMM_WORLD);\n", "bcast int"),
        ("  SMI_Open_send_channel(n, SMI_INT, 1, n, SMI_COMM_WORLD);\n", "the port is not constant"),
        ("  SMI_Open_send_channel(n, SMI_INT, 1, 256, SMI_COMM_WORLD);\n", "the port is 256"),
        ("  SMI_Open_send_channel(n, n, 1, 2, SMI_COMM_WORLD);\n", "the type is not constant"),
        ("  SMI_Open_send_channel(n, SMI_INT, 1;\n", "expected"),
    ],
)
def test_conflicting_uses_of_a_port_are_reported(body: str, said: str, tmp_path: Path) -> None:
    one = tmp_path / "one.c"
    one.write_text(BEGIN + body + "  return 0;\n}\n")
    line = 2 + body.count("\n")
    with pytest.raises(InputError, match=rf"one\.c:{line}: .*{said}"):
        ports.read([str(one)])


def test_conflicts_between_programs_are_reported_and_degrees_combined(tmp_path: Path) -> None:
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    more = SEND.replace(" a =", " b =").replace("5)", "9)")
    one.write_text(BEGIN + SEND + more + "  return 0;\n}\n")
    two.write_text(BEGIN + "  SMI_Open_recv_channel(n, SMI_LONG, 1, 3, SMI_COMM_WORLD);\n  return 0;\n}\n")
    with pytest.raises(
        InputError, match=r"two\.c:3: port 3 is used for receive long, and in one for send int .*one\.c:3"
    ):
        ports.read([str(one), str(two)])
    (found,) = ports.read([str(one)])
    assert [port.degree for port in found.ports] == [9]


def test_tutorials_first_program_has_the_output_of_the_page(command: Command, tmp_path: Path) -> None:
    """The program of docs/streams.md prints the sum; its faulty variant prints the error of the page."""
    page = (ROOT / "docs" / "streams.md").read_text()
    program = page.split("```c\n")[1].split("```")[0]
    (tmp_path / "two.c").write_text(program)
    done = command("smi", "run", "two.c", "--ranks", "2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{sum(range(1000))}\n")
    (tmp_path / "two.c").write_text(program.replace("recv_channel(n,", "recv_channel(n + 1,"))
    done = command("smi", "run", "two.c", "--ranks", "2", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.split() == page.split("Rank 1 asks for 1001 elements:\n\n```\n")[1].split("```")[0].split()
