# SPDX-License-Identifier: Apache-2.0
"""Launching ranks: MPIs of a site, machines of a file, Slurm; what is wrong is one line with exit code 2."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import namespaces
import numpy as np
import pytest
import slurm
from conftest import Command

import gossamer_setup
from gossamer.errors import InputError, RunDied
from gossamer.hosts import machines, mpi_launcher

ROOT = Path(__file__).resolve().parents[2]
GRAPH = "gen:grid:width=30,height=30"
RUN = ("run", "pagerank", GRAPH, "--engine", "distributed")
SITES = {
    "mpich": ("mpirun.mpich", "mpicxx.mpich"),
    "openmpi": ("mpirun.openmpi --oversubscribe", "mpicxx.openmpi"),
}
"""Launcher and compiler of Debian's MPIs."""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module", autouse=True)
def _mpi() -> None:
    gossamer_setup.require("mpi")


def site(launcher: str, compiler: str = "") -> dict[str, str]:
    """The environment for Debian's MPIs; skips the test if one is not installed."""
    compiler = compiler or launcher
    for name in (SITES[launcher][0].split()[0], SITES[compiler][1]):
        if shutil.which(name) is None:
            pytest.skip(f"{name} not found; apt-get install mpich libmpich-dev openmpi-bin libopenmpi-dev")
    return {**AS_ROOT, "GOSSAMER_MPIEXEC": SITES[launcher][0], "GOSSAMER_MPICXX": SITES[compiler][1]}


def checked(done: subprocess.CompletedProcess[str], result: Path, ranks: int) -> None:
    """Checks the ranks of a run's vertices with an own power iteration on the grid."""
    assert done.returncode == 0, done.stderr
    ours = np.load(result.with_suffix(".npy"))
    share = np.full((30, 30), 1 / 900)
    degree = np.full((30, 30), 4) - (np.arange(30) % 29 == 0)[None, :] - (np.arange(30) % 29 == 0)[:, None]
    for _ in range(json.loads(result.with_suffix(".json").read_text())["steps"]):
        sent = np.pad(share / degree, 1)
        share = 0.15 / 900 + 0.85 * (sent[:-2, 1:-1] + sent[2:, 1:-1] + sent[1:-1, :-2] + sent[1:-1, 2:])
    np.testing.assert_allclose(ours, share.ravel(), rtol=1e-2)
    assert json.loads(result.with_suffix(".json").read_text())["ranks"] == ranks


def outputs(result: Path) -> list[str]:
    return ["-o", str(result.with_suffix(".npy")), "--stats", str(result.with_suffix(".json"))]


# ---- The MPI of a site -----------------------------------------------------------------


@pytest.mark.tier("all", seconds=15, adds="Debian's MPICH and Open MPI")
@pytest.mark.parametrize("name", SITES)
def test_a_sites_mpi_starts_ranks_from_the_command_and_from_its_launcher(
    command: Command, tmp_path: Path, name: str
) -> None:
    environment = site(name)
    result = tmp_path / "result"
    checked(command(*RUN, "-n", "3", *outputs(result), env=environment), result, 3)
    words = [*SITES[name][0].split(), "-n", "2", sys.executable, str(ROOT / "gossamer"), *RUN, *outputs(result)]
    done = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    checked(done, result, 2)


@pytest.mark.tier("all", seconds=15, adds="launchers of another MPI")
@pytest.mark.parametrize(
    ("launcher", "compiler", "said"),
    [
        ("openmpi", "mpich", "Open MPI's launcher has started this process, but Gossamer is built with MPICH"),
        ("mpich", "openmpi", "a launcher has started 2 processes, but each is the only rank of its own MPI job"),
    ],
)
def test_a_launcher_of_another_mpi_is_rejected(command: Command, launcher: str, compiler: str, said: str) -> None:
    environment = site(launcher, compiler)
    done = command(*RUN, "-n", "2", env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and "GOSSAMER_MPICXX" in done.stderr and done.stderr.count("\n") == 1
    words = [*SITES[launcher][0].split(), "-n", "2", sys.executable, str(ROOT / "gossamer"), *RUN]
    started = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False
    )
    assert started.returncode == 2 and not started.stdout.strip()
    assert started.stderr.count("gossamer: error: ") == 1 and said in started.stderr


