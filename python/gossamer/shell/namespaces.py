# SPDX-License-Identifier: Apache-2.0
"""An Ethernet of this machine: network namespaces, veth pairs and a Linux bridge, for boards and hosts on AF_PACKET.

    with Lan(20) as lan:
        subprocess.Popen(lan.command(1, ["shell_twin", "--port", PORT, ...]))
        with lan.inside(0):
            host = Host(PORT, keys)

Needs root and the command ``ip``. Each station has a namespace of its own, with one interface named `PORT`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from gossamer.errors import InputError

PORT = "eth0"
"""Name of a station's interface in its namespace."""
_NETNS = Path("/var/run/netns")
_CLONE_NEWNET = 0x40000000


def missing() -> str | None:
    """Why a `Lan` cannot be made here; None if it can be."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need the command ip (Debian package iproute2)"
    return None


def mac(station: int) -> int:
    """The address of a station's interface."""
    return 0x02_67_73_01_00_00 + station


def address(station: int) -> str:
    """The IPv4 address of a station's interface."""
    return f"10.73.{station // 250}.{station % 250 + 1}"


class Lan:
    """A bridge with ``stations`` + 1 stations: number 0 is the host.

    ``mtu`` is in bytes after the Ethernet header. Raises InputError if the network cannot be made.
    """

    _made = 0

    def __init__(self, stations: int, mtu: int = 1500) -> None:
        if why := missing():
            raise InputError(why)
        Lan._made += 1
        self.stations, self.mtu = stations, mtu
        self._prefix = f"gossamer-{os.getpid()}-{Lan._made}"

    def name(self, station: int) -> str:
        """The namespace of a station."""
        return f"{self._prefix}-{station}"

    def command(self, station: int, command: Sequence[object]) -> list[str]:
        """The command as it runs in a station's namespace."""
        return ["ip", "netns", "exec", self.name(station), *map(str, command)]

    def __enter__(self) -> Lan:
        switch = f"{self._prefix}-switch"
        every = range(self.stations + 1)
        try:
            _batch([f"netns add {name}" for name in (switch, *map(self.name, every))])
            # Without a spanning tree the bridge forwards at once; without snooping it floods group addresses.
            bridge = f"link add br0 mtu {self.mtu} type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
            _batch([bridge, "link set br0 up"], switch)
            for one in every:
                text = ":".join(f"{mac(one) >> shift & 255:02x}" for shift in range(40, -8, -8))
                far = f"name {PORT} address {text} mtu {self.mtu} netns {self.name(one)}"
                lines = [f"link add p{one} mtu {self.mtu} type veth peer {far}", f"link set p{one} master br0 up"]
                _batch(lines, switch)
                lines = [f"addr add {address(one)}/16 brd + dev {PORT}", f"link set {PORT} up", "link set lo up"]
                lines.append(f"route add 224.0.0.0/4 dev {PORT}")
                # No neighbour discovery of IPv6 between the frames that are measured.
                _batch([f"link set {PORT} addrgenmode none", *lines], self.name(one))
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        # A namespace's interfaces end with it.
        for path in sorted(_NETNS.glob(f"{self._prefix}-*")):
            subprocess.run(["ip", "netns", "delete", path.name], capture_output=True, check=False)

    def set_link(self, station: int, up: bool) -> None:
        """Connects or pulls the cable of a station."""
        _batch([f"link set p{station} {'up' if up else 'down'}"], f"{self._prefix}-switch")

    @contextlib.contextmanager
    def inside(self, station: int) -> Iterator[None]:
        """Sockets that this thread opens meanwhile are in a station's namespace, and stay there."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        other = os.open(_NETNS / self.name(station), os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(other)
            try:
                yield
            finally:
                _enter(own)
        finally:
            os.close(own)
            os.close(other)


def _enter(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise InputError(f"cannot enter a network namespace: {os.strerror(ctypes.get_errno())}")


def _batch(lines: Iterable[str], namespace: str | None = None) -> None:
    """Runs lines of the command ip, in a namespace if one is given."""
    where = ["-n", namespace] if namespace is not None else []
    done = subprocess.run(
        ["ip", *where, "-batch", "-"], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise InputError(f"cannot make a network of namespaces: {done.stderr.strip().splitlines()[0]}")


__all__ = ["PORT", "Lan", "address", "mac", "missing"]
