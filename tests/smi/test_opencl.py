# SPDX-License-Identifier: Apache-2.0
"""OpenCL device files: endless kernels, and concurrent translation to C."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from gossamer import files, smi
from gossamer.errors import InputError, RunDied
from gossamer.smi import opencl, ports

FIXTURES = Path(__file__).parent.parent / "fixtures" / "smi"

LOOPS = {
    "while (1) { work(); }": True,
    "for (;;) work();": True,
    "for (int i = 0; ; i++) { if (i) work(); }": True,
    "for (; 1; ) { for (int i = 0; i < 3; i++) { if (i == 2) break; } switch (n) { case 1: break; } }": True,
    "do work(); while (true);": True,
    "if (n) while (!0) work();": True,
    "helper(n);": True,
    "while (n) work();": False,
    "while (0) work();": False,
    "for (; 0; ) work();": False,
    "for (int true_ = n; true_; ) work();": False,
    "while (1) { if (n) break; }": False,
    "while (1) { for (;n;) { return; } }": False,
    "for (;;) { if (n) goto end; } end: ;": False,
    "work();": False,
}


def test_endless_kernels_are_detected(tmp_path: Path) -> None:
    file = tmp_path / "one.cl"
    text = "#include <smi.h>\nvoid work(void) {}\nvoid helper(int n) { while (1) work(); }\n"
    for at, body in enumerate(LOOPS):
        text += f"__kernel void k{at}(int n) {{ {body} }}\n"
    file.write_text(text)
    (found,) = ports.read([str(file)])
    assert {body: one["endless"] for body, one in zip(LOOPS, found.kernels, strict=True)} == LOOPS


SERVER = """#include "smi.h"
channel int words __attribute__((depth(4)));
channel int sums __attribute__((depth(4)));
__kernel void feed(const int n, SMI_Comm comm) {
  SMI_Channel in = SMI_Open_receive_channel(n, SMI_INT, 0, 0, comm);
  for (int i = 0; i < n; i++) {
    int value;
    SMI_Pop(&in, &value);
    write_channel_intel(words, value);
  }
}
__kernel void add() {
  int sum = 0;
  while (1) {
    READ
    sum += value;
    write_channel_intel(sums, sum);
  }
}
__kernel void store(__global int* restrict out) {
  for (int i = 0; ; i++) out[i] = read_channel_intel(sums);
}
"""
CLIENT = """#include "smi.h"
__kernel void send(const int n, SMI_Comm comm) {
  SMI_Channel out = SMI_Open_send_channel(n, SMI_INT, 1, 0, comm);
  for (int i = 0; i < n; i++) SMI_Push(&out, &i);
}
"""
READS = {
    "waits": "int value = read_channel_intel(words);",
    "polls": "bool valid; int value = read_channel_nb_intel(words, &valid); if (!valid) continue;",
}


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("reads", READS)
def test_run_ends_after_endless_kernels_finish_their_work(reads: str, processes: int, tmp_path: Path) -> None:
    """Two endless kernels forward the data of the last finite kernel; the buffer has all of it when the run ends."""
    if reads == "polls" and processes > 1:
        pytest.skip("a polling kernel may always receive data from another process")
    (tmp_path / "server.cl").write_text(SERVER.replace("READ", READS[reads]))
    (tmp_path / "client.cl").write_text(CLIENT)
    out, n = tmp_path / "out.bin", 100
    done = smi.run(
        [str(tmp_path / "client.cl"), str(tmp_path / "server.cl")],
        arguments=[f"n={n}", f"out={n}:{out}"],
        options=smi.Options(processes=processes),
    )
    assert done.code == 0
    assert np.array_equal(np.fromfile(out, np.int32), np.cumsum(np.arange(n)))


def test_deadlock_is_found_despite_endless_kernels(tmp_path: Path) -> None:
    (tmp_path / "server.cl").write_text(SERVER.replace("READ", READS["waits"]))
    (tmp_path / "client.cl").write_text(CLIENT.replace("i < n; i++) SMI", "i + 1 < n; i++) SMI"))
    lines: list[str] = []
    with pytest.raises(RunDied, match="rank 1 waits for rank 0, which has ended"):
        smi.run(
            [str(tmp_path / "client.cl"), str(tmp_path / "server.cl")], arguments=["n=5", "out=5"], note=lines.append
        )
    assert any("server.cl:8" in line for line in lines), lines


def test_concurrent_runs_translate_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run translates the file while the first writes it; both use a complete file, and no part remains."""
    file = tmp_path / f"one{secrets.token_hex(4)}.cl"
    file.write_text(CLIENT)
    (made,) = opencl.translate(file, [], host=True)
    text = made.read_text()
    made.unlink()
    whole, calls = files.write_whole, []

    def meanwhile(path: Path, data: bytes) -> None:
        calls.append(path)
        monkeypatch.setattr(files, "write_whole", whole)
        assert opencl.translate(file, [], host=True) == [made]
        whole(path, data)

    monkeypatch.setattr(files, "write_whole", meanwhile)
    assert opencl.translate(file, [], host=True) == [made] and made.read_text() == text and calls == [made]
    assert not list(made.parent.glob(f"*{file.stem}*.part*"))


