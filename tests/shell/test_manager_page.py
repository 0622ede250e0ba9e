# SPDX-License-Identifier: Apache-2.0
"""The manager's page in headless Chromium, its JSON, its metrics read by Prometheus' parser."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from shell.browser import Browser
from shell.managed_cluster import joined, managed, states, submit, wait_for_end, wait_until
from shell.shell_cluster import Cluster, mac, start

import gossamer_setup
from gossamer.errors import InputError
from gossamer.paths import ROOT
from gossamer.shell.host import mac_text
from gossamer.shell.manager import Manager
from gossamer.shell.sensors import HwmonSensors
from gossamer.shell.store import Store

TOKEN = "a token of the tests"


@pytest.fixture(scope="module", autouse=True)
def _group() -> None:
    gossamer_setup.require("core", "cluster")


def sensors(folder: Path, boards: int) -> HwmonSensors:
    """Files as Linux' hwmon has them, for boards 1 to ``boards``."""
    folders = {}
    for number in range(1, boards + 1):
        one = folders[mac(number)] = folder / f"hwmon{number}"
        one.mkdir()
        for name, value in {
            "temp1_input": 40_200 + 1000 * number,
            "power1_average": 21_400_000,
            "fan1_input": 3120,
        }.items():
            (one / name).write_text(f"{value}\n")
    return HwmonSensors(folders)


@contextmanager
def served(tmp_path: Path, boards: int, *, started: int | None = None) -> Iterator[tuple[Cluster, Manager, str]]:
    """Boards, their manager, and the address of its page."""
    from gossamer.shell import web

    cluster = Cluster(tmp_path)
    try:
        start(cluster, boards if started is None else started)
        with managed(cluster, boards, sensors=sensors(tmp_path, boards)) as manager:
            server = web.Server(manager.snapshot, cluster.folder / "state.sqlite", TOKEN)
            try:
                yield cluster, manager, server.address
            finally:
                server.close()
    finally:
        cluster.end()


def get(address: str, method: str = "GET", **headers: str) -> tuple[int, bytes, Any]:
    request = urllib.request.Request(address, method=method, headers=headers, data=b"" if method == "POST" else None)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def test_page_shows_boards_and_jobs_and_acts_with_the_token(tmp_path: Path) -> None:
    with served(tmp_path, 3) as (cluster, manager, address):
        store = Store(cluster.folder / "state.sqlite")
        joined(manager, 3)
        done, endless = submit(store, 40), submit(store, 2, kernel=3, timeout=600.0, owner="<b>anna</b>")
        assert wait_for_end(store, done) == "done"
        # Three failures of a board, as the manager counts them.
        for _ in range(3):
            store.failed(mac(3), 3, 600.0)
        store.lease("bert", 1, 600.0, [mac(2)])
        wait_until(lambda: states(manager).get(mac_text(mac(3))) == "quarantine", "the quarantine is shown")
        browser = Browser(tmp_path / "profile")
        try:
            browser.size(1280, 900)
            browser.open(address)
            browser.wait_for("document.querySelectorAll('#boards tbody tr').length === 3")
            rows = browser.value("[...document.querySelectorAll('#boards tbody tr')].map(r => r.innerText)")
            for number, row in enumerate(rows, 1):
                assert mac_text(mac(number)) in row and f"{40 + number} °C" in row
                assert "21.4 W" in row and "3120 rpm" in row
            assert "quarantine" in rows[2] and "bert" in rows[1]
            jobs = browser.value("[...document.querySelectorAll('#jobs tbody tr')].map(r => r.innerText)")
            assert "40 of 40" in jobs[1] and "done" in jobs[1] and "running" in jobs[0]
            # A name is text, never a part of the page.
            assert "<b>anna</b>" in jobs[0] and browser.value("document.querySelectorAll('#jobs b').length") == 0
            assert "has joined" in browser.value("document.getElementById('log').innerText")
            assert browser.value("document.querySelectorAll('button').length") == 0
            # Live: a job that is submitted later appears.
            browser.value("document.title = 'the same page'")
            later = submit(store, 1)
            browser.wait_for(f"document.querySelector('#jobs tbody tr td').innerText === '{later}'")
            assert browser.value("document.title") == "the same page"
            browser.value(
                "token.value = 'wrong'; token.dispatchEvent(new Event('input')); window.confirm = () => true;"
                "document.querySelector('#boards button').click()"
            )
            browser.wait_for("document.getElementById('said').innerText.includes('token is wrong')")
            browser.messages.clear()  # the browser reports the answer 401
            assert states(manager)[mac_text(mac(3))] == "quarantine"
            browser.value(f"token.value = '{TOKEN}'; document.querySelector('#boards button').click()")
            wait_until(lambda: states(manager)[mac_text(mac(3))] != "quarantine", "the board is readmitted")
            browser.value(f"[...document.querySelectorAll('#jobs button')].find(b => b.closest('tr').cells[0].innerText"
                          f" === '{endless}').click()")  # fmt: skip
            assert wait_for_end(store, endless) == "cancelled"
            browser.wait_for("document.querySelectorAll('#jobs button').length < 2")
            # Nothing is cut off beside the page, in a wide and in a narrow window.
            for width in (1600, 900, 380):
                browser.size(width, 900)
                assert browser.value("document.documentElement.scrollWidth <= innerWidth"), width
            assert browser.messages == []
            assert browser.value("performance.getEntriesByType('resource').map(e => new URL(e.name).pathname)") and set(
                browser.value("performance.getEntriesByType('resource').map(e => new URL(e.name).host)")
            ) == {address.split("/")[2]}
        finally:
            browser.close()
            store.close()


def test_page_has_no_external_resources() -> None:
    text = (ROOT / "python/gossamer/shell/page.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)\s*=\s*[\"'](?!data:)|url\(|@import|https?:", text)


