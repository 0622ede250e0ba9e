# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one's own on this machine: its daemons run in a private folder, with ports on loopback, without systemd.

Debian's `slurm-wlm` has all that is needed. The daemons need root.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_DAEMONS = ("munged", "slurmctld", "slurmd")
_TOOLS = (*_DAEMONS, "srun", "sbatch", "sinfo", "scontrol")
_PATIENCE = 30.0
"""Seconds for a daemon to start."""
_CPUS = 4
"""Processors that the node pretends to have."""

_CONFIGURATION = """\
ClusterName=gossamer
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=2
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=10 State=UP
"""


def missing() -> str:
    """Why Slurm cannot run here; empty if it can."""
    absent = [name for name in _TOOLS if _path(name) is None]
    if absent:
        return f"{', '.join(absent)} not found; apt-get install slurm-wlm"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root"


def _path(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Runs a cluster of one node; returns the environment for its commands. The folder's path must be short."""
    folder.chmod(0o755)
    controller, node = _free_ports(2)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], controller=controller, node=node, folder=folder, cpus=_CPUS
        ),
        encoding="utf-8",
    )
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    commands = (
        ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge],
        ["slurmctld", "-D", "-f", str(configuration)],
        ["slurmd", "-D", "-f", str(configuration)],
    )
    with contextlib.ExitStack() as stack:
        for command in commands:
            stack.enter_context(_daemon(command, environment, folder))
            if command[0] == "munged":
                _wait(lambda: (folder / "munge.socket").exists(), folder)
        _wait(lambda: "idle" in _said(["sinfo", "--noheader", "--format=%t"], environment), folder)
        yield environment
        _said(["scancel", "--user=root"], environment)


@contextlib.contextmanager
def _daemon(command: Sequence[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    path = _path(command[0])
    assert path is not None
    with open(folder / f"{command[0]}.out", "wb") as output:
        child = subprocess.Popen(
            [path, *command[1:]], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        yield
    finally:
        child.terminate()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _said(command: Sequence[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False).stdout


def _wait(done: object, folder: Path) -> None:
    assert callable(done)
    until = time.monotonic() + _PATIENCE
    while not done():
        logs = "".join(path.read_text(errors="replace")[-800:] for path in sorted(folder.glob("*.[lo][ou][gt]")))
        assert time.monotonic() < until, f"Slurm does not start: {logs}"
        time.sleep(0.1)


__all__ = ["cluster", "missing"]
