# SPDX-License-Identifier: Apache-2.0
"""Tables that are made board by board equal those that are made at once, byte for byte."""

from __future__ import annotations

import random

import numpy as np
import pytest
from conftest import Size
from python.table_walker import BASE, LAYOUT, VALUED, WIDE, problem

from gossamer import config as configs
from gossamer import mapper, routes


@pytest.mark.parametrize("multicast", ["none", "local", "full"])
@pytest.mark.parametrize("name, boards", [("tiny", 1), ("tiny", 3), ("quad", 1), ("de5", 4)])
def test_tables_made_board_by_board_equal_those_made_at_once(
    name: str, boards: int, multicast: str, size: Size, seed: int
) -> None:
    source = random.Random(seed)
    config = configs.load(name)
    network = None
    if multicast == "full" and name == "tiny" and boards > 1:
        topology = routes.Topology(configs.load_cluster("ring4"), {})
        boards, network = 4, mapper.Network(topology, routes.generate(topology).tables)
    for _ in range(size.pick(3, 10, 60)):
        layout = source.choice([LAYOUT, VALUED, WIDE])
        vertices = source.choice([1, 5, 40, 400])
        given = problem(source, vertices, source.choice([0, 1, vertices, 8 * vertices]), source.randint(1, 3), layout)
        machine = mapper.Machine(config, boards)
        method = source.choice(["random", "direct", "bfs"])
        mapping = mapper.assign(vertices, *given.ends(), machine, method=method, seed=source.randrange(1000))
        made = [
            mapper.Tables(
                given, mapping, machine, layout, base=BASE + 100, multicast=multicast != "none", network=network,
                by_board=by_board,
            )
            for by_board in (True, False)
        ]  # fmt: skip
        one, other = ({(memory, at): data for memory, at, data in tables.images(7)} for tables in made)
        assert one == other and any(one.values())
        assert (made[0].header_words() == made[1].header_words()).all()
        assert made[0].message_count == made[1].message_count
        assert made[0].balance == made[1].balance
        assert (made[0].bytes == made[1].bytes).all()
        assert list(made[0].blocks()) == list(made[1].blocks())


def test_edges_are_counted_by_distance(seed: int) -> None:
    source = random.Random(seed)
    machine = mapper.Machine(configs.load("tiny"), 3)
    given = problem(source, 300, 3000, 2, LAYOUT)
    mapping = mapper.assign(300, *given.ends(), machine, method="random", seed=2)
    begin, end = given.ends()
    assert mapper.cut(mapping, begin, end, machine) == mapper.cut_of(given, mapping, machine)
    assert np.array_equal(
        begin, np.concatenate([np.repeat(np.arange(300), np.diff(r.offsets)) for r in given.relations])
    )
