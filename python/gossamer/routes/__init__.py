# SPDX-License-Identifier: Apache-2.0
"""Routes between the boards of a cluster: generation, deadlock check, figures, files.

    from gossamer import routes
    topology = routes.read_topology("torus8")          # or a TOML file, or SMI's JSON
    made = routes.generate(topology, vcs=2)
    made.tables.port[3, 5], made.tables.vc[3, 5]       # board 3: link and channel for packets to board 5
    assert routes.check(topology, made.tables).safe    # shares no code with the generator
    routes.write_tables(made.tables, "torus8.routes")

``deadlock`` is the check, ``multicast_keys`` reads tables of multicast routers for it, ``_measure`` computes figures.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from gossamer.errors import InputError
from gossamer.routes import deadlock
from gossamer.routes._generate import METHODS, Routes, generate
from gossamer.routes._measure import Figures, measure
from gossamer.routes._tables import HOME, NONE, Tables
from gossamer.routes._tables import read as _read_tables
from gossamer.routes._tables import write as write_tables
from gossamer.routes._topology import Topology, topology_hash, with_down
from gossamer.routes._topology import read as read_topology
from gossamer.routes.deadlock import Report
from gossamer.routes.multicast_keys import KeyTables
from gossamer.routes.tree_turns import TreeTurns, tree_turns

__all__ = [
    "HOME",
    "METHODS",
    "NONE",
    "Figures",
    "KeyTables",
    "Report",
    "Routes",
    "Tables",
    "Topology",
    "TreeTurns",
    "check",
    "generate",
    "measure",
    "read_tables",
    "read_topology",
    "topology_hash",
    "tree_turns",
    "with_down",
    "write_tables",
]


def read_tables(path: str | os.PathLike[str], topology: Topology | None = None) -> Tables:
    """Reads a file of tables. Raises InputError if a topology is given and the tables are for another one."""
    return _read_tables(path, topology.hash if topology is not None else None)


def check(
    topology: Topology,
    *tables: Tables,
    keys: KeyTables | None = None,
    shared: str = "channel",
) -> Report:
    """Checks that tables deliver all packets and cannot deadlock.

    Several tables are checked together, as when one replaces another under traffic. `keys` are tables of multicast
    routers; `shared` is the scope of one of their queues: an input channel, a port, or the whole board.
    """
    for one in tables:
        if one.topology != topology.hash:
            raise InputError(
                f"routing tables for another topology ({one.topology[:12]}, {topology.cluster.name} is "
                f"{topology.hash[:12]}); make them again for this one"
            )
    entries = [(one.port, one.vc, one.host_port, one.host_vc) for one in tables]
    down: Sequence[Sequence[str]] = [one.down for one in tables]
    vcs = max(one.vcs for one in tables)
    return deadlock.check(topology.cluster, entries, vcs, down=down, keys=keys, shared=shared)
