# SPDX-License-Identifier: Apache-2.0
"""The statistics of runs on each engine, in the schema of ``gossamer.watch.statistics``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gossamer.watch import statistics

if TYPE_CHECKING:
    from gossamer.apps.results import Result
    from gossamer.config import Config
    from gossamer.engines._rtl_plan import Plan
    from gossamer.engines.rtl import Run
    from gossamer.watch.snapshots import Snapshot
    from gossamer.watch.timeline import Recorded

_BINS = 96
"""Intervals of quantities over time, at most."""


def application(
    result: Result,
    parameters: Mapping[str, str | list[str]],
    options: Mapping[str, Any],
    read_seconds: float,
    *,
    ranks: Sequence[Recorded] = (),
    hardware: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Of an application on a graph. ``ranks`` is what the threads did over time, ``hardware`` are the values of
    ``of_hardware``."""
    stats = dict(result.stats)
    name, engine = result.app.name, stats.pop("engine")
    graph = {
        "name": result.graph.name or "",
        "vertices": stats.pop("vertices", result.graph.vertices),
        "edges": stats.pop("edges", result.graph.edges),
    }
    values: dict[str, Any] = {
        "app": name,
        "graph": graph,
        "parameters": dict(parameters),
        "totals": _finite(result.totals) or None,
        **stats,
        **(hardware or {}),
        "read_seconds": read_seconds,
        "run_seconds": result.seconds,
    }
    if "nearest_validated" in stats:
        from gossamer.engines import _model_validation

        values["notes"] = _model_validation.notes({"edges": result.graph.edges, **result.stats}, name)
    if "ranks" in stats:
        per_rank = zip(stats["rank_wait_seconds"], stats["rank_peak_bytes"], strict=True)
        threads = [one.threads for one in ranks] or [max(1, stats["threads"] // stats["ranks"])] * stats["ranks"]
        values["by_rank"] = [
            {"rank": rank, "threads": threads[rank], "wait_seconds": wait, "peak_bytes": peak}
            for rank, (wait, peak) in enumerate(per_rank)
        ]
    if ranks:
        from gossamer.watch import timeline

        values["by_thread"] = timeline.of_threads(ranks)
        values["timeline"] = timeline.over_time(ranks)
    configuration: dict[str, Any] = {
        "engine": engine,
        "threads": stats["threads"],
        **{key: stats[key] for key in ("ranks", "config", "boards", "mapping", "multicast") if key in stats},
        **({"cluster": hardware["cluster"]} if hardware and "cluster" in hardware else {}),
        **options,
    }
    return statistics.document(
        "application", engine, name, values, command=statistics.command(), configuration=configuration
    )


def _finite(values: Mapping[str, float]) -> dict[str, float | None]:
    """The values, with null for those that JSON cannot express."""
    return {name: value if abs(value) < float("inf") else None for name, value in values.items()}


def of_hardware(config: Config, run: Run, plan: Plan | None) -> dict[str, Any]:
    """Of a run on simulated hardware: counters of tiles, boards and links, states of threads, quantities over time."""
    tiles = run.tiles or [run.counters]
    values: dict[str, Any] = {
        "end": run.reason,
        "tiles": len(tiles),
        "cores": config.mailbox.cores_per_mailbox * len(tiles),
        "clock_mhz": config.board.clock_mhz,
        "by_tile": [_of_tile(number, tile, config, run.snapshot, plan) for number, tile in enumerate(tiles)],
        **(_of_network(run, plan) if plan is not None else {}),
    }
    if run.snapshot is not None:
        values["timeline"] = _over_time(run.snapshot, config, plan)
    return values


def _name(number: int, config: Config, plan: Plan | None) -> str:
    board, tile = divmod(number, config.tiles)
    place = f"{tile % config.mesh.width},{tile // config.mesh.width}"
    return f"{plan.cluster.boards[board].name} {place}" if plan is not None else place


def _of_tile(
    number: int, counters: Mapping[str, int], config: Config, seen: Snapshot | None, plan: Plan | None
) -> dict[str, Any]:
    from gossamer.watch.snapshots import DIRECTIONS

    board, tile = divmod(number, config.tiles)
    where: dict[str, Any] = {"board": plan.cluster.boards[board].name} if plan is not None else {}
    found = {**where, "tile": [tile % config.mesh.width, tile // config.mesh.width], **counters}
    if seen is not None and number < len(seen.tiles):
        its = seen.tiles[number]
        found["states"] = {name: round(its.threads(name), 4) for name in its.shares}
        if its.flits:
            found["flits"] = dict(zip(DIRECTIONS, its.flits, strict=True))
    return found


def _of_network(run: Run, plan: Plan) -> dict[str, Any]:
    """Counters by board and link."""
    from gossamer.engines import _events
    from gossamer.watch import cables

    wiring = cables.Wiring.of(plan, run.links, run.cycles)
    ends = {(one.board, one.link): one for one in wiring.cables}
    links = []
    for (board, link), counters in run.links.items():
        name = plan.links_of(board)[link]
        found: dict[str, Any] = {"board": plan.cluster.boards[board].name, "link": name}
        if (cable := ends.get((board, name))) is not None:
            found |= {"to": wiring.boards[cable.to], "to_link": cable.to_link}
            # Links of boards on Ethernet count until their report, whose cycles those of the run are not.
            if run.engine == "rtl":
                found["used"] = cables.share(wiring, cable)
        links.append(found | dict(counters))
    return {
        "cluster": plan.cluster.name,
        "board_places": [
            {"name": name, "x": x, "y": y} for name, (x, y) in zip(wiring.boards, wiring.places, strict=True)
        ],
        "by_board": [
            {"board": board.name, **counters} for board, counters in zip(plan.cluster.boards, run.boards, strict=False)
        ],
        "by_link": links,
        "events": [_events.describe(plan, event) for event in run.events],
    }


def _over_time(seen: Snapshot, config: Config, plan: Plan | None) -> dict[str, Any] | None:
    """Instructions, flits and states of threads over time, from the sums that the simulator has sampled."""
    import numpy as np

    samples = max((len(tile.series) for tile in seen.tiles), default=0)
    if samples < 2 or not seen.cycle:
        return None
    edges = np.linspace(0, seen.cycle, min(_BINS, samples) + 1)
    width = edges[1]

    def rates(cycles: list[int], sums: list[int], last: float) -> Any:
        """Increments in each interval. Between samples the sums are linear."""
        return np.diff(np.interp(edges, [0, *cycles, max(seen.cycle, cycles[-1] + 1)], [0, *sums, last]))

    names = list(seen.tiles[0].shares)
    issued, flits, states = [], [], np.zeros((len(names), len(edges) - 1))
    for tile in seen.tiles:
        columns = list(zip(*tile.series, strict=True)) or [(0,)] * (4 + len(names))
        cycles = list(columns[0])
        issued.append(rates(cycles, list(columns[1]), tile.instructions) / width)
        flits.append(rates(cycles, list(columns[2]), sum(tile.flits)) / width)
        looks = np.maximum(rates(cycles, list(columns[3]), tile.samples), 1e-9)
        for number, name in enumerate(names):
            states[number] += rates(cycles, list(columns[4 + number]), tile.shares[name]) / looks

    def series(name: str, unit: str, of: str, most: float | None, values: Any) -> dict[str, Any]:
        return {"name": name, "unit": unit, "of": of, "most": most, "values": [round(v, 5) for v in values.tolist()]}

    cores = config.mailbox.cores_per_mailbox
    found = [series("instructions a cycle", "1/cycle", "", float(cores * len(seen.tiles)), sum(issued))]
    if len(seen.tiles) > 1:
        found.append(series("flits a cycle between tiles", "1/cycle", "", None, sum(flits)))
    found += [
        series("threads by state", "threads", name, float(seen.threads * len(seen.tiles)), states[number])
        for number, name in enumerate(names)
    ]
    found += [
        series("instructions a cycle and core, by tile", "1/cycle", f"tile {_name(number, config, plan)}", 1.0,
               values / cores)
        for number, values in enumerate(issued)
    ]  # fmt: skip
    return {"unit": "cycles", "edges": [round(edge, 1) for edge in edges.tolist()], "series": found}


def program(
    name: str,
    config: Config,
    run: Run,
    plan: Plan | None,
    jobs: Sequence[Mapping[str, Any]] = (),
    options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Of a program for threads."""
    count = dict(run.counters)
    accesses = count["hits"] + count["misses"]
    hardware = of_hardware(config, run, plan)
    values = {
        "config": config.name,
        "program": name,
        "threads": run.threads,
        "cycles": run.cycles,
        "instructions": run.instructions,
        "retired": run.retired,
        "instructions_per_cycle": run.instructions / max(1, run.cycles),
        "utilisation": run.instructions / max(1, run.cycles * hardware["cores"]),
        "cache": {
            "hits": count["hits"],
            "misses": count["misses"],
            "writebacks": count["writebacks"],
            "hit_share": count["hits"] / accesses if accesses else None,
        },
        "mailbox": {key: count[key] for key in ("sent", "received", "flits_out", "flits_in")},
        "fpu_operations": count["fpu"],
        "exit_codes": {str(thread): code for thread, code in sorted(run.codes.items())},
        "traps": [
            {"thread": trap.thread, "cause": trap.name, "pc": trap.pc, "value": trap.value} for trap in run.traps
        ],
        **hardware,
        "seconds": run.seconds,
        "kilohertz": run.cycles / max(1e-9, run.seconds) / 1e3,
        "jobs": list(jobs) or None,
    }
    configuration = {
        "engine": run.engine,
        "config": config.name,
        "cluster": values.get("cluster"),
        "boards": len(values.get("board_places", [1])),
        "tiles": values["tiles"],
        "cores": values["cores"],
        "threads": run.threads,
        "clock_mhz": config.board.clock_mhz,
        **(options or {}),
    }
    return statistics.document(
        "program", run.engine, name, values, command=statistics.command(), configuration=configuration
    )


__all__ = ["application", "of_hardware", "program"]
