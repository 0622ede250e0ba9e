# SPDX-License-Identifier: Apache-2.0
"""Displays of a simulation: text pages that fit the terminal, self-contained HTML reports, and parsed snapshots."""

from __future__ import annotations

import html.parser
import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gossamer.watch import _charts, _html, cables, dashboard, report, snapshots, statistics, streams
from gossamer.watch.snapshots import LINK_SUMS, Link, Snapshot, Tile

NAMES = ("runs", "memory", "float", "receive", "send", "barrier", "other")


def snapshot_json(
    boards: int = 1, tiles: int = 2, width: int = 2, cycle: int = 10_000, seed: int = 1
) -> dict[str, Any]:
    """A snapshot as a simulator may send it."""
    random.seed(seed)
    return {
        "program": "prog.c", "config": "tiny", "clock_mhz": 250.0, "begun": 5.0, "pid": 77, "state": "runs",
        "time": cycle / 50_000, "first": 1000, "cycle": 1000 + cycle, "board_tiles": tiles, "width": width,
        "threads": 16, "cores": 2, "shares": list(NAMES),
        "boards": [f"b{b}" for b in range(boards)],
        "links": [
            {"board": b, "link": 0, "up": b != 1, **{name: random.randrange(1000) for name in LINK_SUMS}}
            for b in range(boards if boards > 1 else 0)
        ],
        "tiles": [
            {
                "started": 16, "issued": random.randrange(2 * cycle), "skipped": cycle // 3, "looks": 100,
                "shares": [random.randrange(200) for _ in NAMES],
                "flits": [random.randrange(cycle) for _ in range(4)],
            }
            for _ in range(boards * tiles)
        ],
    }  # fmt: skip


def snapshot(**how: int) -> Snapshot:
    return snapshots.parse(json.dumps(snapshot_json(**how)))


def test_snapshot_of_a_simulator_is_parsed() -> None:
    one = snapshot(boards=3, tiles=4)
    assert (one.pid, one.cycle, one.boards, one.place(6)) == (77, 10_000, 3, (1, 0, 1))
    assert one.about == {
        "program": "prog.c",
        "config": "tiny",
        "clock_mhz": 250.0,
        "begun": 5.0,
        "boards": ["b0", "b1", "b2"],
    }
    assert [link.up for link in one.links] == [True, False, True]
    tile = Tile(16, 5, 10, dict.fromkeys(NAMES, 20))
    assert tile.threads("memory") == 2 and tile.waiting == 12
    for text in ("", "{", "[]", "{}", '{"shares": 3}', json.dumps({**snapshot_json(), "tiles": [{}]})):
        with pytest.raises(ValueError, match=r"."):
            snapshots.parse(text)


def test_difference_of_two_snapshots_handles_wrap_and_restart() -> None:
    early, late = snapshot(boards=2), snapshot(boards=2)
    later = [replace(tile, instructions=tile.instructions + 300, samples=tile.samples + 10) for tile in late.tiles]
    # A link's counter has 32 bits.
    first = replace(early.links[0], sums={**early.links[0].sums, "bytes_out": 2**32 - 5})
    early = replace(early, links=[first, *early.links[1:]])
    last = replace(late.links[0], sums={**late.links[0].sums, "bytes_out": 7})
    late = replace(late, tiles=later, cycle=late.cycle + 1000, time=late.time + 0.5, links=[last, *late.links[1:]])
    between = snapshots.between(early, late)
    assert (between.cycle, round(between.time, 6)) == (1000, 0.5)
    assert all((tile.instructions, tile.samples) == (300, 10) for tile in between.tiles)
    assert between.links[0].sums["bytes_out"] == 12 and between.links[1].sums["bytes_out"] == 0
    # The counters of the next run begin at 0.
    assert snapshots.between(late, early).tiles == early.tiles


@pytest.mark.parametrize("columns", [20, 40, 60, 79, 80, 200])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 2, 2), (2, 2, 2), (48, 16, 4)])
def test_pages_fit_the_terminal(shape: tuple[int, int, int], columns: int) -> None:
    boards, tiles, width = shape
    one = snapshot(boards=boards, tiles=tiles, width=width)
    for lines in (0, 10, 24, 300):
        page = dashboard.page(one, snapshots.between(one, one), dashboard.Size(columns, lines))
        assert all(len(line) <= columns and line.isprintable() and line.isascii() for line in page)
        if lines and boards < 3:
            assert len(page) <= max(lines, 12)
    whole = "\n".join(dashboard.page(one, one, dashboard.Size(200)))
    assert all(f"b{b}" in whole for b in range(boards)) or boards == 1
    assert ("DOWN" in whole) == (boards > 1) and "prog.c on tiny" in whole and "process 77" in whole