def test_stencil_of_smi_matches_numpy(seed: int, tmp_path: Path) -> None:
    """Kernels that share a memory; endless kernels that pop from ranks outside of the grid; headers by -I."""
    rx, ry, nx, ny, steps = 2, 3, 5, 8, 3
    grid = np.random.default_rng(seed).normal(size=(rx * nx, ry * ny)).astype(np.float32)
    for rank in range(rx * ry):
        x, y = divmod(rank, ry)
        own = grid[x * nx : (x + 1) * nx, y * ny : (y + 1) * ny]
        np.concatenate([own, np.zeros_like(own)]).tofile(tmp_path / f"in{rank}")
    words = ["memory=@memory", f"@memory={tmp_path}/in{{}}:{tmp_path}/out{{}}", f"steps={steps}"]
    includes = [str(FIXTURES / "sizes")]
    for processes in (1, 2):
        options = smi.Options(processes=processes, seed=processes - 1)
        done = smi.run([str(FIXTURES / "stencil.cl")], ranks=6, arguments=words, includes=includes, options=options)
        assert done.code == 0
        want = grid
        for _ in range(steps):
            wide = np.pad(want, 1)
            want = np.float32(0.25) * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:])
        for rank in range(rx * ry):
            x, y = divmod(rank, ry)
            found = np.fromfile(tmp_path / f"out{rank}", np.float32).reshape(2, nx, ny)[steps % 2]
            assert np.array_equal(found, want[x * nx : (x + 1) * nx, y * ny : (y + 1) * ny]), rank
            (tmp_path / f"out{rank}").unlink()