@pytest.mark.tier("all", seconds=15, adds="ranks with different MPIs")
def test_ranks_with_different_mpis_do_not_wait_for_ever() -> None:
    other = [f"{name}={value}" for name, value in site("mpich").items()]
    rank = [sys.executable, str(ROOT / "gossamer"), *RUN]
    words = [str(Path(sys.executable).parent / "mpiexec"), "-n", "1", *rank, ":", "-n", "1", "env", *other, *rank]
    environment = {**os.environ, "GOSSAMER_MPI_TIMEOUT": "15"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2 and not done.stdout
    assert "the ranks have not met within 15 s" in done.stderr or "install one MPI on all machines" in done.stderr


# ---- Machines in a file ----------------------------------------------------------------


def test_a_file_of_machines_has_three_forms_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_RSH", "/bin/true")
    file = tmp_path / "hosts"
    file.write_text("# the rack\nnode1\nnode-2.site:4  # big\n\nnode3 slots=2\nnode1\n")
    found = machines.read(file)
    assert [(one.name, one.slots) for one in found.all] == [("node1", 2), ("node-2.site", 4), ("node3", 2)]
    assert found.slots == 8
    for kind, lines in (
        ("hydra", "node1:2\nnode-2.site:4\nnode3:2\n"),
        ("open-mpi", "node1 slots=2\nnode-2.site slots=4\nnode3 slots=2\n"),
    ):
        start = mpi_launcher.Launcher(("launch",), tmp_path)
        vars(start)["kind"] = kind
        words = start.command(3, ["program"], machines=found, folder=tmp_path, exported=["NAME"])
        assert words[0] == "launch" and words[-3:] == ["-n", "3", "program"] and "/bin/true" in words
        assert (tmp_path / "machines").read_text() == lines
        assert ("-x" in words) == (kind == "open-mpi")
    vars(start)["kind"] = "slurm"
    with pytest.raises(InputError, match="--hosts: not with the launcher launch: Slurm selects the machines"):
        start.command(3, ["program"], machines=found, folder=tmp_path)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("node1\nnode2 node3\n", "hosts:2: 'node2 node3': give HOST, HOST:SLOTS or HOST slots=SLOTS"),
        ("node1:0\n", "hosts:1: 'node1:0': give HOST"),
        ("node1:99999999999999999999\n", "hosts:1: "),
        ("# none\n", "has no machine"),
        ("\udcff\udcfe", "is not a text file"),
        (None, "No such file or directory"),
        ("node1:2\n", "has 2 slots for 3 ranks"),
        ("gossamer-no-such-host.invalid:3\n", "gossamer-no-such-host.invalid cannot be reached with ssh: "),
    ],
)
def test_wrong_machines_are_one_line(
    command: Command, tmp_path: Path, lines: str | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "ssh" in said and shutil.which("ssh") is None:
        pytest.skip("ssh not found")
    file = tmp_path / "hosts"
    if lines is not None:
        file.write_bytes(lines.encode("utf-8", "surrogateescape"))
    rsh = {} if "ssh" in said else {"GOSSAMER_RSH": "true"}
    done = command(*RUN, "-n", "3", "--hosts", file, env=rsh, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_machine_without_this_checkout_or_without_an_answer_is_rejected(command: Command, tmp_path: Path) -> None:
    file, agent = tmp_path / "hosts", tmp_path / "agent"
    file.write_text("node1\nnode2\n")
    for script, said in (
        ('[ "$1" = node1 ]', "/bin/python; all machines need this checkout under the same path"),
        ('[ "$1" = node1 ] || exec sleep 60', "node2 does not answer within 10 s"),
        ('[ "$1" = node1 ] || { echo no route >&2; exit 255; }', "node2 cannot be reached with agent: no route"),
    ):
        agent.write_text(f"#!/bin/sh\n{script}\n")
        agent.chmod(0o755)
        done = command(*RUN, "--hosts", file, env={"GOSSAMER_RSH": str(agent)}, timeout=60)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("gossamer: error: --hosts: node2 ") and done.stderr.endswith(f"{said}\n")
        assert done.stderr.count("\n") == 1


def test_far_more_ranks_than_processors_never_start(command: Command) -> None:
    done = command(*RUN, "-n", "5000")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"gossamer: error: -n 5000: this machine has \d+ processors?, for at most \d+ ranks; "
        r"lower -n, or name more machines with --hosts\n",
        done.stderr,
    )


def test_hosts_need_the_engine_and_a_remote_shell(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("node1\n")
    done = command("run", "pagerank", GRAPH, "--hosts", file)
    assert (done.returncode, done.stderr) == (2, "gossamer: error: --hosts: is for --engine distributed\n")
    done = command(*RUN, "--hosts", file, env={"GOSSAMER_RSH": "no-such-shell"})
    assert done.returncode == 2
    assert (
        done.stderr
        == "gossamer: error: --hosts: no-such-shell not found; install it, or name a program in GOSSAMER_RSH\n"
    )


@pytest.mark.tier("all", seconds=30, adds="ranks on machines of a file, which are network namespaces")
@pytest.mark.parametrize("name", ["pypi", *SITES])
def test_ranks_run_on_the_machines_of_a_file(tmp_path: Path, name: str) -> None:
    if why := namespaces.missing():
        pytest.skip(why)
    environment = {**os.environ, **({} if name == "pypi" else site(name))}
    with namespaces.machines(3, tmp_path) as (names, agent):
        environment["GOSSAMER_RSH"] = str(agent)
        file, result = tmp_path / "hosts", tmp_path / "result"

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            line = namespaces.on(agent, names[0], [sys.executable, ROOT / "gossamer", *RUN, "--hosts", file, *words])
            return subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300, check=False)

        file.write_text(f"{names[0]}:2\n{names[1]}\n{names[2]} slots=1\n")
        checked(run(*outputs(result)), result, 4)
        # Of each other machine once for the check, and once for its ranks.
        log = (tmp_path / "log").read_text().split()
        assert [log.count(one) for one in names[1:]] == [2, 2]
        if name == "pypi":
            file.write_text(f"{names[0]}\n{names[0]}9\n")
            done = run()
            assert (done.returncode, done.stdout) == (2, "")
            assert f"{names[0]}9 cannot be reached with agent: connect to host" in done.stderr
            assert done.stderr.count("\n") == 1
        if name == "mpich":
            return
        # Another MPI on one machine only.
        other = site("mpich")
        (tmp_path / f"log.{names[1]}").write_text("".join(f"export {key}='{other[key]}'\n" for key in other))
        if name == "pypi":
            file.write_text(f"{names[0]}\n{names[1]}\n")
            done = run()
            assert (done.returncode, done.stdout) == (2, "")
            assert f"a rank on {names[1]} has MPICH 4" in done.stderr and "but the command has MPICH" in done.stderr
            assert done.stderr.count("\n") == 1


# ---- Slurm -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a Slurm of this machine."""
    if why := slurm.missing():
        pytest.skip(why)
    with slurm.cluster(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


def in_slurm(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.tier("all", seconds=30, adds="ranks under Slurm")
def test_srun_with_pmi2_starts_ranks(cluster: dict[str, str], tmp_path: Path) -> None:
    program = [sys.executable, str(ROOT / "gossamer"), *RUN]
    result = tmp_path / "result"
    checked(in_slurm(cluster, "srun", "--mpi=pmi2", "-n", "3", *program, *outputs(result)), result, 3)
    # A shell in an allocation is the only process of its step, and starts ranks with the command.
    checked(in_slurm(cluster, "srun", "--mpi=pmi2", "-n", "1", *program, "-n", "2", *outputs(result)), result, 2)
    done = in_slurm(cluster, "srun", "--mpi=pmi2", "-n", "2", *program, "-n", "3")
    assert done.returncode == 2
    assert "--ranks: 3 ranks, but the launcher has started 2; omit the option" in done.stderr


@pytest.mark.tier("all", seconds=25, adds="ranks of Open MPI, which speaks PMIx, under Slurm")
def test_srun_with_pmix_starts_ranks_of_open_mpi(cluster: dict[str, str], tmp_path: Path) -> None:
    environment = cluster | site("openmpi")
    program = [sys.executable, str(ROOT / "gossamer"), *RUN]
    result = tmp_path / "result"
    for ranks in (2, 3):
        checked(
            in_slurm(environment, "srun", "--mpi=pmix", "-n", str(ranks), *program, *outputs(result)), result, ranks
        )
        result.with_suffix(".npy").unlink()
    done = in_slurm(environment, "srun", "--mpi=pmix", "-n", "2", *program, "-n", "3")
    assert done.returncode == 2 and done.stderr.count("gossamer: error: ") == 1
    assert "--ranks: 3 ranks, but the launcher has started 2; omit the option" in done.stderr
    # Without the option each rank would be the only one of its job.
    done = in_slurm(environment, "srun", "-n", "2", *program)
    said = "srun has started 2 processes that cannot form one MPI job; use srun --mpi=pmix"
    assert done.returncode == 2 and done.stderr.count("gossamer: error: ") == 1 and said in done.stderr


@pytest.mark.tier("all", seconds=20, adds="MPICHs without PMIx under Slurm")
@pytest.mark.parametrize("name", ["pypi", "mpich"])
def test_srun_with_pmix_is_rejected_with_an_mpi_without_pmix(cluster: dict[str, str], name: str) -> None:
    environment = cluster if name == "pypi" else cluster | site(name)
    done = in_slurm(environment, "srun", "--mpi=pmix", "-n", "3", sys.executable, str(ROOT / "gossamer"), *RUN)
    assert (done.returncode, done.stdout) == (2, "")
    said = r"srun --mpi=pmix has started this process, but MPICH \d.* does not support PMIx; use srun --mpi=pmi2, or "
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("srun: ", "slurmstepd"))]
    assert [bool(re.match(f"gossamer: error: {said}", line)) for line in lines] == [True], done.stderr


@pytest.mark.tier("all", seconds=15, adds="ranks under Slurm")
def test_plain_srun_is_rejected_with_the_option(cluster: dict[str, str]) -> None:
    begun = "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); used = resource.getrusage("
    begun += "resource.RUSAGE_CHILDREN); print('used', used.ru_utime + used.ru_stime); sys.exit(done.returncode)"
    program = [sys.executable, str(ROOT / "gossamer"), *RUN]
    done = in_slurm(cluster, "srun", "-n", "2", sys.executable, "-c", begun, *program)
    assert done.returncode == 2
    said = "srun has started 2 processes that cannot form one MPI job; use srun --mpi=pmi2"
    assert done.stderr.count("gossamer: error: ") == 1 and said in done.stderr
    # Processor time, because other tests may run: without them it is the time that passes, less a second of the rank
    # that leaves the report to the first.
    used = [float(line.split()[1]) for line in done.stdout.splitlines()]
    assert len(used) == 2 and max(used) < 2


@pytest.mark.tier("all", seconds=60, adds="ranks in a batch job of Slurm")
@pytest.mark.parametrize("name", ["pypi", "srun", *SITES])
def test_a_batch_job_starts_ranks(cluster: dict[str, str], tmp_path: Path, name: str) -> None:
    result = tmp_path / "result"
    own = {} if name == "pypi" else site("mpich" if name == "srun" else name)
    if name == "srun":
        own["GOSSAMER_MPIEXEC"] = "srun --mpi=pmi2"
    script = tmp_path / "job.sh"
    words = [sys.executable, str(ROOT / "gossamer"), *RUN, "-n", "3", *outputs(result)]
    script.write_text(f"#!/bin/sh\nexec {' '.join(words)}\n")
    log = tmp_path / "log"
    done = in_slurm(cluster | own, "sbatch", "--wait", "-n", "3", "-o", str(log), str(script))
    until = time.monotonic() + 10
    while not log.exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert done.returncode == 0, done.stderr + log.read_text()
    checked(done, result, 3)


# ---- Messages of launchers -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "lines", "kind", "said"),
    [
        (2, ["x", "gossamer: error: no MPI", "y"], InputError, "no MPI"),
        (1, ["gossamer: error: aborted"], RunDied, "aborted"),
        (
            9,
            ["=   PID 77 RUNNING AT node4", "=   KILLED BY SIGNAL: 9 (Killed)"],
            RunDied,
            "rank 3 on node4 was killed by SIGKILL; there is no result",
        ),
        (
            137,
            ["process rank 5 with PID 0 on node node6 exited on signal 11 (Segmentation fault)."],
            RunDied,
            "rank 5 on node6 was killed by SIGSEGV; there is no result",
        ),
        (7, ["=   PID 8 RUNNING AT n", "=   EXIT CODE: 7"], RunDied, "a rank on n ended with exit code 7"),
        (1, ["----", "no agent"], RunDied, "the ranks did not start, or ended without a report: no agent"),
    ],
)
def test_messages_of_launchers_become_one_line(code: int, lines: list[str], kind: type, said: str) -> None:
    error = mpi_launcher.failure(code, lines, {77: 3}.get)
    assert type(error) is kind and said in str(error)
