# SPDX-License-Identifier: Apache-2.0
"""The report of one run, or of several side by side: a self-contained HTML page from files of statistics.

The page has no scripts and needs no network. It fills the window, follows the reader's preference for light or dark,
and shows: what was run on what, the main figures, quantities over time, threads, ranks, tiles, links or kernels, and
all numbers. Runs that are compared share the scales of their charts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gossamer import files
from gossamer.errors import InputError
from gossamer.watch import _charts, _html, _tiles, cables, statistics, stream_report

MOST_RUNS = 6
_FULL, _BESIDE = 1500.0, 740.0
"""Widths of charts: as wide as the page, and of several side by side."""
_WORK = {"works": ("#2171b5", ""), "waits": ("#c9772b", "")}
_MOST_LINES = 8
Data = Mapping[str, Any]


def check_comparable(runs: Sequence[Data], names: Sequence[str]) -> None:
    """Raises InputError if runs cannot be compared: kinds or programs differ. ``names`` are those of the files."""
    if len(runs) > MOST_RUNS:
        raise InputError(f"{len(runs)} runs do not fit side by side; give at most {MOST_RUNS}")
    first = runs[0]
    for one, name in zip(runs[1:], names[1:], strict=True):
        if one["kind"] != first["kind"]:
            raise InputError(
                f"{name}: statistics of kind {one['kind']!r} cannot be compared with those of {names[0]}, "
                f"{first['kind']!r}; give runs of one program"
            )
        if one["name"] != first["name"]:
            raise InputError(
                f"{name}: is a run of {one['name']}, and {names[0]} one of {first['name']}; give runs of one program"
            )


def write(data: Data, stats: Path | None, report: Path | None) -> None:
    """Writes the statistics of a run into the files that ``--stats`` and ``--report`` name.

    Raises InputError if a file cannot be written.
    """
    if stats is not None:
        statistics.write(stats, data)
    if report is not None:
        files.write_whole(report, page([data]).encode("utf-8", "replace"))


def page(runs: Sequence[Data], labels: Sequence[str] = ()) -> str:
    """The page of one run, or of several that are compared with the first. ``labels`` name them."""
    labels = labels or [chr(ord("A") + at) for at in range(len(runs))]
    parts = _single(runs[0]) if len(runs) == 1 else _compared(runs, labels)
    title = _title(runs[0]) if len(runs) == 1 else f"{runs[0]['name']}: {' and '.join(labels)}"
    return _html.document(title, [part for part in parts if part])


def _single(data: Data) -> list[str]:
    return [
        f"<h1>{_html.escape(_title(data))}</h1>",
        _subtitle(data),
        *(f'<p class="note">{_html.escape(note)}</p>' for note in _notes(data)),
        _cards([(name, [value], note) for name, value, note in _headline(data)]),
        *_over_time([data], [""]),
        *_parts([data], [""]),
        "<h2>How it was run</h2>",
        f"<p><code>{_html.escape(data['command'])}</code></p>",
        _about(data),
        "<h2>All numbers</h2>",
        _numbers(data),
    ]


def _compared(runs: Sequence[Data], labels: Sequence[str]) -> list[str]:
    names = [f"{label}: {_title(one)}" for label, one in zip(labels, runs, strict=True)]
    parts = [
        f"<h1>{_html.escape(runs[0]['name'])}: {len(runs)} runs</h1>",
        _html.side(
            [
                f"<h3>{_html.escape(name)}</h3>{_subtitle(one)}"
                + "".join(f'<p class="note">{_html.escape(note)}</p>' for note in _notes(one))
                for name, one in zip(names, runs, strict=True)
            ]
        ),
    ]
    graphs = [one.get("graph") for one in runs]
    if any(graph != graphs[0] for graph in graphs):
        parts.append('<p class="note">The graphs of these runs differ.</p>')
    headlines = [{name: (value, note) for name, value, note in _headline(one)} for one in runs]
    rows = []
    for name, (_, note) in headlines[0].items():
        rows.append((name, [one[name][0] if name in one else "-" for one in headlines], note))
    parts += [_cards(rows, labels), "<h2>Differences</h2>", _differences(runs, labels)]
    parts += _over_time(runs, labels)
    parts += _parts(runs, labels)
    parts += ["<h2>How they were run</h2>"]
    parts.append(
        _html.side(
            [
                f"<h3>{_html.escape(name)}</h3><p><code>{_html.escape(one['command'])}</code></p>{_about(one)}"
                for name, one in zip(names, runs, strict=True)
            ]
        )
    )
    return parts


# ---- What was run ----


def _title(data: Data) -> str:
    on = data["configuration"]
    place = f"cluster {on['cluster']}" if on.get("cluster") else str(on.get("config") or data["engine"])
    if data["engine"] == "distributed":
        place = f"{on['ranks']} rank{'' if on['ranks'] == 1 else 's'}"
    graph = data.get("graph")
    of = f" of {_charts.cut(graph['name'].rpartition('/')[2] or 'a graph', 60)}" if graph else ""
    return f"{data['name']}{of} on {place}"


def _subtitle(data: Data) -> str:
    date = data["date"].replace("T", " ").removesuffix("Z")
    text = f"engine {data['engine']}, {date} UTC, Gossamer {data['versions']['gossamer']}"
    return f'<p class="soft">{_html.escape(text)}</p>'


def _notes(data: Data) -> list[str]:
    notes = [*(data.get("notes") or ()), *(event for event in data.get("events") or () if isinstance(event, str))]
    if data.get("end") not in (None, "done", "exit"):
        notes.insert(0, f"The run ended with {data['end']!r}.")
    return notes


def _about(data: Data) -> str:
    """Tables of configuration, graph, versions and machine."""
    tables = [("Configuration", {**data["configuration"], **(data.get("parameters") or {})})]
    if data.get("graph"):
        tables.append(("Graph", data["graph"]))
    tables.append(("Versions and machine", {**data["versions"], **data["machine"]}))
    parts = []
    for title, values in tables:
        rows = [[name.replace("_", " "), _text(value)] for name, value in values.items()]
        parts.append(f"<div><h3>{title}</h3>{_html.table([], rows, 'facts')}</div>")
    return f'<div class="panels">{"".join(parts)}</div>'


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# ---- Main figures ----


def _duration(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def _headline(data: Data) -> list[tuple[str, str, str]]:
    """The main figures: name, value, note."""
    rows: list[tuple[str, str, str]] = []
    cycles, clock = data.get("cycles"), data.get("clock_mhz")
    if cycles is not None:
        note = f"{cycles / clock:,.1f} µs at {clock:g} MHz" if clock else ""
        rows.append(("cycles", f"{cycles:,}", note))
    elif data["kind"] == "application":
        rows.append(("time of the run", _duration(data["seconds"]), "from init to finish"))
    if data["kind"] == "application":
        seconds = data["seconds"]
        rows.append(("steps", f"{data['steps']:,}", f"{_duration(seconds / max(1, data['steps']))} each"))
        rate = f"{_charts.short(data['deliveries'] / max(1e-12, seconds))} a second"
        rows.append(("messages delivered", f"{data['deliveries']:,}", rate))
        graph = data["graph"]
        rows.append(("vertices", f"{graph['vertices']:,}", f"{graph['edges']:,} edges"))
    if data.get("by_tile") and cycles:
        share = data["instructions"] / max(1, cycles) / data["cores"]
        rows.append(("instructions a cycle and core", f"{share:.3f}", f"{data['cores']:,} cores, at most 1"))
    if data["kind"] == "program":
        sent = data["mailbox"]["sent"] if data.get("mailbox") else 0
        rows.append(("messages sent", f"{sent:,}", f"{data['instructions']:,} instructions"))
    if data["kind"] == "streams":
        rows.append(("ranks", f"{data['ranks']:,}", f"{data['kernels']:,} kernels"))
        rows.append(("operations", f"{data['operations']:,}", "pushes, pops and calls"))
        rows.append(("end", data["end"], f"exit code {data['code']}"))
    if data["kind"] == "boards":
        rows.append(("boards", f"{data['boards']:,}", f"{data['ranks']:,} rank{'' if data['ranks'] == 1 else 's'}"))
        sent = sum(one["packets_sent"] for one in data["by_port"])
        received = sum(one["packets_received"] for one in data["by_port"])
        rows.append(("packets sent", f"{sent:,}", f"{received:,} received, {len(data['by_port']):,} streaming ports"))
        rows.append(("end", data["end"], "of the recordings"))
    if data["kind"] == "guests":
        rows.append(("guests", f"{len(data['guests']):,}", f"cluster {data['cluster']}"))
    if data.get("by_thread"):
        busy = sum(one["busy_seconds"] for one in data["by_thread"])
        whole = busy + sum(one["wait_seconds"] for one in data["by_thread"])
        rows.append(("threads at work", f"{busy / max(1e-12, whole):.1%}", "share of the threads' time"))
    if data["kind"] in ("application", "program"):
        ranks = f"on {data['ranks']} ranks" if data.get("ranks") else f"engine {data['engine']}"
        rows.append(("threads", f"{data['threads']:,}", ranks))
    return rows


def _cards(rows: Sequence[tuple[str, Sequence[str], str]], labels: Sequence[str] = ()) -> str:
    """Panels of figures; ``labels`` name the runs of several values."""
    found = []
    for name, values, note in rows:
        if labels:
            named = zip(labels, values, strict=True)
            shown = "".join(f"<p>{_html.escape(label)}</p><b>{_html.escape(value)}</b>" for label, value in named)
        else:
            # A long number is smaller, since a line break in it could be read as a space.
            size = max(1.0, min(1.7, 15.3 / max(1, len(values[0]))))
            shown = f'<b style="font-size:{size:.2f}em">{_html.escape(values[0])}</b>' + (
                f"<span>{_html.escape(note)}</span>" if note else ""
            )
        many = " many" if labels else ""
        found.append(f'<div class="card{many}"><span>{_html.escape(name)}</span>{shown}</div>')
    return f'<div class="cards">{"".join(found)}</div>'


# ---- All numbers ----


def numbers(data: Data) -> dict[str, float]:
    """All single numbers of a file of statistics, by name."""
    found: dict[str, float] = {}

    def add(name: str, value: Any) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found[name] = value

    for name, value in data.items():
        if name in ("version", "code"):
            continue
        add(name, value)
        if name in ("cache", "mailbox", "counters", "totals", "graph") and value:
            for inner, one in value.items():
                add(f"{name}.{inner}", one)
    if data.get("rank_wait_seconds"):
        found["rank_wait_seconds, greatest"] = max(data["rank_wait_seconds"])
    if data.get("rank_peak_bytes"):
        found["rank_peak_bytes, greatest"] = max(data["rank_peak_bytes"])
    if data.get("by_kernel"):
        found |= stream_report.sums(data)
    return found


def _unit(data: Data, name: str) -> str:
    return str(data["units"].get(name.partition(",")[0], ""))


def _numbers(data: Data) -> str:
    fields = statistics.Statistics.model_fields
    rows = []
    for name, value in numbers(data).items():
        about = fields[name].description if name in fields else ""
        rows.append([name, _text(value), _unit(data, name), about or ""])
    return _html.table(["name", "value", "unit", "meaning"], rows, "rows said")


def _differences(runs: Sequence[Data], labels: Sequence[str]) -> str:
    all_numbers = [numbers(one) for one in runs]
    heads = ["name", "unit", *labels]
    for label in labels[1:]:
        heads += [f"{label} − {labels[0]}", f"{label} to {labels[0]}, %"]
    rows = []
    for name in dict.fromkeys(name for one in all_numbers for name in one):
        values = [one.get(name) for one in all_numbers]
        unit = next((_unit(one, name) for one in runs if name in one["units"]), "")
        row = [name, unit, *("-" if value is None else _text(value) for value in values)]
        for value in values[1:]:
            row += _difference(values[0], value)
        rows.append(row)
    return _html.table(heads, rows)


def _difference(base: float | None, value: float | None) -> list[str]:
    """The difference as a number, and in percent of ``base``."""
    if base is None or value is None:
        return ["-", "-"]
    change = value - base
    text = _text(change).replace("-", "−")
    percent = "-" if not base else f"{100 * change / abs(base):+.1f} %".replace("-", "−")
    return [f"+{text}" if change > 0 else text, "0.0 %" if not change else percent]


# ---- Over time ----


def _over_time(runs: Sequence[Data], labels: Sequence[str]) -> list[str]:
    width = _FULL if len(runs) == 1 else _BESIDE
    lines = [one.get("timeline") for one in runs]
    parts = []
    names = dict.fromkeys(series["name"] for one in lines if one for series in one["series"])
    for name in names:
        parts += _quantity(name, lines, labels, width)
    steps = [one.get("step_seconds") or [] for one in runs]
    if any(len(one) > 1 for one in steps):
        most = _charts.nice(1e3 * max(max(one, default=0.0) for one in steps)) / 1e3
        count = max(map(len, steps))
        drawn = [_charts.columns(one, most, count, width) if one else _missing() for one in steps]
        parts += ["<h2>Time of each step, in ms</h2>", _beside(drawn, labels)]
    return parts


def _missing() -> str:
    return '<p class="soft">not recorded</p>'


def _beside(drawn: Sequence[str], labels: Sequence[str]) -> str:
    if len(drawn) == 1:
        return drawn[0]
    return _html.side([f"<h3>{_html.escape(label)}</h3>{one}" for label, one in zip(labels, drawn, strict=True)])


def _quantity(name: str, lines: Sequence[Mapping[str, Any] | None], labels: Sequence[str], width: float) -> list[str]:
    """The section of one quantity: a chart for each run, all with the same scales."""
    found = [[one for one in (its or {}).get("series", ()) if one["name"] == name] for its in lines]
    each = [one for series in found for one in series]
    units = {its["unit"] for its, series in zip(lines, found, strict=True) if its and series}
    end = max(its["edges"][-1] for its, series in zip(lines, found, strict=True) if its and series)
    stacked = name == "threads by state"
    most = max((one["most"] for one in each if one["most"] is not None), default=None)
    peak = max((value for one in each for value in one["values"]), default=0.0)
    count = max(map(len, found))
    # Strips show shares of a maximum, and more rows than lines can be told apart.
    strips = not stacked and count > 1 and (most is not None or count > _MOST_LINES)
    if stacked:
        # Threads that have not started are in no state.
        most = _charts.nice(max(map(sum, (zip_sum(series) for series in found)), default=1.0)) if most is None else most
    elif strips:
        most = most if most is not None else _charts.nice(peak)
    else:
        most = _charts.nice(peak)
    drawn = []
    for its, series in zip(lines, found, strict=True):
        if not its or not series:
            drawn.append(_missing())
            continue
        axis = _charts.Axis(its["unit"], end if len(units) == 1 else its["edges"][-1])
        rows = [_charts.Row(one["of"], one["values"]) for one in series]
        if stacked:
            shades = [_tiles.KINDS.get(row.name, (_html.PALETTE[5], ""))[0] for row in rows]
            drawn.append(_charts.stack(its["edges"], axis, rows, shades, most, width))
        elif strips:
            drawn.append(_charts.strips(its["edges"], axis, rows, most, width))
        else:
            drawn.append(_charts.lines(its["edges"], axis, rows, most, width))
    unit = each[0]["unit"]
    parts = [f"<h2>{_html.escape(name[0].upper() + name[1:])} over time{'' if stacked else f', {unit}'}</h2>"]
    if stacked:
        parts.append(_html.kinds(_tiles.KINDS))
    elif strips:
        parts.append(_html.legend(unit, most))
    elif count > 1:
        named = [one["of"] for one in max(found, key=len)]
        colours = {of: (_html.PALETTE[at % len(_html.PALETTE)], "") for at, of in enumerate(named)}
        parts.append(_html.kinds(colours))
    return [*parts, _beside(drawn, labels)]


def zip_sum(series: Sequence[Mapping[str, Any]]) -> list[float]:
    """Sums of several series, by interval."""
    return [sum(values) for values in zip(*(one["values"] for one in series), strict=True)]


# ---- Threads, ranks, tiles, links, kernels ----


def _parts(runs: Sequence[Data], labels: Sequence[str]) -> list[str]:
    single = len(runs) == 1
    width = _FULL if single else _BESIDE
    parts: list[str] = []
    if any(one.get("by_thread") for one in runs):
        end = max(t["busy_seconds"] + t["wait_seconds"] for one in runs for t in one.get("by_thread") or ()) or 1e-9
        drawn = [_threads(one, end, width) if one.get("by_thread") else _missing() for one in runs]
        parts += ["<h2>Threads: work and waits</h2>", _html.kinds(_WORK), _beside(drawn, labels)]
    if any(one.get("by_rank") for one in runs):
        drawn = [_ranks(one) if one.get("by_rank") else _missing() for one in runs]
        parts += ["<h2>Ranks</h2>", _beside(drawn, labels)]
    if any(one.get("by_tile") and one.get("cycles") for one in runs):
        parts += _maps(runs, labels)
    if any(one.get("by_kernel") for one in runs):
        drawn = ["".join(stream_report.sections(one, width, tables=single)) for one in runs if one.get("by_kernel")]
        parts += drawn if single else [_beside(drawn, labels)]
    elif any(one.get("by_link") for one in runs):
        wirings = [cables.of_statistics(one) for one in runs]
        if single:
            parts += cables.sections(wirings[0]) if wirings[0].cables else []
        elif all(one.timed and one.cables for one in wirings):
            parts += ["<h2>Cables: utilization in each direction</h2>", _html.legend("share of the rate", 100, "%")]
            parts.append(_beside([cables.picture(one, 590.0) for one in wirings], labels))
    if any(one.get("by_port") for one in runs):
        drawn = ["".join(stream_report.ports(one, width, tables=single)) for one in runs if one.get("by_port")]
        parts += drawn if single else [_beside(drawn, labels)]
    if any(one.get("guests") for one in runs):
        parts += ["<h2>Guests</h2>", _beside([_guests(one) for one in runs], labels)]
    if single and runs[0].get("by_tile") and runs[0].get("cycles"):
        parts += ["<h2>Table of tiles</h2>", _tiles.table(_tiles.of_statistics(runs[0]))]
    return parts


def _threads(data: Data, end: float, width: float) -> str:
    several = data.get("ranks")
    rows = [
        (
            f"rank {one['rank']}, thread {one['thread']}" if several else f"thread {one['thread']}",
            {"works": one["busy_seconds"], "waits": one["wait_seconds"]},
            0.0,
        )
        for one in data["by_thread"]
    ]
    return _charts.bars(rows, _WORK, _charts.Axis("s", end), width, "threads")


def _ranks(data: Data) -> str:
    rows = [
        [str(one["rank"]), f"{one['threads']:,}", _duration(one["wait_seconds"]), f"{one['peak_bytes'] / 1e6:,.1f} MB"]
        for one in data["by_rank"]
    ]
    return _html.table(["rank", "threads", "waits for other ranks", "maximum of resident memory"], rows)


def _maps(runs: Sequence[Data], labels: Sequence[str]) -> list[str]:
    """Maps of the tiles: those of one run side by side, of several one kind after the other."""
    machines = [_tiles.of_statistics(one) for one in runs if one.get("by_tile")]
    samples = any(tile.get("states") for one in runs for tile in one.get("by_tile") or ())
    busy = "<h2>Tiles: instructions a cycle and core, and flits to neighbours</h2>"
    busy += _html.legend("instructions a cycle and core", 1.0) + _html.legend("flits a cycle", 1.0)
    states = "<h2>Tiles: threads by state</h2>" + _html.kinds(_tiles.KINDS)
    if len(runs) == 1:
        machine = machines[0]
        beside = _tiles.is_readable(machine, 590.0)
        pixels = 590.0 if beside else 1230.0
        drawn = [busy + _tiles.picture(machine, _tiles.busy, pixels)]
        if samples:
            drawn.append(states + _tiles.picture(machine, _tiles.states, pixels))
        return [_html.side(drawn)] if beside else drawn
    parts = [busy, _beside([_tiles.picture(one, _tiles.busy, 590.0) for one in machines], labels)]
    if samples:
        parts += [states, _beside([_tiles.picture(one, _tiles.states, 590.0) for one in machines], labels)]
    return parts


def _guests(data: Data) -> str:
    rows = [
        [str(one.get("name", "")), ", ".join(one.get("boards") or ()) or "-", str(one.get("code", ""))]
        for one in data["guests"]
    ]
    return _html.table(["guest", "boards", "exit code"], rows)


__all__ = ["MOST_RUNS", "check_comparable", "numbers", "page"]
