# SPDX-License-Identifier: Apache-2.0
"""Which routes multicast trees are made of: the check for deadlock decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gossamer.routes import deadlock
from gossamer.routes._tables import Tables
from gossamer.routes._topology import Topology


def tree_tables(topology: Topology, tables: Tables) -> list[Tables]:
    """The routes that trees may be made of: the same links, each in one virtual channel throughout where that is safe.

    Routes to different boards may share a link in different channels, and a tree that is made of them crosses it once
    in each. Gives the routes themselves where a channel for all of them could deadlock, beside the routes.
    """
    alone = [replace(tables, vc=np.full_like(tables.vc, channel)) for channel in range(tables.vcs)]
    entries = [(one.port, one.vc, one.host_port, one.host_vc) for one in (tables, *alone)]
    safe = deadlock.check(topology.cluster, entries, tables.vcs, down=[tables.down] * len(entries)).safe
    return alone if safe else [tables]


__all__ = ["tree_tables"]