@pytest.mark.parametrize("columns", [60, 79, 80])
def test_a_narrow_page_has_the_whole_head(columns: int) -> None:
    one = snapshot(boards=2, tiles=4)
    wide = " ".join(dashboard.page(one, one, dashboard.Size(400))[:3])
    narrow = dashboard.page(one, one, dashboard.Size(columns))
    assert max(map(len, narrow)) <= columns
    assert " ".join(" ".join(narrow[: narrow.index("")]).split()) == " ".join(wide.split())


def test_page_shows_the_values_of_the_snapshot() -> None:
    shares = {**dict.fromkeys(NAMES, 0), "runs": 400, "receive": 1100, "barrier": 100}
    tiles = [Tile(16, 5_000, 100, shares, (0, 0, 2_500, 0)), Tile(16, 20_000, 100, shares, (0, 0, 0, 10_000))]
    one = replace(snapshot(), tiles=tiles, time=0.1)
    page = dashboard.page(one, one, dashboard.Size(120))
    assert "cycle 10,000 = 0.040 ms at 250 MHz, 100.0 kHz" in page
    assert "threads 32 started, 8.0 run, 24.0 wait; 2.500 instructions a cycle of 4 cores" in page
    heads, first, second = ([*line.split()] for line in page[-3:])
    assert heads == ["tile", "busy", "thr", "run", "mem", "fp", "recv", "send", "barr", "N", "S", "E", "W"]
    assert first == [
        "0,0",
        "##........",
        "25.0%",
        "16",
        "4.0",
        "0.0",
        "0.0",
        "11.0",
        "0.0",
        "1.0",
        "0.000",
        "0.000",
        "0.250",
        "0.000",
    ]
    assert second[:3] == ["1,0", "##########", "100.0%"] and second[-1] == "1.000"


# ---- Reports ----


