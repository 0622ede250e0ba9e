# SPDX-License-Identifier: Apache-2.0
"""Clusters: topologies match those of NetworkX, and every error has file, line and key."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from gossamer import config, paths
from gossamer.config import Cluster
from gossamer.errors import InputError


def graph_of(cluster: Cluster) -> Any:
    """The boards as a NetworkX graph of their coordinates."""
    graph: Any = nx.MultiGraph()
    coordinates = {board.index: (board.x, board.y) for board in cluster.boards}
    graph.add_nodes_from(coordinates.values())
    graph.add_edges_from((coordinates[cable.a], coordinates[cable.b]) for cable in cluster.cables)
    return graph


def edges_of(graph: Any) -> Counter[frozenset[object]]:
    return Counter(frozenset((a, b)) for a, b in graph.edges())


def load(tmp_path: Path, text: str) -> Cluster:
    path = tmp_path / "x.toml"
    path.write_text('description = "x"\n' + text + "\n")
    return config.load_cluster(path)


def error_for(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(tmp_path / "x.toml"), "x.toml")


# --------------------------------------------------------------- shipped clusters


@pytest.mark.parametrize("name", config.cluster_names())
def test_shipped_cluster_uses_every_link_at_most_once(name: str) -> None:
    cluster = config.load_cluster(name)
    assert (cluster.name, [board.index for board in cluster.boards]) == (
        name,
        list(range(len(cluster.boards))),
    )
    used = Counter((cable.a, cable.a_link) for cable in cluster.cables)
    used += Counter((cable.b, cable.b_link) for cable in cluster.cables)
    used += Counter((host.board, host.link) for host in cluster.hosts)
    assert set(used.values()) == {1}
    assert all(link < cluster.boards[board].config.link_count for board, link in used)


def test_duo12_matches_fpl_2019() -> None:
    duo = config.load_cluster("duo12")
    # "the number of links in the 3 x 4 mesh (17)"; 12,288 threads; two boxes.
    assert (len(duo.boards), len(duo.cables), duo.threads, len(duo.hosts)) == (12, 17, 12288, 2)


def test_rack48_matches_the_multicast_paper() -> None:
    rack = config.load_cluster("rack48")
    assert (len(rack.boards), rack.threads, len(rack.hosts)) == (48, 49152, 8)
    assert (rack.width, rack.height) == (6, 8)
    assert edges_of(graph_of(rack)) == edges_of(nx.grid_2d_graph(6, 8))
    # Boards are numbered row by row, six to a row; a box is three boards wide and two high.
    boxes = {(host.board % 6 // 3, host.board // 6 // 2) for host in rack.hosts}
    assert len(boxes) == 8, "every box must have a host"


def test_torus8_boards_have_four_distinct_neighbours() -> None:
    graph = graph_of(config.load_cluster("torus8"))
    assert all(len(set(graph.neighbors(node))) == 4 for node in graph)
    assert all(count == 1 for count in edges_of(graph).values())


def test_bus8_has_diameter_seven() -> None:
    graph = graph_of(config.load_cluster("bus8"))
    # The SMI paper measures latency over 1, 4 and 7 hops.
    assert nx.diameter(nx.Graph(graph)) == 7


# --------------------------------------------------------------- generators


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 2), (2, 3), (7, 5), (64, 64)])
@pytest.mark.parametrize("kind", ["mesh", "torus"])
def test_grid_matches_networkx(kind: str, width: int, height: int, tmp_path: Path) -> None:
    cluster = load(tmp_path, f'topology = "{kind} {width}x{height}"\nconfig = "de5"')
    graph = graph_of(cluster)
    if kind == "mesh":
        assert edges_of(graph) == edges_of(nx.grid_2d_graph(width, height))
    elif min(width, height) > 2:
        assert edges_of(graph) == edges_of(nx.grid_2d_graph(width, height, periodic=True))
    else:
        # NetworkX joins two boards by one edge; real boards have two cables, and none to themselves.
        around = (width > 1) * width * height + (height > 1) * width * height
        assert graph.number_of_edges() == around
        assert nx.number_of_selfloops(graph) == 0
    for cable in cluster.cables:
        a, b = cluster.boards[cable.a], cluster.boards[cable.b]
        names = a.config.links.names[cable.a_link], b.config.links.names[cable.b_link]
        assert a.x is not None and a.y is not None
        if names == ("east", "west"):
            assert (b.x, b.y) == ((a.x + 1) % width, a.y)
        else:
            assert names == ("north", "south")
            assert (b.x, b.y) == (a.x, (a.y + 1) % height)
    assert [board.name for board in cluster.boards][:2] == ["x0y0", "x1y0" if width > 1 else "x0y1"][: width * height]


@pytest.mark.parametrize("twist", range(5))
def test_twisted_torus_is_a_helix(twist: int, tmp_path: Path) -> None:
    """`height` steps north shift the column by the twist."""
    width, height = 5, 3
    cluster = load(tmp_path, f'topology = "torus {width}x{height} twist {twist}"\nconfig = "de5"')
    north = {cable.a: cable.b for cable in cluster.cables if cable.a_link == 0}
    for start in range(width):
        board = start
        for _ in range(height):
            board = north[board]
        assert (cluster.boards[board].x, cluster.boards[board].y) == ((start + twist) % width, 0)


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_ring_is_a_cycle_and_bus_a_path(length: int, tmp_path: Path) -> None:
    bus = load(tmp_path, f'topology = "bus {length}"\nconfig = "ecp5"')
    assert edges_of(graph_of(bus)) == edges_of(nx.path_graph([(x, 0) for x in range(length)]))
    ring = load(tmp_path, f'topology = "ring {length}"\nconfig = "ecp5"')
    if length > 2:
        assert edges_of(graph_of(ring)) == edges_of(nx.cycle_graph([(x, 0) for x in range(length)]))
    else:
        assert graph_of(ring).number_of_edges() == {1: 0, 2: 2}[length]


def test_ports_select_the_links_of_the_directions(tmp_path: Path) -> None:
    cluster = load(tmp_path, 'topology = "bus 2"\nconfig = "smi520n"\nports = ["ch3", "ch1"]')
    assert [(cable.a_link, cable.b_link) for cable in cluster.cables] == [(3, 1)]


def test_cables_add_to_a_generator(tmp_path: Path) -> None:
    cluster = load(tmp_path, 'topology = "bus 3"\nconfig = "tiny"\ncables = ["b0:north - b2:south"]')
    assert edges_of(graph_of(cluster)) == edges_of(nx.cycle_graph([(x, 0) for x in range(3)]))


def test_custom_boards_may_differ_and_have_own_files(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "tiny"\ndescription = "mine"\n')
    cluster = load(
        tmp_path,
        'topology = "custom"\nboards = { a = "quad", b = "mine.toml" }\ncables = ["a:east - b:west"]',
    )
    assert [board.config.name for board in cluster.boards] == ["quad", "mine"]
    assert cluster.threads == 256 + 32
    assert cluster.board("b").index == 1
    names = cluster.boards[0].config.links.names
    assert cluster.neighbours(0) == [(names.index("east"), 1, names.index("west"))]
    assert (cluster.width, cluster.height) == (None, None)
    with pytest.raises(InputError, match="has no board c"):
        cluster.board("c")


def test_guides_example_is_valid(tmp_path: Path) -> None:
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    (tmp_path / "desk.toml").write_text(guide.split("```toml\n# desk.toml\n", 1)[1].split("```", 1)[0])
    desk = config.load_cluster(tmp_path / "desk.toml")
    assert (len(desk.boards), len(desk.cables), len(desk.hosts)) == (3, 2, 1)


# ------------------------------------------------------------------- errors

MESH = 'config = "de5"\ntopology = "mesh 2x2"\n'
PAIR = 'topology = "custom"\nboards = { a = "tiny", b = "tiny" }\n'

WRONG = {
    # name: (text with `#!` in the reported line, the error after file and line)
    "misspelt key": (MESH + 'hots = ["h - x0y0:west"] #!', "hots: unknown key; did you mean hosts?"),
    "misspelt kind": (
        'config = "de5"\ntopology = "messh 2x2" #!',
        'topology: is "messh 2x2", must be mesh WxH',
    ),
    "no size": ('config = "de5"\ntopology = "mesh" #!', 'topology: is "mesh", must be mesh WxH'),
    "no boards": ('config = "de5"\ntopology = "mesh 0x2" #!', "topology: has 0 boards, must have 1 to 4096"),
    "too many": (
        'config = "de5"\ntopology = "mesh 64x65" #!',
        "topology: has 4160 boards, must have 1 to 4096",
    ),
    "mesh twist": ('config = "de5"\ntopology = "mesh 3x3 twist 1" #!', "topology: a mesh has no twist"),
    "twist": (
        'config = "de5"\ntopology = "torus 3x3 twist 3" #!',
        "topology: twist is 3, must be less than the width, 3",
    ),
    "no such config": ('topology = "ring 3"\nconfig = "de6" #!', "config: no configuration named de6"),
    "boards with mesh": (MESH + 'boards = { a = "de5" } #!', "boards: mesh 2x2 makes its own boards"),
    "config with custom": (PAIR + 'config = "de5" #!', "config: applies to generators only"),
    "ports with custom": (PAIR + 'ports = ["east"] #!', "ports: applies to generators only"),
    "ports short": (
        MESH + 'ports = ["north"] #!',
        "ports: has 1 link, must have 4 (north, south, east, west)",
    ),
    "ports beyond": (
        MESH + 'ports = ["north", "south", "east",\n"up"] #!',
        "ports[3]: de5 has no link up, it has north, south, east, west",
    ),
    "ports twice": (MESH + 'ports = ["north", "south", "east",\n"east"] #!', "ports[3]: east is listed twice"),
    "no cable": (
        PAIR + 'cables = ["a:east b:west"] #!',
        'cables[0]: is "a:east b:west", must be "board:link - board',
    ),
    "no board": (
        PAIR + 'cables = [\n"a:east - b:west",\n"a:north - c:south"] #!',
        "cables[1]: no board is named c",
    ),
    "near board": (
        'config = "de5"\ntopology = "bus 12"\ncables = ["b1:north - b111:south"] #!',
        "cables[0]: no board is named b111; did you mean b11?",
    ),
    "no link": (
        PAIR + 'cables = ["a:eats - b:west"] #!',
        "cables[0]: tiny has no link eats, it has north, south, east, ",
    ),
    "link twice": (
        PAIR + 'cables = [\n"a:east - b:west",\n"a:north - b:west", #!\n]',
        "cables[1]: b:west has two connections: a:north - b:west and a:east - b:west",
    ),
    "link of the mesh": (
        MESH + 'cables = ["x0y0:east - x1y1:north"] #!',
        "cables[0]: x0y0:east has two connections: x0y0:east - x1y1:north and x0y0:east - x1y0:west",
    ),
    "itself": (PAIR + 'cables = ["a:east - a:west"] #!', "cables[0]: connects a with itself"),
    "speed": (
        'topology = "custom"\nboards = { a = "tiny", b = "ecp5" }\ncables = ["a:east - b:west"] #!',
        "cables[0]: connects a link of 10000 Mb/s to a link of 1000 Mb/s",
    ),
    "alone": (
        'topology = "custom"\ncables = ["a:east - b:west"]\n[boards]\na = "tiny"\nb = "tiny"\nc = "tiny" #!',
        "boards.c: no path of cables connects a to this board",
    ),
    "board twice": (
        'topology = "custom"\n[boards]\na = "tiny"\nb = "tiny"\na = "quad" #!',
        "boards.a: defined twice (first in line 4); keep one",
    ),
    "board name": ('topology = "custom"\n[boards]\n"a b" = "tiny" #!', "boards.a b: is not a valid name"),
    "board config": ('topology = "custom"\n[boards]\na = "tony" #!', "boards.a: no configuration named tony"),
    "host": (
        PAIR + 'cables = ["a:east - b:west"]\nhosts = ["a:west"] #!',
        'hosts[0]: is "a:west", must be "name - ',
    ),
    "host link": (
        PAIR + 'cables = ["a:east - b:west"]\nhosts = ["h - b:west"] #!',
        "hosts[0]: b:west has two connections: host h and a:east - b:west",
    ),
    "host twice": (
        PAIR + 'cables = ["a:east - b:west"]\nhosts = [\n"h - a:west",\n"h - b:east"] #!',
        "hosts[1]: h is listed twice",
    ),
    "not TOML": (MESH + "hosts = [ #!", "not valid TOML"),
}


@pytest.mark.parametrize("case", WRONG)
def test_error_has_line_key_and_reason(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    line = ('description = "x"\n' + text)[: len('description = "x"\n') + text.index("#!")].count("\n") + 1
    got = error_for(tmp_path, text)
    assert got.startswith(f"x.toml:{line}: {says}"), got


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "x.toml:1: topology: missing (mesh WxH, "),
        ('topology = "ring 3"', "x.toml:1: config: missing; ring 3 needs the configuration of its boards"),
        ('topology = "custom"', "x.toml:1: boards: missing; custom needs its boards"),
        (
            'topology = "ring 3"\nconfig = "smi520n"',
            "x.toml:1: ports: missing; smi520n has links ch0, ch1, ch2, ch3: list those for east, west",
        ),
    ],
)
def test_missing_key_is_reported(text: str, says: str, tmp_path: Path) -> None:
    assert error_for(tmp_path, text).startswith(says)


def test_boards_must_agree_on_the_longest_message(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        'base = "tiny"\ndescription = "long"\n[mailbox]\nmax_flits = 6\nslot_bytes = 128\n'
    )
    text = 'topology = "custom"\ncables = ["a:east - b:west"]\n[boards]\na = "tiny"\nb = "long.toml"'
    assert error_for(tmp_path, text).startswith(
        "x.toml:6: boards.b: long has mailbox.max_flits = 6, but a (tiny) has 4; boards of one cluster must "
    )


def test_error_in_a_boards_configuration_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('base = "tiny"\ndescription = "bad"\n[core]\nx = 6\n')
    got = error_for(tmp_path, 'topology = "bus 2"\nconfig = "bad.toml"')
    assert got.endswith("bad.toml:4: core.x: unknown key; known keys: threads_per_core, instr_mem_bytes, "
                        "cores_per_instr_mem")  # fmt: skip


def test_unknown_cluster_gets_the_closest_name() -> None:
    with pytest.raises(InputError, match=r"no cluster named rack49 in config/clusters; did you mean rack48\?"):
        config.load_cluster("rack49")
