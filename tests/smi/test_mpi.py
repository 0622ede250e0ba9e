# SPDX-License-Identifier: Apache-2.0
"""Ranks in several MPI processes behave as in one process, which the other tests of this folder verify."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Command, Size

from gossamer import smi
from gossamer.errors import GossamerError, InputError, RunDied
from gossamer.smi import _compile, _mpi

from . import model
from .test_error_messages import CASES, line_of
from .test_random import Program, emulate

FIXTURES = ROOT / "tests" / "fixtures" / "smi"
EXAMPLES = ROOT / "examples"


# Name: files, ranks, arguments, slack. `inputs` makes the files that programs read; they write `written*`.
PROGRAMS: dict[str, tuple[list[Path], int, list[str], int]] = {
    **{part: ([FIXTURES / "ranks.cc"], 4, [part], 16) for part in ("variables", "create", "stalled")},
    "within": ([FIXTURES / "ranks.cc"], 4, ["within"], 0),
    **{
        case: ([FIXTURES / "channel_semantics.cc"], 2, [case], 16)
        for case in ("reduce", "gather", "scatter", "copies")
    },
    "pipeline": ([EXAMPLES / "streams" / "pipeline.c"], 8, ["500"], 0),
    "stencil": ([EXAMPLES / "streams" / "stencil.cpp"], 4, ["2", "2", "16", "24", "5", "grid", "written"], 1),
    "kmeans": ([EXAMPLES / "streams" / "kmeans.cpp"], 4, ["5", "3", "300", "4", "points", "written"], 16),
    "lanes": ([FIXTURES / "lanes.cl"], 4, ["data=data", "n=10", "root=2", "2.out=80:written", "sink.out=80"], 16),
    "gesummv": (
        [EXAMPLES / "gesummv" / f"gesummv_rank{rank}.cl" for rank in (0, 1)], 2,
        ["A=square", "B=square", "x=vector", "N=24", "alpha=1.5", "beta=0.5", "y=24:written"], 16,
    ),
    "sum": ([FIXTURES / "collect.cc"], 7, ["2", "0", "3", "200", "floats", "written"], 16),
    "max": ([FIXTURES / "collect.cc"], 5, ["7", "1", "4", "100", "floats", "written"], 0),
    "groups": ([FIXTURES / "collect.cc"], 7, ["2", "3", "1", "200", "floats", "written", "3"], 16),
}  # fmt: skip


def inputs(folder: Path, seed: int) -> None:
    """Writes the files that programs read, equal for any number of processes."""
    draw = np.random.default_rng(seed)
    sizes = {"grid": 16 * 24, "points": 900, "data": 40, "square": 24 * 24, "vector": 24, "floats": 7 * 200}
    for name, size in sizes.items():
        draw.normal(0, 9, size).astype(np.float32).tofile(folder / name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_is_independent_of_the_number_of_processes(
    name: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files, ranks, words, slack = PROGRAMS[name]
    inputs(tmp_path, seed)
    monkeypatch.chdir(tmp_path)
    found = []
    for processes in (1, 2, 4):
        if processes > ranks:
            continue
        capfd.readouterr()
        options = smi.Options(slack=slack, processes=processes, seed=processes % 4)
        done = smi.run([str(file) for file in files], ranks=ranks, arguments=words, options=options)
        assert (done.code, done.ranks) == (0, ranks)
        written = {file.name: file.read_bytes() for file in sorted(tmp_path.glob("written*"))}
        # The order of the ranks' output is not defined.
        found.append((sorted(capfd.readouterr().out.split()), written, done.kernels))
    assert found[0][0] or found[0][1]
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("case", [case for case in CASES if CASES[case][0] > 1])
def test_error_is_one_line_with_reason_and_source_lines(case: str) -> None:
    """With one process for each rank, so that the two ends of each channel are in different processes."""
    ranks, code, texts, marks = CASES[case]
    # The state of ranks in other processes is unknown.
    texts = {"exit": ("rank 1 called exit(0) while",), "leave": ("by _exit() or similar",)}.get(case, texts)
    notes: list[str] = []
    with pytest.raises(GossamerError) as error:
        smi.run([str(FIXTURES / "errors.cc")], ranks=ranks, arguments=[case], note=notes.append,
                options=smi.Options(processes=ranks))  # fmt: skip
    message = str(error.value)
    assert error.value.exit_code == code, message
    assert "\n" not in message
    for text in (*texts, *map(line_of, marks)):
        assert text in message
    assert all("waits" in note for note in notes)


def test_deadlock_across_processes_names_ranks_ports_and_lines() -> None:
    for processes in (2, 3):
        notes: list[str] = []
        with pytest.raises(RunDied, match="deadlock: rank 0 waits for rank 1, which waits for rank 2, which waits for"):
            smi.run([str(FIXTURES / "errors.cc")], ranks=3, arguments=["ring"], note=notes.append,
                    options=smi.Options(processes=processes))  # fmt: skip
        want = [f"rank {rank} waits to pop from rank {(rank + 1) % 3}, port 0: empty" for rank in range(3)]
        assert [re.sub(r" \(.*", "", note) for note in notes] == want
        assert all(line_of("ring") in note for note in notes)
    with pytest.raises(RunDied, match="deadlock"):
        notes.clear()
        smi.run([str(FIXTURES / "errors.cc")], ranks=2, arguments=["slack"], note=notes.append,
                options=smi.Options(processes=2, slack=3))  # fmt: skip
    assert all("port 0: full, 3 elements are ahead" in note for note in notes) and len(notes) == 2


def test_random_programs_match_the_model(
    size: Size, seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(size.pick(20, 40, 1000)):
        case = draw.randrange(2**32)
        program = Program(case)
        if program.ranks == 1:
            continue
        kernels = program.modelled()
        ends = model.run(kernels)
        waiting = {(one.rank, f"k{one.number}" if one.number else "main") for one in kernels if one.at < len(one.todo)}
        processes = draw.randint(2, min(program.ranks, 4))
        order = draw.choice([0, draw.randrange(1, 2**31)])
        ended, results, waits = emulate(program, order, tmp_path, capfd, processes)
        place = f"program {case}, order {order}, {processes} processes\n{program.script()}"
        for one in kernels:
            assert results[one.rank, one.number] == one.results, f"rank {one.rank} kernel {one.number}, {place}"
        assert ended == ends, place
        assert waits == waiting, place
        outcomes[ends] += 1
    assert sum(outcomes.values()) > 3, outcomes


SPLITS = """
#include <smi.h>
#include <stdio.h>
/* Repeated halving: messages of a new communicator reach processes that have not created it yet. */
int main(void) {
  SMI_Comm comm = SMI_COMM_WORLD;
  int value = SMI_Comm_rank(comm), sum = 0;
  while (SMI_Comm_size(comm) > 1) {
    const int me = SMI_Comm_rank(comm);
    SMI_AllreduceChannel all = SMI_Open_allreduce_channel(20, SMI_INT, SMI_ADD, 1, comm);
    for (int i = 0; i < 20; i++, value += sum) SMI_Allreduce(&all, &value, &sum);
    SMI_AllgatherChannel each = SMI_Open_allgather_channel(5, SMI_INT, 2, comm);
    for (int i = 0; i < 5 * SMI_Comm_size(comm); i++, value ^= sum) SMI_Allgather(&each, &value, &sum);
    SMI_Barrier(3, comm);
    comm = SMI_Comm_split(comm, me % 2, -me);
  }
  printf("%d %d\\n", SMI_Comm_rank(SMI_COMM_WORLD), value);
  return 0;
}
"""


def test_nested_communicators_are_independent_of_the_number_of_processes(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "splits.c"
    file.write_text(SPLITS)
    found = []
    for processes, seed in ((1, 0), (2, 5), (3, 0), (8, 0)):
        capfd.readouterr()
        smi.run([str(file)], ranks=8, options=smi.Options(processes=processes, seed=seed, slack=0))
        found.append(sorted(capfd.readouterr().out.splitlines()))
    assert len(found[0]) == 8 and all(one == found[0] for one in found)


def test_output_before_an_error_is_flushed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """All ranks flush their output, also those of processes that another process's error ends."""
    file = tmp_path / "said.c"
    file.write_text(
        "#include <smi.h>\n#include <stdio.h>\nint main(void) {\n  int x = 0, me = SMI_Comm_rank(SMI_COMM_WORLD);\n"
        '  printf("rank %d\\n", me);\n  SMI_Barrier(0, SMI_COMM_WORLD);\n'
        "  SMI_Channel c = SMI_Open_send_channel(1, SMI_INT, me ? 0 : 9, 1, SMI_COMM_WORLD);\n"
        "  if (me) for (volatile int i = 0;;) i = i + 1;\n  SMI_Push(&c, &x);\n}\n"
    )
    with pytest.raises(InputError, match="SMI_Push with rank 9"):
        smi.run([str(file)], ranks=3, options=smi.Options(processes=3))
    assert sorted(capfd.readouterr().out.splitlines()) == ["rank 0", "rank 1", "rank 2"]


