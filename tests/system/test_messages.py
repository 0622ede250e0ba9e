# SPDX-License-Identifier: Apache-2.0
"""Messages and help: where the fault is, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Command

from gossamer import apps, config
from gossamer.apps import app as app_module
from gossamer.errors import InputError

_VERTEX = """\
#pragma once
#include <gossamer/app.h>
struct Mine {{
  // p.integer("threads", ...) in a comment is no parameter.
  void parameters(gossamer::Parameters& p) {{
    p.integer("{name}", value, 0, 9, "a value");
  }}
}};
"""


@pytest.mark.parametrize("name", ["seed", "top", "config"])
def test_a_reserved_parameter_is_rejected_before_the_compilation(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tmp_path / "mine.h"
    header.write_text(_VERTEX.format(name=name))
    monkeypatch.setattr(app_module, "_compiled", lambda *_: pytest.fail("compiled"))
    with pytest.raises(InputError, match=rf"mine\.h:6: parameter '{name}': is reserved .* rename it"):
        apps.load(header)


def test_a_shuffled_run_has_a_seed(command: Command) -> None:
    graph = "gen:rmat:scale=6,seed=1"
    runs = [command("run", "hashmin", graph, "--engine", "shuffle", "--seed", seed) for seed in ("5", "5", "6")]
    assert [(run.returncode, run.stderr) for run in runs] == [(0, "")] * 3
    counts = [re.sub(r"in [\d.]+ s", "", run.stdout) for run in runs]
    assert counts[0] == counts[1] != counts[2]
    wrong = command("run", "hashmin", graph, "--seed", "5")
    assert wrong.returncode == 2 and "--engine shuffle" in wrong.stderr and "--engine rtl --cluster" in wrong.stderr


def test_a_name_of_the_other_kind_is_named_as_such() -> None:
    with pytest.raises(InputError, match=r"no configuration named pair .*; pair is a cluster: --cluster pair"):
        config.load("pair")
    with pytest.raises(InputError, match=r"tiny is the configuration of a board: --config tiny"):
        config.load_cluster("tiny")
    with pytest.raises(InputError, match=r"tiny-mpi is the configuration .*; clusters of its boards: mpi4"):
        config.load_cluster("tiny-mpi")


def test_help_has_words_on_every_application_and_suite(command: Command) -> None:
    shown = command("run", "--help").stdout
    for name in apps.names():
        assert re.search(rf"^  {name} +[A-Z][^\n]{{15,}}", shown, re.MULTILINE), name
        assert 15 < len(apps.about(name)) < 200 and "  " not in apps.about(name)
    assert max(map(len, shown.splitlines())) <= 90
    suites = command("bench", "--list").stdout.splitlines()[:-1]
    assert all(re.fullmatch(r"\w+ +\S.{15,}", line) for line in suites)
    rows = command("bench", "tile", "--list").stdout.splitlines()
    assert all(re.fullmatch(r"\S+ +\S.{10,}", line) for line in rows)


@pytest.mark.parametrize("name", ["dpd", "hashmin"])
def test_the_example_in_the_help_of_an_application_runs(command: Command, name: str) -> None:
    shown = command("run", name, "--help").stdout
    example = re.search(r"^  \./gossamer (run \S+ .*)$", shown, re.MULTILINE)
    assert example is not None
    done = command(*example[1].split())
    assert done.returncode == 0, done.stderr


def test_a_board_too_small_for_mpi_names_the_source_and_larger_ones(command: Command, tmp_path: Path) -> None:
    source = tmp_path / "hello.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        'int main(int argc, char **argv) { MPI_Init(&argc, &argv); printf("%d\\n", argc); return MPI_Finalize(); }\n'
    )
    done = command("mpi", "run", source, "-n", "2", "--engine", "rtl", "--config", "tiny")
    assert done.returncode == 2
    assert re.fullmatch(
        rf"gossamer: error: {re.escape(str(source))}: does not fit: .* of tiny's instruction memory; "
        r"tiny-mpi .*hold.* it: --config tiny-mpi, or --cluster .*mpi4.*\n",
        done.stderr,
    ), done.stderr
