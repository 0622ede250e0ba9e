# SPDX-License-Identifier: Apache-2.0
"""OpenCL device files: endless kernels, and concurrent translation to C."""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np
import pytest

from gossamer import files, smi
from gossamer.errors import RunDied
from gossamer.smi import opencl, ports

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