def test_kmeans_of_smi_matches_numpy(seed: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(seed)
    points = draw.integers(-40, 40, (3, 20, 8)).astype(np.float32)
    means = draw.integers(-40, 40, (3, 8)).astype(np.float32)
    for rank in range(3):
        points[rank].tofile(tmp_path / f"points{rank}")
    means.tofile(tmp_path / "means")
    words = [f"points={tmp_path}/points{{}}", "n=20", "rounds=4", f"means={tmp_path}/means"]
    words.append(f"0.means={tmp_path}/means:{tmp_path}/out")
    assert smi.run([str(FIXTURES / "kmeans.cl")], ranks=3, arguments=words).code == 0
    flat = points.reshape(-1, 8)
    for _ in range(4):
        square = (flat[:, None] - means[None]) ** 2
        # In the order of the kernel's additions, so that equal distances are equal.
        square = square[..., :4] + square[..., 4:]
        square = square[..., :2] + square[..., 2:]
        nearest = np.argmin(square[..., 0] + square[..., 1], axis=1)
        means = np.array([flat[nearest == k].sum(axis=0, dtype=np.float32) / np.float32(max((nearest == k).sum(), 1))
                          if (nearest == k).any() else means[k] for k in range(3)], np.float32)  # fmt: skip
    assert np.array_equal(np.fromfile(tmp_path / "out", np.float32).reshape(3, 8), means)


SHARED = """#include "smi.h"
channel int done __attribute__((depth(1)));
__kernel void fill(__global int memory[], const int n) {
  for (int i = 0; i < n; i++) memory[i] = i * i;
  write_channel_intel(done, 1);
}
__kernel void reverse(__global int2* restrict memory, __global int* restrict copy, const int n) {
  read_channel_intel(done);
  for (int i = 0; i < n / 2; i++) {
    copy[n - 1 - 2 * i] = memory[i].x;
    copy[n - 2 - 2 * i] = memory[i].y;
  }
}
"""


def shared(tmp_path: Path) -> str:
    (tmp_path / "shared.cl").write_text(SHARED)
    return str(tmp_path / "shared.cl")


def test_arguments_share_a_buffer(tmp_path: Path) -> None:
    words = ["n=6", "memory=@both", f"@both=6:{tmp_path}/memory{{}}", f"copy=6:{tmp_path}/copy{{}}"]
    assert smi.run([shared(tmp_path)], ranks=2, arguments=words).code == 0
    for rank in range(2):
        assert np.fromfile(tmp_path / f"memory{rank}", np.int32).tolist() == [0, 1, 4, 9, 16, 25]
        assert np.fromfile(tmp_path / f"copy{rank}", np.int32).tolist() == [25, 16, 9, 4, 1, 0]


@pytest.mark.parametrize(
    ("words", "ranks", "what"),
    [
        (["memory=4:out", "copy=4"], 1, "out: two buffers are written to this file, that of kernel fill's argument"),
        (["memory=4", "copy=4:out"], 2, "argument copy of rank 0 and that of kernel reverse's argument copy of rank 1"),
        (["memory=@m", "@m=4:out", "copy=4:./out"], 1, "that of @m of rank 0 and that of kernel reverse's"),
        (["memory=@m", "copy=4"], 1, "kernel fill: argument memory shares the buffer @m, which has no value"),
        (["memory=4", "copy=4", "@m=4"], 1, "@m=4: no argument of a kernel uses this buffer"),
        (["memory=4", "copy=4", "cpoy=4"], 1, "cpoy=4: no kernel that runs has such an argument"),
        (["memory=4", "copy=4", "0.n=@m"], 1, "argument n is no buffer"),
        (["memory=seven", "copy=4"], 1, "argument memory is seven of 7 bytes; its elements have 4"),
        (["memory=4:no/folder", "copy=4"], 1, "there is no folder"),
    ],
)
def test_conflicting_buffers_are_rejected_before_the_run(
    words: list[str], ranks: int, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = shared(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seven").write_bytes(b"1234567")
    with pytest.raises(InputError) as error:
        smi.run([file], ranks=ranks, arguments=["n=4", *words])
    assert what in str(error.value) and not (tmp_path / "out").exists()


def test_failed_run_writes_no_file(tmp_path: Path) -> None:
    """A file is written when all ranks have ended: not before a deadlock of others."""
    text = SHARED.replace("write_channel_intel(done, 1);", "")
    (tmp_path / "shared.cl").write_text(text)
    words = ["n=2", f"memory=2:{tmp_path}/out", "reverse.memory=2", "copy=2"]
    notes: list[str] = []
    with pytest.raises(RunDied, match="deadlock"):
        smi.run([str(tmp_path / "shared.cl")], arguments=words, note=notes.append)
    assert not (tmp_path / "out").exists()
    # Also the main that starts the kernels is at a line of the user.
    assert [note.split("(")[1] for note in notes] == [f"{tmp_path}/shared.cl:7)", f"{tmp_path}/shared.cl:8)"]


def test_endless_kernel_waits_forever_for_a_rank_that_does_not_exist(tmp_path: Path) -> None:
    text = """#include "smi.h"
    channel int seen __attribute__((depth(4)));
    __kernel void border(const int from, SMI_Comm comm) {
      while (1) {
        int value;
        SMI_Channel in = SMI_Open_recv_channel(1, SMI_INT, from, 0, comm);
        SMI_Pop(&in, &value);
        write_channel_intel(seen, value);
      }
    }
    __kernel void work(__global int* restrict out) { LOOP out[0]++; }
    """
    file = tmp_path / "border.cl"
    for loop, fails in (("", False), ("read_channel_intel(seen);", True)):
        file.write_text(text.replace("LOOP", loop))
        for beyond in (-1, 1):
            notes: list[str] = []
            words = [f"from={beyond}", f"out=1:{tmp_path}/out"]
            if not fails:
                assert smi.run([str(file)], ranks=1, arguments=words).code == 0
                assert np.fromfile(tmp_path / "out", np.int32).tolist() == [1]
                continue
            with pytest.raises(RunDied, match="deadlock: rank 0 waits for itself"):
                smi.run([str(file)], ranks=1, arguments=words, note=notes.append)
            place = f"({file}:7)"
            assert f"rank 0, border, waits to pop from rank {beyond}, which does not exist, port 0 {place}" in notes
    # A kernel that ends reports it as an error.
    file.write_text(text.replace("while (1)", "").replace("LOOP", ""))
    with pytest.raises(InputError, match="SMI_Pop with rank -1"):
        smi.run([str(file)], ranks=1, arguments=["from=-1", "out=1"])


MAIN = """#include <smi.h>
#include <stdio.h>
void step(int* out, int n, SMI_Comm comm);
int main(void) {
  int out = 0;
  step(&out, 3, SMI_COMM_WORLD);
  printf("NAME %d\\n", out);
  return 0;
}
"""
PARTS = {
    "send": "SMI_Channel c = SMI_Open_send_channel(n, SMI_INT, 1, 0, comm); for (*out = 0; *out < n; ++*out) {"
    " int value = SCALE * *out; SMI_Push(&c, &value); }",
    "receive": "SMI_Channel c = SMI_Open_recv_channel(n, SMI_INT, 0, 0, comm); for (int i = 0; i < n; i++) {"
    " int value; SMI_Pop(&c, &value); *out += value; }",
}
ALONE = "#include <smi.h>\n__kernel void alone(const int2 n, __global int out[]) { out[0] = n.x * n.y; }\n"


def test_each_main_has_the_opencl_file_of_its_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Two programs whose device files define the same kernel and channel; a third one is a device file alone."""
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "scale.h").write_text("#define SCALE 7\n")
    for name, body in PARTS.items():
        (tmp_path / f"{name}.c").write_text(MAIN.replace("NAME", name))
        kernel = f"__kernel void step(__global int* out, const int n, SMI_Comm comm) {{ {body} }}\n"
        (tmp_path / f"{name}.cl").write_text(f'#include "smi.h"\n#include "scale.h"\nchannel int own;\n{kernel}')
    (tmp_path / "alone.cl").write_text(ALONE)
    names = ["send.c", "receive.c", "receive.cl", "send.cl", "alone.cl"]
    words = ["n=6,7", f"out=1:{tmp_path}/out"]
    done = smi.run([str(tmp_path / one) for one in names], arguments=words, includes=[str(tmp_path / "headers")])
    assert (done.code, done.ranks) == (0, 3)
    assert sorted(capfd.readouterr().out.splitlines()) == ["receive 21", "send 3"]
    assert np.fromfile(tmp_path / "out", np.int32).tolist() == [42]
    found = ports.read([str(tmp_path / one) for one in names], includes=[str(tmp_path / "headers")])
    assert [(one.program, len(one.ports)) for one in found] == [("send", 1), ("receive", 1), ("alone", 0)]
    (tmp_path / "send.cl").rename(tmp_path / "other.cl")
    (tmp_path / "receive.cl").rename(tmp_path / "another.cl")
    with pytest.raises(InputError, match=r"send\.c: uses step, which .*other\.cl and .*another\.cl define; give the"):
        smi.run([str(tmp_path / one) for one in ("send.c", "receive.c", "other.cl", "another.cl")],
                includes=[str(tmp_path / "headers")])  # fmt: skip
    with pytest.raises(InputError, match="-I nowhere: is not a folder"):
        smi.run([str(tmp_path / "alone.cl")], includes=["nowhere"])


def test_deadlock_with_a_main_in_c_names_the_users_lines(tmp_path: Path) -> None:
    """Of the main, of the device file, and of a header that the device file includes."""
    (tmp_path / "host.c").write_text(
        "#include <smi.h>\nvoid wait(int n);\nstatic void start(void* n) { wait(*(int*)n); }\nint main(void) {\n"
        "  int n[2] = {0, 1};\n  SMI_Kernel all[2];\n"
        '  for (int i = 0; i < 2; i++) all[i] = SMI_Start_kernel("k", start, &n[i]);\n'
        "\n  SMI_Wait_kernel(all[0]);\n  return 0;\n}\n"
    )
    (tmp_path / "device.cl").write_text(
        '#include <smi.h>\nchannel int2 pairs, others;\n#include "waits.h"\n'
        "__kernel void wait(const int n) {\n  if (n) read_channel_intel(others);\n  waits_in_a_header();\n}\n"
    )
    (tmp_path / "waits.h").write_text("\nvoid waits_in_a_header(void) { (void)read_channel_intel(pairs).xy; }\n")
    notes: list[str] = []
    with pytest.raises(RunDied, match="deadlock"):
        smi.run([str(tmp_path / "host.c"), str(tmp_path / "device.cl")], note=notes.append)
    places = [note.rsplit("(", 1)[1].rstrip(")") for note in notes]
    assert places == [f"{tmp_path}/{one}" for one in ("host.c:9", "waits.h:2", "device.cl:5")]


@pytest.mark.parametrize("hosted", [False, True])
def test_each_call_of_a_device_file_keeps_its_line(hosted: bool, tmp_path: Path) -> None:
    """The compiler may not merge equal calls. The file has no function besides the kernel."""
    file = tmp_path / "calls.cl"
    file.write_text(
        "#include <smi.h>\nchannel int c;\n__kernel void k(int n, SMI_Comm comm) {\n"
        "  SMI_Channel in = SMI_Open_recv_channel(4, SMI_INT, 0, 0, comm);\n  int v = 0;\n"
        "  if (n == 7)\n    SMI_Pop(&in, &v);\n  else if (n == 9)\n    SMI_Pop(&in, &v);\n  else if (n == 11)\n"
        "    v = read_channel_intel(c);\n  else\n    v = read_channel_intel(c);\n  write_channel_intel(c, v);\n}\n"
    )
    main = tmp_path / "main.c"
    main.write_text(
        "#include <smi.h>\n#include <stdlib.h>\nvoid k(int n, SMI_Comm comm);\n"
        "int main(int count, char** words) { k(atoi(words[count - 1]), SMI_COMM_WORLD); return 0; }\n"
    )
    for line in (7, 9, 11, 13):
        notes: list[str] = []
        files, words = ([str(file), str(main)], [f"{line}"]) if hosted else ([str(file)], [f"n={line}"])
        with pytest.raises(RunDied, match="deadlock"):
            smi.run(files, arguments=words, note=notes.append)
        assert notes[-1].endswith(f"({file}:{line})"), notes


def test_headers_are_searched_in_folders_of_the_command(command: Command, tmp_path: Path) -> None:
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "port.h").write_text("#define PORT 5\n")
    file = tmp_path / "one.c"
    file.write_text(
        '#include <smi.h>\n#include "port.h"\nint main(void) {\n  int x = 1;\n'
        "  SMI_Channel c = SMI_Open_send_channel_ad(1, SMI_INT, 0, PORT, SMI_COMM_WORLD, 1);\n"
        "  SMI_Push(&c, &x);\n  return 0;\n}\n"
    )
    assert command("smi", "run", file, "-I", tmp_path / "headers").returncode == 0
    listed = command("smi", "ports", file, "-I", tmp_path / "headers")
    assert (listed.returncode, "  5  send int" in listed.stdout) == (0, True)
    for words in (["run", file], ["run", file, "-I", tmp_path / "nowhere"], ["ports", file]):
        done = command("smi", *words)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
