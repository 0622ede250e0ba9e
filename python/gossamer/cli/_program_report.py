# SPDX-License-Identifier: Apache-2.0
"""The figures of a run on simulated hardware: as a table, as JSON, as a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.files import write_whole

if TYPE_CHECKING:
    from gossamer.cli._program_arguments import Request
    from gossamer.config import Config
    from gossamer.engines.rtl import Run
    from gossamer.engines.rtl_cluster import Cluster as SimulatedCluster


def write(
    request: Request,
    config: Config,
    run: Run,
    cluster: SimulatedCluster | None,
    page: Path | None,
    jobs: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Prints and writes what the words ask for; the page where it has a file."""
    if request.stats:
        if request.stats_file is None:
            click.echo("\n".join([_table(config, run, cluster), *map(_job, jobs)]))
        else:
            about = _statistics(request.program, config, run, cluster) | ({"jobs": jobs} if jobs else {})
            text = (json.dumps(about, indent=1) + "\n").encode()
            write_whole(request.stats_file, text)
    if page is not None:
        html = _page(request.program, config, run, cluster)
        write_whole(page, html.encode())


def _statistics(program: str, config: Config, run: Run, cluster: SimulatedCluster | None) -> dict[str, Any]:
    tiles = run.tiles or [run.counters]
    cores = config.mailbox.cores_per_mailbox * len(tiles)
    count = dict(run.counters)
    accesses = count["hits"] + count["misses"]
    return {
        "engine": "rtl",
        "config": config.name,
        "program": program,
        "threads": run.threads,
        "tiles": len(tiles),
        "cores": cores,
        "end": run.reason,
        "cycles": run.cycles,
        "instructions": run.instructions,
        **({} if run.retired is None else {"retired": run.retired}),
        "instructions_per_cycle": run.instructions / max(1, run.cycles),
        "utilisation": run.instructions / max(1, run.cycles * cores),
        "cache": {
            "hits": count["hits"],
            "misses": count["misses"],
            "writebacks": count["writebacks"],
            "hit_share": count["hits"] / accesses if accesses else None,
        },
        "mailbox": {name: count[name] for name in ("sent", "received", "flits_out", "flits_in")},
        "fpu_operations": count["fpu"],
        "exit_codes": {str(thread): code for thread, code in sorted(run.codes.items())},
        "traps": [
            {"thread": trap.thread, "cause": trap.name, "pc": trap.pc, "value": trap.value} for trap in run.traps
        ],
        "by_tile": [_of_tile(number, tile, config, cluster) for number, tile in enumerate(tiles)],
        **(_of_network(run, cluster) if cluster is not None else {}),
        "seconds": run.seconds,
        "kilohertz": run.cycles / max(1e-9, run.seconds) / 1e3,
    }


