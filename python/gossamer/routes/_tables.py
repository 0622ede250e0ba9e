# SPDX-License-Identifier: Apache-2.0
"""Routing tables, which map a board and a destination board or host to a port and a virtual channel; and their file.

docs/routes.md specifies the file format, which simulators and the loader of real boards share.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.config._source import shown
from gossamer.errors import InputError
from gossamer.files import write_whole

HOME = -1
"""Port of a board's entry for itself."""
NONE = -2
"""Port of an entry without a route: the board or the destination is down."""
MOST_VCS = 8
"""Number of virtual channels that a byte of the file can encode."""

_MAGIC = "gossamer-routes 1"
_HOME, _NONE = 0x80, 0xFF
Array = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Tables:
    """Tables of all boards. Rows are boards, columns destinations, both as the cluster numbers them."""

    topology: str
    """Hash of the topology of the tables."""
    vcs: int
    """Virtual channels of a virtual network on a link (LinkVcs)."""
    method: str
    """The method that generated the tables."""
    down: tuple[str, ...]
    """Boards and cables that the tables avoid."""
    port: Array
    """[board, destination board]: link, or HOME, or NONE."""
    vc: Array
    """[board, destination board]: virtual channel on that link; 0 if there is no link."""
    host_port: Array
    """[board, host]: link; at the host's own board the link to the host."""
    host_vc: Array
    """[board, host]."""

    @property
    def boards(self) -> int:
        """Number of boards."""
        return int(self.port.shape[0])

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return int(self.host_port.shape[1])

    def entry(self, board: int, destination: int) -> tuple[int, int]:
        """(port, virtual channel) of a board for a destination board."""
        return int(self.port[board, destination]), int(self.vc[board, destination])

    def table(self, board: int) -> bytes:
        """A board's table as encoded in the file: a byte for each board, then one for each host."""
        return bytes(self._bytes()[board].tobytes())

    def _bytes(self) -> NDArray[np.uint8]:
        port = np.concatenate([self.port, self.host_port], axis=1)
        vc = np.concatenate([self.vc, self.host_vc], axis=1)
        code: NDArray[np.uint8] = (vc.astype(np.uint8) << np.uint8(4)) | (port.astype(np.uint8) & np.uint8(0xF))
        code[port == HOME] = _HOME
        code[port == NONE] = _NONE
        return code

    def same(self, other: Tables) -> bool:
        """Whether both tables have the same routes."""
        return self.topology == other.topology and bool(np.array_equal(self._bytes(), other._bytes()))


def write(tables: Tables, path: str | os.PathLike[str]) -> None:
    """Writes the file atomically. Equal tables produce equal bytes."""
    body = tables._bytes().tobytes()
    head = [
        _MAGIC,
        f"topology {tables.topology}",
        f"boards {tables.boards}",
        f"hosts {tables.hosts}",
        f"vcs {tables.vcs}",
        f"method {tables.method}",
        *(f"down {name}" for name in tables.down),
        f"sha256 {hashlib.sha256(body).hexdigest()}",
        "",
    ]
    write_whole(Path(path), ("\n".join(head) + "\n").encode() + body)


def read(path: str | os.PathLike[str], topology: str | None = None) -> Tables:
    """Reads a file of tables.

    Raises InputError if the file is damaged, or if `topology` (a hash) is given and the tables are for another one.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{shown(path)}: cannot read routing tables: {(error.strerror or str(error)).lower()}"
        ) from None
    head, end, body = data.partition(b"\n\n")
    lines = head.decode("utf-8", errors="replace").split("\n")
    if not end or lines[0] != _MAGIC:
        raise InputError(f"{shown(path)}:1: not routing tables; ./gossamer routes CLUSTER --tables FILE writes them")
    facts: dict[str, str] = {}
    down = []
    for number, line in enumerate(lines[1:], 2):
        key, _, value = line.partition(" ")
        if key == "down":
            down.append(value)
        elif key in facts or not value:
            raise InputError(
                f"{shown(path)}:{number}: {key or 'an empty line'} is not expected here; generate the tables again"
            )
        else:
            facts[key] = value
    if topology is not None and facts.get("topology") != topology:
        where = next((n for n, line in enumerate(lines, 1) if line.startswith("topology")), 1)
        raise InputError(
            f"{shown(path)}:{where}: routing tables for another topology "
            f"({facts.get('topology', 'none')[:12]}, this one is {topology[:12]}); generate tables for this one"
        )
    if facts.get("sha256") != hashlib.sha256(body).hexdigest():
        raise InputError(f"{shown(path)}:{len(lines)}: the tables are damaged or truncated; generate them again")
    return _decode(path, facts, tuple(down), body)


def _decode(path: Path, facts: Mapping[str, str], down: tuple[str, ...], body: bytes) -> Tables:
    try:
        boards, hosts, vcs = (int(facts[key]) for key in ("boards", "hosts", "vcs"))
        code = np.frombuffer(body, dtype=np.uint8).reshape(boards, boards + hosts)
    except (KeyError, ValueError):
        raise InputError(f"{shown(path)}:1: the head does not match the tables; generate them again") from None
    port = (code & 0xF).astype(np.int8)
    vc = (code >> 4).astype(np.int8)
    for special, meaning in ((_HOME, HOME), (_NONE, NONE)):
        port[code == special] = meaning
        vc[code == special] = 0
    return Tables(
        topology=facts.get("topology", ""),
        vcs=vcs,
        method=facts.get("method", ""),
        down=down,
        port=np.ascontiguousarray(port[:, :boards]),
        vc=np.ascontiguousarray(vc[:, :boards]),
        host_port=np.ascontiguousarray(port[:, boards:]),
        host_vc=np.ascontiguousarray(vc[:, boards:]),
    )
