# SPDX-License-Identifier: Apache-2.0
"""The reproduction report: each table and figure is there, each number is that of its row, and the page is readable.

The list of tables and figures is written from the papers, not from the project's data. The page's numbers are computed
again from the JSON files, with a parser and a formatter of this test.
"""

from __future__ import annotations

import html.parser
import json
import math
import re
import shlex
import socket
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command
from shell.browser import Browser

from gossamer.errors import InputError
from gossamer.reproduce import facts, measuring, row_files

FOLDER = ROOT / "python" / "gossamer" / "reproduce"
EXPECTED = {
    "tinsel": [*(f"Figure {n}" for n in range(1, 14))],
    "multicast": [*(f"Figure {n}" for n in range(1, 5)), *(f"Figure 5{panel}" for panel in "abcdefg"), "Figure 6"],
    "matching": [*(f"Figure {n}" for n in range(1, 6)), "Table I"],
    "smi": [*(f"Figure {n}" for n in range(1, 17)), *(f"Table {n}" for n in range(1, 5))],
    "saf": [*(f"Figure {n}" for n in range(1, 8)), "Table I", "Table II", "Table III", "Table IV"],
}
"""The tables and figures of the five papers."""


class Page(html.parser.HTMLParser):
    """The page's items, numbers, marks and tables, as they are written in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.items: dict[str, list[str]] = {}
        self.numbers: list[tuple[dict[str, str], str]] = []
        self.marks: list[tuple[dict[str, str], int]] = []
        self.charts: list[list[tuple[float, str]]] = []
        """Ticks of the y axis of each chart: position and label."""
        self.rows: list[list[str]] = []
        self.commands: set[str] = set()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self._open: list[tuple[str, dict[str, str]]] = []
        self._text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.append(given["id"])
        if "data-item" in given:
            self.items.setdefault(given["id"].split("-")[0], []).append(given["data-item"])
        if tag == "svg" and given.get("class") == "chart":
            self.charts.append([])
        if tag == "circle" and "data-row" in given and self.charts:
            self.marks.append((given, len(self.charts) - 1))
        if tag == "tr":
            self.rows.append([])
        for name in ("href", "src"):
            if name in given:
                self.addresses.append(given[name])
        if tag in ("a", "td", "text", "code"):
            self._open.append((tag, given))
            self._text.append("")

    def handle_data(self, data: str) -> None:
        self._text = [text + data for text in self._text]

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("a", "td", "text", "code"):
            return
        (opened, given), text = self._open.pop(), self._text.pop()
        assert opened == tag
        if tag == "a" and "data-row" in given:
            self.numbers.append((given, text))
        elif tag == "td":
            self.rows[-1].append(text)
        elif tag == "text" and given.get("text-anchor") == "end":
            self.charts[-1].append((float(given["y"]) - 4, text))
        elif tag == "code":
            self.commands.add(text)


def files(*more: Path) -> dict[str, dict[str, Any]]:
    """The rows that a page is made from, by SUITE:NAME; later files replace earlier ones."""
    found: dict[str, dict[str, Any]] = {}
    for path in (FOLDER / "documented.json", FOLDER / "measured.json", *more):
        for row in json.loads(path.read_text(encoding="utf-8")):
            if row["value"] is not None or f"{row['suite']}:{row['name']}" not in found:
                found[f"{row['suite']}:{row['name']}"] = row
    return found


def at(row: dict[str, Any], path: str) -> float:
    found: Any = row
    for part in path.split("."):
        found = found[part]
    return float(found)


def expected(rows: dict[str, dict[str, Any]], how: dict[str, str]) -> float:
    """The number that a mark or cell with these attributes must show."""
    number = at(rows[how["data-row"]], how["data-key"])
    if how["data-per"]:
        return float(how["data-per"]) / number
    divisor = rows[how["data-over-row"] or how["data-row"]]
    if how["data-over"] or how["data-over-row"]:
        number /= at(divisor, how["data-over"] or "value")
    return number * float(how["data-scale"])


def shows(text: str, number: float) -> bool:
    """Whether a text is the number with at least three of its digits."""
    written = float(text.replace(",", ""))
    if number == 0:
        return written == 0
    digits = len(re.sub(r"e.*|[^0-9]", "", text).lstrip("0"))
    exact = abs(Decimal(text.replace(",", "")) - Decimal(number)) <= abs(Decimal(number)) * Decimal("0.0005")
    return exact and (digits >= 3 or math.isclose(written, number, rel_tol=1e-9) or abs(number - written) < 0.0005)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The page without options, in a fresh process, and its text."""
    import subprocess
    import sys

    path = tmp_path_factory.mktemp("page") / "page.html"
    done = subprocess.run(
        [sys.executable, str(ROOT / "gossamer"), "reproduce", "-o", str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return path, path.read_text(encoding="utf-8")


def test_page_has_every_table_and_figure_of_the_papers(page: tuple[Path, str]) -> None:
    found = Page(page[1]).items
    assert list(found) == list(EXPECTED)
    for paper, numbers in EXPECTED.items():
        assert len(found[paper]) == len(set(found[paper])), paper
        figures = [number for number in found[paper] if not number.startswith("Section")]
        assert sorted(figures) == sorted(numbers), paper


def test_each_number_and_mark_is_that_of_its_row(page: tuple[Path, str]) -> None:
    parsed, rows = Page(page[1]), files()
    assert len(parsed.numbers) > 80 and len(parsed.marks) > 80
    for how, text in parsed.numbers:
        assert shows(text, expected(rows, how)), (how, text, expected(rows, how))
    sizes = {"k": 1e3, "M": 1e6, "G": 1e9}
    for how, chart in parsed.marks:
        number = expected(rows, how)
        ticks = [(y, float(text.rstrip("kMG")) * sizes.get(text[-1], 1.0)) for y, text in parsed.charts[chart] if text]
        (y0, v0), (y1, v1) = ticks[0], ticks[-1]
        y = float(how["cy"])
        share = (y - y0) / (y1 - y0)
        # Ticks of an axis from zero are linear; without zero, the axis is logarithmic.
        if v0 == 0:
            assert abs(share - number / v1) < 0.01, (how, number)
        else:
            assert abs(share - math.log(number / v0) / math.log(v1 / v0)) < 0.01, (how, number)


def test_each_shown_number_states_its_origin(page: tuple[Path, str]) -> None:
    rows = [row for row in Page(page[1]).rows if len(row) in (5, 6) and not row[-1].startswith("./gossamer bench")]
    origins = [name for name, _ in facts.ORIGINS.values()]
    shown = 0
    for row in rows:
        ours, how = row[-3], row[-1]
        if re.fullmatch(r"[\d,.e+-]+", ours):
            shown += 1
            assert any(how.startswith(origin) for origin in origins), row
        else:
            assert how == "" and ("not" in ours or "skipped" in ours or "no row" in ours), row
    assert shown > 80


def test_state_of_each_item_follows_from_its_numbers(page: tuple[Path, str]) -> None:
    counted: dict[tuple[str, str], int] = {}
    blocks = re.split(r'(?=<div class="item")', page[1])[1:]
    items = {f"{paper.key}-{item.anchor}": (paper, item) for paper in facts.papers() for item in paper.items}
    for block in blocks:
        block = block.split("</section>")[0]
        found = re.match(r'<div class="item" id="([^"]+)" data-item="[^"]+" data-state="(\w+)"', block)
        assert found is not None
        name, state = found[1], found[2]
        paper, item = items[name]
        counted[paper.key, state] = counted.get((paper.key, state), 0) + 1
        cells = [row for row in Page(block).rows if len(row) == 5]
        absent = [row for row in cells if not re.fullmatch(r"[\d,.e+-]+", row[2])]
        marked = {how["data-row"] for how, _ in Page(block).marks}
        curves = [one for chart in item.charts for one in chart.series if one.source == "ours"]
        undrawn = [one.name for one in curves if not any(one.row.replace("{}", f"{x:g}") in marked for x in one.at)]
        if item.kind == "drawing":
            assert state == "drawing" and not cells
        elif len(absent) == len(cells) and len(undrawn) == len(curves):
            assert state == "none", name
        elif absent or undrawn or "Missing: " in block:
            assert state == "part", name
        else:
            assert state == item.scope, name
        for value, row in zip(item.values, cells, strict=True):
            assert row[0].startswith(value.what)
            if row not in absent and value.better and value.paper:
                ours, theirs = float(row[2].replace(",", "")), value.paper
                gain = ours / theirs if value.better == "higher" else theirs / ours
                assert row[3].endswith("better" if gain > 1.005 else "worse" if gain < 0.995 else "equal"), row
    cells_of = re.findall(r'<tr data-paper="(\w+)">(.*?)</tr>', page[1])
    assert [key for key, _ in cells_of] == list(EXPECTED)
    for key, row in cells_of:
        for state, count in re.findall(r'data-state="(\w+)">(\d+|–)<', row):
            assert counted.get((key, state), 0) == (0 if count == "–" else int(count)), (key, state)


def test_documented_numbers_are_in_the_pages_that_they_name() -> None:
    for row in json.loads((FOLDER / "documented.json").read_text(encoding="utf-8")):
        found = re.search(r"copied from (\S+), \d{4}-\d\d-\d\d", row["documented"])
        assert found is not None, row
        text = (ROOT / found[1]).read_text(encoding="utf-8").replace(",", "")
        value = row["value"]
        forms = {f"{value:g}", f"{value:.0f}" if value == int(value) else "", f"{value:.2f}", f"{value:.3f}"} - {""}
        assert any(re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", text) for form in forms), row


def test_page_needs_no_network_and_its_links_lead_somewhere(page: tuple[Path, str]) -> None:
    parsed = Page(page[1])
    assert not re.search(r"url\(|@import|<script|https?:", page[1])
    assert all(address.startswith("#") for address in parsed.addresses)
    assert {address[1:] for address in parsed.addresses} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))


def test_named_pages_exist_and_named_rows_are_those_of_a_suite(page: tuple[Path, str], command: Command) -> None:
    for paper in facts.papers():
        for item in paper.items:
            assert all((ROOT / name).is_file() for name in item.pages), item.number
    names: dict[str, list[str]] = {}
    planned = re.compile(r"^(pagerank\.de5x12|study\.(strong|dpd\.n50000|.*rack48))")
    for text in Page(page[1]).commands:
        words = shlex.split(text)
        if words[:2] != ["./gossamer", "bench"] or "--only" not in words:
            continue
        which, only = words[2 : words.index("--only")], words[words.index("--only") + 1]
        if (suite := " ".join(which)) not in names:
            done = command("bench", *which, "--list")
            assert done.returncode == 0
            names[suite] = [line.split()[0] for line in done.stdout.splitlines()]
        assert any(re.search(only, name) for name in names[suite]), text
    for paper in facts.papers():
        for value in (value for item in paper.items for value in item.values if value.row):
            suite, colon, name = value.row.partition(":")
            assert name in names[suite] if colon else planned.match(value.row), value


def test_predictions_have_their_places_and_state_their_error(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    row: dict[str, Any] = {
           "suite": "polite", "name": "pagerank.de5x12-s", "value": 0.3125, "unit": "s", "reference": None,
           "ratio": None, "config": {"date": "2026-01-02", "cpu": "A <b>", "error": 0.123}}  # fmt: skip
    assert _cells(_made(command, path), "50,653 cells on 48 boards without")[2] == "not yet predicted"
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.json").write_text(json.dumps([row]))
    text = _made(command, path, "--rows", tmp_path / "rows")
    there = _cells(text, "time, with barriers")
    assert there[2] == "0.3125" and there[3] == "0.638better"
    assert there[4].startswith("predicted by the model, validated error 12.3 %") and "given file" in there[4]
    assert "A <b>" not in text
    row["config"]["warning"] = "12 boards; at most <1>"
    (tmp_path / "rows" / "a.json").write_text(json.dumps([row]))
    beyond = _cells(_made(command, path, "--rows", tmp_path / "rows"), "time, with barriers")[4]
    assert "outside of what was validated: 12 boards; at most <1>" in beyond
    # Without an error of its own, a prediction has the worst one of the model's validation.
    del row["config"]["error"]
    worst = {**row, "suite": "model", "name": "model.error.worst", "value": 0.19}
    for rows, said in (([row], "error not stated"), ([row, worst], "validated error 19.0 %")):
        (tmp_path / "rows" / "a.json").write_text(json.dumps(rows))
        assert said in _cells(_made(command, path, "--rows", tmp_path / "rows"), "time, with barriers")[4]


def _cells(text: str, what: str) -> list[str]:
    """The cells of the only number that begins so."""
    (cells,) = (cells for cells in Page(text).rows if cells[:1] and cells[0].startswith(what))
    return cells


def _made(command: Command, path: Path, *words: str | Path) -> str:
    done = command("reproduce", "-o", path, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return path.read_text(encoding="utf-8")


def test_given_rows_replace_shipped_ones_and_a_skipped_row_does_not(command: Command, tmp_path: Path) -> None:
    name = "shell:study.cost.4"
    before = next(row for row in files().values() if f"{row['suite']}:{row['name']}" == name)
    skipped = {**before, "value": None, "skipped": "no money"}
    given = tmp_path / "a.json"
    for row, value in ((skipped, before["value"]), ({**before, "value": 77.5}, 77.5)):
        given.write_text(json.dumps([row]))
        parsed = Page(_made(command, tmp_path / "page.html", "--rows", given))
        texts = [text for how, text in parsed.numbers if how["data-row"] == name]
        assert texts and all(shows(text, value) for text in texts)
    # A row that only a file without a value has says why.
    given.write_text(json.dumps([{**skipped, "suite": "multicast", "name": "study.dpd-gals.rack48.n50653"}]))
    text = _made(command, tmp_path / "page.html", "--rows", given)
    assert _cells(text, "50,653 cells on 48 boards without")[2] == "skipped: no money"


def test_of_several_files_the_latest_measurement_counts(tmp_path: Path) -> None:
    row = {"suite": "s", "name": "n", "unit": "s", "value": 1.0, "config": {"date": "2026-02-01"}}
    older = {**row, "value": 2.0, "config": {"date": "2026-01-31"}}
    skipped = {**row, "value": None, "config": {"date": "2026-03-01"}, "skipped": "why"}
    for order in ((row, older, skipped), (skipped, older, row), (older, row, skipped)):
        for number, one in enumerate(order):
            (tmp_path / f"{number}.json").write_text(json.dumps([one]))
        rows = row_files.Rows(row_files.read_folder(tmp_path))
        found = rows.find("s:n")
        assert found is not None and found.number("value") == 1.0 and rows.find("n") == found
    # The user's own rows count, whatever their date; a name that two suites have is none of them.
    rows.add([row_files.Row("s", "n", older, row_files.GIVEN, "a"), row_files.Row("t", "n", row, row_files.GIVEN, "a")])
    found = rows.find("s:n")
    assert found is not None and found.number("value") == 2.0 and rows.find("n") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1", "not JSON"),
        ('{"a": 1}', "not a list of rows"),
        ('[{"suite": "x", "name": "y"}]', "entry 1 is not a row"),
        ('[{"suite": "x", "name": "y", "unit": "s", "config": {}, "value": "3"}]', "entry 1 is not a row"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_wrong_row_file_is_one_clear_line(command: Command, tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "a.json").write_text(content)
    done = command("reproduce", "-o", tmp_path / "page.html", "--rows", tmp_path)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rows", "missing"), "no such folder"),
        (("--rows", "."), "no file *.json"),
        (("-o", "missing/page.html"), "missing"),
        (("--update",), "--rows DIR or --measure"),
    ],
)
def test_wrong_options_are_one_clear_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("reproduce", *words)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_wrong_fact_names_file_item_and_key(tmp_path: Path) -> None:
    text = (FOLDER / "papers" / "saf-ethernet.toml").read_text(encoding="utf-8")
    path = tmp_path / "saf-ethernet.toml"
    for was, becomes, said in (
        ('unit = "s"', 'units = "s"', "saf-ethernet.toml, Figure 6: unknown key 'units'"),
        ('how = "boards"', 'how = "guess"', "saf-ethernet.toml, Figure 6: how 'guess' is none of"),
        ('kind = "drawing"\n', "", "saf-ethernet.toml, Figure 1: missing key 'kind'"),
    ):
        path.write_text(text.replace(was, becomes, 1), encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(said)):
            facts.read(path)


def test_quick_rows_are_measured_by_the_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "QUICK", (("shell", r"^study\.cost\.(4|8)$"),))
    assert [(row.label, row.source) for row in measuring.quick()] == [
        ("shell:study.cost.4", row_files.NOW), ("shell:study.cost.8", row_files.NOW),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 1920])