def test_interrupt_leaves_no_process() -> None:
    files = [str(ROOT / "gossamer"), "smi", "run", str(FIXTURES / "errors.cc")]
    words = [sys.executable, *files, "--ranks", "2", "--mpi", "2"]
    child = subprocess.Popen([*words, "--", "busy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    emulators: list[int] = []
    until = time.monotonic() + 60
    while len(emulators) < 2 and time.monotonic() < until:
        time.sleep(0.1)
        emulators = [pid for pid in _descendants(child.pid) if _runs(pid, "smi-emulator")]
    assert len(emulators) == 2
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (130, "gossamer: interrupted\n")
    assert not any(_runs(pid, "smi-emulator") for pid in emulators)


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        tasks = Path(f"/proc/{one}/task")
        for task in tasks.iterdir() if tasks.exists() else ():
            with_children = task / "children"
            found += map(int, with_children.read_text().split()) if with_children.exists() else []
    return found[1:]


def _runs(pid: int, name: str) -> bool:
    """A zombie, which waits for the system's first process, runs no more: it has no arguments."""
    try:
        process = Path(f"/proc/{pid}")
        return (process / "comm").read_text().strip() == name[:15] and bool((process / "cmdline").read_bytes())
    except OSError:
        return False


def test_limits_are_enforced(command: Command) -> None:
    done = command("smi", "run", FIXTURES / "ranks.cc", "--ranks", "2", "--mpi", "3", "--", "within")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "--mpi 3: more processes than ranks; give 2 or fewer" in done.stderr
    with pytest.raises(InputError, match="after 3000 operations"):
        smi.run([str(FIXTURES / "errors.cc")], ranks=2, arguments=["busy"],
                options=smi.Options(processes=2, operations=3000))  # fmt: skip
    with pytest.raises(RunDied, match="did not start"):
        _mpi.run(Path("/bin/false"), 2, "", [])
    assert _compile.emulator().exists()
