# SPDX-License-Identifier: Apache-2.0
"""Files of other programs: what is read matches NetworkX and SciPy; other known formats are rejected by name."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse
from conftest import Command, Size

from gossamer.errors import InputError
from gossamer.graph import Graph, read_graph

from .test_graph_read import assert_same, assert_sound, edges_of


def edges_of_networkx(graph: Any, weighted: bool) -> Counter[tuple[object, ...]]:
    """The edges of a NetworkX graph as they are stored: undirected ones in both directions, a loop once."""
    found: Counter[tuple[object, ...]] = Counter()
    for source, target, data in graph.edges(data=True):
        cost = (data.get("weight", 1),) if weighted else ()
        found[(str(source), str(target), *cost)] += 1
        if not graph.is_directed() and source != target:
            found[(str(target), str(source), *cost)] += 1
    return found


def named(graph: Graph) -> Counter[tuple[object, ...]]:
    """The edges of a graph, with names as text."""
    found: Counter[tuple[object, ...]] = Counter()
    for edge, count in edges_of(graph).items():
        found[(str(edge[0]), str(edge[1]), *edge[2:])] += count
    return found


def drawn(draw: random.Random, names: list[Any], weights: str, directed: bool, several: bool) -> Any:
    """A random NetworkX graph with self-loops."""
    kind = {(False, False): networkx.Graph, (True, False): networkx.DiGraph,
            (False, True): networkx.MultiGraph, (True, True): networkx.MultiDiGraph}[directed, several]  # fmt: skip
    graph = kind()
    graph.add_nodes_from(names)
    for _ in range(draw.randrange(3 * len(names))):
        ends = draw.choice(names), draw.choice(names)
        if weights == "none":
            graph.add_edge(*ends)
        else:
            graph.add_edge(*ends, weight=draw.randrange(-9, 99) if weights == "integer" else draw.uniform(-1, 1))
    return graph


def write_json(graph: Any, path: Path) -> None:
    links = "edges" if graph.is_directed() else "links"  # NetworkX writes either name
    path.write_text(json.dumps(networkx.node_link_data(graph, edges=links), indent=1))


WRITERS: dict[str, tuple[str, Callable[[Any, Path], None]]] = {
    "gml": ("a.gml", networkx.write_gml),
    "graphml": ("a.graphml", networkx.write_graphml_xml),
    "pajek": ("a.net", networkx.write_pajek),
    "json": ("a.json", write_json),
}
NAMES: dict[str, list[Any]] = {
    "from 0": list(range(30)),
    "from 1": list(range(1, 30)),
    "gaps": [-5, 0, 3, 9, 700, 2**40],
    "words": ["New York", "Zürich", "a,b", "source", "7", "<&>", "it's"],
}


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("directed", [False, True])
def test_files_of_networkx_are_read_as_written(
    tmp_path: Path, seed: int, size: Size, form: str, names: str, directed: bool
) -> None:
    draw = random.Random(seed)
    for weights in ("none", "integer", "real"):
        for several in (False, True):
            judge = drawn(draw, NAMES[names], weights, directed, several)
            name, write = WRITERS[form]
            any_name = tmp_path / draw.choice([name, "any.txt", "any"])
            write(judge, any_name)
            if draw.random() < 0.5:
                any_name.write_bytes(gzip.compress(any_name.read_bytes()))
            graph = read_graph(any_name)
            assert_sound(graph)
            assert graph.symmetric == (not directed) or not judge.edges
            # A Pajek file has a weight for each edge, 1 by default.
            weighted = bool(judge.edges) and (weights != "none" or form == "pajek")
            assert named(graph) == edges_of_networkx(judge, weighted)
            assert {str(graph.label_of(v)) for v in range(graph.vertices)} == {str(node) for node in judge}
            if names != "words":
                assert [graph.label_of(v) for v in range(graph.vertices)] == sorted(judge)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["int64", "float64", "float32", "bool", "uint8"])
def test_matrices_of_scipy_are_read_as_written(tmp_path: Path, seed: int, form: str, kind: str) -> None:
    draw = np.random.default_rng(seed)
    n = 24
    values = (draw.integers(1, 99, (n, n)) * (draw.random((n, n)) < 0.2)).astype(kind)
    matrix = scipy.sparse.coo_array(values).asformat(form)
    path = tmp_path / draw.choice(["a.npz", "any.txt"])
    with open(path, "wb") as file:
        scipy.sparse.save_npz(file, matrix, compressed=bool(draw.integers(2)))
    graph = read_graph(path)
    assert_sound(graph)
    assert graph.weighted == (kind != "bool")
    assert_same(graph, scipy.sparse.load_npz(path).tocsr())


def test_parallel_entries_of_a_matrix_stay_separate(tmp_path: Path) -> None:
    rows, columns = np.array([0, 0, 1]), np.array([1, 1, 0])
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.coo_array((np.array([2, 3, 0]), (rows, columns)), (3, 3)))
    assert edges_of(read_graph(tmp_path / "a.npz")) == Counter({(0, 1, 2): 1, (0, 1, 3): 1, (1, 0, 0): 1})


READ: dict[str, tuple[str, str, set[tuple[object, ...]]]] = {
    # case: (name, text, edges); NetworkX reads none of these, or loses edges
    "gml of the issue": (
        "k.gml",
        "graph [\n node [\n id 1\n ]\n node [\n id 2\n ]\n edge [\n source 1\n target 2\n ]\n]\n",
        {(1, 2), (2, 1)},
    ),
    "gml with value, comments and lists": (
        "a.txt",
        '# x\nCreator "me [1]"\nVersion 1\ngraph\n[\n  directed 1\n  node [ id 5 label "a b" graphics [ x 1.5 ] ]\n'
        '  node [ id 7 label "c&amp;d" ]\n  edge [ source 5 target 7 value 3 ]\n]\n',
        {("a b", "c&d", 3)},
    ),
    "gml with equal labels": (
        "a.gml",
        'graph [ directed 1 node [ id 1 label "x" ] node [ id 2 label "x" ] edge [ source 1 target 2 ] ]',
        {(1, 2)},
    ),
    "graphml with default weight": (
        "a.xml",
        '<?xml version="1.0"?>\n<graphml><key id="k" for="edge" attr.name="weight" attr.type="int"><default>4</default>'
        '</key><graph edgedefault="undirected"><node id="a"/><node id="b"><data key="z">q</data></node>'
        '<edge source="a" target="b"/><edge source="a" target="b" directed="true"><data key="k"> 7 </data></edge>'
        "</graph></graphml>",
        {("a", "b", 4), ("b", "a", 4), ("a", "b", 7)},
    ),
    "pajek with arcs and edges": (
        "a.net",
        '% x\n*Network n\n*Vertices 3\n1 "New York" 0.1 0.2 ellipse\n2 Boston\n3 "x"\n*Arcs :1 "r"\n1 2 3 c Blue\n'
        "*Edges\n2 3 5\n",
        {("New York", "Boston", 3), ("Boston", "x", 5), ("x", "Boston", 5)},
    ),
    "pajek with lists": (
        "a.net",
        "*vertices 4\r\n*arcslist\r\n1 2 3\r\n*edgeslist\r\n3 4\r\n",
        {(1, 2), (1, 3), (3, 4), (4, 3)},
    ),
    "pajek with empty arcs": ("a.net", "*Vertices 2\n*Arcs\n*Edges\n1 2\n", {(1, 2), (2, 1)}),
    "pajek with a matrix": ("a.paj", "*Vertices 2\n*Matrix\n0 2.5\n1 0\n", {(1, 2, 2.5), (2, 1, 1.0)}),
    "json of D3": (
        "a.json",
        '{"nodes":[{"name":"Myriel"},{"name":"Napoleon"}],\n"links":[{"source":1,"target":0,"value":8}]}',
        {("Myriel", "Napoleon", 8), ("Napoleon", "Myriel", 8)},
    ),
    "json with ids": (
        "any",
        '\n{"directed": true, "nodes": [{"id": "a"}, {"id": 7}], "edges": [{"source": "a", "target": 7}]}',
        {("a", "7")},
    ),
}


@pytest.mark.parametrize("what", READ)
def test_other_files_are_read(tmp_path: Path, what: str) -> None:
    name, text, expected = READ[what]
    (tmp_path / name).write_text(text, newline="")
    assert edges_of(read_graph(tmp_path / name)) == Counter(expected)


GML = "graph [\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n"
XML = '<graphml>\n<graph edgedefault="directed">\n<node id="a"/>\n<node id="b"/>\n<edge source="a" target="b"/>\n'
BAD: dict[str, tuple[str, str, str]] = {
    # case: (name of the file, its text, the message after the path)
    "gml truncated": ("a.gml", GML[:-3], "4: the file ends within the list of line 1; it is truncated"),
    "gml without graph": ("a.gml", "Version 1\n", "1: no 'graph [' in the file"),
    "gml of words": ("a.gml", "a b\n", "1: 'b' instead of the value of 'a'"),
    "gml two graphs": ("a.gml", GML + GML, "6: a second graph; the first is in line 1"),
    "gml equal ids": ("a.gml", GML.replace("id 2", "id 1"), "3: a second node with the id 1"),
    "gml no id": ("a.gml", GML.replace("id 2", ""), "3: node has no 'id'; it must be an integer"),
    "gml word as id": ("a.gml", GML.replace("id 2", 'id "x"'), "3: node has the id 'x'; it must be an integer"),
    "gml unknown id": ("a.gml", GML.replace("target 2", "target 3"), "4: an edge with the target 3, which no node has"),
    "gml weight": ("a.gml", GML.replace("target 2", 'target 2 weight "x"'), "4: weight 'x' is not a finite number"),
    "gml infinite": ("a.gml", GML.replace("target 2", "target 2 weight +INF"), "4: weight inf is not a finite number"),
    "gml beyond 64 bits": (
        "a.gml",
        GML.replace("target 2", "target 2 weight 100000000000000000000"),
        "4: weight '100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "gml two sources": ("a.gml", GML.replace("target 2", "source 2"), "4: a second 'source' in the list of line 4"),
    "gml open quote": ("a.gml", GML.replace("id 2", 'label "x'), "3: a quotation mark that is not closed"),
    "gml directed": ("a.gml", GML.replace("[\n", "[ directed 2\n", 1), "1: directed is 2; it must be 0 or 1"),
    "gml no vertices": ("a.gml", "graph [ ]", " the file has no vertices"),
    "gml latin": ("a.gml", GML.replace("id 2", 'id 2 label "\udce9"'), "3: text that is not UTF-8"),
    "graphml truncated": ("a.graphml", XML, "6: no element found in XML"),
    "graphml mismatched": ("a.graphml", XML + "</graphml>\n", "6: mismatched tag in XML"),
    "graphml of words": ("a.graphml", "a b\n", "1: syntax error in XML"),
    "graphml equal ids": ("a.graphml", XML.replace('id="b"', 'id="a"'), "4: a second node with the id 'a'"),
    "graphml unknown id": (
        "a.graphml",
        XML.replace('target="b"', 'target="c"') + "</graph></graphml>",
        "5: an edge of 'c', which is not the id of a node",
    ),
    "graphml weight": (
        "a.graphml",
        XML.replace("<graph ", '<key id="w" for="edge" attr.name="weight"/><graph ').replace(
            'target="b"/>', 'target="b"><data key="w">x</data></edge>'
        )
        + "</graph></graphml>",
        "5: weight 'x' is not a finite number",
    ),
    "graphml edgedefault": ("a.graphml", XML.replace(' edgedefault="directed"', ""), "2: <graph> without edgedefault"),
    "graphml hyperedge": ("a.graphml", XML + "<hyperedge/>", "6: a hyperedge"),
    "graphml nested": ("a.graphml", XML.replace("<edge", '<graph id="n"/><edge'), "5: a graph within a vertex"),
    "graphml entities": ("a.graphml", '<!DOCTYPE g [<!ENTITY a "b">]>' + XML, "1: a declaration of an XML entity"),
    "graphml two graphs": ("a.graphml", XML + '</graph>\n<graph edgedefault="directed"/>', "7: a second <graph>"),
    "pajek truncated": ("a.net", "*Vertices 3\n1 a\n", "1: no section *Arcs or *Edges follows"),
    "pajek partition": ("a.net", "*Vertices 2\n1\n2\n", "1: no section *Arcs or *Edges follows"),
    "pajek range": (
        "a.net",
        "*Vertices 2\n*Arcs\n1 3\n",
        "3: vertex '3' is outside the range 1 .. 2 that line 1 states",
    ),
    "pajek zero": ("a.net", "*Vertices 2\n*Arcs\n0 1\n", "3: vertex '0' is outside the range 1 .. 2"),
    "pajek column": ("a.net", "*Vertices 2\n*Arcs\n1\n", "3: 1 column, but an edge needs two"),
    "pajek weight": ("a.net", "*Vertices 2\n*Arcs\n1 2 x\n", "3: weight 'x' is not a finite number"),
    "pajek beyond 64 bits": (
        "a.net",
        "*Vertices 2\n*Arcs\n1 2 100000000000000000000\n",
        "3: weight '100000000000000000000' is not a 64-bit integer; write it as a decimal",
    ),
    "pajek count": ("a.net", "*Vertices x\n", "1: *Vertices needs the number of vertices"),
    "pajek twice": ("a.net", "*Vertices 2\n1 a\n1 b\n", "3: a second line of vertex 1"),
    "pajek project": ("a.paj", "*Vertices 1\n*Arcs\n1 1\n*Vertices 1\n1\n", "4: a second network, or a partition"),
    "pajek section": ("a.net", "*Vertices 1\n*Events\n", "2: the section '*Events' is not read"),
    "pajek times": ("a.net", "*Vertices 2\n*Arcs\n1 2 1 [1-3]\n", "3: a time interval"),
    "pajek quote": ("a.net", '*Vertices 2\n1 "a\n', "2: a quotation mark that is not closed"),
    "pajek matrix": ("a.net", "*Vertices 2\n*Matrix\n0 1\n", "1: the matrix has 1 rows instead of 2"),
    "pajek matrix row": ("a.net", "*Vertices 2\n*Matrix\n0 1 1\n", "3: 3 numbers in the matrix"),
    "json truncated": ("a.json", '{"nodes": [\n{"id": 1},\n', "3: not JSON: Expecting value"),
    "json of words": ("a.json", "a b\n", "1: not JSON"),
    "json after the end": ("a.json", '{"nodes": [], "links": []}\nx', "2: not JSON: text after the end"),
    "json list": ("a.json", "[[0, 1], [1, 2]]", "1: JSON of another kind: it has no 'nodes' and 'links'"),
    "json adjacency": ("a.json", '{"nodes": [], "adjacency": []}', "1: NetworkX's adjacency JSON"),
    "json Cytoscape": ("a", '{"elements": {"nodes": []}}', "1: Cytoscape's JSON"),
    "json graph format": ("a", '{"graph": {"nodes": {}}}', "1: JSON Graph Format"),
    "json of a server": ("a.mtx", '{"error": "not found"}', "1: the error message of a server"),
    "json equal ids": (
        "a.json",
        '{"nodes": [{"id": 1},\n{"id": "1"}], "links": []}',
        "2: a second node with the id '1'",
    ),
    "json unknown id": (
        "a.json",
        '{"nodes": [{"id": 1}], "links": [\n\n{"source": 1, "target": 2}]}',
        "3: an edge with the target 2, which is not the id of a node",
    ),
    "json position": (
        "a.json",
        '{"nodes": [{}], "links": [{"source": 0, "target": 1}]}',
        "1: an edge with the target 1, which is not a position in 'nodes', 0 .. 0",
    ),
    "json no target": ("a.json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', "1: an edge without 'target'"),
    "json weight": (
        "a.json",
        '{"nodes": [{"id": 1}], "links": [\n{"source": 1, "target": 1, "weight": "x"}]}',
        "2: weight 'x' is not a finite number",
    ),
    "json deep": ("a.json", "[" * 100000, "1: JSON that is nested too deeply"),
    "json surrogate": ("a.json", '{"nodes": [{"id": "\\ud800"}], "links": []}', " a vertex is named '\\ud800'"),
    # Known formats that are not read.
    "LFS pointer": ("a.mtx", "version https://git-lfs.github.com/spec/v1\noid sha256:a\n", "1: a Git LFS pointer"),
    "LFS pointer as .gr": (
        "a.gr",
        "version https://git-lfs.github.com/spec/v1\noid sha256:a\n",
        "1: a Git LFS pointer",
    ),
    "HTML": ("a.txt", "\n<!DOCTYPE html>\n<html>\n", "2: a web page (HTML)"),
    "HTML as .gml": ("a.gml", "<html><body>404</body></html>", "1: a web page (HTML)"),
    "not found": ("a.txt", "404: Not Found\n", "1: keys and values"),
    "GEXF": ("a.txt", '<?xml version="1.0"?>\n<gexf version="1.2">\n', "1: GEXF"),
    "SVG": ("a.txt", "<svg>\n</svg>\n", "1: a picture (SVG)"),
    "XML": ("a.xml", "<?xml version='1.0'?><x/>", "1: XML of an unknown kind"),
    "DOT": ("a.txt", "// x\ndigraph G {\n a -> b;\n}\n", "2: Graphviz DOT"),
    "DOT of one line": ("a.txt", "graph { a -- b }", "1: Graphviz DOT"),
    "DOT by name": ("a.dot", "a b\n", " Graphviz DOT by its extension"),
    "YAML": ("a.yaml", "a b\n", " YAML by its extension"),
    "YAML by content": ("a.txt", "# x\nnodes:\n  - a\nedges:\n  - [a, b]\n", "2: keys and values"),
    "YAML list": ("a.txt", "- a b\n- c d\n", "1: keys and values"),
    "YAML document": ("a.txt", "---\na: b\n", "1: YAML"),
    "neighbours after a colon": ("a.txt", "1: 2 3\n2: 3\n", "1: keys and values"),
    "GDF": ("a.txt", "nodedef>name VARCHAR\na\n", "1: GDF"),
    "LEDA": ("a.txt", "LEDA.GRAPH\nstring\nint\n", "1: LEDA"),
    "UCINET": ("a.txt", "dl n=3 format=edgelist1\ndata:\n1 2\n", "1: UCINET DL"),
    "VNA": ("a.txt", "*node data\nid\na\n", "1: VNA (NetDraw)"),
    "Pajek partition": ("a.txt", "*Partition p\n*Vertices 1\n1\n", "1: a part of a Pajek project"),
    "Pajek partition by name": ("a.clu", "1\n", " a partition of Pajek by its extension"),
    "graph6": ("a.txt", ">>graph6<<A_\n", "1: graph6 or sparse6"),
    "Mermaid": ("a.txt", "graph TD\nA-->B\n", "1: a Mermaid diagram"),
    "Ligra": ("a.txt", "AdjacencyGraph\n2\n1\n0\n1\n1\n", "1: Ligra's adjacency graph"),
    "triples": ("a.txt", "<http://a> <http://b> <http://c> .\n", "1: RDF triples"),
    "Turtle": ("a.txt", "@prefix a: <b> .\n", "1: RDF in Turtle"),
    "colouring": ("a.txt", "c x\np edge 3 2\ne 1 2\ne 2 3\n", "2: a DIMACS problem 'p edge'"),
    "LGL": ("a.txt", "# a\nb 0.5\nc\n# b\nc 1.5\n", "1: LGL"),
    "LGL by name": ("a.lgl", "# a\nb 1\n", " LGL by its extension"),
    "TGF": ("a.txt", "1 one\n2 two\n#\n1 2\n", "3: the Trivial Graph Format"),
    "pickle": ("a.txt", "\udc80\x04\udc95\x10", " a Python pickle"),
    "Parquet": ("a.csv", "PAR1\x15\x04", " a Parquet file"),
    "HDF5": ("a.txt", "\udc89HDF\r\n\x1a\n", " an HDF5 or MATLAB 7.3 file"),
    "MATLAB": ("a.mat", "MATLAB 5.0 MAT-file, x", " a MATLAB file"),
    "NumPy": ("a.npy", "\udc93NUMPY\x01", " a NumPy array"),
    "workbook": ("a.csv", "PK\x03\x04" + "x" * 26 + "[Content_Types].xml", " a spreadsheet or document"),
    "Harwell-Boeing": ("a.mtx", "Title\n 1 1 1\nRUA 3 3 4 0\n(4I4)\n", "3: Harwell-Boeing"),
    "Harwell-Boeing by name": ("a.rua", "x\n", " Harwell-Boeing by its extension"),
    "multi-line adjacency list": ("a.txt", "a 2\nb {}\nc {}\nb 0\nc 0\n", "2: NetworkX's multi-line adjacency list"),
    "edge data": ("a.txt", "0 1 {}\n1 2 {}\n", "1: NetworkX's edge data in braces"),
    "edge data with weights": ("a.txt", "0 1 {'weight': 3, 'x': 1}\n", "1: NetworkX's edge data in braces"),
    # Matrix Market without its banner: renaming the file would give a wrong graph.
    "mtx, one %": ("a.mtx", "%MatrixMarket matrix coordinate real general\n", "1: a Matrix Market banner must start"),
    "mtx, one %, renamed": (
        "a.txt",
        "%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n",
        "1: a Matrix Market",
    ),
    "mtx, blanks": ("a.mtx", "  %%MatrixMarket matrix coordinate real general\n", "1: text before the Matrix Market"),
    "mtx, blanks, renamed": ("a.txt", "\n%%MatrixMarket matrix coordinate real general\n", "2: text before the Matrix"),
    "mtx, two words": ("a.txt", "%% Matrix Market matrix coordinate real general\n", "1: a Matrix Market banner must"),
    "mtx, comment first": (
        "a.txt",
        "% x\n%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n",
        "2: a Matrix Market banner must start",
    ),
    "mtx, none": ("a.mtx", "2 2 1\n1 2 3\n", "1: a .mtx must start with %%MatrixMarket; if the rest is a matrix, add"),
    "mtx, none, renamed": ("a.txt", "2 2 1\n1 2 3\n", "1: a matrix without its Matrix Market banner?"),
}


@pytest.mark.parametrize("what", BAD)
def test_other_files_are_rejected_in_one_line(tmp_path: Path, what: str) -> None:
    name, text, expected = BAD[what]
    path = tmp_path / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert str(caught.value).startswith(f"{path}:{expected}"), caught.value
    assert "\n" not in str(caught.value)


def test_lists_of_networkx_with_its_comments_are_told_apart(tmp_path: Path) -> None:
    judge = networkx.DiGraph([("a", "b"), ("a", "c"), ("b", "c"), ("b", "a"), ("c", "a"), ("c", "b")])
    path = tmp_path / "a.txt"
    networkx.write_adjlist(judge, path)
    graph = read_graph(path)
    assert edges_of(graph) == Counter(list(judge.edges))
    assert "does not say whether it is directed" in graph.notes[0]
    networkx.write_multiline_adjlist(judge, path)
    with pytest.raises(InputError, match=r":5: NetworkX's multi-line adjacency list"):
        read_graph(path)


def test_command_rejects_another_format_with_exit_code_2(tmp_path: Path, command: Command) -> None:
    (tmp_path / "k.dot").write_text("digraph { a -> b }\n")
    for arguments in (("graph", "info"), ("run", "hashmin")):
        done = command(*arguments, tmp_path / "k.dot")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1 and "k.dot:1: Graphviz DOT" in done.stderr
    assert command("graph", "convert", tmp_path / "k.dot", tmp_path / "k.gsg").returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["k.dot"]


def npz_of(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


CSR: dict[str, Any] = {
    "format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.array([5.0, 6.0]),
    "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"format": np.array(b"lil")}, "a sparse matrix in the format 'lil'"),
        ({"format": np.array(5)}, "not a sparse matrix"),
        ({"shape": np.array([2, 3])}, "shape (2, 3); the matrix of a graph is square"),
        ({"shape": np.array([0, 0])}, "0 vertices"),
        ({"data": np.array([1j, 2])}, "values of the type complex128"),
        ({"data": np.array([1.0, np.nan])}, "a value is not a finite number"),
        ({"data": np.array([1.0])}, "1 elements in 'data' instead of 2"),
        ({"indices": np.array([0, 2])}, "an index outside 0 .. 1"),
        ({"indices": np.array([0.5, 1])}, "'indices' is not an array of integers"),
        ({"indptr": np.array([0, 3, 2])}, "'indptr' does not ascend from 0 to 2"),
        ({"format": np.array(b"coo")}, "a sparse matrix without the array 'row'"),
        ({"format": np.array(b"dia")}, "a sparse matrix without the array 'offsets'"),
        ({"format": np.array(b"bsr")}, "'data' is not an array of one block"),
        ({"data": np.array([None, None])}, "the archive is corrupt"),
    ],
)
def test_damaged_matrices_of_scipy_are_reported(tmp_path: Path, changed: dict[str, Any], expected: str) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(npz_of(**CSR))
    assert edges_of(read_graph(path)) == Counter({(0, 0, 5.0): 1, (1, 1, 6.0): 1})
    path.write_bytes(npz_of(**{**CSR, **changed}))
    with pytest.raises(InputError) as caught:
        read_graph(path)
    assert str(caught.value).startswith(f"{path}: {expected}"), caught.value


def samples() -> dict[str, bytes]:
    judge = networkx.MultiDiGraph([("a b", "c", {"weight": 1.5}), ("c", "é", {"weight": 2}), ("a b", "c")])
    found = {}
    for form in ("gml", "graphml"):
        file = io.BytesIO()
        {"gml": networkx.write_gml, "graphml": networkx.write_graphml_xml}[form](judge, file)
        found[f"a.{form}"] = file.getvalue()
    found["a.json"] = json.dumps(networkx.node_link_data(judge, edges="links")).encode()
    found["a.net"] = '*Vertices 3\n1 "a b"\n2 c\n3 é\n*Arcs\n1 2 1.5\n*Edges\n2 3 2\n*Arcslist\n1 2 3\n'.encode()
    found["a.npz"] = npz_of(**CSR)
    return found


@pytest.mark.parametrize("name", ["a.gml", "a.graphml", "a.json", "a.net", "a.npz"])
def test_mutated_files_load_or_raise_an_input_error(tmp_path: Path, seed: int, size: Size, name: str) -> None:
    draw = random.Random(seed)
    whole = samples()[name]
    path = tmp_path / name
    path.write_bytes(whole)
    read_graph(path)
    for _ in range(size.pick(50, 300, 20000)):
        mutated = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(mutated) + 1)
            match draw.randrange(5):
                case 0:
                    del mutated[at:]
                case 1:
                    mutated[at : at + 1] = bytes([draw.randrange(256)])
                case 2:
                    words = [b"-", b"\0", b"9" * 30, b"\n", b" ", b'"', b"[", b"}", b"1e999", struct.pack("<I", 2**31)]
                    mutated[at:at] = draw.choice(words)
                case 3:
                    del mutated[at : at + draw.randrange(1, 5)]
                case 4:
                    mutated[at:at] = mutated[draw.randrange(len(mutated) + 1) :][:20]
        path.write_bytes(mutated)
        try:
            graph = read_graph(path)
            graph.census()
            assert graph.into.offsets[-1] == graph.edges
            assert len({graph.label_of(v) for v in range(graph.vertices)}) == graph.vertices
        except InputError as error:
            assert "\n" not in str(error), mutated
            assert str(path) in str(error), mutated
