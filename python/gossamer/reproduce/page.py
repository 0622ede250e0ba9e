# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page without scripts, pictures or fonts from elsewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer.reproduce import chart, compare, facts, row_files
from gossamer.reproduce.chart import number
from gossamer.reproduce.facts import Chart, Item, Paper, Series, Value
from gossamer.reproduce.row_files import Row, Rows
from gossamer.watch._html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2530; --soft: #566472; --line: #d9e0e7; --back: #ffffff; --card: #f6f8fa;
  --link: #1559a8; --good: #1a7346; --fair: #8a5a00; --bad: #b3282d; --c0: #1f6fb5; --c1: #c2641a; --c2: #2d8659;
  --c3: #7b4fa6; --c4: #b5365a; --c5: #5b6673; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #9fadba; --line: #35404b; --back: #12171d;
  --card: #1a2129; --link: #7db7f0; --good: #5cc48d; --fair: #e0b050; --bad: #f0817f; --c0: #64aef0; --c1: #ee9a58;
  --c2: #63c795; --c3: #b995e2; --c4: #f08aa6; --c5: #9aa7b4; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); margin: 0 auto;
  max-width: 1480px; padding: 28px 32px 80px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; } h2 { font-size: 22px; margin: 56px 0 6px; }
h3 { font-size: 16px; margin: 0 0 6px; } .place { font-weight: 400; margin-left: 8px; }
p { margin: 6px 0; max-width: 105ch; } a { color: var(--link); }
.soft, .tag { color: var(--soft); font-size: 13px; } .lead { font-size: 16px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; margin: 10px 0; }
th { text-align: left; font-weight: 600; color: var(--soft); border-bottom: 1px solid var(--soft); }
th, td { padding: 4px 12px 4px 0; }
td { border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; } td.n { white-space: nowrap; }
td.words { white-space: normal; max-width: 150px; } .wide { overflow-x: auto; }
code { font: 13px ui-monospace, monospace; background: var(--card); padding: 1px 5px; border-radius: 4px;
  overflow-wrap: anywhere; }
.item { border: 1px solid var(--line); border-radius: 8px; padding: 14px 18px 12px; margin: 16px 0; }
.body { display: flex; flex-wrap: wrap; gap: 4px 32px; align-items: flex-start; }
.body > .wide { flex: 1 1 580px; max-width: 860px; } .charts { flex: 0 1 auto; display: flex; flex-wrap: wrap; }
.body > .wide + .charts { width: 530px; } .charts { gap: 8px 28px; } figure { margin: 8px 0; width: 530px; }
td.how { min-width: 200px; max-width: 320px; overflow-wrap: anywhere; line-height: 1.35; }
.item td:first-child { min-width: 150px; } td .soft { font-size: 12.5px; }
figcaption { font-size: 13px; font-weight: 600; margin-bottom: 4px; }
svg.chart { display: block; max-width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); } svg text.name { fill: var(--ink); }
.grid { stroke: var(--line); stroke-width: 1; } .axis { stroke: var(--soft); fill: none; }
.line { fill: none; stroke-width: 2; } .line.paper { stroke-dasharray: 7 4; }
.line.reconstructed { stroke-dasharray: 2 4; } .mark { stroke-width: 1.8; fill: none; }
.c0 { stroke: var(--c0); } .mark.ours.c0 { fill: var(--c0); }
.c1 { stroke: var(--c1); } .mark.ours.c1 { fill: var(--c1); }
.c2 { stroke: var(--c2); } .mark.ours.c2 { fill: var(--c2); }
.c3 { stroke: var(--c3); } .mark.ours.c3 { fill: var(--c3); }
.c4 { stroke: var(--c4); } .mark.ours.c4 { fill: var(--c4); }
.c5 { stroke: var(--c5); } .mark.ours.c5 { fill: var(--c5); }
.keys { font-size: 13px; margin: 2px 0 0; padding: 0; list-style: none; columns: 2; }
.keys li { break-inside: avoid; padding-left: 40px; text-indent: -40px; }
.key { vertical-align: -1px; margin-right: 5px; }
.state { display: inline-block; font-size: 12.5px; font-weight: 600; border: 1px solid currentColor;
  border-radius: 10px; padding: 0 9px; margin-left: 8px; white-space: nowrap; }
