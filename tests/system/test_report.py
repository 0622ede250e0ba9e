# SPDX-License-Identifier: Apache-2.0
"""Statistics of all engines in one schema, traces of ``cpu``, ``shuffle`` and ``distributed``, and their reports."""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import statistics_judge
import traces
from click.testing import CliRunner
from conftest import ROOT, Command
from made_statistics import cluster

import gossamer_setup
from gossamer.cli.report import command as command_of_report
from gossamer.errors import InputError
from gossamer.watch import report, statistics

GRAPH = "gen:geo:vertices=3000,fanout=12,radius=0.08"
RUN = ("run", "pagerank", GRAPH, "--iterations", "8", "-k", "0")


@pytest.fixture(scope="module", autouse=True)
def _group() -> None:
    gossamer_setup.require("test")


def run(command: Command, folder: Path, name: str, *more: str) -> tuple[dict[str, Any], traces.Trace]:
    """Statistics and trace of a run of pagerank."""
    done = command(*RUN, *more, "--stats", f"{name}.json", "--trace", f"{name}.pftrace", cwd=folder)
    assert done.returncode == 0, done.stderr
    return statistics_judge.read(folder / f"{name}.json"), traces.read(folder / f"{name}.pftrace")


def check_threads(trace: traces.Trace, name: str) -> tuple[float, float]:
    """The nanoseconds in which a thread runs and waits; its spans cover the run without gaps and overlaps."""
    spans = sorted((one for one in trace.spans if one.track.endswith(name)), key=lambda one: (one.begin, one.end))
    for one, after in itertools.pairwise(spans):
        assert one.end == after.begin, (one, after)
    runs = sum(one.end - one.begin for one in spans if one.name == "runs")
    waits = sum(one.end - one.begin for one in spans if one.name.startswith("waits"))
    assert runs + waits == spans[-1].end - spans[0].begin
    return runs, waits


def test_schema_file_is_that_of_the_models() -> None:
    made = json.dumps(statistics.schema(), indent=1) + "\n"
    assert statistics.FILE.read_text(encoding="utf-8") == made, "run python -m gossamer.watch.statistics"
    assert statistics.FILE == statistics_judge.SCHEMA


def test_cpu_statistics_and_trace_agree(command: Command, tmp_path: Path) -> None:
    data, trace = run(command, tmp_path, "cpu", "-t", "2")
    assert data["graph"] == {"name": f"{GRAPH},seed=1", "vertices": 3000, "edges": data["graph"]["edges"]}
    assert data["deliveries"] == 8 * data["graph"]["edges"] and data["parameters"] == {"iterations": "8"}
    # The command repeats the run.
    assert data["command"].split()[:4] == ["./gossamer", "run", "pagerank", GRAPH]
    assert [one["thread"] for one in data["by_thread"]] == [0, 1]
    seconds = data["timeline"]["edges"][-1]
    assert 0 < seconds <= data["run_seconds"] and seconds == pytest.approx(data["seconds"], rel=0.2, abs=2e-4)
    for one in data["by_thread"]:
        assert one["busy_seconds"] + one["wait_seconds"] == pytest.approx(seconds, rel=1e-3)
        of = f"thread {one['thread']}"
        # The series over time has the same sum, and so have the spans of the trace.
        assert statistics_judge.total(data, "threads at work", of) == pytest.approx(one["busy_seconds"], rel=0.01)
        runs, _ = check_threads(trace, of)
        assert runs * 1e-9 == pytest.approx(one["busy_seconds"], rel=0.01, abs=1e-6)
    check_steps_and_rounds(data, trace)


def check_steps_and_rounds(data: dict[str, Any], trace: traces.Trace) -> None:
    """Steps and messages of the trace are those of the statistics."""
    assert statistics_judge.total(data, "messages delivered") == pytest.approx(data["deliveries"], rel=0.01)
    rounds = [one for one in trace.spans if one.track.endswith("/rounds")]
    assert sum(one.notes["messages"] for one in rounds) == data["deliveries"]
    steps = [one for one in trace.spans if one.track.endswith("/steps")]
    assert [one.name for one in steps] == [f"step {at}" for at in range(data["steps"])]
    for one, length in zip(steps, data["step_seconds"], strict=True):
        assert (one.end - one.begin) * 1e-9 == pytest.approx(length, rel=0.2, abs=1e-4)


