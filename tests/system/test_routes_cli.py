# SPDX-License-Identifier: Apache-2.0
"""``./gossamer routes`` as a user runs it."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest
from conftest import ROOT, Command


def test_routes_are_generated_checked_and_written(command: Command, tmp_path: Path) -> None:
    tables, figures = tmp_path / "a.routes", tmp_path / "a.json"
    done = command("routes", "torus8", "--tables", tables, "--json", figures)
    assert (done.returncode, done.stderr) == (0, "")
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines() if line[:1].strip())
    assert "torus8 (torus 4x2 twist 2): 8 boards, 16 cables, 0 hosts" in lines["topology"]
    assert "all routes are shortest paths" in lines["shortest"]
    assert "none; " in lines["deadlock"] and "4 virtual networks" in lines["deadlock"]
    data = json.loads(figures.read_text())
    assert (data["boards"], data["minimal_share"], data["check"]["safe"]) == (8, 1.0, True)
    # 8 boards x 7 others, each 1.43 hops, over 32 directions.
    assert sum(link["routes"] for link in data["links"]) == pytest.approx(56 * data["hops"]["mean"])
    again = tmp_path / "b.routes"
    assert command("routes", "torus8", "--tables", again).returncode == 0
    assert again.read_bytes() == tables.read_bytes()
    done = command("routes", "torus8", "--check", tables, "--check", again)
    assert done.returncode == 0 and "2 tables together: none" in done.stdout
    done = command("routes", "ring4", "--check", tables)
    assert done.returncode == 2
    assert done.stderr.startswith("gossamer: error: ") and "a.routes:2: routing tables for another" in done.stderr


def test_routes_avoid_boards_and_cables_that_are_down(command: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.routes", tmp_path / "new.routes"
    assert command("routes", "rack48", "--tables", old).returncode == 0
    done = command("routes", "rack48", "--down", "x1y1", "--down", "x3y3:east", "--replaces", old, "--tables", new)
    assert done.returncode in (0, 1), done.stderr
    assert "down       x1y1, x3y3:east - x4y3:west" in done.stdout
    assert "checked: none" in done.stdout
    if done.returncode:
        assert "drain the fabric first" in done.stderr and not new.exists()


def test_check_detects_tables_that_can_deadlock(command: Command, tmp_path: Path) -> None:
    """The check detects modified tables even if their hash is correct."""
    import dataclasses

    import numpy as np

    from gossamer import routes

    cluster = tmp_path / "ring.toml"
    cluster.write_text('description = "x"\nconfig = "tiny"\ntopology = "ring 6"\n')
    topology = routes.read_topology(cluster)
    made = routes.generate(topology).tables
    bad = dataclasses.replace(made, vc=np.zeros_like(made.vc))
    routes.write_tables(bad, tmp_path / "bad.routes")
    done = command("routes", cluster, "--check", tmp_path / "bad.routes")
    assert done.returncode == 1
    assert "a cycle of 6 channels" in done.stdout
    assert "the routes can deadlock: b" in done.stderr and len(done.stderr.splitlines()) == 1


def test_smi_topology_is_read_and_plotted(command: Command, tmp_path: Path) -> None:
    names = [f"node{number}:acl0" for number in range(5)]
    text = {
        "fpgas": dict.fromkeys(names, "p"),
        "connections": {f"{a}:ch0": f"{b}:ch1" for a, b in zip(names, [*names[1:], names[0]], strict=True)},
    }
    path, picture, figures = tmp_path / "t.json", tmp_path / "t.png", tmp_path / "f.json"
    path.write_text(json.dumps(text))
    done = command("routes", path, "--plot", picture, "--json", figures)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    assert json.loads(figures.read_text())["ranks"][3] == {"rank": 3, "fpga": "node3:acl0", "program": "p"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rack49"], "no cluster named rack49 in config/clusters; did you mean rack48?"),
        (["none.toml"], "none.toml: cannot read a cluster"),
        (["bad.json"], "bad.json:3: fpgas: the rank n:a is given twice"),
        (["bad.toml"], "bad.toml:4: cables[1]: a:east has two connections"),
        (["alone.toml"], "alone.toml:6: boards.c: no path of cables connects a to this board"),
        (["torus8", "--vcs", "0"], "0 virtual channels; there must be 1 to 8"),
        (["torus8", "--down", "x9y9"], "--down x9y9: torus8 has no such board or cable"),
        (["torus8", "--plot", "a.jpg"], "use a name that ends with .png"),
        (["torus8", "--tables", "no/a.routes"], "there is no folder"),
        (["torus8", "--check", "none.routes"], "none.routes: cannot read routing tables"),
        (["torus8", "--check", "bad.toml"], "bad.toml:1: not routing tables"),
        (["torus8", "--check", "x", "--down", "x0y0"], "--check generates nothing"),
        (["torus8", "--keys", "bad.json"], "bad.json:1: not tables of keys"),
        (["ring4", "--method", "dimension", "--vcs", "1"], "dimension order needs"),
        ([], "Missing argument 'TOPOLOGY'"),
    ],
)
def test_invalid_input_is_reported_in_one_line(
    command: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "bad.json").write_text('{"fpgas": {\n"n:a": "p",\n"n:a": "p"}, "connections": {}}')
    custom = 'description = "x"\ntopology = "custom"\n'
    (tmp_path / "bad.toml").write_text(
        custom + 'cables = ["a:east - b:west",\n"a:east - b:east"]\n[boards]\na = "tiny"\nb = "tiny"\n'
    )
    (tmp_path / "alone.toml").write_text(
        custom + 'cables = ["a:east - b:west"]\nboards.a = "tiny"\nboards.b = "tiny"\nboards.c = "tiny"\n'
    )
    before = set(tmp_path.iterdir())
    done = command("routes", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert set(tmp_path.iterdir()) == before


def test_routes_of_1024_boards_take_less_than_10_s(command: Command, tmp_path: Path) -> None:
    """The bound is on processor time; the bench measures the exact time."""
    cluster = tmp_path / "torus.toml"
    cluster.write_text('description = "x"\nconfig = "de5"\ntopology = "torus 32x32 twist 8"\n')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = command("routes", cluster, "--tables", tmp_path / "a.routes")
    assert done.returncode == 0, done.stderr
    assert "all routes are shortest paths" in done.stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 10
    assert (tmp_path / "a.routes").stat().st_size > 1 << 20


def test_page_shows_the_output_of_the_command(command: Command, tmp_path: Path) -> None:
    """docs/routes.md has the output of its first example."""
    page = (ROOT / "docs" / "routes.md").read_text()
    shown = page.split("```\n$ ./gossamer routes torus8\n", 1)[1].split("```", 1)[0]
    assert command("routes", "torus8").stdout == shown