.same, .better { color: var(--good); } .smaller, .similar { color: var(--link); } .part { color: var(--fair); }
.none, .worse { color: var(--bad); } .drawing { color: var(--soft); } .missing { color: var(--fair); }
.grid-of { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 4px 18px; padding: 0;
  list-style: none; font-size: 14px; } .grid-of li { display: flex; gap: 8px; }
.grid-of b { font-weight: 600; flex: none; width: 12px; } nav a { margin-right: 16px; }
"""
_DOCUMENTED = ", documented"
_SIGNS = {"same": "●", "smaller": "◑", "similar": "◒", "part": "◔", "none": "○", "drawing": "–"}


@dataclass(frozen=True)
class Sources:
    """What the page was made from, for its head."""

    made: str
    """Date."""


def page(papers: Sequence[Paper], rows: Rows, sources: Sources) -> str:
    """The page."""
    parts = [_head(papers, rows, sources)]
    parts += [_paper(paper, rows) for paper in papers]
    parts.append(_rows(tuple(papers), rows))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Gossamer: the five papers, reproduced'
        '</title>\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


# ---- Overview ----


def _head(papers: Sequence[Paper], rows: Rows, sources: Sources) -> str:
    items = [item for paper in papers for item in paper.items]
    states = Counter(compare.state(item, rows) for item in items)
    results = len(items) - states["drawing"]
    nav = "".join(f'<a href="#{paper.key}">{escape(paper.short)}</a>' for paper in papers)
    return "\n".join(
        [
            "<h1>Gossamer: five papers on clusters of FPGAs, reproduced</h1>",
            '<p class="lead">Every table and figure of the five papers from which Gossamer was designed, with '
            "Gossamer’s own figures next to them. No FPGA board was used: hardware is SystemVerilog, simulated cycle "
            "by cycle, or synthesised by open tools. Figures that have not been reproduced say so.</p>",
            f"<p>{results} tables, figures and results stated in the text have numbers: {states['same']} are "
            f"reproduced with the same experiment, {states['smaller']} with fewer boards or less data, "
            f"{states['similar']} with a similar experiment or another technology, {states['part']} in part, "
            f"{states['none']} not at all. {states['drawing']} further figures are drawings, photographs or "
            f"listings. {_counted(papers, rows)}</p>",
            f"<nav>{nav}<a href='#key-figures'>Key figures</a><a href='#all'>All tables and figures</a>"
            "<a href='#rows'>All rows</a></nav>",
            _overview(papers, rows),
            _sources(papers, rows, sources),
            '<h2 id="key-figures">Key figures</h2>',
            _highlights(papers, rows),
            '<h2 id="all">All tables and figures</h2>',
            _legend(),
            *(_list(paper, rows) for paper in papers),
        ]
    )


def _counted(papers: Sequence[Paper], rows: Rows) -> str:
    """How many numbers of ours there are, and how many of them no row has."""
    found = sum((_origins(paper, rows) for paper in papers), Counter())
    copied = sum(count for name, count in found.items() if name.endswith(_DOCUMENTED))
    said = f"The page has {sum(found.values())} numbers of ours."
    return (
        f"{said} {copied} of them are copied from the documentation, since their rows are missing." if copied else said
    )


def _overview(papers: Sequence[Paper], rows: Rows) -> str:
    heads = ["paper", *(name for name, _ in compare.STATES.values()), "our numbers, by origin"]
    cells = "".join(
        f"<th{'' if i in (0, len(heads) - 1) else ' class=n'}>{escape(one)}</th>" for i, one in enumerate(heads)
    )
    body = []
    for paper in papers:
        states = Counter(compare.state(item, rows) for item in paper.items)
        counts = "".join(f'<td class="n" data-state="{key}">{states[key] or "–"}</td>' for key in compare.STATES)
        said = "; ".join(f"{count} {name}" for name, count in _origins(paper, rows).most_common())
        body.append(
            f'<tr data-paper="{paper.key}"><td><a href="#{paper.key}">{escape(paper.title)}</a><br>'
            f'<span class="soft">{escape(paper.venue)}</span></td>{counts}<td>{escape(said)}</td></tr>'
        )
    table = f'<table class="overview"><thead><tr>{cells}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    return f'<div class="wide">{table}</div>'


def _origins(paper: Paper, rows: Rows) -> Counter[str]:
    """How many of our numbers have which origin."""
    found: Counter[str] = Counter()
    for item in paper.items:
        for value in item.values:
            got = compare.ours(value, rows)
            if got is not None:
                found[_origin(value.how, got.row)] += 1
        for series in compare.curves(item):
            for point in compare.points(series, rows):
                if point.row is not None:
                    found[_origin(series.how, point.row)] += 1
    return found


def _origin(how: str, row: Row | None) -> str:
    name = facts.ORIGINS[how][0]
    return name + _DOCUMENTED if row is not None and row.source == row_files.WRITTEN_DOWN else name


def _sources(papers: Sequence[Paper], rows: Rows, sources: Sources) -> str:
    found = compare.used(tuple(papers), rows)
    kinds = Counter(row.source for row in found if row.data.get("value") is not None)
    shipped = [row for row in found if row.source == row_files.SHIPPED]
    dates = sorted({row.date for row in shipped})
    machines = sorted({row.machine for row in shipped})
    text = [f"Page made on {sources.made} from {sum(kinds.values())} rows:"]
    said = []
    if kinds[row_files.NOW]:
        said.append(f"{kinds[row_files.NOW]} measured by this call")
    if kinds[row_files.GIVEN]:
        said.append(f"{kinds[row_files.GIVEN]} from files of --rows")
    if shipped:
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        said.append(f"{kinds[row_files.SHIPPED]} of the shipped measurement ({when}; {'; '.join(machines)})")
    if kinds[row_files.WRITTEN_DOWN]:
        said.append(f"{kinds[row_files.WRITTEN_DOWN]} documented measurements, copied from docs/")
    text.append(", ".join(said) + ".")
    text.append(
        "Cycles are exact on any machine; seconds depend on the machine and its load. "
        "<code>./gossamer reproduce --measure</code> measures the quick rows here, "
        "<code>--rows DIR</code> adds files of <code>./gossamer bench SUITE --json FILE</code>."
    )
    return '<p class="soft">' + " ".join(text) + "</p>"


def _highlights(papers: Sequence[Paper], rows: Rows) -> str:
    body = [
        f'<tr><td><a href="#{paper.key}-{item.anchor}">{escape(paper.short)}, {escape(item.number)}</a></td>'
        + _cells(value, rows)
        + "</tr>"
        for paper in papers
        for item in paper.items
        for value in item.values
        if value.highlight
    ]
    return _table(["", *_HEADS], body)


def _legend() -> str:
    states = "".join(
        f'<li><b class="{key}">{_SIGNS[key]}</b><span>{escape(name)}: {escape(text)}</span></li>'
        for key, (name, text) in compare.STATES.items()
    )
    return f'<ul class="grid-of" style="grid-template-columns:repeat(auto-fill,minmax(420px,1fr))">{states}</ul>'


def _list(paper: Paper, rows: Rows) -> str:
    entries = []
    for item in paper.items:
        state = compare.state(item, rows)
        entries.append(
            f'<li><b class="{state}" title="{escape(compare.STATES[state][0])}">{_SIGNS[state]}</b>'
            f'<a href="#{paper.key}-{item.anchor}">{escape(item.number)}: {escape(item.title)}</a></li>'
        )
    return f'<p class="soft">{escape(paper.short)}</p><ul class="grid-of">{"".join(entries)}</ul>'


# ---- Papers ----

_HEADS = ["", "paper", "ours", "ours ÷ paper", "how ours was obtained"]


def _paper(paper: Paper, rows: Rows) -> str:
    return "\n".join(
        [
            f'<section id="{paper.key}"><h2>{escape(paper.title)}</h2>',
            f'<p class="soft">{escape(paper.venue)}</p>',
            f"<p>{escape(paper.verdict)}</p>",
            f'<p class="soft">Paper: {escape(paper.machine)} Ours: {escape(paper.ours)}</p>',
            *(_item(paper, item, rows) for item in paper.items),
            "</section>",
        ]
    )


def _item(paper: Paper, item: Item, rows: Rows) -> str:
    state = compare.state(item, rows)
    named = item.number.startswith("Section")
    place = "" if named else f' <span class="soft place">Section {escape(item.section)}</span>'
    charts = "".join(_chart(one, rows) for one in item.charts)
    values = _table(_HEADS, [f"<tr>{_value(value)}{_cells(value, rows, head=False)}</tr>" for value in item.values])
    links = ", ".join(f"<code>{escape(one)}</code>" for one in item.pages)
    commands = "".join(f"<br><code>{escape(one)}</code>" for one in item.commands)
    parts = [
        f'<div class="item" id="{paper.key}-{item.anchor}" data-item="{escape(item.number)}" data-state="{state}">',
        f'<h3>{escape(item.number)}: {escape(item.title)}<span class="state {state}">'
        f"{escape(compare.STATES[state][0])}</span>{place}</h3>",
        '<div class="body">',
        values if item.values else "",
        f'<div class="charts">{charts}</div>' if charts else "",
        "</div>",
        f'<p class="missing">Missing: {escape(item.missing)}</p>' if item.missing else "",
        f"<p>{escape(item.differs)}</p>",
        f'<p class="soft">Described in {links}.</p>' if links else "",
        f'<p class="soft">Repeat with{commands}</p>' if commands else "",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _table(heads: Sequence[str], body: Sequence[str]) -> str:
    numeric = ("paper", "ours", "ours ÷ paper")
    head = "".join(f"<th{' class=n' if one in numeric else ''}>{escape(one)}</th>" for one in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _value(value: Value) -> str:
    unit = f' <span class="soft">[{escape(value.unit)}]</span>' if value.unit else ""
    return f"<td>{escape(value.what)}{unit}</td>"


def _cells(value: Value, rows: Rows, head: bool = True) -> str:
    theirs, got = compare.paper(value, rows), compare.ours(value, rows)
    first = _value(value) if head else ""
    printed = escape(value.paper_text) or ("–" if theirs is None else escape(number(theirs)))
    if value.paper_key and theirs is not None:
        printed += '<br><span class="soft">reconstructed</span>'
    paper = f'<td class="n{" words" if value.paper_text else ""}">{printed}</td>'
    if got is None:
        absent = f'<td class="n words missing">{escape(_absent(value, rows))}</td>'
        return f'{first}{paper}{absent}<td class="n">–</td><td></td>'
    shown = escape(number(got.number))
    if got.row is not None:
        shown = f'<a {_formula(got.row, value)} href="#row-{_anchor(got.row)}">{shown}</a>'
    ratio = _ratio(value, theirs, got.number)
    return f'{first}{paper}<td class="n">{shown}</td><td class="n">{ratio}</td><td class="how">{_how(value, got)}</td>'


def _formula(row: Row, of: Value | Series) -> str:
    """How a shown number follows from its row, as attributes, which tests read."""
    over_row = of.over_row if isinstance(of, Value) else ""
    parts = {"row": row.label, "key": of.key, "scale": repr(of.scale), "over": of.over, "over-row": over_row}
    parts["per"] = "" if of.per is None else repr(of.per)
    return " ".join(f'data-{name}="{escape(text)}"' for name, text in parts.items())


def _absent(value: Value, rows: Rows) -> str:
    row = rows.find(value.row) if value.row else None
    if row is not None and row.skipped:
        return f"skipped: {row.skipped}"
    return value.missing or ("not yet predicted" if value.how == "model" else "not measured")


def _ratio(value: Value, theirs: float | None, got: float) -> str:
    if theirs is None or not theirs or value.paper_text:
        return "–"
    ratio = got / theirs
    if not value.better:
        return f"{ratio:.3g}"
    gain = ratio if value.better == "higher" else 1 / ratio
    kind = "better" if gain > 1.005 else "worse" if gain < 0.995 else "same"
    return f'<span class="{kind}">{ratio:.3g}<br>{"equal" if kind == "same" else kind}</span>'


def _how(value: Value, got: compare.Ours) -> str:
    name = escape(_origin(value.how, got.row))
    if got.row is None:
        return f'{name}<br><span class="soft">{escape(got.origin)}</span>'
    error = ""
    if value.how == "model":
        error = ", error not stated" if got.error is None else f", validated error {100 * got.error:.1f} %"
        scale = got.row.data["config"].get("scale", "1")
        error += "" if scale == "1" else f", with {scale} of the paper's size"
        if warning := got.row.data["config"].get("warning"):
            error += f"; outside of what was validated: {warning}"
    note = got.row.data.get("documented")
    where = f"{note}" if note else f"{got.row.date}, {got.row.source}"
    return f'{name}{escape(error)}<br><span class="soft">{escape(got.row.label)}<br>{escape(where)}</span>'


# ---- Charts ----


def _chart(about: Chart, rows: Rows) -> str:
    curves: list[chart.Curve] = []
    absent = []
    for series in about.series:
        points = compare.points(series, rows)
        if not points:
            absent.append(f"{series.name}: {series.missing or _not_yet(series)}")
            continue
        labels = [point.row.label if point.row is not None else "" for point in points]
        tips = [f"{series.name}: {number(point.y)} at {number(point.x)}" for point in points]
        curves.append(
            chart.Curve(
                series.name, series.source, series.colour % chart.COLOURS, [(point.x, point.y) for point in points],
                [f"{tip} ({label})" if label else tip for tip, label in zip(tips, labels, strict=True)],
                [_formula(point.row, series) if point.row is not None else "" for point in points],
            )
        )  # fmt: skip
    x = chart.Axis(about.x, about.x_log, about.ticks, about.labels)
    drawn = chart.draw(x, chart.Axis(about.y, about.y_log), curves, about.title)
    origin = {"paper": "paper", "reconstructed": "paper, reconstructed from its text"}
    keys = []
    for curve in curves:
        series = next(one for one in about.series if one.name == curve.name)
        said = origin.get(series.source) or f"ours, {_origin_of(series, rows)}"
        keys.append(f'<li>{chart.key(curve)}{escape(curve.name)} <span class="soft">({escape(said)})</span></li>')
    keys += [f'<li class="missing">{escape(one)}</li>' for one in absent]
    return (
        f'<figure><figcaption>{escape(about.title)}</figcaption>{drawn}<ul class="keys">{"".join(keys)}</ul></figure>'
    )


def _origin_of(series: Series, rows: Rows) -> str:
    """The origin of a curve of ours, some points of which may be documented only."""
    names = {_origin(series.how, point.row) for point in compare.points(series, rows) if point.row is not None}
    return names.pop() if len(names) == 1 else f"{facts.ORIGINS[series.how][0]}, in part documented"


def _not_yet(series: Series) -> str:
    if series.source != "ours" and not series.row:
        return "the paper shows a picture only, its text has no number"
    return "not yet predicted" if series.how == "model" else "not measured"


# ---- Rows ----


def _anchor(row: Row) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", row.label)


def _rows(papers: tuple[Paper, ...], rows: Rows) -> str:
    body = []
    for row in compare.used(papers, rows):
        value = row.number("value")
        shown = f"skipped: {row.skipped}" if value is None else number(value)
        about = row.data.get("documented") or f"{row.date}; {row.machine}"
        if row.share is not None:
            about += f"; predicted for {row.data['config']['cluster']}, {row.share} of the paper's size"
        name = row.name.replace(".", r"\.")
        scale = "" if row.share is None else f" --scale {row.share}"
        command = f"./gossamer bench {row.suite}{scale} --only '^{name}$'"
        body.append(
            f'<tr id="row-{_anchor(row)}"><td>{escape(row.label)}</td><td class="n" data-value="{escape(row.label)}">'
            f"{escape(shown)}</td><td>{escape(row.data['unit'])}</td><td>{escape(row.source)}</td>"
            f"<td>{escape(about)}</td><td><code>{escape(command)}</code></td></tr>"
        )
    table = _table(["row", "ours", "unit", "source", "date and machine", "command"], body)
    return (
        '<section id="rows"><h2>All rows</h2><p>Each row that this page shows, as <code>./gossamer bench --json</code> '
        f"writes it. A chart may also show other numbers of a row’s configuration.</p>{table}</section>"
    )


__all__ = ["Sources", "page"]