class Strict(html.parser.HTMLParser):
    """Checks that every element is closed and that no external resource is loaded."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.texts: list[str] = []
        self.counts: dict[str, int] = {}

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "img", "link", "iframe", "object")
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for name, value in attributes:
            assert name not in ("src", "href") and not name.startswith("on")
            assert value is not None and "nan" not in value and "inf" not in value.split()
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: str) -> Strict:
    reader = Strict()
    reader.feed(page)
    reader.close()
    assert not reader.open and "http" not in page and "url(" not in page
    return reader


def about(boards: int, tiles: int, **more: Any) -> dict[str, Any]:
    """Statistics of a program on a cluster."""
    names = [f"b{b}" for b in range(boards)]
    counters = {
        "tx_packets": 5,
        "tx_bytes": 1000,
        "tx_frames": 2,
        "resends": 3,
        "damaged": 0,
        "dropped": 1,
        "stalls": 4,
    }
    seen = snapshot(boards=boards, tiles=tiles)
    by_tile = [
        {
            "board": names[n // tiles], "tile": [n % tiles % 2, n % tiles // 2], "instructions": tile.instructions,
            "sent": 11, "received": 12, "states": {name: tile.threads(name) for name in NAMES},
            "flits": dict(zip(snapshots.DIRECTIONS, tile.flits, strict=True)),
        }
        for n, tile in enumerate(seen.tiles)
    ]  # fmt: skip
    links = [
        {"board": names[b], "link": "east", "to": names[(b + 1) % boards], "to_link": "west", "used": 0.021, **counters,
         "state": int(b != 1)}
        for b in range(boards if boards > 1 else 0)
    ]  # fmt: skip
    values = {
        "program": "<prog> & co", "threads": 16, "cycles": 10_000, "end": "done", "tiles": boards * tiles,
        "instructions": sum(tile.instructions for tile in seen.tiles), "cores": 2 * boards * tiles, "by_tile": by_tile,
        "by_link": links, "clock_mhz": 250.0, "events": ["board b1: <gone>"], "mailbox": {"sent": 1},
        "board_places": [
            {"name": name, "x": x, "y": y} for name, (x, y) in zip(names, cables.ring(boards), strict=True)
        ],
        **more,
    }  # fmt: skip
    return statistics.document("program", "rtl", "<prog> & co", values, command="./gossamer run '<prog>'",
                               configuration={"engine": "rtl", "cluster": "<c>"})  # fmt: skip


@pytest.mark.parametrize(("boards", "tiles"), [(1, 1), (1, 16), (2, 2), (5, 4), (48, 16)])
def test_report_is_self_contained(boards: int, tiles: int) -> None:
    page = parsed(report.page([about(boards, tiles)]))
    text = " ".join(page.texts)
    assert "<prog> & co" in text and "./gossamer run '<prog>'" in text and "board b1: <gone>" in text
    # A rectangle or a group for each tile in each of two maps.
    titles = [one for one in page.texts if one.startswith("tile ") and ("instructions" in one or "threads" in one)]
    assert len(titles) == 2 * boards * tiles
    assert text.count(" of the rate, ") == (boards if boards > 1 else 0)


def test_report_shows_the_values_of_the_run() -> None:
    data = about(2, 2)
    data["by_tile"][0] |= {
        "instructions": 10_000, "states": {**dict.fromkeys(NAMES, 0.0), "send": 4.0},
        "flits": {"north": 0, "south": 1_234, "east": 0, "west": 0},
    }  # fmt: skip
    text = report.page([data])
    # Two cores: half of an instruction a cycle and core.
    assert "tile b0 0,0: 0.500 instructions a cycle and core, 1.000 of its 2 cores together" in text
    assert "tile b0 0,0 to south: 1,234 flits, 0.123 a cycle" in text
    assert "tile b0 0,0, threads on average:" in text and "4.00 send" in text
    assert "b0:east to b1:west: 2.1% of the rate, 5 packets, 3 frames resent" in text
    row = re.search(r"<tr><td>b0 0,0</td>(.*?)</tr>", text)
    assert row and re.findall(r"<td>(.*?)</td>", row[1]) == [
        "0.500", "0.00", "0.00", "0.00", "0.00", "4.00", "0.00", "0.00", "11", "12", "0", "1,234", "0", "0"
    ]  # fmt: skip
    assert text.count("down") >= 2 and "stroke-dasharray" in text


@pytest.mark.parametrize("dark", [False, True])
def test_colours_are_monotonic_in_greyscale(dark: bool) -> None:
    shades = [sum(bytes.fromhex(_html.colour(step, dark)[1:])) for step in range(_html.STEPS + 1)]
    assert shades == sorted(shades, reverse=not dark) and len(set(shades)) == len(shades)
    assert _html.step(-1) == 0 and _html.step(9) == _html.STEPS


def test_axis_of_steps_has_whole_numbers() -> None:
    for count in range(1, 40):
        labels = re.findall(r">([\d.]+)(?: steps)?</text>", _charts.columns([1.0] * count, 1.0, count, 1240.0))
        ticks = [label for label in labels if label not in ("500", "1000", "1k")]
        assert ticks[0] == "0" and ticks[-1] == str(count) and all(map(str.isdecimal, ticks)), (count, labels)


def test_links_are_ordered_by_utilization() -> None:
    sums = dict.fromkeys(LINK_SUMS, 0)
    links = [Link(0, 0, True, {**sums, "bytes_out": 100}), Link(1, 0, True, {**sums, "bytes_in": 25_000, "resends": 9})]
    one = replace(
        snapshot(boards=2), links=links, about={"link_bytes": 5.0, "boards": ["a", "b"], "link_names": [[1, 0, "west"]]}
    )
    page = dashboard.page(one, one, dashboard.Size(120))
    at = next(i for i, line in enumerate(page) if line.startswith("link"))
    assert page[at + 1].split() == ["b", "west", "up", "..........", "0.0%", "#####.....", "50.0%", "0", "9", "0", "0"]
    assert page[at + 2].startswith("a 0")


# ---- Streaming programs ----


def activity_json(ranks: int, channels: int, cycle: int = 10_000, seed: int = 1, bins: int = 0) -> dict[str, Any]:
    """The activity of a streaming program, as the emulator may report it; in a snapshot without ``bins``."""
    draw = random.Random(seed)
    halves = ("messages_sent", "sent", "send_opening", "stalled", "messages_received", "received", "receive_opening",
              "empty", "full")  # fmt: skip
    counts = ("opened", "cycles", "pushed", "popped", "opening", "stalled", "empty", "full")

    def series() -> dict[str, Any]:
        return {"series": [draw.randrange(1 + cycle // bins) for _ in range(bins)]} if bins else {}

    def waits() -> list[int]:
        return [draw.randrange(cycle // 10) for _ in streams.WAITS]

    return {
        "waits": list(streams.WAITS),
        "kernels": [
            {"rank": rank, "name": "<main>", "daemon": False, "begin": 0, "end": cycle, "now": "pop", "waits": waits(),
             "places": [{"site": [0, 16 + rank], "kind": "pop", "waits": 3, "cycles": 50}] if bins else [], **series()}
            for rank in range(ranks)
        ],
        "channels": [
            {"port": port, "from": port % ranks, "to": (port + 1) % ranks, "type": "SMI_INT",
             **{name: draw.randrange(cycle // 4) for name in halves}, **series()}
            for port in range(channels)
        ],
        "collectives": [
            {"port": 200, "rank": rank, "kind": "Reduce", "type": "SMI_FLOAT",
             **{name: draw.randrange(cycle // 4) for name in counts}, **series()}
            for rank in range(ranks)
        ],
        "links": [],
        **({"bin": cycle // bins} if bins else {}),
    }  # fmt: skip


def streaming(ranks: int, channels: int, cycle: int = 10_000) -> Snapshot:
    about = snapshot_json(boards=ranks, tiles=1, cycle=cycle) | activity_json(ranks, channels, cycle)
    about |= {"board_tiles": 0, "width": 0, "threads": 0, "cores": 0, "shares": [], "tiles": []}
    return snapshots.parse(json.dumps(about))


@pytest.mark.parametrize("columns", [20, 40, 60, 79, 80, 200])
@pytest.mark.parametrize(("ranks", "channels"), [(1, 0), (2, 1), (8, 200)])
def test_pages_of_streaming_programs_fit_the_terminal(ranks: int, channels: int, columns: int) -> None:
    one = streaming(ranks, channels)
    for lines in (0, 10, 16, 24, 300):
        page = dashboard.page(one, snapshots.between(one, one), dashboard.Size(columns, lines))
        assert all(len(line) <= columns and line.isprintable() and line.isascii() for line in page)
        assert not lines or len(page) <= max(lines, 14)
    whole = "\n".join(dashboard.page(one, one, dashboard.Size(200)))
    assert all(f"{rank} <main>" in whole for rank in range(ranks)) and f"{ranks} board" in whole
    assert whole.count("\nport ") == channels and whole.count("Reduce port 200") == ranks


def test_difference_of_snapshots_of_a_streaming_program() -> None:
    early, late = streaming(2, 1), streaming(2, 1)
    assert late.activity is not None
    kernel, channel = late.activity.kernels[0], late.activity.channels[0]
    waits = {**kernel.waits, "pop": kernel.waits["pop"] + 400}
    more = replace(
        late.activity,
        kernels=(replace(kernel, end=kernel.end + 1000, waits=waits), *late.activity.kernels[1:], kernel),
        channels=(
            replace(channel, received=channel.received + 250, empty=channel.empty + 400),
            replace(channel, port=9),
        ),
    )
    late = replace(late, cycle=late.cycle + 1000, activity=more)
    between = snapshots.between(early, late)
    assert between.activity is not None
    first, _, new = between.activity.kernels
    assert (first.cycles, first.runs, first.waits["pop"], sum(first.waits.values())) == (1000, 600, 400, 400)
    assert new == kernel and between.activity.channels[1].received == channel.received
    assert (between.activity.channels[0].received, between.activity.channels[0].empty) == (250, 400)
    page = dashboard.page(late, between, dashboard.Size(120))
    row = next(line.split() for line in page if line.startswith("0 <main>"))
    assert row[2:5] == ["######....", "60.0%", "0%"] and row[5] == "40%" and row[-1] == "pop"
    row = next(line.split() for line in page if line.startswith("port 0"))
    assert row[5:] == ["0.250", "0%", "40%", "0%", f"{channel.received + 250:,}"]


@pytest.mark.parametrize(("ranks", "channels"), [(1, 0), (2, 1), (16, 200)])
def test_report_of_a_streaming_program_is_self_contained(ranks: int, channels: int) -> None:
    activity = streams.parse(
        activity_json(ranks, channels, bins=100), {(0, 16 + rank): "a<b>.c:7" for rank in range(99)}
    )
    names = [f"b{rank}" for rank in range(ranks)]
    values = {
        "program": "<prog>", "ranks": ranks, "kernels": ranks, "operations": 5, "end": "done", "code": 0,
        "cycles": 10_000, "notes": ["<gone>"], **activity.as_json(),
        "timeline": streams.over_time(activity, 10_000, names, {}),
        **{name: about(ranks, 1)[name] for name in ("board_places", "by_link")},
    }  # fmt: skip
    values["by_kernel"] = values.pop("kernels")
    values["kernels"] = ranks
    del values["links"]
    made = statistics.document("streams", "rtl", "<prog> & co", values, command="./gossamer smi run '<prog>'",
                               configuration={"engine": "rtl"})  # fmt: skip
    page = parsed(report.page([made]))
    text = " ".join(page.texts)
    assert "<prog> & co" in text and "./gossamer smi run '<prog>'" in text and "<gone>" in text
    assert text.count("a<b>.c:7") == min(ranks, 40)
    received = sum(one.received for one in activity.channels)
    assert f"elements received {received:,}" in " ".join(text.split())
    for one in activity.channels:
        assert f"port {one.port}, rank {one.source} to {one.destination}" in text and f"{one.stalled:,}" in text
    # A title for each part of a kernel's time.
    bars = [one for one in page.texts if " of 10,000 cycles, " in one]
    assert sum(int(one.split(" of ")[0].split()[-1].replace(",", "")) for one in bars) == 10_000 * ranks