def test_page_is_readable(page: tuple[Path, str], browser: Browser, width: int, dark: bool) -> None:
    browser.size(width, 1000, dark)
    browser.open(page[0].as_uri())
    browser.wait_for("document.readyState === 'complete' && document.querySelectorAll('svg.chart').length > 10")
    assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    # No label is cut off by its chart, and none covers another.
    wrong = browser.value(
        "(() => { const found = [];"
        "for (const chart of document.querySelectorAll('svg.chart')) {"
        "  const frame = chart.getBoundingClientRect();"
        "  const boxes = [...chart.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);"
        "  for (const [text, box] of boxes) {"
        "    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1"
        "        || box.bottom > frame.bottom + 1) found.push([chart.ariaLabel, text, 'cut']);"
        "    for (const [other, b] of boxes) if (other !== text && box.left < b.right - 1 && b.left < box.right - 1"
        "        && box.top < b.bottom - 2 && b.top < box.bottom - 2) found.push([chart.ariaLabel, text, other]); }"
        "  for (const mark of chart.querySelectorAll('circle')) { const b = mark.getBoundingClientRect();"
        "    if (b.left < frame.left || b.right > frame.right || b.top < frame.top || b.bottom > frame.bottom)"
        "      found.push([chart.ariaLabel, 'mark']); } }"
        "return found; })()"
    )
    assert wrong == []
    # No cell of a table and no text of an item leaves its box.
    wide = "[...document.querySelectorAll('.item, .item p, td, th')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert browser.value(f"{wide}.map(e => e.innerText.slice(0, 80))") == []
    assert browser.value("[...document.querySelectorAll('.item .wide')].filter(e => e.scrollWidth > e.clientWidth + 1)"
                         ".map(e => e.innerText.slice(0, 80))") == []  # fmt: skip
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 200) is dark
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    assert browser.messages == []


def test_page_is_made_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from gossamer.cli.reproduce import command as reproduce

    def refuse(*_: object) -> None:
        raise AssertionError("the page needs no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    done = CliRunner().invoke(reproduce, ["-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0 and "tables and figures" in done.output
