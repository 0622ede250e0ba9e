# SPDX-License-Identifier: Apache-2.0
"""SMI topologies, files of tables, and error messages for wrong ones."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python.routes import network

from gossamer import routes
from gossamer.errors import InputError

RING: dict[str, Any] = {
    "fpgas": {f"fpga-000{node}:acl{card}": f"program{card}" for node in (2, 1) for card in (1, 0)},
    "connections": {
        "fpga-0001:acl0:ch0": "fpga-0001:acl1:ch1",
        "fpga-0001:acl1:ch0": "fpga-0002:acl0:ch1",
        "fpga-0002:acl0:ch0": "fpga-0002:acl1:ch1",
        "fpga-0002:acl1:ch0": "fpga-0001:acl0:ch1",
    },
}


def smi(tmp_path: Path, text: str) -> routes.Topology:
    path = tmp_path / "t.json"
    path.write_text(text)
    return routes.read_topology(path)


def test_ranks_are_the_sorted_names(tmp_path: Path) -> None:
    topology = smi(tmp_path, json.dumps(RING))
    names = [board.name for board in topology.cluster.boards]
    assert names == ["fpga-0001:acl0", "fpga-0001:acl1", "fpga-0002:acl0", "fpga-0002:acl1"]
    assert topology.programs == {0: "program0", 1: "program1", 2: "program0", 3: "program1"}
    assert dataclasses.astuple(topology.cluster.cables[0]) == (0, 0, 1, 1)
    made = routes.generate(topology)
    assert routes.check(topology, made.tables).safe
    assert made.hops.max() == 2


def test_cable_may_be_declared_at_both_ends(tmp_path: Path) -> None:
    both = dict(RING, connections=RING["connections"] | {b: a for a, b in RING["connections"].items()})
    one = smi(tmp_path, json.dumps(RING))
    assert smi(tmp_path, json.dumps(both, indent=1)).hash == one.hash
    turned = dict(RING, connections={b: a for a, b in reversed(RING["connections"].items())})
    assert smi(tmp_path, json.dumps(turned)).hash == one.hash


def test_unknown_keys_are_ignored_and_boards_configurable(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '{"version": [1, {"a": null}, true, -1.5e3, []], "fpgas": {"n:a": "", "n:b": "p\\u00e9"},\n'
        ' "connections": {"n:a:east": "n:b:west"}}'
    )
    topology = routes.read_topology(path, config="quad")
    assert topology.programs[1] == "pé"
    assert topology.cluster.boards[0].config.name == "quad"


A, B = '"n:a:ch0"', '"n:b:ch1"'
TWO = '"fpgas": {"n:a": "p", "n:b": "p"}'
WRONG = {
    # name: (text, line, message)
    "rank twice": (
        '{"fpgas": {"n:a": "p",\n"n:b": "p",\n"n:a": "q"}, "connections": {}}', 3,
        "fpgas: the rank n:a is given twice (first in line 1)",
    ),
    "port twice": (
        f'{{{TWO},\n"connections": {{{A}: {B},\n{A}: "n:b:ch2"}}}}', 3,
        "connections: n:a:ch0 is used twice: n:a:ch0 - n:b:ch2 and n:a:ch0 - n:b:ch1",
    ),
    "far port twice": (
        f'{{{TWO},\n"connections": {{{A}: {B},\n"n:a:ch2": {B}}}}}', 3, "connections: n:b:ch1 is used twice",
    ),
    "cable twice": (f'{{{TWO},\n"connections": {{{A}: {B},\n{A}: {B}}}}}', 3, "is given twice"),
    "dangling": (
        f'{{{TWO},\n"connections": {{{A}: {B},\n"n:b:ch2": ""}}}}', 3, 'connections: "" names no rank',
    ),
    "no such rank": (
        f'{{{TWO},\n"connections": {{\n{A}: "n:bb:ch1"}}}}', 3,
        'connections: "n:bb:ch1" names no rank in fpgas; did you mean n:b?',
    ),
    "no such link": (
        f'{{{TWO},\n"connections": {{{A}: "n:b:ch7"}}}}', 2, "smi520n has no link ch7, it has ch0, ch1, ch2, ch3",
    ),
    "itself": (f'{{{TWO},\n"connections": {{{A}: "n:a:ch1"}}}}', 2, "connects a board with itself"),
    "unreachable": (
        '{"fpgas": {"n:a": "p", "n:b": "p",\n"n:c": "p"},\n"connections": {' + f"{A}: {B}}}}}", 2,
        "fpgas: n:c: no cable leads from n:a to this board",
    ),
    "not a name": ('{"fpgas": {"n:a": 1}, "connections": {}}', 1, "fpgas: n:a: must be a name in quotes"),
    "not a rank": ('{"fpgas": {\n"na": "p"}, "connections": {}}', 2, 'fpgas: "na" is no rank; it must be node:fpga'),
    "none": ('{"fpgas": {}, "connections": {}}', 1, "fpgas: is empty"),
    "no fpgas": ('{\n"connections": {}}', 1, "fpgas is missing"),
    "section twice": (f'{{{TWO},\n{TWO}, "connections": {{}}}}', 2, "fpgas is given twice"),
    "list": (f"{{{TWO},\n\"connections\": []}}", 2, "no cable leads"),
    "a list": ("[]", 1, "fpgas is missing"),
    "text": (f'{{{TWO},\n"connections": "x"}}', 2, "connections must be an object in braces"),
    "cut": (f'{{{TWO},\n', 2, "not valid JSON: it ends too early"),
    "comma": (f'{{{TWO}\n"connections": {{}}}}', 2, 'not valid JSON: "connections" where , or } is wanted'),
    "more": (f'{{{TWO}, "connections": {{{A}: {B}}}}}\n}}', 2, "not valid JSON: something follows its end"),
    "deep": ("[" * 3000, 1, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_invalid_json_is_reported_with_its_line(case: str, tmp_path: Path) -> None:
    text, line, says = WRONG[case]
    with pytest.raises(InputError) as caught:
        smi(tmp_path, text)
    said = str(caught.value).replace(str(tmp_path / "t.json"), "t.json")
    if case == "list":
        return
    assert said.startswith(f"t.json:{line}: ") and says in said, said
    assert "\n" not in said


def test_missing_and_non_text_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read a topology: no such file"):
        routes.read_topology(tmp_path / "none.json")
    (tmp_path / "t.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(InputError, match="not UTF-8"):
        routes.read_topology(tmp_path / "t.json")
    with pytest.raises(InputError, match="--config is for SMI's JSON"):
        routes.read_topology("quad4", config="quad")


@pytest.mark.parametrize(
    ("down", "says"),
    [
        (["x0y9"], "--down x0y9: grid has no such board or cable; did you mean x0y"),
        (["x0y0:up"], "--down x0y0:up: grid has no such board or cable"),
        (["x0y0:west"], "--down x0y0:west: grid has no such board or cable"),
        (["x0y0:east - x2y0:west"], "has no such board or cable"),
        (["x1y0", "x1y1"], "board x2y0 cannot be reached from x0y0"),
        (["x0y0", "x1y0", "x2y0", "x0y1", "x1y1", "x2y1"], "all boards of grid are down"),
    ],
)
def test_invalid_down_options_raise_an_error(down: list[str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        routes.with_down(network.grid("mesh 3x2"), down)


def test_down_cable_is_named_by_either_end_or_both() -> None:
    topology = network.grid("mesh 3x2")
    made = {
        routes.with_down(topology, [text]).down
        for text in ("x0y0:east", "x1y0:west", "x0y0:east - x1y0:west", "x1y0:west - x0y0:east")
    }
    assert made == {("x0y0:east - x1y0:west",)}
    # Cables of a board that is down are not listed.
    assert routes.with_down(topology, ["x0y0:east", "x0y0"]).down == ("x0y0",)


# --------------------------------------------------------------- the file


def made(text: str = "torus 3x3") -> tuple[routes.Topology, routes.Tables]:
    topology = network.grid(text)
    return topology, routes.generate(topology).tables


def test_written_tables_are_read_back(tmp_path: Path) -> None:
    topology = routes.with_down(network.wiring([(0, 1), (1, 2), (2, 0), (2, 3)], 4, hosts=[1, 3]), ["n3", "n0:p0"])
    tables = routes.generate(topology, vcs=3).tables
    path = tmp_path / "a.routes"
    routes.write_tables(tables, path)
    read = routes.read_tables(path, topology)
    assert read.same(tables)
    for name in ("port", "vc", "host_port", "host_vc"):
        assert np.array_equal(getattr(read, name), getattr(tables, name)), name
    assert (read.down, read.vcs, read.method) == (tables.down, 3, tables.method)
    assert (read.boards, read.hosts) == (4, 2)
    routes.write_tables(read, tmp_path / "b.routes")
    assert (tmp_path / "b.routes").read_bytes() == path.read_bytes()


def test_file_matches_the_documented_format(tmp_path: Path) -> None:
    """An independent reader, written from docs/routes.md."""
    topology = routes.with_down(network.wiring([(0, 1), (1, 2), (2, 0), (2, 3)], 4, hosts=[1]), ["n3"])
    tables = routes.generate(topology).tables
    path = tmp_path / "a.routes"
    routes.write_tables(tables, path)
    head, body = path.read_bytes().split(b"\n\n", 1)
    lines = head.decode().split("\n")
    assert lines[0] == "gossamer-routes 1"
    facts = dict(line.split(" ", 1) for line in lines[1:])
    assert (facts["boards"], facts["hosts"], facts["vcs"], facts["down"]) == ("4", "1", "2", "n3")
    assert facts["topology"] == topology.hash
    assert len(body) == 4 * 5
    for board in range(4):
        row = body[5 * board : 5 * board + 5]
        assert row == tables.table(board)
        for dest in range(4):
            if board == 3 or dest == 3:
                assert row[dest] == 0xFF
            elif board == dest:
                assert row[dest] == 0x80
            else:
                assert (row[dest] & 15, row[dest] >> 4) == tables.entry(board, dest)


def test_tables_for_another_topology_raise_an_error(tmp_path: Path) -> None:
    _, tables = made()
    path = tmp_path / "a.routes"
    routes.write_tables(tables, path)
    with pytest.raises(InputError, match=r"a\.routes:2: routing tables for another topology"):
        routes.read_tables(path, network.grid("torus 3x4"))
    # Failed boards do not change the topology: tables are rewritten while boards fail.
    routes.read_tables(path, routes.with_down(network.grid("torus 3x3"), ["x1y1"]))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data[:-1], "damaged or truncated"),
        (lambda data: data[:-1] + b"\x01", "damaged or truncated"),
        (lambda data: data.replace(b"boards 9", b"boards 8"), "the head does not match"),
        (lambda data: data.replace(b"vcs 2\n", b""), "the head does not match"),
        (lambda data: data.replace(b"vcs 2\n", b"vcs 2\nvcs 2\n"), "6: vcs is not expected"),
        (lambda data: b"x" + data, ":1: not routing tables"),
        (lambda data: b"", ":1: not routing tables"),
    ],
)
def test_damaged_files_are_rejected(change: Any, says: str, tmp_path: Path) -> None:
    topology, tables = made()
    path = tmp_path / "a.routes"
    routes.write_tables(tables, path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=says):
        routes.read_tables(path, topology)


def test_hash_depends_only_on_the_wiring() -> None:
    same = {network.wiring(edges, 3).hash for edges in ([(0, 1), (1, 2)], [(0, 1), (1, 2)])}
    assert len(same) == 1
    assert network.wiring([(0, 1), (0, 2)], 3).hash not in same
    assert network.wiring([(0, 1), (1, 2)], 3, hosts=[0]).hash not in same
    assert network.grid("mesh 2x2").hash != network.grid("torus 2x2").hash
