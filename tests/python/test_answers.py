# SPDX-License-Identifier: Apache-2.0
"""Runs without an answer raise an error, and results match a descriptor; references use Python's exact numbers."""

from __future__ import annotations

import heapq
import math
import re
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Size
from made_graphs import graph_of, random_edges

import gossamer as gs
from gossamer import apps
from gossamer.apps import app as app_module
from gossamer.engines import _abi
from gossamer.errors import NoAnswer

FIXTURES = ROOT / "tests" / "fixtures" / "descriptors"


def app(name: str, *defines: str) -> apps.App:
    return apps.load(FIXTURES / f"{name}.h", defines)


@pytest.fixture
def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def path_of(vertices: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.arange(vertices - 1), np.arange(1, vertices)


# PageRank ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pagerank", "pagerank64"])
@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_unconverged_pagerank_raises_no_answer(name: str, engine: str) -> None:
    chain = graph_of(60, path_of(60))
    with pytest.raises(NoAnswer, match=r"did not converge: after 60 steps") as caught:
        gs.run(name, chain, damping=0.9999, limit=60, engine=engine)
    assert caught.value.exit_code == 4
    # In a chain of 60 the last vertex receives the first one's change in step 60 and sees convergence in the next.
    result = gs.run(name, chain, damping=0.9999, limit=61, engine=engine, raw=True)
    assert result.stats["steps"] == 61
    expected = [sum(0.9999**k for k in range(v + 1)) * 0.0001 / 60 for v in range(60)]
    np.testing.assert_allclose(result.values, expected, rtol=1e-3)


def test_fixed_number_of_iterations_is_an_answer() -> None:
    chain = graph_of(60, path_of(60))
    assert gs.run("pagerank", chain, damping=0.9999, iterations=7, limit=5).stats["steps"] == 7


def test_slowly_changing_scores_do_not_count_as_converged(random: np.random.Generator) -> None:
    """At a damping near 1 the change of a step is small far from convergence.

    The final error must not exceed that of the usual damping.
    """
    vertices, usual, tolerance = 50, 0.85, 1e-6
    edges = random_edges(random, vertices, 200, dangling=False)
    graph = graph_of(vertices, edges)
    for damping in (usual, 0.99, 0.999):
        near = gs.run("pagerank64", graph, damping=damping, tolerance=tolerance, limit=10**6, raw=True)
        a = np.zeros((vertices, vertices))
        np.add.at(a, (edges[1], edges[0]), 1 / np.bincount(edges[0], minlength=vertices)[edges[0]])
        exact = np.linalg.solve(np.eye(vertices) - damping * a, np.full(vertices, (1 - damping) / vertices))
        # A step reduces the error by the damping factor, so the remaining error is the last change times this sum.
        left = tolerance * usual / (1 - usual) * float(np.sum(exact))
        assert np.sum(np.abs(near.values - exact)) <= left * 1.001, damping


# Shortest paths ----------------------------------------------------------------------------------

LIMITS = {"sssp": 2**32 - 3, "sssp-sync": 2**32 - 3, "sssp64": 2**64 - 3}
WEIGHTS = {"sssp": 2**31 - 1, "sssp-sync": 2**31 - 1, "sssp64": 2**63 - 1}


def dijkstra(vertices: int, edges: Any, weights: list[int], source: int) -> list[int | None]:
    """Exact distances in Python's integers."""
    beside: list[list[tuple[int, int]]] = [[] for _ in range(vertices)]
    for s, t, w in zip(edges[0].tolist(), edges[1].tolist(), weights, strict=True):
        beside[s].append((t, w))
    found: list[int | None] = [None] * vertices
    queue = [(0, source)]
    while queue:
        length, v = heapq.heappop(queue)
        if found[v] is None:
            found[v] = length
            for t, w in beside[v]:
                heapq.heappush(queue, (length + w, t))
    return found


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("engine", ["cpu", "shuffle"])
def test_longest_representable_path_is_returned(name: str, engine: str) -> None:
    top, limit = WEIGHTS[name], LIMITS[name]
    kind = np.int64 if name == "sssp64" else np.int32
    rest = limit - 2 * top
    for last, fits in ((rest, True), (rest + 1, False), (rest + 2, False), (top, False)):
        weights = [top, top, last, 5] if last >= 0 else [top, top + last, 0, 5]
        graph = graph_of(5, path_of(5), np.array(weights, kind))
        if fits:
            with pytest.raises(NoAnswer):  # the fifth vertex is 5 further still
                gs.run(name, graph, engine=engine)
            shorter = graph_of(5, (path_of(5)[0][:3], path_of(5)[1][:3]), np.array(weights[:3], kind))
            result = gs.run(name, shorter, engine=engine)
            assert result.values.tolist()[3] == sum(weights[:3])
            assert result.values.tolist()[4] == limit + 2  # nothing leads there
        else:
            with pytest.raises(NoAnswer, match=rf"{name}: overflow: .* longer than {limit}"):
                gs.run(name, graph, engine=engine)


@pytest.mark.parametrize("name", LIMITS)
def test_path_overflow_is_reported_at_its_first_vertex(name: str, random: np.random.Generator, size: Size) -> None:
    """Random graphs with huge weights: distances are exact, or the error names the first vertex that overflows."""
    told = right = 0
    rounds = size.pick(30, 100, 1000)
    while rounds > 0 or not (told and right):
        rounds -= 1
        assert rounds > -10_000, (told, right)
        vertices = int(random.integers(2, 40))
        edges = random_edges(random, vertices, int(random.integers(1, 90)))
        top = int(WEIGHTS[name] >> int(random.integers(0, 5)))
        weights = [int(w) for w in random.integers(0, top, size=len(edges[0]), endpoint=True)]
        source = int(random.integers(vertices))
        expected = dijkstra(vertices, edges, weights, source)
        graph = graph_of(vertices, edges, np.array(weights, np.int64))
        engine = str(random.choice(["cpu", "shuffle"]))
        beyond = [v for v, length in enumerate(expected) if length is not None and length > LIMITS[name]]
        if beyond:
            with pytest.raises(NoAnswer, match="overflow") as caught:
                gs.run(name, graph, source=source, engine=engine, seed=int(random.integers(2**32)), threads=2)
            assert int(re.findall(r"vertex (\d+)\)", str(caught.value))[0]) in beyond
            told += 1
        else:
            result = gs.run(name, graph, source=source, engine=engine, threads=2)
            assert result.values.tolist() == [LIMITS[name] + 2 if x is None else x for x in expected]
            right += 1
    assert told and right


@pytest.mark.tier("all", seconds=13, adds="shortest paths of floating-point weights bit for bit")
@pytest.mark.parametrize("name", ["sssp-float", "sssp-double"])
def test_floating_point_paths_match_bellman_ford_bit_for_bit(
    name: str, random: np.random.Generator, size: Size
) -> None:
    """Each sum rounds as in Python; the result is the shortest of the rounded lengths, bit for bit."""
    single = name == "sssp-float"

    def rounded(x: float) -> float:
        return float(struct.unpack("f", struct.pack("f", x))[0]) if single else x

    for _ in range(size.pick(10, 30, 300)):
        vertices = int(random.integers(2, 200))
        edges = random_edges(random, vertices, int(random.integers(1, 600)))
        weights = random.random(len(edges[0])) * 10.0 ** random.integers(-5, 6, size=len(edges[0]))
        expected = [math.inf] * vertices
        expected[0] = 0.0
        moved = True
        while moved:  # Bellman and Ford
            moved = False
            for s, t, w in zip(edges[0].tolist(), edges[1].tolist(), weights.tolist(), strict=True):
                if (length := rounded(expected[s] + rounded(w))) < expected[t]:
                    expected[t], moved = length, True
        for engine in ("cpu", "shuffle"):
            values = gs.run(name, graph_of(vertices, edges, weights), source=0, engine=engine).values
            assert values.dtype == (np.float32 if single else np.float64)
            assert values.tolist() == expected


def test_overflow_of_floating_point_lengths_is_reported() -> None:
    graph = graph_of(4, path_of(4), np.array([3e38, 3e38, 1.0]))
    with pytest.raises(NoAnswer, match=r"sssp-float: overflow: .* 32 bits can represent; use sssp-double .*vertex 2"):
        gs.run("sssp-float", graph)
    assert gs.run("sssp-double", graph).values.tolist() == [0, 3e38, 6e38, 6e38]
    with pytest.raises(NoAnswer, match="sssp-double: overflow"):
        gs.run("sssp-double", graph_of(3, path_of(3), np.array([1.7e308, 1.7e308])))
    for bad in (math.nan, math.inf):
        with pytest.raises(gs.InputError, match="not a finite number"):
            gs.run("sssp-double", graph_of(3, path_of(3), np.array([1.0, bad])))
    with pytest.raises(gs.InputError, match=r"the weight 1\.0+1e\+300 is too large"):
        gs.run("sssp-float", graph_of(3, path_of(3), np.array([1.0, 1e300])))


# Weights -------------------------------------------------------------------------------------------


@pytest.mark.default_cases("(int64_t|uint16_t)", seconds=26, adds="the other integer types")
@pytest.mark.parametrize("edge", ["int8_t", "uint16_t", "int64_t", "uint64_t"])
def test_weights_are_converted_exactly_or_rejected(edge: str) -> None:
    bits, low = int(re.findall(r"\d+", edge)[0]), 0 if edge[0] == "u" else -1
    least, most = low * 2 ** (bits - 1), 2 ** (bits + low) - 1
    weigh = app("weigh", f"EDGE={edge}", "SUM=uint64_t" if bits == 64 and not low else "SUM=int64_t")
    for kind in (np.int32, np.int64, np.float32, np.float64):
        whole = np.issubdtype(kind, np.integer)
        limits = np.iinfo(kind) if whole else None
        for weight in (least, most, 0, 1, 100, most - 1, 2**53 + 1):
            held = limits.min <= weight <= limits.max if limits else kind(weight) == Fraction(weight) and weight < 2**63
            if not held or not least <= weight <= most:
                continue
            assert gs.run(weigh, graph_of(2, path_of(2), np.array([weight], kind))).values.tolist() == [0, weight]
        for weight in (least - 1, most + 1):
            if limits and not limits.min <= weight <= limits.max:
                continue
            if not least <= int(kind(weight)) <= most:
                with pytest.raises(gs.InputError, match=f"is not an integer from {least} to {most};"):
                    gs.run(weigh, graph_of(2, path_of(2), np.array([weight], kind)))


@pytest.mark.parametrize(
    ("name", "weight", "advice"),
    [
        ("sssp", 4_000_000_000, ", or use sssp64"),
        ("sssp-sync", 4_000_000_000, ", or use sssp64"),
        ("sssp-float", 1e39, ", or use sssp-double"),
        ("sssp64", 1e19, ""),
        ("sssp", 0.5, ", or use sssp-float or sssp-double"),
        ("sssp-sync", 1e12 + 0.5, ", or use sssp-float or sssp-double"),
        ("sssp64", 0.5, ", or use sssp-double"),
        ("mssp", 0.5, ""),
    ],
)
def test_oversized_weight_error_suggests_an_application(name: str, weight: float, advice: str) -> None:
    graph = graph_of(2, path_of(2), np.array([weight]))
    with pytest.raises(gs.InputError, match=f"^{name}: the weight .*; scale the weights of the graph{advice}$"):
        gs.run(name, graph)


@pytest.mark.parametrize("threads", [1, 4])
def test_first_oversized_weight_is_named(threads: int) -> None:
    """All threads convert a part of the weights."""
    weigh = app("weigh", "EDGE=int32_t")
    count = 400_000
    weights = np.arange(count, dtype=np.float64)
    ends = np.zeros(count, np.int64)
    graph = gs.Graph.from_arrays(ends, ends + 1, weights)
    total = gs.run(weigh, graph, threads=threads).values[1]
    assert total == count * (count - 1) // 2
    weights[[150_000, 150_001, 399_999]] = 0.25, 0.5, 0.75
    order = np.sort(weights)  # parallel edges stand by weight
    first = order[order != np.floor(order)][0]
    with pytest.raises(gs.InputError, match=f"the weight {first} is not an integer"):
        gs.run(weigh, gs.Graph.from_arrays(ends, ends + 1, weights), threads=threads)


# Init ----------------------------------------------------------------------------------------------


def test_init_is_called_in_vertex_order() -> None:
    vertices = 2_000_000  # enough that other threads would have time to take their part
    graph = gs.read_graph(f"gen:ring:vertices={vertices}")
    drawn = [gs.run(app("random_init"), graph, threads=threads).columns for threads in (1, 2, 8)]
    assert np.array_equal(drawn[0]["call"], np.arange(vertices))
    for other in drawn[1:]:
        assert np.array_equal(other["drawn"], drawn[0]["drawn"])
        assert np.array_equal(other["call"], drawn[0]["call"])


# Parameters ----------------------------------------------------------------------------------------


def test_integer_parameters_are_exact() -> None:
    graph = graph_of(2, path_of(2))
    wide = app("wide")
    assert [p.default for p in wide.parameters] == [1 - 2**63, 2**64 - 2, -3]
    for given in (2**53 + 1, 2**63 - 1, -(2**63), -(2**53) - 1, 0):
        for form in (given, str(given)):
            assert gs.run(wide, graph, signed=form).columns["signed"].tolist() == [given, given]
    for given in (2**53 + 1, 2**64 - 1, 2**63 + 1, 0):
        assert gs.run(wide, graph, unsigned=str(given)).columns["unsigned"].tolist() == [given, given]
    assert gs.run(wide, graph, narrow="-1e2").columns["narrow"].tolist() == [-100, -100]
    assert gs.run(wide, graph, signed=np.int64(-7)).columns["signed"].tolist() == [-7, -7]
    for name, wrong in {"signed": 2**63, "unsigned": -1, "narrow": 101}.items():
        with pytest.raises(gs.InputError, match=f"wide: {name}: {wrong} is not from"):
            gs.run(wide, graph, **{name: wrong})  # type: ignore[arg-type]
    for wrong in ("1.5", "", "x", "nan", "inf", "1e99"):
        with pytest.raises(gs.InputError, match="wide: signed: "):
            gs.run(wide, graph, signed=wrong)
    with pytest.raises(gs.InputError, match=r"sssp: source: 0\.5"):
        gs.run("sssp", graph, source=0.5)


def test_bounds_outside_the_parameter_type_are_rejected() -> None:
    with pytest.raises(gs.InputError, match="parameter narrow: its type cannot represent the numbers from -100 to 128"):
        app("wide", "NARROW=128")


@pytest.mark.parametrize(
    ("what", "names", "says"),
    [
        *(("parameter", [word], f"{word}': is reserved by the command") for word in sorted(apps.COMMAND_WORDS)),
        ("column", ["mine", "vertex"], "column 'vertex': is reserved by the command; rename it"),
        ("column", ["mine", "other", "mine"], "column 'mine': is defined twice; rename one"),
        ("column", [], "has no result column"),
        ("parameter", ["1st"], "a letter first"),
        ("column", ["a,b"], "a name has letters"),
        ("parameter", ["a=b"], "a name has letters"),
    ],
)
def test_colliding_names_are_rejected(what: str, names: list[str], says: str) -> None:
    taken = apps.COMMAND_WORDS if what == "parameter" else frozenset({"vertex"})
    with pytest.raises(gs.InputError, match=says):
        app_module._check_names(FIXTURES / "names.h", what, names, taken)


def test_descriptor_with_a_colliding_name_is_rejected() -> None:
    with pytest.raises(gs.InputError, match=r"names\.h: parameter 'threads': is reserved by the command"):
        app("names", "PARAMETER=threads", "COLUMN=mine")
    with pytest.raises(gs.InputError, match=r"names\.h: column 'other': is defined twice"):
        app("names", "PARAMETER=mine", "COLUMN=other")


def test_all_options_of_the_command_are_reserved() -> None:
    """The list contains every option of the command and every argument of run() in Python."""
    import inspect

    from gossamer.cli import _run_arguments

    known = (*_run_arguments.VALUES, *_run_arguments.FLAGS)
    options = {name.removeprefix("--") for name in known if name.startswith("--")}
    arguments = {p.name for p in inspect.signature(gs.run).parameters.values() if p.kind != p.VAR_KEYWORD}
    assert options | arguments | {"graph"} == apps.COMMAND_WORDS


# The interface ---------------------------------------------------------------------------------------


def test_other_interface_version_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    header = (ROOT / "include" / "gossamer" / "abi.h").read_text()
    assert int(re.findall(r"#define GS_ABI_VERSION (\d+)", header)[0]) == apps.ABI_VERSION
    app_module._load.cache_clear()
    monkeypatch.setattr(app_module, "ABI_VERSION", app_module.ABI_VERSION + 1)
    with pytest.raises(gs.InputError, match=r"compiled for version \d+ of the interface, this program has \d+; remove"):
        app("successor")
    app_module._load.cache_clear()


def test_structs_match_the_header() -> None:
    """Compares names and order of the fields, and their types by the size of the compiled struct."""
    header = (ROOT / "include" / "gossamer" / "abi.h").read_text()
    for struct_name, seen in {
        "gs_csr": _abi._Csr,
        "gs_graph": _abi._Graph,
        "gs_parameter": _abi._Parameter,
        "gs_run_options": _abi._Options,
        "gs_statistics": _abi.Statistics,
        "gs_relation": _abi.RelationAbi,
        "gs_problem": _abi.ProblemAbi,
        "gs_part": _abi.PartAbi,
    }.items():
        (body,) = re.findall(rf"struct {struct_name} \{{\n(.*?)\n\}};", header, re.S)
        body = re.sub(r"//[^\n]*", "", body)
        body = re.sub(r"\([^()]*\);", ";", body.replace("(*complete)", "complete"))
        names = re.findall(r"(\w+);", body)
        assert ["in" if name == "into" else name for name, *_ in seen._fields_] == names, struct_name


# Columns of vertices -----------------------------------------------------------------------------------


def test_vertex_columns_are_shown_as_labels() -> None:
    edges = path_of(4)
    numbers = gs.run(app("successor"), graph_of(4, edges, base=1))
    assert numbers.columns["next"].tolist() == [1, 2, 3, 2**32 - 1]
    assert numbers.named("next").tolist() == [2, 3, 4, -1]
    assert numbers.named("index").tolist() == [0, 1, 2, 3]
    gaps = gs.run(app("successor"), graph_of(4, edges, labels=np.array([-5, 70, 800, 9000])))
    assert gaps.named("next").tolist() == [70, 800, 9000, -6]
    words = gs.run(app("successor"), graph_of(4, edges, labels=["ash", "birch", "cedar", "date"]))
    assert words.named("next").tolist() == ["birch", "cedar", "date", ""]
    with pytest.raises(gs.InputError, match="has no column 'nixt'; it has: index, next"):
        words.named("nixt")


def test_vertex_column_with_an_invalid_index_is_rejected() -> None:
    result = gs.run(app("successor", "OFFSET=3"), graph_of(4, path_of(4)))
    with pytest.raises(gs.InputError, match="successor: next of vertex 1 is 4, which is not the index of a vertex"):
        result.named("next")


# Aggregates ----------------------------------------------------------------------------------------------


def levels_from(source: int, vertices: int, edges: Any) -> list[int]:
    """Levels by a queue, as in textbooks."""
    beside: list[list[int]] = [[] for _ in range(vertices)]
    for s, t in zip(edges[0].tolist(), edges[1].tolist(), strict=True):
        beside[s].append(t)
    level = [2**32 - 1] * vertices
    level[source] = 0
    queue = [source]
    for v in queue:
        for w in beside[v]:
            if level[w] == 2**32 - 1:
                level[w] = level[v] + 1
                queue.append(w)
    return level


def test_search_ends_by_its_totals(random: np.random.Generator) -> None:
    """One step a level, one that reaches no vertex, and one that detects this."""
    for vertices, count in ((1, 0), (60, 70), (500, 2000)):
        edges = random_edges(random, vertices, count) if count else (np.empty(0, int), np.empty(0, int))
        source = int(random.integers(vertices))
        expected = levels_from(source, vertices, edges)
        near = [level for level in expected if level < 2**32 - 1]
        for options in ({"threads": 1}, {"threads": 2}, {"engine": "shuffle", "seed": 7}):
            result = gs.run(
                ROOT / "examples" / "levels" / "levels.h", graph_of(vertices, edges), source=source, **options
            )
            assert result.values.tolist() == expected
            assert result.totals == {"reached": len(near)}
            assert result.stats["steps"] == max(near) + 2


def test_duplicate_total_is_rejected(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "levels" / "levels.h").read_text()
    line = next(line for line in text.splitlines() if 'c.add("reached"' in line)
    (tmp_path / "twice.h").write_text(text.replace(line, f"{line}\n{line}"))
    with pytest.raises(gs.InputError, match=r"twice\.h: total 'reached': is defined twice"):
        apps.load(tmp_path / "twice.h")
