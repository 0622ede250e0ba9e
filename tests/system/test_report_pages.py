# SPDX-License-Identifier: Apache-2.0
"""Reports in headless Chromium: they fit the window, no label is clipped or covers another, text is large enough,
labels are within the scale of their legend, and the figures are those of the statistics."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import statistics_judge
from conftest import ROOT, Command
from made_statistics import STATES, cluster
from shell.browser import Browser

import gossamer_setup
from gossamer.watch import report, statistics

TALK = ROOT / "tests" / "fixtures" / "watching" / "talk.c"
_FAULTS = """(() => {
  const faults = [], say = (what, e) => faults.push(what + ': ' + (e.textContent || e.outerHTML).slice(0, 80));
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push('the page is ' + root.scrollWidth + ' wide');
  for (const e of document.querySelectorAll('td, th, h1, h2, h3, p, b, code, .legend, .card')) {
    const r = e.getBoundingClientRect(), holder = e.closest('.wide');
    if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline') say('clipped', e);
    if (!holder && (r.right > innerWidth + 0.5 || r.left < -0.5)) say('outside', e);
    if (parseFloat(getComputedStyle(e).fontSize) < 13) say('small text', e);
  }
  for (const b of document.querySelectorAll('.card b'))
    if (!/\\s/.test(b.textContent) && b.clientHeight > 1.5 * parseFloat(getComputedStyle(b).lineHeight))
      say('broken number', b);
  for (const svg of document.querySelectorAll('svg')) {
    const box = svg.getBoundingClientRect(), texts = [];
    for (const t of svg.querySelectorAll('text')) {
      const r = t.getBoundingClientRect();
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
        say('clipped in a picture', t);
      if (parseFloat(getComputedStyle(t).fontSize) * box.width / svg.viewBox.baseVal.width < 10.9)
        say('small text in a picture', t);
      for (const [other, q] of texts)
        if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - 4 && q.top < r.bottom - 4)
          faults.push('overlap: ' + t.textContent + ' and ' + other.textContent);
      texts.push([t, r]);
    }
  }
  return faults;
})()"""
_CHARTS = "[...document.querySelectorAll('svg')].filter(s => s.viewBox.baseVal.width > 700 && !s.style.maxWidth)"


@pytest.fixture(scope="module", autouse=True)
def _group() -> None:
    gossamer_setup.require("test", "rtl")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    one = Browser(tmp_path_factory.mktemp("browser") / "profile")
    try:
        yield one
    finally:
        one.close()


def look(browser: Browser, page: Path, beside: int = 1) -> None:
    """Opens a page at two widths, light and dark, and checks its layout. A picture of a fault is left beside it."""
    for width, dark in ((1280, False), (1920, True), (1920, False), (1280, True)):
        browser.size(width, 900, dark)
        browser.open(page.resolve().as_uri())
        browser.wait_for("document.readyState === 'complete'")
        if faults := browser.value(_FAULTS):
            browser.picture(picture := page.with_suffix(f".{width}{'d' if dark else 'l'}.png"))
            raise AssertionError(f"{picture}: {faults}")
        least = 0.93 * width / beside - 30 * (beside - 1)
        assert all(one >= least for one in browser.value(f"{_CHARTS}.map(s => s.getBoundingClientRect().width)"))
        ground, ink = (
            sum(map(int, browser.value(f"getComputedStyle(document.body).{what}.match(/\\d+/g).slice(0, 3)")))
            for what in ("backgroundColor", "color")
        )
        assert (ground < 150 < 500 < ink) if dark else (ink < 150 < 700 < ground)
    assert browser.messages == []


def shown(browser: Browser, title: str) -> list[list[str]]:
    """The cells of the table after a heading."""
    cells: list[list[str]] = browser.value(
        f"""(() => {{
          const head = [...document.querySelectorAll('h2')].find(h => h.textContent === {json.dumps(title)});
          let at = head.nextElementSibling;
          while (!at.querySelector('table')) at = at.nextElementSibling;
          return [...at.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.innerText));
        }})()"""
    )
    return cells


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def check_numbers(browser: Browser, data: dict[str, Any]) -> None:
    """The table of numbers is complete, and every number is that of the file."""
    rows = {row[0]: row for row in shown(browser, "All numbers")}
    numbers = {
        name: value
        for name, value in data.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and name not in ("version", "code")
    }
    assert numbers.keys() <= rows.keys()
    for name, value in numbers.items():
        assert number(rows[name][1]) == pytest.approx(value, rel=1e-5), name
        assert rows[name][2] == data["units"].get(name, "")


def check_tiles(browser: Browser, data: dict[str, Any]) -> None:
    """The labels of tiles are rates per core, within the scale that the legend states."""
    rates = [number(one) for one in browser.value("[...document.querySelectorAll('.rate')].map(t => t.textContent)")]
    most = browser.value(
        "[...document.querySelectorAll('.legend')].find(l => l.textContent.startsWith('instructions a cycle and core'))"
        ".dataset.most"
    )
    assert float(most) == 1 and all(0 <= rate <= 1 for rate in rates)
    cores = data["cores"] / data["tiles"]
    expected = [tile["instructions"] / data["cycles"] / cores for tile in data["by_tile"]]
    assert len(rates) == len(expected)
    assert sorted(rates) == pytest.approx(sorted(expected), abs=0.0051)


def test_pages_of_cpu_runs_fit_and_show_the_statistics(command: Command, browser: Browser, tmp_path: Path) -> None:
    runs = []
    for threads in ("1", "2"):
        path = tmp_path / f"threads-{threads}.json"
        done = command("run", "pagerank", "gen:grid:width=300,height=300", "-t", threads, "-k", "0", "--stats", path,
                       "--report", path.with_suffix(".html"))  # fmt: skip
        assert done.returncode == 0, done.stderr
        runs.append(statistics_judge.read(path))
    look(browser, tmp_path / "threads-2.html")
    check_numbers(browser, runs[1])
    done = command("report", tmp_path / "threads-1.json", tmp_path / "threads-2.json", "-o", tmp_path / "both.html")
    assert done.returncode == 0, done.stderr
    look(browser, tmp_path / "both.html", beside=2)
    rows = {row[0]: row for row in shown(browser, "Differences")}
    assert number(rows["threads"][2]) == 1 and number(rows["threads"][3]) == 2 and rows["threads"][5] == "+100.0 %"
    # Charts side by side have the same scale.
    for title in ("Messages delivered over time, 1/s", "Time of each step, in ms"):
        labels = browser.value(
            f"""(() => {{
              const head = [...document.querySelectorAll('h2')].find(h => h.textContent === {json.dumps(title)});
              return [...head.nextElementSibling.querySelectorAll('svg')].map(
                s => [...s.querySelectorAll('text')].map(t => t.textContent).join(' '));
            }})()"""
        )
        assert len(labels) == 2 and labels[0] == labels[1], (title, labels)


def test_page_of_a_board_fits_and_shows_the_statistics(command: Command, browser: Browser, tmp_path: Path) -> None:
    page, stats = tmp_path / "talk.html", tmp_path / "talk.json"
    done = command("run", TALK, "--engine", "rtl", "--config", "tiny", "-D", "ALIKE", "-D", "ROUNDS=4",
                   "--report", page, "--stats", stats)  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = statistics_judge.read(stats)
    look(browser, page)
    check_numbers(browser, data)
    check_tiles(browser, data)
    # Over time the sums are those of the counters.
    assert statistics_judge.total(data, "instructions a cycle") == pytest.approx(data["instructions"], rel=1e-3)
    assert statistics_judge.total(data, "flits a cycle between tiles") == pytest.approx(
        sum(sum(tile["flits"].values()) for tile in data["by_tile"]), rel=1e-3
    )
    states = sum(statistics_judge.total(data, "threads by state", name) for name in STATES)
    assert states == pytest.approx(sum(sum(t["states"].values()) for t in data["by_tile"]) * data["cycles"], rel=0.05)


TEN_NUMBERS = """
#include <smi.h>
int main(void) {
  int rank = SMI_Comm_rank(SMI_COMM_WORLD), sum = 0;
  if (rank == 0) {
    SMI_Channel c = SMI_Open_send_channel(10, SMI_INT, 1, 0, SMI_COMM_WORLD);
    for (int i = 0; i < 10; ++i) SMI_Push(&c, &i);
    return 0;
  }
  SMI_Channel c = SMI_Open_receive_channel(10, SMI_INT, 0, 0, SMI_COMM_WORLD);
  for (int i = 0, got; i < 10; ++i) SMI_Pop(&c, &got), sum += got;
  return sum != 45;
}
"""
RANKS = """
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != 6;
}
"""


@pytest.mark.parametrize(
    ("words", "engine"),
    [
        (("run", "pagerank", "gen:grid:width=60,height=60", "-k", "0", "--engine", "shuffle"), "shuffle"),
        (("run", "hashmin", "gen:grid:width=20,height=20", "--engine", "model", "--config", "tiny"), "model"),
        (("run", "pagerank", "gen:rmat:scale=8", "--engine", "model", "--cluster", "duo12"), "model"),
        (("run", "pagerank", "gen:grid:width=60,height=60", "--engine", "distributed", "-n", "2"), "distributed"),
        (("smi", "run", "ten.c", "--ranks", "2"), "emulator"),
        (("mpi", "run", "ranks.c", "-n", "4", "--engine", "rtl", "--config", "tiny-mpi"), "rtl"),
    ],
    ids=["shuffle", "model", "model-cluster", "distributed", "emulator", "mpi"],
)
def test_page_of_every_engine_fits_and_shows_the_statistics(
    command: Command, browser: Browser, tmp_path: Path, words: tuple[str, ...], engine: str
) -> None:
    (tmp_path / "ten.c").write_text(TEN_NUMBERS)
    (tmp_path / "ranks.c").write_text(RANKS)
    done = command(*words, "--stats", "s.json", "--report", "s.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = statistics_judge.read(tmp_path / "s.json")
    assert data["engine"] == engine
    look(browser, tmp_path / "s.html")
    check_numbers(browser, data)
    text = browser.value("document.body.innerText")
    assert data["command"] in text
    if data["kind"] == "application":
        (tmp_path / "long.html").write_text(report.page([{**data, "deliveries": 98_765_432_100}]), encoding="utf-8")
        look(browser, tmp_path / "long.html")
    if engine == "model":
        nearest, *warning = data["notes"]
        assert nearest == f"prediction; nearest validated case: {data['nearest_validated']}" and nearest in text
        assert len(warning) == ("duo12" in words) and all("outside of the validated range" in one for one in warning)
        assert all(one in text for one in warning)


@pytest.mark.parametrize(("width", "boards"), [(1, 1), (4, 2), (2, 12)])
def test_pages_of_clusters_fit(browser: Browser, tmp_path: Path, width: int, boards: int) -> None:
    data = cluster(width, boards)
    stats, page = tmp_path / "s.json", tmp_path / "s.html"
    statistics.write(stats, data)
    statistics_judge.read(stats)
    page.write_text(report.page([data]), encoding="utf-8")
    look(browser, page)
    check_numbers(browser, data)
    check_tiles(browser, data)
    page.write_text(report.page([data, cluster(width, boards, 2)]), encoding="utf-8")
    look(browser, page, beside=2)
