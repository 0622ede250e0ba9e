# SPDX-License-Identifier: Apache-2.0
"""Boards on plain Ethernet: the host's side of the shell (docs/hardware/shell.md), simulated boards, and jobs of a
manager with futures (docs/cluster.md)."""

from __future__ import annotations

from gossamer.shell.client import Cluster, TaskFailed
from gossamer.shell.host import BROADCAST, BoardError, BoardInfo, Host, mac_text, parse_mac, root_of

__all__ = [
    "BROADCAST",
    "BoardError",
    "BoardInfo",
    "Cluster",
    "Host",
    "TaskFailed",
    "mac_text",
    "parse_mac",
    "root_of",
]