def _of_tile(
    number: int, counters: Mapping[str, int], config: Config, cluster: SimulatedCluster | None
) -> dict[str, Any]:
    board, tile = divmod(number, config.tiles)
    where = {"board": cluster.plan.cluster.boards[board].name} if cluster is not None else {}
    return {**where, "tile": [tile % config.mesh.width, tile // config.mesh.width], **counters}


def _of_network(run: Run, cluster: SimulatedCluster) -> dict[str, Any]:
    """Counters by board and link."""
    plan = cluster.plan
    return {
        "cluster": plan.cluster.name,
        "by_board": [
            {"board": board.name, **counters} for board, counters in zip(plan.cluster.boards, run.boards, strict=False)
        ],
        "by_link": [
            {"board": plan.cluster.boards[board].name, "link": plan.links_of(board)[link], **counters}
            for (board, link), counters in run.links.items()
        ],
        "events": [cluster.describe_event(event) for event in run.events],
    }


def _rows(config: Config, run: Run, cluster: SimulatedCluster | None) -> list[tuple[str, str, str]]:
    """The most telling figures: name, value, note."""
    about = _statistics("", config, run, cluster)
    cache, mailbox = about["cache"], about["mailbox"]
    hit_share = "-" if cache["hit_share"] is None else f"{cache['hit_share']:.3f}"
    # Programs without vertices do not count theirs.
    retired = [] if run.retired is None else [("instructions retired", f"{run.retired:,}", "by threads with vertices")]
    micros = run.cycles / config.board.clock_mhz
    return [
        ("cycles", f"{run.cycles:,}", f"{micros:,.1f} us at {config.board.clock_mhz:g} MHz"),
        ("instructions", f"{run.instructions:,}", "issued by all cores"),
        *retired,
        ("instructions a cycle", f"{about['instructions_per_cycle']:.3f}", f"{about['cores']} cores"),
        ("utilisation", f"{about['utilisation']:.3f}", "share of the cycles of all cores that issued an instruction"),
        ("cache hits", f"{cache['hits']:,}", f"{hit_share} of all accesses"),
        ("cache misses", f"{cache['misses']:,}", ""),
        ("lines written back", f"{cache['writebacks']:,}", ""),
        ("messages sent", f"{mailbox['sent']:,}", ""),
        ("messages delivered", f"{mailbox['received']:,}", "once for all threads of a tile that got it"),
        ("flits out, in", f"{mailbox['flits_out']:,}, {mailbox['flits_in']:,}", "to and from other tiles"),
        ("floating-point operations", f"{about['fpu_operations']:,}", ""),
        ("simulated at", f"{about['kilohertz']:,.0f} kHz", f"{run.seconds:.3f} s"),
    ]


def _page(program: str, config: Config, run: Run, cluster: SimulatedCluster | None) -> str:
    """The page of a run."""
    from gossamer.watch import html_report

    assert run.snapshot is not None
    cables, boards, places = [], ["board"], [(0.0, 0.0)]
    if cluster is not None:
        plan = cluster.plan
        boards = [board.name for board in plan.cluster.boards]
        known = [(board.x, board.y) for board in plan.cluster.boards]
        placed = [(float(x), float(y or 0)) for x, y in known if x is not None]
        places = placed if len(placed) == len(boards) else html_report.ring(len(boards))
        rate = config.links.rate_mbps / 8 / config.board.clock_mhz
        for from_board, link, to_board, to_link, _ in plan.wires({}):
            counters = run.links.get((from_board, link))
            if counters is not None:
                ends = plan.links_of(from_board)[link], to_board, plan.links_of(to_board)[to_link]
                cables.append(html_report.Cable(from_board, *ends, counters, rate, config.links.overhead_bytes))
    return html_report.page(
        html_report.Page(
            title=f"{program} on {f'cluster {cluster.plan.cluster.name}' if cluster is not None else config.name}",
            figures=[("threads", f"{run.threads:,}", ""), ("end", run.reason, ""), *_rows(config, run, cluster)],
            snapshot=run.snapshot,
            counters=run.tiles,
            cables=cables,
            boards=boards,
            places=places,
            notes=[cluster.describe_event(event) for event in run.events] if cluster is not None else [],
        )
    )


def _table(config: Config, run: Run, cluster: SimulatedCluster | None) -> str:
    about = _statistics("", config, run, cluster)
    rows = _rows(config, run, cluster)
    width = max(len(value) for _, value, _ in rows)
    what = f"a board of {config.name}, {about['tiles']} tiles" if about["tiles"] > 1 else f"one tile of {config.name}"
    if cluster is not None:
        what = f"cluster {about['cluster']}, {cluster.plan.boards} boards of {config.name}, {about['tiles']} tiles"
    lines = [f"rtl engine, {what}: {run.threads} threads"]
    lines += [f"  {name:<26} {value:>{width}}  {note}".rstrip() for name, value, note in rows]
    if cluster is not None and run.links:
        lines.append(f"  {'link':<20} {'packets out':>12} {'in':>10} {'bytes out':>12} {'resent':>8} {'damaged':>8}")
        for one in about["by_link"]:
            name = f"{one['board']}:{one['link']}"
            numbers = [one[key] for key in ("tx_packets", "rx_packets", "tx_bytes", "resends", "damaged")]
            widths = (12, 10, 12, 8, 8)
            lines.append(f"  {name:<20} " + " ".join(f"{n:>{w},}" for n, w in zip(numbers, widths, strict=True)))
    return "\n".join(lines)


def _job(job: Mapping[str, Any]) -> str:
    """A job of several, as a line."""
    end = "" if job["end"] == "done" else f", {job['end']}"
    return f"  job {job['job']}, {job['program']}: {job['threads']:,} threads, {job['cycles']:,} cycles{end}"


__all__ = ["write"]