def test_only_posts_with_the_token_change_anything(tmp_path: Path) -> None:
    with served(tmp_path, 1) as (cluster, manager, address):
        joined(manager, 1)
        store = Store(cluster.folder / "state.sqlite")
        job = submit(store, 1, kernel=3, timeout=600.0)
        bearer = f"Bearer {TOKEN}"
        for method, path, headers, status in (
            ("POST", f"cancel/{job}", {}, 401),
            ("POST", f"cancel/{job}", {"Authorization": f"Bearer {TOKEN}x"}, 401),
            ("POST", f"cancel/{job}", {"Authorization": f"Basic {TOKEN}"}, 401),
            ("POST", f"cancel/{job}", {"Authorization": "Bearer \xff\xfe"}, 401),
            ("GET", f"cancel/{job}", {"Authorization": bearer}, 404),
            ("PUT", f"cancel/{job}", {"Authorization": bearer}, 501),
            ("POST", "cancel/77", {"Authorization": bearer}, 404),
            ("POST", "cancel/-1", {"Authorization": bearer}, 404),
            ("POST", "cancel/" + "9" * 400, {"Authorization": bearer}, 404),
            ("POST", "readmit/zz", {"Authorization": bearer}, 400),
            ("POST", f"readmit/{mac_text(mac(1))}", {"Authorization": bearer}, 404),
            ("POST", "../../etc/passwd", {"Authorization": bearer}, 404),
            ("GET", "..%2f..%2fetc/passwd", {}, 404),
        ):
            assert get(address + path, method, **headers)[0] == status, (method, path)
        assert store.job_state(job) in ("waiting", "running")
        status, body, sent = get(address + f"cancel/{job}", "POST", Authorization=bearer)
        assert (status, json.loads(body)) == (200, {"message": f"job {job} is cancelled"})
        assert store.job_state(job) == "cancelled" and sent["Content-Security-Policy"].startswith("default-src 'none'")
        # What is no HTTP, or half of it, holds up nobody.
        host, port = address.split("/")[2].split(":")
        with socket.create_connection((host, int(port))) as half, socket.create_connection((host, int(port))) as wrong:
            half.sendall(b"GET / HT")
            wrong.sendall(b"\0\xff" * 1000)
            assert get(address + "state.json")[0] == 200
        store.close()


def test_metrics_are_read_by_the_parser_of_prometheus(tmp_path: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    with served(tmp_path, 2) as (cluster, manager, address):
        joined(manager, 2)
        store = Store(cluster.folder / "state.sqlite")
        assert wait_for_end(store, submit(store, 30)) == "done"
        wait_until(lambda: sum(one["tasks"] for one in manager.snapshot()["boards"]) == 30, "the snapshot is new")
        status, body, headers = get(address + "metrics")
        assert status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        families = {one.name: one for one in text_string_to_metric_families(body.decode())}
        names = [line.split()[2] for line in body.decode().splitlines() if line.startswith("# TYPE")]
        assert len(names) == len(set(names)) == len(families)
        for name, family in families.items():
            # The rules of promtool check metrics: base units, help texts, counters end in _total.
            assert re.fullmatch(r"gossamer_[a-z_]+", name) and family.documentation and family.type != "unknown"
            assert not re.search(r"_(milli|micro|kilo|mega|ms|kb|minutes|hours|percent)", name), name
            for sample in family.samples:
                assert (family.type == "counter") == sample.name.endswith("_total")

        def value(name: str, **labels: str) -> float:
            (found,) = [one.value for one in families[name].samples if one.labels == labels]
            return float(found)

        boards = [mac_text(mac(number)) for number in (1, 2)]
        assert sum(value("gossamer_board_tasks", board=board) for board in boards) == 30
        assert [value("gossamer_board_temperature_celsius", board=board) for board in boards] == [41.2, 42.2]
        assert value("gossamer_tasks", state="done") == 30 and value("gossamer_jobs", state="done") == 1
        assert sum(one.value for one in families["gossamer_boards"].samples) == 2
        # The manager's count of bytes against what the board has counted itself, in frames of 64 to 1,514 bytes.
        for board in boards:
            frames = value("gossamer_board_frames_sent", board=board)
            assert 60 * frames <= value("gossamer_board_link_received_bytes", board=board) <= 1514 * (frames + 500)
        store.close()


def test_wrong_addresses_and_tokens_are_refused_in_one_line(tmp_path: Path) -> None:
    from gossamer.shell import web

    made = web.token(tmp_path / "token")
    assert web.token(tmp_path / "token") == made and len(made) >= 32
    assert (tmp_path / "token").stat().st_mode & 0o777 == 0o600
    (tmp_path / "token").chmod(0o644)
    (tmp_path / "short").touch(0o600)
    for file, said in (
        ("token", "other users can read the token"),
        ("short", "at least 16"),
        ("no/such", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            web.token(tmp_path / file)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for bind, number in (("127.0.0.1", port), ("192.0.2.1", 0), ("no such host", 0)):
            with pytest.raises(InputError, match="cannot serve the page there") as caught:
                web.Server(dict, tmp_path / "s", TOKEN, bind, number)
            assert "\n" not in str(caught.value)


def test_page_is_served_at_addresses_of_both_families(tmp_path: Path) -> None:
    from gossamer.shell import web

    for bind, host in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")):
        try:
            server = web.Server(dict, tmp_path / "state.sqlite", TOKEN, bind)
        except InputError:
            # A machine without IPv6.
            assert bind == "::1"
            continue
        assert server.address.startswith(f"http://{host}:")
        status, body, _ = get(server.address)
        assert status == 200 and body == (ROOT / "python/gossamer/shell/page.html").read_bytes()
        server.close()