def test_long_runs_are_merged_and_keep_their_sums(command: Command, tmp_path: Path) -> None:
    """Of 30,000 steps a list keeps at most 8,192 items."""
    done = command("run", "pagerank", "gen:grid:width=6,height=6", "--iterations", "30000", "-t", "2", "-k", "0",
                   "--stats", "s.json", "--trace", "t.pftrace", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    data, trace = statistics_judge.read(tmp_path / "s.json"), traces.read(tmp_path / "t.pftrace")
    steps = [one for one in trace.spans if one.track.endswith("/steps")]
    assert len(steps) <= 8192 and data["steps"] == 30_000
    numbers = [[int(number) for number in re.findall(r"\d+", one.name)] for one in steps]
    assert numbers[0][0] == 0 and numbers[-1][-1] == 29_999
    assert all(one[-1] + 1 == after[0] for one, after in itertools.pairwise(numbers))
    rounds = [one for one in trace.spans if one.track.endswith("/rounds")]
    assert sum(one.notes["messages"] for one in rounds) == data["deliveries"] == 30_000 * data["graph"]["edges"]
    assert statistics_judge.total(data, "messages delivered") == pytest.approx(data["deliveries"], rel=0.01)


def test_distributed_statistics_and_trace_agree(command: Command, tmp_path: Path) -> None:
    gossamer_setup.require("mpi")
    data, trace = run(command, tmp_path, "ranks", "--engine", "distributed", "-n", "3")
    assert (data["engine"], data["ranks"], data["configuration"]["ranks"]) == ("distributed", 3, 3)
    assert [one["rank"] for one in data["by_rank"]] == [0, 1, 2]
    assert [one["wait_seconds"] for one in data["by_rank"]] == data["rank_wait_seconds"]
    sends = [one for one in trace.marks if one.name == "send"]
    assert sum(one.notes["bytes"] for one in sends) == data["rank_bytes"]
    assert statistics_judge.total(data, "bytes sent to other ranks") == pytest.approx(data["rank_bytes"], rel=0.01)
    assert statistics_judge.total(data, "messages delivered") == pytest.approx(data["deliveries"], rel=0.01)
    # Each buffer that is sent arrives with its bytes, at the rank that it names, after it was sent.
    arrows = trace.arrows()
    assert len(arrows) == len(sends) > 0
    for sent, received in arrows:
        names = [re.findall(r"rank (\d+)/messages", one.track) for one in (sent, received)]
        assert [int(one[0]) for one in names] == [received.notes["rank"], sent.notes["rank"]]
        assert sent.notes["bytes"] == received.notes["bytes"] and sent.begin <= received.begin
    for one in data["by_thread"]:
        runs, waits = check_threads(trace, f"rank {one['rank']}/thread 0")
        assert runs * 1e-9 == pytest.approx(one["busy_seconds"], rel=0.01, abs=1e-6)
        assert waits * 1e-9 == pytest.approx(one["wait_seconds"], rel=0.01, abs=1e-6)
        assert one["wait_seconds"] == pytest.approx(data["rank_wait_seconds"][one["rank"]], rel=0.05, abs=1e-4)


def test_shuffle_statistics_trace_and_report_agree(command: Command, tmp_path: Path) -> None:
    data, trace = run(command, tmp_path, "shuffle", "--engine", "shuffle", "--seed", "3", "--report", "s.html")
    assert (data["engine"], data["threads"], data["configuration"]["seed"]) == ("shuffle", 1, "3")
    assert f"<td>{data['deliveries']:,}</td>" in (tmp_path / "s.html").read_text()
    check_steps_and_rounds(data, trace)
    # The thread never waits.
    runs, waits = check_threads(trace, "thread 0")
    (one,) = data["by_thread"]
    assert waits == 0 and runs * 1e-9 == pytest.approx(one["busy_seconds"], rel=0.01)
    assert one["wait_seconds"] == 0
    # A round is at most 1,024 sends and deliveries.
    rounds = [one for one in trace.spans if one.track.endswith("/rounds")]
    assert len(rounds) > data["deliveries"] / 1024


def test_mpi_programs_on_boards_have_statistics(command: Command, tmp_path: Path) -> None:
    gossamer_setup.require("rtl")
    (tmp_path / "ring.c").write_text(
        "#include <mpi.h>\nint main(int argc, char** argv) {\n  int rank, x = 0;\n  MPI_Init(&argc, &argv);\n"
        "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
        "  MPI_Finalize();\n  return x != 6;\n}\n"
    )
    words = ("mpi", "run", "ring.c", "-n", "4", "--stats", "s.json")
    done = command(*words, "--engine", "rtl", "--config", "tiny-mpi", "--cycles", "--report", "r.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = statistics_judge.read(tmp_path / "s.json")
    assert f"{data['cycles']} cycles, {data['instructions']} instructions" in done.stderr
    assert (data["threads"], data["configuration"]["ranks"], data["tiles"]) == (4, 4, 2)
    assert command("report", "s.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.html").read_text() == (tmp_path / "s.html").read_text()
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2 and "--stats: needs engine rtl" in done.stderr


def test_report_compares_two_runs(command: Command, tmp_path: Path) -> None:
    runs = []
    for threads in ("1", "2"):
        more = ("-t", threads) if threads == "1" else ("-t", threads, "--damping", "0.7")
        done = command(*RUN, *more, "--stats", f"t{threads}.json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        runs.append(statistics_judge.read(tmp_path / f"t{threads}.json"))
    done = command("report", "t1.json", "t2.json", "-o", "c.html", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "wrote c.html\n", "")
    page = (tmp_path / "c.html").read_text()
    assert "http" not in page and "<script" not in page and "url(" not in page
    part = page.split("<h2>Differences</h2>")[1].split("<h2>")[0]
    rows = {row[0]: row[1:] for row in (re.findall(r"<td>(.*?)</td>", one) for one in part.split("<tr>")[2:])}
    assert rows["threads"] == ["threads", "1", "2", "+1", "+100.0 %"]
    assert rows["deliveries"][3:] == ["0", "0.0 %"]
    first, second = (one["seconds"] for one in runs)
    shown = [float(cell.replace("−", "-").removesuffix(" %").replace(",", "")) for cell in rows["seconds"][1:]]
    assert shown[:3] == pytest.approx([first, second, second - first], rel=1e-4)
    assert shown[3] == pytest.approx(100 * (second - first) / first, abs=0.051)
    for one in runs:
        assert one["date"].replace("T", " ").removesuffix("Z") in page and one["versions"]["gossamer"] in page
        assert one["command"].replace('"', "&quot;") in page
    # Without -o the page has the name of the first file.
    done = command("report", "t2.json", cwd=tmp_path)
    assert done.stdout == "wrote t2.html\n" and (tmp_path / "t2.html").read_text().count("<h1>") == 1


def valid(**changes: Any) -> dict[str, Any]:
    """A short file of statistics."""
    values = {
        "app": "pagerank", "graph": {"name": "g", "vertices": 4, "edges": 5}, "parameters": {}, "threads": 1,
        "steps": 2, "deliveries": 10, "seconds": 0.5, "run_seconds": 0.6, "step_seconds": [0.2, 0.3],
        "timeline": {"unit": "s", "edges": [0.0, 0.25, 0.5], "series": [
            {"name": "messages delivered", "unit": "1/s", "of": "", "most": None, "values": [10.0, 30.0]}
        ]},
    }  # fmt: skip
    made = statistics.document("application", "cpu", "pagerank", values, command="./gossamer run pagerank",
                               configuration={"engine": "cpu", "threads": 1})  # fmt: skip
    return {**made, **changes}


def test_damaged_files_are_rejected_in_one_line(command: Command, tmp_path: Path) -> None:
    short = valid()["timeline"]
    short = {**short, "series": [{**short["series"][0], "values": [1.0]}]}
    cases: list[tuple[str, str]] = [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[1]", "is no file of statistics"),
        ("\udcff", "is no JSON"),
        ('{"engine": "cpu", "cycles": 3}', "before statistics had a schema; repeat the run"),
        (json.dumps(valid(version=2)), "has version 2 of the statistics, and this command reads version 1"),
        (json.dumps(valid(steps="many")), "is damaged: steps"),
        (json.dumps(valid(graph={"name": "g"})), "is damaged: graph.vertices"),
        (json.dumps({k: v for k, v in valid().items() if k != "deliveries"}), "is damaged: has no deliveries"),
        (json.dumps({k: v for k, v in valid().items() if k != "machine"}), "is damaged: machine"),
        (json.dumps(valid(timeline=short)), "wrong number of values"),
    ]
    for number, (text, why) in enumerate(cases):
        (tmp_path / "bad.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        done = command("report", "bad.json", cwd=tmp_path)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (number, done.stderr)
        assert done.stderr.startswith("gossamer: error: bad.json: ") and why in done.stderr, (why, done.stderr)
        assert not (tmp_path / "bad.html").exists()
    good, other, kind = tmp_path / "good.json", tmp_path / "other.json", tmp_path / "kind.json"
    good.write_text(json.dumps(valid()))
    other.write_text(json.dumps(valid(name="sssp")))
    values = {"cluster": "pair", "config": "tiny", "guests": [], "cycles": 5}
    guests = statistics.document(
        "guests", "rtl", "g.toml", values, command="./gossamer run g.toml", configuration={"engine": "rtl"}
    )
    kind.write_text(json.dumps(guests))
    for words, why in (
        (("good.json", "other.json"), "other.json: is a run of sssp, and good.json one of pagerank"),
        (("good.json", "kind.json"), "kind.json: statistics of kind 'guests' cannot be compared"),
        (("good.json",) * 7, "7 runs do not fit side by side; give at most 6"),
        (("none.json",), "none.json: cannot be read: No such file"),
        ((".",), "cannot be read: Is a directory"),
        (("good.json", "-o", "no/x.html"), "there is no folder"),
    ):
        done = command("report", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), (words, done.stderr)
        assert why in done.stderr, (why, done.stderr)
    done = command("report", "good.json", "good.json", "good.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_any_damage_is_an_error_or_a_page(tmp_path: Path, seed: int) -> None:
    """A value anywhere in a file is replaced, or removed: the file is rejected, or shown."""
    draw = random.Random(seed)
    whole = cluster(2, 2)
    whole |= {"by_thread": [{"rank": 0, "thread": 0, "busy_seconds": 1.0, "wait_seconds": 2.0}], "events": ["lost"]}
    path = tmp_path / "s.json"
    outcomes = {True: 0, False: 0}
    for number in range(300):
        data = json.loads(json.dumps(draw.choice([whole, valid()])))
        at: Any = data
        while True:
            key = draw.choice(list(at)) if isinstance(at, dict) else draw.randrange(len(at))
            if isinstance(at[key], (dict, list)) and at[key] and draw.random() < 0.8:
                at = at[key]
                continue
            break
        if draw.random() < 0.2:
            del at[key]
        else:
            at[key] = draw.choice([0, -1, None, "x", [], {}, 1e308, 2**70, True, [[]], float("nan"), "\ud800"])
        path.write_text(json.dumps(data), encoding="utf-8")
        done = CliRunner().invoke(command_of_report, [str(path), "-o", str(tmp_path / "p.html")])
        good = done.exit_code == 0
        assert good or isinstance(done.exception, InputError), (seed, number, key, done.exc_info)
        outcomes[good] += 1
    assert min(outcomes.values()) > 20


def test_number_beside_zero_and_missing_numbers_have_no_percent() -> None:
    page = report.page([valid(), valid(push_rounds=3)], ["A", "B"])
    row = re.search(r"<tr><td>push_rounds</td>(.*?)</tr>", page)
    assert row and re.findall(r"<td>(.*?)</td>", row[1]) == ["", "-", "3", "-", "-"]
    page = report.page([valid(push_rounds=0), valid(push_rounds=3)], ["A", "B"])
    row = re.search(r"<tr><td>push_rounds</td>(.*?)</tr>", page)
    assert row and re.findall(r"<td>(.*?)</td>", row[1]) == ["", "0", "3", "+3", "-"]


def test_names_are_escaped() -> None:
    evil = "<script>alert(1)</script>"
    page = report.page([valid(name=evil, command=evil, graph={"name": evil, "vertices": 1, "edges": 1})])
    assert "<script" not in page and "&lt;script&gt;" in page


def test_documentation_names_every_key() -> None:
    """A key that is added to the schema is documented by its description there; the page names the file."""
    text = (ROOT / "docs" / "watching.md").read_text(encoding="utf-8")
    assert "statistics.schema.json" in text
    for name in ("schema", "version", "kind", "configuration", "units", "timeline", "by_thread", "by_rank"):
        assert f"`{name}`" in text, name
