# SPDX-License-Identifier: Apache-2.0
"""The list of formats agrees with the header, the parser table, the guide and the help."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from gossamer.cli import graph as graph_command
from gossamer.cli import main
from gossamer.errors import InputError
from gossamer.graph import FORMATS, read_graph
from gossamer.graph._formats import WRITTEN

ROOT = Path(__file__).resolve().parents[2]


def test_numbers_match_the_header() -> None:
    header = (ROOT / "include/gossamer/graph/graph.h").read_text()
    body = re.search(r"enum gs_graph_format \{(.*?)\};", header, re.DOTALL)
    assert body is not None
    numbers = sorted(int(number) for number in re.findall(r"= (\d+),", body[1]))
    assert numbers == sorted(form.number for form in FORMATS.values() if form.number)


def test_every_number_has_a_parser() -> None:
    """The library's table has an entry for each format of the text parser."""
    table = (ROOT / "src/graph/parser.cc").read_text()
    made = re.findall(r"\{GS_\w+, (make_\w+)\}", table)
    assert len(made) == len([form for form in FORMATS.values() if form.number])


def test_guide_lists_every_format() -> None:
    page = (ROOT / "docs/graphs.md").read_text()
    table = page[page.index("## Files") : page.index("## Edges that are kept")]
    for form in FORMATS.values():
        assert re.search(rf"^\| `?{re.escape(form.title)}\b", table, re.MULTILINE | re.IGNORECASE), form.title


@pytest.mark.parametrize("arguments", [["graph", "--help"], ["run", "--help"], ["graph", "info", "--help"]])
def test_help_lists_every_format(arguments: list[str]) -> None:
    shown = CliRunner().invoke(main, arguments, terminal_width=200)
    assert shown.exit_code == 0
    for form in FORMATS.values():
        assert (form.title if arguments[:2] == ["graph", "--help"] else form.name) in shown.output


def test_help_lists_every_extension_that_is_written() -> None:
    shown = CliRunner().invoke(graph_command.command, ["convert", "--help"], terminal_width=200)
    for ending in WRITTEN:
        assert f" {ending}" in shown.output


def test_unknown_format_is_reported_with_the_valid_ones() -> None:
    with pytest.raises(InputError) as caught:
        read_graph("none", format="csv")
    for name in FORMATS:
        assert name in str(caught.value)
