# SPDX-License-Identifier: Apache-2.0
"""Machines of an MPI job as network namespaces of this one: each has a host name, which is its address, and its own
loopback, and reaches the others through a bridge only."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

_SUBNET = "10.213.77"

_AGENT = """#!/bin/sh
# AGENT HOST COMMAND...: as ssh, with a shell on the other side.
host=$1
shift
space="{prefix}-${{host##*.}}"
echo "$host" >> "{log}"
[ -e "/run/netns/$space" ] || {{ echo "connect to host $host: No route to host" >&2; exit 255; }}
[ -e "{log}.$host" ] && . "{log}.$host"  # this machine's own environment
exec ip netns exec "$space" unshare --uts sh -c 'hostname "$0" && exec sh -c "$*"' "$host" "$@"
"""


def missing() -> str:
    """Why namespaces cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    absent = [name for name in ("ip", "unshare", "hostname") if shutil.which(name) is None]
    if absent:
        return f"{', '.join(absent)} not found"
    done = subprocess.run(["unshare", "--net", "--uts", "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], capture_output=True, text=True, timeout=30, check=True)


@contextlib.contextmanager
def machines(count: int, folder: Path) -> Iterator[tuple[list[str], Path]]:
    """Creates machines; returns their host names, and a program that runs a command on one of them as ssh does.

    The program appends the name of the machine to the file ``log`` of the folder, and reads the machine's environment
    from ``log.NAME``, a shell script, if it exists.
    """
    prefix = f"gs{os.getpid()}"
    names = [f"{_SUBNET}.{number}" for number in range(1, count + 1)]
    spaces = [f"{prefix}-{number}" for number in range(count + 1)]  # the first has the bridge
    agent = folder / "agent"
    agent.write_text(_AGENT.format(prefix=prefix, log=folder / "log"), encoding="ascii")
    agent.chmod(0o755)
    with contextlib.ExitStack() as stack:
        for space in spaces:
            _ip("netns", "add", space)
            stack.callback(_ip, "netns", "delete", space)
            _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", spaces[0], "link", "add", "hub", "type", "bridge")
        _ip("-n", spaces[0], "link", "set", "hub", "up")
        for number, name in enumerate(names, 1):
            port = f"port{number}"
            _ip("-n", spaces[0], "link", "add", port, "type", "veth", "peer", "name", "net", "netns", spaces[number])
            _ip("-n", spaces[0], "link", "set", port, "master", "hub", "up")
            _ip("-n", spaces[number], "address", "add", f"{name}/24", "dev", "net")
            _ip("-n", spaces[number], "link", "set", "net", "up")
        yield names, agent


def on(agent: Path, name: str, command: Sequence[str | Path]) -> list[str]:
    """The command that runs another one on a machine."""
    return [str(agent), name, *map(str, command)]


__all__ = ["machines", "missing", "on"]
