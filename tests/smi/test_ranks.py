# SPDX-License-Identifier: Apache-2.0
"""Ranks, programs, communicators and kernels."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import ROOT, Command

FILE = ROOT / "tests" / "fixtures" / "smi" / "ranks.cc"


def lines(command: Command, part: str, ranks: int, *options: str) -> list[str]:
    done = command("smi", "run", FILE, "--ranks", str(ranks), *options, "--", part)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_each_rank_has_its_own_variables(command: Command) -> None:
    assert lines(command, "variables", 3) == ["0 1 1", "1 1 1", "2 1 1"]


def test_channel_within_a_rank_needs_no_slack(command: Command) -> None:
    assert lines(command, "within", 2, "--slack", "0") == ["0 45", "1 45"]


def test_communicator_of_a_list_orders_its_ranks(command: Command) -> None:
    assert lines(command, "create", 4) == ["0 2 3 3", "1 1 3 1", "3 0 3 3"]


def test_unread_port_does_not_block_other_ports(command: Command) -> None:
    assert lines(command, "stalled", 2) == ["right"]


def test_seed_determines_the_order_of_kernels(command: Command) -> None:
    orders = {seed: [lines(command, "order", 4, "--seed", seed) for _ in range(2)] for seed in ("0", "1", "2")}
    assert all(first == second for first, second in orders.values())
    assert len({tuple(first) for first, _ in orders.values()}) == 3


PROGRAM = """
#include <smi.h>
#include <stdio.h>
const char* name(void);
int main(void) { printf("%d NAME %s\\n", SMI_Comm_rank(SMI_COMM_WORLD), name()); return 0; }
"""


def test_topology_or_order_assigns_programs_to_ranks(command: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(PROGRAM.replace("NAME", name))
    (tmp_path / "shared.c").write_text('const char* name(void) { return "shared"; }\n')
    files = [tmp_path / "one.c", tmp_path / "shared.c", tmp_path / "two.c"]

    def ranks(*options: str | Path) -> list[str]:
        done = command("smi", "run", *files, *options)
        assert done.returncode == 0, done.stderr
        return sorted(done.stdout.splitlines())

    assert ranks() == ["0 one shared", "1 two shared"]
    assert ranks("--ranks", "4") == ["0 one shared", "1 two shared", "2 two shared", "3 two shared"]
    topology = tmp_path / "t.json"
    fpgas = {"b:acl0": "one", "a:acl1": "two", "a:acl0": "two"}
    connections = {"a:acl0:ch0": "a:acl1:ch1", "a:acl1:ch0": "b:acl0:ch1"}
    topology.write_text(json.dumps({"fpgas": fpgas, "connections": connections}))
    assert ranks("--cluster", topology) == ["0 two shared", "1 two shared", "2 one shared"]
    topology.write_text(json.dumps({"fpgas": {**fpgas, "a:acl0": "tow"}, "connections": connections}))
    done = command("smi", "run", *files, "--cluster", topology)
    assert done.returncode == 2
    assert "did you mean two?" in done.stderr
    topology.write_text(json.dumps({"fpgas": dict.fromkeys(fpgas, "two"), "connections": connections}))
    done = command("smi", "run", *files, "--cluster", topology)
    assert done.returncode == 2
    assert "runs one; remove the file" in done.stderr
